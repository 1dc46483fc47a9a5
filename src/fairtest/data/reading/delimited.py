"""Delimited text in: every field as text first; :mod:`fairtest.data.reading.spelling` says what a column spells.

Reading text and casting whole columns costs little more than reading with the types known. Rows that are too short are
found by arithmetic: the file must have as many delimiters as full rows need and quoted fields hold.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
import polars as pl

from fairtest.data.reading.files import READABLE
from fairtest.data.reading.frames import check_names
from fairtest.data.reading.raw import null_markers
from fairtest.data.reading.spelling import parse_fields, with_decimal_points
from fairtest.exceptions import InputError, argument, in_python, setting, the

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.data.reading.raw import RawColumn

DELIMITERS = (",", ";", "\t", "|")
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

    def may_have_commas(self, delimiter: str) -> bool:
        """Whether numbers may have decimal commas in text whose fields are separated so."""
        return self.decimal == "," or (self.decimal is None and delimiter == ";")


class Before(NamedTuple):
    """How much of a file comes before some of its text, to say in errors where something is."""

    lines: int = 0
    bytes: int = 0


START = Before()


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
    check_no_nulls(data, where)
    data = data.lstrip(b"\r\n")
    if b"\n" not in data and b"\r" in data:
        data = data.replace(b"\r", b"\n")
    delimiter = text.delimiter or guess_delimiter(data)
    if data.endswith(delimiter.encode()):
        data += b"\n"  # or polars passes over a delimiter too many
    header = read_header(data, delimiter, where)
    check_names(header, where)
    fields = read_fields(data, delimiter, header, where)
    commas = text.may_have_commas(delimiter)
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
    encoding = encoding_of(data, encoding)
    if encoding is not None:
        try:
            data = data.decode(encoding).encode()
        except UnicodeError as error:
            raise_undecodable(error, encoding, where)
    return data.removeprefix(b"\xef\xbb\xbf")


def encoding_of(start: bytes, encoding: str | None) -> str | None:
    """Return the encoding of text that begins like this, None for UTF-8; raises where Python does not know it."""
    if encoding is None:
        return "utf-16" if start[:2] in _UTF16 else None
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise InputError(
            f"{the('encoding', 'parameter')} must be one that Python knows, such as 'utf-8', 'latin-1' or "
            f"'cp1252'. Got {encoding!r} instead."
        ) from None
    return None if encoding.casefold().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig") else encoding


def guess_delimiter(data: bytes) -> str:
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
        names = next(records(_as_lines(data), delimiter or guess_delimiter(data)), (0, []))[1]
    except UnicodeDecodeError as error:
        raise_undecodable(error, "utf-8", where)
    except csv.Error:
        names = []
    if not names or any(ord(c) < 32 and c not in "\t\r\n" for name in names for c in name):
        raise InputError(f"{where} is not a table: its first line must name the columns. Is it a CSV or Parquet file?")
    return number_repeats(names)


def number_repeats(names: list[str]) -> list[str]:
    """Return names of columns with a number behind those that were there before, as pandas and R read such files.

    Examples
    --------
    >>> number_repeats(["score", "age", "score", "score"])
    ['score', 'age', 'score.1', 'score.2']
    """
    found: list[str] = []
    for name in names:
        number, free = 0, name
        while name.strip() and free in found:
            number += 1
            free = f"{name}.{number}"
        found.append(free)
    return found


def check_no_nulls(data: bytes, where: str) -> None:
    """Raise if there are null bytes in what should be text."""
    if b"\x00" in data:
        raise InputError(f"{where} is not a text file: it has null bytes. The data must be {READABLE}.")


def _as_lines(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")


def records(lines: io.TextIOWrapper, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records as Python's own reader sees them, each with the number of the line it begins on."""
    reader = csv.reader(lines, delimiter=separator)
    begin = 1
    for record in reader:
        yield begin, record
        begin = reader.line_num + 1


def read_fields(data: bytes, separator: str, header: list[str], where: str, before: Before = START) -> pl.DataFrame:
    """Return every field as text: read by polars, or one by one where quotes stand inside a field."""
    frame = _read_quickly(data, separator, header)
    if frame is None:
        lines = _as_lines(data)
        rows = [row for block in read_slowly(lines, separator, header, where, before) for row in block][1:]
        return as_frame(rows, header)
    return frame.drop_nulls() if len(header) == 1 else frame  # nulls are blank lines: an empty field is quoted


def _read_quickly(data: bytes, separator: str, header: list[str]) -> pl.DataFrame | None:
    """Return every field as text, or None where only a slower reader knows what is meant or wrong."""
    if not is_well_quoted(data, separator):
        return None
    try:
        frame = pl.read_csv(data, separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError:
        return None
    return frame if frame.width == len(header) and _is_complete(frame, data, separator, header) else None


def _is_complete(frame: pl.DataFrame, data: bytes, separator: str, header: list[str]) -> bool:
    """Whether the file has the delimiters that full rows need: polars pads a short row in silence."""
    if not frame.to_series(-1).null_count():
        return True
    inside = 0
    if b'"' in data:
        inside = sum(name.count(separator) for name in header)
        inside += sum(int(s.str.count_matches(separator, literal=True).sum() or 0) for s in frame.get_columns())
    return data.count(separator.encode()) - inside == (frame.height + 1) * (len(header) - 1)


def is_well_quoted(data: bytes, separator: str) -> bool:
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


def read_slowly(
    lines: io.TextIOWrapper, separator: str, header: list[str], where: str, before: Before, rows: int | None = None
) -> Iterator[list[list[str]]]:
    """Read with Python's own reader, which names the line of a row that does not fit, so many rows at a time."""
    found: list[list[str]] = []
    fields = "1 field" if len(header) == 1 else f"{len(header)} fields"
    try:
        for line, record in records(lines, separator):
            if record and len(record) != len(header):
                raise InputError(
                    f"{where}, line {before.lines + line}: every row must have {fields}, as the header has. Got "
                    f"{len(record)}. Mend the line, or pass {argument('delimiter', 'delimiter=')} if the fields are "
                    "separated by something else."
                )
            if record:
                found.append(record)
            if len(found) == rows:
                yield found
                found = []
    except UnicodeDecodeError as error:
        raise_undecodable(error, "utf-8", where, before)
    except csv.Error as error:
        raise InputError(f"{where} is not a table that can be read: {error}. Is a quote never closed?") from error
    yield found


def as_frame(rows: list[list[str]], header: list[str]) -> pl.DataFrame:
    """Return records as columns of text."""
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    return pl.DataFrame([pl.Series(str(i), values, dtype=pl.String) for i, values in enumerate(columns)])


def raise_undecodable(error: UnicodeError, encoding: str, where: str, before: Before = START) -> NoReturn:
    """Raise for bytes that are no text in an encoding, and say where they are."""
    at = ""
    if isinstance(error, UnicodeDecodeError):
        line = before.lines + error.object[: error.start].count(b"\n") + 1
        position = before.bytes + error.start
        at = f": byte 0x{error.object[error.start]:02x} at position {position}, line {line}, does not fit"
    if encoding == "utf-8":
        advice = f"{setting('encoding', 'cp1252')} or 'latin-1'"
    else:
        advice = f"{in_python('encoding=')}the {argument('encoding', 'one')} it was written in"
    raise InputError(f"{where} is not text in the encoding {encoding!r}{at}. Pass {advice}.") from None
