"""Delimited text in: every field as text first, then each column as what all of its values are.

Reading text and casting whole columns costs little more than reading with the types known, and no value late in the
file can contradict a type guessed early. Rows that are too short are found by arithmetic: the file must have as many
delimiters as full rows need and quoted fields hold.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import polars as pl

from fairtest.data.reading.files import READABLE
from fairtest.data.reading.frames import check_names
from fairtest.data.reading.raw import RawColumn, first_text, null_markers, to_raw
from fairtest.exceptions import InputError, argument, in_python, setting, the

if TYPE_CHECKING:
    from collections.abc import Iterator

DELIMITERS = (",", ";", "\t", "|")
_BOOLEANS = ("true", "false")
SAMPLE = 1_000
"""How many of the first rows are tried before all are: most columns of text show there that they are no numbers."""
_LONGEST = 9.2e18  # just below 2⁶³, the largest whole number of 64 bits
_COMMA_NUMBER = r"^[+-]?(0|[1-9]\d*|[1-9]\d{0,2}(\.\d{3})+)(,\d+)?$"
_THOUSANDS = r"^[+-]?\d{1,3}(\.\d{3})+"
_MAYBE_THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class TextFormat:
    """How a file of delimited text is written, as far as the user says so.

    Attributes
    ----------
    missing
        The values that stand for a missing one, besides empty fields.
    delimiter
        The character between fields; by default it is guessed from the header.
    encoding
        By default UTF-8.
    decimal
        The decimal mark; by default commas are understood too where semicolons separate the fields.
    """

    missing: tuple[object, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        delimiter, decimal = self.delimiter, self.decimal
        if delimiter is not None and not (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()):
            raise InputError(
                f"{the('delimiter', 'parameter')} must be one character, such as ',' or ';'. Got {delimiter!r} instead."
            )
        if decimal not in (None, ".", ","):
            raise InputError(f"{the('decimal', 'parameter')} must be '.' or ','. Got {decimal!r} instead.")
        if decimal is not None and decimal == delimiter:
            raise InputError(f"{the('decimal', 'parameter')} must not be the delimiter too. Got {decimal!r} for both.")


def read_delimited(data: bytes, text: TextFormat, where: str) -> list[RawColumn]:
    r"""Return the columns of delimited text.

    Numbers have a decimal point; where semicolons separate the fields or ``decimal`` is a comma, those of a column may
    have commas: see :func:`with_decimal_points`.

    Parameters
    ----------
    where
        What to call the file in an error.

    Examples
    --------
    >>> columns = read_delimited(b"age;job\n42;Sales\n;?\n", TextFormat(missing=("?",)), "people.csv")
    >>> [(c.name, c.values.to_list()) for c in columns]
    [('age', [42, None]), ('job', ['Sales', None])]
    """
    data = decode(data, text.encoding, where)
    if b"\x00" in data:
        raise InputError(f"{where} is not a text file: it has null bytes. The data must be {READABLE}.")
    data = data.lstrip(b"\r\n")
    if b"\n" not in data and b"\r" in data:
        data = data.replace(b"\r", b"\n")
    delimiter = text.delimiter or _guess_delimiter(data)
    if data.endswith(delimiter.encode()):
        data += b"\n"  # or polars passes over a delimiter too many
    header = read_header(data, delimiter, where)
    check_names(header, where)
    fields = _read_fields(data, delimiter, header, where)
    commas = text.decimal == "," or (text.decimal is None and delimiter == ";")
    columns: list[RawColumn] = []
    for name, series in zip(header, fields.get_columns(), strict=True):
        values = null_markers(series.alias(name), text.missing)
        columns.append(parse_fields(with_decimal_points(values, sure=text.decimal == ",") if commas else values))
    return columns


def decode(data: bytes, encoding: str | None, where: str) -> bytes:
    """Return text in any encoding as UTF-8 without a byte order mark.

    Examples
    --------
    >>> decode("né".encode("latin-1"), "latin-1", "people.csv").decode()
    'né'
    """
    if encoding is None and data[:2] in _UTF16:
        encoding = "utf-16"
    if encoding is not None and encoding.casefold().replace("_", "-") not in ("utf-8", "utf8", "utf-8-sig"):
        try:
            data = data.decode(encoding).encode()
        except LookupError:
            raise InputError(
                f"{the('encoding', 'parameter')} must be one that Python knows, such as 'utf-8', 'latin-1' or "
                f"'cp1252'. Got {encoding!r} instead."
            ) from None
        except UnicodeError as error:
            _raise_undecodable(error, encoding, where)
    return data.removeprefix(b"\xef\xbb\xbf")


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
    if any(text.casefold() not in _BOOLEANS for text in texts.drop_nulls().unique().to_list()):
        return None
    return texts.str.to_lowercase() == "true"


def _parse_numbers(series: pl.Series) -> pl.Series | None:
    """Return the numbers that the text spells, or None if some of it spells none."""
    sample = series.head(SAMPLE)
    if _cast_all(sample, pl.Float64) is None:
        sample = sample.str.strip_chars()
        if _cast_all(sample, pl.Float64) is None:
            return None
        series = series.str.strip_chars()
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


def with_decimal_points(series: pl.Series, *, sure: bool = False) -> pl.Series:
    """Return text that spells numbers with decimal commas with points instead; other text as it is.

    Every value must be such a number, and one at least must have a comma. Points are then between thousands. Where
    each comma could be between thousands too, as in ``12,500``, nothing is changed unless the user is ``sure``.

    Examples
    --------
    >>> with_decimal_points(pl.Series(["3,5", "1.200,25", "7"])).to_list()
    ['3.5', '1200.25', '7']
    >>> with_decimal_points(pl.Series(["12,500", "1,250"])).to_list()
    ['12,500', '1,250']
    """
    if series.dtype != pl.String:
        return series
    bare = series.drop_nulls().str.strip_chars()
    bare = bare.filter(bare != "")
    if not bare.head(SAMPLE).str.contains(_COMMA_NUMBER).all() or not bare.str.contains(_COMMA_NUMBER).all():
        return series
    commas = bare.filter(bare.str.contains(",", literal=True))
    grouped = bool(bare.str.contains(_THOUSANDS).any())
    if not commas.len() and not (sure and grouped):
        return series
    if not (sure or grouped) and commas.str.contains(_MAYBE_THOUSANDS).all():
        return series
    plain = series.str.replace_all(".", "", literal=True)
    return plain.str.replace(",", ".", literal=True)


def _guess_delimiter(data: bytes) -> str:
    """Return the delimiter that occurs most in the header, outside quotes; a comma if none does."""
    line = re.sub(rb'"[^"]*"', b"", data[:65_536]).split(b"\n", 1)[0]
    counts = {delimiter: line.count(delimiter.encode()) for delimiter in DELIMITERS}
    return max(DELIMITERS, key=lambda delimiter: counts[delimiter])


def read_header(data: bytes, delimiter: str | None, where: str) -> list[str]:
    r"""Return the names of the columns of delimited UTF-8 text, of which the beginning is enough.

    Examples
    --------
    >>> read_header(b"age;job\n42;Sales\n", None, "people.csv")
    ['age', 'job']
    """
    try:
        names = next(_records(data, delimiter or _guess_delimiter(data)), (0, []))[1]
    except UnicodeDecodeError as error:
        _raise_undecodable(error, "utf-8", where)
    except csv.Error:
        names = []
    if not names or any(ord(c) < 32 and c not in "\t\r\n" for name in names for c in name):
        raise InputError(f"{where} is not a table: its first line must name the columns. Is it a CSV or Parquet file?")
    return names


def _records(data: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records as Python's own reader sees them, each with the number of the line it begins on."""
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator)
    begin = 1
    for record in reader:
        yield begin, record
        begin = reader.line_num + 1


def _read_fields(data: bytes, separator: str, header: list[str], where: str) -> pl.DataFrame:
    """Return every field as text: read by polars, or one by one where quotes stand inside a field."""
    if not _is_well_quoted(data, separator):
        return _read_slowly(data, separator, header, where)
    try:
        frame = pl.read_csv(data, separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError:
        return _read_slowly(data, separator, header, where)
    if frame.width != len(header):
        return _read_slowly(data, separator, header, where)
    if not _is_complete(frame, data, separator, header):
        return _read_slowly(data, separator, header, where)
    return frame.drop_nulls() if len(header) == 1 else frame  # nulls are blank lines: an empty field is quoted


def _is_complete(frame: pl.DataFrame, data: bytes, separator: str, header: list[str]) -> bool:
    """Whether the file has the delimiters that full rows need: polars pads a short row in silence."""
    if not frame.to_series(-1).null_count():
        return True
    inside = 0
    if b'"' in data:
        inside = sum(name.count(separator) for name in header)
        inside += sum(int(s.str.count_matches(separator, literal=True).sum() or 0) for s in frame.get_columns())
    return data.count(separator.encode()) - inside == (frame.height + 1) * (len(header) - 1)


def _is_well_quoted(data: bytes, separator: str) -> bool:
    """Whether every quote opens a field, closes one, or is doubled inside one."""
    if b'"' not in data:
        return True
    codes = np.frombuffer(data, dtype=np.uint8)
    places = np.flatnonzero(codes == ord('"'))
    if len(places) % 2:
        return False
    opening, closing = places[::2], places[1::2]
    edges = np.frombuffer(separator.encode() + b'\n"', dtype=np.uint8)
    before = codes[np.maximum(opening - 1, 0)]
    after = codes[np.minimum(closing + 1, len(codes) - 1)]
    begins = np.isin(before, edges) | (opening == 0)
    ends = np.isin(after, edges) | (after == ord("\r")) | (closing == len(codes) - 1)
    return bool(begins.all() and ends.all())


def _read_slowly(data: bytes, separator: str, header: list[str], where: str) -> pl.DataFrame:
    """Read with Python's own reader, which names the line of a row that does not fit."""
    rows: list[list[str]] = []
    fields = "1 field" if len(header) == 1 else f"{len(header)} fields"
    try:
        for line, record in _records(data, separator):
            if record and len(record) != len(header):
                raise InputError(
                    f"{where}, line {line}: every row must have {fields}, as the header has. Got {len(record)}. Mend "
                    f"the line, or pass {argument('delimiter', 'delimiter=')} if the fields are parted otherwise."
                )
            if record:
                rows.append(record)
    except UnicodeDecodeError as error:
        _raise_undecodable(error, "utf-8", where)
    except csv.Error as error:
        raise InputError(f"{where} is not a table that can be read: {error}. Is a quote never closed?") from error
    columns = list(zip(*rows[1:], strict=True)) or [()] * len(header)
    return pl.DataFrame([pl.Series(str(i), values, dtype=pl.String) for i, values in enumerate(columns)])


def _raise_undecodable(error: UnicodeError, encoding: str, where: str) -> NoReturn:
    at = ""
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        at = f": byte 0x{error.object[error.start]:02x} at position {error.start}, line {line}, does not fit"
    if encoding == "utf-8":
        advice = f"{setting('encoding', 'cp1252')} or 'latin-1'"
    else:
        advice = f"{in_python('encoding=')}the {argument('encoding', 'one')} it was written in"
    raise InputError(f"{where} is not text in the encoding {encoding!r}{at}. Pass {advice}.") from None
