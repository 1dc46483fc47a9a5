"""Kinds of people in the place of people: where few attributes make few different rows, each is counted once.

A million people of four census attributes are some ten thousand kinds. Sums over kinds, each as often as there are
people of it, are the same numbers. Whether there are few kinds is decided on a sample: with fifteen independent columns
almost everybody is one of a kind, and looking for others is not worth it. Kinds of people that lie in partitions are
tallied in each and then together: one pass, whatever is counted afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, prod
from typing import TYPE_CHECKING

import numpy as np

from fairtest.engine.kernel.histogram import Cells
from fairtest.engine.kernel.people import CodedPeople
from fairtest.engine.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis
    from fairtest.data.summaries import Target
    from fairtest.types import IntArray

FEWEST_PEOPLE = 1 << 16
"""Smaller sets are counted person by person."""
WORTH = 2
"""There must be this many times fewer kinds than people …"""
WORTH_SORTING = 32
"""… or this many times fewer, where people have to be sorted to find the kinds."""
MOST_DENSE = 1 << 24
"""Up to this many possible kinds are counted in one table with an entry for each."""
SAMPLE = 1 << 15
"""How many people are looked at to estimate the number of kinds."""
FULL = 4
"""Such a table may have at most this many entries for each person."""


class KnownKinds:
    """The kinds of people that were found last, and of what there are too many, for an engine that looks for them.

    Kinds are alike on all axes that the engine has made by then, and so on all that it can be asked about. One of each
    is kept: an engine counts one target at a time, on the training set and then on a test set. Any thread
    may ask.
    """

    def __init__(self) -> None:
        self._found: Recent[tuple[int, Target, tuple[Axis, ...]], CodedPeople | None] = Recent(most=1)
        self._not_few: Recent[tuple[Target, tuple[Axis, ...]], bool] = Recent(most=1)

    def get(
        self, number: int, target: Target, axes: tuple[Axis, ...], find: Callable[[], CodedPeople | None] | None
    ) -> CodedPeople | None:
        """Return the kinds of people in a set, alike on some axes; None if they are not few, or not known.

        Where they are not few in one set, they are not looked for in another. Nor are they without a way to ``find``
        them: that takes a pass over the people, which must be worth it.
        """
        if self._not_few.find((target, axes)):
            return None
        if find is None:
            return self._found.find((number, target, axes))
        kinds = self._found.get((number, target, axes), find)
        if kinds is None:
            self._not_few.get((target, axes), lambda: True)
        return kinds


def kinds_of(
    codes: Callable[[Axis, int], NDArray[np.uint8]], axes: Sequence[Axis], cells: Cells, n_cells: int
) -> CodedPeople | None:
    """Return the kinds of some people, of whom only their cells are added up; None if there are not few of them.

    ``codes`` gives the codes on an axis of every so many-th person: all of them are asked for only where it pays.
    """
    people = len(cells.cell)
    most, possible = most_kinds(axes, n_cells, people), possible_kinds(axes, n_cells)
    if cells.terms or cells.weight is not None or not most:
        return None
    if possible > most:
        sample = keys_of(codes, axes, cells.cell, n_cells, max(people // SAMPLE, 1))
        if estimate_kinds(sample, people) > most:
            return None
    return Tally.of(keys_of(codes, axes, cells.cell, n_cells, 1), possible, possible).kinds(axes, n_cells)


def possible_kinds(axes: Sequence[Axis], n_cells: int) -> int:
    """Return how many kinds there could be."""
    return prod(axis.size for axis in axes) * n_cells


def most_kinds(axes: Sequence[Axis], n_cells: int, people: int) -> int:
    """Return how many kinds there may be if it shall pay to count them; 0 where it cannot."""
    possible = possible_kinds(axes, n_cells)
    if not axes or people < FEWEST_PEOPLE or possible >= 2**63:
        return 0
    return int(people // (WORTH if possible <= MOST_DENSE else WORTH_SORTING))


@dataclass(frozen=True, eq=False)
class Tally:
    """How many people there are of each kind; tallies of different people can be added.

    Attributes
    ----------
    keys
        A number for each kind, in order; None where there are too many kinds.
    people
        How many people are of it.
    most
        How many kinds are not too many.
    """

    keys: NDArray[np.int64] | None
    people: IntArray
    most: int

    @classmethod
    def of(cls, keys: NDArray[np.int64], possible: int, most: int) -> Tally:
        """Tally people, given the key of each."""
        if possible <= min(MOST_DENSE, FULL * keys.size):
            every = np.bincount(keys, minlength=possible)
            kinds = np.flatnonzero(every)
            return cls._if_few(kinds, every[kinds], most)
        return cls._if_few(*np.unique(keys, return_counts=True), most)

    @classmethod
    def _if_few(cls, keys: NDArray[np.int64], people: IntArray, most: int) -> Tally:
        return cls(keys, people, most) if keys.size <= most else cls(None, people[:0], most)

    def __add__(self, other: Tally) -> Tally:
        if self.keys is None or other.keys is None:
            return self if self.keys is None else other
        keys, place = np.unique(np.concatenate((self.keys, other.keys)), return_inverse=True)
        people = np.zeros(keys.size, dtype=np.int64)
        np.add.at(people, place, np.concatenate((self.people, other.people)))
        return self._if_few(keys, people, self.most)

    def kinds(self, axes: Sequence[Axis], n_cells: int) -> CodedPeople | None:
        """Return the kinds, if they are few enough."""
        return None if self.keys is None else _decode_kinds(self.keys, self.people, axes, n_cells)


def keys_of(
    codes: Callable[[Axis, int], NDArray[np.uint8]],
    axes: Sequence[Axis],
    cell: NDArray[np.int32],
    n_cells: int,
    step: int,
) -> NDArray[np.int64]:
    """Return, for every ``step``-th person, one number that identifies their kind."""
    key = np.zeros(len(cell[::step]), dtype=np.int64)
    for axis in axes:
        key *= axis.size
        key += codes(axis, step)
    key *= n_cells
    key += cell[::step]
    return key


def estimate_kinds(sample: NDArray[np.int64], people: int) -> float:
    """Return an estimate of how many kinds there are among all people, cut off at about ``most``.

    If twice the people have 2^b times the kinds, this is taken to go on. In truth fewer and fewer are new.
    """
    half, whole = np.unique(sample[::2]).size, np.unique(sample).size
    growth = log2(whole / max(half, 1))
    return float(whole * (people / max(sample.size, 1)) ** growth)


def _decode_kinds(keys: NDArray[np.int64], people: IntArray, axes: Sequence[Axis], n_cells: int) -> CodedPeople:
    """Return kinds of people as if each were a person, of whom there are several."""
    left, cell = np.divmod(keys, n_cells)
    codes: dict[str, NDArray[np.uint8]] = {}
    for axis in reversed(axes):
        left, code = np.divmod(left, axis.size)
        codes[axis.column] = code.astype(np.uint8)
    valid = np.broadcast_to(np.True_, keys.shape)
    cells = Cells(valid, cell.astype(np.int32), [], people.astype(np.float64))
    return CodedPeople(lambda axis: codes[axis.column], np.arange(keys.size), cells)
