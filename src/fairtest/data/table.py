"""The table of people after reading: one encoded column for each attribute."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from fairtest.exceptions import InputError, the, unknown_name
from fairtest.types import EPOCH, Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray

    from fairtest.types import FloatArray, Level


class Number(StrEnum):
    """How a number of a numeric column is written."""

    INTEGER = "integer"
    REAL = "real"
    DATE = "date"

    def to_level(self, number: float) -> Level:
        """Return a number as an int, a float or a date: the way the user would write it.

        Examples
        --------
        >>> Number.INTEGER.to_level(42.0), Number.REAL.to_level(0.5), Number.DATE.to_level(365.0)
        (42, 0.5, datetime.date(1971, 1, 1))
        """
        if self is Number.DATE:
            return EPOCH + dt.timedelta(days=int(number))
        return int(number) if self is Number.INTEGER else float(number)


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

    def slice(self, start: int, stop: int) -> Sets:
        """Return the sets of the rows from ``start`` to ``stop``."""
        ends = self.ends[start:stop]
        begin = self.ends[start - 1] if start else 0
        codes = self.codes[begin : ends[-1] if ends.size else begin]
        return Sets(self.items, ends - begin, codes, _positions_within(self.missing, start, stop))

    def take(self, rows: NDArray[np.intp]) -> Sets:
        """Return the sets of some rows, perhaps several times."""
        begins = np.append(0, self.ends[:-1])
        many = (self.ends - begins)[rows]
        ends = np.cumsum(many)
        at = np.repeat(begins[rows] - ends + many, many) + np.arange(ends[-1] if ends.size else 0)
        return Sets(self.items, ends, self.codes[at], np.flatnonzero(np.isin(rows, self.missing)).astype(np.int32))


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute of everybody: codes into ``levels``, or numbers.

    Subclasses keep less than an array of codes, and make it when it is asked for. They put the fields that they do not
    compute into ``__dict__``: the constructor of a dataclass would set them all.

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
    def is_number(self) -> bool:
        """Whether it has numbers, in ``values``, rather than codes: known without reading them."""
        return self.kind is Kind.NUMERIC

    @property
    def distinct(self) -> int | None:
        """The number of levels, or None for a numeric column."""
        return None if self.is_number else len(self.levels)

    def find_level(self, value: object) -> Level | None:
        """Return a value that a user wrote as the column has it, by its value or else by its text; None if it has not.

        ``True`` and 1 are equal in Python, and are still not the same value.
        """
        same = [v for v in self.levels if v == value and isinstance(v, bool) == isinstance(value, bool)]
        return next(iter(same or (v for v in self.levels if str(v) == str(value))), None)

    @property
    def values_in_words(self) -> str:
        """What to say to somebody who names a value that the column has not."""
        if not self.levels:
            return "it is numeric"
        shown = ", ".join(repr(v) for v in self.levels[:10])
        return f"its values are {shown}{', …' if len(self.levels) > 10 else ''}"

    def slice(self, start: int, stop: int) -> Column:
        """Return the rows from ``start`` to ``stop``, with the levels and all that is known of the whole column."""
        return replace(
            self,
            codes=None if self.codes is None else self.codes[start:stop],
            values=None if self.values is None else self.values[start:stop],
            sets=None if self.sets is None else self.sets.slice(start, stop),
        )

    def take(self, rows: NDArray[np.intp]) -> Column:
        """Return some rows, perhaps several times, with the levels and the kind of the whole column."""
        codes = None if self.codes is None else self.codes[rows]
        values = None if self.values is None else self.values[rows]
        sets = None if self.sets is None else self.sets.take(rows)
        gone = np.count_nonzero(codes < 0) if codes is not None else 0
        if values is not None:
            gone = np.count_nonzero(np.isnan(values))
        if sets is not None:
            gone = sets.missing.size
        return replace(self, codes=codes, values=values, sets=sets, missing=int(gone))

    def blocks(self) -> Iterator[tuple[int, Column]]:
        """Return the column in blocks that fit in memory, each with the position of its first row."""
        yield 0, self

    @property
    def constant(self) -> bool:
        """Whether all values that are there are the same."""
        if self.values is None:
            return len(self.levels) < 2
        seen = self.values[~np.isnan(self.values)]
        return not seen.size or bool(seen.min() == seen.max())


class FlagColumn(Column):
    """A binary column of which only the rows with the rarer, second level are kept: ten thousand of them fit.

    Attributes
    ----------
    true_rows
        The rows with the second level, in order.
    missing_rows
        The rows without a value, in order.
    """

    true_rows: NDArray[np.int32]
    missing_rows: NDArray[np.int32]
    n_rows: int

    def __init__(
        self,
        name: str,
        reason: str,
        missing: int,
        levels: tuple[Level, ...],
        n_rows: int,
        true_rows: NDArray[np.int32],
        missing_rows: NDArray[np.int32],
    ) -> None:
        self.__dict__.update(name=name, kind=Kind.BINARY, reason=reason, missing=missing, levels=levels)
        self.__dict__.update(n_rows=n_rows, true_rows=true_rows, missing_rows=missing_rows)

    @property
    def codes(self) -> NDArray[np.int32]:
        """The position of each row's value in ``levels``, −1 where it is missing."""
        codes = np.zeros(self.n_rows, dtype=np.int32)
        codes[self.true_rows] = 1
        codes[self.missing_rows] = -1
        return codes

    def slice(self, start: int, stop: int) -> FlagColumn:
        """Return the rows from ``start`` to ``stop``."""
        kept = (_positions_within(rows, start, stop) for rows in (self.true_rows, self.missing_rows))
        return FlagColumn(self.name, self.reason, self.missing, self.levels, stop - start, *kept)

    def take(self, rows: NDArray[np.intp]) -> FlagColumn:
        """Return some rows, perhaps several times."""
        true, gone = (
            np.flatnonzero(np.isin(rows, known)).astype(np.int32) for known in (self.true_rows, self.missing_rows)
        )
        return FlagColumn(self.name, self.reason, gone.size, self.levels, rows.size, true, gone)


class HashedColumn(Column):
    """An identifier with so many values that only a hash of each is kept: enough to tell people apart.

    Attributes
    ----------
    bits
        The hash of each row's value.
    """

    bits: NDArray[np.uint64]
    _distinct: int

    def __init__(self, name: str, reason: str, missing: int, distinct: int, bits: NDArray[np.uint64]) -> None:
        self.__dict__.update(name=name, kind=Kind.IDENTIFIER, reason=reason, missing=missing)
        self.__dict__.update(_distinct=distinct, bits=bits)

    @property
    def distinct(self) -> int:
        """How many values differ."""
        return self._distinct

    @property
    def constant(self) -> bool:
        """Whether all values are the same."""
        return False

    @property
    def codes(self) -> NDArray[np.int32]:
        """There are none."""
        raise too_many_values(self.name, self._distinct)

    def slice(self, start: int, stop: int) -> HashedColumn:
        """Return the rows from ``start`` to ``stop``."""
        return HashedColumn(self.name, self.reason, self.missing, self._distinct, self.bits[start:stop])


def _positions_within(rows: NDArray[np.int32], start: int, stop: int) -> NDArray[np.int32]:
    """Return the sorted rows that are between ``start`` and ``stop``, counted from ``start``."""
    first, last = np.searchsorted(rows, (start, stop))
    return rows[first:last] - np.int32(start)


def too_many_values(name: str, distinct: int) -> InputError:
    """Return the error for a column whose values are too many to keep."""
    return InputError(
        f"Column {name!r} has {distinct:,} different values, more than can be kept within "
        f"{the('memory', 'of DataSource', 'the')}. Give more memory, group the values, or do without the column."
    )


@dataclass(frozen=True, eq=False)
class Table:
    """The people: rows in the order given, columns by name.

    Attributes
    ----------
    name
        What to call the data in a report: the file's name, or ``"data"`` for a frame.
    library
        Where it came from: ``"pandas"``, ``"polars"``, ``"arrow"``, ``"dict"``, ``"csv"``, ``"parquet"``.
    block
        How many rows to take at once, where not all of them fit in memory.
    """

    name: str
    library: str
    n_rows: int
    columns: Mapping[str, Column]
    block: int | None = None

    def __getitem__(self, name: str) -> Column:
        try:
            return self.columns[name]
        except KeyError:
            raise unknown_name("column", name, self.columns) from None

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def slice(self, start: int, stop: int, columns: Collection[str] | None = None) -> Table:
        """Return the rows from ``start`` to ``stop``, of some columns or of all."""
        names = self.columns if columns is None else columns
        return replace(self, n_rows=stop - start, columns={name: self[name].slice(start, stop) for name in names})

    def repeat(self, rows: NDArray[np.intp]) -> Table:
        """Return some rows of a table in memory, perhaps several times."""
        return replace(self, n_rows=rows.size, columns={name: c.take(rows) for name, c in self.columns.items()})

    def blocks(self, columns: Collection[str] | None = None) -> Iterator[tuple[int, Table]]:
        """Return the rows in blocks that fit in memory, each with the position of its first row.

        Examples
        --------
        >>> ages = Column("age", Kind.NUMERIC, "", 0, values=np.array([25.0, 42.0, 61.0]))
        >>> [(start, part["age"].values.tolist()) for start, part in Table("t", "dict", 3, {"age": ages}, 2).blocks()]
        [(0, [25.0, 42.0]), (2, [61.0])]
        """
        if self.block is None:
            yield 0, self
            return
        for start, stop in row_spans(self.n_rows, self.block):
            yield start, self.slice(start, stop, columns)


class RowReader(Protocol):
    """Whatever has the rows of a table: the table itself in memory, or files. It can be pickled."""

    def slice(self, start: int, stop: int, columns: Collection[str]) -> Table:
        """Return the rows from ``start`` to ``stop`` of some columns."""


def row_spans(n_rows: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield where blocks of a given number of rows start and stop; the last may be shorter.

    Examples
    --------
    >>> list(row_spans(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    return ((start, min(start + size, n_rows)) for start in range(0, n_rows, size))
