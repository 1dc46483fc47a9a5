"""The validation stage: from proposed contexts and a test set to findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.contexts.cuts import conditions_of
from fairtest.inference.describe import Describer
from fairtest.inference.validate import Asked, TestSettings, validate
from fairtest.pipeline.choices import chosen_correction
from fairtest.pipeline.search import engine_of
from fairtest.ranking import nearest_bound, reported
from fairtest.reporting.assemble import AttributeResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.contexts.search import Found
    from fairtest.data.source import DataSource
    from fairtest.inference.validate import Validated
    from fairtest.investigations.question import Question
    from fairtest.reporting.assemble import TestChoices

__all__ = ["answer", "put"]


def put(source: DataSource, question: Question, found: Found) -> Asked:
    """Return a question as it is put to a test set: with its contexts, the whole population first."""
    engine = engine_of(source)
    conditions = tuple(conditions_of(c, engine.axis) for c in found.contexts)
    target = question.test_target(source)
    return Asked(question, target, found.contexts, conditions, found.evidence, found.sign)


def answer(source: DataSource, asked: Sequence[Asked], choices: TestChoices, min_size: int) -> list[AttributeResult]:
    """Validate everything asked on one test set, as one family, and make the findings."""
    engine = engine_of(source)
    train, test = source.holdout.sizes[0], source.holdout.sizes[choices.number]
    settings = TestSettings(
        number=choices.number,
        level=source.level,
        correction=chosen_correction(choices.correction),
        stratum_people=min_size * test / source.table.n_rows,
        seed=source.seed,
        train_share=train / (train + test),
        resampling=choices.method == "resampling",
    )
    return [_attribute(source, v, choices) for v in validate(engine, asked, settings)]


def _attribute(source: DataSource, validated: Validated, choices: TestChoices) -> AttributeResult:
    engine = engine_of(source)
    asked, estimates = validated.asked, validated.contexts
    with np.errstate(invalid="ignore"):
        significant = estimates.p <= source.level
    describer = Describer(engine, source, choices.number, source.level, validated)
    shown = list(_shown(validated, significant, choices.preset == "paper"))
    return AttributeResult(
        question=asked.question,
        tested=validated.tested,
        untestable=int(np.isnan(estimates.effect).sum()),
        significant_contexts=tuple(asked.contexts[i] for i in np.flatnonzero(significant)),
        left_out=engine.left_out(choices.number, asked.target),
        population=describer.finding(0),
        findings=tuple(describer.finding(i) for i in shown),
    )


def _shown(validated: Validated, significant: np.ndarray[tuple[int], np.dtype[np.bool_]], paper: bool) -> Iterator[int]:
    """Yield the contexts to report: ranked by the single interval, in the paper's preset by the simultaneous one."""
    e, metric = validated.contexts, validated.asked.question.metric
    low, high = (e.low, e.high) if paper else (e.low_single, e.high_single)
    bound = nearest_bound(low, high, metric.strength)
    sign = np.sign(e.effect) if metric.signed else np.ones(len(e.effect))
    yield from reported(validated.asked.contexts, significant, sign, bound, e.size.astype(float))
