"""Pearson's correlation from central sums: reference values, degenerate columns, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairtest.statistics.numbers.correlation import (
    CentralSums,
    _welch_degrees,
    correlation,
    correlation_interval,
    correlation_p,
    smaller_group,
    two_valued,
)
from fairtest.statistics.numbers.fisher_z import t_quantile

X = np.arange(1.0, 11.0)
Y = np.array([2.1, 1.9, 3.7, 3.2, 5.5, 4.0, 9.9, 6.1, 14.2, 8.8])
ORDERS = [(2, 0), (0, 2), (1, 1), (2, 2), (3, 1), (1, 3), (4, 0), (0, 4), (3, 0), (2, 1), (1, 2), (0, 3)]


def central_sums(x, y, strata=None):
    """Sum up columns [m, n], centred within strata."""
    x, y = (np.atleast_2d(np.asarray(v, dtype=float)).copy() for v in (x, y))
    strata = np.zeros(x.shape[1], dtype=int) if strata is None else np.asarray(strata)
    for e in np.unique(strata):
        for v in (x, y):
            v[:, strata == e] -= v[:, strata == e].mean(axis=1, keepdims=True)
    people, count = np.full(len(x), x.shape[1]), np.full(len(x), len(np.unique(strata)))
    return CentralSums(people, count, *((x**i * y**j).sum(axis=1) for i, j in ORDERS))


def test_reference():
    sums = central_sums(X, Y)
    assert correlation(sums) == pytest.approx(0.824468482712621, rel=1e-12)
    assert correlation_p(sums) == pytest.approx(0.0296681886331488, rel=1e-10)
    np.testing.assert_allclose(
        np.ravel(correlation_interval(sums, 0.05)), [0.147396142289681, 0.975393088635574], rtol=1e-10
    )


def test_conditional_reference():
    """Numbers from tests/reference/closed_form.R."""
    sums = central_sums(X, Y, [1] * 6 + [2] * 4)
    assert correlation(sums) == pytest.approx(0.395945880888, rel=1e-11)
    assert correlation_p(sums) == pytest.approx(0.339067040038, rel=1e-10)
    for alpha, bounds in (
        (0.05, [-0.497908947354, 0.881885094455]),
        (0.0005, [-0.968283167257, 0.993983577207]),
    ):
        np.testing.assert_allclose(np.ravel(correlation_interval(sums, alpha)), bounds, rtol=1e-10)


def test_two_groups_reference():
    """Numbers from tests/reference/closed_form.R."""
    y = [3.1, 5.2, 2.4, 4.4, 4.0, 6.1, 1.9, 3.3, 5.5, 4.1, 2.2, 3.0, 6.6, 5.0, 4.7, 3.2, 2.9, 4.6, 5.1, 3.8, 4.2]
    sums = central_sums(np.repeat([0, 1], [21, 3]), [*y, 12.5, 7.0, 3.9])
    assert correlation(sums) == pytest.approx(0.585304630009, rel=1e-11)
    assert correlation_p(sums) == pytest.approx(0.176254280349, rel=1e-9)
    np.testing.assert_allclose(np.ravel(correlation_interval(sums, 0.05)), [-0.615445162137, 0.967943826934], rtol=1e-9)


def test_estimate_as_in_scipy():
    rng = np.random.default_rng(1)
    x, y = rng.gamma(1, size=(2, 5, 40))
    expected = [stats.pearsonr(a, b).statistic for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(correlation(central_sums(x, y)), expected, rtol=1e-10)


def test_t_quantile_as_in_scipy():
    df, alpha = np.meshgrid([2.0, 5.0, 30.0, 1e4, 1e7], [0.5, 0.05, 0.0005, 1e-8, 1e-14])
    np.testing.assert_allclose(t_quantile(alpha, df), stats.t.isf(alpha / 2, df), rtol=1e-8)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("offset", [0, 1e6])
def test_perfect_correlation(sign, offset):
    sums = central_sums(X, sign * 0.3 * X + offset)
    np.testing.assert_array_equal(correlation(sums), sign)
    np.testing.assert_array_equal(correlation_p(sums), 1e-300)
    np.testing.assert_array_equal(np.ravel(correlation_interval(sums, 0.05)), sign)


@pytest.mark.parametrize("noise", [1e-2, 1e-3, 1e-4, 1e-5])
def test_almost_perfect_correlation_keeps_its_evidence(noise):
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    sums = central_sums(x, x + noise * rng.normal(size=200))
    assert correlation_p(sums) < 1e-50
    low, high = correlation_interval(sums, 0.05)
    assert 1 - 2 * noise**2 < low[0] <= correlation(sums)[0] <= high[0] <= 1


@pytest.mark.parametrize("columns", [(X, X * 0), (X * 0, Y), (X[:1], Y[:1])])
def test_constant_columns_are_undefined(columns):
    sums = central_sums(*columns)
    for values in (correlation(sums), correlation_p(sums), *correlation_interval(sums, 0.05)):
        assert np.isnan(values).all()


def test_too_few_people():
    sums = central_sums(X[:3], Y[:3])
    assert np.isfinite(correlation(sums)).all()
    assert np.isnan(correlation_p(sums)).all()
    assert np.isnan(correlation_interval(sums, 0.05)).all()
    assert np.isfinite(correlation_p(central_sums(X[:4], Y[:4]))).all()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(5, 60),
    st.floats(0.01, 100),
    st.floats(-1e3, 1e3),
    st.sampled_from([0.5, 0.05, 0.0005]),
)
def test_units_do_not_matter(seed, n, scale, shift, alpha):
    rng = np.random.default_rng(seed)
    x, y = rng.exponential(size=(2, n))
    y = y + rng.uniform(-1, 1) * x
    sums, other = central_sums(x, y), central_sums(y * scale + shift, -x)
    low, high = (v[0] for v in correlation_interval(sums, alpha))
    p, r = correlation_p(sums)[0], correlation(sums)[0]
    assert 1e-300 <= p <= 1
    assert -1 <= low <= r <= high <= 1
    assert correlation(other) == pytest.approx(-r, abs=1e-9)
    assert correlation_p(other) == pytest.approx(p, rel=1e-6)
    np.testing.assert_allclose(np.ravel(correlation_interval(other, alpha)), [-high, -low], atol=1e-8)
    if abs(p / alpha - 1) > 1e-6:
        assert (p <= alpha) == (low > 0 or high < 0)
    wider_low, wider_high = (v[0] for v in correlation_interval(sums, alpha / 10))
    assert wider_low <= low
    assert wider_high >= high


def test_level_where_the_spread_depends_on_the_other_column():
    """No correlation, but y spreads with |x|: plain Fisher z rejects a quarter of the time."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3000, 200))
    y = np.abs(x) * rng.normal(size=x.shape)
    sums = central_sums(x, y)
    assert 0.03 < np.mean(correlation_p(sums) <= 0.05) < 0.07
    assert np.mean(2 * stats.norm.sf(np.abs(np.arctanh(correlation(sums))) * np.sqrt(197)) <= 0.05) > 0.2


@pytest.mark.parametrize("strata", [1, 8])
def test_coverage_for_skewed_columns(strata):
    rng = np.random.default_rng(strata)
    x, noise = rng.exponential(size=(2, 2000, 240))
    e = np.arange(240) % strata
    sums = central_sums(x + 5 * e, x + noise - 3 * e, e)
    low, high = correlation_interval(sums, 0.05)
    truth = np.sqrt(0.5)
    assert 0.93 < np.mean((low <= truth) & (truth <= high)) < 0.99


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("offset", [0, 1e4])
def test_a_column_of_two_values_makes_two_groups(swapped, offset):
    """Welch's degrees of freedom as in scipy, read off the sums whichever column has two values."""
    rng = np.random.default_rng(5)
    x = np.repeat([0.0, 3.0], [40, 6])
    y = rng.normal(size=46) * np.where(x > 0, 3, 1) + offset
    sums = central_sums(y, x) if swapped else central_sums(x, y)
    assert two_valued(sums.transposed if swapped else sums).all()
    assert smaller_group(sums) == pytest.approx(6)
    welch = stats.ttest_ind(y[x > 0], y[x == 0], equal_var=False)
    assert _welch_degrees(sums) == pytest.approx(welch.df, rel=1e-6)


def test_numbers_make_no_groups():
    sums = central_sums(X, Y)
    assert not two_valued(sums).any()
    assert np.isinf(smaller_group(sums)).all()
    assert _welch_degrees(sums) == pytest.approx(8)


def test_a_small_group_of_larger_spread_is_covered():
    """Three of 100 people vary three times as much; with n − 2 degrees of freedom the interval covers 92 %."""
    rng = np.random.default_rng(6)
    x = np.zeros((4000, 100))
    x[:, :3] = 1
    y = rng.normal(size=x.shape) * np.where(x > 0, 3, 1)
    gap = 0.3 / np.sqrt(0.91) * np.sqrt((0.97 + 0.03 * 9) / (0.03 * 0.97))
    low, high = correlation_interval(central_sums(x, y + gap * x), 0.05)
    assert np.mean((low <= 0.3) & (high >= 0.3)) > 0.95
