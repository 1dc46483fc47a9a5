"""Batches that are stored as they came: checked while they are read, and made into a frame when they are sealed.

Making a frame of a few hundred records costs more than checking them. So the records of a JSON body that is good are
not kept in another form until many batches are sealed at once, outside of the process that answers. A body is an Arrow
stream in either case: with the columns of its stream, or with one reserved column that holds the bytes as they came.

Bodies with fields that nobody declared are not stored like that, since those fields would be stored with them; nor are
dates and times, whose range in a frame is another than in JSON: what was acknowledged must be readable later.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

from fairtest.service.ingest.frames import Packed, from_bytes
from fairtest.service.ingest.json import count_good_lines, count_good_records, read_json, read_lines

if TYPE_CHECKING:
    from fairtest.service.ingest.columns import Declaration

SAFE = {"text", "integer", "number", "boolean"}
"""Kinds of columns whose values fit into a frame whenever they were accepted."""
MOST_AGAIN = 1 << 62
"""No limit: a stored batch was not too large when it came."""
READERS = {"__json": (count_good_records, read_json), "__ndjson": (count_good_lines, read_lines)}
"""By the reserved column that holds a body: what checks it, and what makes a frame of it."""


def pack_received(format_name: str, body: bytes, declaration: Declaration, most: int) -> Packed | None:
    """Return a body as it came, ready to be stored, if all its records are good; else None."""
    column = f"__{format_name}"
    if column not in READERS or not _may_be_kept(declaration):
        return None
    count, _ = READERS[column]
    rows = count(body, declaration, most)
    if rows is None:
        return None
    buffer = io.BytesIO()
    pl.Series(column, [body], dtype=pl.Binary).to_frame().write_ipc_stream(buffer, compression="lz4")
    return Packed(rows, buffer.getvalue())


def read_stored(body: bytes, declaration: Declaration) -> pl.DataFrame:
    """Return the records of a body that we stored."""
    frame = from_bytes(body)
    if frame.width == 1 and frame.columns[0] in READERS:
        _, read = READERS[frame.columns[0]]
        return read(frame.item(), declaration, MOST_AGAIN)
    return frame


def count_stored(body: bytes, declaration: Declaration) -> int:
    """Return how many records a body has that we stored, of whatever kind they are."""
    frame = from_bytes(body)
    return read_stored(body, declaration).height if frame.columns[0] in READERS else frame.height


def _may_be_kept(declaration: Declaration) -> bool:
    return declaration.unknown == "reject" and all(column.kind in SAFE for column in declaration.columns)
