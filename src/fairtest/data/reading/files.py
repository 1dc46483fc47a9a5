"""Files on disk: what sort a file is, and what is in it once it is unpacked."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl

from fairtest.data.reading.frames import first_line
from fairtest.exceptions import InputError, setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

READABLE = "a CSV or Parquet file (.csv, .tsv, .txt, .parquet; .gz and .zst too)"
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
ZSTD = b"\x28\xb5\x2f\xfd"
_OTHER_SORTS = {
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


def path_of(data: Any) -> Path | None:
    """Return data as a path, or None if it is none."""
    return Path(os.fsdecode(data)) if isinstance(data, str | os.PathLike) else None


def is_parquet(path: Path) -> bool:
    """Whether a path is a Parquet file or a folder, which can be read by parts."""
    if path.is_dir():
        return True
    with path.open("rb") as file:
        return file.read(4) == PARQUET


@contextmanager
def name_file_in_errors(path: Path) -> Iterator[None]:
    """Turn an error of the file system into one that says which file it is about."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"There is no file {str(path.absolute())!r}. Check the path.") from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise InputError(f"The file {str(path)[:200]!r} cannot be read: {first_line(error)}") from error


def read_unpacked(path: Path, encoding: str | None) -> bytes:
    """Return the content of a file, decompressed if need be, whatever it is called."""
    with name_file_in_errors(path):
        content = path.read_bytes()
    if content.startswith(GZIP):
        with name_damage(path):
            content = gzip.decompress(content)
    elif content.startswith(ZSTD):
        content = _unpack_zstd(content, path, encoding)
    if not content[:1000].strip() and not content.strip():
        raise empty_file(path)
    return content


@contextmanager
def open_unpacked(path: Path, encoding: str | None) -> Iterator[tuple[BinaryIO, Callable[[], float]]]:
    """Open a file to read it by parts, decompressed if need be; text compressed with zstd is unpacked at once.

    The second of the two says which share of the file has been read.
    """
    with name_file_in_errors(path):
        file, size = path.open("rb"), max(path.stat().st_size, 1)

    def share_read() -> float:
        return file.tell() / size

    with file:
        start = file.read(4)
        file.seek(0)
        if start == ZSTD:
            yield BytesIO(_unpack_zstd(file.read(), path, encoding)), share_read
        elif start.startswith(GZIP):
            with name_damage(path), gzip.open(file) as unpacked:
                yield unpacked, share_read  # type: ignore[misc]
        else:
            yield file, share_read


def empty_file(path: Path) -> InputError:
    """Return the error for a file with nothing in it."""
    return InputError(f"{path} is empty. The data must have a header and at least one row.")


@contextmanager
def name_damage(path: Path) -> Iterator[None]:
    """Turn an error of decompressing into one that says which file is damaged."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is damaged: it does not decompress with gzip. Copy it again.") from error


def _unpack_zstd(content: bytes, path: Path, encoding: str | None) -> bytes:
    """Decompress by reading the lines of the file with polars, which has zstd built in."""
    try:
        lines = pl.read_csv(content, has_header=False, separator="\x01", quote_char=None, schema={"line": pl.String})
    except (pl.exceptions.PolarsError, OSError) as error:
        plain = encoding is None or encoding.casefold() in ("utf-8", "utf8")
        advice = "is it damaged, or in an encoding other than UTF-8?" if plain else "decompress it first."
        raise InputError(f"{path} cannot be read as text compressed with zstd: {advice}") from error
    return "\n".join(lines.to_series().fill_null("").to_list()).encode()


def check_is_text(content: bytes, path: Path, encoding: str | None) -> None:
    """Raise if the content cannot be delimited text; the error says what sort of file it is, where that is known."""
    sort = next((name for magic, name in _OTHER_SORTS.items() if content.startswith(magic)), None)
    start = content[:1000].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith(b"{") or re.match(rb'\[\s*[\[{"\d]', start):
        sort = "JSON"
    elif start.startswith((b"<!doctype", b"<html", b"<?xml", b"<svg")):
        sort = "a web page (HTML or XML)"
    if sort is None and encoding is None and b"\x00" in content and content[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        sort = f"not text (it has null bytes; if it is UTF-16, pass {setting('encoding', 'utf-16')})"
    if sort:
        raise InputError(f"{path} is {sort}. The data must be {READABLE}: save it as one of these.")
