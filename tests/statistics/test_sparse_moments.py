"""Moments of G in sparse tables: all tables with small margins, exact moments of two rows, level in large tables."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from fairtest.statistics.tables.exact_tables import exact_moments
from fairtest.statistics.tables.information import g_statistic, g_test_p, nmi_interval
from fairtest.statistics.tables.random_tables import random_tables
from fairtest.statistics.tables.sparse_moments import g_moments_of_margins, is_biased, lift_of_g, matched_p


def test_mean_over_all_tables():
    """Eight people in three groups, their outputs dealt in every way."""
    group, output = np.array([0, 0, 0, 1, 1, 1, 2, 2]), np.array([0, 0, 0, 0, 1, 1, 1, 2])
    dealt = np.array(sorted(set(permutations(output.tolist()))))
    tables = np.stack([[(dealt[:, group == g] == o).sum(axis=1) for g in range(3)] for o in range(3)])
    g = g_statistic(np.moveaxis(tables, -1, 0))
    mean, _ = g_moments_of_margins(np.moveaxis(tables, -1, 0)[0])
    assert mean == pytest.approx(g.mean(), rel=1e-9)


@pytest.mark.parametrize("table", [[[30, 40, 25, 60], [300, 280, 350, 310]], [[3, 2, 4, 1, 2], [5, 6, 2, 7, 4]]])
def test_moments_of_two_rows(table):
    mean, variance = g_moments_of_margins(np.array(table))
    exact = exact_moments(np.array(table))
    assert mean == pytest.approx(exact[0], rel=1e-4)
    assert variance == pytest.approx(exact[1], rel=0.25)


def test_full_tables_have_the_moments_of_chi_square():
    mean, variance = g_moments_of_margins(np.full((12, 10), 5000))
    assert mean == pytest.approx(99, rel=1e-3)
    assert variance == pytest.approx(198, rel=1e-2)


def test_cells_with_many_people_go_over_into_those_with_few():
    """Just below and above 100 expected people the two ways to the mean agree."""
    below, above = (g_moments_of_margins(np.full((20, 20), k)) for k in (100, 101))
    assert below[0] == pytest.approx(above[0], rel=1e-4)
    assert below[1] == pytest.approx(above[1], rel=1e-2)


def test_matched_p_is_that_of_scipy():
    p = matched_p(np.array([150.0]), np.array([110.0]), np.array([260.0]))
    assert p == pytest.approx(stats.gamma.sf(150, 110**2 / 260, scale=260 / 110), rel=1e-10)


@pytest.mark.parametrize(("shape", "people"), [((50, 50), 7000), ((30, 30), 1000), ((60, 20), 3000)])
def test_level_of_large_sparse_tables(shape, people):
    rng = np.random.default_rng(2)
    margins = [np.bincount(rng.integers(0, k, people), minlength=k) for k in shape]
    tables = random_tables(*margins, 400, rng)
    g, (mean, variance) = g_statistic(tables), g_moments_of_margins(tables[0])
    p = matched_p(g, np.full(400, mean), np.full(400, variance))
    assert is_biased(tables).all()
    assert np.mean(p <= 0.05) < 0.085
    assert np.mean(p <= 0.5) == pytest.approx(0.5, abs=0.1)
    assert np.mean(g_test_p(tables) <= 0.05) > 0.3
    # the search has a formula for all tables at once
    assert lift_of_g(tables[:1, None])[0] == pytest.approx(mean / np.prod(np.subtract(shape, 1)), abs=0.07)


def test_the_bias_is_taken_off_the_interval():
    rng = np.random.default_rng(6)
    table = random_tables(*[np.bincount(rng.integers(0, 40, 4000), minlength=40)] * 2, 1, rng)
    table[0] += 40 * np.eye(40, dtype=int)
    bias = np.array([g_moments_of_margins(table[0])[0] - 39**2])
    plain, (low, high) = nmi_interval(table, 0.05), nmi_interval(table, 0.05, bias)
    assert 0 < low < plain[0]
    assert high <= plain[1]
