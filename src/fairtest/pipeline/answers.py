"""The validation stage: from proposed contexts and a test set to findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import Counts, Target
from fairtest.exceptions import in_question
from fairtest.inference.asked import Asked, by_output
from fairtest.inference.describe import Describer
from fairtest.inference.multiplicity.corrections import corrections
from fairtest.inference.validate import TestSettings, validate
from fairtest.inference.verdict import detectable, verdict
from fairtest.metrics.choice import reported_metric
from fairtest.model.results import AttributeResult
from fairtest.pipeline.search import engine_of, stratum_evidence
from fairtest.progress import progress_of_step, silent
from fairtest.ranking.comparing import Comparer
from fairtest.ranking.folding import fold
from fairtest.ranking.listed import others_of
from fairtest.ranking.reported import nearest_bound, reported, standing_out
from fairtest.search.cuts import conditions_of
from fairtest.search.scoring import Strength
from fairtest.statistics.numerics.rules import normal_quantile
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.data.source import DataSource
    from fairtest.engine.contract import Engine
    from fairtest.inference.validate import Validated
    from fairtest.investigations.question import Question
    from fairtest.model.finding import Finding
    from fairtest.model.found import Found
    from fairtest.model.plans import TestingRun
    from fairtest.progress import Progress
    from fairtest.types import BoolArray


def put(source: DataSource, question: Question, found: Found, title: str = "", *, weighted: bool = True) -> Asked:
    """Return the hypotheses of a question as they are put to a test set.

    ``weighted`` says whether anybody will ask for the evidence of the training set.
    """
    number = len(found.contexts)
    outputs = np.zeros(number, dtype=int) if found.outputs is None else found.outputs
    with in_question(title):
        conditions = conditions_of(found.contexts, engine_of(source).axis)
        finer = question.finer_strata(source, number)
        targets = question.test_targets(source, np.unique(outputs).tolist(), number, finer)
        strata = None
        if weighted and question.strata is not None and question.metric.evidence is not None:
            strata = stratum_evidence(source, question, found)
        evidence, sign = (found.evidence, found.sign) if weighted else (np.zeros(number), np.zeros(number))
    return Asked(
        question,
        targets,
        found.contexts,
        conditions,
        evidence,
        sign,
        outputs,
        strata,
        title,
        guided=found.guided,
        strongest=found.strongest,
        rare=found.rare,
        finer=finer,
    )


def answer(
    source: DataSource, asked: Sequence[Asked], run: TestingRun, min_size: int, progress: Progress = silent
) -> list[AttributeResult]:
    """Validate everything asked on one test set, as one family, and make the findings."""
    settings = make_settings(source, run, min_size)
    validated = validate(engine_of(source), asked, settings, progress_of_step(progress, 0, 2))
    describing = progress_of_step(progress, 1, 2)
    results = []
    for number, v in enumerate(validated):
        here = progress_of_step(describing, number, len(validated))
        result_of = attribute_result if v.asked.question.labels is None else label_results
        results.append(result_of(source, v, run, here))
    return results


def label_results(
    source: DataSource, validated: Validated, run: TestingRun, progress: Progress = silent
) -> AttributeResult:
    """Return what the test set says of labels: those over everybody first, then those in contexts.

    Over everybody, labels are shown that are significant, or that the training set ranked among the strongest.
    """
    asked = validated.asked
    with np.errstate(invalid="ignore"):
        significant = validated.contexts.p <= run.level
    shown = set(asked.strongest) | set(asked.outputs[significant].tolist())
    overall = set(asked.strongest) | {int(asked.outputs[i]) for i in asked.populations if significant[i]}
    results = {
        output: attribute_result(source, alone, run, progress_of_step(progress, i, len(asked.targets)))
        for i, (output, alone) in enumerate(by_output(validated))
        if output in shown
    }
    everyone = [r.population for output, r in results.items() if output in overall]
    populations = tuple(sorted(everyone, key=lambda finding: _by_strength(asked, finding)))
    inside = [f for r in results.values() for f in r.findings]
    return AttributeResult(
        tested=validated.tested,
        untestable=int(np.isnan(validated.contexts.p_raw).sum()),
        significant_contexts=tuple(c for r in results.values() for c in r.significant_contexts),
        significant_strata=_significant_strata(validated, run.level),
        left_out=next(iter(results.values())).left_out if results else 0,
        population=populations[0],
        findings=(
            *(f for f in populations if f.significant),
            *sorted(inside, key=lambda f: _by_strength(asked, f)),
        ),
        detectable=None,
        labels=populations,
        parts={asked.question.about(output).output.name: r for output, r in results.items()},
        rare=asked.rare,
    )


def _by_strength(asked: Asked, finding: Finding) -> tuple[Any, ...]:
    """Return what labels are ordered by: certain ones first, by the bound of the single interval nearest to none."""
    low, high = finding.interval_single or (np.nan, np.nan)
    bound = float(nearest_bound(np.array([low]), np.array([high]), asked.question.metric.strength)[0])
    p = 1.0 if finding.p_value is None else finding.p_value
    return (not finding.significant, -round(np.nan_to_num(bound), 12), p, -finding.size, finding.output)


def make_settings(source: DataSource, run: TestingRun, min_size: int) -> TestSettings:
    """Return how a set is tested."""
    train, test = source.holdout.sizes[0], source.holdout.sizes[run.number]
    return TestSettings(
        number=run.number,
        level=run.level,
        correction=corrections[run.correction],
        stratum_people=min_size * test / source.table.n_rows,
        seed=source.seed,
        train_share=train / (train + test) if source.split else 0.0,
        resampling=run.plan.method == "resampling",
    )


def attribute_result(
    source: DataSource, validated: Validated, run: TestingRun, progress: Progress = silent
) -> AttributeResult:
    """Return what the test set says of one question."""
    engine = engine_of(source)
    asked, estimates = validated.asked, validated.contexts
    with np.errstate(invalid="ignore"):
        significant = estimates.p <= run.level
    describer = Describer(engine, source, run.number, run.level, validated)
    progress(0.0)
    groups = _shown(source, validated, significant, run)
    population, *findings = describer.findings([0, *(i for i, *_ in groups)], progress_of_step(progress, 1, 2))
    missing, outside = left_out(engine, run.number, asked)
    return AttributeResult(
        tested=validated.tested,
        untestable=int(np.isnan(estimates.p_raw).sum()),
        significant_contexts=tuple(asked.contexts[i] for i in np.flatnonzero(significant)),
        significant_strata=_significant_strata(validated, run.level),
        left_out=missing,
        outside=outside,
        population=_judged(population, run),
        findings=tuple(
            _judged(replace(finding, folded=len(copies)), run)
            for finding, (_, *copies) in zip(findings, groups, strict=True)
        ),
        detectable=_detectable(validated, run.level),
        others=others_of(engine, run.number, describer, validated, {0, *(i for i, *_ in groups)}),
    )


def left_out(engine: Engine, number: int, asked: Asked) -> tuple[int, int]:
    """Return how many people of the test set have a value missing, and how many others the question is not about."""
    together = engine.left_out(number, asked.target)
    if asked.question.everyone is None:
        return together, 0
    anybody = Target(asked.question.protected, asked.question.everyone, asked.question.strata, SummaryKind.ROWS)
    missing = engine.left_out(number, anybody)
    return missing, together - missing


def _judged(finding: Finding, run: TestingRun) -> Finding:
    """Return a finding with what it says about the tolerance."""
    if run.plan.tolerance is None or finding.effect is None or finding.interval is None:
        return finding
    said = verdict(
        reported_metric(finding.metric),
        finding.effect,
        finding.interval,
        run.plan.tolerance,
        finding.size,
        finding.interval_single,
        float(normal_quantile(run.level)),
    )
    return replace(finding, verdict=said)


def _detectable(validated: Validated, level: float) -> float | None:
    """Return how large an effect over everybody would have been seen."""
    e = validated.contexts
    together, single = (float(e.low[0]), float(e.high[0])), (float(e.low_single[0]), float(e.high_single[0]))
    if not np.isfinite([*together, *single]).all():
        return None
    return detectable(validated.asked.question.metric.signed, together, single, float(normal_quantile(level)))


def _significant_strata(validated: Validated, level: float) -> int:
    if validated.strata is None:
        return 0
    with np.errstate(invalid="ignore"):
        return int(np.count_nonzero(validated.strata.p <= level))


def _shown(source: DataSource, validated: Validated, significant: BoolArray, run: TestingRun) -> list[list[int]]:
    """Return the contexts to report, strongest first, each with those that say the same thing.

    Ranked by the single interval, in the paper's preset by the simultaneous one, and there nothing else is left out.
    """
    engine = engine_of(source)
    asked, e = validated.asked, validated.contexts
    metric = asked.question.metric
    paper = run.plan.preset == "paper"
    low, high = (e.low, e.high) if paper else (e.low_single, e.high_single)
    bound = nearest_bound(low, high, metric.strength)
    sign = np.sign(e.effect) if metric.signed else np.ones(len(e.effect))
    size = e.size.astype(float)
    ranked = reported(asked.contexts, significant, sign, bound, size)
    if paper or not ranked:
        return [[i] for i in ranked]
    shows = None
    if metric.evidence is not None:
        # finer strata than those shown are too small to be looked at one by one
        plain = metric.search_summary is None and asked.finer is None
        target = asked.target if plain else asked.question.search_target(source)
        known = {i: asked.conditions[i] for i in (0, *np.flatnonzero(significant).tolist())}
        summary = validated.summary
        counted = summary.counts[list(known)] if isinstance(summary, Counts) and target is asked.target else None
        comparer = Comparer(engine, run.number, target, Strength(metric, "bound"), known, counted)
        ranked = standing_out(ranked, asked.contexts, significant, sign, size, comparer.stronger)

        def shows(i: int, people: NDArray[np.uint64]) -> bool:
            here = sign[ranked[i]]
            everywhere = bool(significant[0]) and here == sign[0]
            return comparer.shows(people, here if metric.signed else 0, run.level, beyond=everywhere)

    members = engine.members(run.number, [asked.conditions[i] for i in ranked])
    groups = fold([asked.contexts[i] for i in ranked], members, sign[ranked], bound[ranked], shows)
    return [[ranked[i] for i in group] for group in groups]
