"""Delimited text larger than memory: cut into blocks of whole records, each of which is read as a file of its own.

A block begins where a record does and ends at the last line end outside quotes. Where quotes stand inside fields, so
that nobody can say where that is without reading from the start, Python's own reader reads the rest, more slowly.
"""

from __future__ import annotations

import codecs
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from fairtest.data.reading.delimited import (
    START,
    Before,
    as_frame,
    check_no_nulls,
    encoding_of,
    guess_delimiter,
    is_well_quoted,
    raise_undecodable,
    read_fields,
    read_header,
    read_slowly,
)
from fairtest.data.reading.files import check_is_text, empty_file
from fairtest.data.reading.frames import check_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from fairtest.data.reading.delimited import TextFormat

BLOCK = 1 << 24
"""How many bytes of text are read at once: their fields take several times as much."""
BEGINNING = 1 << 16
"""How many bytes are read before anything is decided: what ends lines, what separates fields, the header."""
LONGEST_RECORD = 8
"""After so many blocks without the end of a record, a quote is taken to stand inside a field."""
SLOW_ROWS = 1 << 15


@dataclass(frozen=True)
class Header:
    """How a file of delimited text begins: its first record, the names of columns in it, and what separates them."""

    record: bytes
    names: list[str]
    delimiter: str


class TextBlocks:
    """The records of delimited text, block by block.

    Parameters
    ----------
    stream
        The content of the file, unpacked.
    size
        How many bytes are read at once.

    Attributes
    ----------
    header
        Known from the beginning.
    """

    def __init__(self, stream: BinaryIO, text: TextFormat, path: Path, size: int = BLOCK) -> None:
        self._where, self._size = str(path), size
        self._chunks = _utf8_chunks(stream, text.encoding, path, max(size, BEGINNING))
        self._pending = next(self._chunks, b"").lstrip(b"\r\n")
        while not self._pending.strip() and (chunk := next(self._chunks, b"")):
            self._pending = chunk.lstrip(b"\r\n")
        if not self._pending.strip():
            raise empty_file(path)
        if b"\n" not in self._pending and b"\r" in self._pending:
            self._pending = self._pending.replace(b"\r", b"\n")
            self._chunks = (chunk.replace(b"\r", b"\n") for chunk in self._chunks)
        self.header = self._read_header(text)

    def _read_header(self, text: TextFormat) -> Header:
        """Return the header, and take it off what is to be read unless only a slower reader knows where it ends."""
        delimiter = text.delimiter or guess_delimiter(self._pending)
        names = read_header(self._pending, delimiter, self._where)
        check_names(names, self._where)
        record = self._pending[: _first_end(self._pending) or None]
        self._is_plain = is_well_quoted(record, delimiter) and b"\r" not in record.removesuffix(b"\n").removesuffix(
            b"\r"
        )
        if not self._is_plain:
            return Header(b"", names, delimiter)
        self._pending = self._pending[len(record) :]
        return Header(record if record.endswith(b"\n") else record + b"\n", names, delimiter)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the fields of all rows as text, with the names of the header."""
        if not self._is_plain:
            yield from self._read_slowly(b"", START, skip=1)
            return
        before = Before(self.header.record.count(b"\n"), len(self.header.record))
        while size := self._find_block():
            block, self._pending = self._pending[:size], self._pending[size:]
            if size > LONGEST_RECORD * self._size or not is_well_quoted(block, self.header.delimiter):
                yield from self._read_slowly(block, before)
                return
            yield self._name_columns(self._read(block, before))
            before = Before(before.lines + block.count(b"\n"), before.bytes + len(block))

    def _find_block(self) -> int:
        """Return how many bytes the next records have, up to a line end outside quotes or the end of the file."""
        window = self._size
        while True:
            while len(self._pending) < window:
                chunk = next(self._chunks, b"")
                if not chunk:
                    return len(self._pending)
                self._pending += chunk
            if end := _last_end(self._pending[:window]):
                return end
            if window > LONGEST_RECORD * self._size:
                return window
            window *= 2

    def _read(self, block: bytes, before: Before) -> pl.DataFrame:
        """Return the fields of a block, read as a file of its own."""
        header = self.header
        data = header.record + block
        if data.endswith(header.delimiter.encode()):
            data += b"\n"  # or polars passes over a delimiter too many
        before = Before(before.lines - header.record.count(b"\n"), before.bytes - len(header.record))
        return read_fields(data, header.delimiter, header.names, self._where, before)

    def _read_slowly(self, block: bytes, before: Before, skip: int = 0) -> Iterator[pl.DataFrame]:
        """Yield what is left, from this block on, as Python's own reader sees it; without so many first records."""

        def rest() -> Iterator[bytes]:
            yield block
            yield self._pending
            yield from self._chunks

        lines = io.TextIOWrapper(io.BufferedReader(_Joined(rest()), 1 << 20), encoding="utf-8", newline="")
        header = self.header
        for rows in read_slowly(lines, header.delimiter, header.names, self._where, before, SLOW_ROWS):
            yield self._name_columns(as_frame(rows[skip:], header.names))
            skip = 0

    def _name_columns(self, frame: pl.DataFrame) -> pl.DataFrame:
        frame.columns = self.header.names
        return frame


def _utf8_chunks(stream: BinaryIO, encoding: str | None, path: Path, size: int) -> Iterator[bytes]:
    """Yield the content in parts, as UTF-8 without a byte order mark, after a look at what sort of file it is."""
    start = stream.read(size)
    check_is_text(start, path, encoding)
    encoding = encoding_of(start, encoding)
    decoder = None if encoding is None else codecs.getincrementaldecoder(encoding)()
    before, is_first, chunk = START, True, start
    while chunk:
        data = chunk
        if decoder is not None:
            try:
                data = decoder.decode(chunk).encode()
            except UnicodeError as error:
                raise_undecodable(error, str(encoding), str(path), before)
        check_no_nulls(data, str(path))
        yield data.removeprefix(b"\xef\xbb\xbf") if is_first else data
        before = Before(before.lines + chunk.count(b"\n"), before.bytes + len(chunk))
        is_first, chunk = False, stream.read(size)
    if decoder is not None:
        try:
            decoder.decode(b"", final=True)
        except UnicodeError as error:
            raise_undecodable(error, str(encoding), str(path), before)


def _first_end(data: bytes) -> int:
    """Return where the first record ends; 0 if it does not."""
    end = data.find(b"\n") + 1
    while end and data[:end].count(b'"') % 2:
        end = data.find(b"\n", end) + 1
    return end


def _last_end(data: bytes) -> int:
    """Return where the last record that is complete ends, 0 if there is none; ``data`` begins with a record."""
    if b'"' not in data:
        return data.rfind(b"\n") + 1
    codes = np.frombuffer(data, dtype=np.uint8)
    ends, quotes = np.flatnonzero(codes == ord("\n")), np.flatnonzero(codes == ord('"'))
    outside = ends[np.searchsorted(quotes, ends) % 2 == 0]
    return int(outside[-1]) + 1 if outside.size else 0


class _Joined(io.RawIOBase):
    """Parts of a file as one file again."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts, self._left = parts, memoryview(b"")

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read as many bytes as the buffer holds, or fewer; none at the end."""
        while not len(self._left):
            part = next(self._parts, None)
            if part is None:
                return 0
            self._left = memoryview(part)
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size
