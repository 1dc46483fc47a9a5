"""One suite for all engines: they count what a naive loop counts, whatever the partition of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_counts import CONTEXTUAL, PAIRS, agrees, has, random_context, setting, target_of

from fairtest.data.axes import Condition
from fairtest.data.holdout import TRAIN
from fairtest.engine import batches, contract
from fairtest.engine.memory import MemoryEngine
from fairtest.types import SummaryKind

CHECKED = settings(deadline=None, max_examples=5)
SEEDS = st.integers(0, 100_000)


@pytest.mark.parametrize("stratified", [False, True], ids=["plain", "stratified"])
@pytest.mark.parametrize("which", PAIRS)
def test_totals_and_tables_are_those_of_a_naive_count(engine_over, which, stratified):
    for seed in range(2):
        _, table, holdout, target, naive, codes = setting(seed, which, stratified)
        engine = engine_over(table, holdout)
        rng = np.random.default_rng(seed)
        contexts = [(), *(random_context(engine, rng) for _ in range(8))]
        for number in (TRAIN, 1, 2):
            rows = holdout.rows(number).tolist()
            agrees(target, engine.total(number, target), naive.sums(rows))
            got = engine.tables(number, contexts, target)
            assert got.shape == (len(contexts), *target.cell_shape, *target.sum_shape)
            for context, sums in zip(contexts, got, strict=True):
                inside = [i for i in rows if has(codes, i, *context)]
                agrees(target, sums, naive.sums(inside))
            missing = sum(naive.cell(i) is None for i in rows)
            assert engine.count_left_out(number, target) == missing
            assert target.wrap(got).size[0] == len(rows) - missing


@pytest.mark.parametrize("which", PAIRS)
def test_the_rows_of_a_context_are_its_people(engine_over, which):
    data, table, holdout, target, naive, codes = setting(5, which, stratified=True)
    engine = engine_over(table, holdout)
    rng = np.random.default_rng(1)
    axes = [engine.axis("city"), engine.axis("age")]
    for context in [(), *(random_context(engine, rng) for _ in range(6))]:
        inside = [i for i in holdout.rows(1).tolist() if naive.cell(i) is not None and has(codes, i, *context)]
        rows = engine.rows(1, context, target, axes)
        assert len(rows) == len(inside)
        assert rows.stratum.tolist() == [target.strata.levels.index(data["dept"][i]) for i in inside]
        for got, v in ((rows.protected, target.protected), (rows.output, target.output)):
            raw = [data[v.columns[0]][i] for i in inside]
            if v.is_number:
                assert got.tolist() == raw  # as the user knows them, unscaled
            elif target.summary is SummaryKind.MOMENTS:
                assert got.tolist() == [v.scores[naive.level(v, x)] for x in raw]
            else:
                assert got.tolist() == [naive.level(v, x) for x in raw]
        assert rows.codes["city"].tolist() == [
            3 if data["city"][i] is None else "klm".index(data["city"][i]) for i in inside
        ]


@pytest.mark.parametrize("stratified", [False, True], ids=["plain", "stratified"])
def test_profiles_are_the_people_without_their_names(engine_over, stratified):
    """Laid out again, as many of each kind as there are, they are the rows of the set as two targets see them."""
    data, table, holdout, target, naive, codes = setting(9, "counts", stratified)
    other = target_of(table, "moments of levels", stratified)
    engine = engine_over(table, holdout)
    profiles = engine.profiles(1, [target, other], [engine.axis("city"), engine.axis("grade")])
    rows = holdout.rows(1).tolist()
    assert profiles.people.sum() == len(rows)
    assert len(engine.profiles(1, [target], [engine.axis("city")])) < len(rows)
    wanted = []
    for i in rows:
        cell = naive.cell(i)
        first = (-1, 0, 0) if cell is None else (cell[0][0], cell[0][2], cell[0][1])
        pay, sex, dept = (data[k][i] for k in ("pay", "sex", "dept"))
        lost = pay is None or sex is None or (stratified and dept is None)
        stratum = target.strata.levels.index(dept) if stratified and not lost else 0
        value = (float(pay) - other.output.centre) / other.output.scale if not lost else 0.0
        score = other.protected.scores[naive.level(other.protected, sex)] if not lost else 0.0
        wanted.append((codes["city"][i], codes["grade"][i], *first, -1 if lost else stratum, score, value))
    columns = [profiles.codes["city"], profiles.codes["grade"]]
    columns += [c for seen in profiles.seen for c in (seen.stratum, seen.protected, seen.output)]
    got = np.repeat(np.column_stack([c.astype(float) for c in columns]), profiles.people, axis=0)
    assert sorted(map(tuple, got.tolist())) == sorted(tuple(map(float, row)) for row in wanted)


@CHECKED
@given(seed=SEEDS, which=st.sampled_from(sorted(PAIRS)))
def test_shared_prefixes_give_what_single_contexts_give(engine_over, seed, which):
    _, table, holdout, target, _, _ = setting(seed, which)
    engine = engine_over(table, holdout)
    rng = np.random.default_rng(seed)
    first = [random_context(engine, rng) for _ in range(4)]
    longer = [(*c, *d) for c in first for d in first if not {x.column for x in c} & {x.column for x in d}]
    contexts = [*first, *longer, *first[:2], (), *(c[:1] for c in first)]
    contexts = [contexts[i] for i in rng.permutation(len(contexts))]
    together = engine.tables(1, contexts, target)
    alone = np.concatenate([engine.tables(1, [c], target) for c in contexts])
    assert together.tobytes() == alone.tobytes()
    backwards = engine.tables(1, [tuple(reversed(c)) for c in contexts], target)
    assert backwards.tobytes() == alone.tobytes()


def sums_within(engine, number, people, target):
    """Return the sums over some people, given as bits, from what each contributes."""
    cell, terms = engine.contributions(number, target)
    inside = np.unpackbits(people.view(np.uint8)).view(bool) & (cell >= 0)
    counts = np.bincount(cell[inside], minlength=target.n_cells)
    if not target.sum_shape:
        return counts.reshape(target.cell_shape)
    sums = np.zeros((target.n_cells, *target.sum_shape))
    sums[:, 0, 0] = counts
    added = [np.bincount(cell[inside], weights=term[inside], minlength=target.n_cells) for term in terms]
    sums[:, 1:] = np.array(added).reshape(-1, target.pieces, target.n_cells).transpose(2, 0, 1)
    return sums.reshape(*target.cell_shape, *target.sum_shape)


@CHECKED
@given(seed=SEEDS, which=st.sampled_from(sorted(PAIRS)))
def test_sums_over_some_people_are_those_of_their_context(engine_over, seed, which):
    _, table, holdout, target, _, _ = setting(seed, which)
    engine = engine_over(table, holdout)
    rng = np.random.default_rng(seed)
    one, other = (random_context(engine, rng) for _ in range(2))
    inside = engine.members(2, [one, other])
    tables = engine.tables(2, [one, other, (*one, *other)], target)
    assert sums_within(engine, 2, inside[0], target).tobytes() == tables[0].tobytes()
    assert sums_within(engine, 2, inside[0] & inside[1], target).tobytes() == tables[2].tobytes()
    alone = sums_within(engine, 2, inside[0] & ~inside[1], target)
    np.testing.assert_allclose(alone, tables[0] - tables[2], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("which", ["counts", "moments"])
def test_of_a_large_set_every_so_many_th_person_is_compared(engine_over, monkeypatch, which):
    monkeypatch.setattr(contract, "MOST_COMPARED", 20)
    _, table, holdout, target, naive, codes = setting(2, which)
    engine = engine_over(table, holdout)
    rng = np.random.default_rng(4)
    contexts = [(), *(random_context(engine, rng) for _ in range(5))]
    looked_at = holdout.rows(1).tolist()[:: contract.sample_step(holdout.sizes[1])]
    assert 15 <= len(looked_at) <= 20 < holdout.sizes[1]
    members = engine.members(1, contexts)
    for context, bits in zip(contexts, members, strict=True):
        inside = [i for i in looked_at if has(codes, i, *context)]
        assert np.bitwise_count(bits).sum() == len(inside)
        agrees(target, sums_within(engine, 1, bits, target), naive.sums(inside))
    both = [i for i in looked_at if has(codes, i, *contexts[1], *contexts[2])]
    assert np.bitwise_count(members[1] & members[2]).sum() == len(both)


@pytest.mark.parametrize("which", PAIRS)
def test_what_is_counted_together_is_what_is_counted_alone(engine_over, monkeypatch, which):
    """However little may be counted in one pass, joint tables and people come in the order they were asked for."""
    monkeypatch.setattr(batches, "AT_ONCE", 100)
    _, table, holdout, target, _, _ = setting(11, which, stratified=True)
    engine, plain = engine_over(table, holdout), MemoryEngine(table, holdout)
    rng = np.random.default_rng(2)
    contexts = [random_context(plain, rng) for _ in range(5)]
    axes = plain.axes(CONTEXTUAL)
    assert engine.axes(CONTEXTUAL) == axes
    several = [[axes[0]], [axes[1], axes[2]], [axes[3], axes[0]], [axes[2]]]
    for got, wanted in zip(engine.joints(1, several, target), several, strict=True):
        assert got.tobytes() == plain.joint(1, wanted, target).tobytes()
    assert engine.tables(1, contexts, target).tobytes() == plain.tables(1, contexts, target).tobytes()
    for got, context in zip(engine.many_rows(1, contexts, target), contexts, strict=True):
        wanted = plain.rows(1, context, target)
        for name in ("protected", "output", "stratum"):
            assert getattr(got, name).tobytes() == getattr(wanted, name).tobytes()
    both = target_of(table, "counts", stratified=False)
    got, wanted = (e.profiles(1, [target, both], axes[:2]) for e in (engine, plain))
    assert got.people.tolist() == wanted.people.tolist()
    for one, other in zip(got.seen, wanted.seen, strict=True):
        assert one.protected.tobytes() == other.protected.tobytes()
        assert one.output.tobytes() == other.output.tobytes()


def test_no_context_is_no_table_and_an_impossible_one_is_empty(engine_over):
    _, table, holdout, target, _, _ = setting(3)
    engine = engine_over(table, holdout)
    assert engine.tables(1, [], target).shape == (0, 1, 2, 2)
    nobody = (Condition("city", (0,)), Condition("city", (1,)))
    assert engine.tables(1, [nobody, (Condition("city", ()),)], target).sum() == 0
    assert len(engine.rows(1, nobody, target)) == 0


@pytest.mark.parametrize("overlapping", [False, True], ids=["a tree", "several trees"])
@pytest.mark.parametrize("which", PAIRS)
def test_the_frontier_of_a_random_tree_counts_like_a_loop(engine_over, which, overlapping):
    _, table, holdout, target, naive, codes = setting(7, which, stratified=True)
    engine = engine_over(table, holdout)
    rng = np.random.default_rng(3)
    frontier = engine.frontier(target)
    nodes = [holdout.rows(TRAIN).tolist()]
    for _ in range(3):
        assert frontier.n_nodes == len(nodes)
        for name in CONTEXTUAL:
            axis = engine.axis(name)
            first = int(rng.integers(0, len(nodes)))
            last = int(rng.integers(first + 1, len(nodes) + 1))
            got = next(frontier.histograms([axis], first, last))
            together = list(frontier.histograms([axis, engine.axis("city")], first, last))
            assert together[0].tobytes() == got.tobytes()
            assert together[1].tobytes() == next(frontier.histograms([engine.axis("city")], first, last)).tobytes()
            assert got.shape == (last - first, axis.size, *target.cell_shape, *target.sum_shape)
            for node in range(first, last):
                for code in range(axis.size):
                    inside = [i for i in nodes[node] if has(codes, i, Condition(name, (code,)))]
                    agrees(target, got[node - first, code], naive.sums(inside))
        cut = rng.integers(0, len(nodes), len(nodes) + 2) if overlapping else np.arange(len(nodes))
        axes = [None if rng.random() < 0.2 else engine.axis(str(rng.choice(CONTEXTUAL))) for _ in cut]
        axes[0] = engine.axis("age")
        child = np.full((len(cut), 256), -1, dtype=np.int32)
        grown = []
        for at, axis in enumerate(axes):
            if axis is None:
                continue
            for part in np.array_split(rng.permutation(axis.size), 3)[: rng.integers(1, 4)]:
                inside = [i for i in nodes[cut[at]] if has(codes, i, Condition(axis.column, tuple(part.tolist())))]
                child[at, part] = len(grown)
                grown.append(inside)
        frontier.advance(axes, child, cut if overlapping else None)
        nodes = grown
