"""What pages show, read from the store of one project."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from fairtest.service.errors import NotFound
from fairtest.service.store.standings import (
    NOTHING_YET,
    FollowedContext,
    Standing,
    followed_by_fingerprint,
    load_standing,
)
from fairtest.service.store.tables import audit, batch, finding, measure, monitor, question, report, run
from fairtest.service.store.watch_steps import UNABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection, Row

    from fairtest.service.store.tenant import Tenant

DAY = 86400
DAYS_SHOWN = 30
CONFIRMED = {"reported", "significant"}
"""The verdicts that say that a run confirmed a link."""


@dataclass(frozen=True)
class Measure:
    """An effect in one run."""

    run: str
    ended: float | None
    effect: float | None
    low: float | None
    high: float | None
    people: int
    verdict: str

    @property
    def confirmed(self) -> bool:
        """Whether the run confirmed it; otherwise its dot is hollow."""
        return self.verdict in CONFIRMED


@dataclass(frozen=True)
class FindingView:
    """A context that is followed, with its trend."""

    id: str
    monitor: str
    state: str
    note: str
    since_run: str
    created: float
    sentence: str
    body: dict[str, Any]
    measures: tuple[Measure, ...] = ()
    followed: FollowedContext | None = None
    """What the watch has measured of it; None if it does not follow it."""

    @property
    def last(self) -> Measure | None:
        """The newest measure."""
        return self.measures[-1] if self.measures else None

    @property
    def strength(self) -> float:
        """How far the newest effect is from none; a gap that the watch has found comes first."""
        if self.followed is not None and self.followed.state == "alarmed":
            return 1.0 + abs(float(self.followed.body["gap"] or 0.0))
        return abs(self.last.effect) if self.last is not None and self.last.effect is not None else 0.0


@dataclass(frozen=True)
class MonitorView:
    """A monitor in a line of the overview."""

    id: str
    name: str
    stream: str
    paused: bool
    version: int
    created: float
    arrivals: tuple[int, ...]
    open_findings: int
    tests: int
    last_run: Row[Any] | None
    next_due: float | None
    standing: Standing = NOTHING_YET

    @property
    def state(self) -> str:
        """What is the case, in a few words."""
        if self.paused:
            return "paused"
        if self.open_findings:
            return f"{self.open_findings} open finding{'' if self.open_findings == 1 else 's'}"
        if self.last_run is not None and self.last_run.state == "failed":
            return "the last run failed"
        if self.standing.trouble is not None:
            return "the watch has failed and will be tried again"
        return self.standing.words.removesuffix(".")

    @property
    def runs(self) -> str:
        """What has become of the runs, in a few words."""
        if self.last_run is None:
            return "no report yet"
        if self.last_run.state == "skipped":
            return str(self.last_run.reason or "not enough people yet")
        return f"{self.tests} test{'' if self.tests == 1 else 's'} so far"

    @property
    def needs_eyes(self) -> bool:
        """Whether somebody should look."""
        failed = self.last_run is not None and self.last_run.state == "failed"
        unable = self.standing.phase == UNABLE or self.standing.trouble is not None
        return not self.paused and (self.open_findings > 0 or failed or unable)


def list_monitors(tenant: Tenant) -> list[MonitorView]:
    """Return the monitors that are not deleted, those that need eyes first."""
    with tenant.reading() as connection:
        rows = connection.execute(
            select(monitor)
            .where(monitor.c.project == tenant.project, monitor.c.deleted.is_(None))
            .order_by(monitor.c.name)
        ).all()
        now = tenant.database.now(connection)
        days = _arrivals(connection, tenant.project, now, {row.stream for row in rows})
        views = [_monitor_view(connection, row, days.get(row.stream, ())) for row in rows]
    return sorted(views, key=lambda view: (not view.needs_eyes, view.name))


def find_monitor(tenant: Tenant, name: str) -> MonitorView:
    """Return a monitor."""
    with tenant.reading() as connection:
        row = connection.execute(
            select(monitor).where(monitor.c.project == tenant.project, monitor.c.id == name)
        ).first()
        if row is None:
            raise NotFound(f"There is no monitor {name!r}.")
        now = tenant.database.now(connection)
        days = _arrivals(connection, tenant.project, now, {row.stream})
        return _monitor_view(connection, row, days.get(row.stream, ()))


def list_questions(tenant: Tenant, monitor_id: str) -> list[tuple[int, float, dict[str, Any]]]:
    """Return what a monitor asks and has asked, the newest first."""
    mine = (question.c.project == tenant.project) & (question.c.monitor == monitor_id)
    with tenant.reading() as connection:
        rows = connection.execute(select(question).where(mine).order_by(question.c.version.desc()))
        return [(row.version, row.created, json.loads(row.body)) for row in rows]


def list_runs(tenant: Tenant, monitor_id: str, before: float | None, limit: int) -> Sequence[Row[Any]]:
    """Return runs of a monitor, the newest first."""
    query = select(run).where(run.c.project == tenant.project, run.c.monitor == monitor_id)
    if before is not None:
        query = query.where(run.c.created < before)
    with tenant.reading() as connection:
        return connection.execute(query.order_by(run.c.created.desc(), run.c.id).limit(limit)).all()


def sum_spent(tenant: Tenant, monitor_id: str) -> float:
    """Return how much of its error rate the runs of a monitor have spent."""
    own = (run.c.project == tenant.project) & (run.c.monitor == monitor_id) & (run.c.state == "done")
    with tenant.reading() as connection:
        return float(connection.scalar(select(func.coalesce(func.sum(run.c.level), 0.0)).where(own)) or 0.0)


def find_run(tenant: Tenant, name: str) -> Row[Any]:
    """Return a run."""
    with tenant.reading() as connection:
        row = connection.execute(select(run).where(run.c.project == tenant.project, run.c.id == name)).first()
    if row is None:
        raise NotFound(f"There is no run {name!r}.")
    return row


def list_reports(tenant: Tenant, run_id: str) -> list[tuple[int, str]]:
    """Return the places and headlines of a run's reports."""
    mine = (report.c.project == tenant.project) & (report.c.run == run_id)
    with tenant.reading() as connection:
        rows = connection.execute(select(report.c.place, report.c.headline).where(mine).order_by(report.c.place)).all()
    return [(row.place, _headline(row.headline)) for row in rows]


def report_page(tenant: Tenant, run_id: str, place: int) -> str:
    """Return the page of a stored report."""
    mine = (report.c.project == tenant.project) & (report.c.run == run_id) & (report.c.place == place)
    with tenant.reading() as connection:
        packed = connection.scalar(select(report.c.html).where(mine))
    if packed is None:
        raise NotFound(f"The run {run_id!r} has no report {place}.")
    return zlib.decompress(packed).decode()


def list_findings(tenant: Tenant, *, of_monitor: str | None = None, limit: int = 200) -> list[FindingView]:
    """Return findings with their trends: the open ones first, the strongest of them on top."""
    query = select(finding).where(finding.c.project == tenant.project)
    if of_monitor is not None:
        query = query.where(finding.c.monitor == of_monitor)
    order = {"open": 0, "acknowledged": 1, "closed": 2}
    with tenant.reading() as connection:
        rows = connection.execute(query.order_by(finding.c.created.desc()).limit(limit)).all()
        trends = _measures(connection, tenant.project, [row.id for row in rows])
        lines = followed_by_fingerprint(connection, tenant.project, {row.monitor for row in rows})
    views = [_finding_view(row, trends.get(row.id, ()), lines.get((row.monitor, row.fingerprint))) for row in rows]
    return sorted(views, key=lambda view: (order[view.state], -view.strength))


def find_finding(tenant: Tenant, name: str) -> FindingView:
    """Return a finding with its trend."""
    with tenant.reading() as connection:
        row = connection.execute(
            select(finding).where(finding.c.project == tenant.project, finding.c.id == name)
        ).first()
        if row is None:
            raise NotFound(f"There is no finding {name!r}.")
        line = followed_by_fingerprint(connection, tenant.project, {row.monitor}).get((row.monitor, row.fingerprint))
        return _finding_view(row, _measures(connection, tenant.project, [name]).get(name, ()), line)


def arrivals_of(tenant: Tenant, stream_name: str) -> tuple[int, ...]:
    """Return the records that arrived on each of the last days, today last."""
    with tenant.reading() as connection:
        days = _arrivals(connection, tenant.project, tenant.database.now(connection), {stream_name})
    return days.get(stream_name, (0,) * DAYS_SHOWN)


def list_batches(tenant: Tenant, stream_name: str, limit: int = 20) -> Sequence[Row[Any]]:
    """Return the newest batches of a stream."""
    mine = (batch.c.project == tenant.project) & (batch.c.stream == stream_name)
    with tenant.reading() as connection:
        return connection.execute(select(batch).where(mine).order_by(batch.c.seq.desc()).limit(limit)).all()


def list_audit(tenant: Tenant, before: int | None, limit: int) -> Sequence[Row[Any]]:
    """Return who did what, the newest first."""
    query = select(audit).where(audit.c.project == tenant.project)
    if before is not None:
        query = query.where(audit.c.number < before)
    with tenant.reading() as connection:
        return connection.execute(query.order_by(audit.c.number.desc()).limit(limit)).all()


def _arrivals(connection: Connection, project: str, now: float, streams: Iterable[str]) -> dict[str, tuple[int, ...]]:
    today = int(now // DAY)
    number = func.floor(batch.c.received / DAY)
    query = (
        select(batch.c.stream, number.label("day"), func.sum(batch.c.rows).label("rows"))
        .where(
            batch.c.project == project,
            batch.c.stream.in_(list(streams)),
            batch.c.kind == "records",
            batch.c.received >= (today - DAYS_SHOWN + 1) * DAY,
        )
        .group_by(batch.c.stream, number)
    )
    found: dict[str, list[int]] = {}
    for row in connection.execute(query):
        days = found.setdefault(row.stream, [0] * DAYS_SHOWN)
        place = int(row.day) - today + DAYS_SHOWN - 1
        if 0 <= place < DAYS_SHOWN:
            days[place] = int(row.rows)
    return {name: tuple(days) for name, days in found.items()}


def _monitor_view(connection: Connection, row: Row[Any], arrivals: tuple[int, ...]) -> MonitorView:
    runs = (run.c.project == row.project) & (run.c.monitor == row.id)
    ended = runs & run.c.state.in_(("done", "skipped", "failed"))
    last = connection.execute(select(run).where(ended).order_by(run.c.created.desc()).limit(1)).first()
    waiting = connection.scalar(select(func.min(run.c.due)).where(runs, run.c.state == "due"))
    tests = connection.scalar(select(func.count()).select_from(run).where(runs, run.c.state == "done"))
    mine = (finding.c.project == row.project) & (finding.c.monitor == row.id) & (finding.c.state == "open")
    opened = connection.scalar(select(func.count()).select_from(finding).where(mine))
    return MonitorView(
        row.id, row.name, row.stream, bool(row.paused), row.version, row.created, arrivals or (0,) * DAYS_SHOWN,
        int(opened or 0), int(tests or 0), last, waiting, load_standing(connection, row.project, row.id),
    )  # fmt: skip


def _measures(connection: Connection, project: str, findings: Sequence[str]) -> dict[str, tuple[Measure, ...]]:
    both = measure.join(run, (measure.c.project == run.c.project) & (measure.c.run == run.c.id))
    query = (
        select(measure, run.c.ended)
        .select_from(both)
        .where(measure.c.project == project, measure.c.finding.in_(list(findings)))
        .order_by(run.c.ended)
    )
    found: dict[str, list[Measure]] = {}
    for row in connection.execute(query):
        one = Measure(row.run, row.ended, row.effect, row.low, row.high, row.people, row.verdict)
        found.setdefault(row.finding, []).append(one)
    return {name: tuple(measures) for name, measures in found.items()}


def _finding_view(row: Row[Any], measures: tuple[Measure, ...], followed: FollowedContext | None) -> FindingView:
    body = json.loads(row.body)
    sentence = str(body.get("sentence") or _association(body))
    return FindingView(
        row.id, row.monitor, row.state, row.note, row.since_run, row.created, sentence, body, measures, followed
    )  # fmt: skip


def _association(body: dict[str, Any]) -> str:
    """Return what a finding is about, where a report had no sentence of its own for it."""
    words = body.get("words", "everyone")
    where = "Over everybody" if words == "everyone" else f"Where {words}"
    return f"{where}, {body.get('output', 'the output')} goes with {body.get('protected', 'the attribute')}."


def _headline(text: str) -> str:
    """Return the first answer of a report; of an older one, what was asked and how much was found."""
    found = json.loads(text)
    if found.get("answers"):
        return f"{found['answers'][0]}."
    many = int(found.get("reported", 0))
    by = f" given {found['explained_by']}" if found.get("explained_by") else ""
    answer = "nothing was found" if not many else f"{many} group{'' if many == 1 else 's'} reported"
    title = str(found.get("title", ""))
    return f"{title[:1].upper()}{title[1:]}{by}: {answer}"
