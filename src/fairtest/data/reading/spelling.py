"""What the fields of a column of delimited text spell: booleans, whole numbers, numbers, dates or just text.

A column is what *all* of its values are, so that no value late in a file can contradict a type guessed early. The rows
may come in blocks: :class:`SpelledColumn` notes of each what speaks against a type, and reads them once it is settled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from fairtest.data.reading.raw import RawColumn, first_text, null_empty_text, to_raw

_BOOLEANS = ("true", "false")
SAMPLE = 1_000
"""How many of the first rows are tried before all are: most columns of text show there that they are no numbers."""
_LONGEST = 9.2e18  # just below 2⁶³, the largest whole number of 64 bits
_COMMA_NUMBER = r"^[+-]?(0|[1-9]\d*|[1-9]\d{0,2}(\.\d{3})+)(,\d+)?$"
_THOUSANDS = r"^[+-]?\d{1,3}(\.\d{3})+"
_MAYBE_THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"


def parse_fields(series: pl.Series) -> RawColumn:
    """Return text as booleans, whole numbers, numbers or dates if every value is one, else as it is.

    Numbers that begin with a zero, such as ``01020``, are codes and stay text.

    Examples
    --------
    >>> columns = (["1", ""], ["1", "2.5"], ["1", "x"], ["true", "False"], ["007"])
    >>> [parse_fields(pl.Series(texts)).values.dtype for texts in columns]
    [Int64, Float64, String, Boolean, String]
    """
    raw = to_raw(series)
    texts = raw.values
    if texts is None or texts.dtype != pl.String or (first := first_text(texts)) is None:
        return raw  # dates, or nothing
    parsed = _parse_booleans(texts) if first.casefold() in _BOOLEANS else _parse_numbers(texts)
    return raw if parsed is None else replace(raw, values=parsed)


def _parse_booleans(texts: pl.Series) -> pl.Series | None:
    """Return the booleans that the text spells, or None if some of it spells none."""
    return read_as(texts, pl.Boolean()) if _are_booleans(texts) else None


def _are_booleans(texts: pl.Series) -> bool:
    return all(text.casefold() in _BOOLEANS for text in texts.drop_nulls().unique().to_list())


def _parse_numbers(series: pl.Series) -> pl.Series | None:
    """Return the numbers that the text spells, or None if some of it spells none. Spaces around them do not count."""
    if _cast_all(series.head(SAMPLE).str.strip_chars(), pl.Float64) is None:
        return None
    parsed = _cast_numbers(series)
    return _cast_numbers(series.str.strip_chars()) if parsed is None else parsed


def _cast_numbers(series: pl.Series) -> pl.Series | None:
    sample = series.head(SAMPLE)
    whole = _cast_all(series, pl.Int64) if _cast_all(sample, pl.Int64) is not None else None
    if whole is not None:
        return None if _have_leading_zeros(series) else whole
    real = _cast_all(series, pl.Float64)
    if real is None:
        return None
    finite = real.fill_nan(None)
    return None if finite.null_count() == len(finite) or _are_too_long(series, finite) else finite


def _cast_all(series: pl.Series, kind: type[pl.DataType]) -> pl.Series | None:
    cast = series.cast(kind, strict=False)
    return cast if cast.null_count() == series.null_count() else None


def _have_leading_zeros(series: pl.Series) -> bool:
    """Whether a whole number is written with zeros in front, as codes are."""
    return bool((series.str.starts_with("0") & (series.str.len_bytes() > 1)).any())


def _are_too_long(series: pl.Series, numbers: pl.Series) -> bool:
    """Whether some whole numbers do not fit 64 bits: they must be codes, and floats would merge different ones."""
    big = numbers.abs() > _LONGEST
    return bool(big.any()) and bool(series.filter(big).str.contains(r"^[+-]?\d+$").any())


def read_as(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return texts that are known to spell values of a type as these values.

    Examples
    --------
    >>> read_as(pl.Series([" 3", None]), pl.Int64()).to_list(), read_as(pl.Series(["True"]), pl.Boolean()).to_list()
    ([3, None], [True])
    """
    if dtype == pl.String:
        return texts
    if dtype == pl.Boolean:
        return texts.str.to_lowercase() == "true"
    values = texts.str.strip_chars().cast(dtype)
    return values.fill_nan(None) if dtype == pl.Float64 else values


# Decimal commas -------------------------------------------------------------------------------------------------------


@dataclass
class CommaFacts:
    """What the values of a column say of whether their commas stand before decimals.

    Every value must be such a number, and one at least must have a comma. Points are then between thousands. Where
    each comma could be between thousands too, as in ``12,500``, they are not, unless the user is ``sure``.
    """

    sure: bool = False
    are_numbers: bool = True
    have_commas: bool = False
    have_thousands: bool = False
    are_ambiguous: bool = True

    def add(self, series: pl.Series) -> None:
        """Take note of some values."""
        if not self.are_numbers:
            return
        bare = series.drop_nulls().str.strip_chars()
        bare = bare.filter(bare != "")
        if not bare.head(SAMPLE).str.contains(_COMMA_NUMBER).all() or not bare.str.contains(_COMMA_NUMBER).all():
            self.are_numbers = False
            return
        commas = bare.filter(bare.str.contains(",", literal=True))
        self.have_commas |= bool(commas.len())
        self.have_thousands |= bool(bare.str.contains(_THOUSANDS).any())
        self.are_ambiguous &= bool(commas.str.contains(_MAYBE_THOUSANDS).all())

    @property
    def are_decimal(self) -> bool:
        """Whether commas stand before decimals."""
        if not self.are_numbers or not (self.have_commas or (self.sure and self.have_thousands)):
            return False
        return self.sure or self.have_thousands or not self.are_ambiguous


def with_decimal_points(series: pl.Series, *, sure: bool = False) -> pl.Series:
    """Return text that spells numbers with decimal commas with points instead; other text as it is.

    See :class:`CommaFacts` for what makes them decimal commas.

    Examples
    --------
    >>> with_decimal_points(pl.Series(["3,5", "1.200,25", "7"])).to_list()
    ['3.5', '1200.25', '7']
    >>> with_decimal_points(pl.Series(["12,500", "1,250"])).to_list()
    ['12,500', '1,250']
    """
    if series.dtype != pl.String:
        return series
    facts = CommaFacts(sure)
    facts.add(series)
    return put_points(series) if facts.are_decimal else series


def put_points(series: pl.Series) -> pl.Series:
    """Return numbers with decimal points instead of commas, and nothing between thousands."""
    plain = series.str.replace_all(".", "", literal=True)
    return plain.str.replace(",", ".", literal=True)


# Blocks ---------------------------------------------------------------------------------------------------------------


@dataclass
class _TypeFacts:
    """What the values of a column of text say of its type, block by block; the same as :func:`parse_fields` finds."""

    first: str | None = None
    are_booleans: bool = True
    are_whole: bool = True
    are_real: bool = True
    have_leading_zeros: bool = False
    are_too_long: bool = False
    are_finite: bool = False

    def add(self, texts: pl.Series) -> None:
        """Take note of some values."""
        if self.first is None:
            self.first = first_text(texts)
        if self.first is None:
            return
        if self.first.casefold() in _BOOLEANS:
            self.are_booleans = self.are_booleans and _are_booleans(texts)
        elif self.are_real:
            self._add_numbers(texts.str.strip_chars())

    def _add_numbers(self, texts: pl.Series) -> None:
        real = None
        if _cast_all(texts.head(SAMPLE), pl.Float64) is not None:
            real = _cast_all(texts, pl.Float64)
        if real is None:
            self.are_real = False
            return
        if self.are_whole:
            self.are_whole = _cast_all(texts, pl.Int64) is not None
            self.have_leading_zeros = self.have_leading_zeros or _have_leading_zeros(texts)
        finite = real.fill_nan(None)
        self.are_finite = self.are_finite or finite.null_count() < len(finite)
        self.are_too_long = self.are_too_long or _are_too_long(texts, finite)

    @property
    def dtype(self) -> pl.DataType:
        """The type that all values have."""
        if self.first is not None and self.first.casefold() in _BOOLEANS:
            return pl.Boolean() if self.are_booleans else pl.String()
        if self.first is None or not self.are_real:
            return pl.String()
        if self.are_whole:
            return pl.String() if self.have_leading_zeros else pl.Int64()
        return pl.Float64() if self.are_finite and not self.are_too_long else pl.String()


class SpelledColumn:
    """A column of text whose rows come in blocks: added first, all of them, and read afterwards.

    Parameters
    ----------
    commas
        The facts about decimal commas, where there may be some.

    Examples
    --------
    >>> column = SpelledColumn()
    >>> for block in (["1", "2"], ["", "2.5"]):
    ...     column.add(pl.Series(block))
    >>> column.dtype, column.read(pl.Series(["1", ""])).to_list()
    (Float64, [1.0, None])
    """

    def __init__(self, commas: CommaFacts | None = None) -> None:
        self._commas = commas
        self._as_written, self._with_points = _TypeFacts(), _TypeFacts()

    def add(self, texts: pl.Series) -> None:
        """Take note of the next rows."""
        texts = null_empty_text(texts)
        self._as_written.add(texts)
        if self._commas is not None:
            self._commas.add(texts)
            if self._commas.are_numbers:
                self._with_points.add(put_points(texts))

    @property
    def _has_decimal_commas(self) -> bool:
        return self._commas is not None and self._commas.are_decimal

    @property
    def dtype(self) -> pl.DataType:
        """The type of the column, after all rows were added: text may still be dates."""
        return (self._with_points if self._has_decimal_commas else self._as_written).dtype

    def read(self, texts: pl.Series) -> pl.Series:
        """Return some rows as values of this type."""
        texts = null_empty_text(texts)
        return read_as(put_points(texts) if self._has_decimal_commas else texts, self.dtype)
