r"""The ratio of two groups' means: the interval that inverts the test of their difference.

A candidate ratio r is tested by comparing the group's numbers with r times those of the reference (Fieller 1954), with
the test of :mod:`fairtest.statistics.numbers.mean_difference`. So the interval of the ratio excludes 1 just where that
of the difference excludes 0.

References
----------
E. Fieller (1954), Some problems in interval estimation. Journal of the Royal Statistical Society B 16, 175–185.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.statistics.numbers.mean_difference import TwoGroups, mean_difference_p
from fairtest.statistics.numerics.roots import increasing_root
from fairtest.statistics.numerics.rules import per_context

if TYPE_CHECKING:
    from fairtest.statistics.numerics.rules import Alpha
    from fairtest.types import FloatArray, IntArray, Interval

_WIDEST = 30.0
"""The furthest logarithm of a ratio that is looked at, beyond which an end is open."""


def mean_ratio_interval(groups: TwoGroups, alpha: Alpha) -> list[Interval]:
    """Return the interval of the ratio of means, group over reference, of each context without strata.

    The means must be positive, and are those of the numbers themselves (no other centre). An end is 0 or infinite where
    the test rejects no ratio on that side.

    Examples
    --------
    >>> sums = ([100.0, 100.0], [50.0, 40.0], [9900.0, 9900.0], [0.0, 0.0])
    >>> [(low, high)] = mean_ratio_interval(TwoGroups(*(np.array([[v]]) for v in sums)), 0.05)
    >>> round(low, 3), round(high, 3)
    (0.751, 0.852)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.log(groups.mean[:, 0, 1] / groups.mean[:, 0, 0])
    low = _end(groups, centre, -1.0, alpha)
    high = _end(groups, centre, 1.0, alpha)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _end(groups: TwoGroups, centre: FloatArray, side: float, alpha: Alpha) -> FloatArray:
    """Return the furthest ratio on one side that is not rejected: where the p-value, as a logarithm, falls to alpha."""
    with np.errstate(divide="ignore"):
        level = np.log(per_context(alpha, len(centre)))

    def rejected(steps: FloatArray, rows: IntArray) -> FloatArray:
        return np.asarray(level[rows] - np.log(_p(groups, centre[rows] + side * steps, rows)))

    furthest = np.full_like(centre, _WIDEST)
    is_open = rejected(furthest, np.arange(len(centre))) < 0
    steps = increasing_root(rejected, np.zeros_like(centre), furthest)
    return np.where(is_open, 0.0 if side < 0 else np.inf, np.exp(centre + side * steps))


def _p(groups: TwoGroups, log_ratio: FloatArray, rows: IntArray) -> FloatArray:
    """Return the p-value of "the group has so many times the mean of the reference" in some contexts."""
    times = np.ones((len(log_ratio), 1, 2))
    times[:, 0, 0] = np.exp(log_ratio)
    some = groups.take(rows)
    scaled = TwoGroups(some.n, some.mean * times, some.s2 * times**2, some.s3 * times**3)
    return np.nan_to_num(mean_difference_p(scaled), nan=1.0)
