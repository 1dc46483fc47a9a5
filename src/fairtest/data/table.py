"""The table of people after reading: one encoded column for each attribute."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from fairtest.exceptions import unknown_name
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fairtest.types import FloatArray, Level

__all__ = ["Column", "Number", "Table"]

EPOCH = dt.date(1970, 1, 1)


class Number(StrEnum):
    """How a number of a numeric column is written."""

    INTEGER = "integer"
    REAL = "real"
    DATE = "date"


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute of everybody: codes into ``levels``, or numbers.

    Attributes
    ----------
    codes
        For every kind but numeric: the position of each row's value in ``levels``, −1 where it is missing.
    levels
        The distinct values: sorted (text by its characters, numbers by size, ``False`` before ``True``), except for
        an ordered column, whose order is the declared one. Empty for a numeric column.
    values
        For a numeric column: the numbers as float64, NaN where missing. Dates are days since 1970-01-01.
    number
        How numbers print.
    reason
        Why the column has its kind, in words: ``"text, 16 values"``, ``"declared numeric"``.
    missing
        How many rows have no value.
    """

    name: str
    kind: Kind
    reason: str
    missing: int
    levels: tuple[Level, ...] = ()
    codes: NDArray[np.int32] | None = None
    values: FloatArray | None = None
    number: Number = Number.REAL

    @property
    def distinct(self) -> int | None:
        """The number of levels, or None for a numeric column."""
        return None if self.kind is Kind.NUMERIC else len(self.levels)

    @property
    def constant(self) -> bool:
        """Whether all values that are there are the same."""
        if self.values is None:
            return len(self.levels) < 2
        seen = self.values[~np.isnan(self.values)]
        return not seen.size or bool(seen.min() == seen.max())

    def level_of(self, number: float) -> Level:
        """Return a number of this column the way the user would write it."""
        return written(number, self.number)


@dataclass(frozen=True, eq=False)
class Table:
    """The people: rows in the order given, columns by name.

    Attributes
    ----------
    name
        What to call the data in a report: the file's name, or ``"data"`` for a frame.
    library
        Where it came from: ``"pandas"``, ``"polars"``, ``"arrow"``, ``"dict"``, ``"csv"``, ``"parquet"``.
    """

    name: str
    library: str
    n_rows: int
    columns: Mapping[str, Column]

    def __getitem__(self, name: str) -> Column:
        try:
            return self.columns[name]
        except KeyError:
            raise unknown_name("column", name, self.columns) from None

    def __contains__(self, name: object) -> bool:
        return name in self.columns


def written(number: float, how: Number) -> Level:
    """Return ``number`` as an int, a float or a date.

    Examples
    --------
    >>> written(42.0, Number.INTEGER), written(0.5, Number.REAL), written(365.0, Number.DATE)
    (42, 0.5, datetime.date(1971, 1, 1))
    """
    if how is Number.DATE:
        return EPOCH + dt.timedelta(days=int(number))
    return int(number) if how is Number.INTEGER else float(number)
