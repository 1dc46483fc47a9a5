"""Each benchmark runs, in small."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
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


def _few_people() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    n = 4_000
    frame = {name: rng.choice(list("abcd"), n) for name in ("work", "school", "place")}
    frame["age"] = [None if r < 0.05 else int(100 * r) for r in rng.random(n)]
    frame["sex"] = rng.choice(["Male", "Female"], n)
    rich = rng.random(n) < 0.5 - 0.3 * (frame["sex"] == "Female") * (frame["work"] == "b")
    return pl.DataFrame({**frame, "income": np.where(rich, ">50K", "<=50K")})


def test_searches_are_compared_at_equal_numbers_of_candidates() -> None:
    from benchmarks import searches

    found = searches.compare(_few_people(), attributes=6, min_size=100, seed=0, repeats=(2,))
    assert [o.search for o in found] == ["tree", "forest", "unguided", "unguided", "exhaustive", "auto"]
    tree, forest, *unguided = found[:4]
    assert tree.candidates < forest.candidates
    assert [o.candidates for o in unguided] == [tree.candidates, forest.candidates]
    assert len({o.tested for o in found[:4]}) == 1
    assert all(0 < o.confirmed_top_3 <= o.confirmed_best < o.estimate_top_3 for o in (tree, forest))
    lines = searches.table(found).splitlines()
    assert len(lines) == 2 + len(found)
    assert "unguided, as many as the forest of 2" in lines[5]


def test_every_frequent_conjunction_is_drawn_with_the_same_probability() -> None:
    from itertools import combinations, product

    from benchmarks import searches

    frame = _few_people().select("sex", "income", "work", "school", "age")
    here = searches.Comparison(frame, 3, 900, seed=0)
    items, _, fewest = here.people()
    sizes = {}
    for k in (1, 2, 3):
        for axes in combinations(items, k):
            for chosen in product(*axes):
                sizes[frozenset(p for p, _ in chosen)] = int(np.logical_and.reduce([h for _, h in chosen]).sum())
    frequent = {c for c, size in sizes.items() if size >= fewest}
    contexts, tables = searches.RandomContexts(here, np.random.default_rng(0)).draw(6_000)
    drawn = Counter(frozenset(contexts(i).predicates) for i in range(6_000))
    assert set(drawn) == frequent
    assert len(frequent) > 10
    for i in range(20):
        assert tables[i].sum() == sizes[frozenset(contexts(i).predicates)]
    expected = 6_000 / len(frequent)
    chi_square = sum((many - expected) ** 2 / expected for many in drawn.values())
    assert chi_square < len(frequent) - 1 + 5 * (2 * (len(frequent) - 1)) ** 0.5


def test_searches_say_that_they_were_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import searches

    assert searches.run(data=tmp_path / "adult.csv.gz") == []
    assert "SKIPPED" in capsys.readouterr().out


def test_table() -> None:
    from benchmarks.measure import Measured, table, yardstick

    text = table([Measured("something", 0.5, prototype=10.0, at_most=1.0)], yardstick(1_000))
    assert "something" in text
    assert "20" in text.splitlines()[2]
