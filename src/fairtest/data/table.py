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

__all__ = ["Column", "FlagColumn", "Number", "Sets", "Table"]

EPOCH = dt.date(1970, 1, 1)


class Number(StrEnum):
    """How a number of a numeric column is written."""

    INTEGER = "integer"
    REAL = "real"
    DATE = "date"


@dataclass(frozen=True, eq=False)
class Sets:
    """A set of items for every row, one after the other.

    Attributes
    ----------
    items
        The names of the items, sorted.
    ends
        Where the items of each row end; they begin where those of the row before end.
    codes
        The items of all rows, as positions in ``items``.
    missing
        The rows of which nothing is known; a row without items is another thing.
    """

    items: tuple[str, ...]
    ends: NDArray[np.int64]
    codes: NDArray[np.int32]
    missing: NDArray[np.int32]


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
    sets
        For a column whose values are lists: what is in them. Only Discovery can use it.
    """

    name: str
    kind: Kind
    reason: str
    missing: int
    levels: tuple[Level, ...] = ()
    codes: NDArray[np.int32] | None = None
    values: FloatArray | None = None
    number: Number = Number.REAL
    sets: Sets | None = None

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


class FlagColumn(Column):
    """A binary column of which only the rows with the rarer, second level are kept: ten thousand of them fit.

    Attributes
    ----------
    at
        The rows with the second level, in order.
    gone
        The rows without a value, in order.
    """

    at: NDArray[np.int32]
    gone: NDArray[np.int32]
    n_rows: int

    def __init__(
        self,
        name: str,
        reason: str,
        levels: tuple[Level, Level],
        n_rows: int,
        at: NDArray[np.int32],
        gone: NDArray[np.int32],
    ) -> None:
        given = {"name": name, "kind": Kind.BINARY, "reason": reason, "missing": int(gone.size), "levels": levels}
        for field, value in (given | {"n_rows": n_rows, "at": at, "gone": gone}).items():
            object.__setattr__(self, field, value)

    @property
    def codes(self) -> NDArray[np.int32]:
        """The position of each row's value in ``levels``, −1 where it is missing."""
        codes = np.zeros(self.n_rows, dtype=np.int32)
        codes[self.at] = 1
        codes[self.gone] = -1
        return codes


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
