"""The table of a finding for a page: each row holds its own mark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.inference.finding import CountTable, GroupTable
from fairtest.reporting import figures
from fairtest.reporting.numbers import count, quantity, rate, typeset
from fairtest.reporting.phrases import (
    capitalised,
    fitted_at,
    level_words,
    line_words,
    named_groups,
    rates_of,
    spoken,
    told_row,
    totals,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.inference.finding import Table

__all__ = ["table_view"]

View = dict[str, Any]
_MOST_OUTPUTS = 4


def table_view(table: Table, least: int, beside: Sequence[Table] = ()) -> View:
    """Return a finding's table with its marks: rates of each group, or a number by group.

    Tables of numbers that stand ``beside`` each other have the same axis.
    """
    if isinstance(table, CountTable):
        return _rates(table, least)
    axis = figures.number_axis([g for t in (table, *beside) if isinstance(t, GroupTable) for g in t.rows])
    return _numbers(table, axis)


def _rates(table: CountTable, least: int) -> View:
    told = told_row(table, least)
    shares, sizes, everyone = rates_of(table, told), totals(table), sum(totals(table))
    axis = figures.rate_axis(shares)
    order = [told, *(i for i in range(len(table.rows)) if i != told)]
    named = named_groups(table, least)
    groups = [1, 0] if len(table.columns) == 2 else range(len(table.columns))
    whole = [sum(table.counts[i]) / everyone if everyone else None for i in order]
    return {
        "kind": "rates",
        "by": capitalised(spoken(table.protected)),
        "words": spoken(table.protected),
        "output": spoken(table.output),
        "axis": axis,
        "reference": None if whole[0] is None else axis.at(whole[0]),
        "outputs": [level_words(table.rows[i]) for i in order],
        "wide": len(order) > _MOST_OUTPUTS,
        "rows": [
            {
                "name": level_words(table.columns[g]),
                "mark": "ab"[named.index(g)] if g in named[:2] else "o",
                "dot": None if (share := shares[g]) is None else axis.at(share),
                "cells": [_cell(rates_of(table, i)[g], table.counts[i][g]) for i in order],
                "people": _cell(sizes[g] / everyone if everyone else None, sizes[g]),
            }
            for g in groups
        ],
        "all": [_cell(w, sum(table.counts[i])) for w, i in zip(whole, order, strict=True)],
        "people": _cell(1.0 if everyone else None, everyone),
    }


def _cell(share: float | None, number: int) -> tuple[str, str]:
    return typeset(rate(share)), count(number)


def _numbers(table: GroupTable, axis: figures.Axis) -> View:
    decimals = figures.shared_decimals(table.rows)
    return {
        "kind": "numbers",
        "by": capitalised(spoken(table.by)),
        "words": spoken(table.by),
        "measured": spoken(table.measured),
        "axis": axis,
        "boxes": None if table.line is None else _boxes(table, axis),
        "rows": [
            {
                "name": level_words(group.name),
                "fitted": quantity(fitted_at(table, group), decimals),
                "beyond": count(group.beyond),
                "box": figures.box_of(group, axis),
                "mean": None if group.mean is None else axis.at(group.mean),
                "people": count(group.size),
                "numbers": [quantity(n, decimals) for n in (group.mean, group.deviation)],
                "quantiles": [quantity(n, decimals) for n in group.quantiles or (None,) * 5],
            }
            for group in table.rows
        ],
    }


def _boxes(table: GroupTable, axis: figures.Axis) -> View:
    """Return the figure of a number by bins of another: boxes side by side and the fitted line."""
    columns = figures.columns_of(table, axis)
    return {
        "columns": [
            {"mark": column, "name": level_words(group.name), "few": group.size if column.box is None else None}
            for column, group in zip(columns, table.rows, strict=True)
        ],
        "segments": figures.segments_of(table, axis),
        "line": line_words(table),
    }
