"""When runs are due: at times, after so many records, or on request. One run for each occasion, whoever plans it."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError
from sqlalchemy import select

from fairtest.service.errors import BadRequest
from fairtest.service.store.database import insert_new
from fairtest.service.store.runs import run_row
from fairtest.service.store.tables import monitor, run, stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairtest.service.service import Service


def check_schedule(schedule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schedule, or say what is wrong with it."""
    zone = schedule.get("timezone") or "UTC"
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise BadRequest(f"There is no time zone {zone!r}: name one such as 'Europe/Berlin'.") from None
    if (cron := schedule.get("cron")) is not None:
        try:
            CronSim(cron, dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
        except CronSimError as error:
            raise BadRequest(f"'cron' must be five fields such as '0 6 * * *'. Got {cron!r}: {error}.") from None
    return {"cron": cron, "timezone": zone, "after": schedule.get("after")}


def last_time(cron: str, zone: str, now: float) -> dt.datetime | None:
    """Return the last time at or before now that a schedule names, in UTC.

    Examples
    --------
    >>> str(last_time("0 6 * * *", "Europe/Berlin", dt.datetime(2026, 7, 1, 12, tzinfo=dt.UTC).timestamp()))
    '2026-07-01 04:00:00+00:00'
    """
    # one second on, because the search goes back from before its start
    start = dt.datetime.fromtimestamp(now + 1, ZoneInfo(zone))
    found = next(CronSim(cron, start, reverse=True), None)
    return None if found is None else found.astimezone(dt.UTC)


def plan_runs(service: Service) -> int:
    """Make the runs whose occasion has come; occasions that were missed become one, the latest."""
    both = monitor.join(stream, (monitor.c.project == stream.c.project) & (monitor.c.stream == stream.c.name))
    columns = (
        monitor.c.project, monitor.c.id, monitor.c.version, monitor.c.schedule, monitor.c.created,
        monitor.c.created_at_records, stream.c.records,
    )  # fmt: skip
    active = (~monitor.c.paused) & monitor.c.deleted.is_(None)
    with service.database.reading_soon() as connection:
        now = service.database.now(connection)
        rows = connection.execute(select(*columns).select_from(both).where(active)).all()
        due = [(row, occasion, moment) for row in rows for occasion, moment in _occasions(row, now)]
        known = set(connection.scalars(select(run.c.occasion).where(run.c.occasion.in_([o for _, o, _ in due]))))
    missing = [each for each in due if each[1] not in known or each[1].startswith("n:")]
    if not missing:
        return 0
    with service.database.writing_soon() as connection:
        made = [run_row(row.project, row.id, row.version, occasion, moment, now) for row, occasion, moment in missing]
        return insert_new(connection, run, made)


def _occasions(row: Any, now: float) -> Iterator[tuple[str, float]]:
    schedule = json.loads(row.schedule)
    if schedule.get("cron"):
        moment = last_time(schedule["cron"], schedule["timezone"], now)
        if moment is not None and moment.timestamp() > row.created:
            yield f"t:{row.id}:{moment.isoformat()}", moment.timestamp()
    if schedule.get("after"):
        times = (row.records - row.created_at_records) // schedule["after"]
        if times > 0:
            yield f"n:{times}", now
