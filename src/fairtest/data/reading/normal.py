"""The few normal types of a column: booleans, whole numbers, numbers, dates, text; nothing for nested values."""

from __future__ import annotations

import datetime as dt
import numbers
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.types import Level

WITH_TIMES = "with times of day"

_ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?)?$"
_LISTS = (list, tuple, set, frozenset, np.ndarray)
_NESTED = (bytes, bytearray, list, tuple, dict, set, frozenset, np.ndarray)


@dataclass(frozen=True)
class RawColumn:
    """A column as it came, in one of the normal types.

    Attributes
    ----------
    values
        Booleans, Int64, Float64 (never NaN), Date or String, null where missing; None where the values are nested.
    order
        The levels from low to high, where the frame says that they have an order.
    category
        Whether the frame says that the values are categories.
    note
        What was lost on the way: the times of day.
    rows
        How many rows a column of nested values has.
    sets
        The lists of text, where the values are lists of text, numbers or booleans.
    """

    name: str
    values: pl.Series | None
    order: tuple[Level, ...] = ()
    category: bool = False
    note: str = ""
    rows: int = 0
    sets: pl.Series | None = None

    def __len__(self) -> int:
        return self.rows if self.values is None else len(self.values)


def normal(name: str, series: pl.Series) -> RawColumn:
    """Return a polars series of any type as a column of a normal type.

    Examples
    --------
    >>> normal("when", pl.Series([dt.datetime(2020, 1, 2, 15)])).values.to_list()
    [datetime.date(2020, 1, 2)]
    """
    kind = series.dtype
    if kind == pl.Object:
        return objects(name, series.to_list())
    if kind in (pl.String, pl.Null):
        values, note = text(series.cast(pl.String))
        return RawColumn(name, values.alias(name), note=note)
    if isinstance(kind, pl.Categorical | pl.Enum):
        labels = series.cast(pl.String)
        return RawColumn(name, nulled(labels, labels == "").alias(name), category=True)
    if isinstance(kind, pl.Datetime):
        wall, days = series.dt.replace_time_zone(None), series.dt.date()
        note = WITH_TIMES if (days.cast(wall.dtype) != wall).any() else ""
        return RawColumn(name, days.alias(name), note=note)
    if isinstance(kind, pl.List | pl.Array):
        return _lists(name, series)
    plain = _plain(series)
    return nested(name, len(series)) if plain is None else RawColumn(name, plain.alias(name))


def nested(name: str, rows: int) -> RawColumn:
    """Return the column of values that cannot be used."""
    return RawColumn(name, None, rows=rows)


def _lists(name: str, series: pl.Series) -> RawColumn:
    """Return a column of lists; of text if they hold single values, so that they can be sets of labels."""
    inner = series.dtype.inner  # type: ignore[attr-defined]
    if inner.is_nested() or inner in (pl.Object, pl.Binary):
        return nested(name, len(series))
    lists = series.cast(pl.List(pl.String)).list.drop_nulls()
    return RawColumn(name, None, rows=len(series), sets=lists)


def _listed(name: str, values: Sequence[Any]) -> RawColumn:
    """Return a column of Python lists, tuples, sets or arrays; usable if they hold single values."""
    lists: list[list[str] | None] = []
    for value in values:
        items = None if value is None else list(value)
        if items is not None and any(isinstance(item, (*_NESTED, bytes)) for item in items):
            return nested(name, len(values))
        lists.append(None if items is None else [str(item) for item in items if not _is_missing(item)])
    return RawColumn(name, None, rows=len(values), sets=pl.Series(name, lists, dtype=pl.List(pl.String)))


def _plain(series: pl.Series) -> pl.Series | None:
    """Return booleans, numbers, dates, durations (in days) and times (as text); None for anything nested."""
    kind = series.dtype
    if kind.is_integer():
        whole = series.cast(pl.Int64, strict=False)
        return whole if whole.null_count() == series.null_count() else series.cast(pl.Float64)
    if kind.is_float() or kind.is_decimal():
        return series.cast(pl.Float64).fill_nan(None)
    if isinstance(kind, pl.Duration):
        return series.dt.total_microseconds().cast(pl.Float64) / 86_400e6
    if kind == pl.Time:
        return series.cast(pl.String)
    return series if kind in (pl.Boolean, pl.Date) else None


def text(series: pl.Series) -> tuple[pl.Series, str]:
    """Return a text series with nulls for empty fields, or its dates if it holds nothing but ISO dates; and a note.

    Examples
    --------
    >>> text(pl.Series(["2020-01-31", ""]))[0].to_list()
    [datetime.date(2020, 1, 31), None]
    """
    series = nulled(series, series == "")
    first = first_text(series)
    for form in (Form.DAYS, Form.STAMPS):
        days = in_form(form, series) if may_be(form, first) else None
        if days is not None and days.values is not None:
            return days.values, days.note
    return series, ""


class Form(StrEnum):
    """What a column may turn out to be, where that takes all of its values to know."""

    DAYS = "days"
    STAMPS = "days with times"
    TEXT = "text"
    INTEGERS = "integers"
    FLOATS = "floats"
    PLAIN = "plain"


def forms(kind: pl.DataType) -> tuple[Form, ...]:
    """Return what a column of a type may turn out to be; the first that all its values fit in is what it is."""
    if kind in (pl.String, pl.Null):
        return Form.DAYS, Form.STAMPS, Form.TEXT
    if kind in (pl.UInt64, pl.Int128, pl.UInt128):
        return Form.INTEGERS, Form.FLOATS
    return (Form.PLAIN,)


def first_text(series: pl.Series) -> str | None:
    """Return the first text that is there, which says whether to try dates."""
    return next(iter(series.drop_nulls().head(1).to_list()), None)


def may_be(form: Form, first: str | None) -> bool:
    """Whether a column that begins with a text may have a form."""
    if form not in (Form.DAYS, Form.STAMPS):
        return True
    return first is not None and bool(re.match(_ISO, first)) and (form is Form.STAMPS or len(first) == 10)


def in_form(form: Form, series: pl.Series) -> RawColumn | None:
    """Return some rows of a column in a form, or None if a value does not fit.

    Examples
    --------
    >>> in_form(Form.DAYS, pl.Series(["2020-01-31", "soon"])) is None
    True
    """
    name = series.name
    if form is Form.PLAIN:
        return normal(name, series)
    if form is Form.INTEGERS:
        whole = series.cast(pl.Int64, strict=False)
        return None if whole.null_count() > series.null_count() else RawColumn(name, whole)
    if form is Form.FLOATS:
        return RawColumn(name, series.cast(pl.Float64))
    series = series.cast(pl.String)
    series = nulled(series, series == "")
    if form is Form.TEXT:
        return RawColumn(name, series)
    days, note = series, ""
    if form is Form.STAMPS:
        days, note = nulled(series, ~series.str.contains(_ISO)).str.slice(0, 10), WITH_TIMES
    days = days.str.to_date("%Y-%m-%d", strict=False)
    return None if days.null_count() > series.null_count() else RawColumn(name, days, note=note)


def nulled(series: pl.Series, where: pl.Series) -> pl.Series:
    """Return the series with nulls where the mask is true (a null in the mask counts as false).

    Examples
    --------
    >>> nulled(pl.Series(["a", "?"]), pl.Series([False, True])).to_list()
    ['a', None]
    """
    if not where.any():
        return series
    return pl.select(pl.when(~where.fill_null(False)).then(series)).to_series().alias(series.name)


def without(column: RawColumn, missing: Sequence[object]) -> RawColumn:
    """Return the column with nulls for the values that the user says stand for a missing one.

    Examples
    --------
    >>> without(RawColumn("a", pl.Series([1, -999])), ["-999"]).values.to_list()
    [1, None]
    """
    series = column.values
    if series is None or not missing:
        return column
    if series.dtype == pl.String:
        where = series.is_in([str(m) for m in missing])
    elif series.dtype in (pl.Int64, pl.Float64):
        where = series.cast(pl.Float64).is_in(_numbers(missing))
    else:
        return column
    return RawColumn(column.name, nulled(series, where), column.order, column.category, column.note)


def _numbers(values: Sequence[object]) -> list[float]:
    found = []
    for value in values:
        try:
            found.append(float(str(value)))
        except ValueError:
            continue
    return found


def objects(name: str, values: Sequence[Any]) -> RawColumn:
    """Return a column of Python objects: of one type where they have one, else the text of each.

    Examples
    --------
    >>> objects("a", [1, None, 2.5]).values.to_list(), objects("a", [1, "x"]).values.to_list()
    ([1.0, None, 2.5], ['1', 'x'])
    """
    present = [None if _is_missing(value) else value for value in values]
    found = {type(value) for value in present if value is not None}
    if found and all(issubclass(t, _LISTS) for t in found):
        return _listed(name, present)
    if any(issubclass(t, _NESTED) for t in found):
        return nested(name, len(values))
    if found and all(issubclass(t, dt.datetime) for t in found):
        note = WITH_TIMES if any(v is not None and v.time() != dt.time() for v in present) else ""
        return RawColumn(name, pl.Series(name, [v and v.date() for v in present], dtype=pl.Date), note=note)
    return normal(name, _uniform(name, present, found))


def _uniform(name: str, values: list[Any], found: set[type]) -> pl.Series:
    def all_are(*kinds: type) -> bool:
        return all(issubclass(t, kinds) for t in found)

    if all_are(bool, np.bool_):
        return pl.Series(name, [None if v is None else bool(v) for v in values], dtype=pl.Boolean)
    if all_are(numbers.Number, np.number) and not any(issubclass(t, bool | np.bool_ | complex) for t in found):
        if all_are(numbers.Integral) and all(v is None or -(2**63) <= v < 2**63 for v in values):
            return pl.Series(name, [None if v is None else int(v) for v in values], dtype=pl.Int64)
        return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
    if all_are(dt.date):
        return pl.Series(name, [v.date() if isinstance(v, dt.datetime) else v for v in values], dtype=pl.Date)
    if all_are(dt.timedelta):
        return pl.Series(name, values, dtype=pl.Duration("us"))
    return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)


def _is_missing(value: object) -> bool:
    """Whether an object stands for no value: None, a NaN, or the NA and NaT of pandas and numpy."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, numbers.Number) and not isinstance(value, complex) and bool(value != value)  # noqa: PLR0124
