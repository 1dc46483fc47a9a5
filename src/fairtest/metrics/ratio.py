"""RATIO: one group's rate of the favourable output over the other's, less 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.metrics.conditional import strata_average, weighted_average
from fairtest.metrics.difference import evidence as difference_evidence
from fairtest.metrics.difference import rate_factors, two_by_two
from fairtest.metrics.effective import of_two_groups
from fairtest.metrics.evidence import Evidence
from fairtest.metrics.procedure import Procedure
from fairtest.metrics.registry import Metric
from fairtest.metrics.resampling import RESAMPLING
from fairtest.metrics.scale import LOGARITHM, TIMES
from fairtest.metrics.words import NOT_CLEAR, FindingPhrases, Words
from fairtest.statistics.influence import Lookup, divide_or_zero, single_sum
from fairtest.statistics.rates import score
from fairtest.statistics.weighted_tables import compare_two_groups_in_tables
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from fairtest.data.summaries import Counts
    from fairtest.metrics.batch import Batch
    from fairtest.statistics.numerics.rules import Alpha, Bounds
    from fairtest.types import FloatArray


def ratio(summary: Counts) -> FloatArray:
    """Return P(o₁ | group) / P(o₁ | reference) − 1, averaged over strata by their size.

    Undefined where a group is absent or nobody of the reference has the favourable output.
    """
    people = summary.counts.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = summary.counts[..., 1, :] / people
        each = rates[..., 1] / rates[..., 0] - 1
    return weighted_average(np.where(np.isfinite(each), each, np.nan), people.sum(axis=-1))


def bound(summary: Counts, z: float) -> FloatArray:
    """Return a lower limit of |ln ratio|."""
    centre, error = _log_ratio(summary)
    return np.where(np.isnan(ratio(summary)), np.nan, np.abs(centre) - z * error)


def evidence(summary: Counts) -> Evidence:
    """Return the score statistic of the difference, and ln ratio with its variance."""
    centre, error = _log_ratio(summary)
    return Evidence(difference_evidence(summary).z, centre, error**2)


def _log_ratio(summary: Counts) -> tuple[FloatArray, FloatArray]:
    """Return Walter's estimate of ln ratio (half a person added to each count) and its standard error."""
    people = summary.counts.sum(axis=-2)
    hits = summary.counts[..., 1, :] + 0.5
    log = np.log(hits / (people + 0.5))
    variance = (1 / hits - 1 / (people + 0.5)).sum(axis=-1)
    gap = np.where((people > 0).all(axis=-1), log[..., 1] - log[..., 0], np.nan)
    return strata_average(gap, variance, people.sum(axis=-1))


def _test(batch: Batch) -> FloatArray:
    """Return the score p-values of the difference, undefined where the ratio is."""
    p = score.ratio_p(*(a[:, 0] for a in two_by_two(batch)))
    return np.where(np.isnan(batch.effect), np.nan, p)


def _bounds(batch: Batch, alpha: Alpha) -> Bounds:
    """Return the inversion of the score test over ratios, less 1."""
    x1, n1, x2, n2 = (a[:, 0] for a in two_by_two(batch))
    low, high = score.ratio_interval(x1, n1, x2, n2, alpha)
    return low - 1, high - 1


def _factors(summary: Counts, *_: FloatArray) -> tuple[Lookup, Lookup]:
    """Return what a person adds: as to the difference, over the rate of everybody."""
    s, o, favourable = rate_factors(summary)
    return Lookup(s), Lookup(divide_or_zero(o, favourable))


def clause(finding: FindingPhrases) -> str:
    """Return how many times as often the output happens to one group."""
    if not finding.is_two_by_two:
        return finding.plain()
    times = finding.times()
    unclear = "" if finding.significant or NOT_CLEAR in times else f", {NOT_CLEAR}"
    return f"{finding.shares()}: {times}{unclear}."


RATIO = Metric(
    name="RATIO",
    phrase="ratio of rates, less 1",
    protected=frozenset({Kind.BINARY}),
    output=frozenset({Kind.BINARY}),
    summary=SummaryKind.COUNTS,
    effect=ratio,
    bound=bound,
    evidence=evidence,
    procedure=Procedure(_test, _bounds, inverts_test=True),
    conditional=RESAMPLING,
    effective=of_two_groups,
    effective_in_tables=compare_two_groups_in_tables,
    influence=single_sum(_factors),
    additive=LOGARITHM,
    compares="ratio",
    scale=TIMES,
    words=Words(
        noun="ratio",
        subject="ratio of the two rates",
        meaning="the rate of the group divided by the rate of the reference group; 1 is no difference. "
        "The JSON report and the data frame hold the ratio minus 1",
        clause=clause,
        allowed=lambda tolerance: f"ratios from {1 - tolerance:.2f} to {1 / (1 - tolerance):.2f}",
    ),
)
