"""Who gets what more often, or has more of it, and by how much: the sentence a report begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.metrics.choice import reported_metric
from fairtest.model.finding import CountTable, GroupTable
from fairtest.model.names import clean_line, level_words
from fairtest.numbers import rate
from fairtest.reporting.words.clauses import Case, compare_rates, decimals_of_rates
from fairtest.reporting.words.everybody import difference_words
from fairtest.reporting.words.phrases import alike_words, choose_row, is_bin, outcome_words
from fairtest.reporting.words.several import gap_words_given, several_words

if TYPE_CHECKING:
    from fairtest.model.finding import Finding
    from fairtest.model.names import Names
    from fairtest.model.report import AttributeReport, Report
    from fairtest.types import Level


def direction_words(report: Report, attribute: AttributeReport) -> str:
    """Return what goes with an attribute over everybody: who, in which direction, how much, from what to what.

    With explanatory attributes, first over all people together and then among those who are alike.
    """
    population, names = attribute.population, report.names
    case = Case(population, None, names, report.settings.min_size)
    overall = _overall_words(case)
    some = f"among {names.people} with {names.some}, " if names.some else ""
    if report.explanatory:
        return some + _given_words(report, case, overall)
    if overall:
        return some + overall
    return f"{names.column(report.subject)} differs by {case.protected}, {difference_words(report, attribute)}"


def people_with(names: Names, attribute: str, group: Level) -> str:
    """Return a group as the subject that a sentence begins with: ``women``, or ``people with sex = Female``."""
    if names.some:  # "among people with …" has gone before
        return names.those(attribute, group)
    return names.label(attribute, group) or f"{names.people} with {names.column(attribute)} = {level_words(group)}"


def _overall_words(case: Case) -> str:
    """Return the sentence for two groups, for several, or for a number; empty where none of them fits."""
    finding, table = case.finding, case.finding.table
    if finding.effect is None:
        return ""
    if several := several_words(finding, case.names, people_with(case.names, finding.protected, "{}")):
        return several
    if isinstance(table, CountTable) and len(table.columns) == 2 and not is_bin(table.protected, table.columns[0]):
        return _two_rates_words(case, table)
    if isinstance(table, CountTable):
        is_several = len(table.columns) > 2 and len(table.rows) >= 2 and not is_bin(table.protected, table.columns[0])
        return (case.share_range() or "") if is_several else case.movement() if case.metric.signed else ""
    if case.metric.signed and (len(table.rows) > 2 or is_bin(table.by, table.rows[0].name)):
        return case.movement()
    known = case.mean_range()
    return known.runs if known is not None and known.is_output else ""


def _two_rates_words(case: Case, table: CountTable) -> str:
    """Return ``women are hired 19 points less often than men: 11 % to 30 %``, for the output that varies most."""
    finding, names = case.finding, case.names
    reference, compared = table.columns
    row = choose_row(table, 0)
    b, a = (share or 0.0 for share in table.shares(row))
    decimals = decimals_of_rates(a, b)
    what = outcome_words(finding, table.rows[row], names)
    than = names.those(table.protected, reference)
    who = people_with(names, table.protected, compared)
    if a == b:
        return f"{who} {what} as often as {than}: {rate(a, decimals)} to {rate(b, decimals)}"
    return compare_rates(who, what, than, a, b)


def _given_words(report: Report, case: Case, overall: str) -> str:
    """Return the difference among people who are alike, after the one over all together where that is known."""
    finding = case.finding
    alike = f"comparing only {case.names.people} with {alike_words(report.explanatory, case.names)}"
    metric = reported_metric(finding.metric)
    within = f"{clean_line(metric.subject)} is {case.scale.estimate(case.effect)}"
    if finding.comparisons and overall:
        return f"{overall}; {alike}, {gap_words_given(finding, case.names)}"
    if not overall:
        return f"{alike}, {case.output} differs by {case.protected}: {within}"
    if case.is_two_by_two and metric.compares == "difference":
        within = f"it is {case.scale.size(case.effect)} {'more' if case.effect > 0 else 'less'} often"
    before = _effect_over_all(finding)
    turned = before is not None and metric.signed and before * case.effect < 0
    return f"{overall}; {'but ' if turned else ''}{alike}, {within}"


def left_unconfirmed(report: Report, attribute: AttributeReport) -> str:
    """Return what there is over all people together where no link could be confirmed among those who are alike."""
    case = Case(attribute.population, None, report.names, report.settings.min_size)
    overall = _overall_words(case) if report.explanatory and _effect_over_all(case.finding) is not None else ""
    if not overall:
        return ""
    alike = f"comparing only {case.names.people} with {alike_words(report.explanatory, case.names)}"
    return f"{overall}; {alike}, no difference could be confirmed ({case.scale.estimate(case.effect)})"


def _effect_over_all(finding: Finding) -> float | None:
    """Return the difference over all strata together, where a table shows it."""
    if finding.gap is not None:
        return finding.gap
    table = finding.table
    if isinstance(table, GroupTable) and len(table.rows) == 2:
        reference, compared = (group.mean for group in table.rows)
        return None if reference is None or compared is None else compared - reference
    return None
