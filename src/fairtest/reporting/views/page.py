"""What the page shows, as plain values and marks: the templates only set it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.metrics.choice import scale_for
from fairtest.model.names import one_line
from fairtest.numbers import count, typeset
from fairtest.reporting.views.finding_views import finding_view, marked
from fairtest.reporting.views.forest_views import forest_view
from fairtest.reporting.views.label_tables import label_view
from fairtest.reporting.views.tree_views import tree_view
from fairtest.reporting.words import guide
from fairtest.reporting.words.impact import law_words
from fairtest.reporting.words.phrases import capitalised
from fairtest.reporting.words.wording import headline, highlights, sentence_in, strongest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.model.finding import Finding
    from fairtest.model.report import AttributeReport, Report

View = dict[str, Any]
_LONG, _MANY = 5, 50
"""From so many findings on there are controls to filter and sort them, and a browser draws only those in sight."""


def page(report: Report) -> View:
    """Return everything a page or a notebook shows of a report."""
    attributes = [_attribute(report, attribute, i) for i, attribute in enumerate(report.attributes, 1)]
    number = sum(len(a["findings"]) for a in attributes)
    return {
        "title": guide.title(report),
        "eyebrow": guide.eyebrow(report),
        "headline": headline(report),
        "lead": list(_lead(report)),
        "how_sure": typeset(guide.how_sure(report)),
        "funnel": [(count(number), what) for number, what in guide.funnel(report)],
        "left_out_line": typeset(guide.left_out_line(report)),
        "left_out": guide.left_out(report),
        "columns": guide.left_out_columns(report),
        "columns_used": guide.columns_used(report),
        "attributes": attributes,
        "discovery": report.labels is not None,
        "tools": number >= _LONG,
        "many": number >= _MANY,
        "metrics": [(capitalised(name), meaning) for name, meaning in guide.metric_notes(report)],
        "law": [(name, typeset(words)) for name, words in law_words(report)],
        "method": typeset(guide.method(report)),
        "settings": guide.settings_lines(report),
        "level": typeset(guide.interval_level(report)),
        "notes": [one_line(note) for note in report.notes],
        "tested": count(report.tested),
        "people": report.names.people,
        "again": report.reuse is not None,
        "stem": f"fairtest-{report.kind.split()[0]}",
    }


def _lead(report: Report) -> Iterator[list[tuple[str, str]]]:
    for attribute in report.attributes[:3]:
        whole = attribute.population
        yield marked(sentence_in(report, attribute, whole), highlights(whole, report.names))
        if report.kind != "discovery" and (where := strongest(attribute, report.names)):
            yield marked(where, ())


def _attribute(report: Report, attribute: AttributeReport, place: int) -> View:
    scale = scale_for(attribute.metric, attribute.population.effect)
    number = len(attribute.findings)
    shown = _articles(report, attribute)
    anchor = f"a{place}"
    tree, lines = tree_view(report, attribute, scale, anchor)
    return {
        "anchor": anchor,
        "name": capitalised(report.names.column(attribute.name)),
        "code": one_line(attribute.name),
        "metric": guide.metric_label(report, attribute.metric),
        "short": guide.metric_name(report, attribute.metric),
        "roles": _reading(report, attribute),
        "number": f"{count(number)} finding{'' if number == 1 else 's'}",
        "forest": forest_view(report, attribute, shown, scale, anchor),
        "population": finding_view(report, attribute, attribute.population, scale, f"{anchor}-p"),
        "labels": label_view(attribute, report.names) if report.labels is not None else None,
        "findings": [
            finding_view(report, attribute, f, scale, f"{anchor}-f{n}") | {"in_tree": lines.get(f.context)}
            for n, f in enumerate(shown, 1)
        ],
        "tree": tree,
    }


def _articles(report: Report, attribute: AttributeReport) -> tuple[Finding, ...]:
    """Return the findings that are shown one by one: labels over everybody only if there are strata to show."""
    return attribute.findings if report.labels is None or report.explanatory else attribute.inside


def _reading(report: Report, attribute: AttributeReport) -> str:
    """Return which group and which output the effects are about."""
    parts = []
    if attribute.reference is not None:
        parts.append(f"The reference group is {report.names.short(attribute.name, attribute.reference)}")
    if report.favourable is not None:
        about = report.names.pair(report.measured, report.favourable)
        parts.append(f"{'the' if parts else 'The'} rates are of {about}")
    return "; ".join(parts) + "." if parts else ""
