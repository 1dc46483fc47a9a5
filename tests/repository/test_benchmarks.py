"""Each benchmark runs, in small."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])


def test_startup() -> None:
    from benchmarks import startup

    assert [r.name for r in startup.run(repeats=1)] == ["import fairtest", "fairtest --help"]


def test_million(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import million

    results = million.run(people=20_000, context_size=200, repeats=1)
    assert len(results) == 3
    assert "of 10 planted" in capsys.readouterr().out


def test_adult() -> None:
    from benchmarks import adult

    if not adult.DATA.exists():
        pytest.skip(f"{adult.DATA.name} is not beside the repository")
    assert len(adult.run(rows=3_000, repeats=1)) == 4


def test_adult_says_that_it_was_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import adult

    assert adult.run(tmp_path / "adult.csv.gz") == []
    assert "SKIPPED" in capsys.readouterr().out


def test_table() -> None:
    from benchmarks.measure import Measured, table, yardstick

    text = table([Measured("something", 0.5, prototype=10.0, at_most=1.0)], yardstick(1_000))
    assert "something" in text
    assert "20" in text.splitlines()[2]
