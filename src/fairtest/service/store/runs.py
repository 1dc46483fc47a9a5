"""Runs: made once for each occasion, and spent in the one transaction that stores what they answered."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update

from fairtest.exceptions import unknown_name
from fairtest.service.errors import BadRequest, Conflict, NotFound
from fairtest.service.pausing import pause
from fairtest.service.store.database import insert_new
from fairtest.service.store.findings import find_by_mark, find_or_add
from fairtest.service.store.identifiers import make_id
from fairtest.service.store.monitors import load_monitor
from fairtest.service.store.streams import load_stream
from fairtest.service.store.tables import measure, report, run, run_people
from fairtest.service.work.leases import update_held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from fairtest.service.store.database import Database
    from fairtest.service.store.monitors import Monitor
    from fairtest.service.store.tenant import Tenant
    from fairtest.service.work.leases import Lease

PARTS = ("question", "prior", "document", "json", "text", "html")


@dataclass(frozen=True)
class Measured:
    """What a run says of one context: how it is known, what to show of it, and its numbers."""

    fingerprint: str
    body: dict[str, Any]
    effect: float | None
    low: float | None
    high: float | None
    people: int
    p: float | None
    verdict: str


@dataclass(frozen=True)
class Answer:
    """What a run computed, not yet seen by anybody."""

    lo: int
    hi: int
    before: int
    """How many sets of the monitor were spent when this one was chosen."""
    level: float
    people: int
    hashes: bytes
    detail: dict[str, Any]
    reports: list[dict[str, str]]
    measures: list[Measured] = field(default_factory=list)


class AlreadySpent(Conflict):
    """Another run of the monitor was spent, or the lease was lost: the answer must not be seen."""


def request_run(tenant: Tenant, monitor_id: str, key: str, explain_by: Sequence[str] = ()) -> str:
    """Ask for a run of a monitor now; the same key gives the same run.

    Parameters
    ----------
    explain_by
        Attributes that may explain what was found: the next people are compared with others who have the same.
    """
    with tenant.writing() as connection:
        found = load_monitor(connection, tenant.project, monitor_id)
        own = (run.c.project == tenant.project) & (run.c.monitor == found.id) & (run.c.occasion == f"r:{key}")
        now = tenant.database.now(connection)
        row = run_row(tenant.project, found.id, found.version, f"r:{key}", now, now)
        if explain_by:
            _check_explaining(connection, found, explain_by)
            row["detail"] = json.dumps({"explain_by": list(explain_by)})
        insert_new(connection, run, [row])
        return str(connection.scalar(select(run.c.id).where(own)))


def _check_explaining(connection: Connection, found: Monitor, names: Sequence[str]) -> None:
    """Raise if a column cannot explain anything: it is none of the stream's, or a part of the question."""
    known = load_stream(connection, found.project, found.stream).declaration.names
    asked = [found.question["output"], found.question.get("ground_truth"), *found.question["protected"]]
    parts = {name for each in asked if each is not None for name in ([each] if isinstance(each, str) else each)}
    for name in names:
        if name not in known:
            raise BadRequest(str(unknown_name("column of the stream", name, known)))
        if name in parts:
            raise BadRequest(f"{name!r} is what the monitor asks about: it cannot explain itself. Name another column.")


def run_row(project: str, monitor_id: str, version: int, occasion: str, due: float, now: float) -> dict[str, Any]:
    """Return a run that is due."""
    return {
        "project": project, "id": make_id("run"), "monitor": monitor_id, "version": version, "occasion": occasion,
        "state": "due", "due": due, "created": now,
    }  # fmt: skip


def spend(database: Database, lease: Lease, answer: Answer) -> None:
    """Store what a run answered, which spends its people: all of it or nothing.

    Raises
    ------
    AlreadySpent
        If the lease is lost or another set of the monitor was spent meanwhile; nothing is stored then.
    """
    with database.writing_soon() as connection:
        now = database.now(connection)
        done = update_held(lease).values(
            state="done", lease_until=None, lo=answer.lo, hi=answer.hi, set_number=answer.before + 1,
            level=answer.level, people=answer.people, detail=json.dumps(answer.detail), ended=now, spent_at=now,
            reason=None,
        )  # fmt: skip
        if spent_sets(connection, lease.project, lease.row["monitor"])[0] != answer.before:
            raise AlreadySpent("Another set of this monitor was spent meanwhile.")
        if connection.execute(done).rowcount != 1:
            raise AlreadySpent("The lease of this run was lost.")
        place = {"project": lease.project, "run": lease.id}
        for number, each in enumerate(answer.reports, start=1):
            packed = {part: zlib.compress(each[part].encode()) for part in PARTS}
            connection.execute(insert(report).values(**place, place=number, headline=each["headline"], **packed))
        connection.execute(insert(run_people).values(**place, hashes=answer.hashes))
        for measured in answer.measures:
            _note_measure(connection, lease, measured, now)
        pause("spend.inside")
    pause("spend.committed")


def _note_measure(connection: Connection, lease: Lease, measured: Measured, now: float) -> None:
    """Store the numbers of a context; one that is reported for the first time becomes a finding that is followed."""
    monitor_id = lease.row["monitor"]
    known = find_by_mark(connection, lease.project, monitor_id, measured.fingerprint)
    if known is None:
        if measured.verdict != "reported":
            return
        body, mark = measured.body, measured.fingerprint
        known = find_or_add(connection, lease.project, monitor_id, mark, body, lease.id, now)
    numbers = {name: getattr(measured, name) for name in ("effect", "low", "high", "people", "p", "verdict")}
    connection.execute(insert(measure).values(project=lease.project, finding=known, run=lease.id, **numbers))


def end_run(database: Database, lease: Lease, state: str, reason: str, detail: dict[str, Any]) -> None:
    """End a run that spends nothing, such as one for which there are not enough people yet."""
    with database.writing_soon() as connection:
        now = database.now(connection)
        values = {"state": state, "reason": reason[:1000], "detail": json.dumps(detail), "ended": now}
        connection.execute(update_held(lease).values(**values, lease_until=None))


def cancel_run(tenant: Tenant, run_id: str) -> None:
    """Cancel a run, which is possible until it is spent."""
    with tenant.writing() as connection:
        own = (run.c.project == tenant.project) & (run.c.id == run_id)
        state = connection.scalar(select(run.c.state).where(own))
        if state is None:
            raise NotFound(f"There is no run {run_id!r}.")
        if state not in {"due", "running", "cancelled"}:
            raise Conflict(f"The run is {state}: it cannot be cancelled any more.")
        now = tenant.database.now(connection)
        # the token grows, so that a worker that is at it finds its lease lost
        connection.execute(update(run).where(own).values(state="cancelled", token=run.c.token + 1, ended=now))


def spent_sets(connection: Connection, project: str, monitor_id: str, since: float = 0.0) -> tuple[int, int]:
    """Return how many sets of a monitor are spent, and up to which batch; ``since`` counts only later ones."""
    own = (run.c.project == project) & (run.c.monitor == monitor_id) & (run.c.state == "done")
    row = connection.execute(select(func.count(), func.max(run.c.hi)).where(own, run.c.spent_at >= since)).one()
    return int(row[0]), int(row[1] or 0)


def tested_people(connection: Connection, project: str, monitor_id: str) -> list[bytes]:
    """Return the hashes of everybody whom a monitor has tested."""
    both = run_people.join(run, (run_people.c.project == run.c.project) & (run_people.c.run == run.c.id))
    own = (run.c.project == project) & (run.c.monitor == monitor_id)
    return [bytes(each) for each in connection.scalars(select(run_people.c.hashes).select_from(both).where(own))]


def find_report(tenant: Tenant, run_id: str, place: int, part: str) -> bytes:
    """Return a stored report in one of its formats, byte for byte."""
    own = (report.c.project == tenant.project) & (report.c.run == run_id) & (report.c.place == place)
    with tenant.reading() as connection:
        body = connection.scalar(select(report.c[part]).where(own))
    if body is None:
        raise NotFound(f"There is no report {place} of the run {run_id!r}.")
    return zlib.decompress(body)
