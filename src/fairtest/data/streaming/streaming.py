"""Data that does not fit in memory: Parquet files described and encoded in blocks.

The files are read twice, a block at a time: once to describe every column, so that its kind is decided as if it were
read whole, and once to write it, encoded, to scratch files (:class:`~fairtest.data.streaming.store.ColumnStore`), from
which everything else reads. Whoever has machines that all see the files can leave out the second (``store=False``).
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from fairtest.data.columns.declared import DeclaredKinds
from fairtest.data.columns.description import ColumnDescription
from fairtest.data.columns.distinct import Distinct
from fairtest.data.reading.files import is_parquet, name_file_in_errors, path_of
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
from fairtest.data.streaming.parquet import ParquetFiles
from fairtest.data.streaming.scratch import Scratch, advise_on_disk_errors
from fairtest.data.streaming.store import ColumnStore, EncodedParquet, StreamedColumn
from fairtest.data.table import Table, row_spans
from fairtest.exceptions import InputError, setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from fairtest.data.columns.declared import KindOptions
    from fairtest.data.columns.encoding import Encoding
    from fairtest.data.table import RowReader

SHARE = 10
"""A block of the files takes at most a tenth of the memory: encoding it takes as much again, or twice."""
MOST_ROWS = 1_000_000
FEWEST_ROWS = 1 << 16
"""The fewest rows of a block; where they are too large for it, they are read in several groups of columns."""
LEVELS_SHARE = 8
"""The distinct values of a column take at most an eighth of the memory; a column with more is hashed."""


def stream_table(
    data: Any,
    *,
    memory: int,
    missing: Iterable[object] = (),
    name: str | None = None,
    store: bool = True,
    block: int | None = None,
    **kinds: Unpack[KindOptions],
) -> Table:
    """Return the table of a Parquet file, or of a folder of them, whose rows stay on disk.

    Parameters
    ----------
    memory
        About how many bytes of memory may be used.
    categorical, numeric, ordered, missing, name
        As for :func:`fairtest.data.reading.readers.read_table`, which gives the same table in memory.
    store
        False reads from the Parquet files whenever rows are asked for, and encodes them each time.
    block
        How many rows are read at once, if the memory is not to decide.
    """
    declared = DeclaredKinds.of(**kinds)
    markers = missing_markers(missing)
    path = _parquet_path(data)
    files = ParquetFiles.at(path)
    declared.check_columns(files.schema)
    blocks = _Blocks(files, memory, block)
    scratch = Scratch()
    new_distinct = partial(Distinct, memory // LEVELS_SHARE, scratch)
    encodings = _describe(files, blocks, declared, markers, new_distinct)
    title = name or path.name or str(path)
    parquet = EncodedParquet(title, files, encodings)
    reader: RowReader = _store(parquet, blocks, scratch) if store else parquet
    columns = {n: StreamedColumn(e, reader, files.n_rows, blocks.rows) for n, e in encodings.items()}
    return Table(title, "parquet", files.n_rows, columns, blocks.rows)


class _Blocks:
    """Reads files in blocks of bounded size: some rows of some columns at a time."""

    def __init__(self, files: ParquetFiles, memory: int, rows: int | None) -> None:
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

    def read(self, columns: list[str]) -> Iterator[pl.DataFrame]:
        """Yield some columns block by block."""
        for start, stop in row_spans(self._files.n_rows, self.rows):
            yield self._files.read(columns, start, stop)


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
    files: ParquetFiles,
    blocks: _Blocks,
    declared: DeclaredKinds,
    markers: tuple[object, ...],
    new_distinct: Callable[[], Distinct],
) -> dict[str, Encoding]:
    """Read all rows once, and return how each column is encoded."""
    encodings: dict[str, Encoding] = {}
    for names in blocks.groups():
        columns = {n: FileColumn(n, files.schema[n], declared, markers, new_distinct) for n in names}
        with advise_on_disk_errors():
            for frame in blocks.read(names):
                for name, column in columns.items():
                    column.add(frame[name])
        encodings |= {name: column.encoding() for name, column in columns.items()}
    return encodings


def _store(parquet: EncodedParquet, blocks: _Blocks, scratch: Scratch) -> ColumnStore:
    """Read all rows again, and write them encoded to scratch files."""
    rows = parquet.files.n_rows
    scratch.check_room(rows * sum(e.dtype.itemsize for e in parquet.encodings.values()))
    store = ColumnStore(parquet.name, parquet.encodings, scratch)
    for names in blocks.groups():
        for frame in blocks.read(names):
            for name in names:
                store.append(parquet.encodings[name].encode_series(frame[name]))
    return store


def _parquet_path(data: Any) -> Path:
    path = path_of(data)
    if path is None:
        raise InputError(
            f"{setting('engine', 'disk')} reads a Parquet file or a folder of Parquet files. A frame is in memory "
            f"already: use {setting('engine', 'memory')}, or write it with write_parquet (polars) or to_parquet "
            "(pandas) and give the path."
        )
    with name_file_in_errors(path):
        fits = is_parquet(path)
    if not fits:
        raise InputError(
            f"{setting('engine', 'disk')} reads a Parquet file or a folder of Parquet files, and {path} is not one. "
            f"Use {setting('engine', 'memory')}, or write it as Parquet once: "
            "polars.scan_csv(path).sink_parquet('people.parquet')."
        )
    return path


def can_stream(data: Any) -> bool:
    """Whether data is the path of a Parquet file or of a folder, which can be read by parts."""
    path = path_of(data)
    with suppress(OSError, ValueError):  # whoever reads it says what is wrong
        return path is not None and is_parquet(path)
    return False
