"""Which kind a column is taken for, and why."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtest.data.columns.decide import split_words
from fairtest.data.columns.declared import DeclaredKinds
from fairtest.data.columns.description import HUGE, encode_column
from fairtest.data.reading.raw import RawColumn
from fairtest.data.reading.readers import read_table
from fairtest.data.table import Number
from fairtest.exceptions import InputError
from fairtest.types import Kind

MANY = list(range(50))
NEARLY = "text, nearly all different ({} values in {} rows)"
DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(50)]


def column(values, name="x", **declared):
    return read_table({name: values}, **declared)[name]


@pytest.mark.parametrize(
    ("name", "values", "kind", "reason"),
    [
        ("x", [True, False], Kind.BINARY, "booleans, 2 values"),
        ("x", [True, True], Kind.CATEGORICAL, "booleans, 1 value"),
        ("x", ["a", "b", None], Kind.BINARY, "text, 2 values"),
        ("age", [0, 1, 1], Kind.BINARY, "whole numbers, 2 values"),
        ("x", [0.5, 1.5, 0.5], Kind.BINARY, "numbers, 2 values"),
        ("x", [1.0, None, 2.0], Kind.BINARY, "whole numbers, 2 values"),
        ("x", DAYS[:2], Kind.BINARY, "dates, 2 values"),
        ("x", ["a", "b", "c"], Kind.CATEGORICAL, "text, 3 values"),
        ("x", ["a", "a"], Kind.CATEGORICAL, "text, 1 value"),
        ("x", [None, None], Kind.CATEGORICAL, "no values"),
        ("x", list(range(10)), Kind.CATEGORICAL, "whole numbers, 10 values"),
        ("x", [float(i) for i in range(10)], Kind.CATEGORICAL, "whole numbers, 10 values"),
        ("x", list(range(11)), Kind.NUMERIC, "whole numbers, more than 10 values"),
        ("numChildren", [0, 1, 2], Kind.NUMERIC, "whole numbers, 3 values, and the name says 'num'"),
        ("Years at work", [0, 1, 2], Kind.NUMERIC, "whole numbers, 3 values, and the name says 'years'"),
        ("priors_count", [0, 1, 2], Kind.NUMERIC, "whole numbers, 3 values, and the name says 'count'"),
        ("stage", [0, 1, 2], Kind.CATEGORICAL, "whole numbers, 3 values"),
        ("x", [0.5, 1.0, 1.5], Kind.NUMERIC, "numbers with decimals"),
        ("x", DAYS, Kind.NUMERIC, "dates, in days"),
        ("x", [f"p{i}" for i in MANY], Kind.IDENTIFIER, "text, nearly all different (50 values in 50 rows)"),
        ("x", [f"p{i}" for i in range(19)], Kind.CATEGORICAL, "text, 19 values"),
        ("x", [f"p{i}" for i in range(45)] + ["p0"] * 5, Kind.CATEGORICAL, "text, 45 values"),
        ("x", [f"p{i}" for i in range(46)] + ["p0"] * 4, Kind.IDENTIFIER, NEARLY.format(46, 50)),
        ("x", [f"p{i}" for i in range(20)] + [None] * 99, Kind.IDENTIFIER, NEARLY.format(20, 20)),
        ("patient_id", MANY, Kind.IDENTIFIER, "whole numbers, all different, and the name says 'id'"),
        ("patientID", MANY, Kind.IDENTIFIER, "whole numbers, all different, and the name says 'id'"),
        ("encounter nbr", MANY, Kind.IDENTIFIER, "whole numbers, all different, and the name says 'nbr'"),
        ("patient_id", [*MANY, 0], Kind.NUMERIC, "whole numbers, more than 10 values"),
        ("humidity", MANY, Kind.NUMERIC, "whole numbers, more than 10 values"),
        ("x", [[1], [2]], Kind.IDENTIFIER, "sets of labels, 2 different"),
        ("x", [[[1]], [[2]]], Kind.IDENTIFIER, "nested values cannot be used"),
        ("x", [b"a", b"b"], Kind.IDENTIFIER, "nested values cannot be used"),
        ("x", [1, "a", None, 2.5], Kind.CATEGORICAL, "text, 3 values"),
    ],
)  # fmt: skip
def test_kind_and_reason(name, values, kind, reason):
    found = column(values, name)
    assert (found.kind, found.reason) == (kind, reason)


def test_booleans_come_false_first():
    assert column([True, False, None]).levels == (False, True)
    assert column(np.array([True, False])).codes.tolist() == [1, 0]


def test_whole_floats_are_integers():
    found = column([1.0, None, 3.0, 2.0])
    assert found.levels == (1, 2, 3)
    assert all(type(level) is int for level in found.levels)
    assert column([float(i) for i in MANY]).number is Number.INTEGER
    assert column([i + 0.5 for i in MANY]).number is Number.REAL


def test_nan_is_missing_and_zero_has_no_sign():
    found = column([float("nan"), -0.0, 1.5, 2.5])
    assert found.missing == 1
    assert np.isnan(found.values[0])
    assert not np.signbit(found.values[1])


def test_datetimes_are_floored_to_days():
    times = [dt.datetime(1969, 12, 30, 18) + dt.timedelta(hours=12 * i) for i in range(50)]
    found = column(times)
    assert found.number is Number.DATE
    assert found.values[:3].tolist() == [-2.0, -1.0, -1.0]
    assert found.reason == "dates, in days, the times of day left off"
    for frame in (pd.DataFrame({"x": times}), pl.DataFrame({"x": times}), pa.table({"x": times})):
        other = read_table(frame)["x"]
        assert other.values.tolist() == found.values.tolist()
        assert other.reason == found.reason


def test_midnights_lose_nothing():
    assert read_table(pd.DataFrame({"x": pd.to_datetime(DAYS)}))["x"].reason == "dates, in days"


def test_ordered_categories_of_pandas_and_arrow():
    order = ["low", "mid", "high", "never"]
    frame = pd.DataFrame({"g": pd.Categorical(["high", "low", None, "mid"], categories=order, ordered=True)})
    for data in (frame, pa.Table.from_pandas(frame)):
        found = read_table(data)["g"]
        assert (found.kind, found.levels) == (Kind.ORDERED, ("low", "mid", "high"))
        assert found.codes.tolist() == [2, 0, -1, 1]
        assert found.reason == "ordered categories, 3 values"


def test_category_types_stay_categories():
    names = [f"p{i}" for i in MANY]
    for data in (
        pd.DataFrame({"x": pd.Categorical(names)}),
        pl.DataFrame({"x": pl.Series(names, dtype=pl.Categorical)}),
        pl.DataFrame({"x": pl.Series(names, dtype=pl.Enum(names))}),
    ):
        found = read_table(data)["x"]
        assert (found.kind, found.reason) == (Kind.CATEGORICAL, "categories, 50 values")
    numbers = read_table(pd.DataFrame({"age": pd.Categorical([3, 1, 2, 1], categories=[9, 3, 2, 1])}))["age"]
    assert (numbers.kind, numbers.levels) == (Kind.CATEGORICAL, (1, 2, 3))


@pytest.mark.parametrize("value", [{"a": 1}, [[1]]])
def test_nested_values_do_no_harm(value):
    for data in (pl.DataFrame({"x": [value, value]}), pd.DataFrame({"x": [value, value]})):
        found = read_table(data)["x"]
        assert found.codes.tolist() == [-1, -1]
        assert found.levels == ()
        assert found.missing == 2
    with pytest.raises(InputError, match="'x' is declared, and holds nested values"):
        column([value, value], categorical=["x"])


def test_declared_kinds_win():
    assert column(MANY, categorical=["x"]).kind is Kind.CATEGORICAL
    assert column(MANY, categorical=["x"]).reason == "declared categorical, 50 values"
    assert column(["a", "b"], categorical="x").kind is Kind.BINARY
    assert column([0, 1], numeric=["x"]).reason == "declared numeric"
    assert column([True, False], numeric=["x"]).values.tolist() == [1.0, 0.0]
    assert column([" 1", "2.5", None], numeric=["x"]).values[:2].tolist() == [1.0, 2.5]
    assert column(["1", "nan"], numeric=["x"]).missing == 1
    assert column(DAYS[:2], numeric=["x"]).number is Number.DATE


def test_declared_order():
    found = column(["b", "c", None, "b"], ordered={"x": ["c", "a", "b"]})
    assert (found.kind, found.levels, found.reason) == (Kind.ORDERED, ("c", "b"), "declared ordered, 2 values")
    assert found.codes.tolist() == [1, 0, -1, 1]
    assert column([1.0, None, 3.0], ordered={"x": [3, 1]}).levels == (3, 1)
    assert column([1, 2], ordered={"x": ["2", "1"]}).levels == (2, 1)


@pytest.mark.parametrize(
    ("values", "declared", "message"),
    [
        (["1", "many"], {"numeric": ["x"]}, "'x' is declared numeric.*Got 'many' in row 2.*'missing'"),
        (["1", "inf"], {"numeric": ["x"]}, "finite numbers"),
        (["a", "b", "c"], {"ordered": {"x": ["a"]}}, "'b', 'c' of the data are not among 'a'"),
        (["a", "b"], {"ordered": {"x": ["a"]}}, "'b' of the data is not among 'a'"),
        (["a"], {"ordered": {"x": "abc"}}, "a list of different levels from low to high. Got 'abc' instead"),
        (["a"], {"ordered": {"x": ["a", "a"]}}, "different levels"),
        (["a"], {"ordered": {"x": []}}, "different levels"),
        (["a"], {"ordered": ["x"]}, "'ordered' parameter must map"),
        (["a"], {"numeric": ["y"]}, "There is no column 'y'.*named in the 'numeric' parameter"),
        (["a"], {"categorical": ["y"]}, "There is no column 'y'"),
        (["a"], {"ordered": {"y": ["a"]}}, "There is no column 'y'"),
        (["a"], {"categorical": 5}, "'categorical' parameter must be a list"),
        (["a"], {"categorical": None}, "'categorical' parameter must be a list"),
        (["a"], {"categorical": ["x"], "numeric": ["x"]}, "'x' is declared both categorical and numeric"),
        (["a"], {"numeric": ["x"], "ordered": {"x": ["a"]}}, "'x' is declared both numeric and ordered"),
    ],
)
def test_declarations_that_do_not_fit(values, declared, message):
    with pytest.raises(InputError, match=message):
        column(values, **declared)


def test_only_levels_that_occur():
    frame = pd.DataFrame({"x": pd.Categorical(["a", "b"], categories=["a", "b", "c", "d"])})
    assert read_table(frame)["x"].levels == ("a", "b")


def test_huge_identifiers_are_encoded_cheaply_and_rightly():
    names = [f"p{(i * 7919) % HUGE}" for i in range(HUGE)] + [None]
    found = column(names)
    assert found.kind is Kind.IDENTIFIER
    assert [found.levels[c] for c in found.codes[:99]] == names[:99]
    assert found.codes[-1] == -1


def test_words_of_a_name():
    assert split_words("num_lab-procedures") == ["num", "lab", "procedures"]
    assert split_words("HTTPCount2") == ["http", "count"]
    assert split_words("storage") == ["storage"]


scalars = st.one_of(
    st.lists(st.none() | st.text(max_size=5), max_size=50).map(lambda v: pl.Series(v, dtype=pl.String)),
    st.lists(st.none() | st.integers(-(2**62), 2**62), max_size=50).map(lambda v: pl.Series(v, dtype=pl.Int64)),
    st.lists(st.none() | st.booleans(), max_size=50).map(lambda v: pl.Series(v, dtype=pl.Boolean)),
    st.lists(st.none() | st.dates(), max_size=50).map(lambda v: pl.Series(v, dtype=pl.Date)),
    st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), max_size=50).map(
        lambda v: pl.Series(v, dtype=pl.Float64)
    ),
)


def levels_and_codes(series):
    found = encode_column(RawColumn("x", series), DeclaredKinds(categorical=frozenset("x")))
    return found.levels, found.codes


@settings(deadline=None, max_examples=60)
@given(scalars)
def test_codes_lead_back_to_the_values(series):
    levels, codes = levels_and_codes(series)
    assert [None if c < 0 else levels[c] for c in codes] == series.to_list()
    assert list(levels) == sorted(set(levels))
    assert codes.dtype == np.int32


def test_many_levels_are_sorted_too():
    series = pl.Series([f"v{(i * 31) % 1500}" for i in range(4000)] + [None])
    levels, codes = levels_and_codes(series)
    assert list(levels) == sorted(set(levels))
    assert [None if c < 0 else levels[c] for c in codes] == series.to_list()
