"""Reference values by other routes than the library takes: test_reference_more.R, beside this file, prints them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairtest.data.summaries import Counts, GroupMoments
from fairtest.engine.contract import Rows
from fairtest.inference.monte_carlo import clopper_pearson
from fairtest.inference.multiplicity.corrections import benjamini_hochberg, benjamini_yekutieli, bonferroni, holm
from fairtest.inference.multiplicity.prior import Prior
from fairtest.inference.multiplicity.weighted import pooled, weighted_holm
from fairtest.metrics.batch import Batch
from fairtest.metrics.choice import find_metric
from fairtest.statistics.resampling.bootstrap import bca_from_rows, bca_from_table, draws_for
from fairtest.statistics.resampling.oneway_permutation import OneWaySampler
from fairtest.statistics.resampling.permutation import CorrelationSampler, GSampler
from fairtest.statistics.tables.random_tables import g_null_moments

Y = np.array(
    [1.2, 3.4, 2.2, 5.9, 4.1, 2.8, 3.9, 1.7, 3.5, 6.0, 2.6, 7.2, 4.1, 4.8, 6.3, 3.0, 4.2, 11.6, 5.7, 6.5, 9.8, 2.6,
     7.9, 5.3, 2.1, 4.4, 1.2, 3.9, 5.1, 4.8, 0.9, 2.7, 4.0, 3.5, 7.1, 2.7, 9.6, 6.3, 5.8, 4.5, 3.7, 8.1, 5.2, 4.0,
     11.3, 2.1, 6.4, 7.8]
)  # fmt: skip
GROUP, STRATUM = np.tile(np.repeat([0, 1, 2], 8), 2), np.repeat([0, 1], 24)
RANK_X = np.array([1, 1, 2, 2, 3, 4, 5, 5, 6, 7, 1, 2, 2, 3, 3, 4, 4, 6, 7, 7])
RANK_Y = np.array([2, 1, 1, 3, 2, 5, 4, 4, 6, 3, 1, 1, 3, 2, 4, 2, 5, 4, 7, 6])
INFARCTION = np.array(
    [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1.0]
)
ADJUSTED = {
    bonferroni: [0.0015, 0.006, 0.0285, 0.1425, 0.3015, 0.417, 0.447, 0.516, 0.6885, 1, 1, 1, 1, 1, 1],
    holm: [0.0015, 0.0056, 0.0247, 0.114, 0.2211, 0.278, 0.278, 0.278, 0.3213, 1, 1, 1, 1, 1, 1],
    benjamini_hochberg: [
        0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.0638571428571, 0.0638571428571, 0.0645, 0.0765, 0.486,
        0.581181818182, 0.714875, 0.753230769231, 0.813214285714, 1,
    ],
    benjamini_yekutieli: [
        0.00497734348984, 0.00995468697969, 0.0315231754357, 0.118211907884, 0.200089208292, 0.211892622853,
        0.211892622853, 0.214025770063, 0.253844517982, 1, 1, 1, 1, 1, 1,
    ],
}  # fmt: skip


def batch_of(metric, summary, *people):
    return Batch(find_metric(metric), summary, lambda places: iter(people), seed=0)


def group_moments(strata):
    sums = np.zeros((1, strata, 3, 5))
    for power in range(5):
        np.add.at(sums[0, :, :, power], (STRATUM[: 24 * strata], GROUP[: 24 * strata]), Y[: 24 * strata] ** power)
    return GroupMoments(sums)


@pytest.mark.parametrize(
    ("strata", "effect", "p", "low", "high"),
    [
        (1, 0.343896491411, 0.0200803694925, 0.0162006786351, 0.96629673233),
        (2, 0.295748275513, 0.00786843725279, 0.0354005053696, 0.624551113918),
    ],
)
def test_eta_alone_and_within_strata(strata, effect, p, low, high):
    batch = batch_of("ETA", group_moments(strata), Rows(GROUP, Y, STRATUM, {}))
    procedure = batch.metric.procedure_for(strata=strata)
    found, _ = procedure.p_values(batch, 0.05)
    assert batch.effect == pytest.approx(effect, rel=1e-11)
    assert found == pytest.approx(p, rel=1e-10)
    assert np.ravel(procedure.interval(batch, found, 0.05)) == pytest.approx([low, high], rel=1e-7)
    np.testing.assert_array_equal(np.ravel(procedure.interval(batch, found, 0.0005)), [0, 1])


@pytest.mark.parametrize(
    ("alpha", "bounds"),
    [(0.05, [0.419599184366, 0.928096903715]), (0.0005, [-0.168591854883, 0.978537675713])],
)
def test_rank_within_strata(alpha, bounds):
    counts = np.zeros((1, 2, 8, 8), dtype=np.int64)
    np.add.at(counts[0], (np.repeat([0, 1], 10), RANK_Y, RANK_X), 1)
    batch = batch_of("RANK", Counts(counts), Rows(RANK_X, RANK_Y, np.repeat([0, 1], 10), {}))
    procedure = batch.metric.procedure_for(strata=2)
    p, _ = procedure.p_values(batch, 0.05)
    assert batch.effect == pytest.approx(0.780185758514, rel=1e-11)
    assert p == pytest.approx(0.00183300952178, rel=1e-10)
    assert np.ravel(procedure.interval(batch, p, alpha)) == pytest.approx(bounds, rel=1e-10)


@pytest.mark.parametrize("adjust", ADJUSTED, ids=lambda f: f.__name__)
def test_corrections_as_p_adjust_of_r(adjust):
    assert adjust(INFARCTION) == pytest.approx(ADJUSTED[adjust], rel=1e-11)


def test_weighted_corrections_are_closed_tests():
    """R goes through all 31 intersections of five hypotheses; here there is a shortcut."""
    p = np.array([0.001, 0.02, 0.003, 0.4, 0.04])
    prior = Prior(np.array([1.5, 3.0, 0.2, 2.2, -0.4]), np.zeros(5), 0.3)
    holm_ = [0.00914754678418, 0.0313599221939, 0.0313599221939, 0.4, 0.198113883008]
    pooled_ = [0.0227969584979, 0.0250364536425, 0.0789928851693, 0.425265187438, 0.425265187438]
    assert weighted_holm(p, prior) == pytest.approx(holm_, rel=1e-10)
    found = pooled(p, prior)
    assert found == pytest.approx(pooled_, rel=2e-3)  # terms that do not matter are bounded, not added
    assert (found >= np.array(pooled_) * (1 - 1e-9)).all()


def drawn_p(sampler, draws=100_000):
    return sampler.draw(draws, np.random.default_rng(0)) / draws


@pytest.mark.parametrize(
    ("sampler", "exact"),
    [
        (CorrelationSampler([1, 2, 3, 4, 5, 6, 9], [0.3, 1.1, 0.2, 1.9, 1.4, 2.2, 5.0]), 0.137698412698),
        (
            OneWaySampler(
                np.array([0, 0, 1, 2, 1, 0, 1, 2, 0]),
                np.array([1.2, 3.4, 5.9, 8.5, 2.0, 7.7, 4.2, 9.1, 1.5]),
                np.array([0, 0, 0, 0, 0, 1, 1, 1, 1]),
            ),
            0.477777777778,
        ),
        (GSampler(np.array([[2, 1, 0], [1, 2, 1], [0, 0, 2]])), 0.485714285714),
    ],
    ids=["CORR", "ETA within strata", "NMI"],
)
def test_permutation_tests_over_all_permutations(sampler, exact):
    assert drawn_p(sampler) == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 100_000))


def test_conditional_ratio_over_all_tables():
    """All tables with the margins of 9 of 20 against 6 of 30, and 4 of 12 against 5 of 28."""
    batch = batch_of("RATIO", Counts(np.array([[[[24, 11], [6, 9]], [[23, 8], [5, 4]]]])))
    _, drawn = batch.metric.procedure_for(strata=2).p_values(batch, 0.05)
    assert batch.effect == pytest.approx(1.07962962963, rel=1e-11)
    assert drawn_p(drawn.samplers()[0]) == pytest.approx(0.0745140316457, abs=4 * np.sqrt(0.0745 * 0.9255 / 100_000))


def test_permutation_moments_of_g_over_all_tables():
    mean, variance, _ = g_null_moments(np.array([[[2, 1, 0], [1, 2, 1], [0, 0, 2]]]), 200_000, np.random.default_rng(0))
    assert mean == pytest.approx(5.94364486651, abs=4 * np.sqrt(8.88 / 200_000))
    assert variance == pytest.approx(8.87714528534, rel=0.02)


def test_bca_of_a_difference_as_the_package_boot():
    def difference(counts):
        rate = counts[..., 0, 1, :] / counts[..., 0, :, :].sum(axis=-2)
        return rate[..., 1] - rate[..., 0]

    table = np.array([[[80, 40], [40, 60]]])
    bounds = bca_from_table(table, difference, 0.05, 40_000, np.random.default_rng(0))
    assert bounds == pytest.approx((0.132987621278, 0.390952462926), abs=0.003)


def test_bca_of_a_skewed_mean_as_the_package_boot():
    column = np.exp(stats.norm.ppf((np.arange(60) + 0.5) / 60))
    draws = draws_for(0.05)
    bounds = bca_from_rows(column, column, None, lambda s, o, e: s.mean(), 0.05, draws, np.random.default_rng(0))
    assert bounds == pytest.approx((1.25794487232, 2.24291214478), abs=0.05)


def test_exact_interval_of_a_probability_as_binom_test():
    low, high = clopper_pearson(np.array([5, 9350]), np.array([10, 10_000]), np.array([0.05, 0.001]))
    assert low == pytest.approx([0.187086028447, 0.926505616671], rel=1e-9)
    assert high == pytest.approx([0.812913971553, 0.942831941554], rel=1e-9)
