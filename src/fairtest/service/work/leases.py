"""Work that is done once, by whoever holds the lease: rows of a table with the columns of ``tables._leased``.

A row is ``due``, then ``running`` under a lease that its worker renews. When a worker dies the lease runs out and
anybody takes the row again; each time its token grows, and whoever comes back late with an old token changes nothing.
So a jumped clock can cause work twice, and never an effect twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, or_, select, update

from fairtest.service.pausing import pause

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import ColumnElement, Connection, Table, Update

    from fairtest.service.store.database import Database

LEASE = 60.0
RENEW_EVERY = 15.0
ATTEMPTS = 3
BACK_OFF = (10.0, 60.0, 300.0)
"""Seconds until the next attempt, after the first, the second and every later failure."""


@dataclass(frozen=True)
class Lease:
    """A row that this worker holds."""

    table: Table
    project: str
    id: str
    token: int
    attempts: int
    row: Mapping[str, Any]


def claim(
    database: Database, table: Table, worker: str, passed_over: Callable[[float], ColumnElement[bool]] | None = None
) -> Lease | None:
    """Take the row that is due longest, or whose lease has run out; None where there is none.

    Parameters
    ----------
    passed_over
        Given the time, a condition for rows that must wait although they are due.
    """
    with database.writing_soon() as connection:
        now = database.now(connection)
        ready = or_(
            and_(table.c.state == "due", table.c.due <= now),
            and_(table.c.state == "running", table.c.lease_until < now),
        )
        wanted = ready if passed_over is None else and_(ready, ~passed_over(now))
        # SQLite leaves out the lock: there the transaction began with BEGIN IMMEDIATE
        chosen = select(table.c.id).where(wanted).order_by(table.c.due).limit(1).with_for_update(skip_locked=True)
        taken = (
            update(table)
            .where(table.c.id == chosen.scalar_subquery(), ready)
            .values(
                state="running",
                token=table.c.token + 1,
                attempts=table.c.attempts + 1,
                worker=worker,
                lease_until=now + LEASE,
            )
            .returning(table)
        )
        row = connection.execute(taken).mappings().first()
    pause("claim.committed")
    if row is None:
        return None
    return Lease(table, row["project"], row["id"], row["token"], row["attempts"], dict(row))


def update_held(lease: Lease) -> Update:
    """Return the update of a row that holds only while the lease is ours: it changes one row, or the lease is lost."""
    table = lease.table
    mine = (table.c.project == lease.project) & (table.c.id == lease.id)
    return update(table).where(mine, table.c.token == lease.token, table.c.state == "running")


def renew(database: Database, lease: Lease) -> bool:
    """Hold a row for longer; False if it was lost."""
    with database.writing_soon() as connection:
        now = database.now(connection)
        return connection.execute(update_held(lease).values(lease_until=now + LEASE)).rowcount == 1


def give_back(database: Database, lease: Lease) -> None:
    """Let somebody else take the row at once; this attempt does not count."""
    with database.writing_soon() as connection:
        attempts = lease.table.c.attempts - 1
        connection.execute(update_held(lease).values(state="due", lease_until=None, worker=None, attempts=attempts))


def put_off(connection: Connection, now: float, lease: Lease, reason: str, *, final: str = "failed") -> bool:
    """Note a failed attempt: the row is due again later, or ends after the last; returns whether it ended.

    With ``"due"`` as its ``final`` state it never ends.
    """
    ended = lease.attempts >= ATTEMPTS and final != "due"
    pause_for = BACK_OFF[min(lease.attempts, len(BACK_OFF)) - 1]
    values: dict[str, Any] = {"reason": reason[:1000], "lease_until": None, "worker": None}
    values |= {"state": final} if ended else {"state": "due", "due": now + pause_for}
    connection.execute(update_held(lease).values(**values))
    return ended
