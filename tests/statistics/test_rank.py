"""Spearman's correlation from joint counts: reference values, ties, degenerate tables, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from fairtest.statistics.numbers.rank import spearman, spearman_interval, spearman_p

TIED_X = np.array([1, 1, 2, 2, 2, 3, 3, 4, 5, 5, 6, 7])
TIED_Y = np.array([2, 1, 1, 3, 2, 5, 2, 4, 4, 6, 3, 6])

COUNTS = hnp.arrays(
    np.int64,
    st.tuples(st.just(1), st.integers(1, 5), st.integers(1, 5)),
    elements=st.one_of(st.just(0), st.integers(0, 12)),
)


def joint_counts(x, y):
    """Count pairs of value codes, one context."""
    (xs, i), (ys, j) = (np.unique(v, return_inverse=True) for v in (x, y))
    counts = np.zeros((1, len(xs), len(ys)), dtype=int)
    np.add.at(counts[0], (i, j), 1)
    return counts


def columns(counts):
    i, j = np.indices(counts.shape[1:])
    return np.repeat(i.ravel(), counts[0].ravel()), np.repeat(j.ravel(), counts[0].ravel())


def test_untied_reference():
    y = np.array([2.1, 1.9, 3.7, 3.2, 5.5, 4.0, 9.9, 6.1, 14.2, 8.8])
    assert spearman(joint_counts(np.arange(10), y)) == pytest.approx(0.903030303030303, rel=1e-12)


def test_tied_reference():
    """Numbers from tests/reference/closed_form.R."""
    counts = joint_counts(TIED_X, TIED_Y)
    assert spearman(counts) == pytest.approx(0.773789397855, rel=1e-11)
    assert spearman_p(counts) == pytest.approx(0.0219343396272, rel=1e-10)
    for alpha, bounds in (
        (0.05, [0.181065447747, 0.954163910396]),
        (0.0005, [-0.710770866153, 0.994515847981]),
    ):
        np.testing.assert_allclose(np.ravel(spearman_interval(counts, alpha)), bounds, rtol=1e-10)


def test_rare_group_reference():
    """Three of 24 people: numbers from tests/reference/closed_form.R."""
    y = np.array([3, 5, 2, 4, 4, 6, 1, 3, 5, 4, 2, 3, 6, 5, 4, 3, 2, 4, 5, 3, 4, 9, 6, 1])
    counts = joint_counts(np.repeat([0, 1], [21, 3]), y)
    assert spearman(counts) == pytest.approx(0.185006830925, rel=1e-11)
    assert spearman_p(counts) == pytest.approx(0.597975292694, rel=1e-10)
    for alpha, bounds in (
        (0.05, [-0.586593004095, 0.885619427843]),
        (0.0005, [-0.988188147051, 0.999999920611]),
    ):
        np.testing.assert_allclose(np.ravel(spearman_interval(counts, alpha)), bounds, rtol=1e-9)


def test_a_rare_group_of_larger_spread_keeps_the_level():
    """Six of 200 people vary three times as much; with n − 2 degrees of freedom 8 % and 0.8 % are rejected."""
    rng = np.random.default_rng(7)
    x = np.zeros((3000, 200), dtype=int)
    x[:, :6] = 1
    y = binned(rng.normal(size=x.shape) * np.where(x, 3, 1) / 1.2, 32)
    p = spearman_p(batch_counts(x, y, 32))
    assert np.mean(p <= 0.05) < 0.065
    assert np.mean(p <= 0.0005) < 0.002


def test_a_strong_correlation_is_not_held_against_itself():
    """The variance of a strong correlation hangs on few people, and yet nobody doubts that it is there."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(200, 100))
    y = x + 0.3 * rng.lognormal(size=x.shape)
    counts = batch_counts(binned(x, 16), binned((y - 0.5) / np.hypot(1, 0.6), 16), 16)
    assert np.mean(spearman_p(counts) <= 0.0005) == 1


@given(COUNTS)
def test_estimate_as_in_scipy(counts):
    x, y = columns(counts)
    estimate = spearman(counts)[0]
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert np.isnan(estimate)
    else:
        assert estimate == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-10)


@given(COUNTS, st.sampled_from([0.5, 0.05, 0.0005]))
def test_reversing_and_transposing(counts, alpha):
    rho, p = spearman(counts)[0], spearman_p(counts)[0]
    low, high = (v[0] for v in spearman_interval(counts, alpha))
    padded = np.pad(counts, ((0, 0), (1, 0), (0, 2)))
    for other, sign in ((counts[:, ::-1], -1), (counts.swapaxes(1, 2), 1), (padded, 1)):
        expected = [low, high] if sign == 1 else [-high, -low]
        np.testing.assert_allclose(spearman(other), [sign * rho], atol=1e-12)
        np.testing.assert_allclose(spearman_p(other), [p], rtol=1e-6)
        np.testing.assert_allclose(np.ravel(spearman_interval(other, alpha)), expected, atol=1e-9)
    if np.isnan(p):
        assert np.isnan([low, high]).all()
        return
    assert 1e-300 <= p <= 1
    assert -1 <= low <= rho + 1e-12
    assert rho - 1e-12 <= high <= 1
    if abs(p / alpha - 1) > 1e-6:
        assert (p <= alpha) == (low > 0 or high < 0)
    wider_low, wider_high = (v[0] for v in spearman_interval(counts, alpha / 10))
    assert wider_low <= low
    assert wider_high >= high


@pytest.mark.parametrize("sign", [1, -1])
def test_perfect_order(sign):
    counts = np.diag([3, 1, 4, 1, 5])[None, ::sign]
    np.testing.assert_array_equal(spearman(counts), sign)
    np.testing.assert_array_equal(spearman_p(counts), 1e-300)
    np.testing.assert_array_equal(np.ravel(spearman_interval(counts, 0.05)), sign)


def test_nobody_and_too_few():
    counts = np.stack([np.zeros((3, 3), dtype=int), np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0]])])
    np.testing.assert_allclose(spearman(counts), [np.nan, 0.5])
    assert np.isnan(spearman_p(counts)).all()
    assert np.isnan(spearman_interval(counts, 0.05)).all()


def batch_counts(x, y, levels):
    counts = np.zeros((len(x), levels, levels), dtype=int)
    context = np.repeat(np.arange(len(x)), x.shape[1])
    np.add.at(counts, (context, x.ravel(), y.ravel()), 1)
    return counts


def binned(v, levels):
    edges = stats.norm.ppf(np.arange(1, levels) / levels)
    return np.searchsorted(edges, v)


@pytest.mark.parametrize(("strength", "people"), [(0.0, 60), (1.0, 150), (3.0, 400)])
def test_coverage(strength, people):
    rng = np.random.default_rng(people)

    def draw(m, n):
        x, noise = rng.normal(size=(2, m, n))
        return binned(x, 8), binned((strength * x + noise) / np.hypot(strength, 1), 8)

    truth = spearman(batch_counts(*draw(1, 2_000_000), 8))[0]
    counts = batch_counts(*draw(2500, people), 8)
    for alpha, least in ((0.05, 0.937), (0.0005, 0.998)):
        low, high = spearman_interval(counts, alpha)
        assert np.mean((low <= truth) & (truth <= high)) > least
