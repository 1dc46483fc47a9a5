r"""E-values of 2×2 tables, given their margins.

A block has n records, n₁ of them in the group, m₁ with the output, x with both. Given n, n₁ and m₁, a table whose log
odds ratio is ψ has :math:`P(x) ∝ C(m_1, x)\, C(n-m_1, n_1-x)\, e^{ψx}`, so with

.. math:: M(θ) = \sum_x C(m_1, x)\, C(n-m_1, n_1-x)\, e^{θx} / C(n, n_1)

a bet on θ against ψ = θ₀ pays :math:`e = e^{(θ-θ_0)x} M(θ_0) / M(θ)`, with mean exactly 1 under θ₀. The likelihood
ratio grows with x, so for θ > θ₀ the mean is at most 1 for every ψ ≤ θ₀ too, and for θ < θ₀ for every ψ ≥ θ₀.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, logit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairtest.types import FloatArray, IntArray

SIZES = (0.1, 0.2, 0.4, 0.8, 1.6)
"""The log odds ratios bet on: a factor 2 between them costs at most a tenth of the growth."""
SMALL = 48
"""Blocks of up to so many records are looked up: there are few different margins."""
_ROOM = 1 << 20
"""How many numbers an array of terms may hold."""


def log_normaliser(n1: ArrayLike, m1: ArrayLike, n: ArrayLike, theta: ArrayLike) -> FloatArray:
    """Return ln M(θ) of tables with the given margins, exactly, with a last axis for several θ of each table.

    Examples
    --------
    >>> log_normaliser(10, 12, 20, [0.0, 0.8]).round(10)
    array([-0.        ,  5.20116711])
    """
    first, second, total = np.broadcast_arrays(*(np.asarray(a, dtype=np.int64) for a in (n1, m1, n)))
    tilt = np.broadcast_to(np.asarray(theta, float), (*total.shape, np.shape(theta)[-1]))
    flat = tilt.reshape(total.size, -1)
    return _log_sums(first.ravel(), second.ravel(), total.ravel(), flat).reshape(tilt.shape)


def _log_sums(n1: IntArray, m1: IntArray, n: IntArray, theta: FloatArray) -> FloatArray:
    result = np.empty(theta.shape)
    lowest = np.maximum(n1 + m1 - n, 0)
    highest = np.minimum(n1, m1)
    # Tables are summed together with those of about as many terms, always over the same number of places: the sum of
    # a table must not hang on the tables that happen to be beside it.
    width = 1 << np.ceil(np.log2(highest - lowest + 1)).astype(int)
    for places in np.unique(width):
        rows = np.flatnonzero(width == places)
        for part in np.array_split(rows, -(-rows.size * int(places) // _ROOM)):
            x = lowest[part, None] + np.arange(places)
            log_weights = _log_weights(x, n1[part, None], m1[part, None], n[part, None])
            log_weights = np.where(x <= highest[part, None], log_weights, -np.inf)
            for bet in range(theta.shape[1]):
                terms = log_weights + theta[part, bet, None] * x
                top = terms.max(axis=1)
                result[part, bet] = top + np.log(np.exp(terms - top[:, None]).sum(axis=1))
    certain = lowest == highest  # one table only: no rounding
    result[certain] = theta[certain] * lowest[certain, None]
    return result


def _log_weights(x: IntArray, n1: IntArray, m1: IntArray, n: IntArray) -> FloatArray:
    """Return the log probability of x where there is no association; anything where x is impossible."""
    x = np.minimum(x, np.minimum(n1, m1))
    log_factorial = gammaln(np.arange(int(n.max(initial=0)) + 1) + 1.0)

    def log_choose(of: IntArray, some: IntArray) -> FloatArray:
        return np.asarray(log_factorial[of] - log_factorial[some] - log_factorial[of - some])

    return log_choose(m1, x) + log_choose(n - m1, n1 - x) - log_choose(n, n1)


def log_e(
    x: ArrayLike, n1: ArrayLike, m1: ArrayLike, n: ArrayLike, theta: ArrayLike, null: ArrayLike | None = None
) -> FloatArray:
    """Return the log of what bets on ``theta`` against ``null`` pay, with a last axis for several bets on each table.

    Examples
    --------
    >>> np.exp(log_e(8, 10, 12, 20, [0.8])).round(10)
    array([3.31624423])
    """
    theta = np.asarray(theta, float)
    paid = theta * np.asarray(x)[..., None] - log_normaliser(n1, m1, n, theta)
    if null is None:
        return np.asarray(paid)
    null = np.asarray(null, float)
    return np.asarray(paid - null * np.asarray(x)[..., None] + log_normaliser(n1, m1, n, null))


def odds_of_gap(rate: ArrayLike, gap: float) -> FloatArray:
    """Return the log odds ratio of two rates that lie ``gap`` apart around a rate; NaN where there are none.

    Examples
    --------
    >>> odds_of_gap([0.5, 0.01], 0.1).round(4)
    array([0.4013,    nan])
    """
    rate = np.asarray(rate, float)
    low, high = rate - gap / 2, rate + gap / 2
    inside = (low > 0) & (high < 1)
    return np.where(inside, logit(np.where(inside, high, 0.5)) - logit(np.where(inside, low, 0.5)), np.nan)


@dataclass(frozen=True)
class TableBets(ABC):
    """Bets on one table against one null hypothesis; which, hangs on the rate of the output in the block only.

    Attributes
    ----------
    gap
        The gap, in shares of people, at which the null hypothesis ends.
    """

    gap: float = 0.0

    @abstractmethod
    def odds(self, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log odds ratios bet on and those bet against, with an axis for the bets; NaN: no bet."""

    @property
    def number(self) -> int:
        """How many bets there are."""
        return int(self.odds(np.array(0.5))[0].shape[-1])

    def log_e(self, x: IntArray, n1: IntArray, m1: IntArray, n: IntArray) -> FloatArray:
        """Return the log of what each bet pays on each table, with a last axis for the bets."""
        x, n1, m1, n = np.broadcast_arrays(x, n1, m1, n)
        result = np.zeros((x.size, self.number))
        flat = [a.ravel() for a in (x, n1, m1, n)]
        # No more is known of a block without a margin than before it.
        open_ = (flat[1] > 0) & (flat[1] < flat[3]) & (flat[2] > 0) & (flat[2] < flat[3])
        small = np.flatnonzero(open_ & (flat[3] <= SMALL))
        if small.size:
            slope, constant = _small(self)
            place = _place(*(a[small] for a in flat[1:]))
            result[small] = slope[place] * flat[0][small, None] + constant[place]
        large = np.flatnonzero(open_ & (flat[3] > SMALL))
        if large.size:
            slope, constant = self._terms(*(a[large] for a in flat[1:]))
            result[large] = slope * flat[0][large, None] + constant
        return result.reshape(*x.shape, self.number)

    def _terms(self, n1: IntArray, m1: IntArray, n: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return what multiplies x, and what is added to it, in the log of what each bet pays."""
        theta, null = self.odds(m1 / np.maximum(n, 1))
        known = np.isfinite(theta)
        theta, null = np.where(known, theta, 0.0), np.where(known, null, 0.0)
        constant = log_e(np.zeros_like(n), n1, m1, n, theta, null if self.gap else None)
        return np.where(known, theta - null, 0.0), np.where(known, constant, 0.0)


def _place(n1: IntArray, m1: IntArray, n: IntArray) -> IntArray:
    """Return where the margins of a table stand among all of up to so many records."""
    before = n * (n + 1) * (2 * n + 1) // 6  # Σ (k + 1)² for k < n
    return before + n1 * (n + 1) + m1


@lru_cache(maxsize=64)
def _small(bets: TableBets) -> tuple[FloatArray, FloatArray]:
    """Return the terms of all tables of few records, in the order of :func:`_place`."""
    sizes = np.arange(SMALL + 1)
    n = np.repeat(sizes, (sizes + 1) ** 2)
    within = np.arange(n.size) - _place(np.zeros_like(n), np.zeros_like(n), n)
    return bets._terms(within // (n + 1), within % (n + 1), n)


@dataclass(frozen=True)
class Association(TableBets):
    """Five sizes, two signs, against "no association", or "less than a gap that is tolerated"."""

    def odds(self, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ±(θ₀ + size) against ±θ₀."""
        least = odds_of_gap(rate, self.gap)[..., None] if self.gap else np.zeros((*np.shape(rate), 1))
        size = np.asarray(SIZES)
        theta = np.concatenate((least + size, -least - size), axis=-1)
        return theta, np.concatenate((least + 0 * size, -least - 0 * size), axis=-1)


@dataclass(frozen=True)
class MoreThan(TableBets):
    """Four sizes above a gap against "the group's rate is higher by the gap at most"."""

    def odds(self, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return θ₀ + size against θ₀."""
        least = odds_of_gap(rate, self.gap)[..., None]
        size = np.asarray(SIZES[:4])
        return least + size, least + 0 * size


@dataclass(frozen=True)
class LessThan(TableBets):
    """No gap, and half of it, against "the group's rate is higher by the gap at least"."""

    def odds(self, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return 0 and θ₀/2 against θ₀."""
        most = odds_of_gap(rate, self.gap)[..., None]
        share = np.array([0.0, 0.5])
        return most * share, most + 0 * share
