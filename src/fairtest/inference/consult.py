"""What the training set says of hypotheses before a test set is opened: how sure it is, and which are hopeless.

Neither can invalidate anything: both are known before the people are looked at on whom the hypotheses are tested.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from fairtest.data.holdout import TRAIN
from fairtest.data.summaries import Counts
from fairtest.inference.hypotheses import count_hypotheses, summarize_strata
from fairtest.metrics.batch import Batch
from fairtest.metrics.evidence import MOST
from fairtest.search.scoring import Strength

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.data.summaries import Summary
    from fairtest.engine.contract import Engine, Rows
    from fairtest.inference.asked import Asked
    from fairtest.types import BoolArray, FloatArray


def consult_training(engine: Engine, asked: Asked, *, level: float, growth: float, weighted: bool) -> Asked:
    """Return hypotheses without those that no test set could confirm, and with calibrated evidence.

    Parameters
    ----------
    level
        That of the test set.
    growth
        How many times as many people the test set has as the training set.
    weighted
        Whether anybody will ask for the evidence.
    """
    metric = asked.question.metric
    calibrates = weighted and metric.evidence is not None and bool(asked.evidence.any())
    drops = metric.least_p is not None and asked.question.strata is None
    if not calibrates and not drops:
        return asked
    summary = count_hypotheses(engine, asked, TRAIN, joint=False)
    if isinstance(summary, Counts) and asked.finer is None:
        asked = replace(asked, training=summary)
    if calibrates:
        asked = _calibrate(asked, summary)
    if metric.least_p is not None and drops:
        kept = testable(metric.least_p(summary, growth), level)
        kept[asked.populations] = True
        asked = asked.take(np.flatnonzero(kept))
    return asked


def testable(least_p: FloatArray, level: float) -> BoolArray:
    """Return which hypotheses could be rejected at all, whatever the test set shows.

    With K such that no more than K hypotheses could reach a p-value of α/K, the others need not be counted.

    References
    ----------
    R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 46 (1990), 515–522.

    Examples
    --------
    >>> testable(np.array([1e-9, 1e-4, 0.03, 0.2]), 0.05)
    array([ True,  True, False, False])
    """
    number = np.arange(1, max(least_p.size, 1) + 1)
    could = np.searchsorted(np.sort(least_p), level / number, side="right")
    return np.asarray(least_p <= level / number[np.argmax(could <= number)])


testable.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name


def _calibrate(asked: Asked, summary: Summary) -> Asked:
    """Return hypotheses whose evidence is the deviate of a p-value that can be trusted.

    The searches use deviates that are quick to compute. With a handful of people those can be absurd: one person among
    69 is no evidence of eight standard deviations, and one such hypothesis takes the level from all others.
    """
    metric = asked.question.metric
    sure = _trusted_deviates(asked, summary)
    known = ~np.isnan(sure)
    evidence = np.minimum(asked.evidence, np.where(known, sure, np.inf))
    if metric.search_summary is None:
        quick = np.minimum(np.abs(np.nan_to_num(Strength(metric, "bound").evidence(summary).z)), MOST)
        beyond = np.maximum(2 * asked.evidence - quick, 0.0)  # what it shows beyond the larger contexts around it
        evidence = np.where(known, (sure + np.minimum(sure, beyond)) / 2, asked.evidence)
    strata = asked.strata_evidence
    if strata is not None:
        strata = np.fmin(strata, _trusted_deviates(asked, summarize_strata(asked, summary)))
    return replace(asked, evidence=evidence, strata_evidence=strata)


def _trusted_deviates(asked: Asked, summary: Summary) -> FloatArray:
    """Return the deviates of the p-values that the metric's own test gives without draws, NaN where it gives none."""

    def fetch(_: Sequence[int]) -> Iterator[Rows]:
        raise AssertionError("evidence is computed from summaries")

    if isinstance(summary, Counts) and summary.counts.dtype.kind == "f":
        summary = Counts(np.rint(summary.counts).astype(np.int64))  # of people that rows are worth
    batch = Batch(asked.question.metric, summary, fetch, 0)
    strata = (summary.counts if hasattr(summary, "counts") else summary.sums).shape[1]
    p = batch.metric.procedure_for(strata=strata).test(batch)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.minimum(-ndtri(np.clip(p, 1e-300, 1.0) / 2), MOST))
