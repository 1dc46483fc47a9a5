"""The stages in order: train, test, report; explain, which asks again; audit, which is all of them in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairtest.data.source import DataSource
from fairtest.exceptions import InputError, argument, in_question
from fairtest.investigations.batch import as_batch, check_trained_together, title_in
from fairtest.investigations.discovery import Discovery
from fairtest.investigations.error_profiling import ErrorProfiling
from fairtest.investigations.roles import names_of
from fairtest.investigations.testing import Testing
from fairtest.model.plans import WIDEST, TestingPlan, TestingRun, TrainingPlan, TrainingRun
from fairtest.model.results import Answered, Results, Training
from fairtest.pipeline.answers import answer, put
from fairtest.pipeline.choices import (
    check_joint,
    chosen_correction,
    counted_in_full,
    min_people,
    search_notes,
    undivided,
    unused_choices,
)
from fairtest.pipeline.options import divide_options, investigation_asked, source_of, takes_options
from fairtest.pipeline.reuse import answer_again, check_reusable, short_list
from fairtest.pipeline.search import ask_again, find_contexts, without
from fairtest.progress import as_stage_progress, progress_of_stage
from fairtest.reporting.assemble import assemble
from fairtest.reporting.formats.files import report_folder, save

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from typing import Unpack

    from fairtest.investigations.base import Investigation
    from fairtest.model.plans import Preset, TestingOptions, TrainingOptions
    from fairtest.model.report import Report
    from fairtest.model.results import AttributeResult, PriorAnswer
    from fairtest.pipeline.options import AuditOptions


@takes_options(TrainingPlan)
def train(
    investigations: Investigation | Sequence[Investigation],
    max_depth: int = 5,
    min_size: int = 100,
    *,
    min_leaf_size: int | None = None,
    preset: Preset | None = None,
    progress: Callable[..., None] | None = None,
    **options: Unpack[TrainingOptions],
) -> None:
    """Search the training set for contexts in which the association is strongest.

    Parameters
    ----------
    investigations
        One, or several on the same source; their outputs are never contexts of each other.
    {options}
    progress
        Called with a line of text, and the share of it that is done, now and then: ``progress(text, share)``, or
        ``progress(text)`` where it takes one argument. What it raises ends the search and leaves all as it was.
    """
    batch = as_batch(investigations)
    min_size = min_size if min_leaf_size is None else min_leaf_size
    plan = TrainingPlan.of({"max_depth": max_depth, "min_size": min_size, "preset": preset, **options})
    source = batch[0].source
    if not source.split:
        plan = undivided(plan)
    widest = None if plan.preset == "paper" else WIDEST
    run = TrainingRun(plan, min_people(source, plan), source.seed, widest)
    stages = as_stage_progress(progress)
    outputs = frozenset[str]().union(*(i.outputs for i in batch))
    trained = []
    for investigation in batch:
        found = []
        for question in investigation.questions:
            searching = progress_of_stage(stages, f"searching contexts for {question.protected.name}")
            searching(0.0)
            with in_question(title_in(batch, investigation)):
                found.append(find_contexts(source, without(question, outputs), run, searching))
            searching(1.0)
        trained.append(Training(plan, tuple(found)))
    for investigation, training in zip(batch, trained, strict=True):
        investigation.training, investigation.results = training, None


@takes_options(TestingPlan)
def test(
    investigations: Investigation | Sequence[Investigation],
    *,
    preset: Preset | None = None,
    progress: Callable[..., None] | None = None,
    **options: Unpack[TestingOptions],
) -> None:
    """Validate the contexts of all investigations on the next test set, which is then spent.

    A source with ``reuse=True`` has one test set, and this is one of its questions: the ten groups that the training
    set speaks for most are put to it, and it says which of them hold.

    Parameters
    ----------
    investigations
        One, or several on the same source: they share the test set and one family of corrections.
    {options}
    progress
        As in :func:`train`. What it raises ends the test: nothing is spent, and all is as it was.
    """
    batch = as_batch(investigations)
    plan = TestingPlan.of({"preset": preset, **options})
    trainings: list[Training] = [i.require_training("test") for i in batch]
    plan = replace(plan, preset=plan.preset or trainings[0].plan.preset)
    source = batch[0].source
    chosen = chosen_correction(plan, split=source.split)
    check_reusable(source, chosen, plan.tolerance)
    check_joint(batch, chosen)
    check_trained_together(batch)
    source.budget.check()
    asked = [
        put(
            source,
            question,
            short_list(source, found) if source.reuse else found,
            title_in(batch, investigation),
            weighted=chosen.weighted,
            named=investigation.named,
        )
        for investigation, training in zip(batch, trainings, strict=True)
        for question, found in zip(investigation.questions, training.found, strict=True)
    ]
    testing = progress_of_stage(
        as_stage_progress(progress), f"testing {sum(len(a.contexts) for a in asked):,} contexts"
    )
    testing(0.0)
    min_size = trainings[0].plan.min_size
    with source.budget.draw() as number:
        run = TestingRun(plan, number, source.level, chosen.name)
        if source.reuse:
            looked_at = [found.looked_at for training in trainings for found in training.found]
            answers, reuse = answer_again(source, asked, looked_at, run, min_size, testing)
            run = replace(run, reuse=reuse)
        else:
            answers = answer(source, asked, run, min_size, testing)
            testing(1.0)
        results = _results(batch, run, answers)
        source.budget.keep(number, (_answered(i, made) for i, made in zip(batch, results, strict=True)))
    source.budget.mark_shown()
    for investigation, made in zip(batch, results, strict=True):
        investigation.results = made


# pytest would take it for a test where a user imports it into a test file
vars(test)["__test__"] = False


def _answered(investigation: Investigation, results: Results) -> Answered:
    return Answered(
        investigation.title,
        investigation.arguments(),
        investigation.explained_by,
        results.to_explain(),
        assemble(investigation, results),
    )


def _results(batch: Sequence[Investigation], run: TestingRun, answers: Sequence[AttributeResult]) -> list[Results]:
    """Return the answers by investigation."""
    family = sum(a.tested for a in answers)
    given = iter(answers)
    results = []
    for investigation in batch:
        training: Training = investigation.require_training("test")
        attributes = tuple(next(given) for _ in investigation.questions)
        candidates = tuple(found.looked_at for found in training.found)
        notes = (
            *unused_choices(investigation),
            *search_notes(training),
            *counted_in_full(investigation, run.correction),
            *investigation.notes,
        )
        results.append(Results(training.plan, run, attributes, candidates, family, notes))
    return results


def report(
    investigations: Investigation | Sequence[Investigation], out_dir: str | PathLike[str] | None = None
) -> list[Report]:
    """Return the report of each investigation, and write it as text, HTML and JSON if a folder is given."""
    batch = as_batch(investigations)
    reports = [assemble(i, i.require_results("report")) for i in batch]
    if out_dir is not None:
        for number, (investigation, made) in enumerate(zip(batch, reports, strict=True), start=1):
            place = f"{number}-" if len(batch) > 1 else ""
            save(made, out_dir, f"{place}{investigation.kind}-{investigation.output_name}")
    return reports


def explain(investigation: Investigation, by: str | Sequence[str], *, correction: str | None = None) -> Report:
    """Ask again, on the next test set: do the associations remain among people who share the values of ``by``?

    The populations and the significant contexts of the last run are measured conditionally on the explanatory
    attributes, with each stratum beside them. Contexts that speak of an explanatory attribute are left out.

    Parameters
    ----------
    investigation
        One that has been tested.
    by
        The explanatory attribute, or several (crossed).
    """
    results = investigation.require_results("explain")
    return explain_answer(investigation, results.to_explain(), results.test.number, by, correction=correction)


def explain_answer(
    investigation: Investigation,
    before: PriorAnswer,
    number: int,
    by: str | Sequence[str],
    *,
    correction: str | None = None,
) -> Report:
    """Explain what run ``number`` answered, perhaps in another process: ``investigation`` need not be trained."""
    names = names_of("by", by)
    if not names:
        raise InputError(
            f"{argument('by')} must name at least one explanatory attribute: explain(investigation, by='department')."
        )
    conditional = investigation.conditioned_on(names)
    found = []
    left_out = 0
    for question, significant in zip(conditional.questions, before.attributes, strict=True):
        again, barred = ask_again(investigation.source, question, significant, names)
        found.append(again)
        left_out += barred
    conditional.training = Training(before.training, tuple(found))
    conditional.explains = number, sum(len(again.contexts) for again in found)
    if left_out:
        note = f"Significant contexts that speak of {', '.join(names)} themselves are left out here: {left_out}."
        conditional.notes = (note,)
    plan = before.test
    test([conditional], correction=correction or plan.correction, method=plan.method, tolerance=plan.tolerance)
    return report([conditional])[0]


@takes_options(TrainingPlan, TestingPlan, Testing, ErrorProfiling, Discovery, DataSource)
def audit(
    data: Any,
    protected: str | Sequence[str | tuple[str, ...]],
    output: str | Sequence[str],
    *,
    preset: Preset | None = None,
    out_dir: str | PathLike[str] | None = None,
    progress: Callable[..., None] | None = None,
    **options: Unpack[AuditOptions],
) -> Report:
    """Search, test and report in one call.

    ``data`` is what :class:`DataSource` takes, or a source with a test set left. With a ``ground_truth`` the output is
    a prediction and its errors are profiled; several outputs, or any of ``top_k``, ``separator`` and ``min_people``,
    ask for a :class:`Discovery`. All other options are those of :class:`Testing`, :class:`ErrorProfiling` or
    :class:`Discovery`, of :func:`train` and :func:`test`, and of :class:`DataSource` (``conf``, ``train_size``,
    ``seed``, ``favourable``, …).
    """
    kinds = (Testing, ErrorProfiling, Discovery)
    searching, testing, question, source_options = divide_options(
        "audit", options, (TrainingPlan,), (TestingPlan,), kinds, (DataSource,)
    )
    plan = TestingPlan.of({**testing, "preset": preset})
    question = {name: value for name, value in question.items() if value is not None}
    kind = investigation_asked(output, question)
    source = source_of(data, source_options, preset)
    source.budget.check()
    check_reusable(source, chosen_correction(plan, split=source.split), plan.tolerance)
    if out_dir is not None:
        report_folder(out_dir)
    investigation = kind(source, protected, output, **question)
    train([investigation], preset=preset, progress=progress, **searching)
    test([investigation], preset=preset, progress=progress, **testing)
    return report([investigation], out_dir)[0]
