"""Columns of everybody encoded at once, each in its kind (see :mod:`fairtest.data.columns.decide`)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairtest.data.columns.decide import FEW, Decision, Way, called, decide, nearly_all_differ, number_of
from fairtest.data.columns.declared import Declared
from fairtest.data.columns.levels import are_whole, as_floats, at_most, encode, identify, many_at_first
from fairtest.data.table import Column, FlagColumn, Sets
from fairtest.exceptions import InputError, argument, the
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from fairtest.data.reading.normal import RawColumn
    from fairtest.types import Level

FEW_ONES = 8
"""A column of 0 and 1 keeps just the rows with a 1 where those are at most one in so many."""


def column_of(raw: RawColumn, declared: Declared | None = None) -> Column:
    """Return the encoded column, of the declared kind or of the one its type, values and name suggest.

    Examples
    --------
    >>> from fairtest.data.reading.normal import RawColumn
    >>> column = column_of(RawColumn("paid", pl.Series(["yes", "no", None])))
    >>> print(column.kind, column.levels, column.reason)
    binary ('no', 'yes') text, 2 values
    """
    declared = declared or Declared()
    if raw.values is None:
        return _nested(raw, declared)
    finite(raw.name, raw.values)
    values = spelled_numbers(raw.name, raw.values) if raw.name in declared.numeric else raw.values
    known = _Known(raw, values)
    decision = decide(known, declared)
    missing = known.missing
    if decision.way is Way.NUMBERS:
        kind, reason = called(decision, 0, 0)
        return Column(raw.name, kind, reason, missing, values=as_floats(values), number=number_of(known))
    if decision.way is Way.LEVELS and raw.name not in declared.categorical and known.flags is not None:
        return _flag_column(raw.name, values, known.flags, f"{decision.reason}, 2 values")
    levels, codes = _encoded(known, decision)
    kind, reason = called(decision, len(levels), known.rows - missing)
    return Column(raw.name, kind, reason, missing, levels, codes)


class _Known:
    """The facts about a column all of whose values are here, each found out when it is asked for."""

    def __init__(self, raw: RawColumn, values: pl.Series) -> None:
        self.name, self.order, self.category, self.note = raw.name, raw.order, raw.category, raw.note
        self.values = values
        self.dtype = values.dtype
        self.rows = len(values)
        self.missing = values.null_count()

    @cached_property
    def whole(self) -> bool:
        return self.dtype != pl.Float64 or are_whole(self.values)

    @cached_property
    def few(self) -> int | None:
        return 2 if self.flags is not None else at_most(self.values, FEW)

    @cached_property
    def distinct(self) -> int:
        return self.values.n_unique() - bool(self.missing)

    @property
    def all_differ(self) -> bool:
        return self.distinct == self.rows - self.missing

    @cached_property
    def flags(self) -> pl.Series | None:
        """Where the values, booleans or 0 and 1, are true, if that is seldom."""
        ones = self.values if self.dtype == pl.Boolean else _ones(self.values)
        if ones is None or self.category:
            return None
        true = int(ones.sum() or 0)
        seldom = 0 < true * FEW_ONES <= self.rows and true + self.missing < self.rows
        return ones if seldom else None


def _ones(values: pl.Series) -> pl.Series | None:
    """Return where numbers that are all 0 or 1 are 1; None where some are neither."""
    if values.dtype not in (pl.Int64, pl.Float64) or values.min() != 0 or values.max() != 1:
        return None
    ones = values == 1
    if values.dtype == pl.Float64 and not ((values == 0) | ones).all():
        return None
    return ones


def _flag_column(name: str, values: pl.Series, ones: pl.Series, reason: str) -> FlagColumn:
    at, gone = (s.arg_true().to_numpy().astype(np.int32) for s in (ones.fill_null(False), values.is_null()))
    levels = (False, True) if values.dtype == pl.Boolean else (0, 1)
    return FlagColumn(name, reason, levels, len(values), at, gone)


def _encoded(known: _Known, decision: Decision) -> tuple[tuple[Level, ...], NDArray[np.int32]]:
    if decision.way is Way.IDENTIFIER or (
        decision.way is Way.TEXT
        and many_at_first(known.values)
        and nearly_all_differ(known.distinct, known.rows - known.missing)
    ):
        return identify(known.values)
    levels, codes = encode(known.values)
    if decision.way is not Way.ORDERED:
        return levels, codes
    ranked, new = in_order(known.name, levels, decision.order)
    return ranked, new[codes]


def in_order(
    name: str, levels: tuple[Level, ...], order: tuple[Level, ...]
) -> tuple[tuple[Level, ...], NDArray[np.int32]]:
    """Return the levels that occur in the order given, and the new code of each old one, of −1 at the end."""
    place = _places(levels, order)
    left = [level for level in levels if level not in place]
    if left:
        raise InputError(
            f"{the('ordered', 'parameter')} must name every value of column {name!r}; "
            f"{_shown(left)} of the data {'is' if len(left) == 1 else 'are'} not among {_shown(order)}. "
            f"Add what is missing, or name it in {argument('missing')} if it stands for no value."
        )
    ranked = sorted(range(len(levels)), key=lambda code: place[levels[code]])
    new = np.empty(len(levels) + 1, dtype=np.int32)
    new[ranked] = np.arange(len(levels), dtype=np.int32)
    new[-1] = -1
    return tuple(levels[code] for code in ranked), new


def _places(levels: tuple[Level, ...], order: tuple[Level, ...]) -> dict[Level, int]:
    """Return where each level stands in the order, by value or else by its text."""
    by_value = {level: place for place, level in enumerate(order)}
    by_text = {str(level): place for place, level in enumerate(order)}
    found = {level: by_value.get(level, by_text.get(str(level))) for level in levels}
    return {level: place for level, place in found.items() if place is not None}


def spelled_numbers(name: str, values: pl.Series, start: int = 0) -> pl.Series:
    """Return the numbers of a column declared numeric; text must spell them. The first row is number ``start``."""
    if values.dtype != pl.String:
        return values
    numbers = values.str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None)
    wrong = (numbers.is_null() & values.is_not_null() & (values.str.to_lowercase() != "nan")).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"Column {name!r} is declared numeric, and every value must spell a number. Got {values[row]!r} in row "
            f"{start + row + 1}. Name it in {argument('missing')} if it stands for no value, or do not declare the "
            "column numeric."
        )
    finite(name, numbers, start)
    return numbers


def finite(name: str, values: pl.Series, start: int = 0) -> None:
    """Raise if a number is infinite. The first row is number ``start``."""
    if values.dtype != pl.Float64:
        return
    infinite = values.is_infinite().arg_true()
    if len(infinite):
        row = int(infinite[0])
        raise InputError(
            f"Column {name!r} must hold finite numbers. Got {values[row]} in row {start + row + 1}. Replace infinite "
            "numbers by a finite one, or leave them empty."
        )


def _nested(raw: RawColumn, declared: Declared) -> Column:
    sets = None if raw.sets is None else _sets(raw.sets)
    reason = set_reason(raw.name, declared, None if sets is None else len(sets.items))
    missing = len(raw) if sets is None else int(sets.missing.size)
    codes = np.full(len(raw), -1, dtype=np.int32)
    return Column(raw.name, Kind.IDENTIFIER, reason, missing, (), codes, sets=sets)


def set_reason(name: str, declared: Declared, items: int | None) -> str:
    """Return why a column of nested values, or of sets of so many different items, is what it is."""
    if name in declared.categorical | declared.numeric | set(declared.ordered):
        raise InputError(
            f"Column {name!r} is declared, and holds nested values or bytes. Only text, numbers, booleans and "
            "dates can be used: make one plain column of it."
        )
    return "nested values cannot be used" if items is None else f"sets of labels, {items} different"


def _sets(lists: pl.Series) -> Sets:
    """Return lists of text as sets of items."""
    known = lists.fill_null([])
    ends = np.cumsum(known.list.len().to_numpy(), dtype=np.int64)
    items, codes = encode(known.filter(known.list.len() > 0).explode())
    missing = lists.is_null().arg_true().to_numpy().astype(np.int32)
    return Sets(tuple(map(str, items)), ends, codes, missing)


def _shown(levels: Iterable[Level]) -> str:
    listed = [repr(level) for level in levels]
    return ", ".join(listed[:8]) + (", …" if len(listed) > 8 else "")
