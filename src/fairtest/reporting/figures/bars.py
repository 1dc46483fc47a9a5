"""Figures made of characters: rates as bars, effects as dots with their intervals."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.model.finding import CountTable
from fairtest.reporting.figures import marks as figures
from fairtest.reporting.formats.tables import display_width, shortened
from fairtest.reporting.words.numbers import rate
from fairtest.reporting.words.phrases import capitalised, named_groups, outcome_words, told_row, totals
from fairtest.statistics.rates.rates import rates_with_intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.finding import Finding, Stratum
    from fairtest.reporting.figures.ink import Ink
    from fairtest.reporting.figures.marks import Axis, Bar, Stem
    from fairtest.reporting.words.numbers import Scale
    from fairtest.reporting.words.phrases import Names
    from fairtest.statistics.rates.rates import Rate

_EIGHTHS = " ▏▎▍▌▋▊▉"
_MOST_GROUPS = 12
_NARROWEST_PLOT, _WIDEST_PLOT = 16, 40
_GAP = "  "


@dataclass(frozen=True)
class ForestRow:
    """A line of a forest: a name, an effect, and whether it is the one that others are compared with."""

    name: str
    part: Finding | Stratum
    clear: bool = True
    whole: bool = False


# Rates --------------------------------------------------------------------------------------------------------------


def rate_lines(finding: Finding, names: Names, least: int, width: int, ink: Ink) -> list[str]:
    """Return the rate of each group as a bar from 0, a line to the end of its interval, and both in numbers.

    Nothing where there are no rates, or the groups are too many for that.
    """
    table = finding.table
    if not isinstance(table, CountTable) or len(table.columns) > _MOST_GROUPS:
        return []
    told = told_row(table, least)
    rates, people = rates_with_intervals(table)[told], totals(table)
    inks = dict(zip(named_groups(table, least), (ink.first, ink.second), strict=False))
    order = (1, 0) if len(rates) == 2 else range(len(rates))
    rows = [(names.short(table.protected, table.columns[g]), rates[g], inks.get(g, ink.soft)) for g in order]
    numbers = [_rate_words(known) for _, known, _ in rows]
    label = min(max(display_width(name) for name, *_ in rows), width // 3)
    room = min(width - label - 2 * len(_GAP) - max(map(len, numbers)), _WIDEST_PLOT)
    axis = figures.rates_axis(rates, people)
    share = outcome_words(finding, table.rows[told], names, noun=True).removeprefix("the ")
    lines = textwrap.wrap(f"{capitalised(share)}, each with its 95 % interval:", width)
    for (name, known, colour), shown in zip(rows, numbers, strict=True):
        bar = _bar(figures.stem_of(known, axis), room)
        lines.append(f"{_left(name, label)}{_GAP}{colour(bar)}{' ' * (room - len(bar))}{_GAP}{shown}")
    return lines


def _rate_words(known: Rate | None) -> str:
    if known is None:
        return f"{rate(None):>7}"
    low, high = (rate(bound).removesuffix(" %") for bound in known.interval)
    return f"{rate(known.share):>7} [{low}, {high}]"


def _bar(stem: Stem | None, room: int) -> str:
    """Return a bar to the eighth of a character, and a line to the upper end of the interval."""
    if stem is None:
        return ""
    eighths = round(8 * room * stem.dot / 100)
    bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
    beyond = round(room * stem.high / 100) - len(bar)
    return bar + ("─" * (beyond - 1) + "┤" if beyond > 0 else "")


# Effects ------------------------------------------------------------------------------------------------------------


def forest_lines(rows: Sequence[ForestRow], scale: Scale, names: Names, width: int, ink: Ink) -> list[str]:
    """Return effects with their simultaneous intervals on one axis, beside the numbers; without the axis if narrow.

    A diamond is the whole, a dot one of its parts; both are hollow where the link is not clear. The dotted line is the
    effect in the whole, the full one no link.
    """
    axis = figures.effect_axis([row.part for row in rows], scale)
    if axis is None:
        return []
    numbers = [estimate_with(row.part, scale) for row in rows]
    people = [names.number_of(row.part.size) for row in rows]
    fixed = max(map(len, numbers)) + max(map(len, people)) + 2 * len(_GAP)
    longest = max(display_width(row.name) for row in rows)
    plot = min(width - fixed - min(longest, 2 * width // 5) - len(_GAP), _WIDEST_PLOT)
    plot = plot if plot >= _NARROWEST_PLOT else 0
    label = min(longest, max(width - fixed - (plot + len(_GAP) if plot else 0), 8))
    whole = next((row.part.effect for row in rows if row.whole), None)
    reference = None if whole is None else _column(axis.at(scale.at(whole)), plot)
    lines = []
    for row, number, size in zip(rows, numbers, people, strict=True):
        drawn = _drawn(row, axis, scale, plot, reference, ink) + _GAP if plot else ""
        ends = f"{number:<{max(map(len, numbers))}}{_GAP}{size:>{max(map(len, people))}}"
        lines.append(f"{_left(row.name, label)}{_GAP}{drawn}{ends}")
    return [*lines, " " * (label + len(_GAP)) + ink.soft(_ticks(axis, plot))] if plot else lines


def estimate_with(part: Finding | Stratum, scale: Scale) -> str:
    """Return an estimate with its simultaneous interval, if it has one."""
    shown = scale.number(part.effect)
    return shown if part.interval is None else f"{shown} {scale.interval(part.interval)}"


def _drawn(row: ForestRow, axis: Axis, scale: Scale, plot: int, reference: int | None, ink: Ink) -> str:
    cells: list[str] = [" "] * plot
    if reference is not None:
        cells[reference] = ink.soft("┊")
    if axis.zero is not None:
        cells[_column(axis.zero, plot)] = ink.soft("│")
    mark = figures.bar_of(row.part, axis, scale)
    if mark is not None:
        for i in range(_column(mark.low, plot), _column(mark.high, plot) + 1):
            cells[i] = ink.strength(_stroke(i, mark, plot))
        dot = ("◆" if row.clear else "◇") if row.whole else "●" if row.clear else "○"
        cells[_column(mark.dot, plot)] = ink.strong(dot) if row.whole else ink.strength(dot)
    return "".join(cells)


def _stroke(i: int, mark: Bar, plot: int) -> str:
    """Return one piece of an interval: its ends are closed, or arrows where it leaves the axis."""
    if i == _column(mark.low, plot):
        return "◂" if mark.leaves_left else "├"
    if i == _column(mark.high, plot):
        return "▸" if mark.leaves_right else "┤"
    return "─"


def _column(per_cent: float, plot: int) -> int:
    return round((plot - 1) * per_cent / 100) if plot else 0


def _ticks(axis: Axis, plot: int) -> str:
    """Return the labels of an axis, those that have room: that of no link and the ends come first."""
    cells = [" "] * plot
    at_zero = [tick for tick in axis.ticks if tick.at == axis.zero]
    for tick in (*at_zero, axis.ticks[0], axis.ticks[-1], *axis.ticks):
        label = tick.label.replace("\u202f", " ")
        start = min(max(_column(tick.at, plot) - len(label) // 2, 0), plot - len(label))
        around = cells[max(start - 1, 0) : start + len(label) + 1]
        if start >= 0 and all(cell == " " for cell in around):
            cells[start : start + len(label)] = label
    return "".join(cells)


def _left(name: str, width: int) -> str:
    short = shortened(name, width)
    return short + " " * (width - display_width(short))
