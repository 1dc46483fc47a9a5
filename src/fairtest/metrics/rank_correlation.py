"""RANK: Spearman's rank correlation, of ranks within strata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import Central, Counts, Moments, powers
from fairtest.metrics.cautions import FEW, FEW_PEOPLE
from fairtest.metrics.correlation import (
    bound,
    central_sums,
    clear_and_strong,
    correlation,
    correlation_procedure,
    evidence,
    pooled_correlation,
)
from fairtest.metrics.effective import of_rank_correlation
from fairtest.metrics.procedure import Procedure, notes_where
from fairtest.metrics.registry import NUMBERS, Metric
from fairtest.metrics.scale import COEFFICIENT
from fairtest.metrics.words import FindingPhrases, Words
from fairtest.statistics.influence import Lookup, single_sum
from fairtest.statistics.numbers.rank import spearman_interval, spearman_p
from fairtest.statistics.numbers.strata import stratum_ranks
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.metrics.batch import Batch
    from fairtest.metrics.procedure import Notes
    from fairtest.statistics.numbers.correlation import CentralSums
    from fairtest.types import FloatArray, IntArray

SMALL_STRATUM = 50
"""Strata with fewer people, on average, are too small for ranks within them."""

STRONG = "Few people for a rank correlation this strong: the interval may be too narrow."
SMALL_STRATA = "The strata are small: ranks within them understate the correlation that many people would have."


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


def pooled_rank_correlation(s: NDArray[Any], o: NDArray[Any], stratum: IntArray) -> float:
    """Return Pearson's r of people's ranks within strata."""
    return pooled_correlation(stratum_ranks(s, stratum), stratum_ranks(o, stratum), stratum)


def _table(batch: Batch) -> IntArray:
    assert isinstance(batch.summary, Counts)
    return batch.summary.counts[:, 0]


def _notes(batch: Batch) -> Notes:
    """Warn where one of two groups has few people, and where few people have a strong correlation."""
    tables = _table(batch)
    few = np.zeros(len(tables), dtype=bool)
    for margin in (tables.sum(axis=axis) for axis in (1, 2)):
        two = np.count_nonzero(margin, axis=1) == 2
        few |= two & (np.where(margin > 0, margin, np.inf).min(axis=1) < FEW_PEOPLE)
    with np.errstate(invalid="ignore"):
        strong = (batch.size < 150) & (np.abs(batch.effect) > 0.7)
    return notes_where((FEW, few), (STRONG, strong))


def _sums(summary: Counts) -> CentralSums:
    return central_sums(rank_scores(summary))


def _notes_within_strata(batch: Batch) -> Notes:
    """Warn of small strata."""
    assert isinstance(batch.summary, Counts)
    sums = _sums(batch.summary)
    return notes_where((SMALL_STRATA, sums.n < SMALL_STRATUM * sums.strata))


def _factors(summary: Counts, *_: FloatArray) -> tuple[Lookup, Lookup]:
    counts = summary.counts.astype(float)
    return Lookup(mid_distribution(counts.sum(axis=-2))), Lookup(mid_distribution(counts.sum(axis=-1)))


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
    procedure=Procedure(
        # t of atanh ρ with the variance of its influence function
        test=lambda batch: spearman_p(_table(batch)),
        bounds=lambda batch, alpha: spearman_interval(_table(batch), alpha),
        notes=_notes,
        inverts_test=True,
    ),
    conditional=correlation_procedure(_sums, stratum_ranks, _notes_within_strata),
    effective=of_rank_correlation,
    influence=single_sum(_factors),
    row_effect=pooled_rank_correlation,
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
