"""Tables that are not in memory: columns that read their rows when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairtest.data.table import Column, Sets, Table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from fairtest.data.columns.encoding import Encoding
    from fairtest.data.streaming.parquet import ParquetFiles
    from fairtest.types import FloatArray


class Reader(Protocol):
    """Where the rows of a table are. It can be pickled."""

    def column(self, name: str, start: int, stop: int) -> Column:
        """Return the rows from ``start`` to ``stop`` of a column."""

    def table(self, columns: Collection[str], start: int, stop: int) -> Table:
        """Return the rows from ``start`` to ``stop`` of some columns."""


@dataclass(frozen=True)
class EncodedParquet:
    """The rows of Parquet files, encoded whenever they are read: on any machine that sees the files."""

    name: str
    files: ParquetFiles
    encodings: dict[str, Encoding]

    def column(self, name: str, start: int, stop: int) -> Column:
        """Return the rows from ``start`` to ``stop`` of a column."""
        return self.table([name], start, stop)[name]

    def table(self, columns: Collection[str], start: int, stop: int) -> Table:
        """Return the rows from ``start`` to ``stop`` of some columns."""
        frame = self.files.read(columns, start, stop)
        return Table(
            self.name,
            "parquet",
            frame.height,
            {name: self.encodings[name].encode_series(frame[name]) for name in columns},
        )


class StreamedColumn(Column):
    """A column that is read when it is asked for, and not kept.

    ``codes``, ``values`` and ``sets`` read all of it; :meth:`part` and :meth:`blocks` do not.
    """

    n_rows: int
    block: int
    reader: Reader
    _distinct: int | None
    _constant: bool
    _sets: bool

    def __init__(self, encoding: Encoding, reader: Reader, n_rows: int, block: int) -> None:
        given = {
            "name": encoding.name,
            "kind": encoding.kind,
            "reason": encoding.reason,
            "missing": encoding.missing,
            "levels": encoding.levels,
            "number": encoding.number,
        }
        kept = {"n_rows": n_rows, "block": block, "reader": reader, "_constant": encoding.constant}
        distinct = None if encoding.hashed is None else encoding.hashed.distinct
        for field, value in (given | kept | {"_distinct": distinct, "_sets": encoding.items is not None}).items():
            object.__setattr__(self, field, value)

    @property
    def codes(self) -> NDArray[np.int32] | None:
        """The codes of everybody."""
        return None if self.is_number else self._whole("codes", np.int32)

    @property
    def values(self) -> FloatArray | None:
        """The numbers of everybody."""
        return self._whole("values", np.float64) if self.is_number else None

    @property
    def sets(self) -> Sets | None:
        """The sets of everybody."""
        return self.part(0, self.n_rows).sets if self._sets else None

    @property
    def distinct(self) -> int | None:
        """The number of levels, or None for a numeric column."""
        return super().distinct if self._distinct is None else self._distinct

    @property
    def constant(self) -> bool:
        """Whether all values that are there are the same."""
        return self._constant if self.is_number else (self.distinct or 0) < 2

    def part(self, start: int, stop: int) -> Column:
        """Return the rows from ``start`` to ``stop``, in memory."""
        return self.reader.column(self.name, start, stop)

    def blocks(self) -> Iterator[tuple[int, Column]]:
        """Return the column in blocks that fit in memory, each with the position of its first row."""
        for start in range(0, self.n_rows, self.block):
            yield start, self.part(start, min(start + self.block, self.n_rows))

    def _whole(self, field: str, dtype: type[Any]) -> NDArray[Any]:
        everybody = np.empty(self.n_rows, dtype=dtype)
        for start, part in self.blocks():
            rows = getattr(part, field)
            everybody[start : start + rows.size] = rows
        return everybody
