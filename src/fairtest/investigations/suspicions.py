"""What in the data speaks against one row a person, all of them alike: found before anything is asked, and said first.

Nothing here is taken for true. A column that looks like people or weights is kept out of contexts, unless the user
names it there, and the user is told which option would say what it is.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

from fairtest.data.suspicion.copies import find_copies
from fairtest.data.suspicion.missing import find_missing_marks
from fairtest.data.suspicion.repeats import find_repetitions
from fairtest.data.suspicion.weights import find_weights
from fairtest.numbers import count, per_cent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairtest.data.source import DataSource
    from fairtest.data.suspicion.copies import Copies
    from fairtest.data.suspicion.repeats import Repetition
    from fairtest.data.table import Table

MOST_NAMED = 4
"""How many columns a sentence names."""


@dataclass(frozen=True)
class Declared:
    """What the user says of the rows: which columns name people, weigh rows and count them; None where none does."""

    person: str | None = None
    weights: str | None = None
    counts: str | None = None

    @classmethod
    def of(cls, source: DataSource) -> Declared:
        """Return what was said of a source."""
        return cls(source.person, source.weights, source.counts)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return what the arguments are called that say it."""
        return tuple(field.name for field in fields(cls))

    @property
    def columns(self) -> frozenset[str]:
        """The columns that were named."""
        return frozenset(name for name in (self.person, self.weights, self.counts) if name is not None)


@dataclass(frozen=True)
class Roles:
    """Columns by what they are in a question.

    Attributes
    ----------
    protected
        Attributes that should not change among the rows of one person.
    given
        Columns with another role that the user gave them: they are neither people nor weights.
    decided
        Columns of which the user says whether they are contextual: no weights, then, or known as such.
    compared
        The columns in which rows may agree: those of contexts, and the output.
    """

    protected: tuple[str, ...]
    given: frozenset[str]
    decided: frozenset[str]
    compared: tuple[str, ...]

    @property
    def taken(self) -> frozenset[str]:
        """Columns with a role."""
        return self.given.union(self.protected)


@dataclass(frozen=True, eq=False)
class Suspicions:
    """What is suspicious about a table, in the light of a question."""

    table: Table
    roles: Roles
    declared: Declared

    @cached_property
    def repetitions(self) -> tuple[Repetition, ...]:
        """Identifiers that repeat, the likeliest to name people first."""
        taken = self.roles.taken.union(self.declared.columns, self.weights)
        return tuple(find_repetitions(self.table, self.roles.protected, taken))

    @cached_property
    def weights(self) -> tuple[str, ...]:
        """Columns that look like sampling weights."""
        return tuple(find_weights(self.table, self.roles.taken | self.roles.decided | self.declared.columns))

    @cached_property
    def missing_marks(self) -> Mapping[str, tuple[str, ...]]:
        """Columns of the question with values that look like marks of a missing one, and these values."""
        names = (name for name in (*self.roles.protected, *sorted(self.roles.given)) if name in self.table)
        found = {name: find_missing_marks(self.table[name]) for name in names}
        return {name: marks for name, marks in found.items() if marks}

    @cached_property
    def copies(self) -> Copies | None:
        """Rows that look like the same people; not looked for where a column says who they are, or seems to."""
        if self.repetitions or self.declared.person or self.declared.counts:
            return None
        # many people of a survey have the same weight: agreeing in it says nothing
        compared = tuple(name for name in self.roles.compared if name not in self.declared.columns)
        return find_copies(self.table, self.roles.protected, compared)

    @cached_property
    def kept_out(self) -> Mapping[str, str]:
        """Columns that are kept out of contexts, and why."""
        kept = {each.column: f"an identifier that repeats: {_times(each)}" for each in self.repetitions}
        kept |= dict.fromkeys(self.weights, "looks like a sampling weight")
        return {name: f"{why}; no context unless named as contextual" for name, why in kept.items()}

    def sentences(self, level: float) -> tuple[str, ...]:
        """Return what to say of it first, in plain sentences; ``level`` is the chance of a fluke that is promised."""
        return tuple(self._sentences(per_cent(level)))

    def _sentences(self, promise: str) -> Iterator[str]:
        if self.repetitions and not self.declared.person:
            yield _repetition_words(self.repetitions, promise)
        if (copies := self.copies) is not None:
            yield _copies_words(copies, self.table.n_rows, promise)
        if self.weights and not (self.declared.weights or self.declared.counts):
            yield _weights_words(self.weights)
        for name, marks in self.missing_marks.items():
            yield _missing_words(name, marks)


def _times(found: Repetition) -> str:
    return f"{count(found.values)} values in {count(found.rows)} rows"


def _repetition_words(found: tuple[Repetition, ...], promise: str) -> str:
    first, *others = found
    steady = f", and {_list_names(first.constant)} hardly ever change{'s' * (len(first.constant) == 1)} within one"
    more = f" ({', '.join(f'{each.column}: {_times(each)}' for each in others[:MOST_NAMED])})" if others else ""
    return (
        f"{first.column} repeats: {_times(first)}{steady if first.constant else ''}. If it names people, say "
        f"{_option('person', first.column)}; until then the {promise} does not hold."
        f"{f' Other columns repeat like that too{more}.' if more else ''}"
    )


def _copies_words(found: Copies, n_rows: int, promise: str) -> str:
    some = "" if found.of == n_rows else "a sample of "
    return (
        f"{count(found.rows)} of {some}{count(found.of)} rows agree with another one in {_list_names(found.columns)}, "
        f"far more than chance gives. If they are the same people, add a column that names them and say "
        f"{_option('person', 'COLUMN')}; until then the {promise} does not hold."
    )


def _weights_words(names: tuple[str, ...]) -> str:
    look = "looks like a sampling weight" if len(names) == 1 else "look like sampling weights"
    return (
        f"{_list_names(names)} {look}, and {'is' if len(names) == 1 else 'are'} kept out of contexts. If a row stands "
        f"for as many people, say {_option('weights', names[0])}; until then every row counts alike."
    )


def _missing_words(name: str, marks: tuple[str, ...]) -> str:
    option = " ".join(f"--missing {shlex.quote(mark)}" for mark in marks)
    return (
        f"{name} has the value {_list_names(tuple(map(repr, marks)))}. If that means missing, say so ({option}; in "
        f"Python missing={list(marks)!r} for a file, None in a frame); until then it is a value like any other."
    )


def _option(argument: str, column: str) -> str:
    return f"--{argument} {shlex.quote(column)} ({argument}={column!r} in Python)"


def _list_names(names: tuple[str, ...]) -> str:
    """Return names in a sentence, a few of them."""
    shown = list(names if len(names) <= MOST_NAMED + 1 else names[:MOST_NAMED])
    if len(names) > len(shown):
        shown.append(f"{count(len(names) - MOST_NAMED)} other columns")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
