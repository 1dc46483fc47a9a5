"""The forest of all findings of an attribute: estimates with intervals on one axis, and the population's line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.numbers import count, typeset_p
from fairtest.reporting.figures.plots import Forest, ForestRow, plot_effects
from fairtest.reporting.figures.svg import FOREST, axis_marks, axis_style, interval_on_page
from fairtest.reporting.words.phrases import place_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding
    from fairtest.model.report import AttributeReport, Report

View = dict[str, Any]


def forest_view(
    report: Report, attribute: AttributeReport, shown: Sequence[Finding], scale: Scale, anchor: str
) -> View | None:
    """Return the forest: everyone, the findings, and apart from them what is significant and not reported."""
    alike = {n: f for n, f in enumerate(shown, 1) if f.metric == attribute.metric}
    everyone = [] if attribute.labels else [ForestRow("Everyone", attribute.population, whole=True)]
    rows = {n: ForestRow(place_words(f, "everyone"), f) for n, f in alike.items()}
    known = None if attribute.labels else attribute.population.effect
    forest = plot_effects([*everyone, *rows.values()], scale, known)
    if forest is None:
        return None
    hidden = [ForestRow(place_words(other), other, clear=False) for other in attribute.unreported]
    return {
        "axis": axis_marks(forest.axis),
        "style": axis_style(forest.axis, forest.reference),
        "everyone": [forest_row(forest, row) | {"anchor": f"{anchor}-p"} for row in everyone],
        "rows": [forest_row(forest, row) | _order(row, n) | {"anchor": f"{anchor}-f{n}"} for n, row in rows.items()],
        "unreported": [forest_row(forest, row) | _order(row, n) for n, row in enumerate(hidden, 1)],
        "unreported_words": _unreported_words(report, len(hidden), attribute.unlisted),
    }


def _order(row: ForestRow, rank: int) -> View:
    """Return what a line is filtered and sorted by."""
    return {"rank": rank, "size": row.part.size, "estimate": f"{abs(row.part.effect or 0.0):.6g}"}


def _unreported_words(report: Report, listed: int, more: int) -> str:
    what = "significant" if report.reuse is None else "confirmed"
    if more:
        return f"The {count(listed)} strongest of {count(listed + more)} groups that are {what} and not reported"
    return f"{count(listed)} group{' is' if listed == 1 else 's are'} {what} and not reported"


def forest_row(forest: Forest, row: ForestRow) -> View:
    """Return one line of a forest."""
    return {
        "label": row.name,
        "mark": interval_on_page(forest.mark(row), row.look, FOREST),
        "measured": forest.numbers(row),
        "people": count(row.part.size),
        "p": typeset_p(row.part.p_value, "").strip("\u202f= "),
        "anchor": "",
    }
