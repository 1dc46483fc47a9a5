r"""Pearson's correlation of two columns, also within strata, whatever the shape of their distributions.

The textbook interval (Fisher's z with variance 1/(n − 3)) supposes a bivariate normal distribution and
fails for skewed outputs, for spread that grows with the other column, and for a rare binary group. Here the
variance on Fisher's scale is the largest of three: the normal one, the one from fourth-order moments
without assumptions (Steiger and Hakstian 1982), and the one that holds if the correlation is 0 (the moment
a₂₂). Given explanatory strata, the columns are centred within each stratum and their sums are added up
before anything else.

Known to be weak, whichever method: a rare binary group with the larger variance, and very skewed outputs
(lognormal with σ = 1.5) with a correlation that is not 0. Use ranks (:mod:`fairtest.inference.rank`) for
those, and a studentised permutation for the p-value of small contexts.

References
----------
J. Steiger, A. Hakstian (1982), The asymptotic distribution of elements of a correlation matrix. British
Journal of Mathematical and Statistical Psychology 35, 208–215.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtest.inference.fisher_z import fisher_z_interval, fisher_z_p

if TYPE_CHECKING:
    from fairtest.inference.rules import Alpha, Bounds
    from fairtest.types import FloatArray, IntArray

__all__ = ["CentralSums", "correlation", "correlation_interval", "correlation_p"]

_PERFECT = 1e-12
"""Correlations whose square is this close to 1 are perfect: what is missing is rounding error."""

_ROUNDING = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class CentralSums:
    """Sums of products of deviations, centred within strata and added over strata, for each context.

    Attributes
    ----------
    n
        The number of people.
    strata
        The number of strata with people in them, 1 if there are none to speak of.
    s20, s02, s11, s22, s31, s13, s40, s04
        ``s31`` is the sum of (x − x̄)³(y − ȳ), and so on; sums, not means.
    """

    n: FloatArray | IntArray
    strata: FloatArray | IntArray
    s20: FloatArray
    s02: FloatArray
    s11: FloatArray
    s22: FloatArray
    s31: FloatArray
    s13: FloatArray
    s40: FloatArray
    s04: FloatArray


def correlation(sums: CentralSums) -> FloatArray:
    """Return Pearson's r; NaN where a column is constant (within its strata).

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0, 3.0, 4.0]) - 2.5, np.array([1.0, 3.0, 2.0, 5.0]) - 2.75
    >>> def total(i, j):
    ...     return np.array([np.sum(x**i * y**j)])
    >>> orders = [(2, 0), (0, 2), (1, 1), (2, 2), (3, 1), (1, 3), (4, 0), (0, 4)]
    >>> sums = CentralSums(np.array([4]), np.array([1]), *(total(i, j) for i, j in orders))
    >>> correlation(sums).round(4)
    array([0.8315])
    """
    varies = (sums.s20 > 0) & (sums.s02 > 0)
    # The roots are taken one by one: a product of sums may overflow or vanish.
    norm = np.sqrt(np.where(varies, sums.s20, 1.0)) * np.sqrt(np.where(varies, sums.s02, 1.0))
    r = np.clip(sums.s11 / norm, -1.0, 1.0)
    r = np.where(1 - r * r < _PERFECT, np.sign(r), r)
    return np.where(varies, r, np.nan)


def correlation_p(sums: CentralSums) -> FloatArray:
    """Return the two-sided p-value of "no correlation"; NaN with fewer than 3 people more than strata."""
    return fisher_z_p(correlation(sums), _standard_error(sums), _degrees(sums))


def correlation_interval(sums: CentralSums, alpha: Alpha) -> Bounds:
    """Return the interval of the correlation at confidence 1 − ``alpha``; (r, r) where r is ±1."""
    return fisher_z_interval(correlation(sums), _standard_error(sums), _degrees(sums), alpha)


def _degrees(sums: CentralSums) -> FloatArray:
    """Return n − K − 1, NaN where one person fewer would leave no degree of freedom."""
    degrees = np.asarray(sums.n - sums.strata - 1, dtype=np.float64)
    return np.where(degrees > 1, degrees, np.nan)


def _standard_error(sums: CentralSums) -> FloatArray:
    r"""Return the standard error of atanh r.

    .. math:: se^2 = \max\{1,\; V/(1-r^2)^2,\; a_{22}\} / (n-K-2), \qquad
              V = a_{22} - r(a_{31}+a_{13}) + \tfrac{r^2}{4}(a_{40}+2a_{22}+a_{04})

    with aᵢⱼ the standardised central moments. V is a difference that vanishes as |r| → 1; what rounding may
    have added to it is taken off, since it would be divided by almost nothing.
    """
    r = correlation(sums)
    a22, a31, a13, a40, a04 = _standardised_moments(sums)
    variance = a22 - r * (a31 + a13) + r * r / 4 * (a40 + 2 * a22 + a04)
    size = a22 + np.abs(r) * (np.abs(a31) + np.abs(a13)) + r * r / 4 * (a40 + 2 * a22 + a04)
    remainder = np.where(np.abs(r) < 1, 1 - r * r, np.inf)
    general = np.maximum(variance - _ROUNDING * size, 0.0) / remainder**2
    largest: FloatArray = np.maximum(np.maximum(general, a22), 1.0)
    return np.sqrt(largest / (_degrees(sums) - 1))


def _standardised_moments(sums: CentralSums) -> tuple[FloatArray, ...]:
    """Return a22, a31, a13, a40, a04: means of products of columns that have mean 0 and variance 1."""
    varies = (sums.s20 > 0) & (sums.s02 > 0)
    n = np.maximum(np.asarray(sums.n, dtype=np.float64), 1.0)
    x = np.sqrt(np.where(varies, sums.s20, 1.0) / n)
    y = np.sqrt(np.where(varies, sums.s02, 1.0) / n)
    a22, a31, a13 = sums.s22 / n / x**2 / y**2, sums.s31 / n / x**3 / y, sums.s13 / n / x / y**3
    return a22, a31, a13, sums.s40 / n / x**4, sums.s04 / n / y**4
