"""Hypotheses about rows that are not one person each: what they are worth, and how they are tested.

Sums of rows become sums of as many independent people as the rows are worth to the metric
(:mod:`fairtest.statistics.design`), and are then tested as usual, with Student's t in the place of the normal law where
that worth is itself known from few people.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.data.summaries import Counts
from fairtest.metrics.batch import Worth
from fairtest.metrics.procedure import Procedure, notes_where
from fairtest.statistics.numerics.rules import clip_p, per_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fairtest.data.design import Design
    from fairtest.data.summaries import Summary
    from fairtest.engine.contract import Rows
    from fairtest.metrics.batch import Batch
    from fairtest.metrics.procedure import Notes
    from fairtest.metrics.registry import Metric
    from fairtest.statistics.design import Effective
    from fairtest.statistics.numerics.rules import Alpha, Bounds
    from fairtest.statistics.weighted_tables import EffectiveTables, WeightTables
    from fairtest.types import BoolArray, FloatArray

HOPE = 50.0
"""People are looked at where the p-value could be below this, over the number of hypotheses, if rows were people …"""
ALL_ROWS = 1 << 23
"""… and everywhere, if that is up to so many rows over all contexts."""
FEW_PEOPLE = 10.0
FEW = "So few people carry most of it that it is not known well how sure it is."


def weigh(
    batch: Batch,
    design: Design,
    order: Sequence[int] | None = None,
    count_weights: Callable[[], WeightTables] | None = None,
) -> Batch:
    """Return hypotheses with the sums of as many independent people as their rows are worth.

    ``order`` is that in which people are best fetched. ``count_weights`` gives the weights in tables, where every row
    is one person and that is enough to know.

    In large families, contexts that could not be clear even if all rows were independent are not looked at person by
    person: their sums stay those of people all of whose rows are alike, which err on the safe side.
    """
    share = design.share
    mass = np.maximum(effective_size(batch.summary), 0.0) / share
    people = np.rint(mass * design.n_people / design.n_rows).astype(np.int64)
    worth = Worth(
        people=np.maximum(people, (mass > 0).astype(np.int64)),
        rows=np.rint(mass).astype(np.int64),
        weight=mass * design.mean_weight,
        df=np.maximum(mass * share - 1, 1.0),
        p=np.full(len(batch), np.nan),
    )
    if count_weights is not None and batch.metric.effective_in_tables is not None:
        scale = _weigh_tables(batch.metric.effective_in_tables, count_weights(), worth, mass * share)
    else:
        at, people_of_each = _to_look_at(batch, design, mass, order)
        scale = _weigh_rows(batch.metric, zip(at, people_of_each, strict=True), worth, mass * share)
    return replace(batch, summary=batch.summary.scale_people(scale), worth=worth, counted=batch.summary)


def _weigh_tables(
    measure: Callable[[WeightTables], EffectiveTables], tables: WeightTables, worth: Worth, counted: FloatArray
) -> FloatArray:
    """Fill in what rows are worth from tables of weights; return how many times as much that is as was ``counted``."""
    found = measure(tables)
    unknown = np.isnan(found.size)
    worth.people[:] = worth.rows[:] = np.rint(tables.people)
    worth.df[:] = found.df
    worth.p[:] = np.where(unknown, 1.0, found.p)
    return np.where(unknown | (counted <= 0), 1.0, found.size / np.maximum(counted, 1e-300))


def _weigh_rows(metric: Metric, each: Iterable[tuple[int, Rows]], worth: Worth, counted: FloatArray) -> FloatArray:
    """Fill in what rows are worth from rows; return how many times as much as was ``counted`` it is."""
    assert metric.effective is not None, "other metrics are refused before anything is spent"
    scale = np.ones(len(counted))
    for i, rows in each:
        if not len(rows):
            continue
        found = metric.effective(rows)
        worth.people[i], worth.rows[i] = found.people, len(rows)
        worth.df[i] = found.df if np.isfinite(found.df) else 1.0
        worth.p[i] = _known_p(found)
        if np.isfinite(found.size) and counted[i] > 0:
            scale[i] = found.size / counted[i]
    return scale


def _known_p(found: Effective) -> float:
    if found.p is not None:
        return found.p
    return np.nan if np.isfinite(found.size) else 1.0  # nothing is known of how sure it is


def effective_size(summary: Summary) -> FloatArray:
    """Return the effective people of each context, without rounding."""
    if isinstance(summary, Counts):
        return np.asarray(summary.counts.sum(axis=(1, 2, 3)), dtype=float)
    return np.asarray(summary.sums[..., 0].reshape(len(summary.sums), -1).sum(axis=1))


def _to_look_at(
    batch: Batch, design: Design, mass: FloatArray, order: Sequence[int] | None
) -> tuple[list[int], Iterator[Rows]]:
    """Return the hypotheses whose people are looked at one by one, and these people."""
    wanted = np.ones(len(mass), dtype=bool)
    if mass.sum() > ALL_ROWS:
        wanted = _may_be_clear(batch, design)
        wanted[0] = True
    wanted &= mass > 0
    at = [i for i in (range(len(mass)) if order is None else order) if wanted[i]]
    return at, batch.fetch(at)


def _may_be_clear(batch: Batch, design: Design) -> BoolArray:
    """Return what could be significant if every row were a person of its own."""
    metric = batch.metric
    if metric.evidence is None or metric.search_summary is not None:
        return np.ones(len(batch.summary.size), dtype=bool)
    most = batch.summary.scale_people(np.full(len(batch.summary.size), 1 / design.share))
    z = np.nan_to_num(metric.evidence(most).z)
    return np.asarray(2 * special.ndtr(-np.abs(z)) <= HOPE / len(z))


def enlarge_p(p: FloatArray, df: FloatArray) -> FloatArray:
    """Return p-values of the normal law as Student's t has them, where a variance is known with few degrees of freedom.

    Examples
    --------
    >>> enlarge_p(np.array([0.05, 0.05]), np.array([5.0, 1e6])).round(3)
    array([0.107, 0.05 ])
    """
    return np.asarray(2 * special.stdtr(df, special.ndtri(np.clip(p, 1e-300, 1.0) / 2)))


def shrink_alpha(alpha: FloatArray, df: FloatArray) -> FloatArray:
    """Return the level at which an interval of the normal law is as wide as Student's t asks for."""
    return np.asarray(np.clip(2 * special.ndtr(special.stdtrit(df, alpha / 2)), 1e-300, 1.0))


def under_design(usual: Procedure) -> Procedure:
    """Return a procedure for sums of effective people that knows how well their number is known."""

    def test(batch: Batch) -> FloatArray:
        assert batch.worth is not None
        known = batch.worth.p
        p = np.where(np.isnan(batch.effect), np.nan, known)
        open_ = np.flatnonzero(np.isnan(known))
        if open_.size:
            some = batch.take(open_)
            p[open_] = enlarge_p(usual.test(some), batch.worth.df[open_])
        return clip_p(p)

    def bounds(batch: Batch, alpha: Alpha) -> Bounds:
        assert batch.worth is not None
        return usual.bounds(batch, shrink_alpha(per_context(alpha, len(batch)), batch.worth.df))

    def notes(batch: Batch) -> Notes:
        assert batch.worth is not None
        few = notes_where((FEW, batch.worth.df < FEW_PEOPLE))
        return [(*a, *b) for a, b in zip(usual.notes(batch), few, strict=True)]

    return Procedure(test, bounds, None, notes, cautious=usual.cautious, bootstraps=usual.bootstraps)
