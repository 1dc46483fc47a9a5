"""The table of a finding for a page: each row holds its own mark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.model.finding import CountTable, GroupTable
from fairtest.numbers import count, quantity, rate, typeset
from fairtest.reporting.figures.axes import number_axis
from fairtest.reporting.figures.marks import fit_segments, mark_box, stand_boxes
from fairtest.reporting.figures.plots import plot_rates
from fairtest.reporting.figures.svg import axis_marks, axis_style, box_on_page, draw_standing, interval_on_page
from fairtest.reporting.words.phrases import capitalise, fit_at, line_words, shared_decimals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.finding import Table
    from fairtest.model.names import Names
    from fairtest.model.rates import Rate
    from fairtest.reporting.figures.axes import Axis

View = dict[str, Any]
_MOST_OUTPUTS = 4


def table_view(
    table: Table, least: int, names: Names, beside: Sequence[Table] = (), *, to_hundred: bool = False
) -> View:
    """Return a finding's table with its marks: rates of each group, or a number by group.

    Tables of numbers that stand ``beside`` each other have the same axis; with ``to_hundred``, rates have one that ends
    at 100 %.
    """
    if isinstance(table, CountTable):
        return _rates(table, least, names, to_hundred=to_hundred)
    axis = number_axis([g for t in (table, *beside) if isinstance(t, GroupTable) for g in t.rows])
    return _numbers(table, axis, names)


def _rates(table: CountTable, least: int, names: Names, *, to_hundred: bool) -> View:
    plot = plot_rates(table, least, to_hundred=to_hundred)
    everyone = sum(table.sizes)
    outputs = [plot.row, *(i for i in range(len(table.rows)) if i != plot.row)]
    return {
        "kind": "rates",
        "by": capitalise(names.column(table.protected)),
        "words": names.column(table.protected),
        "output": names.column(table.output),
        "axis": axis_marks(plot.axis),
        "style": axis_style(plot.axis, plot.reference),
        "outputs": [names.short(table.output, table.rows[i]) for i in outputs],
        "wide": len(outputs) > _MOST_OUTPUTS,
        "rows": [
            {
                "name": names.short(table.protected, table.columns[g]),
                "mark": interval_on_page(plot.mark(g), plot.look(g)),
                "interval": _interval_words(plot.rates[g]),
                "cells": [_cell(table.counts[i][g], table.sizes[g]) for i in outputs],
                "people": _cell(table.sizes[g], everyone),
            }
            for g in plot.reading_order
        ],
        "all": [_cell(sum(table.counts[i]), everyone) for i in outputs],
        "people": _cell(everyone, everyone),
    }


def _interval_words(known: Rate | None) -> str:
    """Return the interval of a rate for those who do not see its bar."""
    if known is None:
        return "nobody"
    low, high = known.interval
    return f"interval {typeset(rate(low))} to {typeset(rate(high))}"


def _cell(number: int, people: int) -> tuple[str, str]:
    """Return so many of so many people, in per cent and as a count."""
    return typeset(rate(number / people if people else None)), count(number)


def _numbers(table: GroupTable, axis: Axis, names: Names) -> View:
    decimals = shared_decimals(table.rows)
    return {
        "kind": "numbers",
        "by": capitalise(names.column(table.by)),
        "words": names.column(table.by),
        "measured": names.column(table.measured),
        "axis": axis_marks(axis),
        "style": axis_style(axis),
        "boxes": None if table.line is None else _boxes(table, axis, names),
        "rows": [
            {
                "name": names.short(table.by, group.name),
                "fitted": quantity(fit_at(table, group), decimals),
                "beyond": count(group.beyond),
                "mark": box_on_page(mark_box(group, axis), None if group.mean is None else axis.at(group.mean)),
                "people": count(group.size),
                "numbers": [quantity(n, decimals) for n in (group.mean, group.deviation)],
                "quantiles": [quantity(n, decimals) for n in group.quantiles or (None,) * 5],
            }
            for group in table.rows
        ],
    }


def _boxes(table: GroupTable, axis: Axis, names: Names) -> View:
    """Return the figure of a number by bins of another: boxes side by side and the fitted line."""
    people = [group.size for group in table.rows]
    return {
        "picture": draw_standing(axis, stand_boxes(table, axis), people, fit_segments(table, axis)),
        "names": [names.short(table.by, group.name) for group in table.rows],
        "line": line_words(table, names),
    }
