"""What users call: train, test, report; explain, which asks again; audit, which is all of them in one call.

The work is done by :mod:`fairtest.pipeline.stages`. Here arguments become plans, and an investigation remembers what
was found for it last (:func:`_remember`), so that ``test([a])`` goes on where ``train([a])`` ended.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

from fairtest.data.source import DataSource
from fairtest.exceptions import FairTestWarning, InputError
from fairtest.investigations.batch import as_batch
from fairtest.investigations.discovery import Discovery
from fairtest.investigations.error_profiling import ErrorProfiling
from fairtest.investigations.roles import plain_name
from fairtest.investigations.testing import Testing
from fairtest.model.plans import TestingPlan, TrainingPlan
from fairtest.pipeline.choices import choose_correction
from fairtest.pipeline.options import (
    as_source,
    choose_investigation,
    divide_options,
    favourable_of_output,
    takes_options,
)
from fairtest.pipeline.reuse import check_reusable
from fairtest.pipeline.stages import explain_answer, search_batch, validate_batch
from fairtest.progress import as_stage_progress
from fairtest.reporting.assemble import assemble
from fairtest.reporting.formats.files import report_folder, save

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from typing import Unpack

    from fairtest.investigations.base import Investigation
    from fairtest.model.plans import Preset, TestingOptions, TrainingOptions
    from fairtest.model.report import Report
    from fairtest.model.results import Results, Training
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
) -> list[Training]:
    """Search the training set for contexts in which the association is strongest.

    Returns what was found for each investigation, which also remembers it for :func:`test`.

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
    for sentence in dict.fromkeys(words for each in batch for words in each.warnings):
        warnings.warn(sentence, FairTestWarning, stacklevel=2)
    min_size = min_size if min_leaf_size is None else min_leaf_size
    plan = TrainingPlan.of({"max_depth": max_depth, "min_size": min_size, "preset": preset, **options})
    trainings = search_batch(batch, plan, as_stage_progress(progress))
    _remember(batch, trainings)
    return trainings


@takes_options(TestingPlan)
def test(
    investigations: Investigation | Sequence[Investigation],
    *,
    preset: Preset | None = None,
    progress: Callable[..., None] | None = None,
    **options: Unpack[TestingOptions],
) -> list[Results]:
    """Validate the contexts of all investigations on the next test set, which is then spent.

    Returns the answers to each investigation, which also remembers them for :func:`report` and :func:`explain`.

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
    trainings = [each.require_training("test") for each in batch]
    results = validate_batch(batch, trainings, plan, as_stage_progress(progress))
    _remember(batch, trainings, results)
    return results


# pytest would take it for a test where a user imports it into a test file
vars(test)["__test__"] = False


def _remember(
    batch: Sequence[Investigation], trainings: Sequence[Training], results: Sequence[Results | None] = ()
) -> None:
    """Let investigations remember what was found last: nothing else ever changes.

    Called when all of a batch is known, so that an error leaves every investigation as it was.
    """
    for each, training, made in zip(batch, trainings, results or [None] * len(batch), strict=True):
        each.training, each.results = training, made


def report(
    investigations: Investigation | Sequence[Investigation], out_dir: str | PathLike[str] | None = None
) -> list[Report]:
    """Return the report of each investigation, and write it as text, HTML and JSON if a folder is given."""
    batch = as_batch(investigations)
    reports = [assemble(i, i.require_results("report")) for i in batch]
    if out_dir is not None:
        for number, (investigation, made) in enumerate(zip(batch, reports, strict=True), start=1):
            prefix = f"{number}-" if len(batch) > 1 else ""
            save(made, out_dir, f"{prefix}{investigation.kind}-{investigation.output_name}")
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


@takes_options(TrainingPlan, TestingPlan, Testing, ErrorProfiling, Discovery, DataSource)
def audit(
    data: Any = None,
    protected: str | Sequence[str | tuple[str, ...]] | None = None,
    output: str | Sequence[str] | None = None,
    *,
    y_true: Any = None,
    y_pred: Any = None,
    sensitive_features: Any = None,
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

    Predictions, truths and groups that lie side by side as arrays, Series or frames are taken too:
    ``audit(y_true=y, y_pred=p, sensitive_features=X["sex"])``, with the features as ``data`` to search for contexts,
    ``control_features`` to compare people who are alike in them, and ``sample_weight``.
    """
    from fairtest.pipeline.habits import (  # they call this function
        as_name,
        audit_arrays,
        check_habit,
        translate_options,
    )

    options = cast("AuditOptions", translate_options(options))
    if y_true is not None or y_pred is not None or sensitive_features is not None:
        check_habit(y_pred, sensitive_features, (protected, output))
        arrays = {"y_true": y_true, "y_pred": y_pred, "sensitive_features": sensitive_features}
        return audit_arrays(data, **arrays, preset=preset, out_dir=out_dir, progress=progress, **options)
    if data is None or protected is None or output is None:
        raise InputError(
            "audit() needs data and the names of columns, audit(frame, protected='sex', output='hired'), or arrays: "
            "audit(y_true=y, y_pred=p, sensitive_features=groups)."
        )
    protected, output = as_name(protected, data), plain_name(as_name(output, data))
    if isinstance(output, str):
        options = favourable_of_output(options, output)
    kinds = (Testing, ErrorProfiling, Discovery)
    searching, testing, question, source_options = divide_options(
        "audit", options, (TrainingPlan,), (TestingPlan,), kinds, (DataSource,)
    )
    plan = TestingPlan.of({**testing, "preset": preset})
    question = {name: value for name, value in question.items() if value is not None}
    kind = choose_investigation(output, question)
    source = as_source(data, source_options, preset)
    source.budget.check()
    check_reusable(source, choose_correction(plan, split=source.split), plan.tolerance)
    if out_dir is not None:
        report_folder(out_dir)
    investigation = kind(source, protected, output, **question)
    train([investigation], preset=preset, progress=progress, **searching)
    test([investigation], preset=preset, progress=progress, **testing)
    return report([investigation], out_dir)[0]
