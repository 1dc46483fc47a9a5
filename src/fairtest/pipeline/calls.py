"""The stages in order: train, test, report; explain, which asks again; audit, which is all of them in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairtest.data.source import DataSource, check_preset
from fairtest.exceptions import InputError, in_question
from fairtest.investigations.discovery import Discovery
from fairtest.investigations.error_profiling import ErrorProfiling
from fairtest.investigations.roles import names_of
from fairtest.investigations.testing import Testing
from fairtest.model.found import WIDEST, SearchSettings
from fairtest.pipeline.again import told
from fairtest.pipeline.answers import answer, put
from fairtest.pipeline.choices import (
    Training,
    as_batch,
    check_joint,
    check_tolerance,
    check_trained_together,
    chosen_correction,
    counted_in_full,
    min_people,
    one_of,
    search_notes,
    title_in,
    train_choices,
    undivided,
    unused_choices,
)
from fairtest.pipeline.reuse import answer_again, check_reusable, short_list
from fairtest.pipeline.search import ask_again, find_contexts, without
from fairtest.progress import as_stage_progress, progress_of_stage
from fairtest.reporting.assemble import Results, TestChoices, assemble
from fairtest.reporting.formats.files import report_folder, save

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from fairtest.investigations.base import Investigation
    from fairtest.model.report import Report
    from fairtest.pipeline.again import Told
    from fairtest.reporting.assemble import AttributeResult
    from fairtest.search.scoring import Aggregate, Estimate

METHODS = ("auto", "resampling")


def train(
    investigations: Investigation | Sequence[Investigation],
    max_depth: int = 5,
    min_size: int = 100,
    *,
    search: str | None = None,
    score: Estimate | None = None,
    aggregate: Aggregate | None = None,
    min_leaf_size: int | None = None,
    preset: str | None = None,
    trees: int | None = None,
    attributes_per_node: int | None = None,
    progress: Callable[..., None] | None = None,
) -> None:
    """Search the training set for contexts in which the association is strongest.

    Parameters
    ----------
    investigations
        One, or several on the same source; their outputs are never contexts of each other.
    max_depth
        The most cuts between the whole population and a context.
    min_size
        The fewest people a context may have in the whole table; a training set of half the people needs half of them.
        In the paper's preset, the fewest in the training set. ``min_leaf_size`` is the same.
    search
        ``"auto"`` (default): every conjunction of up to three predicates (two or one, where those would be too many),
        and the association-guided tree for deeper ones; ``"exhaustive"`` or ``"tree"`` for one of the two;
        ``"forest"`` for the tree again and again, each node choosing among a few attributes drawn at random.
    score, aggregate
        How the tree scores a split: by the lower confidence ``"bound"`` of its children's effects or the ``"point"``
        estimates; by the ``"max"``, ``"avg"`` or ``"weighted"`` average over children. Default: the bound of the best
        child; in the paper's preset, the average of the estimates.
    preset
        ``"paper"`` for Algorithm 1 as written.
    trees, attributes_per_node
        How many trees a forest has (default: 16; the first is the guided tree itself), and among how many attributes
        each node of the others chooses (default: a third of them).
    progress
        Called with a line of text, and the share of it that is done, now and then: ``progress(text, share)``, or
        ``progress(text)`` where it takes one argument. What it raises ends the search and leaves all as it was.
    """
    batch = as_batch(investigations)
    min_size = min_size if min_leaf_size is None else min_leaf_size
    choices = train_choices(max_depth, min_size, search, score, aggregate, preset, trees, attributes_per_node)
    source = batch[0].source
    if not source.split:
        choices = undivided(choices, search)
    settings = SearchSettings(
        choices.max_depth,
        min_people(source, choices),
        choices.score,
        choices.aggregate,
        choices.search,
        choices.trees or 1,
        choices.attributes_per_node,
        source.seed,
        None if choices.preset == "paper" else WIDEST,
    )
    stages = as_stage_progress(progress)
    outputs = frozenset[str]().union(*(i.outputs for i in batch))
    trained = []
    for investigation in batch:
        found = []
        for question in investigation.questions:
            searching = progress_of_stage(stages, f"searching contexts for {question.protected.name}")
            searching(0.0)
            with in_question(title_in(batch, investigation)):
                found.append(find_contexts(source, without(question, outputs), settings, searching))
            searching(1.0)
        trained.append(Training(choices, tuple(found)))
    for investigation, training in zip(batch, trained, strict=True):
        investigation.training, investigation.results = training, None


def test(
    investigations: Investigation | Sequence[Investigation],
    *,
    correction: str | None = None,
    method: str = "auto",
    tolerance: float | None = None,
    preset: str | None = None,
    progress: Callable[..., None] | None = None,
) -> None:
    """Validate the contexts of all investigations on the next test set, which is then spent.

    A source with ``reuse=True`` has one test set, and this is one of its questions: the ten groups that the training
    set speaks for most are put to it, and it says which of them hold.

    Parameters
    ----------
    investigations
        One, or several on the same source: they share the test set and one family of corrections.
    correction
        ``"pooled"`` (default): step-down, each hypothesis weighted by the evidence of the training set; ``"holm"``,
        ``"weighted-holm"``, ``"bonferroni"``; ``"max-t"``: step-down, drawing how hypotheses about the same people
        depend on each other, best with ``split=False`` and up to some thousand contexts; ``"bh"`` and ``"by"``
        (Benjamini and Hochberg, Benjamini and Yekutieli) control the share of false findings only.
    method
        ``"auto"``: the calibrated test and interval of each metric; ``"resampling"``: permutation and bootstrap.
    tolerance
        The largest effect that does not matter; each finding then says whether the disparity is beyond it, within it,
        or whether there is not enough data to say, and how many people it would take.
    preset
        ``"paper"`` for Holm, ranking by simultaneous intervals, and everything shown that is
        stronger than the larger contexts around it.
    progress
        As in :func:`train`. What it raises ends the test: nothing is spent, and all is as it was.
    """
    batch = as_batch(investigations)
    check_preset(preset)
    one_of("method", method, METHODS)
    check_tolerance(tolerance)
    trainings: list[Training] = [i.require_training("test") for i in batch]
    preset = preset or trainings[0].choices.preset
    source = batch[0].source
    chosen = chosen_correction(correction, preset, split=source.split)
    check_reusable(source, chosen, tolerance)
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
        )
        for investigation, training in zip(batch, trainings, strict=True)
        for question, found in zip(investigation.questions, training.found, strict=True)
    ]
    testing = progress_of_stage(
        as_stage_progress(progress), f"testing {sum(len(a.contexts) for a in asked):,} contexts"
    )
    testing(0.0)
    min_size = trainings[0].choices.min_size
    with source.budget.draw() as number:
        choices = TestChoices(number, source.level, chosen.name, method, preset, tolerance)
        if source.reuse:
            looked_at = [found.looked_at for training in trainings for found in training.found]
            answers, reuse = answer_again(source, asked, looked_at, choices, min_size, testing)
            choices = replace(choices, reuse=reuse)
        else:
            answers = answer(source, asked, choices, min_size, testing)
            testing(1.0)
        results = _results(batch, choices, answers)
        source.budget.keep(number, list(zip(batch, results, strict=True)))
    for investigation, made in zip(batch, results, strict=True):
        investigation.results = made


def _results(batch: Sequence[Investigation], choices: TestChoices, answers: Sequence[AttributeResult]) -> list[Results]:
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
            *counted_in_full(investigation, choices.correction),
            *investigation.notes,
        )
        results.append(Results(training.choices, choices, attributes, candidates, family, notes))
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
    return explain_told(investigation, told(investigation.require_results("explain")), by, correction=correction)


def explain_told(
    investigation: Investigation, before: Told, by: str | Sequence[str], *, correction: str | None = None
) -> Report:
    """Do the same from what was told before, perhaps in another process: ``investigation`` need not be trained."""
    names = names_of("by", by)
    if not names:
        raise InputError("'by' must name at least one explanatory attribute: explain(investigation, by='department').")
    conditional = investigation.conditioned_on(names)
    found = []
    left_out = 0
    for question, significant in zip(conditional.questions, before.attributes, strict=True):
        again, barred = ask_again(investigation.source, question, significant, names)
        found.append(again)
        left_out += barred
    conditional.training = Training(before.training, tuple(found))
    conditional.explains = before.test.number, sum(len(again.contexts) for again in found)
    if left_out:
        note = f"Significant contexts that speak of {', '.join(names)} themselves are left out here: {left_out}."
        conditional.notes = (note,)
    asked = before.test
    test([conditional], correction=correction or asked.correction, method=asked.method, tolerance=asked.tolerance)
    return report([conditional])[0]


def audit(
    data: Any,
    protected: str | Sequence[str | tuple[str, ...]],
    output: str | Sequence[str],
    *,
    ground_truth: str | None = None,
    error: str | Callable[[Any, Any], Any] | None = None,
    notion: str | None = None,
    top_k: int | None = None,
    separator: str | None = None,
    min_people: int | None = None,
    contextual: Sequence[str] | None = None,
    explanatory: str | Sequence[str] | None = None,
    metrics: Any = None,
    exclude: str | Sequence[str] | None = None,
    max_depth: int = 5,
    min_size: int = 100,
    search: str | None = None,
    score: Estimate | None = None,
    aggregate: Aggregate | None = None,
    correction: str | None = None,
    method: str = "auto",
    tolerance: float | None = None,
    preset: str | None = None,
    trees: int | None = None,
    attributes_per_node: int | None = None,
    out_dir: str | PathLike[str] | None = None,
    progress: Callable[..., None] | None = None,
    **source_options: Any,
) -> Report:
    """Search, test and report in one call.

    ``data`` is what :class:`DataSource` takes, or a source with a test set left; ``source_options`` are its other
    arguments (``conf``, ``train_size``, ``seed``, ``favourable``, …). With a ``ground_truth`` the output is a
    prediction and its errors are profiled; several outputs, or any of ``top_k``, ``separator`` and ``min_people``, ask
    for a :class:`Discovery`. See :class:`Testing`, :class:`ErrorProfiling`, :func:`train` and :func:`test` for the
    rest.
    """
    if ground_truth is None and (error is not None or notion is not None):
        raise InputError("'error' and 'notion' are about predictions: name the 'ground_truth' too.")
    asked = {"top_k": top_k, "separator": separator, "min_people": min_people}
    labels: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    one = output if isinstance(output, str) and not labels else None
    if ground_truth is not None and one is None:
        raise InputError("A 'ground_truth' is that of one prediction, not of labels. Take it out, or name one output.")
    if isinstance(data, DataSource):
        if source_options:
            raise InputError(f"{', '.join(source_options)}: give these to the DataSource, which is already made.")
        source = data
    else:
        source = DataSource(data, preset=preset, **source_options)
    source.budget.check()
    check_tolerance(tolerance)
    check_reusable(source, chosen_correction(correction, preset, split=source.split), tolerance)
    if out_dir is not None:
        report_folder(out_dir)
    roles: dict[str, Any] = {
        "contextual": contextual,
        "explanatory": explanatory,
        "metrics": metrics,
        "exclude": exclude,
    }
    investigation: Investigation
    if one is None:
        investigation = Discovery(source, protected, output, **labels, **roles)
    elif ground_truth is None:
        investigation = Testing(source, protected, one, **roles)
    else:
        investigation = ErrorProfiling(source, protected, one, ground_truth, error, notion, **roles)
    how = {
        "search": search,
        "score": score,
        "aggregate": aggregate,
        "preset": preset,
        "trees": trees,
        "attributes_per_node": attributes_per_node,
        "progress": progress,
    }
    train([investigation], max_depth, min_size, **how)  # type: ignore[arg-type]
    choices = {"correction": correction, "method": method, "tolerance": tolerance, "preset": preset}
    test([investigation], progress=progress, **choices)  # type: ignore[arg-type]
    return report([investigation], out_dir)[0]
