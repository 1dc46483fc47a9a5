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
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.ranking.cells import Terms, cell_by_cell, contrast, merge_cells, weigh

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fairtest.data.summaries import Target
    from fairtest.metrics.evidence import Evidence
    from fairtest.ranking.candidates import Candidates
    from fairtest.ranking.crowd import Crowd
    from fairtest.search.scoring import Strength
    from fairtest.types import FloatArray, IntArray

    People = NDArray[np.uint64]

PRICE = 0.75
"""How much of its price a context must be worth: between a half and one, results hardly differ."""
FEWEST, FEWEST_OUTSIDE = 10, 20
"""Cells with fewer people on a side say nothing; nor does the rest of a larger context with fewer."""
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
class _Chosen:
    """Contexts chosen so far, and the cells they cut the test set into: by which of them hold a person.

    Attributes
    ----------
    members
        The contexts, in the order in which they were chosen.
    keys
        For each cell, which of them hold its people; the first cell is outside all.
    people
        The people of each cell: ``[cell, word]``.
    sums, totals
        The sums of every candidate within each cell, and of the cell: ``[cell, candidate, …]`` and ``[cell, …]``.
    terms
        What candidates show there.
    """

    members: tuple[int, ...]
    keys: tuple[frozenset[int], ...]
    people: People
    sums: NDArray[Any]
    totals: NDArray[Any]
    terms: Terms


class Chooser:
    """Chooses what is shown among the significant contexts of one question."""

    def __init__(self, crowd: Crowd, target: Target, strength: Strength, candidates: Candidates) -> None:
        self._crowd = crowd
        self._target = target
        self._strength = strength
        self._candidates = candidates
        self._size = np.bitwise_count(crowd.members).sum(axis=1).astype(float)
        # what training and test set show together of each, as a multiple of what the test set shows
        alone = np.abs(self._evidence(candidates.sums).z)
        self._together = 1 + (candidates.evidence / np.maximum(np.nan_to_num(alone), 1.0)) ** 2
        self._known: dict[tuple[int, int], bool] = {}
        everyone = crowd.everyone[None]
        sums, totals = crowd.sums(crowd.everyone)[None], crowd.total(crowd.everyone)[None]
        self._start = _Chosen((), (frozenset(),), everyone, sums, totals, self._terms(sums, totals))

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

    def _is_explained(self, chosen: _Chosen, sign: float) -> bool:
        """Whether the link of everybody is that of the chosen contexts: outside them it is not there, or much weaker.

        That none is to be seen outside says nothing if few people are there, or if the contexts were chosen by luck. So
        those inside must surely differ from those outside, by the price of the dearest context; otherwise the link may
        be the same everywhere, and each context must show that it differs. A link that is still to be seen outside is
        much weaker if it is surely less than half of everybody's, and most people are outside.
        """
        everybody, outside = self._evidence(self._start.totals), self._evidence(chosen.totals[:1])
        if not outside.variance[0] > 0:  # nobody is left
            return True
        same = [c for c in chosen.members if self._candidates.sign[c] == sign]
        if not same:
            return False
        inside = chosen.totals[[not key.isdisjoint(same) for key in chosen.keys]].sum(axis=0)[None]
        apart = sign * contrast(self._evidence(inside), outside)[0]
        if not apart >= self._candidates.prices.deviates_beyond[same].max():
            return False
        error, here = CLEAR * np.sqrt(outside.variance[0]), sign * outside.effect[0]
        some, every = (int(self._strength.sizes(a, self._target)[0]) for a in (inside, self._start.totals))
        return bool(here < error or (some <= every / 2 and sign * everybody.effect[0] / 2 - here >= error))

    # Growing ---------------------------------------------------------------------------------------------------------

    def _grow(self, chosen: _Chosen, among: Iterable[int], *, base: bool, fixed: Iterable[int] = ()) -> _Chosen:
        """Add the contexts that say most beyond those chosen, one after the other, as long as any is allowed.

        After each addition the earlier ones but those ``fixed`` are judged again, and one that has become superfluous
        is dropped for good: otherwise it could come back, and the growth would not end.
        """
        among, fixed = set(among), set(fixed)
        while len(chosen.members) < MOST_SHOWN:
            left = np.array(sorted(among - set(chosen.members)), dtype=int)
            best = self._best(chosen, left, base=base)
            if best is None:
                break
            chosen = self._with(chosen, best)
            for earlier in chosen.members[:-1]:
                if earlier not in fixed and not self._is_needed(earlier, chosen, base=base):
                    chosen = self._without(chosen, {earlier})
                    among.discard(earlier)
        return chosen

    def _best(self, chosen: _Chosen, left: IntArray, *, base: bool) -> int | None:
        """Return the allowed candidate with the largest gain."""
        known = self._candidates
        z, bound = (chosen.terms.beyond(known.sign, base=b)[left] for b in (base, True))
        sure = np.where(known.news_bound[left], bound, z)
        prices = known.prices
        if base:
            hopeful = sure >= np.minimum(known.required, prices.deviates_from_everybody)[left]
        else:  # what is not inside a chosen one may have other reasons to be shown
            inside = prices.within[np.ix_(left, np.array(chosen.members, dtype=int))]
            hopeful = (sure >= prices.deviates_beyond[left]) | known.apart[left] & ~inside.any(axis=1)
        gain = np.round(self._gains(z, left), 12)
        order = sorted(np.flatnonzero(hopeful).tolist(), key=lambda i: (-gain[i], known.tie[int(left[i])]))
        among = left[order].tolist()
        best = next((c for c in among if self._may_join(c, chosen, base=base)), None)
        return None if best is None else self._shorten(best, chosen, among, base=base)

    def _shorten(self, c: int, chosen: _Chosen, among: Sequence[int], *, base: bool) -> int:
        """Return a context, or a larger one of fewer words where the others add nothing that is worth their price.

        What the training set shows of a context that was found in it is too much, and so the other words must prove
        themselves by the test set alone.
        """
        known = self._candidates
        cheaper = known.prices.within[c] & (known.prices.cost < known.prices.cost[c] - SAME_PRICE)
        for larger in (p for p in among if cheaper[p] and known.sign[p] == known.sign[c]):
            others = self._crowd.members[larger] & ~self._crowd.members[c]
            if not self._is_worth_more(c, larger, others, chosen) and self._may_join(larger, chosen, base=base):
                return self._shorten(larger, chosen, among, base=base)
        return c

    def _is_worth_more(self, c: int, larger: int, others: People, chosen: _Chosen) -> bool:
        """Whether a part of a larger context shows so much more than other people of it that its words are worth it.

        They are compared within the cells that the chosen contexts make.
        """
        members = self._crowd.members[c]
        cells = [cell for cell in chosen.people if (cell & members).any() and (cell & others).any()]
        if not cells:
            return True
        here, there = (np.stack([self._crowd.total(cell & who) for cell in cells]) for who in (members, others))
        enough = np.minimum(*(self._strength.sizes(a, self._target) for a in (here, there))) >= FEWEST
        inside, outside = self._evidence(here), self._evidence(there)
        value, weight = weigh(inside.effect - outside.effect, inside.variance + outside.variance, enough)
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

    def _is_needed(self, c: int, chosen: _Chosen, *, base: bool) -> bool:
        """Whether a chosen context may still stand beside the others."""
        others = tuple(m for m in chosen.members if m != c)
        merged = merge_cells(chosen.keys, {c})
        sums, totals = (np.add.reduceat(a[merged.order], merged.starts) for a in (chosen.sums[:, c], chosen.totals))
        outside = np.bitwise_or.reduce(
            chosen.people[merged.order[: merged.starts[1] if len(merged.starts) > 1 else None]]
        )
        return self._is_allowed(c, others, self._terms(sums[:, None], totals), self._shared(c, outside), base=base)

    def _may_join(self, c: int, chosen: _Chosen, *, base: bool) -> bool:
        """Whether a candidate may stand beside the chosen contexts."""
        shared = self._shared(c, chosen.people[0])
        return self._is_allowed(c, chosen.members, chosen.terms.of(c), shared, base=base)

    def _is_allowed(self, c: int, members: Sequence[int], terms: Terms, shared: float, *, base: bool) -> bool:
        """Whether a candidate may stand beside some contexts, given what it shows in the cells these make."""
        known = self._candidates
        bound = base or bool(known.news_bound[c])
        sign = known.sign[[c]]
        around = [b for b in members if known.prices.within[c, b]]
        if around:
            required = known.prices.deviates[c]
        elif not base:  # no difference from others is claimed of it: it must only have something to say
            required = known.prices.deviates_beyond[c]
        else:  # where it shares people with others, its price must be paid
            required = known.required[c] if shared <= BRUSH else known.prices.deviates_from_everybody[c]
        sure = bool(terms.beyond(sign, base=bound)[0] >= required)
        if around or base:
            beyond_everybody = not base or bool(known.differs[c])
            return sure and beyond_everybody and all(self._differs(c, b) for b in around)
        if sure:
            return True
        if not known.apart[c] or shared > BRUSH:
            return False
        # its people outside the others must show the link as surely as all of it had to
        return shared == 0 or bool(terms.outside(sign, base=bound)[0] >= max(CLEAR, known.deviate[c]))

    def _differs(self, c: int, outer: int) -> bool:
        """Whether a context is surely stronger than the rest of a larger one."""
        if (c, outer) not in self._known:
            known = self._candidates
            here, rest = known.sums[c][None], (known.sums[outer] - known.sums[c])[None]
            enough = self._strength.sizes(rest, self._target)[0] >= FEWEST_OUTSIDE
            z = known.sign[c] * contrast(self._evidence(here), self._evidence(rest))[0]
            self._known[c, outer] = bool(enough and z >= known.prices.deviate_within(c, outer))
        return self._known[c, outer]

    def _shared(self, c: int, outside: People) -> float:
        """Return which part of a context is not outside some others."""
        return float(1 - np.bitwise_count(self._crowd.members[c] & outside).sum() / max(self._size[c], 1.0))

    # Or its parts ----------------------------------------------------------------------------------------------------

    def _refine(self, chosen: _Chosen, *, base: bool) -> _Chosen:
        """Replace a chosen context by parts of it where these say more."""
        tried: set[int] = set()
        while left := [b for b in chosen.members if b not in tried]:
            b = min(left, key=lambda i: self._candidates.tie[i])
            tried.add(b)
            inside = np.flatnonzero(self._candidates.prices.within[:, b])
            if not inside.size:
                continue
            replaced = {b, *(c for c in chosen.members if self._candidates.prices.within[c, b])}
            rest = self._without(chosen, replaced)
            # none of the rest is inside a part of b, and what the parts are worth is compared beside the same rest
            parts = self._grow(rest, inside.tolist(), base=base, fixed=rest.members)
            new = [c for c in parts.members if c not in rest.members]
            old = [c for c in chosen.members if c in replaced]
            if not self._are_worth_more(new, b, rest):
                continue
            if self._worth(rest, new, base=base) > self._worth(rest, old, base=base):
                chosen = self._grow(parts, range(len(self._candidates)), base=base)
        return chosen

    def _are_worth_more(self, parts: Sequence[int], whole: int, rest: _Chosen) -> bool:
        """Whether each of some parts shows more than the people of the whole who are in none of them."""
        known = self._candidates
        others = self._crowd.members[whole] & ~np.bitwise_or.reduce(self._crowd.members[list(parts)], axis=0)
        same = (c for c in parts if known.sign[c] == known.sign[whole])
        dearer = (c for c in same if known.prices.cost[c] > known.prices.cost[whole] + SAME_PRICE)
        return all(self._is_worth_more(c, whole, others, rest) for c in dearer)

    def _worth(self, chosen: _Chosen, added: Sequence[int], *, base: bool) -> float:
        """Return what contexts are worth together, one after the other."""
        known, worth = self._candidates, 0.0
        for place, c in enumerate(added):
            z = chosen.terms.of(c).beyond(known.sign[[c]], base=base)
            worth += max(float(self._gains(z, np.array([c]))[0]), 0.0)
            if place + 1 < len(added):
                chosen = self._with(chosen, c)
        return round(worth, 9)

    # Cells -----------------------------------------------------------------------------------------------------------

    def _with(self, chosen: _Chosen, c: int) -> _Chosen:
        """Return the chosen contexts and one more, which cuts in two the cells that it shares people with."""
        inside = chosen.people & self._crowd.members[c]
        touched = inside.any(axis=1)
        at = np.flatnonzero(touched)
        sums = chosen.sums.copy(), [self._crowd.sums(inside[i]) for i in at]
        totals = chosen.totals.copy(), [self._crowd.total(inside[i]) for i in at]
        for place, i in enumerate(at):
            sums[0][i] -= sums[1][place]
            totals[0][i] -= totals[1][place]
        people = np.concatenate((chosen.people & ~self._crowd.members[c], inside[at]))
        keys = (*chosen.keys, *(chosen.keys[i] | {c} for i in at))
        kept = np.asarray(people.any(axis=1))
        kept[0] = True
        all_sums, all_totals = (np.concatenate((a, np.array(b))) for a, b in (sums, totals))
        changed = np.concatenate((at, np.arange(len(chosen.keys), len(keys))))
        terms = self._updated(chosen.terms, len(keys), changed, all_sums, all_totals)
        return _Chosen(
            (*chosen.members, c),
            tuple(key for key, keep in zip(keys, kept.tolist(), strict=True) if keep),
            people[kept],
            all_sums[kept],
            all_totals[kept],
            Terms(*(((a[kept], b[kept])) for a, b in (terms.apart, terms.alone))),
        )

    def _updated(self, terms: Terms, cells: int, changed: IntArray, sums: NDArray[Any], totals: NDArray[Any]) -> Terms:
        """Return the terms of all cells, those of some of them computed anew."""
        if not changed.size:
            return terms
        new = self._terms(sums[changed], totals[changed])

        def joined(before: FloatArray, after: FloatArray) -> FloatArray:
            every = np.zeros((cells, before.shape[1]))
            every[: len(before)] = before
            every[changed] = after
            return every

        pairs = ((terms.apart, new.apart), (terms.alone, new.alone))
        apart, alone = ((joined(b[0], a[0]), joined(b[1], a[1])) for b, a in pairs)
        return Terms(apart, alone)

    def _without(self, chosen: _Chosen, dropped: set[int]) -> _Chosen:
        """Return the chosen contexts but for some: cells that only these told apart become one."""
        merged = merge_cells(chosen.keys, dropped)
        sums, totals = (np.add.reduceat(a[merged.order], merged.starts) for a in (chosen.sums, chosen.totals))
        people = np.bitwise_or.reduceat(chosen.people[merged.order], merged.starts)
        members = tuple(m for m in chosen.members if m not in dropped)
        before = chosen.terms
        first = merged.order[merged.starts]
        kept = Terms(*((a[first], b[first]) for a, b in (before.apart, before.alone)))
        changed = np.flatnonzero(np.diff(np.append(merged.starts, merged.order.size)) > 1)
        terms = self._updated(kept, len(first), changed, sums, totals)
        return _Chosen(members, merged.keys, people, sums, totals, terms)

    def _terms(self, sums: NDArray[Any], totals: NDArray[Any]) -> Terms:
        """Return what candidates show in some cells, given their sums there and those of the cells."""
        rest = totals[:, None] - sums
        shape = sums.shape[:2]
        flat = [cell_by_cell(a.reshape(-1, *a.shape[2:])) for a in (sums, rest)]
        here, there = (self._evidence(a) for a in flat)
        inside, outside = (self._strength.sizes(a, self._target) for a in flat)
        with np.errstate(invalid="ignore", divide="ignore"):
            difference, variance = here.effect - there.effect, here.variance + there.variance
        apart = weigh(difference, variance, (inside >= FEWEST) & (outside >= FEWEST))
        alone = weigh(here.effect, here.variance, inside >= FEWEST)
        return Terms(*((a.reshape(shape), b.reshape(shape)) for a, b in (apart, alone)))

    def _evidence(self, sums: NDArray[Any]) -> Evidence:
        return self._strength.evidence(self._target.wrap(sums))
