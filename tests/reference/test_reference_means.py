"""MEAN against R's ``t.test``: means.R, beside this file, prints the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairtest.data.summaries import GroupMoments
from fairtest.metrics.batch import Batch
from fairtest.metrics.choice import find_metric

SLEEP = (
    np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]),
    np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]),
)


def places(n):
    """Return what R's ``ppoints`` returns for more than ten."""
    return (np.arange(n) + 0.5) / n


def normal(n):
    return stats.norm.ppf(places(n))


def batch_of(group, reference):
    sums = [[np.sum(x**power) for power in range(5)] for x in (reference, group)]
    return Batch(find_metric("MEAN"), GroupMoments(np.array([[sums]])), lambda places: iter(()), seed=0)


def answers(group, reference):
    """Return the p-value and the bounds at 95 % and 99.95 %."""
    batch = batch_of(group, reference)
    procedure = batch.metric.procedure_for(strata=1)
    p, _ = procedure.p_values(batch, 0.0005)
    return p[0], *(float(bound[0]) for alpha in (0.05, 0.0005) for bound in procedure.interval(batch, p, alpha))


AS_IN_R = {
    "sleep of Student": (SLEEP, (0.0793941401874, -3.36548323071, 0.205483230712, -5.18382736966, 2.02382736966)),
    "normal, equal spread": (
        (normal(40) + 0.6, normal(40)),
        (0.00869111764235, 0.156256545365, 1.04374345464, -0.209718524069, 1.40971852407),
    ),
    "normal, threefold spread": (
        (3 * normal(200) + 0.5, normal(200)),
        (0.0261522043672, 0.0598529903034, 0.940147009697, -0.288409348945, 1.28840934894),
    ),
    "t with 5 degrees": (
        (stats.t.ppf(places(500), 5) - 0.2, stats.t.ppf(places(500), 5)),
        (0.0133353914157, -0.358310458659, -0.041689541341, -0.481732457605, 0.0817324576047),
    ),
    "even": (
        (np.linspace(0, 1, 25), np.linspace(0.1, 1.5, 25)),
        (0.00678386513023, -0.512738206846, -0.0872617931541, -0.697003336469, 0.0970033364691),
    ),
    "60 and 240, normal": (
        (2 * normal(60) + 0.7, normal(240)),
        (0.0104374135139, 0.169823760275, 1.23017623973, -0.272070250849, 1.67207025085),
    ),
}


@pytest.mark.parametrize("case", AS_IN_R)
def test_without_skewness_as_t_test(case):
    """Within 0.05 %: with equal variances the permutation's p-value is larger by a trace."""
    samples, expected = AS_IN_R[case]
    found = answers(*samples)
    assert found == pytest.approx(expected, rel=5e-4)
    assert found[0] >= expected[0] * (1 - 1e-9)


def test_skewed_numbers_are_judged_more_cautiously_than_by_t_test():
    p, low, high, lowest, highest = answers(np.exp(normal(40)) + 0.8, np.exp(normal(160)))
    assert 0.0210356821529 < p < 0.1
    assert low < 0.119729732897 < 1.42012985734 < high
    assert lowest < -0.423434037621 < 1.96329362786 < highest
