"""What a context must show before it is named beside others: the price of its predicates, and the level that buys.

A context is a sentence made of predicates. The more predicates it could have been made of, the more easily some context
looks stronger than its surroundings by luck; so each predicate has a price, and levels fall with it fast enough that
those of all comparisons anybody could make add up to less than the level of the test set.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fairtest.model.context import Context, Predicate
    from fairtest.types import BoolArray, FloatArray, IntArray


EVERYBODY_SHARE = 0.5
"""The part of the level of all comparisons that is for those with everybody; the others are with a larger context."""


@dataclass(frozen=True, eq=False)
class Prices:
    r"""Prices and levels of the contexts that may be shown, from the predicates of all that were proposed.

    With K columns among the proposals and :math:`I_j` different predicates of column j, a context costs
    :math:`\sum \ln(K I_j)` over its predicates, and is compared with a larger one at the level

    .. math:: a(c) = (1 - s)\, \frac{α}{2}\; \frac{e^{-\mathrm{cost}(c)}\, 3^{-|c|}}{e - e^{1/3}},

    divided, where a threshold of the larger one is another than its own, by how many thresholds there are. Half of the
    rest, s = :data:`EVERYBODY_SHARE` of α, is for comparisons with everybody else by price, at the level

    .. math:: a_0(c) = \frac{s}{2}\, \frac{α}{2}\; \frac{e^{-\mathrm{cost}(c)}}{e - 1},

    and half is left to who knows better which contexts differ from everybody. The levels of all comparisons add up to
    at most α, in both directions: conjunctions of L predicates have :math:`\sum \prod 1/(K I) ≤ 1/L!`, these add up to
    e − 1; each predicate of a context is kept, dropped or relaxed in a larger one, but not all of them dropped:
    :math:`\sum (3^L - 1)/3^L/L! = e - e^{1/3}`. So whatever is chosen afterwards, every comparison that passes is right
    with confidence 1 − α.
    """

    contexts: Sequence[Context]
    vocabulary: frozenset[Predicate]
    level: float

    @classmethod
    def among(cls, contexts: Sequence[Context], proposed: Sequence[Context], level: float) -> Prices:
        """Return the prices of contexts that were chosen from all those proposed."""
        every = list(chain.from_iterable(context.predicates for context in proposed))
        known = dict(zip(map(id, every), every, strict=True))  # predicates are shared, and identity is quick to look up
        return cls(contexts, frozenset(known.values()), level)

    def take(self, at: IntArray) -> Prices:
        """Return the prices of some of the contexts."""
        some = Prices([self.contexts[i] for i in at.tolist()], self.vocabulary, self.level)
        if "within" in self.__dict__:  # what is known of all need not be found out again
            some.__dict__["within"] = self.within[np.ix_(at, at)]
        return some

    @cached_property
    def cost(self) -> FloatArray:
        """The price of each context, in nats."""
        alternatives = Counter(p.column for p in self.vocabulary)
        columns = len(alternatives)
        price = {column: np.log(columns * many) for column, many in alternatives.items()}
        return np.array([sum(price[p.column] for p in context.predicates) for context in self.contexts])

    @cached_property
    def levels(self) -> FloatArray:
        """The level at which each context is compared with a larger one that has predicates of its own only."""
        length = np.array([len(context) for context in self.contexts])
        share = (1 - EVERYBODY_SHARE) * self.level / 2
        return np.asarray(share * np.exp(-self.cost) / 3.0**length / (np.e - np.exp(1 / 3)))

    @cached_property
    def deviates(self) -> FloatArray:
        """The normal deviates of these levels."""
        return np.asarray(-ndtri(self.levels))

    @cached_property
    def deviates_from_everybody(self) -> FloatArray:
        """The normal deviates that buy a difference from everybody else."""
        return np.asarray(-ndtri(EVERYBODY_SHARE / 2 * self.level / 2 * np.exp(-self.cost) / (np.e - 1)))

    @cached_property
    def deviates_beyond(self) -> FloatArray:
        """The normal deviates that a context must reach to say something beyond others, where no difference is claimed.

        Those of all contexts together are reached by luck in no more than a part α of the test sets.
        """
        return np.asarray(-ndtri(self.level * np.exp(-self.cost) / (np.e - 1)))

    @property
    def level_by_evidence(self) -> float:
        """The level that is left for comparisons with everybody by the evidence of the training set."""
        return EVERYBODY_SHARE / 2 * self.level

    @cached_property
    def _thresholds(self) -> dict[tuple[str, str], int]:
        return Counter((p.column, p.op) for p in self.vocabulary)

    def deviate_within(self, inner: int, outer: int) -> float:
        """Return the normal deviate that a context must reach against the rest of a larger one that contains it."""
        own = set(self.contexts[inner].predicates)
        relaxed = [p for p in self.contexts[outer].predicates if p not in own]
        many = np.prod([self._thresholds[p.column, p.op] for p in relaxed])
        return float(-ndtri(self.levels[inner] / many))

    @cached_property
    def within(self) -> BoolArray:
        """Which contexts are parts of which by their predicates: ``[inner, outer]``; none is a part of itself."""
        words: dict[Predicate, int] = {}
        known: dict[int, int] = {}  # by identity first: predicates are shared
        for predicate in (p for context in self.contexts for p in context.predicates):
            if id(predicate) not in known:
                known[id(predicate)] = words.setdefault(predicate, len(words))
        implied = [sum(1 << i for q, i in words.items() if p.column == q.column and p.implies(q)) for p in words]
        said = [[known[id(p)] for p in context.predicates] for context in self.contexts]
        spoken = _as_words([_union(1 << i for i in some) for some in said], len(words))
        missed = ~_as_words([_union(implied[i] for i in some) for some in said], len(words))
        inside = np.ones((len(said), len(said)), dtype=bool)
        for place in range(spoken.shape[1]):
            inside &= (missed[:, place, None] & spoken[None, :, place]) == 0
        np.fill_diagonal(inside, False)
        return inside


def _union(sets: Iterable[int]) -> int:
    """Return the union of sets of bits."""
    together = 0
    for each in sets:
        together |= each
    return together


def _as_words(sets: Sequence[int], size: int) -> NDArray[np.uint64]:
    """Return sets of bits as rows of words of 64."""
    words = max(-(-size // 64), 1)
    every = b"".join(each.to_bytes(words * 8, "little") for each in sets)
    return np.frombuffer(every, dtype="<u8").reshape(len(sets), words)


def sizes_in_order(size: IntArray, contexts: Sequence[Context]) -> list[tuple[int, str]]:
    """Return what breaks ties: larger contexts first, then by name."""
    return [(-int(n), str(context)) for n, context in zip(size, contexts, strict=True)]
