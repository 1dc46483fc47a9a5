"""From the names a user gives to variables in their roles, with every mistake caught on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.data.holdout import TRAIN
from fairtest.data.streaming.blocks import count_levels, find_range
from fairtest.data.suspicion.missing import find_missing_marks
from fairtest.data.variables import (
    Part,
    Variable,
    cross_parts,
    cut_column,
    event_variable,
    level_variable,
    number_variable,
)
from fairtest.exceptions import InputError, argument, setting
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairtest.data.source import DataSource
    from fairtest.data.table import Column
    from fairtest.types import Level

STRATUM_BINS = 5
"""An explanatory number is cut into fifths of the training set: finer strata would hold too few people."""
MOST_STRATA = 1000
MOST_LEVELS = 100
"""The most groups, or output values, that are compared: more would not be read, and have few people each."""


def names_of(role: str, given: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return one name or several as a tuple, without repetitions."""
    if given is None:
        return ()
    given = plain_name(given)
    names = (given,) if isinstance(given, str) else tuple(map(plain_name, given))
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{argument(role)} must be the name of a column, or several. Got {name!r} instead.")
    return tuple(dict.fromkeys(names))


def plain_name(name: Any) -> Any:
    """Return the name of a column as text where a frame has a whole number for it; anything else as it is."""
    return str(name) if isinstance(name, int) and not isinstance(name, bool) else name


def protected_variable(source: DataSource, names: tuple[str, ...]) -> Variable:
    """Return a protected attribute; several names are crossed into one."""
    columns = [_varying_column(source, name, "protected attribute") for name in names]
    alone = columns[0] if len(columns) == 1 else None
    if alone is not None and alone.is_number:
        return number_variable(alone)
    for column in columns:
        if column.is_number:
            raise InputError(
                f"The protected attributes {', '.join(names)} cannot be crossed: {column.name!r} is numeric. Cross "
                "attributes with levels, or give the number in a few bins as a column of its own."
            )
        check_few_levels(column, "protected attribute")
    if alone is not None:
        return level_variable(alone, first=reference_group(source, alone))
    return cross_parts(" × ".join(names), [Part(c.name, c.levels) for c in columns], source.table)


def output_variable(source: DataSource, name: str, event: Level | None = None) -> Variable:
    """Return the output; with an ``event`` it has two values, the event and what is not."""
    column = _varying_column(source, name, "output")
    if column.kind is Kind.NUMERIC:
        return number_variable(column)
    check_few_levels(column, "output")
    if event is None:
        return level_variable(column, second=favourable_value(source, column))
    return event_variable(column, event)


def strata_variable(source: DataSource, names: tuple[str, ...]) -> Variable | None:
    """Return the strata: the explanatory attributes crossed, numeric ones in bins of the training set."""
    if not names:
        return None
    parts: list[Part] = []
    for name in names:
        column = usable_column(source, name, "explanatory attribute")
        if column.kind is Kind.NUMERIC:
            parts.append(cut_column(column, source.holdout.rows(TRAIN), STRATUM_BINS))
        else:
            parts.append(Part(name, column.levels))
    strata = cross_parts(", ".join(names), parts, source.table)
    if len(strata.levels) > MOST_STRATA:
        raise InputError(
            f"The explanatory attributes {', '.join(names)} divide people into {len(strata.levels):,} strata; at most "
            f"{MOST_STRATA:,} are possible. Name fewer attributes, or ones with fewer values."
        )
    return strata


def favourable_value(source: DataSource, column: Column) -> Level | None:
    """Return the output value effects are about: declared, else True, 1 or the highest level, else the rarer one."""
    if column.kind is not Kind.BINARY:
        return None
    if column.name in source.favourable:
        return source.favourable[column.name]
    return choose_event(column.levels, _level_counts(column))


def choose_event(levels: Sequence[Level], people: Sequence[int]) -> Level:
    """Return the value that effects are about, where neither is declared: True or 1, else the rarer one.

    Ties go to the first.
    """
    low, high = levels
    if high == 1:
        return high
    if low == 1:
        return low
    return low if people[0] <= people[1] else high


def reference_group(source: DataSource, column: Column) -> Level | None:
    """Return the group others are compared with: declared, else the larger one."""
    if column.kind is not Kind.BINARY:
        return None
    if column.name in source.reference:
        return source.reference[column.name]
    n_first, n_second = _level_counts(column)
    return column.levels[0] if n_first >= n_second else column.levels[1]


def _level_counts(column: Column) -> tuple[int, int]:
    first, second = count_levels(column).tolist()
    return first, second


def usable_column(source: DataSource, name: str, role: str) -> Column:
    """Return a column that has values and is not an identifier."""
    column = source.table[name]
    if column.kind is Kind.IDENTIFIER:
        raise InputError(
            f"The {role} {name!r} cannot be used: it is an identifier ({column.reason}). If its values are groups of "
            f"people, say so: {setting('categorical', [name])}."
        )
    if column.missing == source.table.n_rows:
        raise InputError(f"The {role} {name!r} has no value in any row. Name another column.")
    return column


def _varying_column(source: DataSource, name: str, role: str) -> Column:
    column = usable_column(source, name, role)
    if column.constant:
        value = column.number.to_level(find_range(column)[0]) if column.is_number else column.levels[0]
        raise InputError(
            f"The {role} {name!r} is constant: every value is {value!r}. An association needs at least two values."
        )
    return column


def check_few_levels(column: Column, role: str) -> None:
    """Raise if a column has too many levels to be compared."""
    if len(column.levels) > MOST_LEVELS:
        marks = find_missing_marks(column)
        numbers = f"declare {setting('numeric', [column.name])}"
        if marks:
            numbers = f"say that {' and '.join(map(repr, marks))} means missing ({setting('missing', list(marks))})"
        raise InputError(
            f"The {role} {column.name!r} has {len(column.levels):,} different values; at most {MOST_LEVELS} groups can "
            f"be compared. Group them, or {numbers} if they are numbers."
        )
