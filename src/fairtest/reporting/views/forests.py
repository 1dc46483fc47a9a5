"""The figures of a page that show effects on one axis: all findings, the strata of one, the tree of contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.metrics.choice import reported_metric
from fairtest.model.finding import Tested
from fairtest.numbers import UNDEFINED
from fairtest.reporting.figures.axes import effect_axis
from fairtest.reporting.figures.icicle import icicle_of
from fairtest.reporting.figures.plots import Forest, ForestRow, plot_effects, plot_findings, plot_table
from fairtest.reporting.words.funnel import significant_word
from fairtest.reporting.words.groups import repeated_words
from fairtest.reporting.words.phrases import finding_title, join_words
from fairtest.reporting.words.sentences import is_clear, stratum_words
from fairtest.reporting.words.several import gaps_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding
    from fairtest.model.hierarchy import Node
    from fairtest.model.names import Names
    from fairtest.model.report import AttributeReport, Report

View = dict[str, Any]


def findings_view(attribute: AttributeReport, shown: Sequence[Finding], scale: Scale, names: Names) -> View | None:
    """Return the forest of an attribute: everyone, the findings by number, and what is significant but not reported."""
    rows = {
        n: ForestRow(finding_title(f, "everyone"), f, said=gaps_inside(f, names))
        for n, f in enumerate(shown, 1)
        if f.metric == attribute.metric
    }
    forest = plot_findings(attribute, list(rows.values()), scale)
    unreported: dict[str, list[ForestRow]] = {}
    for other in attribute.unreported:
        card = repeated_words(attribute, other)
        unreported.setdefault(card, []).append(ForestRow(finding_title(other), other, clear=False))
    return None if forest is None else {"plot": forest, "findings": rows, "unreported": unreported}


# Strata -------------------------------------------------------------------------------------------------------------


def strata_view(report: Report, finding: Finding, scale: Scale) -> View | None:
    """Return the strata of a finding; None without an explanatory attribute."""
    if not finding.strata:
        return None
    given = join_words([report.names.column(name) for name in finding.strata[0].values])
    rows = list(_strata_rows(report, finding, given))
    tables = [stratum.table for stratum in finding.strata]
    return {
        "finding": finding,
        "scale": scale,
        "given": given,
        "overall": _overall(finding) is not None,
        "plot": plot_effects([row for row, _ in rows], scale),
        "rows": rows,
        "tables": [plot_table(table, 0, tables, to_hundred=True) for table in tables],
    }


def _overall(finding: Finding) -> Tested | None:
    """Return the gap over all strata together, if it is on the scale of the effect given the strata; else None."""
    if finding.gap is None or reported_metric(finding.metric).compares != "difference":
        return None
    # It describes; whether there is a link is tested given the strata.
    return Tested(finding.context, finding.size, finding.gap, finding.gap_interval, None, significant=False)


def _strata_rows(report: Report, finding: Finding, given: str) -> Iterator[tuple[ForestRow, str]]:
    """Yield the rows of the forest, each with a verdict in words."""
    who = "Everyone" if len(finding.context) == 0 else "This group"
    if (overall := _overall(finding)) is not None:
        row = ForestRow(f"{who}, all together", overall, whole=True)
        yield row, f"whatever the {given}; single interval"
    clear = "clear" if finding.significant else "not distinguishable from none"
    yield ForestRow(f"{who}, given {given}", finding, whole=True), clear
    for stratum in finding.strata:
        name = report.names.values(stratum.values) or UNDEFINED
        yield ForestRow(name, stratum, is_clear(stratum, report.settings.level)), stratum_words(report, stratum)


# The tree -----------------------------------------------------------------------------------------------------------


def tree_view(report: Report, attribute: AttributeReport, scale: Scale) -> View | None:
    """Return the tree of an attribute, node by node, its root first; None where there is nothing to show."""
    icicle = icicle_of(attribute, scale, report.data.test if attribute.named else None)
    if icicle is None:
        return None
    nodes, whole = icicle.nodes, attribute.population.effect
    axis = effect_axis([node.part for node in nodes if node.part.significant], scale)
    assert axis is not None  # there is a significant effect, or there were no tree
    rows = tuple(
        ForestRow(words, node.part, number is not None, whole=node.parent < 0)
        for words, node, number in zip(icicle.words, nodes, icicle.findings, strict=True)
    )
    return {
        "icicle": icicle,
        "plot": Forest(axis, scale, rows, None if whole is None else axis.at(scale.at(whole))),
        "statuses": [_status(report, *node) for node in zip(nodes, icicle.findings, strict=True)],
        "children": [[i for i, node in enumerate(nodes) if node.parent == parent] for parent in range(len(nodes))],
        "open": _open_nodes(nodes, icicle.findings),
        "guided": any(isinstance(n.part, Tested) and n.part.guided for n in nodes),
    }


def _status(report: Report, node: Node, number: int | None) -> str:
    if number is not None:
        return f"finding {number}"
    if node.part.effect is None:
        return "not tested" if isinstance(node.part, Tested) else "cannot be measured"
    return "" if node.part.significant else f"not {significant_word(report)}"


def _open_nodes(nodes: Sequence[Node], findings: Sequence[int | None]) -> set[int]:
    """Return the root and every node around a finding."""
    opened = {0}
    # Children come after their parents, so that the last are looked at first.
    for i in range(len(nodes) - 1, 0, -1):
        if findings[i] is not None or i in opened:
            opened.add(nodes[i].parent)
    return opened
