"""Columns of a stream: the times at which records arrive, and hashes of the people they are about."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairtest.data.reading.frames import column_names, raw_column
from fairtest.exceptions import InputError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_KEY = b"fairtest person"


def read_times(frame: Any, name: str) -> NDArray[np.int64]:
    """Return the times of a column in microseconds since 1970; those with a zone in UTC.

    Examples
    --------
    >>> read_times({"at": ["1970-01-02T00:00:01"]}, "at").tolist()
    [86401000000]
    """
    series = _series(frame, name)
    if series.dtype == pl.String:
        series = _parse_times(series, name)
    if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if not isinstance(series.dtype, pl.Datetime) and series.dtype != pl.Date:
        raise InputError(
            f"The time column {name!r} must hold dates with times (datetime, or text such as 2026-03-14T09:30:00). "
            f"Got {series.dtype} instead; convert it, or leave 'time' out and give observe(…, at=…)."
        )
    if series.null_count():
        row = int(series.is_null().arg_max() or 0)
        raise InputError(
            f"The time column {name!r} must have a value in every row; row {row} has none. Every record "
            f"arrives at some "
            "time: fill it in, or leave the record out."
        )
    return series.cast(pl.Datetime("us")).to_physical().to_numpy().astype(np.int64)


def _parse_times(series: pl.Series, name: str) -> pl.Series:
    try:
        return series.str.to_datetime(time_unit="us", time_zone="UTC").dt.replace_time_zone(None)
    except pl.exceptions.PolarsError:
        pass
    try:
        return series.str.to_datetime(time_unit="us")
    except pl.exceptions.PolarsError as error:
        shown = next(iter(series.drop_nulls().head(1).to_list()), None)
        raise InputError(
            f"The texts of the time column {name!r} must all be times such as 2026-03-14T09:30:00. The first "
            f"is {shown!r}."
        ) from error


def _series(frame: Any, name: str) -> pl.Series:
    names = column_names(frame)
    if name not in names:
        raise unknown_name("column", name, names)
    if isinstance(frame, pl.LazyFrame):
        return frame.select(name).collect().to_series()
    values = frame.column(name) if hasattr(frame, "column") and not hasattr(frame, "columns") else frame[name]
    if isinstance(values, pl.Series):
        return values
    if hasattr(values, "to_numpy") and hasattr(values, "dtype"):  # pandas, whose series may have any index
        values = values.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(values.dtype, "tz", None) else values
        values = values.to_numpy()
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return pl.Series(name, values.astype("datetime64[us]"))
    return pl.Series(name, values.to_pylist() if hasattr(values, "to_pylist") else list(values), strict=False)


def count_labels(frame: Any, name: str, separator: str) -> dict[str, int]:
    """Return how many records have each label, where a column holds labels as text.

    Examples
    --------
    >>> count_labels({"tags": ["a|b", "b", "|", None]}, "tags", "|")
    {'b': 2, 'a': 1}
    """
    sets = _label_sets(frame, name, separator)
    found = sets.explode().drop_nulls().value_counts()
    counted = sorted(found.iter_rows(), key=lambda each: (-each[1], each[0]))
    return {str(label): int(many) for label, many in counted if label}


def add_labels(frame: Any, name: str, separator: str, columns: Mapping[str, str]) -> Any:
    """Return a frame with one more column for each label: whether the record has it, missing where nothing is known.

    Parameters
    ----------
    columns
        For each label the name of its column.
    """
    sets = _label_sets(frame, name, separator)
    added = {column: sets.list.contains(label).alias(column) for label, column in columns.items()}
    if isinstance(frame, pl.DataFrame):
        return frame.with_columns(*added.values())
    plain = {column: series.to_list() for column, series in added.items()}
    if hasattr(frame, "assign"):  # pandas
        return frame.assign(**plain)
    if hasattr(frame, "append_column"):  # Arrow
        return pl.from_arrow(frame).with_columns(*added.values())  # type: ignore[union-attr]
    return {**frame, **plain}


def _label_sets(frame: Any, name: str, separator: str) -> pl.Series:
    series = _series(frame, name)
    if series.dtype != pl.String:
        raise InputError(f"The labels in {name!r} must be text that can be cut at {separator!r}. Got {series.dtype}.")
    known = series.replace({"": None})
    return known.str.split(separator).list.eval(pl.element().str.strip_chars())


def hash_people(frame: Any, name: str) -> NDArray[np.uint64]:
    """Return a hash of each value that names a person; 0 where it is missing.

    It is the same in every process, so that it can be stored instead of the name.

    Examples
    --------
    >>> a, b, c = hash_people({"id": ["x", "y", "x"]}, "id").tolist()
    >>> a == c != b
    True
    """
    values = raw_column(frame, name).values
    if values is None:
        raise InputError(f"The person column {name!r} must hold texts or numbers. It holds nested values.")
    return np.array([0 if value is None else _hash(str(value)) for value in values.to_list()], dtype=np.uint64)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8, key=_KEY).digest(), "little") | 1
