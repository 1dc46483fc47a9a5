r"""Normalised mutual information: its test, its interval, and its form given explanatory strata.

For a table of counts with n people, :math:`MI = \sum p_{ij} \ln(p_{ij} / p_i p_j)` and :math:`NMI = MI /
\min(H(O), H(S))`, between 0 (independent) and 1 (one attribute determines the other). The G statistic 2n·MI
tests independence. Outputs or groups that nobody in a context has are dropped from its table; a table in
which one attribute is constant has no NMI (NaN).

The shape of the counts is contexts × outputs × groups, or contexts × strata × outputs × groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.statistics.numerics.pearson3 import pearson3_tail
from fairtest.statistics.numerics.rules import Alpha, Bounds, clip_p, normal_quantile, per_context, scatter
from fairtest.statistics.tables.noncentral import noncentrality_high, noncentrality_low
from fairtest.statistics.tables.null_moments import NullMoments

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray, IntArray

_EMPTIER = 4 / 3
"""By how much more than without association G is lifted with it: most cells are emptier than their margins say."""
_SPARSE = 5.0
"""Below this smallest expected count the χ² distribution of G is not trusted."""


def nmi(counts: IntArray) -> FloatArray:
    """Return the normalised mutual information of each table.

    Examples
    --------
    >>> nmi([[[30, 20, 10], [15, 25, 40]], [[5, 0, 0], [0, 5, 5]], [[5, 5, 5], [0, 0, 0]]]).round(4)
    array([0.1154, 1.    ,    nan])
    """
    tables, defined = _Tables.from_counts(counts)
    return scatter(tables.nmi, defined)


def g_statistic(counts: IntArray) -> FloatArray:
    """Return G = 2n·MI, also known as the likelihood-ratio statistic of independence."""
    tables, defined = _Tables.from_counts(counts)
    return scatter(tables.g, defined)


def g_test_p(counts: IntArray) -> FloatArray:
    """Return the p-value of G against χ² with (rows − 1)(columns − 1) degrees of freedom.

    Not to be used where :func:`smallest_expected` is below 5 (draw random tables with the same margins there), nor in
    large tables (:func:`~fairtest.statistics.tables.sparse_moments.is_biased`).

    Examples
    --------
    >>> print(g_test_p([[[30, 20, 10], [15, 25, 40]]]))
    [1.6198...e-05]
    """
    tables, defined = _Tables.from_counts(counts)
    return scatter(clip_p(special.chdtrc(tables.df, tables.g)), defined)


def degrees_of_freedom(counts: IntArray) -> FloatArray:
    """Return (rows − 1)(columns − 1) of the rows and columns in use, at least 0."""
    tables = np.asarray(counts)
    rows, columns = (np.maximum((tables.sum(axis=axis) > 0).sum(axis=1) - 1, 0) for axis in (2, 1))
    return np.asarray(rows * columns, dtype=np.float64)


def smallest_expected(counts: IntArray) -> FloatArray:
    """Return the smallest count that independence would lead us to expect, over the rows and columns in use.

    Examples
    --------
    >>> smallest_expected([[[30, 20, 0], [15, 25, 0]], [[0, 0, 0], [0, 0, 0]]])
    array([20.,  nan])
    """
    tables = np.asarray(counts, dtype=np.float64)
    smallest = np.ones(len(tables))
    for axis in (1, 2):
        margin = tables.sum(axis=axis)
        smallest *= np.where(margin > 0, margin, np.inf).min(axis=1)
    people = tables.sum(axis=(1, 2))
    some = people > 0
    return scatter(smallest[some] / people[some], some)


def nmi_interval(counts: IntArray, alpha: Alpha, bias: FloatArray | None = None) -> Bounds:
    r"""Return the interval of the NMI at confidence 1 − ``alpha``.

    G is treated as noncentral χ² whose noncentrality is 2n·MI, and inverted with the half-width z√κ, where
    κ is the ratio of the large-sample variance of the estimate to that of a noncentral χ². Close to
    independence (G below 8z²) and in sparse tables κ is at least 1; far from it at least 1/4. In sparse
    tables the lower bound is the smaller of those of G and of Pearson's X². The upper bound is never below
    the estimate, which the correction for the upward bias of the estimate could otherwise bring about.

    ``bias`` is by how much the mean of G without association exceeds its degrees of freedom, where that is known; it
    is taken off, for the lower bound a third more. The bounds are those of the estimate alone: apply
    :func:`~fairtest.statistics.numerics.rules.widen_to_zero` with the p-value that is reported.

    Examples
    --------
    >>> low, high = nmi_interval([[[30, 20, 10], [15, 25, 40]]], 0.05)
    >>> print(low.round(4), high.round(4))
    [0.0352] [0.2255]
    """
    tables, defined = _Tables.from_counts(counts)
    z = normal_quantile(per_context(alpha, len(defined))[defined])
    sparse = smallest_expected(counts)[defined] < _SPARSE
    width = z * np.sqrt(_inflation(tables, z, sparse))
    off = np.zeros_like(tables.g) if bias is None else bias[defined]
    low = noncentrality_low(np.maximum(tables.g - _EMPTIER * off, 0.0), tables.df, width)
    low[sparse] = np.minimum(low, noncentrality_low(tables.pearson, tables.df, width))[sparse]
    high = noncentrality_high(np.maximum(tables.g - off, 0.0), tables.df, width)
    scale = 2 * tables.people * tables.entropy
    high = np.clip(high / scale, tables.nmi, 1.0)
    return scatter(np.minimum(low / scale, tables.nmi), defined), scatter(high, defined)


def _inflation(tables: _Tables, z: FloatArray, sparse: BoolArray) -> FloatArray:
    """Return κ, by how much the estimate varies more than a scaled noncentral χ² would."""
    some = tables.nmi > 0
    kappa = np.where(some, tables.variance * tables.entropy / (2 * np.where(some, tables.nmi, 1.0)), 1.0)
    cautious = np.maximum(kappa, 1.0)
    near = np.minimum(1.0, 8 * z**2 / np.maximum(tables.g, 1e-9))
    blended = (1 - near) * np.maximum(kappa, 0.25) + near * cautious
    return np.where(sparse, cautious, blended)


def conditional_nmi(counts: IntArray) -> FloatArray:
    """Return the average NMI of the strata in which it is defined, weighted by their people.

    Examples
    --------
    >>> conditional_nmi([[[[5, 0], [0, 5]], [[10, 10], [10, 10]], [[7, 0], [9, 0]]]]).round(4)
    array([0.2])
    """
    strata = _Strata.from_counts(counts)
    return strata.effect


def conditional_nmi_p(counts: IntArray, null: NullMoments) -> FloatArray:
    r"""Return the p-value of "independent within every stratum".

    :math:`Q = \sum_e G_e / H_e`, which is the effect times twice the people, is compared with a Pearson III
    distribution (a shifted and scaled χ²) of the same mean, variance and skewness, the latter not below that of a
    scaled χ². ``null`` (contexts × strata) are the moments of :math:`G_e` when the output is shuffled within the
    stratum: :func:`g_null_moments_2x2` for two groups and two outputs, draws otherwise. The usual ΣG against the sum
    of degrees of freedom rejects far too often when strata are small. Mean and variance alone do so in the tail: in
    a stratum with one person of the rare group, that this person has the rare output is unlikely and counts for as
    much as many other strata together (22 times too often beyond a p-value of 10⁻⁵ where 10 % are in the rare group).
    """
    strata = _Strata.from_counts(counts)
    mean, variance, third = strata.null_moments(null)
    varies = variance > 0
    spread = np.sqrt(np.where(varies, variance, 1.0))
    skewness = np.maximum(third / spread**3, 2 * spread / np.where(varies, mean, 1.0))
    p = pearson3_tail((strata.statistic - mean) / spread, skewness)
    return clip_p(np.where(strata.people > 0, np.where(varies, p, 1.0), np.nan))


def conditional_nmi_interval(counts: IntArray, alpha: Alpha, null: NullMoments) -> Bounds:
    """Return the interval of the conditional NMI at confidence 1 − ``alpha``.

    As :func:`nmi_interval`, by inverting the scaled noncentral χ² with mean and variance of ``null``. With fewer
    than five people of the rarer group per stratum it is too narrow (coverage down to 90 % at a nominal 95
    %): say so.
    """
    strata = _Strata.from_counts(counts)
    mean, variance, _ = strata.null_moments(null)
    scale = variance / (2 * np.where(mean > 0, mean, 1.0))
    df = mean / np.where(scale > 0, scale, 1.0)
    used = (strata.people > 0) & (scale > 0)
    g, k, q = scale[used], df[used], strata.statistic[used]
    kappa = np.maximum(1.0, strata.spread[used] / np.where(q > 0, g * q, np.inf))
    width = normal_quantile(per_context(alpha, len(used))[used]) * np.sqrt(kappa)
    unit = g / (2 * strata.people[used])
    low, high = np.where(strata.people > 0, 0.0, np.nan), np.where(strata.people > 0, 1.0, np.nan)
    effect = strata.effect[used]
    low[used] = np.minimum(noncentrality_low(q / g, k, width) * unit, effect)
    high[used] = np.clip(noncentrality_high(q / g, k, width) * unit, effect, 1.0)
    return low, high


@dataclass(frozen=True)
class _Tables:
    """What the tests and intervals read off tables in which the NMI is defined."""

    people: FloatArray
    df: FloatArray
    entropy: FloatArray
    nmi: FloatArray
    g: FloatArray
    pearson: FloatArray
    variance: FloatArray

    @classmethod
    def from_counts(cls, counts: IntArray) -> tuple[_Tables, BoolArray]:
        """Return the tables in which both attributes vary, and which of the given ones those are."""
        every = np.asarray(counts, dtype=np.float64)
        shape = [(every.sum(axis=axis) > 0).sum(axis=1) for axis in (2, 1)]
        defined = (shape[0] > 1) & (shape[1] > 1)
        df = ((shape[0] - 1.0) * (shape[1] - 1.0))[defined]
        tables = every[defined]
        people = tables.sum(axis=(1, 2))
        product = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
        lift = np.where(tables > 0, tables * people[:, None, None] / np.maximum(product, 1.0), 1.0)
        g = np.maximum(2 * (tables * np.log(lift)).sum(axis=(1, 2)), 0.0)
        expected = product / people[:, None, None]
        pearson = ((tables - expected) ** 2 / np.where(expected > 0, expected, 1.0)).sum(axis=(1, 2))
        share = tables / people[:, None, None]
        entropy = np.minimum(*_entropies(share))
        effect = np.minimum(g / (2 * people * entropy), 1.0)
        return cls(people, df, entropy, effect, g, pearson, _variance(share, lift, effect)), defined


def _entropies(share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the entropies of outputs and of groups, in natural units."""
    return special.entr(share.sum(axis=2)).sum(axis=1), special.entr(share.sum(axis=1)).sum(axis=1)


def _variance(share: FloatArray, lift: FloatArray, effect: FloatArray) -> FloatArray:
    """Return n times the large-sample variance of the NMI, including that of the entropy it is divided by.

    Where the two entropies tie, either could be the smaller one, and the larger variance is taken.
    """
    outputs, groups = _entropies(share)
    smaller = np.minimum(outputs, groups)
    variance = np.zeros_like(effect)
    for entropy, axis in ((outputs, 2), (groups, 1)):
        margin = share.sum(axis=axis, keepdims=True)
        surprise = -np.log(np.where(margin > 0, margin, 1.0))
        deviation = np.log(lift) - effect[:, None, None] * surprise
        own = (share * deviation**2).sum(axis=(1, 2)) / smaller**2
        variance = np.where(entropy <= smaller * (1 + 1e-12), np.maximum(variance, own), variance)
    return variance


@dataclass(frozen=True)
class _Strata:
    """What the conditional NMI reads off its strata; [m, K] for a stratum, [m] for a context."""

    sizes: FloatArray
    inverse_entropy: FloatArray
    people: FloatArray
    statistic: FloatArray
    spread: FloatArray

    @classmethod
    def from_counts(cls, counts: IntArray) -> _Strata:
        """Sum up the strata; those in which the NMI is undefined count for nothing."""
        array = np.asarray(counts)
        tables, defined = _Tables.from_counts(array.reshape(-1, *array.shape[2:]))

        def lay_out(values: FloatArray) -> FloatArray:
            return np.nan_to_num(scatter(values, defined)).reshape(array.shape[:2])

        sizes = lay_out(tables.people)
        statistic = lay_out(tables.g / tables.entropy).sum(axis=1)
        spread = lay_out(tables.people * tables.variance).sum(axis=1)
        return cls(sizes, lay_out(1 / tables.entropy), sizes.sum(axis=1), statistic, spread)

    @property
    def effect(self) -> FloatArray:
        """The conditional NMI."""
        some = self.people > 0
        return np.where(some, np.minimum(self.statistic / (2 * np.where(some, self.people, 1.0)), 1.0), np.nan)

    def null_moments(self, null: NullMoments) -> NullMoments:
        """Return mean, variance and third central moment of Q without association; strata are independent."""
        mean, variance, third = (
            (np.where(self.sizes > 0, moment, 0.0) * self.inverse_entropy**order).sum(axis=1)
            for order, moment in enumerate(null, start=1)
        )
        # A variance that is only rounding error means that shuffling cannot change the tables.
        return NullMoments(mean, np.where(variance > 1e-12 * mean**2, variance, 0.0), third)
