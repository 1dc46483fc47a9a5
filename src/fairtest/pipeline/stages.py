"""The stages: functions of a batch of questions and a plan that return what they find, and change no investigation.

The one effect there is: :func:`validate_batch` spends a test set of the source, when all that it answers is known.
:mod:`fairtest.pipeline.calls` has the same stages as users call them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairtest.exceptions import InputError, argument, in_question
from fairtest.inference.consult import consult_training
from fairtest.investigations.batch import check_trained_together, title_in
from fairtest.investigations.roles import names_of
from fairtest.model.plans import WIDEST, TestingRun, TrainingRun
from fairtest.model.results import Answered, Results, Training
from fairtest.pipeline.answers import answer, pose_question
from fairtest.pipeline.choices import (
    check_design,
    check_joint,
    check_tolerance,
    choose_correction,
    fewest_people,
    note_counted_in_full,
    note_unused_choices,
    plan_without_split,
)
from fairtest.pipeline.reuse import answer_from_reused_set, check_reusable, make_short_list
from fairtest.pipeline.search import ask_again, engine_of, find_contexts, without
from fairtest.progress import as_stage_progress, progress_of_stage
from fairtest.reporting.assemble import assemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.investigations.base import Investigation
    from fairtest.model.plans import TestingPlan, TrainingPlan
    from fairtest.model.report import Report
    from fairtest.model.results import AttributeResult, PriorAnswer
    from fairtest.progress import StageProgress


def search_batch(batch: Sequence[Investigation], plan: TrainingPlan, progress: StageProgress) -> list[Training]:
    """Search the training set for the contexts of each investigation."""
    source = batch[0].source
    if not source.split:
        plan = plan_without_split(plan)
    run = TrainingRun(plan, fewest_people(source, plan), source.seed, None if plan.preset == "paper" else WIDEST)
    outputs = frozenset[str]().union(*(i.outputs for i in batch))
    trainings = []
    for investigation in batch:
        found = []
        for question in investigation.questions:
            searching = progress_of_stage(progress, f"searching contexts for {question.protected.name}")
            searching(0.0)
            with in_question(title_in(batch, investigation)):
                found.append(find_contexts(source, without(question, outputs), run, searching))
            searching(1.0)
        notes = dict.fromkeys(note for each in found for note in each.notes)  # each once
        trainings.append(Training(plan, tuple(found), tuple(notes)))
    return trainings


def validate_batch(
    batch: Sequence[Investigation], trainings: Sequence[Training], plan: TestingPlan, progress: StageProgress
) -> list[Results]:
    """Validate the contexts of all investigations on the next test set, as one family, and spend it."""
    source = batch[0].source
    plan = replace(plan, preset=plan.preset or trainings[0].plan.preset)
    correction = choose_correction(plan, split=source.split)
    check_reusable(source, correction, plan.tolerance)
    check_joint(batch, correction)
    check_design(source, plan, correction)
    check_tolerance(batch, plan.tolerance)
    check_trained_together(batch, trainings)
    source.budget.check()
    asked = [
        pose_question(
            source,
            question,
            make_short_list(source, found) if source.reuse else found,
            title_in(batch, investigation),
            weighted=correction.weighted,
            # which of the questions made beforehand is asked next may be decided by the answers seen since
            named=investigation.named and not source.budget.shown,
        )
        for investigation, training in zip(batch, trainings, strict=True)
        for question, found in zip(investigation.questions, training.found, strict=True)
    ]
    if not source.reuse and plan.preset != "paper":
        train, test = source.holdout.sizes[:2]
        engine, growth = engine_of(source), test / train
        asked = [
            consult_training(engine, a, level=source.level, growth=growth, weighted=correction.weighted) for a in asked
        ]
    testing = progress_of_stage(progress, f"testing {sum(len(a.contexts) for a in asked):,} contexts")
    testing(0.0)
    min_size = trainings[0].plan.min_size
    with source.budget.draw() as number:
        run = TestingRun(plan, number, source.level, correction.name)
        if source.reuse:
            looked_at = [found.looked_at for training in trainings for found in training.found]
            answers, reuse = answer_from_reused_set(source, asked, looked_at, run, min_size, testing)
            run = replace(run, reuse=reuse)
        else:
            answers = answer(source, asked, run, min_size, testing)
            testing(1.0)
        results = _divide_answers(batch, trainings, run, answers)
        # inside the draw: a workspace spends the set by storing what it answered, before anybody sees it
        source.budget.keep(number, (_record_answer(i, each) for i, each in zip(batch, results, strict=True)))
    source.budget.mark_shown()
    return results


def explain_answer(
    investigation: Investigation,
    before: PriorAnswer,
    number: int,
    by: str | Sequence[str],
    *,
    correction: str | None = None,
) -> Report:
    """Explain what run ``number`` answered, perhaps in another process: ``investigation`` need not be trained.

    The population and the contexts that were significant then are asked about again, on the next test set.
    """
    names = names_of("by", by)
    if not names:
        raise InputError(
            f"{argument('by')} must name at least one explanatory attribute: explain(investigation, by='department')."
        )
    conditional = investigation.conditioned_on(names)
    repeated = [
        ask_again(investigation.source, question, significant, names)
        for question, significant in zip(conditional.questions, before.attributes, strict=True)
    ]
    found = tuple(again for again, _ in repeated)
    left_out = sum(barred for _, barred in repeated)
    note = f"Significant contexts that speak of {', '.join(names)} themselves are left out here: {left_out}."
    explains = number, sum(len(again.contexts) for again in found)
    training = Training(before.training, found, (note,) if left_out else (), explains, left_out)
    # without a preset, that of the training holds
    plan = replace(before.test, correction=correction or before.test.correction, preset=None)
    (results,) = validate_batch([conditional], [training], plan, as_stage_progress(None))
    return assemble(conditional, results)


def _divide_answers(
    batch: Sequence[Investigation],
    trainings: Sequence[Training],
    run: TestingRun,
    answers: Sequence[AttributeResult],
) -> list[Results]:
    """Return the answers by investigation."""
    family = sum(a.tested for a in answers)
    rest = iter(answers)
    results = []
    for investigation, training in zip(batch, trainings, strict=True):
        attributes = tuple(next(rest) for _ in investigation.questions)
        looked_at = tuple(found.looked_at for found in training.found)
        notes = (
            *note_unused_choices(investigation),
            *training.notes,
            *note_counted_in_full(investigation, run.correction),
        )
        again = training.explains, training.not_asked_again
        results.append(Results(training.plan, run, attributes, looked_at, family, notes, *again))
    return results


def _record_answer(investigation: Investigation, results: Results) -> Answered:
    return Answered(
        investigation.title,
        investigation.arguments(),
        investigation.explained_by,
        results.to_explain(),
        assemble(investigation, results),
    )
