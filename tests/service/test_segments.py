"""Stores of segments: one suite for a folder, both databases and a bucket; and large batches that go there first."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from samples import RECORDS
from sqlalchemy import func, select

from fairtest.exceptions import InputError
from fairtest.service.errors import StoreUnavailable
from fairtest.service.operate.verify import verify
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store import sealing, segments, tables
from fairtest.service.store.erasure import ask_to_erase, erase_stream, sweep_orphans
from fairtest.service.store.projects import create_key, create_project
from fairtest.service.store.segments import BucketSegments, DatabaseSegments, FolderSegments, SegmentStore
from fairtest.service.store.tenant import Tenant
from fairtest.service.store.windows import read_window

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.testclient import TestClient

STREAM = {"name": "loans", "columns": {"sex": "text", "age": "integer"}, "person": "who"}


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """An S3 of the tests' own, on the loopback address."""
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@contextmanager
def bucket_at(address: str, patch: pytest.MonkeyPatch) -> Iterator[str]:
    """Make an empty bucket and give its address; keys and endpoint are in the environment, as for any tool."""
    import boto3

    for name, value in {
        "AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1",
    }.items():  # fmt: skip
        patch.setenv(name, value)
    name = f"bucket-{secrets.token_hex(4)}"
    boto3.client("s3", endpoint_url=address, region_name="us-east-1").create_bucket(Bucket=name)
    yield f"s3://{name}/fairtest"


@pytest.fixture(params=["folder", "sqlite", "postgresql", "memory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SegmentStore]:
    kind = request.param
    if kind == "folder":
        yield FolderSegments(tmp_path / "segments")
    elif kind == "memory":
        from obstore.store import MemoryStore

        yield BucketSegments(MemoryStore())
    elif kind == "s3":
        with bucket_at(request.getfixturevalue("s3"), monkeypatch) as url:
            yield BucketSegments(segments._open_bucket(url))
    else:
        url = "" if kind == "sqlite" else request.getfixturevalue("postgres").create(f"test_{secrets.token_hex(6)}")
        with Service(Settings(tmp_path / "data", url, "database", disk_least=0)) as service:
            assert isinstance(service.segments, DatabaseSegments)
            yield service.segments


class TestContract:
    def test_what_is_written_is_read(self, store: SegmentStore) -> None:
        places = {"acme/loans/a.parquet": b"\x00\xff" * 5, "acme/other/b.parquet": b"", "other/loans/a": bytes(300_000)}
        for place, body in places.items():
            store.write(place, body)
        assert {place: store.read(place) for place in places} == places
        assert set(store.places(0.0)) == set(places)

    def test_writing_again_is_harmless(self, store: SegmentStore) -> None:
        for _ in range(2):
            store.write("acme/loans/a", b"same")
        assert store.read("acme/loans/a") == b"same"
        assert list(store.places(0.0)) == ["acme/loans/a"]

    def test_removed_once_or_twice(self, store: SegmentStore) -> None:
        store.write("acme/loans/a", b"x")
        store.write("acme/loans/b", b"y")
        for _ in range(2):
            store.remove("acme/loans/a")
        with pytest.raises(FileNotFoundError):
            store.read("acme/loans/a")
        assert store.read("acme/loans/b") == b"y"

    def test_young_ones_are_not_listed(self, store: SegmentStore) -> None:
        store.write("acme/loans/a", b"x")
        assert list(store.places(3600.0)) == []


def test_a_bucket_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    import datetime as dt

    monkeypatch.setattr(segments, "RETRIES", {"max_retries": 0, "retry_timeout": dt.timedelta(seconds=1)})
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    store = BucketSegments(segments._open_bucket("s3://none/fairtest"))
    for act in (lambda: store.write("a", b"x"), lambda: store.read("a"), lambda: list(store.places(0.0))):
        with pytest.raises(StoreUnavailable, match="bucket"):
            act()


def test_an_address_that_is_no_bucket() -> None:
    with pytest.raises(InputError, match="s3://"):
        segments._open_bucket("s3://")


@pytest.fixture(params=["folder", "s3"])
def roomy(
    request: pytest.FixtureRequest, tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Service, TestClient]]:
    """A service whose segments are not in the database; batches of five records are large ones here."""
    from starlette.testclient import TestClient

    from fairtest.service.api import intake
    from fairtest.service.api.app import create_app

    monkeypatch.setattr(sealing, "LARGE", len(RECORDS))
    monkeypatch.setattr(intake, "SMALL", 0)
    where = str(tmp_path / "segments")
    if request.param == "s3":
        where = bucket_at(request.getfixturevalue("s3"), monkeypatch).__enter__()
    with Service(Settings(tmp_path / "data", database_url, where, disk_least=0), writes=True) as service:
        create_project(service.database, "test", "acme")
        key, _ = create_key(service.database, "test", "acme", ["ingest", "manage", "read"])
        client = TestClient(create_app(service), headers={"Authorization": f"Bearer {key.text}"})
        assert client.post("/v1/streams", json=STREAM).status_code == 201
        yield service, client


def send(client: TestClient, key: str, rows: int) -> int:
    records = [{"id": f"{key}-{n}", "who": f"p-{key}-{n}", "sex": "fm"[n % 2], "age": n} for n in range(rows)]
    body = {"records": records}
    return client.post("/v1/streams/loans/records", json=body, headers={"Idempotency-Key": key}).status_code


def count(service: Service, table: object) -> int:
    with service.database.reading() as connection:
        return int(connection.scalar(select(func.count()).select_from(table)) or 0)  # type: ignore[arg-type]


def test_large_batches_do_not_go_through_the_database(roomy: tuple[Service, TestClient]) -> None:
    service, client = roomy
    assert [send(client, key, rows) for key, rows in (("a", 2), ("b", 7), ("b", 7), ("c", 5))] == [201, 201, 200, 201]
    assert (count(service, tables.batch), count(service, tables.batch_body)) == (3, 1)
    assert count(service, tables.segment) == 2
    assert verify(service) == []
    frame = read_window(service, "acme", "loans", (0, 3))
    assert frame["id"].to_list() == [f"{key}-{n}" for key, rows in (("a", 2), ("b", 7), ("c", 5)) for n in range(rows)]
    assert verify(service) == []
    tenant = Tenant(service.database, "test", "acme", frozenset({"manage"}))
    ask_to_erase(service, tenant, "loans", "person", ["p-b-3"])
    assert erase_stream(service, "acme", "loans")
    assert verify(service) == []
    # the repeated batch left a file that nobody names; those of the others went when they had been sealed
    assert len(sweep_orphans(service, 0.0)) == 1
    assert {place.rpartition("/")[2].partition("-")[0] for place in service.segments.places(0.0)} == {"records"}
    assert "b-3" not in read_window(service, "acme", "loans", (0, 3))["id"].to_list()


def test_a_file_that_cannot_be_written_is_a_503(
    roomy: tuple[Service, TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    service, client = roomy

    def fail(_place: str, _body: bytes) -> None:
        raise StoreUnavailable("No space left.")

    with monkeypatch.context() as patched:
        patched.setattr(service.segments, "write", fail)
        assert send(client, "a", 9) == 503
    assert count(service, tables.batch) == 0
    assert send(client, "a", 9) == 201
    assert verify(service) == []
