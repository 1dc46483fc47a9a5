"""What reports say about a metric: its names, its guide, and the clause of a sentence that tells its effect.

A metric writes no report. It puts together the phrases that it is given (:class:`FindingPhrases`), which the report
makes from the table behind a finding and from what the user calls things.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

NOT_CLEAR = "not distinguishable from none"


class MeanRange(NamedTuple):
    """Averages by group in words.

    Attributes
    ----------
    measured, by
        What is averaged, and what makes the groups.
    is_output
        Whether the output is what is averaged, and not the protected attribute.
    runs
        ``average pay runs from 18 (A) to 24 (C)``; empty where there are not two groups.
    """

    measured: str
    by: str
    is_output: bool
    runs: str


class FindingPhrases(Protocol):
    """A finding to be put in words."""

    @property
    def effect(self) -> float:
        """The effect."""

    @property
    def significant(self) -> bool:
        """Whether the link is clear."""

    @property
    def usual(self) -> float | None:
        """The effect in the whole population; None for the population itself, or where it has none."""

    @property
    def number(self) -> str:
        """The effect as its scale writes it, without the unit."""

    @property
    def against(self) -> str:
        """``, against 0.06 in the whole population``, or nothing for the population itself."""

    @property
    def output(self) -> str:
        """What the output is called."""

    @property
    def protected(self) -> str:
        """What the protected attribute is called."""

    @property
    def is_two_by_two(self) -> bool:
        """Whether two groups and two outputs are compared."""

    def shares(self) -> str:
        """Of a two-by-two table: ``12 % with sex = Female and 44 % with sex = Male have income = >50K``."""

    def gap(self) -> str:
        """Of a two-by-two table: ``a gap of 32 points, against 20 in the whole population``."""

    def times(self) -> str:
        """Of a two-by-two table: ``those with sex = Male 6.2 times as often``, or the gap where a rate is 0."""

    def share_range(self) -> str | None:
        """Of other tables of counts: ``the share with … runs from 12 % (A) to 30 % (C)``; None of other tables."""

    def movement(self) -> str:
        """How the output moves with the protected attribute, with two averages or shares where there are any."""

    def mean_range(self) -> MeanRange | None:
        """Of averages by group, from where to where they run; None of tables of counts."""

    def plain(self) -> str:
        """Return the clause of a metric of which no more is known than its name and its number."""


def plain(finding: FindingPhrases) -> str:
    """Return the clause of a metric that has no words of its own."""
    return finding.plain()


@dataclass(frozen=True)
class Words:
    """The words of a metric.

    Attributes
    ----------
    noun
        What the number is: ``"gap"``. Empty: the metric's name.
    meaning
        How to read it, for the guide of a report; what number is "no link".
    subject
        What a sentence says that it is, after "the": ``"ratio of the two rates"``. Empty: the noun.
    symbol
        What stands before it in brackets: ``"η²"``. Empty: the noun.
    lower, higher
        What is said before the size of a negative and of a positive effect.
    clause
        From the phrases of a finding to the rest of a sentence that has begun with whom it is about.
    allowed
        From a tolerance to the effects that it allows, where the number alone does not say it.
    """

    noun: str = ""
    meaning: str = "a measure of this project’s own; 0 is taken to be no link"
    subject: str = ""
    symbol: str = ""
    lower: str = "lower by"
    higher: str = "higher by"
    clause: Callable[[FindingPhrases], str] = plain
    allowed: Callable[[float], str] | None = None
