"""The tree of contexts: a picture of who is where, and an outline with the numbers of each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.model.finding import Tested
from fairtest.reporting.figures import marks as figures
from fairtest.reporting.figures.icicle import STEPS, icicle, ramp_of
from fairtest.reporting.figures.svg import axis_marks, axis_style, interval_mark
from fairtest.reporting.views.forest_views import measured
from fairtest.reporting.words.numbers import base_metric, count, digits, typeset
from fairtest.reporting.words.phrases import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.context import Context
    from fairtest.model.hierarchy import Node
    from fairtest.model.report import AttributeReport, Report
    from fairtest.reporting.figures.icicle import Ramp
    from fairtest.reporting.words.numbers import Scale

View = dict[str, Any]
_SIGNED = {"DIFF", "RATIO", "CORR", "RANK"}


def tree_view(
    report: Report, attribute: AttributeReport, scale: Scale, anchor: str
) -> tuple[View | None, dict[Context, str]]:
    """Return the tree of an attribute, and the anchor of each context in it; None where there is nothing to show."""
    nodes = () if attribute.labels else attribute.tree
    axis = figures.effect_axis([n.part for n in nodes if n.part.significant], scale) if len(nodes) > 1 else None
    if axis is None:
        return None, {}
    stem, whole = f"{anchor}-t", attribute.population.effect
    places = {finding.context: i for i, finding in enumerate(attribute.inside, 1)}
    ramp = ramp_of(nodes, signed=base_metric(attribute.metric) in _SIGNED)
    rows = [_row(report, node, places.get(node.part.context), axis, scale) for node in nodes]
    for i, (node, row) in enumerate(zip(nodes, rows, strict=True)):
        row["anchor"] = f"{stem}-{i}"
        row["words"] = "Everyone" if i == 0 else _words(node, nodes[node.parent])
        row["colour"] = ramp.colour(node.part.effect, significant=node.part.significant)
        if i:
            rows[node.parent]["children"].append(row)
    _open_ways_to_findings(nodes, rows)
    words, colours = [row["words"] for row in rows], [row["colour"] for row in rows]
    view = {
        "id": stem,
        "picture": icicle(nodes, words, colours, [row["finding"] is not None for row in rows], stem),
        "legend": _legend(ramp, scale, set(colours)),
        "axis": axis_marks(axis),
        "style": axis_style(axis, None if whole is None else axis.at(scale.at(whole))),
        "root": rows[0],
        "guided": any(isinstance(n.part, Tested) and n.part.guided for n in nodes),
    }
    return view, {node.part.context: row["anchor"] for node, row in zip(nodes, rows, strict=True)}


def _row(report: Report, node: Node, place: int | None, axis: figures.Axis, scale: Scale) -> View:
    """Return one line of the outline; ``place`` is the number of the finding, if it is one."""
    part = node.part
    shape = "diamond" if node.parent < 0 else "hollow" if place is None else "dot"
    return {
        "status": _status(report, node, place),
        "finding": place,
        "faint": not part.significant,
        "mark": interval_mark(figures.bar_of(part, axis, scale), shape),
        "measured": measured(part, scale),
        "people": count(part.size),
        "children": [],
        "open": node.parent < 0,
    }


def _words(node: Node, parent: Node) -> str:
    """Return what sets a context apart from the one it hangs under."""
    own = [p for p in node.part.context.predicates if p not in parent.part.context.predicates]
    return one_line(", ".join(str(p) for p in own)) or one_line(str(node.part.context))


def _status(report: Report, node: Node, place: int | None) -> str:
    if place is not None:
        return f"finding {place}"
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


def _legend(ramp: Ramp, scale: Scale, used: set[str]) -> list[tuple[str, str]]:
    """Return the colours that are in the picture, with the effects they stand for."""
    steps = [digits(scale.factor * ramp.step * i) for i in range(STEPS)]
    words = {"q0": f"under {steps[1]}"} | {f"q{i}": f"{steps[i]} or more" for i in range(1, STEPS)}
    if ramp.signed:
        sizes = (f"under {steps[1]}", f"{steps[1]} to {steps[2]}", f"over {steps[2]}")
        correlates = base_metric(scale.metric) in {"CORR", "RANK"}
        sides = (("b", "falls:" if correlates else "lower by"), ("a", "rises:" if correlates else "higher by"))
        words = {f"{s}{i}": f"{way} {size}{scale.unit}" for s, way in sides for i, size in enumerate(sizes, 1)}
    return [(colour, typeset(what)) for colour, what in words.items() if colour in used]
