"""Monitors and their questions: what is asked of a stream, fixed for ever in versions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import IntegrityError

from fairtest.service.errors import BadRequest, Conflict, NotFound, PreconditionFailed
from fairtest.service.store import trail
from fairtest.service.store.identifiers import check_name, make_id
from fairtest.service.store.streams import load_stream
from fairtest.service.store.tables import monitor, question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from fairtest.service.store.tenant import Tenant

MOST_MONITORS = 1000


@dataclass(frozen=True)
class Monitor:
    """A monitor as it is now; ``question`` is that of its newest version."""

    project: str
    id: str
    stream: str
    name: str
    schedule: dict[str, Any]
    tell: list[str]
    paused: bool
    version: int
    revision: int
    created: float
    question: dict[str, Any]
    fixed_at_seq: int


def create_monitor(
    tenant: Tenant, name: str, stream_name: str, body: Mapping[str, Any], schedule: Mapping[str, Any], tell: list[str]
) -> Monitor:
    """Make a monitor with its first question: it tests only people who arrive from now on."""
    check_name("monitor", name)
    made = make_id("mon")
    try:
        with tenant.writing() as connection:
            found = load_stream(connection, tenant.project, stream_name)
            count = select(func.count()).select_from(monitor).where(monitor.c.project == tenant.project)
            if (connection.scalar(count) or 0) >= MOST_MONITORS:
                raise BadRequest(f"A project may have {MOST_MONITORS:,} monitors.")
            connection.execute(
                insert(monitor).values(
                    project=tenant.project,
                    id=made,
                    stream=stream_name,
                    name=name,
                    schedule=json.dumps(schedule),
                    tell=json.dumps(tell),
                    paused=False,
                    version=1,
                    created=tenant.database.now(connection),
                    created_at_records=found.records,
                )
            )
            _fix_question(tenant, connection, made, 1, body, found.seq)
            trail.note(tenant.database, connection, tenant.who, "monitor.create", made, project=tenant.project)
            return load_monitor(connection, tenant.project, made)
    except IntegrityError:
        raise Conflict(f"There is a monitor {name!r} already.") from None


def change_monitor(tenant: Tenant, monitor_id: str, changes: Mapping[str, Any], revision: int | None) -> Monitor:
    """Change the schedule, whom to tell, or whether it is paused; another question makes the next version."""
    with tenant.writing() as connection:
        before = load_monitor(connection, tenant.project, monitor_id)
        if revision is not None and revision != before.revision:
            raise PreconditionFailed(f"The monitor is at revision {before.revision}; you read {revision}.")
        values: dict[str, Any] = {each: json.dumps(changes[each]) for each in ("schedule", "tell") if each in changes}
        if "paused" in changes:
            values["paused"] = bool(changes["paused"])
        body = changes.get("question")
        if body is not None and body != before.question:
            values["version"] = before.version + 1
            seq = load_stream(connection, tenant.project, before.stream).seq
            _fix_question(tenant, connection, monitor_id, before.version + 1, body, seq)
        if values:
            own = (monitor.c.project == tenant.project) & (monitor.c.id == monitor_id)
            connection.execute(update(monitor).where(own).values(**values, revision=before.revision + 1))
            trail.note(tenant.database, connection, tenant.who, "monitor.change", monitor_id, project=tenant.project)
        return load_monitor(connection, tenant.project, monitor_id)


def delete_monitor(tenant: Tenant, monitor_id: str) -> None:
    """Take a monitor away; its reports stay, as does its name."""
    with tenant.writing() as connection:
        load_monitor(connection, tenant.project, monitor_id)
        own = (monitor.c.project == tenant.project) & (monitor.c.id == monitor_id)
        connection.execute(update(monitor).where(own).values(deleted=tenant.database.now(connection)))
        trail.note(tenant.database, connection, tenant.who, "monitor.delete", monitor_id, project=tenant.project)


def find_monitor(tenant: Tenant, name_or_id: str) -> Monitor:
    """Return a monitor by its id or its name."""
    with tenant.reading() as connection:
        return load_monitor(connection, tenant.project, name_or_id)


def list_monitors(tenant: Tenant, after: str | None, limit: int) -> list[Monitor]:
    """Return the monitors of the project by id."""
    query = select(monitor.c.id).where(monitor.c.project == tenant.project, monitor.c.deleted.is_(None))
    query = query.order_by(monitor.c.id).limit(limit)
    with tenant.reading() as connection:
        ids = connection.scalars(query if after is None else query.where(monitor.c.id > after)).all()
        return [load_monitor(connection, tenant.project, each) for each in ids]


def list_versions(tenant: Tenant, monitor_id: str) -> list[dict[str, Any]]:
    """Return every question that a monitor has asked."""
    found = find_monitor(tenant, monitor_id)
    own = (question.c.project == tenant.project) & (question.c.monitor == found.id)
    with tenant.reading() as connection:
        rows = connection.execute(select(question).where(own).order_by(question.c.version)).all()
    return [
        {"version": r.version, "question": json.loads(r.body), "after_batch": r.fixed_at_seq, "created": r.created}
        for r in rows
    ]


def load_monitor(connection: Connection, project: str, name_or_id: str, version: int | None = None) -> Monitor:
    """Return a monitor with the question of a version, or of the newest."""
    own = (monitor.c.project == project) & ((monitor.c.id == name_or_id) | (monitor.c.name == name_or_id))
    row = connection.execute(select(monitor).where(own, monitor.c.deleted.is_(None))).first()
    if row is None:
        raise NotFound(f"There is no monitor {name_or_id!r}.")
    asked = (question.c.project == project) & (question.c.monitor == row.id)
    chosen = question.c.version == (row.version if version is None else version)
    body = connection.execute(select(question.c.body, question.c.fixed_at_seq).where(asked, chosen)).one()
    return Monitor(
        row.project, row.id, row.stream, row.name, json.loads(row.schedule), json.loads(row.tell), row.paused,
        row.version, row.revision, row.created, json.loads(body.body), body.fixed_at_seq,
    )  # fmt: skip


def _fix_question(
    tenant: Tenant, connection: Connection, monitor_id: str, version: int, body: Mapping[str, Any], seq: int
) -> None:
    connection.execute(
        insert(question).values(
            project=tenant.project,
            monitor=monitor_id,
            version=version,
            body=json.dumps(body),
            fixed_at_seq=seq,
            created=tenant.database.now(connection),
        )
    )
