"""What each column is: binary, categorical, ordered, numeric or an identifier, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairtest.data.levels import are_whole, as_floats, at_most, encode, identify, many_at_first
from fairtest.data.table import Column, FlagColumn, Number, Sets
from fairtest.exceptions import InputError, unknown_name
from fairtest.types import Kind

if TYPE_CHECKING:
    from fairtest.data.normal import RawColumn
    from fairtest.types import Level

__all__ = ["Declared", "column_of", "words"]

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

FEW_ONES = 8
"""A column of 0 and 1 keeps just the rows with a 1 where those are at most one in so many."""

IDENTIFIERS = frozenset(["code", "guid", "id", "identifier", "idx", "index", "key", "nbr", "pk", "uid", "uuid"])


@dataclass(frozen=True)
class Declared:
    """The kinds that the user declares.

    Examples
    --------
    >>> Declared.of(categorical=["a"], ordered={"g": ["low", "high"]}).ordered
    {'g': ('low', 'high')}
    """

    categorical: frozenset[str] = frozenset()
    numeric: frozenset[str] = frozenset()
    ordered: Mapping[str, tuple[Level, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        categorical: Iterable[str] = (),
        numeric: Iterable[str] = (),
        ordered: Mapping[str, Iterable[Level]] | None = None,
    ) -> Declared:
        """Return the declarations after checking that they make sense by themselves."""
        if ordered is not None and not isinstance(ordered, Mapping):
            raise InputError(
                "The 'ordered' parameter must map a column to its levels from low to high, such as "
                f"{{'grade': ['low', 'mid', 'high']}}. Got {ordered!r} instead."
            )
        found = cls(
            _names("categorical", categorical),
            _names("numeric", numeric),
            {str(name): _levels(name, levels) for name, levels in (ordered or {}).items()},
        )
        groups = {"categorical": found.categorical, "numeric": found.numeric, "ordered": set(found.ordered)}
        for name in sorted(set().union(*groups.values())):
            twice = [group for group, names in groups.items() if name in names]
            if len(twice) > 1:
                raise InputError(f"Column {name!r} is declared both {' and '.join(twice)}. Declare it once.")
        return found

    def check(self, names: Iterable[str]) -> None:
        """Raise an error if a declared column does not exist."""
        known = list(names)
        for group, declared in (
            ("categorical", self.categorical),
            ("numeric", self.numeric),
            ("ordered", self.ordered),
        ):
            for name in sorted(declared):
                if name not in known:
                    raise unknown_name("column", name, known, hint=f"It is named in the '{group}' parameter.")


def column_of(raw: RawColumn, declared: Declared | None = None) -> Column:
    """Return the encoded column, of the declared kind or of the one its type, values and name suggest.

    Examples
    --------
    >>> from fairtest.data.normal import RawColumn
    >>> column = column_of(RawColumn("paid", pl.Series(["yes", "no", None])))
    >>> print(column.kind, column.levels, column.reason)
    binary ('no', 'yes') text, 2 values
    """
    declared = declared or Declared()
    if raw.values is None:
        return _nested(raw, declared)
    _check_finite(raw.name, raw.values)
    if raw.name in declared.ordered:
        return _ordered(raw, raw.values, declared.ordered[raw.name], "declared ordered")
    if raw.name in declared.numeric:
        return _numeric(raw, _parsed(raw.name, raw.values), "declared numeric")
    if raw.name in declared.categorical:
        return _levelled(raw, raw.values, "declared categorical")
    if raw.order:
        return _ordered(raw, raw.values, raw.order, "ordered categories")
    return _inferred(raw, raw.values)


def words(name: str) -> list[str]:
    """Return the words of a column's name, however they are joined.

    Examples
    --------
    >>> words("hoursPerWeek"), words("capital_gain"), words("PatientID 2")
    (['hours', 'per', 'week'], ['capital', 'gain'], ['patient', 'id'])
    """
    parted = re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", parted)]


def _inferred(raw: RawColumn, values: pl.Series) -> Column:
    if values.null_count() == len(values):
        return _levelled(raw, values, "no values")
    if values.dtype == pl.String and not raw.category:
        return _text(raw, values)
    flags = _flags(raw, values)
    if flags is not None:
        return flags
    few = at_most(values, FEW)
    if few == 2 or values.dtype == pl.Boolean or raw.category:
        return _levelled(raw, values, "categories" if raw.category else _type(values))
    if values.dtype == pl.Date:
        times = ", the times of day left off" if raw.note else ""
        return _numeric(raw, values, f"dates, in days{times}")
    if values.dtype == pl.Float64 and not are_whole(values):
        return _numeric(raw, values, "numbers with decimals")
    return _whole(raw, values, few)


def _flags(raw: RawColumn, values: pl.Series) -> FlagColumn | None:
    """Return a column of booleans, or of 0 and 1, in which few are true; None for any other."""
    ones = values if values.dtype == pl.Boolean else _ones(values)
    if ones is None or raw.category:
        return None
    true, missing = int(ones.sum() or 0), values.null_count()
    if not true or true * FEW_ONES > len(values) or true + missing == len(values):
        return None
    at, gone = (s.arg_true().to_numpy().astype(np.int32) for s in (ones.fill_null(False), values.is_null()))
    levels = (False, True) if values.dtype == pl.Boolean else (0, 1)
    return FlagColumn(raw.name, f"{_type(values)}, 2 values", levels, len(values), at, gone)


def _ones(values: pl.Series) -> pl.Series | None:
    """Return where numbers that are all 0 or 1 are 1; None where some are neither."""
    if values.dtype not in (pl.Int64, pl.Float64) or values.min() != 0 or values.max() != 1:
        return None
    ones = values == 1
    if values.dtype == pl.Float64 and not ((values == 0) | ones).all():
        return None
    return ones


def _whole(raw: RawColumn, values: pl.Series, few: int | None) -> Column:
    """Decide on whole numbers: categories if few, unless the name says that they count or identify."""
    code = _said(raw.name, IDENTIFIERS)
    if code and _distinct(values) == len(values) - values.null_count():
        return _identifier(raw, values, f"whole numbers, all different, and the name says '{code}'")
    if few is None:
        return _numeric(raw, values, f"whole numbers, more than {FEW} values")
    quantity = _said(raw.name, QUANTITIES)
    if quantity:
        return _numeric(raw, values, f"whole numbers, {_values(few)}, and the name says '{quantity}'")
    return _levelled(raw, values, "whole numbers")


def _text(raw: RawColumn, values: pl.Series) -> Column:
    present = len(values) - values.null_count()
    if many_at_first(values) and _distinct(values) > NEARLY_ALL * present:
        column = _identifier(raw, values, "")
    else:
        column = _levelled(raw, values, "text")
    distinct = len(column.levels)
    if distinct < AT_LEAST or distinct <= NEARLY_ALL * present:
        return column
    reason = f"text, nearly all different ({distinct} values in {present} rows)"
    return replace(column, kind=Kind.IDENTIFIER, reason=reason)


def _distinct(values: pl.Series) -> int:
    return values.n_unique() - bool(values.null_count())


def _identifier(raw: RawColumn, values: pl.Series, reason: str) -> Column:
    levels, codes = identify(values)
    return Column(raw.name, Kind.IDENTIFIER, reason, values.null_count(), levels, codes)


def _levelled(raw: RawColumn, values: pl.Series, reason: str) -> Column:
    """Return a column of levels: binary if there are two of them."""
    levels, codes = encode(values)
    kind = Kind.BINARY if len(levels) == 2 else Kind.CATEGORICAL
    reason = f"{reason}, {_values(len(levels))}" if levels else "no values"
    return Column(raw.name, kind, reason, values.null_count(), levels, codes)


def _numeric(raw: RawColumn, values: pl.Series, reason: str) -> Column:
    number = Number.REAL
    if values.dtype == pl.Date:
        number = Number.DATE
    elif values.dtype != pl.Float64 or are_whole(values):
        number = Number.INTEGER
    return Column(raw.name, Kind.NUMERIC, reason, values.null_count(), values=as_floats(values), number=number)


def _ordered(raw: RawColumn, values: pl.Series, order: tuple[Level, ...], reason: str) -> Column:
    """Return a column whose levels stand in the order given, those that occur."""
    levels, codes = encode(values)
    place = _places(levels, order)
    left = [level for level in levels if level not in place]
    if left:
        raise InputError(
            f"The 'ordered' parameter must name every value of column {raw.name!r}; "
            f"{_shown(left)} of the data {'is' if len(left) == 1 else 'are'} not among {_shown(order)}. "
            "Add what is missing, or name it in 'missing' if it stands for no value."
        )
    ranked = sorted(levels, key=lambda level: place[level])
    new = np.empty(len(levels) + 1, dtype=np.int32)
    new[[levels.index(level) for level in ranked]] = np.arange(len(levels), dtype=np.int32)
    new[-1] = -1
    reason = f"{reason}, {_values(len(levels))}"
    return Column(raw.name, Kind.ORDERED, reason, values.null_count(), tuple(ranked), new[codes])


def _places(levels: tuple[Level, ...], order: tuple[Level, ...]) -> dict[Level, int]:
    """Return where each level stands in the order, by value or else by its text."""
    by_value = {level: place for place, level in enumerate(order)}
    by_text = {str(level): place for place, level in enumerate(order)}
    found = {level: by_value.get(level, by_text.get(str(level))) for level in levels}
    return {level: place for level, place in found.items() if place is not None}


def _parsed(name: str, values: pl.Series) -> pl.Series:
    """Return the numbers of a column declared numeric; text must spell them."""
    if values.dtype != pl.String:
        return values
    numbers = values.str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None)
    wrong = (numbers.is_null() & values.is_not_null() & (values.str.to_lowercase() != "nan")).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"Column {name!r} is declared numeric, and every value must spell a number. Got {values[row]!r} in row "
            f"{row + 1}. Name it in 'missing' if it stands for no value, or do not declare the column numeric."
        )
    _check_finite(name, numbers)
    return numbers


def _check_finite(name: str, values: pl.Series) -> None:
    if values.dtype != pl.Float64:
        return
    infinite = values.is_infinite().arg_true()
    if len(infinite):
        row = int(infinite[0])
        raise InputError(
            f"Column {name!r} must hold finite numbers. Got {values[row]} in row {row + 1}. Replace infinite numbers "
            "by a finite one, or leave them empty."
        )


def _nested(raw: RawColumn, declared: Declared) -> Column:
    if raw.name in declared.categorical | declared.numeric | set(declared.ordered):
        raise InputError(
            f"Column {raw.name!r} is declared, and holds nested values or bytes. Only text, numbers, booleans and "
            "dates can be used: make one plain column of it."
        )
    rows = len(raw)
    codes = np.full(rows, -1, dtype=np.int32)
    if raw.sets is None:
        return Column(raw.name, Kind.IDENTIFIER, "nested values cannot be used", rows, (), codes)
    sets = _sets(raw.sets)
    reason = f"sets of labels, {len(sets.items)} different"
    return Column(raw.name, Kind.IDENTIFIER, reason, int(sets.missing.size), (), codes, sets=sets)


def _sets(lists: pl.Series) -> Sets:
    """Return lists of text as sets of items."""
    known = lists.fill_null([])
    ends = np.cumsum(known.list.len().to_numpy(), dtype=np.int64)
    items, codes = encode(known.filter(known.list.len() > 0).explode())
    missing = lists.is_null().arg_true().to_numpy().astype(np.int32)
    return Sets(tuple(map(str, items)), ends, codes, missing)


def _names(parameter: str, names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        return frozenset([names])
    if names is None or not isinstance(names, Iterable):
        raise InputError(f"The '{parameter}' parameter must be a list of column names. Got {names!r} instead.")
    return frozenset(str(name) for name in names)


def _levels(name: str, levels: Iterable[Level]) -> tuple[Level, ...]:
    found = () if isinstance(levels, str) or not isinstance(levels, Iterable) else tuple(levels)
    if not found or len(set(found)) < len(found):
        raise InputError(
            f"The 'ordered' parameter must give column {name!r} a list of different levels from low to high. "
            f"Got {levels!r} instead."
        )
    return found


def _said(name: str, vocabulary: frozenset[str]) -> str | None:
    """Return the first word of a name that is in the vocabulary, in the singular or the plural."""
    return next((w for w in words(name) if w in vocabulary or w.removesuffix("s") in vocabulary), None)


def _type(values: pl.Series) -> str:
    """Return what the values are, in words."""
    if values.dtype == pl.Boolean:
        return "booleans"
    if values.dtype == pl.Date:
        return "dates"
    return "numbers" if values.dtype == pl.Float64 and not are_whole(values) else "whole numbers"


def _values(count: int) -> str:
    return f"{count} value{'' if count == 1 else 's'}"


def _shown(levels: Iterable[Level]) -> str:
    listed = [repr(level) for level in levels]
    return ", ".join(listed[:8]) + (", …" if len(listed) > 8 else "")
