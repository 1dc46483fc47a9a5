"""Columns that are not in memory, and read their rows when they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.table import Column, Sets, Table, row_spans

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from fairtest.data.columns.encoding import Encoding
    from fairtest.data.streaming.parquet import ParquetFiles
    from fairtest.data.table import RowReader
    from fairtest.types import FloatArray


@dataclass(frozen=True)
class EncodedParquet:
    """The rows of Parquet files, encoded whenever they are read: on any machine that sees the files."""

    name: str
    files: ParquetFiles
    encodings: dict[str, Encoding]

    def slice(self, start: int, stop: int, columns: Collection[str]) -> Table:
        """Return the rows from ``start`` to ``stop`` of some columns."""
        frame = self.files.read(columns, start, stop)
        encoded = {name: self.encodings[name].encode_series(frame[name]) for name in columns}
        return Table(self.name, "parquet", frame.height, encoded)


class StreamedColumn(Column):
    """A column that stays on disk: its rows are read whenever they are needed, and not kept.

    ``codes``, ``values`` and ``sets`` read all of it; :meth:`slice` and :meth:`blocks` do not.
    """

    encoding: Encoding
    reader: RowReader
    n_rows: int
    block: int

    def __init__(self, encoding: Encoding, reader: RowReader, n_rows: int, block: int) -> None:
        known = ("name", "kind", "reason", "missing", "levels", "number")
        self.__dict__.update({field: getattr(encoding, field) for field in known})
        self.__dict__.update(encoding=encoding, reader=reader, n_rows=n_rows, block=block)

    @property
    def codes(self) -> NDArray[np.int32] | None:
        """The codes of everybody."""
        return None if self.is_number else self._read_all("codes", np.int32)

    @property
    def values(self) -> FloatArray | None:
        """The numbers of everybody."""
        return self._read_all("values", np.float64) if self.is_number else None

    @property
    def sets(self) -> Sets | None:
        """The sets of everybody."""
        return None if self.encoding.items is None else self.slice(0, self.n_rows).sets

    @property
    def distinct(self) -> int | None:
        """The number of levels, or None for a numeric column."""
        hashed = self.encoding.hashed
        return super().distinct if hashed is None else hashed.distinct

    @property
    def constant(self) -> bool:
        """Whether all values that are there are the same."""
        return self.encoding.constant if self.is_number else (self.distinct or 0) < 2

    def slice(self, start: int, stop: int) -> Column:
        """Return the rows from ``start`` to ``stop``, in memory."""
        return self.reader.slice(start, stop, [self.name])[self.name]

    def blocks(self) -> Iterator[tuple[int, Column]]:
        """Return the column in blocks that fit in memory, each with the position of its first row."""
        for start, stop in row_spans(self.n_rows, self.block):
            yield start, self.slice(start, stop)

    def _read_all(self, field: str, dtype: type[Any]) -> NDArray[Any]:
        everybody = np.empty(self.n_rows, dtype=dtype)
        for start, block in self.blocks():
            rows = getattr(block, field)
            everybody[start : start + rows.size] = rows
        return everybody
