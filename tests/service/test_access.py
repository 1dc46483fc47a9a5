"""Keys, scopes and projects: every route of the interface with every kind of key, own, foreign and missing ids."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from fairtest.service.api.app import create_app
from fairtest.service.guard.secrets import id_of_key, make_key
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store.projects import create_key, create_project, revoke_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.testclient import TestClient

STREAM = {"name": "loans", "columns": {"sex": "text", "granted": "boolean"}, "person": "who"}
MONITOR = {"name": "m", "stream": "loans", "protected": ["sex"], "output": "granted"}
RECORD = {"id": "1", "who": "p", "sex": "f", "granted": True}
KEYED = {"Idempotency-Key": "k"}

# route, what it needs, and an example of a body
ROUTES: list[tuple[str, str, str, Any]] = [
    ("GET", "/v1/streams", "read", None),
    ("POST", "/v1/streams", "manage", {**STREAM, "name": "another"}),
    ("GET", "/v1/streams/{stream}", "read", None),
    ("PATCH", "/v1/streams/{stream}", "manage", {"retention_days": 30}),
    ("GET", "/v1/schema/{stream}", "read", None),
    ("POST", "/v1/streams/{stream}/records", "ingest", {"records": [RECORD]}),
    ("POST", "/v1/streams/{stream}/truths", "ingest", {"truths": [{"id": "1", "granted": False}]}),
    ("GET", "/v1/streams/{stream}/sampling", "ingest", None),
    ("GET", "/v1/streams/{stream}/batches/{key}", "ingest", None),
    ("POST", "/v1/streams/{stream}/deletions", "manage", {"record_ids": ["x"]}),
    ("GET", "/v1/streams/{stream}/deletions/{deletion}", "manage", None),
    ("GET", "/v1/streams/{stream}/records/{record}/exists", "manage", None),
    ("GET", "/v1/monitors", "read", None),
    ("POST", "/v1/monitors", "manage", {**MONITOR, "name": "other"}),
    ("POST", "/v1/plans", "read", {"stream": "loans", "protected": ["sex"], "output": "granted"}),
    ("GET", "/v1/monitors/{monitor}", "read", None),
    ("PATCH", "/v1/monitors/{monitor}", "manage", {"paused": False}),
    ("GET", "/v1/monitors/{monitor}/versions", "read", None),
    ("GET", "/v1/monitors/{monitor}/watch", "read", None),
    ("POST", "/v1/monitors/{monitor}/records", "ingest", {"records": [{**RECORD, "id": "by-monitor"}]}),
    ("POST", "/v1/monitors/{monitor}/runs", "manage", None),
    ("GET", "/v1/runs", "read", None),
    ("GET", "/v1/runs/{run_id}", "read", None),
    ("GET", "/v1/runs/{run_id}/reports/{number}", "read", None),
    ("DELETE", "/v1/runs/{run_id}", "manage", None),
    ("GET", "/v1/findings", "read", None),
    ("GET", "/v1/findings/{finding_id}/measures", "read", None),
    ("PATCH", "/v1/findings/{finding_id}", "manage", {"note": "seen"}),
    ("GET", "/v1/events", "read", None),
    ("GET", "/v1/deliveries", "read", None),
    ("POST", "/v1/deliveries/{delivery}/retry", "manage", None),
    ("GET", "/v1/destinations", "read", None),
    ("POST", "/v1/destinations", "manage", {"kind": "email", "address": "ops@example.com"}),
    ("GET", "/v1/destinations/{destination}", "read", None),
    ("PATCH", "/v1/destinations/{destination}", "manage", {"label": "ops"}),
    ("POST", "/v1/destinations/{destination}/test", "manage", None),
    ("POST", "/v1/destinations/{destination}/rotate", "manage", None),
    ("DELETE", "/v1/destinations/{destination}", "manage", None),
    ("GET", "/v1/keys", "manage", None),
    ("POST", "/v1/keys", "manage", {"scopes": ["read"]}),
    ("DELETE", "/v1/keys/{key_id}", "manage", None),
    ("DELETE", "/v1/monitors/{monitor}", "manage", None),
    ("DELETE", "/v1/streams/{stream}", "manage", None),
    ("GET", "/v1/projects", "service", None),
    ("POST", "/v1/projects", "service", {"name": "third"}),
    ("GET", "/v1/projects/{project}", "service", None),
    ("DELETE", "/v1/projects/{project}", "service", None),
    ("GET", "/v1/audit", "manage", None),
    ("GET", "/v1/me", "any", None),
    ("GET", "/metrics", "metrics", None),
]
OPEN = {"/healthz", "/readyz", "/problems/{kind}"}


@pytest.fixture
def database_url() -> str:
    """The two databases do not differ in who may do what: SQLite is enough here."""
    return ""


def fill(client: TestClient) -> dict[str, str]:
    """Make one of everything in the project of a client, and return the ids."""
    assert client.post("/v1/streams", json=STREAM).status_code == 201
    assert client.post("/v1/streams/loans/records", json={"records": [RECORD]}, headers=KEYED).status_code == 201
    monitor = client.post("/v1/monitors", json=MONITOR).json()["id"]
    run = client.post(f"/v1/monitors/{monitor}/runs").json()["id"]
    deletion = client.post("/v1/streams/loans/deletions", json={"record_ids": ["none"]}).json()["id"]
    key = client.post("/v1/keys", json={"scopes": ["read"]}).json()["id"]
    email = {"kind": "email", "address": "ops@example.com"}  # without a mail server, a test of it says so
    destination = client.post("/v1/destinations", json=email).json()["id"]
    return {
        "destination": destination, "delivery": "msg_none",
        "stream": "loans", "key": "k", "deletion": deletion, "record": "1", "monitor": monitor, "run_id": run,
        "number": "1", "finding_id": "fnd_none", "key_id": key, "project": "acme",
    }  # fmt: skip


def call(client: TestClient, method: str, path: str, ids: dict[str, str], body: Any) -> int:
    url = path.format(**ids)
    headers = {"Idempotency-Key": f"{method}-{url}"[:200]}
    answer = client.request(method, url, json=body, headers=headers)
    assert answer.status_code < 500, (method, url, answer.text)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json", (method, url)
    return answer.status_code


def test_every_route_is_in_the_table(service: Service) -> None:
    paths = create_app(service).openapi()["paths"]
    made = {(method.upper(), path) for path, methods in paths.items() for method in methods if path not in OPEN}
    assert made == {(method, path) for method, path, _, _ in ROUTES}


def test_every_route_with_every_scope(client_of: Callable[..., TestClient], service: Service) -> None:
    ids = fill(client_of())
    keys = {scope: client_of(scope) for scope in ("ingest", "read", "manage", "metrics")}
    nobody = client_of("read")
    nobody.headers.pop("Authorization")
    stranger = client_of("read")
    stranger.headers["Authorization"] = f"Bearer {make_key().text}"
    for method, path, needed, body in ROUTES:
        for scope, client in keys.items():
            allowed = needed in {"any", scope} or (needed == "read" and scope == "manage")
            if allowed and method == "DELETE" and path != "/v1/runs/{run_id}":
                continue  # it would be gone for those that follow
            status = call(client, method, path, ids, body)
            assert (status not in {401, 403}) == allowed, (method, path, scope, status)
        assert call(nobody, method, path, ids, body) == 401, (method, path)
        assert call(stranger, method, path, ids, body) == 401, (method, path)


def test_no_route_shows_another_project(client_of: Callable[..., TestClient], service: Service) -> None:
    create_project(service.database, "test", "rival")
    own, rival = client_of(), client_of(project="rival")
    theirs = fill(own)
    for method, path, needed, body in ROUTES:
        if "{" not in path or needed == "service":
            continue
        assert call(rival, method, path, theirs, body) == 404, (method, path)
    fill(rival)
    for method, path, needed, body in ROUTES:
        foreign = {"monitor", "run_id", "deletion", "key_id", "finding_id", "destination", "delivery"}
        if any("{" + name + "}" in path for name in foreign) and needed != "service":
            assert call(rival, method, path, theirs, body) == 404, (method, path)
    listed = [item["id"] for item in rival.get("/v1/monitors").json()["items"]]
    assert theirs["monitor"] not in listed
    assert {item["project"] for item in rival.get("/v1/keys").json()["items"]} == {"rival"}
    assert own.get("/v1/streams/loans").json()["records"] == 1
    rival.headers["FairTest-Project"] = "acme"
    assert rival.get("/v1/streams/loans").status_code == 404


def test_missing_ids(client: TestClient) -> None:
    missing = dict.fromkeys(fill(client), "missing") | {"number": "9", "stream": "missing"}
    for method, path, needed, body in ROUTES:
        if "{" in path and needed != "service":
            assert call(client, method, path, missing, body) == 404, (method, path)


def test_a_key_of_the_whole_service(client_of: Callable[..., TestClient]) -> None:
    service_key = client_of("manage", project=None)
    assert service_key.post("/v1/projects", json={"name": "third"}).status_code == 201
    assert service_key.post("/v1/projects", json={"name": "third"}).status_code == 409
    assert service_key.get("/v1/streams").status_code == 422  # it must name a project
    service_key.headers["FairTest-Project"] = "third"
    assert service_key.post("/v1/streams", json=STREAM).status_code == 201
    made = service_key.post("/v1/keys", json={"scopes": ["ingest"], "label": "web"}).json()
    assert (made["project"], id_of_key(made["secret"])) == ("third", made["id"])
    assert service_key.delete("/v1/projects/third").status_code == 422
    assert service_key.delete("/v1/projects/third?confirm=third").status_code == 204
    assert service_key.get("/v1/projects/third").status_code == 404


def test_revoked_at_once_even_where_it_is_remembered(client_of: Callable[..., TestClient], service: Service) -> None:
    client = client_of()
    client.post("/v1/streams", json=STREAM)
    send = "/v1/streams/loans/records"
    assert client.post(send, json={"records": [RECORD]}, headers=KEYED).status_code == 201
    key_id = client.headers["Authorization"].split("_")[1]
    revoke_key(service.database, "test", key_id, "acme")
    later = client.post(send, json={"records": [{**RECORD, "id": "2"}]}, headers={"Idempotency-Key": "b"})
    assert later.status_code == 401
    assert client.get("/v1/streams").status_code == 401


def test_expired_keys(client: TestClient, service: Service) -> None:
    old, _ = create_key(service.database, "test", "acme", ["read"], expires=time.time() - 1)
    client.headers["Authorization"] = f"Bearer {old.text}"
    assert client.get("/v1/streams").status_code == 401


def test_a_typing_error_is_told_apart() -> None:
    made = make_key().text
    assert id_of_key(made) is not None
    for place in range(4, len(made)):
        other = "0" if made[place] != "0" else "1"
        assert id_of_key(made[:place] + other + made[place + 1 :]) is None
    assert id_of_key(made + "x") is None
    assert id_of_key("ftk_é_" + "x" * 49) is None


def test_lists_come_in_parts(client: TestClient) -> None:
    for n in range(5):
        client.post("/v1/streams", json={**STREAM, "name": f"s{n}"})
    seen, url = [], "/v1/streams?limit=2"
    while url:
        answer = client.get(url)
        seen += [item["name"] for item in answer.json()["items"]]
        link = answer.headers.get("link", "")
        url = link.split(">")[0].removeprefix("<")
    assert seen == [f"s{n}" for n in range(5)]


def test_overload_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    from starlette.testclient import TestClient as Client

    with Service(Settings(tmp_path, disk_least=1 << 62), writes=True) as service:
        create_project(service.database, "test", "acme")
        key, _ = create_key(service.database, "test", "acme", ["ingest", "manage", "read"])
        client = Client(create_app(service), headers={"Authorization": f"Bearer {key.text}"})
        client.post("/v1/streams", json=STREAM)
        answer = client.post("/v1/streams/loans/records", json={"records": [RECORD]}, headers=KEYED)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        assert client.get("/v1/streams/loans").json()["records"] == 0


def test_text_that_no_database_has(client_of: Callable[..., TestClient]) -> None:
    client = client_of()
    assert client.get("/v1/streams/%00").status_code in {404, 422}
    assert client.get(f"/v1/runs/run_1/reports/{10**30}").status_code in {404, 422}


def test_every_problem_has_its_page(client: TestClient) -> None:
    kind = client.get("/v1/streams/none").json()["type"]
    assert "HTTP 404" in client.get(kind).text
    assert client.get("/problems/none").status_code == 404
