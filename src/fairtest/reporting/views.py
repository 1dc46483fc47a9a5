"""What the page shows, as plain values: the template only sets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.inference.finding import CountTable
from fairtest.reporting import figures, guide
from fairtest.reporting.label_tables import label_view
from fairtest.reporting.numbers import (
    UNDEFINED,
    base_metric,
    count,
    fixed,
    rate,
    scale_for,
    typeset,
    typeset_p,
)
from fairtest.reporting.phrases import (
    capitalised,
    context_words,
    level_words,
    one_line,
    rates_of,
    spoken,
)
from fairtest.reporting.rate_clauses import is_two_by_two
from fairtest.reporting.table_views import table_view
from fairtest.reporting.wording import headline, highlights, sentence_in, strongest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.inference.finding import Finding, Stratum
    from fairtest.reporting.document import AttributeReport, Report
    from fairtest.reporting.numbers import Scale

__all__ = ["page"]

View = dict[str, Any]


def page(report: Report) -> View:
    """Return everything a page or a notebook shows of a report."""
    attributes = [_attribute(report, attribute, i) for i, attribute in enumerate(report.attributes, 1)]
    ratios = any(guide.four_fifths(report, f) for f in (*report.populations, *report.findings))
    return {
        "title": guide.title(report),
        "eyebrow": guide.eyebrow(report),
        "headline": headline(report),
        "lead": [typeset(line) for line in _lead(report)],
        "how_sure": typeset(guide.how_sure(report)),
        "funnel": [(count(number), what) for number, what in guide.funnel(report)],
        "left_out": guide.left_out(report),
        "columns": guide.left_out_columns(report),
        "columns_used": guide.columns_used(report),
        "attributes": attributes,
        "discovery": report.labels is not None,
        "metrics": [(capitalised(name), meaning) for name, meaning in guide.metric_notes(report)],
        "four_fifths": guide.FOUR_FIFTHS if ratios else "",
        "method": typeset(guide.method(report)),
        "settings": guide.settings_lines(report),
        "level": typeset(guide.interval_level(report)),
        "notes": [one_line(note) for note in report.notes],
        "tested": count(report.tested),
    }


def _lead(report: Report) -> Iterator[str]:
    for attribute in report.attributes[:3]:
        yield sentence_in(report, attribute, attribute.population)
        if report.kind != "discovery" and (where := strongest(attribute, report.names)):
            yield where


def _attribute(report: Report, attribute: AttributeReport, place: int) -> View:
    scale = scale_for(attribute.metric, attribute.population.effect)
    number = len(attribute.findings)
    shown = _articles(report, attribute)
    return {
        "anchor": f"a{place}",
        "name": capitalised(spoken(attribute.name)),
        "code": one_line(attribute.name),
        "metric": guide.metric_label(report, attribute.metric),
        "short": guide.metric_name(report, attribute.metric),
        "roles": _reading(report, attribute),
        "number": f"{count(number)} finding{'' if number == 1 else 's'}",
        "forest": _forest(attribute, shown, scale, f"a{place}"),
        "population": _finding(report, attribute, attribute.population, scale, f"a{place}-p"),
        "labels": label_view(attribute) if report.labels is not None else None,
        "findings": [_finding(report, attribute, f, scale, f"a{place}-f{n}") for n, f in enumerate(shown, 1)],
    }


def _articles(report: Report, attribute: AttributeReport) -> tuple[Finding, ...]:
    """Return the findings that are shown one by one: labels over everybody only if there are strata to show."""
    return attribute.findings if report.labels is None or report.explanatory else attribute.inside


def _reading(report: Report, attribute: AttributeReport) -> str:
    """Return which group and which output the effects are about."""
    parts = []
    if attribute.reference is not None:
        parts.append(f"The reference group is {level_words(attribute.reference)}")
    if report.favourable is not None:
        about = f"{spoken(report.measured)} = {level_words(report.favourable)}"
        parts.append(f"{'the' if parts else 'The'} rates are of {about}")
    return "; ".join(parts) + "." if parts else ""


def _forest(attribute: AttributeReport, shown: Sequence[Finding], scale: Scale, anchor: str) -> View | None:
    alike = [f for f in shown if base_metric(f.metric) == base_metric(attribute.metric)]
    everyone = () if attribute.labels else (attribute.population,)
    axis = figures.effect_axis([*everyone, *alike], scale)
    if axis is None:
        return None
    known = None if attribute.labels else attribute.population.effect
    rows = [_forest_row(f, axis, scale, "Everyone", f"{anchor}-p") | {"diamond": True} for f in everyone]
    for number, finding in enumerate(shown, 1):
        if finding in alike:
            rows.append(_forest_row(finding, axis, scale, _where(finding), f"{anchor}-f{number}"))
    return {"axis": axis, "rows": rows, "reference": None if known is None else axis.at(scale.at(known))}


def _where(finding: Finding) -> str:
    place = one_line(str(finding.context))
    return place if finding.label is None else f"{one_line(finding.label)}: {place}"


def _forest_row(part: Finding | Stratum, axis: figures.Axis, scale: Scale, label: str, anchor: str) -> View:
    return {
        "label": label,
        "anchor": anchor,
        "bar": figures.bar_of(part, axis, scale),
        "measured": " ".join(
            [scale.number(part.effect), *([] if part.interval is None else [scale.interval(part.interval)])]
        ),
        "people": count(part.size),
        "p": typeset_p(part.p_value, "").strip("\u202f= "),
        "diamond": False,
    }


def _finding(report: Report, attribute: AttributeReport, finding: Finding, scale: Scale, anchor: str) -> View:
    if base_metric(finding.metric) != base_metric(attribute.metric):
        scale = scale_for(finding.metric, finding.effect)
    text = sentence_in(report, attribute, finding)
    return {
        "anchor": anchor,
        "said": [(typeset(part), mark) for part, mark in _marked(text, highlights(finding, report.names))],
        "words": context_words(finding.context, report.names),
        "label": None if finding.label is None else one_line(finding.label),
        "predicates": [one_line(str(predicate)) for predicate in finding.predicates],
        "table": table_view(finding.table, report.settings.min_size),
        "facts": [
            (name, typeset(value), typeset(small)) for name, value, small in _facts(report, attribute, finding, scale)
        ],
        "strata": _strata(report, finding, scale),
        "notes": [one_line(note) for note in finding.notes],
    }


def _marked(text: str, phrases: Sequence[str]) -> list[tuple[str, str]]:
    """Return the sentence in pieces: those that name the two groups are marked ``a`` and ``b``."""
    pieces = []
    for phrase, mark in zip(phrases, "ab", strict=False):
        before, found, after = text.partition(phrase)
        if found:
            pieces += [(before, ""), (found, mark)]
            text = after
    return [*pieces, (text, "")]


# Facts ----------------------------------------------------------------------------------------------------


def _facts(
    report: Report, attribute: AttributeReport, finding: Finding, scale: Scale
) -> Iterator[tuple[str, str, str]]:
    """Yield what is known of a finding: its name, its value, and small print."""
    if finding.effect is not None:
        name = capitalised(guide.metric_label(report, finding.metric))
        yield name, scale.estimate(finding.effect), _intervals(report, finding, scale)
        yield from _gap(report, finding)
        yield from _ratio(report, finding)
        yield _how_sure(report, finding)
    part = guide.share_of(report, finding)
    yield "People", count(finding.size), "" if part is None else f"{rate(part)} of the {guide.measured_set(report)}"
    yield from _against(attribute, finding, scale)


def _intervals(report: Report, finding: Finding, scale: Scale) -> str:
    shown = f"{scale.interval(finding.interval)} simultaneous"
    if report.reuse is None:
        return f"{shown}; single {scale.interval(finding.interval_single)}"
    return "of the training set" + ("" if finding.interval is None else f"; {shown}, confirmed")


def _how_sure(report: Report, finding: Finding) -> tuple[str, str, str]:
    corrected = f"corrected for {count(report.corrected_for)} {'test' if report.corrected_for == 1 else 'tests'}"
    if report.reuse is None:
        return "Chance alone", typeset_p(finding.p_value), corrected
    return "Test set", "confirmed" if finding.significant else "not confirmed", corrected


def _gap(report: Report, finding: Finding) -> Iterator[tuple[str, str, str]]:
    """Yield the gap between two groups where the metric is not the gap itself."""
    table = finding.table
    if not is_two_by_two(finding) or not isinstance(table, CountTable):
        return
    if base_metric(finding.metric) == "DIFF" and not report.explanatory:
        return
    reference, compared = rates_of(table, 1)
    if reference is not None and compared is not None:
        points = fixed(100 * (compared - reference), 1, signed=True, shy=True)
        small = "all together" if report.explanatory else ""
        yield "Gap in rates", f"{points} points", "; ".join(filter(None, (_order(table, "−"), small)))


def _order(table: CountTable, sign: str) -> str:
    return f"{level_words(table.columns[1])} {sign} {level_words(table.columns[0])}"


def _ratio(report: Report, finding: Finding) -> Iterator[tuple[str, str, str]]:
    if finding.ratio is None or not isinstance(finding.table, CountTable):
        return
    scale = scale_for("RATIO")
    bounds = finding.ratio_interval
    interval = "" if bounds is None else scale.interval((bounds[0] - 1, bounds[1] - 1)) + " single"
    fact = guide.four_fifths(report, finding)
    yield (
        "Ratio",
        scale.number(finding.ratio - 1),
        "; ".join(filter(None, (interval, _order(finding.table, "÷"), fact))),
    )


def _against(attribute: AttributeReport, finding: Finding, scale: Scale) -> Iterator[tuple[str, str, str]]:
    whole = attribute.population
    alike = (whole.metric, whole.label) == (finding.metric, finding.label)
    if len(finding.context) == 0 or not alike or not whole.effect or finding.effect is None:
        return
    times = finding.effect / whole.effect
    if base_metric(finding.metric) in {"NMI", "ETA"} and times > 0:
        yield "Against everyone", f"{fixed(times, 1)} ×", f"the population’s {scale.number(whole.effect)}"
    else:
        small = "" if whole.interval is None else f"{scale.interval(whole.interval)} simultaneous"
        yield "Everyone", scale.estimate(whole.effect), small


# Strata ---------------------------------------------------------------------------------------------------


def _strata(report: Report, finding: Finding, scale: Scale) -> View | None:
    if not finding.strata:
        return None
    axis = figures.effect_axis([finding, *finding.strata], scale)
    tables = [stratum.table for stratum in finding.strata]
    return {
        "axis": axis,
        "metric": guide.base_name(finding.metric),
        "unit": scale.unit.strip(),
        "rows": [] if axis is None else list(_strata_rows(report, finding, axis, scale)),
        "tables": [
            {"name": _values(stratum), "people": count(stratum.size), "table": table_view(stratum.table, 0, tables)}
            for stratum in finding.strata
        ],
    }


def _strata_rows(report: Report, finding: Finding, axis: figures.Axis, scale: Scale) -> Iterator[View]:
    given = " and ".join(map(spoken, finding.strata[0].values))
    who = "Everyone" if len(finding.context) == 0 else "This group"
    first = _forest_row(finding, axis, scale, f"{who}, given {given}", "")
    yield first | {"diamond": True, "verdict": "clear" if finding.significant else "not distinguishable from none"}
    for stratum in finding.strata:
        row = _forest_row(stratum, axis, scale, _values(stratum), "")
        yield row | {"verdict": guide.stratum_words(report, stratum)}


def _values(stratum: Stratum) -> str:
    return ", ".join(f"{spoken(name)} = {level_words(value)}" for name, value in stratum.values.items()) or UNDEFINED
