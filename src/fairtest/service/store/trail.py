"""The audit trail: who did what. Each row has the hash of the row before, so that none can be taken out unnoticed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from fairtest.service.store.tables import audit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection

    from fairtest.service.store.database import Database
    from fairtest.service.store.tenant import Tenant

START = "0" * 64


@dataclass(frozen=True)
class Entry:
    """One row of the trail."""

    number: int
    project: str | None
    who: str
    what: str
    object: str
    moment: float
    previous: str
    hash: str


def note(
    database: Database, connection: Connection, who: str, what: str, subject: str, *, project: str | None = None
) -> None:
    """Write that somebody did something, in the transaction that does it."""
    if not database.is_sqlite:  # one row after the other; SQLite's writing transactions are so already
        connection.exec_driver_sql("LOCK TABLE audit IN SHARE ROW EXCLUSIVE MODE")
    last = connection.execute(select(audit.c.number, audit.c.hash).order_by(audit.c.number.desc()).limit(1)).first()
    number, previous = (last.number + 1, last.hash) if last else (1, START)
    moment = round(database.now(connection), 6)
    row = {"project": project, "who": who, "what": what, "object": subject[:255], "moment": moment}
    hashed = _hash(number, row, previous)
    connection.execute(insert(audit).values(number=number, previous=previous, hash=hashed, **row))


def list_entries(tenant: Tenant, before: int | None, limit: int) -> list[Entry]:
    """Return the newest rows of the project of a key, or of everything for a key of the whole service."""
    query = select(audit).order_by(audit.c.number.desc()).limit(limit)
    if not (tenant.whole_service and tenant.bound_to is None):
        query = query.where(audit.c.project == tenant.project)
    if before is not None:
        query = query.where(audit.c.number < before)
    with tenant.reading() as connection:
        return [Entry(**row._mapping) for row in connection.execute(query)]


def broken_links(connection: Connection) -> Iterator[int]:
    """Give the numbers of rows that do not follow from the row before."""
    previous, expected = START, 1
    for row in connection.execute(select(audit).order_by(audit.c.number)):
        content = {name: getattr(row, name) for name in ("project", "who", "what", "object", "moment")}
        if row.number != expected or row.previous != previous or row.hash != _hash(row.number, content, previous):
            yield row.number
        previous, expected = row.hash, row.number + 1


def _hash(number: int, row: Mapping[str, object], previous: str) -> str:
    text = json.dumps([number, row["project"], row["who"], row["what"], row["object"], row["moment"], previous])
    return hashlib.sha256(text.encode()).hexdigest()
