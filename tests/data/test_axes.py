"""Axes: where a column may be cut, and that every row's code says so."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtest.data import axes
from fairtest.data.axes import DISTINCT_THRESHOLDS, MOST_LEVELS, MOST_POOLED, QUANTILES, make_axis
from fairtest.data.reading.readers import read_table
from fairtest.model.context import Context, Op
from fairtest.search.cuts import children, conditions_of, n_splits
from fairtest.types import Kind

CHECKED = settings(deadline=None, max_examples=40)


def axis_of(values, rows=None, name="x", **declared):
    table = read_table({name: values}, **declared)
    return make_axis(table[name], np.arange(table.n_rows) if rows is None else np.asarray(rows)), table


def satisfies(value, predicate):
    """Whether a raw value satisfies a predicate, in plain Python."""
    if value is None:
        return predicate.op is Op.MISSING
    if predicate.op is Op.MISSING:
        return False
    if predicate.op is Op.IS:
        return value == predicate.value
    if predicate.op is Op.IN:
        return value in predicate.value
    place = predicate.order.index if predicate.order else (lambda v: v)
    below = place(value) <= place(predicate.value)
    return below if predicate.op is Op.AT_MOST else not below


def check_every_split(values, axis, table, name="x"):
    """Each split parts the rows: every one in exactly one child, the one whose predicate it satisfies."""
    codes = axis.codes(table)
    assert codes.dtype == np.uint8
    assert codes.max() < axis.size
    for split in range(n_splits(axis)):
        parts = children(axis, split, table[name])
        assert sorted(c for _, condition in parts for c in condition.codes) == list(range(axis.size))
        for predicate, condition in parts:
            inside = [c in condition.codes for c in codes]
            assert inside == [satisfies(v, predicate) for v in values]


@CHECKED
@given(st.lists(st.one_of(st.none(), st.integers(-30, 30)), min_size=2, max_size=60))
def test_a_number_of_few_values_is_cut_between_any_two(values):
    axis, table = axis_of(values, name="age", numeric=["age"])
    present = sorted({v for v in values if v is not None})
    if len(present) < 2:
        assert axis is None
        return
    assert list(axis.thresholds) == present[:-1]
    assert (axis.missing is not None) == (None in values)
    assert axis.size == len(present) + (None in values)
    check_every_split(values, axis, table, "age")


def test_64_values_are_few_and_65_are_not():
    few, _ = axis_of(list(range(DISTINCT_THRESHOLDS)) * 3)
    many, _ = axis_of(list(range(DISTINCT_THRESHOLDS + 1)) * 3)
    assert few.thresholds == tuple(float(i) for i in range(DISTINCT_THRESHOLDS - 1))
    assert len(many.thresholds) == QUANTILES


@CHECKED
@given(seed=st.integers(0, 10_000), skew=st.floats(0, 6), n=st.integers(70, 700))
def test_a_number_of_many_values_is_cut_at_quantiles(seed, skew, n):
    rng = np.random.default_rng(seed)
    x = np.round(np.exp(skew * rng.normal(size=n)), 2) + np.arange(n) * 1e-7 * rng.integers(0, 2)
    values = [None if rng.random() < 0.05 else float(v) for v in x]
    axis, table = axis_of(values)
    present = sorted(v for v in values if v is not None)
    if len(set(present)) <= DISTINCT_THRESHOLDS:
        return
    # the k-th of q quantiles is the least value with at least k/(q + 1) of the people at or below it
    at = [-(-k * len(present) // (QUANTILES + 1)) - 1 for k in range(1, QUANTILES + 1)]
    assert list(axis.thresholds) == sorted({present[i] for i in at} - {present[-1]})
    codes = axis.codes(table)
    for value, code in zip(values, codes, strict=True):
        assert code == (axis.missing if value is None else sum(value > t for t in axis.thresholds))


def test_without_ties_the_quantiles_are_even():
    axis, table = axis_of(np.random.default_rng(0).permutation(3300) + 0.5)
    counts = np.bincount(axis.codes(table))
    assert axis.size == QUANTILES + 1
    assert counts.tolist() == [100] * (QUANTILES + 1)


def test_a_heap_at_one_value_costs_no_threshold_twice():
    gains = [0] * 5000 + list(range(1, 101)) * 5
    axis, _ = axis_of(gains)
    assert axis.thresholds[0] == 0.0
    assert len(set(axis.thresholds)) == len(axis.thresholds) < QUANTILES


def test_thresholds_come_from_the_training_rows_only():
    axis, table = axis_of([*range(20), *range(100, 200)], rows=range(20))
    assert axis.thresholds == tuple(float(i) for i in range(19))
    assert set(axis.codes(table)[20:].tolist()) == {19}  # above the last threshold
    low, _ = axis_of([5, 6, 7, *range(-50, 0)], rows=range(3))
    assert low.thresholds == (5.0, 6.0)


def test_zero_and_negative_numbers_are_cut_like_others():
    values = [-1.5, -0.0, 0.0, 2.5, -1.5, 0.0, None]
    axis, table = axis_of(values)
    assert axis.thresholds == (-1.5, 0.0)
    check_every_split(values, axis, table)


def test_a_number_that_does_not_vary_in_training_is_no_axis():
    assert axis_of([1.5, 1.5, 2.5, 3.5], rows=[0, 1])[0] is None
    assert axis_of([None, None, 2.5, 3.5], rows=[0, 1])[0] is None


def test_missing_has_a_code_even_if_it_occurs_only_outside_training():
    axis, table = axis_of([1.5, 2.5, 3.5, None], rows=[0, 1, 2])
    assert axis.missing == 3
    assert axis.codes(table).tolist() == [0, 1, 2, 3]
    axis, table = axis_of(["a", "b", None, "c"], rows=[0, 1])
    assert axis.codes(table).tolist() == [0, 1, 3, 2]
    assert [str(p) for p, _ in children(axis, 0, table["x"])] == ["x = a", "x = b", "x = c", "x missing"]


def test_dates_are_cut_at_days_and_print_as_dates():
    days = [dt.date(2020, 1, 30), dt.date(1969, 12, 30), dt.date(2020, 3, 1), None]
    axis, table = axis_of(days)
    assert axis.thresholds == (-2.0, 18291.0)
    assert [str(p) for p, _ in children(axis, 0, table["x"])] == ["x ≤ 1969-12-30", "x > 1969-12-30", "x missing"]
    check_every_split(days, axis, table)


@CHECKED
@given(st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=40))
def test_a_category_falls_into_its_values(values):
    axis, table = axis_of(values)
    if len(set(values)) < 2:
        assert axis is None
        return
    assert n_splits(axis) == 1
    assert axis.size == len(set(values))
    check_every_split(values, axis, table)


@pytest.mark.parametrize("values", [[True, False, None], [0, 1, 1], [1, 2, 3, 2], [0.5, 1.5, 0.5]])
def test_booleans_and_codes_are_categories(values):
    axis, table = axis_of(values)
    assert axis.thresholds is None
    check_every_split(values, axis, table)


@CHECKED
@given(st.lists(st.sampled_from(["low", "mid", "high", "top", None]), min_size=1, max_size=40))
def test_an_ordered_column_is_cut_between_levels(values):
    values = [*values, "top", "mid"]
    order = ["low", "mid", "high", "top"]
    axis, table = axis_of(values, ordered={"x": order})
    occurring = [v for v in order if v in values]
    assert axis.thresholds == tuple(occurring[:-1])
    check_every_split(values, axis, table)


def test_a_column_with_one_value_everywhere_or_an_identifier_is_no_axis():
    assert axis_of(["a"] * 5)[0] is None
    axis, table = axis_of([f"p{i}" for i in range(100)])
    assert table["x"].kind is Kind.IDENTIFIER
    assert axis is None


def with_levels(frequent, rare):
    """Return values in which ``frequent`` levels occur thrice and ``rare`` ones once."""
    return [f"f{i:03d}" for i in range(frequent)] * 3 + [f"r{i:03d}" for i in range(rare)]


def test_up_to_200_levels_nothing_is_pooled():
    axis, table = axis_of(with_levels(MOST_LEVELS - 5, 5))
    assert (axis.size, axis.pool, axis.pooled) == (MOST_LEVELS, None, ())
    assert not axis.pool_is_readable
    assert all(p.op is Op.IS for p, _ in children(axis, 0, table["x"]))


@pytest.mark.parametrize(("rare", "readable"), [(1, True), (MOST_POOLED, True), (MOST_POOLED + 1, False), (300, False)])
def test_the_rarest_levels_are_pooled(rare, readable):
    values = [*with_levels(MOST_LEVELS, rare), None]
    axis, table = axis_of(values)
    assert axis.pooled == tuple(f"r{i:03d}" for i in range(rare))
    assert axis.size == MOST_LEVELS + 2
    assert axis.pool == MOST_LEVELS
    assert axis.missing == MOST_LEVELS + 1
    assert axis.pool_is_readable is readable
    predicate, condition = children(axis, 0, table["x"])[axis.pool]
    assert (predicate.op, predicate.value) == (Op.IN, axis.pooled)
    assert condition.codes == (axis.pool,)
    check_every_split(values, axis, table)


def test_what_is_rare_is_decided_in_training():
    values = [f"v{i:03d}" for i in range(MOST_LEVELS + 1)] * 2 + ["v000"] * 50
    training = [i for i, v in enumerate(values) if v != "v000"]
    axis, _ = axis_of(values, rows=training)
    assert axis.pooled == ("v000",)


@CHECKED
@given(seed=st.integers(0, 1000))
def test_contexts_find_their_codes_again(seed):
    rng = np.random.default_rng(seed)
    n = 60
    data = {
        "age": pl.Series([None if r < 0.1 else int(r * 40) - 20 for r in rng.random(n)]),
        "city": pl.Series(rng.choice(["a", "b", "c"], n)),
        "grade": pl.Series(rng.choice(["lo", "mid", "hi"], n)),
        "day": pl.Series([dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 30, n)]),
    }
    table = read_table(data, ordered={"grade": ["lo", "mid", "hi"]}, numeric=["age"])
    axes = {c: make_axis(table[c], np.arange(n)) for c in data}
    for name, axis in axes.items():
        for split in range(n_splits(axis)):
            for predicate, condition in children(axis, split, table[name]):
                assert conditions_of([Context.of([predicate])], axes.__getitem__) == ((condition,),)


@pytest.mark.parametrize("scale", [1.0, 1e-310, 1e-30, 1e150, 1e308])
@pytest.mark.parametrize("shape", ["even", "skewed", "few"])
def test_the_grid_gives_what_searching_gives(shape, scale):
    rng = np.random.default_rng(5)
    values = {
        "even": rng.uniform(-1, 1, 20_000),
        "skewed": np.exp(rng.normal(0, 4, 20_000)) / 1e8,
        "few": rng.integers(-3, 4, 20_000) / 4,
    }[shape] * scale
    thresholds = np.unique(np.quantile(values, np.linspace(0.02, 0.98, 40), method="lower"))
    values[::50] = rng.choice([np.inf, -np.inf, 0.0, *thresholds, *np.nextafter(thresholds, np.inf)], 400)
    got = axes._bins(thresholds, values)
    assert got.dtype == np.uint8
    np.testing.assert_array_equal(got, np.searchsorted(thresholds, values, side="left"))
    values[::3] = np.nan
    known = ~np.isnan(values)
    np.testing.assert_array_equal(axes._bins(thresholds, values)[known], got[known])
