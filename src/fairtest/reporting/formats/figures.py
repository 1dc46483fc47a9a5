"""The figures of a report as SVG files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from fairtest.numbers import count, quantity, rate
from fairtest.reporting.figures.icicle import icicle_of
from fairtest.reporting.figures.marks import mark_large_box
from fairtest.reporting.figures.plots import ForestRow, RatePlot, plot_effects, plot_table
from fairtest.reporting.formats.files import report_folder, write_atomically
from fairtest.reporting.formats.templates import fill_template
from fairtest.reporting.outline import outline_attribute
from fairtest.reporting.words.phrases import finding_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike
    from pathlib import Path

    from fairtest.model.finding import Finding
    from fairtest.model.names import Names
    from fairtest.model.report import AttributeReport, Report
    from fairtest.reporting.figures.axes import Axis
    from fairtest.reporting.figures.marks import BoxMark, IntervalMark
    from fairtest.reporting.figures.plots import Forest, NumberPlot

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
        stem = _file_stem(attribute.name, number, drawn)
        for name, svg in _draw_attribute(report, attribute):
            drawn[f"{stem}-{name}"] = svg
    return drawn


def save_figures(report: Report, out_dir: str | PathLike[str]) -> list[Path]:
    """Write each figure as an SVG file into a folder, made if need be, and return the paths."""
    folder = report_folder(out_dir)
    return [write_atomically(folder / f"{name}.svg", svg) for name, svg in figures_of(report).items()]


def _file_stem(name: str, number: int, taken: dict[str, str]) -> str:
    """Return an attribute's name as part of a file's, with its number where that is not enough."""
    stem = re.sub(r"[^\w]+", "-", name).strip("-")[:60]
    return stem if stem and not any(t.startswith(f"{stem}-") for t in taken) else f"{stem or 'attribute'}-{number}"


def _draw_attribute(report: Report, attribute: AttributeReport) -> Iterator[tuple[str, str]]:
    shown = attribute.inside if report.labels is not None else attribute.findings
    entry, names = outline_attribute(report, attribute), report.names
    about, scale = f"{names.column(report.subject)} by {entry.name}: {entry.measure}", entry.scale
    alike = [f for f in (*attribute.populations, *shown) if f.metric == attribute.metric]
    known = None if attribute.labels else attribute.population.effect
    if forest := plot_effects([ForestRow(finding_title(f), f) for f in alike], scale, known):
        yield "forest", _draw_forest(about, forest, names)
    if tree := icicle_of(attribute, scale, report.data.test if attribute.named else None):
        yield "tree", fill_template("tree.svg.jinja", title=f"{about}, the tree of contexts", tree=tree)
    for number, finding in enumerate((attribute.population, *shown)):
        yield str(number), _draw_table(finding, report.settings.min_size, names)
        title, strata = finding_title(finding), [ForestRow(names.values(s.values), s) for s in finding.strata]
        if strata and (forest := plot_effects([ForestRow(title, finding), *strata], scale)):
            yield f"{number}-strata", _draw_forest(f"{title}, by stratum", forest, names)


def _draw_forest(title: str, forest: Forest, names: Names) -> str:
    """Return effects on one axis, the first of them as a diamond."""
    rows: list[Row] = [
        (
            row.name,
            f"{forest.numbers(row)} · {names.number_of(row.part.size)}",
            forest.mark(row),
            "clear" if i else "whole",
        )
        for i, row in enumerate(forest.rows)
    ]
    return _draw_rows(title, forest.axis, rows, forest.reference)


def _draw_table(finding: Finding, least: int, names: Names) -> str:
    """Return the rates or the boxes of each group of a finding."""
    title, plot = f"{finding_title(finding)} ({names.number_of(finding.size)})", plot_table(finding.table, least)
    return _draw_rates(title, plot, names) if isinstance(plot, RatePlot) else _draw_boxes(title, plot, names)


def _draw_rates(title: str, plot: RatePlot, names: Names) -> str:
    table = plot.table
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


def _draw_boxes(title: str, plot: NumberPlot, names: Names) -> str:
    table = plot.table
    rows: list[Row] = [
        (
            names.short(table.by, group.name),
            f"mean {quantity(group.mean, plot.decimals)} · {names.number_of(group.n_people)}",
            mark_large_box(group, plot.axis),
            "box",
        )
        for group in table.rows
    ]
    return _draw_rows(f"{title}: {names.column(table.measured)} by {names.column(table.by)}", plot.axis, rows, None)


def _draw_rows(title: str, axis: Axis, rows: Sequence[Row], reference: float | None) -> str:
    """Return rows on one axis, with a dotted line where everybody stands."""
    return fill_template("rows.svg.jinja", title=title, axis=axis, rows=rows, reference=reference)
