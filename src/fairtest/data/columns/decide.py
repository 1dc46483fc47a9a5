"""What kind a column is and why, decided from a few facts about it: the same ones wherever its rows are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

import polars as pl

from fairtest.data.table import Number
from fairtest.types import Kind

if TYPE_CHECKING:
    from fairtest.data.columns.declared import Declared
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


class Facts(Protocol):
    """What is known of a column in a normal type (see :class:`fairtest.data.reading.normal.RawColumn`)."""

    @property
    def name(self) -> str:
        """The name of the column."""

    @property
    def dtype(self) -> pl.DataType:
        """The type: Boolean, Int64, Float64, Date or String."""

    @property
    def order(self) -> tuple[Level, ...]:
        """The levels from low to high, where the data says so."""

    @property
    def category(self) -> bool:
        """Whether the data says that the values are categories."""

    @property
    def note(self) -> str:
        """What was lost on the way here."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

    @property
    def missing(self) -> int:
        """How many of them have no value."""

    @property
    def whole(self) -> bool:
        """Whether every number is a whole one."""

    @property
    def few(self) -> int | None:
        """How many different values there are, or None for more than FEW."""

    @property
    def all_differ(self) -> bool:
        """Whether no two rows have the same value; asked only where the name says that they identify."""


class Way(Enum):
    """How a column is kept."""

    LEVELS = auto()
    TEXT = auto()
    ORDERED = auto()
    IDENTIFIER = auto()
    NUMBERS = auto()


@dataclass(frozen=True)
class Decision:
    """How to keep a column, and why; for an ordered one also the levels from low to high."""

    way: Way
    reason: str
    order: tuple[Level, ...] = ()


def decide(facts: Facts, declared: Declared) -> Decision:
    """Return how a column is kept: as it is declared, or as its type, values and name suggest."""
    if facts.name in declared.ordered:
        return Decision(Way.ORDERED, "declared ordered", declared.ordered[facts.name])
    if facts.name in declared.numeric:
        return Decision(Way.NUMBERS, "declared numeric")
    if facts.name in declared.categorical:
        return Decision(Way.LEVELS, "declared categorical")
    if facts.order:
        return Decision(Way.ORDERED, "ordered categories", facts.order)
    return _inferred(facts)


def called(decision: Decision, distinct: int, present: int) -> tuple[Kind, str]:
    """Return the kind and the whole reason, given how many values differ and how many rows have one.

    Examples
    --------
    >>> called(Decision(Way.TEXT, "text"), 2, 50)
    (<Kind.BINARY: 'binary'>, 'text, 2 values')
    """
    if decision.way is Way.NUMBERS:
        return Kind.NUMERIC, decision.reason
    if decision.way is Way.IDENTIFIER:
        return Kind.IDENTIFIER, decision.reason
    if decision.way is Way.ORDERED:
        return Kind.ORDERED, f"{decision.reason}, {_values(distinct)}"
    if decision.way is Way.TEXT and nearly_all_differ(distinct, present):
        return Kind.IDENTIFIER, f"text, nearly all different ({distinct:,} values in {present:,} rows)"
    kind = Kind.BINARY if distinct == 2 else Kind.CATEGORICAL
    return kind, f"{decision.reason}, {_values(distinct)}" if distinct else "no values"


def nearly_all_differ(distinct: int, present: int) -> bool:
    """Whether text has so many different values that it identifies rows."""
    return distinct >= AT_LEAST and distinct > NEARLY_ALL * present


def number_of(facts: Facts) -> Number:
    """Return how the numbers of a column are written."""
    if facts.dtype == pl.Date:
        return Number.DATE
    return Number.INTEGER if facts.dtype != pl.Float64 or facts.whole else Number.REAL


def words(name: str) -> list[str]:
    """Return the words of a column's name, however they are joined.

    Examples
    --------
    >>> words("hoursPerWeek"), words("capital_gain"), words("PatientID 2")
    (['hours', 'per', 'week'], ['capital', 'gain'], ['patient', 'id'])
    """
    parted = re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", parted)]


def _inferred(facts: Facts) -> Decision:
    if facts.missing == facts.rows:
        return Decision(Way.LEVELS, "no values")
    if facts.dtype == pl.String and not facts.category:
        return Decision(Way.TEXT, "text")
    if facts.category:
        return Decision(Way.LEVELS, "categories")
    if facts.dtype == pl.Boolean or facts.few == 2:
        return Decision(Way.LEVELS, _type(facts))
    if facts.dtype == pl.Date:
        times = ", the times of day left off" if facts.note else ""
        return Decision(Way.NUMBERS, f"dates, in days{times}")
    if not facts.whole:
        return Decision(Way.NUMBERS, "numbers with decimals")
    return _whole(facts)


def _whole(facts: Facts) -> Decision:
    """Decide on whole numbers: categories if few, unless the name says that they count or identify."""
    code = named_identifier(facts.name)
    if code and facts.all_differ:
        return Decision(Way.IDENTIFIER, f"whole numbers, all different, and the name says '{code}'")
    if facts.few is None:
        return Decision(Way.NUMBERS, f"whole numbers, more than {FEW} values")
    quantity = _said(facts.name, QUANTITIES)
    if quantity:
        return Decision(Way.NUMBERS, f"whole numbers, {_values(facts.few)}, and the name says '{quantity}'")
    return Decision(Way.LEVELS, "whole numbers")


def named_identifier(name: str) -> str | None:
    """Return the word of a name that says that the values identify rows."""
    return _said(name, IDENTIFIERS)


def _type(facts: Facts) -> str:
    """Return what the values are, in words."""
    if facts.dtype == pl.Boolean:
        return "booleans"
    if facts.dtype == pl.Date:
        return "dates"
    return "whole numbers" if facts.whole else "numbers"


def _said(name: str, vocabulary: frozenset[str]) -> str | None:
    """Return the first word of a name that is in the vocabulary, in the singular or the plural."""
    return next((w for w in words(name) if w in vocabulary or w.removesuffix("s") in vocabulary), None)


def _values(count: int) -> str:
    return f"{count} value{'' if count == 1 else 's'}"
