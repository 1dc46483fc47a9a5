"""The skewness-corrected score test: reference values, symmetries, agreement of test and interval, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize, stats

from fairtest.statistics.numerics.pearson3 import skewed_deviate, skewed_tail
from fairtest.statistics.rates import score
from fairtest.statistics.rates.score_models import StratifiedTables, restricted_rate

STRATA = [np.array([v]) for v in ([12, 5, 30], [20, 20, 40], [9, 2, 22], [30, 30, 40])]

# counts, α, difference, lower bound, upper bound, p
REFERENCE = [
    ((7, 100, 21, 200), 0.05, -0.035, -0.098851691364589, 0.040802930676307, 0.326815183139847),
    ((300, 1000, 250, 1000), 0.05, 0.05, 0.010865753679547, 0.089060041213215, 0.012307541424462),
    ((2, 10, 30, 990), 0.05, 0.169696969696970, 0.009655141599349, 0.480883929819675, 0.030906699106879),
    ((0, 12, 9, 40), 0.05, -0.225, -0.376622393165582, 0.034275820655584, 0.073533638220894),
    ((10, 10, 0, 20), 0.05, 1.0, 0.715618660465622, 1.0, 5.862053364450067e-07),
    ((0, 30, 0, 500), 0.05, 0.0, -0.007638643109708, 0.113703575621019, 1.0),
    ((7, 100, 21, 200), 0.0005, -0.035, -0.151296491885011, 0.117864510887548, 0.326815183139847),
    ((300, 1000, 250, 1000), 0.0005, 0.05, -0.019584895530695, 0.119372874651518, 0.012307541424462),
    ((2, 10, 30, 990), 0.0005, 0.169696969696970, -0.056994386444624, 0.736861432673185, 0.030906699106879),
    ((0, 12, 9, 40), 0.0005, -0.225, -0.503161758786551, 0.319329017785997, 0.073533638220894),
    ((10, 10, 0, 20), 0.0005, 1.0, 0.407988227077239, 1.0, 5.862053364450067e-07),
    ((0, 30, 0, 500), 0.0005, 0.0, -0.023701726175407, 0.288063136716336, 1.0),
]

# tests/reference/closed_form.R, which maximises the likelihood numerically
RATIO_REFERENCE = [
    ((7, 100, 21, 200), 0.05, 0.274718706153, 1.46677776359),
    ((300, 1000, 250, 1000), 0.05, 1.04025037448, 1.38558147158),
    ((2, 10, 30, 990), 0.05, 1.29909160883, 18.4203029264),
    ((7, 100, 21, 200), 0.0005, 0.104184967737, 2.61076022709),
    ((300, 1000, 250, 1000), 0.0005, 0.931293126937, 1.55172467894),
    ((2, 10, 30, 990), 0.0005, 0.047121953875, 32.2293262197),
]


def one(counts):
    return [np.array([[v]]) for v in counts]


SOME_STRATA = st.integers(1, 4)


@st.composite
def tables(draw, strata=SOME_STRATA):
    """Draw one context: counts of the output in two groups, in one or more strata."""
    columns = []
    for _ in range(draw(strata)):
        n1, n2 = draw(st.integers(1, 40)), draw(st.integers(1, 400))
        columns.append((draw(st.integers(0, n1)), n1, draw(st.integers(0, n2)), n2))
    return [np.array([v]) for v in zip(*columns, strict=True)]


LEVELS = st.sampled_from([0.5, 0.05, 0.01, 0.0005, 1e-6])


@pytest.mark.parametrize(("counts", "alpha", "d", "low", "high", "p"), REFERENCE)
def test_difference_reference(counts, alpha, d, low, high, p):
    x = one(counts)
    assert score.difference(*x) == pytest.approx(d, rel=1e-12)
    assert score.difference_p(*x) == pytest.approx(p, rel=1e-9)
    np.testing.assert_allclose(np.ravel(score.difference_interval(*x, alpha)), [low, high], atol=2e-10)


def test_stratified_reference():
    assert score.difference(*STRATA) == pytest.approx(0.2231481481481481, rel=1e-12)
    assert score.difference_p(*STRATA) == pytest.approx(0.0011632999596648, rel=1e-9)
    np.testing.assert_allclose(np.ravel(score.difference_interval(*STRATA, 0.05)), [0.0891715, 0.3581165], atol=5e-8)
    np.testing.assert_allclose(
        np.ravel(score.difference_interval(*STRATA, 0.0005)), [-0.0164831198, 0.46755], atol=5e-6
    )


@pytest.mark.parametrize(("counts", "alpha", "low", "high"), RATIO_REFERENCE)
def test_ratio_reference(counts, alpha, low, high):
    x = [np.array([v]) for v in counts]
    np.testing.assert_allclose(np.ravel(score.ratio_interval(*x, alpha)), [low, high], rtol=2e-8)
    assert score.ratio_p(*x) == pytest.approx(score.difference_p(*one(counts))[0])


def test_ratio_without_the_output():
    x1, n1, x2, n2 = (np.array(v) for v in ([0, 3, 0], [12, 12, 12], [9, 0, 0], [40, 40, 40]))
    low, high = score.ratio_interval(x1, n1, x2, n2, 0.05)
    np.testing.assert_array_equal(low[[0, 2]], 0)
    np.testing.assert_array_equal(high[1:], np.inf)
    assert 0 < low[1] < np.inf
    assert high[0] == pytest.approx(1.1704490816740498, rel=1e-9)
    np.testing.assert_array_equal(score.ratio(x1, n1, x2, n2), [0, np.inf, np.nan])


def test_absent_groups_are_undefined():
    x = [np.array(v) for v in ([[0, 0], [1, 0]], [[0, 0], [2, 0]], [[3, 1], [3, 1]], [[4, 4], [4, 4]])]
    for values in (
        score.difference(*x),
        score.difference_p(*x),
        *score.difference_interval(*x, 0.05),
    ):
        assert np.isnan(values[0])
        assert np.isfinite(values[1])
    alone = [v[1:, :1] for v in x]
    assert score.difference(*x)[1] == score.difference(*alone)[0]
    assert score.difference_p(*x)[1] == score.difference_p(*alone)[0]
    assert score.difference_interval(*x, 0.05)[1][1] == score.difference_interval(*alone, 0.05)[1][0]
    for values in (score.ratio(*(v[:1, 0] for v in x)), *score.ratio_interval(*(v[:1, 0] for v in x), 0.05)):
        assert np.isnan(values).all()


def test_no_contexts():
    x = [np.zeros((0, 3), dtype=int)] * 4
    assert score.difference_p(*x).shape == (0,)
    assert score.difference_interval(*x, 0.05)[0].shape == (0,)


def test_one_level_per_context():
    x = [np.repeat(v, 2, axis=0) for v in STRATA]
    low, high = score.difference_interval(*x, np.array([0.05, 0.0005]))
    for i, alpha in enumerate((0.05, 0.0005)):
        np.testing.assert_array_equal(np.ravel(score.difference_interval(*STRATA, alpha)), [low[i], high[i]])


def test_restricted_rate_maximises_the_likelihood():
    rng = np.random.default_rng(3)
    for _ in range(60):
        n1, n2 = rng.integers(5, 200, 2)
        x1, x2 = rng.integers(0, n1 + 1), rng.integers(0, n2 + 1)
        delta = rng.uniform(-0.9, 0.9)
        low, high = max(0, delta), min(1, 1 + delta)

        def loss(r, x1=x1, n1=n1, x2=x2, n2=n2, delta=delta):
            q = r - delta
            return -(x1 * np.log(r) + (n1 - x1) * np.log1p(-r) + x2 * np.log(q) + (n2 - x2) * np.log1p(-q))

        best = optimize.minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-10}).x
        ours = restricted_rate(*(np.array(v) for v in (x1 / n1, x2 / n2, n2 / n1, delta)))
        assert ours == pytest.approx(best, abs=2e-5)


def test_rare_outputs_keep_their_digits():
    rate = restricted_rate(*(np.array(v) for v in (3e-7, 1e-7, 1.0, 0.0)))
    assert rate == pytest.approx(2e-7, rel=1e-12)


def test_moments_at_zero_are_those_of_the_permutation_distribution():
    x1, n1, x2, n2 = 4, 15, 20, 40
    hypergeometric = stats.hypergeom(n1 + n2, x1 + x2, n1)
    _, variance, skewness = hypergeometric.stats("mvs")
    batch, _ = StratifiedTables.from_counts(*one((x1, n1, x2, n2)))
    z, gamma = batch.standardise(np.zeros(1))
    assert z == pytest.approx((x1 - hypergeometric.mean()) / np.sqrt(variance), rel=1e-12)
    assert gamma == pytest.approx(skewness, rel=1e-10)


def test_tail_is_continuous_where_the_skewness_vanishes():
    gamma = np.linspace(-3e-4, 3e-4, 4001)
    for z in (-2.0, 0.5, 2.0, 6.0):
        tail = skewed_tail(np.full_like(gamma, z), gamma)
        assert np.abs(np.diff(tail)).max() < 1e-4 * tail[0]
        np.testing.assert_allclose(tail, stats.norm.sf(z), rtol=0.02)


def test_tail_is_pearson_type_three():
    z, gamma = np.meshgrid([0.5, 1.5, 3.0, 6.0], [-2.0, -0.7, -0.01, 0.01, 0.7, 2.0])
    expected = np.maximum(stats.pearson3.sf(z, gamma), stats.norm.sf(z))
    np.testing.assert_allclose(skewed_tail(z, gamma), expected, rtol=1e-7)
    np.testing.assert_allclose(stats.norm.cdf(skewed_deviate(z, gamma)), expected, rtol=1e-7)


def test_overwhelming_evidence_has_the_smallest_p():
    x = one((900_000, 1_000_000, 100_000, 1_000_000))
    assert score.difference_p(*x) == 1e-300
    low, high = score.difference_interval(*x, 1e-9)
    assert 0.79 < low[0] < 0.8 < high[0] < 0.81


@given(tables(), LEVELS)
def test_test_and_interval_agree(x, alpha):
    p = score.difference_p(*x)[0]
    assert 1e-300 <= p <= 1
    assume(abs(p / alpha - 1) > 1e-8)
    low, high = (v[0] for v in score.difference_interval(*x, alpha))
    assert (p <= alpha) == (low > 0 or high < 0)
    assert -1 <= low <= score.difference(*x)[0] <= high <= 1


@given(tables(strata=st.just(1)), LEVELS)
def test_ratio_test_and_interval_agree(x, alpha):
    x = [v[:, 0] for v in x]
    p = score.ratio_p(*x)[0]
    assume(abs(p / alpha - 1) > 1e-8)
    low, high = (v[0] for v in score.ratio_interval(*x, alpha))
    assert (p <= alpha) == (low > 1 or high < 1)
    estimate = score.ratio(*x)[0]
    assert np.isnan(estimate) or low <= estimate * (1 + 1e-12)
    assert np.isnan(estimate) or high >= estimate * (1 - 1e-12)


@given(tables(), LEVELS)
def test_swapping_the_groups_mirrors_everything(x, alpha):
    swapped = [x[2], x[3], x[0], x[1]]
    np.testing.assert_allclose(score.difference(*x), -score.difference(*swapped), atol=1e-15)
    np.testing.assert_allclose(score.difference_p(*x), score.difference_p(*swapped), rtol=1e-12)
    low, high = score.difference_interval(*x, alpha)
    mirrored_low, mirrored_high = score.difference_interval(*swapped, alpha)
    np.testing.assert_allclose([low, high], [-mirrored_high, -mirrored_low], atol=1e-11)
    first = [v[:, 0] for v in x]
    low, high = score.ratio_interval(*first, alpha)
    mirrored_low, _ = score.ratio_interval(*(first[i] for i in (2, 3, 0, 1)), alpha)
    np.testing.assert_allclose(1 / high, mirrored_low, rtol=1e-10)


@given(tables())
def test_more_confidence_is_wider(x):
    x = [np.repeat(v, 5, axis=0) for v in x]
    levels = np.array([0.5, 0.05, 0.01, 0.0005, 1e-6])
    low, high = score.difference_interval(*x, levels)
    assert (np.diff(low) <= 1e-10).all()
    assert (np.diff(high) >= -1e-10).all()
    low, high = score.ratio_interval(*(v[:, 0] for v in x), levels)
    assert (low[1:] <= low[:-1] * (1 + 1e-10)).all()
    assert (high[1:] >= high[:-1] * (1 - 1e-10)).all()


@given(tables(strata=st.integers(2, 4)), st.randoms(use_true_random=False))
def test_the_order_of_strata_does_not_matter(x, random):
    order = list(range(x[0].shape[1]))
    random.shuffle(order)
    shuffled = [v[:, order] for v in x]
    np.testing.assert_allclose(score.difference_p(*x), score.difference_p(*shuffled), rtol=1e-9)
    np.testing.assert_allclose(
        score.difference_interval(*x, 0.01), score.difference_interval(*shuffled, 0.01), atol=1e-9
    )


def every_table(n1, n2):
    x1, x2 = (v.ravel()[:, None] for v in np.meshgrid(np.arange(n1 + 1), np.arange(n2 + 1)))
    return x1, np.full_like(x1, n1), x2, np.full_like(x2, n2)


@pytest.mark.parametrize(("n1", "n2"), [(10, 150), (60, 60)])
def test_exact_coverage_and_level(n1, n2):
    """Coverage by summing over all tables; the normal score interval has .98 at 99.95 % in the first design."""
    x1, _, x2, _ = every_table(n1, n2)
    x = every_table(n1, n2)
    p = score.difference_p(*x)
    for alpha, least, level in ((0.05, 0.94, 0.06), (0.0005, 0.9988, 0.0012)):
        low, high = score.difference_interval(*x, alpha)
        ratio_low, ratio_high = score.ratio_interval(*(v[:, 0] for v in x), alpha)
        for r1, r2 in ((0.05, 0.05), (0.3, 0.05), (0.5, 0.5), (0.1, 0.4), (0.9, 0.8)):
            weight = (stats.binom.pmf(x1, n1, r1) * stats.binom.pmf(x2, n2, r2))[:, 0]
            assert weight @ ((low <= r1 - r2) & (r1 - r2 <= high)) > least
            assert weight @ ((ratio_low <= r1 / r2) & (r1 / r2 <= ratio_high)) > least
            assert r1 != r2 or weight @ (p <= alpha) < level


def test_stratified_coverage_when_effects_differ():
    rng = np.random.default_rng(11)
    n1, n2 = np.array([30, 60, 15, 40]), np.array([200, 100, 150, 40])
    r1, r2 = np.array([0.5, 0.1, 0.7, 0.3]), np.array([0.2, 0.1, 0.8, 0.05])
    reps = 4000
    x = (rng.binomial(n1, r1, (reps, 4)), np.tile(n1, (reps, 1)), rng.binomial(n2, r2, (reps, 4)))
    truth = np.average(r1 - r2, weights=n1 + n2)
    low, high = score.difference_interval(*x, np.tile(n2, (reps, 1)), 0.05)
    assert 0.94 < np.mean((low <= truth) & (truth <= high)) < 0.975


def test_stratified_level():
    """The variance that allows for unequal effects makes the test cautious where outputs are rare, never bold."""
    rng = np.random.default_rng(12)
    for rate, least in ((0.3, 0.035), (0.03, 0.01)):
        n1, n2 = np.full((10_000, 6), 30), np.full((10_000, 6), 150)
        p = score.difference_p(rng.binomial(n1, rate), n1, rng.binomial(n2, rate), n2)
        assert least < np.mean(p <= 0.05) < 0.056
        assert np.mean(p <= 0.0005) < 0.0015
