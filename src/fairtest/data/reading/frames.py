"""Frames in: the columns of a pandas or polars frame, an Arrow table or a dictionary of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from fairtest.data.reading.pandas_columns import is_pandas, pandas_column
from fairtest.data.reading.raw import RawColumn, raw_from_objects, to_raw
from fairtest.exceptions import InputError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairtest.types import Level

T = TypeVar("T")


def library_of(data: object) -> str | None:
    """Return which library a frame belongs to, or None for something that is not a frame.

    Examples
    --------
    >>> library_of(pl.DataFrame()), library_of({"a": [1]}), library_of(42)
    ('polars', 'dict', None)
    """
    if is_pandas(data):
        return "pandas"
    if isinstance(data, pl.DataFrame | pl.LazyFrame):
        return "polars"
    if isinstance(data, Mapping):
        return "dict"
    if isinstance(data, pl.Series) or is_pandas(data, "Series"):
        return None
    return "arrow" if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__") else None


def column_names(data: Any) -> list[str]:
    """Return the names of a frame's columns as text."""
    if isinstance(data, pl.LazyFrame):
        return _ask_query(lambda: data.collect_schema().names())
    if isinstance(data, pl.DataFrame) or is_pandas(data):
        if getattr(data.columns, "nlevels", 1) > 1:
            raise InputError(
                "The frame has columns with several levels of names (a MultiIndex), which cannot be used. Join them: "
                'frame.columns = ["_".join(map(str, name)) for name in frame.columns].'
            )
        return [str(name) for name in data.columns]
    if isinstance(data, Mapping):
        return [str(name) for name in data]
    names = getattr(getattr(data, "schema", None), "names", None)
    return _arrow(data).columns if names is None else [str(name) for name in names]


def raw_columns(data: Any) -> Iterator[RawColumn]:
    """Yield every column of a frame in a plain type: one at a time, because there may be thousands.

    Examples
    --------
    >>> [c.values.dtype for c in raw_columns({"a": [1, None], "b": ["x", ""]})]
    [Int64, String]
    """
    names = column_names(data)
    check_names(names)
    if isinstance(data, pl.LazyFrame):
        data = _ask_query(data.collect)
    if isinstance(data, pl.DataFrame):
        return map(to_raw, data.get_columns())
    if isinstance(data, Mapping):
        return map(_raw_from_values, names, data.values())
    if is_pandas(data):
        return (pandas_column(name, data.iloc[:, position]) for position, name in enumerate(names))
    return _arrow_columns(data)


def raw_column(data: Any, name: str) -> RawColumn:
    """Return one column of a frame in a plain type, without touching the others."""
    names = column_names(data)
    if name not in names:
        raise unknown_name("column", name, names)
    if isinstance(data, Mapping):
        return _raw_from_values(name, list(data.values())[names.index(name)])
    if is_pandas(data):
        return pandas_column(name, data.iloc[:, names.index(name)])
    one = data.select([name]) if hasattr(data, "select") else data
    return next(column for column in raw_columns(one) if column.name == name)


def check_names(names: Sequence[str], where: str = "The data") -> None:
    """Raise an error if a column has no name or two have the same.

    Examples
    --------
    >>> check_names(["age", "sex"])
    """
    if not names:
        raise InputError(f"{where} must have at least one column. Got none.")
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise InputError(
                f"{where} must name every column; column {position} of {len(names)} has no name. Name it or leave "
                "it out (pandas writes its index as a column without a name: write the file with index=False)."
            )
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        shown = ", ".join(repr(name) for name in twice[:5])
        raise InputError(f"{where} must not have two columns of one name; {shown} occurs more than once. Rename one.")


def first_line(error: BaseException) -> str:
    """Return the first line of a library's error message, to quote it in ours."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") + "." if lines else f"{type(error).__name__}."


def _raw_from_values(name: str, values: Any) -> RawColumn:
    """Return a column of a dictionary: a list, an array or a series of any library."""
    if is_pandas(values, "Series"):
        return pandas_column(name, values)
    if isinstance(values, pl.Series):
        return to_raw(values.alias(name))
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biuf":
        return to_raw(pl.Series(name, values.astype(values.dtype.newbyteorder("="))))
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return raw_from_objects(name, values.astype("datetime64[us]").tolist())
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError(
            f"Column {name!r} of the dictionary must be a list or an array with one value a row. "
            f"Got {type(values).__name__} instead."
        )
    return raw_from_objects(name, list(values))


def _ask_query(ask: Callable[[], T]) -> T:
    """Return the answer of a lazy frame; its query is the user's, and so is its failure."""
    try:
        return ask()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"The polars LazyFrame could not be collected: {first_line(error)}") from error


def _arrow(data: Any) -> pl.DataFrame:
    try:
        return pl.DataFrame(data)
    except Exception as error:  # whatever a foreign library raises while it hands over its data
        raise InputError(f"The Arrow table could not be read: {first_line(error)}") from error


def _arrow_columns(data: Any) -> Iterator[RawColumn]:
    for series in _arrow(data).get_columns():
        column = to_raw(series)
        yield replace(column, order=_arrow_order(data, column.name)) if column.category else column


def _arrow_order(data: Any, name: str) -> tuple[Level, ...]:
    """Return the levels of a dictionary column that says they have an order (only pyarrow can be asked)."""
    try:
        if not data.schema.field(name).type.ordered:
            return ()
        column = data.column(name)
        chunk = column.unify_dictionaries().chunk(0) if hasattr(column, "unify_dictionaries") else column
        return tuple(chunk.dictionary.to_pylist())
    except (AttributeError, KeyError, IndexError):
        return ()
