"""Each benchmark runs, in small."""

from __future__ import annotations

import sys
from itertools import combinations, product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
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


def test_every_conjunction_is_looked_at(tmp_path: Path) -> None:
    """FairTest and a plain count, which shares nothing with it, look at the same conjunctions with the same gaps."""
    from benchmarks import own, peers
    from benchmarks.people import people

    frame = peers.binned(people(4_000, 9, seed=3))
    whole, half = peers.write_task(frame, tmp_path)
    numbers = [name for name in frame.columns if frame[name].dtype.is_numeric()]
    found = own.conjunctions(str(whole), least=100, categorical=numbers)()
    with np.load(half) as stored:
        names = stored["names"].tolist()
        codes = [stored[f"codes_{i}"] for i in range(len(names))]
        group, output = stored["group"], stored["output"]
    sizes: dict[tuple[tuple[int, int], ...], int] = {(): group.size}
    looked_at = 1
    for chosen in (c for k in (1, 2, 3) for c in combinations(range(len(names)), k)):
        for values in product(*(range(codes[i].max() + 1) for i in chosen)):
            inside = np.all([codes[i] == v for i, v in zip(chosen, values, strict=True)], axis=0)
            named = tuple(zip(chosen, values, strict=True))
            sizes[named] = int(inside.sum())
            fewer = all(sizes[named] < sizes[named[:i] + named[i + 1 :]] for i in range(len(named)))
            looked_at += sizes[named] >= 100 and fewer and 0 < group[inside].sum() < inside.sum()
    assert group.size == output.size == 2_000
    assert looked_at > 100
    assert found["looked_at"] == looked_at


def test_a_process_of_its_own(tmp_path: Path) -> None:
    from benchmarks.fresh import in_a_new_process
    from benchmarks.growth import Size, measure

    (size,) = measure([Size(3_000, 6)], tmp_path, None, searches=["tree"])
    run = size.runs["tree"]
    assert run.ended == ""
    assert run.answer["tested"] >= 1
    assert 10 < run.peak_mb < 10_000
    assert "no_such" in in_a_new_process("wrong", "benchmarks.own", "no_such", {}).ended


def test_a_process_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.fresh import in_a_new_process

    (tmp_path / "endless.py").write_text("def work():\n    while True:\n        pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run = in_a_new_process("endless", "endless", "work", {"cpu_limit": 1})
    assert run.ended == "stopped after 1 CPU-s"


def test_people_are_the_same_in_every_run() -> None:
    from benchmarks.people import people

    assert people(50, 8, seed=1).equals(people(50, 8, seed=1))
    assert not people(50, 8, seed=1).equals(people(50, 8, seed=2))
    assert people(50, 8).width == 8


def test_page() -> None:
    from benchmarks.document import growth_table, own_table, page, peer_table, plot
    from benchmarks.fresh import Run
    from benchmarks.growth import Size
    from benchmarks.measure import Measured

    own, other = Run("FairTest", 0.5, 0.6, 0.7, 100.0, {"looked_at": 7}), Run("another", ended="out of memory")
    size, larger = Size(1_000, 5), Size(10_000, 5)
    size.runs["tree"] = larger.runs["tree"] = Run("t", 2.0, 2.5, 2.0, 90.0, {"loading": 1.0, "tested": 3})
    text = page({"A": peer_table([own, other]), "B": growth_table([size]), "C": own_table([Measured("x", 0.5)], 1.0)})
    assert "| another | out of memory |" in text
    assert "| 1,000 × 5 | 100 | tree | 3 | 2.00 | 2.50 | 1.00 | 2.0 |" in text
    drawn = ElementTree.fromstring(plot([size, larger]))
    assert len(drawn.findall("{http://www.w3.org/2000/svg}circle")) == 2


def test_table() -> None:
    from benchmarks.measure import Measured, table, yardstick

    text = table([Measured("something", 0.5, prototype=10.0, at_most=1.0)], yardstick(1_000))
    assert "something" in text
    assert "20" in text.splitlines()[2]
