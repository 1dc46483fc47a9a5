"""The significant contexts of one question, from which those shown are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.ranking.pricing import Prices
    from fairtest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Candidates:
    """The significant contexts of one question, and what is known of each before choosing.

    Attributes
    ----------
    sign
        The direction of each link; 1 for all where a metric has none.
    sums
        The sums of each context in the test set.
    prices
        What each costs, and must reach.
    evidence
        The deviate of each in the training set; 0 where there is none.
    deviate
        The deviate at which the correction would have rejected each.
    news_bound
        Those whose link is that of the population, so that they are news only if they differ from it.
    apart
        Those that visibly differ from everybody else, or need not.
    required, differs
        Where the link is everybody's: the deviate that each had to reach against everybody else, and those that did.
    news
        Those of them whose link is so much stronger than everybody's that it is worth telling, or the other way round.
    tie
        What breaks ties.
    """

    sign: FloatArray
    sums: NDArray[Any]
    prices: Prices
    evidence: FloatArray
    deviate: FloatArray
    news_bound: BoolArray
    apart: BoolArray
    required: FloatArray
    differs: BoolArray
    news: BoolArray
    tie: Sequence[tuple[int, str]]

    def __len__(self) -> int:
        return len(self.sign)

    def take(self, at: IntArray) -> Candidates:
        """Return some of the candidates."""
        return Candidates(
            self.sign[at],
            self.sums[at],
            self.prices.take(at),
            self.evidence[at],
            self.deviate[at],
            self.news_bound[at],
            self.apart[at],
            self.required[at],
            self.differs[at],
            self.news[at],
            [self.tie[i] for i in at.tolist()],
        )
