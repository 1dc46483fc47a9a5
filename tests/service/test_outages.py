"""When the database is away: 503 and nothing acknowledged; when it is back, everything goes on without a restart."""

from __future__ import annotations

import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from benchmarks.postgres import QUICK, Postgres, find_binaries
from calibration.faults.disk import fill_the_disk
from calibration.faults.serving import prepare, records_of
from fairtest.service.api.app import create_app
from fairtest.service.errors import StoreUnavailable
from fairtest.service.ingest.reading import Sent, read_batch
from fairtest.service.operate.verify import verify
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store import database
from fairtest.service.store.log import Receipt, append_group
from fairtest.service.store.projects import create_key, create_project
from fairtest.service.store.streams import find_stream
from fairtest.service.store.tenant import Tenant
from fairtest.service.store.windows import read_window
from fairtest.service.work.worker import work_once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def open_client(service: Service) -> TestClient:
    create_project(service.database, "test", "acme")
    key, _ = create_key(service.database, "test", "acme", ["ingest", "manage", "read"])
    client = TestClient(create_app(service), headers={"Authorization": f"Bearer {key.text}"})
    assert client.post("/v1/streams", json={"name": "loans", "columns": {"sex": "text"}}).status_code == 201
    return client


def _settings(folder: Path, server: Postgres) -> Settings:
    return Settings(folder, server.create("store"), disk_least=0)


def send(client: TestClient, key: str) -> int:
    body = {"records": [{"id": key, "sex": "f"}]}
    return client.post("/v1/streams/loans/records", json=body, headers={"Idempotency-Key": key}).status_code


@pytest.mark.skipif(find_binaries() is None, reason="PostgreSQL is not installed")
def test_postgresql_that_restarts(tmp_path: Path) -> None:
    with Postgres(QUICK) as server, Service(_settings(tmp_path, server), writes=True) as service:
        client = open_client(service)
        assert send(client, "a") == 201
        server.stop("immediate")
        assert send(client, "b") == 503
        assert client.get("/v1/streams").status_code == 503
        assert client.get("/readyz").status_code == 503
        assert not work_once(service)
        server.start()
        answers = [send(client, "b") for _ in range(5)]
        assert answers[-1] == 200
        assert 201 in answers
        assert client.get("/readyz").status_code == 200
        assert client.get("/v1/streams/loans").json()["records"] == 2
        assert verify(service) == []


def test_sqlite_that_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "WAIT", 0.2)
    with Service(Settings(tmp_path, disk_least=0), writes=True) as service:
        client = open_client(service)
        assert send(client, "a") == 201
        with service.database.writing():
            assert send(client, "b") == 503
        assert send(client, "b") == 201
        assert verify(service) == []


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno
    import os

    from fairtest.service.store.sealing import seal_stream

    with Service(Settings(tmp_path, disk_least=0), writes=True) as service:
        client = open_client(service)
        assert send(client, "a") == 201

        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full)
            with pytest.raises(StoreUnavailable, match="No space left"):
                seal_stream(service, "acme", "loans")
        assert verify(service) == []
        assert not list((tmp_path / "segments").rglob("*.tmp"))
        assert seal_stream(service, "acme", "loans") == 1
        assert verify(service) == []


def test_a_disk_that_is_full_and_has_room_again(tmp_path: Path) -> None:
    settings = Settings(tmp_path, disk_least=0)
    key = prepare(settings)
    keys, statuses = fill_the_disk(settings, key)
    assert set(statuses) == {201, 503}
    assert statuses[-3:] == [503, 503, 201]
    with Service(settings) as service:
        assert verify(service) == []
        ids = set(read_window(service, "acme", "loans", (0, 10**6), columns=())["id"])
    assert ids == {each["id"] for batch in keys for each in records_of(batch, 200)}


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    if find_binaries() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with Postgres(QUICK) as made:
        yield made


@pytest.fixture
def on_postgresql(server: Postgres, tmp_path: Path) -> Iterator[tuple[Service, TestClient]]:
    url = server.create(f"test_{secrets.token_hex(6)}")
    with Service(Settings(tmp_path, url, disk_least=0), writes=True) as service:
        yield service, open_client(service)
        assert verify(service) == []


def name_of(service: Service) -> str:
    return str(service.database.url.database)


def test_backends_that_are_ended(server: Postgres, on_postgresql: tuple[Service, TestClient]) -> None:
    service, client = on_postgresql
    assert send(client, "a") == 201
    for number in range(3):
        server.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name_of(service)}'")
        answers = [send(client, f"b-{number}") for _ in range(5)]
        assert set(answers) <= {200, 201, 503}
        assert answers[-1] == 200
    assert client.get("/v1/streams/loans").json()["records"] == 4


def test_a_database_that_can_only_be_read(server: Postgres, on_postgresql: tuple[Service, TestClient]) -> None:
    service, client = on_postgresql
    assert send(client, "a") == 201
    server.execute(f"ALTER DATABASE {name_of(service)} SET default_transaction_read_only = on")
    service.database.engine.dispose()
    assert send(client, "b") == 503
    assert client.post("/v1/streams", json={"name": "other", "columns": {"sex": "text"}}).status_code == 503
    assert client.get("/v1/streams/loans").json()["records"] == 1
    server.execute(f"ALTER DATABASE {name_of(service)} SET default_transaction_read_only = off")
    service.database.engine.dispose()
    assert send(client, "b") == 201


def test_no_connection_is_free(server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "POOL", 1)
    monkeypatch.setattr(database, "WAIT", 0.3)
    with Service(Settings(tmp_path, server.create("few"), disk_least=0), writes=True) as service:
        client = open_client(service)
        assert send(client, "a") == 201
        with service.database.reading(), service.database.reading():
            assert send(client, "b") == 503
            assert client.get("/v1/streams").status_code == 503
        assert send(client, "b") == 201
        assert verify(service) == []


def test_a_deadlock_is_503_and_harmless(on_postgresql: tuple[Service, TestClient]) -> None:
    service, client = on_postgresql
    assert client.post("/v1/streams", json={"name": "zoo", "columns": {"sex": "text"}}).status_code == 201
    assert service.writer is not None
    tenant = Tenant(service.database, "test", "acme", frozenset({"manage"}))
    group = [
        read_batch(
            Sent("records", "k", "application/json", "", b'{"records": [{"id": "1"}]}'), find_stream(tenant, name), None
        )
        for name in ("loans", "zoo")
    ]
    lock = "UPDATE stream SET seq = seq WHERE name = '{}'"
    with service.database.engine.connect() as rival:
        rival.exec_driver_sql(lock.format("zoo"))
        with ThreadPoolExecutor(1) as pool:
            both = pool.submit(append_group, service.database, group)  # takes loans, waits for zoo
            time.sleep(0.3)
            with suppress(OperationalError):  # one of the two is ended by PostgreSQL
                rival.exec_driver_sql(lock.format("loans"))
            rival.rollback()
            with suppress(StoreUnavailable):
                both.result()
    receipts = append_group(service.database, group)
    assert [receipt.seq for receipt in receipts if isinstance(receipt, Receipt)] == [1, 1]
