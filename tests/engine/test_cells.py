"""Kinds of people give the sums that people give, bit for bit; they are used where they are few."""

from __future__ import annotations

import numpy as np
import pytest
from naive_counts import CONTEXTUAL, random_context, setting

import fairtest as ft
from fairtest.data.axes import Condition
from fairtest.data.holdout import TRAIN
from fairtest.data.streaming.partitions import slices_of
from fairtest.engine import partitioned
from fairtest.engine.kernel import cells
from fairtest.engine.kernel.histogram import Cells
from fairtest.engine.memory import MemoryEngine
from fairtest.engine.partitioned import Here, PartitionedEngine
from fairtest.engine.runners.dask import OnCluster

PAIRS = ("counts", "counts of many", "counts of levels in order", "moments", "group moments")


def force(monkeypatch, worth: float = 1e-9) -> None:
    """Let kinds be used for any set of people."""
    monkeypatch.setattr(cells, "FEWEST_PEOPLE", 1)
    monkeypatch.setattr(cells, "WORTH", worth)
    monkeypatch.setattr(cells, "WORTH_SORTING", worth)


@pytest.fixture(params=[1 << 24, 0], ids=["counted in a table", "sorted"])
def forced(request, monkeypatch):
    force(monkeypatch)
    monkeypatch.setattr(cells, "MOST_DENSE", request.param)


def both(table, holdout, columns=CONTEXTUAL):
    """Return an engine that knows axes beforehand, and so counts kinds, and one that counts people."""
    by_kinds, by_people = MemoryEngine(table, holdout), MemoryEngine(table, holdout)
    by_people._kinds_of = lambda number, target: None
    by_kinds.axes(columns)
    return by_kinds, by_people


def in_parts(table, holdout, client=None, columns=CONTEXTUAL):
    """Return an engine over partitions that knows axes beforehand, and so tallies kinds; and how often it passes."""
    partitions = slices_of(table, [1, table.n_rows // 3, table.n_rows // 2, table.n_rows])
    runner = Here(partitions, 1 << 20) if client is None else OnCluster(client, partitions, 1 << 20)
    asked = []
    run = runner.run

    def noted(request, *, add):
        asked.append(request.name)
        return run(request, add=add)

    runner.run = noted
    engine = PartitionedEngine(table, holdout, runner)
    engine.axes(columns)
    return engine, asked


def given(codes, axes):
    """Return what gives the codes of every so many-th person on an axis."""
    known = dict(zip((axis.column for axis in axes), codes, strict=True))
    return lambda axis, step: known[axis.column][::step]


@pytest.mark.parametrize("which", PAIRS)
@pytest.mark.parametrize("stratified", [False, True])
def test_all_sums_are_the_same(forced, which, stratified):
    _, table, holdout, target, _, _ = setting(11, which, stratified)
    by_kinds, by_people = both(table, holdout)
    rng = np.random.default_rng(1)
    contexts = [(), *(random_context(by_kinds, rng) for _ in range(25))]
    for number in (TRAIN, 1, 2):
        used = by_kinds._kinds_of(number, target)
        assert (used is not None) == which.startswith("counts")
        assert by_kinds.total(number, target).tobytes() == by_people.total(number, target).tobytes()
        a, b = (engine.tables(number, contexts, target) for engine in (by_kinds, by_people))
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()
        axes = [by_kinds.axis("city"), by_kinds.axis("age")]
        a, b = (engine.joint(number, axes, target) for engine in (by_kinds, by_people))
        assert a.tobytes() == b.tobytes()
        rows = [engine.rows(number, contexts[3], target) for engine in (by_kinds, by_people)]
        assert rows[0].protected.tobytes() == rows[1].protected.tobytes()
        assert by_kinds.count_left_out(number, target) == by_people.count_left_out(number, target)


def test_trees_are_the_same(forced):
    _, table, holdout, target, _, _ = setting(4, "counts", stratified=True)
    by_kinds, by_people = both(table, holdout)
    rng = np.random.default_rng(2)
    trees = [engine.frontier(target) for engine in (by_kinds, by_people)]
    for _ in range(4):
        for name in CONTEXTUAL:
            a, b = (next(tree.histograms([by_kinds.axis(name)], 0, tree.n_nodes)) for tree in trees)
            assert a.tobytes() == b.tobytes()
        cut = rng.integers(0, trees[0].n_nodes, trees[0].n_nodes + 1)
        axes = [by_kinds.axis(str(rng.choice(CONTEXTUAL))) for _ in cut]
        child = np.full((len(cut), 256), -1, dtype=np.int32)
        for i, axis in enumerate(axes):
            child[i, : axis.size] = 2 * i + (np.arange(axis.size) % 2)
        for tree in trees:
            tree.advance(axes, child, cut)
        assert trees[0].n_nodes == trees[1].n_nodes


@pytest.mark.parametrize("where", ["here", "cluster"])
@pytest.mark.parametrize("which", ["counts", "counts of many", "moments"])
def test_kinds_are_tallied_over_partitions(forced, monkeypatch, request, where, which):
    monkeypatch.setattr(partitioned, "FEW_CONTEXTS", 0)
    _, table, holdout, target, _, _ = setting(11, which, stratified=True)
    client = request.getfixturevalue("cluster") if where == "cluster" else None
    by_kinds, asked = in_parts(table, holdout, client)
    _, by_people = both(table, holdout)
    rng = np.random.default_rng(1)
    contexts = [(), *(random_context(by_people, rng) for _ in range(25))]
    axes = [by_people.axis("city"), by_people.axis("age")]
    for number in (TRAIN, 1):
        a, b = (engine.tables(number, contexts, target) for engine in (by_kinds, by_people))
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()
        asked.clear()
        a, b = (engine.joint(number, axes, target) for engine in (by_kinds, by_people))
        assert a.tobytes() == b.tobytes()
        assert asked == ([] if which.startswith("counts") else ["joints"])
    trees = [engine.frontier(target) for engine in (by_kinds, by_people)]
    for _ in range(3):
        a, b = (next(tree.histograms(axes, 0, tree.n_nodes)) for tree in trees)
        assert a.tobytes() == b.tobytes()
        child = np.full((trees[0].n_nodes, 256), -1, dtype=np.int32)
        child[:, : axes[0].size] = 2 * np.arange(len(child))[:, None] + np.arange(axes[0].size) % 2
        for tree in trees:
            tree.advance([axes[0]] * len(child), child)


def test_too_many_kinds_are_not_tallied_further(monkeypatch):
    """A sample that misleads costs one pass; then people are counted."""
    force(monkeypatch)
    monkeypatch.setattr(partitioned, "MOST_KINDS", 5)
    monkeypatch.setattr(partitioned, "estimate_kinds", lambda sample, people: 1.0)
    _, table, holdout, target, _, _ = setting(11, "counts", stratified=False)
    engine, asked = in_parts(table, holdout)
    plain, _ = both(table, holdout)
    axes = [plain.axis("city"), plain.axis("age")]
    asked.clear()
    for _ in range(2):
        assert engine.joint(TRAIN, axes, target).tobytes() == plain.joint(TRAIN, axes, target).tobytes()
    assert asked == ["sample_kinds", "tally_kinds", "joints", "joints"]


@pytest.mark.parametrize("where", ["memory", "partitions"])
def test_kinds_are_found_again_when_there_are_more_axes(monkeypatch, where):
    """They are alike on the axes there were when they were found, which need not be all that are asked about later."""
    force(monkeypatch)
    monkeypatch.setattr(partitioned, "FEW_CONTEXTS", 0)
    _, table, holdout, target, _, _ = setting(4, "counts", stratified=True)
    engine = (in_parts if where == "partitions" else both)(table, holdout, columns=CONTEXTUAL[:1])[0]
    _, by_people = both(table, holdout)
    before = engine._kinds_of(TRAIN, target)
    assert before is not None
    context = (Condition(CONTEXTUAL[1], (0, 1)), Condition(CONTEXTUAL[2], (0,)))
    assert engine.tables(TRAIN, [context], target).tobytes() == by_people.tables(TRAIN, [context], target).tobytes()
    after = engine._kinds_of(TRAIN, target)
    assert len(after) > len(before)


def test_few_kinds_by_a_sample_of_partitions():
    """Two columns make few kinds, nine do not, for which the people of a few partitions are looked at."""
    rng = np.random.default_rng(0)
    n = 1 << 18
    for columns, few in ((2, True), (9, False)):
        data = {f"c{i}": rng.integers(0, 9, n).astype(str) for i in range(columns)}
        data |= {"sex": rng.choice(["f", "m"], n), "hired": rng.choice(["yes", "no"], n)}
        source = ft.DataSource(data)
        target = ft.Testing(source, "sex", "hired").questions[0].search_target(source)
        engine, asked = in_parts(source.table, source.holdout, columns=[f"c{i}" for i in range(columns)])
        asked.clear()
        engine.frontier(target)
        assert asked == (["tally_kinds"] if few else ["sample_kinds"])


def test_reports_are_the_same_with_several_questions(monkeypatch):
    rng = np.random.default_rng(0)
    n = 3000
    data = {name: rng.choice(list("abcd"), n) for name in ("x", "y", "z", "race")}
    data["sex"] = rng.choice(["f", "m"], n)
    data["hired"] = np.where(rng.random(n) < 0.5 - 0.3 * (data["sex"] == "f") * (data["x"] == "a"), "yes", "no")
    made = []
    for kinds in (False, True):
        if kinds:
            force(monkeypatch)
        report = ft.audit(data, ["sex", "race"], "hired", correction="max-t")
        made.append(report.to_json())
    assert made[0] == made[1]


def kinds_among(columns: int, sizes: int, people: int = 1 << 17):
    rng = np.random.default_rng(3)
    axes = [type("A", (), {"column": f"c{i}", "size": sizes})() for i in range(columns)]
    codes = [rng.integers(0, sizes, people).astype(np.uint8) for _ in axes]
    seen = Cells(np.ones(people, bool), rng.integers(0, 4, people).astype(np.int32), [])
    return cells.kinds_of(given(codes, axes), axes, seen, 4)


def test_few_columns_make_few_kinds():
    made = kinds_among(3, 10)
    assert made is not None
    assert len(made) == 4000
    assert made.cells.weight.sum() == 1 << 17


@pytest.mark.parametrize(("columns", "sizes"), [(15, 2), (15, 10), (5, 20), (40, 200)])
def test_many_columns_do_not(columns, sizes):
    assert kinds_among(columns, sizes) is None


def test_columns_that_go_together_make_few_kinds():
    """Many kinds would be possible, and a sample shows that there are few."""
    rng = np.random.default_rng(5)
    place = rng.integers(0, 100, 1 << 18)
    axes = [type("A", (), {"column": f"c{i}", "size": 100})() for i in range(5)]
    codes = [((place * (i + 1)) % 100).astype(np.uint8) for i in range(5)]
    seen = Cells(np.ones(place.size, bool), np.zeros(place.size, np.int32), [])
    made = cells.kinds_of(given(codes, axes), axes, seen, 1)
    assert made is not None
    assert len(made) == 100
    for axis, code in zip(axes, codes, strict=True):
        assert set(zip(made.codes(axes[0]).tolist(), made.codes(axis).tolist(), strict=True)) == set(
            zip(codes[0].tolist(), code.tolist(), strict=True)
        )


def test_few_people_are_counted_as_they_are():
    assert kinds_among(1, 2, people=1000) is None
