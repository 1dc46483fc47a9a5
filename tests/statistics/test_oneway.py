"""The correlation ratio: reference values, Welch's test as its special case, degenerate groups, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairtest.statistics.numbers.oneway import Groups, brown_forsythe_p, eta_interval, eta_squared

REFERENCE = ([1.2, 3.4, 2.2, 5.9, 4.1], [2.0, 8.5, 1.1, 9.7, 6.6, 3.3], [7.7, 20.1, 4.2, 15.0])


def groups_of(*groups):
    """Sum up one context given as lists of numbers, one for each group."""

    def sums(power):
        return np.array([[np.sum((np.asarray(g) - np.mean(g)) ** power) if len(g) else 0.0 for g in groups]])

    means = np.array([[np.mean(g) if len(g) else np.nan for g in groups]])
    return Groups(np.array([[len(g) for g in groups]]), means, sums(2), sums(3), sums(4))


def stack(*contexts):
    return Groups(*(np.concatenate([getattr(c, f) for c in contexts]) for f in ("n", "mean", "s2", "s3", "s4")))


def in_groups(y, sizes):
    """Sum up contexts [m, n] whose people stand in the order of their groups."""
    parts = np.split(y, np.cumsum(sizes)[:-1], axis=1)
    mean = np.stack([p.mean(axis=1) for p in parts], axis=1)
    sums = (
        np.stack([((p - p.mean(axis=1, keepdims=True)) ** k).sum(axis=1) for p in parts], axis=1) for k in (2, 3, 4)
    )
    return Groups(np.tile(sizes, (len(y), 1)), mean, *sums)


def test_reference():
    context = groups_of(*REFERENCE)
    assert eta_squared(context) == pytest.approx(0.423460640426951, rel=1e-12)
    assert brown_forsythe_p(context) == pytest.approx(0.11953794741018, rel=1e-10)
    np.testing.assert_array_equal(np.ravel(eta_interval(context, 0.05)), [0, 1])


def test_two_groups_are_tested_as_by_welch():
    a, b = REFERENCE[1:]
    expected = stats.ttest_ind(a, b, equal_var=False).pvalue
    assert brown_forsythe_p(groups_of(a, b)) == pytest.approx(expected, rel=1e-10)


def test_empty_groups_are_ignored():
    padded = groups_of(REFERENCE[0], [], REFERENCE[1], REFERENCE[2], [])
    context = groups_of(*REFERENCE)
    assert eta_squared(padded) == eta_squared(context)
    assert brown_forsythe_p(padded) == pytest.approx(brown_forsythe_p(context)[0], rel=1e-12)


def test_undefined():
    contexts = stack(groups_of([], [], []), groups_of([1.0, 2.0], [], []), groups_of([3.0], [3.0, 3.0], []))
    for values in (eta_squared(contexts), brown_forsythe_p(contexts), *eta_interval(contexts, 0.05)):
        assert np.isnan(values).all()


def test_one_person_in_every_group():
    context = groups_of([1.0], [2.0], [4.0])
    assert eta_squared(context) == 1
    assert np.isnan(brown_forsythe_p(context)).all()
    assert np.isnan(eta_interval(context, 0.05)).all()


def test_groups_without_any_spread():
    context = groups_of([1.0, 1.0], [2.0, 2.0, 2.0])
    assert eta_squared(context) == 1
    assert brown_forsythe_p(context) == 1e-300
    np.testing.assert_array_equal(np.ravel(eta_interval(context, 0.05)), 1)


def test_equal_means():
    context = groups_of([1.0, 3.0], [0.0, 4.0], [2.0, 2.0])
    assert eta_squared(context) == 0
    assert brown_forsythe_p(context) == 1
    low, high = eta_interval(context, 0.05)
    assert low == 0 < high


def test_a_group_of_one_has_the_pooled_variance():
    """Among normal groups of equal spread the test keeps its level with two groups of one person."""
    rng = np.random.default_rng(6)
    p = brown_forsythe_p(in_groups(rng.normal(size=(4000, 52)), [30, 20, 1, 1]))
    assert 0.03 < np.mean(p <= 0.05) < 0.065


def test_one_stratum_is_no_stratum():
    flat = stack(groups_of(*REFERENCE), groups_of([1.0, 2.0], [4.0, 7.0, 9.0], [2.0]))
    nested = Groups(*(getattr(flat, f)[:, None, :] for f in ("n", "mean", "s2", "s3", "s4")))
    np.testing.assert_array_equal(brown_forsythe_p(flat), brown_forsythe_p(nested))
    np.testing.assert_array_equal(eta_interval(flat, 0.2), eta_interval(nested, 0.2))


def test_strata_with_one_group_carry_no_information():
    first, second = groups_of(*REFERENCE), groups_of([5.0, 90.0, 7.0], [], [])
    both = Groups(*(np.stack([getattr(first, f), getattr(second, f)], 1) for f in ("n", "mean", "s2", "s3", "s4")))
    assert eta_squared(both) == eta_squared(first)
    assert brown_forsythe_p(both) == pytest.approx(brown_forsythe_p(first)[0], rel=1e-12)


def test_level_within_strata():
    """Strata with very different means and group shares: no association within any of them."""
    rng = np.random.default_rng(7)
    contexts = [in_groups(rng.normal(e * 10, 1 + e, (3000, 50)), [10, 15 + 5 * e, 25 - 5 * e]) for e in range(4)]
    both = Groups(*(np.stack([getattr(c, f) for c in contexts], 1) for f in ("n", "mean", "s2", "s3", "s4")))
    assert 0.035 < np.mean(brown_forsythe_p(both) <= 0.05) < 0.065


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-100, 100))
def test_units_and_order_do_not_matter(seed, scale, shift):
    rng = np.random.default_rng(seed)
    groups = [rng.gamma(2, size=rng.integers(2, 20)) + rng.integers(0, 3) for _ in range(4)]
    context, other = groups_of(*groups), groups_of(*(g * scale + shift for g in groups[::-1]))
    eta, p = eta_squared(context)[0], brown_forsythe_p(context)[0]
    assert eta_squared(other) == pytest.approx(eta, rel=1e-7)
    assert brown_forsythe_p(other) == pytest.approx(p, rel=1e-6)
    assert 1e-300 <= p <= 1
    np.testing.assert_allclose(eta_interval(context, 0.05), eta_interval(other, 0.05), atol=1e-6)
    low, high = eta_interval(stack(*[context] * 3), np.array([0.2, 0.05, 0.0005]))
    assert (low >= 0).all()
    assert (low <= eta).all()
    assert (eta <= high).all()
    assert (high <= 1).all()
    assert (np.diff(low) <= 1e-9).all()
    assert (np.diff(high) >= -1e-9).all()


def test_level_with_unequal_spread():
    """A small group with threefold spread: the F test rejects three times too often."""
    rng = np.random.default_rng(9)
    sizes = [100, 80, 12]
    y = rng.normal(size=(4000, 192)) * np.repeat([1, 1, 3], sizes)
    assert 0.035 < np.mean(brown_forsythe_p(in_groups(y, sizes)) <= 0.05) < 0.07
    assert np.mean(stats.f_oneway(*np.split(y, np.cumsum(sizes)[:-1], axis=1), axis=1).pvalue <= 0.05) > 0.12


def test_coverage():
    rng = np.random.default_rng(10)
    sizes, spread, mean = np.array([150, 100, 50]), np.array([1.0, 2.0, 1.5]), np.array([0.0, 1.0, 2.0])
    share = sizes / sizes.sum()
    between = share @ (mean - share @ mean) ** 2
    truth = between / (between + share @ spread**2)
    y = rng.normal(size=(3000, 300)) * np.repeat(spread, sizes) + np.repeat(mean, sizes)
    for alpha, least in ((0.05, 0.935), (0.0005, 0.998)):
        low, high = eta_interval(in_groups(y, sizes), alpha)
        assert np.mean((low <= truth) & (truth <= high)) > least
