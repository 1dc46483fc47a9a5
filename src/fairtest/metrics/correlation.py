"""CORR: Pearson's correlation, pooled within strata."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.metrics.evidence import MOST, Evidence
from fairtest.metrics.registry import NUMBERS, Metric
from fairtest.metrics.scale import COEFFICIENT
from fairtest.metrics.words import NOT_CLEAR, FindingPhrases, Words
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from fairtest.data.summaries import Moments
    from fairtest.types import FloatArray


def correlation(summary: Moments) -> FloatArray:
    """Return Pearson's r of the deviations from the strata's means."""
    sums = summary.pooled.sums
    with np.errstate(invalid="ignore", divide="ignore"):
        r = sums[1, 1] / np.sqrt(sums[2, 0] * sums[0, 2])
    return np.clip(r, -1.0, 1.0)


def bound(summary: Moments, z: float) -> FloatArray:
    """Return Fisher's lower limit for |r|."""
    r = np.abs(correlation(summary))
    pooled = summary.pooled
    spread = 1 / np.sqrt(np.maximum(pooled.n - pooled.strata - 2, 1e-9))
    low: FloatArray = np.tanh(np.arctanh(np.minimum(r, 1 - 1e-12)) - z * spread)
    return low


def evidence(summary: Moments) -> Evidence:
    """Return Fisher's z, standardised and not."""
    pooled = summary.pooled
    variance = 1 / np.maximum(pooled.n - pooled.strata - 2, 1e-9)
    effect = np.arctanh(np.clip(correlation(summary), -1 + 1e-12, 1 - 1e-12))
    return Evidence(np.clip(effect / np.sqrt(variance), -MOST, MOST), effect, variance)


def clause(finding: FindingPhrases) -> str:
    """Return how the output moves with the protected attribute."""
    return f"{finding.movement()} (correlation {finding.number}{finding.against}). {clear_and_strong(finding)}"


def clear_and_strong(finding: FindingPhrases) -> str:
    """Return how sure and how strong a correlation is, each in its own word."""
    if not finding.significant:
        return f"The link is {NOT_CLEAR}."
    size = abs(finding.effect)
    strong = "but weak" if size < 0.1 else "and moderate" if size < 0.3 else "and strong"
    return f"The link is clear {strong}."


CORR = Metric(
    name="CORR",
    phrase="correlation",
    protected=NUMBERS,
    output=NUMBERS,
    summary=SummaryKind.MOMENTS,
    effect=correlation,
    bound=bound,
    evidence=evidence,
    most=1.0,
    scale=COEFFICIENT,
    words=Words(
        noun="correlation",
        meaning="from −1 to 1; 0 is no straight-line link, below 0.1 in size is weak",
        lower="falls:",
        higher="rises:",
        clause=clause,
    ),
)
