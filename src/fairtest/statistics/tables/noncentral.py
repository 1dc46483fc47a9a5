r"""Bounds on the noncentrality of a χ² statistic.

A statistic that measures association without a sign (G, a between-group sum of squares) is, after scaling,
roughly noncentral χ² with the true association as its noncentrality λ. Its bounds are the λ under which the
observed value would be just too large or just too small. Where the statistic varies more than a noncentral
χ² does, by a factor κ, the half-width z of the normal scale is multiplied by √κ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.statistics.numerics.roots import increasing_root

if TYPE_CHECKING:
    from fairtest.types import FloatArray, IntArray

_WIDEST = 15.0
"""Beyond so many deviations the normal form is exact enough, and the mixture would need too many terms."""
_BLOCK = 2_000_000
"""How many numbers the largest array of a block of contexts may hold."""


def noncentrality_low(statistic: FloatArray, df: FloatArray, width: FloatArray) -> FloatArray:
    r"""Return the λ with :math:`P(\chi^2_{df}(λ) \ge x) = \Phi(-width)`, 0 where even λ = 0 exceeds that.

    For x > 100 + 4·df the square root of the statistic is nearly normal, and the bound is
    :math:`(\sqrt{x - (df-1)/2} - width)^2 - (df-1)/2`, right to two decimals.

    Examples
    --------
    >>> noncentrality_low(np.array([22.06, 1.0]), np.array([2.0, 2.0]), np.array([1.96, 1.96])).round(3)
    array([6.728, 0.   ])
    """
    shift = (df - 1) / 2
    root = np.maximum(np.sqrt(np.maximum(statistic - shift, 0.0)) - width, 0.0)
    result = np.maximum(root**2 - shift, 0.0)
    exact = (statistic <= 100 + 4 * df) & (width <= _WIDEST)
    result[exact] = 0.0
    reached = special.chdtrc(df, statistic) < special.ndtr(-width)
    rows = np.flatnonzero(exact & reached)
    largest = np.sqrt(statistic)
    for block in _blocks(rows, largest[rows]):
        terms = _terms(largest[block].max())
        tails = _upper_gammas(statistic[block], df[block], terms)
        result[block] = _solve(tails, largest[block], width[block], rising=True)
    return result


def noncentrality_high(statistic: FloatArray, df: FloatArray, width: FloatArray) -> FloatArray:
    r"""Return the λ with :math:`P(\chi^2_{df}(λ) \le \max(x, df)) = \Phi(-width)`.

    A statistic below its degrees of freedom is raised to them: otherwise the bound would collapse to 0 for
    tables that look independent by luck. Large statistics and widths as in :func:`noncentrality_low`.

    Examples
    --------
    >>> noncentrality_high(np.array([22.06]), np.array([2.0]), np.array([1.96])).round(3)
    array([43.121])
    """
    raised = np.maximum(statistic, df)
    shift = (df - 1) / 2
    result = np.maximum((np.sqrt(raised - shift) + width) ** 2 - shift, 0.0)
    rows = np.flatnonzero((raised <= 100 + 4 * df) & (width <= _WIDEST))
    largest = np.sqrt(raised) + width
    for block in _blocks(rows, largest[rows]):
        terms = _terms(largest[block].max())
        tails = _lower_gammas(raised[block], df[block], terms)
        result[block] = _solve(tails, largest[block], width[block], rising=False)
    return result


def _terms(root: float) -> int:
    """Return how many terms of the Poisson mixture matter for noncentralities up to ``root`` squared."""
    mean = root * root / 2
    return int(mean + 12 * np.sqrt(mean)) + 30


def _blocks(rows: IntArray, roots: FloatArray) -> list[IntArray]:
    """Split contexts into blocks of similar size that fit in memory."""
    order = np.argsort(roots)
    load = np.cumsum((roots[order] + 12) ** 2)
    cuts = np.flatnonzero(np.diff(load // _BLOCK)) + 1
    return [block for block in np.split(rows[order], cuts) if block.size]


def _solve(tails: FloatArray, largest: FloatArray, width: FloatArray, *, rising: bool) -> FloatArray:
    r"""Find the λ whose mixture of tails is Φ(−width).

    A noncentral χ² is a Poisson(λ/2) mixture of central ones, and all terms are positive, so that the
    smallest tails keep their digits. The search runs over √λ, in which the tail's normal deviate is nearly
    linear.
    """
    index = np.arange(tails.shape[1], dtype=np.float64)
    log_factorial = special.gammaln(index + 1)

    def excess(root: FloatArray, rows: IntArray) -> FloatArray:
        mean = (root * root / 2)[:, None]
        poisson = np.exp(special.xlogy(index, mean) - mean - log_factorial)
        deviate = special.ndtri(np.clip((poisson * tails[rows]).sum(axis=1), 1e-300, 1 - 1e-15))
        return np.asarray(deviate + width[rows] if rising else -deviate - width[rows], dtype=np.float64)

    return increasing_root(excess, np.zeros_like(largest), largest, tolerance=1e-10) ** 2


def _densities(x: FloatArray, df: FloatArray, terms: int) -> FloatArray:
    """Return the steps Q(a + 1, x/2) − Q(a, x/2) of the upper incomplete gamma at a = df/2 + j."""
    a = df[:, None] / 2 + np.arange(terms)
    half = x[:, None] / 2
    return np.asarray(np.exp(special.xlogy(a, half) - half - special.gammaln(a + 1)), dtype=np.float64)


def _upper_gammas(x: FloatArray, df: FloatArray, terms: int) -> FloatArray:
    """Return Q(df/2 + j, x/2): the upper tails of central χ² with df + 2j degrees of freedom."""
    steps = _densities(x, df, terms)
    first = special.gammaincc(df / 2, x / 2)[:, None]
    return np.asarray(first + np.cumsum(steps, axis=1) - steps, dtype=np.float64)


def _lower_gammas(x: FloatArray, df: FloatArray, terms: int) -> FloatArray:
    """Return P(df/2 + j, x/2): the lower tails of central χ² with df + 2j degrees of freedom."""
    steps = _densities(x, df, terms)
    last = special.gammainc(df / 2 + terms, x / 2)[:, None]
    return np.asarray(last + np.cumsum(steps[:, ::-1], axis=1)[:, ::-1], dtype=np.float64)
