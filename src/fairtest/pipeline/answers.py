"""The validation stage: from proposed contexts and a test set to findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import Counts, Target
from fairtest.exceptions import in_question
from fairtest.inference.asked import Asked, by_output
from fairtest.inference.describe import Describer
from fairtest.inference.family import TestSettings
from fairtest.inference.multiplicity.corrections import FALSE_DISCOVERY, corrections
from fairtest.inference.populations import STRATA_SHARE
from fairtest.inference.validate import validate
from fairtest.inference.verdict import POWER_DEVIATE, detectable, verdict
from fairtest.inference.weighed_rates import weigh_errors
from fairtest.metrics.batch import Batch
from fairtest.metrics.choice import reported_metric
from fairtest.model.error_rates import GroupErrors
from fairtest.model.finding import Elsewhere
from fairtest.model.results import AttributeResult
from fairtest.pipeline.search import engine_of, stratum_evidence
from fairtest.progress import progress_of_step, silent
from fairtest.ranking.choice import Comparison, Shown
from fairtest.ranking.folding import fold
from fairtest.ranking.listed import others_of
from fairtest.ranking.reported import nearest_bound, reported
from fairtest.search.cuts import conditions_of
from fairtest.search.scoring import Strength
from fairtest.statistics.numerics.rules import normal_quantile
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.design import Design
    from fairtest.data.source import DataSource
    from fairtest.engine.contract import Engine, Rows
    from fairtest.inference.validate import Validated
    from fairtest.investigations.question import Question
    from fairtest.model.finding import Finding
    from fairtest.model.found import Found
    from fairtest.model.plans import TestingRun
    from fairtest.progress import Progress
    from fairtest.types import BoolArray

RARE = 0.1
"""A group of people, or an output, that a smaller share of a context has is rare there."""
GROUP_SIZES = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000)
"""Round numbers of people, to say what could have been seen in a context of a usual size."""


def pose_question(
    source: DataSource,
    question: Question,
    found: Found,
    title: str = "",
    *,
    weighted: bool = True,
    named: bool = False,
) -> Asked:
    """Return the hypotheses of a question as they are put to a test set.

    ``weighted`` says whether anybody will ask for the evidence of the training set, ``named`` whether the question was
    there before anything was shown of these people.
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
        named=named,
        finer=finer,
        neighbourhood=question.neighbourhood(source),
    )


def answer(
    source: DataSource, asked: Sequence[Asked], run: TestingRun, min_size: int, progress: Progress = silent
) -> list[AttributeResult]:
    """Validate everything asked on one test set, as one family, and make the findings."""
    settings = make_settings(source, run, min_size)
    if settings.population_share:
        asked = [replace(a, population_set=population_set(source, a, run.number)) for a in asked]
    validated = validate(engine_of(source), asked, settings, progress_of_step(progress, 0, 2))
    describing = progress_of_step(progress, 1, 2)
    results = []
    for number, v in enumerate(validated):
        here = progress_of_step(describing, number, len(validated))
        result_of = attribute_result if v.asked.question.labels is None else label_results
        results.append(result_of(source, v, run, here))
    return results


def population_set(source: DataSource, asked: Asked, number: int) -> int | None:
    """Return the people on whom the whole population of a question is tested at a level of its own.

    Everybody of the training set and this one if the question was named before anything was shown of them, else this
    set. None for labels: which of them are tested over everybody, training decides.
    """
    if not asked.question.population_first:
        return None
    return source.holdout.with_training(number) if asked.named else number


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
    """Return what labels are ordered by: certain ones first, by the bound of their interval nearest to none."""
    low, high = finding.interval_single or finding.interval or (np.nan, np.nan)
    bound = float(nearest_bound(np.array([low]), np.array([high]), asked.question.metric.strength)[0])
    p = 1.0 if finding.p_value is None else finding.p_value
    return (not finding.significant, -round(np.nan_to_num(bound), 12), p, -finding.size, finding.output)


def make_settings(source: DataSource, run: TestingRun, min_size: int) -> TestSettings:
    """Return how a set is tested."""
    test = source.holdout.sizes[run.number]
    return TestSettings(
        number=run.number,
        level=run.level,
        correction=corrections[run.correction],
        stratum_people=min_size * test / source.n_people,
        seed=source.seed,
        population_share=0.0 if source.reuse or run.plan.preset == "paper" else run.plan.population_share,
        train_share=train_share(source, run.number),
        resampling=run.plan.method == "resampling",
        design=source.design,
    )


def train_share(source: DataSource, number: int) -> float:
    """Return the training set's share of the people of training and a test set; 0 without a training set."""
    train, test = source.holdout.sizes[0], source.holdout.sizes[number]
    return train / (train + test) if source.split else 0.0


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
    shown = choose_shown(source, validated, significant, run)
    population, *findings = describer.findings([0, *shown.leading], progress_of_step(progress, 1, 2))
    missing, outside = count_left_out(engine, run.number, asked)
    return AttributeResult(
        tested=validated.tested,
        untestable=int(np.isnan(estimates.p_raw).sum()),
        significant_contexts=tuple(asked.contexts[i] for i in np.flatnonzero(significant)),
        significant_strata=_significant_strata(validated, run.level),
        left_out=missing,
        outside=outside,
        population=_add_verdict(population, run),
        findings=tuple(_arrange_findings(findings, shown, asked, run)),
        detectable=_detectable(validated, run.level),
        detectable_inside=_detectable_inside(validated, run),
        named=asked.population_set is not None and asked.population_set != run.number,
        everywhere=shown.everywhere,
        elsewhere=None if shown.outside is None else _elsewhere(validated, shown.outside, run),
        errors=group_errors(engine, asked, run.number, source.design),
        others=others_of(engine, run.number, describer, validated, shown.groups),
    )


def _arrange_findings(findings: Sequence[Finding], shown: Shown, asked: Asked, run: TestingRun) -> Iterator[Finding]:
    """Yield the contexts shown, each with its place among the others and what it says about the tolerance.

    Groups that were chosen among many overstate their effects a little. Where the correction allows some of them to be
    flukes, or where so few people have an output or are of a group that only large effects are found, that is too much
    for an interval that knows nothing of the choice: only the simultaneous one is kept.
    """
    lenient = corrections[run.correction].controls is FALSE_DISCOVERY
    sure = shown.confirmed or ((),) * len(shown.groups)
    for finding, group, around, confirmed in zip(findings, shown.groups, shown.inside, sure, strict=True):
        inside = None if around is None else asked.contexts[around]
        placed = _add_verdict(replace(finding, folded=len(group) - 1, inside=inside, confirmed=confirmed), run)
        yield replace(placed, interval_single=None) if lenient or finding.table.rarest < RARE else placed


def _elsewhere(validated: Validated, sums: NDArray[Any], run: TestingRun) -> Elsewhere | None:
    """Return what is left to see among people who are in none of the contexts shown."""
    asked = validated.asked

    def fetch(_: Sequence[int]) -> Iterator[Rows]:
        raise AssertionError("intervals of sums need no people")

    batch = Batch(asked.question.metric, asked.target.wrap(sums[None]), fetch, 0)
    if np.isnan(batch.effect[0]):
        return None
    procedure = batch.metric.procedure_for(strata=asked.target.n_strata)
    low, high = procedure.bounds(batch, run.level)
    return Elsewhere(int(batch.size[0]), float(batch.effect[0]), (float(low[0]), float(high[0])))


def group_errors(engine: Engine, asked: Asked, number: int, design: Design | None) -> tuple[GroupErrors, ...]:
    """Return how prediction and truth go together in each group of everybody; nothing without two labels or groups."""
    question = asked.question
    if question.confusion is None or question.protected.is_number:
        return ()
    everybody = number if asked.population_set is None else asked.population_set
    target = Target(question.protected, question.confusion, None, SummaryKind.COUNTS)
    cells = engine.tables(everybody, [()], target)[0].sum(axis=0).T
    if design is not None:
        rows = engine.rows(everybody, (), replace(target, summary=SummaryKind.ROWS))
        return weigh_errors(rows, question.protected.levels, np.rint(cells * design.counted_as).astype(int))
    groups = zip(question.protected.levels, cells.tolist(), strict=True)
    return tuple(GroupErrors(level, (tn, fp, fn, tp)) for level, (tn, fp, fn, tp) in groups)


def count_left_out(engine: Engine, number: int, asked: Asked) -> tuple[int, int]:
    """Return how many people of the test set have a value missing, and how many others the question is not about."""
    together = engine.count_left_out(number, asked.target)
    if asked.question.everyone is None:
        return together, 0
    anybody = Target(asked.question.protected, asked.question.everyone, asked.question.strata, SummaryKind.ROWS)
    missing = engine.count_left_out(number, anybody)
    return missing, together - missing


def _add_verdict(finding: Finding, run: TestingRun) -> Finding:
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


def _detectable_inside(validated: Validated, run: TestingRun) -> tuple[int, float] | None:
    """Return a usual number of people of a context, and how large an effect would have been seen there.

    From the standard error over everybody: it grows as people get fewer.
    """
    e, asked = validated.contexts, validated.asked
    tested = int(np.count_nonzero(e.tested[1:]))
    bounds = float(e.low_single[0]), float(e.high_single[0])
    if not tested or not asked.question.metric.signed or not np.isfinite(bounds).all():
        return None
    usual = float(np.median(e.size[1:][e.tested[1:]]))
    people = min(GROUP_SIZES, key=lambda n: abs(np.log(n / max(usual, 1.0))))
    level = run.level / max(validated.tested, 1)
    if asked.population_set is not None:
        level *= (1 - run.plan.population_share) * (1 if asked.target.strata is None else 1 - STRATA_SHARE)
    error = (bounds[1] - bounds[0]) / 2 / float(normal_quantile(run.level))
    size = (float(normal_quantile(level)) + POWER_DEVIATE) * error * np.sqrt(e.size[0] / people)
    return people, float(size)


def _significant_strata(validated: Validated, level: float) -> int:
    if validated.strata is None:
        return 0
    with np.errstate(invalid="ignore"):
        return int(np.count_nonzero(validated.strata.p <= level))


def _has_rare_values(validated: Validated) -> bool:
    """Whether fewer than one in ten of all people are in some group or have some output.

    How surely two contexts differ by a metric of the user's own follows from how it changes with the counts, which says
    too little where the counts of some cells are small.
    """
    if not isinstance(validated.summary, Counts):
        return False
    counts = validated.summary.counts[0].sum(axis=0)
    margins = (counts.sum(axis=0), counts.sum(axis=1))
    return bool(min(m.min() / max(m.sum(), 1) for m in margins) < RARE)


def choose_shown(source: DataSource, validated: Validated, significant: BoolArray, run: TestingRun) -> Shown:
    """Return the contexts to show.

    In the paper's preset, all that are stronger than the larger ones around them, by the simultaneous intervals. So
    too, by the single ones and without near-copies, for a metric of which it is not known how surely contexts differ.
    """
    engine = engine_of(source)
    asked, e = validated.asked, validated.contexts
    metric = asked.question.metric
    paper, strength = run.plan.preset == "paper", Strength(metric, "bound")
    if not paper and strength.compares and not (metric.evidence is None and _has_rare_values(validated)):
        # finer strata than those shown are too small to be looked at one by one
        plain = metric.search_summary is None and asked.finer is None
        target = asked.target if plain else asked.question.search_target(source)
        summary = validated.summary
        same = target is asked.target and source.design is None  # else the sums are those of effective people
        counted, trained = (s.counts if isinstance(s, Counts) and same else None for s in (summary, asked.training))
        share = train_share(source, run.number)
        comparison = Comparison(engine, run.number, target, strength, validated, significant, counted, trained, share)
        # what is promised of comparisons holds for everything that the set answers, so that its level is divided
        level = run.level / validated.questions
        shown = comparison.choose(level, validated.required, confirmed=bool(significant[0]))
        shown = shown.put_clear_first(nearest_bound(e.low, e.high, metric.strength))
        return shown if target is asked.target else replace(shown, outside=None)
    bound = nearest_bound(*((e.low, e.high) if paper else (e.low_single, e.high_single)), metric.strength)
    sign = np.sign(e.effect) if metric.signed else np.ones(len(e.effect))
    ranked = reported(asked.contexts, significant, sign, bound, e.size.astype(float))
    groups = [[i] for i in range(len(ranked))]
    if ranked and not paper:
        members = engine.members(run.number, [asked.conditions[i] for i in ranked])
        groups = fold([asked.contexts[i] for i in ranked], members, sign[ranked], bound[ranked])
    return Shown(tuple(tuple(ranked[i] for i in group) for group in groups), (None,) * len(groups))
