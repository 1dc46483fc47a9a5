"""Whether two tables are the same: kinds, reasons, levels, codes, numbers, sets and fingerprint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.fingerprint import fingerprint
from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from fairtest.data.table import Table


def assert_same_column(found, expected):
    """Everything a column says of itself and its rows is the same."""
    for field in ("name", "kind", "reason", "missing", "levels", "number", "distinct", "constant"):
        assert getattr(found, field) == getattr(expected, field), (field, found.name)
    assert [type(level) for level in found.levels] == [type(level) for level in expected.levels]
    for field in ("codes", "values"):
        one, other = getattr(found, field), getattr(expected, field)
        assert (one is None) == (other is None), field
        assert one is None or (one.dtype == other.dtype and np.array_equal(one, other, equal_nan=field == "values"))
    assert (found.sets is None) == (expected.sets is None)
    if expected.sets is not None:
        assert found.sets.items == expected.sets.items
        for field in ("ends", "codes", "missing"):
            assert np.array_equal(getattr(found.sets, field), getattr(expected.sets, field)), field


def assert_same(found: Table, expected: Table):
    assert (found.name, found.library, found.n_rows) == (expected.name, expected.library, expected.n_rows)
    assert list(found.columns) == list(expected.columns)
    for name in expected.columns:
        assert_same_column(found[name], expected[name])
    assert fingerprint(found) == fingerprint(expected)


def table_or_error(read, path: Path, **how) -> Table | str:
    try:
        return read(path, **how)
    except InputError as error:
        return str(error)
