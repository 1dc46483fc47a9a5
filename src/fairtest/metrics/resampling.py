"""The generic procedure: permutation within strata and BCa bootstrap, for every metric and a user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from fairtest.data.summaries import Counts
from fairtest.exceptions import InputError
from fairtest.metrics.batch import canonical_strata
from fairtest.metrics.procedure import Procedure
from fairtest.statistics.numerics.rules import per_context
from fairtest.statistics.resampling.bootstrap import bca_from_rows, bca_from_table, draws_for
from fairtest.statistics.resampling.permutation import RowSampler, TableSampler
from fairtest.statistics.resampling.samplers import Draws
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from fairtest.engine.contract import Rows
    from fairtest.metrics.batch import Batch
    from fairtest.metrics.procedure import Notes
    from fairtest.metrics.registry import Metric
    from fairtest.statistics.numerics.rules import Alpha, Bounds
    from fairtest.statistics.resampling.samplers import Sampler
    from fairtest.types import FloatArray, IntArray

MOST_ROWS = 20_000
"""The largest context whose people are resampled one by one."""
MOST_TABLE = 10_000
"""The largest table, in cells, that is resampled as a table."""
MOST_DRAWS, MOST_DRAWS_OF_ROWS = 20_000, 2000
"""The most bootstrap samples of a table, and of people one by one."""
MOST_LEFT_OUT = 64
"""The most cells of a table out of which one person after the other is left."""


def _test(batch: Batch) -> FloatArray:
    """Return that no p-value is known: all are drawn."""
    return np.full(len(batch), np.nan)


def _draws(batch: Batch, p: FloatArray, level: float) -> Draws:  # noqa: ARG001
    """Draw every p-value where the effect is defined, permuting the protected attribute within strata."""
    return Draws(_find_defined(batch), lambda places: (_sampler(batch, i) for i in places))


def _find_defined(batch: Batch) -> list[int]:
    return [int(i) for i in np.flatnonzero(~np.isnan(batch.effect))]


def _sampler(batch: Batch, i: int) -> Sampler:
    metric = batch.metric
    if _by_table(batch):
        counts = _table(batch, i)
        return batch.key_sampler(TableSampler(counts, lambda c: metric.strength(metric.effect(Counts(c)))), counts)
    people = _people(batch, i)
    sampler = RowSampler(
        people.protected,
        people.output,
        people.stratum,
        lambda s, o, e: float(metric.strength(np.asarray(metric.effect_of_rows(s, o, e), dtype=float))),
    )
    return batch.key_sampler(sampler, people.protected, people.output)


def _bounds(batch: Batch, alpha: Alpha) -> Bounds:
    """Return BCa intervals, people being drawn within strata."""
    low, high = np.full(len(batch), np.nan), np.full(len(batch), np.nan)
    levels = per_context(alpha, len(batch))
    for i in _find_defined(batch):
        batch.progress(i / len(batch))
        level = float(levels[i])
        low[i], high[i] = _interval(batch, i, level, min(draws_for(level), MOST_DRAWS))
    return low, high


def _interval(batch: Batch, i: int, alpha: float, draws: int) -> tuple[float, float]:
    metric = batch.metric
    if _by_table(batch):
        counts = _table(batch, i)
        low, high = bca_from_table(counts, lambda c: metric.effect(Counts(c)), alpha, draws, batch.generator(counts))
    else:
        people = _people(batch, i)
        rng = batch.generator(people.protected, people.output)
        args = (people.protected, people.output, people.stratum, metric.effect_of_rows)
        low, high = bca_from_rows(*args, alpha, min(draws, MOST_DRAWS_OF_ROWS), rng)
    return float(low), float(high)


def _notes(batch: Batch) -> Notes:
    """Say that the interval is a bootstrap's."""
    return [("Test by permutation, interval by bootstrap: not calibrated for this metric.",)] * len(batch)


def _by_table(batch: Batch) -> bool:
    """Whether the people of a batch can be resampled as tables of counts."""
    if batch.metric.summary not in (SummaryKind.COUNTS, SummaryKind.RANKS):
        return False
    assert isinstance(batch.summary, Counts)
    return int(np.prod(batch.summary.counts.shape[1:])) <= MOST_TABLE


def _table(batch: Batch, i: int) -> IntArray:
    """Return the counts of one hypothesis."""
    assert isinstance(batch.summary, Counts)
    return canonical_strata(np.asarray(batch.summary.counts[i]))


def _people(batch: Batch, i: int) -> Rows:
    """Return the people of one hypothesis, if they are few enough to be resampled one by one."""
    size = int(batch.size[i])
    if size > MOST_ROWS:
        raise InputError(
            f"The metric {batch.metric.name} resamples people one by one, which is possible for contexts of up to "
            f"{MOST_ROWS:,} people. Got one of {size:,}; sample the data, or use a metric of counts."
        )
    return batch.rows(i)


def _screen(batch: Batch) -> FloatArray:
    """Return about the p-values of a metric of counts with a sign, so that hopeless hypotheses need no draws.

    Of thousands of hypotheses, each could be drawn too seldom to ever be rejected. The error of an effect comes from
    the jackknife: how it changes without one person of each cell. What is rejected is rejected by draws alone.

    References
    ----------
    B. Efron and C. Stein, "The jackknife estimate of variance", Annals of Statistics 9 (1981), 586–596.
    """
    if not batch.metric.signed or not _by_table(batch):
        return _test(batch)
    assert isinstance(batch.summary, Counts)
    counts = batch.summary.counts
    people = counts.reshape(len(counts), -1)
    if people.shape[1] > MOST_LEFT_OUT:
        return _test(batch)
    changed = np.stack([_effect_without_one(batch.metric, counts, i) for i in range(people.shape[1])], axis=1)
    changed = np.where(people > 0, changed, 0.0)
    n = people.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (people * changed).sum(axis=1) / n
        variance = (n - 1) / n * (people * (changed - centre[:, None]) ** 2).sum(axis=1)
        p = 2 * ndtr(-np.abs(batch.effect) / np.sqrt(variance))
    return np.where(variance > 0, p, np.nan)


def _effect_without_one(metric: Metric, counts: IntArray, cell: int) -> FloatArray:
    """Return the effects without one person of a cell, where it has any."""
    fewer = counts.reshape(len(counts), -1).copy()
    fewer[:, cell] -= fewer[:, cell] > 0
    return np.asarray(metric.effect(Counts(fewer.reshape(counts.shape))))


RESAMPLING = Procedure(_test, _bounds, _draws, _notes, cautious=False, bootstraps=True)
SCREENED_RESAMPLING = Procedure(_screen, _bounds, _draws, _notes, cautious=False, bootstraps=True)
"""The same for a metric of one's own, of which only hypotheses are drawn that could be rejected."""
