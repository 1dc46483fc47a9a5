"""What a sentence says after it has said whom it is about: one clause for each metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.model.finding import CountTable, GroupTable
from fairtest.reporting.figures.marks import FEW
from fairtest.reporting.words.numbers import base_metric, decimals_for, fixed, quantity
from fairtest.reporting.words.phrases import bin_words, is_bin, outcome_words
from fairtest.reporting.words.rate_clauses import (
    NOT_CLEAR,
    difference,
    information,
    is_two_by_two,
    own,
    ratio,
    shares_clause,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.model.finding import Group
    from fairtest.reporting.words.rate_clauses import Case


def clause(case: Case) -> str:
    """Return the clause of a finding whose effect is defined, with its full stop."""
    return _BY_METRIC.get(base_metric(case.finding.metric), own)(case)


def _correlation(case: Case) -> str:
    r = f"(correlation {case.scale.number(case.effect)}{case.against()})"
    return f"{_movement(case)} {r}. {_clear_and_strong(case)}"


def _rank(case: Case) -> str:
    rises = "rise" if case.effect > 0 else "fall"
    r = f"(rank correlation {case.scale.number(case.effect)}{case.against()})"
    output, protected = (case.names.column(name) for name in (case.finding.output, case.finding.protected))
    return f"{output} tends to {rises} with {protected} {r}. {_clear_and_strong(case)}"


def _movement(case: Case) -> str:
    """Return how the one attribute moves with the other, with two averages where there are any."""
    finding, table = case.finding, case.finding.table
    rises = "rises" if case.effect > 0 else "falls"
    plain = f"{case.names.column(finding.output)} {rises} with {case.names.column(finding.protected)}"
    if isinstance(table, CountTable):
        if is_two_by_two(finding):
            return shares_clause(case)
        if len(table.rows) == 2 and case.names.outcomes:
            share = outcome_words(finding, table.rows[1], case.names, noun=True)
            return f"{share} {rises} with {case.names.column(finding.protected)}"
        return plain
    ends = _ends(table, case.least)
    if ends is None:
        return plain
    if table.measured == finding.protected or not _is_binned(table):
        return _two_means(case, table, (ends[1], ends[0]))
    low, high = means_in_words(ends)
    first, last = (bin_words(table.by, group.name, case.names) for group in ends)
    if case.names.average:
        return f"{case.names.average} {low} on average where {first}, and by {high} where {last}"
    return f"{plain}: {low} on average where {first}, {high} where {last}"


def _ends(table: GroupTable, least: int) -> tuple[Group, Group] | None:
    """Return the first and the last group that are large enough to be named, or else that have people."""
    known = [group for group in table.rows if group.mean is not None]
    if _is_binned(table):
        big = [group for group in known if group.size >= max(least, FEW)]
        known = big if len(big) > 1 else known
    return (known[0], known[-1]) if len(known) > 1 else None


def _is_binned(table: GroupTable) -> bool:
    """Whether the groups are bins of a number rather than two groups of people."""
    return len(table.rows) > 2 or any(is_bin(table.by, group.name) for group in table.rows)


def _two_means(case: Case, table: GroupTable, groups: tuple[Group, Group]) -> str:
    first, second = means_in_words(groups)
    these, those = (_for(case, table.by, group) for group in groups)
    if case.names.average and table.measured != case.finding.protected:
        return f"{case.names.average} {first} on average {these} and by {second} {those}"
    return f"average {case.names.column(table.measured)} is {first} {these} and {second} {those}"


def _for(case: Case, attribute: str, group: Group) -> str:
    label = case.names.label(attribute, group.name)
    return f"for {label}" if label else case.names.having(attribute, group.name)


def means_in_words(groups: tuple[Group, Group]) -> list[str]:
    """Return two averages with as many digits as it takes to tell them apart."""
    means = [group.mean or 0.0 for group in groups]
    decimals = decimals_for(means)
    shown = [quantity(mean, decimals) for mean in means]
    while shown[0] == shown[1] and means[0] != means[1] and decimals < 12:
        decimals += 1
        shown = [quantity(mean, decimals) for mean in means]
    return shown


def _clear_and_strong(case: Case) -> str:
    """Return how sure and how strong, each in its own word."""
    size = abs(case.effect)
    if not case.finding.significant:
        return f"The link is {NOT_CLEAR}."
    if size < 0.1:
        return "The link is clear but weak."
    return f"The link is clear and {'moderate' if size < 0.3 else 'strong'}."


def _variation(case: Case) -> str:
    """Return the clause of the correlation ratio, whichever of the two attributes is the number."""
    finding, table = case.finding, case.finding.table
    if not isinstance(table, GroupTable):
        return own(case)
    known = sorted((g for g in table.rows if g.mean is not None and g.size >= case.least), key=lambda g: g.mean or 0.0)
    if len(known) < 2:
        known = sorted((g for g in table.rows if g.mean is not None), key=lambda g: g.mean or 0.0)
    measured, by = case.names.column(table.measured), case.names.column(table.by)
    accounts = f"{by} accounts for {_share_of_variation(case)} of its variation"
    if table.measured == finding.protected:
        accounts = f"{_share_of_variation(case)} of its variation goes with {by}"
    unclear = "" if finding.significant else f", a link {NOT_CLEAR}"
    if len(known) < 2:
        return f"for {measured}, {accounts}{unclear}."
    low, high = means_in_words((known[0], known[-1]))
    first, last = (case.names.short(table.by, g.name) for g in (known[0], known[-1]))
    if case.names.average and table.measured != finding.protected:
        return f"{case.names.average} {low} ({first}) to {high} ({last}) on average; {accounts}{unclear}."
    return f"average {measured} runs from {low} ({first}) to {high} ({last}); {accounts}{unclear}."


def _share_of_variation(case: Case) -> str:
    shown = f"{fixed(100 * case.effect, 1, shy=True)} %"
    if case.population is None or case.population.effect is None:
        return shown
    return f"{shown} (against {fixed(100 * case.population.effect, 1, shy=True)} % in the whole population)"


_BY_METRIC: dict[str, Callable[[Case], str]] = {
    "DIFF": difference,
    "RATIO": ratio,
    "NMI": information,
    "CORR": _correlation,
    "RANK": _rank,
    "ETA": _variation,
}
