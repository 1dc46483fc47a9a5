"""Partitions that hold their rows: what travels to other machines of a table that only this one has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.data.streaming.partitions import TablePartition, partitions_of
from fairtest.data.table import FlagColumn

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fairtest.data.streaming.partitions import Partition
    from fairtest.data.table import Table

SMALL = 8_000_000
"""How many bytes a slice has, about."""
FEWEST_ROWS = 1_000


@dataclass(frozen=True, eq=False)
class Slice:
    """Consecutive rows of a table, which travel with it (a :class:`~fairtest.data.streaming.partitions.Partition`)."""

    start: int
    rows: Table

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self.rows.n_rows

    def table(self, columns: Collection[str]) -> Table:
        """Return its rows with these columns."""
        return self.rows.slice(0, self.rows.n_rows, columns)


def slices_of(table: Table, ends: Sequence[int]) -> list[Slice]:
    """Return a table in slices, given where each ends.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> [(part.start, part.n_rows) for part in slices_of(read_table({"age": [30, 41, 52]}), [1, 3])]
    [(0, 1), (1, 2)]
    """
    return [Slice(start, table.slice(start, stop)) for start, stop in zip((0, *ends), ends, strict=False)]


def travelling(table: Table, memory: int, rows: int) -> Sequence[Partition]:
    """Return a table in partitions that other machines can use: where its rows are in files, or else the rows."""
    partitions = partitions_of(table, memory, rows)
    if not any(isinstance(p, TablePartition) for p in partitions):
        return partitions
    width = sum(1 if isinstance(column, FlagColumn) else 8 for column in table.columns.values())
    rows = min(max(SMALL // width, FEWEST_ROWS), rows)
    return slices_of(table, [*range(rows, table.n_rows, rows), table.n_rows])
