"""The search stage: contexts for one question, from the training set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fairtest.contexts.rows import RowScorer
from fairtest.contexts.scoring import Strength
from fairtest.contexts.tree import HistogramScorer, grow
from fairtest.engine.memory import MemoryEngine
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from fairtest.contexts.search import Found, SearchSettings
    from fairtest.contexts.tree import Scorer
    from fairtest.data.source import DataSource
    from fairtest.engine.contract import Engine
    from fairtest.investigations.question import Question

__all__ = ["engine_of", "find_contexts", "without"]

_engines: WeakKeyDictionary[DataSource, Engine] = WeakKeyDictionary()


def engine_of(source: DataSource) -> Engine:
    """Return the engine that counts the people of a source; its codes are kept for the next call."""
    if source not in _engines:
        _engines[source] = MemoryEngine(source.table, source.holdout)
    return _engines[source]


def without(question: Question, columns: frozenset[str]) -> Question:
    """Return the question with some columns barred from contexts."""
    return replace(question, contextual=tuple(c for c in question.contextual if c not in columns))


def find_contexts(source: DataSource, question: Question, settings: SearchSettings) -> Found:
    """Grow the guided tree of one question."""
    engine = engine_of(source)
    axes = [axis for c in question.contextual if (axis := engine.axis(c)) is not None]
    target = question.search_target(source)
    scorer: Scorer
    if question.metric.summary is SummaryKind.ROWS:
        scorer = RowScorer(engine, target, axes, question.metric, settings, source.table)
    else:
        scorer = HistogramScorer(engine, target, axes, Strength(question.metric, settings.estimate), settings)
    return grow(scorer, source.table, settings)
