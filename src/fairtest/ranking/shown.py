"""Which significant contexts are shown, and in which order: as few as say what there is to say.

Every significant context is a true statement, but hundreds of them tell one story: parts of a group, groups that
contain it, groups that share people with it. The contexts that are shown are chosen one by one. Those chosen so far cut
the test set into cells; within each cell, a candidate's people are compared with the other people there, so that only
what it says beyond the chosen ones counts, and it must be worth its price (:mod:`fairtest.ranking.pricing`). A context
inside another one that is shown must besides differ from the rest of it at a level that holds for all such comparisons
together. Choosing among rejected hypotheses, in whatever way, keeps the guarantee for those that are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtest.ranking.cells import contrast, weigh
from fairtest.ranking.division import FEWEST, Divider

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fairtest.data.summaries import Target
    from fairtest.ranking.candidates import Candidates
    from fairtest.ranking.cells import Terms
    from fairtest.ranking.crowd import Crowd
    from fairtest.ranking.division import Cells, Division
    from fairtest.search.scoring import Strength
    from fairtest.types import BoolArray, FloatArray, IntArray

    People = NDArray[np.uint64]

PRICE = 0.75
"""How much of its price a context must be worth: between a half and one, results hardly differ."""
FEWEST_OUTSIDE = 20
"""The rest of a larger context with fewer people says nothing."""
CLEAR = 1.959963984540054
"""A link that a look of its own would call clear."""
SAME_PRICE = 1e-9
"""Prices are sums of logarithms, in any order."""
BRUSH = 0.1
"""A context of which no more than this part is in others brushes them only."""
MOST_SHOWN = 60


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
class _Seen:
    """The deviates of what candidates show beyond the chosen contexts, and outside them."""

    beyond: FloatArray
    outside: FloatArray

    @classmethod
    def among(cls, terms: Terms, sign: FloatArray, bound: BoolArray) -> _Seen:
        """Return those of candidates, of which the ``bound`` ones must differ from the others outside too."""
        return cls(
            np.where(bound, terms.beyond(sign, base=True), terms.beyond(sign, base=False)),
            np.where(bound, terms.outside(sign, base=True), terms.outside(sign, base=False)),
        )


class Chooser:
    """Chooses what is shown among the significant contexts of one question."""

    def __init__(self, crowd: Crowd, target: Target, strength: Strength, candidates: Candidates) -> None:
        self._crowd = crowd
        self._target = target
        self._strength = strength
        self._candidates = candidates
        self._divider = Divider(crowd, target, strength)
        self._size = crowd.count_shared(crowd.everyone).astype(float)
        self._rank = np.empty(len(candidates), dtype=int)
        self._rank[sorted(range(len(candidates)), key=candidates.tie.__getitem__)] = np.arange(len(candidates))
        # what training and test set show together of each, as a multiple of what the test set shows
        alone = np.abs(self._divider.evidence(candidates.sums).z)
        self._together = 1 + (candidates.evidence / np.maximum(np.nan_to_num(alone), 1.0)) ** 2
        self._known: dict[tuple[int, int], bool] = {}
        self._start = self._divider.start

    def choose(self, *, confirmed: bool, sign: float) -> Choice:
        """Return what is shown; ``confirmed`` says whether the population shows a link, of direction ``sign``."""
        chosen = self._grow(self._start, range(len(self._candidates)), base=False)
        if not confirmed or self._is_explained(chosen, sign):
            chosen = self._refine(chosen, base=False)
            if not confirmed or self._is_explained(chosen, sign):
                return Choice(chosen.members, everywhere=False)
        # what does not surely differ from everybody else has no chance then, whatever else is chosen
        at = np.flatnonzero(self._candidates.news)
        if not at.size:
            return Choice((), everywhere=True)
        some = Chooser(self._crowd.take(at), self._target, self._strength, self._candidates.take(at))
        grown = some._grow(some._start, range(at.size), base=True)
        return Choice(tuple(at[list(some._refine(grown, base=True).members)].tolist()), everywhere=True)

    def _is_explained(self, chosen: Division, sign: float) -> bool:
        """Whether the link of everybody is that of the chosen contexts: outside them it is not there, or much weaker.

        That none is to be seen outside says nothing if few people are there, or if the contexts were chosen by luck. So
        those inside must surely differ from those outside, by the price of the dearest context; otherwise the link may
        be the same everywhere, and each context must show that it differs. A link that is still to be seen outside is
        much weaker if it is surely less than half of everybody's, and most people are outside.
        """
        everybody, outside = (self._divider.evidence(a) for a in (self._start.cells.by_cell, chosen.cells.by_cell[:1]))
        if not outside.variance[0] > 0:  # nobody is left
            return True
        same = [c for c in chosen.members if self._candidates.sign[c] == sign]
        if not same:
            return False
        inside = chosen.cells.by_cell[[not key.isdisjoint(same) for key in chosen.cells.keys]].sum(axis=0)[None]
        apart = sign * contrast(self._divider.evidence(inside), outside)[0]
        if not apart >= self._candidates.prices.deviates_beyond[same].max():
            return False
        error, here = CLEAR * np.sqrt(outside.variance[0]), sign * outside.effect[0]
        some, every = (int(self._divider.sizes(a)[0]) for a in (inside, self._start.cells.by_cell))
        return bool(here < error or (some <= every / 2 and sign * everybody.effect[0] / 2 - here >= error))

    # Growing ---------------------------------------------------------------------------------------------------------

    def _grow(self, chosen: Division, among: Iterable[int], *, base: bool, fixed: Iterable[int] = ()) -> Division:
        """Add the contexts that say most beyond those chosen, one after the other, as long as any is allowed.

        After each addition the earlier ones but those ``fixed`` are judged again, and one that has become superfluous
        is dropped for good: otherwise it could come back, and the growth would not end.
        """
        among, fixed = set(among), set(fixed)
        while len(chosen.members) < MOST_SHOWN:
            left = np.array(sorted(among - set(chosen.members)), dtype=int)
            chosen = self._divider.measure(chosen)
            best = self._best(chosen, left, base=base)
            if best is None:
                break
            superfluous = self._find_superfluous(self._divider.cut(chosen.cells, best), fixed, base=base)
            among -= superfluous
            chosen = self._divider.add(self._divider.drop(chosen, superfluous) if superfluous else chosen, best)
        return chosen

    def _best(self, chosen: Division, left: IntArray, *, base: bool) -> int | None:
        """Return the allowed candidate with the largest gain."""
        known, prices = self._candidates, self._candidates.prices
        z = chosen.terms.beyond(known.sign, base=base)[left]
        seen = _Seen.among(chosen.terms, known.sign, base | known.news_bound)
        sure = seen.beyond[left]
        if base:
            hopeful = sure >= np.minimum(known.required, prices.deviates_from_everybody)[left]
        else:  # what is not inside a chosen one may have other reasons to be shown
            inside = prices.within[np.ix_(left, np.array(chosen.members, dtype=int))]
            hopeful = (sure >= prices.deviates_beyond[left]) | known.apart[left] & ~inside.any(axis=1)
        gain = np.round(self._gains(z, left), 12)[hopeful]
        among = left[hopeful]
        among = among[np.lexsort((self._rank[among], -gain))]
        best = next((c for c in among.tolist() if self._may_join(c, chosen, seen, base=base)), None)
        return None if best is None else self._shorten(best, chosen, seen, among, base=base)

    def _shorten(self, c: int, chosen: Division, seen: _Seen, among: IntArray, *, base: bool) -> int:
        """Return a context, or a larger one of fewer words where the others add nothing that is worth their price.

        What the training set shows of a context that was found in it is too much, and so the other words must prove
        themselves by the test set alone.
        """
        known = self._candidates
        cheaper = known.prices.within[c] & (known.prices.cost < known.prices.cost[c] - SAME_PRICE)
        cheaper &= known.sign == known.sign[c]
        for larger in among[cheaper[among]].tolist():
            others = self._crowd.members[larger] & ~self._crowd.members[c]
            if not self._is_worth_more(c, larger, others, chosen) and self._may_join(larger, chosen, seen, base=base):
                return self._shorten(larger, chosen, seen, among, base=base)
        return c

    def _is_worth_more(self, c: int, larger: int, others: People, chosen: Division) -> bool:
        """Whether a part of a larger context shows so much more than other people of it that its words are worth it.

        They are compared within the cells that the chosen contexts make.
        """
        inside, outside = (chosen.cells.people & who for who in (self._crowd.members[c], others))
        cells = inside.any(axis=1) & outside.any(axis=1)
        if not cells.any():
            return True
        sums = np.split(self._crowd.totals(np.concatenate((inside[cells], outside[cells]))), 2)
        enough = np.minimum(*(self._divider.sizes(a) for a in sums)) >= FEWEST
        here, there = (self._divider.evidence(a) for a in sums)
        value, weight = weigh(here.effect - there.effect, here.variance + there.variance, enough)
        if not weight.sum() > 0:
            return True
        z = float(self._candidates.sign[c] * value.sum() / np.sqrt(weight.sum()))
        cost = self._candidates.prices.cost
        return bool(z >= np.sqrt(2 * PRICE * max(cost[c] - cost[larger], 0.0)))

    def _gains(self, z: FloatArray, at: IntArray) -> FloatArray:
        """Return what candidates say beyond the chosen ones, in squared deviates, less their price.

        The test set alone says whether one may be shown. Of those that may, the training set's people have a say in
        which says most: they are three in ten, and tell apart groups that the test set sees nearly as clearly.
        """
        said = np.maximum(z, 0.0) ** 2 * self._together[at]
        return np.asarray(said - 2 * PRICE * self._candidates.prices.cost[at])

    def _find_superfluous(self, cells: Cells, fixed: set[int], *, base: bool) -> set[int]:
        """Return the chosen contexts that may no longer stand beside the others, now that the last one has joined."""
        left = [c for c in cells.members[:-1] if c not in fixed]
        superfluous: set[int] = set()
        while (found := self._first_superfluous(left, cells, base=base)) is not None:
            superfluous.add(found)
            cells, left = cells.without({found}), left[left.index(found) + 1 :]
        return superfluous

    def _first_superfluous(self, some: Sequence[int], cells: Cells, *, base: bool) -> int | None:
        """Return the first of some chosen contexts that may no longer stand beside the others."""
        for c, (terms, outside) in zip(some, self._divider.judge_each(cells, some), strict=True):
            others = tuple(m for m in cells.members if m != c)
            seen = _Seen.among(terms, self._candidates.sign[[c]], base | self._candidates.news_bound[[c]])
            shown = float(seen.beyond[0]), float(seen.outside[0])
            if not self._is_allowed(c, others, shown, self._shared(c, outside), base=base):
                return c
        return None

    def _may_join(self, c: int, chosen: Division, seen: _Seen, *, base: bool) -> bool:
        """Whether a candidate may stand beside the chosen contexts."""
        shown = float(seen.beyond[c]), float(seen.outside[c])
        return self._is_allowed(c, chosen.members, shown, self._shared(c, chosen.cells.people[0]), base=base)

    def _is_allowed(
        self, c: int, members: Sequence[int], shown: tuple[float, float], shared: float, *, base: bool
    ) -> bool:
        """Whether a candidate may stand beside some contexts, given what it shows beyond and outside them."""
        known = self._candidates
        beyond, outside = shown
        around = [b for b in members if known.prices.within[c, b]]
        if around:
            required = known.prices.deviates[c]
        elif not base:  # no difference from others is claimed of it: it must only have something to say
            required = known.prices.deviates_beyond[c]
        else:  # where it shares people with others, its price must be paid
            required = known.required[c] if shared <= BRUSH else known.prices.deviates_from_everybody[c]
        sure = bool(beyond >= required)
        if around or base:
            beyond_everybody = not base or bool(known.differs[c])
            return sure and beyond_everybody and all(self._differs(c, b) for b in around)
        if sure:
            return True
        if not known.apart[c] or shared > BRUSH:
            return False
        # its people outside the others must show the link as surely as all of it had to
        return shared == 0 or bool(outside >= max(CLEAR, known.deviate[c]))

    def _differs(self, c: int, outer: int) -> bool:
        """Whether a context is surely stronger than the rest of a larger one."""
        if (c, outer) not in self._known:
            known = self._candidates
            here, rest = known.sums[c][None], (known.sums[outer] - known.sums[c])[None]
            enough = self._divider.sizes(rest)[0] >= FEWEST_OUTSIDE
            z = known.sign[c] * contrast(self._divider.evidence(here), self._divider.evidence(rest))[0]
            self._known[c, outer] = bool(enough and z >= known.prices.deviate_within(c, outer))
        return self._known[c, outer]

    def _shared(self, c: int, outside: People) -> float:
        """Return which part of a context is not outside some others."""
        return float(1 - np.bitwise_count(self._crowd.members[c] & outside).sum() / max(self._size[c], 1.0))

    # Or its parts ----------------------------------------------------------------------------------------------------

    def _refine(self, chosen: Division, *, base: bool) -> Division:
        """Replace a chosen context by parts of it where these say more."""
        tried: set[int] = set()
        while left := [b for b in chosen.members if b not in tried]:
            b = min(left, key=lambda i: self._candidates.tie[i])
            tried.add(b)
            inside = np.flatnonzero(self._candidates.prices.within[:, b])
            if not inside.size:
                continue
            replaced = {b, *(c for c in chosen.members if self._candidates.prices.within[c, b])}
            rest = self._divider.drop(chosen, replaced)
            # none of the rest is inside a part of b, and what the parts are worth is compared beside the same rest
            parts = self._grow(rest, inside.tolist(), base=base, fixed=rest.members)
            new = [c for c in parts.members if c not in rest.members]
            old = [c for c in chosen.members if c in replaced]
            if not self._are_worth_more(new, b, rest):
                continue
            if self._worth(rest, new, base=base) > self._worth(rest, old, base=base):
                chosen = self._grow(parts, range(len(self._candidates)), base=base)
        return chosen

    def _are_worth_more(self, parts: Sequence[int], whole: int, rest: Division) -> bool:
        """Whether each of some parts shows more than the people of the whole who are in none of them."""
        known = self._candidates
        others = self._crowd.members[whole] & ~np.bitwise_or.reduce(self._crowd.members[list(parts)], axis=0)
        same = (c for c in parts if known.sign[c] == known.sign[whole])
        dearer = (c for c in same if known.prices.cost[c] > known.prices.cost[whole] + SAME_PRICE)
        return all(self._is_worth_more(c, whole, others, rest) for c in dearer)

    def _worth(self, chosen: Division, added: Sequence[int], *, base: bool) -> float:
        """Return what contexts are worth together, one after the other."""
        known, worth = self._candidates, 0.0
        for place, c in enumerate(added):
            chosen = self._divider.measure(chosen)
            z = chosen.terms.beyond(known.sign, base=base)[[c]]
            worth += max(float(self._gains(z, np.array([c]))[0]), 0.0)
            if place + 1 < len(added):
                chosen = self._divider.add(chosen, c)
        return round(worth, 9)
