"""Columns in memory: all rows described and encoded at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairtest.data.columns.declared import DeclaredKinds
from fairtest.data.columns.description import ColumnDescription
from fairtest.data.table import Column, FlagColumn
from fairtest.types import Kind

if TYPE_CHECKING:
    from fairtest.data.columns.encoding import Encoding
    from fairtest.data.reading.raw import RawColumn

FEW_ONES = 8
"""A column of 0 and 1 is kept as the list of rows with a 1 if at most one row in eight has one: it is shorter then."""
HUGE = 100_000
"""From this many values on, an identifier keeps its levels in the order of rows: sorting them would take longest."""


def encode_column(raw: RawColumn, declared: DeclaredKinds | None = None) -> Column:
    """Return the encoded column, of the declared kind or of the one its type, values and name suggest.

    Examples
    --------
    >>> from fairtest.data.reading.raw import RawColumn
    >>> column = encode_column(RawColumn("paid", pl.Series(["yes", "no", None])))
    >>> print(column.kind, column.levels, column.reason)
    binary ('no', 'yes') text, 2 values
    """
    declared = declared or DeclaredKinds()
    description = ColumnDescription(raw.name, declared)
    description.add(raw)
    if raw.values is None or raw.name in declared:
        return description.encoding().encode(raw)
    if description.decision.kind is Kind.IDENTIFIER and description.all_differ and description.present >= HUGE:
        return _number_rows(description, raw.values)
    encoding = description.encoding()
    return _keep_rare_ones(encoding, raw.values) or encoding.encode(raw)


def _number_rows(description: ColumnDescription, values: pl.Series) -> Column:
    """Return an identifier of which every row has a value of its own, with levels in the order of rows."""
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[values.is_not_null().to_numpy()] = np.arange(description.present, dtype=np.int32)
    known = description.decision
    return Column(
        values.name, known.kind, known.reason, description.missing, tuple(values.drop_nulls().to_list()), codes
    )


def _keep_rare_ones(encoding: Encoding, values: pl.Series) -> FlagColumn | None:
    """Return a column of booleans, or of 0 and 1, by the rows that are true; None if those are many."""
    if encoding.kind is not Kind.BINARY or encoding.levels != (0, 1):  # (False, True) are the same
        return None
    numbers = values.cast(pl.Float64).to_numpy()  # NaN where null
    ones, gone = (np.flatnonzero(rows).astype(np.int32) for rows in (numbers == 1, np.isnan(numbers)))
    if ones.size * FEW_ONES > len(values):
        return None
    return FlagColumn(encoding.name, encoding.reason, encoding.missing, encoding.levels, len(values), ones, gone)
