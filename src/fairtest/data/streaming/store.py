"""Encoded columns that are not in memory: where their rows are read from, and the column that reads them.

Rows are read from the column store, in which every column is encoded in a file of its own, or from the Parquet files,
which takes no room and encodes them each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.streaming.scratch import Scratch, advise_on_disk_errors
from fairtest.data.table import Column, HashedColumn, Sets, Table, row_spans

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from fairtest.data.columns.encoding import Encoding
    from fairtest.data.streaming.parquet import RowFiles
    from fairtest.data.table import RowReader
    from fairtest.types import FloatArray


class ColumnStore:
    """Encoded columns in files: codes in the smallest type that holds them, numbers as float64.

    Another process on this machine can read from it (it can be pickled), as long as the one that wrote it keeps it.
    """

    def __init__(self, name: str, encodings: Mapping[str, Encoding], scratch: Scratch) -> None:
        self._name = name
        self._encodings = dict(encodings)
        self._paths = {column: scratch.new() for column in encodings}
        self._items: dict[str, int] = {}  # how many items of a column of sets were written
        self._scratch: Scratch | None = scratch

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_scratch": None}

    def append(self, column: Column) -> None:
        """Write the next rows of a column."""
        with advise_on_disk_errors():
            self._write(column)

    def _write(self, column: Column) -> None:
        path, encoding = self._paths[column.name], self._encodings[column.name]
        if encoding.items is not None:
            assert column.sets is not None
            ends = column.sets.ends + self._items.get(column.name, 0)
            self._items[column.name] = int(ends[-1])
            ends[column.sets.missing] = ~ends[column.sets.missing]  # a negative end says that nothing is known
            _append(path, ends)
            _append(_items_of(path), column.sets.codes)
        elif isinstance(column, HashedColumn):
            _append(path, column.bits)
        elif encoding.is_blank:
            return
        else:
            data = column.values if encoding.is_number else column.codes
            assert data is not None
            _append(path, data.astype(encoding.dtype, copy=False))

    def slice(self, start: int, stop: int, columns: Collection[str]) -> Table:
        """Return the rows from ``start`` to ``stop`` of some columns."""
        return Table(self._name, "parquet", stop - start, {name: self._read(name, start, stop) for name in columns})

    def _read(self, name: str, start: int, stop: int) -> Column:
        path, encoding = self._paths[name], self._encodings[name]
        if encoding.is_blank or encoding.items is not None:
            sets = None if encoding.items is None else _read_sets(path, encoding.items, start, stop)
            return encoding.of_codes(np.full(stop - start, -1, dtype=np.int32), sets)
        data = _read_rows(path, encoding.dtype, start, stop)
        if encoding.is_number:
            return encoding.of_values(data)
        return encoding.of_codes(data) if encoding.hashed is None else encoding.of_bits(data)


def _append(path: Path, data: NDArray[Any]) -> None:
    with path.open("ab") as file:
        file.write(np.ascontiguousarray(data).data)


def _read_rows(path: Path, dtype: np.dtype[Any], start: int, stop: int) -> NDArray[Any]:
    return np.fromfile(path, dtype=dtype, count=stop - start, offset=start * dtype.itemsize)


def _items_of(path: Path) -> Path:
    return path.with_suffix(".items")


def _read_sets(path: Path, items: tuple[str, ...], start: int, stop: int) -> Sets:
    first = max(start - 1, 0)
    ends = _read_rows(path, np.dtype(np.int64), first, stop)
    missing = np.flatnonzero(ends[start - first :] < 0).astype(np.int32)
    ends = np.where(ends < 0, ~ends, ends)
    begin = int(ends[0]) if start else 0
    ends = ends[start - first :]
    codes = _read_rows(_items_of(path), np.dtype(np.int32), begin, int(ends[-1]) if ends.size else begin)
    return Sets(items, ends - begin, codes, missing)


@dataclass(frozen=True)
class EncodedFiles:
    """The rows of files, encoded whenever they are read: on any machine that sees the files."""

    name: str
    files: RowFiles
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
