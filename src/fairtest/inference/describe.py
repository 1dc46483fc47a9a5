"""From validated numbers to findings: the tables of people behind an effect."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.holdout import TRAIN
from fairtest.data.labels import label_part
from fairtest.data.summaries import Counts, Target, by_stratum
from fairtest.data.variables import cut_variable
from fairtest.inference.effective import effective_size
from fairtest.inference.gaps import count_gaps
from fairtest.inference.group_numbers import describe_group, fit_line
from fairtest.inference.hypotheses import merging_steps
from fairtest.inference.weighed_rates import weigh_rates
from fairtest.model.finding import CountTable, Finding, GroupTable, Stratum, Tested
from fairtest.progress import silent
from fairtest.statistics.rates import score
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fairtest.data.axes import Condition
    from fairtest.data.source import DataSource
    from fairtest.data.summaries import Summary
    from fairtest.engine.contract import Engine, Rows
    from fairtest.inference.family import Estimates
    from fairtest.inference.validate import Validated
    from fairtest.model.comparison import Comparison
    from fairtest.model.finding import Table
    from fairtest.model.rates import Rate
    from fairtest.progress import Progress
    from fairtest.types import IntArray, Interval, Level

TABLE_BINS, BOX_BINS = 5, 10
"""Into how many bins a number is cut to count people, and to describe another number."""


class Describer:
    """Makes the findings of one question on one test set."""

    def __init__(self, engine: Engine, source: DataSource, number: int, level: float, validated: Validated) -> None:
        self._engine = engine
        self._design = source.design
        self._number = number
        self.level = level
        self._validated = validated
        self._question = question = validated.asked.question
        grouped = question.metric.summary is SummaryKind.GROUP_MOMENTS
        self._swapped = grouped and validated.asked.target.by is not validated.asked.target.protected
        by, measured = question.protected, question.output
        if self._swapped:
            by, measured = measured, by
        self._by = by
        if by.is_number:
            bins = BOX_BINS if measured.is_number else TABLE_BINS
            self._by = cut_variable(by, source.table, source.holdout.rows(TRAIN), bins)
        if measured.is_number:
            self._target = Target(by, measured, question.strata, SummaryKind.ROWS)
        else:
            self._target = Target(self._by, measured, question.strata, SummaryKind.COUNTS)

    def findings(self, contexts: Sequence[int], progress: Progress = silent) -> list[Finding]:
        """Return the findings of some contexts (0 is the whole population)."""
        made = []
        described_by = zip(contexts, self._ratios(contexts), self._tables(contexts), strict=True)
        for number, (i, two, (table, of_stratum)) in enumerate(described_by):
            progress(number / len(contexts))
            made.append(self._finding(i, two, table, of_stratum))
        return made

    def _tables(self, contexts: Sequence[int]) -> Iterator[tuple[Table, Callable[[int], Table]]]:
        """Yield the table of each context, and what gives that of any of its strata.

        The whole population, with its strata, may have been tested on more people than the test set.
        """
        asked = self._validated.asked
        everybody = self._number if asked.population_set is None else asked.population_set
        wider = everybody != self._number
        here = self._tables_in(self._number, contexts)
        for i, table in zip(contexts, here, strict=True):
            yield from self._tables_in(everybody, [0]) if i == 0 and wider else (table,)

    def _worth_of(self, i: int, counted: float) -> float:
        """Return as how many independent people each of those counted in the table of a context counts."""
        if self._design is None or not counted:
            return 1.0
        return float(effective_size(self._summary(i))[0] / counted)

    def _tables_in(self, number: int, contexts: Sequence[int]) -> Iterator[tuple[Table, Callable[[int], Table]]]:
        conditions = [self._validated.asked.conditions[i] for i in contexts]
        if self._target.summary is SummaryKind.COUNTS:
            rows = self._fetch_rows(number, conditions)
            tables = self._engine.tables(number, conditions, self._target)
            for i, counts, people in zip(contexts, tables, rows, strict=True):
                counted = counts if self._design is None else np.rint(counts * self._design.counted_as)
                worth = self._worth_of(i, float(counted.sum()))
                whole = self._count_table(counted.sum(axis=0), worth, people)
                yield whole, partial(self._stratum_counts, counted, worth, people)
        else:
            for people in self._engine.many_rows(number, conditions, self._target):
                yield self._group_table(people), partial(self._stratum_groups, people)

    def _fetch_rows(self, number: int, conditions: Sequence[Sequence[Condition]]) -> Iterable[Rows | None]:
        """Return the rows of each context, which say how sure rates are where rows are not one person each."""
        if self._design is None:
            return [None] * len(conditions)
        return self._engine.many_rows(number, conditions, replace(self._target, summary=SummaryKind.ROWS))

    def _finding(
        self, i: int, of_two_groups: dict[str, Any], table: Table, of_stratum: Callable[[int], Table]
    ) -> Finding:
        asked, estimates = self._validated.asked, self._validated.contexts
        return Finding(
            protected=self._question.protected.name,
            output=self._question.output.name,
            context=asked.contexts[i],
            size=int(estimates.size[i]),
            metric=self._question.metric.name,
            effect=_number(estimates.effect[i]),
            **_certainty(estimates, i),
            significant=bool(estimates.p[i] <= self.level),
            table=table,
            strata=self._strata(i, of_stratum),
            comparisons=self._comparisons(i, table),
            label=None if label_part(self._question.output) is None else self._question.output.name,
            **self._rows_and_weight(table),
            notes=(*estimates.notes[i], *self._left_out_strata(i), *self._bins(i)),
            **of_two_groups,
        )

    def _comparisons(self, i: int, table: Table) -> tuple[Comparison, ...]:
        """Return groups beside the reference: several over everybody as tested, and in contexts with intervals only.

        Two groups are compared in numbers only, by the effect itself.
        """
        v = self._validated
        gaps, p, asked = v.gaps, v.gaps_p, v.asked
        if gaps is None and len(self._question.protected.levels) != 2:
            return ()
        if i or gaps is None:
            number = self._number if i or asked.population_set is None else asked.population_set
            reference = None if gaps is None else gaps.reference
            how = {"joint": v.joint, "by_person": self._design is not None}
            gaps, p = count_gaps(self._engine, asked, number, i, reference, **how), None
        if gaps is None or not len(gaps):
            return ()
        groups = table.rows if isinstance(table, GroupTable) else ()
        if len(self._question.protected.levels) > 2:
            return gaps.describe(p, self.level, float(v.contexts.alpha[i]), groups)
        return self._as_effect(i, gaps.describe(None, self.level, self.level, groups))

    def _as_effect(self, i: int, comparisons: tuple[Comparison, ...]) -> tuple[Comparison, ...]:
        """Return the comparison of two groups with the numbers of the effect, which it is; of other metrics, none."""
        e = self._validated.contexts
        if not self._question.metric.compares_means:
            return ()
        (comparison,) = comparisons
        effect = replace(
            comparison.gaps[0],
            gap=_number(e.effect[i]),
            **_certainty(e, i),
            significant=bool(e.p[i] <= self.level),
        )
        return (replace(comparison, gaps=(effect,)),)

    def _rows_and_weight(self, table: Table) -> dict[str, Any]:
        """Return how many rows people have and what they weigh, where that is not one each."""
        if self._design is None:
            return {}
        if self._design.weights is None:
            sizes = table.sizes if isinstance(table, CountTable) else [group.size for group in table.rows]
            return {"rows": int(sum(sizes))}
        if not self._design.stands_for_people:
            return {}
        return {"weight": float(sum(table.sizes))} if isinstance(table, CountTable) else {"weight": table.weight}

    def _count_table(self, counts: IntArray, worth: float, people: Rows | None) -> CountTable:
        rows, columns = self._target.output, self._by
        rates: tuple[tuple[Rate | None, ...], ...] = ()
        if self._swapped:
            counts, rows, columns = counts.T, columns, rows
        if people is not None:
            codes = (people.protected, people.output) if self._swapped else (people.output, people.protected)
            rates = weigh_rates(people, *codes, len(rows.levels), len(columns.levels))
        return CountTable(
            rows.name,
            columns.name,
            rows.levels,
            columns.levels,
            tuple(tuple(int(c) for c in row) for row in counts),
            worth,
            rates,
        )

    def _stratum_counts(self, counts: IntArray, worth: float, people: Rows | None, e: int) -> CountTable:
        return self._count_table(counts[e], worth, None if people is None else people.take(people.stratum == e))

    def _stratum_groups(self, people: Rows, e: int) -> GroupTable:
        return self._group_table(people.take(people.stratum == e))

    def _group_table(self, people: Rows) -> GroupTable:
        by, measured, binned = self._by, self._target.output, self._target.protected.is_number
        codes = by.parts[0].bins(people.protected) if binned else people.protected
        values, weight = np.asarray(people.output, dtype=float), people.weight
        numbers = np.asarray(people.protected, dtype=float) if binned else None
        groups = []
        for code, name in enumerate(by.levels):
            at = codes == code
            some = (None if column is None else column[at] for column in (numbers, weight, people.person))
            groups.append(describe_group(name, values[at], *some, level=None if binned else self.level))
        line = None if numbers is None else fit_line(numbers, values, weight)
        total = None if weight is None or self._design is None else float(weight.sum() * self._design.counted_as)
        return GroupTable(measured.name, by.name, tuple(groups), line, total)

    def _strata(self, i: int, of_stratum: Callable[[int], Table]) -> tuple[Stratum, ...]:
        strata, estimates = self._question.strata, self._validated.strata
        if strata is None or estimates is None:
            return ()
        found = []
        for e, combination in enumerate(strata.combinations):
            at = i * len(strata.levels) + e
            if estimates.size[at]:
                values = dict(zip(strata.columns, combination, strict=True))
                found.append(_stratum(values, estimates, at, of_stratum(e)))
        return tuple(found)

    def _bins(self, i: int) -> tuple[str, ...]:
        """Say in how many bins of a number people are compared, and what half as many would have said.

        What differs within bins falls to a quarter with twice as many where everything is smooth within them, so that
        the step to the estimate is larger than what is left. Where both attribute and output swing within a bin it
        does not: what is called clear is therefore clear among neighbours, too.
        """
        v, finer, metric = self._validated, self._validated.asked.finer, self._question.metric
        if finer is None or metric.summary is SummaryKind.ROWS or np.isnan(v.contexts.effect[i]):
            return ()
        context = self._summary(i)
        step = merging_steps(finer, context, joint=v.joint)
        if step[0] + 1 >= len(finer.bins):
            return ()
        half = float(metric.effect(finer.merge(context, step + 1))[0])
        bins = " and ".join(f"{n} bins of {name}" for name, n in finer.bins[step[0]].items())
        here, there = (metric.scale.for_effect(half).estimate(e) for e in (float(v.contexts.effect[i]), half))
        return (
            f"Compared within {bins}: {here}; with half as many, {there}. What still differs within the bins is likely "
            "to count for less than that step, unless attribute and output both swing up and down within a bin. A link "
            "is called clear only if it is there among close neighbours too.",
        )

    def _left_out_strata(self, i: int) -> tuple[str, ...]:
        """Say how many people are in strata that carry no information."""
        estimates, strata = self._validated.strata, self._question.strata
        if estimates is None or strata is None:
            return ()
        part = slice(i * len(strata.levels), (i + 1) * len(strata.levels))
        size, effect = estimates.size[part], estimates.effect[part]
        if self._validated.asked.finer is not None and self._question.metric.summary is not SummaryKind.ROWS:
            each = by_stratum(self._summary(i))
            size, effect = each.size, self._question.metric.effect(each)
        people = int(size[np.isnan(effect)].sum())
        if not people:
            return ()
        return (f"{people:,} of these people are in strata where the effect is undefined; they are left out of it.",)

    def _summary(self, i: int) -> Summary:
        """Return the summary of the people on whom a context was tested."""
        v = self._validated
        return v.population.take(np.array([0])) if i == 0 else v.summary.take(np.array([i]))

    def _ratios(self, contexts: Sequence[int]) -> list[dict[str, Any]]:
        """Return gap and ratio of two groups' rates in each context, with their single intervals.

        The gap is that of everybody together; there is no ratio where people are compared within strata.
        """
        counts = getattr(self._validated.summary, "counts", None)
        if counts is None or self._question.metric.summary is not SummaryKind.COUNTS or counts.shape[2:] != (2, 2):
            return [{} for _ in contexts]
        tables = counts[list(contexts)].sum(axis=1)
        everybody = self._validated.population
        assert isinstance(everybody, Counts)
        tables[[place for place, i in enumerate(contexts) if i == 0]] = everybody.counts[0].sum(axis=0)
        x1, n1, x2, n2 = tables[:, 1, 1], tables[:, :, 1].sum(axis=1), tables[:, 1, 0], tables[:, :, 0].sum(axis=1)
        pair = x1[:, None], n1[:, None], x2[:, None], n2[:, None]
        low, high = score.difference_interval(*pair, self.level)
        found: list[dict[str, Any]] = [
            {"gap": _number(g), "gap_interval": _interval(*bounds)}
            for g, *bounds in zip(score.difference(*pair), low, high, strict=True)
        ]
        if counts.shape[1] > 1:
            return found
        low, high = score.ratio_interval(x1, n1, x2, n2, self.level)
        for each, r, *bounds in zip(found, score.ratio(x1, n1, x2, n2), low, high, strict=True):
            each |= {"ratio": _number(r), "ratio_interval": _interval(*bounds)}
        return found

    def others(self, contexts: Sequence[int], part_of: Mapping[int, int] | None = None) -> tuple[Tested, ...]:
        """Return some contexts that are no findings, without the tables behind them.

        ``part_of`` says of some of them which finding says what they say.
        """
        asked, e = self._validated.asked, self._validated.contexts
        findings = part_of or {}
        return tuple(
            Tested(
                context=asked.contexts[i],
                size=int(e.size[i]),
                effect=_number(e.effect[i]),
                interval=_interval(e.low[i], e.high[i]),
                p_value=_number(e.p[i]),
                significant=bool(e.p[i] <= self.level),
                guided=asked.contexts[i] in asked.guided,
                part_of=asked.contexts[findings[i]] if i in findings else None,
            )
            for i in contexts
        )


def _stratum(values: dict[str, Level], estimates: Estimates, at: int, table: Table) -> Stratum:
    return Stratum(
        values=values,
        size=int(estimates.size[at]),
        effect=_number(estimates.effect[at]),
        **_certainty(estimates, at),
        table=table,
    )


def _certainty(e: Estimates, i: int) -> dict[str, Any]:
    """Return the intervals and p-values of a hypothesis, as findings, strata and gaps name them."""
    return {
        "interval": _interval(e.low[i], e.high[i]),
        "interval_single": _interval(e.low_single[i], e.high_single[i]),
        "p_value": _number(e.p[i]),
        "p_value_raw": _number(e.p_raw[i]),
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _interval(low: float, high: float) -> Interval | None:
    return None if np.isnan(low) or np.isnan(high) else (float(low), float(high))
