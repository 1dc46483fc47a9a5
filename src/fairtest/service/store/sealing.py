"""Sealing: batches of the log become one immutable Parquet segment, without duplicates and without what was erased.

The file lasts before the transaction that names it and deletes the bodies of its batches. A crash before that leaves a
file that nobody names; a crash after it leaves nothing to do.
"""

from __future__ import annotations

import hashlib
import io
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl
from sqlalchemy import delete, insert, select, update

from fairtest.service.ingest.received import read_stored
from fairtest.service.pausing import pause
from fairtest.service.store.identifiers import make_id
from fairtest.service.store.log import BODY
from fairtest.service.store.naming import is_too_late
from fairtest.service.store.rows import (
    ID_HASH,
    PERSON_HASH,
    RECEIVED,
    ROW,
    SEQ,
    hash_column,
    hidden_rows,
    load_tombstones,
)
from fairtest.service.store.streams import load_stream
from fairtest.service.store.tables import batch, batch_body, segment, stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from fairtest.service.service import Service
    from fairtest.service.store.log import Append
    from fairtest.service.store.streams import Stream

MOST_ROWS, MOST_BYTES = 250_000, 64 << 20
"""How many records, and how many bytes of them, go into one segment."""
LARGE = 20_000
"""A batch of so many records is written beside the segments, not into the database."""
DAY = 86400.0


@dataclass(frozen=True)
class Segment:
    """A row of the manifest."""

    project: str
    id: str
    stream: str
    kind: str
    lo: int
    hi: int
    place: str
    rows: int
    bytes: int
    sha256: str
    columns_version: int


def seal_stream(service: Service, project: str, name: str, upto: int | None = None) -> int:
    """Seal a stream up to a batch, or all that is there now; return up to which batch it is sealed."""
    goal = upto
    while True:
        with service.database.reading() as connection:
            found = load_stream(connection, project, name)
        # fixed once: while we seal, others send
        goal = found.seq if goal is None else min(goal, found.seq)
        if found.sealed >= goal:
            return found.sealed
        _seal_next(service, found, goal)


def _seal_next(service: Service, found: Stream, goal: int) -> None:
    """Seal the next batches of a stream into a segment, unless somebody else is quicker."""
    parts, hi = _read_bodies(service, found, goal)
    pause("seal.read")
    hasher = service.secret.hasher(found.project, found.name)
    made: list[Segment] = []
    duplicates: dict[int, int] = {}
    with service.database.reading() as connection:
        tombstones = load_tombstones(connection, found.project, found.name)
        began = service.database.now(connection)
    for kind, frames in parts.items():
        frame = pl.concat(frames, how="diagonal")
        frame = frame.with_columns(hash_column(frame[found.declaration.record_id], hasher).alias(ID_HASH))
        if kind == "records":
            frame = _with_people(service, found, frame)
            frame, duplicates = _without_duplicates(service, found, frame)
        hidden = hidden_rows(frame, tombstones, hasher, found.declaration.record_id, found.declaration.person)
        frame = frame.filter(hidden.not_())
        made.append(write_segment(service, found, kind, (found.sealed, hi), frame))
    pause("seal.written")
    _commit_seal(service, found, hi, made, duplicates, began)


def _commit_seal(
    service: Service, found: Stream, hi: int, made: Sequence[Segment], duplicates: dict[int, int], began: float
) -> None:
    owner = (stream.c.project == found.project) & (stream.c.name == found.name)
    with service.database.writing() as connection:
        if is_too_late(service.database.now(connection), began):  # once more, with a new file
            return
        moved = connection.execute(
            update(stream).where(owner, stream.c.sealed == found.sealed).values(sealed=hi)
        ).rowcount
        if moved != 1:  # the file stays behind, for others may have written the same one; it is swept away later
            return
        now = service.database.now(connection)
        for each in made:
            connection.execute(insert(segment).values(**vars(each), created=now))
        log = (batch.c.project == found.project) & (batch.c.stream == found.name)
        window = (batch.c.seq > found.sealed) & (batch.c.seq <= hi)
        connection.execute(update(batch).where(log, window).values(duplicates=0))
        for seq, count in duplicates.items():
            connection.execute(update(batch).where(log, batch.c.seq == seq).values(duplicates=count))
        bodies = (batch_body.c.project == found.project) & (batch_body.c.stream == found.name)
        connection.execute(delete(batch_body).where(bodies, batch_body.c.seq > found.sealed, batch_body.c.seq <= hi))
        files = (segment.c.project == found.project) & (segment.c.stream == found.name) & (segment.c.kind == BODY)
        read = files & (segment.c.hi <= hi) & segment.c.replaced.is_(None)
        connection.execute(update(segment).where(read).values(replaced=now))
        pause("seal.inside")
    pause("seal.committed")


def write_segment(service: Service, found: Stream, kind: str, window: tuple[int, int], frame: pl.DataFrame) -> Segment:
    """Write the rows of a window as a file and return the row of the manifest that will name it."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    body = buffer.getvalue()
    digest = hashlib.sha256(body).hexdigest()
    lo, hi = window
    place = f"{found.project}/{found.name}/{kind}-{lo:012d}-{hi:012d}-{digest[:8]}.parquet"
    service.segments.write(place, body)
    return Segment(
        found.project, make_id("seg"), found.name, kind, lo, hi, place, frame.height, len(body), digest, found.version
    )


def stage_body(service: Service, append: Append) -> Append:
    """Write the body of a large batch where segments are: then none of it goes through the database.

    The file has a name of its own each time. If nothing comes to name it, it is swept away later.
    """
    if append.rows < LARGE or service.segments.in_database:
        return append
    place = f"{append.project}/{append.stream}/{BODY}-{secrets.token_hex(16)}.arrow"
    with service.database.reading() as connection:
        began = service.database.now(connection)
    service.segments.write(place, append.body)
    pause("append.staged")
    return replace(append, place=place, staged=began)


def live_segments(connection: Connection, project: str, name: str, kind: str | None = None) -> list[Segment]:
    """Return the segments of a stream that are read now, in the order of their windows."""
    chosen = (segment.c.project == project) & (segment.c.stream == name) & segment.c.replaced.is_(None)
    if kind is not None:
        chosen &= segment.c.kind == kind
    columns = [segment.c[field] for field in Segment.__dataclass_fields__]
    return [Segment(*row) for row in connection.execute(select(*columns).where(chosen).order_by(segment.c.lo))]


def _read_bodies(service: Service, found: Stream, goal: int) -> tuple[dict[str, list[pl.DataFrame]], int]:
    """Return the next batches by kind with their places in the log, and the last of them."""
    log = (batch.c.project == found.project) & (batch.c.stream == found.name)
    columns = (batch.c.seq, batch.c.kind, batch.c.rows, batch.c.bytes, batch.c.received)
    with service.database.reading() as connection:
        listed = connection.execute(
            select(*columns)
            .where(log, batch.c.seq > found.sealed, batch.c.seq <= goal)
            .order_by(batch.c.seq)
            .limit(4000)
        ).all()
    rows = size = 0
    chosen: list[Any] = []
    for each in listed:
        if chosen and (rows + each.rows > MOST_ROWS or size + each.bytes > MOST_BYTES):
            break
        chosen.append(each)
        rows, size = rows + each.rows, size + each.bytes
    parts: dict[str, list[pl.DataFrame]] = {}
    bodies = (batch_body.c.project == found.project) & (batch_body.c.stream == found.name)
    with service.database.reading() as connection:
        large = {each.hi: each.place for each in live_segments(connection, found.project, found.name, BODY)}
    for start in range(0, len(chosen), 100):  # few at a time: a reader of SQLite's file keeps its writer waiting
        few = {each.seq: each for each in chosen[start : start + 100]}
        with service.database.reading() as connection:
            stored = connection.execute(
                select(batch_body.c.seq, batch_body.c.body).where(bodies, batch_body.c.seq.in_(list(few)))
            ).all()
        read = {seq: service.segments.read(large[seq]) for seq in few if seq in large}
        for seq, body in sorted([*read.items(), *((row.seq, row.body) for row in stored)]):
            declared = found.declaration if few[seq].kind == "records" else found.declaration.for_truths()
            frame = read_stored(body, declared)
            place = (pl.lit(seq).alias(SEQ), pl.int_range(frame.height, dtype=pl.Int32).alias(ROW))
            received = pl.lit(few[seq].received, pl.Float64).alias(RECEIVED)
            parts.setdefault(few[seq].kind, []).append(frame.with_columns(*place, received))
    return parts, chosen[-1].seq


def _with_people(service: Service, found: Stream, frame: pl.DataFrame) -> pl.DataFrame:
    """Add who each record is about; without a column for it every record is a person of its own."""
    person = found.declaration.person
    if person is None:
        return frame.with_columns(pl.col(ID_HASH).alias(PERSON_HASH))
    hasher = service.secret.hasher(found.project, found.name)
    return frame.with_columns(hash_column(frame[person], hasher).alias(PERSON_HASH))


def _without_duplicates(service: Service, found: Stream, frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[int, int]]:
    """Leave out records whose id was there before, in this window or in segments of the last days."""
    name = found.declaration.record_id
    again = frame[name].is_first_distinct().not_()
    with service.database.reading() as connection:
        latest = service.database.now(connection) - DAY * service.settings.dedupe_days
        recent = (segment.c.project == found.project) & (segment.c.stream == found.name)
        recent &= segment.c.replaced.is_(None) & (segment.c.kind == "records") & (segment.c.created >= latest)
        rows = connection.execute(select(segment.c.place, segment.c.rows).where(recent).order_by(segment.c.lo))
        segments = {row.place: row.rows for row in rows}

    def read_hashes(place: str) -> NDArray[np.int64]:
        body = io.BytesIO(service.segments.read(place))
        return pl.read_parquet(body, columns=[ID_HASH])[ID_HASH].to_numpy()

    owner = (found.project, found.name)
    for place in service.recent_ids.find(owner, segments, frame[ID_HASH].to_numpy(), read_hashes):
        known = pl.read_parquet(io.BytesIO(service.segments.read(place)), columns=[name])[name]
        again |= frame[name].is_in(known.implode())
    counted = frame.filter(again).group_by(SEQ).len()
    return frame.filter(again.not_()), dict(zip(counted[SEQ], counted["len"], strict=True))
