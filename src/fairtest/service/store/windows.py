"""Reading the records of a window back, without what was erased."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

from fairtest.service.store.rows import ID_HASH, PERSON_HASH, RECEIVED, ROW, SEQ, hidden_rows, load_tombstones
from fairtest.service.store.sealing import live_segments, seal_stream
from fairtest.service.store.streams import load_stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtest.service.service import Service
    from fairtest.service.store.sealing import Segment
    from fairtest.service.store.streams import Stream

OWN = (SEQ, ROW, RECEIVED, ID_HASH, PERSON_HASH)
TRIES = 5


def read_window(
    service: Service,
    project: str,
    name: str,
    window: tuple[int, int],
    kind: str = "records",
    columns: Iterable[str] | None = None,
) -> pl.DataFrame:
    """Return the records of the batches (lo, hi], in the order in which they arrived.

    Parameters
    ----------
    columns
        The columns to read, besides the service's own. Default: all.
    """
    seal_stream(service, project, name, window[1])
    for attempt in range(TRIES):
        with service.database.reading() as connection:
            found = load_stream(connection, project, name)
            segments = [
                s for s in live_segments(connection, project, name, kind) if s.lo < window[1] and s.hi > window[0]
            ]
            tombstones = load_tombstones(connection, project, name)
        try:
            frames = [_read_segment(service, found, each, window, columns) for each in segments]
        except FileNotFoundError:  # it was replaced while we read; the manifest names another by now
            if attempt == TRIES - 1:
                raise
            continue
        break
    frame = pl.concat(frames, how="diagonal") if frames else _no_rows(found, kind)
    hasher = service.secret.hasher(project, name)
    wanted = tombstones if kind == "records" else [t for t in tombstones if t.kind == "record"]
    hidden = hidden_rows(frame, wanted, hasher, found.declaration.record_id, found.declaration.person)
    return frame.filter(hidden.not_()).sort(SEQ, ROW)


def _read_segment(
    service: Service, found: Stream, each: Segment, window: tuple[int, int], columns: Iterable[str] | None
) -> pl.DataFrame:
    body = io.BytesIO(service.segments.read(each.place))
    there = pl.read_parquet_schema(body)
    needed = {found.declaration.record_id, found.declaration.person, *(columns or ())}
    body.seek(0)
    chosen = [name for name in there if columns is None or name in needed or name in OWN]
    frame = pl.read_parquet(body, columns=chosen)
    return frame.filter((pl.col(SEQ) > window[0]) & (pl.col(SEQ) <= window[1]))


def _no_rows(found: Stream, kind: str) -> pl.DataFrame:
    from fairtest.service.ingest.frames import TYPES

    schema: dict[str, pl.DataType] = {column.name: TYPES[column.kind] for column in found.declaration.columns}
    own = {SEQ: pl.Int64(), ROW: pl.Int32(), RECEIVED: pl.Float64(), ID_HASH: pl.Int64()}
    return pl.DataFrame(schema=schema | own | ({PERSON_HASH: pl.Int64()} if kind == "records" else {}))
