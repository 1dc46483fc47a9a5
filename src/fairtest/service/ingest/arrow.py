"""Records as an Arrow stream, read by pyarrow.

Compressed buffers are refused before anything is unpacked: five kilobytes of them can become hundreds of megabytes.
Whether a message has them stands in its header, which pyarrow shows as bytes only; so the few fields that lead there
are read here (format/Message.fbs and format/Schema.fbs of Apache Arrow).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import polars as pl

from fairtest.service.errors import BadRow, BatchRejected, TooLarge, Unsupported
from fairtest.service.ingest.csv import check_header
from fairtest.service.ingest.frames import TYPES, check_frame, reject, show_value
from fairtest.service.ingest.plain_arrow import pack_batch

if TYPE_CHECKING:
    from fairtest.service.ingest.columns import Declaration
    from fairtest.service.ingest.frames import Packed

DICTIONARY_BATCH, RECORD_BATCH = 2, 3
HEADER_TYPE, HEADER = 1, 2
DICTIONARY_DATA, COMPRESSION = 1, 3


def read_arrow(body: bytes, declaration: Declaration, most: int) -> pl.DataFrame:
    """Return the records of an Arrow stream."""
    pa = _pyarrow()
    try:  # names of columns and zones too are only found to be no text when they are looked at
        schema, batches = _read_batches(pa, body, most)
        frame = _conform(pa, pa.Table.from_batches(batches, schema), declaration)
    except _unreadable(pa) as error:
        first = (str(error).splitlines() or ["it cannot be read"])[0]
        raise BatchRejected([BadRow(None, None, first[:200], "an Arrow stream")], 0, 0) from None
    check_frame(frame, declaration)
    return frame


def pack_arrow(body: bytes, declaration: Declaration, most: int) -> Packed | None:
    """Return the records of an Arrow stream ready to be stored, if it is plain and good; else None."""
    pa = _pyarrow()
    try:
        _, batches = _read_batches(pa, body, most)
        return pack_batch(pa, batches[0], declaration) if len(batches) == 1 else None
    except _unreadable(pa):
        return None


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise Unsupported(
            "Arrow is not understood here: the server lacks pyarrow (pip install 'fairtest[arrow]'). Send JSON."
        ) from None
    return pa


def _unreadable(pa: Any) -> tuple[type[Exception], ...]:
    return (pa.ArrowException, OSError, ValueError, struct.error, RecursionError)


def _read_batches(pa: Any, body: bytes, most: int) -> tuple[Any, list[Any]]:
    """Return the schema and the record batches of a stream, each of them validated."""
    _refuse_compression(pa, body)
    batches, rows = [], 0
    with pa.ipc.open_stream(pa.BufferReader(body)) as reader:
        for each in reader:
            rows += each.num_rows
            if rows > most:  # before it is looked into: a column of nulls takes no bytes
                raise TooLarge(f"A batch may have {most:,} records: send them in several batches.")
            each.validate(full=True)
            batches.append(each)
        return reader.schema, batches


def _conform(pa: Any, table: Any, declaration: Declaration) -> pl.DataFrame:
    """Return the columns in the types of the stream."""
    if table.num_rows == 0:
        raise BatchRejected([BadRow(None, None, "no records", "at least one record")], 0, 0)
    names = table.column_names
    if len(set(names)) < len(names):
        raise BatchRejected([BadRow(None, None, "a column that is there twice", "each column once")], 0, 0)
    check_header(names, declaration)
    there = [column for column in declaration.columns if column.name in names]
    wrong = [column for column in there if not _may_become(pa, table.schema.field(column.name).type, column.kind)]
    if wrong:
        types = {column.name: f"Arrow {table.schema.field(column.name).type}" for column in wrong}
        reject([BadRow(None, column.name, types[column.name], column.allowed) for column in wrong], table.num_rows)
    # whatever its zone is called: the moment is the same
    utc = {column.name: pa.timestamp("us", "UTC") for column in there if column.kind == "time"}
    given = pl.DataFrame(_with_types(pa, table.select([column.name for column in there]), utc))
    return _as_declared(given, declaration)


def _with_types(pa: Any, table: Any, types: dict[str, Any]) -> Any:
    if not types:
        return table
    fields = [pa.field(field.name, types.get(field.name, field.type)) for field in table.schema]
    return table.cast(pa.schema(fields), safe=False)


def _as_declared(given: pl.DataFrame, declaration: Declaration) -> pl.DataFrame:
    """Return all columns of the stream in their types; those that are not there are empty."""
    wanted = {column.name: TYPES[column.kind] for column in declaration.columns}
    if given.schema == wanted:
        return given
    exprs = [
        pl.lit(None, dtype).alias(name) if name not in given.columns else pl.col(name).cast(dtype, strict=False)
        for name, dtype in wanted.items()
    ]
    frame = given.select(exprs)
    bad = [
        BadRow(row, column.name, show_value(given[column.name][row]), column.allowed)
        for column in declaration.columns
        if column.name in given.columns and given[column.name].null_count() < frame[column.name].null_count()
        for row in (given[column.name].is_not_null() & frame[column.name].is_null()).arg_true()
    ]
    if bad:
        reject(bad, given.height)
    return frame


def _may_become(pa: Any, kind: Any, wanted: str) -> bool:
    """Return whether values of an Arrow type are values of a kind without guessing."""
    types = pa.types
    if types.is_null(kind):
        return True
    if types.is_dictionary(kind):
        return wanted == "text" and _may_become(pa, kind.value_type, "text")
    whole = types.is_integer(kind)
    fits: dict[str, bool] = {
        "text": types.is_string(kind) or types.is_large_string(kind),
        "integer": whole,
        "number": whole or types.is_floating(kind),
        "boolean": types.is_boolean(kind),
        "date": types.is_date32(kind),
        "time": types.is_timestamp(kind) and kind.tz is not None,
    }
    return fits[wanted]


def _refuse_compression(pa: Any, body: bytes) -> None:
    reader = pa.ipc.MessageReader.open_stream(pa.BufferReader(body))
    while True:
        try:
            message = reader.read_next_message()
        except StopIteration:
            return
        if is_compressed(message.metadata.to_pybytes()):
            raise Unsupported(
                "Compressed buffers in an Arrow stream are not unpacked here. Write the stream without compression; "
                "for a smaller request use Content-Encoding: gzip."
            )


def is_compressed(metadata: bytes) -> bool:
    """Return whether the header of an Arrow message says that its buffers are compressed."""
    message = struct.unpack_from("<I", metadata, 0)[0]
    kind_at = _field(metadata, message, HEADER_TYPE)
    header_at = _field(metadata, message, HEADER)
    if kind_at is None or header_at is None or metadata[kind_at] not in {DICTIONARY_BATCH, RECORD_BATCH}:
        return False
    batch = _follow(metadata, header_at)
    if metadata[kind_at] == DICTIONARY_BATCH:
        data_at = _field(metadata, batch, DICTIONARY_DATA)
        if data_at is None:
            return False
        batch = _follow(metadata, data_at)
    return _field(metadata, batch, COMPRESSION) is not None


def _field(data: bytes, table: int, number: int) -> int | None:
    """Return where a field of a flatbuffer table is; None where it has none."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, vtable)[0]
    entry = 4 + 2 * number
    if vtable < 0 or entry + 2 > size:
        return None
    offset = struct.unpack_from("<H", data, vtable + entry)[0]
    return table + offset if offset else None


def _follow(data: bytes, at: int) -> int:
    target: int = at + struct.unpack_from("<I", data, at)[0]
    return target
