"""Three verdicts against a tolerance: a disparity above it, below it, or not enough data to say.

A p-value answers whether there is any disparity, which with enough people there always is. A tolerance asks whether it
is one that matters: the interval lies beyond the tolerance, within it (equivalence), or across it.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from fairtest.model.finding import NEEDED_CHANCE, Outcome, Verdict

if TYPE_CHECKING:
    from fairtest.metrics.registry import Metric
    from fairtest.types import Interval

POWER_DEVIATE = 0.8416212335729143
"""The normal quantile of a chance of 80 %."""
USUAL_DEVIATE = 1.959963984540054
"""Half of a normal interval at 95 %, in standard errors."""
MOST_DOUBLINGS = 30
"""A verdict that takes a billion times as many people never comes."""


def verdict(
    metric: Metric,
    effect: float,
    interval: Interval,
    tolerance: float,
    people: int,
    single: Interval | None = None,
    z_single: float = USUAL_DEVIATE,
) -> Verdict:
    """Compare an interval with a tolerance.

    They are compared where effects add up: a ratio on its logarithm, so that a tolerance of 0.2 allows ratios from 0.8
    to 1.25. ``single``, half of which is ``z_single`` standard errors, says how sure the estimate is; without it,
    ``interval`` is taken for one at 95 %.

    Examples
    --------
    >>> from fairtest.metrics.difference import DIFF
    >>> verdict(DIFF, -0.15, (-0.20, -0.10), 0.05, 1000).outcome
    <Outcome.ABOVE: 'above'>
    >>> verdict(DIFF, 0.01, (-0.02, 0.04), 0.05, 1000).outcome
    <Outcome.BELOW: 'below'>
    >>> verdict(DIFF, 0.06, (0.01, 0.11), 0.05, 1000).needed
    51000
    """
    low, high, effect, allowed = metric.additive.forth(np.array([*interval, effect, -tolerance])).tolist()
    tolerance = abs(allowed)
    if low > tolerance or high < -tolerance:
        return Verdict(Outcome.ABOVE)
    if -tolerance <= low and high <= tolerance:
        return Verdict(Outcome.BELOW)
    width = max(high - effect, effect - low)
    low, high = (low, high) if single is None else metric.additive.forth(np.array(single)).tolist()
    error = max(high - effect, effect - low) / z_single
    if not np.isfinite(width + error) or not error > 0:
        return Verdict(Outcome.UNKNOWN)
    return Verdict(Outcome.UNKNOWN, people_needed(effect, error, width / error, tolerance, people))


def people_needed(effect: float, error: float, deviates: float, tolerance: float, people: int) -> int | None:
    """Return with how many people a verdict would come with a chance of 80 %; None where no number would do.

    The true effect is as unsure as the estimate: with N people the next estimate is about normal around this one, its
    variance that of both. A verdict comes if it lies further from the tolerance than its own interval reaches. Two
    digits are all that such a number is good for.
    """

    def chance(times: float) -> float:
        next_error = error / times**0.5
        spread = (error**2 + next_error**2) ** 0.5
        above, below = tolerance + deviates * next_error, tolerance - deviates * next_error
        beyond = ndtr((-above - effect) / spread) + ndtr((effect - above) / spread)
        within = ndtr((below - effect) / spread) - ndtr((-below - effect) / spread)
        return float(beyond + max(within, 0.0))

    low, high = 0.0, 1.0
    while chance(2.0**high) < NEEDED_CHANCE:
        low, high = high, high + 1
        if high > MOST_DOUBLINGS:
            return None
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(2.0**middle) < NEEDED_CHANCE else (low, middle)
    return _round_up(people * 2.0**high)


def _round_up(number: float) -> int:
    """Return a number rounded up to two digits."""
    unit = int(f"1{'0' * max(len(str(int(number))) - 2, 0)}")
    return ceil(number / unit) * unit


def detectable(signed: bool, interval: Interval, single: Interval, z_single: float) -> float:
    """Return how large an effect would have been found with a chance of 80 %.

    The half-width of the simultaneous interval is what an estimate must exceed; the single interval gives its standard
    error. For a metric without sign it is the largest effect that the interval does not rule out.
    """
    if not signed:
        return interval[1]
    return (interval[1] - interval[0]) / 2 + POWER_DEVIATE * (single[1] - single[0]) / 2 / z_single
