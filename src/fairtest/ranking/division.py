"""The cells that the contexts chosen so far cut a test set into, and what candidates show in each of them.

A context that joins cuts cells in two, one that is dropped lets cells become one. What candidates show in the other
cells stays as it is, and is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.ranking.cells import Terms, merge_cells, weigh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.data.summaries import Target
    from fairtest.metrics.evidence import Evidence
    from fairtest.ranking.cells import Merged
    from fairtest.ranking.crowd import Crowd
    from fairtest.search.scoring import Strength
    from fairtest.types import BoolArray, FloatArray, IntArray

    People = NDArray[np.uint64]

FEWEST = 10
"""Cells with fewer people on a side say nothing."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Contexts chosen so far, and the cells they cut the test set into: by which of them hold a person.

    Attributes
    ----------
    members
        The contexts, in the order in which they were chosen.
    keys
        For each cell, which of them hold its people; the first cell is outside all.
    people
        The people of each cell: ``[cell, word]``.
    totals
        The sums over the people of each cell: ``[…, cell]``.
    """

    members: tuple[int, ...]
    keys: tuple[frozenset[int], ...]
    people: People
    totals: NDArray[Any]

    @property
    def by_cell(self) -> NDArray[Any]:
        """The sums over the people of each cell: ``[cell, …]``."""
        return np.moveaxis(self.totals, -1, 0)

    def take(self, at: IntArray) -> Cells:
        """Return some of the cells."""
        return replace(
            self,
            keys=tuple(self.keys[i] for i in at.tolist()),
            people=self.people[at],
            totals=self.totals.take(at, axis=-1),
        )

    def without(self, dropped: set[int]) -> Cells:
        """Return the cells without some contexts: those that only these told apart become one."""
        return self.merge(merge_cells(self.keys, dropped), dropped)

    def merge(self, merged: Merged, dropped: set[int]) -> Cells:
        """Return the cells without some contexts, given which of them become one."""
        people = np.bitwise_or.reduceat(self.people[merged.order], merged.starts)
        totals = np.add.reduceat(self.totals.take(merged.order, axis=-1), merged.starts, axis=-1)
        return Cells(tuple(m for m in self.members if m not in dropped), merged.keys, people, totals)


@dataclass(frozen=True, eq=False)
class Division:
    """Cells, and what every candidate shows in each of them.

    Attributes
    ----------
    sums
        The sums of every candidate within each cell: ``[…, cell, candidate]``.
    terms
        What candidates show there.
    stale
        The cells whose terms are still to be computed.
    """

    cells: Cells
    sums: NDArray[Any]
    terms: Terms
    stale: BoolArray

    @property
    def members(self) -> tuple[int, ...]:
        """The contexts chosen so far."""
        return self.cells.members


class Divider:
    """Cuts a test set into cells."""

    def __init__(self, crowd: Crowd, target: Target, strength: Strength) -> None:
        self._crowd = crowd
        self._target = target
        self._strength = strength
        everyone = crowd.everyone[None]
        cells = Cells((), (frozenset(),), everyone, _cells_last(crowd.totals(everyone)))
        sums, first = crowd.sums_within(everyone), np.ones(1, dtype=bool)
        self.start = Division(cells, sums, self._measure(sums, cells.totals, first), ~first)

    def evidence(self, sums: NDArray[Any]) -> Evidence:
        """Return what the sums of some groups of people say: ``[group, …]``."""
        return self._strength.evidence(self._target.wrap(sums))

    def sizes(self, sums: NDArray[Any]) -> IntArray:
        """Return how many people are in some groups."""
        return self._strength.sizes(sums, self._target)

    # Cells alone -----------------------------------------------------------------------------------------------------

    def cut(self, cells: Cells, c: int) -> Cells:
        """Return the cells with one more context, which cuts in two those that it shares people with."""
        halves, _ = self._cut(cells, c)
        return halves.take(_find_filled(halves))

    def _cut(self, cells: Cells, c: int) -> tuple[Cells, IntArray]:
        """Return what is left of each cell outside a context, then what is inside; and of which cells there is any."""
        inside = cells.people & self._crowd.members[c]
        at = np.flatnonzero(inside.any(axis=1))
        cut = _cells_last(self._crowd.totals(inside[at]))
        totals = np.concatenate((cells.totals, cut), axis=-1)
        totals[..., at] -= cut
        people = np.concatenate((cells.people & ~self._crowd.members[c], inside[at]))
        keys = (*cells.keys, *(cells.keys[i] | {c} for i in at))
        return Cells((*cells.members, c), keys, people, totals), at

    def judge_each(self, cells: Cells, members: Sequence[int]) -> list[tuple[Terms, People]]:
        """Return for each of some chosen contexts what it shows given the others, and who is outside those."""
        merged = [merge_cells(cells.keys, {c}) for c in members]
        if not merged:
            return []
        sums, totals = [], []
        for c, m in zip(members, merged, strict=True):
            whole = cells.totals.take(m.order, axis=-1)
            inside = np.array([c in cells.keys[i] for i in m.order.tolist()])
            totals.append(np.add.reduceat(whole, m.starts, axis=-1))
            sums.append(np.add.reduceat(whole * inside, m.starts, axis=-1))
        ends = np.cumsum([len(m.keys) for m in merged])
        first = np.zeros(ends[-1], dtype=bool)
        first[ends - [len(m.keys) for m in merged]] = True
        terms = self._measure(np.concatenate(sums, axis=-1)[..., None], np.concatenate(totals, axis=-1), first)
        return [
            (terms.take_cells(np.arange(end - len(m.keys), end)), _unite(cells.people[m.first]))
            for end, m in zip(ends.tolist(), merged, strict=True)
        ]

    # Cells and what candidates show there ----------------------------------------------------------------------------

    def add(self, division: Division, c: int) -> Division:
        """Return the division with one more context."""
        cells, at = self._cut(division.cells, c)
        cut = self._crowd.sums_within(cells.people[len(division.cells.keys) :])
        sums = np.concatenate((division.sums, cut), axis=-2)
        sums[..., at, :] -= cut
        stale = np.concatenate((division.stale, np.ones(at.size, dtype=bool)))
        stale[at] = True
        filled = _find_filled(cells)
        if filled.size == stale.size:
            return Division(cells, sums, division.terms.enlarge(stale.size), stale)
        terms = division.terms.enlarge(stale.size).take_cells(filled)
        return Division(cells.take(filled), sums.take(filled, axis=-2), terms, stale[filled])

    def drop(self, division: Division, dropped: set[int]) -> Division:
        """Return the division without some contexts: cells that only these told apart become one."""
        merged = merge_cells(division.cells.keys, dropped)
        sums, stale = division.sums.take(merged.leading, axis=-2), division.stale[merged.leading]
        for cell, other in merged.joining:
            sums[..., cell, :] += division.sums[..., other, :]
            stale[cell] = True
        cells = division.cells.merge(merged, dropped)
        return Division(cells, sums, division.terms.take_cells(merged.leading), stale)

    def measure(self, division: Division) -> Division:
        """Return the division with the terms of all cells: those that have changed are computed anew."""
        at = np.flatnonzero(division.stale)
        if not at.size:
            return division
        new = self._measure(division.sums.take(at, axis=-2), division.cells.totals.take(at, axis=-1), at == 0)
        return replace(division, terms=division.terms.replace_cells(at, new), stale=np.zeros_like(division.stale))

    def _measure(self, sums: NDArray[Any], totals: NDArray[Any], first: BoolArray) -> Terms:
        """Return what candidates show in some cells, given their sums there and those of the cells.

        What they show by themselves is asked of the ``first`` cells only, those outside all contexts. Where few people
        are on a side nothing is computed: most cells are inside a candidate, or outside it.
        """
        rest = totals[..., None] - sums
        inside, outside = (self.sizes(np.moveaxis(a, (-2, -1), (0, 1))) for a in (sums, rest))
        both = (inside >= FEWEST) & (outside >= FEWEST)
        alone = first[:, None] & (inside >= FEWEST)
        at = np.flatnonzero(both | alone)
        here, there = (self.evidence(_pick(a, at)) for a in (sums, rest))
        with np.errstate(invalid="ignore", divide="ignore"):
            difference, variance = here.effect - there.effect, here.variance + there.variance
        of_both = weigh(difference, variance, both.ravel()[at])
        of_one = weigh(here.effect, here.variance, alone.ravel()[at])
        return Terms(*((_spread(a, at, both.shape), _spread(b, at, both.shape)) for a, b in (of_both, of_one)))


def _cells_last(sums: NDArray[Any]) -> NDArray[Any]:
    return np.moveaxis(sums, 0, -1)


def _pick(sums: NDArray[Any], at: IntArray) -> NDArray[Any]:
    """Return the sums of some pairs of a cell and a candidate: ``[pair, …]``, in memory one entry of all after another.

    Metrics add up a few entries of each of many pairs, which is quick so.
    """
    some = sums.reshape(-1, sums.shape[-2] * sums.shape[-1]).take(at, axis=1)
    return np.moveaxis(some.reshape(*sums.shape[:-2], at.size), -1, 0)


def _spread(values: FloatArray, at: IntArray, shape: tuple[int, ...]) -> FloatArray:
    """Return values at their places, 0 elsewhere."""
    every = np.zeros(shape)
    every.ravel()[at] = values
    return every


def _unite(people: People) -> People:
    return np.asarray(np.bitwise_or.reduce(people, axis=0))


def _find_filled(cells: Cells) -> IntArray:
    """Return the cells that have anybody; the first one counts in any case."""
    filled = np.asarray(cells.people.any(axis=1))
    filled[0] = True
    return np.flatnonzero(filled)
