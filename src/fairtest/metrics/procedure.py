"""A procedure: how a metric is tested, and how its intervals come about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from fairtest.statistics.numerics.rules import widen_to_zero
from fairtest.statistics.resampling.samplers import Draws

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.metrics.batch import Batch
    from fairtest.statistics.numerics.rules import Alpha, Bounds
    from fairtest.types import BoolArray, FloatArray

Notes: TypeAlias = list[tuple[str, ...]]
"""For each hypothesis, what is known to be weak about the method there, in words."""


def no_notes(batch: Batch) -> Notes:
    """Return an empty remark for each hypothesis."""
    return [()] * len(batch)


def notes_where(*cautions: tuple[str, BoolArray]) -> Notes:
    """Return, for each hypothesis, the texts whose condition it meets."""
    return [tuple(text for text, at in cautions if at[i]) for i in range(len(cautions[0][1]))]


@dataclass(frozen=True)
class Procedure:
    """How to test a batch of hypotheses, and how to give intervals.

    Attributes
    ----------
    test
        From a batch to raw p-values, NaN where they are undefined or only drawn.
    bounds
        From a batch and a level (or one for each hypothesis) to the bounds of each effect.
    draws
        From a batch, its p-values and the smallest level at which one will be compared to what should be drawn, if a
        decision hangs on it.
    notes
        From a batch to warnings: ``docs/calibration.md`` lists where a method is weak, and the calibration fails if one
        of these cases is not warned of.
    cautious
        Whether the p-values of ``test`` err on the safe side, so that only close calls need draws.
    inverts_test
        Whether ``bounds`` hold 0 just where the test does not reject. Otherwise they are widened to 0 there.
    again
        From a batch, some hypotheses that would be rejected and their p-values to p-values that know the people one by
        one, none of them smaller; None where sums say all there is to say.
    bootstraps
        Whether ``bounds`` take thousands of draws for each hypothesis, so that few of them can have intervals.
    """

    test: Callable[[Batch], FloatArray]
    bounds: Callable[[Batch, Alpha], Bounds]
    draws: Callable[[Batch, FloatArray, float], Draws] | None = None
    notes: Callable[[Batch], Notes] = no_notes
    cautious: bool = True
    inverts_test: bool = False
    bootstraps: bool = False
    again: Callable[[Batch, Sequence[int], FloatArray], FloatArray] | None = None

    def p_values(self, batch: Batch, level: float) -> tuple[FloatArray, Draws]:
        """Return raw p-values, and which of them to draw; ``level`` is the smallest at which one will be compared."""
        p = self.test(batch)
        return p, Draws() if self.draws is None else self.draws(batch, p, level)

    def interval(self, batch: Batch, p: FloatArray, alpha: Alpha) -> Bounds:
        """Return the bounds of each effect at level ``alpha``; ``p`` are the raw p-values."""
        bounds = self.bounds(batch, alpha)
        return bounds if self.inverts_test else widen_to_zero(*bounds, p, alpha)
