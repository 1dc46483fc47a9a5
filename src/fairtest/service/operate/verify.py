"""What must hold in every store, at any moment.

What was acknowledged is there once; who was tested is never tested again; an answer exists in the store before anybody
sees it.
"""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from sqlalchemy import func, select

from fairtest.monitoring.journal import differences
from fairtest.service.ingest.received import count_stored
from fairtest.service.store.log import BODY
from fairtest.service.store.packing import unpack_plain
from fairtest.service.store.retention import expired_upto
from fairtest.service.store.rows import ID_HASH, SEQ
from fairtest.service.store.sealing import live_segments
from fairtest.service.store.streams import load_stream
from fairtest.service.store.tables import batch, batch_body, monitor, report, run, run_people, stream, tombstone
from fairtest.service.store.trail import broken_links
from fairtest.service.store.watch_steps import load_journal, load_people
from fairtest.service.store.watch_tables import watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from fairtest.service.service import Service


def verify(service: Service) -> list[str]:
    """Return what is wrong with a store; nothing is as it should be."""
    with service.database.reading() as connection:
        streams = connection.execute(select(stream).order_by(stream.c.project, stream.c.name)).all()
        monitors = connection.execute(select(monitor.c.project, monitor.c.id)).all()
        wrong = [
            f"audit trail: row {number} does not follow from the row before" for number in broken_links(connection)
        ]
    for each in streams:
        where = f"stream {each.project}/{each.name}"
        wrong += [f"{where}: {what}" for what in _check_log(service, each.project, each.name)]
        wrong += [f"{where}: {what}" for what in _check_segments(service, each.project, each.name)]
    for each in monitors:
        wrong += [f"monitor {each.project}/{each.id}: {what}" for what in _check_runs(service, each.project, each.id)]
        wrong += [
            f"monitor {each.project}/{each.id}: {what}" for what in _check_watches(service, each.project, each.id)
        ]
    return wrong


def _check_watches(service: Service, project: str, monitor_id: str) -> Iterator[str]:
    """Check that the journal of each watch gives the stakes that it holds, and that no person was counted twice."""
    with service.database.reading() as connection:
        own = (watch.c.project == project) & (watch.c.monitor == monitor_id) & watch.c.body.is_not(None)
        for row in connection.execute(select(watch.c.id, watch.c.body).where(own)).all():
            state = unpack_plain(row.body)["watch"]
            if wrong := differences(state, load_journal(connection, project, row.id)):
                yield f"the stakes of watch {row.id} do not follow from its journal: {wrong[0]}"
            for hashes in load_people(connection, project, row.id, len(state["learned"]["pairs"])):
                people = np.frombuffer(hashes, dtype="<u8")
                if np.unique(people).size < people.size:
                    yield f"watch {row.id} used {people.size - np.unique(people).size} people twice"


def _check_log(service: Service, project: str, name: str) -> Iterator[str]:
    """Check that batches are counted without gaps and have their bodies until they are sealed."""
    with service.database.reading() as connection:  # one snapshot: batches arrive meanwhile
        counter = load_stream(connection, project, name)
        log = (batch.c.project == project) & (batch.c.stream == name)
        rows = connection.execute(
            select(batch.c.seq, batch.c.kind, batch.c.rows).where(log).order_by(batch.c.seq)
        ).all()
        bodies = (batch_body.c.project == project) & (batch_body.c.stream == name)
        there = {
            row.seq: row.body for row in connection.execute(select(batch_body.c.seq, batch_body.c.body).where(bodies))
        }
        files = live_segments(connection, project, name, BODY)
    there |= {each.hi: service.segments.read(each.place) for each in files}
    if [row.seq for row in rows] != list(range(1, counter.seq + 1)):
        yield f"its batches are not numbered from 1 to {counter.seq}"
    if (sent := sum(row.rows for row in rows if row.kind == "records")) != counter.records:
        yield f"it counts {counter.records} records, and its batches have {sent}"
    unsealed = {row.seq: row.rows for row in rows if row.seq > counter.sealed}
    if missing := sorted(set(unsealed).difference(there)):
        yield f"batch {missing[0]} is neither sealed nor there"
    if left := sorted(set(there).difference(unsealed)):
        yield f"batch {left[0]} is sealed and its body still there"
    for seq, body in there.items():
        if seq in unsealed and count_stored(body, counter.declaration) != unsealed[seq]:
            yield f"the body of batch {seq} has another number of records than its receipt"


def _check_segments(service: Service, project: str, name: str) -> Iterator[str]:
    """Check that the files are what the manifest says and hold every acknowledged record once."""
    with service.database.reading() as connection:
        owner = (stream.c.project == project) & (stream.c.name == name)
        sealed = connection.scalar(select(stream.c.sealed).where(owner)) or 0
        segments = live_segments(connection, project, name)
        expected = _expected_rows(connection, project, name, sealed)
        gone = expired_upto(connection, project, name)
        stones = (tombstone.c.project == project) & (tombstone.c.stream == name)
        erased = bool(connection.scalar(select(func.count()).select_from(tombstone).where(stones)))
    last: dict[str, int] = {}
    stored: Counter[tuple[str, int]] = Counter()
    ids: Counter[int] = Counter()
    for each in segments:
        if each.lo < last.get(each.kind, 0):
            yield f"segments overlap at batch {each.lo}"
        last[each.kind] = each.hi
        if (each.hi > sealed) != (each.kind == BODY):
            yield f"segment {each.place} is not on its side of what is sealed"
        try:
            body = service.segments.read(each.place)
        except FileNotFoundError:
            yield f"segment {each.place} is gone"
            continue
        if hashlib.sha256(body).hexdigest() != each.sha256:
            yield f"segment {each.place} has changed"
            continue
        if each.kind == BODY:
            continue
        frame = pl.read_parquet(io.BytesIO(body), columns=[SEQ, ID_HASH])
        stored.update({(each.kind, seq): n for seq, n in frame[SEQ].value_counts().iter_rows()})
        if each.kind == "records":
            ids.update(frame[ID_HASH].to_list())
    if twice := [hashed for hashed, n in ids.items() if n > 1]:
        yield f"{len(twice)} records are there twice"
    for place, rows in expected.items():
        if place[1] <= gone[place[0]]:
            continue
        if stored[place] != rows and not (erased and stored[place] < rows):
            yield f"batch {place[1]} has {stored[place]} of {rows} records in segments"


def _expected_rows(connection: Connection, project: str, name: str, sealed: int) -> dict[tuple[str, int], int]:
    log = (batch.c.project == project) & (batch.c.stream == name) & (batch.c.seq <= sealed)
    rows = connection.execute(select(batch.c.kind, batch.c.seq, batch.c.rows, batch.c.duplicates).where(log))
    return {(row.kind, row.seq): row.rows - (row.duplicates or 0) for row in rows}


def _check_runs(service: Service, project: str, monitor_id: str) -> Iterator[str]:
    """Check that windows do not overlap, that nobody was tested twice and that every spent run has its report."""
    with service.database.reading() as connection:
        own = (run.c.project == project) & (run.c.monitor == monitor_id)
        columns = (run.c.id, run.c.state, run.c.lo, run.c.hi, run.c.set_number)
        runs = connection.execute(select(*columns).where(own).order_by(run.c.lo)).all()
        reports: Counter[str] = Counter(connection.scalars(select(report.c.run).where(report.c.project == project)))
        people = {
            row.run: np.frombuffer(row.hashes, dtype=">i8")
            for row in connection.execute(select(run_people).where(run_people.c.project == project))
        }
    done = [each for each in runs if each.state == "done"]
    last = 0
    for each in done:
        if each.lo < last:
            yield f"the window of run {each.id} begins before that of the run before ended"
        last = each.hi
        if not reports[each.id]:
            yield f"run {each.id} is spent and has no report"
    if sorted(each.set_number for each in done) != list(range(1, len(done) + 1)):
        yield "its spent sets are not numbered from 1"
    for each in runs:
        if each.state != "done" and reports[each.id]:
            yield f"run {each.id} is not spent and has a report"
    tested = [people[each.id] for each in done if each.id in people]
    together = np.concatenate(tested) if tested else np.empty(0, dtype=">i8")
    if len(np.unique(together)) < len(together):
        yield f"{len(together) - len(np.unique(together))} people were tested twice"
