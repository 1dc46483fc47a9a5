"""Values of a column, checked and as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairtest.exceptions import InputError, argument

if TYPE_CHECKING:
    from fairtest.types import FloatArray

SAMPLE = 2_000
"""How many of the first rows are looked at before all are: most questions are answered there."""


def check_values(name: str, values: pl.Series, start: int = 0, *, numeric: bool = False) -> pl.Series:
    """Return the values of a column that the user may have declared ``numeric``: text must then spell numbers.

    Parameters
    ----------
    start
        The position of the first row, to name the row in an error.

    Raises
    ------
    InputError
        If text spells no number, or a number is infinite.
    """
    if numeric and values.dtype == pl.String:
        numbers = values.str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None)
        wrong = (numbers.is_null() & values.is_not_null() & (values.str.to_lowercase() != "nan")).arg_true()
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"Column {name!r} is declared numeric, and every value must spell a number. Got {values[row]!r} in row "
                f"{start + row + 1}. Name it in {argument('missing')} if it stands for no value, or do not declare the "
                "column numeric."
            )
        values = numbers
    if values.dtype == pl.Float64 and len(infinite := values.is_infinite().arg_true()):
        row = int(infinite[0])
        raise InputError(
            f"Column {name!r} must hold finite numbers. Got {values[row]} in row {start + row + 1}. Replace infinite "
            "numbers by a finite one, or leave them empty."
        )
    return values


def are_whole(series: pl.Series) -> bool:
    """Whether every number that is there is a whole one, small enough to be exact.

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
    return series.to_physical().cast(pl.Float64).to_numpy() + 0.0  # −0.0 is 0.0
