"""Three verdicts against a tolerance: a disparity above it, below it, or not enough data to say.

A p-value answers whether there is any disparity, which with enough people there always is. A tolerance asks whether it
is one that matters: the interval lies beyond the tolerance, within it (equivalence), or across it.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from fairtest.model.finding import Outcome, Verdict

if TYPE_CHECKING:
    from fairtest.metrics.registry import Metric
    from fairtest.types import Interval

POWER_DEVIATE = 0.8416212335729143
"""The normal quantile of a chance of 80 %."""


def verdict(metric: Metric, effect: float, interval: Interval, tolerance: float, people: int) -> Verdict:
    """Compare an interval with a tolerance.

    They are compared where effects add up: a ratio on its logarithm, so that a tolerance of 0.2 allows ratios from 0.8
    to 1.25.

    Examples
    --------
    >>> from fairtest.metrics.difference import DIFF
    >>> verdict(DIFF, -0.15, (-0.20, -0.10), 0.05, 1000).outcome
    <Outcome.ABOVE: 'above'>
    >>> verdict(DIFF, 0.01, (-0.02, 0.04), 0.05, 1000).outcome
    <Outcome.BELOW: 'below'>
    >>> verdict(DIFF, 0.06, (0.01, 0.11), 0.05, 1000)
    Verdict(outcome=<Outcome.UNKNOWN: 'not enough data'>, needed=25001)
    """
    low, high, effect, allowed = metric.additive.forth(np.array([*interval, effect, -tolerance])).tolist()
    tolerance = abs(allowed)
    if low > tolerance or high < -tolerance:
        return Verdict(Outcome.ABOVE)
    if -tolerance <= low and high <= tolerance:
        return Verdict(Outcome.BELOW)
    room = abs(abs(effect) - tolerance)
    width = max(high - effect, effect - low)
    if room < 1e-12 or width == float("inf"):
        return Verdict(Outcome.UNKNOWN)
    return Verdict(Outcome.UNKNOWN, ceil(people * (width / room) ** 2 + 1e-6))


def detectable(signed: bool, interval: Interval, single: Interval, z_single: float) -> float:
    """Return how large an effect would have been found with a chance of 80 %.

    The half-width of the simultaneous interval is what an estimate must exceed; the single interval gives its standard
    error. For a metric without sign it is the largest effect that the interval does not rule out.
    """
    if not signed:
        return interval[1]
    return (interval[1] - interval[0]) / 2 + POWER_DEVIATE * (single[1] - single[0]) / 2 / z_single
