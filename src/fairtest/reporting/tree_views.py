"""The tree of contexts: a picture of who is where, and an outline with the numbers of each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.inference.finding import Tested
from fairtest.reporting import figures
from fairtest.reporting.forest_views import measured
from fairtest.reporting.icicle import STEPS, icicle, ramp_of
from fairtest.reporting.numbers import base_metric, count, digits, typeset
from fairtest.reporting.phrases import one_line
from fairtest.reporting.svg import axis_marks, axis_style, interval_mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.contexts.context import Context
    from fairtest.reporting.document import AttributeReport, Report
    from fairtest.reporting.hierarchy import Node
    from fairtest.reporting.icicle import Ramp
    from fairtest.reporting.numbers import Scale

__all__ = ["tree_view"]

View = dict[str, Any]
_SIGNED = {"DIFF", "RATIO", "CORR", "RANK"}


def tree_view(
    report: Report, attribute: AttributeReport, scale: Scale, anchor: str
) -> tuple[View | None, dict[Context, str]]:
    """Return the tree of an attribute, and the anchor of each context in it; None where only the population is."""
    nodes = () if attribute.labels else attribute.tree
    axis = figures.effect_axis([n.part for n in nodes if n.part.significant], scale) if len(nodes) > 1 else None
    if axis is None:
        return None, {}
    stem = f"{anchor}-t"
    ramp = ramp_of(nodes, signed=base_metric(attribute.metric) in _SIGNED)
    words = ["Everyone", *(_words(n, nodes[n.parent]) for n in nodes[1:])]
    findings = {f.context: i for i, f in enumerate(attribute.inside, 1)}
    colours = [ramp.colour(n.part.effect, significant=n.part.significant) for n in nodes]
    places = [findings.get(n.part.context) for n in nodes]
    whole = attribute.population.effect
    reference = None if whole is None else axis.at(scale.at(whole))
    rows: list[View] = []
    for i, node in enumerate(nodes):
        shape = "diamond" if i == 0 else "hollow" if places[i] is None else "dot"
        row: View = {
            "anchor": f"{stem}-{i}",
            "words": words[i],
            "colour": colours[i],
            "status": _status(report, node, places[i], everyone=i == 0),
            "finding": places[i],
            "faint": not node.part.significant,
            "mark": interval_mark(figures.bar_of(node.part, axis, scale), shape),
            "measured": measured(node.part, scale),
            "people": count(node.part.size),
            "children": [],
            "open": i == 0,
        }
        rows.append(row)
        if node.parent >= 0:
            rows[node.parent]["children"].append(row)
    for node, place in zip(nodes, places, strict=True):
        _open(rows, nodes, node if place is not None else None)
    picture = icicle(nodes, words, colours, [place is not None for place in places], stem)
    view = {
        "id": stem,
        "picture": picture,
        "legend": _legend(ramp, scale, set(colours)),
        "axis": axis_marks(axis),
        "style": axis_style(axis, reference),
        "root": rows[0],
        "guided": any(getattr(n.part, "guided", False) for n in nodes),
        "number": count(len(nodes) - 1),
    }
    return view, {n.part.context: row["anchor"] for n, row in zip(nodes, rows, strict=True)}


def _words(node: Node, parent: Node) -> str:
    """Return what sets a context apart from the one it hangs under."""
    own = [p for p in node.part.context.predicates if p not in parent.part.context.predicates]
    return one_line(", ".join(str(p) for p in own)) or one_line(str(node.part.context))


def _status(report: Report, node: Node, place: int | None, *, everyone: bool) -> str:
    if place is not None:
        return f"finding {place}"
    if node.part.effect is None:
        return "not tested" if isinstance(node.part, Tested) else "cannot be measured"
    if node.part.significant or everyone:
        return "" if node.part.significant else "not significant"
    return "not significant" if report.reuse is None else "not confirmed"


def _open(rows: Sequence[View], nodes: Sequence[Node], node: Node | None) -> None:
    """Open every line on the way to a finding."""
    while node is not None and node.parent >= 0:
        rows[node.parent]["open"] = True
        node = nodes[node.parent]


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
