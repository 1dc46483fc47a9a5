"""What things are called in a report: columns, groups, people, and what happens to them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairtest.model.context import written_value
from fairtest.numbers import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtest.types import Level


@dataclass(frozen=True)
class OutcomeWords:
    """What happens to some people, as a verb after them and as a share of all."""

    verb: str
    share: str


@dataclass(frozen=True)
class Names:
    """What the user calls things; by default the columns and values speak for themselves.

    Attributes
    ----------
    labels
        Words for groups: ``{"sex": {"Female": "women"}}``.
    columns
        Words for columns: ``{"hours_per_week": "weekly hours"}``.
    people
        What the rows are.
    outcome
        What happens to those with the favourable output: ``"are accepted"``.
    some
        What all these people have in common, where a question is about some only: ``"repaid = no"``.
    outcomes
        What happens to those with other values of the output.
    average
        How an average of a numeric output is told: ``"the prediction is off by"``.
    """

    labels: Mapping[str, Mapping[Level, str]] = field(default_factory=dict)
    people: str = "people"
    outcome: str | None = None
    some: str | None = None
    outcomes: Mapping[str, OutcomeWords] = field(default_factory=dict)
    average: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def column(self, name: str) -> str:
        """Return what a column is called: the user's word, or its name as it is said."""
        return self.columns.get(name) or column_words(name)

    def label(self, attribute: str, value: Level) -> str | None:
        """Return the user's word for a group, if there is one."""
        return self.labels.get(attribute, {}).get(value)

    def having(self, attribute: str, value: Level) -> str:
        """Return what follows a share: ``of women``, or ``with sex = Female``."""
        label = self.label(attribute, value)
        return f"of {label}" if label else f"with {self.column(attribute)} = {level_words(value)}"

    def those(self, attribute: str, value: Level) -> str:
        """Return a group as the subject of a sentence."""
        return self.label(attribute, value) or f"those with {self.column(attribute)} = {level_words(value)}"

    def short(self, attribute: str, value: Level) -> str:
        """Return a group where the attribute is understood."""
        return self.label(attribute, value) or level_words(value)

    def written(self, name: str) -> str:
        """Return a column for the head of a table: the user's word, or its name as it is written."""
        return self.columns.get(name) or clean_line(name)

    def pair(self, attribute: str, value: Level) -> str:
        """Return a column with a value: ``department = Law``."""
        return f"{self.column(attribute)} = {self.short(attribute, value)}"

    def values(self, values: Mapping[str, Level]) -> str:
        """Return what the people of a stratum have in common; a range of a number needs no ``=``.

        Examples
        --------
        >>> Names().values({"dept": "Law", "education": "> 11, ≤ 12"})
        'dept = Law, education > 11, ≤ 12'
        """
        return ", ".join(
            f"{self.column(name)} {value}" if _is_range(value) else self.pair(name, value)
            for name, value in values.items()
        )

    def number_of(self, number: int) -> str:
        """Return a number of people in words: ``1,200 applicants``, ``1 person``."""
        one = number == 1 and self.people == "people"
        return f"{count(number)} {'person' if one else self.people}"


def _is_range(value: Level) -> bool:
    return isinstance(value, str) and value.startswith(("> ", "≤ "))


PLAIN_NAMES = Names()
"""Where the user has no words of their own."""


def column_words(name: str) -> str:
    """Return a column's name as it is said: on one line, underscores as spaces.

    Examples
    --------
    >>> column_words("hours_per_week")
    'hours per week'
    """
    return clean_line(name.replace("_", " ")) or "“”"


def clean_line(text: str) -> str:
    """Return text without line breaks and characters that steer a terminal."""
    return " ".join("".join(" " if unicodedata.category(c)[0] == "C" else c for c in text).split())


def level_words(value: Level) -> str:
    """Return one value of a column; an empty one shows its quotes, a negative number a real minus."""
    words = clean_line(written_value(value)) or "“”"
    return words.replace("-", "−", 1) if isinstance(value, int | float) and value < 0 else words
