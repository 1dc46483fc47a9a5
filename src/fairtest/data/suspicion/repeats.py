"""Identifiers that repeat: columns whose values look like people, or what belongs to one, and have several rows each.

A name alone decides only where it is clear (``user_id``). Elsewhere the values must speak too: that a protected
attribute hardly ever changes among the rows of a value, as it would among people who merely share a ZIP code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.data.suspicion.names import Meaning, meaning_of
from fairtest.data.suspicion.samples import count_values, sample_values
from fairtest.data.table import Number
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from fairtest.data.suspicion.samples import ValueSample
    from fairtest.data.table import Column, Table

FEWEST = {Meaning.PERSON: 11, Meaning.IDENTIFIER: 20, Meaning.SOMEBODY: 20, Meaning.UNKNOWN: 50}
"""The fewest values that may be people, the fewer the clearer the name is; ten numbers or less are categories."""
NAMED = (Meaning.PERSON, Meaning.IDENTIFIER, Meaning.SOMEBODY)
"""Names that say something, the clearest first; only where none of them does, others are looked at."""
REPEATED = 0.01
"""The share of rows that repeat the value of another, at least: fewer change nothing that a test says."""
LOOKED_AT = 200
"""How many values are read to see whether they look like numbers of customers, or like words."""


@dataclass(frozen=True)
class Repetition:
    """A column whose values look like people, or what belongs to one, and repeat.

    Attributes
    ----------
    values, rows
        How many values there are, in how many rows.
    constant
        The protected attributes that do not change among the rows of a value.
    meaning
        What its name says.
    """

    column: str
    values: int
    rows: int
    constant: tuple[str, ...]
    meaning: Meaning


def find_repetitions(table: Table, protected: Collection[str], taken: Collection[str] = ()) -> list[Repetition]:
    """Return the identifiers that repeat, the likeliest to name people first; of those with strange names at most one.

    Parameters
    ----------
    protected
        Attributes that should not change among the rows of one person.
    taken
        Columns that have a role, and so are no identifiers.

    Examples
    --------
    >>> from fairtest.data.reading.readers import read_table
    >>> log = {"user_id": [n % 40 for n in range(200)], "zip": [10115 + n % 90 for n in range(200)]}
    >>> for found in find_repetitions(read_table(log), []):
    ...     print(found.column, found.values, found.rows)
    user_id 40 200
    """
    columns = [c for name, c in table.columns.items() if name not in taken and _may_identify(c)]
    found = [each for column in columns for each in _look_at(table, column, protected, NAMED)]
    if found or not protected:
        return sorted(found, key=lambda each: NAMED.index(each.meaning))
    # Beside an identifier, what belongs to a person (what they earn) looks like one too, and has no more values.
    found = [each for column in columns for each in _look_at(table, column, protected, (Meaning.UNKNOWN,))]
    return sorted(found, key=lambda each: -each.values)[:1]


def _look_at(
    table: Table, column: Column, protected: Collection[str], meanings: Collection[Meaning]
) -> Iterator[Repetition]:
    meaning = meaning_of(column.name)
    if meaning not in meanings:
        return
    if column.distinct is not None and not FEWEST[meaning] <= column.distinct < table.n_rows - column.missing:
        return
    sample = sample_values(column, table.n_rows)
    if sample.repeated < REPEATED:
        return
    constant = tuple(name for name in protected if _is_constant(sample, column, table[name], meaning))
    clear = meaning in (Meaning.PERSON, Meaning.IDENTIFIER)
    if not (clear or constant or (meaning is Meaning.SOMEBODY and _looks_numbered(column))):
        return
    values = count_values(column, table.n_rows)
    if values >= FEWEST[meaning]:
        yield Repetition(column.name, values, table.n_rows - column.missing, constant, meaning)


def _may_identify(column: Column) -> bool:
    """Whether the values could identify anybody: text or whole numbers, not dates and not decimals."""
    if column.is_number:
        return column.number is Number.INTEGER
    return column.kind in (Kind.CATEGORICAL, Kind.IDENTIFIER) and bool(column.distinct)


def _is_constant(sample: ValueSample, column: Column, attribute: Column, meaning: Meaning) -> bool:
    """Whether an attribute hardly ever changes among the rows of a value, and not because the value decides it.

    Whether somebody is old is settled by the year of birth. Then neighbouring numbers agree too, which numbers of
    people do not do more often than any others.
    """
    if not sample.agreement(attribute).is_constant:
        return False
    return meaning is not Meaning.UNKNOWN or not column.is_number or not sample.is_graded(attribute)


def _looks_numbered(column: Column) -> bool:
    """Whether nearly all values are numbers, or text with a digit or an @ in it, rather than words."""
    if column.is_number or column.kind is Kind.IDENTIFIER:
        return True
    levels = column.levels[:: max(len(column.levels) // LOOKED_AT, 1)]
    numbered = sum(not isinstance(v, str) or "@" in v or any(c.isdigit() for c in v) for v in levels)
    return numbered >= 0.9 * len(levels)
