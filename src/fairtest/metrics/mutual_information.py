"""NMI: mutual information as a share of the most there could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.metrics import difference
from fairtest.metrics.conditional import weighted
from fairtest.metrics.evidence import Evidence, from_chi_square
from fairtest.metrics.registry import LEVELS, Metric
from fairtest.metrics.words import NOT_CLEAR, FindingPhrases, Words
from fairtest.numbers import fixed
from fairtest.statistics.tables.logarithms import x_log_x
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from fairtest.data.summaries import Counts
    from fairtest.types import FloatArray


def normalised_information(summary: Counts) -> FloatArray:
    """Return MI(S, O) / min(H(S), H(O)), averaged over strata by their size.

    Undefined in strata where one of the attributes does not vary.
    """
    return _normalised(_information(summary))


def _normalised(known: tuple[FloatArray, FloatArray, FloatArray]) -> FloatArray:
    information, entropy, people = known
    return weighted(_share(information, entropy), people)


def _information(summary: Counts) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return MI, the smaller entropy and the people of each stratum, in nats."""
    counts = summary.counts
    people = counts.sum(axis=(-2, -1))
    log_term = x_log_x(int(people.max(initial=0)))
    cells = log_term(counts).sum(axis=(-2, -1))
    by_output, by_group = counts.sum(axis=-1), counts.sum(axis=-2)
    outputs, groups = log_term(by_output).sum(axis=-1), log_term(by_group).sum(axis=-1)
    whole = log_term(people)
    with np.errstate(invalid="ignore", divide="ignore"):
        information = np.maximum(cells - outputs - groups + whole, 0.0) / people
        entropy = np.minimum(whole - outputs, whole - groups) / people
    varies = (np.count_nonzero(by_output, axis=-1) > 1) & (np.count_nonzero(by_group, axis=-1) > 1)
    return information, np.where(varies, entropy, np.nan), people


def _share(information: FloatArray, entropy: FloatArray) -> FloatArray:
    return np.minimum(information / entropy, 1.0)


def bound(summary: Counts, z: float) -> FloatArray:
    """Return a lower limit from the noncentral χ² of G = 2n·MI; G and degrees of freedom add up over strata."""
    known = _information(summary)
    g, df, _ = _g_statistic(summary, known)
    return _normalised(known) * _noncentral_low(g, df, z) / np.where(g > 0, g, 1.0)


def evidence(summary: Counts) -> Evidence:
    """Return the normal deviate of the G test, and √((G − df)/n)."""
    g, df, n = _g_statistic(summary, _information(summary))
    return from_chi_square(g, np.where(df > 0, df, np.nan), n)


def _g_statistic(
    summary: Counts, known: tuple[FloatArray, FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return G, its degrees of freedom and the people, added up over the strata that vary."""
    information, entropy, people = known
    counts = summary.counts
    df = (np.count_nonzero(counts.sum(axis=-1), axis=-1) - 1) * (np.count_nonzero(counts.sum(axis=-2), axis=-1) - 1)
    defined = ~np.isnan(entropy)
    g = np.where(defined, 2 * people * information, 0.0).sum(axis=-1)
    return g, np.where(defined, df, 0).sum(axis=-1), np.where(defined, people, 0.0).sum(axis=-1)


def _noncentral_low(g: FloatArray, df: FloatArray, z: float) -> FloatArray:
    half = (df - 1) / 2
    root = np.sqrt(np.maximum(g - half, 0.0)) - z
    return np.maximum(np.where(root > 0, root**2, 0.0) - half, 0.0)


def clause(finding: FindingPhrases) -> str:
    """Return the gap between two groups; of more, from where to where the share runs."""
    if finding.is_two_by_two:
        return difference.clause(finding)
    runs = finding.share_range()
    if runs is None:
        return finding.plain()
    if not finding.significant:
        return f"{runs}: a link {NOT_CLEAR}."
    if not finding.usual or finding.usual < 0:
        return f"{runs}."
    return f"{runs}: a link estimated at {fixed(finding.effect / finding.usual, 1)} times that in the whole population."


NMI = Metric(
    name="NMI",
    phrase="normalised mutual information",
    protected=LEVELS,
    output=LEVELS,
    summary=SummaryKind.COUNTS,
    effect=normalised_information,
    bound=bound,
    evidence=evidence,
    signed=False,
    most=1.0,
    words=Words(
        noun="strength",
        subject="strength of the link",
        symbol="NMI",
        meaning="normalised mutual information, from 0 (the attribute tells nothing about the output) to 1 "
        "(it tells everything). It suits any number of groups",
        clause=clause,
    ),
)
