"""What a validated context amounts to: the numbers a report shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from fairtest.model.rates import rate_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtest.model.comparison import Comparison
    from fairtest.model.context import Context, Predicate
    from fairtest.model.rates import Rate
    from fairtest.types import Interval, Level


@dataclass(frozen=True)
class CountTable:
    """How many people of each group have each output: the contingency table of a context.

    Attributes
    ----------
    output, protected
        The names of the two attributes.
    rows
        The output values, in the order of the first axis of ``counts``.
    columns
        The protected groups, in the order of its second axis.
    worth
        As how many independent people one of those counted counts in the intervals of rates: 1, unless rows are counted
        that are not one person each.
    weighed
        Where rows are not one person each, the rates themselves: each group has an uncertainty of its own, and counts
        of weights are rounded. Empty elsewhere.
    """

    output: str
    protected: str
    rows: tuple[Level, ...]
    columns: tuple[Level, ...]
    counts: tuple[tuple[int, ...], ...]
    worth: float = 1.0
    weighed: tuple[tuple[Rate | None, ...], ...] = ()

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many people each group has."""
        return tuple(map(sum, zip(*self.counts, strict=True)))

    @property
    def rarest(self) -> float:
        """The share of the smaller of two groups, or of the rarer of two outputs; 1 where there are more of both."""
        margins = [m for m in (self.sizes, tuple(map(sum, self.counts))) if len(m) == 2]
        return min((min(m) / max(sum(m), 1) for m in margins), default=1.0)

    @cached_property
    def rates(self) -> tuple[tuple[Rate | None, ...], ...]:
        """For each output, the share of each group that has it, with its interval; None for a group without people."""
        return self.weighed or tuple(
            tuple(rate_of(n, size, self.worth) for n, size in zip(row, self.sizes, strict=True)) for row in self.counts
        )

    def shares(self, row: int) -> tuple[float | None, ...]:
        """Return the share of each group that has one output; None for a group without people."""
        return tuple(None if rate is None else rate.share for rate in self.rates[row])


@dataclass(frozen=True)
class Group:
    """A numeric output in one group of people (or in one bin of a numeric protected attribute).

    Attributes
    ----------
    deviation, quantiles
        The standard deviation; the minimum, the quartiles and the maximum. None where they do not exist (nobody, or
        one person).
    whiskers
        The least and the largest value that are within one and a half box lengths of the box (the middle half).
    beyond
        How many people are outside the whiskers.
    at
        Where the group stands on the attribute that makes the groups: its mean there, if that is a number.
    median_interval
        Of the median, single, at the level of the set; None in bins of a number, and where people are too few.
    people
        Where people have several rows, which are then counted in ``size``: how many people these are of; else None.
    """

    name: Level
    size: int
    mean: float | None
    deviation: float | None
    quantiles: tuple[float, float, float, float, float] | None
    whiskers: tuple[float, float] | None = None
    beyond: int = 0
    at: float | None = None
    median_interval: Interval | None = None
    people: int | None = None

    @property
    def n_people(self) -> int:
        """How many people the group has."""
        return self.size if self.people is None else self.people

    @property
    def reach(self) -> tuple[float, float] | None:
        """The ends of the whiskers; where a table does not bring them along, the least and the largest value."""
        return self.whiskers or (None if self.quantiles is None else (self.quantiles[0], self.quantiles[4]))


@dataclass(frozen=True)
class Line:
    """The straight line that fits best (least squares) through everybody of a context.

    Examples
    --------
    >>> Line(intercept=1.0, slope=0.5).at(10)
    6.0
    """

    intercept: float
    slope: float

    def at(self, number: float) -> float:
        """Return the height of the line."""
        return self.intercept + self.slope * number


@dataclass(frozen=True)
class GroupTable:
    """A numeric attribute described by group.

    Attributes
    ----------
    measured
        The numeric attribute the means are of: the output, or the protected attribute when only that is numeric.
    by
        The attribute that makes the groups.
    rows
        One entry for each group, in order.
    line
        The line fitted to everybody, where the groups are bins of a number; None elsewhere, or where it does not vary.
    weight
        What everybody weighs, where rows have survey weights; None elsewhere.
    """

    measured: str
    by: str
    rows: tuple[Group, ...]
    line: Line | None = None
    weight: float | None = None

    @property
    def rarest(self) -> float:
        """The share of the smaller of two groups; 1 where there are more."""
        sizes = [group.size for group in self.rows]
        return min(sizes) / max(sum(sizes), 1) if len(sizes) == 2 else 1.0


Table: TypeAlias = CountTable | GroupTable


@dataclass(frozen=True)
class Stratum:
    """The association among people who share the values of the explanatory attributes.

    Attributes
    ----------
    values
        The explanatory attributes and their values here (a bin of a numeric one reads ``> 20, ≤ 35``).
    interval
        Simultaneous over the family, as everywhere; None where the effect is undefined.
    p_value, p_value_raw
        Corrected and uncorrected; None where the stratum was too small to be tested.
    """

    values: Mapping[str, Level]
    size: int
    effect: float | None
    interval: Interval | None
    interval_single: Interval | None
    p_value: float | None
    p_value_raw: float | None
    table: Table


@dataclass(frozen=True)
class Tested:
    """A context that is not among the findings: its numbers, without the table behind them.

    Attributes
    ----------
    effect
        None where it is undefined, or where a node of the guided tree was not tested.
    interval
        Simultaneous, as everywhere; None where the effect is undefined, or in a large family not significant.
    guided
        Whether the context is a node of the guided tree.
    part_of
        The context of the finding that says what it says, and shares people with it; None where that is everybody.
    """

    __test__ = False  # not a test case, whatever its name

    context: Context
    size: int
    effect: float | None
    interval: Interval | None
    p_value: float | None
    significant: bool
    guided: bool = False
    part_of: Context | None = None


@dataclass(frozen=True)
class Elsewhere:
    """What is left to see among the people who are in none of the contexts shown.

    ``interval`` is the single one, at the level of the test set.
    """

    size: int
    effect: float
    interval: Interval


class Outcome(StrEnum):
    """What an interval says about a tolerance."""

    ABOVE = "above"
    BELOW = "below"
    UNKNOWN = "not enough data"


NEEDED_CHANCE = 0.8
"""The chance that the number of people said to be needed is enough for a verdict."""


@dataclass(frozen=True)
class Verdict:
    """What the data say about a tolerance.

    Attributes
    ----------
    needed
        With about how many people a verdict would come with a chance of :data:`NEEDED_CHANCE`, where there are not
        enough; None where no number would do, or none is needed.
    """

    outcome: Outcome
    needed: int | None = None


@dataclass(frozen=True, repr=False)
class Finding:
    """An association in a context, measured on the test set.

    Attributes
    ----------
    protected, output
        The two attributes (``output`` is the label, for Discovery).
    size
        The people of the test set in the context, without those left out for a missing value.
    rows, weight
        How many rows they have, where people have several; what they weigh, where rows have survey weights. Else None.
    effect
        Signed where the metric has a sign; None where it is undefined (a group absent, a constant column).
    interval
        Simultaneous over everything tested on the same set.
    interval_single
        At the level of the set, for this context alone.
    p_value, p_value_raw
        Corrected over the family, and two-sided uncorrected.
    significant
        Whether the corrected p-value is at most the level of the test set.
    comparisons
        For more than two groups: each beside the reference group, in the rate of every output (of two, of the one
        effects are about) or in the mean. For two groups in the mean of a number only; empty elsewhere.
    ratio, ratio_interval
        For a two-by-two table: rate of the group over rate of the reference group, with its single interval.
    gap, gap_interval
        For two outputs and two groups: rate of the group minus rate of the reference group, everybody together
        (whatever is conditioned on), with its single interval.
    folded
        How many other significant contexts are not shown because what they say is said by it: of the contexts shown,
        they share most people with it.
    inside
        The smallest larger context that is shown too; None for most. The link is surely stronger here than in the rest
        of that one.
    confirmed
        For each predicate, whether the link is surely stronger with it than among the people who meet all the others;
        empty where that was not looked at.
    verdict
        What the simultaneous interval says about the tolerance; None where none was stated.
    notes
        Warnings about this number, in words: a weak method, strata left out.
    """

    protected: str
    output: str
    context: Context
    size: int
    metric: str
    effect: float | None
    interval: Interval | None
    interval_single: Interval | None
    p_value: float | None
    p_value_raw: float | None
    significant: bool
    table: Table
    strata: tuple[Stratum, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    ratio: float | None = None
    ratio_interval: Interval | None = None
    gap: float | None = None
    gap_interval: Interval | None = None
    label: str | None = None
    folded: int = 0
    inside: Context | None = None
    confirmed: tuple[bool, ...] = ()
    rows: int | None = None
    weight: float | None = None
    verdict: Verdict | None = None
    notes: tuple[str, ...] = ()
    sentence: str = field(default="", compare=False)

    def __repr__(self) -> str:
        effect = "undefined" if self.effect is None else f"{self.metric} {self.effect:+.3g}"
        about = f"{self.protected} → {self.output}"
        return f"<Finding: {about}, {self.context}: {effect}, {self.size:,} people>"

    def __str__(self) -> str:
        return self.sentence or repr(self)

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """The predicates of the context."""
        return self.context.predicates
