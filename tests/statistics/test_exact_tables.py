"""Exact p-values of mutual information, against a list of all tables, Fisher's test and random tables."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import xlogy
from scipy.stats import fisher_exact, norm

from fairtest.statistics.resampling.permutation import GSampler
from fairtest.statistics.tables import exact_tables
from fairtest.statistics.tables.exact_tables import exact_moments, exact_p
from fairtest.statistics.tables.null_moments import g_null_moments_2x2


def listed(table: np.ndarray) -> float:
    """Return the p-value from a list of all tables with the same margins."""
    groups, total = table.sum(axis=0), int(table[0].sum())
    observed = xlogy(table, table).sum()
    hits = 0
    for row in product(*(range(n + 1) for n in groups)):
        if sum(row) == total:
            other = np.array([row, groups - row])
            extreme = xlogy(other, other).sum() >= observed * (1 - 1e-12)
            hits += extreme * np.prod([comb(int(n), x) for n, x in zip(groups, row, strict=True)], dtype=object)
    return hits / comb(int(groups.sum()), total)


@st.composite
def tables(draw: st.DrawFn) -> np.ndarray:
    width = draw(st.integers(2, 4))
    table = np.array(
        draw(st.lists(st.lists(st.integers(0, 5), min_size=width, max_size=width), min_size=2, max_size=2))
    )
    return table + (table.sum(axis=0) == 0) + (table.sum(axis=1) == 0)[:, None]


@settings(deadline=None, max_examples=60)
@given(tables())
def test_it_is_the_sum_over_all_tables(table: np.ndarray) -> None:
    assert exact_p(table) == pytest.approx(listed(table), rel=1e-9)


@settings(deadline=None, max_examples=30)
@given(tables(), st.randoms(use_true_random=False))
def test_names_and_orientation_leave_no_trace(table: np.ndarray, random: object) -> None:
    columns = list(range(table.shape[1]))
    random.shuffle(columns)  # type: ignore[attr-defined]
    known = pytest.approx(exact_p(table), rel=1e-9)
    assert exact_p(table[::-1, columns]) == known
    assert exact_p(table.T) == known


def test_equal_groups_give_fishers_test() -> None:
    """With equal margins the statistic rises with the distance from independence, as in Fisher's test."""
    table = np.array([[32, 18], [18, 32]])
    assert exact_p(table) == pytest.approx(fisher_exact(table).pvalue, rel=1e-9)


@pytest.mark.parametrize(
    "table",
    [
        [[180, 50, 2, 1], [70, 45, 6, 3]],
        [[3660, 850, 118, 60, 39], [197, 27, 10, 6, 10]],
        [[40, 30, 20, 10, 5, 2], [60, 35, 12, 3, 6, 1]],
    ],
)
def test_it_is_what_random_tables_approach(table: list[list[int]]) -> None:
    draws = 40_000
    p = exact_p(np.array(table))
    assert p is not None
    hits = GSampler(np.array(table)).draw(draws, np.random.default_rng(5))
    assert abs(hits - draws * p) < norm.isf(1e-5) * np.sqrt(draws * p * (1 - p)) + 1


def test_what_is_not_listed_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """A narrow window can only raise the p-value, and by no more than what it leaves out."""
    table = np.array([[900, 130, 60], [1100, 170, 105]])
    wide = exact_p(table)
    monkeypatch.setattr(exact_tables, "_REACH", 6.0)
    narrow = exact_p(table)
    assert wide is not None
    assert narrow is not None
    assert wide < narrow <= wide + 4 * np.exp(-6.0)


def test_too_much_work_is_left_to_draws() -> None:
    assert exact_p(np.full((2, 12), 50)) is None
    assert exact_p(np.full((3, 3), 10)) is None


def test_a_million_people_need_no_more_memory_than_a_thousand() -> None:
    p = exact_p(np.array([[600_000, 3, 1], [500_000, 9, 1]]))
    assert p == pytest.approx(
        GSampler(np.array([[600_000, 3, 1], [500_000, 9, 1]])).draw(20_000, np.random.default_rng(0)) / 20_000, abs=0.02
    )


def listed_moments(table: np.ndarray) -> tuple[float, float]:
    """Return the moments of G from a list of all tables with the same margins."""
    groups, total = table.sum(axis=0), int(table[0].sum())
    weights, values = [], []
    for row in product(*(range(n + 1) for n in groups)):
        if sum(row) == total:
            other = np.array([row, groups - row])
            weights.append(float(np.prod([comb(int(n), x) for n, x in zip(groups, row, strict=True)], dtype=object)))
            values.append(2 * xlogy(other, other / (np.outer(table.sum(axis=1), groups) / groups.sum())).sum())
    mean = np.average(values, weights=weights)
    aside = np.array(values) - mean
    return mean, np.average(aside**2, weights=weights), np.average(aside**3, weights=weights)


@settings(deadline=None, max_examples=60)
@given(tables())
def test_moments_are_those_of_all_tables(table: np.ndarray) -> None:
    known = exact_moments(table)
    assert known == pytest.approx(listed_moments(table), rel=1e-8, abs=1e-8)
    assert exact_moments(table.T[::-1]) == pytest.approx(known, rel=1e-9, abs=1e-9)


def test_moments_of_two_by_two_tables_are_known() -> None:
    for table in ([[3, 1], [1, 3]], [[4000, 6000], [5000, 5000]], [[200, 3], [100, 8]], [[10**6, 7], [10**5, 3]]):
        moments = np.ravel(g_null_moments_2x2(np.array([table])))
        assert exact_moments(np.array(table)) == pytest.approx(moments, rel=1e-6)


def test_a_single_table_does_not_vary() -> None:
    assert exact_moments(np.array([[3, 4, 5]])) == (0.0, 0.0, 0.0)
    assert exact_moments(np.zeros((0, 0), dtype=int)) == (0.0, 0.0, 0.0)


def test_moments_of_larger_tables_are_left_to_draws() -> None:
    assert exact_moments(np.full((3, 3), 10)) is None
