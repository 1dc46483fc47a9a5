"""The phrases that sentences about findings are made of: shares and gaps, ranges and averages.

What a sentence says of an effect is up to the metric (:mod:`fairtest.metrics.words`), which puts these together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.metrics.choice import reported_metric
from fairtest.metrics.words import NOT_CLEAR, MeanRange
from fairtest.model.finding import CountTable, GroupTable
from fairtest.model.names import clean_line
from fairtest.numbers import decimals_for, fixed, need_decimals, quantity, rate, rates_in_words
from fairtest.reporting.figures.marks import FEW
from fairtest.reporting.words.phrases import (
    be,
    bin_words,
    choose_groups,
    choose_row,
    is_bin,
    is_slight,
    outcome_words,
)

if TYPE_CHECKING:
    from fairtest.metrics.registry import Metric
    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding, Group
    from fairtest.model.names import Names


@dataclass(frozen=True)
class Case:
    """A finding that needs words, and what they depend on.

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
    def metric(self) -> Metric:
        """The metric of the finding."""
        return reported_metric(self.finding.metric)

    @property
    def effect(self) -> float:
        """The effect, where there is one."""
        return self.finding.effect or 0.0

    @property
    def significant(self) -> bool:
        """Whether the link is clear."""
        return self.finding.significant

    @property
    def usual(self) -> float | None:
        """The effect in the whole population, if there is one to compare with."""
        return None if self.population is None else self.population.effect

    @property
    def scale(self) -> Scale:
        """How the effect is written."""
        return self.metric.scale.for_effect((self.population or self.finding).effect)

    @property
    def number(self) -> str:
        """The effect without its unit."""
        return self.scale.number(self.effect)

    @property
    def against(self) -> str:
        """``, against 0.06 in the whole population``, or nothing for the population itself."""
        return "" if self.population is None else f", against {self.scale.number(self.usual)} in the whole population"

    @property
    def output(self) -> str:
        """What the output is called."""
        return self.names.column(self.finding.output)

    @property
    def protected(self) -> str:
        """What the protected attribute is called."""
        return self.names.column(self.finding.protected)

    @property
    def is_two_by_two(self) -> bool:
        """Whether two groups and two outputs are compared."""
        return two_by_two(self.finding) is not None

    def shares(self) -> str:
        """Return ``12 % with sex = Female and 44 % with sex = Male have income = >50K``, without a full stop."""
        first, second = self.quoted_rates()
        return f"{first} and {second} {outcome_words(self.finding, self._counts.rows[1], self.names)}"

    def quoted_rates(self) -> tuple[str, str]:
        """Return the two rates with their groups, the compared one first."""
        table, rates = self._counts, two_rates(self.finding)
        first, second = (rate(share, decimals_of_rates(*rates)) for share in rates)
        having = self.names.having
        return (
            f"{first} {having(table.protected, table.columns[1])}",
            f"{second} {having(table.protected, table.columns[0])}",
        )

    def contrast(self) -> str:
        """Return ``11 % (Female) against 30 % (Male)``, or from where to where shares or averages run; else nothing."""
        table = self.finding.table
        if self.is_two_by_two:
            rates = two_rates(self.finding)
            groups = [self.names.short(self._counts.protected, self._counts.columns[i]) for i in (1, 0)]
            first, second = (rate(share, decimals_of_rates(*rates)) for share in rates)
            return f"{first} ({groups[0]}) against {second} ({groups[1]})"
        if isinstance(table, CountTable):
            runs = self.share_range() if len(table.rows) == 2 and self.metric.compares is None else None
            return (runs or "").partition(" runs ")[2]
        known = None if _is_binned(table) and is_bin(table.by, table.rows[0].name) else self.mean_range()
        runs = "" if known is None or not known.is_output else known.runs.partition(" runs ")[2]
        return f"on average {runs}" if runs else ""

    def gap(self) -> str:
        """Return the gap; or how many times as often, where the gap is the usual one and only the ratio is larger."""
        a, b = two_rates(self.finding)
        gap = f"a gap of {points_between(a, b, decimals_of_rates(a, b))} points"
        if not self.significant:
            return f"{gap}, {NOT_CLEAR}"
        if self.population is None or two_by_two(self.population) is None:
            return gap
        whole_a, whole_b = two_rates(self.population)
        whole = points_between(whole_a, whole_b, max(decimals_of_rates(a, b), int(need_decimals([whole_a, whole_b]))))
        if (a - b) * (whole_a - whole_b) < 0:
            if not self.population.significant:
                return f"{gap}, where the whole population shows none that is clear"
            if is_slight(self.finding, whole_a - whole_b):
                return f"{gap} that is hardly clear, against {whole} the other way round in the whole population"
            return f"{gap}, the other way round from the whole population’s {whole}"
        times, usual = _times(a, b), _times(whole_a, whole_b)
        if abs(a - b) < abs(whole_a - whole_b) + 0.02 and times is not None and usual is not None and times > usual:
            return self.times()
        return f"{gap}, against {whole} in the whole population"

    def times(self) -> str:
        """Return ``those with sex = Male 6.2 times as often, against 2.8 times in the whole population``.

        Where a rate is 0 there is no such number, and it is the gap.
        """
        table, (a, b) = self._counts, two_rates(self.finding)
        times, usual = _times(a, b), None
        if times is None:
            return self.gap()
        if self.population is not None and two_by_two(self.population) is not None:
            whole_a, whole_b = two_rates(self.population)
            usual = _times(whole_a, whole_b) if (a - b) * (whole_a - whole_b) > 0 else None
        oftener = self.names.those(table.protected, table.columns[1 if a >= b else 0])
        words = f"{oftener} {_times_number(times)} times as often"
        return words if usual is None else f"{words}, against {_times_number(usual)} times in the whole population"

    def share_range(self) -> str | None:
        """Return from where to where the share of the output runs that varies most; None where there is none."""
        table = self.finding.table
        groups = choose_groups(table, self.least) if isinstance(table, CountTable) else ()
        if not isinstance(table, CountTable) or len(groups) < 2:
            return None
        row = choose_row(table, self.least)
        shares = table.shares(row)
        low, high = rates_in_words([shares[g] or 0.0 for g in groups])
        first, last = (self.names.short(table.protected, table.columns[g]) for g in groups)
        what = outcome_words(self.finding, table.rows[row], self.names, noun=True)
        runs = "runs" if len(table.rows) == 2 else "varies most: it runs"
        return f"{what} {runs} from {low} ({first}) to {high} ({last})"

    def movement(self) -> str:
        """Return how the one attribute moves with the other, with two averages where there are any."""
        table, average = self.finding.table, self.names.average
        rises = "rises" if self.effect > 0 else "falls"
        plain = f"{self.output} {rises.removesuffix('s') if be(self.output) == 'are' else rises} with {self.protected}"
        if isinstance(table, CountTable):
            if self.is_two_by_two:
                return self.shares()
            if len(table.rows) == 2 and self.names.outcomes:
                share = outcome_words(self.finding, table.rows[1], self.names, noun=True)
                return f"{share} {rises} with {self.protected}"
            return plain
        ends = _first_and_last(table, self.least)
        if ends is None:
            return plain
        if table.measured == self.finding.protected or not _is_binned(table):
            return self._two_means(table, (ends[1], ends[0]))
        low, high = means_in_words(ends)
        first, last = (bin_words(table.by, group.name, self.names) for group in ends)
        if average:
            return f"{average} {low} on average where {first}, and by {high} where {last}"
        return f"{plain}: {low} on average where {first}, {high} where {last}"

    def _two_means(self, table: GroupTable, groups: tuple[Group, Group]) -> str:
        first, second = means_in_words(groups)
        these, those = (self._of(table.by, group) for group in groups)
        if self.names.average and table.measured != self.finding.protected:
            return f"{self.names.average} {first} on average {these} and by {second} {those}"
        measured = self.names.column(table.measured)
        return f"average {measured} {be(measured)} {first} {these} and {second} {those}"

    def _of(self, attribute: str, group: Group) -> str:
        label = self.names.label(attribute, group.name)
        return f"for {label}" if label else self.names.having(attribute, group.name)

    def mean_range(self) -> MeanRange | None:
        """Return from where to where averages run, whichever of the two attributes is the number."""
        table = self.finding.table
        if not isinstance(table, GroupTable):
            return None
        known = _choose_large([g for g in table.rows if g.mean is not None], self.least)
        known.sort(key=lambda g: g.mean or 0.0)
        measured, is_output = self.names.column(table.measured), table.measured != self.finding.protected
        runs = ""
        if len(known) > 1:
            low, high = means_in_words((known[0], known[-1]))
            first, last = (self.names.short(table.by, g.name) for g in (known[0], known[-1]))
            runs = f"average {measured} runs from {low} ({first}) to {high} ({last})"
            if self.names.average and is_output:
                runs = f"{self.names.average} {low} ({first}) to {high} ({last}) on average"
        return MeanRange(measured, self.names.column(table.by), is_output, runs)

    def plain(self) -> str:
        """Return the clause of a metric of which no more is known than its name and its number."""
        value = f"{clean_line(self.finding.metric)} = {self.scale.estimate(self.effect)}{self.against}"
        unclear = "" if self.significant else f", {NOT_CLEAR}"
        if self.is_two_by_two:
            return f"{self.shares()}; {value}{unclear}."
        return f"the link between {self.output} and {self.protected} is {value}{unclear}."

    @property
    def _counts(self) -> CountTable:
        assert isinstance(self.finding.table, CountTable)
        return self.finding.table


def two_by_two(finding: Finding) -> CountTable | None:
    """Return the table of a finding if it compares two groups and two outputs."""
    table = finding.table
    return table if isinstance(table, CountTable) and len(table.rows) == len(table.columns) == 2 else None


def two_rates(finding: Finding) -> tuple[float, float]:
    """Return the rates of the compared group and of the reference."""
    assert isinstance(finding.table, CountTable)
    reference, compared = finding.table.shares(1)
    return compared or 0.0, reference or 0.0


def decimals_of_rates(a: float, b: float) -> int:
    """Return how many decimals two rates and their gap get: one if whole numbers would not add up, else none."""
    whole = abs(round(100 * a) - round(100 * b))
    return 1 if need_decimals([a, b]) or whole != round(100 * abs(a - b)) else 0


def points_between(a: float, b: float, decimals: int) -> str:
    """Return how far two rates are apart, in points."""
    return fixed(100 * abs(a - b), decimals, shy=True)


def compare_rates(who: str, what: str, than: str, a: float, b: float) -> str:
    """Return ``women are hired 19 points less often than men: 11 % to 30 %``, from what they have and both rates.

    After an output that ends in a digit the points come last: ``= 1 4 points`` cannot be read.
    """
    decimals = decimals_of_rates(a, b)
    points, often = f"{points_between(a, b, decimals)} points", f"{'more' if a > b else 'less'} often"
    numbers = f"{rate(a, decimals)} to {rate(b, decimals)}"
    if what[-1:].isdigit():
        return f"{who} {what} {often} than {than}, by {points}: {numbers}"
    return f"{who} {what} {points} {often} than {than}: {numbers}"


def _times(a: float, b: float) -> float | None:
    return max(a, b) / min(a, b) if min(a, b) > 0 else None


def _times_number(times: float) -> str:
    return fixed(times, 1 if times >= 1.95 else 2)


def _first_and_last(table: GroupTable, least: int) -> tuple[Group, Group] | None:
    """Return the first and the last group that are large enough to be named, or else that have a mean."""
    known = [group for group in table.rows if group.mean is not None]
    if _is_binned(table):
        known = _choose_large(known, max(least, FEW))
    return (known[0], known[-1]) if len(known) > 1 else None


def _choose_large(groups: list[Group], least: int) -> list[Group]:
    """Return the groups of at least so many people, or else all of them."""
    large = [group for group in groups if group.size >= least]
    return large if len(large) > 1 else groups


def _is_binned(table: GroupTable) -> bool:
    """Whether the groups are bins of a number rather than two groups of people."""
    return len(table.rows) > 2 or any(is_bin(table.by, group.name) for group in table.rows)


def means_in_words(groups: tuple[Group, Group]) -> list[str]:
    """Return two averages with as many digits as it takes to tell them apart."""
    means = [group.mean or 0.0 for group in groups]
    decimals = decimals_for(means)
    shown = [quantity(mean, decimals) for mean in means]
    while shown[0] == shown[1] and means[0] != means[1] and decimals < 12:
        decimals += 1
        shown = [quantity(mean, decimals) for mean in means]
    return shown
