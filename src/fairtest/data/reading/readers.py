"""Data in: a frame, a file or a folder becomes a table of encoded columns."""

from __future__ import annotations

import gzip
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from fairtest.data.columns.declared import DeclaredKinds
from fairtest.data.columns.description import encode_column
from fairtest.data.reading.delimited import TextFormat, decode, read_delimited, read_header
from fairtest.data.reading.files import (
    GZIP,
    PARQUET,
    READABLE,
    check_is_text,
    is_parquet,
    name_file_in_errors,
    path_of,
    read_unpacked,
)
from fairtest.data.reading.frames import column_names, library_of, raw_columns
from fairtest.data.reading.raw import missing_markers, without_markers
from fairtest.data.streaming.parquet import SUFFIXES, ParquetFiles, parquet_parts
from fairtest.data.table import Table
from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from fairtest.data.columns.declared import KindOptions
    from fairtest.data.reading.raw import RawColumn
    from fairtest.data.table import Column

BEGINNING = 1 << 18
"""How many bytes of a file are read to find the names of its columns: more than any header has."""


def read_table(
    data: Any,
    *,
    missing: Iterable[object] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    name: str | None = None,
    **kinds: Unpack[KindOptions],
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
        The character between the fields of a CSV file; by default the one that the header suggests.
    encoding
        How a CSV file is encoded; UTF-8 if not given.
    decimal
        What stands before the decimals of numbers in a CSV file, ``"."`` or ``","``. If not given, commas are read too
        where semicolons separate the fields.
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
    declared = DeclaredKinds.of(**kinds)
    text = TextFormat(missing_markers(missing), delimiter, encoding, decimal)
    path = path_of(data)
    if path is None:
        library, title = library_of(data), "data"
        if library is None:
            raise InputError(
                "The data must be a pandas or polars frame, an Arrow table, a dictionary of columns, or the path of "
                f"{READABLE} or of a folder of Parquet files. Got {_type_name(data)} instead."
            )
        names, columns = _columns_of_frame(data, text)
    else:
        title = path.name or str(path)
        library, names, columns = _columns_of_file(path, text)
    declared.check_columns(names)
    lengths: dict[str, int] = {}
    encoded: dict[str, Column] = {}
    for column in columns:
        lengths[column.name] = len(column)
        encoded[column.name] = encode_column(column, declared)
    return Table(name or title, library, _count_rows(lengths, title), encoded)


def _columns_of_frame(frame: Any, text: TextFormat) -> tuple[list[str], Iterable[RawColumn]]:
    """Return the names of a frame's columns, and the columns."""
    return column_names(frame), (without_markers(column, text.missing) for column in raw_columns(frame))


def _columns_of_file(path: Path, text: TextFormat) -> tuple[str, list[str], Iterable[RawColumn]]:
    """Return the format of a file or a folder, the names of its columns, and the columns."""
    with name_file_in_errors(path):
        parquet = is_parquet(path) or path.suffix.lower() in SUFFIXES
    if parquet:
        return "parquet", *_columns_of_frame(ParquetFiles.at(path).read_all(), text)
    content = read_unpacked(path, text.encoding)
    if content.startswith(PARQUET):
        return "parquet", *_columns_of_frame(ParquetFiles.at(path, content).read_all(), text)
    check_is_text(content, path, text.encoding)
    if text.delimiter is None and ".tsv" in (suffix.lower() for suffix in path.suffixes):
        text = replace(text, delimiter="\t")
    columns = read_delimited(content, text, str(path))
    return "csv", [column.name for column in columns], columns


def _count_rows(lengths: Mapping[str, int], title: str) -> int:
    different = set(lengths.values())
    if len(different) > 1:
        shown = ", ".join(f"{name!r} has {length}" for name, length in islice(lengths.items(), 6))
        raise InputError(f"The columns of a dictionary must have the same number of rows; {shown}.")
    rows = different.pop()
    if rows == 0:
        raise InputError(f"{title} has column names and no rows. The data must have at least one row.")
    return rows


def _type_name(data: object) -> str:
    kind = type(data)
    return "None" if data is None else f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def peek_columns(path: str | PathLike[str], *, delimiter: str | None = None, encoding: str | None = None) -> list[str]:
    """Return the names of the columns of a CSV file (gzip too) or of Parquet, however large.

    Raises
    ------
    InputError
        If the beginning of the file does not name columns.
    """
    file = parquet_parts(Path(path))[0]
    if file.suffix.lower() in SUFFIXES:
        return list(pl.read_parquet_schema(file))
    with file.open("rb") as packed:
        start = packed.read(BEGINNING)
    if start.startswith(GZIP):
        with gzip.open(file) as unpacked:
            start = unpacked.read(BEGINNING)
    whole_lines = start[: start.rfind(b"\n") + 1] or start
    return read_header(decode(whole_lines, encoding, str(path)), delimiter, str(path))
