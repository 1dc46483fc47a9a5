"""Requests that come to no answer by themselves: the client goes away, the service stops, the database is lost.

A client is told to come back, with 503, or is gone; 500 is kept for faults, in answers and in the log.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from running import served
from starlette.testclient import TestClient

from fairtest.service.api.app import create_app
from fairtest.service.store.projects import create_key

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from fairtest.service.service import Service
    from fairtest.service.store.tenant import Tenant

RECORDS = "/v1/streams/loans/records"


@pytest.fixture
def key(service: Service, tenant: Tenant) -> str:
    made, _ = create_key(service.database, "test", "acme", ["ingest", "manage", "read"])
    client = TestClient(create_app(service), headers={"Authorization": f"Bearer {made.text}"})
    assert client.post("/v1/streams", json={"name": "loans", "columns": {"sex": "text"}}).status_code == 201
    return made.text


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A store that takes until the test is over; the event says that a batch has come to it."""
    from fairtest.service.store import writer

    store, reached, go_on = writer.append_group, threading.Event(), threading.Event()

    def wait_first(*given: Any) -> Any:
        reached.set()
        go_on.wait(30)
        return store(*given)

    monkeypatch.setattr(writer, "append_group", wait_first)
    yield reached
    go_on.set()


def scope_of(path: str, key: str) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json", "idempotency-key": "a"}
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("198.51.100.7", 1), "server": ("testserver", 80),
    }  # fmt: skip


def lines_of(logged: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in logged.getvalue().splitlines()]


@pytest.mark.parametrize("path", [RECORDS, "/v1/streams"])
def test_a_client_that_goes_away(service: Service, key: str, logged: io.StringIO, path: str) -> None:
    app = create_app(service)
    parts = iter([{"type": "http.request", "body": b'{"rec', "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(parts)

    async def send(_: Any) -> None:
        """Take what nobody reads."""

    asyncio.run(app(scope_of(path, key), receive, send))
    (line,) = lines_of(logged)
    assert (line["event"], line["status"], line["level"]) == ("the client went away", 499, "info")
    gone = app.state.meters.batches.labels("gone")._value.get()
    assert gone == (path == RECORDS)
    assert app.state.meters.batches.labels("failed")._value.get() == 0


def test_a_request_that_is_cancelled(service: Service, key: str, stuck: threading.Event, logged: io.StringIO) -> None:
    sent: list[Any] = []
    body = {"type": "http.request", "body": b'{"records": [{"id": "1"}]}', "more_body": False}

    async def receive() -> Any:
        return body

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask_and_cancel() -> None:
        task = asyncio.create_task(create_app(service)(scope_of(RECORDS, key), receive, send))
        while not stuck.is_set():
            await asyncio.sleep(0.01)
        task.cancel()
        await task

    asyncio.run(ask_and_cancel())
    start, end = sent
    assert start["status"] == 503
    assert dict(start["headers"])[b"retry-after"] == b"2"
    assert json.loads(end["body"])["detail"] == "The service is stopping."
    (line,) = lines_of(logged)
    assert (line["status"], line["level"], line["error"]) == (503, "warning", "StoreUnavailable")


def ask(address: str, key: str, body: bytes, length: int) -> socket.socket:
    """Send a request whose body may be shorter than it says."""
    connection = socket.create_connection(("127.0.0.1", urlsplit(address).port or 0), timeout=30)
    head = f"POST {RECORDS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nIdempotency-Key: a\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    connection.sendall(head.encode() + body)
    return connection


@pytest.mark.parametrize("whole", [True, False])
def test_a_service_that_stops(
    service: Service, key: str, stuck: threading.Event, logged: io.StringIO, whole: bool
) -> None:
    """Whether the batch waits to be stored or its sender has stopped in the middle: come back, and never a fault."""
    body = b'{"records": [{"id": "1", "sex": "f"}]}'
    with served(service, patience=1) as address:
        connection = ask(address, key, body if whole else body[:9], len(body))
        assert stuck.wait(10) if whole else not time.sleep(0.5)
    with connection:
        answer = connection.recv(65536).decode()
    assert answer.startswith("HTTP/1.1 503"), answer
    assert "\r\nretry-after: 2\r\n" in answer
    statuses = [line["status"] for line in lines_of(logged) if "status" in line]
    assert statuses == [503]


def test_pages_say_when_to_come_back(service: Service, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from fairtest.service.errors import StoreUnavailable
    from fairtest.service.pages import sessions

    def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(sessions, "find_visitor", away)
    visitor = TestClient(create_app(service), base_url="https://testserver", cookies={"__Host-fairtest": "x"})
    answer = visitor.get("/")
    assert (answer.status_code, answer.headers.get("retry-after")) == (503, "2")


def test_a_connection_that_was_lost_in_the_pool(service: Service, key: str) -> None:
    if service.database.is_sqlite:
        pytest.skip("SQLite has no connection to lose")
    client = TestClient(create_app(service), headers={"Authorization": f"Bearer {key}"})
    with service.database.reading() as connection:
        driver: Any = connection.connection.driver_connection
    driver.close()  # the pool does not know
    records = {"records": [{"id": "1", "sex": "f"}]}
    answers = [client.post(RECORDS, json=records, headers={"Idempotency-Key": "a"}).status_code for _ in range(5)]
    assert set(answers) <= {200, 201, 503}
    assert answers[-1] == 200
