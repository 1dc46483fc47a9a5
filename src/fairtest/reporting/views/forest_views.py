"""The forest of all findings of an attribute: estimates with intervals on one axis, and the population's line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.reporting.figures import marks as figures
from fairtest.reporting.figures.svg import axis_marks, axis_style, interval_mark
from fairtest.reporting.words.numbers import base_metric, count, typeset_p
from fairtest.reporting.words.phrases import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.finding import Finding, Stratum, Tested
    from fairtest.model.report import AttributeReport, Report
    from fairtest.reporting.words.numbers import Scale

View = dict[str, Any]


def forest_view(
    report: Report, attribute: AttributeReport, shown: Sequence[Finding], scale: Scale, anchor: str
) -> View | None:
    """Return the forest: everyone, the findings, and apart from them what is significant and not reported."""
    alike = [(n, f) for n, f in enumerate(shown, 1) if base_metric(f.metric) == base_metric(attribute.metric)]
    everyone = () if attribute.labels else (attribute.population,)
    axis = figures.effect_axis([*everyone, *(f for _, f in alike)], scale)
    if axis is None:
        return None
    known = None if attribute.labels else attribute.population.effect
    reference = None if known is None else axis.at(scale.at(known))
    hidden = attribute.unreported
    more = attribute.unlisted
    return {
        "axis": axis_marks(axis),
        "style": axis_style(axis, reference),
        "everyone": [
            forest_row(f, axis, scale, "diamond") | {"label": "Everyone", "anchor": f"{anchor}-p"} for f in everyone
        ],
        "rows": [forest_row(f, axis, scale) | _listed(f, n) | {"anchor": f"{anchor}-f{n}"} for n, f in alike],
        "unreported": [forest_row(f, axis, scale, "hollow") | _listed(f, n) for n, f in enumerate(hidden, 1)],
        "unreported_words": _unreported_words(report, len(hidden), more),
    }


def _unreported_words(report: Report, listed: int, more: int) -> str:
    what = "significant" if report.reuse is None else "confirmed"
    if more:
        return f"The {count(listed)} strongest of {count(listed + more)} groups that are {what} and not reported"
    return f"{count(listed)} group{' is' if listed == 1 else 's are'} {what} and not reported"


def _listed(part: Finding | Tested, rank: int) -> View:
    """Return what a line is called, and what it is filtered and sorted by."""
    label = getattr(part, "label", None)
    where = one_line(str(part.context))
    return {
        "label": where if label is None else f"{one_line(label)}: {where}",
        "rank": rank,
        "size": part.size,
        "estimate": f"{abs(part.effect or 0.0):.6g}",
    }


def forest_row(part: Finding | Stratum | Tested, axis: figures.Axis, scale: Scale, shape: str = "dot") -> View:
    """Return one line of a forest."""
    return {
        "mark": interval_mark(figures.bar_of(part, axis, scale), shape),
        "measured": measured(part, scale),
        "people": count(part.size),
        "p": typeset_p(part.p_value, "").strip("\u202f= "),
        "anchor": "",
    }


def measured(part: Finding | Stratum | Tested, scale: Scale) -> str:
    """Return an estimate and its interval, if it has one."""
    interval = [] if part.interval is None else [scale.interval(part.interval)]
    return " ".join([scale.number(part.effect), *interval])
