"""Variables: which value and which group, crossed columns, bins, ranks, and numbers that keep their digits."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from fairtest.data.reading.readers import read_table
from fairtest.data.source import DataSource
from fairtest.data.table import Number
from fairtest.data.variables import (
    RANK_BINS,
    Part,
    cross_parts,
    cut_column,
    level_variable,
    number_variable,
    rank_variable,
)
from fairtest.exceptions import InputError
from fairtest.investigations.roles import output_variable, protected_variable, strata_variable
from fairtest.types import Kind

CHECKED = settings(deadline=None, max_examples=40)

EVERY = st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=3, max_size=60)


def everyone(table):
    return np.arange(table.n_rows)


def column(values, name="x", **declared):
    return read_table({name: values}, **declared)[name]


def levels_of(variable, table):
    """Return each row's level as the variable gives it, None where missing."""
    return [None if c < 0 else variable.levels[c] for c in variable.codes(table)]


# Orientation


@pytest.mark.parametrize(
    ("values", "second"),
    [
        ([True, False, False, True, True], True),
        ([1, 0, 1, 1, 1], 1),
        ([0.0, 1.0, 1.0, 0.0], 1),
        (["no", "yes", "yes", "yes"], "no"),  # the rarer
        (["no", "no", "yes", "no"], "yes"),
        (["b", "a", "a", "b"], "a"),  # a tie goes by name
    ],
)
def test_the_favourable_output_stands_second(values, second):
    source = DataSource({"o": values * 5, "s": ["f", "m"] * (len(values) * 5 // 2) + ["f"] * (len(values) * 5 % 2)})
    variable = output_variable(source, "o")
    assert variable.levels[1] == second
    assert type(variable.levels[1]) is type(second) or second in (0, 1)
    assert levels_of(variable, source.table) == values * 5
    assert variable.values(source.table).tolist() == [float(v == second) for v in values * 5]


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (["f", "m", "m"], "m"),  # the larger group
        (["f", "f", "m"], "f"),
        (["m", "f", "f", "m"], "f"),  # a tie goes by name
        ([True, True, False], True),
        ([0, 0, 1], 0),
        (["m", None, None, None, "m", "f"], "m"),  # missing is no group
    ],
)
def test_the_reference_group_stands_first(values, first):
    source = DataSource({"s": values * 4, "o": list(range(len(values) * 4))})
    variable = protected_variable(source, ("s",))
    assert variable.levels[0] == first
    assert levels_of(variable, source.table) == values * 4


def test_what_is_declared_wins_in_both_roles():
    data = {"s": ["f", "m", "m", "m"] * 5, "o": ["no", "no", "no", "yes"] * 5, "k": [0, 1, 1, 1] * 5}
    source = DataSource(data, favourable={"o": "no", "k": 0}, reference={"s": "f"})
    assert output_variable(source, "o").levels == ("yes", "no")
    assert output_variable(source, "k").levels == (1, 0)
    assert protected_variable(source, ("s",)).levels == ("f", "m")
    assert levels_of(output_variable(source, "o"), source.table) == data["o"]


@CHECKED
@given(st.lists(st.sampled_from(["a", "b", None]), min_size=2, max_size=40))
def test_orientation_only_swaps_codes(values):
    table = read_table({"x": ["a", "b", *values]})
    one, other = (level_variable(table["x"], first=v) for v in ("a", "b"))
    assert one.levels == ("a", "b")
    assert other.levels == ("b", "a")
    assert level_variable(table["x"], second="b") == one
    a, b = one.codes(table), other.codes(table)
    assert np.array_equal(a < 0, b < 0)
    assert np.array_equal(np.where(a < 0, -1, 1 - a), b)
    assert np.array_equal(1 - one.values(table), other.values(table), equal_nan=True)


def test_orientation_leaves_more_than_two_levels_alone():
    table = read_table({"x": ["c", "a", "b"]})
    assert level_variable(table["x"], first="c", second="a").levels == ("a", "b", "c")
    assert level_variable(table["x"]).scores == ()


def test_an_ordered_column_is_scored_in_equal_steps():
    order = ["low", "mid", "high", "top"]
    values = ["top", None, "low", "mid", "high"]
    table = read_table({"g": values}, ordered={"g": order})
    variable = level_variable(table["g"])
    assert variable.kind is Kind.ORDERED
    assert variable.levels == tuple(order)
    scaled = variable.values(table)
    assert np.isnan(scaled[1])
    back = [variable.raw(v) for v in np.delete(scaled, 1)]
    assert back == pytest.approx([3, 0, 1, 2])
    assert np.nanmax(np.abs(scaled)) <= 1


# Numbers


@CHECKED
@given(st.lists(st.one_of(st.none(), st.floats(-1e15, 1e15)), min_size=1, max_size=50))
def test_a_number_is_scaled_to_at_most_one_and_back(values):
    table = read_table({"x": [*values, 1.25, -7.5, 2.5]})
    variable = number_variable(table["x"])
    raw, scaled = table["x"].values, variable.values(table)
    assert np.array_equal(np.isnan(raw), np.isnan(scaled))
    present = ~np.isnan(raw)
    assert np.abs(scaled[present]).max() <= 1
    size = np.abs(raw[present]).max()
    assert [variable.raw(v) for v in scaled[present]] == pytest.approx(
        raw[present].tolist(), rel=1e-13, abs=1e-13 * size
    )


@pytest.mark.parametrize(
    "values",
    [
        [2001, 2002, 2003, 2003, 1999, *range(1990, 2020)],
        [1_234_567_891_23, 1_234_567_891_24, 1_234_567_891_25, *range(1_234_567_800_00, 1_234_567_800_20)],
    ],
)
def test_differences_of_years_and_of_cents_keep_their_digits(values):
    table = read_table({"x": values}, numeric=["x"])
    variable = number_variable(table["x"])
    scaled = variable.values(table)
    centre, scale = Fraction(variable.centre), Fraction(variable.scale)
    for v, got in zip(values, scaled, strict=True):
        want = (Fraction(v) - centre) / scale
        assert abs(Fraction(float(got)) - want) <= abs(want) * Fraction(1, 2**52)


def test_a_constant_number_and_one_that_is_never_there():
    table = read_table({"a": [3.5, None, 3.5], "b": [None, None, None]}, numeric=["a", "b"])
    a, b = number_variable(table["a"]), number_variable(table["b"])
    assert a.values(table).tolist()[::2] == [0.0, 0.0]
    assert np.isnan(b.values(table)).all()
    assert a.scale == b.scale == 1.0


def test_dates_are_days():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=7 * i) for i in range(20)]
    table = read_table({"d": days})
    variable = number_variable(table["d"])
    assert variable.number is Number.DATE
    raws = [variable.raw(v) for v in variable.values(table)]
    assert raws == pytest.approx([(d - dt.date(1970, 1, 1)).days for d in days])


# Crossing


def naive_cross(columns):
    return [None if None in row else row for row in zip(*columns, strict=True)]


@CHECKED
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", None]), st.sampled_from([True, False, None]), st.integers(0, 2)),
        min_size=1,
        max_size=40,
    )
)
def test_crossing_is_the_combination_of_values_that_occur(rows):
    rows = [*rows, ("a", True, 0), ("b", False, 1), ("c", True, 2)]
    columns = [list(c) for c in zip(*rows, strict=True)]
    table = read_table(dict(zip("xyz", columns, strict=True)), categorical=["z"])
    variable = cross_parts("all", [Part(n, table[n].levels) for n in "xyz"], table)
    got = [None if c < 0 else variable.combinations[c] for c in variable.codes(table)]
    want = naive_cross(columns)
    assert got == want
    assert set(variable.combinations) == {w for w in want if w is not None}
    assert len(variable.levels) == len(variable.combinations)
    assert variable.columns == ("x", "y", "z")
    assert variable.kind is (Kind.BINARY if len(variable.levels) == 2 else Kind.CATEGORICAL)


def test_a_crossed_variable_speaks_of_new_rows_too():
    table = read_table({"x": ["a", "b", "a", "b"], "y": ["k", "l", "l", "l"]})
    variable = cross_parts("x, y", [Part(n, table[n].levels) for n in "xy"], table)
    assert variable.levels == ("a, k", "a, l", "b, l")
    other = read_table({"x": ["b", "b", "a"], "y": ["k", "l", "k"]})
    assert variable.codes(other).tolist() == [-1, 2, 0]  # b, k did not occur


def test_too_many_combinations_are_refused():
    n = 1100
    data = {c: [f"{c}{i}" for i in range(n)] for c in "xy"}
    table = read_table(data, categorical=["x", "y"])
    with pytest.raises(InputError, match=r"Crossing x, y gives 1100 × 1100"):
        cross_parts("x, y", [Part(n, table[n].levels) for n in "xy"], table)


def test_strata_cross_levels_with_bins_and_count_missing_out():
    rng = np.random.default_rng(2)
    n = 400
    age = [None if i % 10 == 0 else int(a) for i, a in enumerate(rng.integers(18, 90, n))]
    job = [None if i % 7 == 0 else j for i, j in enumerate(rng.choice(["x", "y"], n))]
    source = DataSource({"age": age, "job": job, "s": ["f", "m"] * (n // 2)})
    strata = strata_variable(source, ("job", "age"))
    codes = strata.codes(source.table)
    assert [c < 0 for c in codes] == [a is None or j is None for a, j in zip(age, job, strict=True)]
    cuts = strata.parts[1].thresholds
    assert len(cuts) == 4
    for c, a, j in zip(codes, age, job, strict=True):
        if c >= 0:
            assert strata.combinations[c][0] == j
            assert strata.combinations[c][1] == strata.parts[1].levels[sum(a > t for t in cuts)]


# Bins


@CHECKED
@given(values=EVERY, bins=st.integers(2, 12), distinct=st.integers(2, 20))
def test_bins_hold_what_their_names_say(values, bins, distinct):
    table = read_table({"age": [*values, 1, 2]}, numeric=["age"])
    part = cut_column(table["age"], everyone(table), bins, distinct=distinct)
    codes = part.codes(table)
    present = sorted(v for v in [*values, 1, 2] if v is not None)
    assert list(part.thresholds) == sorted(set(part.thresholds))
    assert set(part.thresholds) < set(present)  # observed values, and the largest is none of them
    assert len(part.levels) == len(part.thresholds) + 1
    for v, c in zip([*values, 1, 2], codes, strict=True):
        if v is None:
            assert c == -1
            continue
        for condition in part.levels[c].split(", ") if part.thresholds else ():
            sign, number = condition.split(" ")
            assert v <= float(number) if sign == "≤" else v > float(number)
    if len(set(present)) <= distinct:
        assert len(part.levels) == len(set(present))
    else:
        assert len(part.levels) <= bins


def test_fifths_of_the_training_rows():
    table = read_table({"x": [*range(100), *range(1000, 1100)]})
    part = cut_column(table["x"], np.arange(100), 5)
    assert part.thresholds == (19.0, 39.0, 59.0, 79.0)
    assert np.bincount(part.codes(table)).tolist() == [20, 20, 20, 20, 120]


def test_bins_of_one_value_are_one_bin():
    table = read_table({"age": [7, 7, None]}, numeric=["age"])
    part = cut_column(table["age"], everyone(table), 5)
    assert part.levels == ("any",)
    assert part.codes(table).tolist() == [0, 0, -1]


def test_bins_of_dates_are_named_by_dates():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(50)]
    part = cut_column(column(days), np.arange(50), 2)
    assert part.levels == ("≤ 2020-01-25", "> 2020-01-25")


# Ranks


@CHECKED
@given(EVERY)
def test_the_scores_of_few_values_are_their_mean_ranks(values):
    values = [*values, 3, 4]
    table = read_table({"age": values}, numeric=["age"])
    scores = rank_variable(number_variable(table["age"]), table, everyone(table)).values(table)
    there = [v is not None for v in values]
    assert np.array_equal(np.isnan(scores), ~np.array(there))
    ranks = rankdata([v for v in values if v is not None])
    assert scores[there] == pytest.approx((ranks - 0.5) / ranks.size - 0.5, abs=1e-14)


def test_an_ordered_column_is_ranked_by_its_order():
    order = ["low", "mid", "high"]
    values = ["high", "low", None, "mid", "mid", "high", "low", "low"]
    table = read_table({"g": values}, ordered={"g": order})
    variable = rank_variable(level_variable(table["g"]), table, everyone(table))
    present = [v for v in values if v]
    want = (rankdata([order.index(v) for v in present]) - 0.5) / len(present) - 0.5
    assert variable.values(table)[[v is not None for v in values]] == pytest.approx(want)


def test_many_values_are_ranked_in_bins_that_keep_the_order():
    rng = np.random.default_rng(4)
    x = np.exp(3 * rng.normal(size=5000))
    y = x * np.exp(rng.normal(size=5000))
    table = read_table({"x": x, "y": y})
    a, b = (rank_variable(number_variable(table[c]), table, everyone(table)) for c in "xy")
    assert len(a.levels) == RANK_BINS
    s = a.values(table)
    order = np.argsort(x)
    assert (np.diff(s[order]) >= 0).all()
    assert s == pytest.approx((rankdata(x) - 0.5) / x.size - 0.5, abs=1 / RANK_BINS)
    exact = np.corrcoef(rankdata(x), rankdata(y))[0, 1]
    assert np.corrcoef(s, b.values(table))[0, 1] == pytest.approx(exact, abs=1e-4)


def test_ranks_are_those_of_the_rows_given():
    table = read_table({"age": [1, 2, 3, 4, 10, 20, 30]}, numeric=["age"])
    variable = rank_variable(number_variable(table["age"]), table, np.arange(4))
    assert variable.values(table)[:4].tolist() == [-0.375, -0.125, 0.125, 0.375]
    assert variable.values(table)[4:].tolist() == [0.375] * 3  # beyond what was seen
    assert math.isclose(sum(variable.values(table)[:4]), 0.0)
