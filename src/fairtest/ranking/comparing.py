"""Comparing contexts on the test set: is the association stronger here than in the rest of a larger context?

The answers only choose among significant contexts which ones to show, so approximations are good enough here: those
that weight hypotheses in training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Condition
    from fairtest.data.summaries import Target
    from fairtest.engine.contract import Engine
    from fairtest.search.scoring import Strength
    from fairtest.types import FloatArray, IntArray

FEWEST = 20
"""With fewer people outside, a context and a larger one are the same people."""
AT_ONCE = 20_000
"""How many pairs are compared in one go."""


class Comparer:
    """Compares contexts of one test set with each other.

    Parameters
    ----------
    contexts
        The positions and conditions of those that may be compared.
    sums
        Their sums, if they are known already.
    """

    def __init__(
        self,
        engine: Engine,
        number: int,
        target: Target,
        strength: Strength,
        contexts: Mapping[int, Sequence[Condition]],
        sums: NDArray[Any] | None = None,
    ) -> None:
        self._engine = engine
        self._number = number
        self._target = target
        self._strength = strength
        self._place = {position: place for place, position in enumerate(contexts)}
        self._sums = engine.tables(number, list(contexts.values()), target) if sums is None else sums
        self._all: NDArray[Any] | None = None

    def stronger(self, inner: IntArray, outer: IntArray) -> FloatArray:
        """Return the p-values of "no stronger than among the other people of the larger context".

        1 where there are hardly any others, NaN where they cannot show an association.
        """
        pieces = [np.zeros(0)]
        for first in range(0, inner.size, AT_ONCE):
            part = slice(first, first + AT_ONCE)
            pieces.append(self._stronger(self._places(inner[part]), self._places(outer[part])))
        return np.concatenate(pieces)

    def _places(self, positions: IntArray) -> IntArray:
        return np.array([self._place[i] for i in positions.tolist()], dtype=int)

    def _stronger(self, inner: IntArray, outer: IntArray) -> FloatArray:
        rest = self._sums[outer] - self._sums[inner]
        here, there = (self._strength.evidence(self._target.wrap(sums)) for sums in (self._sums[inner], rest))
        p = ndtr(-here.beyond(there, self._strength.metric.signed))
        return np.where(self._strength.sizes(rest, self._target) < FEWEST, 1.0, p)

    def shows(self, people: NDArray[np.uint64], sign: float, level: float, *, beyond: bool) -> bool:
        """Whether some people show an association of a direction (0: any) at a level.

        ``beyond`` asks for a stronger one than all others show: where everybody has it, it is no news.
        """
        sums = self._engine.within(self._number, people, self._target)[None]
        here = self._strength.evidence(self._target.wrap(sums))
        if beyond:
            others = self._strength.evidence(self._target.wrap(self._everyone(people) - sums))
            return bool(ndtr(-here.beyond(others, self._strength.metric.signed)[0]) <= level)
        z = float(here.z[0])
        return bool(2 * ndtr(-z * sign if sign else -abs(z)) <= level)

    def _everyone(self, people: NDArray[np.uint64]) -> NDArray[Any]:
        """Return the sums over everybody who is looked at when people are given as bits."""
        if self._all is None:
            self._all = self._engine.within(self._number, np.full_like(people, ~np.uint64(0)), self._target)
        return self._all
