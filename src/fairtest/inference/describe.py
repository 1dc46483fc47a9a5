"""From validated numbers to findings: the tables of people behind an effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.holdout import TRAIN
from fairtest.data.labels import label_part
from fairtest.data.variables import Variable, binned, crossed
from fairtest.engine.contract import Rows
from fairtest.inference import score
from fairtest.inference.finding import CountTable, Finding, Group, GroupTable, Stratum
from fairtest.summaries import Target
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from fairtest.data.source import DataSource
    from fairtest.data.table import Column
    from fairtest.engine.contract import Engine
    from fairtest.inference.finding import Table
    from fairtest.inference.validate import Estimates, Validated
    from fairtest.types import BoolArray, FloatArray, Interval, Level

__all__ = ["Describer"]

TABLE_BINS = 5


class Describer:
    """Makes the findings of one question on one test set."""

    def __init__(self, engine: Engine, source: DataSource, number: int, level: float, validated: Validated) -> None:
        self._engine = engine
        self._number = number
        self._level = level
        self._validated = validated
        self._question = question = validated.asked.question
        grouped = question.metric.summary is SummaryKind.GROUP_MOMENTS
        self._swapped = grouped and validated.asked.target.by is not validated.asked.target.protected
        by, measured = question.protected, question.output
        if self._swapped:
            by, measured = measured, by
        if by.is_number:
            by = in_bins(source, by)
        summary = SummaryKind.ROWS if measured.is_number else SummaryKind.COUNTS
        self._target = Target(by, measured, question.strata, summary)

    def finding(self, i: int) -> Finding:
        """Return the finding of a context (0 is the whole population)."""
        asked, estimates = self._validated.asked, self._validated.contexts
        people = self._engine.rows(self._number, asked.conditions[i], self._target)
        ratio, ratio_interval = self._ratio(i)
        p = _number(estimates.p[i])
        return Finding(
            protected=self._question.protected.name,
            output=self._question.output.name,
            context=asked.contexts[i],
            size=int(estimates.size[i]),
            metric=self._question.metric.name,
            effect=_number(estimates.effect[i]),
            interval=_interval(estimates.low[i], estimates.high[i]),
            interval_single=_interval(estimates.low_single[i], estimates.high_single[i]),
            p_value=p,
            p_value_raw=_number(estimates.p_raw[i]),
            significant=p is not None and p <= self._level,
            table=self._table(people),
            strata=self._strata(i, people),
            ratio=ratio,
            ratio_interval=ratio_interval,
            label=None if label_part(self._question.output) is None else self._question.output.name,
            notes=(*estimates.notes[i], *self._left_out_strata(i)),
        )

    def _table(self, people: Rows) -> Table:
        by, measured = self._target.protected, self._target.output
        if measured.is_number:
            values = np.asarray(people.output, dtype=float)
            rows = tuple(described(name, values[people.protected == code]) for code, name in enumerate(by.levels))
            return GroupTable(measured=measured.name, by=by.name, rows=rows)
        shape = (len(measured.levels), len(by.levels))
        index = people.output.astype(np.intp) * shape[1] + people.protected
        counts = np.bincount(index, minlength=shape[0] * shape[1]).reshape(shape)
        rows_, columns = measured, by
        if self._swapped:
            counts, rows_, columns = counts.T, by, measured
        return CountTable(
            rows_.name, columns.name, rows_.levels, columns.levels, tuple(tuple(int(c) for c in row) for row in counts)
        )

    def _strata(self, i: int, people: Rows) -> tuple[Stratum, ...]:
        strata, estimates = self._question.strata, self._validated.strata
        if strata is None or estimates is None:
            return ()
        found = []
        for e, combination in enumerate(strata.combinations):
            at = i * len(strata.levels) + e
            if estimates.size[at]:
                inside = people.stratum == e
                table = self._table(_subset(people, inside))
                found.append(_stratum(dict(zip(strata.columns, combination, strict=True)), estimates, at, table))
        return tuple(found)

    def _left_out_strata(self, i: int) -> tuple[str, ...]:
        """Say how many people are in strata that carry no information."""
        estimates, strata = self._validated.strata, self._question.strata
        if estimates is None or strata is None:
            return ()
        part = slice(i * len(strata.levels), (i + 1) * len(strata.levels))
        people = int(estimates.size[part][np.isnan(estimates.effect[part])].sum())
        if not people:
            return ()
        return (f"{people:,} of these people are in strata where the effect is undefined; they are left out of it.",)

    def _ratio(self, i: int) -> tuple[float | None, Interval | None]:
        """Return the ratio of two groups' rates, with its single interval."""
        counts = getattr(self._validated.summary, "counts", None)
        if counts is None or self._question.metric.summary is not SummaryKind.COUNTS or counts.shape[-2:] != (2, 2):
            return None, None
        if counts.shape[1] > 1:
            return None, None
        table = counts[i, 0]
        x1, n1, x2, n2 = (np.array([v]) for v in (table[1, 1], table[:, 1].sum(), table[1, 0], table[:, 0].sum()))
        low, high = score.ratio_interval(x1, n1, x2, n2, self._level)
        return _number(score.ratio(x1, n1, x2, n2)[0]), _interval(low[0], high[0])


def in_bins(source: DataSource, variable: Variable) -> Variable:
    """Return a plain number in fifths of the training set, for tables."""
    column: Column = source.table[variable.parts[0].column]
    return crossed(variable.name, [binned(column, source.holdout.rows(TRAIN), TABLE_BINS)], source.table)


def described(name: Level, values: FloatArray) -> Group:
    """Return a number's mean, spread and quartiles in one group."""
    values = np.sort(values)  # sums then do not hang on the order of the rows
    n = values.size
    if not n:
        return Group(name, 0, None, None, None)
    low, q1, median, q3, high = (float(q) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1]))
    deviation = float(np.std(values, ddof=1)) if n > 1 else None
    return Group(name, n, float(np.mean(values)), deviation, (low, q1, median, q3, high))


def _subset(people: Rows, inside: BoolArray) -> Rows:
    return Rows(people.protected[inside], people.output[inside], people.stratum[inside], {})


def _stratum(values: dict[str, Level], estimates: Estimates, at: int, table: Table) -> Stratum:
    return Stratum(
        values=values,
        size=int(estimates.size[at]),
        effect=_number(estimates.effect[at]),
        interval=_interval(estimates.low[at], estimates.high[at]),
        interval_single=_interval(estimates.low_single[at], estimates.high_single[at]),
        p_value=_number(estimates.p[at]),
        p_value_raw=_number(estimates.p_raw[at]),
        table=table,
    )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _interval(low: float, high: float) -> Interval | None:
    return None if np.isnan(low) or np.isnan(high) else (float(low), float(high))
