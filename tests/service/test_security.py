"""What is left of the list in docs/security.md that no other file tests: methods, fields, time-outs, TLS, secrets."""

from __future__ import annotations

import re
import socket
import ssl
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient
from test_serving import COMMAND, fairtest

from fairtest.service.api.app import create_app
from fairtest.service.pages import sessions
from fairtest.service.pages.routes import COOKIE
from fairtest.service.store import tables
from fairtest.service.store.database import PASSWORD, Database
from fairtest.service.store.projects import create_key
from fairtest.service.store.streams import create_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.service.service import Service
    from fairtest.service.store.tenant import Tenant

ROOT = Path(__file__).parents[2]
SECURITY = ROOT / "docs" / "security.md"
INJECTIONS = ["x' OR '1'='1", "x; DROP TABLE audit; --", 'x" UNION SELECT 1 --', "%", "../../etc/passwd", "${jndi:x}"]


@pytest.fixture
def database_url() -> str:
    """None of this depends on the database, but for what is injected into it below."""
    return ""


@pytest.mark.parametrize("method", ["TRACE", "TRACK", "CONNECT", "PUT", "DEBUG"])
def test_methods_that_nobody_needs_are_refused(client: TestClient, method: str) -> None:
    assert client.request(method, "/v1/streams").status_code == 405
    assert client.request(method, "/").status_code == 405


@pytest.mark.parametrize("text", INJECTIONS)
def test_text_is_a_value_and_never_a_part_of_a_statement(client: TestClient, tenant: Tenant, text: str) -> None:
    create_stream(tenant, "loans", {"columns": {"sex": "text"}})
    for path in (
        f"/v1/streams/{text}",
        f"/v1/monitors/{text}",
        f"/v1/runs/{text}",
        f"/v1/streams/loans/batches/{text}",
    ):
        assert client.get(path).status_code == 404, path
    for path in ("/v1/streams", "/v1/runs", "/v1/events"):
        assert client.get(path, params={"after": text}).status_code in {200, 404, 422}, path
    assert client.post("/v1/streams", json={"name": text, "columns": {}}).status_code == 422, "it becomes a folder"
    rows = [{"id": text, "sex": text}]
    sent = client.post("/v1/streams/loans/records", json={"records": rows}, headers={"Idempotency-Key": text})
    assert sent.status_code == 201
    if "/" not in text:
        assert client.get(f"/v1/streams/loans/records/{text}/exists").json() == {"exists": True}
    with tenant.reading() as connection:
        assert connection.scalar(select(tables.audit.c.number).limit(1)) is not None


def test_fields_that_may_not_be_set_are_refused(client: TestClient, tenant: Tenant) -> None:
    for path, body in (
        ("/v1/streams", {"name": "s", "columns": {}, "project": "rival"}),
        ("/v1/streams", {"name": "s", "columns": {}, "seq": 9}),
        ("/v1/keys", {"scopes": ["read"], "project": "rival"}),
        ("/v1/destinations", {"kind": "email", "address": "a@b.example", "secret_version": 9}),
    ):
        assert client.post(path, json=body).status_code == 422, (path, body)


def test_a_value_given_twice_is_read_once(client: TestClient, tenant: Tenant) -> None:
    for n in range(3):
        create_stream(tenant, f"s{n}", {"columns": {}})
    assert len(client.get("/v1/streams?limit=3&limit=1").json()["items"]) == 1
    assert client.get("/v1/streams?limit=1", headers={"limit": "3"}).json()["next"] == "s0"


def test_answers_to_a_fault_say_nothing_of_the_inside(
    client_of: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def burst(*_: object, **__: object) -> None:
        raise RuntimeError("SELECT secret FROM somewhere")

    monkeypatch.setattr("fairtest.service.api.streams.streams.list_streams", burst)
    answer = client_of().get("/v1/streams")
    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/fault")
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


def test_a_session_ends_after_a_week_however_much_it_is_used(service: Service, tenant: Tenant) -> None:
    made, _ = create_key(service.database, "test", "acme", ["read"])
    token = sessions.sign_in(service.database, sessions.make_link(service.database, made.id))
    assert sessions.find_visitor(service.database, token) is not None
    with tenant.writing() as connection:
        connection.execute(update(tables.session).values(created=time.time() - sessions.LONGEST - 1))
    assert sessions.find_visitor(service.database, token) is None


def test_signing_in_again_gives_another_session_and_leaving_clears_the_browser(
    service: Service, tenant: Tenant
) -> None:
    made, _ = create_key(service.database, "test", "acme", ["read"])
    origin = "https://testserver"
    browser = TestClient(create_app(service), base_url=origin, headers={"Origin": origin})
    seen = []
    for _ in range(2):
        browser.post("/signin", data={"token": sessions.make_link(service.database, made.id)})
        seen.append(browser.cookies[COOKIE])
    assert seen[0] != seen[1]
    assert min(map(len, seen)) >= 43, "256 bits"
    token = re.search(r'name="form_token" value="(\w+)"', browser.get("/p/acme/").text)
    assert token is not None
    left = browser.post("/signout", data={"form_token": token[1]}, follow_redirects=False)
    assert left.headers["clear-site-data"] == '"cache"'


def test_no_other_site_may_read_answers(client: TestClient) -> None:
    answer = client.get("/v1/streams", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in answer.headers
    asked = client.options("/v1/streams", headers={"Origin": "https://evil.example",
                                                   "Access-Control-Request-Method": "POST"})  # fmt: skip
    assert asked.status_code == 405


def test_a_new_service_has_no_account(service: Service) -> None:
    with service.database.reading() as connection:
        assert connection.execute(select(tables.key)).all() == []
        assert connection.execute(select(tables.session)).all() == []


def test_the_password_of_the_database_comes_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "password").write_text("from a file\n")
    monkeypatch.setenv(f"{PASSWORD}_FILE", str(tmp_path / "password"))
    database = Database("postgresql://fairtest@host/name")
    assert database.engine.url.password == "from a file"
    assert "from a file" not in repr(database.engine)
    database.close()


def test_tls_is_of_this_decade(tmp_path: Path) -> None:
    """The service itself with a certificate: 1.2 and 1.3, nothing older, and no plain HTTP on the same port."""
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=localhost",
        "-keyout",
        "k",
        "-out",
        "c",
    ]
    subprocess.run(make, cwd=tmp_path, check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data, cert, key = (str(tmp_path / name) for name in ("data", "c", "k"))
    command = [
        *COMMAND,
        "serve",
        "--data",
        data,
        "--port",
        str(port),
        "--workers",
        "0",
        "--tls-cert",
        cert,
        "--tls-key",
        key,
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert "https://" in process.stderr.readline()
        assert _version(port, ssl.TLSVersion.TLSv1_2) == "TLSv1.2"
        assert _version(port, ssl.TLSVersion.TLSv1_3) == "TLSv1.3"
        assert _version(port, ssl.TLSVersion.TLSv1_1) is None
        with socket.create_connection(("127.0.0.1", port), 5) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            plain.settimeout(5)
            assert b"200" not in _read(plain)
    finally:
        process.terminate()
        process.wait(30)
        assert process.stderr is not None
        process.stderr.close()


def _version(port: int, version: ssl.TLSVersion) -> str | None:
    import warnings

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = version
    context.set_ciphers("ALL:@SECLEVEL=0")
    try:
        for _ in range(20):
            try:
                with socket.create_connection(("127.0.0.1", port), 5) as plain, context.wrap_socket(plain) as secure:
                    return secure.version()
            except (ConnectionRefusedError, TimeoutError):  # the process that answers has not started yet
                time.sleep(0.1)
    except (ssl.SSLError, ConnectionResetError):
        return None
    return None


def _read(plain: socket.socket) -> bytes:
    try:
        return plain.recv(1000)
    except (ConnectionResetError, TimeoutError):
        return b""


def test_no_secret_is_in_the_repository_or_in_what_a_service_keeps(tmp_path: Path) -> None:
    made = fairtest("key", "new", "--data", str(tmp_path), "--project", "acme", "--scope", "manage").stdout.strip()
    link = fairtest("signin", "--data", str(tmp_path)).stdout.strip().partition("token=")[2]
    secret = made.rpartition("_")[2]
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
            assert link.encode() not in path.read_bytes(), path
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    pattern = re.compile(
        rb"ftk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}|-----BEGIN [A-Z ]*PRIVATE KEY-----|whsec_[A-Za-z0-9+/]{40}"
    )
    for name in filter(None, listed):
        path = ROOT / name
        if path.is_file() and path.suffix in {".py", ".md", ".yaml", ".json", ".toml", ".conf", ".service", ".sh", ""}:
            assert not pattern.search(path.read_bytes()), name


LEVEL_2 = {
    "V1.1": 2, "V1.2": 9, "V1.3": 11, "V1.4": 3, "V1.5": 2, "V2.1": 3, "V2.2": 3, "V2.3": 4, "V2.4": 1, "V3.2": 2,
    "V3.3": 4, "V3.4": 6, "V3.5": 5, "V3.7": 2, "V4.1": 3, "V4.2": 1, "V4.3": 2, "V4.4": 4, "V5.1": 1, "V5.2": 3,
    "V5.3": 2, "V5.4": 3, "V6.1": 3, "V6.2": 12, "V6.3": 4, "V6.4": 4, "V6.5": 5, "V6.6": 3, "V6.8": 4, "V7.1": 3,
    "V7.2": 4, "V7.3": 2, "V7.4": 5, "V7.5": 2, "V7.6": 2, "V8.1": 2, "V8.2": 3, "V8.3": 1, "V8.4": 1, "V11.1": 2,
    "V11.2": 3, "V11.3": 3, "V11.4": 4, "V11.5": 1, "V11.6": 1, "V12.1": 3, "V12.2": 2, "V12.3": 4, "V13.1": 1,
    "V13.2": 5, "V13.3": 2, "V13.4": 5, "V14.1": 2, "V14.2": 4, "V14.3": 3, "V15.1": 3, "V15.2": 3, "V15.3": 7,
    "V16.1": 1, "V16.2": 5, "V16.3": 4, "V16.4": 3, "V16.5": 3,
}  # fmt: skip
"""How many lines each section of ASVS 5.0.0 has at levels 1 and 2; they are numbered from 1."""
STATES = {"yes", "partly", "not done", "yours", "none here"}


def _rows() -> list[tuple[str, str, str]]:
    """Return the lines of the table: which, the state, and the tests."""
    line = re.compile(r"^\| (V\d[\d., –]*) \| [^|]+ \| ([\w ]+) \|([^|]*)\|$", re.MULTILINE)
    found = line.findall(SECURITY.read_text("utf-8"))
    return [(which.strip(), state.strip(), tests) for which, state, tests in found]


def _expand(which: str) -> list[str]:
    """Return the lines that a cell names.

    ``V6.2.1–3, 5`` is V6.2.1, V6.2.2, V6.2.3 and V6.2.5.
    """
    section, _, numbers = which.rpartition(".") if "," not in which else ("", "", "")
    if "," in which:
        section = which.split(",", maxsplit=1)[0].rpartition(".")[0]
        numbers = which.removeprefix(f"{section}.")
    lines = []
    for part in numbers.split(","):
        first, _, last = part.strip().partition("–")
        lines += [f"{section}.{n}" for n in range(int(first), int(last or first) + 1)]
    return lines


def test_the_table_has_every_line_of_level_two_once() -> None:
    wanted = [f"{section}.{n + 1}" for section, lines in LEVEL_2.items() for n in range(lines)]
    given = [line for which, _, _ in _rows() for line in _expand(which)]
    assert sorted(given) == sorted(wanted)
    assert {state for _, state, _ in _rows()} <= STATES


def test_every_test_that_the_table_names_exists() -> None:
    named = 0
    for which, state, tests in _rows():
        names = re.findall(r"`(test_\w+)`", tests)
        assert names or state != "yes" or "by design" in tests or "[" in tests, f"{which} names no test"
        for name in names:
            found = [p for p in (ROOT / "tests").rglob("test_*.py") if f"def {name}(" in p.read_text("utf-8")]
            assert found or list((ROOT / "tests").rglob(f"{name}.py")), f"{which}: there is no {name}"
            named += 1
    assert named > 80
