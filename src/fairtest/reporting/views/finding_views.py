"""One finding on the page: its sentence, where it is, its table, its facts and its strata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.metrics.choice import reported_metric, scale_for
from fairtest.metrics.scale import POINTS, TIMES
from fairtest.model.finding import CountTable
from fairtest.model.names import one_line
from fairtest.numbers import count, fixed, rate, typeset, typeset_p
from fairtest.reporting.views.strata_views import strata_view
from fairtest.reporting.views.table_views import table_view
from fairtest.reporting.words import guide
from fairtest.reporting.words.clauses import two_by_two
from fairtest.reporting.words.impact import impact_words
from fairtest.reporting.words.phrases import capitalised, context_words
from fairtest.reporting.words.simpson import SIMPSON
from fairtest.reporting.words.wording import highlights, sentence_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding
    from fairtest.model.report import AttributeReport, Report

View = dict[str, Any]
Fact = tuple[str, str, str]


def finding_view(report: Report, attribute: AttributeReport, finding: Finding, scale: Scale, anchor: str) -> View:
    """Return everything the page shows of a finding, or of the population."""
    if finding.metric != attribute.metric:
        scale = scale_for(finding.metric, finding.effect)
    facts = _facts(report, attribute, finding, scale)
    return {
        "anchor": anchor,
        "in_tree": None,
        "said": marked(sentence_in(report, attribute, finding), highlights(finding, report.names)),
        "words": context_words(finding.context, report.names),
        "label": None if finding.label is None else one_line(finding.label),
        "context": one_line(str(finding.context)),
        "size": finding.size,
        "estimate": f"{abs(finding.effect or 0.0):.6g}",
        "predicates": [one_line(str(predicate)) for predicate in finding.predicates],
        "table": table_view(finding.table, report.settings.min_size, report.names),
        "facts": [(name, typeset(value), typeset(small)) for name, value, small in facts],
        "strata": strata_view(report, finding, scale),
        "notes": [_titled(typeset(one_line(note))) for note in finding.notes],
    }


def _titled(note: str) -> tuple[str, str]:
    """Return a note in two: what it begins with, where that is a title, and the rest."""
    return (SIMPSON, note.removeprefix(SIMPSON).strip()) if note.startswith(SIMPSON) else ("", note)


def marked(text: str, phrases: Sequence[str]) -> list[tuple[str, str]]:
    """Return the sentence in pieces: those that name the two groups are marked ``a`` and ``b``."""
    pieces = []
    for phrase, mark in zip(phrases, "ab", strict=False):
        before, found, after = text.partition(phrase)
        if found:
            pieces += [(typeset(before), ""), (typeset(found), mark)]
            text = after
    return [*pieces, (typeset(text), "")]


def _facts(report: Report, attribute: AttributeReport, finding: Finding, scale: Scale) -> Iterator[Fact]:
    """Yield what is known of a finding: its name, its value, and small print."""
    if finding.effect is not None:
        name = capitalised(guide.metric_label(report, finding.metric))
        yield name, scale.estimate(finding.effect), _intervals(report, finding, scale)
        yield from _gap(report, finding)
        yield from _ratio(report, finding)
        yield _how_sure(report, finding)
    part = guide.share_of(report, finding)
    people = capitalised(report.names.people)
    yield people, count(finding.size), "" if part is None else f"{rate(part)} of the {guide.measured_set(report)}"
    yield from _against(attribute, finding, scale)


def _intervals(report: Report, finding: Finding, scale: Scale) -> str:
    shown = f"{scale.interval(finding.interval)} simultaneous"
    if report.reuse is None:
        return f"{shown}; single {scale.interval(finding.interval_single)}"
    return "of the training set" + ("" if finding.interval is None else f"; {shown}, confirmed")


def _how_sure(report: Report, finding: Finding) -> Fact:
    corrected = f"corrected for {count(report.corrected_for)} {'test' if report.corrected_for == 1 else 'tests'}"
    if report.reuse is None:
        return "Chance alone", typeset_p(finding.p_value), corrected
    return "Test set", "confirmed" if finding.significant else "not confirmed", corrected


def _gap(report: Report, finding: Finding) -> Iterator[Fact]:
    """Yield the gap between two groups where the metric is not the gap itself."""
    table = two_by_two(finding)
    if finding.gap is None or table is None:
        return
    if reported_metric(finding.metric).compares == "difference" and not report.explanatory:
        return
    interval = "" if finding.gap_interval is None else f"{POINTS.interval(finding.gap_interval)} single"
    small = "all together" if report.explanatory else ""
    yield (
        "Gap in rates",
        POINTS.estimate(finding.gap),
        "; ".join(filter(None, (interval, _order(report, table, "−"), small))),
    )


def _order(report: Report, table: CountTable, sign: str) -> str:
    reference, compared = (report.names.short(table.protected, group) for group in table.columns)
    return f"{compared} {sign} {reference}"


def _ratio(report: Report, finding: Finding) -> Iterator[Fact]:
    """Yield the ratio of two groups' rates, and the lowest impact ratio where the output is a selection."""
    if finding.ratio is not None and isinstance(finding.table, CountTable):
        bounds = finding.ratio_interval
        interval = "" if bounds is None else TIMES.interval((bounds[0] - 1, bounds[1] - 1)) + " single"
        small = "; ".join(filter(None, (interval, _order(report, finding.table, "÷"))))
        yield "Ratio", TIMES.number(finding.ratio - 1), small
    if (lowest := impact_words(report, finding)) is not None:
        yield "Impact ratio", *lowest


def _against(attribute: AttributeReport, finding: Finding, scale: Scale) -> Iterator[Fact]:
    whole = attribute.population
    alike = (whole.metric, whole.label) == (finding.metric, finding.label)
    if len(finding.context) == 0 or not alike or not whole.effect or finding.effect is None:
        return
    times = finding.effect / whole.effect
    if not reported_metric(finding.metric).signed and times > 0:
        yield "Against everyone", f"{fixed(times, 1)} ×", f"the population’s {scale.number(whole.effect)}"
    else:
        small = "" if whole.interval is None else f"{scale.interval(whole.interval)} simultaneous"
        yield "Everyone", scale.estimate(whole.effect), small
