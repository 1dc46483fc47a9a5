"""Labels in: columns of 0 and 1, text to be cut, lists; held as the people who have each."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairtest.data.labels import label_columns, labels_of
from fairtest.data.reading.readers import read_table
from fairtest.data.table import FlagColumn
from fairtest.exceptions import InputError

SETS = [["a", "b"], [], ["b"], None, ["c", "a", "a"]]
CODES = {"a": [1, 0, 0, -1, 1], "b": [1, 0, 1, -1, 0], "c": [0, 0, 0, -1, 1]}


def as_text():
    return ["a|b", "|", "b", None, "c| a|a"]


@pytest.mark.parametrize(
    ("frame", "separator"),
    [
        ({"x": as_text()}, "|"),
        (pd.DataFrame({"x": as_text()}), "|"),
        (pl.DataFrame({"x": SETS}), None),
        (pl.DataFrame({"x": SETS}).to_arrow(), None),
        (pd.DataFrame({"x": SETS}), None),
        ({"x": [None if s is None else set(s) for s in SETS]}, None),
    ],
)
def test_a_column_of_sets(frame, separator):
    labels = labels_of(read_table(frame), ("x",), separator)
    assert labels.names == ("a", "b", "c")
    assert {name: labels.codes(i).tolist() for i, name in enumerate(labels.names)} == CODES
    assert labels.missing.tolist() == [3]


@pytest.mark.parametrize("kind", [int, bool, float])
def test_columns_of_zero_and_one_in_any_order(kind):
    rng = np.random.default_rng(0)
    flags = {name: (rng.random(200) < rate).astype(kind) for name, rate in (("b", 0.05), ("a", 0.5), ("c", 0.97))}
    labels = labels_of(read_table(flags), ("c", "a", "b"))
    assert labels.names == ("a", "b", "c")
    for i, name in enumerate(labels.names):
        assert labels.codes(i).tolist() == flags[name].astype(int).tolist()
    assert labels.people(np.arange(100)).tolist() == [int(flags[n][:100].sum()) for n in "abc"]


def test_somebody_with_a_missing_value_is_left_out_of_all_labels():
    data = {"a": [0, 1, None, 0] * 10, "b": [1, 0, 1, 0] * 10}
    labels = labels_of(read_table(data), ("a", "b"))
    assert labels.missing.tolist() == list(range(2, 40, 4))
    assert labels.codes(1)[:4].tolist() == [1, 0, -1, 0]


def test_labels_nobody_or_everybody_has_are_labels():
    labels = labels_of(read_table({"a": [0, 0], "b": [1, 1], "c": [False, False]}), ("a", "b", "c"))
    assert [labels.having(i).size for i in range(3)] == [0, 2, 0]


def test_few_ones_are_kept_as_rows_and_nobody_sees_the_difference():
    rng = np.random.default_rng(1)
    ones = rng.random(1000) < 0.05
    whole = pl.Series(np.where(rng.random(1000) < 0.1, None, ones.astype(float)).tolist())
    for values in (pl.Series(ones), pl.Series(ones.astype(int)), whole.cast(pl.Int8), whole):
        few = read_table(pl.DataFrame({"x": values}))["x"]
        dense = read_table(pl.DataFrame({"x": values}), categorical=["x"])["x"]
        assert isinstance(few, FlagColumn)
        assert not isinstance(dense, FlagColumn)
        assert few.codes.tolist() == dense.codes.tolist()
        assert (few.levels, few.kind, few.missing) == (dense.levels, dense.kind, dense.missing)
        assert [type(v) for v in few.levels] == [type(v) for v in dense.levels]


def test_patterns_name_columns():
    table = read_table({"tag_b": [0, 1], "tag_a": [0, 1], "age": [1, 2]})
    assert label_columns(table, "tag_*") == ("tag_b", "tag_a")
    assert label_columns(table, ["age", "tag_?", "age"]) == ("age", "tag_b", "tag_a")
    with pytest.raises(InputError, match=r"No column fits the pattern 'tg\*'"):
        label_columns(table, "tg*")
    with pytest.raises(InputError, match="Did you mean 'tag_a'"):
        label_columns(table, ["tag_aa"])
    with pytest.raises(InputError, match="at least one column of labels"):
        label_columns(table, [])


@pytest.mark.parametrize(
    ("columns", "separator", "message"),
    [
        (("text",), None, "say what is between them: separator='|'"),
        (("text", "flag"), "|", "names 2 columns"),
        (("number", "flag"), None, "Column 'number' must say of each person"),
        (("real",), "|", "is numeric"),
        (("flag",), "", "'separator' must be the text between two labels"),
        (("none", "flag"), None, "Nobody has a value in all of the columns"),
    ],
)
def test_what_cannot_be_labels(columns, separator, message):
    table = read_table(
        {
            "text": ["a|b", "b", "a"] * 10,
            "flag": [0, 1, 1] * 10,
            "number": [0, 1, 2] * 10,
            "real": [0.5 * i for i in range(30)],
            "none": [None] * 30,
        }
    )
    with pytest.raises(InputError, match=message.replace("|", r"\|")):
        labels_of(table, columns, separator)
