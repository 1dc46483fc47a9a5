"""The permutation distribution of the variation between groups: exact moments, SciPy's F, level where F* fails."""

from __future__ import annotations

from itertools import permutations
from math import comb

import numpy as np
import pytest
from scipy import stats

from fairtest.statistics.numbers.groups import Groups, Layout
from fairtest.statistics.numbers.oneway import brown_forsythe_p, eta_interval, eta_p
from fairtest.statistics.numbers.oneway_null import PermutedSums, between_moments, permutation_p, smallest_p
from fairtest.statistics.numerics.rules import widen_to_zero


def groups_of(y, group, n_groups, stratum=None, n_strata=1):
    """Sum up contexts [m, people] whose groups and strata are the same in all."""
    cell = group if stratum is None else stratum * n_groups + group
    inside = cell == np.arange(n_strata * n_groups)[:, None]
    n = np.tile(inside.sum(axis=1), (len(y), 1))
    mean = y @ inside.T / np.maximum(n, 1)
    deviation = y - mean[:, cell]
    sums = [(deviation**p) @ inside.T for p in (2, 3, 4)]
    shape = (len(y), n_strata, n_groups) if n_strata > 1 else (len(y), n_groups)
    return Groups(*(v.reshape(shape) for v in (n, mean, *sums)))


def sizes_to_codes(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


@pytest.fixture(scope="module")
def dealt():
    """All ways to deal seven numbers to groups of three, two and two."""
    y = np.array([1.2, 3.4, 0.0, 10.0, -2.0, 0.5, 4.0])
    return y[np.array(list(permutations(range(7))))], sizes_to_codes([3, 2, 2])


class TestMoments:
    def test_of_the_sums_of_groups(self, dealt):
        y, group = dealt
        sums = PermutedSums.from_layout(Layout.from_groups(groups_of(y, group, 3)))
        z = sums.deviate[:, 0]
        np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose((z**2).mean(axis=0), 1)
        np.testing.assert_allclose((z**3).mean(axis=0), sums.skewness[0, 0])
        np.testing.assert_allclose((z**4).mean(axis=0), sums.kurtosis[0, 0])

    def test_of_the_variation_between_groups(self, dealt):
        y, group = dealt
        layout = Layout.from_groups(groups_of(y, group, 3))
        mean, variance = between_moments(layout)
        assert layout.between.mean() == pytest.approx(mean[0, 0])
        assert layout.between.var() == pytest.approx(variance[0, 0])

    def test_one_person_in_every_group_cannot_vary(self):
        _, variance = between_moments(Layout.from_groups(groups_of(np.array([[1.0, 5.0]]), np.array([0, 1]), 2)))
        assert variance == 0


class TestAgreement:
    def test_with_the_f_test_of_normal_numbers(self):
        rng = np.random.default_rng(1)
        group = sizes_to_codes([60, 50, 40])
        y = rng.normal(size=(200, 150)) + 0.4 * group
        expected = stats.f_oneway(*(y[:, group == g] for g in range(3)), axis=1).pvalue
        p = permutation_p(Layout.from_groups(groups_of(y, group, 3)))
        np.testing.assert_allclose(np.log(p), np.log(expected), atol=0.03, rtol=0.01)

    def test_with_all_permutations(self, dealt):
        """Of seven people the tail is coarse; it must be of the right order and never far below."""
        y, group = dealt
        layout = Layout.from_groups(groups_of(y, group, 3))
        between = layout.between[:, 0]
        exact = np.mean(between >= between[:, None][::500] - 1e-9, axis=1)
        p = permutation_p(layout)[::500]
        assert (p > exact / 3).all()

    def test_nothing_is_clearer_than_the_ways_to_make_the_groups(self):
        y = np.zeros((1, 107))
        y[0, -2:] = 10.0
        two = groups_of(y, sizes_to_codes([105, 2]), 2)
        assert smallest_p(Layout.from_groups(two)) == pytest.approx(1 / comb(107, 2))
        assert eta_p(two) == pytest.approx(1 / comb(107, 2))
        assert brown_forsythe_p(two) < 1e-100

    def test_one_person_shows_nothing(self):
        y = np.random.default_rng(1).normal(size=(1, 107))
        y[0, -1] = 100.0
        assert eta_p(groups_of(y, sizes_to_codes([106, 1]), 2)) == pytest.approx(1.0)


SHARES = {
    "counts": ([970, 18, 12], lambda rng, shape: rng.poisson(0.03, shape)),
    "amounts": ([970, 20, 10], lambda rng, shape: (rng.random(shape) < 0.03) * np.exp(rng.normal(size=shape))),
    "log-normal": ([980, 15, 5], lambda rng, shape: np.exp(1.5 * rng.normal(size=shape))),
    "two groups": ([990, 10], lambda rng, shape: rng.poisson(0.1, shape)),
}


@pytest.mark.parametrize("kind", SHARES)
def test_level_of_rare_groups(kind):
    """F* alone rejects up to a hundred times too often here."""
    sizes, noise = SHARES[kind]
    rng = np.random.default_rng(3)
    y = noise(rng, (2000, 1000)).astype(float)
    y = y[y.std(axis=1) > 0]
    groups = groups_of(y, sizes_to_codes(sizes), len(sizes))
    p = eta_p(groups)
    assert np.nanmean(p <= 0.05) < 0.06
    assert np.nanmean(p <= 0.001) < 0.004
    low, _ = widen_to_zero(*eta_interval(groups, 0.05), p, 0.05)
    assert (low[p > 0.05] == 0).all()
    if kind != "log-normal":
        assert np.nanmean(brown_forsythe_p(groups) <= 0.001) > 0.02


@pytest.mark.parametrize("sigma", [0.5, 1.5])
def test_level_of_strata_of_two_people(sigma):
    rng = np.random.default_rng(4)
    y = np.exp(sigma * rng.normal(size=(600, 400)))
    group, stratum = rng.integers(0, 3, 400), rng.integers(0, 200, 400)
    p = eta_p(groups_of(y, group, 3, stratum, 200))
    assert np.mean(p <= 0.05) < 0.07
    assert np.mean(p <= 0.001) < 0.008


def test_ordinary_groups_are_tested_as_before():
    """The larger of two p-values is that of F* where groups are even."""
    rng = np.random.default_rng(5)
    group = sizes_to_codes([70, 70, 70])
    groups = groups_of(rng.normal(size=(1000, 210)) + 0.2 * group, group, 3)
    both, alone = eta_p(groups), brown_forsythe_p(groups)
    assert np.mean(both <= 0.01) == pytest.approx(np.mean(alone <= 0.01), abs=0.005)
