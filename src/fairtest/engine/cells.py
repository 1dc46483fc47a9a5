"""Kinds of people in the place of people: where few attributes make few different rows, each is counted once.

A million people of four census attributes are some ten thousand kinds. Sums over kinds, each as often as there are
people of it, are the same numbers. Whether there are few kinds is decided on a sample: with fifteen independent columns
almost everybody is one of a kind, and looking for others is not worth it.
"""

from __future__ import annotations

from math import log2, prod
from typing import TYPE_CHECKING

import numpy as np

from fairtest.engine.histogram import Cells

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis
    from fairtest.types import IntArray

__all__ = ["FEWEST_PEOPLE", "Kinds", "kinds_of"]

FEWEST_PEOPLE = 1 << 16
"""In smaller sets people are counted as they are."""
WORTH = 2
"""Kinds must be so many times fewer than people …"""
WORTH_SORTING = 32
"""… or so many times, where people have to be sorted to find them."""
MOST_DENSE = 1 << 24
"""Up to so many possible kinds are counted in a table of all of them."""
SAMPLE = 1 << 15
"""So many people decide."""


class Kinds:
    """Kinds of people: alike on some axes, and in the same cell of a target.

    Attributes
    ----------
    cells
        The cell of each kind, and how many people are of it.
    """

    def __init__(self, codes: Mapping[str, NDArray[np.uint8]], cells: Cells) -> None:
        self._codes = codes
        self.cells = cells

    def __len__(self) -> int:
        return len(self.cells.cell)

    def codes(self, axis: Axis) -> NDArray[np.uint8]:
        """Return the code of each kind on an axis."""
        return self._codes[axis.column]

    def know(self, column: str) -> bool:
        """Whether people of a kind are alike on a column."""
        return column in self._codes


def kinds_of(
    codes: Callable[[Axis, int], NDArray[np.uint8]], axes: Sequence[Axis], cells: Cells, n_cells: int
) -> Kinds | None:
    """Return the kinds of some people, of whom only their cells are added up; None if there are not few of them.

    ``codes`` gives the codes on an axis of every so many-th person: all of them are asked for only where it pays.
    """
    people = len(cells.cell)
    sizes = [axis.size for axis in axes]
    possible = prod(sizes) * n_cells
    if people < FEWEST_PEOPLE or cells.terms or possible >= 2**63:
        return None
    dense = possible <= MOST_DENSE
    most = people // (WORTH if dense else WORTH_SORTING)
    if possible > most and _expected(_keys(codes, axes, cells.cell, n_cells, _step(people)), people) > most:
        return None
    keys = _keys(codes, axes, cells.cell, n_cells, 1)
    if dense:
        every = np.bincount(keys, minlength=possible)
        kinds = np.flatnonzero(every)
        weight = every[kinds]
    else:
        kinds, weight = np.unique(keys, return_counts=True)
    return _taken_apart(kinds, weight, axes, n_cells)


def _step(people: int) -> int:
    return max(people // SAMPLE, 1)


def _keys(
    codes: Callable[[Axis, int], NDArray[np.uint8]],
    axes: Sequence[Axis],
    cell: NDArray[np.int32],
    n_cells: int,
    step: int,
) -> NDArray[np.int64]:
    """Return one number for every so many-th person that says all about their kind."""
    key = np.zeros(len(cell[::step]), dtype=np.int64)
    for axis in axes:
        key *= axis.size
        key += codes(axis, step)
    key *= n_cells
    key += cell[::step]
    return key


def _expected(sample: NDArray[np.int64], people: int) -> float:
    """Return how many kinds there will be among all people, at most about so many.

    If twice the people have 2^b times the kinds, this is taken to go on. In truth fewer and fewer are new.
    """
    half, whole = np.unique(sample[::2]).size, np.unique(sample).size
    growth = log2(whole / max(half, 1))
    return float(whole * (people / max(sample.size, 1)) ** growth)


def _taken_apart(kinds: NDArray[np.int64], weight: IntArray, axes: Sequence[Axis], n_cells: int) -> Kinds:
    left, cell = np.divmod(kinds, n_cells)
    codes: dict[str, NDArray[np.uint8]] = {}
    for axis in reversed(axes):
        left, code = np.divmod(left, axis.size)
        codes[axis.column] = code.astype(np.uint8)
    valid = np.broadcast_to(np.True_, kinds.shape)
    return Kinds(codes, Cells(valid, cell.astype(np.int32), [], weight.astype(np.float64)))
