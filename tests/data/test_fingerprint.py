"""The fingerprint: blind to order and format, and to nothing else."""

from __future__ import annotations

import random

import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairtest.data import fingerprint as module
from fairtest.data.fingerprint import fingerprint
from fairtest.data.reading.readers import read_table

PEOPLE = {
    "age": [31, 45, 28, None, 60],
    "score": [0.5, 1.25, None, -3.0, 0.0],
    "job": ["a", "b", None, "b", "c"],
    "paid": [True, False, True, None, True],
    "born": ["2000-01-01", "1999-05-05", "1980-01-01", None, "2000-01-01"],
}


def printed(data, **declared):
    return fingerprint(read_table(data, **declared))


def test_it_is_hexadecimal_and_lasting():
    assert printed({"a": [1, 2, 3], "b": ["x", "y", None]}) == printed({"a": [1, 2, 3], "b": ["x", "y", None]})
    assert len(printed(PEOPLE)) == 32
    assert int(printed(PEOPLE), 16) >= 0


def test_order_of_rows_and_columns():
    rows = list(range(5))
    random.Random(0).shuffle(rows)
    moved = {name: [values[i] for i in rows] for name, values in reversed(PEOPLE.items())}
    assert printed(moved) == printed(PEOPLE)


def test_format(tmp_path):
    frame = pl.DataFrame(PEOPLE)
    frame.write_csv(tmp_path / "p.csv")
    frame.write_parquet(tmp_path / "p.parquet")
    expected = printed(PEOPLE)
    for data in (frame, pd.DataFrame(PEOPLE), frame.to_arrow(), tmp_path / "p.csv", tmp_path / "p.parquet"):
        assert printed(data) == expected


def test_kind():
    assert printed(PEOPLE, numeric=["age", "paid"]) == printed(PEOPLE, categorical=["age", "score", "born"])
    assert printed(PEOPLE, ordered={"job": ["c", "a", "b"]}) == printed(PEOPLE)


def test_whole_floats_and_zeros():
    assert printed({"a": [1.0, 2.0, -0.0]}) == printed({"a": [1, 2, 0]})
    assert printed({"a": [1.5, -0.0, 2.5]}) == printed({"a": [1.5, 0.0, 2.5]})


@pytest.mark.parametrize(
    "change",
    [
        {"age": [31, 45, 28, None, 61]},
        {"age": [31, 45, 28, 0, 60]},
        {"age": [45, 31, 28, None, 60]},
        {"score": [0.5, 1.25, None, -3.0, 1e-300]},
        {"job": ["a", "b", None, "b", "d"]},
        {"job": ["a", "b", "x", "b", "c"]},
        {"paid": [True, False, True, True, True]},
        {"born": ["2000-01-02", "1999-05-05", "1980-01-01", None, "2000-01-01"]},
        {"more": [None] * 5},
    ],
)
def test_any_change_shows(change):
    assert printed({**PEOPLE, **change}) != printed(PEOPLE)


def test_names_and_repeats_show():
    assert printed({"a": [1, 2], "b": [1, 2]}) != printed({"a": [1, 2], "c": [1, 2]})
    assert printed({"a": [1, 2], "b": [3, 4]}) != printed({"a": [3, 4], "b": [1, 2]})
    assert printed({"a": [1, 2]}) != printed({"a": [1, 2, 2]})
    assert printed({"a": [1, 2]}) != printed({"a": [1, 1, 2, 2]})
    assert printed({"a": [5, 5, 1]}) != printed({"a": [6, 6, 1]})
    assert printed({"a": [1, 2], "b": ["x", "y"]}) != printed({"a": [1, 2], "b": ["y", "x"]})


def test_text_that_spells_a_number_is_that_number():
    assert printed({"a": ["1", "-2", "0.5"]}) == printed({"a": [1, -2, 0.5]})
    spellings = ["1", "01", "1.0", "+1", " 1", "1e0", "-1", "0", "-0", "0.0", "0.1", ".1", "0.10", "x"]
    assert len({printed({"a": [text, "x"]}) for text in spellings}) == len(spellings)


def test_very_many_texts(monkeypatch):
    names = [f"person {i}" for i in range(2000)] + ["a", "a\0", "ab", "é" * 30]
    monkeypatch.setattr(module, "MANY", 100)
    first = printed({"a": names})
    assert printed({"a": names[::-1]}) == first
    for place in (0, 1000, 2000, 2001, 2003):
        changed = list(names)
        changed[place] += "!"
        assert printed({"a": changed}) != first
    assert len(set(module.text_bits(pl.Series(names), len(names), 60).tolist())) == len(names)


def test_more_than_one_block():
    size = module.BLOCK + 10
    values = list(range(size))
    assert printed({"a": values}) == printed({"a": values[::-1]})
    values[-1] = 0
    assert printed({"a": values}) != printed({"a": list(range(size))})


rows = st.tuples(st.none() | st.integers(-5, 5), st.none() | st.sampled_from("abc"), st.none() | st.floats(-1, 1))
tables = st.lists(rows, min_size=1, max_size=20)


def table_of(rows):
    return dict(zip("xyz", (list(c) for c in zip(*rows, strict=True)), strict=True))


@settings(deadline=None)
@given(tables, st.randoms())
def test_any_shuffle_has_the_same(rows, rng):
    shuffled = list(rows)
    rng.shuffle(shuffled)
    assert printed(table_of(shuffled)) == printed(table_of(rows))


@settings(deadline=None)
@given(tables, tables)
def test_different_rows_differ(one, two):
    canonical = [sorted(repr((a, b, c if c is None else c + 0.0)) for a, b, c in t) for t in (one, two)]
    assume(canonical[0] != canonical[1])
    assert printed(table_of(one)) != printed(table_of(two))
