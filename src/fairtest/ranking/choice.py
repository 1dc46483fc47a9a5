"""From what a test set said of one question to what is shown of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri

from fairtest.data.holdout import TRAIN
from fairtest.inference.multiplicity.corrections import benjamini_hochberg
from fairtest.inference.multiplicity.prior import Prior
from fairtest.inference.multiplicity.required import required_by_evidence
from fairtest.metrics.evidence import MOST
from fairtest.ranking.candidates import Candidates
from fairtest.ranking.cells import contrast
from fairtest.ranking.crowd import Crowd
from fairtest.ranking.pricing import Prices, sizes_in_order
from fairtest.ranking.shown import FEWEST_OUTSIDE, Chooser
from fairtest.search.cuts import conditions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.data.summaries import Target
    from fairtest.engine.contract import Engine
    from fairtest.inference.validate import Validated
    from fairtest.model.context import Context
    from fairtest.search.scoring import Strength
    from fairtest.types import BoolArray, FloatArray, IntArray

MOST_CANDIDATES = 2000
"""Of more significant contexts than this, only those that say most for their price are looked at."""
VISIBLE = 0.05
"""The share of false ones among the contexts that visibly differ from everybody else."""
NEARLY_EVERYBODY = 0.8
"""A context with more than this part of the people is no news where the population shows the same."""
NOTABLE = 1.25
"""Beside a link of everybody, a context is news only if its link is this many times as strong."""


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown of one question, as positions among the contexts that were tested.

    Attributes
    ----------
    groups
        The contexts shown, in the order in which they were chosen, those with an unclear interval last; each followed
        by the significant ones that say the same or less and share most people with it.
    inside
        For each context shown, the smallest other one that contains it; None for most.
    confirmed
        For each context shown and each of its predicates, whether the link is surely stronger with it than without.
    everywhere
        Whether the link is that of the whole population, and those shown differ from it.
    outside
        The sums over the people in none of those shown; None where contexts cannot be compared.
    """

    groups: tuple[tuple[int, ...], ...]
    inside: tuple[int | None, ...]
    confirmed: tuple[tuple[bool, ...], ...] = ()
    everywhere: bool = False
    outside: NDArray[Any] | None = None

    @property
    def leading(self) -> list[int]:
        """The contexts shown."""
        return [group[0] for group in self.groups]

    def put_clear_first(self, bound: FloatArray) -> Shown:
        """Return the same, those last whose interval holds no link: their ``bound`` nearest to none is 0.

        Tests are sharper than simultaneous intervals. A group that only the test calls clear is true, and says least.
        """
        order = sorted(range(len(self.groups)), key=lambda i: bool(bound[self.groups[i][0]] <= 0))
        return replace(
            self,
            groups=tuple(self.groups[i] for i in order),
            inside=tuple(self.inside[i] for i in order),
            confirmed=tuple(self.confirmed[i] for i in order) if self.confirmed else (),
        )


class Comparison:
    """The contexts of one question on one test set, compared with each other.

    Parameters
    ----------
    target
        What is counted to compare contexts.
    sums
        The sums of every context, by position, the population (0) included; counted if None.
    training
        Those in the training set; counted if None.
    train_share
        The training set's share of the people of training and test set; 0 where there is no training set.
    """

    def __init__(
        self,
        engine: Engine,
        number: int,
        target: Target,
        strength: Strength,
        validated: Validated,
        significant: BoolArray,
        sums: NDArray[Any] | None = None,
        training: NDArray[Any] | None = None,
        train_share: float = 0.0,
    ) -> None:
        self._engine = engine
        self._number = number
        self._target = target
        self._strength = strength
        self._asked = validated.asked
        estimates = validated.contexts
        at = np.flatnonzero(significant)
        self._at = at[at > 0]
        signed = strength.metric.signed
        self._sign = np.sign(estimates.effect[self._at]) if signed else np.ones(self._at.size)
        self._population_sign = float(np.sign(np.nan_to_num(estimates.effect[0]))) if signed else 1.0
        self._all_sums = sums
        self._train_share = train_share
        if training is not None:
            self._train_sums = training
        if sums is None:
            known = engine.tables(number, [self._asked.conditions[i] for i in (0, *self._at.tolist())], target)
            self._everyone, self._sums = known[0], known[1:]
        else:
            self._everyone, self._sums = sums[0], sums[self._at]

    def choose(self, level: float, deviate: FloatArray, *, confirmed: bool) -> Shown:
        """Return what is shown.

        Parameters
        ----------
        level
            That of all comparisons together: this question's part of the level of the test set.
        deviate
            For every context that was tested, the deviate at which it would have been rejected.
        confirmed
            Whether the population shows a link.
        """
        prices = self._prices(level)
        news_bound = confirmed & (self._sign == self._population_sign)
        size = self._strength.sizes(self._sums, self._target)
        everybody = int(self._strength.sizes(self._everyone[None], self._target)[0])
        apart = ~news_bound
        apart[news_bound] = self._differ_from_everybody()[news_bound]
        kept = ~(news_bound & (size > NEARLY_EVERYBODY * everybody))
        kept &= self._worthwhile(prices)
        places = np.flatnonzero(kept)
        if not places.size:
            return Shown((), ())
        contexts = [self._asked.contexts[i] for i in self._at[places]]
        required = prices.deviates_from_everybody
        if confirmed:
            required = np.minimum(required, self._required_by_evidence(prices.level_by_evidence))
        differs = self._beyond_everybody() >= required
        candidates = Candidates(
            sign=self._sign[places],
            sums=self._sums[places],
            prices=prices.take(places),
            evidence=self._training_deviates()[places],
            deviate=deviate[self._at[places]],
            news_bound=news_bound[places],
            apart=apart[places],
            required=required[places],
            differs=differs[places],
            news=(differs & (~news_bound | self._is_notable()))[places],
            tie=sizes_in_order(size[places], contexts),
        )
        crowd = Crowd(self._engine, self._number, self._target, [self._asked.conditions[i] for i in self._at[places]])
        chooser = Chooser(crowd, self._target, self._strength, candidates)
        choice = chooser.choose(confirmed=confirmed, sign=self._population_sign)
        shown = list(choice.shown)
        return Shown(
            groups=tuple(tuple(self._at[places[i]] for i in group) for group in _fold(crowd, shown, candidates)),
            inside=tuple(self._position(places, _smallest_around(c, shown, candidates)) for c in shown),
            confirmed=tuple(self._confirmed_predicates(places[c], candidates, c) for c in shown),
            everywhere=choice.everywhere,
            outside=self._outside(crowd.take(np.array(shown, dtype=int)), [int(self._at[places[c]]) for c in shown]),
        )

    def _outside(self, crowd: Crowd, shown: Sequence[int]) -> NDArray[Any] | None:
        """Return the sums over the people in none of the contexts shown; None if there are none, or only a sample."""
        if not shown:
            return None
        if not self._has_everybody(crowd):  # fewer contexts may leave room for all people
            conditions = [self._asked.conditions[i] for i in shown]
            crowd = Crowd(self._engine, self._number, self._target, conditions)
            if not self._has_everybody(crowd):
                return None
        others = crowd.everyone & ~np.bitwise_or.reduce(crowd.members, axis=0)
        return np.asarray(crowd.totals(others[None])[0])

    def _has_everybody(self, crowd: Crowd) -> bool:
        here, every = crowd.totals(crowd.everyone[None]), self._everyone[None]
        return bool(np.greater_equal(*(self._strength.sizes(a, self._target)[0] for a in (here, every))))

    def _position(self, places: IntArray, candidate: int | None) -> int | None:
        return None if candidate is None else int(self._at[places[candidate]])

    def _prices(self, level: float) -> Prices:
        return Prices.among([self._asked.contexts[i] for i in self._at], self._asked.contexts, level)

    def _is_notable(self) -> BoolArray:
        """Return whose link is so much stronger than everybody's that it is worth telling."""
        here, everybody = (self._strength.evidence(self._target.wrap(a)) for a in (self._sums, self._everyone[None]))
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(here.effect) >= NOTABLE * np.abs(everybody.effect[0]))

    def _beyond_everybody(self) -> FloatArray:
        """Return by how many deviates each context is stronger than everybody else; −∞ where that is not known."""
        rest = self._everyone - self._sums
        z = self._sign * self._contrast(self._sums, rest)
        enough = self._strength.sizes(rest, self._target) >= FEWEST_OUTSIDE
        return np.asarray(np.where(enough & ~np.isnan(z), z, -np.inf))

    def _differ_from_everybody(self) -> BoolArray:
        """Return which contexts visibly differ from everybody else, few of them by luck."""
        same = self._sign == self._population_sign
        adjusted = np.ones(same.size)
        adjusted[same] = benjamini_hochberg(ndtr(-self._beyond_everybody()[same]))
        return adjusted <= VISIBLE

    def _required_by_evidence(self, level: float) -> FloatArray:
        """Return what each significant context had to reach against everybody else, by the training set's evidence.

        All proposals are compared with everybody else as one family, in the direction that the training set shows, by
        the procedure that tests the contexts themselves: the difference of one that training saw clearly need not be
        as clear as its price would ask for.
        """
        if self._all_sums is None:
            self._all_sums = self._engine.tables(self._number, self._asked.conditions, self._target)
        test = self._differences(self._all_sums)
        train = self._differences(self._train_sums) if self._train_share else np.zeros(test.size)
        evidence = np.minimum(np.abs(np.nan_to_num(train)), MOST)
        direction = np.sign(np.nan_to_num(train)) * np.sign(np.nan_to_num(test))
        p = 2 * ndtr(-np.abs(test))
        required = required_by_evidence(p, Prior(evidence, direction, self._train_share), level)
        return np.asarray(np.maximum(required, -ndtri(level / 2))[self._at])

    def _training_deviates(self) -> FloatArray:
        """Return how clearly the training set shows each significant context; 0 without a training set."""
        if not self._train_share:
            return np.zeros(self._at.size)
        if "_train_sums" in self.__dict__:  # counted already, with those of all others
            sums = self._train_sums[self._at]
        else:
            sums = self._engine.tables(TRAIN, [self._asked.conditions[i] for i in self._at], self._target)
        seen = self._strength.evidence(self._target.wrap(sums))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.minimum(np.abs(np.nan_to_num(seen.effect / np.sqrt(seen.variance), posinf=0.0, neginf=0.0)), MOST)

    @cached_property
    def _train_sums(self) -> NDArray[Any]:
        """The sums of all contexts in the training set."""
        return self._engine.tables(TRAIN, self._asked.conditions, self._target)

    def _differences(self, sums: NDArray[Any]) -> FloatArray:
        """Return the deviates between all contexts and everybody else in a set, NaN where one has too few people."""
        rest = sums[0] - sums
        z = self._contrast(sums, rest)
        enough = np.minimum(*(self._strength.sizes(s, self._target) for s in (sums, rest))) >= FEWEST_OUTSIDE
        return np.where(enough, z, np.nan)

    def _worthwhile(self, prices: Prices) -> BoolArray:
        """Return the contexts that are looked at: all, or if there are very many, the best for their price."""
        if self._at.size <= MOST_CANDIDATES:
            return np.ones(self._at.size, dtype=bool)
        z = np.nan_to_num(self._strength.evidence(self._target.wrap(self._sums)).z)
        order = np.argsort(-np.round(z**2 - 2 * prices.cost, 9), kind="stable")
        kept = np.zeros(self._at.size, dtype=bool)
        kept[order[:MOST_CANDIDATES]] = True
        return kept

    def _contrast(self, sums: NDArray[Any], rest: NDArray[Any]) -> FloatArray:
        return contrast(*(self._strength.evidence(self._target.wrap(s)) for s in (sums, rest)))

    def _confirmed_predicates(self, place: int, candidates: Candidates, c: int) -> tuple[bool, ...]:
        """Return for each predicate of a context whether the link is surely stronger with it than without."""
        context = candidates.prices.contexts[c]
        if len(context) == 1:
            return (bool(candidates.differs[c]),)
        larger = [_without(context, i) for i in range(len(context))]
        sums = self._engine.tables(self._number, conditions_of(larger, self._engine.axis), self._target)
        rest = sums - self._sums[place]
        z = self._sign[place] * self._contrast(np.repeat(self._sums[place][None], len(larger), axis=0), rest)
        enough = self._strength.sizes(rest, self._target) >= FEWEST_OUTSIDE
        return tuple((enough & (np.nan_to_num(z) >= candidates.prices.deviates[c])).tolist())


def _without(context: Context, place: int) -> Context:
    predicates = context.predicates
    return type(context)(predicates[:place] + predicates[place + 1 :])


def _smallest_around(c: int, shown: Sequence[int], candidates: Candidates) -> int | None:
    around = [b for b in shown if candidates.prices.within[c, b]]
    return max(around, key=lambda b: candidates.tie[b], default=None)


def _fold(crowd: Crowd, shown: Sequence[int], candidates: Candidates) -> list[list[int]]:
    """Return the contexts shown, each with the others that share most people with it."""
    groups = {c: [c] for c in shown}
    if shown:
        shared = np.stack([crowd.count_shared(crowd.members[c]) for c in shown])
        for i in sorted(set(range(len(crowd.members))) - set(shown), key=lambda i: candidates.tie[i]):
            if shared[:, i].any():
                groups[shown[int(shared[:, i].argmax())]].append(i)
    return list(groups.values())
