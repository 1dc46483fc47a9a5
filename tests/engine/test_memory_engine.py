"""Sums of numbers are exact: neither the order nor the partition of rows leaves a trace, and no digits are lost."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_counts import PAIRS, people, read, target_of

from fairtest.data.axes import Condition
from fairtest.data.holdout import TRAIN, Holdout
from fairtest.data.reading.readers import read_table
from fairtest.data.summaries import GroupMoments, Moments, Target, exact_pieces, powers
from fairtest.data.table import Table
from fairtest.data.variables import level_variable, number_variable
from fairtest.engine.kernel.histogram import add_up_at, cells_of
from fairtest.engine.memory import MemoryEngine
from fairtest.types import SummaryKind

CHECKED = settings(deadline=None, max_examples=15)
SEEDS = st.integers(0, 100_000)

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
    assert add_up_all(target, table).tobytes() == add_up_all(target, other).tobytes()


def add_up_all(target, table, n_rows=None):
    cells = cells_of(target, table, n_rows or table.n_rows)
    cells = cells.take(np.flatnonzero(cells.valid))
    return add_up_at(cells.cell.astype(np.intp), 1, cells, target)


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
        added = added + add_up_all(target, part, table.n_rows)[0]
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
        target = Target(number_variable(table["s"]), number_variable(table["o"]), None, SummaryKind.MOMENTS, 4)
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
        target = Target(level_variable(table["g"]), number_variable(table["o"]), None, SummaryKind.GROUP_MOMENTS, 4)
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
    target = Target(number_variable(table["x"]), number_variable(table["y"]), None, SummaryKind.MOMENTS, 2)
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
            moments = Target(number_variable(table["y"]), number_variable(table["x"]), None, SummaryKind.MOMENTS, order)
            by_group = Target(
                level_variable(table["g"]), number_variable(table["x"]), None, SummaryKind.GROUP_MOMENTS, order
            )
            assert moments.wrap(engine.tables(TRAIN, [context], moments)).by_stratum.sums[0, 2].tolist() == [[0.0]]
            assert by_group.wrap(engine.tables(TRAIN, [context], by_group)).central(2).tolist() == [[[0.0, 0.0]]]
