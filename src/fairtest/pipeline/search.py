"""The search stage: contexts for one question, from the training set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from fairtest.data.streaming.partitions import partitions_of, partitions_to_send
from fairtest.engine.memory import MemoryEngine
from fairtest.engine.partitioned import Here, PartitionedEngine
from fairtest.engine.runners.dask import OnCluster
from fairtest.exceptions import InputError
from fairtest.investigations.discovery import LabelQuestion
from fairtest.model.context import Context
from fairtest.model.found import Found, FoundLabels
from fairtest.model.plans import TrainingPlan, TrainingRun
from fairtest.progress import silent
from fairtest.search.forest import grow_forest
from fairtest.search.label_search import LabelSearcher
from fairtest.search.proposals import Searcher
from fairtest.search.rows import RowScorer
from fairtest.search.scoring import Strength
from fairtest.search.tree import LookedAt, grow
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from fairtest.data.axes import Axis
    from fairtest.data.source import DataSource
    from fairtest.engine.contract import Engine
    from fairtest.engine.partitioned import Runner
    from fairtest.investigations.question import Question
    from fairtest.model.results import SignificantContexts
    from fairtest.progress import Progress

KEPT = 4
"""One part in so many of the memory keeps encoded columns from one pass over the rows to the next."""
EACH_ROW = 4096
"""How many bytes to allow for each row of a partition: sums of fourth powers need a quarter of that in arrays."""

_engines: WeakKeyDictionary[DataSource, Engine] = WeakKeyDictionary()


def engine_of(source: DataSource) -> Engine:
    """Return the engine that counts the people of a source; its codes are kept for the next call."""
    if source not in _engines:
        _engines[source] = _engine(source)
    return _engines[source]


def _engine(source: DataSource) -> Engine:
    if source.engine == "memory":
        return MemoryEngine(source.table, source.holdout)
    runner: Runner
    rows, kept = max(source.memory // EACH_ROW, 1), source.memory // KEPT
    if source.cluster is not None:
        runner = OnCluster(source.cluster, partitions_to_send(source.table, source.memory, rows), kept)
    else:
        runner = Here(partitions_of(source.table, source.memory, rows), kept)
    return PartitionedEngine(source.table, source.holdout, runner)


def without(question: Question, columns: frozenset[str]) -> Question:
    """Return the question with some columns barred from contexts."""
    return replace(question, contextual=tuple(c for c in question.contextual if c not in columns))


def find_contexts(source: DataSource, question: Question, settings: TrainingRun, progress: Progress = silent) -> Found:
    """Search the training set for the contexts of one question; for Discovery, for the labels too."""
    if isinstance(question, LabelQuestion):
        found = label_searcher(source, question, settings, progress)
        return found.find(question.top_k, question.min_people * source.train_size)
    if not source.split:
        return _fixed_contexts(source, question, settings, progress)
    if question.metric.summary is SummaryKind.ROWS:
        return _contexts_by_rows(source, question, settings, progress)
    searcher = searcher_of(source, question, settings, progress)
    return {
        "auto": searcher.auto,
        "tree": searcher.tree,
        "forest": searcher.forest,
        "exhaustive": searcher.exhaustive,
    }[settings.plan.search]()


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
    return searcher_of(source, question, settings, progress).fixed()


def known_contexts(source: DataSource, question: Question, contexts: tuple[Context, ...]) -> Found:
    """Return given contexts with what the training set says of them."""
    if question.metric.summary is SummaryKind.ROWS:
        nothing = np.zeros(len(contexts))
        return Found(contexts, (-1,) * len(contexts), 0, nothing, nothing)
    return searcher_of(source, question).known(contexts)


def ask_again(
    source: DataSource, question: Question, before: SignificantContexts, barred: tuple[str, ...]
) -> tuple[Found, int]:
    """Return the population and the significant contexts of an answer, to be put again given ``barred`` attributes.

    Contexts that speak of these are left out; also returns how many.
    """

    def kept(contexts: tuple[Context, ...]) -> tuple[Context, ...]:
        return tuple(c for c in contexts if len(c) and not c.columns & set(barred))

    significant = sum(len(c) > 0 for c in before.contexts)
    if not isinstance(question, LabelQuestion):
        again = kept(before.contexts)
        return known_contexts(source, question, (Context(), *again)), significant - len(again)
    place = {name: i for i, name in enumerate(question.labels.names)}
    told = {place[name]: kept(contexts) for name, contexts in before.labels.items()}
    if not told:
        told = {place[before.output]: ()}
    entries = [(label, context) for label in sorted(told) for context in (Context(), *told[label])]
    places, contexts = np.array([label for label, _ in entries]), tuple(context for _, context in entries)
    evidence, sign = label_searcher(source, question).known(places, contexts)
    parents = (-1,) * len(entries)
    again_labels = FoundLabels(contexts, parents, 0, evidence, sign, places, tuple(sorted(told)), 0)
    return again_labels, significant - (len(entries) - len(told))


def searcher_of(
    source: DataSource, question: Question, settings: TrainingRun | None = None, progress: Progress = silent
) -> Searcher:
    """Return what searches the training set for one question."""
    settings = settings or TrainingRun(TrainingPlan(max_depth=1), min_people=1)
    strength = Strength(question.metric, settings.plan.score)
    target = question.search_target(source)
    return Searcher(engine_of(source), target, _axes(source, question), strength, settings, source.table, progress)


def label_searcher(
    source: DataSource, question: LabelQuestion, settings: TrainingRun | None = None, progress: Progress = silent
) -> LabelSearcher:
    """Return what searches the training set for labels."""
    settings = settings or TrainingRun(TrainingPlan(max_depth=1), min_people=1)
    strength = Strength(question.metric, settings.plan.score)
    target = question.about(0).search_target(source)
    axes = _axes(source, question)
    return LabelSearcher(engine_of(source), target, question.labels, axes, strength, settings, source.table, progress)


def _axes(source: DataSource, question: Question) -> list[Axis]:
    return [axis for axis in engine_of(source).axes(question.contextual) if axis is not None]
