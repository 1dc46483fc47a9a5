"""Some of the rows of a table, wherever they are: what engines map their functions over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.data.table import FlagColumn, Table, row_spans

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fairtest.data.table import RowReader

SHARE = 8
"""A partition with all its columns takes at most an eighth of the memory: counting makes arrays beside it."""
MOST_ROWS = 1_000_000
FEWEST_ROWS = 10_000
SENT_BYTES = 8_000_000
"""About how many bytes a partition has that is sent with its rows: few, since a lost worker means sending again."""
FEWEST_SENT_ROWS = 1_000


@dataclass(frozen=True, eq=False)
class Partition:
    """Consecutive rows of a table, by where they are read from. It can be pickled.

    Attributes
    ----------
    reader
        What has the rows: files, or a table in memory, which then travels with the partition.
    start, n_rows
        The position of its first row in the whole table, and how many rows it has.
    offset
        The position in the whole table of the first row that the reader has.
    """

    reader: RowReader
    start: int
    n_rows: int
    offset: int = 0

    @property
    def holds_rows(self) -> bool:
        """Whether it has the rows themselves, rather than where to read them."""
        return isinstance(self.reader, Table)

    def table(self, columns: Collection[str]) -> Table:
        """Return its rows with these columns, in the levels, and so the codes, of the whole table."""
        first = self.start - self.offset
        return self.reader.slice(first, first + self.n_rows, columns)


def partitions_of(table: Table, memory: int, rows: int | None = None) -> list[Partition]:
    """Return a table in partitions of about a million rows, of fewer if there are many columns for the memory.

    Those of a streamed table say where the rows are, and can be sent to another process; a table with columns in memory
    is cut where it is.

    Parameters
    ----------
    memory
        About how many bytes may be used.
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
    reader = _common_reader(table) or table
    return [Partition(reader, start, stop - start) for start, stop in row_spans(table.n_rows, size)]


def _common_reader(table: Table) -> RowReader | None:
    """Return where all columns of a table are read from, or None if that is not one place."""
    readers = {id(r): r for r in (getattr(column, "reader", None) for column in table.columns.values())}
    return next(iter(readers.values())) if len(readers) == 1 else None


def slices_of(table: Table, ends: Sequence[int]) -> list[Partition]:
    """Return a table in partitions that hold just their own rows, given where each ends.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> [(part.start, part.n_rows) for part in slices_of(read_table({"age": [30, 41, 52]}), [1, 3])]
    [(0, 1), (1, 2)]
    """
    spans = zip((0, *ends), ends, strict=False)
    return [Partition(table.slice(start, stop), start, stop - start, start) for start, stop in spans]


def partitions_to_send(table: Table, memory: int, rows: int) -> list[Partition]:
    """Return a table in partitions that other machines can use: where its rows are in files, or else the rows."""
    partitions = partitions_of(table, memory, rows)
    if not any(partition.holds_rows for partition in partitions):
        return partitions
    width = sum(1 if isinstance(column, FlagColumn) else 8 for column in table.columns.values())
    rows = min(max(SENT_BYTES // width, FEWEST_SENT_ROWS), rows)
    return slices_of(table, [*range(rows, table.n_rows, rows), table.n_rows])
