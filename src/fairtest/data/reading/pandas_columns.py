"""The columns of a pandas frame, converted one by one through numpy, so that pyarrow is not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairtest.data.reading.raw import WITH_TIMES, RawColumn, raw_from_objects, set_null, to_raw, unusable_column

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def is_pandas(data: object, what: str = "DataFrame") -> bool:
    """Whether ``data`` is a pandas object, found out without importing pandas.

    Examples
    --------
    >>> is_pandas({"a": [1, 2]})
    False
    """
    return any(c.__name__ == what and c.__module__.partition(".")[0] == "pandas" for c in type(data).__mro__)


def pandas_column(name: str, series: Any) -> RawColumn:
    """Return a pandas series as a column of a plain type."""
    kind = series.dtype
    if isinstance(kind, np.dtype):
        return _numpy(name, series.to_numpy())
    convert = _CONVERSIONS.get(type(kind).__name__)
    if convert is not None:
        return convert(name, series)
    return _masked(name, series) if kind.kind in "biuf" else raw_from_objects(name, series.tolist())


def _numpy(name: str, values: NDArray[Any]) -> RawColumn:
    if values.dtype.kind in "biuf":
        native = values.astype(np.float64 if values.dtype.kind == "f" else values.dtype.newbyteorder("="))
        return to_raw(pl.Series(name, native))
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        note = WITH_TIMES if bool(((days != values) & ~np.isnat(values)).any()) else ""
        return RawColumn(name, pl.Series(name, days), note=note)
    if values.dtype.kind == "m":
        return to_raw(pl.Series(name, values / np.timedelta64(1, "D")))
    if values.dtype.kind == "O":
        return _objects(name, values)
    return raw_from_objects(name, values.tolist())


def _objects(name: str, values: NDArray[Any]) -> RawColumn:
    """Return a column of objects, in one step if they are all text or None."""
    try:
        series = pl.Series(name, values, dtype=pl.String, strict=True)
    except Exception:  # NaN among the text, or other types: one by one
        return raw_from_objects(name, values.tolist())
    return to_raw(series)


def _strings(name: str, series: Any) -> RawColumn:
    try:
        return _arrow(name, series)
    except (ImportError, AttributeError):  # pyarrow is not there
        return _objects(name, series.to_numpy(dtype=object, na_value=None))


def _masked(name: str, series: Any) -> RawColumn:
    """Return a column of a nullable type of pandas: numbers or booleans, and a mask for the missing ones."""
    letter = series.dtype.kind
    kind = {"b": np.bool_, "f": np.float64, "u": np.uint64}.get(letter, np.int64)
    values = series.array.to_numpy(dtype=kind, na_value=kind(0))
    return to_raw(set_null(pl.Series(name, values), pl.Series(np.asarray(series.isna()))))


def _categories(name: str, series: Any) -> RawColumn:
    codes = series.cat.codes.to_numpy()
    labels = raw_from_objects(name, series.cat.categories.tolist())
    if labels.values is None:
        return unusable_column(name, len(codes))
    rows = pl.Series(codes.astype(np.int64))
    values = labels.values.gather(set_null(rows, rows < 0)).alias(name)
    order = tuple(labels.values.to_list()) if series.cat.ordered else ()
    return RawColumn(name, values, order, category=True, note=labels.note)


def _zoned(name: str, series: Any) -> RawColumn:
    return _numpy(name, series.dt.tz_localize(None).to_numpy())


def _sparse(name: str, series: Any) -> RawColumn:
    return pandas_column(name, series.sparse.to_dense())


def _arrow(name: str, series: Any) -> RawColumn:
    return to_raw(pl.Series(name, pl.from_arrow(series.array.__arrow_array__())))


_CONVERSIONS: dict[str, Callable[[str, Any], RawColumn]] = {
    "CategoricalDtype": _categories,
    "StringDtype": _strings,
    "DatetimeTZDtype": _zoned,
    "SparseDtype": _sparse,
    "ArrowDtype": _arrow,
}
