"""The generic procedure: permutation within strata and BCa bootstrap, for every metric and a user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.summaries import Counts
from fairtest.exceptions import InputError
from fairtest.inference.batch import canonical_strata
from fairtest.inference.monte_carlo import Drawn
from fairtest.inference.row_effects import row_effect
from fairtest.statistics.numerics.rules import per_context, widen_to_zero
from fairtest.statistics.resampling.bootstrap import bca_from_rows, bca_from_table, draws_for
from fairtest.statistics.resampling.permutation import RowSampler, TableSampler
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.engine.contract import Rows
    from fairtest.inference.batch import Batch
    from fairtest.inference.monte_carlo import Sampler
    from fairtest.statistics.numerics.rules import Alpha
    from fairtest.types import FloatArray, IntArray

MOST_ROWS = 20_000
"""The largest context whose people are resampled one by one."""
MOST_TABLE = 10_000
"""The largest table, in cells, that is resampled as a table."""


class Resampling:
    """Monte-Carlo permutation of the protected attribute within strata; bootstrap of people within strata."""

    cautious = False

    def p_values(self, batch: Batch, level: float) -> tuple[FloatArray, Drawn]:  # noqa: ARG002
        """Return that every p-value is to be drawn where the effect is defined."""

        def samplers(places: Sequence[int]) -> Iterator[Sampler]:
            return (self._sampler(batch, i) for i in places)

        return np.full(len(batch), np.nan), Drawn(np.flatnonzero(~np.isnan(batch.effect)).tolist(), samplers)

    def _sampler(self, batch: Batch, i: int) -> Sampler:
        strength, effect = batch.metric.strength, batch.metric.effect
        if by_table(batch):
            counts = table_of(batch, i)
            return batch.keyed(TableSampler(counts, lambda c: strength(effect(Counts(c)))), counts)
        people = checked_rows(batch, i)
        of_rows = row_effect(batch.metric)
        sampler = RowSampler(
            people.protected,
            people.output,
            people.stratum,
            lambda s, o, e: float(strength(np.asarray(of_rows(s, o, e), dtype=float))),
        )
        return batch.keyed(sampler, people.protected, people.output)

    def interval(self, batch: Batch, p: FloatArray, alpha: Alpha) -> tuple[FloatArray, FloatArray]:
        """Return BCa intervals; they reach 0 where the test does not reject."""
        low, high = np.full(len(batch), np.nan), np.full(len(batch), np.nan)
        levels = per_context(alpha, len(batch))
        for i in np.flatnonzero(~np.isnan(batch.effect)).tolist():
            batch.progress(i / len(batch))
            level = float(levels[i])
            low[i], high[i] = self._bounds(batch, i, level, min(draws_for(level), 20_000))
        return widen_to_zero(low, high, p, alpha)

    def _bounds(self, batch: Batch, i: int, alpha: float, draws: int) -> tuple[float, float]:
        effect = batch.metric.effect
        if by_table(batch):
            counts = table_of(batch, i)
            low, high = bca_from_table(counts, lambda c: effect(Counts(c)), alpha, draws, batch.generator(counts))
        else:
            people = checked_rows(batch, i)
            rng = batch.generator(people.protected, people.output)
            few = min(draws, 2000)
            args = (people.protected, people.output, people.stratum, row_effect(batch.metric))
            low, high = bca_from_rows(*args, alpha, few, rng)
        return float(low), float(high)

    def notes(self, batch: Batch) -> list[tuple[str, ...]]:
        """Say that the interval is a bootstrap's."""
        text = "Test by permutation, interval by bootstrap: not calibrated for this metric."
        return [(text,)] * len(batch)


def by_table(batch: Batch) -> bool:
    """Whether the people of a batch can be resampled as tables of counts."""
    if batch.metric.summary not in (SummaryKind.COUNTS, SummaryKind.RANKS):
        return False
    assert isinstance(batch.summary, Counts)
    return int(np.prod(batch.summary.counts.shape[1:])) <= MOST_TABLE


def table_of(batch: Batch, i: int) -> IntArray:
    """Return the counts of one hypothesis."""
    assert isinstance(batch.summary, Counts)
    return canonical_strata(np.asarray(batch.summary.counts[i]))


def checked_rows(batch: Batch, i: int) -> Rows:
    """Return the people of one hypothesis, if they are few enough to be resampled one by one."""
    size = int(batch.size[i])
    if size > MOST_ROWS:
        raise InputError(
            f"The metric {batch.metric.name} resamples people one by one, which is possible for contexts of up to "
            f"{MOST_ROWS:,} people. Got one of {size:,}; sample the data, or use a metric of counts."
        )
    return batch.rows(i)
