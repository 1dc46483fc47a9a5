"""The figures of a report as SVG files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from fairtest.model.finding import CountTable
from fairtest.numbers import count, quantity, rate
from fairtest.reporting.figures.axes import number_axis
from fairtest.reporting.figures.icicle import icicle_of
from fairtest.reporting.figures.marks import mark_large_box
from fairtest.reporting.figures.plots import ForestRow, plot_effects, plot_rates
from fairtest.reporting.formats.files import report_folder, write_atomically
from fairtest.reporting.formats.templates import fill_template
from fairtest.reporting.outline import outline_attribute
from fairtest.reporting.words.phrases import place_words, shared_decimals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike
    from pathlib import Path

    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding, GroupTable
    from fairtest.model.names import Names
    from fairtest.model.report import AttributeReport, Report
    from fairtest.reporting.figures.axes import Axis
    from fairtest.reporting.figures.marks import BoxMark, IntervalMark

Row: TypeAlias = "tuple[str, str, IntervalMark | BoxMark | None, str]"
"""A name, numbers, a mark, and what the mark looks like: as a row of a plot says, or ``"box"``."""


def figures_of(report: Report) -> dict[str, str]:
    """Return the figures of a report as SVG texts, in its order: names are ``sex-forest``, ``sex-1``, ``sex-1-strata``.

    For each protected attribute: a forest of its findings with the whole population, and the tree of contexts
    (``sex-tree``) where there is one; then for the population (0) and each finding (1, 2, …) its rates or boxes by
    group, and its strata where there are explanatory attributes.
    """
    drawn: dict[str, str] = {}
    for number, attribute in enumerate(report.attributes, 1):
        stem = _stem(attribute.name, number, drawn)
        for name, svg in _attribute(report, attribute):
            drawn[f"{stem}-{name}"] = svg
    return drawn


def save_figures(report: Report, out_dir: str | PathLike[str]) -> list[Path]:
    """Write each figure as an SVG file into a folder, made if need be, and return the paths."""
    folder = report_folder(out_dir)
    return [write_atomically(folder / f"{name}.svg", svg) for name, svg in figures_of(report).items()]


def _stem(name: str, number: int, taken: dict[str, str]) -> str:
    """Return an attribute's name as part of a file's, with its number where that is not enough."""
    stem = re.sub(r"[^\w]+", "-", name).strip("-")[:60]
    return stem if stem and not any(t.startswith(f"{stem}-") for t in taken) else f"{stem or 'attribute'}-{number}"


def _attribute(report: Report, attribute: AttributeReport) -> Iterator[tuple[str, str]]:
    shown = attribute.inside if report.labels is not None else attribute.findings
    outlined = outline_attribute(report, attribute)
    about, scale = f"{report.names.column(report.subject)} by {outlined.name}: {outlined.measure}", outlined.scale
    alike = [f for f in (*attribute.populations, *shown) if f.metric == attribute.metric]
    known = None if attribute.labels else attribute.population.effect
    yield from _forest("forest", about, [ForestRow(place_words(f), f) for f in alike], scale, report.names, known)
    if (tree := icicle_of(attribute, scale)) is not None:
        yield "tree", fill_template("tree.svg.jinja", title=f"{about}, the tree of contexts", tree=tree)
    for number, finding in enumerate((attribute.population, *shown)):
        yield str(number), _by_group(finding, report.settings.min_size, report.names)
        if finding.strata:
            rows = [ForestRow(place_words(finding), finding)]
            rows += [ForestRow(report.names.values(s.values), s) for s in finding.strata]
            yield from _forest(f"{number}-strata", f"{place_words(finding)}, by stratum", rows, scale, report.names)


def _forest(
    name: str, title: str, rows: Sequence[ForestRow], scale: Scale, names: Names, everybody: float | None = None
) -> Iterator[tuple[str, str]]:
    """Yield effects on one axis, the first of them as a diamond; nothing where none is defined."""
    forest = plot_effects(rows, scale, everybody)
    if forest is None:
        return
    pictured: list[Row] = [
        (
            row.name,
            f"{forest.numbers(row)} · {names.number_of(row.part.size)}",
            forest.mark(row),
            "clear" if i else "whole",
        )
        for i, row in enumerate(rows)
    ]
    yield name, _draw_rows(title, forest.axis, pictured, forest.reference)


def _by_group(finding: Finding, least: int, names: Names) -> str:
    """Return the rates or the boxes of each group of a finding."""
    title = f"{place_words(finding)} ({names.number_of(finding.size)})"
    if isinstance(finding.table, CountTable):
        return _rates(title, finding.table, least, names)
    return _boxes(title, finding.table, names)


def _rates(title: str, table: CountTable, least: int, names: Names) -> str:
    plot = plot_rates(table, least)
    rows: list[Row] = [
        (
            names.label(table.protected, group) or names.pair(table.protected, group),
            f"{rate(share)} · {count(table.counts[plot.row][g])} of {count(table.sizes[g])}",
            plot.mark(g),
            plot.look(g),
        )
        for g, (group, share) in enumerate(zip(table.columns, table.shares(plot.row), strict=True))
    ]
    title = f"{title}: share with {names.pair(table.output, table.rows[plot.row])}"
    return _draw_rows(title, plot.axis, rows, plot.reference)


def _boxes(title: str, table: GroupTable, names: Names) -> str:
    axis, decimals = number_axis(table.rows), shared_decimals(table.rows)
    rows: list[Row] = [
        (
            names.short(table.by, group.name),
            f"mean {quantity(group.mean, decimals)} · {names.number_of(group.size)}",
            mark_large_box(group, axis),
            "box",
        )
        for group in table.rows
    ]
    return _draw_rows(f"{title}: {names.column(table.measured)} by {names.column(table.by)}", axis, rows, None)


def _draw_rows(title: str, axis: Axis, rows: Sequence[Row], reference: float | None) -> str:
    """Return rows on one axis, with a dotted line where everybody stands."""
    return fill_template("rows.svg.jinja", title=title, axis=axis, rows=rows, reference=reference)
