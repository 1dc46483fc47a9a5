"""Findings in plain words: a sentence for each, the answer of a whole report, and what to say of nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtest.metrics.choice import reported_metric
from fairtest.metrics.words import NOT_CLEAR
from fairtest.model.finding import CountTable, Outcome
from fairtest.model.names import Names, level_words, one_line
from fairtest.numbers import count
from fairtest.reporting.words.clauses import Case, two_by_two
from fairtest.reporting.words.phrases import (
    capitalised,
    context_words,
    distinct_columns,
    joined,
    number_words,
    rates_of,
    totals,
    who,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.finding import Finding, Stratum, Table
    from fairtest.model.report import AttributeReport, Report

_FEW = 30


def sentence(
    finding: Finding,
    population: Finding | None = None,
    *,
    explanatory: Sequence[str] = (),
    names: Names | None = None,
    least: int = 100,
) -> str:
    """Return what was found, in plain words.

    Parameters
    ----------
    population
        The whole population for the same protected attribute, to compare with.
    explanatory
        The attributes conditioned on; by default those of the finding's strata.
    least
        How many people a group needs to be named where there are many.
    """
    given = tuple(explanatory) or tuple(finding.strata[0].values if finding.strata else ())
    case = Case(finding, _comparable(finding, population), names or Names(), least)
    start = who(finding, case.names)
    if finding.effect is None or math.isnan(finding.effect):
        return f"{start} the link cannot be measured: {why_undefined(finding.table, case.names)}."
    return f"{start} {_conditional(case, given) if given else case.metric.words.clause(case)}"


def sentence_in(report: Report, attribute: AttributeReport, finding: Finding) -> str:
    """Return the sentence a finding brings along, or the one its place in the report gives it."""
    if finding.sentence:
        return finding.sentence
    return sentence(
        finding,
        attribute.population,
        explanatory=report.explanatory,
        names=report.names,
        least=report.settings.min_size,
    )


def highlights(finding: Finding, names: Names | None = None) -> tuple[str, ...]:
    """Return the parts of a finding's sentence that name its two groups, the compared one first."""
    case = Case(finding, None, names or Names(), 0)
    return case.quoted_rates() if finding.effect is not None and case.is_two_by_two else ()


def _comparable(finding: Finding, population: Finding | None) -> Finding | None:
    if population is None or len(finding.context) == 0 or population.effect is None:
        return None
    return population if (population.label, population.metric) == (finding.label, finding.metric) else None


def why_undefined(table: Table, names: Names) -> str:
    """Return why an effect does not exist in a table."""
    if isinstance(table, CountTable):
        sizes = totals(table)
        absent = [names.those(table.protected, g) for g, n in zip(table.columns, sizes, strict=True) if not n]
        values = [v for v, row in zip(table.rows, table.counts, strict=True) if sum(row)]
        if absent and (len(table.columns) == 2 or len(sizes) - len(absent) < 2):
            return f"there are none of {joined(absent)}"
        if len(values) == 1:
            return f"everyone has {names.column(table.output)} = {level_words(values[0])}"
        return "one of the two attributes does not vary"
    absent = [level_words(group.name) for group in table.rows if not group.size]
    if absent and len(table.rows) - len(absent) < 2:
        return f"there is nobody with {names.column(table.by)} = {joined(absent, 'or')}"
    return f"{names.column(table.measured)} or {names.column(table.by)} does not vary"


# Given an explanatory attribute -----------------------------------------------------------------------------------


def _conditional(case: Case, given: Sequence[str]) -> str:
    alike, interval = distinct_columns(given, case.names), case.finding.interval
    measure = f"{one_line(case.metric.subject)} is {case.scale.estimate(case.effect)}"
    if interval is not None:
        measure += f" {case.scale.interval(interval)}"
    comparing = f"omparing only {case.names.people} with {alike}, {measure}: {_still(case)}."
    return f"{case.shares()}. C{comparing}" if case.is_two_by_two else f"c{comparing}"


def _still(case: Case) -> str:
    if not case.finding.significant:
        return NOT_CLEAR
    return "clear, and it turns the other way" if _turns(case) else "still clear"


def _turns(case: Case) -> bool:
    """Whether the direction given the explanatory attributes is not the one without them."""
    table = two_by_two(case.finding)
    if table is None or not case.metric.signed:
        return False
    reference, compared = rates_of(table, 1)
    return ((compared or 0.0) - (reference or 0.0)) * case.effect < 0


def verdict(stratum: Stratum, level: float, names: Names | None = None) -> str:
    """Return in a few words what one stratum says."""
    if stratum.effect is None:
        return f"cannot be measured: {why_undefined(stratum.table, names or Names())}"
    if stratum.p_value is None:
        return "too small to be tested"
    if is_clear(stratum, level):
        return "clear"
    few = _few(stratum.table, names or Names())
    return f"not enough data to say: only {few}" if few else NOT_CLEAR


def _few(table: Table, names: Names) -> str:
    """Return the smallest group of two if it is too small to tell anything."""
    if not isinstance(table, CountTable) or len(table.columns) != 2:
        return ""
    n, group = min(zip(totals(table), table.columns, strict=True), key=lambda pair: pair[0])
    label = names.label(table.protected, group)
    return "" if n >= _FEW else f"{n} {label or names.having(table.protected, group)}"


# The whole report -----------------------------------------------------------------------------------------------


def headline(report: Report) -> str:
    """Return the answer of a report in one sentence, without a full stop."""
    clear = [a.name for a in report.attributes if a.population.significant]
    found = [a for a in report.attributes if a.findings]
    if not clear and not found:
        return _only_strata(report) or nothing_found(report)
    if report.kind == "discovery":
        return _given(report, _labels_headline(report))
    groups = _groups(len(report.findings))
    if not clear:
        by = joined([report.names.column(a.name) for a in found], "or")
        whole = "though no clear link shows in the whole population"
        return _given(report, f"{report.names.column(report.subject)} goes with {by} in {groups}, {whole}")
    by = joined([f"by {report.names.column(name)}" for name in clear])
    differs = f"{report.names.column(report.subject)} differs {by}"
    if not found:
        return _given(report, differs)
    turned = any(_turned(f, a.population) for a in found for f in a.findings)
    looks = "looks stronger than in the whole population" if not turned else "looks stronger or turns the other way"
    return _given(report, f"{differs}, and in {groups} the link {looks}")


def _only_strata(report: Report) -> str:
    """Return the answer where only single strata show a link; empty where none does."""
    level = report.settings.level
    clear = [(a.name, s) for a in report.attributes for s in a.population.strata if is_clear(s, level)]
    if not clear:
        return ""
    called = report.names.column
    by = joined([f"by {called(name)}" for name in dict.fromkeys(name for name, _ in clear)])
    places = [" and ".join(f"{called(k)} = {level_words(v)}" for k, v in s.values.items()) for _, s in clear]
    where = f"where {joined(places, 'or')}" if len(places) <= 3 else f"in {number_words(len(places))} such groups"
    return _given(report, f"{called(report.subject)} differs {by} only {where}, and not clearly over all of them")


def is_clear(stratum: Stratum, level: float) -> bool:
    """Whether a stratum was tested and shows a link."""
    return stratum.effect is not None and stratum.p_value is not None and stratum.p_value <= level


def _labels_headline(report: Report) -> str:
    shown = [f for a in report.attributes for f in (a.population, *a.findings) if f.significant]
    number = len({f.label or f.output for f in shown})
    by = joined(list(dict.fromkeys(report.names.column(f.protected) for f in shown)), "or")
    return f"{number_words(number)} label{'s go' if number != 1 else ' goes'} with {by}"


def _given(report: Report, text: str) -> str:
    if report.explanatory:
        return f"Comparing only {report.names.people} with {distinct_columns(report.explanatory, report.names)}, {text}"
    return capitalised(text)


def _groups(number: int) -> str:
    return f"{number_words(number)} group{'' if number == 1 else 's'}"


def _turned(finding: Finding, population: Finding) -> bool:
    if finding.effect is None or population.effect is None:
        return False
    return reported_metric(finding.metric).signed and finding.effect * population.effect < 0


def nothing_found(report: Report) -> str:
    """Return the answer of a report without findings, without a full stop."""
    what = "any label" if report.kind == "discovery" else report.names.column(report.subject)
    by = joined([report.names.column(a.name) for a in report.attributes], "or")
    where = "the one group tested" if report.tested == 1 else f"any of {count(report.tested)} groups tested"
    if report.kind == "discovery" and report.tested > 1:
        where = f"any of {count(report.tested)} tests"
    if report.tested == 0:
        return _given(report, f"no link between {what} and {by} could be tested")
    return _given(report, f"no link between {what} and {by} was found in {where}")


def strongest(attribute: AttributeReport, names: Names | None = None) -> str:
    """Return where the link of an attribute looks strongest; empty without findings."""
    if not attribute.findings:
        return ""
    first = attribute.findings[0]
    if len(first.context) == 0:
        return ""
    metric, names = reported_metric(first.metric), names or Names()
    where = f"the {count(first.size)} {names.people} with {context_words(first.context, names)}"
    size = f"{one_line(metric.symbol)} {metric.scale.given(attribute.population.effect).estimate(first.effect)}"
    return f"By {names.column(attribute.name)} the link looks strongest among {where} ({size})."


def verdict_words(finding: Finding, tolerance: float | None) -> tuple[str, ...]:
    """Return what the data say about the tolerance that was stated, in a sentence; nothing without one."""
    if finding.verdict is None or tolerance is None:
        return ()
    metric = reported_metric(finding.metric)
    if metric.words.allowed is not None:
        allowed = metric.words.allowed(tolerance)
    else:
        allowed = metric.scale.given(finding.effect).estimate(tolerance).lstrip("+")
    words = {
        Outcome.ABOVE: "the disparity is beyond it",
        Outcome.BELOW: "the disparity is within it",
        Outcome.UNKNOWN: "not enough data to say",
    }[finding.verdict.outcome]
    needed = finding.verdict.needed
    more = f"; it would take about {count(needed)} people of this group" if needed else ""
    return (f"Against the tolerance ({allowed}): {words}{more}.",)
