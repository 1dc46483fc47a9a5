"""Parquet files read by parts: any rows and any columns of a file or a folder of files, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Protocol

import polars as pl

from fairtest.data.reading.frames import check_names, first_line
from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

SUFFIXES = (".parquet", ".pq")
SAMPLE = 1_000


class RowFiles(Protocol):
    """Files of which any rows and columns can be read."""

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The type of each column."""

    @property
    def n_rows(self) -> int:
        """How many rows there are in all files."""

    def read(self, columns: Collection[str], start: int, stop: int) -> pl.DataFrame:
        """Return some columns of the rows from ``start`` to ``stop``."""

    def row_bytes(self) -> float:
        """Return about how many bytes a row takes in memory."""


def parquet_parts(path: Path) -> list[Path]:
    """Return the Parquet files of a folder and of the folders in it, in the order of their names; or the one file."""
    if not path.is_dir():
        return [path]
    files = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in SUFFIXES and file.is_file() and not file.name.startswith((".", "_"))
    )
    if not files:
        raise InputError(
            f"The folder {str(path)!r} has no Parquet files. Give a file, or a folder with .parquet files."
        )
    return files


@dataclass(frozen=True)
class ParquetFiles:
    """The rows of Parquet files, one file after the other. It is small and can be sent to another machine.

    Attributes
    ----------
    where
        What to call the files in an error.
    files
        The paths.
    lengths
        How many rows each of them has.
    schema
        The type of each column, that of all files together.
    """

    where: str
    files: tuple[str | BytesIO, ...]
    lengths: tuple[int, ...]
    schema: dict[str, pl.DataType]

    @classmethod
    def at(cls, path: Path, content: bytes | None = None) -> ParquetFiles:
        """Return the rows of a file or of a folder; only what the files say of themselves is read.

        Parameters
        ----------
        content
            What is in the file, if it was compressed.
        """
        parts = parquet_parts(path)
        files = [str(part.absolute()) for part in parts] if content is None else [BytesIO(content)]
        try:
            schemas = [_scan(file).collect_schema() for file in files]
            lengths = [int(_scan(file).select(pl.len()).collect().item()) for file in files]
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _unreadable(str(path), error) from error
        if not sum(lengths):
            raise InputError(f"{path.name} has column names and no rows. The data must have at least one row.")
        schema = _common_schema(str(path), [part.name for part in parts], schemas)
        return cls(str(path), tuple(files), tuple(lengths), schema)

    @property
    def n_rows(self) -> int:
        """How many rows there are in all files."""
        return sum(self.lengths)

    def read_all(self) -> pl.DataFrame:
        """Return all columns of all rows."""
        return self.read(self.schema, 0, self.n_rows)

    def read(self, columns: Collection[str], start: int, stop: int) -> pl.DataFrame:
        """Return some columns of the rows from ``start`` to ``stop``."""
        types = {name: self.schema[name] for name in columns}
        found: list[pl.DataFrame] = []
        before = 0
        try:
            for file, length in zip(self.files, self.lengths, strict=True):
                first, last = max(start - before, 0), min(stop - before, length)
                before += length
                if first < last:
                    part = _scan(file).select(list(types)).slice(first, last - first).collect()
                    found.append(part.cast(types))  # type: ignore[arg-type]
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _unreadable(self.where, error) from error
        frame = pl.concat(found) if found else pl.DataFrame(schema=types)
        if frame.height != stop - start:
            raise InputError(f"{self.where} changed while it was read. Read the data again.")
        return frame

    def row_bytes(self) -> float:
        """Return about how many bytes a row takes in memory, from the first rows."""
        rows = min(self.n_rows, SAMPLE)
        return max(self.read(self.schema, 0, rows).estimated_size() / rows, 8.0 * len(self.schema))


def _common_schema(where: str, names: list[str], schemas: list[pl.Schema]) -> dict[str, pl.DataType]:
    """Return the type of each column of several files together, after checking that they go together."""
    columns = list(schemas[0])
    for name, schema in zip(names, schemas, strict=True):
        if odd := sorted(set(schema) ^ set(columns)):
            raise InputError(
                f"The Parquet files of {where} must have the same columns; {name} and {names[0]} "
                f"differ in {', '.join(map(repr, odd[:5]))}."
            )
    check_names(columns, where)
    try:
        empty = [pl.DataFrame(schema=schema).select(columns) for schema in schemas]
        return dict(pl.concat(empty, how="vertical_relaxed").schema)
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"The Parquet files of {where} must agree on the types of columns: {first_line(error)}"
        ) from error


def _unreadable(where: str, error: Exception) -> InputError:
    """Return the error for files that are not Parquet, or damaged."""
    return InputError(f"{where} cannot be read as Parquet: {first_line(error)} Write or copy it again.")


def _scan(file: str | BytesIO) -> pl.LazyFrame:
    return pl.scan_parquet(file, hive_partitioning=False, glob=False)
