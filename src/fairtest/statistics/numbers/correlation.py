r"""Pearson's correlation of two columns, also within strata, whatever the shape of their distributions.

The textbook interval (Fisher's z with variance 1/(n − 3)) supposes a bivariate normal distribution and
fails for skewed outputs, for spread that grows with the other column, and for a rare binary group. Here the
variance on Fisher's scale is the largest of three: the normal one, the one from fourth-order moments
without assumptions (Steiger and Hakstian 1982), and the one that holds if the correlation is 0 (the moment
a₂₂). Given explanatory strata, the columns are centred within each stratum and their sums are added up
before anything else.

Where one column has two values it makes two groups, and the variance without assumptions is one of a difference
of two means. If one group is small it is worth as many degrees of freedom as Welch's test gives it (1947), so
that p-value and interval are the more cautious of two: Student's t of the largest variance with n − 2 degrees
of freedom, and of the second variance with Welch's.

A correlation with two groups is 0 just where their means are equal. For its p-value, use that of the means too
(:mod:`fairtest.statistics.numbers.mean_difference`): for skewed numbers, the above finds too much.

Known to be weak, whichever method: a group of two or three people with the larger variance, and very skewed
outputs (lognormal with σ = 1.5) with a correlation that is not 0. Use ranks (:mod:`fairtest.statistics.numbers.rank`)
for those, and a studentised permutation for the p-value of small contexts.

References
----------
J. Steiger, A. Hakstian (1982), The asymptotic distribution of elements of a correlation matrix. British
Journal of Mathematical and Statistical Psychology 35, 208–215.

B. Welch (1947), The generalization of "Student's" problem when several different population variances are
involved. Biometrika 34, 28–35.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from fairtest.statistics.numbers.fisher_z import fisher_z_interval, fisher_z_p
from fairtest.statistics.numbers.mean_difference import TwoGroups

if TYPE_CHECKING:
    from fairtest.statistics.numerics.rules import Alpha, Bounds
    from fairtest.types import BoolArray, FloatArray, IntArray

_PERFECT = 1e-12
"""Correlations whose square is this close to 1 are perfect: what is missing is rounding error."""

_ROUNDING = 64 * float(np.finfo(np.float64).eps)
_ALIKE = 1e-7
"""How near, relatively, moments of large numbers come to an equation that they fulfil."""


@dataclass(frozen=True)
class CentralSums:
    """Sums of products of deviations, centred within strata and added over strata, for each context.

    Attributes
    ----------
    n
        The number of people.
    strata
        The number of strata with people in them, 1 if there are none to speak of.
    s20, s02, s11, s22, s31, s13, s40, s04, s30, s21, s12, s03
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
    s30: FloatArray
    s21: FloatArray
    s12: FloatArray
    s03: FloatArray

    @property
    def transposed(self) -> CentralSums:
        """The same people with the columns exchanged."""
        names = (f.name for f in fields(self))
        return CentralSums(*(getattr(self, f"s{n[2]}{n[1]}" if n[1:].isdigit() else n) for n in names))


def correlation(sums: CentralSums) -> FloatArray:
    """Return Pearson's r; NaN where a column is constant (within its strata).

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0, 3.0, 4.0]) - 2.5, np.array([1.0, 3.0, 2.0, 5.0]) - 2.75
    >>> def total(i, j):
    ...     return np.array([np.sum(x**i * y**j)])
    >>> orders = [(2, 0), (0, 2), (1, 1), (2, 2), (3, 1), (1, 3), (4, 0), (0, 4), (3, 0), (2, 1), (1, 2), (0, 3)]
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
    r, general = correlation(sums), _general_variance(sums)
    p = fisher_z_p(r, _standard_error(sums, general), _degrees(sums))
    return np.maximum(p, fisher_z_p(r, _scaled(sums, general), _welch_degrees(sums)))


def correlation_interval(sums: CentralSums, alpha: Alpha) -> Bounds:
    """Return the interval of the correlation at confidence 1 − ``alpha``; (r, r) where r is ±1."""
    r, general = correlation(sums), _general_variance(sums)
    low, high = fisher_z_interval(r, _standard_error(sums, general), _degrees(sums), alpha)
    other_low, other_high = fisher_z_interval(r, _scaled(sums, general), _welch_degrees(sums), alpha)
    return np.minimum(low, other_low), np.maximum(high, other_high)


def two_valued(sums: CentralSums) -> BoolArray:
    """Whether the first column has two values, which is where its kurtosis is least: 1 + skewness²."""
    varies = (sums.s20 > 0) & (sums.strata == 1)
    spread = np.where(varies, sums.s20, 1.0)
    kurtosis, skewness = sums.n * sums.s40 / spread**2, np.sqrt(sums.n) * sums.s30 / spread**1.5
    return np.asarray(varies & (kurtosis - skewness**2 - 1 < _ALIKE * kurtosis))


def smaller_group(sums: CentralSums) -> FloatArray:
    """Return the people of the smaller group where a column has two values, infinite where neither has."""
    each = (np.where(two_valued(s), s.n * np.minimum(*_group_shares(s)), np.inf) for s in (sums, sums.transposed))
    return np.asarray(np.minimum(*each))


def groups_of_two_valued(sums: CentralSums) -> TwoGroups:
    """Return the moments of the second column in the two groups that a first column of two values makes.

    With x the first column, its values a unit apart, the sum over the group of the higher value of any power of y is
    Σxyᵖ + f₁Σyᵖ, f₁ the share of the group. Meaningless where the first column has other values.
    """
    share, rest = _group_shares(sums)
    n = np.stack([np.rint(sums.n * rest), np.rint(sums.n * share)], axis=-1)
    unit = np.sqrt(np.where(sums.s20 > 0, sums.s20, 1.0) / np.maximum(sums.n * share * rest, 1e-300))
    higher = sums.s11 / unit, sums.s12 / unit + share * sums.s02, sums.s13 / unit + share * sums.s03
    everybody = np.zeros_like(sums.s02), sums.s02, sums.s03
    totals = [np.stack([t - h, h], axis=-1) for t, h in zip(everybody, higher, strict=True)]
    people = np.maximum(n, 1.0)
    mean = totals[0] / people
    s2 = np.maximum(totals[1] - people * mean**2, 0.0)
    s2 = np.where(s2 > _ALIKE * totals[1], s2, 0.0)
    s3 = np.where(s2 > 0, totals[2] - 3 * mean * totals[1] + 2 * people * mean**3, 0.0)
    return TwoGroups(*(v[:, None] for v in (n, mean, s2, s3)))


def _degrees(sums: CentralSums) -> FloatArray:
    """Return n − K − 1, NaN where one person fewer would leave no degree of freedom."""
    degrees = np.asarray(sums.n - sums.strata - 1, dtype=np.float64)
    return np.where(degrees > 1, degrees, np.nan)


def _standard_error(sums: CentralSums, general: FloatArray) -> FloatArray:
    r"""Return the standard error of atanh r: :math:`se^2 = \max\{1,\; V/(1-r^2)^2,\; a_{22}\} / (n-K-2)`."""
    a22 = _standardised_moments(sums)[0]
    return _scaled(sums, np.maximum(np.maximum(general, a22), 1.0))


def _scaled(sums: CentralSums, variance: FloatArray) -> FloatArray:
    return np.sqrt(variance / (_degrees(sums) - 1))


def _general_variance(sums: CentralSums) -> FloatArray:
    r"""Return the variance of √n atanh r without assumptions.

    .. math:: V/(1-r^2)^2, \qquad
              V = a_{22} - r(a_{31}+a_{13}) + \tfrac{r^2}{4}(a_{40}+2a_{22}+a_{04})

    with aᵢⱼ the standardised central moments. V is a difference that vanishes as |r| → 1; what rounding may
    have added to it is taken off, since it would be divided by almost nothing.
    """
    r = correlation(sums)
    a22, a31, a13, a40, a04 = _standardised_moments(sums)
    variance = a22 - r * (a31 + a13) + r * r / 4 * (a40 + 2 * a22 + a04)
    size = a22 + np.abs(r) * (np.abs(a31) + np.abs(a13)) + r * r / 4 * (a40 + 2 * a22 + a04)
    remainder = np.where(np.abs(r) < 1, 1 - r * r, np.inf)
    return np.asarray(np.maximum(variance - _ROUNDING * size, 0.0) / remainder**2)


def _welch_degrees(sums: CentralSums) -> FloatArray:
    """Return Welch's degrees of freedom, at least 1, where a column has two values; elsewhere n − K − 1."""
    usual = _degrees(sums)
    for s in (sums, sums.transposed):
        usual = np.where(two_valued(s), np.clip(_welch(s), 1.0, usual), usual)
    return usual


def _welch(sums: CentralSums) -> FloatArray:
    """Return Welch's degrees of freedom of the second column in the two groups that the first one makes.

    With x the first column, its values a unit apart, the sums over group 1 of the second column and of its square
    are Σxy and Σxy² + f₁Σy², f₁ the share of the group.
    """
    share, rest = _group_shares(sums)
    n1, n2 = (np.maximum(sums.n * f, 1.0) for f in (share, rest))
    unit = np.sqrt(np.where(sums.s20 > 0, sums.s20, 1.0) / np.maximum(sums.n * share * rest, 1e-300))
    total = sums.s11 / unit
    squares = sums.s12 / unit + share * sums.s02
    within = squares - total**2 / n1, sums.s02 - squares - total**2 / n2
    d1, d2 = (np.maximum(n - 1, 1e-3) for n in (n1, n2))
    v1, v2 = (np.maximum(w, 0.0) / d / n for w, d, n in zip(within, (d1, d2), (n1, n2), strict=True))
    both = np.where(v1 + v2 > 0, v1 + v2, 1.0)
    return np.asarray(1 / np.maximum((v1 / both) ** 2 / d1 + (v2 / both) ** 2 / d2, 1e-12))


def _group_shares(sums: CentralSums) -> tuple[FloatArray, FloatArray]:
    """Return the shares of the higher and of the lower value of a first column that has two."""
    skewness = np.sqrt(sums.n) * sums.s30 / np.where(sums.s20 > 0, sums.s20, 1.0) ** 1.5
    tilt = skewness / np.sqrt(4 + skewness**2)
    return (1 - tilt) / 2, (1 + tilt) / 2


def _standardised_moments(sums: CentralSums) -> tuple[FloatArray, ...]:
    """Return a22, a31, a13, a40, a04: means of products of columns that have mean 0 and variance 1."""
    varies = (sums.s20 > 0) & (sums.s02 > 0)
    n = np.maximum(np.asarray(sums.n, dtype=np.float64), 1.0)
    x = np.sqrt(np.where(varies, sums.s20, 1.0) / n)
    y = np.sqrt(np.where(varies, sums.s02, 1.0) / n)
    a22, a31, a13 = sums.s22 / n / x**2 / y**2, sums.s31 / n / x**3 / y, sums.s13 / n / x / y**3
    return a22, a31, a13, sums.s40 / n / x**4, sums.s04 / n / y**4
