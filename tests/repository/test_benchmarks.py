"""Each benchmark runs, in small."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from xml.etree import ElementTree

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
