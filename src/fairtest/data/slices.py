"""Partitions of a table that is in memory: slices of its columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.table import FlagColumn, Sets, Table

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from fairtest.data.table import Column

__all__ = ["TablePartition", "slices_of", "small_slices"]

SMALL = 8_000_000
"""How many bytes a part may have that travels whole to another process."""


@dataclass(frozen=True, eq=False)
class TablePartition:
    """Consecutive rows of a table held in memory. See :class:`fairtest.data.partitions.Partition`.

    Unlike others it holds its rows: where it is sent, they go with it.
    """

    start: int
    rows: Table

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self.rows.n_rows

    def table(self, columns: Collection[str]) -> Table:
        """Return its rows with these columns."""
        return replace(self.rows, columns={name: self.rows[name] for name in columns})


def slices_of(table: Table, ends: Sequence[int]) -> list[TablePartition]:
    """Return a table in parts, given where each ends.

    Examples
    --------
    >>> from fairtest.data.readers import read_table
    >>> [(part.start, part.n_rows) for part in slices_of(read_table({"age": [30, 41, 52]}), [1, 3])]
    [(0, 1), (1, 2)]
    """
    return [_slice(table, start, stop) for start, stop in zip((0, *ends), ends, strict=False)]


def small_slices(table: Table, most: int = SMALL) -> list[TablePartition]:
    """Return a table in equal parts of about ``most`` bytes."""
    size = sum(_bytes(column) for column in table.columns.values())
    many = min(max(-(-size // most), 1), max(table.n_rows, 1))
    return slices_of(table, [table.n_rows * (i + 1) // many for i in range(many)])


def _bytes(column: Column) -> int:
    if isinstance(column, FlagColumn):
        return column.at.nbytes + column.gone.nbytes
    sets = column.sets
    arrays = (column.codes, column.values, *(() if sets is None else (sets.ends, sets.codes, sets.missing)))
    return sum(array.nbytes for array in arrays if array is not None)


def _slice(table: Table, start: int, stop: int) -> TablePartition:
    columns = {name: _column(column, start, stop) for name, column in table.columns.items()}
    return TablePartition(start, replace(table, n_rows=stop - start, columns=columns))


def _column(column: Column, start: int, stop: int) -> Column:
    if isinstance(column, FlagColumn):
        at, gone = (_inside(rows, start, stop) for rows in (column.at, column.gone))
        levels = (column.levels[0], column.levels[1])
        return FlagColumn(column.name, column.reason, levels, stop - start, at, gone)
    return replace(
        column,
        codes=None if column.codes is None else column.codes[start:stop],
        values=None if column.values is None else column.values[start:stop],
        sets=None if column.sets is None else _sets(column.sets, start, stop),
    )


def _sets(sets: Sets, start: int, stop: int) -> Sets:
    first = int(sets.ends[start - 1]) if start else 0
    ends = sets.ends[start:stop] - first
    last = first + int(ends[-1]) if ends.size else first
    return Sets(sets.items, ends, sets.codes[first:last], _inside(sets.missing, start, stop))


def _inside(rows: NDArray[np.int32], start: int, stop: int) -> NDArray[np.int32]:
    """Return those of some sorted rows that are in a slice, counted from its start."""
    first, last = np.searchsorted(rows, (start, stop))
    return rows[first:last] - np.int32(start)
