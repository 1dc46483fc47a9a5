"""The search for contexts to follow: FairTest's own, on records that have been bet on already.

Each record is first bet on and is training data afterwards. A context that the search finds is followed from the next
day on, so none of the records that found it is bet on in it, and the search may look at everything in any way it
likes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.holdout import Holdout
from fairtest.data.summaries import Target
from fairtest.data.variables import rank_variable
from fairtest.engine.memory import MemoryEngine
from fairtest.metrics.choice import find_metric
from fairtest.model.plans import TrainingPlan, TrainingRun
from fairtest.monitoring.family import RECORDS
from fairtest.monitoring.schema import join_tables, take_rows
from fairtest.search.proposals import Searcher
from fairtest.search.scoring import Outputs, Strength
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.table import Table
    from fairtest.data.variables import Variable
    from fairtest.model.context import Context
    from fairtest.monitoring.learning import Strata
    from fairtest.monitoring.pairs import Pair
    from fairtest.monitoring.schema import Schema

WINDOWS = (7, 28, 90)
"""The records of so many days are searched: a new bias is strongest in the last ones, a small one needs many."""
DEPTH = 3
"""The most predicates of a context that is searched for."""
FEWEST = 50
"""Fewer records than this are not searched."""
_LEAST_Z = 2.0
"""Contexts that stand out less are not followed."""


@dataclass
class Memory:
    """The records of the last days, for the search; they are no part of what a monitor must keep."""

    schema: Schema
    days: list[int] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)

    def add(self, day: int, table: Table) -> None:
        """Keep the records of a day; days come in order."""
        self.days.append(day)
        self.tables.append(table)
        while self.days[0] < day - max(WINDOWS):
            self.days.pop(0)
            self.tables.pop(0)

    def between(self, first: int, last: int) -> Table | None:
        """Return the records of the days from ``first`` to ``last``; None if there are none."""
        chosen = [t for d, t in zip(self.days, self.tables, strict=True) if first <= d <= last]
        return join_tables(chosen, self.schema) if chosen else None


def search_windows(
    memory: Memory, day: int, pairs: Sequence[Pair], allowed: Sequence[frozenset[str]], strata: Strata | None = None
) -> list[list[Context]]:
    """Return, for each pair, the contexts that stand out in the records before a day, those that do so most first."""
    best: list[dict[Context, float]] = [{} for _ in pairs]
    for window in WINDOWS:
        first = day - window
        # a window that reaches back beyond the first record is the same as the one before it
        if window > WINDOWS[0] and memory.days and day - memory.days[0] <= WINDOWS[WINDOWS.index(window) - 1]:
            break
        table = memory.between(first, day - 1)
        if table is None:
            continue
        days = min(window, day - memory.days[0])
        for found, pair, columns in zip(best, pairs, allowed, strict=True):
            for context, z in search_records(table, pair, columns, days, strata).items():
                found[context] = max(found.get(context, 0.0), z)
    return [_strongest(found) for found in best]


def search_table(
    table: Table, days: int, pairs: Sequence[Pair], allowed: Sequence[frozenset[str]], strata: Strata | None
) -> list[list[Context]]:
    """Return, for each pair, the contexts that stand out in some records, those that do so most first."""
    both = zip(pairs, allowed, strict=True)
    return [_strongest(search_records(table, pair, columns, days, strata)) for pair, columns in both]


def _strongest(found: dict[Context, float]) -> list[Context]:
    return sorted(found, key=lambda context: (-found[context], str(context)))


def search_records(
    table: Table, pair: Pair, columns: frozenset[str], days: int = 1, strata: Strata | None = None
) -> dict[Context, float]:
    """Return the contexts of records that stand out, with how much they do, as a normal deviate.

    Parameters
    ----------
    days
        Over how many days the records came: contexts with too few a day are left out.
    strata
        The explanatory attributes.
    """
    metric = find_metric(pair.metric)
    if metric.summary is SummaryKind.ROWS:
        return {}  # only trees can search for these, and they give no deviate
    _, _, usable = pair.values(table)
    table = take_rows(table, np.flatnonzero(usable))
    least = max(RECORDS * days, FEWEST // 2)
    if table.n_rows < max(FEWEST, 2 * least):
        return {}
    holdout = Holdout.undivided(table.n_rows)
    engine = MemoryEngine(table, holdout)
    target = _target(pair, table, None if strata is None else strata.variable(table))
    axes = [axis for axis in engine.axes(sorted(columns)) if axis is not None]
    if not axes:
        return {}
    run = TrainingRun(TrainingPlan(max_depth=DEPTH, search="exhaustive"), min_people=least)
    searcher = Searcher([Outputs(engine, Strength(metric, "bound"))], target, axes, run, table)
    found = searcher.find()
    chosen = np.flatnonzero(found.evidence > _LEAST_Z)
    return {found.contexts[i]: float(found.evidence[i]) for i in chosen if len(found.contexts[i])}


def _target(pair: Pair, table: Table, strata: Variable | None) -> Target:
    metric = find_metric(pair.metric)
    variables = (pair.protected, pair.output)
    if metric.summary is SummaryKind.RANKS:
        everybody = np.arange(table.n_rows)
        variables = tuple(rank_variable(v, table, everybody) for v in variables)  # type: ignore[assignment]
    return Target(*variables, strata, metric.search_summary or metric.summary, order=2)
