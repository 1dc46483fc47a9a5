"""The table of a finding for a page: each row holds its own mark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.model.finding import CountTable, GroupTable
from fairtest.reporting.figures import marks as figures
from fairtest.reporting.figures import svg
from fairtest.reporting.words.numbers import count, quantity, rate, typeset
from fairtest.reporting.words.phrases import (
    capitalised,
    fitted_at,
    line_words,
    named_groups,
    told_row,
    totals,
)
from fairtest.statistics.rates.rates import rates_with_intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.finding import Table
    from fairtest.reporting.words.phrases import Names

View = dict[str, Any]
_MOST_OUTPUTS = 4


def table_view(table: Table, least: int, names: Names, beside: Sequence[Table] = (), *, whole: bool = False) -> View:
    """Return a finding's table with its marks: rates of each group, or a number by group.

    Tables of numbers that stand ``beside`` each other have the same axis; with ``whole``, that of rates goes to 100 %.
    """
    if isinstance(table, CountTable):
        return _rates(table, least, names, whole=whole)
    axis = figures.number_axis([g for t in (table, *beside) if isinstance(t, GroupTable) for g in t.rows])
    return _numbers(table, axis, names)


def _rates(table: CountTable, least: int, names: Names, *, whole: bool) -> View:
    told = told_row(table, least)
    sizes, everyone = totals(table), sum(totals(table))
    rates = rates_with_intervals(table)
    axis = figures.rate_axis([1.0]) if whole else figures.rates_axis(rates[told], sizes)
    order = [told, *(i for i in range(len(table.rows)) if i != told)]
    named = named_groups(table, least)
    groups = [1, 0] if len(table.columns) == 2 else range(len(table.columns))
    together = [sum(table.counts[i]) / everyone if everyone else None for i in order]
    reference = None if together[0] is None else axis.at(together[0])
    marks = ["ab"[named.index(g)] if g in named[:2] else "o" for g in range(len(table.columns))]
    return {
        "kind": "rates",
        "by": capitalised(names.column(table.protected)),
        "words": names.column(table.protected),
        "output": names.column(table.output),
        "axis": svg.axis_marks(axis),
        "style": svg.axis_style(axis, reference),
        "outputs": [names.short(table.output, table.rows[i]) for i in order],
        "wide": len(order) > _MOST_OUTPUTS,
        "rows": [
            {
                "name": names.short(table.protected, table.columns[g]),
                "mark": svg.rate_mark(figures.stem_of(rates[told][g], axis), marks[g]),
                "interval": _interval_words(rates[told][g]),
                "cells": [_cell(None if (r := rates[i][g]) is None else r.share, table.counts[i][g]) for i in order],
                "people": _cell(sizes[g] / everyone if everyone else None, sizes[g]),
            }
            for g in groups
        ],
        "all": [_cell(w, sum(table.counts[i])) for w, i in zip(together, order, strict=True)],
        "people": _cell(1.0 if everyone else None, everyone),
    }


def _interval_words(known: Any) -> str:
    """Return the interval of a rate for those who do not see its bar."""
    if known is None:
        return "nobody"
    low, high = known.interval
    return f"interval {typeset(rate(low))} to {typeset(rate(high))}"


def _cell(share: float | None, number: int) -> tuple[str, str]:
    return typeset(rate(share)), count(number)


def _numbers(table: GroupTable, axis: figures.Axis, names: Names) -> View:
    decimals = figures.shared_decimals(table.rows)
    return {
        "kind": "numbers",
        "by": capitalised(names.column(table.by)),
        "words": names.column(table.by),
        "measured": names.column(table.measured),
        "axis": svg.axis_marks(axis),
        "style": svg.axis_style(axis),
        "boxes": None if table.line is None else _boxes(table, axis, names),
        "rows": [
            {
                "name": names.short(table.by, group.name),
                "fitted": quantity(fitted_at(table, group), decimals),
                "beyond": count(group.beyond),
                "mark": svg.box_mark(figures.box_of(group, axis), None if group.mean is None else axis.at(group.mean)),
                "people": count(group.size),
                "numbers": [quantity(n, decimals) for n in (group.mean, group.deviation)],
                "quantiles": [quantity(n, decimals) for n in group.quantiles or (None,) * 5],
            }
            for group in table.rows
        ],
    }


def _boxes(table: GroupTable, axis: figures.Axis, names: Names) -> View:
    """Return the figure of a number by bins of another: boxes side by side and the fitted line."""
    columns = figures.columns_of(table, axis)
    people = [group.size for group in table.rows]
    return {
        "picture": svg.standing_boxes(axis, columns, people, figures.segments_of(table, axis)),
        "names": [names.short(table.by, group.name) for group in table.rows],
        "line": line_words(table, names),
    }
