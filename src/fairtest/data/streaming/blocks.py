"""Columns block by block: what is asked of all their rows, without all of them in memory at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from fairtest.data.table import Column
    from fairtest.types import FloatArray, IntArray


def codes_of(column: Column) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Return the codes of a column in blocks, each with the position of its first row."""
    for start, block in column.blocks():
        assert block.codes is not None
        yield start, block.codes


def numbers_of(column: Column) -> Iterator[tuple[int, FloatArray]]:
    """Return the numbers of a column in blocks, each with the position of its first row."""
    for start, block in column.blocks():
        assert block.values is not None
        yield start, block.values


def taken(blocks: Iterable[tuple[int, NDArray[Any]]], rows: NDArray[np.intp]) -> Iterator[NDArray[Any]]:
    """Return what blocks have at some rows, which are in order.

    Examples
    --------
    >>> blocks = [(0, np.array([10, 11, 12])), (3, np.array([13, 14]))]
    >>> [part.tolist() for part in taken(blocks, np.array([0, 2, 4]))]
    [[10, 12], [14]]
    """
    done = 0
    for start, block in blocks:
        upto = int(np.searchsorted(rows, start + block.size))
        yield block[rows[done:upto] - start]
        done = upto


def present(numbers: Iterable[FloatArray], most: int) -> FloatArray:
    """Return the numbers that are there, at most so many, in one array that the caller may change."""
    found = np.empty(most)
    size = 0
    for block in numbers:
        there = block[~np.isnan(block)]
        found[size : size + there.size] = there
        size += there.size
    return found[:size]


def first_values(ordered: FloatArray, most: int) -> FloatArray:
    """Return the different ones of sorted numbers, from the smallest on, at most so many.

    Examples
    --------
    >>> first_values(np.array([1.0, 1.0, 2.0, 5.0]), 2)
    array([1., 2.])
    """
    found: list[float] = []
    at = 0
    while at < ordered.size and len(found) < most:
        found.append(float(ordered[at]))
        at = int(np.searchsorted(ordered, ordered[at], side="right"))
    return np.array(found)


def level_counts(column: Column, rows: NDArray[np.intp] | None = None) -> IntArray:
    """Return how many rows, of some or of all, have each level of a column."""
    counts = np.zeros(len(column.levels) + 1, dtype=np.int64)
    blocks = (codes for _, codes in codes_of(column)) if rows is None else taken(codes_of(column), rows)
    for codes in blocks:
        counts += np.bincount(codes + 1, minlength=counts.size)
    return counts[1:]


def ends_of(column: Column) -> tuple[float, float]:
    """Return the smallest and the largest number of a column that has some."""
    ends = [(np.nanmin(block), np.nanmax(block)) for _, block in numbers_of(column) if not np.isnan(block).all()]
    return float(min(low for low, _ in ends)), float(max(high for _, high in ends))
