"""Data that does not fit in memory: files described and encoded in blocks.

The files are read twice, a block at a time: once to describe every column, so that its kind is decided as if it were
read whole, and once to write it, encoded, to scratch files (:class:`~fairtest.data.streaming.store.ColumnStore`), from
which everything else reads. Whoever has machines that all see the files can leave out the second (``store=False``).
Delimited text is first put into scratch files field by field (:mod:`fairtest.data.streaming.spool`).
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from fairtest.data.columns.declared import DeclaredKinds
from fairtest.data.columns.description import ColumnDescription
from fairtest.data.columns.distinct import Distinct
from fairtest.data.reading.delimited import TextFormat
from fairtest.data.reading.files import GZIP, is_parquet, name_file_in_errors, path_of
from fairtest.data.reading.raw import (
    Form,
    first_text,
    forms_beginning_with,
    in_form,
    missing_markers,
    null_empty_text,
    possible_forms,
    without_markers,
)
from fairtest.data.streaming.parquet import SUFFIXES, ParquetFiles, parquet_parts
from fairtest.data.streaming.scratch import Scratch, advise_on_disk_errors
from fairtest.data.streaming.spool import spool_text
from fairtest.data.streaming.store import ColumnStore, EncodedFiles, StreamedColumn
from fairtest.data.streaming.text import BLOCK
from fairtest.data.table import Table, row_spans
from fairtest.exceptions import InputError, setting, the
from fairtest.progress import progress_of_step, silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from fairtest.data.columns.declared import KindOptions
    from fairtest.data.columns.encoding import Encoding
    from fairtest.data.streaming.parquet import RowFiles
    from fairtest.data.table import RowReader
    from fairtest.progress import Progress

SHARE = 10
"""A block of the files takes at most a tenth of the memory: encoding it takes as much again, or twice."""
MOST_ROWS = 1_000_000
FEWEST_ROWS = 1 << 16
"""The fewest rows of a block; where they are too large for it, they are read in several groups of columns."""
TEXT_SHARE = 40
"""A block of text takes at most a fortieth of the memory: its fields take several times as much, twice over."""
LARGE_TEXT, LARGE_PACKED = 500_000_000, 200_000_000
"""Files of more bytes stay on disk unless the user says otherwise; packed are gzip and Parquet."""
LEVELS_SHARE = 8
"""The distinct values of a column take at most an eighth of the memory; a column with more is hashed."""


def stream_table(
    data: Any,
    *,
    memory: int,
    missing: Iterable[object] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    name: str | None = None,
    store: bool = True,
    block: int | None = None,
    progress: Progress = silent,
    **kinds: Unpack[KindOptions],
) -> Table:
    """Return the table of a CSV or Parquet file, or of a folder of Parquet files, whose rows stay on disk.

    Parameters
    ----------
    memory
        About how many bytes of memory may be used.
    categorical, numeric, ordered, missing, delimiter, encoding, decimal, name
        As for :func:`fairtest.data.reading.readers.read_table`, which gives the same table in memory.
    store
        False reads from the files whenever rows are asked for, and encodes them each time.
    block
        How many rows are read at once, if the memory is not to decide.
    progress
        Called with the share of the reading that is done.
    """
    step = partial(progress_of_step, progress, steps=3)
    declared = DeclaredKinds.of(**kinds)
    markers = missing_markers(missing)
    path = _path(data)
    files: RowFiles
    if _is_parquet(path):
        _check_not_text(delimiter=delimiter, encoding=encoding, decimal=decimal)
        library, files = "parquet", ParquetFiles.at(path)
    else:
        text = TextFormat(markers, delimiter, encoding, decimal)
        library, files = "csv", spool_text(path, text, Scratch(), min(BLOCK, memory // TEXT_SHARE), step(0))
        markers = ()  # they were looked for in the text
    declared.check_columns(files.schema)
    blocks = _Blocks(files, memory, block)
    scratch = Scratch()
    new_distinct = partial(Distinct, memory // LEVELS_SHARE, scratch)
    encodings = _describe(files, blocks, declared, markers, new_distinct, step(1))
    title = name or path.name or str(path)
    encoded = EncodedFiles(title, files, encodings)
    reader: RowReader = _store(encoded, blocks, scratch, step(2)) if store else encoded
    columns = {n: StreamedColumn(e, reader, files.n_rows, blocks.rows) for n, e in encodings.items()}
    return Table(title, library, files.n_rows, columns, blocks.rows)


class _Blocks:
    """Reads files in blocks of bounded size: some rows of some columns at a time."""

    def __init__(self, files: RowFiles, memory: int, rows: int | None) -> None:
        self._files = files
        row = files.row_bytes()
        self.rows = rows or max(min(int(memory / SHARE / row), MOST_ROWS), FEWEST_ROWS)
        columns = int(memory / SHARE / (self.rows * row / len(files.schema)))
        self._columns = max(min(columns, len(files.schema)), 1)

    def groups(self) -> Iterator[list[str]]:
        """Yield the groups of columns that are read together."""
        names = list(self._files.schema)
        for first in range(0, len(names), self._columns):
            yield names[first : first + self._columns]

    def read(self, columns: list[str], progress: Progress) -> Iterator[pl.DataFrame]:
        """Yield some columns block by block."""
        for start, stop in row_spans(self._files.n_rows, self.rows):
            yield self._files.read(columns, start, stop)
            progress(stop / self._files.n_rows)


class FileColumn:
    """A column of files whose rows come in blocks.

    Whether text is dates may only be settled by the last row: until then it is described as both, side by side.

    Parameters
    ----------
    dtype
        The type of the column in the files.
    missing
        The values that stand for a missing one.
    new_distinct
        Makes what keeps the different values of a column.
    """

    def __init__(
        self,
        name: str,
        dtype: pl.DataType,
        declared: DeclaredKinds,
        missing: Sequence[object],
        new_distinct: Callable[[], Distinct],
    ) -> None:
        self._missing = missing
        self._first: str | None = None
        self._descriptions = {form: ColumnDescription(name, declared, new_distinct) for form in possible_forms(dtype)}

    def add(self, series: pl.Series) -> None:
        """Add the next rows."""
        if Form.TEXT in self._descriptions and self._first is None:
            self._first = first_text(null_empty_text(series))
            if self._first is not None:
                forms = forms_beginning_with(self._first, self._descriptions)
                self._descriptions = {form: self._descriptions[form] for form in forms}
        for form, description in list(self._descriptions.items()):
            raw = in_form(form, series)
            if raw is None:
                del self._descriptions[form]
            else:
                description.add(without_markers(raw, self._missing))

    def encoding(self) -> Encoding:
        """Return how the column is encoded, after all rows were added."""
        is_blank = Form.TEXT in self._descriptions and self._first is None
        form = Form.TEXT if is_blank else next(iter(self._descriptions))
        return self._descriptions[form].encoding(form, self._missing)


def _describe(
    files: RowFiles,
    blocks: _Blocks,
    declared: DeclaredKinds,
    markers: tuple[object, ...],
    new_distinct: Callable[[], Distinct],
    progress: Progress,
) -> dict[str, Encoding]:
    """Read all rows once, and return how each column is encoded."""
    encodings: dict[str, Encoding] = {}
    groups = list(blocks.groups())
    for number, names in enumerate(groups):
        columns = {n: FileColumn(n, files.schema[n], declared, markers, new_distinct) for n in names}
        with advise_on_disk_errors():
            for frame in blocks.read(names, progress_of_step(progress, number, len(groups))):
                for name, column in columns.items():
                    column.add(frame[name])
        encodings |= {name: column.encoding() for name, column in columns.items()}
    return encodings


def _store(encoded: EncodedFiles, blocks: _Blocks, scratch: Scratch, progress: Progress) -> ColumnStore:
    """Read all rows again, and write them encoded to scratch files."""
    rows = encoded.files.n_rows
    scratch.check_room(rows * sum(e.dtype.itemsize for e in encoded.encodings.values()))
    store = ColumnStore(encoded.name, encoded.encodings, scratch)
    groups = list(blocks.groups())
    for number, names in enumerate(groups):
        for frame in blocks.read(names, progress_of_step(progress, number, len(groups))):
            for name in names:
                store.append(encoded.encodings[name].encode_series(frame[name]))
    return store


def _path(data: Any) -> Path:
    path = path_of(data)
    if path is None:
        raise InputError(
            f"{setting('engine', 'disk')} reads a CSV or Parquet file, or a folder of Parquet files. A frame is in "
            f"memory already: use {setting('engine', 'memory')}, or write it with write_parquet (polars) or to_parquet "
            "(pandas) and give the path."
        )
    return path


def _is_parquet(path: Path) -> bool:
    with name_file_in_errors(path):
        return is_parquet(path) or path.suffix.lower() in SUFFIXES


def _check_not_text(**options: str | None) -> None:
    if given := [name for name, value in options.items() if value is not None]:
        raise InputError(f"{the(given[0])} is that of a CSV file, and this is Parquet. Take it out.")


def can_stream(data: Any) -> bool:
    """Whether data is the path of a Parquet file or of a folder, of which any machine can read parts."""
    path = path_of(data)
    with suppress(OSError, ValueError):  # whoever reads it says what is wrong
        return path is not None and is_parquet(path)
    return False


def is_large(data: Any) -> bool:
    """Whether data is a file, or a folder of them, that had better not be read into memory as a whole."""
    path = path_of(data)
    if path is None:
        return False
    with suppress(OSError, ValueError, InputError):
        if is_parquet(path):
            return sum(part.stat().st_size for part in parquet_parts(path)) > LARGE_PACKED
        with path.open("rb") as file:
            is_packed = file.read(2) == GZIP
        return path.is_file() and path.stat().st_size > (LARGE_PACKED if is_packed else LARGE_TEXT)
    return False
