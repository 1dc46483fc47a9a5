r"""The correlation ratio η² of a numeric output between groups: its test and its interval.

η² = SSB/SST, the share of the output's variation that lies between the groups. The usual F test supposes
that all groups have the same variance; with a small group of larger spread it rejects up to eight times too
often. Brown and Forsythe's F* (1974) with Mehrotra's degrees of freedom (1997) does not suppose it. For
very skewed outputs neither holds, nor with fewer degrees of freedom for a large kurtosis: such samples
understate the variation within groups. Prefer ranks. Weak too where a group of up to ten people has a
larger spread than the others.

Given explanatory strata, both sums of squares are taken about the means of the strata and added up; the
terms of the formulas are summed over the strata too.

The arguments are, for each context (and stratum) and group, the number of people, the mean, and the sums of
squares, cubes and fourth powers about the mean of the group. Empty groups are ignored, and so are strata
with a single group. A group of one person has no variance of its own: it is given the variance pooled over
the groups of the context, with the pooled degrees of freedom.

References
----------
M. Brown, A. Forsythe (1974), The small sample behavior of some statistics which test the equality of
several means. Technometrics 16, 129–132.

D. Mehrotra (1997), Improving the Brown–Forsythe solution to the generalized Behrens–Fisher problem.
Communications in Statistics – Simulation and Computation 26, 1139–1145.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.statistics.numbers.fisher_z import t_quantile
from fairtest.statistics.numerics.rules import Alpha, Bounds, clip_p, per_context, scatter
from fairtest.statistics.tables.noncentral import noncentrality_high, noncentrality_low

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Groups:
    """Central sums of a numeric output, contexts × groups or contexts × strata × groups.

    Attributes
    ----------
    n
        The number of people; 0 for a group that is absent.
    mean
        The mean of the group (anything finite or NaN where it is absent).
    s2, s3, s4
        The sums of squares, cubes and fourth powers of the deviations from the mean of the group.
    """

    n: FloatArray | IntArray
    mean: FloatArray
    s2: FloatArray
    s3: FloatArray
    s4: FloatArray


def eta_squared(groups: Groups) -> FloatArray:
    """Return η²; NaN with fewer than two groups or where everyone has the same output.

    Examples
    --------
    >>> two = Groups(*(np.array([v]) for v in ([2, 2], [1.0, 3.0], [2.0, 2.0], [0.0, 0.0], [2.0, 2.0])))
    >>> eta_squared(two)
    array([0.5])
    """
    oneway, defined = _OneWay.from_groups(groups)
    return scatter(oneway.eta, defined)


def brown_forsythe_p(groups: Groups) -> FloatArray:
    r"""Return the p-value of "all groups have the same mean", whatever their variances.

    .. math:: F^* = SSB / D, \quad D = \sum_j (1-f_j) v_j, \quad
              ν_1 = \frac{D^2}{\sum v_j^2 + (\sum f_j v_j)^2 - 2\sum f_j v_j^2}, \quad
              ν_2 = \frac{D^2}{\sum ((1-f_j) v_j)^2 / (n_j - 1)}

    with vⱼ the variance and fⱼ the share of group j. NaN also where no group has two people.
    """
    oneway, defined = _OneWay.from_groups(groups)
    noisy = oneway.noise > 0
    f = oneway.between / np.where(noisy, oneway.noise, 1.0)
    p = np.where(noisy, special.fdtrc(oneway.df1, oneway.df2, f), 0.0)
    return scatter(clip_p(np.where(oneway.testable, p, np.nan)), defined)


def eta_interval(groups: Groups, alpha: Alpha) -> Bounds:
    r"""Return the interval of η² at confidence 1 − ``alpha``.

    SSB/g with g = D/ν₁ is treated as noncentral χ² with ν₁ degrees of freedom, and inverted with the
    half-width :math:`t_{ν_2}\sqrt{κ}`, where κ ≥ 1 compares the large-sample variance of η² (which needs
    the third and fourth moments) with that of a noncentral χ². Where all variation lies between the groups
    the interval is (1, 1). The upper bound is never below the estimate.

    Apply :func:`~fairtest.statistics.numerics.rules.widen_to_zero` with the p-value that is reported.
    """
    oneway, defined = _OneWay.from_groups(groups)
    used = oneway.testable & (oneway.noise > 0)
    unit = oneway.noise[used] / oneway.df1[used]
    between, total = oneway.between[used], oneway.total[used]
    kappa = np.maximum(1.0, oneway.spread[used] / (4 * np.where(between > 0, unit * between, np.inf)))
    t = t_quantile(per_context(alpha, len(defined))[defined][used], oneway.df2[used])
    width = t * np.sqrt(kappa)
    low, high = (np.where(oneway.testable, 1.0, np.nan) for _ in range(2))
    statistic, df = between / unit, oneway.df1[used]
    low[used] = np.minimum(noncentrality_low(statistic, df, width) * unit / total, oneway.eta[used])
    high[used] = np.clip(noncentrality_high(statistic, df, width) * unit / total, oneway.eta[used], 1.0)
    return scatter(low, defined), scatter(high, defined)


@dataclass(frozen=True)
class _OneWay:
    """The analysis of variance of contexts in which η² is defined."""

    between: FloatArray
    total: FloatArray
    noise: FloatArray
    df1: FloatArray
    df2: FloatArray
    spread: FloatArray
    testable: BoolArray

    @property
    def eta(self) -> FloatArray:
        """The correlation ratio."""
        return self.between / self.total

    @classmethod
    def from_groups(cls, groups: Groups) -> tuple[_OneWay, BoolArray]:
        """Return the analysis where it is defined, and which of the given contexts those are."""
        n, mean, s2, s3, s4 = _laid_out(groups)
        size = np.maximum(n.sum(axis=2, keepdims=True), 1.0)
        effect = np.where(n > 0, mean - (n * mean).sum(axis=2, keepdims=True) / size, 0.0)
        between = (n * effect**2).sum(axis=(1, 2))
        total = between + s2.sum(axis=(1, 2))
        defined = np.asarray((n > 0).any(axis=(1, 2)) & (total > 0))
        n, mean, effect, s2, s3, s4 = (v[defined] for v in (n, mean, effect, s2, s3, s4))
        between, total = between[defined], total[defined]
        spread = _spread(Groups(n, mean, s2, s3, s4), effect, (between / total)[:, None, None])
        noise, df1, df2 = _brown_forsythe(n, s2)
        return cls(between, total, noise, df1, df2, spread, (n > 1).any(axis=(1, 2))), defined


def _laid_out(groups: Groups) -> tuple[FloatArray, ...]:
    """Return the fields as contexts × strata × groups, 0 for what is absent or carries no information."""
    n = np.asarray(groups.n, dtype=np.float64)
    if n.ndim == 2:
        n = n[:, None, :]
    used = (n > 0) & ((n > 0).sum(axis=2, keepdims=True) > 1)
    fields = (groups.n, groups.mean, groups.s2, groups.s3, groups.s4)
    return tuple(np.where(used, np.asarray(v, dtype=np.float64).reshape(n.shape), 0.0) for v in fields)


def _brown_forsythe(n: FloatArray, s2: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return D and the degrees of freedom ν₁ and ν₂ (1 where there is no variance within groups)."""
    degrees = np.maximum(n - 1, 0.0)
    pooled_degrees = np.maximum(degrees.sum(axis=(1, 2), keepdims=True), 1.0)
    pooled = s2.sum(axis=(1, 2), keepdims=True) / pooled_degrees
    v = np.where(n > 1, s2 / np.maximum(degrees, 1.0), np.where(n > 0, pooled, 0.0))
    degrees = np.where(n > 1, degrees, pooled_degrees)
    share = n / np.maximum(n.sum(axis=2, keepdims=True), 1.0)
    noise = ((1 - share) * v).sum(axis=(1, 2))
    noisy = noise > 0
    # Relative to D, so that outputs in tiny or huge units neither vanish nor overflow.
    v = v / np.where(noisy, noise, 1.0)[:, None, None]
    common = (share * v).sum(axis=2) ** 2
    first = ((1 - 2 * share) * v**2).sum(axis=(1, 2)) + common.sum(axis=1)
    second = (((1 - share) * v) ** 2 / degrees).sum(axis=(1, 2))
    return noise, 1 / np.where(noisy, first, 1.0), 1 / np.where(noisy, second, 1.0)


def _spread(groups: Groups, effect: FloatArray, eta: FloatArray) -> FloatArray:
    r"""Return the sum over people of the squared influence on η², times (SST/N)².

    A person of group j, e away from its mean, changes η² by A₀ + A₁e + A₂e² over SST/N, with
    A₀ = b²(1 − η²), A₁ = 2b(1 − η²), A₂ = −η², b the group's mean minus the grand mean.
    """
    a0, a1, a2 = effect**2 * (1 - eta), 2 * effect * (1 - eta), -eta
    squares = groups.n * a0**2 + (a1**2 + 2 * a0 * a2) * groups.s2 + a2**2 * groups.s4
    person = squares + 2 * a1 * a2 * groups.s3
    return np.asarray(person.sum(axis=(1, 2)), dtype=np.float64)
