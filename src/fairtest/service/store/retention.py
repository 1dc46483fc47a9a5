"""Retention: segments go as a whole when all of their records are older than a stream keeps them.

Receipts, reports, findings and hashes of people who were tested stay. What went is noted in the audit trail, which
nobody can change: ``verify`` accepts that records are missing where the trail says so, and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select, update

from fairtest.service.store import trail
from fairtest.service.store.log import BODY
from fairtest.service.store.tables import audit, batch, segment, stream

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from fairtest.service.service import Service

DAY = 86400.0
EXPIRED = "stream.expire"
"""What the audit trail calls it; the object is the stream, the kind and the last batch that went."""


def streams_to_expire(service: Service) -> list[tuple[str, str]]:
    """Return the streams with segments that are older than they keep them."""
    with service.database.reading() as connection:
        found = connection.execute(_old_segments(service.database.now(connection)))
        return sorted({(row.project, row.stream) for row in found})


def expire_stream(service: Service, project: str, name: str) -> int:
    """Take the old segments of a stream away; return how many. Their files go when no run reads them any more."""
    with service.database.writing() as connection:
        now = service.database.now(connection)
        mine = (segment.c.project == project) & (segment.c.stream == name)
        old = connection.execute(_old_segments(now).where(mine)).all()
        ids = [row.id for row in old]
        connection.execute(update(segment).where(mine, segment.c.id.in_(ids)).values(replaced=now))
        last: dict[str, int] = {}
        for row in old:
            last[row.kind] = max(row.hi, last.get(row.kind, 0))
        for kind, hi in sorted(last.items()):
            trail.note(service.database, connection, "retention", EXPIRED, f"{name} {kind} {hi}", project=project)
    return len(old)


def expired_upto(connection: Connection, project: str, name: str) -> dict[str, int]:
    """Return up to which batch the records and the truths of a stream have gone, as the audit trail has it."""
    found = {"records": 0, "truth": 0}
    noted = (audit.c.project == project) & (audit.c.what == EXPIRED)
    for text in connection.scalars(select(audit.c.object).where(noted)):
        owner, kind, hi = text.rsplit(" ", 2)
        if owner == name:
            found[kind] = max(found[kind], int(hi))
    return found


def _old_segments(now: float) -> Select[tuple[str, str, str, str, int]]:
    """Return the query of segments whose last batch arrived before what their stream keeps."""
    of_stream = (stream.c.project == segment.c.project) & (stream.c.name == segment.c.stream)
    of_batch = (batch.c.project == segment.c.project) & (batch.c.stream == segment.c.stream)
    newest = select(func.max(batch.c.received)).where(of_batch, batch.c.seq > segment.c.lo, batch.c.seq <= segment.c.hi)
    return (
        select(segment.c.project, segment.c.stream, segment.c.id, segment.c.kind, segment.c.hi)
        .select_from(segment.join(stream, of_stream))
        .where(
            segment.c.replaced.is_(None),
            segment.c.kind != BODY,  # not sealed yet: it goes with the segment that it becomes part of
            stream.c.retention_days.is_not(None),
            newest.scalar_subquery() < now - DAY * stream.c.retention_days,
        )
    )
