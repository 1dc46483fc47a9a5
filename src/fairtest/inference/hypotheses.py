"""The batches of hypotheses that are validated: contexts, and the strata inside them."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.summaries import by_stratum
from fairtest.engine.kernel.prefixes import order_by_prefix
from fairtest.inference.effective import weigh
from fairtest.inference.neighbours import fetch_near, fetch_near_in_strata
from fairtest.metrics.batch import Batch
from fairtest.statistics.weighted_tables import MOST_CELLS, WeightTables
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairtest.data.strata import FinerStrata
    from fairtest.data.summaries import Summary
    from fairtest.engine.contract import Engine, Rows
    from fairtest.inference.asked import Asked
    from fairtest.inference.family import TestSettings
    from fairtest.types import IntArray


def merging_steps(finer: FinerStrata, summary: Summary, *, joint: bool) -> IntArray:
    """Return by how many steps the strata of each context are merged.

    Where contributions of people are followed over the whole family, strata are the same in all contexts.
    """
    steps = finer.steps_for(summary.size)
    return np.zeros_like(steps) if joint else steps


def count_hypotheses(engine: Engine, asked: Asked, number: int, *, joint: bool) -> Summary:
    """Return the summary of every hypothesis in a set, finer strata merged where a context has few people."""
    summary = asked.count(engine, number)
    if asked.finer is None:
        return summary
    return asked.finer.merge(summary, merging_steps(asked.finer, summary, joint=joint))


def summarize_strata(asked: Asked, summary: Summary) -> Summary:
    """Return the strata shown as hypotheses of their own, row by row."""
    return by_stratum(summary) if asked.finer is None else asked.finer.by_shown(summary)


def context_batch(engine: Engine, asked: Asked, summary: Summary, settings: TestSettings) -> Batch:
    """Return the contexts of a question, with a way to fetch their people."""

    def fetch(places: Sequence[int]) -> Iterator[Rows]:
        for target, some in groupby(places, asked.target_of):
            yield from engine.many_rows(settings.number, [asked.conditions[i] for i in some], target)

    finer, near = asked.finer, fetch_near(engine, asked, settings.number)
    if finer is None:
        batch = Batch(asked.question.metric, summary, fetch, settings.seed, near=near)
        return _weigh(batch, settings, asked, _weight_counter(engine, asked, settings))
    steps = merging_steps(finer, summary, joint=settings.correction.joint)

    def fetch_merged(places: Sequence[int]) -> Iterator[Rows]:
        for i, people in zip(places, fetch(places), strict=True):
            yield replace(people, stratum=finer.merged[int(steps[i])][people.stratum])

    batch = Batch(asked.question.metric, summary, fetch_merged, settings.seed, near=near)
    return _weigh(batch, settings, asked, None)


def _weigh(
    batch: Batch, settings: TestSettings, asked: Asked | None, count_weights: Callable[[], WeightTables] | None
) -> Batch:
    """Return the hypotheses, weighed if rows are not one person each; they are those ``asked``, or strata of them."""
    if settings.design is None:
        return batch
    order = order_by_prefix(asked.conditions) if asked is not None and len(asked.targets) == 1 else None
    return weigh(batch, settings.design, order, count_weights)


def _weight_counter(engine: Engine, asked: Asked, settings: TestSettings) -> Callable[[], WeightTables] | None:
    """Return what counts the weights of every context by cell; None where people must be looked at row by row."""
    design, target = settings.design, asked.target
    by_row = len(asked.targets) > 1 or asked.finer is not None or target.summary is not SummaryKind.COUNTS
    if design is None or design.person is not None or by_row or target.n_cells / target.n_strata > MOST_CELLS:
        return None
    weights = replace(target, summary=SummaryKind.WEIGHTS)
    return lambda: WeightTables.of(engine.tables(settings.number, asked.conditions, weights), design.largest_weight)


def stratum_batch(engine: Engine, contexts: Batch, asked: Asked, settings: TestSettings) -> Batch:
    """Return the strata shown of each context, row by row; each consists of the finer strata inside it, if any."""
    n_strata, finer = asked.n_strata, asked.finer

    def fetch(places: Sequence[int]) -> Iterator[Rows]:
        inside = [(context, list(some)) for context, some in groupby(places, lambda i: i // n_strata)]
        for (_, some), people in zip(inside, contexts.fetch([context for context, _ in inside]), strict=True):
            for i in some:
                at = (people.stratum if finer is None else finer.shown[people.stratum]) == i % n_strata
                inner = np.zeros(np.count_nonzero(at), dtype=np.int32) if finer is None else people.stratum[at]
                yield people.take(at, inner)

    counter = _weight_counter(engine, asked, settings)
    summary = contexts.summary if contexts.counted is None else contexts.counted
    near = fetch_near_in_strata(contexts.near, n_strata)
    batch = Batch(contexts.metric, summarize_strata(asked, summary), fetch, contexts.seed, near=near)
    return _weigh(batch, settings, None, None if counter is None else lambda: counter().by_stratum())
