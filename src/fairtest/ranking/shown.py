"""Which significant contexts are shown, and in which order: as few as say what there is to say.

Every significant context is a true statement, but hundreds of them tell one story: parts of a group, groups that
contain it, groups that share people with it. The contexts that are shown are chosen one by one. Those chosen so far cut
the test set into cells; within each cell, a candidate's people are compared with the other people there, so that only
what it says beyond the chosen ones counts, and it must be worth its price (:mod:`fairtest.ranking.pricing`). A context
inside another one that is shown must besides differ from the rest of it at a level that holds for all such comparisons
together. Choosing among rejected hypotheses, in whatever way, keeps the guarantee for those that are shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fairtest.data.summaries import Target
    from fairtest.metrics.evidence import Evidence
    from fairtest.ranking.crowd import Crowd
    from fairtest.ranking.pricing import Prices
    from fairtest.search.scoring import Strength
    from fairtest.types import BoolArray, FloatArray, IntArray

    People = NDArray[np.uint64]

PRICE = 0.75
"""How much of its price a context must be worth: between a half and one, results hardly differ."""
FEWEST, FEWEST_OUTSIDE = 10, 20
"""Cells with fewer people on a side say nothing; nor does the rest of a larger context with fewer."""
CLEAR = 1.959963984540054
"""A link that a look of its own would call clear."""
BRUSH = 0.1
"""A context of which no more than this part is in others brushes them only."""
MOST_SHOWN = 60
KEPT_BYTES = 1 << 26
"""How much memory the sums of cells are kept in."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The significant contexts of one question, and what is known of each before choosing.

    Attributes
    ----------
    sign
        The direction of each link; 1 for all where a metric has none.
    sums
        The sums of each context in the test set, and of everybody.
    prices
        What each costs, and must reach.
    deviate
        The deviate at which the correction would have rejected each.
    news_bound
        Those whose link is that of the population, so that they are news only if they differ from it.
    apart
        Those that visibly differ from everybody else, or need not.
    tie
        What breaks ties.
    """

    sign: FloatArray
    sums: NDArray[Any]
    everyone: NDArray[Any]
    prices: Prices
    deviate: FloatArray
    news_bound: BoolArray
    apart: BoolArray
    tie: Sequence[tuple[int, str]]

    def __len__(self) -> int:
        return len(self.sign)


@dataclass(frozen=True)
class Choice:
    """What is shown.

    Attributes
    ----------
    shown
        Candidates in the order in which they were chosen.
    everywhere
        Whether the link is that of the whole population, and those shown differ from it.
    """

    shown: tuple[int, ...]
    everywhere: bool


@dataclass(frozen=True, eq=False)
class _Cell:
    """Some people that the chosen contexts do not tell apart, and what candidates show among them.

    ``apart`` and ``alone`` are sums of terms t/u and 1/u for each candidate: of the difference between its people and
    the others here, and of what its people show by themselves.
    """

    people: People
    sums: NDArray[Any]
    apart: tuple[FloatArray, FloatArray]
    alone: tuple[FloatArray, FloatArray]


class Chooser:
    """Chooses what is shown among the significant contexts of one question."""

    def __init__(self, crowd: Crowd, target: Target, strength: Strength, candidates: Candidates) -> None:
        self._crowd = crowd
        self._target = target
        self._strength = strength
        self._candidates = candidates
        self._size = np.bitwise_count(crowd.members).sum(axis=1).astype(float)
        self._known: dict[tuple[int, int], bool] = {}
        self._cells: dict[bytes, _Cell] = {}
        self._start = [self._cell(crowd.everyone)]

    def choose(self, *, confirmed: bool, sign: float) -> Choice:
        """Return what is shown; ``confirmed`` says whether the population shows a link, of direction ``sign``."""
        everybody = range(len(self._candidates))
        chosen = self._refine(self._grow(_Chosen((), self._start), everybody, base=False), base=False)
        if not confirmed or not self._left_to_see(chosen, sign):
            return Choice(chosen.members, everywhere=False)
        chosen = self._refine(self._grow(_Chosen((), self._start), everybody, base=True), base=True)
        return Choice(chosen.members, everywhere=True)

    def _left_to_see(self, chosen: _Chosen, sign: float) -> bool:
        """Whether people outside the chosen contexts still show the link of the population."""
        outside = self._evidence(self._crowd.total(chosen.cells[0].people)[None])
        with np.errstate(invalid="ignore", divide="ignore"):
            return bool(sign * outside.effect[0] / np.sqrt(outside.variance[0]) >= CLEAR)

    # Growing ---------------------------------------------------------------------------------------------------------

    def _grow(self, chosen: _Chosen, among: Iterable[int], *, base: bool) -> _Chosen:
        """Add the contexts that say most beyond those chosen, one after the other, as long as any is allowed.

        After each addition the earlier ones are judged again, and one that has become superfluous is dropped for good:
        otherwise it could come back, and the growth would not end.
        """
        among = set(among)
        start = set(chosen.members)
        while len(chosen.members) < MOST_SHOWN:
            left = np.array(sorted(among - set(chosen.members)), dtype=int)
            best = self._best(chosen, left, base=base)
            if best is None:
                break
            chosen = self._with(chosen, best)
            for earlier in chosen.members[:-1]:
                if earlier not in start and not self._allowed(earlier, self._without(chosen, {earlier}), base=base):
                    chosen = self._without(chosen, {earlier})
                    among.discard(earlier)
        return chosen

    def _best(self, chosen: _Chosen, left: IntArray, *, base: bool) -> int | None:
        """Return the allowed candidate with the largest gain."""
        known = self._candidates
        z = np.where(known.news_bound[left], *(chosen.beyond(known.sign, left, base=b) for b in (True, base)))
        hopeful = z >= known.prices.deviates[left]
        if not base:  # what is not inside a chosen one may have other reasons to be shown
            shown = np.array(chosen.members, dtype=int)
            hopeful |= known.apart[left] & ~known.prices.within[np.ix_(left, shown)].any(axis=1)
        left = left[hopeful]
        gain = np.round(self._gain(chosen, left, base=base), 12)
        order = sorted(range(left.size), key=lambda i: (-gain[i], known.tie[int(left[i])]))
        return next((int(left[i]) for i in order if self._allowed(int(left[i]), chosen, base=base)), None)

    def _gain(self, chosen: _Chosen, which: IntArray, *, base: bool) -> FloatArray:
        """Return by how much what candidates say beyond the chosen ones is worth more than they cost."""
        z = chosen.beyond(self._candidates.sign, which, base=base)
        return np.asarray(np.maximum(z, 0.0) ** 2 - 2 * PRICE * self._candidates.prices.cost[which])

    def _allowed(self, c: int, chosen: _Chosen, *, base: bool) -> bool:
        """Whether a candidate may stand beside the chosen ones."""
        known = self._candidates
        bound = base or bool(known.news_bound[c])
        z = float(chosen.beyond(known.sign, np.array([c]), base=bound)[0])
        required = known.prices.deviates[c]
        around = [b for b in chosen.members if known.prices.within[c, b]]
        if around or base:
            differs = all(self._differs(c, b) for b in around) and (not base or self._differs(c, None))
            return z >= required and differs
        if z >= required:
            return True
        shared = self._shared(c, chosen)
        if not known.apart[c] or shared > BRUSH:
            return False
        return shared == 0 or self._shows_outside(c, chosen, bound=bound)

    def _differs(self, c: int, outer: int | None) -> bool:
        """Whether a context is surely stronger than the rest of a larger one (of everybody, if None)."""
        key = (c, -1 if outer is None else outer)
        if key not in self._known:
            known = self._candidates
            larger = known.everyone if outer is None else known.sums[outer]
            required = known.prices.deviates[c] if outer is None else known.prices.deviate_within(c, outer)
            rest = larger - known.sums[c]
            enough = int(self._strength.sizes(rest[None], self._target)[0]) >= FEWEST_OUTSIDE
            z = self._contrast(known.sums[c][None], rest[None])[0] * known.sign[c]
            self._known[key] = enough and bool(z >= required)
        return self._known[key]

    def _shared(self, c: int, chosen: _Chosen) -> float:
        """Return which part of a context the chosen ones hold."""
        outside = np.bitwise_count(self._crowd.members[c] & chosen.cells[0].people).sum()
        return float(1 - outside / max(self._size[c], 1.0))

    def _shows_outside(self, c: int, chosen: _Chosen, *, bound: bool) -> bool:
        """Whether the people of a context outside the chosen ones show the link as surely as all of it had to."""
        cell, sign = chosen.cells[0], self._candidates.sign[c]
        total, weight = (a[c] for a in (cell.apart if bound else cell.alone))
        return bool(weight > 0 and sign * total / np.sqrt(weight) >= max(CLEAR, self._candidates.deviate[c]))

    # Or its parts ----------------------------------------------------------------------------------------------------

    def _refine(self, chosen: _Chosen, *, base: bool) -> _Chosen:
        """Replace a chosen context by parts of it where these say more."""
        tried: set[int] = set()
        while True:
            left = [b for b in chosen.members if b not in tried]
            if not left:
                return chosen
            b = min(left, key=lambda i: self._candidates.tie[i])
            tried.add(b)
            inside = np.flatnonzero(self._candidates.prices.within[:, b])
            if not inside.size:
                continue
            replaced = {b, *(c for c in chosen.members if self._candidates.prices.within[c, b])}
            rest = self._without(chosen, replaced)
            parts = self._grow(rest, inside.tolist(), base=base)
            new = [c for c in parts.members if c not in rest.members]
            old = [c for c in chosen.members if c in replaced]
            if self._worth(rest, new, base=base) > self._worth(rest, old, base=base):
                chosen = self._grow(parts, range(len(self._candidates)), base=base)

    def _worth(self, chosen: _Chosen, added: Sequence[int], *, base: bool) -> float:
        """Return what contexts are worth together, one after the other."""
        worth = 0.0
        for c in added:
            worth += max(float(self._gain(chosen, np.array([c]), base=base)[0]), 0.0)
            chosen = self._with(chosen, c)
        return round(worth, 9)

    # Cells -----------------------------------------------------------------------------------------------------------

    def _with(self, chosen: _Chosen, c: int) -> _Chosen:
        """Return the chosen contexts and one more: it cuts cells in two."""
        cells: list[_Cell] = []
        inner: list[_Cell] = []
        members = self._crowd.members[c]
        for cell in chosen.cells:
            inside = cell.people & members
            outside = cell.people & ~members
            if not inside.any():
                cells.append(cell)
            elif not outside.any():
                inner.append(cell)
                if cell is chosen.cells[0]:
                    cells.append(self._cell(outside))
            else:
                inner.append(self._cell(inside))
                cells.append(self._cell(outside, cell, inner[-1]))
        return _Chosen((*chosen.members, c), [*cells, *inner])

    def _without(self, chosen: _Chosen, dropped: set[int]) -> _Chosen:
        """Return the chosen contexts but for some."""
        left = _Chosen((), self._start)
        for c in chosen.members:
            if c not in dropped:
                left = self._with(left, c)
        return left

    def _cell(self, people: People, larger: _Cell | None = None, other: _Cell | None = None) -> _Cell:
        """Return what every candidate shows among some people; ``larger`` less an ``other`` cell, if that is known.

        Cells are kept: growing again, or without one of the chosen contexts, comes upon most of them again.
        """
        key = people.tobytes()
        if key not in self._cells:
            sums = self._crowd.sums(people) if larger is None or other is None else larger.sums - other.sums
            if (len(self._cells) + 1) * (sums.nbytes + 4 * 8 * len(sums)) > KEPT_BYTES:
                self._cells.clear()
            self._cells[key] = self._new_cell(people, sums)
        return self._cells[key]

    def _new_cell(self, people: People, sums: NDArray[Any]) -> _Cell:
        rest = self._crowd.total(people) - sums
        here, there = self._evidence(sums), self._evidence(rest)
        inside, outside = (self._strength.sizes(s, self._target) for s in (sums, rest))
        with np.errstate(invalid="ignore", divide="ignore"):
            difference, variance = here.effect - there.effect, here.variance + there.variance
        apart = _weighted(difference, variance, (inside >= FEWEST) & (outside >= FEWEST))
        return _Cell(people, sums, apart, _weighted(here.effect, here.variance, inside >= FEWEST))

    def _contrast(self, sums: NDArray[Any], rest: NDArray[Any]) -> FloatArray:
        """Return the deviates of differences between the effects of two groups of people."""
        here, there = self._evidence(sums), self._evidence(rest)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num((here.effect - there.effect) / np.sqrt(here.variance + there.variance))

    def _evidence(self, sums: NDArray[Any]) -> Evidence:
        return self._strength.evidence(self._target.wrap(sums))


@dataclass(frozen=True, eq=False)
class _Chosen:
    """Contexts chosen so far, and the cells they cut the test set into; the first cell is outside all of them."""

    members: tuple[int, ...]
    cells: list[_Cell] = field(repr=False)

    def beyond(self, sign: FloatArray, which: IntArray, *, base: bool) -> FloatArray:
        """Return the deviates of what candidates show beyond the chosen contexts.

        Outside all of these, it is the link itself that counts, unless the population is the ``base`` that candidates
        must differ from.
        """
        first, *others = self.cells
        parts = [first.apart if base else first.alone, *(cell.apart for cell in others)]
        total, weight = (np.sum([part[i][which] for part in parts], axis=0) for i in (0, 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(weight > 0, sign[which] * total / np.sqrt(weight), 0.0)


def _weighted(value: FloatArray, variance: FloatArray, enough: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return value/variance and 1/variance, 0 where there are too few people to say."""
    with np.errstate(invalid="ignore", divide="ignore"):
        known = enough & np.isfinite(value) & (variance > 0) & np.isfinite(variance)
        return np.where(known, value / variance, 0.0), np.where(known, 1 / variance, 0.0)
