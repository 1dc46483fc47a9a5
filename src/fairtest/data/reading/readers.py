"""Data in: a frame, a file or a folder becomes a table of encoded columns."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fairtest.data.columns.declared import Declared
from fairtest.data.columns.kinds import column_of
from fairtest.data.reading.delimited import decoded, read_delimited
from fairtest.data.reading.frames import column_names, first_line, library_of, raw_columns
from fairtest.data.reading.normal import without
from fairtest.data.streaming.parquet import SUFFIXES, check_same_columns, disagreeing, parquet_parts, unreadable
from fairtest.data.table import Table
from fairtest.exceptions import InputError, setting, the

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairtest.data.reading.normal import RawColumn
    from fairtest.data.table import Column
    from fairtest.types import Level

READABLE = "a CSV or Parquet file (.csv, .tsv, .txt, .parquet; .gz and .zst too)"
_GZIP, _ZSTD, _PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"
_OTHERS = {
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"PK\x03\x04": "a ZIP archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"ARROW1": "an Arrow or Feather file",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"SQLite format 3": "an SQLite database",
}


def read_table(
    data: Any,
    *,
    categorical: Iterable[str] = (),
    numeric: Iterable[str] = (),
    ordered: Mapping[str, Iterable[Level]] | None = None,
    missing: Iterable[object] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    name: str | None = None,
) -> Table:
    """Read people from a frame or a file, and decide what kind each column is.

    Parameters
    ----------
    data
        A pandas or polars frame, an Arrow table, a dictionary of columns, or the path of a CSV or Parquet file
        (compressed with gzip or zstd too) or of a folder of Parquet files.
    categorical, numeric
        Columns that are categories, or numbers, whatever they look like.
    ordered
        For columns whose values have an order: the levels from low to high.
    missing
        Values that stand for a missing one, besides empty fields: ``["?", "NA"]``.
    delimiter
        What parts the fields of a CSV file; found out from the header if not given.
    encoding
        How a CSV file is encoded; UTF-8 if not given.
    decimal
        What stands before the decimals of numbers in a CSV file, ``"."`` or ``","``. If not given, commas are read too
        where semicolons part the fields.
    name
        What to call the data; the file's name if not given.

    Raises
    ------
    InputError
        If the data cannot be read, or a declaration does not fit it.

    Examples
    --------
    >>> table = read_table({"age": [25, 42, 61], "sex": ["F", "M", "F"]}, numeric=["age"])
    >>> [(column.name, str(column.kind)) for column in table.columns.values()]
    [('age', 'numeric'), ('sex', 'binary')]
    """
    declared = Declared.of(categorical=categorical, numeric=numeric, ordered=ordered)
    absent = values_for_missing(missing)
    _check_delimiter(delimiter)
    _check_decimal(decimal, delimiter)
    library, names, columns, called = _columns(data, absent, delimiter, encoding, decimal)
    declared.check(names)
    lengths: dict[str, int] = {}
    encoded: dict[str, Column] = {}
    for column in columns:
        lengths[column.name] = len(column)
        encoded[column.name] = column_of(column, declared)
    return Table(name or called, library, _height(lengths, called), encoded)


def _columns(
    data: Any, missing: list[object], delimiter: str | None, encoding: str | None, decimal: str | None
) -> tuple[str, list[str], Iterable[RawColumn], str]:
    """Return where the data came from, the names of its columns, the columns, and what to call it."""
    if isinstance(data, str | os.PathLike):
        path = Path(os.fsdecode(data))
        library, names, columns = _file(path, missing, delimiter, encoding, decimal)
        return library, names, columns, path.name or str(path)
    library_name = library_of(data)
    if library_name is None:
        raise InputError(
            "The data must be a pandas or polars frame, an Arrow table, a dictionary of columns, or the path of "
            f"{READABLE} or of a folder of Parquet files. Got {_described(data)} instead."
        )
    return library_name, column_names(data), (without(column, missing) for column in raw_columns(data)), "data"


def _file(
    path: Path, missing: list[object], delimiter: str | None, encoding: str | None, decimal: str | None
) -> tuple[str, list[str], Iterable[RawColumn]]:
    if _is(Path.is_dir, path):
        return "parquet", *_parquet(parquet_parts(path), str(path), missing)
    if path.suffix.lower() in SUFFIXES and _is(Path.is_file, path):
        return "parquet", *_parquet([path], str(path), missing)
    content = _unpacked(_content(path), path, encoding)
    if content.startswith(_PARQUET):
        return "parquet", *_parquet([io.BytesIO(content)], str(path), missing)
    text = decoded(_recognised(content, path, encoding), encoding, str(path))
    if b"\x00" in text:
        raise InputError(f"{path} is not a text file: it has null bytes. The data must be {READABLE}.")
    if delimiter is None and ".tsv" in (suffix.lower() for suffix in path.suffixes):
        delimiter = "\t"
    columns = read_delimited(text, where=str(path), delimiter=delimiter, missing=missing, decimal=decimal)
    return "csv", [column.name for column in columns], columns


def _is(question: Callable[[Path], bool], path: Path) -> bool:
    try:
        return question(path)
    except (OSError, ValueError):  # a name too long, or with a null character: reading says so
        return False


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no file {str(path.absolute())!r}. Check the path.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"The file {str(path)[:200]!r} cannot be read: {first_line(error)}") from error
    if _blank(content):
        raise InputError(f"{path} is empty. The data must have a header and at least one row.")
    return content


def _blank(content: bytes) -> bool:
    return not content[:1000].strip() and not content.strip()


def _unpacked(content: bytes, path: Path, encoding: str | None) -> bytes:
    """Return the content of a compressed file, whatever it is called."""
    if content.startswith(_GZIP):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path} is damaged: it does not decompress with gzip. Copy it again.") from error
    elif content.startswith(_ZSTD):
        content = _unzstd(content, path, encoding)
    if _blank(content):
        raise InputError(f"{path} is empty. The data must have a header and at least one row.")
    return content


def _unzstd(content: bytes, path: Path, encoding: str | None) -> bytes:
    """Decompress by reading the lines of the file with polars, which has zstd built in."""
    try:
        lines = pl.read_csv(content, has_header=False, separator="\x01", quote_char=None, schema={"line": pl.String})
    except (pl.exceptions.PolarsError, OSError) as error:
        plain = encoding is None or encoding.casefold() in ("utf-8", "utf8")
        advice = "is it damaged, or in an encoding other than UTF-8?" if plain else "decompress it first."
        raise InputError(f"{path} cannot be read as text compressed with zstd: {advice}") from error
    return "\n".join(lines.to_series().fill_null("").to_list()).encode()


def _recognised(content: bytes, path: Path, encoding: str | None) -> bytes:
    """Return the content if it may be text; a file of another sort is called by its name."""
    found = next((what for magic, what in _OTHERS.items() if content.startswith(magic)), None)
    start = content[:1000].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith(b"{") or re.match(rb'\[\s*[\[{"\d]', start):
        found = "JSON"
    elif start.startswith((b"<!doctype", b"<html", b"<?xml", b"<svg")):
        found = "a web page (HTML or XML)"
    if found is None and encoding is None and b"\x00" in content and content[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        found = f"not text (it has null bytes; if it is UTF-16, pass {setting('encoding', 'utf-16')})"
    if found:
        raise InputError(f"{path} is {found}. The data must be {READABLE}: save it as one of these.")
    return content


def _parquet(files: list[Any], where: str, missing: list[object]) -> tuple[list[str], Iterable[RawColumn]]:
    try:
        frames = [pl.read_parquet(file, hive_partitioning=False, glob=False) for file in files]
    except (pl.exceptions.PolarsError, OSError) as error:
        raise unreadable(where, error) from error
    if len(files) > 1:
        check_same_columns(where, [Path(file).name for file in files], [frame.columns for frame in frames])
    try:
        whole = pl.concat([frame.select(frames[0].columns) for frame in frames], how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        raise disagreeing(where, error) from error
    return whole.columns, (without(column, missing) for column in raw_columns(whole))


def _height(lengths: Mapping[str, int], called: str) -> int:
    different = set(lengths.values())
    if len(different) > 1:
        shown = ", ".join(f"{name!r} has {length}" for name, length in islice(lengths.items(), 6))
        raise InputError(f"The columns of a dictionary must have the same number of rows; {shown}.")
    rows = different.pop()
    if rows == 0:
        raise InputError(f"{called} has column names and no rows. The data must have at least one row.")
    return rows


def values_for_missing(missing: Iterable[object]) -> list[object]:
    """Return the values that stand for a missing one as a list."""
    if isinstance(missing, str):
        return [missing]
    if not isinstance(missing, Iterable):
        raise InputError(
            f"{the('missing', 'parameter')} must be a list of values, such as ['?', 'NA']. Got {missing!r} instead."
        )
    return list(missing)


def _check_delimiter(delimiter: str | None) -> None:
    if delimiter is None or (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()):
        return
    raise InputError(
        f"{the('delimiter', 'parameter')} must be one character, such as ',' or ';'. Got {delimiter!r} instead."
    )


def _check_decimal(decimal: str | None, delimiter: str | None) -> None:
    if decimal not in (None, ".", ","):
        raise InputError(f"{the('decimal', 'parameter')} must be '.' or ','. Got {decimal!r} instead.")
    if decimal is not None and decimal == delimiter:
        raise InputError(f"{the('decimal', 'parameter')} must not be the delimiter too. Got {decimal!r} for both.")


def _described(data: object) -> str:
    kind = type(data)
    return "None" if data is None else f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
