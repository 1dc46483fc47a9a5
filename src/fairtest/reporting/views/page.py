"""What the page shows, as plain values and marks: the templates only set it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.model.names import clean_line
from fairtest.numbers import count, typeset
from fairtest.reporting.outline import outline_finding, outline_of
from fairtest.reporting.views.finding_views import finding_view, mark_pieces, said_view
from fairtest.reporting.views.forest_views import forest_view
from fairtest.reporting.views.label_tables import label_view
from fairtest.reporting.views.tree_views import tree_view
from fairtest.reporting.words.funnel import left_out_line
from fairtest.reporting.words.headline import strongest
from fairtest.reporting.words.phrases import capitalise, plural
from fairtest.reporting.words.titles import metric_label, metric_name, title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.model.report import AttributeReport, Report
    from fairtest.reporting.outline import AttributeOutline, Outline

View = dict[str, Any]
_LONG, _MANY = 5, 50
"""From so many findings on there are controls to filter and sort them, and a browser draws only those in sight."""


def page(report: Report) -> View:
    """Return everything a page or a notebook shows of a report."""
    outline = outline_of(report)
    attributes = [_attribute(report, attribute, i) for i, attribute in enumerate(outline.attributes, 1)]
    number = sum(len(a["findings"]) for a in attributes)
    return {
        "title": title(report),
        "eyebrow": outline.eyebrow,
        "headline": outline.headline,
        "lead": list(_lead(outline)),
        "how_sure": typeset(outline.how_sure),
        "funnel": [(count(number), what) for number, what in outline.funnel],
        "left_out_line": typeset(left_out_line(report)),
        "left_out": outline.left_out,
        "columns": outline.columns_left_out,
        "columns_used": outline.columns_used,
        "attributes": attributes,
        "discovery": report.labels is not None,
        "tools": number >= _LONG,
        "many": number >= _MANY,
        "metrics": [(capitalise(name), meaning) for name, meaning in outline.metrics],
        "law": [(name, typeset(words)) for name, words in outline.law],
        "method": typeset(outline.method),
        "settings": outline.settings,
        "level": typeset(outline.level),
        "notes": outline.notes,
        "tested": count(report.tested),
        "people": report.names.people,
        "again": report.reuse is not None,
    }


def _lead(outline: Outline) -> Iterator[list[tuple[str, str]]]:
    """Yield what stands below the headline: of a few attributes the whole population, and where it is strongest."""
    report = outline.report
    for outlined in outline.attributes[:3]:
        yield said_view(report, outlined.population)
        if report.kind != "discovery" and (where := strongest(outlined.attribute, report.names)):
            yield mark_pieces(where)


def _attribute(report: Report, outlined: AttributeOutline, number: int) -> View:
    attribute, scale, anchor = outlined.attribute, outlined.scale, f"a{number}"
    # Labels over everybody are in a table of their own; one by one they are shown only if they have strata.
    shown = attribute.findings if report.labels is None or report.explanatory else attribute.inside
    tree, tree_anchors = tree_view(report, attribute, scale, anchor)
    return {
        "anchor": anchor,
        "name": capitalise(outlined.name),
        "code": clean_line(attribute.name),
        "metric": metric_label(report, attribute.metric),
        "short": metric_name(report, attribute.metric),
        "roles": _reading(report, attribute),
        "number": plural(len(attribute.findings), "finding"),
        "forest": forest_view(report, attribute, shown, scale, anchor),
        "population": finding_view(report, outlined.population, attribute.population, f"{anchor}-p"),
        "labels": label_view(attribute, report.names) if report.labels is not None else None,
        "findings": [
            finding_view(report, outline_finding(report, attribute, f), attribute.population, f"{anchor}-f{n}")
            | {"in_tree": tree_anchors.get(f.context)}
            for n, f in enumerate(shown, 1)
        ],
        "tree": tree,
    }


def _reading(report: Report, attribute: AttributeReport) -> str:
    """Return which group and which output the effects are about."""
    parts = []
    if attribute.reference is not None:
        parts.append(f"the reference group is {report.names.short(attribute.name, attribute.reference)}")
    if report.favourable is not None:
        parts.append(f"the rates are of {report.names.pair(report.measured, report.favourable)}")
    return capitalise("; ".join(parts)) + "." if parts else ""
