r"""Spearman's rank correlation from joint counts of ordered values, ties included.

With F the mid-distribution of the first column (the share of people below plus half the share of people
equal), G that of the second, f = F − ½ and g = G − ½, Spearman's ρ is the correlation of f and g. Its
variance comes from its influence function, what one more person changes, without assumptions on the joint
distribution, but is not taken below 1 + ρ²/2 (Bonett and Wright 2000). ρ does not depend on the scale of
the output, which makes it the measure for skewed ones. Weak where a group of 5 % has another spread than
the rest and n ≤ 200.

The shape of the counts is contexts × first values × second values, each in increasing order; values that
nobody in a context has may be among them.

References
----------
D. Bonett, T. Wright (2000), Sample size requirements for estimating Pearson, Kendall and Spearman
correlations. Psychometrika 65, 23–28.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.inference.fisher_z import fisher_z_interval, fisher_z_p

if TYPE_CHECKING:
    from fairtest.inference.rules import Alpha, Bounds
    from fairtest.types import FloatArray, IntArray

__all__ = ["spearman", "spearman_interval", "spearman_p"]

_PERFECT = 1e-14


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
    shares = _shares(counts)
    rho, degrees = _rank_correlation(shares), _degrees(counts)
    return fisher_z_p(rho, _standard_error(shares, rho, degrees), degrees)


def spearman_interval(counts: IntArray, alpha: Alpha) -> Bounds:
    """Return the interval of ρ at confidence 1 − ``alpha``; (ρ, ρ) where ρ is ±1."""
    shares = _shares(counts)
    rho, degrees = _rank_correlation(shares), _degrees(counts)
    return fisher_z_interval(rho, _standard_error(shares, rho, degrees), degrees, alpha)


def _shares(counts: IntArray) -> FloatArray:
    array = np.asarray(counts, dtype=np.float64)
    people: FloatArray = array.sum(axis=(1, 2), keepdims=True)
    return array / np.maximum(people, 1.0)


def _degrees(counts: IntArray) -> FloatArray:
    """Return n − 2, NaN with fewer than 4 people."""
    degrees = np.asarray(counts).sum(axis=(1, 2)) - 2.0
    return np.where(degrees > 1, degrees, np.nan)


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


def _standard_error(shares: FloatArray, rho: FloatArray, degrees: FloatArray) -> FloatArray:
    r"""Return the standard error of atanh ρ: :math:`se^2 = \max\{V/(1-ρ^2)^2,\; 1+ρ^2/2\}/(n-3)`."""
    remainder = np.where(np.abs(rho) < 1, 1 - rho * rho, np.inf)
    general = _influence_variance(shares, rho) / remainder**2
    se: FloatArray = np.sqrt(np.maximum(general, 1 + rho * rho / 2) / (degrees - 1))
    return se


def _influence_variance(shares: FloatArray, rho: FloatArray) -> FloatArray:
    r"""Return V, the mean square of the influence function of ρ.

    .. math:: IF = IF_C / \sqrt{S_F S_G} - \tfrac{ρ}{2} (IF_F / S_F + IF_G / S_G)

    with C the mean of fg, S the mean squares of f and of g, and the influence of a person with values (a,
    b) :math:`IF_C = f_a g_b + \bar h(g)_a + \bar h(f)_b - 3C`, :math:`IF_F = f_a^2 + 2 \bar h(f)_a - 3S_F`.
    It is the sum of a product of ranks, a function of a and a function of b.
    """
    first, second = shares.sum(axis=2), shares.sum(axis=1)
    f, g = _centred_ranks(first), _centred_ranks(second)
    sf, sg = (first * f**2).sum(axis=1), (second * g**2).sum(axis=1)
    proper = (sf > 0) & (sg > 0)
    sf, sg = np.where(proper, sf, 1.0)[:, None], np.where(proper, sg, 1.0)[:, None]
    product = np.einsum("mab,ma,mb->m", shares, f, g)[:, None]
    norm, half = np.sqrt(sf * sg), np.where(proper, rho, 0.0)[:, None] / 2
    of_first = _mean_above(np.einsum("mab,mb->ma", shares, g)) / norm
    of_first -= half * (f**2 + 2 * _mean_above(first * f) - 3 * sf) / sf
    of_second = _mean_above(np.einsum("mab,ma->mb", shares, f)) / norm
    of_second -= half * (g**2 + 2 * _mean_above(second * g) - 3 * sg) / sg
    of_first -= 3 * product / norm
    influence = (f / norm)[:, :, None] * g[:, None, :]
    influence += of_first[:, :, None]
    influence += of_second[:, None, :]
    return np.asarray((shares * influence**2).sum(axis=(1, 2)), dtype=np.float64)
