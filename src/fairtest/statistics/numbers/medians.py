r"""Medians of groups: an interval for each from its ordered values, and one for the difference of two.

The interval of a median has two of the ordered values as its ends: how many people are below the true median is
binomial with chance ½, whatever the distribution, so that it holds for any numbers, ties included. Two such intervals
give one for the difference by the method of variance estimates recovery (Zou and Donner 2008): with medians m and ends
l, u, the lower end is

.. math:: m_1 − m_2 − \sqrt{(m_1 − l_1)^2 + (u_2 − m_2)^2}.

References
----------
G. Zou, A. Donner (2008), Construction of confidence limits about effect measures: a general approach. Statistics in
Medicine 27, 1693–1702.
"""

from __future__ import annotations

from functools import lru_cache
from math import hypot, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from fairtest.types import FloatArray, Interval


def median_interval(ordered: FloatArray, alpha: float) -> Interval:
    """Return the interval of a median from ordered values; its ends are infinite where people are too few.

    Examples
    --------
    >>> median_interval(np.arange(1.0, 21.0), 0.05)
    (6.0, 15.0)
    >>> median_interval(np.array([1.0, 2.0]), 0.05)
    (-inf, inf)
    """
    n = len(ordered)
    below = _below_the_median(n, alpha)
    if below < 1:
        return -np.inf, np.inf
    return float(ordered[below - 1]), float(ordered[n - below])


@lru_cache(maxsize=4096)
def _below_the_median(n: int, alpha: float) -> int:
    """Return the least number of people below the true median with a chance of at least alpha / 2 up to it."""
    return int(stats.binom.ppf(alpha / 2, n, 0.5))


def median_gap_interval(
    first: float, bounds: Interval, second: float, other: Interval, correlation: float = 0.0
) -> Interval:
    """Return the interval of the difference of two medians from the interval of each.

    Medians of groups that share people may go together. If they do, the difference is surer than it seems here; where
    one tends to be small if the other is large, the interval is widened by that ``correlation``.

    Examples
    --------
    >>> median_gap_interval(10.0, (7.0, 13.0), 4.0, (0.0, 8.0))
    (1.0, 11.0)
    """
    gap = first - second
    against = 2 * min(correlation, 0.0)

    def reach(one: float, another: float) -> float:
        return hypot(one, another) if not against else sqrt(one**2 + another**2 - against * one * another)

    return gap - reach(first - bounds[0], other[1] - second), gap + reach(bounds[1] - first, second - other[0])
