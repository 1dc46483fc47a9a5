"""Counting many small contexts by walking down the tree of their common prefixes, everybody at once.

A person goes from a prefix to those that its code leads to, and is counted wherever it comes by: the work is the sum of
the sizes of the prefixes, whatever their number. Many deep contexts, like the nodes of a tree and what is around them,
are counted faster so than one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Condition
    from fairtest.types import IntArray

BLOCK = 1 << 15
"""How many people walk together: few enough for a cache."""
FAR = 8
"""Where people take more steps than this on their way down, fewer of them are walked at a time."""
MOST_AT_ONCE = 1 << 22
"""At most this many steps are made at a time."""
SAMPLE = 1 << 10
"""From this many people it is estimated how many steps everybody will take."""


@dataclass(frozen=True, eq=False)
class _Level:
    """The prefixes of one length.

    Attributes
    ----------
    size
        How many there are.
    first, cuts
        For each prefix one shorter: the first of the cuts that lead on from it, and how many there are; none from the
        last, which stands for nowhere.
    column
        For each cut, the column it goes along.
    child
        ``[cut, code]``: the prefix that people with this code go to; ``size`` for nowhere.
    """

    size: int
    first: NDArray[np.intp]
    cuts: NDArray[np.intp]
    column: NDArray[np.intp]
    child: NDArray[np.intp]

    @property
    def most(self) -> int:
        """The largest number of cuts that lead on from a prefix."""
        return int(self.cuts.max())


class Descent:
    """The tree of the prefixes of some contexts.

    The conditions of a context are put into an order that makes for few and small prefixes: at each prefix those come
    next that most contexts have which begin with it. For the nodes of a tree this finds the tree again.

    Parameters
    ----------
    numbers
        ``[context, place]``: the conditions of each context, −1 after the last.
    conditions, column
        What the numbers stand for, and the column of each.
    width
        The largest number of codes of a column.
    """

    def __init__(self, numbers: IntArray, conditions: Sequence[Condition], column: IntArray, width: int) -> None:
        group = _groups(conditions, column)
        self._levels: list[_Level] = []
        self._depth = (numbers >= 0).sum(axis=1)
        self._at = np.zeros(len(numbers), dtype=np.intp)
        left = numbers.copy()
        above = 1
        for depth in range(numbers.shape[1]):
            inside = np.flatnonzero(self._depth > depth)
            place = _commonest(left[inside], self._at[inside], group)
            keys = self._at[inside] * len(conditions) + left[inside, place]
            left[inside, place] = -1
            prefixes, self._at[inside] = np.unique(keys, return_inverse=True)
            parent, condition = np.divmod(prefixes, len(conditions))
            self._levels.append(_level(parent, condition, conditions, column, group, above, width))
            above = prefixes.size

    def steps(self, codes: Sequence[NDArray[np.uint8]], most: int) -> int:
        """Return about how many steps people will make, judged by some of them; at ``most`` or so it stops counting."""
        every = max(codes[0].size // SAMPLE, 1)
        made = 0
        for person, _ in self._walk(np.stack([code[::every] for code in codes])):
            made += every * person.size
            if made > most:
                break
        return made

    def counts(self, codes: Sequence[NDArray[np.uint8]], cell: IntArray, n_cells: int, steps: int) -> NDArray[np.int64]:
        """Return the people of every context in each cell.

        Parameters
        ----------
        codes, cell
            Everybody's codes on each column, and their cells.
        steps
            How many steps people will make in all, which says how many can walk together; more where they go to so
            many cells that going through all of these takes longer than the walk.
        """
        sums = [np.zeros((level.size + 1) * n_cells, dtype=np.int64) for level in self._levels]
        at_once = min(max(BLOCK * FAR, *(total.size for total in sums)), MOST_AT_ONCE)
        together = max(int(min(at_once * cell.size / max(steps, 1), max(at_once / FAR, BLOCK))), SAMPLE)
        for first in range(0, cell.size, together):
            some = np.stack([code[first : first + together] for code in codes])
            cells = cell[first : first + together].astype(np.intp)
            for place, (person, prefix) in enumerate(self._walk(some)):
                sums[place] += np.bincount(prefix * n_cells + cells.take(person), minlength=sums[place].size)
        out = np.zeros((self._at.size, n_cells), dtype=np.int64)
        for place, total in enumerate(sums, start=1):
            here = self._depth == place
            out[here] = total.reshape(-1, n_cells)[self._at[here]]
        return out

    def _walk(self, codes: NDArray[np.uint8]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield for each length who comes by which prefix."""
        n, flat = codes.shape[1], codes.ravel()
        person, prefix = np.arange(n), np.zeros(n, dtype=np.intp)
        for level in self._levels:
            times = level.cuts.take(prefix)
            ways = [np.flatnonzero(times > number) for number in range(level.most)]
            on = ways[0] if len(ways) == 1 else np.concatenate(ways)
            person, cut = person.take(on), level.first.take(prefix.take(on))
            done = ways[0].size
            for number, way in enumerate(ways[1:], start=1):
                cut[done : done + way.size] += number
                done += way.size
            where = (level.column * n).take(cut)
            where += person
            cut *= level.child.shape[1]
            cut += flat.take(where)
            prefix = level.child.ravel().take(cut)
            yield person, prefix


def _commonest(numbers: IntArray, prefix: NDArray[np.intp], group: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each context which of its conditions is of the group that most contexts of its prefix have."""
    kinds = int(group.max()) + 1
    keys = prefix[:, None] * kinds + group[numbers]
    known = numbers >= 0
    different, where = np.unique(keys[known], return_inverse=True)
    times = np.zeros(numbers.shape, dtype=np.intp)
    times[known] = np.bincount(where)[where] * different.size - where  # of equally common ones the first
    place: NDArray[np.intp] = times.argmax(axis=1)
    return place


def _groups(conditions: Sequence[Condition], column: IntArray) -> NDArray[np.intp]:
    """Return a number for each condition, such that those with the same are about one column and exclude each other.

    A condition joins the fullest group that it can, so that the two sides of a threshold come together.
    """
    taken: dict[int, list[tuple[int, int]]] = {}
    group = np.zeros(len(conditions), dtype=np.intp)
    made = 0
    for i in sorted(range(len(conditions)), key=lambda i: conditions[i].codes):
        codes = sum(1 << code for code in conditions[i].codes)
        known = taken.setdefault(int(column[i]), [])
        free = [place for place, (_, others) in enumerate(known) if not codes & others]
        if free:
            place = max(free, key=lambda place: known[place][1].bit_count())
            number, others = known[place]
            known[place] = (number, codes | others)
            group[i] = number
        else:
            known.append((made, codes))
            group[i] = made
            made += 1
    return group


def _level(
    parent: NDArray[np.intp],
    condition: NDArray[np.intp],
    conditions: Sequence[Condition],
    column: IntArray,
    group: NDArray[np.intp],
    above: int,
    width: int,
) -> _Level:
    """Return the prefixes that a condition more makes of their parents."""
    kinds = int(group.max()) + 1
    cuts, cut = np.unique(parent * kinds + group[condition], return_inverse=True)
    times = np.bincount(cuts // kinds, minlength=above + 1)
    codes = [np.array(c.codes, dtype=np.intp) for c in conditions]
    child = np.full((cuts.size, width), parent.size, dtype=np.intp)
    many = np.array([c.size for c in codes])[condition]
    child[np.repeat(cut, many), np.concatenate([codes[i] for i in condition.tolist()])] = np.repeat(
        np.arange(parent.size), many
    )
    along = np.zeros(cuts.size, dtype=np.intp)
    along[cut] = column[condition]
    return _Level(parent.size, np.cumsum(times) - times, times, along, child)
