"""Rows by predicate: the same in every library, and as the reader saw the values."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtest.data.reading.readers import read_table
from fairtest.data.selection import rows_where
from fairtest.exceptions import InputError

PEOPLE = {
    "age": [25, None, 42, 61],
    "job": ["Sales", "Tech", None, ""],
    "hired": [True, False, None, True],
    "born": [dt.date(1960, 5, 1), None, dt.date(1999, 1, 1), dt.date(2020, 2, 29)],
    "grade": ["low", "high", None, "mid"],
}
LIBRARIES = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda d: pd.DataFrame(d).convert_dtypes(),
    "pandas categories": lambda d: pd.DataFrame(d).astype({"job": "category", "grade": "category"}),
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "arrow": pa.table,
    "dict": dict,
}


@pytest.fixture(params=LIBRARIES, name="people")
def each_library(request):
    return LIBRARIES[request.param](PEOPLE)


@pytest.mark.parametrize(
    ("column", "op", "value", "expected"),
    [
        ("age", "<=", 42, [1, 0, 1, 0]),
        ("age", "<=", 41.5, [1, 0, 0, 0]),
        ("age", ">", 25, [0, 0, 1, 1]),
        ("age", "==", 42, [0, 0, 1, 0]),
        ("age", "==", 42.0, [0, 0, 1, 0]),
        ("age", "in", (25, 61), [1, 0, 0, 1]),
        ("age", "missing", None, [0, 1, 0, 0]),
        ("job", "==", "Sales", [1, 0, 0, 0]),
        ("job", "in", ("Sales", "Tech"), [1, 1, 0, 0]),
        ("job", "missing", None, [0, 0, 1, 1]),
        ("job", "==", "Nobody", [0, 0, 0, 0]),
        ("hired", "==", True, [1, 0, 0, 1]),
        ("hired", "==", False, [0, 1, 0, 0]),
        ("hired", "missing", None, [0, 0, 1, 0]),
        ("born", "<=", dt.date(1999, 1, 1), [1, 0, 1, 0]),
        ("born", ">", dt.datetime(1999, 1, 1, 23, 59), [0, 0, 0, 1]),
        ("born", "==", dt.date(2020, 2, 29), [0, 0, 0, 1]),
        ("born", "missing", None, [0, 1, 0, 0]),
    ],
)
def test_rows(people, column, op, value, expected):
    rows = rows_where(people, column, op, value)
    assert rows.dtype == np.bool_
    assert rows.astype(int).tolist() == expected


def test_thresholds_on_ordered_levels(people):
    order = ("low", "mid", "high")
    assert rows_where(people, "grade", "<=", "mid", order).tolist() == [True, False, False, True]
    assert rows_where(people, "grade", ">", "low", order).tolist() == [False, True, False, True]
    assert not rows_where(people, "grade", ">", "high", order).any()


def test_dates_with_times_are_floored():
    times = pd.to_datetime(["2020-01-01 23:00", "2020-01-02 01:00"])
    for data in (pd.DataFrame({"t": times}), pl.DataFrame({"t": list(times.to_pydatetime())})):
        assert rows_where(data, "t", "<=", dt.date(2020, 1, 1)).tolist() == [True, False]


def test_values_as_the_reader_saw_them():
    assert rows_where(pd.DataFrame({"a": [1.0, np.nan]}), "a", "==", 1).tolist() == [True, False]
    assert rows_where(pd.DataFrame({"a": ["1", "x"]}), "a", "==", "1").tolist() == [True, False]
    assert rows_where({"a": [1, "x", None]}, "a", "==", "1").tolist() == [True, False, False]
    assert rows_where({"a": ["1", "2", "20"]}, "a", "<=", 2).tolist() == [True, True, False]
    assert rows_where({"a": [1, 2]}, "a", "==", "2").tolist() == [False, True]
    assert rows_where(pd.DataFrame({7: [1, 2]}), "7", "==", 2).tolist() == [False, True]
    assert rows_where({"a": pd.Categorical([3, 1])}, "a", "==", 3).tolist() == [True, False]


@pytest.mark.parametrize(
    ("frame", "arguments", "message"),
    [
        ({"age": [1]}, ("aeg", "==", 1), "There is no column 'aeg'. Did you mean 'age'"),
        ({"age": [1]}, ("age", "<", 1), "'op' parameter must be one of"),
        ({"age": [1]}, ("age", "<=", "x"), "A threshold must be a number or a date. Got 'x'"),
        ({"age": ["a"]}, ("age", "<=", "x", ("a", "b")), "threshold 'x' must be one of the levels 'a', 'b'"),
        ({"age": [[1]]}, ("age", "==", 1), "nested values"),
        (42, ("age", "==", 1), "Got int instead"),
    ],
)
def test_mistakes(frame, arguments, message):
    with pytest.raises(InputError, match=message):
        rows_where(frame, *arguments)


@settings(deadline=None)
@given(
    st.one_of(
        st.lists(st.none() | st.integers(-3, 3), min_size=1),
        st.lists(st.none() | st.floats(-2, 2), min_size=1),
        st.lists(st.none() | st.sampled_from(["a", "b", ""]), min_size=1),
        st.lists(st.none() | st.booleans(), min_size=1),
        st.lists(st.none() | st.dates(), min_size=1),
    )
)
def test_every_level_selects_the_rows_of_its_code(values):
    column = read_table({"x": values}, categorical=["x"])["x"]
    for code, level in enumerate(column.levels):
        assert (rows_where({"x": values}, "x", "==", level) == (column.codes == code)).all()
    assert (rows_where({"x": values}, "x", "missing") == (column.codes < 0)).all()
