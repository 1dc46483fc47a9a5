"""The columns of a file by its beginning alone."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from fairtest.data.reading.delimited import decode, read_header
from fairtest.data.reading.files import GZIP
from fairtest.data.streaming.parquet import SUFFIXES, parquet_parts

if TYPE_CHECKING:
    from os import PathLike

BEGINNING = 1 << 18


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
