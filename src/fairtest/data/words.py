"""What the user calls things: words for columns and groups, for the people, and for what happens to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairtest.exceptions import InputError, setting, the, unknown_name

if TYPE_CHECKING:
    from fairtest.data.table import Column, Table
    from fairtest.types import Level

COLUMN_ITSELF = ""
"""The key that, among the words for the values of a column, has those for the column itself."""

Labels = Mapping[str, str | Mapping[object, str]]


@dataclass(frozen=True)
class Words:
    """The user's words, checked against the table.

    Attributes
    ----------
    columns
        What columns are called: ``{"hours_per_week": "weekly hours"}``.
    groups
        What the people with a value are called: ``{"sex": {"Female": "women"}}``.
    people
        What the rows are: ``"applicants"``.
    outcome
        What happens to those with the favourable output: ``{"hired": "are hired"}``; under ``None``, for any output.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, Mapping[Level, str]] = field(default_factory=dict)
    people: str = "people"
    outcome: Mapping[str | None, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, table: Table, labels: Labels | None, people: str | None, outcome: str | Mapping[str, str] | None
    ) -> Words:
        """Return the words after checking that the columns and values they are for exist.

        Examples
        --------
        >>> from fairtest.data.reading.readers import read_table
        >>> table = read_table({"sex": ["f", "m"], "hired": [0, 1]})
        >>> words = Words.of(table, {"sex": {"f": "women", "": "gender"}}, "applicants", "are hired")
        >>> words.groups, words.columns, words.outcome
        ({'sex': {'f': 'women'}}, {'sex': 'gender'}, {None: 'are hired'})
        """
        columns: dict[str, str] = {}
        groups: dict[str, Mapping[Level, str]] = {}
        for name, given in _mapping("labels", labels).items():
            column = table[name]  # raises with the nearest names
            if isinstance(given, str):
                columns[name] = _text(f"labels[{name!r}]", given)
                continue
            words = dict(_mapping(f"labels[{name!r}]", given))
            if (own := words.pop(COLUMN_ITSELF, None)) is not None:
                columns[name] = _text(f"labels[{name!r}]", own)
            groups[name] = {_level(column, value): _text(f"labels[{name!r}]", w) for value, w in words.items()}
        happens: dict[str | None, str] = {}
        if isinstance(outcome, Mapping):
            for name, words_of in outcome.items():
                happens[table[name].name] = _text(f"outcome[{name!r}]", words_of)
        elif outcome is not None:
            happens[None] = _text("outcome", outcome)
        return cls(columns, groups, "people" if people is None else _text("people", people), happens)

    def outcome_of(self, output: str) -> str | None:
        """Return what happens to those with the favourable value of an output, in the user's words."""
        return self.outcome.get(output, self.outcome.get(None))


def _mapping(argument: str, given: object) -> Mapping[str, str | Mapping[object, str]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(
            f"{the(argument, 'of DataSource')} must map a column to its words, or to the words for its values, such as "
            f"{{'sex': {{'Female': 'women'}}}}. Got {given!r} instead."
        )
    return given


def _level(column: Column, value: object) -> Level:
    """Return a value as the column has it."""
    level = column.find_level(value)
    if level is not None:
        return level
    if not column.levels:
        raise InputError(
            f"{setting('labels', {column.name: ...})}: the column is numeric, and its values cannot be given words."
        )
    raise unknown_name("value", value, map(str, column.levels), hint=f"The labels of column {column.name!r} name it.")


def _text(argument: str, words: object) -> str:
    if not isinstance(words, str) or not words.strip():
        raise InputError(f"{the(argument, 'of DataSource')} must be words. Got {words!r} instead.")
    return " ".join(words.split())
