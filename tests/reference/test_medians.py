"""Medians and ratios of means against R: ``medians.R`` beside this file prints the numbers."""

import numpy as np
import pytest
from scipy import stats

from fairtest.statistics.numbers.mean_difference import TwoGroups
from fairtest.statistics.numbers.mean_ratio import mean_ratio_interval
from fairtest.statistics.numbers.medians import median_gap_interval, median_interval

FROM_R = {
    0.05: (9.315147, 23.519979, 18.0, 21.500964, -3.87468, -10.23318724512, 4.52542621075),
    0.001: (6.772043, 29.975447, 17.221609, 23.425732, -3.87468, -13.3540594498, 11.0275697271),
}


def points(n):
    """Return the points of R's ppoints, which has another offset for up to ten of them."""
    return (np.arange(1, n + 1) - 0.5) / n


@pytest.mark.parametrize("alpha", FROM_R)
def test_medians(alpha):
    x = np.sort(np.round([*stats.expon.ppf(points(47), scale=20), 55, 55, 55], 6))
    y = np.sort(np.round([*np.exp(stats.norm.ppf(points(120), 3, 0.5)), *[18] * 10], 6))
    first, second = median_interval(x, alpha), median_interval(y, alpha)
    gap = median_gap_interval(float(np.median(x)), first, float(np.median(y)), second)
    assert (*first, *second, np.median(x) - np.median(y), *gap) == pytest.approx(FROM_R[alpha], abs=2e-6)


def test_a_ratio_of_symmetric_means_is_fiellers_with_welchs_t():
    u, w = 50 + 5 * stats.norm.ppf(points(400)), 60 + 9 * stats.norm.ppf(points(300))
    sums = [[(v - v.mean()) ** k for v in (w, u)] for k in (2, 3)]
    groups = TwoGroups(
        np.array([[[300.0, 400.0]]]),
        np.array([[[w.mean(), u.mean()]]]),
        *(np.array([[[part.sum() for part in pair]]]) for pair in sums),
    )
    [interval] = mean_ratio_interval(groups, 0.05)
    # the test is the largest of three p-values, of which Welch's is one
    assert interval == pytest.approx((0.817204800729, 0.849945204181), abs=2e-4)
    assert interval[0] <= 0.817204800729 + 1e-9
    assert interval[1] >= 0.849945204181 - 1e-9
