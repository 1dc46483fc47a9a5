"""Parquet files read by parts: any rows and any columns of a file or a folder of files, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from fairtest.data.reading.frames import check_names, first_line
from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

SUFFIXES = (".parquet", ".pq")
SAMPLE = 1_000


def parquet_parts(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder and of the folders in it, in the order of their names."""
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in SUFFIXES and file.is_file() and not file.name.startswith((".", "_"))
    )
    if not files:
        raise InputError(
            f"The folder {str(folder)!r} has no Parquet files. Give a file, or a folder with .parquet files."
        )
    return files


def check_same_columns(where: str, names: Sequence[str], columns: Sequence[Collection[str]]) -> None:
    """Raise if the files of a folder do not have the same columns."""
    for name, found in zip(names, columns, strict=True):
        if set(found) != set(columns[0]):
            odd = sorted(set(found) ^ set(columns[0]))
            raise InputError(
                f"The Parquet files of {where} must have the same columns; {name} and {names[0]} "
                f"differ in {', '.join(map(repr, odd[:5]))}."
            )


def unreadable(where: str, error: Exception) -> InputError:
    """Return the error for files that are not Parquet, or damaged."""
    return InputError(f"{where} cannot be read as Parquet: {first_line(error)} Write or copy it again.")


def disagreeing(where: str, error: Exception) -> InputError:
    """Return the error for files of which a column has types that do not go together."""
    return InputError(f"The Parquet files of {where} must agree on the types of columns: {first_line(error)}")


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
    files: tuple[str, ...]
    lengths: tuple[int, ...]
    schema: dict[str, pl.DataType]

    @classmethod
    def at(cls, path: Path) -> ParquetFiles:
        """Return the rows of a file or of a folder; only what the files say of themselves is read."""
        where = str(path)
        files = parquet_parts(path) if path.is_dir() else [path]
        try:
            schemas = [_scan(str(file)).collect_schema() for file in files]
            lengths = [int(_scan(str(file)).select(pl.len()).collect().item()) for file in files]
        except (pl.exceptions.PolarsError, OSError) as error:
            raise unreadable(where, error) from error
        names = list(schemas[0])
        check_same_columns(where, [file.name for file in files], schemas)
        check_names(names, where)
        try:
            empty = [pl.DataFrame(schema=schema).select(names) for schema in schemas]
            schema = dict(pl.concat(empty, how="vertical_relaxed").schema)
        except pl.exceptions.PolarsError as error:
            raise disagreeing(where, error) from error
        if not sum(lengths):
            raise InputError(f"{path.name} has column names and no rows. The data must have at least one row.")
        return cls(where, tuple(str(file.absolute()) for file in files), tuple(lengths), schema)

    @property
    def n_rows(self) -> int:
        """How many rows there are in all files."""
        return sum(self.lengths)

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
            raise unreadable(self.where, error) from error
        frame = pl.concat(found) if found else pl.DataFrame(schema=types)
        if frame.height != stop - start:
            raise InputError(f"{self.where} changed while it was read. Read the data again.")
        return frame

    def row_bytes(self) -> float:
        """Return about how many bytes a row takes in memory, from the first rows."""
        rows = min(self.n_rows, SAMPLE)
        return max(self.read(self.schema, 0, rows).estimated_size() / rows, 8.0 * len(self.schema))


def _scan(file: str) -> pl.LazyFrame:
    return pl.scan_parquet(file, hive_partitioning=False, glob=False)
