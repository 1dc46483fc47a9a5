"""Groups of unequal spread in strata of a few people."""

from __future__ import annotations

import numpy as np
import pytest

from fairtest.statistics.numbers.groups import Groups, Layout
from fairtest.statistics.numbers.oneway import eta_p, sparse_p
from fairtest.statistics.numbers.oneway_contrasts import contrast_p


def sums_of(group, stratum, x, n_groups, n_strata):
    cell = stratum * n_groups + group
    n = np.bincount(cell, minlength=n_groups * n_strata).astype(float)
    mean = np.bincount(cell, x, minlength=n.size) / np.maximum(n, 1)
    away = [np.bincount(cell, (x - mean[cell]) ** p, minlength=n.size) for p in (2, 3, 4)]
    return Groups(*(v.reshape(1, n_strata, n_groups) for v in (n, mean, *away)))


def draw(rng, *, shift=0.0, n=2_000, n_strata=150, spread=3.0):
    group = rng.choice(3, n, p=[0.9, 0.07, 0.03])
    x = rng.standard_exponential(n) - 1
    x = np.where(group > 0, spread, 1.0) * x + shift * (group == 1)
    return sums_of(group, rng.integers(n_strata, size=n), x, 3, n_strata)


def test_unequal_spread_is_no_difference_of_means():
    """Without the contrasts most of these are found."""
    rng = np.random.default_rng(1)
    assert sum(float(eta_p(draw(rng))[0]) < 0.05 for _ in range(60)) <= 8


def test_a_group_that_is_higher_everywhere_is_found():
    rng = np.random.default_rng(2)
    assert sum(float(eta_p(draw(rng, shift=3.0))[0]) < 0.01 for _ in range(10)) >= 8


def test_with_two_groups_it_is_the_paired_score_test():
    rng = np.random.default_rng(3)
    gap = rng.normal(0.2, 1, 60)
    deviation = np.stack([gap / 2, -gap / 2], axis=1)[None]
    one = np.ones_like(deviation)
    p = float(contrast_p(Layout(one, deviation, *[np.zeros_like(one)] * 3))[0])
    t = gap.sum() / np.sqrt((gap**2).sum())  # the variance about 0, as if there were no gap
    draws = rng.choice([-1, 1], (40_000, 60)) @ gap / np.sqrt((gap**2).sum())
    assert p == pytest.approx(np.mean(np.abs(draws) >= abs(t)), abs=0.01)


def test_large_strata_do_not_ask():
    rng = np.random.default_rng(4)
    group = rng.integers(3, size=3_000)
    assert float(sparse_p(sums_of(group, rng.integers(4, size=3_000), rng.normal(size=3_000), 3, 4))[0]) == 0.0
