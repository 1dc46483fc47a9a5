"""Axes: contextual attributes in small codes, along which contexts are cut.

A category has a code for each value, a number for each bin between thresholds taken from the training set, and both
have one more for missing. Codes fit a byte, which is what makes counting quick.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.streaming.blocks import count_levels, gather_numbers, number_blocks, smallest_values
from fairtest.data.variables import cut_points
from fairtest.types import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.data.table import Column, Table
    from fairtest.types import FloatArray, IntArray, Level

DISTINCT_THRESHOLDS = 64
"""A number with at most this many distinct values may be cut between any two of them."""
QUANTILES = 32
"""Otherwise it is cut at this many quantiles of the training set."""
MOST_LEVELS = 200
"""A category keeps this many of its values; the rarer ones are pooled."""
GRID = 4096
"""How many cells the grid has that stands in for a search among thresholds: a lookup table that fits a cache."""
MOST_IN_CELL = 2
"""The most thresholds in one cell of the grid; where a cell has more, thresholds are searched after all."""
BLOCK = 1 << 15
"""How many numbers are coded at a time: few enough to stay in the cache between the steps."""
MOST_POOLED = 50
"""A pool of more values than this is too long to read and never makes a context."""


@dataclass(frozen=True)
class Condition:
    """Rows whose code on one axis is among ``codes``."""

    column: str
    codes: tuple[int, ...]


@dataclass(frozen=True)
class Axis:
    """One contextual attribute in codes.

    Attributes
    ----------
    thresholds
        The values at which a number (or an ordered column, by position) may be cut: code ``i`` is above threshold
        ``i − 1`` and up to ``i``. None for a category.
    levels
        For a category, the value of each code (None for the pool); for an ordered column, its levels in order.
    pooled
        The rare values behind the code of the pool.
    lookup
        For a column with levels: from the column's code to the axis' code.
    missing
        The code of missing values, or None if there are none.
    """

    column: str
    size: int
    thresholds: tuple[Level, ...] | None = None
    levels: tuple[Level | None, ...] = ()
    pooled: tuple[Level, ...] = ()
    lookup: tuple[int, ...] = ()
    missing: int | None = None

    @property
    def pool(self) -> int | None:
        """The code of the pooled rare values, or None."""
        return self.levels.index(None) if None in self.levels else None

    @property
    def pool_is_readable(self) -> bool:
        """Whether the pool is short enough to make a context."""
        return 0 < len(self.pooled) <= MOST_POOLED

    def codes(self, table: Table) -> NDArray[np.uint8]:
        """Return the code of every row."""
        column = table[self.column]
        none = 0 if self.missing is None else self.missing
        if column.codes is not None:
            return np.asarray([*self.lookup, none], dtype=np.uint8)[column.codes]
        assert column.values is not None
        bins = _bins(np.asarray(self.thresholds, dtype=float), column.values)
        if self.missing is not None:
            bins[np.isnan(column.values)] = none
        return bins


def _bins(thresholds: FloatArray, values: FloatArray) -> NDArray[np.uint8]:
    """Return how many thresholds each value is above; for NaN the result means nothing.

    Values are first put on an even grid, on which most cells have no threshold and few have more than one: that is
    several times faster than searching. A larger value is never in an earlier cell, so rounding in the grid changes
    no result: the comparisons with thresholds decide.
    """
    low, high = thresholds[0], thresholds[-1]
    with np.errstate(over="ignore", divide="ignore"):
        scale = GRID / (high - low)
    if values.size < GRID or not 0 < scale < np.inf:
        return np.searchsorted(thresholds, values, side="left").astype(np.uint8)
    ends = np.searchsorted(cells := _cells(thresholds, low, scale), np.arange(GRID + 2), side="left").astype(np.uint8)
    most = int(np.bincount(cells).max())
    if most > MOST_IN_CELL:
        return np.searchsorted(thresholds, values, side="left").astype(np.uint8)
    beyond = np.append(thresholds, np.inf)
    bins = np.empty(values.size, dtype=np.uint8)
    for first in range(0, values.size, BLOCK):
        part = values[first : first + BLOCK]
        code = ends[_cells(part, low, scale)]
        for _ in range(most):
            code += part > beyond[code]
        bins[first : first + BLOCK] = code
    return bins


def _cells(values: FloatArray, low: float, scale: float) -> NDArray[np.intp]:
    """Return the cell of an even grid that each value falls into: the first up to ``low``, the last above the grid."""
    with np.errstate(over="ignore", invalid="ignore"):
        at = (values - low) * scale
        at += 1.0
        np.fmax(at, 0.0, out=at)
        np.fmin(at, GRID + 1.0, out=at)
        return at.astype(np.intp)


def make_axis(column: Column, rows: NDArray[np.intp]) -> Axis | None:
    """Return the axis of a column, its thresholds and rare values read off ``rows``; None if nothing can be cut."""
    if column.kind is Kind.IDENTIFIER:
        return None
    if column.kind is Kind.NUMERIC:
        return numeric_axis(column, gather_numbers(number_blocks(column), rows))
    return level_axis(column, count_levels(column, rows))


def level_axis(column: Column, counts: IntArray) -> Axis | None:
    """Return the axis of a column with levels, given how many people of the training set have each."""
    if np.count_nonzero(counts) + (column.missing > 0) < 2:
        return None
    if column.kind is Kind.ORDERED and len(column.levels) > 1:
        return _ordered_axis(column, counts)
    return _category_axis(column, counts)


def numeric_axis(column: Column, seen: FloatArray) -> Axis | None:
    """Return the axis of a column of numbers, given those of the training set, which are sorted on the spot."""
    seen.sort()
    if not seen.size:
        return None
    values = smallest_values(seen, DISTINCT_THRESHOLDS + 1)
    thresholds = cut_points(seen, QUANTILES + 1) if values.size > DISTINCT_THRESHOLDS else values[:-1]
    if not thresholds.size:
        return None
    return _with_missing(Axis(column.name, thresholds.size + 1, tuple(float(t) for t in thresholds)), column)


def _ordered_axis(column: Column, counts: IntArray) -> Axis:
    size = len(column.levels)
    cuts = np.arange(size - 1)
    if size > DISTINCT_THRESHOLDS:
        cuts = cut_points(np.repeat(np.arange(size), counts).astype(float), QUANTILES + 1).astype(int)
    lookup = np.searchsorted(cuts, np.arange(size), side="left").tolist()
    thresholds = tuple(column.levels[i] for i in cuts)
    return _with_missing(Axis(column.name, cuts.size + 1, thresholds, column.levels, lookup=tuple(lookup)), column)


def _category_axis(column: Column, counts: IntArray) -> Axis:
    kept = np.arange(len(column.levels))
    if kept.size > MOST_LEVELS:
        # stable, so that of equally frequent values the first ones stay, whatever numpy's version
        kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
    lookup = np.full(len(column.levels), kept.size)
    lookup[kept] = np.arange(kept.size)
    levels: list[Level | None] = [column.levels[i] for i in kept]
    pooled = tuple(v for v, code in zip(column.levels, lookup, strict=True) if code == kept.size)
    if pooled:
        levels.append(None)
    axis = Axis(column.name, len(levels), levels=tuple(levels), pooled=pooled, lookup=tuple(lookup.tolist()))
    return _with_missing(axis, column)


def _with_missing(axis: Axis, column: Column) -> Axis:
    """Return an axis with one code more, the last, if the column has missing values."""
    return replace(axis, size=axis.size + 1, missing=axis.size) if column.missing else axis
