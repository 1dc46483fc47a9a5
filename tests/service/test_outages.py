"""When the database is away: 503 and nothing acknowledged; when it is back, everything goes on without a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from benchmarks.postgres import QUICK, Postgres, find_binaries
from fairtest.service.api.app import create_app
from fairtest.service.operate.verify import verify
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store import database
from fairtest.service.store.projects import create_key, create_project
from fairtest.service.work.worker import work_once

if TYPE_CHECKING:
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

    from fairtest.service.errors import StoreUnavailable
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
