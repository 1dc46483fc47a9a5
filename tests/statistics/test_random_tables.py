"""Random tables: margins kept exactly, the law of permuted people, cost and limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

from fairtest.exceptions import InputError
from fairtest.statistics.tables import random_tables as module
from fairtest.statistics.tables.random_tables import chunks, g_null_moments, permuted_counts, random_tables

small_counts = arrays(
    np.int64, array_shapes(min_dims=3, max_dims=3, min_side=1, max_side=4), elements=st.integers(0, 9)
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(small_counts, st.integers(0, 5))
def test_margins_of_each_stratum_are_kept(counts, draws):
    drawn = permuted_counts(counts, draws, rng())
    assert drawn.shape == (draws, *counts.shape)
    assert (drawn >= 0).all()
    assert (drawn.sum(axis=3) == counts.sum(axis=2)).all()
    assert (drawn.sum(axis=2) == counts.sum(axis=1)).all()


@given(small_counts)
def test_one_table_keeps_its_margins_in_every_shape(counts):
    table = counts[0]
    drawn = random_tables(table.sum(axis=1), table.sum(axis=0), 3, rng())
    assert drawn.dtype == np.int64
    assert (drawn.sum(axis=2) == table.sum(axis=1)).all()
    assert (drawn.sum(axis=1) == table.sum(axis=0)).all()


@given(st.lists(st.sampled_from([0, 0, 1, 2, 5]), min_size=3, max_size=5), st.integers(3, 5), st.randoms())
def test_empty_rows_and_columns_stay_empty(rows, width, random):
    """Whichever are empty, the first, the last or all but one."""
    columns = np.bincount([random.randrange(width) for _ in range(sum(rows))], minlength=width)
    drawn = random_tables(np.array(rows), columns, 4, rng())
    assert (drawn >= 0).all()
    assert (drawn.sum(axis=2) == rows).all()
    assert (drawn.sum(axis=1) == columns).all()


def test_two_by_two_is_hypergeometric():
    draws = 40_000
    cell = random_tables(np.array([12, 28]), np.array([15, 25]), draws, rng(1))[:, 0, 0]
    expected = stats.hypergeom(40, 12, 15).pmf(np.arange(13)) * draws
    observed = np.bincount(cell, minlength=13)
    kept = expected >= 5
    statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
    assert stats.chi2.sf(statistic, kept.sum() - 1) > 1e-3


@pytest.mark.parametrize("most_compiled", [0, module.MOST_COMPILED])
def test_three_by_three_has_the_law_of_permuted_people(monkeypatch, most_compiled):
    """Every table of a small case, against its exact probability: a wrong conditional draw cannot pass."""
    monkeypatch.setattr(module, "MOST_COMPILED", most_compiled)
    rows, columns, draws = np.array([2, 1, 2]), np.array([1, 2, 2]), 60_000
    tables = random_tables(rows, columns, draws, rng(2)).reshape(draws, -1)
    seen, observed = np.unique(tables, axis=0, return_counts=True)
    factorial = np.array([1, 1, 2, 6, 24, 120])
    constant = factorial[rows].prod() * factorial[columns].prod() / factorial[5]
    expected = draws * constant / factorial[seen].prod(axis=1)
    assert expected.sum() == pytest.approx(draws)  # all tables that exist were seen
    assert stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(seen) - 1) > 1e-3


def test_strata_have_the_law_of_permuted_people():
    counts = np.array([[[3, 2], [4, 1]], [[10, 0], [5, 5]]])
    first, second = np.moveaxis(permuted_counts(counts, 20_000, rng(3))[:, :, 0, 0], 1, 0)
    assert first.mean() == pytest.approx(3.5, abs=5 * np.sqrt(stats.hypergeom(10, 7, 5).var() / 20_000))
    assert second.mean() == pytest.approx(7.5, abs=5 * np.sqrt(stats.hypergeom(20, 15, 10).var() / 20_000))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.03


@pytest.mark.parametrize("shape", [(4, 3), (5, 2), (2, 6)])
def test_chi_square_has_its_exact_permutation_mean(shape):
    """E X² = n (r − 1)(c − 1) / (n − 1), for any margins."""
    counts = rng(4).integers(1, 12, shape)
    rows, columns, people = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    expected = np.outer(rows, columns) / people
    tables = random_tables(rows, columns, 20_000, rng(5))
    chi = ((tables - expected) ** 2 / expected).sum(axis=(1, 2))
    mean = people * (shape[0] - 1) * (shape[1] - 1) / (people - 1)
    assert chi.mean() == pytest.approx(mean, abs=4 * chi.std() / np.sqrt(chi.size))


def test_as_many_people_as_are_drawn_by_compiled_code():
    """With few people in a row or a column, and with many: means and variances are those of the law."""
    rows, columns, draws = np.array([15_000, 14_700, 300]), np.array([27_000, 2_970, 30]), 20_000
    tables = random_tables(rows, columns, draws, rng(8))
    assert rows.sum() == module.MOST_COMPILED
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            law = stats.hypergeom(rows.sum(), row, column)
            assert tables[:, i, j].mean() == pytest.approx(law.mean(), abs=5 * law.std() / np.sqrt(draws))
            assert tables[:, i, j].var() == pytest.approx(law.var(), rel=0.06)


def test_a_hundred_million_people():
    rows, columns = np.array([60_000_000, 30_000_000, 10_000_000]), np.array([1_000, 49_999_000, 50_000_000])
    tables = random_tables(rows, columns, 2_000, rng(6))
    assert (tables.sum(axis=1) == columns).all()
    assert tables[:, 0, 0].mean() == pytest.approx(600, abs=4 * np.sqrt(1_000 * 0.24 / 2_000))
    assert tables[:, 2, 2].mean() == pytest.approx(5e6, abs=4 * np.sqrt(1e8 * 0.09 * 0.25 / 2_000))


def test_margins_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="same number of people"):
        random_tables(np.array([1, 2]), np.array([2, 2]), 1, rng())
    with pytest.raises(InputError, match="negative"):
        random_tables(np.array([3, -1]), np.array([1, 1]), 1, rng())
    with pytest.raises(InputError, match="at most"):
        random_tables(np.array([10**9, 1]), np.array([1, 10**9]), 1, rng())


def test_moments_of_g_match_the_sum_over_the_support():
    counts = np.array([[[3, 5], [6, 2]], [[9, 1], [20, 10]], [[4, 4], [0, 0]]])
    mean, variance, _ = g_null_moments(counts, 40_000, rng(7))
    for table, m, v in zip(counts[:2], mean, variance, strict=False):
        exact_mean, exact_variance = exact_g_moments(table)
        assert m == pytest.approx(exact_mean, abs=5 * np.sqrt(exact_variance / 40_000))
        assert v == pytest.approx(exact_variance, rel=0.1)
    assert mean[2] == variance[2] == 0


def exact_g_moments(table):
    people, row, column = table.sum(), table[0].sum(), table[:, 0].sum()
    support = np.arange(max(0, row + column - people), min(row, column) + 1)
    weight = stats.hypergeom(people, row, column).pmf(support)
    g = [
        stats.chi2_contingency(
            [[k, row - k], [column - k, people - row - column + k]],
            correction=False,
            lambda_="log-likelihood",
        ).statistic
        for k in support
    ]
    mean = weight @ g
    return mean, weight @ (g - mean) ** 2


def test_moments_do_not_depend_on_how_strata_are_cut(monkeypatch):
    counts = rng(8).integers(0, 9, (7, 3, 2))
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 2_000 * 6 * 2)
    mean, variance, _ = g_null_moments(counts, 2_000, rng(9))
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 10**9)
    other_mean, other_variance, _ = g_null_moments(counts, 2_000, rng(10))
    assert mean == pytest.approx(other_mean, abs=0.3)
    assert variance == pytest.approx(other_variance, rel=0.4)


def test_moments_need_two_draws_and_accept_no_strata():
    with pytest.raises(InputError, match="≥ 2"):
        g_null_moments(np.ones((1, 2, 2), dtype=int), 1, rng())
    assert g_null_moments(np.zeros((0, 2, 2), dtype=int), 10, rng())[0].size == 0


@given(st.integers(0, 5_000), st.integers(1, 10**7))
def test_chunks_add_up(total, cells):
    parts = list(chunks(total, cells))
    assert sum(parts) == total
    assert all(part == 1 or part * cells <= module.CELLS_AT_ONCE for part in parts)
