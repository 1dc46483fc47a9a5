"""What the report says where a test or an interval is known to be weak, and how to see it in the data.

``docs/calibration.md`` lists the weak cells; the calibration fails if one of them is not warned of. Small samples of a
long-tailed population often look harmless, so the limits are low there, at the price of some false alarms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.statistics.numbers.correlation import CentralSums, correlation, smaller_group

if TYPE_CHECKING:
    from fairtest.statistics.numbers.oneway import Groups
    from fairtest.types import BoolArray, FloatArray, IntArray

Notes = list[tuple[str, ...]]

TAILS = (
    "The numbers are skewed or have long tails: where there is a correlation, its interval may be too narrow. Rank "
    "correlation (RANK) is safer."
)
SKEWED = "The numbers are skewed or have long tails: the interval of η² may be too narrow. Ranks (RANK) are safer."
FEW = "One of the two groups has fewer than ten people here: the interval may be too narrow."
UNEVEN = "A small group may vary more than the others here: the p-value and the interval may be too optimistic."
STRONG = "Few people for a rank correlation this strong: the interval may be too narrow."
SMALL_STRATA = "The strata are small: ranks within them understate the correlation that many people would have."
TINY_STRATA = "Over a fifth of these people are in strata with expected counts below 1: the interval may be too narrow."

TINY_GROUP, SMALL_GROUP = 5, 50
"""The variance of a group of fewer people is unknown; up to so many, a larger one is not made up for."""
UNEQUAL = 3.0
"""How many times larger than elsewhere a variance must be to be called larger."""
FEW_PEOPLE = 10


def spoken(*cautions: tuple[str, BoolArray]) -> Notes:
    """Return, for each hypothesis, the texts whose condition it meets."""
    return [tuple(text for text, at in cautions if at[i]) for i in range(len(cautions[0][1]))]


def long_tails(people: FloatArray | IntArray, skewness: FloatArray, kurtosis: FloatArray) -> BoolArray:
    """Whether the fourth moments of a sample are too large for its size to be trusted.

    Examples
    --------
    >>> long_tails(np.array([50, 200, 10_000]), np.array([0.0, 1.5, 1.5]), np.array([5.0, 4.0, 9.0]))
    array([ True,  True, False])
    """
    limit = np.maximum(people / 200, 1.0) ** 0.25
    with np.errstate(invalid="ignore"):
        return np.asarray((kurtosis > 4.5 * limit) | (np.abs(skewness) > limit))


def correlation_notes(sums: CentralSums, two: tuple[BoolArray, BoolArray]) -> Notes:
    """Warn of long tails and of a small group.

    ``two`` says of each column whether it has two values (in each stratum) and so cannot have tails.
    """
    tails = np.zeros(len(sums.s20), dtype=bool)
    for s, other in ((sums, two[1]), (sums.transposed, two[0])):
        tails |= ~other & long_tails(s.n, *_shape_of_rest(s))
    return spoken((TAILS, tails), (FEW, smaller_group(sums) < FEW_PEOPLE))


def _shape_of_rest(sums: CentralSums) -> tuple[FloatArray, FloatArray]:
    """Return skewness and kurtosis of what is left of the second column given the first."""
    r = correlation(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = np.sqrt(sums.s20 / sums.n), np.sqrt(sums.s02 / sums.n) * np.sqrt(1 - r * r)
        b = r * np.sqrt(sums.s02 / sums.n) / x
        third = sums.s03 - b * (3 * sums.s12 - b * (3 * sums.s21 - b * sums.s30))
        fourth = sums.s04 - b * (4 * sums.s13 - b * (6 * sums.s22 - b * (4 * sums.s31 - b * sums.s40)))
        return third / sums.n / y**3, fourth / sums.n / y**4


def one_way_notes(groups: Groups) -> Notes:
    """Warn of skewed numbers, of long tails, and of small groups that vary more than the others."""
    n, s2 = groups.n.sum(axis=1), groups.s2.sum(axis=1)
    people = n.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = s2.sum(axis=1) / people
        skewness = groups.s3.sum(axis=(1, 2)) / people / variance**1.5
        kurtosis = groups.s4.sum(axis=(1, 2)) / people / variance**2
        degrees = np.maximum(groups.n - 1, 0).sum(axis=1)
        rest = (s2.sum(axis=1, keepdims=True) - s2) / (degrees.sum(axis=1, keepdims=True) - degrees)
        larger = (n < SMALL_GROUP) & (s2 / degrees > UNEQUAL * rest)
    uneven = (n > 0) & ((n < TINY_GROUP) | larger)
    return spoken((SKEWED, long_tails(people, skewness, kurtosis)), (UNEVEN, uneven.any(axis=1)))
