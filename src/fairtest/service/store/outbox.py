"""The outbox: what happened, and who is told of it.

An event and its deliveries are written in the transaction that brings the event about: it is told if it happened, and
not otherwise. The same event has one row however often it is announced, and a destination gets it once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from fairtest.service.alerts.messages import TYPES
from fairtest.service.errors import Conflict, NotFound
from fairtest.service.store import trail
from fairtest.service.store.database import insert_new
from fairtest.service.store.identifiers import make_id
from fairtest.service.store.tables import delivery, destination, event, monitor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, Select, Table

    from fairtest.service.store.database import Database
    from fairtest.service.store.tenant import Tenant

DELIVERY_STATES = ("due", "running", "sent", "dead")


@dataclass(frozen=True)
class Happening:
    """Something that people may want to be told.

    Attributes
    ----------
    kind
        ``new``, ``worse``, ``better``, ``gone``, ``no_data`` or ``run_failed``.
    subject
        What it is about: a hypothesis or a run.
    slot
        When, in the monitor's own time: the same subject may be told again in another slot.
    body
        What the message says: ``sentence``, and what there is of ``effect``, ``interval``, ``stake``, ``finding``,
        ``finding_id`` and ``run``.
    """

    kind: str
    subject: str
    slot: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Event:
    """An event as it is stored."""

    project: str
    id: str
    monitor: str
    kind: str
    subject: str
    slot: str
    body: dict[str, Any]
    created: float


@dataclass(frozen=True)
class Delivery:
    """A message to one destination: ``due``, ``running``, ``sent`` or ``dead``."""

    id: str
    event: str
    destination: str
    state: str
    due: float
    attempts: int
    reason: str | None
    created: float
    ended: float | None


def announce(
    database: Database, connection: Connection, project: str, monitor_id: str, happening: Happening
) -> str | None:
    """Write an event, and a delivery for each destination that the monitor tells; None where it was known already.

    Call it in the transaction that brings the event about.
    """
    assert happening.kind in TYPES, f"no such kind of event: {happening.kind}"
    now = database.now(connection)
    mine = (monitor.c.project == project) & (monitor.c.id == monitor_id)
    asks = connection.execute(select(monitor.c.name, monitor.c.tell).where(mine)).one()
    made = make_id("evt")
    body = {
        "project": project,
        "monitor": monitor_id,
        "monitor_name": asks.name,
        "slot": happening.slot,
        **happening.body,
    }
    row = {
        "project": project, "id": made, "monitor": monitor_id, "kind": happening.kind, "subject": happening.subject,
        "slot": happening.slot, "body": json.dumps(body, ensure_ascii=False), "created": now,
    }  # fmt: skip
    if not insert_new(connection, event, [row]):
        return None
    wanted = json.loads(asks.tell)
    there = select(destination.c.id).where(destination.c.project == project, destination.c.id.in_(wanted))
    for to in connection.scalars(there.order_by(destination.c.id)).all():
        row = {"project": project, "id": make_id("msg"), "event": made, "destination": to, "state": "due", "due": now}
        insert_new(connection, delivery, [{**row, "created": now}])
    return made


def list_events(tenant: Tenant, after: str | None, limit: int, *, about: str | None = None) -> list[Event]:
    """Return events, newest first; of one monitor if named."""
    query = select(event).where(event.c.project == tenant.project)
    if about is not None:
        query = query.where(event.c.monitor == about)
    query = _newest(query, event, after).limit(limit)
    with tenant.reading() as connection:
        return [_event(row) for row in connection.execute(query).mappings()]


def find_event(tenant: Tenant, name: str) -> Event:
    """Return an event of the project."""
    with tenant.reading() as connection:
        query = select(event).where(event.c.project == tenant.project, event.c.id == name)
        row = connection.execute(query).mappings().first()
    if row is None:
        raise NotFound(f"There is no event {name!r}.")
    return _event(row)


def list_deliveries(
    tenant: Tenant, after: str | None, limit: int, *, state: str | None = None, of_event: str | None = None
) -> list[Delivery]:
    """Return deliveries, newest first."""
    query = select(*(delivery.c[name] for name in Delivery.__dataclass_fields__))
    query = query.where(delivery.c.project == tenant.project)
    if state is not None:
        query = query.where(delivery.c.state == state)
    if of_event is not None:
        query = query.where(delivery.c.event == of_event)
    query = _newest(query, delivery, after).limit(limit)
    with tenant.reading() as connection:
        return [Delivery(**row) for row in connection.execute(query).mappings()]


def retry_delivery(tenant: Tenant, name: str) -> Delivery:
    """Make a delivery that is dead, or waits for its next attempt, due now; it starts with a new count of attempts."""
    with tenant.writing() as connection:
        mine = (delivery.c.project == tenant.project) & (delivery.c.id == name)
        state = connection.scalar(select(delivery.c.state).where(mine))
        if state is None:
            raise NotFound(f"There is no delivery {name!r}.")
        if state not in ("dead", "due"):
            raise Conflict(f"Only a delivery that is dead or waits can be tried again; this one is {state!r}.")
        now = tenant.database.now(connection)
        connection.execute(update(delivery).where(mine).values(state="due", due=now, attempts=0, ended=None))
        trail.note(tenant.database, connection, tenant.who, "delivery.retry", name, project=tenant.project)
        query = select(*(delivery.c[each] for each in Delivery.__dataclass_fields__)).where(mine)
        return Delivery(**connection.execute(query).mappings().one())


def _newest(query: Select[Any], table: Table, after: str | None) -> Select[Any]:
    """Order by time and id, newest first, from a mark on."""
    if after is not None:
        moment, _, name = after.partition("~")
        try:
            when = float(moment)
        except ValueError:
            raise NotFound("There is no such part of the list.") from None
        query = query.where((table.c.created < when) | ((table.c.created == when) & (table.c.id < name)))
    return query.order_by(table.c.created.desc(), table.c.id.desc())


def mark_of(row: Event | Delivery) -> str:
    """Return what a list goes on after."""
    return f"{row.created!r}~{row.id}"


def _event(row: Any) -> Event:
    return Event(**{**row, "body": json.loads(row["body"])})
