"""Destinations: where alerts go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from fairtest.service.alerts.addresses import read_url
from fairtest.service.alerts.mail import check_mail_address
from fairtest.service.errors import BadRequest, NotFound
from fairtest.service.store import trail
from fairtest.service.store.identifiers import make_id
from fairtest.service.store.tables import destination

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from fairtest.service.store.tenant import Tenant

KINDS = ("webhook", "email")


@dataclass(frozen=True)
class Destination:
    """Where alerts of a project go."""

    project: str
    id: str
    kind: str
    address: str
    label: str
    secret_version: int
    paused: bool
    created: float


def create_destination(tenant: Tenant, kind: str, address: str, label: str = "") -> Destination:
    """Make a destination."""
    if kind not in KINDS:
        raise BadRequest(f"The kind of a destination must be one of {', '.join(KINDS)}. Got {kind[:40]!r} instead.")
    _check_address(kind, address)
    made = make_id("dst")
    with tenant.writing() as connection:
        now = tenant.database.now(connection)
        row = {"project": tenant.project, "id": made, "kind": kind, "address": address, "label": label, "created": now}
        connection.execute(insert(destination).values(paused=False, **row))
        trail.note(tenant.database, connection, tenant.who, "destination.create", made, project=tenant.project)
        return load_destination(connection, tenant.project, made)


def list_destinations(tenant: Tenant, after: str | None, limit: int) -> list[Destination]:
    """Return destinations in the order of their ids."""
    query = select(destination).where(destination.c.project == tenant.project).order_by(destination.c.id).limit(limit)
    with tenant.reading() as connection:
        rows = connection.execute(query if after is None else query.where(destination.c.id > after))
        return [Destination(**row) for row in rows.mappings()]


def find_destination(tenant: Tenant, name: str) -> Destination:
    """Return a destination of the project."""
    with tenant.reading() as connection:
        return load_destination(connection, tenant.project, name)


def load_destination(connection: Connection, project: str, name: str) -> Destination:
    """Return a destination."""
    mine = (destination.c.project == project) & (destination.c.id == name)
    row = connection.execute(select(destination).where(mine)).mappings().first()
    if row is None:
        raise NotFound(f"There is no destination {name!r}.")
    return Destination(**row)


def change_destination(tenant: Tenant, name: str, given: Mapping[str, Any]) -> Destination:
    """Change the label or the address, or pause it: what is due then waits."""
    with tenant.writing() as connection:
        found = load_destination(connection, tenant.project, name)
        changes = {key: value for key, value in given.items() if value is not None}
        if "address" in changes:
            _check_address(found.kind, changes["address"])
        if changes:
            mine = (destination.c.project == tenant.project) & (destination.c.id == name)
            connection.execute(update(destination).where(mine).values(**changes))
            trail.note(tenant.database, connection, tenant.who, "destination.change", name, project=tenant.project)
        return load_destination(connection, tenant.project, name)


def rotate_secret(tenant: Tenant, name: str) -> Destination:
    """Give a webhook a new secret; messages are signed by the one before, too."""
    with tenant.writing() as connection:
        found = load_destination(connection, tenant.project, name)
        if found.kind != "webhook":
            raise BadRequest("Only webhooks have a secret; this destination is an e-mail address.")
        mine = (destination.c.project == tenant.project) & (destination.c.id == name)
        changed = update(destination).where(mine).values(secret_version=destination.c.secret_version + 1)
        connection.execute(changed)
        trail.note(tenant.database, connection, tenant.who, "destination.rotate", name, project=tenant.project)
        return load_destination(connection, tenant.project, name)


def delete_destination(tenant: Tenant, name: str) -> None:
    """Delete a destination with its deliveries."""
    with tenant.writing() as connection:
        load_destination(connection, tenant.project, name)
        mine = (destination.c.project == tenant.project) & (destination.c.id == name)
        connection.execute(delete(destination).where(mine))
        trail.note(tenant.database, connection, tenant.who, "destination.delete", name, project=tenant.project)


def _check_address(kind: str, address: str) -> None:
    if kind == "webhook":
        read_url(address)
    else:
        check_mail_address(address)
