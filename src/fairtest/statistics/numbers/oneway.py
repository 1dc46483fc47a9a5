r"""The correlation ratio η² of a numeric output between groups: its test and its interval.

η² = SSB/SST, the share of the output's variation that lies between the groups. Four things can be wrong with the usual
F test, and the p-value is the largest of those that each know of one:

- Groups may differ in their variances: with a small group of larger spread F rejects up to eight times too often. Brown
  and Forsythe's F* (1974) with Mehrotra's degrees of freedom (1997) does not suppose that they are equal.
- A group may have few people, or few whose output is not the usual one. F* then sees variances that are too small,
  since it hardly looks at the largest group. The permutation distribution
  (:mod:`~fairtest.statistics.numbers.oneway_null`) holds whatever the numbers are.
- In strata of a few people neither sees the spread of a group. What a group's people show together, over all strata
  (:mod:`~fairtest.statistics.numbers.oneway_contrasts`), needs no spread.
- A group of larger spread may have missed the tail of skewed numbers. What the others have seen of it reduces F* and
  that (:mod:`~fairtest.statistics.numbers.oneway_skewness`).

Nothing is known of the spread of two or three people: for the test, but not for η², groups of fewer than ten people are
put together. A person who is alone even so shows nothing.

Given explanatory strata, both sums of squares are taken about the means of the strata and added up; the
terms of the formulas are summed over the strata too.

The arguments are, for each context (and stratum) and group, the number of people, the mean, and the sums of
squares, cubes and fourth powers about the mean of the group. Empty groups are ignored, and so are strata
with a single group. A group of fewer than ten people beside larger ones borrows from their pooled variance what it
lacks to ten; one person without such a group beside has the variance pooled over all.

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

from fairtest.statistics.numbers import oneway_skewness
from fairtest.statistics.numbers.fisher_z import t_quantile
from fairtest.statistics.numbers.groups import Groups, Layout, merge_small_groups
from fairtest.statistics.numbers.oneway_contrasts import contrast_chi_square
from fairtest.statistics.numbers.oneway_null import permutation_p
from fairtest.statistics.numerics.rules import P_FLOOR, Alpha, Bounds, clip_p, per_context, scatter
from fairtest.statistics.tables.noncentral import noncentrality_high, noncentrality_low

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray

TINY_GROUP = 10
"""Groups of fewer people borrow the variance of the larger ones, as if they had so many people."""


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


def known_shape(groups: Groups) -> FloatArray:
    """Return the skewness that each context must reckon with because the largest one has seen it."""
    return oneway_skewness.known_shape(_test_layout(groups))


def eta_p(groups: Groups, known: FloatArray | None = None) -> FloatArray:
    """Return the p-value of η²: the largest of Brown and Forsythe's and those that know what it does not.

    NaN where no group has two people.

    Parameters
    ----------
    known
        The skewness of each context that others have seen (:func:`known_shape`); default: none.

    Examples
    --------
    Two people among 107 are the only ones who have 10: F* finds that beyond doubt, but it may be any two. Of one person
    alone nothing can be said, since nobody knows how far the numbers of such people spread.

    >>> for few in (2, 1):
    ...     some = Groups(*(np.array([v]) for v in ([107 - few, few], [0.0, 10.0], *[[0.0, 0.0]] * 3)))
    ...     print(brown_forsythe_p(some), eta_p(some).round(4))
    [1.e-300] [0.0002]
    [1.e-300] [1.]
    """
    oneway, defined = _OneWay.from_groups(groups, known)
    return scatter(clip_p(np.where(oneway.testable, oneway.p, np.nan)), defined)


def any_spread_p(groups: Groups, known: FloatArray | None = None) -> FloatArray:
    """Return the p-value of what groups show whatever their spreads: the part that no permutation could improve on."""
    oneway, defined = _OneWay.from_groups(groups, known)
    return scatter(oneway.any_spread_p, defined)


def brown_forsythe_p(groups: Groups) -> FloatArray:
    r"""Return the p-value of "all groups have the same mean", whatever their variances.

    .. math:: F^* = SSB / D, \quad D = \sum_j (1-f_j) v_j, \quad
              ν_1 = \frac{D^2}{\sum v_j^2 + (\sum f_j v_j)^2 - 2\sum f_j v_j^2}, \quad
              ν_2 = \frac{D^2}{\sum ((1-f_j) v_j)^2 / (n_j - 1)}

    with vⱼ the variance and fⱼ the share of group j. NaN also where no group has two people.
    """
    oneway, defined = _OneWay.from_groups(groups)
    return scatter(clip_p(np.where(oneway.testable, oneway.unequal_p, np.nan)), defined)


def eta_interval(groups: Groups, alpha: Alpha, known: FloatArray | None = None) -> Bounds:
    r"""Return the interval of η² at confidence 1 − ``alpha``.

    SSB/g with g = D/ν₁ is treated as noncentral χ² with ν₁ degrees of freedom, and inverted with the
    half-width :math:`t_{ν_2}\sqrt{κ}`, where κ ≥ 1 compares the large-sample variance of η² (which needs
    the third and fourth moments) with that of a noncentral χ². Where another p-value is the larger one, g is larger by
    as much as makes the same χ² agree with it. Where all variation lies between the groups
    and that is beyond chance the interval is (1, 1). The upper bound is never below the estimate.

    Apply :func:`~fairtest.statistics.numerics.rules.widen_to_zero` with the p-value that is reported.
    """
    oneway, defined = _OneWay.from_groups(groups, known)
    used = oneway.testable & (oneway.noise > 0)
    unit = oneway.unit[used]
    between, total = oneway.between[used], oneway.total[used]
    kappa = np.maximum(1.0, oneway.spread[used] / (4 * np.where(between > 0, unit * between, np.inf)))
    t = t_quantile(per_context(alpha, len(defined))[defined][used], oneway.df2[used])
    width = t * np.sqrt(kappa)
    low, high = (np.where(oneway.testable, 1.0, np.nan) for _ in range(2))
    statistic, df = between / unit, oneway.df1[used]
    low[used] = np.minimum(noncentrality_low(statistic, df, width) * unit / total, oneway.eta[used])
    with np.errstate(over="ignore"):  # where nothing is shown, the upper bound is beyond all numbers, and so 1
        high[used] = np.clip(noncentrality_high(statistic, df, width) * unit / total, oneway.eta[used], 1.0)
    return scatter(low, defined), scatter(high, defined)


@dataclass(frozen=True)
class _OneWay:
    """The analysis of variance of contexts in which η² is defined.

    Attributes
    ----------
    unequal_p
        The p-value of F*, of all groups.
    any_spread_p
        The larger one of F* and of what groups show over their strata, less what skewness may have done to them.
    permuted_p
        That of the permutation distribution. These two are of groups of which the smallest are put together.
    """

    between: FloatArray
    total: FloatArray
    noise: FloatArray
    df1: FloatArray
    df2: FloatArray
    spread: FloatArray
    unequal_p: FloatArray
    any_spread_p: FloatArray
    permuted_p: FloatArray
    testable: BoolArray

    @property
    def eta(self) -> FloatArray:
        """The correlation ratio."""
        return self.between / self.total

    @property
    def p(self) -> FloatArray:
        """The larger one."""
        return np.maximum(self.any_spread_p, self.permuted_p)

    @property
    def unit(self) -> FloatArray:
        """What the variation between groups is divided by to make it a χ² that agrees with the p-value."""
        own, used = (special.chdtri(self.df1, np.clip(p, P_FLOOR, 1 - 1e-12)) for p in (self.unequal_p, self.p))
        return np.asarray(self.noise / self.df1 * own / used)

    @classmethod
    def from_groups(cls, groups: Groups, known: FloatArray | None = None) -> tuple[_OneWay, BoolArray]:
        """Return the analysis where it is defined, and which of the given contexts those are."""
        layout = Layout.from_groups(groups)
        defined = np.asarray((layout.n > 0).any(axis=(1, 2)) & (layout.total.sum(axis=1) > 0))
        layout = layout.take(defined)
        known = np.zeros(len(layout.n)) if known is None else known[defined]
        between, total = layout.between.sum(axis=1), layout.total.sum(axis=1)
        noise, df1, df2 = _brown_forsythe(layout.n, layout.s2)
        tested = merge_small_groups(layout, TINY_GROUP)
        p = _f_star_p(between, noise, df1, df2), _any_spread_p(tested, known), permutation_p(tested)
        testable = np.asarray((layout.n > 1).any(axis=(1, 2)))
        return cls(between, total, noise, df1, df2, _spread(layout), *p, testable), defined


def _test_layout(groups: Groups) -> Layout:
    return merge_small_groups(Layout.from_groups(groups), TINY_GROUP)


def _f_star_p(between: FloatArray, noise: FloatArray, df1: FloatArray, df2: FloatArray) -> FloatArray:
    noisy = noise > 0
    f = between / np.where(noisy, noise, 1.0)
    return np.where(noisy, special.fdtrc(df1, df2, f), 0.0)


def _any_spread_p(layout: Layout, known: FloatArray) -> FloatArray:
    """Return the p-value of F* or of what groups show over strata, as χ² and less what skewness may have done."""
    f = _f_star_p(layout.between.sum(axis=1), *_brown_forsythe(layout.n, layout.s2, lend=False))
    people = layout.n.sum(axis=1)
    df = np.maximum((people > 0).sum(axis=1) - 1, 1)
    chi_square = np.minimum(special.chdtri(df, np.clip(f, P_FLOOR, 1.0)), contrast_chi_square(layout))
    p = special.chdtrc(df, chi_square * oneway_skewness.skewness_share(layout, known))
    return np.where(((people > 0) & (people < 2)).any(axis=1), 1.0, p)


def _brown_forsythe(n: FloatArray, s2: FloatArray, *, lend: bool = True) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return D and the degrees of freedom ν₁ and ν₂ (1 where there is no variance within groups)."""
    degrees = np.maximum(n - 1, 0.0)
    pooled_degrees = np.maximum(degrees.sum(axis=(1, 2), keepdims=True), 1.0)
    pooled = s2.sum(axis=(1, 2), keepdims=True) / pooled_degrees
    lent, lender = _lend(n, s2) if lend else (0.0, 0.0)
    alone = (degrees + lent == 0) & (n > 0)
    v = np.where(alone, pooled, (s2 + lent * lender) / np.maximum(degrees + lent, 1.0))
    degrees = np.where(alone, pooled_degrees, np.maximum(degrees + lent, 1.0))
    share = n / np.maximum(n.sum(axis=2, keepdims=True), 1.0)
    noise = ((1 - share) * v).sum(axis=(1, 2))
    noisy = noise > 0
    # Relative to D, so that outputs in tiny or huge units neither vanish nor overflow.
    v = v / np.where(noisy, noise, 1.0)[:, None, None]
    common = (share * v).sum(axis=2) ** 2
    first = ((1 - 2 * share) * v**2).sum(axis=(1, 2)) + common.sum(axis=1)
    second = (((1 - share) * v) ** 2 / degrees).sum(axis=(1, 2))
    return noise, 1 / np.where(noisy, first, 1.0), 1 / np.where(noisy, second, 1.0)


def _lend(n: FloatArray, s2: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the degrees of freedom lent to tiny groups beside larger ones, and the pooled variance of those.

    Two or three people may happen to have hardly any variance, which makes F* huge, or a large one, which drowns what
    the others show.
    """
    people = n.sum(axis=1, keepdims=True)
    tiny = people < TINY_GROUP
    lenders = np.where(tiny, 0.0, np.maximum(n - 1, 0.0)).sum(axis=(1, 2), keepdims=True)
    variance = np.where(tiny, 0.0, s2).sum(axis=(1, 2), keepdims=True) / np.maximum(lenders, 1.0)
    share = n / np.maximum(people, 1.0)
    return np.where(tiny & (lenders > 0), (TINY_GROUP - people) * share, 0.0), variance


def _spread(layout: Layout) -> FloatArray:
    r"""Return the sum over people of the squared influence on η², times (SST/N)².

    A person of group j, e away from its mean, changes η² by A₀ + A₁e + A₂e² over SST/N, with
    A₀ = b²(1 − η²), A₁ = 2b(1 − η²), A₂ = −η², b the group's mean minus the grand mean.
    """
    b, eta = layout.deviation, (layout.between.sum(axis=1) / layout.total.sum(axis=1))[:, None, None]
    a0, a1, a2 = b**2 * (1 - eta), 2 * b * (1 - eta), -eta
    squares = layout.n * a0**2 + (a1**2 + 2 * a0 * a2) * layout.s2 + a2**2 * layout.s4
    person = squares + 2 * a1 * a2 * layout.s3
    return np.asarray(person.sum(axis=(1, 2)), dtype=np.float64)
