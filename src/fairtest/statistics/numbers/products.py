"""Is a correlation made by a tail that nobody has seen?

A correlation is a mean of products of deviations. Where both columns are skewed and one spreads more the higher the
other is (prices and incomes), the products are very skewed too, and a sample that misses their tail has a mean on the
wrong side of 0 and a spread that is too small, both by the same chance: the test finds a correlation against the
direction of the tail far too often. As with two groups (:mod:`~fairtest.statistics.numbers.mean_difference`), the tail
is missed where few people are, and is known from all: the skewness of one column, in units of its spread at each
place on the other, is that of everybody. From it, these spreads and the places follows the skewness λ that the sum of
products must have, whether the sample shows it or not; t may be too large by 1 + 2 λ in the direction against it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.statistics.numbers.mean_difference import UNSEEN
from fairtest.statistics.numbers.strata import stratum_means
from fairtest.statistics.numerics.rules import P_FLOOR

if TYPE_CHECKING:
    from fairtest.statistics.numbers.correlation import CentralSums
    from fairtest.types import BoolArray, FloatArray, IntArray

STRETCH = 2.0
"""By how much t may be too large for each unit of the skewness of the sum of products."""
PEOPLE, MOST_PLACES = 50, 20
"""A column's spread is looked at in places of the other with so many people each, and in so many at most."""
SLIGHT = 0.02
"""Skewness of a sum below which nothing is to be feared."""


def may_miss_tail(sums: CentralSums) -> BoolArray:
    """Return where correlations lie against the skewness of their columns, so that people must be looked at.

    What a closer look would find is guessed from the skewness of both columns, and from how the spread of each goes
    with the other.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = np.sqrt(sums.s20 / sums.n), np.sqrt(sums.s02 / sums.n)
        skew_x, skew_y = sums.s30 / sums.n / x**3, sums.s03 / sums.n / y**3
        spread_y, spread_x = sums.s12 / sums.n / (x * y**2), sums.s21 / sums.n / (x**2 * y)
        parts = np.stack([skew_x * skew_y, skew_y * spread_y, skew_x * spread_x])
        return np.asarray((-np.sign(sums.s11) * parts > SLIGHT * np.sqrt(sums.n)).any(axis=0))


def missed_tail_p(p: float, s: FloatArray, o: FloatArray, stratum: IntArray) -> float:
    """Return the p-value of a correlation, no smaller than ``p``, less what a missed tail may have done.

    Examples
    --------
    Both columns are skewed. What lies against the tail of their products is less clear than it seems.

    >>> x, y = np.random.default_rng(3).standard_exponential((2, 400))
    >>> for slope in (1.0, -1.0):
    ...     print(round(missed_tail_p(1e-4, x, y + slope * x, np.zeros(400, dtype=int)), 5))
    0.0001
    0.00166
    """
    x, y = s - stratum_means(s, stratum), o - stratum_means(o, stratum)
    against = -np.sign(float(x @ y))
    skewness = max(against * _sum_skewness(x, y), against * _sum_skewness(y, x), 0.0)
    return float(2 * special.ndtr(special.ndtri(max(p, P_FLOOR) / 2) / (1 + STRETCH * skewness)))


def _sum_skewness(x: FloatArray, y: FloatArray) -> float:
    """Return the skewness of Σxy if y has the same shape everywhere, and the spread that it has at each place of x."""
    places = int(np.clip(len(x) // PEOPLE, 1, MOST_PLACES))
    at = np.empty(len(x), dtype=np.intp)
    at[np.argsort(x, kind="stable")] = np.arange(len(x)) * places // len(x)
    people = np.bincount(at)
    away = y - (np.bincount(at, y) / people)[at]
    spread = np.sqrt(np.bincount(at, away**2) / people)[at]
    shape = float(np.mean(np.divide(away, spread, out=np.zeros_like(away), where=spread > 0) ** 3))
    sure = np.sign(shape) * max(abs(shape) - np.sqrt(6 / len(x)), 0.0)
    weight = x * spread
    total = float(weight @ weight)
    return float(sure * (1 + UNSEEN * sure**2 / len(x)) * np.sum(weight**3) / total**1.5) if total > 0 else 0.0
