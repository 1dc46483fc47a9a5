"""The search stage: contexts for one question, from the training set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.holdout import TRAIN
from fairtest.data.streaming.partitions import partitions_of, partitions_to_send
from fairtest.data.summaries import by_stratum
from fairtest.engine.memory import MemoryEngine
from fairtest.engine.partitioned import Here, PartitionedEngine
from fairtest.engine.runners.dask import OnCluster
from fairtest.exceptions import InputError
from fairtest.model.context import Context, Op
from fairtest.model.found import Found
from fairtest.model.plans import TrainingPlan, TrainingRun
from fairtest.progress import silent
from fairtest.search.cuts import conditions_of
from fairtest.search.forest import grow_forest
from fairtest.search.labels import LabelSearcher
from fairtest.search.proposals import Searcher, known_deviates, weights_and_signs
from fairtest.search.rows import RowScorer
from fairtest.search.scoring import Outputs, Strength
from fairtest.search.tree import LookedAt, grow
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtest.data.axes import Axis
    from fairtest.data.source import DataSource
    from fairtest.data.summaries import Summary
    from fairtest.engine.contract import Engine
    from fairtest.engine.partitioned import Runner
    from fairtest.investigations.question import Question
    from fairtest.model.results import SignificantContexts
    from fairtest.progress import Progress
    from fairtest.types import FloatArray, IntArray

KEPT = 4
"""One part in this many of the memory keeps encoded columns from one pass over the rows to the next."""
EACH_ROW = 4096
"""How many bytes to allow for each row of a partition: sums of fourth powers need a quarter of that in arrays."""


def engine_of(source: DataSource) -> Engine:
    """Return the engine that counts the people of a source; it belongs to the source, and goes with it."""
    return source.attach(make_engine)


def make_engine(source: DataSource) -> Engine:
    """Return a new engine for the people of a source."""
    if source.engine == "memory":
        return MemoryEngine(source.table, source.holdout, source.design)
    runner: Runner
    rows, kept = max(source.memory // EACH_ROW, 1), source.memory // KEPT
    if source.cluster is not None:
        runner = OnCluster(source.cluster, partitions_to_send(source.table, source.memory, rows), kept)
    else:
        runner = Here(partitions_of(source.table, source.memory, rows), kept)
    return PartitionedEngine(source.table, source.holdout, runner, source.design)


def without(question: Question, columns: frozenset[str]) -> Question:
    """Return the question with some columns barred from contexts."""
    return replace(question, contextual=tuple(c for c in question.contextual if c not in columns))


def find_contexts(source: DataSource, question: Question, settings: TrainingRun, progress: Progress = silent) -> Found:
    """Search the training set for the contexts of one question; for Discovery, for the labels too."""
    if not settings.plan.max_depth:
        question = without(question, frozenset(question.contextual))
    if question.labels is not None:
        return label_searcher(source, question, settings, progress).find(question.top_k)
    if not source.split:
        return _fixed_contexts(source, question, settings, progress)
    if question.metric.summary is SummaryKind.ROWS:
        return _contexts_by_rows(source, question, settings, progress)
    return searcher_of(source, question, settings, progress).find()


def _contexts_by_rows(source: DataSource, question: Question, settings: TrainingRun, progress: Progress) -> Found:
    """Search by a metric of people, which only trees can do."""
    axes, target = _axes(source, question), question.search_target(source)

    def scorer(looked_at: LookedAt | None = None) -> RowScorer:
        return RowScorer(engine_of(source), target, axes, question.metric, settings, source.table, looked_at)

    if settings.plan.search == "forest":
        return grow_forest(scorer, source.table, settings, axes, LookedAt(), settings.plan.trees or 1, progress)
    return grow(scorer(), source.table, settings, progress)


def _fixed_contexts(source: DataSource, question: Question, settings: TrainingRun, progress: Progress) -> Found:
    if question.metric.summary is SummaryKind.ROWS:
        raise InputError(
            f"The metric {question.metric.name} is of people, not of counts: it needs a split (split=True)."
        )
    return searcher_of(source, question, settings, progress).find_fixed()


def known_contexts(
    source: DataSource, question: Question, contexts: tuple[Context, ...], outputs: IntArray | None = None
) -> Found:
    """Return given contexts (each with the number of its output, if there are several) as if they had been found.

    With what the training set says of each alone.
    """
    evidence = sign = np.zeros(len(contexts))
    strongest = (0,) if outputs is None else tuple(np.unique(outputs).tolist())
    if question.metric.summary is not SummaryKind.ROWS:
        z = Strength(question.metric, "bound").evidence(_training_summary(source, question, contexts, outputs)).z
        evidence, sign = weights_and_signs(known_deviates(z), z, question.metric)
    return Found(contexts, 0, evidence, sign, outputs=outputs, strongest=strongest)


def with_followed(source: DataSource, question: Question, found: Found, contexts: Iterable[Context]) -> Found:
    """Return what a search found with contexts that are followed from earlier runs, each once.

    Contexts that this data cannot have are left out: of a column that is no contextual one, or a value nobody has.
    """
    if found.outputs is not None:  # which label a context goes with would have to be followed too
        return found
    known = set(found.contexts)
    new = tuple(dict.fromkeys(c for c in contexts if c not in known and _can_be_asked(source, question, c)))
    if not new:
        return found
    more = known_contexts(source, question, new)
    return Found(
        found.contexts + more.contexts,
        found.looked_at,
        np.concatenate([found.evidence, more.evidence]),
        np.concatenate([found.sign, more.sign]),
        guided=found.guided,
        notes=found.notes,
        strongest=found.strongest,
        rare=found.rare,
    )


def _can_be_asked(source: DataSource, question: Question, context: Context) -> bool:
    for predicate in context.predicates:
        if predicate.column not in question.contextual:
            return False
        values = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
        column = source.table[predicate.column]
        if predicate.op in {Op.IS, Op.IN} and any(column.find_level(v) is None for v in values if v is not None):
            return False
    return bool(len(context))


def stratum_evidence(source: DataSource, question: Question, found: Found) -> FloatArray:
    """Return the training set's evidence in each stratum of each hypothesis, row by row."""
    summary = _training_summary(source, question, found.contexts, found.outputs)
    return known_deviates(Strength(question.metric, "bound").evidence(by_stratum(summary)).z)


def _training_summary(
    source: DataSource, question: Question, contexts: tuple[Context, ...], outputs: IntArray | None
) -> Summary:
    engine, target = engine_of(source), question.about(0).search_target(source)
    conditions = conditions_of(contexts, engine.axis)
    return target.wrap(question.count_entries(engine, TRAIN, target, conditions, outputs))


def ask_again(
    source: DataSource, question: Question, before: SignificantContexts, barred: tuple[str, ...]
) -> tuple[Found, int]:
    """Return the population and the significant contexts of an answer, to be put again given ``barred`` attributes.

    Contexts that speak of these are left out; also returns how many.
    """

    def leave_out_barred(contexts: tuple[Context, ...]) -> tuple[Context, ...]:
        return tuple(c for c in contexts if len(c) and not c.columns & set(barred))

    number = {name: i for i, name in enumerate(question.output_names)}
    of_output = before.labels or {before.output: before.contexts}
    again = dict(sorted((number[name], leave_out_barred(contexts)) for name, contexts in of_output.items()))
    entries = [(output, context) for output, some in again.items() for context in (Context(), *some)]
    outputs = None if question.labels is None else np.array([output for output, _ in entries])
    significant = sum(len(c) > 0 for c in before.contexts)
    left_out = significant - sum(len(some) for some in again.values())
    return known_contexts(source, question, tuple(context for _, context in entries), outputs), left_out


def searcher_of(
    source: DataSource, question: Question, settings: TrainingRun | None = None, progress: Progress = silent
) -> Searcher:
    """Return what searches the training set for one question."""
    settings = settings or TrainingRun(TrainingPlan(max_depth=1), min_people=1)
    outputs = [Outputs(engine_of(source), Strength(question.metric, settings.plan.score))]
    target = question.search_target(source)
    return Searcher(outputs, target, _axes(source, question), settings, source.table, progress)


def label_searcher(
    source: DataSource, question: Question, settings: TrainingRun, progress: Progress = silent
) -> LabelSearcher:
    """Return what searches the training set for labels."""
    assert question.labels is not None
    return LabelSearcher(
        engine_of(source),
        question.about(0).search_target(source),
        question.labels,
        _axes(source, question),
        Strength(question.metric, settings.plan.score),
        settings,
        source.table,
        question.min_people * source.train_size,
        progress,
    )


def _axes(source: DataSource, question: Question) -> list[Axis]:
    return [axis for axis in engine_of(source).axes(question.contextual) if axis is not None]
