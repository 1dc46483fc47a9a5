"""Groups of unequal spread in strata of a few people."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from fairtest.statistics.numbers.groups import Groups, Layout
from fairtest.statistics.numbers.oneway import eta_p
from fairtest.statistics.numbers.oneway_contrasts import _covariance, contrast_chi_square


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
    chi_square = float(contrast_chi_square(Layout(one, deviation, *[np.zeros_like(one)] * 3))[0])
    p = float(special.chdtrc(1, chi_square))
    t = gap.sum() / np.sqrt((gap**2).sum())  # the variance about 0, as if there were no gap
    draws = rng.choice([-1, 1], (40_000, 60)) @ gap / np.sqrt((gap**2).sum())
    assert p == pytest.approx(np.mean(np.abs(draws) >= abs(t)), abs=0.01)


def test_large_strata_do_not_ask():
    rng = np.random.default_rng(4)
    group = rng.integers(3, size=3_000)
    groups = sums_of(group, rng.integers(4, size=3_000), rng.normal(size=3_000), 3, 4)
    assert np.isinf(contrast_chi_square(Layout.from_groups(groups))).all()


def test_the_covariance_of_the_sums_is_right_on_average():
    """Of groups with spreads of 1, 3 and 9, in strata of two to six people."""
    rng = np.random.default_rng(5)
    strata = np.repeat(np.arange(40), rng.integers(2, 7, 40))
    group = rng.integers(3, size=strata.size)
    spread = np.array([1.0, 3.0, 9.0])[group]
    layouts = [
        Layout.from_groups(sums_of(group, strata, spread * rng.standard_normal(strata.size), 3, 40)) for _ in range(600)
    ]
    sums = np.stack([(layout.n * layout.deviation).sum(axis=1)[0] for layout in layouts])
    estimated = np.mean([_covariance(layout)[0] for layout in layouts], axis=0)
    found = np.diag(estimated) / sums.var(axis=0)
    assert (found > 0.9).all()
    assert (found < 1.5).all()  # what is never below 0 is a little too large on average


@pytest.mark.parametrize(
    ("shares", "n", "n_strata"),
    [
        ((0.9, *(0.005,) * 20), 300, 150),  # groups of one or two people
        ((0.28, *(0.04,) * 18), 300, 30),  # more groups than half the strata
        ((0.52, *(0.02,) * 24), 1_000, 20),
        ((0.9, *(0.005,) * 20), 300, 1),
        ((0.6, 0.393, 0.007), 300, 1),
    ],
)
def test_small_groups_of_larger_spread_are_no_difference_of_means(shares, n, n_strata):
    """Each of these was found in two thirds of all data sets and more."""
    rng = np.random.default_rng(6)
    found = 0
    for _ in range(60):
        group = rng.choice(len(shares), n, p=np.array(shares) / sum(shares))
        x = np.resize([1.0, 9.0], len(shares))[::-1][group] * rng.standard_normal(n)
        found += float(eta_p(sums_of(group, rng.integers(n_strata, size=n), x, len(shares), n_strata))[0]) < 0.05
    assert found <= 8


def test_names_of_groups_do_not_matter():
    rng = np.random.default_rng(7)
    group = np.repeat(np.arange(6), [2, 2, 5, 5, 30, 60])
    x = rng.standard_exponential(group.size)
    strata = rng.integers(8, size=group.size)
    p = eta_p(sums_of(group, strata, x, 6, 8))
    for _ in range(5):
        assert eta_p(sums_of(rng.permutation(6)[group], strata, x, 6, 8)) == pytest.approx(p, rel=1e-9)
