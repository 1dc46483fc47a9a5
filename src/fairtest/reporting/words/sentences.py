"""Findings in plain words: a sentence for each, and a few words for strata and tolerances."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairtest.metrics.choice import reported_metric
from fairtest.metrics.words import NOT_CLEAR
from fairtest.model.finding import NEEDED_CHANCE, CountTable, Outcome
from fairtest.model.names import PLAIN_NAMES, clean_line, level_words
from fairtest.numbers import count, rate
from fairtest.reporting.words.clauses import Case, two_by_two
from fairtest.reporting.words.phrases import alike_words, join_words, subject_words
from fairtest.reporting.words.several import gap_words_given, several_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.finding import Finding, Stratum, Table
    from fairtest.model.names import Names
    from fairtest.model.report import AttributeReport, Report

_FEW = 30
"""Where a stratum shows no link, a group of fewer people than this is given as the reason."""
_AGAINST_TOLERANCE = {
    Outcome.ABOVE: "the disparity is beyond it",
    Outcome.BELOW: "the disparity is within it",
    Outcome.UNKNOWN: "not enough data to say",
}


def sentence(
    finding: Finding,
    population: Finding | None = None,
    *,
    explanatory: Sequence[str] = (),
    names: Names = PLAIN_NAMES,
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
    given = explanatory or tuple(finding.strata[0].values if finding.strata else ())
    case = Case(finding, _choose_population(finding, population), names, least)
    start = subject_words(finding, names)
    if finding.effect is None or math.isnan(finding.effect):
        return f"{start} the link cannot be measured: {why_undefined(finding.table, names)}."
    if any(comparison.confirmed for comparison in finding.comparisons):
        return f"{start} {_several_clause(case, given)}."
    return f"{start} {_conditional_clause(case, given) if given else case.metric.words.clause(case)}"


def sentence_of(report: Report, attribute: AttributeReport, finding: Finding) -> str:
    """Return the sentence of a finding: its own, or one made from the report where it has none."""
    return finding.sentence or sentence(
        finding,
        attribute.population,
        explanatory=report.explanatory,
        names=report.names,
        least=report.settings.min_size,
    )


def group_phrases(finding: Finding, names: Names) -> tuple[str, ...]:
    """Return the parts of a finding's sentence that name its two groups, the compared one first."""
    case = Case(finding, None, names, 0)
    return case.quoted_rates() if finding.effect is not None and case.is_two_by_two else ()


def _choose_population(finding: Finding, population: Finding | None) -> Finding | None:
    """Return the population if the effects in it and in a context can be compared."""
    if population is None or len(finding.context) == 0 or population.effect is None:
        return None
    return population if (population.label, population.metric) == (finding.label, finding.metric) else None


def why_undefined(table: Table, names: Names) -> str:
    """Return why an effect does not exist in a table."""
    if isinstance(table, CountTable):
        absent = [names.those(table.protected, g) for g, n in zip(table.columns, table.sizes, strict=True) if not n]
        values = [v for v, row in zip(table.rows, table.counts, strict=True) if sum(row)]
        if absent and (len(table.columns) == 2 or len(table.columns) - len(absent) < 2):
            return f"there are none of {join_words(absent)}"
        if len(values) == 1:
            return f"everyone has {names.column(table.output)} = {level_words(values[0])}"
        return "one of the two attributes does not vary"
    absent = [level_words(group.name) for group in table.rows if not group.size]
    if absent and len(table.rows) - len(absent) < 2:
        return f"there is nobody with {names.column(table.by)} = {join_words(absent, 'or')}"
    return f"{names.column(table.measured)} or {names.column(table.by)} does not vary"


def _several_clause(case: Case, given: Sequence[str]) -> str:
    """Return which of several groups differ from the reference, and what is left of that among people who are alike."""
    finding, names = case.finding, case.names
    words = several_words(finding, names, f"those with {case.protected} = {{}}")
    if not given:
        return words
    return f"{words}. Comparing only {names.people} with {alike_words(given, names)}, {gap_words_given(finding, names)}"


# Given an explanatory attribute -----------------------------------------------------------------------------------


def _conditional_clause(case: Case, given: Sequence[str]) -> str:
    interval = "" if case.finding.interval is None else f" {case.scale.interval(case.finding.interval)}"
    measure = f"{clean_line(case.metric.subject)} is {case.scale.estimate(case.effect)}{interval}"
    alike = f"only {case.names.people} with {alike_words(given, case.names)}, {measure}: {_clearness_words(case)}."
    return f"{case.shares()}. Comparing {alike}" if case.is_two_by_two else f"comparing {alike}"


def _clearness_words(case: Case) -> str:
    if not case.finding.significant:
        return NOT_CLEAR
    table = two_by_two(case.finding)
    reference, compared = (0.0, 0.0) if table is None else (share or 0.0 for share in table.shares(1))
    turns = is_reversed(case.finding, compared - reference)
    return "clear, and it turns the other way" if turns else "still clear"


def is_reversed(finding: Finding, other: float | None) -> bool:
    """Whether a link goes the other way than another effect, say that of everybody; effects without a sign never do."""
    if finding.effect is None or other is None:
        return False
    return reported_metric(finding.metric).signed and finding.effect * other < 0


def is_clear(part: Finding | Stratum, level: float) -> bool:
    """Whether a finding or a stratum was tested and shows a link."""
    return part.effect is not None and part.p_value is not None and part.p_value <= level


def stratum_words(report: Report, stratum: Stratum) -> str:
    """Return in a few words what one stratum shows."""
    if report.reuse is not None:
        return "of the training set, not tested"
    if stratum.effect is None:
        return f"cannot be measured: {why_undefined(stratum.table, report.names)}"
    if stratum.p_value is None:
        return "too small to be tested"
    if is_clear(stratum, report.settings.level):
        return "clear"
    return _too_few_words(stratum.table, report.names) or NOT_CLEAR


def _too_few_words(table: Table, names: Names) -> str:
    """Return that the smaller of two groups has too few people to show anything; empty where it has enough."""
    if not isinstance(table, CountTable) or len(table.columns) != 2 or min(table.sizes) >= _FEW:
        return ""
    people, group = min(zip(table.sizes, table.columns, strict=True), key=lambda pair: pair[0])
    called = names.label(table.protected, group) or names.having(table.protected, group)
    return f"not enough data to say: only {people} {called}"


# Against a tolerance ----------------------------------------------------------------------------------------------


def tolerance_words(finding: Finding, tolerance: float | None) -> tuple[str, ...]:
    """Return what the data say about the tolerance that was stated, in a sentence; nothing without one."""
    if finding.verdict is None or tolerance is None:
        return ()
    metric, needed = reported_metric(finding.metric), finding.verdict.needed
    say_allowed = metric.words.allowed or metric.scale.for_effect(finding.effect).size
    chance = rate(NEEDED_CHANCE, 0)
    more = f"; with about {count(needed)} people of this group, the chance of a verdict is {chance}" if needed else ""
    words = _AGAINST_TOLERANCE[finding.verdict.outcome]
    return (f"Against the tolerance ({say_allowed(tolerance)}): {words}{more}.",)
