"""Bins of people who are near each other in explanatory numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from fairtest.types import BoolArray, FloatArray, IntArray

    _Places: TypeAlias = tuple[IntArray, IntArray, IntArray, IntArray]

MOST_ENDS = 1 / 16
"""So much of all people at most is left out at each end of a number."""


def bin_neighbours(block: IntArray, numbers: IntArray, sizes: Sequence[float]) -> list[IntArray]:
    """Return bins of people who are near each other in all numbers, for each size of a bin; equal people are in one.

    Examples
    --------
    >>> bin_neighbours(np.zeros(6, dtype=int), np.array([[5], [1], [1], [9], [2], [7]]), [2])
    [array([1, 0, 0, 2, 1, 2])]
    """
    places = _places(block, numbers[:, 0])
    return [_bin_of_size(block, numbers, size, places) for size in sizes]


def _bin_of_size(block: IntArray, numbers: IntArray, size: float, places: _Places) -> IntArray:
    """Cut by one number after the other, beginning with the first, by which people have their places."""
    bins, d = block, numbers.shape[1]
    for j in range(d):
        order, group, first, _ = _places(bins, numbers[:, j]) if j else places
        people = np.bincount(bins)
        pieces = np.maximum(np.rint((people / size) ** (1 / (d - j))), 1.0)
        piece = np.floor(first * pieces[group] / people[group])
        bins = np.empty_like(block)
        bins[order] = np.cumsum(find_changes(group, piece)) - 1
    return bins


def at_ends(block: IntArray, numbers: IntArray, people: float) -> BoolArray:
    """Return who is among the first or last so many of a block on any number; equal people are so together."""
    ends = np.zeros(len(block), dtype=bool)
    for number in numbers.T:
        order, group, first, last = _places(block, number)
        size = np.bincount(block)[group]
        few = np.floor(np.minimum(people, MOST_ENDS * size))
        ends[order] |= (last < few) | (first >= size - few)
    return ends


def _places(group: IntArray, number: IntArray) -> _Places:
    """Return people in order of group and number, their groups, and the first and last place of those equal to each."""
    order = _order(group, number)
    ordered = group[order]
    new = find_changes(ordered, number[order])
    starts = np.flatnonzero(new)
    run = np.cumsum(new) - 1
    people = np.bincount(group)
    before = (np.cumsum(people) - people)[ordered]
    ends = np.append(starts[1:], len(order)) - 1
    return order, ordered, starts[run] - before, ends[run] - before


def _order(group: IntArray, number: IntArray) -> IntArray:
    """Return the order by group and number; people who are in it already, as most are, need no sorting."""
    step = group[1:] - group[:-1]
    if np.all((step > 0) | ((step == 0) & (number[1:] >= number[:-1]))):
        return np.arange(len(group))
    return np.lexsort((number, group))


def find_changes(*columns: FloatArray | IntArray) -> BoolArray:
    """Whether each row differs from the one before; the first does."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        new[1:] |= column[1:] != column[:-1]
    return new
