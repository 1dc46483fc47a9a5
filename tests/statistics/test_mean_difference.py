"""The difference of two means: what it reduces to, what it must never do, and that test and interval agree."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy import stats

from fairtest.statistics.numbers.mean_difference import (
    TwoGroups,
    mean_difference_interval,
    mean_difference_p,
    shape_of_largest,
)


def two_groups(*samples):
    """Return contexts of one stratum from pairs (group, reference) of arrays."""
    return strata(*([pair] for pair in samples))


def strata(*contexts):
    """Return contexts from lists of pairs (group, reference), a pair for each stratum."""
    found = np.zeros((4, len(contexts), len(contexts[0]), 2))
    for i, pairs in enumerate(contexts):
        for e, (group, reference) in enumerate(pairs):
            for g, values in enumerate((reference, group)):
                x = np.asarray(values, dtype=float)
                mean = x.mean() if x.size else 0.0
                s2 = np.sum((x - mean) ** 2)
                found[:, i, e, g] = x.size, mean, s2 if s2 > 1e-13 * np.sum(x**2) else 0.0, np.sum((x - mean) ** 3)
    return TwoGroups(*found)


def mirrored(values):
    """Return numbers without skewness."""
    return np.concatenate((values, 2 * np.mean(values) - values))


@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_without_skewness_it_is_welch(spread):
    """SciPy 1.x: ``stats.ttest_ind(group, reference, equal_var=False)``, as R's ``t.test(group, reference)``."""
    rng = np.random.default_rng(4)
    group, reference = mirrored(spread * rng.normal(0.7, 1, 20)), mirrored(rng.normal(0, 1, 20))
    expected = stats.ttest_ind(group, reference, equal_var=False)
    groups = two_groups((group, reference))
    np.testing.assert_allclose(mean_difference_p(groups), expected.pvalue, rtol=1e-9)
    for alpha in (0.05, 0.0005):
        low, high = mean_difference_interval(groups, alpha)
        np.testing.assert_allclose([low[0], high[0]], expected.confidence_interval(1 - alpha), rtol=1e-7)


def test_sleep_of_student():
    """R: ``t.test(extra ~ group, data = sleep)``: p-value = 0.07939, interval −3.3654832 to 0.2054832."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    groups = two_groups((first, second))
    low, high = mean_difference_interval(groups, 0.05)
    assert mean_difference_p(groups)[0] == pytest.approx(0.07939, abs=5e-6)
    assert (low[0], high[0]) == pytest.approx((-3.3654832, 0.2054832), abs=1e-6)


def test_two_people_among_107_show_no_more_than_the_ways_to_choose_two():
    groups = two_groups(([1.0, 1.0], np.zeros(105)))
    assert 1 / comb(107, 2) <= mean_difference_p(groups)[0] <= 10 / comb(107, 2)
    low, high = mean_difference_interval(groups, 0.05)
    assert 0 < low[0] < 0.5 < high[0]


@pytest.mark.parametrize("others", [np.zeros(106), np.random.default_rng(0).normal(size=106)])
def test_one_person_shows_nothing(others):
    """Whoever has one person of a kind does not know how far such people's numbers spread."""
    groups = two_groups(([9.0], others))
    assert mean_difference_p(groups)[0] == pytest.approx(1.0)
    low, high = mean_difference_interval(groups, 0.05)
    assert low[0] <= 0 < 9 <= high[0]


@pytest.mark.parametrize(("n1", "n0"), [(1, 30), (2, 40), (3, 3), (5, 60)])
def test_no_p_value_below_one_assignment_of_people(n1, n0):
    rng = np.random.default_rng(n1)
    groups = two_groups((1e6 + rng.normal(size=n1), rng.normal(size=n0)))
    assert mean_difference_p(groups)[0] >= (1 - 1e-9) / comb(n1 + n0, n1)


def test_a_rare_group_without_the_rare_output_is_no_finding():
    """Nobody of 60 has what 3 of 100 have; Welch's test says p < 1e-10."""
    rng = np.random.default_rng(1)
    reference = np.where(rng.random(20_000) < 0.03, rng.lognormal(0, 0.5, 20_000), 0.0)
    group = np.zeros(60)
    assert stats.ttest_ind(group, reference, equal_var=False).pvalue < 1e-10
    assert mean_difference_p(two_groups((group, reference)))[0] > 0.1


def test_skewed_numbers_of_unequal_spread_keep_the_level():
    rng = np.random.default_rng(2)
    mean = np.exp(1.125)
    draws = [(3 * (rng.lognormal(0, 1.5, 50) - mean), rng.lognormal(0, 1.5, 200) - mean) for _ in range(1000)]
    p = mean_difference_p(two_groups(*draws))
    welch = [stats.ttest_ind(*pair, equal_var=False).pvalue for pair in draws]
    assert np.mean(np.array(welch) <= 0.005) > 0.05  # what it is about
    assert np.mean(p <= 0.05) <= 0.05
    assert np.mean(p <= 0.005) <= 0.01


def test_power_is_that_of_welch_for_normal_numbers_in_equal_groups():
    rng = np.random.default_rng(3)
    draws = [(rng.normal(0.45, 1, 100), rng.normal(0, 1, 100)) for _ in range(2000)]
    p = mean_difference_p(two_groups(*draws))
    welch = np.array([stats.ttest_ind(*pair, equal_var=False).pvalue for pair in draws])
    for level in (0.05, 0.005, 0.0005):
        assert np.mean(p <= level) > np.mean(welch <= level) - 0.01
    assert (p >= welch * (1 - 1e-9)).all()


SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "log-normal": lambda rng, n: rng.lognormal(0, 1.5, n),
    "counts": lambda rng, n: rng.poisson(0.2, n).astype(float),
    "left-skewed": lambda rng, n: -(rng.exponential(size=n) ** 2),
}


@pytest.mark.parametrize(("shape", "n_strata"), list(product(SHAPES, (1, 4))))
def test_the_interval_excludes_zero_exactly_where_the_test_rejects(shape, n_strata):
    rng = np.random.default_rng(5)
    draw = SHAPES[shape]
    contexts = [
        [
            (
                draw(rng, rng.integers(1, 30)) * rng.choice([0.3, 1, 3]) + rng.choice([0, 1, 2]),
                draw(rng, rng.integers(1, 60)),
            )
            for _ in range(n_strata)
        ]
        for _ in range(150)
    ]
    groups = strata(*contexts)
    p = mean_difference_p(groups)
    known = ~np.isnan(p)
    assert known.sum() > 100
    for alpha in (0.2, 0.05, 0.001):
        low, high = mean_difference_interval(groups, alpha)
        assert (np.isnan(low) == ~known).all()
        sure = known & (np.abs(p - alpha) > 1e-7)
        np.testing.assert_array_equal(((low > 0) | (high < 0))[sure], (p <= alpha)[sure])
        assert (low[known] <= high[known]).all()


def test_units_and_directions():
    rng = np.random.default_rng(6)
    a, b = rng.lognormal(0, 1, 30), rng.lognormal(0, 1, 70) + 0.5
    groups = two_groups((a, b), (100 * a + 7, 100 * b + 7), (b, a), (-a, -b))
    p = mean_difference_p(groups)
    np.testing.assert_allclose(p, p[0], rtol=1e-6)
    low, high = mean_difference_interval(groups, 0.05)
    np.testing.assert_allclose([low[1], high[1]], [100 * low[0], 100 * high[0]], rtol=1e-6)
    for turned in (2, 3):
        np.testing.assert_allclose([low[turned], high[turned]], [-high[0], -low[0]], rtol=1e-6)


def test_moments_of_permutations_are_those_of_all_permutations():
    """All assignments within two strata, one by one."""
    from fairtest.statistics.numbers.mean_difference import _Fit

    pairs = [([1.0, 4.0], [2.0, 9.0, 3.0]), ([5.0], [0.5, 2.0, 11.0])]
    fit = _Fit(strata(pairs), np.zeros(1))
    variance, third, estimate = fit._null(np.array([0.7]), np.array([0]))
    each = []
    for group, reference in pairs:
        values = np.array([*(v - 0.7 for v in group), *reference])
        chosen = [list(c) for c in combinations(range(values.size), len(group))]
        each.append([values[c].mean() - np.delete(values, c).mean() for c in chosen])
    weights = np.array([5, 4]) / 9
    drawn = np.array([weights[0] * a + weights[1] * b for a in each[0] for b in each[1]])
    assert drawn.mean() == pytest.approx(0.0, abs=1e-12)
    assert variance[0] == pytest.approx(np.mean(drawn**2), rel=1e-12)
    assert third[0] == pytest.approx(np.mean(drawn**3), rel=1e-12)
    assert estimate[0] == pytest.approx(weights @ [2.5 - 14 / 3 - 0.7, 5 - 4.5 - 0.7])


def test_strata_with_one_group_do_not_count():
    rng = np.random.default_rng(7)
    pair = rng.normal(1, 1, 12), rng.normal(0, 1, 15)
    alone = strata([pair, (rng.normal(50, 1, 9), []), ([], [3.0])])
    np.testing.assert_allclose(mean_difference_p(alone), mean_difference_p(two_groups(pair)), rtol=1e-12)


def test_what_cannot_be_known_is_undefined():
    groups = two_groups(([], [1.0, 2.0]), ([1.0], [2.0]), ([3.0, 3.0], [3.0, 3.0, 3.0]))
    assert np.isnan(mean_difference_p(groups)).all()
    low, high = mean_difference_interval(groups, 0.05)
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_a_small_context_is_told_what_the_largest_has_seen():
    rng = np.random.default_rng(8)
    everybody = rng.lognormal(0, 1.5, 300), rng.lognormal(0, 1.5, 3000)
    harmless = rng.normal(0.9, 0.5, 20), rng.normal(0, 0.5, 40)
    groups = two_groups(everybody, harmless)
    told = shape_of_largest(groups)
    assert told[0] == 0
    assert told[1] > 5
    assert mean_difference_p(groups)[1] < 1e-6
    assert mean_difference_p(groups, told)[1] > 1e-3
    same_size = two_groups(harmless, everybody[:1] + everybody[:1], harmless)
    assert shape_of_largest(same_size.take(np.array([0, 2]))).tolist() == [0, 0]


@pytest.mark.parametrize(("people", "more"), [(20, 0), (20, 1), (6, 0)])
def test_single_people_in_strata_have_a_spread_of_their_own(people, more):
    """A group of one person a stratum (and ``more`` strata with two) spreads nine times as far as the reference."""
    rng = np.random.default_rng([people, more])
    low = 0
    for _ in range(300):
        pairs = [
            (9 * rng.normal(size=1 + (e < more)), rng.normal(size=int(rng.integers(20, 80)))) for e in range(people)
        ]
        low += mean_difference_p(strata(pairs))[0] < 0.01
    assert low <= 9


def test_a_pair_in_each_stratum_is_known_by_how_far_differences_are_apart():
    """With one person of each group in nearly all strata, it is nearly the paired t-test."""
    rng = np.random.default_rng(5)
    s, o = rng.normal(1.0, 1.0, 40), rng.normal(0.0, 3.0, 40)
    pairs = [([a], [b]) for a, b in zip(s, o, strict=True)] + [([0.6, 1.4], [-0.1, 0.1])]
    found = mean_difference_p(strata(pairs))[0]
    assert found == pytest.approx(stats.ttest_rel(s, o).pvalue, rel=0.5)


def test_single_people_of_the_same_spread_are_still_told_apart():
    rng = np.random.default_rng(6)
    found = 0
    for _ in range(100):
        pairs = [(1.2 + rng.normal(size=1), rng.normal(size=40)) for _ in range(20)]
        found += mean_difference_p(strata(pairs))[0] < 0.01
    assert found >= 90
