"""Figures made of characters: rates as bars, effects as dots with their intervals."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from fairtest.model.comparison import spoken_of
from fairtest.model.finding import CountTable, GroupTable
from fairtest.numbers import quantity, rate
from fairtest.reporting.figures.plots import plot_rates
from fairtest.reporting.formats.tables import display_width, pad, shorten
from fairtest.reporting.words.phrases import capitalise, outcome_words, shared_decimals
from fairtest.reporting.words.several import STEP_BY_STEP, scale_of, small_words, touches_none, value_words

if TYPE_CHECKING:
    from fairtest.metrics.scale import Scale
    from fairtest.model.comparison import GroupGap
    from fairtest.model.finding import Finding
    from fairtest.model.names import Names
    from fairtest.model.rates import Rate
    from fairtest.reporting.figures.axes import Axis
    from fairtest.reporting.figures.ink import Ink
    from fairtest.reporting.figures.marks import IntervalMark
    from fairtest.reporting.figures.plots import Forest, ForestRow

_EIGHTHS = " ▏▎▍▌▋▊▉"
_MOST_GROUPS = 12
_NARROWEST_PLOT, _WIDEST_PLOT = 16, 40
_GAP = "  "


# Rates --------------------------------------------------------------------------------------------------------------


def rate_lines(finding: Finding, names: Names, least: int, width: int, ink: Ink, *, named: bool = False) -> list[str]:
    """Return the rate of each group as a bar from 0, a line to the end of its interval, and both in numbers.

    Nothing where there are no rates, or the groups are too many for that. ``named`` says by which attribute.
    """
    table = finding.table
    if not isinstance(table, CountTable) or len(table.columns) > _MOST_GROUPS:
        return []
    plot = plot_rates(table, least)
    inks = {"a": ink.first, "b": ink.second, "o": ink.soft}
    shown = [
        (names.short(table.protected, table.columns[g]), g, _rate_words(plot.rates[g])) for g in plot.reading_order
    ]
    label = min(max(display_width(name) for name, *_ in shown), width // 3)
    room = min(width - label - 2 * len(_GAP) - max(len(numbers) for *_, numbers in shown), _WIDEST_PLOT)
    share = outcome_words(finding, table.rows[plot.row], names, noun=True).removeprefix("the ")
    by = _by_words(finding, names, named=named)
    lines = textwrap.wrap(f"{capitalise(share)}{by}, each with its 95 % interval:", width)
    for name, group, numbers in shown:
        bar = _draw_bar(plot.mark(group), room)
        drawn = inks[plot.look(group)](bar)
        lines.append(f"{pad(shorten(name, label), label)}{_GAP}{drawn}{' ' * (room - len(bar))}{_GAP}{numbers}")
    return lines


def _rate_words(known: Rate | None) -> str:
    if known is None:
        return f"{rate(None):>7}"
    low, high = (rate(bound).removesuffix(" %") for bound in known.interval)
    return f"{rate(known.share):>7} [{low}, {high}]"


def _draw_bar(mark: IntervalMark | None, room: int) -> str:
    """Return a bar to the eighth of a character, and a line to the upper end of the interval."""
    if mark is None:
        return ""
    eighths = round(8 * room * mark.dot / 100)
    bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
    beyond = round(room * mark.high / 100) - len(bar)
    return bar + ("─" * (beyond - 1) + "┤" if beyond > 0 else "")


# Averages -----------------------------------------------------------------------------------------------------------


def group_lines(finding: Finding, names: Names, least: int, width: int, ink: Ink, *, named: bool = False) -> list[str]:
    """Return the picture of a finding's groups: rates as bars, or averages; nothing where the groups are too many.

    ``named`` says by which attribute, where there are several.
    """
    if spoken_of(finding.comparisons) is not None:
        return comparison_lines(finding, names, width, ink, named=named)
    if isinstance(finding.table, GroupTable):
        return _mean_lines(finding.table, names, width, ink, named=named)
    return rate_lines(finding, names, least, width, ink, named=named)


def _by_words(finding: Finding, names: Names, *, named: bool) -> str:
    return f" by {names.column(finding.protected)}" if named else ""


def comparison_lines(
    finding: Finding, names: Names, width: int, ink: Ink, most: int = _MOST_GROUPS, *, named: bool = False
) -> list[str]:
    """Return several groups below the reference: a bar, the rate or mean, and the gap with its interval.

    The confirmed gaps come first; ``most`` groups are shown.
    """
    comparison = spoken_of(finding.comparisons)
    assert comparison is not None
    scale, short = scale_of(comparison), names.short
    gaps = sorted(comparison.gaps, key=lambda g: not g.significant)
    shown = gaps[:most]
    labels = [f"{short(finding.protected, comparison.reference)} (reference)"]
    labels += [short(finding.protected, g.group) for g in shown]
    values = [comparison.value, *(g.value for g in shown)]
    written = [value_words(comparison, value) for value in values]
    differences = ["", *(_difference(g, scale) for g in shown)]
    people = [names.number_of(n) for n in (comparison.size, *(g.size for g in shown))]
    label, value, gap = (max(map(display_width, column)) for column in (labels, written, differences))
    label = min(label, width // 3)
    room = min(width - label - value - gap - max(map(len, people)) - 4 * len(_GAP), _WIDEST_PLOT // 2)
    largest = max(v or 0.0 for v in values)
    drawn = room >= _NARROWEST_PLOT // 2 and largest > 0 and min(v or 0.0 for v in values) >= 0
    what = f"average {names.column(finding.output)}"
    if comparison.output is not None:
        what = outcome_words(finding, comparison.output, names, noun=True).removeprefix("the ")
    by = _by_words(finding, names, named=named)
    lines = textwrap.wrap(
        f"{capitalise(what)}{by}, and the gap to {short(finding.protected, comparison.reference)}:", width
    )
    for row in zip(labels, values, written, differences, people, strict=True):
        eighths = round(8 * room * (row[1] or 0.0) / largest) if drawn else 0
        bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
        picture = f"{(ink.second if not row[3] else ink.first)(bar)}{' ' * (room - len(bar))}{_GAP}" if drawn else ""
        name = pad(shorten(row[0], label), label)
        lines.append(f"{name}{_GAP}{picture}{row[2]:>{value}}{_GAP}{pad(row[3], gap)}{_GAP}{row[4]}")
    if len(gaps) > most:
        lines.append(f"and {len(gaps) - most} more groups in the full report")
    notes = [small_words(finding, names), STEP_BY_STEP if touches_none(comparison) else ""]
    return [*lines, *(line for note in notes if note for line in textwrap.wrap(note, width))]


def _difference(gap: GroupGap, scale: Scale) -> str:
    """Return a gap with its interval; after what it was over all people together, where that is another."""
    before = "" if gap.before is None else f"{scale.number(gap.before)} → "
    return f"{before}{scale.number(gap.gap)} {scale.interval(gap.interval)}{'' if gap.significant else ' not clear'}"


def _mean_lines(table: GroupTable, names: Names, width: int, ink: Ink, *, named: bool) -> list[str]:
    """Return the average of each group as a bar from 0 (none where one is negative), with its median and people."""
    groups = [group for group in table.rows if group.mean is not None]
    if not groups or len(groups) > _MOST_GROUPS:
        return []
    decimals = shared_decimals(groups)
    means = [quantity(group.mean, decimals) for group in groups]
    medians = [quantity(group.quantiles[2] if group.quantiles else None, decimals) for group in groups]
    labels = [names.short(table.by, group.name) for group in groups]
    widest, wide_mean, wide_median = (max(map(display_width, column)) for column in (labels, means, medians))
    label = min(widest, width // 3)
    ends = [
        f"{mean:>{wide_mean}}{_GAP}median {median:>{wide_median}}{_GAP}{names.number_of(group.n_people)}"
        for mean, median, group in zip(means, medians, groups, strict=True)
    ]
    room = min(width - label - 2 * len(_GAP) - max(map(len, ends)), _WIDEST_PLOT)
    largest = max(group.mean or 0.0 for group in groups)
    drawn = min(group.mean or 0.0 for group in groups) >= 0 and largest > 0 and room >= _NARROWEST_PLOT
    by = f" by {names.column(table.by)}" if named else ""
    lines = [f"Average {names.column(table.measured)}{by}:"]
    for name, group, numbers in zip(labels, groups, ends, strict=True):
        eighths = round(8 * room * (group.mean or 0.0) / largest) if drawn else 0
        bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
        shown = f"{ink.first(bar)}{' ' * (room - len(bar))}{_GAP}" if drawn else ""
        lines.append(f"{pad(shorten(name, label), label)}{_GAP}{shown}{numbers}")
    return lines


# Effects ------------------------------------------------------------------------------------------------------------


def forest_lines(forest: Forest, names: Names, width: int, ink: Ink, *, drawn: bool = True) -> list[str]:
    """Return effects with their simultaneous intervals on one axis, beside the numbers; without the axis if narrow.

    A diamond is the whole, a dot one of its parts; both are hollow where the link is not clear. The dotted line is the
    effect in the whole, the full one no link. Without ``drawn`` there are numbers only.
    """
    rows = forest.rows
    numbers = [forest.numbers(row) for row in rows]
    people = [names.number_of(row.part.size) for row in rows]
    number_width, people_width = max(map(len, numbers)), max(map(len, people))
    fixed = number_width + people_width + 2 * len(_GAP)
    longest = max(display_width(row.name) for row in rows)
    plot = min(width - fixed - min(longest, 2 * width // 5) - len(_GAP), _WIDEST_PLOT)
    plot = plot if drawn and plot >= _NARROWEST_PLOT else 0
    label = min(longest, max(width - fixed - (plot + len(_GAP) if plot else 0), 8))
    lines = []
    for row, number, size in zip(rows, numbers, people, strict=True):
        picture = _draw_effect(forest, row, plot, ink) + _GAP if plot else ""
        name = pad(shorten(row.name, label), label)
        lines.append(f"{name}{_GAP}{picture}{number:<{number_width}}{_GAP}{size:>{people_width}}")
    return [*lines, " " * (label + len(_GAP)) + ink.soft(_draw_ticks(forest.axis, plot))] if plot else lines


def _draw_effect(forest: Forest, row: ForestRow, plot: int, ink: Ink) -> str:
    cells: list[str] = [" "] * plot
    if forest.reference is not None:
        cells[_column(forest.reference, plot)] = ink.soft("┊")
    if forest.axis.zero is not None:
        cells[_column(forest.axis.zero, plot)] = ink.soft("│")
    mark = forest.mark(row)
    if mark is not None:
        for i in range(_column(mark.low, plot), _column(mark.high, plot) + 1):
            cells[i] = ink.strength(_stroke(i, mark, plot))
        dot = ("◆" if row.clear else "◇") if row.whole else "●" if row.clear else "○"
        cells[_column(mark.dot, plot)] = ink.strong(dot) if row.whole else ink.strength(dot)
    return "".join(cells)


def _stroke(i: int, mark: IntervalMark, plot: int) -> str:
    """Return one piece of an interval: its ends are closed, or arrows where it leaves the axis."""
    if i == _column(mark.low, plot):
        return "◂" if mark.leaves_left else "├"
    if i == _column(mark.high, plot):
        return "▸" if mark.leaves_right else "┤"
    return "─"


def _column(per_cent: float, plot: int) -> int:
    return round((plot - 1) * per_cent / 100) if plot else 0


def _draw_ticks(axis: Axis, plot: int) -> str:
    """Return as many labels of an axis as have room: first that of no link, then those of the ends."""
    cells = [" "] * plot
    at_zero = [tick for tick in axis.ticks if tick.at == axis.zero]
    for tick in (*at_zero, axis.ticks[0], axis.ticks[-1], *axis.ticks):
        label = tick.label.replace("\u202f", " ")
        start = min(max(_column(tick.at, plot) - len(label) // 2, 0), plot - len(label))
        around = cells[max(start - 1, 0) : start + len(label) + 1]
        if start >= 0 and all(cell == " " for cell in around):
            cells[start : start + len(label)] = label
    return "".join(cells)
