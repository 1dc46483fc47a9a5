"""Normalised mutual information: reference values, invariances, coverage; and the noncentral χ² it rests on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from scipy.special import expit

from fairtest.statistics.numerics.rules import widen_to_zero
from fairtest.statistics.tables import information as info
from fairtest.statistics.tables.noncentral import noncentrality_high, noncentrality_low
from fairtest.statistics.tables.null_moments import g_null_moments_2x2

TABLES = np.array([[[30, 20, 10], [15, 25, 40]], [[300, 20, 100], [15, 250, 40]], [[30] * 3] * 2])
STRATA = np.array([[[[12, 9], [8, 21]], [[5, 2], [15, 28]], [[30, 22], [10, 18]]]])

COUNTS = hnp.arrays(
    np.int64,
    st.tuples(st.just(1), st.integers(1, 4), st.integers(1, 4)),
    elements=st.one_of(st.just(0), st.integers(0, 60)),
)


def test_reference():
    np.testing.assert_allclose(info.nmi(TABLES), [0.115374286662401, 0.563500732297, 0], atol=1e-12)
    np.testing.assert_allclose(info.g_test_p(TABLES), [1.61982886367902e-05, 1.816841031333e-121, 1], rtol=1e-10)
    assert info.g_statistic(TABLES)[0] == pytest.approx(22.061209922021, rel=1e-12)
    low, high = info.nmi_interval(TABLES, 0.05)
    np.testing.assert_allclose(low, [0.035188913656, 0.495970015002, 0], rtol=1e-9)
    np.testing.assert_allclose(high, [0.225519675638, 0.633184894553, 0.039305707934], rtol=1e-9)
    low, high = info.nmi_interval(TABLES, 0.0005)
    np.testing.assert_allclose(low, [0.005236286979, 0.441503150785, 0], rtol=1e-9)
    np.testing.assert_allclose(high, [0.342888549908, 0.698088884743, 0.088784536757], rtol=1e-9)


def test_g_as_in_scipy():
    rng = np.random.default_rng(5)
    tables = rng.integers(1, 50, (20, 3, 4))
    for table, g, p in zip(tables, info.g_statistic(tables), info.g_test_p(tables), strict=True):
        expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
        assert g == pytest.approx(expected.statistic, rel=1e-10)
        assert p == pytest.approx(expected.pvalue, rel=1e-8)


def test_sum_of_g_over_strata():
    assert info.g_statistic(STRATA[0]).sum() == pytest.approx(11.3175619084643, rel=1e-12)


def test_conditional_reference():
    """Numbers from tests/reference/closed_form.R."""
    moments = g_null_moments_2x2(STRATA)
    mean, variance, third = moments
    np.testing.assert_allclose(mean[0], [1.03439099041, 1.10672489605, 1.02190104252], rtol=1e-11)
    np.testing.assert_allclose(variance[0], [2.14498185876, 2.57697838835, 2.09055500871], rtol=1e-11)
    np.testing.assert_allclose(third[0], [8.92152733551, 11.6479538239, 8.56254019785], rtol=1e-11)
    assert info.conditional_nmi(STRATA) == pytest.approx(0.0563259878906, rel=1e-11)
    assert info.conditional_nmi_p(STRATA, moments) == pytest.approx(0.0200219183519, rel=1e-10)
    for alpha, low, high in ((0.05, 0.00107610714927, 0.13870509521), (0.0005, 0, 0.243181611128)):
        bounds = np.ravel(info.conditional_nmi_interval(STRATA, alpha, moments))
        np.testing.assert_allclose(bounds, [low, high], rtol=1e-8)


def test_strata_without_information_do_not_count():
    empty, constant = [[0, 0], [0, 0]], [[7, 9], [0, 0]]
    padded = np.concatenate([STRATA, [[empty, constant]]], axis=1)
    moments, padded_moments = g_null_moments_2x2(STRATA), g_null_moments_2x2(padded)
    assert np.isnan(padded_moments[0][0, 3:]).all()
    assert info.conditional_nmi(padded) == info.conditional_nmi(STRATA)
    assert info.conditional_nmi_p(padded, padded_moments) == info.conditional_nmi_p(STRATA, moments)
    nothing = padded[:, 3:]
    assert np.isnan(info.conditional_nmi(nothing)).all()
    assert np.isnan(info.conditional_nmi_p(nothing, g_null_moments_2x2(nothing))).all()
    assert np.isnan(info.conditional_nmi_interval(nothing, 0.05, g_null_moments_2x2(nothing))).all()


def test_tables_that_shuffling_cannot_change():
    """Two people in each stratum, one of each kind: any shuffle gives the same G, so there is no evidence."""
    counts = np.array([[[[1, 0], [0, 1]]] * 3])
    moments = g_null_moments_2x2(counts)
    assert info.conditional_nmi_p(counts, moments) == 1
    np.testing.assert_array_equal(np.ravel(info.conditional_nmi_interval(counts, 0.05, moments)), [0, 1])


def brute_force_moments(table):
    n, row, column = table.sum(), table[0].sum(), table[:, 0].sum()
    cell = np.arange(max(0, row + column - n), min(row, column) + 1)
    weight = stats.hypergeom.pmf(cell, n, row, column)
    four = np.stack([cell, row - cell, column - cell, n - row - column + cell], axis=1)
    g = info.g_statistic(four.reshape(-1, 2, 2))
    mean = weight @ g
    return mean, weight @ (g - mean) ** 2, weight @ (g - mean) ** 3


@pytest.mark.parametrize("people", [4, 20, 300, 5000, 200_000])
def test_null_moments_by_brute_force(people):
    rng = np.random.default_rng(people)
    tables = rng.multinomial(people, rng.dirichlet([0.7] * 4, 4 if people > 10_000 else 25)).reshape(-1, 2, 2)
    tables = tables[~np.isnan(info.nmi(tables))]
    mean, variance, third = g_null_moments_2x2(tables)
    expected = np.array([brute_force_moments(t) for t in tables]).T
    np.testing.assert_allclose(mean, expected[0], rtol=1e-8)
    np.testing.assert_allclose(variance, expected[1], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(third, expected[2], rtol=1e-7, atol=1e-9)


def test_null_moments_of_a_million_people():
    mean, variance, third = g_null_moments_2x2([[200_000, 300_000], [250_000, 250_000]])
    assert mean == pytest.approx(1, abs=1e-5)
    assert variance == pytest.approx(2, abs=1e-4)
    assert third == pytest.approx(8, abs=1e-3)


def test_noncentral_bounds_as_in_scipy():
    rng = np.random.default_rng(8)
    df = rng.choice([1.0, 2.0, 4.0, 9.5, 60.0], 200)
    x, width = rng.uniform(0, 1, 200) ** 2 * (100 + 4 * df), rng.uniform(0.5, 8, 200)
    low, high = noncentrality_low(x, df, width), noncentrality_high(x, df, width)
    tail = stats.norm.sf(width)
    some = low > 0
    np.testing.assert_allclose(stats.ncx2.sf(x[some], df[some], low[some]), tail[some], rtol=1e-7)
    assert (stats.chi2.sf(x, df)[~some] >= tail[~some]).all()
    np.testing.assert_allclose(stats.ncx2.cdf(np.maximum(x, df), df, high), tail, rtol=1e-7)


@pytest.mark.parametrize("df", [1.0, 4.0, 30.0])
def test_noncentral_bounds_of_large_statistics(df):
    """Beyond 100 + 4·df a closed form takes over, without a visible step."""
    around = 100 + 4 * df + np.array([-1e-9, 1e-9])
    for bound in (noncentrality_low, noncentrality_high):
        for width in (1.96, 4.0):
            before, after = bound(around, np.full(2, df), np.full(2, width))
            assert before == pytest.approx(after, rel=0.005)


@given(COUNTS, st.sampled_from([0.2, 0.05, 0.0005]), st.randoms(use_true_random=False))
def test_categories_may_be_permuted_and_transposed(counts, alpha, random):
    rows, columns = (random.sample(range(k), k) for k in counts.shape[1:])
    other = counts[:, rows][:, :, columns].swapaxes(1, 2)
    for function in (info.nmi, info.g_statistic, info.g_test_p, info.smallest_expected):
        np.testing.assert_allclose(function(counts), function(other), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(info.nmi_interval(counts, alpha), info.nmi_interval(other, alpha), rtol=1e-6, atol=1e-8)


@given(COUNTS)
def test_bounds_are_in_order(counts):
    effect, p = info.nmi(counts)[0], info.g_test_p(counts)[0]
    low, high = info.nmi_interval(np.repeat(counts, 3, axis=0), np.array([0.2, 0.05, 0.0005]))
    if np.isnan(effect):
        assert np.isnan(p)
        assert np.isnan([low, high]).all()
        return
    assert 1e-300 <= p <= 1
    assert (low >= 0).all()
    assert (low <= effect).all()
    assert (effect <= high).all()
    assert (high <= 1).all()
    assert (np.diff(low) <= 1e-9).all()
    assert (np.diff(high) >= -1e-9).all()


@given(COUNTS)
def test_empty_rows_and_columns_are_dropped(counts):
    padded = np.pad(counts, ((0, 0), (1, 0), (0, 2)))
    np.testing.assert_allclose(info.nmi(counts), info.nmi(padded), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(info.g_test_p(counts), info.g_test_p(padded), rtol=1e-8)
    np.testing.assert_allclose(info.smallest_expected(counts), info.smallest_expected(padded))


def test_widening_reaches_zero_only_where_the_test_does_not_reject():
    low, high = np.array([0.1, -0.4, 0.1, -0.1, np.nan]), np.array([0.3, -0.2, 0.3, 0.2, np.nan])
    wide = widen_to_zero(low, high, np.array([0.2, 0.2, 0.01, 0.9, np.nan]), 0.05)
    np.testing.assert_array_equal(wide[0], [0, -0.4, 0.1, -0.1, np.nan])
    np.testing.assert_array_equal(wide[1], [0.3, 0, 0.3, 0.2, np.nan])


JOINTS = [
    np.array([[0.4, 0.1, 0.1], [0.1, 0.2, 0.1]]),
    np.outer([0.3, 0.7], [0.2, 0.3, 0.5]),
    np.array([[0.02, 0.28, 0.3], [0.03, 0.12, 0.25]]),
]


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("people", [100, 2000])
def test_coverage(joint, people):
    """Plug-in and percentile bootstrap intervals cover less than .9 in some of these."""
    rng = np.random.default_rng(people)
    counts = rng.multinomial(people, joint.ravel(), 2000).reshape(-1, *joint.shape)
    truth = info.nmi(np.round(joint[None] * 10**6).astype(int))[0]
    for alpha, least in ((0.05, 0.935), (0.0005, 0.998)):
        low, high = info.nmi_interval(counts, alpha)
        assert np.mean((low <= truth + 1e-12) & (truth <= high)) >= least


def test_conditional_level_in_small_strata():
    """Twenty strata of 25 people with a rare group: ΣG against the sum of degrees of freedom is far off."""
    rng = np.random.default_rng(21)
    joint = np.outer([0.3, 0.7], [0.1, 0.9]).ravel()
    counts = rng.multinomial(25, joint, (1500, 20)).reshape(1500, 20, 2, 2)
    moments = g_null_moments_2x2(counts)
    p = info.conditional_nmi_p(counts, moments)
    assert 0.035 < np.mean(p <= 0.05) < 0.068
    g = info.g_statistic(counts.reshape(-1, 2, 2)).reshape(1500, 20)
    naive = stats.chi2.sf(np.nansum(g, axis=1), (~np.isnan(g)).sum(axis=1))
    assert np.mean(naive <= 0.05) > 0.09


def test_conditional_level_where_one_person_counts_for_many_strata():
    """The rarer the output, the rarer the group, in 40 strata of 200: mean and variance alone miss the tail of Q."""
    rng = np.random.default_rng(22)
    people, rare = 200, np.arange(1, 41)
    likely = rng.binomial(people, expit(np.linspace(-6, -1, 40)), (20_000, 40))
    hits = rng.hypergeometric(likely, people - likely, rare)
    others = likely - hits
    counts = np.stack((np.stack((people - rare - others, rare - hits), -1), np.stack((others, hits), -1)), -2)
    moments = g_null_moments_2x2(counts)
    p = info.conditional_nmi_p(counts, moments)
    assert np.mean(p <= 0.05) < 0.058
    assert np.mean(p <= 0.001) < 0.0015
    alone = info.conditional_nmi_p(counts, moments._replace(third=np.zeros_like(moments.third)))
    assert np.mean(alone <= 0.001) > 0.002
