"""What must hold of a batch of investigations and of what is chosen for it, checked before anything is spent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairtest.data.source import check_one_row_a_person
from fairtest.exceptions import InputError, setting, the, unquoted
from fairtest.inference.multiplicity.corrections import corrections
from fairtest.metrics.choice import BUILT_IN
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.source import DataSource
    from fairtest.inference.multiplicity.corrections import Correction
    from fairtest.investigations.base import Investigation
    from fairtest.model.plans import TestingPlan, TrainingPlan


def fewest_people(source: DataSource, plan: TrainingPlan) -> float:
    """Return the fewest people of the training set a context may have, if there are enough for two contexts."""
    train, table = source.holdout.sizes[0], source.n_people
    paper = plan.preset == "paper"
    have, where = (train, "the training set") if paper else (table, "the data")
    if have < 2 * plan.min_size:
        raise InputError(
            f"There are too few people: {where} has {have:,}, and two contexts of "
            f"{setting('min_size', plan.min_size, f'min_size={plan.min_size:,}')} need "
            f"{2 * plan.min_size:,}. Lower {unquoted('min_size')} (to at most {have // 2:,}), or bring more data."
        )
    fewest = plan.min_size if paper else plan.min_size * source.train_size
    return fewest * source.effective_share


def plan_without_split(plan: TrainingPlan) -> TrainingPlan:
    """Return the plan for a source that is not split: the contexts are fixed beforehand."""
    if plan.search not in ("auto", "exhaustive") or plan.preset is not None:
        raise InputError(
            f"split=False fixes the contexts beforehand: it goes with {setting('search', 'exhaustive')} and no preset."
        )
    return replace(plan, search="exhaustive")


def choose_correction(plan: TestingPlan, *, split: bool = True) -> Correction:
    """Return the correction of a plan; by default the pooled one, in the paper's preset and without split Holm's."""
    chosen = corrections[plan.correction or ("holm" if plan.preset == "paper" or not split else "pooled")]
    if chosen.weighted and not split:
        plain = ", ".join(repr(k) for k, c in corrections.items() if not c.weighted)
        raise InputError(
            f"The correction {chosen.name!r} weights hypotheses by a training set, and split=False has none. "
            f"Use one of {plain}."
        )
    return chosen


def check_joint(batch: Sequence[Investigation], correction: Correction) -> None:
    """Raise where the correction needs to know how hypotheses depend on each other and nobody does."""
    if correction.joint and any(each.label_settings is not None for each in batch):
        raise InputError(
            f"The correction {correction.name!r} draws all hypotheses together, which is not offered for the many "
            "labels of a Discovery. Use 'pooled' or 'holm'."
        )


def check_design(source: DataSource, plan: TestingPlan, correction: Correction) -> None:
    """Raise where the way of testing takes every row for a person of its own."""
    if source.design is None:
        return
    if correction.joint:
        check_one_row_a_person(
            setting("correction", correction.name), source.person, source.weights, setting("correction", "pooled")
        )
    if plan.method == "resampling":
        check_one_row_a_person(setting("method", plan.method), source.person, source.weights, setting("method", "auto"))


def check_tolerance(batch: Sequence[Investigation], tolerance: float | None) -> None:
    """Raise where a tolerance allows everything: only amounts, in the unit of an output, reach 1 and more."""
    for question in (q for each in batch for q in each.questions):
        metric = question.metric
        bounded = metric.most < float("inf") or metric.compares is not None
        if tolerance is not None and tolerance >= 1 and bounded:
            raise InputError(
                f"{the('tolerance')} must be a number between 0 and 1 for {metric.name}, such as 0.05 for five points. "
                f"Got {tolerance!r} instead. Only differences of means are compared with it in the unit of the output."
            )


def note_counted_in_full(investigation: Investigation, correction: str) -> tuple[str, ...]:
    """Return a note about metrics for which it is not known how hypotheses depend on each other."""
    own = dict.fromkeys(
        q.metric.name for q in investigation.questions if not q.metric.is_joint(conditional=q.strata is not None)
    )
    if not corrections[correction].joint or not own:
        return ()
    unsure = ", ".join(m.name for m in BUILT_IN if not m.is_joint(conditional=True))
    return (
        f"How hypotheses depend on each other is known for the built-in metrics only, and not well enough for {unsure} "
        f"given explanatory attributes: those of {', '.join(own)} were counted in full, as in Holm's procedure.",
    )


def note_unused_choices(investigation: Investigation) -> tuple[str, ...]:
    """Return notes about declarations of the user (a favourable value, a reference) that have no effect here."""
    source, notes = investigation.source, []
    for question in investigation.questions:
        name, metric = question.protected.name, question.metric.name
        if name in source.reference and question.protected.is_number:
            notes.append(
                f"The reference group {name} = {source.reference[name]} has no effect: {name} is a number, and "
                f"{metric} compares no groups."
            )
    output = investigation.output
    if output.name in source.favourable and output.kind is not Kind.BINARY:
        notes.append(
            f"The favourable value {output.name} = {source.favourable[output.name]} has no effect: {output.name} has "
            f"{len(output.levels)} values, and all of them are compared."
        )
    words = source.words.outcome_of(output.name)
    if words is not None and not (investigation.kind == "testing" and output.kind is Kind.BINARY):
        notes.append(f"The outcome “{words}” is not told: it is for the favourable one of two values of an output.")
    return tuple(notes)
