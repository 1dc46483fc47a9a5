"""Delimited text put into scratch files once, from which any rows and columns can be read, as from Parquet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairtest.data.reading.files import PARQUET, open_unpacked
from fairtest.data.reading.raw import null_markers
from fairtest.data.reading.spelling import CommaFacts, SpelledColumn
from fairtest.data.streaming.parquet import ParquetFiles
from fairtest.data.streaming.scratch import advise_on_disk_errors
from fairtest.data.streaming.text import BLOCK, TextBlocks
from fairtest.exceptions import InputError, setting
from fairtest.progress import silent

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    import polars as pl

    from fairtest.data.reading.delimited import TextFormat
    from fairtest.data.streaming.scratch import Scratch
    from fairtest.progress import Progress


@dataclass(frozen=True)
class SpooledText:
    """The rows of a file of delimited text, whose fields are in scratch files; read like :class:`ParquetFiles`.

    Attributes
    ----------
    fields
        The files, with every field as text.
    columns
        What the fields of each column spell.
    scratch
        Keeps the files for as long as they are needed.
    """

    fields: ParquetFiles
    columns: dict[str, SpelledColumn]
    scratch: Scratch

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The type of each column."""
        return {name: column.dtype for name, column in self.columns.items()}

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.fields.n_rows

    def read(self, columns: Collection[str], start: int, stop: int) -> pl.DataFrame:
        """Return some columns of the rows from ``start`` to ``stop``."""
        texts = self.fields.read(columns, start, stop)
        return texts.with_columns(self.columns[name].read(texts[name]).alias(name) for name in columns)

    def row_bytes(self) -> float:
        """Return about how many bytes a row takes in memory, from the first rows."""
        return self.fields.row_bytes()


def spool_text(
    path: Path, text: TextFormat, scratch: Scratch, block: int = BLOCK, progress: Progress = silent
) -> SpooledText:
    """Read a file of delimited text, compressed or not, block by block, and return its rows in scratch files.

    Raises
    ------
    InputError
        If it is no such file.
    """
    if text.delimiter is None and ".tsv" in (suffix.lower() for suffix in path.suffixes):
        text = replace(text, delimiter="\t")
    with open_unpacked(path, text.encoding) as (stream, share_read):
        if stream.read(4) == PARQUET:
            raise InputError(
                f"{path} is a compressed Parquet file, and {setting('engine', 'disk')} cannot read it by parts. "
                f"Decompress it, or use {setting('engine', 'memory')}."
            )
        stream.seek(0)
        blocks = TextBlocks(stream, text, path, block)
        header = blocks.header
        commas = text.may_have_commas(header.delimiter)
        columns = {
            name: SpelledColumn(CommaFacts(sure=text.decimal == ",") if commas else None) for name in header.names
        }
        files: list[str] = []
        lengths: list[int] = []
        for frame in blocks:
            if not frame.height:
                continue
            known = frame.with_columns(null_markers(frame[name], text.missing) for name in header.names)
            for name, column in columns.items():
                column.add(known[name])
            files.append(str(scratch.new()))
            lengths.append(known.height)
            with advise_on_disk_errors():
                known.write_parquet(files[-1], compression="lz4", statistics=False)
            progress(share_read())
    if not files:
        raise InputError(f"{path.name} has column names and no rows. The data must have at least one row.")
    return SpooledText(ParquetFiles(str(path), tuple(files), tuple(lengths), dict(known.schema)), columns, scratch)
