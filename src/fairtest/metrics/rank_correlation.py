"""RANK: Spearman's rank correlation, of ranks within strata."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.summaries import Central, Counts, Moments, powers
from fairtest.metrics.correlation import bound, clear_and_strong, correlation, evidence
from fairtest.metrics.registry import NUMBERS, Metric
from fairtest.metrics.scale import COEFFICIENT
from fairtest.metrics.words import FindingPhrases, Words
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from fairtest.types import FloatArray


def rank_scores(summary: Counts, order: int = 4) -> Central:
    """Return the centred sums of the second order and up, of ranks within strata (as shares of the stratum)."""
    counts = summary.counts.astype(float)
    outputs, groups = counts.sum(axis=-1), counts.sum(axis=-2)
    o, s = mid_distribution(outputs), mid_distribution(groups)
    ss, oo = (groups * s**2).sum(axis=-1), (outputs * o**2).sum(axis=-1)
    used = (ss > 0) & (oo > 0)
    by_output = [outputs, *(np.einsum("...os,...s->...o", counts, s**i) for i in range(1, order))]
    sums = {}
    for i, j in powers(order):
        if i + j >= 2:
            total = (groups * s**i).sum(axis=-1) if j == 0 else (by_output[i] * o**j).sum(axis=-1)
            sums[i, j] = np.where(used, total, 0.0).sum(axis=-1)
    n = np.where(used, counts.sum(axis=(-2, -1)), 0.0).sum(axis=-1)
    return Central(n, used.sum(axis=-1).astype(float), sums)


def mid_distribution(margin: FloatArray) -> FloatArray:
    """Return the share of people below each value, plus half of those at it, less a half."""
    people = np.maximum(margin.sum(axis=-1, keepdims=True), 1.0)
    return np.asarray((np.cumsum(margin, axis=-1) - margin / 2) / people - 0.5)


def rank_correlation(summary: Counts | Moments) -> FloatArray:
    """Return Spearman's ρ from joint counts of value codes, ranked anew in each stratum.

    From moments (of the ranks in the whole training set), as the search uses them, it is Pearson's r.
    """
    if isinstance(summary, Moments):
        return correlation(summary)
    sums = rank_scores(summary, order=2).sums
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(sums[1, 1] / np.sqrt(sums[2, 0] * sums[0, 2]), -1.0, 1.0)


def clause(finding: FindingPhrases) -> str:
    """Return whether the output tends to rise with the protected attribute."""
    rises = "rise" if finding.effect > 0 else "fall"
    number = f"(rank correlation {finding.number}{finding.against})"
    return f"{finding.output} tends to {rises} with {finding.protected} {number}. {clear_and_strong(finding)}"


RANK = Metric(
    name="RANK",
    phrase="rank correlation",
    protected=NUMBERS,
    output=NUMBERS,
    summary=SummaryKind.RANKS,
    effect=rank_correlation,
    bound=bound,
    evidence=evidence,
    search_summary=SummaryKind.MOMENTS,
    most=1.0,
    scale=COEFFICIENT,
    words=Words(
        noun="rank correlation",
        meaning="correlation of ranks, from −1 to 1: whether one rises as the other does",
        lower="falls:",
        higher="rises:",
        clause=clause,
    ),
)
