"""Columns in blocks say what the whole columns say."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtest.data.axes import make_axis
from fairtest.data.reading.readers import read_table
from fairtest.data.sizes import as_bytes
from fairtest.data.streaming.blocks import count_levels, find_range, smallest_values
from fairtest.data.streaming.streaming import stream_table
from fairtest.data.variables import (
    Part,
    cross_parts,
    cut_column,
    cut_variable,
    level_variable,
    number_variable,
    rank_variable,
)
from fairtest.exceptions import InputError

CHECKED = settings(deadline=None, max_examples=25)
NUMBER = st.none() | st.integers(-30, 30).map(lambda v: v / 4) | st.floats(-1e9, 1e9)


@CHECKED
@given(
    st.lists(st.tuples(NUMBER, st.sampled_from(["a", "b", "c", None]), st.booleans()), min_size=2, max_size=120),
    st.integers(1, 40),
    st.data(),
)
def test_descriptions_are_the_same_for_any_block(people, block, data):
    """Axes, bins, ranks, centres and crossed levels, of some of the rows or of all."""
    x, city, sex = map(list, zip(*people, strict=True))
    frame = pl.DataFrame({"x": x, "city": city, "sex": sex}, schema={"x": pl.Float64, "city": str, "sex": bool})
    kinds = {"numeric": ["x"], "categorical": ["city", "sex"]}
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, len(people) - 1)))), dtype=np.intp)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        frame.write_parquet(path)
        described = [
            described_by(table, rows)
            for table in (read_table(path, **kinds), stream_table(path, memory=10**9, block=block, **kinds))
        ]
    assert described[0] == described[1]


def described_by(table, rows) -> list:
    x, city, sex = (table[name] for name in ("x", "city", "sex"))
    number = number_variable(x)
    found = [number, count_levels(city).tolist(), count_levels(city, rows).tolist(), make_axis(city, rows)]
    if x.missing < table.n_rows:
        found.append(find_range(x))
    if np.isfinite(x.values[rows]).any():
        found += [
            make_axis(x, rows),
            cut_column(x, rows, 4),
            cut_variable(number, table, rows, 3),
            rank_variable(number, table, rows),
        ]
        found.append(cross_parts("both", [cut_column(x, rows, 3), Part("sex", sex.levels)], table))
    if city.levels:
        found.append(rank_variable(level_variable(city), table, rows))
    return [*found, cross_parts("both", [Part(c.name, c.levels) for c in (city, sex)], table)]


@CHECKED
@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 12))
def test_first_values(values, most):
    ordered = np.sort(np.array(values, dtype=float))
    assert smallest_values(ordered, most).tolist() == sorted(set(values))[:most]


@pytest.mark.parametrize(
    ("memory", "size"),
    [
        ("1 GB", 10**9),
        ("1gb", 10**9),
        (" 1.5 GiB ", 3 * 2**29),
        ("200 MB", 2 * 10**8),
        (10**8, 10**8),
        (2e9, 2 * 10**9),
    ],
)
def test_amounts_of_memory(memory, size):
    assert as_bytes(memory) == size


@pytest.mark.parametrize("memory", ["", "GB", "1 XB", "-1 GB", "1 GB 2", 99_999_999, 0, None, False])
def test_what_is_no_amount_of_memory(memory):
    with pytest.raises(InputError, match="'memory' of DataSource must be"):
        as_bytes(memory)
