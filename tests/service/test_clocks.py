"""Clocks that differ, jump and change with the season, and many who plan at once: one run for each occasion."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select, update

from fairtest.service.service import Service
from fairtest.service.store import tables
from fairtest.service.store.monitors import create_monitor
from fairtest.service.store.runs import end_run
from fairtest.service.store.streams import create_stream
from fairtest.service.work.leases import LEASE, claim, renew, update_held
from fairtest.service.work.runs import _another_runs
from fairtest.service.work.schedule import last_time, plan_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from fairtest.service.settings import Settings
    from fairtest.service.store.tenant import Tenant

HOUR = 3600.0
QUESTION = {"kind": "testing", "protected": ["sex"], "output": "granted"}


@pytest.fixture
def stream(tenant: Tenant) -> str:
    create_stream(tenant, "loans", {"columns": {"sex": "text", "granted": "boolean"}})
    return "loans"


def make(tenant: Tenant, name: str, cron: str | None = None) -> str:
    return create_monitor(tenant, name, "loans", QUESTION, {"cron": cron, "timezone": "UTC"}, []).id


def occasions(service: Service) -> Counter[tuple[str, str]]:
    with service.database.reading() as connection:
        return Counter((row.monitor, row.occasion) for row in connection.execute(select(tables.run)))


@contextmanager
def clock_of(service: Service, ahead: float) -> Iterator[None]:
    """Let the clock that a service goes by be wrong by some seconds, whatever its database says."""
    right = service.database.now

    def wrong(connection: Connection) -> float:
        return right(connection) + ahead

    service.database.now = wrong  # type: ignore[method-assign]
    try:
        yield
    finally:
        service.database.now = right  # type: ignore[method-assign]


@pytest.mark.usefixtures("stream")
class TestClocksOfWorkers:
    @pytest.fixture
    def due(self, service: Service, tenant: Tenant) -> str:
        monitor = make(tenant, "m", "0 * * * *")
        with service.database.writing() as connection:
            connection.execute(update(tables.monitor).values(created=0.0))
        assert plan_runs(service) == 1
        return monitor

    def test_a_clock_an_hour_ahead_works_twice_and_changes_nothing_twice(self, service: Service, due: str) -> None:
        slow = claim(service.database, tables.run, "right")
        assert slow is not None
        with clock_of(service, HOUR):
            quick = claim(service.database, tables.run, "ahead")
            assert quick is not None
        assert (quick.id, quick.token) == (slow.id, slow.token + 1)
        assert not renew(service.database, slow)
        end_run(service.database, slow, "skipped", "slow", {})
        with service.database.reading() as connection:
            assert connection.scalar(select(tables.run.c.state)) == "running"
        end_run(service.database, quick, "skipped", "quick", {})
        with service.database.reading() as connection:
            assert connection.execute(select(tables.run.c.state, tables.run.c.reason)).one() == ("skipped", "quick")

    def test_a_clock_an_hour_behind_waits(self, service: Service, due: str) -> None:
        with service.database.writing() as connection:
            connection.execute(update(tables.run).values(due=service.database.now(connection)))
        with clock_of(service, -HOUR):
            assert claim(service.database, tables.run, "behind") is None
        assert claim(service.database, tables.run, "right") is not None

    def test_a_clock_that_steps_back_keeps_the_lease(self, service: Service, due: str) -> None:
        lease = claim(service.database, tables.run, "w")
        assert lease is not None
        with clock_of(service, -HOUR):
            assert renew(service.database, lease)
            assert claim(service.database, tables.run, "other") is None
        # the lease was renewed by a clock that was behind: others may take it, and who had it finds out
        assert claim(service.database, tables.run, "other") is not None
        with service.database.writing() as connection:
            assert connection.execute(update_held(lease).values(state="skipped")).rowcount == 0

    def test_one_run_for_each_occasion(self, service: Service, due: str) -> None:
        for ahead in (0.0, HOUR, -HOUR, 0.0, HOUR, LEASE, -LEASE, 2 * HOUR, 0.0):
            with clock_of(service, ahead):
                plan_runs(service)
        found = occasions(service)
        assert set(found.values()) == {1}
        assert len(found) == 4  # this hour, the last one, and the two that were planned too early


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"])
@pytest.mark.parametrize("cron", ["30 2 * * *", "0 0 * * *", "15 1 * * *"])
def test_one_occasion_a_day_in_every_season(zone: str, cron: str) -> None:
    there = ZoneInfo(zone)
    start = dt.datetime(2026, 1, 1, 12, tzinfo=there)
    changes = [
        start + dt.timedelta(days=day)
        for day in range(366)
        if (start + dt.timedelta(days=day)).utcoffset() != (start + dt.timedelta(days=day - 1)).utcoffset()
    ]
    assert len(changes) == 2
    for noon in changes:  # looked at every ten minutes from two days before to two days after
        moment, end = noon.timestamp() - 48 * HOUR, noon.timestamp() + 48 * HOUR
        seen = set()
        while moment < end:
            found = last_time(cron, zone, moment)
            assert found is not None
            assert found.timestamp() <= moment
            seen.add(found)
            moment += 600.0
        days = Counter(each.astimezone(there).date() for each in seen)
        assert set(days.values()) == {1}, days
        assert len(days) in {4, 5}


def test_leap_days() -> None:
    seen = {
        last_time("0 0 29 2 *", "UTC", dt.datetime(year, 12, 31, tzinfo=dt.UTC).timestamp())
        for year in range(2024, 2034)
    }
    assert sorted(each.year for each in seen if each is not None) == [2024, 2028, 2032]


@pytest.mark.usefixtures("stream")
def test_two_hundred_runs_ten_tickers_and_two_workers(service: Service, tenant: Tenant, settings: Settings) -> None:
    for number in range(200):
        make(tenant, f"m{number}", "0 0 1 * *")
    with service.database.writing() as connection:
        connection.execute(update(tables.monitor).values(created=0.0))
    together = threading.Barrier(12)
    done: list[str] = []

    def tick() -> None:
        together.wait()
        plan_runs(service)

    def work(name: str) -> None:
        with Service(settings) as own:  # connections of its own, as another process has
            together.wait()
            idle = 0
            while len(done) < 200 and idle < 200:
                lease = claim(own.database, tables.run, name, _another_runs)
                if lease is None:
                    idle += 1
                    time.sleep(0.05)
                    continue
                end_run(own.database, lease, "skipped", name, {})
                done.append(lease.id)

    threads = [threading.Thread(target=tick) for _ in range(10)]
    threads += [threading.Thread(target=work, args=(f"w{n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 200
    assert len(set(done)) == 200
    assert len(occasions(service)) == 200
    with service.database.reading() as connection:
        rows = connection.execute(select(tables.run.c.state, tables.run.c.attempts, tables.run.c.reason)).all()
    assert {(row.state, row.attempts) for row in rows} == {("skipped", 1)}
