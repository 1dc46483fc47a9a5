"""What remains among people who are alike: a forest of the strata, then each of them small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.metrics.choice import reported_metric
from fairtest.model.finding import CountTable, Tested
from fairtest.model.names import clean_line
from fairtest.numbers import UNDEFINED, count, typeset, typeset_p
from fairtest.reporting.figures.plots import ForestRow, estimate_with_interval, plot_effects
from fairtest.reporting.figures.svg import axis_marks, axis_style
from fairtest.reporting.views.forest_views import forest_row
from fairtest.reporting.views.table_views import table_view
from fairtest.reporting.words.phrases import capitalise, join_words
from fairtest.reporting.words.sentences import is_clear, stratum_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding, Stratum
    from fairtest.model.report import Report

View = dict[str, Any]
MOST_OPEN = 12
"""More strata than this are drawn one by one only when asked for."""


def strata_view(report: Report, finding: Finding, scale: Scale) -> View | None:
    """Return the strata of a finding; None without an explanatory attribute."""
    if not finding.strata:
        return None
    rows = list(_rows(report, finding))
    forest = plot_effects([row for row, _ in rows], scale)
    return {
        "axis": None if forest is None else axis_marks(forest.axis),
        "style": "" if forest is None else axis_style(forest.axis),
        "metric": clean_line(finding.metric),
        "unit": scale.unit.strip(),
        "given": _given(report, finding),
        "overall": bool(_overall(finding)),
        "rows": [] if forest is None else [forest_row(forest, row) | more for row, more in rows],
        "parts": [_part(report, finding, stratum, scale) for stratum in finding.strata],
        "kind": "rates" if isinstance(finding.strata[0].table, CountTable) else "numbers",
        "many": len(finding.strata) > MOST_OPEN,
    }


def _given(report: Report, finding: Finding) -> str:
    return join_words([report.names.column(name) for name in finding.strata[0].values])


def _overall(finding: Finding) -> list[Tested]:
    """Return the gap of everybody together, where it is on the same scale as the one given the strata."""
    if finding.gap is None or reported_metric(finding.metric).compares != "difference":
        return []
    clear = finding.gap_interval is not None and not finding.gap_interval[0] <= 0 <= finding.gap_interval[1]
    return [Tested(finding.context, finding.size, finding.gap, finding.gap_interval, None, clear)]


def _rows(report: Report, finding: Finding) -> Iterator[tuple[ForestRow, View]]:
    """Yield the rows of the forest, and what is said of them besides their numbers."""
    given = _given(report, finding)
    who = "Everyone" if len(finding.context) == 0 else "This group"
    for overall in _overall(finding):
        words = f"whatever the {given}; single interval"
        yield ForestRow(f"{who}, all together", overall, whole=True), {"verdict": words, "p": UNDEFINED}
    clear = "clear" if finding.significant else "not distinguishable from none"
    yield ForestRow(f"{who}, given {given}", finding, whole=True), {"verdict": clear}
    for stratum in finding.strata:
        name = report.names.values(stratum.values) or UNDEFINED
        words = stratum_words(report, stratum)
        yield ForestRow(name, stratum, is_clear(stratum, report.settings.level)), {"verdict": words}


def _part(report: Report, finding: Finding, stratum: Stratum, scale: Scale) -> View:
    """Return one stratum drawn small: its table and what it says."""
    tables = [other.table for other in finding.strata]
    says = [capitalise(stratum_words(report, stratum))]
    if stratum.effect is not None:
        says.append(f"{estimate_with_interval(stratum, scale)}{scale.unit}")
    if stratum.p_value is not None:
        says.append(typeset_p(stratum.p_value))
    return {
        "name": report.names.values(stratum.values) or UNDEFINED,
        "people": count(stratum.size),
        "shows": is_clear(stratum, report.settings.level),
        "says": typeset("; ".join(says)),
        "table": table_view(stratum.table, 0, report.names, tables, to_hundred=True),
    }
