"""Jobs on streams: sealing when enough or old enough batches wait, erasing, and letting old records go.

They are leased: any worker may do them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select

from fairtest.service.store.database import insert_new
from fairtest.service.store.erasure import erase_stream, streams_to_erase, sweep_orphans
from fairtest.service.store.identifiers import make_id
from fairtest.service.store.retention import expire_stream, streams_to_expire
from fairtest.service.store.sealing import MOST_BYTES, MOST_ROWS, seal_stream
from fairtest.service.store.tables import batch, job, stream
from fairtest.service.work.leases import claim, put_off

if TYPE_CHECKING:
    from fairtest.service.service import Service
    from fairtest.service.work.leases import Lease

SEAL_AFTER = 900.0
"""Seconds that a batch waits at most to be sealed."""
SWEEP_EVERY = 3600.0
"""Seconds between two looks for files that nobody names; such a file stays for an hour anyway."""
SEAL, ERASE, EXPIRE = "seal", "erase", "expire"


def plan_jobs(service: Service) -> int:
    """Make jobs for what has to be done; one that exists is not made again."""
    wanted = {
        SEAL: streams_to_seal(service),
        ERASE: streams_to_erase(service),
        EXPIRE: streams_to_expire(service),
    }
    if not any(wanted.values()):
        return 0
    with service.database.writing_soon() as connection:
        now = service.database.now(connection)
        rows = [
            {
                "project": project, "id": make_id("job"), "stream": name, "kind": kind, "state": "due", "due": now,
                "created": now,
            }
            for kind, owners in wanted.items()
            for project, name in owners
        ]  # fmt: skip
        return insert_new(connection, job, rows)


def streams_to_seal(service: Service, after: float = SEAL_AFTER) -> list[tuple[str, str]]:
    """Return the streams with many unsealed records, or with old ones."""
    both = batch.join(stream, (batch.c.project == stream.c.project) & (batch.c.stream == stream.c.name))
    query = (
        select(
            stream.c.project, stream.c.name, func.sum(batch.c.rows), func.sum(batch.c.bytes), func.min(batch.c.received)
        )
        .select_from(both)
        .where(batch.c.seq > stream.c.sealed)
        .group_by(stream.c.project, stream.c.name)
    )
    with service.database.reading_soon() as connection:
        now = service.database.now(connection)
        return [
            (project, name)
            for project, name, rows, size, oldest in connection.execute(query)
            if rows >= MOST_ROWS or size >= MOST_BYTES or oldest <= now - after
        ]


def do_job(service: Service) -> bool:
    """Do one job that is due; return whether there was one."""
    lease = claim(service.database, job, service.worker_name)
    if lease is None:
        return False
    try:
        finished = _do(service, lease)
    except Exception as error:
        with service.database.writing_soon() as connection:
            now, reason = service.database.now(connection), f"{type(error).__name__}: {error}"
            put_off(connection, now, lease, reason, final="due")  # what must be sealed or erased stays so
        raise
    with service.database.writing_soon() as connection:
        if finished:
            mine = (job.c.project == lease.project) & (job.c.id == lease.id) & (job.c.token == lease.token)
            connection.execute(delete(job).where(mine))
        else:
            put_off(
                connection, service.database.now(connection), lease, "A run is reading the old segments.", final="due"
            )
    return True


def _do(service: Service, lease: Lease) -> bool:
    project, name = lease.project, lease.row["stream"]
    if lease.row["kind"] == SEAL:
        seal_stream(service, project, name)
        if time.monotonic() - service.swept > SWEEP_EVERY:  # it looks at all files there are
            sweep_orphans(service)
            service.swept = time.monotonic()
        return True
    if lease.row["kind"] == EXPIRE:
        expire_stream(service, project, name)  # the files go by the job that removes what was replaced
        return True
    return erase_stream(service, project, name)
