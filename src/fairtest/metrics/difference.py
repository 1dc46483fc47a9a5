"""DIFF: the difference between two groups' rates of the favourable output."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from fairtest.data.summaries import Counts
from fairtest.metrics.conditional import strata_average, weighted_average
from fairtest.metrics.effective import of_two_groups
from fairtest.metrics.evidence import MOST, Evidence
from fairtest.metrics.procedure import Procedure
from fairtest.metrics.registry import Metric
from fairtest.metrics.scale import POINTS
from fairtest.metrics.words import FindingPhrases, Words
from fairtest.statistics.influence import Lookup, divide_or_zero, single_sum
from fairtest.statistics.rates import score
from fairtest.statistics.weighted_tables import compare_two_groups_in_tables
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from fairtest.metrics.batch import Batch
    from fairtest.types import FloatArray, IntArray


def difference(summary: Counts) -> FloatArray:
    """Return P(o₁ | group) − P(o₁ | reference), averaged over strata by their size.

    Examples
    --------
    >>> from fairtest.data.summaries import Counts
    >>> float(difference(Counts(np.array([[[70, 85], [30, 15]]]))))  # 15 % of the group, 30 % of the reference
    -0.15
    """
    people = summary.counts.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = summary.counts[..., 1, :] / people
    return weighted_average(rates[..., 1] - rates[..., 0], people.sum(axis=-1))


def bound(summary: Counts, z: float) -> FloatArray:
    """Return Agresti and Caffo's lower limit of |difference|, a success and a failure added to each group."""
    counts = summary.counts
    people = counts.sum(axis=-2)
    rate = (counts[..., 1, :] + 1) / (people + 2)
    variance = (rate * (1 - rate) / (people + 2)).sum(axis=-1)
    gap = np.where((people > 0).all(axis=-1), rate[..., 1] - rate[..., 0], np.nan)
    centre, error = strata_average(gap, variance, people.sum(axis=-1))
    return np.abs(centre) - z * error


def evidence(summary: Counts) -> Evidence:
    """Return the score statistic, and the difference with its variance.

    The variance is the larger of two, at the rates seen and at a common one. Where few people of a rare group all have
    the output, the rates seen leave hardly any, and such a context would surpass every other by luck.
    """
    counts = summary.counts
    people = counts.sum(axis=-2).astype(float)
    size = people.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = counts[..., 1, :] / people
        pooled = counts[..., 1, :].sum(axis=-1) / size
        null = pooled * (1 - pooled) * (1 / people).sum(axis=-1) * size / np.maximum(size - 1, 0.0)
    smoothed = (counts[..., 1, :] + 1) / (people + 2)
    variance = np.fmax((smoothed * (1 - smoothed) / (people + 2)).sum(axis=-1), null)
    gap = rate[..., 1] - rate[..., 0]
    effect, error = strata_average(gap, np.nan_to_num(variance), size)
    _, null_error = strata_average(gap, np.where(np.isnan(gap), 0.0, np.nan_to_num(null)), size)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(null_error > 0, effect / null_error, 0.0)
    z = np.clip(np.where(np.isnan(effect), np.nan, z), -MOST, MOST)
    return Evidence(z, effect, error**2, variance_if=partial(_variance_if, summary))


def _variance_if(summary: Counts, effect: FloatArray) -> FloatArray:
    """Return the variance of each difference if it were another one, given how many people have the output in all."""
    people = summary.counts.sum(axis=-2).astype(float)
    size, gap = people.sum(axis=-1), effect[..., None]
    with np.errstate(invalid="ignore", divide="ignore"):
        reference = (summary.counts[..., 1, :].sum(axis=-1) - people[..., 1] * gap) / size
        rates = np.clip(np.stack((reference, reference + gap), axis=-1), 0.0, 1.0)
        variance = (rates * (1 - rates) / people).sum(axis=-1)
        defined = np.where((people > 0).all(axis=-1), 0.0, np.nan)
        return np.asarray(strata_average(defined, np.nan_to_num(variance), size)[1] ** 2)


def least_p(summary: Counts, growth: float) -> FloatArray:
    """Return the probability of the most extreme table with these margins, in a set ``growth`` times as large.

    Of one stratum only: the chance that chance alone puts all favourable outputs, or as many as it can, in one group.

    Examples
    --------
    >>> float(least_p(Counts(np.array([[[68, 0], [0, 1]]])), 1.0).round(4))  # one person of 69
    0.0145
    """
    counts = summary.counts[..., 0, :, :] * growth
    one, other = counts.sum(axis=-2)[..., 1], counts.sum(axis=-2)[..., 0]
    favourable = counts[..., 1, :].sum(axis=-1)
    every = _log_choose(one + other, favourable)
    ends = (np.maximum(favourable - other, 0.0), np.minimum(one, favourable))
    logs = [_log_choose(one, k) + _log_choose(other, favourable - k) - every for k in ends]
    return np.asarray(np.exp(np.minimum(*logs)))


def _log_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def two_by_two(batch: Batch) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return favourable outputs and people of the group, then of the reference, by stratum."""
    assert isinstance(batch.summary, Counts)
    counts = batch.summary.counts
    people = counts.sum(axis=-2)
    return counts[..., 1, 1], people[..., 1], counts[..., 1, 0], people[..., 0]


SCORE_TEST = Procedure(
    test=lambda batch: score.difference_p(*two_by_two(batch)),
    bounds=lambda batch, alpha: score.difference_interval(*two_by_two(batch), alpha),
    inverts_test=True,
)
"""The skewness-corrected score test, and its inversion."""


def rate_factors(summary: Counts) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what a person adds to a gap between rates: (s − s̄)/(s̄(1 − s̄)) and o − ō by level, and ō."""
    counts = summary.counts.astype(float)
    outputs, groups = counts.sum(axis=-1), counts.sum(axis=-2)
    size = np.maximum(outputs.sum(axis=-1, keepdims=True), 1.0)
    group, favourable = groups[..., 1:] / size, outputs[..., 1:] / size
    s = divide_or_zero(np.arange(2) - group, group * (1 - group))
    return s, np.arange(2) - favourable, favourable


def _factors(summary: Counts, *_: FloatArray) -> tuple[Lookup, Lookup]:
    s, o, _favourable = rate_factors(summary)
    return Lookup(s), Lookup(o)


def clause(finding: FindingPhrases) -> str:
    """Return the rates of the two groups and the gap between them."""
    return f"{finding.shares()}: {finding.gap()}." if finding.is_two_by_two else finding.plain()


DIFF = Metric(
    name="DIFF",
    phrase="difference of rates",
    protected=frozenset({Kind.BINARY}),
    output=frozenset({Kind.BINARY}),
    summary=SummaryKind.COUNTS,
    effect=difference,
    bound=bound,
    evidence=evidence,
    least_p=least_p,
    procedure=SCORE_TEST,
    effective=of_two_groups,
    effective_in_tables=compare_two_groups_in_tables,
    influence=single_sum(_factors),
    most=1.0,
    compares="difference",
    scale=POINTS,
    words=Words(
        noun="gap",
        meaning="the rate of the group minus the rate of the reference group, in percentage points; 0 is no gap",
        clause=clause,
    ),
)
