"""Erasing records and people, with a receipt.

A tombstone commits before the answer: from then on no reader sees the rows. Within a day the segments that hold them
are written again without them; the receipt turns from ``hidden`` to ``erased`` when the old files are gone.

Each tombstone is also in a journal beside the secret, so that whoever was erased after a backup was made stays erased
when it is restored.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
from sqlalchemy import delete, func, insert, select, update

from fairtest.service.errors import NotFound, StoreUnavailable
from fairtest.service.pausing import pause
from fairtest.service.store import trail
from fairtest.service.store.identifiers import make_id
from fairtest.service.store.naming import SWEPT_AFTER, is_too_late
from fairtest.service.store.rows import hidden_rows, load_tombstones
from fairtest.service.store.sealing import live_segments, seal_stream, write_segment
from fairtest.service.store.streams import load_stream
from fairtest.service.store.tables import monitor, run, segment, stream, tombstone

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from fairtest.service.service import Service
    from fairtest.service.store.rows import Tombstone
    from fairtest.service.store.sealing import Segment
    from fairtest.service.store.streams import Stream
    from fairtest.service.store.tenant import Tenant


JOURNAL = "erasures.jsonl"
"""The file of the data folder that lists tombstones."""
JOURNAL_FIELDS = ("project", "stream", "deletion", "kind", "hash", "upto", "asked")


@dataclass(frozen=True)
class Deletion:
    """The receipt of a deletion: ``state`` is ``hidden``, and ``erased`` when no file has the rows any more."""

    id: str
    ids: int
    asked: float
    erased: float | None

    @property
    def state(self) -> str:
        """``hidden`` or ``erased``."""
        return "hidden" if self.erased is None else "erased"


def ask_to_erase(service: Service, tenant: Tenant, name: str, kind: str, ids: Iterable[str]) -> Deletion:
    """Hide records, or all records of people, from now on; ``kind`` is ``record`` or ``person``."""
    hasher = service.secret.hasher(tenant.project, name)
    hashes = sorted({hasher(each).hex() for each in ids})
    deletion = make_id("del")
    owner = (stream.c.project == tenant.project) & (stream.c.name == name)
    with tenant.writing() as connection:
        # takes the counter row: no batch can arrive between the number that is read and the commit
        locked = update(stream).where(owner).values(seq=stream.c.seq).returning(stream.c.seq)
        upto = connection.execute(locked).scalar()
        if upto is None:
            raise NotFound(f"There is no stream {name!r}.")
        now = service.database.now(connection)
        place = {"project": tenant.project, "stream": name, "deletion": deletion, "kind": kind}
        rows = [{**place, "hash": each, "upto": upto, "asked": now, "erased": None} for each in hashes]
        connection.execute(insert(tombstone), rows)
        _write_journal(service, rows)  # a line too many, if the commit fails, asks for nothing that was not asked for
        trail.note(service.database, connection, tenant.who, f"erase.{kind}", deletion, project=tenant.project)
    return Deletion(deletion, len(hashes), now, None)


def _write_journal(service: Service, rows: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps({name: row[name] for name in JOURNAL_FIELDS}) + "\n" for row in rows)
    try:
        handle = os.open(service.settings.data / JOURNAL, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(lines.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreUnavailable(f"The journal of erasures cannot be written: {error.strerror}.") from error


def find_deletion(tenant: Tenant, name: str, deletion: str) -> Deletion:
    """Return the receipt of a deletion."""
    chosen = (tombstone.c.project == tenant.project) & (tombstone.c.stream == name) & (tombstone.c.deletion == deletion)
    left = func.count() - func.count(tombstone.c.erased)
    with tenant.reading() as connection:
        row = connection.execute(
            select(func.count(), func.min(tombstone.c.asked), left, func.max(tombstone.c.erased)).where(chosen)
        ).one()
    if row[0] == 0:
        raise NotFound(f"There is no deletion {deletion!r} in the stream {name!r}.")
    return Deletion(deletion, row[0], row[1], row[3] if row[2] == 0 else None)


def record_exists(service: Service, tenant: Tenant, name: str, record: str) -> bool:
    """Return whether a record can be read."""
    from fairtest.service.store.windows import read_window

    with tenant.reading() as connection:
        found = load_stream(connection, tenant.project, name)
    frame = read_window(service, tenant.project, name, (0, found.seq), columns=())
    return bool((frame[found.declaration.record_id] == record).any())


def streams_to_erase(service: Service) -> list[tuple[str, str]]:
    """Return the streams whose segments hold what must go."""
    pending = select(tombstone.c.project, tombstone.c.stream).where(tombstone.c.erased.is_(None)).distinct()
    replaced = select(segment.c.project, segment.c.stream).where(segment.c.replaced.is_not(None)).distinct()
    with service.database.reading() as connection:
        return sorted({(row[0], row[1]) for query in (pending, replaced) for row in connection.execute(query)})


def erase_stream(service: Service, project: str, name: str) -> bool:
    """Write the segments of a stream again without what must go; return whether all of it is gone."""
    with service.database.reading() as connection:
        started = service.database.now(connection)
        stones = load_tombstones(connection, project, name, pending=True)
        found = load_stream(connection, project, name)
    if stones:
        seal_stream(service, project, name, max(stone.upto for stone in stones))
        gone_ids = _rewrite(service, found, "records", stones, set())
        _rewrite(service, found, "truth", stones, gone_ids)
    if not remove_replaced(service, project, name) or not service.database.empty_log():
        return False
    chosen = (tombstone.c.project == project) & (tombstone.c.stream == name) & tombstone.c.erased.is_(None)
    with service.database.writing() as connection:
        now = service.database.now(connection)
        connection.execute(update(tombstone).where(chosen, tombstone.c.asked <= started).values(erased=now))
    return True


def _rewrite(service: Service, found: Stream, kind: str, stones: list[Tombstone], ids: set[str]) -> set[str]:
    """Write segments again without hidden rows, and without those of some ids; return the ids of what was left out."""
    hasher = service.secret.hasher(found.project, found.name)
    record_id, person = found.declaration.record_id, found.declaration.person if kind == "records" else None
    with service.database.reading() as connection:
        segments = live_segments(connection, found.project, found.name, kind)
    gone: set[str] = set()
    for each in segments:
        if each.lo >= max(stone.upto for stone in stones):
            continue
        frame = pl.read_parquet(io.BytesIO(service.segments.read(each.place)))
        hidden = hidden_rows(frame, stones, hasher, record_id, person)
        if ids:
            hidden |= frame[record_id].is_in(list(ids))
        if hidden.any():
            gone |= set(frame.filter(hidden)[record_id])
            _swap(service, found, each, frame.filter(hidden.not_()))
    return gone


def _swap(service: Service, found: Stream, old: Segment, frame: pl.DataFrame) -> None:
    """Put a new segment in the place of an old one, in one transaction."""
    with service.database.reading() as connection:
        began = service.database.now(connection)
    new = write_segment(service, found, old.kind, (old.lo, old.hi), frame)
    pause("swap.written")
    this = (segment.c.project == old.project) & (segment.c.id == old.id) & segment.c.replaced.is_(None)
    with service.database.writing() as connection:
        if is_too_late(service.database.now(connection), began):
            raise StoreUnavailable("Writing a segment again took too long; it is tried again.")
        now = service.database.now(connection)
        if connection.execute(update(segment).where(this).values(replaced=now)).rowcount == 1:
            connection.execute(insert(segment).values(**vars(new), created=now))
        pause("swap.inside")
    pause("swap.committed")


def remove_replaced(service: Service, project: str, name: str) -> bool:
    """Remove the files of replaced segments, unless a run of this stream may still be reading them."""
    chosen = (segment.c.project == project) & (segment.c.stream == name) & segment.c.replaced.is_not(None)
    reading = (
        select(func.count())
        .select_from(run.join(monitor, (run.c.project == monitor.c.project) & (run.c.monitor == monitor.c.id)))
        .where(run.c.project == project, monitor.c.stream == name, run.c.state == "running")
    )
    with service.database.reading() as connection:
        now = service.database.now(connection)
        busy = connection.scalar(reading.where(run.c.lease_until > now)) or 0
        replaced = connection.execute(select(segment.c.id, segment.c.place).where(chosen)).all()
    if busy and replaced:
        return False
    for each in replaced:
        service.segments.remove(each.place)
        with service.database.writing() as connection:
            connection.execute(delete(segment).where(segment.c.project == project, segment.c.id == each.id))
    return True


def sweep_orphans(service: Service, older_than: float = SWEPT_AFTER) -> list[str]:
    """Remove files that no manifest names: what a crash left between writing a file and naming it."""
    old = list(service.segments.places(older_than))
    with service.database.reading() as connection:
        named = set(connection.scalars(select(segment.c.place)))
    orphans = [place for place in old if place not in named]
    for place in orphans:
        service.segments.remove(place)
    return orphans
