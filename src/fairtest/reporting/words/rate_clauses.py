"""Clauses about counts: gaps, ratios and shares that run from group to group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.model.finding import CountTable
from fairtest.reporting.words.numbers import fixed, need_decimals, rate, rates_in_words, scale_for
from fairtest.reporting.words.phrases import named_groups, one_line, outcome_words, rates_of, told_row

if TYPE_CHECKING:
    from fairtest.model.finding import Finding
    from fairtest.reporting.words.numbers import Scale
    from fairtest.reporting.words.phrases import Names

NOT_CLEAR = "not distinguishable from none"


@dataclass(frozen=True)
class Case:
    """A finding to be put in words, with what the words depend on.

    Attributes
    ----------
    population
        The whole population to compare with; None for the population itself, or where it has no effect.
    least
        How many people a group needs to be named.
    """

    finding: Finding
    population: Finding | None
    names: Names
    least: int

    @property
    def effect(self) -> float:
        """The effect, where there is one."""
        return self.finding.effect or 0.0

    @property
    def scale(self) -> Scale:
        """How the effect is written."""
        known = self.population or self.finding
        return scale_for(self.finding.metric, known.effect)

    def against(self) -> str:
        """Return ``, against 0.06 in the whole population``, or nothing for the population itself."""
        if self.population is None:
            return ""
        return f", against {self.scale.number(self.population.effect)} in the whole population"


def is_two_by_two(finding: Finding) -> bool:
    """Whether two groups and two outputs are compared."""
    table = finding.table
    return isinstance(table, CountTable) and len(table.rows) == len(table.columns) == 2


def shares_clause(case: Case) -> str:
    """Return ``12 % with sex = Female and 44 % with sex = Male have income = >50K``, without a full stop."""
    first, second = share_phrases(case)
    table = case.finding.table
    assert isinstance(table, CountTable)
    return f"{first} and {second} {outcome_words(case.finding, table.rows[1], case.names)}"


def share_phrases(case: Case) -> tuple[str, str]:
    """Return the two quoted rates with their groups, the compared one first."""
    table, (a, b) = case.finding.table, _two_rates(case.finding)
    assert isinstance(table, CountTable)
    decimals = _decimals(a, b)
    first, second = rate(a, decimals), rate(b, decimals)
    having = case.names.having
    return (
        f"{first} {having(table.protected, table.columns[1])}",
        f"{second} {having(table.protected, table.columns[0])}",
    )


def _two_rates(finding: Finding) -> tuple[float, float]:
    """Return the rates of the compared group and of the reference."""
    assert isinstance(finding.table, CountTable)
    reference, compared = rates_of(finding.table, 1)
    return compared or 0.0, reference or 0.0


def difference(case: Case) -> str:
    """Return the clause of the gap between two groups."""
    if not is_two_by_two(case.finding):
        return own(case)
    return f"{shares_clause(case)}: {_gap_or_ratio(case)}."


def _gap_or_ratio(case: Case) -> str:
    """Return the gap, or how many times as often where only that sets the context apart."""
    a, b = _two_rates(case.finding)
    gap = f"a gap of {_points(a, b)} points"
    if not case.finding.significant:
        return f"{gap}, {NOT_CLEAR}"
    if case.population is None or not is_two_by_two(case.population):
        return gap
    whole_a, whole_b = _two_rates(case.population)
    whole = _points(whole_a, whole_b, max(_decimals(a, b), int(need_decimals([whole_a, whole_b]))))
    if (a - b) * (whole_a - whole_b) < 0:
        return f"{gap}, the other way round from the whole population’s {whole}"
    times, usual = _times(a, b), _times(whole_a, whole_b)
    if abs(a - b) < abs(whole_a - whole_b) + 0.02 and times is not None and usual is not None and times > usual:
        return _times_words(case)
    return f"{gap}, against {whole} in the whole population"


def _decimals(a: float, b: float) -> int:
    """Return with how many decimals two rates and their gap are told: so many that they subtract, but at most one."""
    whole = abs(round(100 * a) - round(100 * b))
    return 1 if need_decimals([a, b]) or whole != round(100 * abs(a - b)) else 0


def _points(a: float, b: float, decimals: int | None = None) -> str:
    return fixed(100 * abs(a - b), _decimals(a, b) if decimals is None else decimals, shy=True)


def _times(a: float, b: float) -> float | None:
    return max(a, b) / min(a, b) if min(a, b) > 0 else None


def ratio(case: Case) -> str:
    """Return the clause of the ratio of two rates."""
    if not is_two_by_two(case.finding):
        return own(case)
    tail = _times_words(case) if _times(*_two_rates(case.finding)) is not None else _gap_or_ratio(case)
    if not case.finding.significant:
        tail += f", {NOT_CLEAR}" if NOT_CLEAR not in tail else ""
    return f"{shares_clause(case)}: {tail}."


def _times_words(case: Case) -> str:
    """Return ``those with sex = Male 6.2 times as often, against 2.8 times in the whole population``."""
    table, (a, b) = case.finding.table, _two_rates(case.finding)
    assert isinstance(table, CountTable)
    times = _times(a, b)
    oftener = case.names.those(table.protected, table.columns[1 if a >= b else 0])
    words = f"{oftener} {_times_number(times)} times as often"
    usual = _usual_times(case)
    return words if usual is None else f"{words}, against {_times_number(usual)} times in the whole population"


def _usual_times(case: Case) -> float | None:
    """Return how many times as often it happens in the whole population, if to the same group."""
    if case.population is None or not is_two_by_two(case.population):
        return None
    (a, b), (whole_a, whole_b) = _two_rates(case.finding), _two_rates(case.population)
    return _times(whole_a, whole_b) if (a - b) * (whole_a - whole_b) > 0 else None


def _times_number(times: float | None) -> str:
    return fixed(times or 0.0, 1 if times is None or times >= 1.95 else 2)


def information(case: Case) -> str:
    """Return the clause of mutual information: a gap for two groups, a range for more."""
    table = case.finding.table
    if is_two_by_two(case.finding):
        return difference(case)
    if not isinstance(table, CountTable):
        return own(case)
    groups = named_groups(table, case.least)
    if len(groups) < 2:
        return own(case)
    return f"{range_clause(case, table, groups)}{_times_the_population(case)}."


def range_clause(case: Case, table: CountTable, groups: tuple[int, ...]) -> str:
    """Return from where to where the share of the told output runs."""
    row = told_row(table, case.least)
    shares = rates_of(table, row)
    low, high = rates_in_words([shares[g] or 0.0 for g in groups])
    first, last = (case.names.short(table.protected, table.columns[g]) for g in groups)
    what = outcome_words(case.finding, table.rows[row], case.names, noun=True)
    runs = "runs" if len(table.rows) == 2 else "varies most: it runs"
    return f"{what} {runs} from {low} ({first}) to {high} ({last})"


def _times_the_population(case: Case) -> str:
    if not case.finding.significant:
        return ": a link not distinguishable from none"
    if case.population is None or not case.population.effect or case.population.effect < 0:
        return ""
    return f": a link estimated at {fixed(case.effect / case.population.effect, 1)} times that in the whole population"


def own(case: Case) -> str:
    """Return the clause of a metric about which nothing more is known."""
    finding = case.finding
    value = f"{one_line(finding.metric)} = {case.scale.estimate(case.effect)}{case.against()}"
    unclear = "" if finding.significant else f", {NOT_CLEAR}"
    if is_two_by_two(finding):
        return f"{shares_clause(case)}; {value}{unclear}."
    output, protected = (case.names.column(name) for name in (finding.output, finding.protected))
    return f"the link between {output} and {protected} is {value}{unclear}."
