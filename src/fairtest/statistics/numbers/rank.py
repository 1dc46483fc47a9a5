r"""Spearman's rank correlation from joint counts of ordered values, ties included.

With F the mid-distribution of the first column (the share of people below plus half the share of people
equal), G that of the second, f = F − ½ and g = G − ½, Spearman's ρ is the correlation of f and g. Its
variance comes from its influence function, what one more person changes, without assumptions on the joint
distribution, but is not taken below 1 + ρ²/2 (Bonett and Wright 2000). ρ does not depend on the scale of
the output, which makes it the measure for skewed ones.

A variance that hangs on a few people, such as those of a rare group, is itself uncertain, and Student's t
gets the degrees of freedom that such a variance is worth (Satterthwaite 1946). They depend on the ρ₀ that is
tested, so that a strong correlation is not held against itself: the interval holds every ρ₀ that its test
does not reject. Weak where ρ is strong, people are few and the spread of one column changes with the other.

The shape of the counts is contexts × first values × second values, each in increasing order; values that
nobody in a context has may be among them.

References
----------
D. Bonett, T. Wright (2000), Sample size requirements for estimating Pearson, Kendall and Spearman
correlations. Psychometrika 65, 23–28.

F. Satterthwaite (1946), An approximate distribution of estimates of variance components. Biometrics
Bulletin 2, 110–114.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from fairtest.statistics.numbers.fisher_z import fisher_z_p, t_quantile
from fairtest.statistics.numerics.roots import increasing_root
from fairtest.statistics.numerics.rules import per_context

if TYPE_CHECKING:
    from fairtest.statistics.numerics.rules import Alpha, Bounds
    from fairtest.types import FloatArray, IntArray

NUMBERS_AT_ONCE = 1 << 16
"""How large the tables may be that are worked on together: few enough numbers for a cache."""
_PERFECT = 1e-14
_SATURATED = 19.0
"""tanh of anything larger is 1."""


def spearman(counts: IntArray) -> FloatArray:
    """Return Spearman's ρ; NaN where a column is constant.

    Examples
    --------
    >>> spearman([[[4, 1, 0], [1, 3, 1], [0, 1, 4]], [[1, 2, 3], [0, 0, 0], [0, 0, 0]]]).round(4)
    array([0.8,  nan])
    """
    return _rank_correlation(_shares(counts))


def spearman_p(counts: IntArray) -> FloatArray:
    """Return the two-sided p-value of "no rank correlation"; NaN with fewer than 4 people."""
    fit = _Fit.from_counts(counts)
    return fisher_z_p(fit.rho, fit.standard_error, fit.degrees(fit.rho))


def spearman_interval(counts: IntArray, alpha: Alpha) -> Bounds:
    """Return the interval of ρ at confidence 1 − ``alpha``; (ρ, ρ) where ρ is ±1."""
    fit = _Fit.from_counts(counts)
    level = per_context(alpha, len(fit.rho))
    return fit.bound(-1, level), fit.bound(1, level)


@dataclass(frozen=True)
class _Fit:
    """ρ and how a person's influence on it is distributed.

    Attributes
    ----------
    people
        NaN where there are fewer than 4.
    i2, ij, j2, i4, i3j, i2j2, ij3, j4
        Means over people of products of I, the influence on ρ, and J, such that I + (ρ − ρ₀)·J is the influence if
        the correlation were ρ₀.
    """

    rho: FloatArray
    people: FloatArray
    i2: FloatArray
    ij: FloatArray
    j2: FloatArray
    i4: FloatArray
    i3j: FloatArray
    i2j2: FloatArray
    ij3: FloatArray
    j4: FloatArray

    @classmethod
    def from_counts(cls, counts: IntArray) -> _Fit:
        """Return the fit of each context, a few at a time: their tables may be large."""
        counts = np.asarray(counts)
        each = max(NUMBERS_AT_ONCE // max(prod(counts.shape[1:]), 1), 1)
        parts = [cls._of_few(counts[at : at + each]) for at in range(0, max(len(counts), 1), each)]
        return cls(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)))

    @classmethod
    def _of_few(cls, counts: IntArray) -> _Fit:
        shares = _shares(counts)
        rho = _rank_correlation(shares)
        people = np.asarray(counts).sum(axis=(1, 2)).astype(np.float64)
        i, j = _influence(shares, rho)
        ii, ij, jj = i * i, i * j, j * j
        products = (ii, ij, jj, ii * ii, ii * ij, ii * jj, ij * jj, jj * jj)
        means = ((shares * product).sum(axis=(1, 2)) for product in products)
        return cls(rho, np.where(people > 3, people, np.nan), *means)

    @property
    def standard_error(self) -> FloatArray:
        r"""The standard error of atanh ρ: :math:`se^2 = \max\{V/(1-ρ^2)^2,\; 1+ρ^2/2\}/(n-3)`, V the mean of I²."""
        remainder = np.where(np.abs(self.rho) < 1, 1 - self.rho**2, np.inf)
        largest = np.maximum(self.i2 / remainder**2, 1 + self.rho**2 / 2)
        return np.asarray(np.sqrt(largest / (self.people - 3)), dtype=np.float64)

    def degrees(self, distance: FloatArray) -> FloatArray:
        """Return how many normal deviates the variance is worth if the correlation is ``distance`` below ρ.

        The mean of n squares w² has the relative variance (kurtosis of w − 1)/n; one of ν normal deviates has 2/ν.
        """
        d = distance
        second = self.i2 + d * (2 * self.ij + d * self.j2)
        fourth = self.i4 + d * (4 * self.i3j + d * (6 * self.i2j2 + d * (4 * self.ij3 + d * self.j4)))
        excess = np.maximum(fourth / np.maximum(second, _PERFECT) ** 2 - 1, 1e-9)
        return np.asarray(np.clip(2 * self.people / excess, 1.0, self.people - 2), dtype=np.float64)

    def bound(self, side: int, level: FloatArray) -> FloatArray:
        """Return the last ρ₀ on one side that is not rejected at its level."""
        z, se = np.arctanh(np.where(np.abs(self.rho) < 1, self.rho, np.nan)), self.standard_error

        def excess(steps: FloatArray, rows: IntArray) -> FloatArray:
            distance = self.rho[rows] - np.tanh(z[rows] + side * steps * se[rows])
            return steps - t_quantile(level[rows], self.take(rows).degrees(distance))

        usual = t_quantile(level, self.people - 2)
        farthest = np.minimum(t_quantile(level, np.ones_like(z)), 2 * _SATURATED / se)
        steps = increasing_root(excess, np.zeros_like(z), farthest, first=usual, tolerance=1e-11)
        testable = ~np.isnan(self.people)
        return np.where(np.abs(self.rho) < 1, np.tanh(z + side * steps * se), np.where(testable, self.rho, np.nan))

    def take(self, rows: IntArray) -> _Fit:
        """Return some of the contexts."""
        return _Fit(*(getattr(self, f.name)[rows] for f in fields(self)))


def _shares(counts: IntArray) -> FloatArray:
    array = np.asarray(counts, dtype=np.float64)
    people: FloatArray = array.sum(axis=(1, 2), keepdims=True)
    return array / np.maximum(people, 1.0)


def _centred_ranks(margin: FloatArray) -> FloatArray:
    """Return the mid-distribution minus ½ at each value."""
    total: FloatArray = margin.sum(axis=1, keepdims=True)
    return np.cumsum(margin, axis=1) - margin / 2 - total / 2


def _mean_above(values: FloatArray) -> FloatArray:
    """Return the sum of the values of larger codes plus half the own one: the mean of h(xᵢ, xⱼ)·valueⱼ."""
    total: FloatArray = values.sum(axis=1, keepdims=True)
    return total - np.cumsum(values, axis=1) + values / 2


def _rank_correlation(shares: FloatArray) -> FloatArray:
    first, second = shares.sum(axis=2), shares.sum(axis=1)
    varies = ((first > 0).sum(axis=1) > 1) & ((second > 0).sum(axis=1) > 1)
    f, g = _centred_ranks(first), _centred_ranks(second)
    product = np.einsum("mab,ma,mb->m", shares, f, g)
    norm = np.sqrt((first * f**2).sum(axis=1) * (second * g**2).sum(axis=1))
    rho = np.clip(product / np.where(varies, norm, 1.0), -1.0, 1.0)
    rho = np.where(1 - rho * rho < _PERFECT, np.sign(rho), rho)
    return np.where(varies, rho, np.nan)


def _influence(shares: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return the influence on ρ of a person with each pair of values, and its J of :class:`_Fit`.

    .. math:: I = IF_C / \sqrt{S_F S_G} - ρ Q, \quad J = 1 + Q, \quad
              Q = \tfrac{1}{2} (IF_F / S_F + IF_G / S_G)

    with C the mean of fg, S the mean squares of f and of g, and the influence of a person with values (a,
    b) :math:`IF_C = f_a g_b + \bar h(g)_a + \bar h(f)_b - 3C`, :math:`IF_F = f_a^2 + 2 \bar h(f)_a - 3S_F`.
    """
    first, second = shares.sum(axis=2), shares.sum(axis=1)
    f, g = _centred_ranks(first), _centred_ranks(second)
    sf, sg = (first * f**2).sum(axis=1), (second * g**2).sum(axis=1)
    proper = (sf > 0) & (sg > 0)
    sf, sg = np.where(proper, sf, 1.0)[:, None], np.where(proper, sg, 1.0)[:, None]
    norm, rho = np.sqrt(sf * sg), np.where(proper, rho, 0.0)[:, None, None]
    product = np.einsum("mab,ma,mb->m", shares, f, g)[:, None]
    of_first = _mean_above(np.einsum("mab,mb->ma", shares, g)) - 3 * product
    of_second = _mean_above(np.einsum("mab,ma->mb", shares, f))
    scales = (f**2 + 2 * _mean_above(first * f)) / sf, (g**2 + 2 * _mean_above(second * g)) / sg
    q = (scales[0][:, :, None] + scales[1][:, None, :]) / 2 - 3
    influence = f[:, :, None] * g[:, None, :] + of_first[:, :, None] + of_second[:, None, :]
    return influence / norm[:, :, None] - rho * q, 1 + q
