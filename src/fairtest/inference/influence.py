r"""What each person contributes to a hypothesis' statistic, as if there were no association.

Every statistic is, to first order, a sum over people, or a sum of squares of several such sums. The term of a person is
a product: how far their protected attribute is from what one expects in the context (and stratum), times how far their
output is. With s̄, ō the means, π, ρ the shares of levels, n, H the people and the entropy of a stratum:

=============  =======================================  ==============================================
metric         sum over people                          statistic
=============  =======================================  ==============================================
DIFF           (s − s̄)/(s̄(1 − s̄)) · (o − ō)             the sum
RATIO          the same over ō                          the sum
CORR           (s − s̄) · (o − ō)                        the sum
RANK           the same of ranks                        the sum
NMI            f(s) · h(o) / √(nH)                      the sum of squares over contrasts f, h and strata
ETA            f(s) · (o − ō) / √n                      the sum of squares over contrasts f and strata
=============  =======================================  ==============================================

Contrasts are functions of a level with mean 0 and mean square 1 in the stratum. Means are those without association:
residuals from each group's own mean would vanish in a tiny group whose people all have the same output, and contexts
that share nothing but the reference group would seem to be copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.special import entr

from fairtest.data.summaries import Counts, GroupMoments, Moments
from fairtest.metrics.rank_correlation import mid_distribution

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.inference.batch import Batch
    from fairtest.types import BoolArray, FloatArray, IntArray

SCORED = frozenset({"DIFF", "RATIO", "CORR", "RANK", "NMI", "ETA"})
"""The metrics whose people's contributions are known."""


def is_scored(metric: str, conditional: bool) -> bool:
    """Whether hypotheses of a metric may be drawn together.

    Conditional NMI may not: its p-values are approximate where strata are small, and a correction that leaves no room
    adds that up (a false finding in 14 of 155 null runs; counted in full, 5).
    """
    return metric in SCORED and not (conditional and metric == "NMI")


class Factor(Protocol):
    """One attribute's part in a product, for every sum and person."""

    def at(self, stratum: IntArray, values: NDArray[Any]) -> FloatArray:
        """Return ``[sum, person]`` for people with these strata and values."""

    def take(self, at: IntArray) -> Factor:
        """Return the factor of some of the sums."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """A number for each level: ``table[sum, stratum, level]``, with one stratum where they do not matter."""

    table: FloatArray

    def at(self, stratum: IntArray, values: NDArray[Any]) -> FloatArray:
        """Return the entries of people's levels."""
        return self.table[:, stratum if self.table.shape[1] > 1 else 0, values]

    def take(self, at: IntArray) -> Lookup:
        """Return the tables of some of the sums."""
        return Lookup(self.table[at])


@dataclass(frozen=True, eq=False)
class Deviation:
    """A number less its mean in the context: ``centre[sum, stratum]``."""

    centre: FloatArray

    def at(self, stratum: IntArray, values: NDArray[Any]) -> FloatArray:
        """Return how far people's numbers are from the mean."""
        centre = self.centre[:, stratum] if self.centre.shape[1] > 1 else self.centre
        return np.asarray(values - centre)

    def take(self, at: IntArray) -> Deviation:
        """Return the means of some of the sums."""
        return Deviation(self.centre[at])


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums over people that the statistics of one batch are made of.

    Attributes
    ----------
    hypothesis
        The hypothesis that each belongs to, in rising order.
    stratum
        The only stratum whose people count, −1 if all do.
    protected, output
        The two parts of each person's term.
    variance
        What the variance of each sum is without association, those of a hypothesis being uncorrelated then; NaN where
        that is not known beforehand.
    """

    hypothesis: IntArray
    stratum: IntArray
    protected: Factor
    output: Factor
    variance: FloatArray


def n_sums(batch: Batch) -> IntArray:
    """Return how many sums each hypothesis needs."""
    if batch.metric.name not in ("NMI", "ETA"):
        return np.ones(len(batch), dtype=np.int64)
    if isinstance(batch.summary, GroupMoments):
        present = (batch.summary.sums[..., 0] > 0).sum(axis=-1)
        return np.asarray(np.maximum(present - 1, 0).sum(axis=1))
    assert isinstance(batch.summary, Counts)
    outputs, groups = ((batch.summary.counts.sum(axis=axis) > 0).sum(axis=-1) for axis in (-1, -2))
    return np.asarray((np.maximum(outputs - 1, 0) * np.maximum(groups - 1, 0)).sum(axis=1))


def sums_of(batch: Batch, wanted: IntArray, protected_mean: FloatArray, output_mean: FloatArray) -> Sums:
    """Return the sums of some hypotheses.

    Parameters
    ----------
    batch
        Of a metric in :data:`SCORED`.
    wanted
        Which hypotheses, in rising order.
    protected_mean, output_mean
        The mean in each stratum of each hypothesis, for attributes that are numbers.
    """
    summary, name = batch.summary.take(wanted), batch.metric.name
    if isinstance(summary, Moments):
        return _single(wanted, Deviation(protected_mean[wanted]), Deviation(output_mean[wanted]))
    if isinstance(summary, GroupMoments):
        return _oneway(summary, wanted, protected_mean, output_mean)
    counts = summary.counts.astype(float)
    outputs, groups = counts.sum(axis=-1), counts.sum(axis=-2)
    if name == "RANK":
        return _single(wanted, Lookup(mid_distribution(groups)), Lookup(mid_distribution(outputs)))
    if name == "NMI":
        return _information(outputs, groups, wanted)
    size = np.maximum(outputs.sum(axis=-1, keepdims=True), 1.0)
    group, favourable = groups[..., 1:] / size, outputs[..., 1:] / size
    s, o = np.arange(2) - group, np.arange(2) - favourable
    s = _over(s, group * (1 - group))
    return _single(wanted, Lookup(s), Lookup(_over(o, favourable) if name == "RATIO" else o))


def _single(wanted: IntArray, protected: Factor, output: Factor) -> Sums:
    return Sums(wanted, np.full(wanted.size, -1), protected, output, np.full(wanted.size, np.nan))


def _information(outputs: FloatArray, groups: FloatArray, wanted: IntArray) -> Sums:
    """Return the components of Pearson's X² of every stratum, over its entropy."""
    size = np.maximum(outputs.sum(axis=-1), 1.0)
    h, f = (_contrasts_of(margin, size) for margin in (outputs, groups))
    entropy = np.minimum(*(entr(m / size[..., None]).sum(axis=-1) for m in (outputs, groups)))
    scale = np.sqrt(_over(np.ones_like(size), size * entropy))
    used = (h != 0).any(axis=-1, keepdims=True) & (f != 0).any(axis=-1)[..., None, :]
    at, stratum, b, a = _enumerated(used, size)
    left = f[at, stratum, a] * scale[at, stratum, None]
    right = h[at, stratum, b]
    variance = scale[at, stratum] ** 2 * size[at, stratum]
    return Sums(wanted[at], _only(stratum, size), Lookup(left[:, None]), Lookup(right[:, None]), variance)


def _oneway(summary: GroupMoments, wanted: IntArray, protected_mean: FloatArray, output_mean: FloatArray) -> Sums:
    """Return the components of the variation between groups of every stratum."""
    groups = summary.sums[..., 0]
    size = np.maximum(groups.sum(axis=-1), 1.0)
    f = _contrasts_of(groups, size)
    at, stratum, a, _ = _enumerated((f != 0).any(axis=-1, keepdims=True), size)
    left = Lookup((f[at, stratum, a] / np.sqrt(size[at, stratum, None]))[:, None])
    is_output = not np.isnan(output_mean).all()
    mean = (output_mean if is_output else protected_mean)[wanted]
    right = Deviation(mean[at, stratum][:, None])
    protected, output = (left, right) if is_output else (right, left)
    return Sums(wanted[at], _only(stratum, size), protected, output, np.full(at.size, np.nan))


def _enumerated(used: BoolArray, size: FloatArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return hypothesis, stratum and two contrasts of all components; strata in an order of their own."""
    at, stratum, first, second = np.nonzero(used)
    place = np.argsort(_order(size))
    order = np.lexsort((second, first, place[stratum], at))
    return at[order], stratum[order], first[order], second[order]


def _only(stratum: IntArray, size: FloatArray) -> IntArray:
    """Return the stratum of components, −1 where there is but one."""
    return stratum if size.shape[1] > 1 else np.full(stratum.size, -1)


def _contrasts_of(margin: FloatArray, size: FloatArray) -> FloatArray:
    """Return contrasts between levels, taken up in an order that does not hang on their names."""
    order = _order(margin)
    found = np.empty((*margin.shape[:-1], margin.shape[-1] - 1, margin.shape[-1]))
    found[..., order] = contrasts(margin[..., order] / size[..., None])
    return found


def _order(margin: FloatArray) -> IntArray:
    """Return the levels, the fullest first; equally full ones by their counts in contexts and strata, sorted."""
    counts = np.sort(margin.reshape(-1, margin.shape[-1]), axis=0)
    some = counts[:: len(counts) // 64 + 1]
    return np.lexsort((*some, -counts.sum(axis=0)))


def contrasts(share: FloatArray) -> FloatArray:
    """Return functions ``[..., contrast, level]`` with mean 0 and mean square 1, and no correlation between them.

    The k-th compares level k + 1 with those before it; it is 0 where one side has nobody.

    Examples
    --------
    >>> contrasts(np.array([0.5, 0.25, 0.25])).round(3)
    array([[-0.816,  1.633,  0.   ],
           [-0.577, -0.577,  1.732]])
    """
    before, level = np.cumsum(share, axis=-1)[..., :-1, None], share[..., 1:, None]
    both = (before > 0) & (level > 0)
    before, level = np.where(both, before, 1.0), np.where(both, level, 1.0)
    total = before + level
    at, k = np.arange(share.shape[-1]), np.arange(share.shape[-1] - 1)[:, None]
    inside = np.where(at <= k, -np.sqrt(level / (before * total)), np.sqrt(before / (level * total)) * (at == k + 1))
    return np.where(both, inside, 0.0)


def _over(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide, giving 0 where there is nothing to divide by."""
    some = denominator > 0
    return np.asarray(np.where(some, numerator / np.where(some, denominator, 1.0), 0.0))
