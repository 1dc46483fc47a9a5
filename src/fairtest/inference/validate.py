"""Validation: every proposed context is tested on a test set it has not seen, together with all the others."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.exceptions import in_question
from fairtest.inference.family import (
    Estimates,
    draw_p_values,
    estimate_member,
    make_member,
    prior_of,
    procedure_of,
    wants_intervals,
)
from fairtest.inference.hypotheses import context_batch, count_hypotheses, stratum_batch
from fairtest.inference.multiplicity.dependence import Part, covariance
from fairtest.inference.multiplicity.max_t import draw_joint_null
from fairtest.inference.multiplicity.required import required_deviates
from fairtest.inference.populations import test_populations
from fairtest.inference.second_look import look_again
from fairtest.progress import progress_of_step, silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.summaries import Summary
    from fairtest.engine.contract import Engine
    from fairtest.inference.asked import Asked
    from fairtest.inference.family import Member, TestSettings
    from fairtest.inference.gaps import Gaps
    from fairtest.inference.multiplicity.max_t import JointNull
    from fairtest.inference.multiplicity.prior import Prior
    from fairtest.inference.populations import Populations
    from fairtest.metrics.batch import Batch
    from fairtest.progress import Progress
    from fairtest.types import FloatArray

STAGES = 5
"""How many steps of validation are reported as progress."""


@dataclass(frozen=True, eq=False)
class Validated:
    """The answer to one question.

    Attributes
    ----------
    contexts
        One estimate for each context.
    strata
        One estimate for each context and stratum, row by row; None without explanatory attributes.
    summary
        The summary of each context in the test set, strata included.
    population
        That of the people on whom the whole population and its strata were tested.
    required
        The deviate at which each context would have been rejected.
    joint
        Whether the strata are the same in all contexts, so that hypotheses could be followed together.
    questions
        How many protected attributes and outputs the test set answers about: they share its level where contexts are
        compared with each other.
    gaps, gaps_p
        Over everybody, where the population has a level of its own: the gaps of several groups to the reference group,
        and their corrected p-values.
    """

    asked: Asked
    contexts: Estimates
    strata: Estimates | None
    summary: Summary
    population: Summary
    required: FloatArray
    joint: bool = False
    questions: int = 1
    gaps: Gaps | None = None
    gaps_p: FloatArray | None = None

    @property
    def tested(self) -> int:
        """How many hypotheses of this question are in the family."""
        strata = 0 if self.strata is None else int(self.strata.tested.sum())
        return int(self.contexts.tested.sum()) + strata


def validate(
    engine: Engine, asked: Sequence[Asked], settings: TestSettings, progress: Progress = silent
) -> list[Validated]:
    """Test all questions in all their contexts on one test set, corrected over everything tested.

    Whole populations that have a level of their own come first, with their strata: if all populations are confirmed,
    the contexts have the level of the set but for what is kept for strata; if not, what the populations leave of it.
    """
    counting, testing, joining, drawing, measuring = (
        progress_of_step(progress, stage, STAGES) for stage in range(STAGES)
    )
    summaries = _count_all(engine, asked, settings, counting)
    populations = test_populations(engine, asked, settings)
    left = populations.left_for_contexts(settings.level)
    family: list[Member] = []
    smallest = left / max(sum(len(a.contexts) * a.n_strata for a in asked), 1)
    for number, (a, summary) in enumerate(zip(asked, summaries, strict=True)):
        testing(number / len(asked))
        with in_question(a.title):
            whole = context_batch(engine, a, summary, settings)
            family.append(make_member(whole, smallest, settings, a))
            summaries[number] = whole.summary
            if a.target.strata is not None:
                inside = stratum_batch(engine, whole, a, settings)
                family.append(make_member(inside, smallest, settings, a, a.n_strata))
    here = replace(settings, level=left)
    if settings.correction.joint:
        null = _joint_null(engine, asked, family, here, joining)
        here = replace(here, correction=here.correction.for_family(null))
    prior = prior_of(family, here)
    draw_p_values(family, prior, here, drawing)
    look_again(family, prior, here)
    estimates = iter(_estimates(family, prior, populations, here, settings.level, measuring))
    required = iter(_find_required(family, prior, here))
    validated, joint = [], settings.correction.joint
    questions = sum(len(a.targets) for a in asked)
    for a, summary in zip(asked, summaries, strict=True):
        own = populations.of(a)
        contexts, needed = next(estimates), next(required)
        strata = None
        if a.target.strata is not None:
            strata, _ = next(estimates), next(required)
        if own is None:
            validated.append(Validated(a, contexts, strata, summary, summary, needed, joint, questions))
            continue
        contexts = _with_first(contexts, own.estimates)
        if strata is not None and own.strata is not None:
            strata = _with_first(strata, own.strata)
        made = Validated(a, contexts, strata, summary, own.summary, needed, joint, questions, own.gaps, own.gaps_p)
        validated.append(made)
    return validated


def _with_first(estimates: Estimates, first: Estimates) -> Estimates:
    """Return estimates whose first entries are replaced."""
    numbers, rest = {f.name for f in fields(Estimates)} - {"notes"}, slice(len(first.size), None)
    joined: dict[str, Any] = {
        name: np.concatenate((getattr(first, name), getattr(estimates, name)[rest])) for name in numbers
    }
    return Estimates(**joined, notes=(*first.notes, *estimates.notes[rest]))


def measure(engine: Engine, asked: Sequence[Asked], settings: TestSettings) -> list[Validated]:
    """Describe all questions on a set without testing: effects and single intervals, no p-values."""
    summaries = _count_all(engine, asked, settings, silent)
    measured = []
    for a, summary in zip(asked, summaries, strict=True):
        whole = context_batch(engine, a, summary, settings)
        strata = (
            None if a.target.strata is None else _measure_batch(stratum_batch(engine, whole, a, settings), settings)
        )
        measured.append(
            Validated(
                a,
                _measure_batch(whole, settings),
                strata,
                summary,
                summary,
                np.zeros(len(whole)),
                settings.correction.joint,
            )
        )
    return measured


def _count_all(engine: Engine, asked: Sequence[Asked], settings: TestSettings, progress: Progress) -> list[Summary]:
    summaries = []
    for number, a in enumerate(asked):
        progress(number / len(asked))
        summaries.append(count_hypotheses(engine, a, settings.number, joint=settings.correction.joint))
    return summaries


def _measure_batch(batch: Batch, settings: TestSettings) -> Estimates:
    procedure = procedure_of(batch, settings)
    known = np.flatnonzero(~np.isnan(batch.effect))
    few = batch.take(known)
    low, high = (np.full(len(batch), np.nan) for _ in range(2))
    low[known], high[known] = procedure.interval(few, np.zeros(len(known)), settings.level)
    notes: list[tuple[str, ...]] = [()] * len(batch)
    for i, note in zip(known.tolist(), procedure.notes(few), strict=True):
        notes[i] = note
    nothing = np.full(len(batch), np.nan)
    return Estimates(batch.size, batch.effect, nothing, nothing, nothing, nothing, low, high, tuple(notes), nothing)


def _joint_null(
    engine: Engine, asked: Sequence[Asked], family: Sequence[Member], settings: TestSettings, progress: Progress
) -> JointNull:
    """Draw what the p-values of the family would be together if there were no association."""
    questions = [a for a in asked for _ in range(1 if a.target.strata is None else 2)]
    parts = []
    for a, member in zip(questions, family, strict=True):
        tested = ~np.isnan(member.p)
        tested[list(member.drawn.places)] = True
        # what people contribute to a stratum that consists of finer ones is not followed
        followed = a.finer is None or not member.n_strata
        parts.append(Part(member.batch, a.target, a.conditions, tested, member.n_strata, followed))
    size = sum(len(part.batch) for part in parts)
    known = covariance(engine, settings.number, parts, progress_of_step(progress, 0, 2))
    return draw_joint_null(known, size, settings.level, settings.seed, progress_of_step(progress, 1, 2))


def _find_required(family: Sequence[Member], prior: Prior, settings: TestSettings) -> list[FloatArray]:
    """Return the deviate at which each hypothesis would have been rejected."""
    p = np.concatenate([member.p for member in family])
    adjusted = settings.correction.adjust(p, prior)
    required = required_deviates(settings.correction, p, adjusted, prior, settings.level)
    return np.split(required, np.cumsum([len(m.p) for m in family])[:-1])


def _estimates(
    family: Sequence[Member],
    prior: Prior,
    populations: Populations,
    settings: TestSettings,
    level: float,
    progress: Progress,
) -> list[Estimates]:
    """Return the numbers of everything in the family; ``level`` is that of the whole set.

    Intervals stand at what populations leave for certain, whether or not they were confirmed: an interval whose width
    hung on that would not hold.
    """
    everything = np.concatenate([member.p for member in family])
    places = np.cumsum([len(m.p) for m in family])[:-1]
    adjusted = np.split(populations.recycle_contexts(settings.correction.adjust(everything, prior)), places)
    certain = populations.certain_for_contexts(level)
    levels = np.split(settings.correction.levels(certain, ~np.isnan(everything), prior), places)
    estimates: list[Estimates] = []
    wanted = np.zeros(0, dtype=bool)
    for number, (member, p, alpha) in enumerate(zip(family, adjusted, levels, strict=True)):
        wanted = np.repeat(wanted, member.n_strata) if member.n_strata else wants_intervals(member, p, level)
        here = progress_of_step(progress, number, len(family))
        estimates.append(estimate_member(member, p, alpha / member.intervals, np.flatnonzero(wanted), level, here))
    return estimates
