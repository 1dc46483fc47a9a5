"""Values into codes: the distinct values of a column, sorted, and where each row's value stands among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.types import FloatArray, Level

SAMPLE = 2_000
MANY = 1_000
HUGE = 100_000


def encode(series: pl.Series) -> tuple[tuple[Level, ...], NDArray[np.int32]]:
    """Return the sorted levels that occur and the int32 code of each row, −1 where it is null.

    Examples
    --------
    >>> levels, codes = encode(pl.Series(["b", None, "a", "b"]))
    >>> levels, codes.tolist()
    (('a', 'b'), [1, -1, 0, 1])
    """
    if series.dtype == pl.Float64:
        series = series + 0.0  # −0.0 is 0.0
        if are_whole(series):
            series = series.cast(pl.Int64)
    if many_at_first(series):
        return _by_rank(series)
    if series.dtype == pl.String:
        return _by_category(series)
    return _by_search(series)


def _by_category(series: pl.Series) -> tuple[tuple[Level, ...], NDArray[np.int32]]:
    levels = series.drop_nulls().unique().sort()
    codes = series.cast(pl.Enum(levels)).to_physical()
    return tuple(levels.to_list()), _int32(codes)


def _by_search(series: pl.Series) -> tuple[tuple[Level, ...], NDArray[np.int32]]:
    levels = series.drop_nulls().unique().sort()
    codes = np.searchsorted(levels.to_physical().to_numpy(), _filled(series)).astype(np.int32)
    codes[series.is_null().to_numpy()] = -1
    return tuple(levels.to_list()), codes


def _filled(series: pl.Series) -> NDArray[np.generic]:
    """Return the numbers behind a series with something in the place of a null."""
    physical = series.to_physical()
    return physical.fill_null(False if physical.dtype == pl.Boolean else 0).to_numpy()


def many_at_first(series: pl.Series) -> bool:
    """Whether the first rows have very many different values."""
    return series.head(SAMPLE).n_unique() > MANY


def identify(series: pl.Series) -> tuple[tuple[Level, ...], NDArray[np.int32]]:
    """Return levels and codes of an identifier; where very many values all differ, unsorted, in the order of rows.

    Examples
    --------
    >>> identify(pl.Series(["b", "a"]))[0]
    ('a', 'b')
    """
    present = series.drop_nulls()
    if len(present) < HUGE or present.n_unique() < len(present):
        return encode(series)
    codes = np.full(len(series), -1, dtype=np.int32)
    codes[series.is_not_null().to_numpy()] = np.arange(len(present), dtype=np.int32)
    return tuple(present.to_list()), codes


def _by_rank(series: pl.Series) -> tuple[tuple[Level, ...], NDArray[np.int32]]:
    """Encode by sorting: cheaper than hashing where nearly every row has a value of its own."""
    codes = _int32(series.rank("dense").cast(pl.Int64) - 1)
    rows = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    there = codes >= 0
    rows[codes[there]] = np.flatnonzero(there)
    return tuple(series.gather(rows).to_list()), codes


def _int32(codes: pl.Series) -> NDArray[np.int32]:
    return codes.cast(pl.Int32).fill_null(-1).to_numpy()


def at_most(series: pl.Series, limit: int) -> int | None:
    """Return how many different values there are, or None if they are more than ``limit``.

    Examples
    --------
    >>> at_most(pl.Series([1, 2, 2, None]), 10), at_most(pl.Series(range(99)), 10)
    (2, None)
    """
    if series.head(SAMPLE).n_unique() > limit + 1:
        return None
    count = series.n_unique() - bool(series.null_count())
    return count if count <= limit else None


def are_whole(series: pl.Series) -> bool:
    """Whether every number that is there is a whole one, as exact integers are.

    Examples
    --------
    >>> are_whole(pl.Series([1.0, None])), are_whole(pl.Series([0.5]))
    (True, False)
    """
    return all(bool(((part == part.floor()) & (part.abs() < 2.0**53)).all()) for part in (series.head(SAMPLE), series))


def as_floats(series: pl.Series) -> FloatArray:
    """Return numbers, booleans or dates (in days since 1970-01-01) as float64, NaN where null.

    Examples
    --------
    >>> as_floats(pl.Series([1, None]))
    array([ 1., nan])
    """
    physical = series.to_physical()
    return physical.cast(pl.Float64).fill_null(float("nan")).to_numpy() + 0.0
