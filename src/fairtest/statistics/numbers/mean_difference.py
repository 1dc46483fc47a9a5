r"""The difference of two groups' means of a number: its test and its interval, also within strata.

Welch's t compares two means whatever the variances. It fails where the number is skewed and a group is small or has
the larger spread: a sample that misses the tail has a mean that is too small and, by the same chance, a spread that is
too small, so that t is far too large (twenty times too often beyond a level of 0.005 with log-normal incomes). Nothing
in that sample shows it. What helps is what the other group knows: if both have about the same *shape*, skewness counts
for both, whoever has seen it; and a small context is told what the largest one has seen. The p-value is the largest of
three:

1. Welch's: Student's t with Satterthwaite's degrees of freedom.
2. Welch's t divided by 1 + 2.5 λ, where λ is the skewness of the difference in the direction in which missing a tail
   makes t too large, from the skewness of either group, for each with its spread. Simulated quantiles of t are about
   1 + 2 λ times Student's for exponential samples, 1 + 1.2 λ times for log-normal ones; that much and some more, since
   the tail on that side alone must hold. A skewness is enlarged where it is near the
   largest that a sample of the size can have, and reduced by its standard error; the spread of either group may be
   larger than it seems, so that skewness of two groups does not cancel where their spreads are not known well.
3. What permuting people within strata would give: the score statistic with the permutation's mean, variance and
   skewness (for outputs of 0 and 1 this is the skewness-corrected score test of a difference of rates). It alone knows
   that a rare group may have had no person with a rare output.

No p-value is smaller than the share of one assignment of people to groups among all, and where everybody of a group
has the same number, none smaller than the chance that the shape of the other group gives that. A group of one person
shows nothing: how far the numbers of such people spread, nobody knows. Where a group has one person in a stratum, its
spread is known from other strata: from where it has more, and from how far its single people are from each other. The
interval holds all differences that the test does not reject.

Two means cannot be compared without assumptions, however many people there are (Bahadur and Savage 1956): here that
groups have about the same shape, or that the sample has seen it.

References
----------
B. Welch (1947), The generalization of "Student's" problem when several different population variances are involved.
Biometrika 34, 28–35.

N. Johnson (1978), Modified t tests and confidence intervals for asymmetrical populations. JASA 73, 536–544.

R. Bahadur, L. Savage (1956), The nonexistence of certain statistical procedures in nonparametric problems. Annals of
Mathematical Statistics 27, 1115–1122.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.statistics.numerics.pearson3 import skewed_deviate
from fairtest.statistics.numerics.roots import Increasing, increasing_root
from fairtest.statistics.numerics.rules import Alpha, Bounds, clip_p, per_context, scatter
from fairtest.statistics.rates import score

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray, IntArray

STRETCH = 2.5
"""By how much t may be too large for each unit of the skewness of a difference."""
UNSEEN = 12.0
"""How much a sample's skewness is enlarged: by this times the square of its share of the largest possible one."""
UNKNOWN_SPREAD = 5.0
"""How fast the variance of a group is unknown as its skewness nears the largest that so few people can show."""
CONSTANT = 2.0
"""How many times larger a skewness may be than it seems where everybody in a group has the same number."""
SURELY_SEEN = 9.0
"""How many people with a rare value must be expected for nobody to miss it: then the chance is 1 in 8,000."""
_BALANCED = 0.1
"""Permutations with less skewness than this have nearly Student's tails; those with more have thinner ones."""
_FAR = 1e9
"""Where the search for a bound ends, in standard errors; beyond, there is none."""


@dataclass(frozen=True)
class TwoGroups:
    """Central sums of a number, ``[context, stratum, group]``: the reference first, then the group.

    Attributes
    ----------
    n
        The number of people.
    mean
        The mean of the group (anything where nobody is in it).
    s2, s3
        The sums of squares and cubes of the deviations from it.
    """

    n: FloatArray
    mean: FloatArray
    s2: FloatArray
    s3: FloatArray

    def take(self, at: BoolArray | IntArray) -> TwoGroups:
        """Return some of the contexts."""
        return TwoGroups(*(getattr(self, f.name)[at] for f in fields(self)))

    @property
    def both(self) -> BoolArray:
        """The strata in which both groups have people: the others carry no information."""
        return np.asarray((self.n > 0).all(axis=-1))


def shape_of_largest(groups: TwoGroups) -> FloatArray:
    """Return the skewness that each context must reckon with because the largest of them has seen it.

    A small context that looks harmless may have missed the tail that everybody's numbers have. It counts in full where
    a tail of this skewness (of a rare value, as rare as the skewness asks for) could well be missed, and less the more
    people a context has; not at all in contexts that are more than half as large as the largest.

    Examples
    --------
    >>> n = np.array([[[1000.0, 500.0]], [[100.0, 50.0]], [[500.0, 500.0]]])
    >>> groups = TwoGroups(n, np.zeros((3, 1, 2)), n, np.array([[[5000.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]]]))
    >>> shape_of_largest(groups).round(1)
    array([0. , 6.4, 0. ])
    """
    fit, defined = _fit(groups)
    if not defined.any():
        return np.zeros(len(defined))
    people = fit.n.sum(axis=(1, 2))
    largest = people == people.max()
    shapes = fit.shapes[largest].ravel()
    shape = shapes[np.argmax(np.abs(shapes))]
    seen = np.minimum(1.0, SURELY_SEEN * (shape**2 + 4) / people)
    found = np.zeros(len(defined))
    found[defined] = np.where(2 * people <= people.max(), shape * seen, 0.0)
    return found


def mean_difference_p(groups: TwoGroups, known: FloatArray | None = None) -> FloatArray:
    """Return the two-sided p-value of "both groups have the same mean"; NaN where it cannot be known.

    That is where there are no two groups in any stratum, or nobody beyond one person of each.

    Parameters
    ----------
    known
        The skewness of each context that others have seen (:func:`shape_of_largest`); default: none.

    Examples
    --------
    >>> groups = TwoGroups(*(np.array([[v]]) for v in ([40.0, 40.0], [5.0, 6.0], [39.0, 39.0], [0.0, 0.0])))
    >>> print(mean_difference_p(groups).round(7))
    [2.6e-05]
    """
    fit, defined = _fit(groups, known)
    deviate = fit.deviate(np.zeros(len(fit.gap)), np.arange(len(fit.gap)))
    return scatter(clip_p(np.asarray(2 * special.ndtr(deviate))), defined)


def welch_deviates(groups: TwoGroups, known: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the normal deviates of Welch's test, and of the same reduced by what skewness may have done.

    The second are no larger than so few people could show. Both are 0 where the difference is not defined.
    """
    fit, defined = _fit(groups, known)
    at, zero = np.arange(len(fit.gap)), np.zeros(len(fit.gap))
    found = np.zeros((2, len(defined)))
    found[0, defined] = -_student_deviate(*fit.welch_t(zero, at, 1.0))
    found[1, defined] = -np.maximum(_student_deviate(*fit.welch_t(zero, at, fit.stretch(zero, at))), fit.floor)
    return found[0], found[1]


def mean_difference_interval(groups: TwoGroups, alpha: Alpha, known: FloatArray | None = None) -> Bounds:
    """Return the interval of the difference at confidence 1 − ``alpha``: what the test does not reject.

    A bound is infinite where no difference, however large, could be rejected with so few people.
    """
    fit, defined = _fit(groups, known)
    critical = special.ndtri(per_context(alpha, len(defined))[defined] / 2)
    unit = np.where(fit.unit > 0, fit.unit, 1.0)
    reach = np.full(len(unit), _FAR)

    def above(steps: FloatArray, rows: IntArray) -> FloatArray:
        return np.asarray(critical[rows] - fit.deviate(fit.gap[rows] + steps * unit[rows], rows))

    def below(steps: FloatArray, rows: IntArray) -> FloatArray:
        return np.asarray(critical[rows] - fit.deviate(fit.gap[rows] - steps * unit[rows], rows))

    ends = []
    for function, sign in ((below, -1.0), (above, 1.0)):
        steps = _first_crossing(function, reach)
        ends.append(np.where(steps < _FAR, fit.gap + sign * steps * unit, sign * np.inf))
    bounds = _where_nobody_varies(fit, ends[0], ends[1], 2 * special.ndtr(critical))
    return scatter(bounds[0], defined), scatter(bounds[1], defined)


def _where_nobody_varies(fit: _Fit, low: FloatArray, high: FloatArray, alpha: FloatArray) -> Bounds:
    """Give groups in each of which everybody has the same number the interval of two rates, 100 % and 0 %.

    No spread was seen, and it would be rash to conclude that there is none.
    """
    alone = fit.s2.sum(axis=(1, 2)) <= 0
    if not alone.any():
        return low, high
    n0, n1 = (fit.n[alone][..., group].astype(np.int64) for group in (0, 1))
    least, _ = score.difference_interval(n1, n1, np.zeros_like(n0), n0, alpha[alone])
    rejected = 2 * special.ndtr(fit.deviate(np.zeros(len(fit.gap)), np.arange(len(fit.gap))))[alone] <= alpha[alone]
    share = np.where(rejected, np.maximum(least, 1e-9), np.minimum(least, 0.0))
    ends = np.stack((fit.gap[alone] * share, fit.gap[alone]))
    low[alone], high[alone] = ends.min(axis=0), ends.max(axis=0)
    return low, high


def _first_crossing(function: Increasing, reach: FloatArray) -> FloatArray:
    """Return where a function of steps from the estimate turns positive, the bracket found by doubling."""
    high = np.full(len(reach), 2.0)
    rows = np.arange(len(reach))
    while True:
        short = (function(high, rows) < 0) & (high < reach)
        if not short.any():
            break
        high = np.where(short, np.minimum(high * 4, reach), high)
    return increasing_root(function, np.zeros(len(reach)), high, tolerance=1e-10)


def _fit(groups: TwoGroups, known: FloatArray | None = None) -> tuple[_Fit, BoolArray]:
    n = np.where(groups.both[..., None], groups.n, 0.0)
    spare = np.maximum(n - 1, 0).sum(axis=(1, 2)) > 0
    varies = np.where(groups.both[..., None], groups.s2, 0.0).sum(axis=(1, 2)) > 0
    gaps = np.where(groups.both, groups.mean[..., 1] - groups.mean[..., 0], 0.0)
    defined = spare & (varies | (gaps != 0).any(axis=1))
    return _Fit(groups.take(defined), np.zeros(defined.sum()) if known is None else known[defined]), defined


class _Fit:
    """What the test needs of contexts in which it is defined."""

    def __init__(self, groups: TwoGroups, known: FloatArray) -> None:
        self._known = known
        used = groups.both[..., None]
        self.n = np.where(used, groups.n, 0.0)
        self.s2, self.s3 = np.where(used, groups.s2, 0.0), np.where(used, groups.s3, 0.0)
        size = self.n.sum(axis=-1)
        self.weight = size / size.sum(axis=1, keepdims=True)
        self.gaps = np.where(used[..., 0], groups.mean[..., 1] - groups.mean[..., 0], 0.0)
        self.gap = (self.weight * self.gaps).sum(axis=1)

    @cached_property
    def _variances(self) -> tuple[FloatArray, FloatArray]:
        """The variance of each stratum's group, and the degrees of freedom it is known with.

        A single person has none: there it is that of the group in all strata, also from how far its single people are
        from each other, or else of everybody.
        """
        spare = np.maximum(self.n - 1, 0.0)
        variance = self.s2 / np.maximum(spare, 1)
        alone = spare == 0
        between, strata = self._squares_of_single_people(variance)
        of_group, df = self.s2.sum(axis=1), spare.sum(axis=1)
        everybody, all_df = (v.sum(axis=1, keepdims=True) for v in (of_group, df))
        own_df = df + np.maximum(strata - 1, 0.0)
        pooled = np.where(own_df > 0, (of_group + between) / np.maximum(own_df, 1), everybody / np.maximum(all_df, 1))
        pooled_df = np.where(own_df > 0, own_df, all_df)
        return np.where(alone, pooled[:, None], variance), np.where(alone, pooled_df[:, None], spare)

    @cached_property
    def _single(self) -> BoolArray:
        """Where a group has one person only."""
        return np.asarray((self.n > 0) & (self.n <= 1))

    def _squares_of_single_people(self, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far differences are from each other where a group has one person, and in how many strata.

        The sum of squares ``[context, group]`` is less by what the other group's mean adds; where that is one person,
        too, each has half of it. Differences that are not the same in all strata make it larger.
        """
        single, strata = self._single, self._single.sum(axis=1).astype(float)
        mean = (self.gaps[..., None] * single).sum(axis=1) / np.maximum(strata, 1)
        away = (self.gaps[..., None] - mean[:, None]) ** 2
        both = single.all(axis=-1, keepdims=True)
        others = (variance / np.maximum(self.n, 1.0))[..., ::-1]
        squares = (np.where(both, away / 2, away - others) * single).sum(axis=1)
        return np.maximum(squares, 0.0) * (strata > 1), strata

    @cached_property
    def _parts(self) -> FloatArray:
        """What each stratum's group adds to the variance of the difference."""
        variance, _ = self._variances
        return np.asarray(self.weight[..., None] ** 2 * variance / np.maximum(self.n, 1.0) * (self.n > 0))

    @cached_property
    def _welch(self) -> tuple[FloatArray, FloatArray]:
        """The standard error of the difference and its degrees of freedom."""
        total = self._parts.sum(axis=(1, 2))
        _, df = self._variances
        # the single people of a group have one variance, which is too small for all of them or for none
        of_single = np.where(self._single, self._parts, 0.0).sum(axis=1) ** 2
        df_of_single = df.max(axis=1, initial=1.0, where=self._single)
        others = np.where(self._single, 0.0, self._parts**2 / np.maximum(df, 1.0))
        rest = others.sum(axis=(1, 2)) + (of_single / df_of_single).sum(axis=1)
        known = total > 0
        return np.sqrt(total), np.where(known, total**2 / np.where(known & (rest > 0), rest, 1.0), 1.0)

    @cached_property
    def unit(self) -> FloatArray:
        """A step for searching bounds: the larger of two standard errors, or a part of the gap."""
        error, _ = self._welch
        null = np.sqrt(self._null(self.gap, np.arange(len(self.gap)))[0])
        return np.asarray(np.maximum(np.maximum(error, null), 1e-9 * np.abs(self.gap)))

    @cached_property
    def _skewness(self) -> tuple[FloatArray, FloatArray]:
        """The skewness of each group's deviations, and of how many people it is known."""
        people = self.n.sum(axis=1)
        spread = np.where(self.s2.sum(axis=1) > 0, self.s2.sum(axis=1), 1.0) / np.maximum(people, 1.0)
        return self.s3.sum(axis=1) / np.maximum(people, 1.0) / spread**1.5, np.maximum(people, 1.0)

    @cached_property
    def shapes(self) -> FloatArray:
        """The skewness that each group speaks for: less its standard error, enlarged where it was hardly seen."""
        seen, people = self._skewness
        sure = np.sign(seen) * np.maximum(np.abs(seen) - np.sqrt(6 / people), 0.0)
        return np.asarray(sure * (1 + UNSEEN * sure**2 / people))

    @cached_property
    def _stretch(self) -> tuple[FloatArray, FloatArray]:
        """By how much t may be too large where the difference is negative, and where it is positive."""
        parts, people = self._parts, np.maximum(self.n, 1.0)
        side = np.array([-1.0, 1.0])
        low, high = np.zeros(len(self.gap)), np.zeros(len(self.gap))
        everybody = np.maximum(self.n.sum(axis=1), 1.0)
        for shape in (*self.shapes.T, self._known):
            for wider in (0, 1):
                room = np.ones((len(shape), 2))
                unsure = np.abs(shape) / np.sqrt(everybody[:, wider])
                room[:, wider] += unsure + UNKNOWN_SPREAD * unsure**3
                spread = parts * room[:, None]
                total = spread.sum(axis=(1, 2))
                third = (side * spread**1.5 / np.sqrt(people)).sum(axis=(1, 2))
                skew = shape * third / np.where(total > 0, total, 1.0) ** 1.5
                low, high = np.maximum(low, skew), np.maximum(high, -skew)
        return 1 + STRETCH * low, 1 + STRETCH * high

    @cached_property
    def floor(self) -> FloatArray:
        """The normal deviate of half the smallest p-value that so few people could show."""
        n0, n1 = self.n[..., 0], self.n[..., 1]
        ways = special.gammaln(n0 + n1 + 1) - special.gammaln(n0 + 1) - special.gammaln(n1 + 1)
        least = -ways.sum(axis=1)
        least = np.where((self.n.sum(axis=1) < 2).any(axis=1), 0.0, least)  # nobody knows one person's spread
        constant = self.s2.sum(axis=1) <= 0
        seen, people = self._skewness
        for group in (0, 1):
            other = 1 - group
            own = CONSTANT * np.maximum(np.abs(seen[:, other]) - np.sqrt(6 / people[:, other]), 0.0)
            shape = np.maximum(own, np.abs(self._known))
            rare = (1 - np.sqrt(1 - 4 / (shape**2 + 4))) / 2  # of the two values that have this skewness
            alike = np.where(constant[:, other], -np.inf, people[:, group] * np.log1p(-rare))
            least = np.where(constant[:, group], np.maximum(least, alike), least)
        return np.asarray(special.ndtri_exp(np.minimum(least, -1e-12) - np.log(2)))

    def deviate(self, gap: FloatArray, rows: IntArray) -> FloatArray:
        """Return the normal deviate of half the p-value of "the difference is ``gap``", 0 or below."""
        welch = _student_deviate(*self.welch_t(gap, rows, self.stretch(gap, rows)))
        found = np.maximum(welch, self._score(gap, rows))
        return np.minimum(np.maximum(found, self.floor[rows]), 0.0)

    def stretch(self, gap: FloatArray, rows: IntArray) -> FloatArray:
        """Return by how much t may be too large."""
        low, high = (v[rows] for v in self._stretch)
        return np.where(self.gap[rows] < gap, low, high)

    def welch_t(self, gap: FloatArray, rows: IntArray, stretch: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return Welch's t divided by ``stretch``, and its degrees of freedom."""
        error, df = (v[rows] for v in self._welch)
        distance = self.gap[rows] - gap
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(distance == 0, 0.0, np.abs(distance) / (error * stretch)), df

    def _null(self, gap: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return variance and third moment of the difference less ``gap`` under permutation, and its estimate."""
        n0, n1 = self.n[rows, :, 0], self.n[rows, :, 1]
        size = n0 + n1
        s2, s3, weight = self.s2[rows], self.s3[rows], self.weight[rows]
        away = np.where(size > 0, self.gaps[rows] - gap[:, None], 0.0)
        people = np.maximum(size, 1.0)
        squares = s2.sum(axis=-1) + away**2 * n0 * n1 / people
        cubes = s3.sum(axis=-1) + 3 * away * (s2[..., 1] * n0 - s2[..., 0] * n1) / people
        cubes += away**3 * n0 * n1 * (n0 - n1) / people**2
        product = np.maximum(n0 * n1, 1.0)
        second = weight**2 * squares * size / product / np.maximum(size - 1, 1.0)
        spare = np.maximum((size - 1) * (size - 2), 1.0)
        third = weight**3 * size**2 * cubes * (n0 - n1) / product**2 / spare * (size > 2)
        return second.sum(axis=1), third.sum(axis=1), (weight * away).sum(axis=1)

    def _score(self, gap: FloatArray, rows: IntArray) -> FloatArray:
        """Return the deviate of the score test of ``gap``.

        Without skewness a permutation has nearly Student's tails (exactly so for normal outputs); with much of it, the
        statistic is bounded and its tails are those of a Pearson III.
        """
        variance, third, distance = self._null(gap, rows)
        some = variance > 0
        z = distance / np.sqrt(np.where(some, variance, 1.0))
        skewness = third / np.where(some, variance, 1.0) ** 1.5
        spare = np.maximum(self.n[rows].sum(axis=-1) - 1, 0.0).sum(axis=1)
        t = np.abs(z) * np.sqrt(np.maximum(spare - 1, 0.5) / np.maximum(spare - z * z, 1e-12))
        student = -_student_deviate(t, np.maximum(spare - 1, 0.5))
        alike = 1 / (1 + (skewness / _BALANCED) ** 2)
        size = alike * np.minimum(student, 1e3) + (1 - alike) * np.abs(z)
        found = skewed_deviate(size, np.where(z < 0, -skewness, skewness))
        return np.where(some, found, np.where(distance == 0, 0.0, -np.inf))


def _student_deviate(t: FloatArray, df: FloatArray) -> FloatArray:
    """Return the normal deviate with the lower tail that Student's t has beyond ``-t``."""
    tail = special.stdtr(df, -t)
    with np.errstate(divide="ignore"):
        return np.asarray(special.ndtri(tail))
