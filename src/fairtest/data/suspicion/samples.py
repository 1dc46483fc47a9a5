"""Some rows of a column, the same ones wherever its rows are: enough to see how values repeat, and cheap to look at.

Rows are drawn in two ways. By *position*, all rows with the same chance: for how numbers are spread, and how often
rows agree. By *value*, all rows of some values: what repeats then repeats as often as in the whole table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairtest.data.fingerprint import GOLDEN, MISSING, mix_bits, number_bits
from fairtest.data.streaming.blocks import take_rows
from fairtest.data.table import HashedColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fairtest.data.table import Column
    from fairtest.types import BoolArray

BY_VALUE = 100_000
BY_POSITION = 20_000
"""About how many rows are looked at."""
FEW_VALUES = 50
"""A sample with fewer values is drawn again by position: each of them has rows enough to be seen."""
COUNTED = 1 << 22
"""At most about this many keys are sorted at a time; more are counted in several passes over the column."""


def positions(n_rows: int, size: int = BY_POSITION) -> NDArray[np.intp]:
    """Return the positions of about ``size`` rows, or of all, in order; always the same ones of a table of this size.

    Examples
    --------
    >>> positions(5).tolist(), positions(1_000_000, 3).size
    ([0, 1, 2, 3, 4], 3)
    """
    if n_rows <= size:
        return np.arange(n_rows)
    with np.errstate(over="ignore"):
        drawn = mix_bits(np.arange(1, size + 1, dtype=np.uint64) * GOLDEN)
    return np.unique((drawn.astype(np.float64) / 2.0**64 * n_rows).astype(np.intp))


def keys_at(column: Column, rows: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return a key for the value of each of some rows, in order: the same for the same value."""
    return np.concatenate(list(take_rows(_key_blocks(column), rows)))


def _key_blocks(column: Column) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    for start, block in column.blocks():
        yield start, _keys(block)


def _keys(block: Column) -> NDArray[np.uint64]:
    if isinstance(block, HashedColumn):
        return block.bits
    if block.is_number:
        assert block.values is not None
        return number_bits(block.values)
    assert block.codes is not None
    return np.where(block.codes < 0, MISSING, block.codes.astype(np.uint64))


@dataclass(frozen=True, eq=False)
class ValueSample:
    """All rows of some values of a column, in the order of the values.

    Attributes
    ----------
    rows
        The positions of the rows.
    keys
        What tells the values apart.
    """

    rows: NDArray[np.intp]
    keys: NDArray[np.uint64]

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where the rows of each value begin."""
        return np.flatnonzero(np.append(True, self.keys[1:] != self.keys[:-1])[: self.keys.size])

    @cached_property
    def follows(self) -> BoolArray:
        """Whether each row has the value of the row before, but for the commonest value.

        The commonest value often stands for none ("unknown", 0), and says nothing about the others.
        """
        same = np.append(False, self.keys[1:] == self.keys[:-1])[: self.keys.size]
        if self.starts.size:
            sizes = np.diff(np.append(self.starts, self.keys.size))
            most = int(np.argmax(sizes))
            same[self.starts[most] : self.starts[most] + sizes[most]] = False
        return same

    @property
    def repeated(self) -> float:
        """The share of rows that repeat the value of another one, the commonest value aside."""
        return float(self.follows.sum() / max(self.rows.size, 1))

    def agreement(self, column: Column) -> Agreement:
        """Return how often rows of one value agree in another column, and how often any two rows do."""
        return self._compare(column, self.follows)

    def is_graded(self, column: Column) -> bool:
        """Whether neighbouring values mostly agree in another column, so that it changes gradually with the value."""
        neighbours = np.zeros(self.rows.size, dtype=bool)
        neighbours[self.starts[1:]] = True
        found = self._compare(column, neighbours)
        return found.same / max(found.pairs, 1) > (1 + found.chance) / 2

    def _compare(self, column: Column, chosen: BoolArray) -> Agreement:
        """Return how often the chosen rows agree with the row before them."""
        order = np.argsort(self.rows, kind="stable")
        found = np.empty(self.rows.size, dtype=np.uint64)
        found[order] = keys_at(column, self.rows[order])
        known = found != MISSING
        pairs = chosen & known & np.append(False, known[:-1])[: known.size]
        same = pairs & np.append(False, found[1:] == found[:-1])[: known.size]
        _, sizes = np.unique(found[known], return_counts=True)
        chance = float(((sizes / max(known.sum(), 1)) ** 2).sum())
        return Agreement(int(pairs.sum()), int(same.sum()), chance)


@dataclass(frozen=True)
class Agreement:
    """How many pairs of rows with the same value were looked at, how many agree, and the share of any two that do."""

    pairs: int
    same: int
    chance: float

    @property
    def is_constant(self) -> bool:
        """Whether rows of one value hardly ever differ, where by chance many would.

        One in a hundred may: a value that was corrected, or typed wrong.
        """
        return self.same >= 0.99 * self.pairs and self.pairs * (1 - self.chance) >= 20


def sample_values(column: Column, n_rows: int, size: int = BY_VALUE) -> ValueSample:
    """Return the rows of some of the values, or of all where the table is small.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> sample = sample_values(read_table({"user": ["a", "b", "c", "b", "a", "a"]})["user"], 6)
    >>> sample.rows.tolist(), sample.starts.tolist()
    ([0, 4, 5, 1, 3, 2], [0, 3, 5])
    """
    sample = _all_rows_of_some_values(column, n_rows, size)
    if n_rows > size and sample.starts.size < FEW_VALUES:
        rows = positions(n_rows, size)
        return _in_order(rows, keys_at(column, rows))
    return sample


def _all_rows_of_some_values(column: Column, n_rows: int, size: int) -> ValueSample:
    found, at = [], []
    for start, keys in _key_blocks(column):
        kept = keys != MISSING
        if n_rows > size:
            kept &= mix_bits(keys + GOLDEN) < np.uint64(int(size / n_rows * 2**64))
        found.append(keys[kept])
        at.append(np.flatnonzero(kept) + start)
    return _in_order(np.concatenate(at), np.concatenate(found))


def _in_order(rows: NDArray[np.intp], keys: NDArray[np.uint64]) -> ValueSample:
    known = keys != MISSING
    order = np.argsort(keys[known], kind="stable")
    return ValueSample(rows[known][order], keys[known][order])


def count_values(column: Column, n_rows: int, most: int = COUNTED) -> int:
    """Return how many values a column has, exactly, without holding all of them at once."""
    if column.distinct is not None:
        return column.distinct
    passes = -(-n_rows // most)
    number = 0
    for each in range(passes):
        kept: list[pl.Series] = []
        for _, keys in _key_blocks(column):
            known = keys[keys != MISSING]
            if passes > 1:
                known = known[mix_bits(known + GOLDEN) % np.uint64(passes) == each]
            kept.append(pl.Series(known).unique())
        number += pl.concat(kept).n_unique()
    return number
