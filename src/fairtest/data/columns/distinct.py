"""The different values of a column that comes block by block: all of them if they are few, else how many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BUCKETS = 64
OVERHEAD = 64
"""What a value costs besides its text, in bytes, once it is a level in Python."""
_SEEDS = (1, 2)


class Few:
    """The different values of a column up to so many of them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.values: pl.Series | None = None
        self.over = False

    def add(self, series: pl.Series) -> None:
        """Add the values of a block."""
        if self.over:
            return
        new = series.drop_nulls()
        new = (new if self.values is None else pl.concat([self.values, new])).unique()
        self.over = len(new) > self.most
        self.values = None if self.over else new

    @property
    def count(self) -> int | None:
        """How many there are, or None for more than ``most``."""
        return None if self.over else 0 if self.values is None else len(self.values)


class Distinct:
    """All different values of a column, as long as they fit in so many bytes; from then on they are only counted.

    Attributes
    ----------
    values
        The values, or None if they are too many to keep.
    width
        The length of the longest text in bytes; known where they are too many.
    """

    def __init__(self, size: int, tally: Callable[[], Tally]) -> None:
        self._size = size
        self._make = tally
        self._tally: Tally | None = None
        self.values: pl.Series | None = None
        self.width = 0

    def add(self, series: pl.Series) -> None:
        """Add the values of a block."""
        new = series.drop_nulls().unique()
        if self.values is not None:
            new = pl.concat([self.values, new]).unique()
        if self._tally is None:
            self.values = new
            if new.estimated_size() + OVERHEAD * len(new) <= self._size:
                return
            self._tally, self.values = self._make(), None
        if new.dtype == pl.String:
            self.width = max(self.width, _whole_number(new.str.len_bytes().max()))
        self._tally.add(new)

    @property
    def count(self) -> int:
        """How many there are."""
        if self._tally is not None:
            return self._tally.count()
        return 0 if self.values is None else len(self.values)


class AllDiffer:
    """Whether all values of a column differ, and if so, which they are; given up at the first that repeats."""

    def __init__(self, distinct: Distinct) -> None:
        self.distinct = distinct
        self._present = 0
        self._repeats = False

    def add(self, series: pl.Series) -> None:
        """Add the values of a block."""
        if self._repeats:
            return
        new = series.drop_nulls()
        self._present += len(new)
        self._repeats = new.n_unique() < len(new)
        if not self._repeats:
            self.distinct.add(new)

    @property
    def holds(self) -> bool:
        """Whether no two are the same."""
        return not self._repeats and self.distinct.count == self._present


class Tally:
    """Counts the different values of a column of any size, from 128 bits of hash of each kept in files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self._count: int | None = None

    def add(self, series: pl.Series) -> None:
        """Add values; those of one hash go to one file."""
        hashes = np.stack([series.hash(seed).to_numpy() for seed in _SEEDS], axis=1)
        bucket = (hashes[:, 0] >> np.uint64(64 - BUCKETS.bit_length() + 1)).astype(np.intp)
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=BUCKETS))
        for number, rows in enumerate(np.split(order, ends[:-1])):
            with (self._folder / str(number)).open("ab") as file:
                hashes[rows].tofile(file)

    def count(self) -> int:
        """Return how many different values were added; nothing can be added afterwards."""
        if self._count is None:
            self._count = sum(self._counted(file) for file in self._folder.iterdir())
        return self._count

    @staticmethod
    def _counted(file: Path) -> int:
        pairs = np.fromfile(file, dtype=np.uint64).reshape(-1, 2)
        file.unlink()
        return pl.DataFrame({"a": pairs[:, 0], "b": pairs[:, 1]}).n_unique()


def _whole_number(value: object) -> int:
    return int(value) if isinstance(value, int) else 0
