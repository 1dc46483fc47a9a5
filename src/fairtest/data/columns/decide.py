"""What kind a column is and why, decided from a few facts about it: the same ones wherever its rows are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from fairtest.data.table import Number
from fairtest.exceptions import InputError
from fairtest.types import Kind

if TYPE_CHECKING:
    from fairtest.data.columns.declared import DeclaredKinds
    from fairtest.data.columns.description import ColumnDescription
    from fairtest.types import Level

FEW = 10
"""Whole numbers with at most this many different values are categories."""

NEARLY_ALL = 0.9
AT_LEAST = 20
"""Text is an identifier when more than nine rows in ten have a value of their own, and at least 20 values differ."""

QUANTITIES = frozenset(
    [
        "age", "amount", "balance", "cnt", "cost", "count", "days", "debt", "dependents", "distance", "dose",
        "duration", "fee", "freq", "frequency", "height", "hours", "income", "kilometers", "length", "miles",
        "minutes", "months", "nb", "num", "number", "pages", "payment", "percent", "percentage", "points",
        "price", "qty", "quantity", "rate", "rating", "ratio", "revenue", "salary", "score", "seconds",
        "size", "spend", "spending", "tenure", "time", "total", "turnover", "value", "visits", "volume",
        "wage", "weeks", "weight", "width", "year",
    ]
)  # fmt: skip
"""Words in a name that say a quantity is meant, however few its values."""

IDENTIFIERS = frozenset(["code", "guid", "id", "identifier", "idx", "index", "key", "nbr", "pk", "uid", "uuid"])
"""Words in a name that say that the values identify rows."""


@dataclass(frozen=True)
class KindDecision:
    """What kind a column is, and why; for an ordered one also the levels from low to high."""

    kind: Kind
    reason: str
    order: tuple[Level, ...] = ()


def decide_kind(column: ColumnDescription, declared: DeclaredKinds) -> KindDecision:
    """Return what kind a column is: the one declared, or the one its type, values and name suggest.

    Examples
    --------
    >>> from fairtest.data.columns.declared import DeclaredKinds
    >>> from fairtest.data.columns.description import ColumnDescription
    >>> from fairtest.data.reading.raw import RawColumn
    >>> column = ColumnDescription("paid", DeclaredKinds())
    >>> column.add(RawColumn("paid", pl.Series(["yes", "no", None])))
    >>> print(decide_kind(column, DeclaredKinds()).reason)
    text, 2 values
    """
    if column.dtype == pl.Null:
        return _decide_sets(column, declared)
    if column.name in declared.ordered:
        return _decide_ordered(column, "declared ordered", declared.ordered[column.name])
    if column.name in declared.numeric:
        return KindDecision(Kind.NUMERIC, "declared numeric")
    if column.name in declared.categorical:
        return _categorical(column, "declared categorical")
    if column.order:
        return _decide_ordered(column, "ordered categories", column.order)
    if column.category or column.dtype == pl.Boolean or not column.present:
        return _categorical(column, "categories" if column.category else "booleans")
    return _decide_text(column) if column.dtype == pl.String else _decide_numbers(column)


def _decide_sets(column: ColumnDescription, declared: DeclaredKinds) -> KindDecision:
    """Decide on nested values, which are of use only where they are sets of labels."""
    if column.name in declared:
        raise InputError(
            f"Column {column.name!r} is declared, and holds nested values or bytes. Only text, numbers, booleans and "
            "dates can be used: make one plain column of it."
        )
    if column.items is None:
        return KindDecision(Kind.IDENTIFIER, "nested values cannot be used")
    return KindDecision(Kind.IDENTIFIER, f"sets of labels, {column.items.count} different")


def _decide_text(column: ColumnDescription) -> KindDecision:
    distinct, present = column.distinct or 0, column.present
    if distinct >= AT_LEAST and distinct > NEARLY_ALL * present:
        reason = f"text, nearly all different ({distinct:,} values in {present:,} rows)"
        return KindDecision(Kind.IDENTIFIER, reason)
    return _categorical(column, "text")


def _decide_numbers(column: ColumnDescription) -> KindDecision:
    """Decide on numbers and dates: two values make a category, decimals a number."""
    is_date = column.dtype == pl.Date
    if column.distinct == 2:
        return _categorical(column, "dates" if is_date else "whole numbers" if column.whole else "numbers")
    if is_date:
        return KindDecision(Kind.NUMERIC, "dates, in days" + (", the times of day left off" if column.note else ""))
    return _decide_whole_numbers(column) if column.whole else KindDecision(Kind.NUMERIC, "numbers with decimals")


def _decide_whole_numbers(column: ColumnDescription) -> KindDecision:
    """Decide on whole numbers: categories if few, unless the name says that they count or identify."""
    code = identifier_word(column.name)
    if code and column.all_differ:
        return KindDecision(Kind.IDENTIFIER, f"whole numbers, all different, and the name says '{code}'")
    if column.distinct is None:
        return KindDecision(Kind.NUMERIC, f"whole numbers, more than {FEW} values")
    quantity = _find_word(column.name, QUANTITIES)
    if quantity:
        reason = f"whole numbers, {_values(column.distinct)}, and the name says '{quantity}'"
        return KindDecision(Kind.NUMERIC, reason)
    return _categorical(column, "whole numbers")


def _categorical(column: ColumnDescription, values: str) -> KindDecision:
    kind = Kind.BINARY if column.distinct == 2 else Kind.CATEGORICAL
    return KindDecision(kind, f"{values}, {_values(column.distinct)}" if column.distinct else "no values")


def _decide_ordered(column: ColumnDescription, values: str, order: tuple[Level, ...]) -> KindDecision:
    return KindDecision(Kind.ORDERED, f"{values}, {_values(column.distinct)}", order)


def number_format(column: ColumnDescription) -> Number:
    """Return how the numbers of a column are written."""
    if column.dtype == pl.Date:
        return Number.DATE
    return Number.INTEGER if column.whole else Number.REAL


def split_words(name: str) -> list[str]:
    """Return the words of a column's name, however they are joined.

    Examples
    --------
    >>> split_words("hoursPerWeek"), split_words("capital_gain"), split_words("PatientID 2")
    (['hours', 'per', 'week'], ['capital', 'gain'], ['patient', 'id'])
    """
    spaced = re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", spaced)]


def identifier_word(name: str) -> str | None:
    """Return the word of a name that says that the values identify rows."""
    return _find_word(name, IDENTIFIERS)


def _find_word(name: str, vocabulary: frozenset[str]) -> str | None:
    """Return the first word of a name that is in the vocabulary, in the singular or the plural."""
    return next((w for w in split_words(name) if w in vocabulary or w.removesuffix("s") in vocabulary), None)


def _values(count: int | None) -> str:
    return f"{count} value{'' if count == 1 else 's'}"
