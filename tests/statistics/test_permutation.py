"""Permutation samplers: exact p-values, levels under the null, ties and undefined draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from fairtest.exceptions import InputError
from fairtest.statistics.resampling.permutation import (
    CorrelationSampler,
    GSampler,
    RowSampler,
    TableSampler,
    strata_order,
)
from fairtest.statistics.tables import random_tables as tables_module

ADMISSIONS = np.array([[9, 3], [1, 7]])
DRAWS = 40_000


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def difference(counts):
    """Size-weighted difference of rates over strata, without its sign."""
    rate = counts[..., 0, :] / counts.sum(axis=-2)
    people = counts.sum(axis=(-1, -2))
    return np.abs((people * (rate[..., 0] - rate[..., 1])).sum(axis=-1) / people.sum(axis=-1))


def near(p, draws=DRAWS):
    return pytest.approx(p, abs=4.5 * np.sqrt(p * (1 - p) / draws))


@pytest.mark.parametrize("table", [ADMISSIONS, [[12, 30], [3, 55]], [[5, 5], [5, 5]], [[2, 0], [10, 60]]])
def test_two_by_two_is_fishers_exact_test(table):
    """For one 2 × 2 table the difference and G order the tables by how far they are from independence."""
    table = np.array(table)
    people, row, column = table.sum(), table[0].sum(), table[:, 0].sum()
    support = np.arange(max(0, row + column - people), min(row, column) + 1)
    rest = people - row - column
    every = np.stack([np.array([[k, row - k], [column - k, rest + k]]) for k in support])
    weight = stats.hypergeom(people, row, column).pmf(support)
    strength = difference(every[:, None])
    exact = weight[strength >= difference(table[None]) * (1 - 1e-9)].sum()
    assert TableSampler(table[None], difference).draw(DRAWS, rng()) / DRAWS == near(exact)
    g = np.array([g_statistic(t) for t in every])
    exact = weight[g >= g_statistic(table) * (1 - 1e-9)].sum()
    assert GSampler(table).draw(DRAWS, rng(1)) / DRAWS == near(exact)
    if table is ADMISSIONS:
        assert exact == pytest.approx(stats.fisher_exact(table).pvalue)


def g_statistic(table):
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        return 2 * np.nansum(table * np.log(table / expected))


def test_g_agrees_with_the_general_sampler():
    table = np.array([[8, 2, 0], [5, 9, 0], [3, 4, 0], [1, 6, 0]])

    def g(counts):
        expected = counts.sum(axis=-1, keepdims=True) * counts.sum(axis=-2, keepdims=True)
        expected = expected / counts.sum(axis=(-1, -2), keepdims=True)
        return np.nansum(counts * np.log(counts / expected), axis=(-1, -2, -3))

    general = TableSampler(table[None], g).draw(DRAWS, rng(2)) / DRAWS
    assert GSampler(table).draw(DRAWS, rng(3)) / DRAWS == near(general, DRAWS / 2)


def test_g_of_a_large_table_follows_chi_square():
    table = np.array([[40_300, 29_900], [30_100, 20_000], [10_050, 7_700]])
    expected = stats.chi2_contingency(table, lambda_="log-likelihood").pvalue
    assert GSampler(table).draw(DRAWS, rng(4)) / DRAWS == near(expected)


@pytest.mark.parametrize("table", [[[5, 3]], [[5, 3], [0, 0]], [[0, 0], [0, 0]], [[7, 0], [9, 0]]])
def test_one_possible_table_is_always_a_hit(table):
    assert GSampler(np.array(table)).draw(100, rng()) == 100


def test_all_ties_are_hits():
    """Equal tables reached by other sums of floats: 3 groups of the same size, so every arrangement ties."""
    table = np.array([[1, 0, 0], [6, 7, 7]])
    assert GSampler(table).draw(1000, rng()) == 1000


def test_a_difference_in_the_last_digit_is_a_tie():
    sampler = TableSampler(ADMISSIONS[None], lambda c: np.full(c.shape[:-3], 0.3), observed=0.1 + 0.2)
    assert sampler.observed > 0.3
    assert sampler.draw(50, rng()) == 50


def test_strata_are_permuted_within():
    """Simpson: the association between strata is in the margins, so within them there is nothing to find."""
    counts = np.array([[[80, 20], [8, 2]], [[2, 8], [20, 80]]])
    assert difference(counts) == pytest.approx(0)
    assert TableSampler(counts, difference).draw(500, rng()) == 500
    assert TableSampler(counts.sum(axis=0)[None], difference).draw(500, rng()) == 0


def test_undefined_draws_are_hits():
    counts = np.array([[[3, 1], [3, 1]]])
    undefined = TableSampler(counts, lambda c: np.where(c[..., 0, 0, 1] == 1, 1.0, np.nan))
    assert undefined.draw(200, rng()) == 200
    assert TableSampler(counts, lambda c: np.full(c.shape[:-3], np.nan)).draw(10, rng()) == 10


def test_infinite_statistics_can_be_compared():
    counts = np.array([[[5, 0], [5, 10]]])
    sampler = TableSampler(counts, lambda c: c[..., 0, 0, 0] / c[..., 0, 0, 1])
    assert np.isinf(sampler.observed)
    assert sampler.draw(DRAWS, rng(5)) / DRAWS == near(stats.hypergeom(20, 10, 5).pmf(5))


def test_memory_is_bounded_and_parts_add_up(monkeypatch):
    monkeypatch.setattr(tables_module, "CELLS_AT_ONCE", 40)
    seen = []

    def watched(counts):
        seen.append(counts.shape[:-3])
        return difference(counts)

    TableSampler(ADMISSIONS[None], watched).draw(25, rng())
    assert seen == [(), (10,), (10,), (5,)]


def test_a_statistic_of_the_wrong_shape_is_explained():
    with pytest.raises(InputError, match="reduce the last three axes"):
        TableSampler(ADMISSIONS[None], lambda c: c.sum(axis=-1))


def test_correlation_is_exact_over_all_permutations():
    x, y = np.array([1.0, 2, 4, 7, 11]), np.array([2.0, 1, 5, 3, 9])
    u, v = x - x.mean(), y - y.mean()

    def strength(w):
        return abs(u @ w) / np.sqrt(u**2 @ w**2)

    every = [strength(np.array(w)) for w in itertools.permutations(v)]
    exact = np.mean(np.array(every) >= strength(v) * (1 - 1e-9))
    assert CorrelationSampler(x, y).draw(DRAWS, rng(6)) / DRAWS == near(exact)


def test_correlation_permutes_within_strata_only():
    """Two strata of two people: four arrangements, half of them as strong as the observed one."""
    x, y, stratum = np.array([1.0, 5, 2, 9]), np.array([4.0, 1, 3, 0]), np.array([4, 2, 4, 2])
    sampler = CorrelationSampler(x, y, stratum)
    drawn = {tuple(row) for row in sampler._shuffle(200, rng(7))}
    assert drawn == {(a, -a, b, -b) for a in (-0.5, 0.5) for b in (-0.5, 0.5)}
    assert sampler.draw(DRAWS, rng(8)) / DRAWS == near(0.5)


def rejections(make, simulations, draws=199, alpha=0.05):
    """How often does a p-value of 1 + hits over 1 + draws reach the level."""
    generator = rng(9)
    hits = np.array([make(generator).draw(draws, generator) for _ in range(simulations)])
    return np.mean((1 + hits) / (1 + draws) <= alpha)


def heteroscedastic(generator, people=100):
    x = generator.normal(size=people)
    return x, np.abs(x) * generator.normal(size=people)


def test_correlation_keeps_its_level_when_the_spread_depends_on_x():
    """Uncorrelated but not independent: the studentised test holds, the plain permutation of r does not."""
    simulations = 1500
    studentised = rejections(lambda g: CorrelationSampler(*heteroscedastic(g)), simulations)
    assert studentised <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / simulations)
    assert studentised >= 0.03

    def plain(generator):
        sampler = CorrelationSampler(*heteroscedastic(generator))
        sampler._strength = lambda y: np.abs(y @ sampler.x)
        sampler.observed = float(sampler._strength(sampler.y[None])[0])
        return sampler

    assert rejections(plain, 400) > 0.12


def test_correlation_within_strata_keeps_its_level_when_strata_differ():
    def confounded(generator):
        stratum = generator.integers(0, 6, 90)
        return CorrelationSampler(
            3.0 * stratum + generator.normal(size=90), stratum - 2.0 + generator.normal(size=90), stratum
        )

    assert rejections(confounded, 800) <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 800)


def test_correlation_has_power():
    x = rng(10).normal(size=200)
    assert CorrelationSampler(x, x + rng(11).normal(size=200)).draw(2000, rng(12)) == 0


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_a_constant_column_is_undefined_and_so_never_significant(offset):
    sampler = CorrelationSampler(np.full(10, 0.1 + offset), np.arange(10.0))
    assert np.isnan(sampler.observed)
    assert sampler.draw(30, rng()) == 30


def test_correlation_refuses_missing_numbers():
    with pytest.raises(InputError, match="finite"):
        CorrelationSampler(np.array([1.0, np.nan]), np.array([1.0, 2]))


def test_rows_agree_with_tables():
    counts = np.array([[[6, 2], [2, 7]], [[3, 4], [4, 1]]])
    stratum, o, s = (np.repeat(i.ravel(), counts.ravel()) for i in np.indices(counts.shape))

    def statistic(s, o, stratum):
        table = np.zeros(counts.shape, dtype=int)
        np.add.at(table, (stratum, o, s), 1)
        return difference(table)

    mixed = rng(13).permutation(s.size)
    sampler = RowSampler(s[mixed], o[mixed], stratum[mixed], statistic)
    expected = TableSampler(counts, difference).draw(DRAWS, rng(14)) / DRAWS
    assert sampler.observed == pytest.approx(difference(counts))
    assert sampler.draw(3000, rng(15)) / 3000 == near(expected, 2800)


def test_rows_of_any_type_are_permuted_within_strata_only():
    s, stratum = np.array(["a", "b", "c", "d", "e"]), np.array([1, 0, 1, 0, 1])
    seen = set()
    sampler = RowSampler(s, np.zeros(5), stratum, lambda s, o, e: seen.add("".join(s)) or 0.0)
    assert sampler.draw(400, rng(16)) == 400
    assert len(seen) == 12  # 3! orders of a, c, e times 2 of b, d
    assert all(set(word[::2]) == set("ace") for word in seen)


def test_rows_without_strata_and_with_undefined_draws():
    sampler = RowSampler(np.arange(4), np.arange(4), None, lambda s, o, e: 1.0 if (s == o).all() else float("nan"))
    assert sampler.draw(20, rng()) == 20


def test_strata_order_of_nobody():
    order, strata = strata_order(np.array([], dtype=int), 0)
    assert order.size == 0
    assert strata == [slice(0, 0)]
