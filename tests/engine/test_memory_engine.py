"""The engine counts what a naive loop counts, to the last bit, whatever the order and the partition of rows."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtest.data.axes import Condition
from fairtest.data.holdout import TRAIN, Holdout
from fairtest.data.readers import read_table
from fairtest.data.table import Table
from fairtest.data.variables import Part, crossed, numeric, oriented, ranked
from fairtest.engine.histogram import add_up, cells_of
from fairtest.engine.memory import MemoryEngine
from fairtest.summaries import GroupMoments, Moments, Target, exact_pieces, powers
from fairtest.types import SummaryKind

CHECKED = settings(deadline=None, max_examples=15)
SEEDS = st.integers(0, 100_000)

CONTEXTUAL = ("city", "age", "grade", "race")
ORDER = ["low", "mid", "high"]
PAIRS = {
    "counts": ("sex", "hired", SummaryKind.COUNTS, 2),
    "counts of many": ("race", "job", SummaryKind.COUNTS, 2),
    "counts of levels in order": ("grade", "hired", SummaryKind.COUNTS, 2),
    "moments": ("score", "pay", SummaryKind.MOMENTS, 2),
    "moments of order 4": ("score", "pay", SummaryKind.MOMENTS, 4),
    "moments of levels": ("sex", "pay", SummaryKind.MOMENTS, 4),
    "moments of order and level": ("grade", "hired", SummaryKind.MOMENTS, 2),
    "group moments": ("race", "pay", SummaryKind.GROUP_MOMENTS, 2),
    "group moments of order 4": ("sex", "pay", SummaryKind.GROUP_MOMENTS, 4),
    "group moments, roles swapped": ("pay", "job", SummaryKind.GROUP_MOMENTS, 4),
    "ranks": ("score", "pay", SummaryKind.RANKS, 2),
    "moments of ranks": ("score", "pay", SummaryKind.MOMENTS, 2),
    "rows": ("score", "pay", SummaryKind.ROWS, 2),
}


def people(seed, n=150):
    """Return random columns in which everything may be missing."""
    rng = np.random.default_rng(seed)

    def some(values, share=0.08):
        return [None if r < share else v for v, r in zip(values, rng.random(n), strict=True)]

    return {
        "sex": some(rng.choice(["f", "m"], n).tolist()),
        "race": some(rng.choice(["a", "b", "c"], n, p=[0.7, 0.2, 0.1]).tolist()),
        "hired": some(rng.choice([True, False], n).tolist()),
        "job": some(rng.choice(["x", "y", "z", "w"], n).tolist()),
        "pay": some(np.round(np.exp(rng.normal(10, 1, n)), 2).tolist()),
        "score": some((rng.integers(0, 40, n) / 8 - 2).tolist()),
        "grade": some(rng.choice(ORDER, n).tolist()),
        "dept": some(rng.choice(["p", "q"], n).tolist()),
        "city": some(rng.choice(["k", "l", "m"], n).tolist(), 0.2),
        "age": some(rng.integers(18, 30, n).tolist(), 0.2),
    }


def read(data):
    return read_table(data, ordered={"grade": ORDER}, numeric=["age", "pay", "score"])


def variable(table, name):
    return numeric(table[name]) if table[name].values is not None else oriented(table[name])


def target_of(table, which, stratified, rows=None):
    s, o, summary, order = PAIRS[which]
    protected, output = variable(table, s), variable(table, o)
    if "ranks" in which:
        rows = np.arange(table.n_rows) if rows is None else rows
        protected, output = (ranked(v, table, rows) for v in (protected, output))
    strata = crossed("dept", [Part("dept", table["dept"].levels)], table) if stratified else None
    return Target(protected, output, strata, summary, order)


class Naive:
    """Counts in plain Python, from the values as they were given."""

    def __init__(self, data, table, target, stratified):
        self.data, self.target = data, target
        self.stratified = stratified
        self.scaled = {id(v): v.values(table) for v in (target.protected, target.output) if v.is_number or v.scores}

    def cell(self, i):
        """Return the cell of a row and the terms added there, None if something is missing."""
        t = self.target
        e = 0
        if self.stratified:
            if self.data["dept"][i] is None:
                return None
            e = t.strata.levels.index(self.data["dept"][i])
        s_raw, o_raw = (self.data[v.columns[0]][i] for v in (t.protected, t.output))
        if s_raw is None or o_raw is None:
            return None
        if t.summary is SummaryKind.ROWS:
            return (e,), [1]
        if t.summary is SummaryKind.MOMENTS:
            s, o = (float(self.scaled[id(v)][i]) for v in (t.protected, t.output))
            return (e,), [Fraction(s) ** a * Fraction(o) ** b for a, b in powers(t.order)]
        if t.summary is SummaryKind.GROUP_MOMENTS:
            group = t.by.levels.index(self.data[t.by.columns[0]][i])
            x = Fraction(float(self.scaled[id(t.measured)][i]))
            return (e, group), [x**p for p in range(t.order + 1)]
        return (e, self.level(t.output, o_raw), self.level(t.protected, s_raw)), [1]

    @staticmethod
    def level(v, raw):
        cuts = v.parts[0].thresholds
        return v.levels.index(raw) if cuts is None else sum(raw > c for c in cuts)

    def sums(self, rows):
        """Return ``[*cell_shape, term]`` over some rows, exactly."""
        size = len(powers(self.target.order)) if self.target.summary is SummaryKind.MOMENTS else 1
        size = self.target.order + 1 if self.target.summary is SummaryKind.GROUP_MOMENTS else size
        out = np.full((*self.target.cell_shape, size), Fraction(0), dtype=object)
        for i in rows:
            found = self.cell(i)
            if found is not None:
                out[found[0]] += np.array(found[1], dtype=object)
        return out


def agrees(target, got, want):
    """Whether sums of the engine are the exact ones: integers exactly, sums of numbers to the last digits."""
    if not target.sum_shape:
        assert np.issubdtype(got.dtype, np.integer)
        assert got.tolist() == want[..., 0].astype(int).tolist()
        return
    collapsed = got.sum(axis=-1)
    assert collapsed.shape == want.shape
    n = max(int(want[..., 0].max(initial=0)), 1)
    for a, b in zip(collapsed.ravel(), want.ravel(), strict=True):
        # each product is rounded once or a few times before it is added; the adding rounds nothing but the result
        assert abs(Fraction(float(a)) - b) <= n * Fraction(1, 2**50)


def naive_codes(data, table, training):
    """Return the code of every row on each contextual column, found from its value."""
    ages = sorted({data["age"][i] for i in training} - {None})
    codes = {"age": [len(ages) if v is None else sum(v > t for t in ages[:-1]) for v in data["age"]]}
    for name in CONTEXTUAL:
        levels = table[name].levels
        if levels:
            codes[name] = [len(levels) if v is None else levels.index(v) for v in data[name]]
    return codes


def has(codes, i, *context):
    """Whether a row satisfies all conditions."""
    return all(codes[c.column][i] in c.codes for c in context)


def random_context(engine, rng):
    conditions = []
    for name in rng.permutation(CONTEXTUAL)[: rng.integers(0, 4)]:
        size = engine.axis(str(name)).size
        codes = np.flatnonzero(rng.random(size) < 0.5)
        conditions.append(Condition(str(name), tuple(int(c) for c in codes)))
    return tuple(conditions)


def setting(seed, which="counts", stratified=False):
    data = people(seed)
    table = read(data)
    holdout = Holdout(table.n_rows, 2, 0.5, seed)
    target = target_of(table, which, stratified, holdout.rows(TRAIN))
    codes = naive_codes(data, table, holdout.rows(TRAIN))
    return data, table, holdout, target, Naive(data, table, target, stratified), codes


@pytest.mark.parametrize("stratified", [False, True], ids=["plain", "stratified"])
@pytest.mark.parametrize("which", PAIRS)
def test_totals_and_tables_are_those_of_a_naive_count(which, stratified):
    for seed in range(2):
        _, table, holdout, target, naive, codes = setting(seed, which, stratified)
        engine = MemoryEngine(table, holdout)
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
            assert engine.left_out(number, target) == missing
            assert target.wrap(got).size[0] == len(rows) - missing


@pytest.mark.parametrize("which", PAIRS)
def test_the_rows_of_a_context_are_its_people(which):
    data, table, holdout, target, naive, codes = setting(5, which, stratified=True)
    engine = MemoryEngine(table, holdout)
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
def test_profiles_are_the_people_without_their_names(stratified):
    """Laid out again, as many of each kind as there are, they are the rows of the set as two targets see them."""
    data, table, holdout, target, naive, codes = setting(9, "counts", stratified)
    other = target_of(table, "moments of levels", stratified)
    engine = MemoryEngine(table, holdout)
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
def test_shared_prefixes_give_what_single_contexts_give(seed, which):
    _, table, holdout, target, _, _ = setting(seed, which)
    engine = MemoryEngine(table, holdout)
    rng = np.random.default_rng(seed)
    first = [random_context(engine, rng) for _ in range(6)]
    longer = [(*c, *d) for c in first for d in first if not {x.column for x in c} & {x.column for x in d}]
    contexts = [*first, *longer, *first[:2], (), *(c[:1] for c in first)]
    contexts = [contexts[i] for i in rng.permutation(len(contexts))]
    together = engine.tables(1, contexts, target)
    alone = np.concatenate([engine.tables(1, [c], target) for c in contexts])
    assert together.tobytes() == alone.tobytes()
    backwards = engine.tables(1, [tuple(reversed(c)) for c in contexts], target)
    assert backwards.tobytes() == alone.tobytes()


@CHECKED
@given(seed=SEEDS, which=st.sampled_from(sorted(PAIRS)))
def test_sums_over_some_people_are_those_of_their_context(seed, which):
    _, table, holdout, target, _, _ = setting(seed, which)
    engine = MemoryEngine(table, holdout)
    rng = np.random.default_rng(seed)
    one, other = (random_context(engine, rng) for _ in range(2))
    inside = engine.members(2, [one, other])
    tables = engine.tables(2, [one, other, (*one, *other)], target)
    assert engine.within(2, inside[0], target).tobytes() == tables[0].tobytes()
    assert engine.within(2, inside[0] & inside[1], target).tobytes() == tables[2].tobytes()
    alone = engine.within(2, inside[0] & ~inside[1], target)
    np.testing.assert_allclose(alone, tables[0] - tables[2], rtol=1e-12, atol=1e-9)


def test_no_context_is_no_table_and_an_impossible_one_is_empty():
    _, table, holdout, target, _, _ = setting(3)
    engine = MemoryEngine(table, holdout)
    assert engine.tables(1, [], target).shape == (0, 1, 2, 2)
    nobody = (Condition("city", (0,)), Condition("city", (1,)))
    assert engine.tables(1, [nobody, (Condition("city", ()),)], target).sum() == 0
    assert len(engine.rows(1, nobody, target)) == 0


@pytest.mark.parametrize("which", PAIRS)
def test_the_frontier_of_a_random_tree_counts_like_a_loop(which):
    _, table, holdout, target, naive, codes = setting(7, which, stratified=True)
    engine = MemoryEngine(table, holdout)
    rng = np.random.default_rng(3)
    frontier = engine.frontier(target)
    nodes = [holdout.rows(TRAIN).tolist()]
    for _ in range(3):
        assert frontier.n_nodes == len(nodes)
        for name in CONTEXTUAL:
            axis = engine.axis(name)
            first = int(rng.integers(0, len(nodes)))
            last = int(rng.integers(first + 1, len(nodes) + 1))
            got = frontier.histogram(axis, first, last)
            assert got.shape == (last - first, axis.size, *target.cell_shape, *target.sum_shape)
            for node in range(first, last):
                for code in range(axis.size):
                    inside = [i for i in nodes[node] if has(codes, i, Condition(name, (code,)))]
                    agrees(target, got[node - first, code], naive.sums(inside))
        axes = [None if rng.random() < 0.2 else engine.axis(str(rng.choice(CONTEXTUAL))) for _ in nodes]
        axes[0] = engine.axis("age")
        child = np.full((len(nodes), 256), -1, dtype=np.int32)
        grown = []
        for at, axis in enumerate(axes):
            if axis is None:
                continue
            for part in np.array_split(rng.permutation(axis.size), 3)[: rng.integers(1, 4)]:
                inside = [i for i in nodes[at] if has(codes, i, Condition(axis.column, tuple(part.tolist())))]
                child[at, part] = len(grown)
                grown.append(inside)
        frontier.advance(axes, child)
        nodes = grown


# Sums of numbers


NUMBERS = [w for w in PAIRS if "moments" in w]


def permuted(table, order):
    """Return a table with its rows in another order."""
    columns = {
        name: replace(
            c,
            codes=None if c.codes is None else c.codes[order],
            values=None if c.values is None else c.values[order],
        )
        for name, c in table.columns.items()
    }
    return Table(table.name, table.library, len(order), columns)


@CHECKED
@given(seed=SEEDS, which=st.sampled_from(NUMBERS))
def test_the_order_of_rows_leaves_no_trace_in_a_sum(seed, which):
    table = read(people(seed))
    target = target_of(table, which, stratified=True)
    order = np.random.default_rng(seed).permutation(table.n_rows)
    other = permuted(table, order)
    again = target_of(other, which, stratified=True)
    assert again == target
    everyone = np.zeros(table.n_rows, np.int8)

    def total(t):
        cells = cells_of(target, t, t.n_rows)
        keep = np.flatnonzero(cells.valid)
        return add_up(everyone[keep], 1, cells.take(keep), target)

    assert total(table).tobytes() == total(other).tobytes()


@CHECKED
@given(seed=SEEDS, which=st.sampled_from(sorted(PAIRS)), cuts=st.lists(st.integers(0, 150), max_size=6))
def test_partitions_add_up_to_the_same_bits(seed, which, cuts):
    table = read(people(seed))
    target = target_of(table, which, stratified=True)
    whole = MemoryEngine(table, AllTraining(table.n_rows)).total(TRAIN, target)
    edges = [0, *sorted(cuts), table.n_rows]
    order = np.random.default_rng(seed).permutation(table.n_rows)
    added = np.zeros_like(whole)
    for a, b in pairwise(edges):
        part = permuted(table, order[a:b])
        cells = cells_of(target, part, table.n_rows)
        keep = np.flatnonzero(cells.valid)
        added = added + add_up(np.zeros(keep.size, np.int8), 1, cells.take(keep), target)[0]
    assert added.tobytes() == whole.tobytes()


class AllTraining(Holdout):
    """Everybody trains."""

    def __init__(self, n_rows):
        self.sizes = (n_rows, 0)

    def rows(self, number):
        return np.arange(self.sizes[number])


@CHECKED
@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=60),
    st.sampled_from([1, 2, 3, 100, 1000, 2**20, 10**7]),
    st.integers(2, 3),
)
def test_pieces_add_without_rounding(terms, n_rows, pieces):
    cut = exact_pieces(np.array(terms), n_rows, pieces)
    assert len(cut) == pieces
    bits = 52 - max(math.ceil(math.log2(max(n_rows, 2))), 1)
    for k, piece in enumerate(cut, start=1):
        for value in piece:
            assert (Fraction(float(value)) * 2 ** (k * bits)).denominator == 1
            # n of the largest still have a last digit at the multiple: the sum is exact in any order
            assert abs(Fraction(float(value))) * n_rows <= Fraction(2) ** (53 - k * bits)
    rest = [abs(Fraction(t) - sum(Fraction(float(p[i])) for p in cut)) for i, t in enumerate(terms)]
    assert max(rest) <= Fraction(1, 2 ** (pieces * bits + 1))


def exact_central(s, o):
    """Return Σ(s − s̄)ⁱ(o − ō)ʲ in fractions, from the raw numbers."""
    s, o = [Fraction(v) for v in s], [Fraction(v) for v in o]
    ms, mo = sum(s) / len(s), sum(o) / len(o)
    return {
        (i, j): sum((a - ms) ** i * (b - mo) ** j for a, b in zip(s, o, strict=True))
        for i, j in powers(4)
        if i + j >= 2
    }


def columns_with_few_digits_left(rng, n):
    """Yield pairs of numbers whose squares do not fit a double."""
    year = rng.integers(1950, 2025, n)
    cents = 10_000_000_00 + rng.integers(0, 99, n) + (year - 1950)
    yield "years and cents", year, cents
    yield "seconds since 1970", 1_700_000_000 + rng.integers(0, 3600, n), 3 * rng.integers(0, 60, n)
    wide = np.round(np.exp(rng.normal(12, 2, n)) * 100)
    yield "skewed cents", wide, np.round(wide * 0.3 + rng.integers(0, 10_000, n))


def test_centred_sums_keep_their_digits():
    rng = np.random.default_rng(11)
    n = 400
    for name, s, o in columns_with_few_digits_left(rng, n):
        city = rng.choice(["k", "l"], n)
        table = read_table({"s": s, "o": o, "city": city}, numeric=["s", "o"])
        target = Target(numeric(table["s"]), numeric(table["o"]), None, SummaryKind.MOMENTS, 4)
        engine = MemoryEngine(table, AllTraining(n))
        summaries = target.wrap(engine.tables(TRAIN, [(), (Condition("city", (0,)),)], target))
        assert isinstance(summaries, Moments)
        for which, inside in enumerate((np.ones(n, bool), city == "k")):
            want = exact_central(s[inside].tolist(), o[inside].tolist())
            a, b = target.protected.scale, target.output.scale
            for (i, j), exact in want.items():
                got = summaries.by_stratum.sums[i, j][which, 0] * a**i * b**j
                scale = float(want[2, 0]) ** (i / 2) * float(want[0, 2]) ** (j / 2) / inside.sum() ** ((i + j) / 2 - 1)
                assert got == pytest.approx(float(exact), abs=1e-11 * scale), (name, i, j)
            r = summaries.by_stratum.sums[1, 1][which, 0] / math.sqrt(
                summaries.by_stratum.sums[2, 0][which, 0] * summaries.by_stratum.sums[0, 2][which, 0]
            )
            assert r == pytest.approx(float(want[1, 1]) / math.sqrt(want[2, 0] * want[0, 2]), abs=1e-12), name


def test_group_moments_keep_their_digits():
    rng = np.random.default_rng(12)
    n = 400
    for name, _, o in columns_with_few_digits_left(rng, n):
        group = rng.choice(["a", "b", "c"], n)
        table = read_table({"g": group, "o": o}, numeric=["o"])
        target = Target(oriented(table["g"]), numeric(table["o"]), None, SummaryKind.GROUP_MOMENTS, 4)
        summary = target.wrap(MemoryEngine(table, AllTraining(n)).total(TRAIN, target))
        assert isinstance(summary, GroupMoments)
        for k, g in enumerate("abc"):
            raw = [Fraction(float(v)) for v in o[group == g]]
            mean = sum(raw) / len(raw)
            assert target.output.raw(summary.means[0, k]) == pytest.approx(float(mean), rel=1e-14)
            spread = float(sum((v - mean) ** 2 for v in raw))
            for p in (2, 3, 4):
                exact = float(sum((v - mean) ** p for v in raw))
                scale = spread ** (p / 2) / len(raw) ** (p / 2 - 1)
                got = summary.central(p)[0, k] * target.output.scale**p
                assert got == pytest.approx(exact, abs=1e-11 * scale), (name, p)


def test_the_sum_of_many_rows_is_as_good_as_fsum():
    rng = np.random.default_rng(0)
    n = 30_000
    x, y = rng.normal(size=n), rng.standard_cauchy(n)
    table = read_table({"x": x, "y": y})
    target = Target(numeric(table["x"]), numeric(table["y"]), None, SummaryKind.MOMENTS, 2)
    got = MemoryEngine(table, AllTraining(n)).total(TRAIN, target).sum(axis=-1)[0]
    s, o = target.protected.values(table), target.output.values(table)
    for (i, j), value in zip(powers(2), got, strict=True):
        assert value == pytest.approx(math.fsum(s**i * o**j), rel=1e-15, abs=1e-18)


def test_equal_numbers_do_not_vary():
    """What rounding leaves of a constant must not pass for variation."""
    rng = np.random.default_rng(5)
    n = 300
    for constant in (1e9 + 0.1, -17.3, *rng.normal(size=20)):
        inside = rng.random(n) < rng.uniform(0.05, 0.6)
        x = np.where(inside, constant, constant + rng.normal(size=n) * 3 + 2)
        table = read_table({"x": x, "y": rng.normal(size=n), "g": rng.choice(["a", "b"], n), "c": inside})
        context = (Condition("c", (1,)),)
        engine = MemoryEngine(table, AllTraining(n))
        for order in (2, 4):
            moments = Target(numeric(table["y"]), numeric(table["x"]), None, SummaryKind.MOMENTS, order)
            by_group = Target(oriented(table["g"]), numeric(table["x"]), None, SummaryKind.GROUP_MOMENTS, order)
            assert moments.wrap(engine.tables(TRAIN, [context], moments)).by_stratum.sums[0, 2].tolist() == [[0.0]]
            assert by_group.wrap(engine.tables(TRAIN, [context], by_group)).central(2).tolist() == [[[0.0, 0.0]]]
