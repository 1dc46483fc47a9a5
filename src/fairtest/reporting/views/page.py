"""What a page shows of a report: its outline, and the plots and facts that the templates set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.numbers import typeset
from fairtest.reporting.outline import outline_finding, outline_of
from fairtest.reporting.views.findings import finding_view, mark_groups, mark_phrases
from fairtest.reporting.views.forests import findings_view, tree_view
from fairtest.reporting.views.labels import label_view
from fairtest.reporting.words.headline import strongest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.model.report import Report
    from fairtest.reporting.outline import AttributeOutline, Outline

View = dict[str, Any]
_LONG, _MANY = 5, 50
"""From so many findings on there are controls to filter and sort them, and a browser draws only those in sight."""


def page_view(report: Report) -> View:
    """Return everything that the templates of a page or a notebook name."""
    outline = outline_of(report)
    attributes = [_attribute(report, attribute, i) for i, attribute in enumerate(outline.attributes, 1)]
    number = sum(len(a["findings"]) for a in attributes)
    return {
        "report": report,
        "names": report.names,
        "outline": outline,
        "level": typeset(outline.level),
        "lead": list(_lead(outline)),
        "attributes": attributes,
        "has_tools": number >= _LONG,
        "has_many": number >= _MANY,
    }


def _lead(outline: Outline) -> Iterator[list[tuple[str, str]]]:
    """Yield what stands below the headline: of a few attributes the whole population, and where it is strongest."""
    report = outline.report
    for outlined in outline.attributes[:3]:
        yield mark_groups(report, outlined.population)
        if report.kind != "discovery" and (where := strongest(outlined.attribute, report.names)):
            yield mark_phrases(where)


def _attribute(report: Report, outlined: AttributeOutline, number: int) -> View:
    attribute, scale, anchor = outlined.attribute, outlined.scale, f"a{number}"
    # Labels over everybody are in a table of their own; one by one they are shown only if they have strata.
    shown = attribute.findings if report.labels is None or report.explanatory else attribute.inside
    tree = tree_view(report, attribute, scale)
    nodes = () if tree is None else enumerate(tree["icicle"].nodes)
    in_tree = {node.part.context: f"{anchor}-t-{i}" for i, node in nodes}
    return {
        "anchor": anchor,
        "outlined": outlined,
        "about": attribute,
        "forest": findings_view(attribute, shown, scale),
        "population": finding_view(report, outlined.population, attribute.population, f"{anchor}-p"),
        "labels": label_view(outlined, report.names) if report.labels is not None else None,
        "findings": [
            finding_view(report, outline_finding(report, attribute, f), attribute.population, f"{anchor}-f{n}")
            | {"in_tree": in_tree.get(f.context)}
            for n, f in enumerate(shown, 1)
        ],
        "tree": tree,
    }
