"""What remains among people who are alike: a forest of the strata, then each of them small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.model.finding import CountTable, Tested
from fairtest.reporting.figures import marks as figures
from fairtest.reporting.figures.svg import axis_marks, axis_style
from fairtest.reporting.views.forest_views import forest_row, measured
from fairtest.reporting.views.table_views import table_view
from fairtest.reporting.words import guide
from fairtest.reporting.words.numbers import UNDEFINED, base_metric, count, typeset, typeset_p
from fairtest.reporting.words.phrases import capitalised, joined
from fairtest.reporting.words.wording import is_clear

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.model.finding import Finding, Stratum
    from fairtest.model.report import Report
    from fairtest.reporting.words.numbers import Scale

View = dict[str, Any]
MOST_OPEN = 12
"""More strata than this are drawn one by one only when asked for."""


def strata_view(report: Report, finding: Finding, scale: Scale) -> View | None:
    """Return the strata of a finding; None without an explanatory attribute."""
    if not finding.strata:
        return None
    overall = _overall(finding)
    axis = figures.effect_axis([*overall, finding, *finding.strata], scale)
    names = list(finding.strata[0].values)
    return {
        "axis": None if axis is None else axis_marks(axis),
        "style": "" if axis is None else axis_style(axis),
        "metric": guide.base_name(finding.metric),
        "unit": scale.unit.strip(),
        "given": joined([report.names.column(name) for name in names]),
        "overall": bool(overall),
        "rows": [] if axis is None else list(_rows(report, finding, axis, scale)),
        "parts": [_part(report, finding, stratum, scale) for stratum in finding.strata],
        "kind": "rates" if isinstance(finding.strata[0].table, CountTable) else "numbers",
        "many": len(finding.strata) > MOST_OPEN,
    }


def _overall(finding: Finding) -> list[Tested]:
    """Return the gap of everybody together, where it is on the same scale as the one given the strata."""
    if finding.gap is None or base_metric(finding.metric) != "DIFF":
        return []
    clear = finding.gap_interval is not None and not finding.gap_interval[0] <= 0 <= finding.gap_interval[1]
    return [Tested(finding.context, finding.size, finding.gap, finding.gap_interval, None, clear)]


def _rows(report: Report, finding: Finding, axis: figures.Axis, scale: Scale) -> Iterator[View]:
    given = joined([report.names.column(name) for name in finding.strata[0].values])
    who = "Everyone" if len(finding.context) == 0 else "This group"
    for overall in _overall(finding):
        row = forest_row(overall, axis, scale, "diamond")
        yield row | {
            "label": f"{who}, all together",
            "verdict": f"whatever the {given}; single interval",
            "p": UNDEFINED,
        }
    first = forest_row(finding, axis, scale, "diamond")
    clear = "clear" if finding.significant else "not distinguishable from none"
    yield first | {"label": f"{who}, given {given}", "verdict": clear}
    for stratum in finding.strata:
        shape = "dot" if is_clear(stratum, report.settings.level) else "hollow"
        row = forest_row(stratum, axis, scale, shape)
        yield row | {
            "label": report.names.values(stratum.values) or UNDEFINED,
            "verdict": guide.stratum_words(report, stratum),
        }


def _part(report: Report, finding: Finding, stratum: Stratum, scale: Scale) -> View:
    """Return one stratum drawn small: its table and what it says."""
    tables = [other.table for other in finding.strata]
    says = [capitalised(guide.stratum_words(report, stratum))]
    if stratum.effect is not None:
        says.append(f"{measured(stratum, scale)}{scale.unit}")
    if stratum.p_value is not None:
        says.append(typeset_p(stratum.p_value))
    return {
        "name": report.names.values(stratum.values) or UNDEFINED,
        "people": count(stratum.size),
        "shows": is_clear(stratum, report.settings.level),
        "says": typeset("; ".join(says)),
        "table": table_view(stratum.table, 0, report.names, tables, whole=True),
    }
