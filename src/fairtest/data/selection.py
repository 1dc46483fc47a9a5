"""The rows of a frame that satisfy a predicate, with values matched the way the reader saw them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np
import polars as pl

from fairtest.data.columns.declared import DeclaredKinds
from fairtest.data.columns.description import encode_column
from fairtest.data.columns.encoding import as_floats
from fairtest.data.reading.frames import library_of, raw_column
from fairtest.data.reading.raw import RawColumn, missing_markers, without_markers
from fairtest.exceptions import InputError
from fairtest.types import day_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.context import Context
    from fairtest.types import BoolArray, FloatArray, Level

OPERATORS = ("<=", ">", "==", "in", "missing")


def row_count(frame: Any) -> int:
    """Return the number of rows of a frame.

    Examples
    --------
    >>> row_count({"age": [30, None, 50], "job": ["a", "b", "c"]})
    3
    """
    if isinstance(frame, pl.LazyFrame):
        return int(frame.select(pl.len()).collect().item())
    return len(next(iter(frame.values()), ())) if isinstance(frame, dict) else len(frame)


def rows_in_context(context: Context, frame: Any, missing: Iterable[object] = ()) -> BoolArray:
    """Return which rows of a frame satisfy every predicate of a context; ``missing`` as in :func:`rows_where`."""
    rows = np.ones(row_count(frame), dtype=bool)
    for p in context.predicates:
        rows &= rows_where(frame, p.column, p.op, p.value, p.order, missing)
    return rows


def rows_where(
    frame: Any,
    column: str,
    op: str,
    value: Level | Sequence[Level] | None = None,
    order: Sequence[Level] = (),
    missing: Iterable[object] = (),
) -> BoolArray:
    """Return which rows of a frame satisfy one predicate.

    Parameters
    ----------
    frame
        A pandas or polars frame, an Arrow table, or a dictionary of columns.
    op
        ``"<="``, ``">"``, ``"=="``, ``"in"`` or ``"missing"``. A missing value satisfies only the last.
    value
        The threshold, the value, or the values for ``"in"``.
    order
        The levels from low to high, for a threshold on an ordered column.
    missing
        Values that stand for a missing one.

    Examples
    --------
    >>> rows_where({"age": [30, None, 50]}, "age", "<=", 42).tolist()
    [True, False, False]
    >>> rows_where({"grade": ["low", "high", "mid"]}, "grade", ">", "low", ["low", "mid", "high"]).tolist()
    [False, True, True]
    >>> rows_where({"age": [30, -1, 50]}, "age", "<=", 42, missing=[-1]).tolist()
    [True, False, False]
    """
    if op not in OPERATORS:
        raise InputError(f"The 'op' parameter must be one of {', '.join(map(repr, OPERATORS))}. Got {op!r} instead.")
    if library_of(frame) is None:
        raise InputError(
            "The rows of a context can be found in a pandas or polars frame, an Arrow table or a dictionary of "
            f"columns. Got {type(frame).__name__} instead."
        )
    raw = without_markers(raw_column(frame, column), missing_markers(missing))
    if raw.values is None:
        raise InputError(f"Column {column!r} holds nested values, which no context can select by.")
    if op == "missing":
        return _mask(raw.values.is_null())
    if op in ("<=", ">"):
        return _threshold(raw.values, op, value, tuple(order))
    wanted: tuple[object, ...] = tuple(value) if op == "in" and isinstance(value, Iterable) else (value,)
    return _among(raw.values, wanted)


def _threshold(values: pl.Series, op: str, value: Any, order: tuple[Level, ...]) -> BoolArray:
    if order:
        if value not in order:
            raise InputError(f"The threshold {value!r} must be one of the levels {', '.join(map(repr, order))}.")
        cut = order.index(value) + 1
        return _among(values, order[:cut] if op == "<=" else order[cut:])
    threshold = _number(value)
    if threshold is None:
        raise InputError(f"A threshold must be a number or a date. Got {value!r} instead.")
    numbers = _numbers(values)
    return numbers <= threshold if op == "<=" else numbers > threshold


def _among(values: pl.Series, wanted: Iterable[object]) -> BoolArray:
    """Return the rows with one of the values; a number matches numbers, and text matches text."""
    rows = np.zeros(len(values), dtype=bool)
    named = [level for level in wanted if isinstance(level, str)]
    if named:
        spelled = values if values.dtype == pl.String else _spell_values(values)
        rows |= _mask(spelled.is_in(named))
    for level in wanted:
        number = None if isinstance(level, str) else _number(level)
        if number is not None:
            rows |= _numbers(values) == number
    return rows


def _spell_values(values: pl.Series) -> pl.Series:
    """Return the text of each value, as ``str`` gives it."""
    column = encode_column(RawColumn("", values), DeclaredKinds(categorical=frozenset([""])))
    texts = pl.Series([str(level) for level in column.levels], dtype=pl.String)
    return texts.gather(pl.Series(column.codes).replace(-1, None))


def _numbers(values: pl.Series) -> FloatArray:
    if values.dtype == pl.String:
        values = values.str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None)
    return as_floats(values)


def _number(value: object) -> float | None:
    """Return a level as the number behind it: a date by its day."""
    if isinstance(value, dt.datetime):
        value = value.date()
    if isinstance(value, dt.date):
        return day_number(value)
    try:
        return float(value) if isinstance(value, str | SupportsFloat) else None
    except ValueError:
        return None


def _mask(series: pl.Series) -> BoolArray:
    return np.array(series.fill_null(False).to_numpy(), dtype=bool)
