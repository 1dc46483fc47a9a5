"""Correlations that a missed tail makes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairtest.statistics.numbers.correlation import CentralSums
from fairtest.statistics.numbers.products import may_miss_tail, missed_tail_p

ORDERS = [(2, 0), (0, 2), (1, 1), (2, 2), (3, 1), (1, 3), (4, 0), (0, 4), (3, 0), (2, 1), (1, 2), (0, 3)]
ONE = np.zeros(400, dtype=int)


def sums_of(x, y):
    x, y = x - x.mean(), y - y.mean()
    return CentralSums(np.array([x.size]), np.array([1]), *(np.array([np.sum(x**i * y**j)]) for i, j in ORDERS))


def draw(rng, n=400):
    """Return two unrelated columns, the second of which spreads with the first."""
    x = rng.standard_exponential(n)
    return x, (0.2 + x) * (np.exp(rng.standard_normal(n)) - np.exp(0.5))


def usual_p(x, y):
    """The test that does not suppose equal spreads, as the product has it for large samples."""
    u = (x - x.mean()) * (y - y.mean())
    return float(2 * stats.norm.sf(abs(u.sum()) / np.sqrt((u**2).sum())))


def test_a_missed_tail_makes_no_correlation():
    rng = np.random.default_rng(0)
    pairs = [draw(rng) for _ in range(2_000)]
    p = np.array([usual_p(x, y) for x, y in pairs])
    safe = np.array([missed_tail_p(p[i], x, y, ONE) for i, (x, y) in enumerate(pairs)])
    assert np.mean(p < 0.005) > 0.015
    assert np.mean(safe < 0.005) <= 0.007
    assert (safe >= p * (1 - 1e-9)).all()


def test_what_lies_along_the_tail_is_as_clear_as_before():
    x, y = np.random.default_rng(1).standard_exponential((2, 400))
    assert missed_tail_p(1e-6, x, y + x, ONE) == pytest.approx(1e-6)
    assert missed_tail_p(1e-6, x, y - x / 2, ONE) > 2e-6
    assert not may_miss_tail(sums_of(x, y + x))[0]
    assert may_miss_tail(sums_of(x, y - x / 2))[0]


def test_columns_without_skewness_are_as_clear_as_before():
    rng = np.random.default_rng(2)
    found = [missed_tail_p(1e-4, *rng.normal(size=(2, 400)), ONE) for _ in range(50)]
    assert np.median(found) < 1.2e-4


def test_columns_and_units_may_be_exchanged():
    x, y = draw(np.random.default_rng(3))
    p = missed_tail_p(1e-3, x, y, ONE)
    assert missed_tail_p(1e-3, y, x, ONE) == pytest.approx(p)
    assert missed_tail_p(1e-3, -1e6 * x + 5, 1e-6 * y, ONE) == pytest.approx(p, rel=1e-6)


def test_a_column_that_does_not_vary_changes_nothing():
    x = np.random.default_rng(4).normal(size=400)
    assert missed_tail_p(0.5, x, np.ones(400), ONE) == pytest.approx(0.5)
