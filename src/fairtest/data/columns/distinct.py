"""The different values of a column that comes in blocks: all of them as long as they fit, else how many."""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairtest.data.fingerprint import longest_text

if TYPE_CHECKING:
    from pathlib import Path

    from fairtest.data.streaming.scratch import Scratch

BUCKETS = 64
"""Into how many files hashes are divided by their first bits, so that one file at a time fits in memory."""
OVERHEAD = 64
"""What a value costs besides its text, in bytes, once it is a level in Python."""
_SEEDS = (1, 2)


class Distinct:
    """All different values of a column, as long as they fit in ``size`` bytes; from then on they are only counted.

    Parameters
    ----------
    scratch
        Where they are counted; needed where the size is bounded.

    Attributes
    ----------
    values
        The values, or None if they are too many to keep.
    width
        The length of the longest text in bytes; known where they are too many.
    """

    def __init__(self, size: float = inf, scratch: Scratch | None = None) -> None:
        self._size = size
        self._scratch = scratch
        self._tally: HashTally | None = None
        self.values: pl.Series | None = None
        self.width = 0

    def add(self, series: pl.Series) -> None:
        """Add the values of a block."""
        new = series.drop_nulls().unique()
        if self.values is not None:
            new = pl.concat([self.values, new]).unique()
        if self._tally is None:
            self.values = new
            if self._scratch is None or new.estimated_size() + OVERHEAD * len(new) <= self._size:
                return
            self._tally, self.values = HashTally(self._scratch.new()), None
        if new.dtype == pl.String:
            self.width = max(self.width, longest_text(new))
        self._tally.add(new)

    @property
    def count(self) -> int:
        """How many there are."""
        if self._tally is not None:
            return self._tally.count
        return 0 if self.values is None else len(self.values)


class HashTally:
    """Counts the different values of a column of any size, from 128 bits of hash of each.

    The hashes are kept in files of a new folder, so that equal ones meet in the same file and one file at a time has
    to fit in memory.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()

    def add(self, series: pl.Series) -> None:
        """Add the values of a block."""
        hashes = np.stack([series.hash(seed).to_numpy() for seed in _SEEDS], axis=1)
        bucket = (hashes[:, 0] >> np.uint64(64 - BUCKETS.bit_length() + 1)).astype(np.intp)
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=BUCKETS))
        for number, rows in enumerate(np.split(order, ends[:-1])):
            with (self._folder / str(number)).open("ab") as file:
                hashes[rows].tofile(file)

    @cached_property
    def count(self) -> int:
        """How many different values were added; the files go with it, and nothing can be added afterwards."""
        return sum(self._count_file(file) for file in self._folder.iterdir())

    @staticmethod
    def _count_file(file: Path) -> int:
        pairs = np.fromfile(file, dtype=np.uint64).reshape(-1, 2)
        file.unlink()
        return pl.DataFrame({"a": pairs[:, 0], "b": pairs[:, 1]}).n_unique()
