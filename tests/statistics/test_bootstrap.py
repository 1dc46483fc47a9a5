"""BCa intervals: coverage, agreement with scipy, and what happens at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairtest.exceptions import InputError
from fairtest.statistics.resampling import bootstrap as module
from fairtest.statistics.resampling.bootstrap import bca_from_rows, bca_from_table, draws_for


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def difference(counts):
    rate = counts[..., 0, :] / counts.sum(axis=-2)
    people = counts.sum(axis=(-1, -2))
    return (people * (rate[..., 0] - rate[..., 1])).sum(axis=-1) / people.sum(axis=-1)


def first_rate(counts):
    return counts[..., 0, 0, :].sum(axis=-1) / counts.sum(axis=(-1, -2, -3))


def mean(s, o, stratum):
    return o.mean()


def sample(generator, people, rates):
    """A stratum ``[output, protected]`` with two groups of ``people``."""
    accepted = generator.binomial(people, rates)
    return np.stack((accepted, people - accepted))


@pytest.mark.parametrize(("people", "rates"), [(100, (0.5, 0.3)), (60, (0.2, 0.2)), (300, (0.1, 0.05))])
def test_covers_a_difference_of_rates(people, rates):
    generator, simulations = rng(1), 400
    covered = 0
    for _ in range(simulations):
        low, high = bca_from_table(sample(generator, people, rates)[None], difference, 0.05, 1000, generator)
        covered += low <= rates[0] - rates[1] <= high
    assert covered / simulations >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / simulations)
    assert covered / simulations < 0.99  # not by being too wide


def test_covers_a_difference_over_strata():
    """Rates differ between strata, the difference does not; pooling the strata would miss it."""
    generator, simulations, covered = rng(2), 300, 0
    for _ in range(simulations):
        counts = np.stack([sample(generator, [60, 20], (0.8, 0.6)), sample(generator, [20, 60], (0.3, 0.1))])
        low, high = bca_from_table(counts, difference, 0.05, 1000, generator)
        covered += low <= 0.2 <= high
    assert covered / simulations >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / simulations)


def test_table_agrees_with_scipy_on_people():
    """12 of 50 accepted: the same people as a column of zeros and ones."""
    low, high = bca_from_table(np.array([[[12], [38]]]), first_rate, 0.05, 40_000, rng(3))
    column = np.repeat([1.0, 0.0], [12, 38])
    expected = stats.bootstrap(
        (column,), np.mean, n_resamples=9_999, method="BCa", rng=rng(4), vectorized=True
    ).confidence_interval
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.021)  # one person is 0.02


def test_rows_agree_with_scipy_on_a_skewed_column():
    column = rng(5).lognormal(size=60)
    low, high = bca_from_rows(column, column, None, mean, 0.1, 4_000, rng(6))
    expected = stats.bootstrap(
        (column,), np.mean, confidence_level=0.9, n_resamples=9_999, method="BCa", rng=rng(7)
    ).confidence_interval
    spread = column.std() / np.sqrt(column.size)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.15 * spread)
    assert high - column.mean() > column.mean() - low  # leans to the long side


def test_acceleration_of_a_mean_is_a_sixth_of_its_skewness():
    counts = np.array([[[12, 3], [38, 20]]])
    change, weight = module._cell_changes(counts, first_rate)
    column = np.repeat([1.0, 0.0], [15, 58])
    expected = stats.skew(column) / (6 * np.sqrt(column.size))
    assert module._acceleration(change, weight) == pytest.approx(expected)


def test_grouped_jackknife_estimates_the_same_acceleration():
    column = rng(8).exponential(size=4_000)
    order = np.arange(4_000)
    change = module._group_changes(order, slice(0, 4_000), lambda people: column[people].mean(), rng(9))
    assert change.size <= module.MOST_JACKKNIFED
    expected = stats.skew(column) / (6 * np.sqrt(column.size))
    assert module._acceleration(change, np.ones_like(change)) == pytest.approx(expected, abs=0.003)


def test_rows_and_tables_agree_within_strata():
    counts = np.array([[[30, 12], [10, 28]], [[9, 20], [21, 30]]])
    stratum, o, s = (np.repeat(i.ravel(), counts.ravel()) for i in np.indices(counts.shape))

    def effect(s, o, stratum):
        return difference(np.bincount(stratum * 4 + o * 2 + s, minlength=8).reshape(2, 2, 2))

    mixed = rng(10).permutation(s.size)
    rows = bca_from_rows(s[mixed], o[mixed], stratum[mixed], effect, 0.1, 4_000, rng(11))
    table = bca_from_table(counts, difference, 0.1, 20_000, rng(12))
    assert rows == pytest.approx(table, abs=0.012)


def test_rows_keep_the_size_of_each_stratum():
    stratum = np.array([5, 1, 5, 5, 1, 9])
    seen = set()

    def effect(s, o, stratum):
        if len(s) == 6:
            seen.add(tuple(np.unique(stratum, return_counts=True)[1]))
        assert (s // 10 == stratum).all()
        return o.mean()

    bca_from_rows(stratum * 10 + np.arange(6), rng(13).normal(size=6), stratum, effect, 0.1, 300, rng(14))
    assert seen == {(2, 3, 1)}


def test_several_levels_at_once_are_nested():
    alpha = np.array([[0.2, 0.05], [0.01, 0.002]])
    low, high = bca_from_table(np.array([[[30, 20], [25, 45]]]), difference, alpha, 20_000, rng(15))
    assert low.shape == high.shape == alpha.shape
    assert (np.diff(low.ravel()) < 0).all()
    assert (np.diff(high.ravel()) > 0).all()


def test_the_same_seed_gives_the_same_interval():
    counts = np.array([[[30, 20], [25, 45]]])
    first, second = (bca_from_table(counts, difference, 0.05, 500, rng(16)) for _ in range(2))
    assert first == second


def test_too_few_draws_give_the_extreme_replicates():
    counts = np.array([[[30, 20], [25, 45]]])
    seen = []

    def watched(tables):
        values = difference(tables)
        seen.append(values)
        return values

    low, high = bca_from_table(counts, watched, 0.001, 2_000, rng(17))
    assert (low, high) == (seen[0].min(), seen[0].max())


def test_some_undefined_replicates_are_dropped():
    """Two people in the group: every eighth sample has nobody of it."""
    low, high = bca_from_table(np.array([[[1, 20], [1, 30]]]), difference, 0.05, 2_000, rng(18))
    assert -0.7 < low < 0.1 < high < 0.9


def test_mostly_undefined_replicates_give_the_extreme_ones():
    counts = np.array([[[10, 20], [20, 30]]])
    seen = []

    def rarely(tables):
        seen.append(np.where(tables[..., 0, 0, 1] % 4 == 0, difference(tables), np.nan))
        return seen[-1]

    low, high = bca_from_table(counts, rarely, 0.5, 2_000, rng(18))
    assert np.isnan(seen[0]).mean() > 0.5
    assert (low, high) == (np.nanmin(seen[0]), np.nanmax(seen[0]))


def test_undefined_effects_have_no_interval():
    counts = np.array([[[0, 20], [0, 30]]])
    low, high = bca_from_table(counts, difference, [0.05, 0.01], 200, rng(19))
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_never_defined_replicates_leave_the_interval_open():
    counts = np.array([[[10, 20], [20, 30]]])

    def only_here(tables):
        return np.where((tables == counts[..., :, :, :]).all(axis=(-1, -2, -3)) & (tables.ndim == 3), 0.5, np.nan)

    assert bca_from_table(counts, only_here, 0.05, 200, rng(20)) == (-np.inf, np.inf)


def test_the_interval_contains_the_effect_even_when_replicates_are_biased():
    """Resampled mutual information is larger than that of the sample: here nearly always."""
    counts = np.array([[[10, 10, 10], [10, 10, 10]]])

    def distance(tables):
        return np.abs(tables - 10).sum(axis=(-1, -2, -3))

    low, high = bca_from_table(counts, distance, 0.05, 1_000, rng(21))
    assert low <= 0 <= high


def test_empty_strata_and_constant_effects():
    counts = np.array([[[10, 20], [20, 30]], [[0, 0], [0, 0]]])
    low, high = bca_from_table(counts, first_rate, 0.05, 500, rng(22))
    assert 0 < low < 3 / 8 < high < 1
    constant = bca_from_table(counts, lambda tables: np.full(tables.shape[:-3], 2.0), 0.05, 500, rng(22))
    assert constant == (2.0, 2.0)


def test_infinite_replicates_are_an_open_bound():
    counts = np.array([[[20, 2], [30, 60]]])

    def ratio(tables):
        rate = tables[..., 0, 0, :] / tables[..., 0, :, :].sum(axis=-2)
        return rate[..., 0] / rate[..., 1]

    low, high = bca_from_table(counts, ratio, 0.05, 2_000, rng(23))
    assert 1 < low < ratio(counts)
    assert high == np.inf


def test_one_person():
    low, high = bca_from_rows(np.array([1.0]), np.array([3.0]), None, mean, 0.05, 500, rng(24))
    assert (low, high) == (3.0, 3.0)


def test_the_pole_of_the_formula():
    levels = module._bca_level(0.0, np.array([-3.0, 3.0, 30.0]), 0.1)
    assert levels[0] == pytest.approx(stats.norm.cdf(-3 / 1.3))
    assert levels[1] == pytest.approx(stats.norm.cdf(3 / 0.7))
    assert levels[2] == 1.0


def test_draws_for():
    assert draws_for(0.05) == 2_000
    assert draws_for(0.001) == 20_000
    assert draws_for(1e-9) == 200_000
    with pytest.raises(InputError, match="alpha"):
        draws_for(0.0)
