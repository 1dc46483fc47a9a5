"""How a column is encoded: decided once for the whole table, then applied to any rows, here or on another machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairtest.data.fingerprint import MISSING, number_bits, text_bits
from fairtest.data.reading.raw import Form, in_form, without_markers
from fairtest.data.table import Column, HashedColumn, Number, Sets
from fairtest.exceptions import InputError, argument
from fairtest.types import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.data.reading.raw import RawColumn
    from fairtest.types import FloatArray, Level


SAMPLE = 2_000
"""How many of the first rows are looked at before all are: most questions are answered there."""


@dataclass(frozen=True)
class HashedValues:
    """An identifier of too many values to keep: how many there are, and the length of the longest text in bytes."""

    distinct: int
    width: int


@dataclass(frozen=True)
class Encoding:
    """How a column is encoded, and what is known of all its rows; see :class:`fairtest.data.table.Column`.

    It is small and can be sent: another machine encodes rows of the same column alike.

    Attributes
    ----------
    form
        What the values of the file are turned into first.
    absent
        The values that stand for a missing one.
    spelled
        Whether text is read as the numbers it spells.
    constant
        Whether all numbers are the same.
    hashed
        For an identifier whose values are too many to keep.
    items
        For a column of lists, what is in them.
    """

    name: str
    kind: Kind
    reason: str
    missing: int
    form: Form = Form.PLAIN
    absent: tuple[object, ...] = ()
    levels: tuple[Level, ...] = ()
    number: Number = Number.REAL
    spelled: bool = False
    constant: bool = False
    hashed: HashedValues | None = None
    items: tuple[str, ...] | None = None

    @property
    def is_number(self) -> bool:
        """Whether numbers are kept, rather than codes."""
        return self.kind is Kind.NUMERIC

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to keep: no value in any row, or none that can be used."""
        return not (self.is_number or self.levels or self.hashed or self.items is not None)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest type that holds what is kept of a row."""
        if self.is_number:
            return np.dtype(np.float64)
        if self.hashed is not None:
            return np.dtype(np.uint64)
        return np.min_scalar_type(-len(self.levels) - 1)  # signed, because −1 is missing

    def __getstate__(self) -> dict[str, Any]:
        return {field: value for field, value in self.__dict__.items() if field != "_sorted_levels"}

    def encode_series(self, series: pl.Series) -> Column:
        """Return some rows of a file, encoded."""
        raw = in_form(self.form, series)
        if raw is None:
            raise InputError(f"Column {self.name!r} changed while it was read. Read the data again.")
        return self.encode(without_markers(raw, self.absent))

    def encode(self, raw: RawColumn) -> Column:
        """Return some rows of the column, encoded."""
        values = raw.values
        if values is None:
            return self._encode_sets(len(raw), raw.sets)
        if self.is_number:
            return self.of_values(as_floats(check_values(self.name, values, numeric=self.spelled)))
        if self.hashed is not None:
            return self.of_bits(self._hash(values, self.hashed))
        return self.of_codes(self._find_levels(values))

    def of_codes(self, codes: NDArray[Any], sets: Sets | None = None) -> Column:
        """Return rows of the column from their codes."""
        codes = codes.astype(np.int32, copy=False)
        return Column(self.name, self.kind, self.reason, self.missing, self.levels, codes, sets=sets)

    def of_values(self, values: NDArray[np.float64]) -> Column:
        """Return rows of the column from their numbers."""
        return Column(self.name, self.kind, self.reason, self.missing, values=values, number=self.number)

    def of_bits(self, bits: NDArray[np.uint64]) -> Column:
        """Return rows of the column from the hashes of their values."""
        assert self.hashed is not None
        return HashedColumn(self.name, self.reason, self.missing, self.hashed.distinct, bits)

    def _find_levels(self, values: pl.Series) -> NDArray[np.int32]:
        """Return the code of each value, −1 where it is null."""
        levels, codes_of_sorted = self._sorted_levels
        if not len(levels):
            return np.full(len(values), -1, dtype=np.int32)
        if values.dtype == pl.String:
            codes = _encode_texts(values, levels)
        else:
            physical = values.to_physical()
            filled = physical.fill_null(False if physical.dtype == pl.Boolean else 0).to_numpy()
            codes = np.searchsorted(levels.to_physical().to_numpy(), filled).astype(np.int32)
            codes[values.is_null().to_numpy()] = -1
        return codes if codes_of_sorted is None else codes_of_sorted[codes]

    @cached_property
    def _sorted_levels(self) -> tuple[pl.Series, NDArray[np.int32] | None]:
        """The levels in the order of their values; for an ordered column also the code of each, and −1 at the end."""
        levels = pl.Series(self.name, self.levels)
        if self.kind is not Kind.ORDERED:
            return levels, None
        order = levels.arg_sort()
        return levels.gather(order), np.append(order.to_numpy(), -1).astype(np.int32)

    def _hash(self, values: pl.Series, hashed: HashedValues) -> NDArray[np.uint64]:
        """Return the bits of which the fingerprint is made: those the levels would have."""
        bits = np.full(len(values), MISSING)
        present = values.drop_nulls()
        is_text = values.dtype == pl.String
        bits[values.is_not_null().to_numpy()] = (
            text_bits(present, hashed.distinct, hashed.width) if is_text else number_bits(as_floats(present))
        )
        return bits

    def _encode_sets(self, rows: int, lists: pl.Series | None) -> Column:
        nothing = np.full(rows, -1, dtype=np.int32)
        if lists is None or self.items is None:
            return self.of_codes(nothing)
        known = lists.fill_null([])
        items = known.filter(known.list.len() > 0).explode()
        codes = _encode_texts(items, pl.Series(self.items, dtype=pl.String))
        ends = np.cumsum(known.list.len().to_numpy(), dtype=np.int64)
        missing = lists.is_null().arg_true().to_numpy().astype(np.int32)
        return self.of_codes(nothing, Sets(self.items, ends, codes, missing))


def _encode_texts(texts: pl.Series, levels: pl.Series) -> NDArray[np.int32]:
    """Return where each text is among the levels, −1 where it is null."""
    return texts.cast(pl.Enum(levels)).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()


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
    """Whether every number that is not missing is whole, and small enough for a float to hold it exactly.

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
