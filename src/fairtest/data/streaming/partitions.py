"""Some of the rows of a table, wherever they are: what engines map their functions over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

    from fairtest.data.streaming.streamed import RowReader
    from fairtest.data.table import Table

SHARE = 8
"""A partition with all its columns takes at most one part in so many of the memory."""
MOST_ROWS = 1_000_000
FEWEST_ROWS = 10_000


class Partition(Protocol):
    """Consecutive rows of a table. It can be pickled, and is small: it says where the rows are, not what they are."""

    @property
    def start(self) -> int:
        """The position of its first row in the whole table."""

    @property
    def n_rows(self) -> int:
        """How many rows it has."""

    def table(self, columns: Collection[str]) -> Table:
        """Return its rows with these columns, in the levels, and so the codes, of the whole table."""


@dataclass(frozen=True)
class TablePartition:
    """Some rows of a table in this process, in memory or streamed."""

    whole: Table
    start: int
    n_rows: int

    def table(self, columns: Collection[str]) -> Table:
        """Return its rows with these columns."""
        return self.whole.slice(self.start, self.start + self.n_rows, columns)


@dataclass(frozen=True)
class ReaderPartition:
    """Some rows of files: of the scratch files of this machine, or of Parquet files that another one sees too."""

    reader: RowReader
    start: int
    n_rows: int

    def table(self, columns: Collection[str]) -> Table:
        """Return its rows with these columns."""
        return self.reader.table(columns, self.start, self.start + self.n_rows)


def partitions_of(table: Table, memory: int, rows: int | None = None) -> list[Partition]:
    """Return a table in partitions of about a million rows, of fewer if there are many columns for the memory.

    Those of a streamed table say where the rows are, and can be sent to another process; a table with columns in memory
    is cut where it is.

    Parameters
    ----------
    memory
        How many bytes may be used, about.
    rows
        How many rows a partition has, if the memory is not to decide.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> parts = partitions_of(read_table({"a": [1, 2, 3]}), memory=10**9, rows=2)
    >>> [(part.start, part.table(["a"])["a"].codes.tolist()) for part in parts]
    [(0, [0, 1]), (2, [2])]
    """
    fit = memory // SHARE // (8 * len(table.columns))
    size = rows or max(min(fit, MOST_ROWS), FEWEST_ROWS)
    reader = _reader(table)
    places = [(start, min(size, table.n_rows - start)) for start in range(0, table.n_rows, size)]
    if reader is None:
        return [TablePartition(table, start, n_rows) for start, n_rows in places]
    return [ReaderPartition(reader, start, n_rows) for start, n_rows in places]


def _reader(table: Table) -> RowReader | None:
    """Return where all columns of a table are read from, or None if they are not read from one place."""
    readers = {id(r): r for r in (getattr(column, "reader", None) for column in table.columns.values())}
    return next(iter(readers.values())) if len(readers) == 1 else None
