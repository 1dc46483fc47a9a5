"""Columns as they came, in one of a few plain types: booleans, whole numbers, numbers, dates, text; or sets of text.

A type is known of a frame or a file, but not always what its values are: text may be dates, and whole numbers too
large for 64 bits. A column has the first :class:`Form` that all of its values fit in.
"""

from __future__ import annotations

import datetime as dt
import numbers
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairtest.exceptions import InputError, the

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.types import Level

WITH_TIMES = "with times of day"

# a day, perhaps with a time of day and a zone: 2020-01-31, 2020-01-31T15:04:05.25+02:00
_ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?)?$"
_LISTS = (list, tuple, set, frozenset, np.ndarray)
_NESTED = (bytes, bytearray, list, tuple, dict, set, frozenset, np.ndarray)


@dataclass(frozen=True)
class RawColumn:
    """A column as it came, in one of the plain types.

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


def to_raw(series: pl.Series) -> RawColumn:
    """Return a polars series of any type as a column of a plain type: in the first form that all its values fit in.

    Examples
    --------
    >>> to_raw(pl.Series([dt.datetime(2020, 1, 2, 15)])).values.to_list()
    [datetime.date(2020, 1, 2)]
    >>> to_raw(pl.Series(["2020-01-31", ""])).values.to_list()
    [datetime.date(2020, 1, 31), None]
    """
    if series.dtype == pl.Object:
        return raw_from_objects(series.name, series.to_list())
    forms = possible_forms(series.dtype)
    if Form.TEXT in forms:
        series = null_empty_text(series)
        forms = forms_beginning_with(first_text(series), forms)
        if forms == (Form.TEXT,):
            return RawColumn(series.name, series)
    return next(raw for form in forms if (raw := in_form(form, series)) is not None)


def unusable_column(name: str, rows: int) -> RawColumn:
    """Return the column of values that cannot be used."""
    return RawColumn(name, None, rows=rows)


class Form(StrEnum):
    """What a column may turn out to be, where that takes all of its values to know."""

    DAYS = "days"
    STAMPS = "days with times"
    TEXT = "text"
    INTEGERS = "integers"
    FLOATS = "floats"
    PLAIN = "plain"


def possible_forms(dtype: pl.DataType) -> tuple[Form, ...]:
    """Return what a column of a type may turn out to be; the first that all its values fit in is what it is."""
    if dtype in (pl.String, pl.Null):
        return Form.DAYS, Form.STAMPS, Form.TEXT
    if dtype.is_integer():
        return (Form.INTEGERS, Form.FLOATS) if dtype in (pl.UInt64, pl.Int128, pl.UInt128) else (Form.INTEGERS,)
    return (Form.PLAIN,)


def first_text(series: pl.Series) -> str | None:
    """Return the first text that is not missing: it says whether to try dates."""
    return next(iter(series.drop_nulls().head(1).to_list()), None)


def forms_beginning_with(first: str | None, forms: Iterable[Form]) -> tuple[Form, ...]:
    """Return the forms that a column with this first text may have: dates first, or text alone."""
    if first is None or not re.match(_ISO, first):
        return (Form.TEXT,)
    return tuple(form for form in forms if form is not Form.DAYS or len(first) == len("2020-01-31"))


def in_form(form: Form, series: pl.Series) -> RawColumn | None:
    """Return some rows of a column in a form, or None if a value does not fit.

    Examples
    --------
    >>> in_form(Form.DAYS, pl.Series(["2020-01-31", "soon"])) is None
    True
    """
    if form is Form.PLAIN:
        return _in_plain_type(series)
    if form is Form.FLOATS:
        return RawColumn(series.name, series.cast(pl.Float64))
    note = ""
    if form is Form.INTEGERS:
        values = series.cast(pl.Int64, strict=False)
    else:
        series = values = null_empty_text(series)
        if form is Form.STAMPS:
            values, note = set_null(values, ~values.str.contains(_ISO)).str.slice(0, 10), WITH_TIMES
        if form is not Form.TEXT:
            values = values.str.to_date("%Y-%m-%d", strict=False)
    return None if values.null_count() > series.null_count() else RawColumn(series.name, values, note=note)


def _in_plain_type(series: pl.Series) -> RawColumn:
    """Return categories, booleans, numbers, dates, durations (in days), times (as text) and lists."""
    name, dtype = series.name, series.dtype
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return RawColumn(name, null_empty_text(series), category=True)
    if isinstance(dtype, pl.Datetime):
        wall, days = series.dt.replace_time_zone(None), series.dt.date()
        return RawColumn(name, days, note=WITH_TIMES if (days.cast(wall.dtype) != wall).any() else "")
    if isinstance(dtype, pl.List | pl.Array):
        return _raw_lists(series)
    if dtype.is_float() or dtype.is_decimal():
        return RawColumn(name, series.cast(pl.Float64).fill_nan(None))
    if isinstance(dtype, pl.Duration):
        return RawColumn(name, series.dt.total_microseconds().cast(pl.Float64) / 86_400e6)
    if dtype == pl.Time:
        return RawColumn(name, series.cast(pl.String))
    return RawColumn(name, series) if dtype in (pl.Boolean, pl.Date) else unusable_column(name, len(series))


def _raw_lists(series: pl.Series) -> RawColumn:
    """Return a column of lists; of text if they hold single values, so that they can be sets of labels."""
    assert isinstance(series.dtype, pl.List | pl.Array)
    inner = series.dtype.inner
    if inner.is_nested() or inner in (pl.Object, pl.Binary):
        return unusable_column(series.name, len(series))
    lists = series.cast(pl.List(pl.String)).list.drop_nulls()
    return RawColumn(series.name, None, rows=len(series), sets=lists)


def null_empty_text(series: pl.Series) -> pl.Series:
    """Return text with nulls for empty fields."""
    series = series.cast(pl.String)
    return set_null(series, series == "")


def set_null(series: pl.Series, where: pl.Series) -> pl.Series:
    """Return the series with nulls where the mask is true (a null in the mask counts as false).

    Examples
    --------
    >>> set_null(pl.Series(["a", "?"]), pl.Series([False, True])).to_list()
    ['a', None]
    """
    if not where.any():
        return series
    return pl.select(pl.when(~where.fill_null(False)).then(series)).to_series().alias(series.name)


def missing_markers(missing: object) -> tuple[object, ...]:
    """Return the values that the user says stand for a missing one."""
    if isinstance(missing, str):
        return (missing,)
    if not isinstance(missing, Iterable):
        raise InputError(
            f"{the('missing', 'parameter')} must be a list of values, such as ['?', 'NA']. Got {missing!r} instead."
        )
    return tuple(missing)


def without_markers(column: RawColumn, markers: Sequence[object]) -> RawColumn:
    """Return the column with nulls for the values that stand for a missing one."""
    return column if column.values is None else replace(column, values=null_markers(column.values, markers))


def null_markers(series: pl.Series, markers: Sequence[object]) -> pl.Series:
    """Return text or numbers with nulls for the values that stand for a missing one.

    Examples
    --------
    >>> null_markers(pl.Series([1, -999]), ["-999"]).to_list()
    [1, None]
    """
    if markers and series.dtype == pl.String:
        return set_null(series, series.is_in([str(marker) for marker in markers]))
    if markers and series.dtype in (pl.Int64, pl.Float64):
        return set_null(series, series.cast(pl.Float64).is_in(_spelled_numbers(markers)))
    return series


def _spelled_numbers(values: Sequence[object]) -> list[float]:
    found = []
    for value in values:
        try:
            found.append(float(str(value)))
        except ValueError:
            continue
    return found


def raw_from_objects(name: str, values: Sequence[Any]) -> RawColumn:
    """Return a column of Python objects: of one type where they have one, else the text of each.

    Examples
    --------
    >>> raw_from_objects("a", [1, None, 2.5]).values.to_list(), raw_from_objects("a", [1, "x"]).values.to_list()
    ([1.0, None, 2.5], ['1', 'x'])
    """
    present = [None if _is_missing(value) else value for value in values]
    types = {type(value) for value in present if value is not None}

    def all_are(*kinds: type) -> bool:
        return all(issubclass(t, kinds) for t in types)

    def series_of(convert: Callable[[Any], object], dtype: pl.DataType | type[pl.DataType]) -> RawColumn:
        return to_raw(pl.Series(name, [None if v is None else convert(v) for v in present], dtype=dtype))

    if types and all_are(*_LISTS):
        return _raw_from_lists(name, present)
    if any(issubclass(t, _NESTED) for t in types):
        return unusable_column(name, len(values))
    if types and all_are(dt.datetime):
        days = series_of(dt.datetime.date, pl.Date)
        return replace(days, note=WITH_TIMES if any(v and v.time() != dt.time() for v in present) else "")
    if all_are(bool, np.bool_):
        return series_of(bool, pl.Boolean)
    if all_are(numbers.Number, np.number) and not any(issubclass(t, bool | np.bool_ | complex) for t in types):
        if all_are(numbers.Integral) and all(v is None or -(2**63) <= v < 2**63 for v in present):
            return series_of(int, pl.Int64)
        return series_of(float, pl.Float64)
    if all_are(dt.date):
        return series_of(lambda v: v.date() if isinstance(v, dt.datetime) else v, pl.Date)
    if all_are(dt.timedelta):
        return series_of(lambda v: v, pl.Duration("us"))
    return series_of(str, pl.String)


def _raw_from_lists(name: str, values: Sequence[Any]) -> RawColumn:
    """Return a column of Python lists, tuples, sets or arrays; usable if they hold single values."""
    lists: list[list[str] | None] = []
    for value in values:
        items = [] if value is None else list(value)
        if any(isinstance(item, _NESTED) for item in items):
            return unusable_column(name, len(values))
        lists.append(None if value is None else [str(item) for item in items if not _is_missing(item)])
    return RawColumn(name, None, rows=len(values), sets=pl.Series(name, lists, dtype=pl.List(pl.String)))


def _is_missing(value: object) -> bool:
    """Whether an object stands for no value: None, a NaN, or the NA and NaT of pandas and numpy."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, numbers.Number) and not isinstance(value, complex) and bool(value != value)  # noqa: PLR0124
