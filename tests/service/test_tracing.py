"""Traces: sent where the environment says, with routes in place of names, and not at all without being asked for."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from fairtest.exceptions import InputError
from fairtest.service.api.app import create_app
from fairtest.service.operate.tracing import WHERE, start_tracing
from fairtest.service.store.projects import create_key
from fairtest.service.work.worker import work_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.service.service import Service
    from fairtest.service.store.tenant import Tenant

CANARY = "canary"
PARENT = "0af7651916cd43dd8448eb211c80319c"


@contextmanager
def collecting() -> Iterator[tuple[str, list[bytes]]]:
    """Give the address of a collector on the loopback address, and what it was sent."""
    got: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*WHERE, "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(name, raising=False)


def test_nothing_is_traced_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert start_tracing("api") is None
    monkeypatch.setenv(WHERE[0], "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert start_tracing("api") is None


def test_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WHERE[0], "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(InputError, match=r"pip install 'fairtest\[telemetry\]', or unset it"):
        start_tracing("api")


def test_requests_and_work_are_spans_without_anything_personal(
    service: Service, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("opentelemetry.sdk", reason="needs fairtest[telemetry]")
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs fairtest[telemetry]")
    trace = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    with collecting() as (address, got):
        monkeypatch.setenv(WHERE[0], address)
        tracing = start_tracing("api")
        assert tracing is not None
        key, _ = create_key(service.database, "test", "acme", ["ingest", "read", "manage"])
        client = TestClient(create_app(service, tracing=tracing), headers={"Authorization": f"Bearer {key.text}"})
        client.post("/v1/streams", json={"name": CANARY, "columns": {}})
        headers = {"Idempotency-Key": CANARY, "traceparent": f"00-{PARENT}-b7ad6b7169203331-01", "User-Agent": CANARY}
        sent = client.post(f"/v1/streams/{CANARY}/records", json={"records": [{"id": CANARY}]}, headers=headers)
        assert sent.status_code == 201
        client.get(f"/v1/streams/{CANARY}?x={CANARY}")
        client.get(f"/{CANARY}")
        while work_once(service, tracing):
            pass
        tracing.close()
    spans = [
        span
        for body in got
        for of_resource in trace.ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in of_resource.scope_spans
        for span in scope.spans
    ]
    names = [span.name for span in spans]
    assert "POST /v1/streams/{stream}/records" in names
    assert "GET /v1/streams/{stream}" in names
    assert "GET (none)" in names
    assert all(CANARY.encode() not in body for body in got)
    (stored,) = [span for span in spans if span.name == "POST /v1/streams/{stream}/records"]
    assert stored.trace_id.hex() == PARENT
    assert key.text.encode() not in b"".join(got)
