"""Metrics, logs and stopping: what operators see of a service, and that nothing personal is in it."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from dashboards import furnish
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient
from test_access import ROUTES

from fairtest.service.api import entrance
from fairtest.service.api.app import create_app
from fairtest.service.operate.logs import ALLOWED
from fairtest.service.store.projects import create_key, create_project

if TYPE_CHECKING:
    import io
    from collections.abc import Callable

    import pytest

    from fairtest.service.service import Service
    from fairtest.service.store.tenant import Tenant

DEPLOY = Path(__file__).parents[2] / "deploy"
PROMISED = {
    "records_total", "batch_seconds_bucket", "writer_queue", "unsealed_bytes", "segment_bytes", "runs_total",
    "run_seconds_sum", "run_lag_seconds", "test_people_waiting", "error_left", "findings_open", "finding_effect",
    "deliveries_total", "tombstones_pending", "log_lines_dropped_total",
}  # fmt: skip
CANARY = "canary"
LOOPBACK = ("127.0.0.1", 5000)


def read(text: str) -> dict[str, list[Any]]:
    """Return the samples of what Prometheus would read, by name."""
    found: dict[str, list[Any]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample)
    return found


def fill(client: TestClient, tenant: Tenant, service: Service) -> None:
    """Leave something behind in every number."""
    furnish(tenant)
    body = {"name": "sent", "columns": {"sex": "text"}, "record_id": "id"}
    assert client.post("/v1/streams", json=body).status_code == 201
    for key in ("a", "a", "b"):
        rows = [{"id": "1", "sex": "f"}, {"id": "2", "sex": "m"}]
        answer = client.post("/v1/streams/sent/records", json={"records": rows}, headers={"Idempotency-Key": key})
        assert answer.status_code in {200, 201}
    bad = {"records": [{"id": "3", "height": 1}]}
    assert client.post("/v1/streams/sent/records", json=bad, headers={"Idempotency-Key": "c"}).status_code == 422
    from fairtest.service.store.sealing import seal_stream

    seal_stream(service, "acme", "sent")
    client.post("/v1/streams/sent/deletions", json={"record_ids": ["1"]})
    client.post("/v1/monitors/loans-by-sex/runs")


class TestMetrics:
    def test_every_number_is_there_and_right(self, client: TestClient, tenant: Tenant, service: Service) -> None:
        fill(client, tenant, service)
        key, _ = create_key(service.database, "test", None, ["metrics"])
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {key.text}"})
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        found = read(answer.text)
        assert {f"fairtest_{name}" for name in PROMISED} <= set(found)

        def value(name: str, **labels: str) -> float:
            (sample,) = [s for s in found[f"fairtest_{name}"] if labels.items() <= s.labels.items()]
            return float(sample.value)

        assert value("records_total", stream="sent", result="accepted") == 2
        assert value("records_total", stream="sent", result="duplicate") == 2
        assert value("batches_total", result="stored") == 2
        assert value("batches_total", result="replayed") == 1
        assert value("batches_total", result="rejected") == 1
        assert value("batch_seconds_count") == 4
        assert value("tombstones_pending") == 1
        assert value("findings_open", monitor="loans-by-sex") == 2
        assert value("deliveries_total", state="dead") == 1
        assert value("runs_total", state="done") == 13
        assert value("runs_waiting", state="due") == 4
        assert value("segment_bytes", stream="sent") > 0
        assert value("unsealed_bytes", stream="sent") == 0
        assert value("finding_effect", finding="fnd_0", bound="low") < value(
            "finding_effect", finding="fnd_0", bound="high"
        )
        assert value("error_left", monitor="loans-by-sex") == 0.05
        assert value("run_lag_seconds") >= 0

    def test_how_long_runs_took(self, client: TestClient, tenant: Tenant, service: Service) -> None:
        furnish(tenant)
        from sqlalchemy import update

        from fairtest.service.store.tables import run

        with service.database.writing() as connection:
            some = run.c.id == "run_2_0"  # skipped: those that are done cannot be changed
            connection.execute(update(run).where(some).values(detail=json.dumps({"seconds": 2.5})))
        key, _ = create_key(service.database, "test", None, ["metrics"])
        found = read(client.get("/metrics", headers={"Authorization": f"Bearer {key.text}"}).text)
        assert [s.value for s in found["fairtest_run_seconds_sum"]] == [2.5]
        assert [s.value for s in found["fairtest_run_seconds_count"]] == [1.0]

    def test_a_key_of_a_project_sees_its_project(self, client: TestClient, tenant: Tenant, service: Service) -> None:
        fill(client, tenant, service)
        create_project(service.database, "test", "rival")
        key, _ = create_key(service.database, "test", "rival", ["metrics"])
        found = read(client.get("/metrics", headers={"Authorization": f"Bearer {key.text}"}).text)
        assert {s.labels.get("project") for samples in found.values() for s in samples} <= {"rival"}
        assert "process_resident_memory_bytes" not in found

    def test_who_may_read_them(self, service: Service, tenant: Tenant) -> None:
        app = create_app(service)
        here = TestClient(app, client=LOOPBACK)
        assert here.get("/metrics").status_code == 200
        for name in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
            assert here.get("/metrics", headers={name: "198.51.100.1"}).status_code == 401, name
        assert TestClient(app, client=("198.51.100.1", 5000)).get("/metrics").status_code == 401
        assert TestClient(create_app(service, behind_proxy=True), client=LOOPBACK).get("/metrics").status_code == 401
        for scope, status in (("read", 403), ("manage", 403), ("ingest", 403), ("metrics", 200)):
            key, _ = create_key(service.database, "test", "acme", [scope])
            # a key decides, also on this machine
            assert here.get("/metrics", headers={"Authorization": f"Bearer {key.text}"}).status_code == status

    def test_the_dashboard_and_the_rules_ask_for_numbers_that_exist(
        self, client: TestClient, tenant: Tenant, service: Service
    ) -> None:
        fill(client, tenant, service)
        found = read(TestClient(create_app(service), client=LOOPBACK).get("/metrics").text)
        labels = {name: set().union(*(s.labels for s in samples)) for name, samples in found.items()}
        dashboard = json.loads((DEPLOY / "grafana" / "fairtest.json").read_text("utf-8"))
        rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text("utf-8"))
        asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        asked += [each["query"] for each in dashboard["templating"]["list"] if each["type"] == "query"]
        asked += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
        used: set[str] = set()
        for expression in asked:
            for name, matchers in re.findall(r"\b((?:fairtest|process)_\w+)(?:\{([^}]*)\})?", expression):
                assert name in found, f"{name} in {expression}"
                used.add(name)
                wanted = set(re.findall(r"(\w+)\s*=", matchers or ""))
                assert wanted <= labels[name] | {"job"}, f"{wanted - labels[name]} in {expression}"
        promised = {f"fairtest_{name}" for name in PROMISED}
        assert promised <= used, f"no panel shows {promised - used}"
        assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])

    def test_panels_do_not_overlap(self) -> None:
        dashboard = json.loads((DEPLOY / "grafana" / "fairtest.json").read_text("utf-8"))
        taken: set[tuple[int, int]] = set()
        for panel in dashboard["panels"]:
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}  # fmt: skip
            assert place["x"] + place["w"] <= 24
            assert not cells & taken, panel["title"]
            taken |= cells


class TestLogs:
    def test_lines_are_json_with_fields_that_are_allowed(self, client: TestClient, logged: io.StringIO) -> None:
        trace = "0af7651916cd43dd8448eb211c80319c"
        client.get("/v1/streams", headers={"traceparent": f"00-{trace}-b7ad6b7169203331-01"})
        (line,) = [json.loads(each) for each in logged.getvalue().splitlines()]
        assert set(line) <= ALLOWED
        assert (line["event"], line["method"], line["route"], line["status"]) == ("request", "GET", "/v1/streams", 200)
        assert line["trace"] == trace
        assert line["key"] == client.headers["Authorization"].split("_")[1]

    def test_nothing_personal_is_in_logs_or_metrics(
        self,
        client_of: Callable[..., TestClient],
        service: Service,
        logged: io.StringIO,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Every route gets canaries wherever a client can put something; then every line is searched for them."""
        client, no_key = client_of(), client_of()
        no_key.headers["Authorization"] = f"Bearer {CANARY}-key"
        client.headers |= {"User-Agent": CANARY, "Referer": f"https://x/{CANARY}", "Cookie": f"a={CANARY}"}
        body = {
            "name": "loans",
            "columns": {"sex": {"kind": "text", "levels": ["f"]}, "age": "integer"},
            "person": "who",
        }
        assert client.post("/v1/streams", json=body).status_code == 201
        rows = [{"id": f"{CANARY}-id", "who": f"{CANARY}-person", "sex": "f", "age": 3}]
        headers = {"Idempotency-Key": f"{CANARY}-batch"}
        send = "/v1/streams/loans/records"
        assert client.post(send, json={"records": rows}, headers=headers).status_code == 201
        for wrong in ({**rows[0], "sex": CANARY}, {**rows[0], CANARY: 1}, {**rows[0], "age": CANARY}, CANARY):
            answer = client.post(send, json={"records": [wrong]}, headers={"Idempotency-Key": "x"})
            assert answer.status_code == 422
        client.post(send, content=CANARY.encode(), headers={**headers, "Content-Type": "text/csv"})
        client.post(f"/v1/streams/loans/deletions?x={CANARY}", json={"person_ids": [f"{CANARY}-person"]})
        client.get(f"/v1/streams/loans/records/{CANARY}-id/exists")
        ids = dict.fromkeys(
            ("destination", "delivery", "stream", "key", "deletion", "record", "monitor", "run_id", "finding_id",
             "key_id", "project"), CANARY,
        ) | {"number": "1"}  # fmt: skip
        for sender in (client, no_key):
            for method, path, _, given in ROUTES:
                sender.request(
                    method, path.format(**ids) + f"?after={CANARY}", json=given or {"x": CANARY}, headers=headers
                )
        client.get(f"/{CANARY}")
        client.request(CANARY.upper(), "/v1/streams")

        def burst(*_: object, **__: object) -> None:
            raise ValueError(f"could not convert {CANARY} to a number")

        monkeypatch.setattr("fairtest.service.api.streams.streams.list_streams", burst)
        assert client.get("/v1/streams").status_code == 500
        logging.getLogger("uvicorn.error").error("Exception in %s", CANARY, exc_info=ValueError(CANARY))
        logging.getLogger("sqlalchemy").error(f"a row: {CANARY}")
        logging.getLogger("fairtest.worker").warning("failed: %s", CANARY, extra={"record": CANARY, "project": "acme"})
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn(f"a value: {CANARY}", UserWarning, stacklevel=1)
        metrics = TestClient(create_app(service), client=LOOPBACK).get("/metrics").text
        text = logged.getvalue()
        assert len(text.splitlines()) > 20
        assert CANARY not in text.lower()
        assert CANARY not in metrics.lower()
        secret = client.headers["Authorization"].removeprefix("Bearer ").rpartition("_")[2]
        assert secret not in text
        assert all(set(json.loads(line)) <= ALLOWED for line in text.splitlines())

    def test_a_fault_says_where_it_was(
        self, client: TestClient, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def burst(*_: object, **__: object) -> None:
            raise ZeroDivisionError("Ms Smith")

        monkeypatch.setattr("fairtest.service.api.streams.streams.list_streams", burst)
        try:
            client.get("/v1/streams")
            raise ZeroDivisionError("Ms Smith")
        except ZeroDivisionError:
            logging.getLogger("fairtest.worker").exception("a piece of work failed")
        line = json.loads(logged.getvalue().splitlines()[-1])
        assert (line["error"], line["event"]) == ("ZeroDivisionError", "a piece of work failed")
        assert re.search(r"test_watching_the_service\.py:\d+", line["where"])

    def test_batches_that_were_stored_are_not_logged_one_by_one(
        self, client: TestClient, logged: io.StringIO, tenant: Tenant
    ) -> None:
        client.post("/v1/streams", json={"name": "s", "columns": {}})
        for n in range(3):
            client.post(
                "/v1/streams/s/records", json={"records": [{"id": str(n)}]}, headers={"Idempotency-Key": str(n)}
            )
        assert len(logged.getvalue().splitlines()) == 1
        client.post("/v1/streams/s/records", json={"records": [{"x": 1}]}, headers={"Idempotency-Key": "bad"})
        line = json.loads(logged.getvalue().splitlines()[-1])
        assert (line["status"], line["route"]) == (422, "/v1/streams/{stream}/records")

    def test_nobody_fills_the_disk_with_refusals(
        self, service: Service, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stranger = TestClient(create_app(service), client=("198.51.100.7", 1))
        for _ in range(200):
            assert stranger.get("/v1/streams").status_code == 401
        assert 50 <= len(logged.getvalue().splitlines()) <= 150
        assert '"198.51.100.0"' in logged.getvalue()


def test_every_answer_has_the_headers_of_a_careful_service(client: TestClient, service: Service) -> None:
    for path in ("/v1/streams", "/healthz", "/v1/none", "/metrics", "/signin"):
        answer = client.get(path)
        assert answer.headers["x-content-type-options"] == "nosniff", path
        assert "no-" in answer.headers["cache-control"], path
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"], path
        assert answer.headers["referrer-policy"] in {"no-referrer", "same-origin"}, path
        assert "strict-transport-security" not in answer.headers
        assert "server" not in answer.headers
    secure = TestClient(create_app(service), base_url="https://testserver")
    assert secure.get("/healthz").headers["strict-transport-security"] == "max-age=31536000; includeSubDomains"


def test_the_route_of_what_is_answered_early_is_named(service: Service) -> None:
    app = create_app(service)
    for path in app.openapi()["paths"]:
        if entrance.BATCH.fullmatch(path.replace("{", "").replace("}", "")):
            assert entrance.name_route({"path": path.replace("{stream}", "x").replace("{monitor}", "x")}) == path
    assert entrance.name_route({"path": "/nothing/here"}) == "(none)"
