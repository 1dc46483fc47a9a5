"""Each figure of a report as an SVG file of its own: rows, each with its name, its mark and its numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from fairtest.model.finding import CountTable, GroupTable
from fairtest.reporting.figures import marks as figures
from fairtest.reporting.figures.bars import estimate_with
from fairtest.reporting.figures.tree_picture import tree_picture
from fairtest.reporting.formats.tables import shortened
from fairtest.reporting.words import guide
from fairtest.reporting.words.numbers import base_metric, count, quantity, rate, scale_for
from fairtest.reporting.words.phrases import named_groups, one_line, told_row, totals
from fairtest.statistics.rates.rates import rates_with_intervals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.model.finding import Finding, Stratum
    from fairtest.model.report import AttributeReport, Report
    from fairtest.reporting.figures.marks import Axis, Bar, Box, Stem
    from fairtest.reporting.words.numbers import Scale
    from fairtest.reporting.words.phrases import Names

_INK, _SOFT, _RULE = "#1b1f24", "#555b63", "#d9d5ca"
_STRENGTH, _FIRST, _SECOND, _OTHER = "#5b4391", "#0f5f9c", "#b0520a", "#6b7078"
_WIDTH, _PLOT, _END = 880, 330, 620
"""The width of a figure; where its plot begins and ends, in pixels."""
_ROW, _TOP = 26, 46
_LONGEST = 46


@dataclass(frozen=True)
class _Row:
    name: str
    numbers: str
    mark: Bar | Box | Stem | None
    colour: str
    square: bool = False
    diamond: bool = False


def figures_of(report: Report) -> dict[str, str]:
    """Return the figures of a report as SVG texts, in its order: names are ``sex-forest``, ``sex-1``, ``sex-1-strata``.

    For each protected attribute: a forest of its findings with the whole population, and the tree of contexts
    (``sex-tree``) where there is one; then for the population (0) and each finding (1, 2, …) its rates or boxes by
    group, and its strata where there are explanatory attributes.
    """
    drawn: dict[str, str] = {}
    for place, attribute in enumerate(report.attributes, 1):
        stem = _stem(attribute.name, place, drawn)
        for name, svg in _attribute(report, attribute):
            drawn[f"{stem}-{name}"] = svg
    return drawn


def _stem(name: str, place: int, taken: dict[str, str]) -> str:
    """Return an attribute's name as part of a file's, by its place where that is not enough."""
    stem = re.sub(r"[^\w]+", "-", name).strip("-")[:60]
    return stem if stem and not any(t.startswith(f"{stem}-") for t in taken) else f"{stem or 'attribute'}-{place}"


def _attribute(report: Report, attribute: AttributeReport) -> Iterator[tuple[str, str]]:
    shown = attribute.inside if report.labels is not None else attribute.findings
    everyone = attribute.labels if report.labels is not None else (attribute.population,)
    scale = scale_for(attribute.metric, attribute.population.effect)
    alike = [f for f in (*everyone, *shown) if base_metric(f.metric) == base_metric(attribute.metric)]
    if svg := _forest(
        _about(report, attribute, scale), [(_named(f), f) for f in alike], scale, report.names, attribute
    ):
        yield "forest", svg
    if svg := tree_picture(report, attribute, scale, f"{_about(report, attribute, scale)}, the tree of contexts"):
        yield "tree", svg
    for number, finding in enumerate((attribute.population, *shown)):
        if svg := _by_group(finding, report.settings.min_size, report.names):
            yield str(number), svg
        strata: list[tuple[str, Finding | Stratum]] = [(_named(finding), finding)]
        strata += [(report.names.values(s.values), s) for s in finding.strata]
        if finding.strata and (svg := _forest(f"{_named(finding)}, by stratum", strata, scale, report.names)):
            yield f"{number}-strata", svg


def _about(report: Report, attribute: AttributeReport, scale: Scale) -> str:
    unit = f", in{scale.unit}" if scale.unit else ""
    called = report.names.column
    return f"{called(report.subject)} by {called(attribute.name)}: {guide.metric_label(report, attribute.metric)}{unit}"


def _named(finding: Finding) -> str:
    place = one_line(str(finding.context)) if len(finding.context) else "Everyone"
    return place if finding.label is None else f"{one_line(finding.label)}: {place}"


# What the rows are ------------------------------------------------------------------------------------------------


def _forest(
    title: str,
    parts: Sequence[tuple[str, Finding | Stratum]],
    scale: Scale,
    names: Names,
    attribute: AttributeReport | None = None,
) -> str:
    """Return effects with their simultaneous intervals; empty where no effect is known."""
    axis = figures.effect_axis([part for _, part in parts], scale)
    if axis is None:
        return ""
    rows = [
        _Row(
            name,
            f"{estimate_with(p, scale)} · {names.number_of(p.size)}",
            figures.bar_of(p, axis, scale),
            _STRENGTH if i else _INK,
            diamond=i == 0,
        )
        for i, (name, p) in enumerate(parts)
    ]
    known = None if attribute is None or attribute.labels else attribute.population.effect
    return _drawn(title, axis, rows, None if known is None else axis.at(scale.at(known)))


def _by_group(finding: Finding, least: int, names: Names) -> str:
    """Return the rates or the boxes of each group of a finding."""
    table = finding.table
    title = f"{_named(finding)} ({names.number_of(finding.size)})"
    if isinstance(table, CountTable):
        return _rates(title, table, least, names)
    return _boxes(title, table, names)


def _rates(title: str, table: CountTable, least: int, names: Names) -> str:
    told = told_row(table, least)
    rates, sizes, named = rates_with_intervals(table)[told], totals(table), named_groups(table, least)
    axis = figures.rates_axis(rates, sizes)
    colours = dict(zip(named, (_FIRST, _SECOND), strict=False))
    rows = [
        _Row(
            names.label(table.protected, group) or names.pair(table.protected, group),
            f"{rate(None if known is None else known.share)} · {count(table.counts[told][g])} of {count(sizes[g])}",
            figures.stem_of(known, axis),
            colours.get(g, _OTHER),
            square=colours.get(g) == _SECOND,
        )
        for g, (group, known) in enumerate(zip(table.columns, rates, strict=True))
    ]
    everyone = sum(table.counts[told]) / sum(sizes) if sum(sizes) else None
    heading = f"{title}: share with {names.pair(table.output, table.rows[told])}"
    return _drawn(heading, axis, rows, None if everyone is None else axis.at(everyone))


def _boxes(title: str, table: GroupTable, names: Names) -> str:
    axis = figures.number_axis(table.rows)
    decimals = figures.shared_decimals(table.rows)
    rows = [
        _Row(
            names.short(table.by, group.name),
            f"mean {quantity(group.mean, decimals)} · {names.number_of(group.size)}",
            figures.box_of(group, axis) if group.size >= figures.FEW else None,
            _FIRST,
        )
        for group in table.rows
    ]
    return _drawn(f"{title}: {names.column(table.measured)} by {names.column(table.by)}", axis, rows, None)


# Drawing ----------------------------------------------------------------------------------------------------------


def _drawn(title: str, axis: Axis, rows: Sequence[_Row], reference: float | None) -> str:
    bottom = _TOP + _ROW * len(rows)
    height = bottom + 30
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
        ' role="img" font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(12, 22, shortened(title, 110), size=14, weight=600),
        *_scale_lines(axis, bottom),
    ]
    if reference is not None:
        lines.append(_line(_x(reference), _TOP, _x(reference), bottom, _INK, dash="1 3"))
    for i, row in enumerate(rows):
        lines += _row(row, _TOP + _ROW * i + _ROW / 2)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _scale_lines(axis: Axis, bottom: float) -> Iterator[str]:
    for tick in axis.ticks:
        yield _line(_x(tick.at), _TOP, _x(tick.at), bottom, _RULE)
        yield _text(_x(tick.at), bottom + 16, tick.label, colour=_SOFT, size=11, anchor="middle")
    if axis.zero is not None:
        yield _line(_x(axis.zero), _TOP, _x(axis.zero), bottom, _SOFT)


def _row(row: _Row, y: float) -> Iterator[str]:
    yield _text(12, y + 4, shortened(row.name, _LONGEST))
    yield _text(_END + 20, y + 4, row.numbers, colour=_SOFT)
    if isinstance(row.mark, figures.Bar):
        yield from (_text(_x(0) - 12, y + 4, "‹") for _ in range(row.mark.leaves_left))
        yield from (_text(_x(100) + 4, y + 4, "›") for _ in range(row.mark.leaves_right))
    if isinstance(row.mark, figures.Box):
        box = row.mark
        yield _line(_x(box.low), y, _x(box.high), y, row.colour)
        yield (
            f'<rect x="{_x(box.q1)}" y="{y - 7:g}" width="{_x(box.q3) - _x(box.q1):g}" height="14" fill="#ffffff" '
            f'stroke="{row.colour}"/>'
        )
        yield _line(_x(box.median), y - 7, _x(box.median), y + 7, row.colour, width=3)
    elif row.mark is not None:
        yield _line(_x(row.mark.low), y, _x(row.mark.high), y, row.colour, width=3, opacity=0.4)
        yield _dot(_x(row.mark.dot), y, row)


def _x(per_cent: float) -> float:
    return round(_PLOT + (_END - _PLOT) * per_cent / 100, 1)


def _dot(x: float, y: float, row: _Row) -> str:
    if row.square or row.diamond:
        turn = f' transform="rotate(45 {x:g} {y:g})"' if row.diamond else ""
        return f'<rect x="{x - 4.5:g}" y="{y - 4.5:g}" width="9" height="9" fill="{row.colour}"{turn}/>'
    return f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{row.colour}"/>'


def _line(
    x1: float, y1: float, x2: float, y2: float, colour: str, *, width: int = 1, opacity: float = 1, dash: str = ""
) -> str:
    more = (f' stroke-opacity="{opacity:g}"' if opacity < 1 else "") + (f' stroke-dasharray="{dash}"' if dash else "")
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" stroke-width="{width}"{more}/>'


def _text(
    x: float, y: float, text: str, *, colour: str = _INK, size: int = 12, weight: int = 400, anchor: str = "start"
) -> str:
    style = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}" {style}>{escape(text)}</text>'
