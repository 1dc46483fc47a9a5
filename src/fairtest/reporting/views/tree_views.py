"""The tree of contexts: a picture of who is where, and an outline with the numbers of each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.model.finding import Tested
from fairtest.numbers import count
from fairtest.reporting.figures.axes import effect_axis
from fairtest.reporting.figures.icicle import icicle_of
from fairtest.reporting.figures.marks import mark_effect
from fairtest.reporting.figures.plots import estimate_with_interval
from fairtest.reporting.figures.svg import FOREST, axis_marks, axis_style, interval_on_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.metrics.scale import Scale
    from fairtest.model.context import Context
    from fairtest.model.hierarchy import Node
    from fairtest.model.report import AttributeReport, Report
    from fairtest.reporting.figures.axes import Axis

View = dict[str, Any]


def tree_view(
    report: Report, attribute: AttributeReport, scale: Scale, anchor: str
) -> tuple[View | None, dict[Context, str]]:
    """Return the tree of an attribute, and the anchor of each context in it; None where there is nothing to show."""
    tree = icicle_of(attribute, scale)
    if tree is None:
        return None, {}
    axis = effect_axis([n.part for n in tree.nodes if n.part.significant], scale)
    assert axis is not None  # there is a significant effect, or there were no tree
    stem, whole = f"{anchor}-t", attribute.population.effect
    rows = [_row(report, node, number, axis, scale) for node, number in zip(tree.nodes, tree.findings, strict=True)]
    for i, (node, row) in enumerate(zip(tree.nodes, rows, strict=True)):
        row |= {"anchor": f"{stem}-{i}", "words": tree.words[i], "colour": tree.colours[i]}
        if i:
            rows[node.parent]["children"].append(row)
    _open_ways_to_findings(tree.nodes, rows)
    view = {
        "id": stem,
        "picture": tree.draw(stem),
        "legend": tree.legend,
        "axis": axis_marks(axis),
        "style": axis_style(axis, None if whole is None else axis.at(scale.at(whole))),
        "root": rows[0],
        "guided": any(isinstance(n.part, Tested) and n.part.guided for n in tree.nodes),
    }
    return view, {node.part.context: row["anchor"] for node, row in zip(tree.nodes, rows, strict=True)}


def _row(report: Report, node: Node, number: int | None, axis: Axis, scale: Scale) -> View:
    """Return one line of the outline; ``number`` is that of the finding, if it is one."""
    part = node.part
    look = "whole" if node.parent < 0 else "unclear" if number is None else "clear"
    return {
        "status": _status(report, node, number),
        "finding": number,
        "faint": not part.significant,
        "mark": interval_on_page(mark_effect(part, axis, scale), look, FOREST),
        "measured": estimate_with_interval(part, scale),
        "people": count(part.size),
        "children": [],
        "open": node.parent < 0,
    }


def _status(report: Report, node: Node, number: int | None) -> str:
    if number is not None:
        return f"finding {number}"
    if node.part.effect is None:
        return "not tested" if isinstance(node.part, Tested) else "cannot be measured"
    if node.part.significant:
        return ""
    return "not significant" if report.reuse is None else "not confirmed"


def _open_ways_to_findings(nodes: Sequence[Node], rows: Sequence[View]) -> None:
    """Open every line around a finding: children come after their parents, so the last are looked at first."""
    leads = [row["finding"] is not None for row in rows]
    for i in range(len(nodes) - 1, 0, -1):
        if leads[i]:
            leads[nodes[i].parent] = rows[nodes[i].parent]["open"] = True
