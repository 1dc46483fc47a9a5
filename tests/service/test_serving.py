"""``fairtest serve`` and its kin as processes: not open by accident, stopped without loss, started again."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import psutil
import pytest

from fairtest.exceptions import InputError
from fairtest.service.operate.starting import ADDRESS_FILE, Listening, check_may_listen, from_text, to_text
from fairtest.service.operate.supervisor import _listen
from fairtest.service.operate.verify import verify
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store.projects import create_key, create_project, revoke_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMAND = [sys.executable, "-m", "fairtest.cli.main"]
STREAM = {"name": "loans", "columns": {"sex": "text"}}


def fairtest(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=120)


@contextmanager
def serving(data: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    process = subprocess.Popen(
        [*COMMAND, "serve", "--data", str(data), "--port", "0"], stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://[\d.:]+", line)
        assert found, line
        yield found[0], process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        if process.stderr is not None:
            process.stderr.close()


def call(url: str, key: str, body: Any = None, batch: str | None = None, tries: int = 60) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    headers |= {} if batch is None else {"Idempotency-Key": batch}
    data = None if body is None else json.dumps(body).encode()
    for _ in range(tries):
        try:
            with urlopen(Request(url, data, headers), timeout=90) as answer:
                return answer.status, json.load(answer)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)
        except (URLError, ConnectionError, TimeoutError):  # it is being started again
            time.sleep(0.2)
    raise AssertionError("the service does not answer")


def test_a_service_from_the_first_key_to_a_killed_process(tmp_path: Path) -> None:
    data = tmp_path / "data"
    made = fairtest("key", "new", "--data", str(data), "--project", "acme", "--scope", "ingest", "--scope", "manage")
    key = made.stdout.strip()
    assert key.startswith("ftk_"), made.stderr
    with serving(data) as (url, process):
        assert call(f"{url}/v1/streams", key, STREAM)[0] == 201
        send = f"{url}/v1/streams/loans/records"
        assert call(send, key, {"records": [{"id": "1", "sex": "f"}]}, "a") == (
            201, {**call(f"{url}/v1/streams/loans/batches/a", key)[1]},
        )  # fmt: skip
        api = next(c for c in psutil.Process(process.pid).children() if "api" in c.cmdline())
        api.kill()
        status, receipt = call(send, key, {"records": [{"id": "2", "sex": "m"}]}, "b")
        assert (status, receipt["seq"]) == (201, 2)
    assert process.returncode == 0
    checked = fairtest("verify", "--data", str(data))
    assert (checked.returncode, checked.stdout) == (0, ""), checked.stdout
    assert key not in "".join(str(path.read_bytes()) for path in data.rglob("*") if path.is_file())
    assert "batch 2" in fairtest("seal", "--data", str(data)).stdout
    listed = fairtest("key", "list", "--data", str(data)).stdout
    assert "acme" in listed
    assert "valid" in listed
    key_id = key.split("_")[1]
    assert fairtest("key", "revoke", key_id, "--data", str(data)).returncode == 0
    assert "revoked" in fairtest("key", "list", "--data", str(data)).stdout


def test_answers_do_not_wait_for_clients_to_confirm_their_first_part() -> None:
    with _listen(Listening(port=0)) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_links_name_the_port_that_is_used(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as (address, _):
        port = address.rpartition(":")[2]
        for _ in range(50):
            if (data / ADDRESS_FILE).exists():
                break
            time.sleep(0.1)
        assert fairtest("signin", "--data", str(data)).stdout.startswith(f"http://localhost:{port}/signin?token=")
    assert fairtest("signin", "--data", str(data)).stdout.startswith("http://localhost:8000/signin?token=")


def test_verify_says_what_is_wrong(tmp_path: Path) -> None:
    with Service(Settings(tmp_path)) as service, service.database.writing() as connection:
        connection.exec_driver_sql("INSERT INTO project VALUES ('p', 0)")
        connection.exec_driver_sql(
            "INSERT INTO stream (project, name, columns, record_id, unknown, created, seq) "
            "VALUES ('p', 's', '{}', 'id', 'reject', 0, 3)"
        )
    checked = fairtest("verify", "--data", str(tmp_path))
    assert checked.returncode == 1
    assert "not numbered from 1 to 3" in checked.stdout


PUBLIC, TLS = "0.0.0.0", {"tls_cert": "c.pem", "tls_key": "k.pem"}


@pytest.mark.parametrize(
    ("listening", "key", "refused"),
    [
        (Listening(), False, ""),
        (Listening("::1"), False, ""),
        (Listening("localhost"), False, ""),
        (Listening(PUBLIC), False, "no key yet"),
        (Listening(PUBLIC, behind_proxy=True), False, "no key yet"),
        (Listening(PUBLIC, **TLS), False, "no key yet"),  # type: ignore[arg-type]
        (Listening(PUBLIC), True, "unprotected"),
        (Listening("192.168.0.7"), True, "unprotected"),
        (Listening(PUBLIC, behind_proxy=True), True, ""),
        (Listening(PUBLIC, **TLS), True, ""),  # type: ignore[arg-type]
        (Listening(tls_cert="c.pem"), True, "go together"),
    ],
)
def test_who_may_be_reached(tmp_path: Path, listening: Listening, key: bool, refused: str) -> None:
    with Service(Settings(tmp_path)) as service:
        create_project(service.database, "test", "acme")
        revoked, _ = create_key(service.database, "test", "acme", ["read"])
        revoke_key(service.database, "test", revoked.id, None)
        if key:
            create_key(service.database, "test", "acme", ["read"])
        if refused:
            with pytest.raises(InputError, match=refused):
                check_may_listen(service, listening)
        else:
            check_may_listen(service, listening)
        assert verify(service) == []


def test_what_a_child_is_told() -> None:
    settings, listening = Settings(database="postgresql://me:secret@host/db"), Listening(port=1)
    assert from_text(to_text(settings, listening)) == (settings, listening)


def test_another_secret_is_refused(tmp_path: Path) -> None:
    with Service(Settings(tmp_path)):
        pass
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600
    (tmp_path / "secret.key").write_text("ab" * 32)
    with pytest.raises(InputError, match="another secret"):
        Service(Settings(tmp_path))


def test_the_message_without_the_extra(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        f"from fairtest.cli.main import cli; cli.main(['verify', '--data', {str(tmp_path)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'fairtest[service]'" in done.stderr


def test_stopping_while_batches_arrive(tmp_path: Path) -> None:
    """SIGTERM: what was acknowledged is stored, all within the time that was promised."""
    import threading

    from fairtest.service.operate.supervisor import STOP_WITHIN

    data = tmp_path / "data"
    with Service(Settings(data)) as service:
        create_project(service.database, "test", "acme")
        key = create_key(service.database, "test", "acme", ["ingest", "manage", "read"])[0].text
    acknowledged: list[str] = []

    def keep_sending(url: str) -> None:
        for n in range(100_000):
            try:
                rows = [{"id": f"{n}-{i}", "sex": "fm"[i % 2]} for i in range(200)]
                if call(f"{url}/v1/streams/loans/records", key, {"records": rows}, f"b{n}", tries=1)[0] == 201:
                    acknowledged.append(f"b{n}")
            except AssertionError:  # it does not answer any more
                return

    with serving(data) as (url, process):
        assert call(f"{url}/v1/streams", key, STREAM)[0] == 201
        sender = threading.Thread(target=keep_sending, args=(url,), daemon=True)
        sender.start()
        while len(acknowledged) < 5:
            time.sleep(0.05)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_WITHIN + 5) == 0
        took = time.monotonic() - began
        sender.join(30)
    assert took < STOP_WITHIN + 5
    with Service(Settings(data)) as service, service.database.reading() as connection:
        from sqlalchemy import select

        from fairtest.service.store.tables import batch

        stored = set(connection.scalars(select(batch.c.key)))
    assert set(acknowledged) <= stored
    with Service(Settings(data)) as service:
        assert verify(service) == []
