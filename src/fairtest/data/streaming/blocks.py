"""What is read off all rows of a column a block at a time, so that they need not be in memory at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from fairtest.data.table import Column
    from fairtest.types import FloatArray, IntArray


def code_blocks(column: Column) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Return the codes of a column in blocks, each with the position of its first row."""
    for start, block in column.blocks():
        assert block.codes is not None
        yield start, block.codes


def number_blocks(column: Column) -> Iterator[tuple[int, FloatArray]]:
    """Return the numbers of a column in blocks, each with the position of its first row."""
    for start, block in column.blocks():
        assert block.values is not None
        yield start, block.values


def take_rows(
    blocks: Iterable[tuple[int, NDArray[Any]]], rows: NDArray[np.intp] | None = None
) -> Iterator[NDArray[Any]]:
    """Return what blocks have at some rows, which are in order; by default at all of them.

    Examples
    --------
    >>> blocks = [(0, np.array([10, 11, 12])), (3, np.array([13, 14]))]
    >>> [values.tolist() for values in take_rows(blocks, np.array([0, 2, 4]))]
    [[10, 12], [14]]
    """
    done = 0
    for start, block in blocks:
        if rows is None:
            yield block
        else:
            upto = int(np.searchsorted(rows, start + block.size))
            yield block[rows[done:upto] - start]
            done = upto


def gather_numbers(blocks: Iterable[tuple[int, FloatArray]], rows: NDArray[np.intp]) -> FloatArray:
    """Return the numbers that some rows have, without missing ones, in one array that the caller may change."""
    found = np.empty(rows.size)
    size = 0
    for block in take_rows(blocks, rows):
        present = block[~np.isnan(block)]
        found[size : size + present.size] = present
        size += present.size
    return found[:size]


def smallest_values(ordered: FloatArray, most: int) -> FloatArray:
    """Return the smallest distinct values of sorted numbers, at most ``most`` of them.

    It jumps from one value to the next, so that a column of few values is not looked at row by row.

    Examples
    --------
    >>> smallest_values(np.array([1.0, 1.0, 2.0, 5.0]), 2)
    array([1., 2.])
    """
    found: list[float] = []
    at = 0
    while at < ordered.size and len(found) < most:
        found.append(float(ordered[at]))
        at = int(np.searchsorted(ordered, ordered[at], side="right"))
    return np.array(found)


def count_codes(
    blocks: Iterable[tuple[int, NDArray[np.int32]]], size: int, rows: NDArray[np.intp] | None = None
) -> IntArray:
    """Return how many rows, of some or of all, have each of ``size`` codes; −1 stands for missing."""
    counts = np.zeros(size + 1, dtype=np.int64)
    for codes in take_rows(blocks, rows):
        counts += np.bincount(codes + 1, minlength=counts.size)
    return counts[1:]


def count_levels(column: Column, rows: NDArray[np.intp] | None = None) -> IntArray:
    """Return how many rows, of some or of all, have each level of a column."""
    return count_codes(code_blocks(column), len(column.levels), rows)


def range_of_blocks(blocks: Iterable[tuple[int, FloatArray]]) -> tuple[float, float] | None:
    """Return the smallest and the largest number; None where all are missing."""
    ends = [(np.nanmin(block), np.nanmax(block)) for _, block in blocks if not np.isnan(block).all()]
    return (float(min(low for low, _ in ends)), float(max(high for _, high in ends))) if ends else None


def find_range(column: Column) -> tuple[float, float]:
    """Return the smallest and the largest number of a column that has some."""
    ends = range_of_blocks(number_blocks(column))
    assert ends is not None
    return ends
