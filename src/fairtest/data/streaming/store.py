"""The column store: every column encoded in a file of its own, of which any rows can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.streaming.scratch import Scratch, on_disk
from fairtest.data.table import HashedColumn, Sets, Table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from fairtest.data.columns.encoding import Encoding
    from fairtest.data.table import Column


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
        with on_disk():
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
