"""ETA: the share of a number's variation that lies between groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.metrics.evidence import Evidence, from_chi_square
from fairtest.metrics.registry import Metric
from fairtest.metrics.words import NOT_CLEAR, FindingPhrases, Words
from fairtest.numbers import rate
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from fairtest.data.summaries import GroupMoments
    from fairtest.types import FloatArray


def correlation_ratio(summary: GroupMoments) -> FloatArray:
    """Return η² = variation between groups / all variation, both added over strata.

    Strata with a single group carry no information and are left out.
    """
    between, within = _variation(summary)
    with np.errstate(invalid="ignore", divide="ignore"):
        return between / (between + within)


def _variation(summary: GroupMoments) -> tuple[FloatArray, FloatArray]:
    people = summary.sums[..., 0]
    size = people.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = summary.sums[..., 1].sum(axis=-1, keepdims=True) / size
    between = np.where(people > 0, people * (summary.means - mean) ** 2, 0.0).sum(axis=-1)
    within = summary.central(2).sum(axis=-1)
    used = (np.count_nonzero(people, axis=-1) > 1) & (between + within > 1e-13 * summary.sums[..., 2].sum(axis=-1))
    return np.where(used, between, 0.0).sum(axis=-1), np.where(used, within, 0.0).sum(axis=-1)


def evidence(summary: GroupMoments) -> Evidence:
    """Return the normal deviate of the F test as a χ², and √((χ² − df)/n)."""
    x, df, n = _chi_square(summary)
    return from_chi_square(x, np.where(df > 0, df, np.nan), n)


def _chi_square(summary: GroupMoments) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the variation between groups over the variance within, its degrees of freedom and the people."""
    people = summary.sums[..., 0]
    groups = np.count_nonzero(people, axis=-1)
    used = groups > 1
    n = np.where(used, people.sum(axis=-1), 0.0).sum(axis=-1)
    df = np.where(used, groups - 1, 0).sum(axis=-1)
    between, within = _variation(summary)
    with np.errstate(invalid="ignore", divide="ignore"):
        return between / (within / np.maximum(n - df - used.sum(axis=-1), 1)), df, n


def bound(summary: GroupMoments, z: float) -> FloatArray:
    """Return a lower limit from the noncentral χ² of the variation between groups."""
    x, df, n = _chi_square(summary)
    half = (df - 1) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.maximum(x - half, 0.0)) - z
        low = np.maximum(np.where(root > 0, root**2, 0.0) - half, 0.0)
        return np.where(np.isnan(x), np.nan, np.where(np.isinf(x), 1.0, low / (low + n)))


def clause(finding: FindingPhrases) -> str:
    """Return from where to where averages run, and how much of the variation that is."""
    means = finding.mean_range()
    if means is None:
        return finding.plain()
    share = rate(finding.effect)
    if finding.usual is not None:
        share += f" (against {rate(finding.usual)} in the whole population)"
    part = f"{means.by} accounts for {share} of its variation"
    if not means.is_output:
        part = f"{share} of its variation goes with {means.by}"
    unclear = "" if finding.significant else f", a link {NOT_CLEAR}"
    return f"{means.runs}; {part}{unclear}." if means.runs else f"for {means.measured}, {part}{unclear}."


ETA = Metric(
    name="ETA",
    phrase="correlation ratio η²",
    protected=frozenset({Kind.BINARY, Kind.CATEGORICAL}),
    output=frozenset({Kind.NUMERIC, Kind.ORDERED, Kind.BINARY}),
    summary=SummaryKind.GROUP_MOMENTS,
    effect=correlation_ratio,
    bound=bound,
    evidence=evidence,
    signed=False,
    most=1.0,
    words=Words(
        noun="share of variation",
        subject="share of variation accounted for",
        symbol="η²",
        meaning="η², the part of the variation of the number that goes with the groups, from 0 to 1",
        clause=clause,
    ),
    swaps_roles=True,
)
