"""Records as a polars frame with the columns of their stream, and as bytes."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import polars as pl

from fairtest.service.errors import BadRow, BatchRejected
from fairtest.service.ingest.columns import LONGEST_ID, LONGEST_VALUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.service.ingest.columns import Declaration, StreamColumn

TYPES: dict[str, pl.DataType] = {
    "text": pl.String(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "boolean": pl.Boolean(),
    "date": pl.Date(),
    "time": pl.Datetime("us", "UTC"),
}


@dataclass(frozen=True)
class Packed:
    """Checked records as they are stored: an Arrow stream, which :func:`from_bytes` reads."""

    rows: int
    body: bytes


def frame_of(declaration: Declaration, values: Sequence[Sequence[object]]) -> pl.DataFrame:
    """Return a frame from the values of each column, which were checked before."""
    return pl.DataFrame(
        [
            pl.Series(column.name, given, dtype=TYPES[column.kind])
            for column, given in zip(declaration.columns, values, strict=True)
        ]
    )


def pack_frame(frame: pl.DataFrame) -> Packed:
    """Return the records of a frame as they are stored."""
    buffer = io.BytesIO()
    frame.write_ipc_stream(buffer, compression="lz4")
    return Packed(frame.height, buffer.getvalue())


def from_bytes(body: bytes) -> pl.DataFrame:
    """Return the frame of an Arrow stream that we wrote: never of bytes that a client sent."""
    return pl.read_ipc_stream(io.BytesIO(body))


def check_frame(frame: pl.DataFrame, declaration: Declaration) -> None:
    """Raise and name every bad record, unless values are allowed, required ones there and ids unique and short."""
    # one expression for all columns: asking them one by one costs more than everything else about a batch
    if frame.select(pl.any_horizontal(_any_bad(column) for column in declaration.columns)).item() is False and (
        _ids_are_good(frame[declaration.record_id])
    ):
        return
    bad = [error for column in declaration.columns for error in _bad_values(frame[column.name], column)]
    bad += bad_ids(frame[declaration.record_id], declaration.record_id)
    if bad:
        reject(bad, frame.height)


def _any_bad(column: StreamColumn) -> pl.Expr:
    """Return whether a column has any value that is not allowed."""
    values = pl.col(column.name)
    bad = values.is_null().any() if column.required else pl.lit(value=False)
    if column.levels:
        bad |= values.is_in(list(column.levels)).not_().any()
    if column.kind == "text":
        bad |= (values.str.len_bytes() > LONGEST_VALUE).any()
    if column.kind == "number":
        bad |= values.is_finite().not_().any()
    return bad.fill_null(value=False)


def _ids_are_good(ids: pl.Series) -> bool:
    lengths = ids.str.len_bytes()
    shortest, longest = lengths.min(), lengths.max()
    return shortest != 0 and not (isinstance(longest, int) and longest > LONGEST_ID) and ids.n_unique() == ids.len()


def reject(bad: list[BadRow], records: int) -> NoReturn:
    """Raise for bad records, in the order of their rows."""
    bad.sort(key=lambda error: (error.row is None, error.row or 0))
    raise BatchRejected(bad, len({error.row for error in bad}), records)


def bad_ids(ids: pl.Series, name: str) -> list[BadRow]:
    """Return which ids are empty, too long or there twice."""
    if _ids_are_good(ids):
        return []
    lengths = ids.str.len_bytes()
    bad = [
        BadRow(row, name, show_value(ids[row]), f"1 to {LONGEST_ID} bytes")
        for row in _rows((lengths > LONGEST_ID) | (lengths == 0))
    ]
    if ids.n_unique() < ids.len():
        again = ids.is_first_distinct().not_() & ids.is_not_null()
        bad += [
            BadRow(row, name, show_value(ids[row]), "an id that no other record of the batch has")
            for row in _rows(again)
        ]
    return bad


def _bad_values(values: pl.Series, column: StreamColumn) -> list[BadRow]:
    wrong = values.is_null() if column.required else pl.Series([False]).new_from_index(0, values.len())
    if column.levels:
        wrong |= values.is_not_null() & values.is_in(list(column.levels)).fill_null(value=True).not_()
    if column.kind == "text":
        wrong |= (values.str.len_bytes() > LONGEST_VALUE).fill_null(value=False)
    if column.kind == "number":
        wrong |= values.is_finite().fill_null(value=True).not_()
    return [BadRow(row, column.name, show_value(values[row]), column.allowed) for row in _rows(wrong)]


def _rows(wrong: pl.Series) -> list[int]:
    return wrong.fill_null(value=False).arg_true().to_list()


def show_value(value: object) -> str:
    """Return a value as an error shows it: as JSON has it, and short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else text[:79] + "…"
