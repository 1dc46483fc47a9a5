"""Sealing, reading back, erasing: nothing acknowledged is lost or there twice; what is erased is in no byte."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import select, update

from fairtest.service import pausing
from fairtest.service.errors import StoreUnavailable
from fairtest.service.ingest.columns import read_declaration
from fairtest.service.ingest.reading import Sent, read_batch
from fairtest.service.operate.verify import verify
from fairtest.service.service import Service
from fairtest.service.store import sealing, tables
from fairtest.service.store.erasure import ask_to_erase, erase_stream, find_deletion, record_exists, sweep_orphans
from fairtest.service.store.log import Receipt, append_group
from fairtest.service.store.recent import RecentIdsOfStreams
from fairtest.service.store.sealing import live_segments, seal_stream, stage_body
from fairtest.service.store.streams import create_stream, find_stream
from fairtest.service.store.windows import read_window
from fairtest.service.work.jobs import do_job, plan_jobs, streams_to_seal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairtest.service.settings import Settings
    from fairtest.service.store.tenant import Tenant

COLUMNS = {"sex": "text", "granted": "boolean", "repaid": "boolean"}


@pytest.fixture(params=["folder", "database"])
def service(settings: Settings, request: pytest.FixtureRequest) -> Iterator[Service]:
    where = "database" if request.param == "database" else str(settings.data / "elsewhere")
    with Service(replace(settings, segments=where)) as made:
        yield made


@pytest.fixture
def stream(tenant: Tenant) -> str:
    create_stream(tenant, "loans", {"columns": COLUMNS, "person": "who"})
    return "loans"


def send(service: Service, tenant: Tenant, key: str, rows: list[dict[str, Any]], kind: str = "records") -> None:
    found = find_stream(tenant, "loans")
    sent = Sent(kind, key, "application/json", "", json.dumps({"records": rows}).encode())
    (receipt,) = append_group(service.database, [read_batch(sent, found, None)])
    assert not isinstance(receipt, Exception), receipt


def people(*numbers: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"r-{n}", "who": f"person-{n}", "sex": "fm"[n % 2], "granted": n % 3 == 0, **more} for n in numbers]


def read(service: Service, window: tuple[int, int] = (0, 99), kind: str = "records") -> list[str]:
    frame = read_window(service, "acme", "loans", (window[0], min(window[1], _seq(service))), kind)
    return frame["id"].to_list()


def _seq(service: Service) -> int:
    with service.database.reading() as connection:
        return int(connection.scalar(select(tables.stream.c.seq)) or 0)


def test_a_window_is_read_back_in_its_order(service: Service, tenant: Tenant, stream: str) -> None:
    send(service, tenant, "a", people(1, 2))
    send(service, tenant, "b", people(3))
    assert seal_stream(service, "acme", stream) == 2
    send(service, tenant, "c", people(4, 5))
    assert read(service) == ["r-1", "r-2", "r-3", "r-4", "r-5"]
    assert read(service, (1, 2)) == ["r-3"]
    assert verify(service) == []


def test_several_segments(service: Service, tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "MOST_ROWS", 3)
    for n in range(5):
        send(service, tenant, f"k{n}", people(2 * n, 2 * n + 1))
    seal_stream(service, "acme", stream)
    with service.database.reading() as connection:
        windows = [(each.lo, each.hi) for each in live_segments(connection, "acme", stream)]
    assert windows == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    assert len(read(service)) == 10
    assert verify(service) == []


def test_duplicates_are_left_out_and_counted(service: Service, tenant: Tenant, stream: str) -> None:
    send(service, tenant, "a", people(1, 2))
    seal_stream(service, "acme", stream)
    send(service, tenant, "b", people(2, 3))
    send(service, tenant, "c", people(3, 4))
    assert read(service) == ["r-1", "r-2", "r-3", "r-4"]
    with service.database.reading() as connection:
        counted = connection.scalars(select(tables.batch.c.duplicates).order_by(tables.batch.c.seq)).all()
    assert counted == [0, 1, 1]
    assert verify(service) == []


def test_segments_are_read_once_to_know_their_ids(
    service: Service, tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many segments there are, a seal reads the one before it, and those that have an id of its own."""
    read_places: list[str] = []
    read_body = service.segments.read

    def note(place: str) -> bytes:
        read_places.append(place)
        return read_body(place)

    monkeypatch.setattr(service.segments, "read", note)
    for n in range(6):
        send(service, tenant, f"k{n}", people(n))
        read_places.clear()
        seal_stream(service, "acme", stream)
        assert len(read_places) == min(n, 1)
    send(service, tenant, "again", people(2, 7))
    read_places.clear()
    seal_stream(service, "acme", stream)
    assert len(read_places) == 2  # the last one is new, and one has the id
    assert sorted(read(service)) == [f"r-{n}" for n in (0, 1, 2, 3, 4, 5, 7)]


@pytest.mark.parametrize("most", [0, 3, 10**6])
def test_what_does_not_fit_into_memory_is_looked_at_all_the_same(
    service: Service, tenant: Tenant, stream: str, most: int
) -> None:
    service.recent_ids = RecentIdsOfStreams(most)
    for n in range(4):
        send(service, tenant, f"k{n}", people(2 * n, 2 * n + 1))
        seal_stream(service, "acme", stream)
    send(service, tenant, "again", people(0, 3, 6, 9))
    seal_stream(service, "acme", stream)
    assert sorted(read(service)) == [f"r-{n}" for n in (0, 1, 2, 3, 4, 5, 6, 7, 9)]


def test_ids_that_were_erased_are_forgotten(service: Service, tenant: Tenant, stream: str) -> None:
    send(service, tenant, "a", people(1, 2))
    seal_stream(service, "acme", stream)
    send(service, tenant, "b", people(3))
    seal_stream(service, "acme", stream)
    ask_to_erase(service, tenant, stream, "record", ["r-1"])
    assert erase_stream(service, "acme", stream)
    send(service, tenant, "c", people(1, 2))
    seal_stream(service, "acme", stream)
    assert sorted(read(service)) == ["r-1", "r-2", "r-3"]  # the new record of that id is another one


def test_streams_that_are_sealed_seldom_are_forgotten_first() -> None:
    known = RecentIdsOfStreams(most=10)
    reads: list[str] = []

    def hashes(place: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        reads.append(place)
        return np.arange(4, dtype=np.int64) + 10 * int(place)

    sought = np.array([11, 50], dtype=np.int64)
    for name, place in (("a", "1"), ("b", "2"), ("c", "3")):
        known.find(("p", name), {place: 4}, sought, hashes)
    assert known.find(("p", "c"), {"3": 4}, sought, hashes) == []
    assert reads == ["1", "2", "3"]
    assert known.find(("p", "a"), {"1": 4}, sought, hashes) == ["1"]
    assert reads == ["1", "2", "3", "1"]


def test_whoever_stood_still_names_no_file_that_was_swept_away(
    service: Service, tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sealer stops for more than an hour between writing and naming; another one sweeps its file away."""
    send(service, tenant, "a", people(1, 2))
    stops: list[str] = []
    now = service.database.now

    def stand_still(point: str) -> None:
        if point == "seal.written" and not stops:
            stops.append(point)
            monkeypatch.setattr(service.database, "now", lambda connection: now(connection) + 4000)
            assert len(sweep_orphans(service, older_than=-5)) == 1

    monkeypatch.setattr(pausing, "hook", stand_still)
    assert seal_stream(service, "acme", stream) == 1
    assert stops
    assert read(service) == ["r-1", "r-2"]
    assert verify(service) == []


def test_a_job_is_tried_until_it_succeeds(
    service: Service, tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(service, tenant, "a", people(1, 2))
    now, later = service.database.now, 0.0

    def fail(*_: object) -> int:
        raise StoreUnavailable("The disk is away.")

    monkeypatch.setattr(service.database, "now", lambda connection: now(connection) + later)
    with monkeypatch.context() as broken:
        broken.setattr("fairtest.service.work.jobs.seal_stream", fail)
        for _ in range(5):
            later += 1000.0
            plan_jobs(service)
            with pytest.raises(StoreUnavailable):
                do_job(service)
            assert not do_job(service)  # not again at once
    later += 1000.0
    assert do_job(service)
    assert read(service) == ["r-1", "r-2"]
    with service.database.reading() as connection:
        assert len(live_segments(connection, "acme", stream)) == 1


def test_a_large_batch_that_waited_for_long_is_sent_again(
    service: Service, tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its body lasts beside the segments before it is named, and may have been swept away since."""
    monkeypatch.setattr(sealing, "LARGE", 1)
    found = find_stream(tenant, "loans")
    sent = Sent("records", "a", "application/json", "", json.dumps({"records": people(1, 2)}).encode())
    staged = stage_body(service, read_batch(sent, found, None))
    if staged.place is None:
        pytest.skip("Bodies are in the database, like segments.")
    (late,) = append_group(service.database, [replace(staged, staged=(staged.staged or 0) - 4000)])
    assert isinstance(late, StoreUnavailable)
    (receipt,) = append_group(service.database, [staged])
    assert isinstance(receipt, Receipt)
    assert seal_stream(service, "acme", stream) == 1
    assert read(service) == ["r-1", "r-2"]


def test_a_column_that_came_later(service: Service, tenant: Tenant, stream: str) -> None:
    from fairtest.service.store.streams import change_stream

    send(service, tenant, "a", people(1))
    seal_stream(service, "acme", stream)
    change_stream(tenant, stream, {"columns": {"colour": "text"}}, None)
    send(service, tenant, "b", people(2, colour="red"))
    frame = read_window(service, "acme", stream, (0, 2))
    assert frame["colour"].to_list() == [None, "red"]


def test_what_is_due_to_be_sealed(service: Service, tenant: Tenant, stream: str) -> None:
    assert streams_to_seal(service) == []
    send(service, tenant, "a", people(1))
    assert streams_to_seal(service) == []
    assert streams_to_seal(service, after=-1) == [("acme", stream)]
    with service.database.writing() as connection:
        connection.execute(update(tables.batch).values(received=0.0))
    assert plan_jobs(service) == 1
    assert plan_jobs(service) == 0
    assert do_job(service)
    assert not do_job(service)
    assert find_stream(tenant, stream).sealed == 1


@pytest.mark.parametrize("kind", ["record", "person"])
def test_erased_at_once_and_then_for_good(service: Service, tenant: Tenant, stream: str, kind: str) -> None:
    send(service, tenant, "a", people(1, 2))
    seal_stream(service, "acme", stream)
    send(service, tenant, "b", people(3))
    send(service, tenant, "t", [{"id": "r-1", "repaid": True}, {"id": "r-2", "repaid": False}], "truth")
    name = "r-1" if kind == "record" else "person-1"
    asked = ask_to_erase(service, tenant, stream, kind, [name])
    assert asked.state == "hidden"
    assert read(service) == ["r-2", "r-3"]
    assert not record_exists(service, tenant, stream, "r-1")
    assert record_exists(service, tenant, stream, "r-2")
    assert plan_jobs(service) == 1
    assert do_job(service)
    assert find_deletion(tenant, stream, asked.id).state == "erased"
    assert read(service) == ["r-2", "r-3"]
    assert read(service, kind="truth") == ["r-2"]
    assert plan_jobs(service) == 0
    assert verify(service) == []


def test_what_arrives_after_a_deletion_is_kept(service: Service, tenant: Tenant, stream: str) -> None:
    send(service, tenant, "a", people(1))
    ask_to_erase(service, tenant, stream, "person", ["person-1"])
    send(service, tenant, "b", [{"id": "r-9", "who": "person-1"}])
    erase_stream(service, "acme", stream)
    assert read(service) == ["r-9"]


def test_a_forgotten_person_is_in_no_byte(tmp_path: Path, tenant: Tenant, service: Service, stream: str) -> None:
    if not service.database.is_sqlite:
        pytest.skip("PostgreSQL keeps dead rows until its vacuum; the files of SQLite can be searched")
    send(service, tenant, "a", [{"id": "needle-one", "who": "needle-two", "sex": "needle-three"}, *people(2)])
    seal_stream(service, "acme", stream)
    ask_to_erase(service, tenant, stream, "person", ["needle-two"])
    erase_stream(service, "acme", stream)
    found = [path for path in tmp_path.rglob("*") if path.is_file() and b"needle" in path.read_bytes()]
    assert found == []


def test_files_that_nobody_names_are_swept(service: Service, tenant: Tenant, stream: str) -> None:
    send(service, tenant, "a", people(1))
    seal_stream(service, "acme", stream)
    service.segments.write("acme/loans/orphan.parquet", b"left by a crash")
    assert sweep_orphans(service) == []
    assert sweep_orphans(service, older_than=-5) == ["acme/loans/orphan.parquet"]
    assert verify(service) == []


class TestVerify:
    """Each invariant is seen to fail."""

    @pytest.fixture(autouse=True)
    def _filled(self, service: Service, tenant: Tenant, stream: str) -> None:
        send(service, tenant, "a", people(1, 2))
        seal_stream(service, "acme", stream)
        send(service, tenant, "b", people(3))
        assert verify(service) == []

    def test_a_lost_body(self, service: Service) -> None:
        with service.database.writing() as connection:
            connection.execute(tables.batch_body.delete())
        assert "neither sealed nor there" in verify(service)[0]

    def test_a_gap_in_the_log(self, service: Service) -> None:
        with service.database.writing() as connection:
            connection.execute(tables.batch.delete().where(tables.batch.c.seq == 2))
        assert "not numbered" in verify(service)[0]

    def test_a_segment_that_changed(self, service: Service) -> None:
        with service.database.reading() as connection:
            (each,) = live_segments(connection, "acme", "loans")
        service.segments.write(each.place, service.segments.read(each.place) + b" ")
        assert "has changed" in verify(service)[0]
        service.segments.remove(each.place)
        assert "is gone" in verify(service)[0]

    def test_records_that_are_there_twice(self, service: Service, tenant: Tenant) -> None:
        found = replace(find_stream(tenant, "loans"), sealed=1, seq=2)
        with service.database.reading() as connection:
            (each,) = live_segments(connection, "acme", "loans")
        import io

        again = pl.read_parquet(io.BytesIO(service.segments.read(each.place)))
        made = sealing.write_segment(service, found, "records", (1, 2), again)
        sealing._commit_seal(service, found, 2, [made], {}, time.time())
        assert any("there twice" in what for what in verify(service))

    def test_the_audit_trail(self, service: Service) -> None:
        with service.database.writing() as connection:
            connection.exec_driver_sql(
                "DROP TRIGGER audit_no_update" + ("" if service.database.is_sqlite else " ON audit")
            )
            connection.execute(update(tables.audit).where(tables.audit.c.number == 1).values(who="nobody"))
        assert "audit trail" in verify(service)[0]


def test_the_declaration_of_the_tests() -> None:
    assert read_declaration({"columns": COLUMNS, "person": "who"})["who"].required
