"""The columns of a file by its beginning alone."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from fairtest.data.reading.delimited import decoded, header_of
from fairtest.data.streaming.parquet import SUFFIXES, parquet_parts

if TYPE_CHECKING:
    from os import PathLike

BEGINNING = 1 << 18
_GZIP = b"\x1f\x8b"


def columns_of(path: str | PathLike[str], *, delimiter: str | None = None, encoding: str | None = None) -> list[str]:
    """Return the names of the columns of a CSV file (gzip too) or of Parquet, however large.

    Raises
    ------
    InputError
        If the beginning of the file does not name columns.
    """
    place = Path(path)
    if place.is_dir():
        place = parquet_parts(place)[0]
    if place.suffix.lower() in SUFFIXES:
        return list(pl.read_parquet_schema(place))
    with place.open("rb") as file:
        start = file.read(BEGINNING)
    if start.startswith(_GZIP):
        with gzip.open(place) as unpacked:
            start = unpacked.read(BEGINNING)
    whole_lines = start[: start.rfind(b"\n") + 1] or start
    return header_of(decoded(whole_lines, encoding, str(path)), delimiter, str(path))
