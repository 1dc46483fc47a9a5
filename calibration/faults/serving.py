"""A service of real processes, clients that send to it again and again, and what must be true afterwards."""

from __future__ import annotations

import http.client
import json
import random
import socket
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from fairtest.service.operate.starting import Listening, to_text
from fairtest.service.operate.supervisor import Child
from fairtest.service.operate.verify import verify
from fairtest.service.service import Service
from fairtest.service.store.monitors import create_monitor
from fairtest.service.store.projects import create_key, create_project
from fairtest.service.store.runs import request_run
from fairtest.service.store.streams import create_stream, find_stream
from fairtest.service.store.tables import delivery, job, run
from fairtest.service.store.tenant import Tenant
from fairtest.service.store.windows import read_window

if TYPE_CHECKING:
    from typing import Self

    from fairtest.service.settings import Settings

PROJECT, STREAM, MONITOR = "acme", "loans", "m"
CLIENTS, ROWS = 8, 20
PATIENCE = 20.0
"""Seconds that a client waits for an answer."""
QUESTION = {
    "kind": "testing", "protected": ["sex"], "output": "granted", "train_people": 100, "test_people": 100,
    "min_size": 30, "error_rate": {"level": 0.05, "over": "life"},
}  # fmt: skip


def prepare(settings: Settings) -> str:
    """Make a project, a stream and a monitor, and return a key for clients."""
    with Service(settings) as service:
        create_project(service.database, "faults", PROJECT)
        key, _ = create_key(service.database, "faults", PROJECT, ["ingest", "manage", "read"])
        tenant = tenant_of(service)
        columns = {"sex": "text", "granted": "boolean"}
        create_stream(tenant, STREAM, {"columns": columns, "person": "who"})
        create_monitor(tenant, MONITOR, STREAM, QUESTION, {}, [])
    return key.text


def tenant_of(service: Service) -> Tenant:
    """Return somebody who may do everything in the project."""
    return Tenant(service.database, "faults", PROJECT, frozenset({"manage", "ingest", "read"}))


def records_of(key: str, rows: int = ROWS) -> list[dict[str, Any]]:
    """Return the records of a batch: every retry sends the same."""
    return [{"id": f"{key}-{n}", "who": f"p-{key}-{n}", "sex": "fm"[n % 2], "granted": n % 3 == 0} for n in range(rows)]


class Processes:
    """The two processes that ``fairtest serve`` starts, without the pauses that its supervisor makes."""

    def __init__(self, settings: Settings) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._listener.set_inheritable(True)
        self.port: int = self._listener.getsockname()[1]
        number = self._listener.fileno()
        knows = to_text(settings, Listening(port=self.port))
        self.api = Child("API", ["api", str(number)], knows, (number,))
        self.worker = Child("worker", ["worker"], knows)
        self.api.start()
        self.worker.start()

    def kill(self, child: Child) -> None:
        """Kill a process as a power cut would, and start it again."""
        _end(child)
        child.start()

    def close(self) -> None:
        """Kill both."""
        for child in (self.api, self.worker):
            _end(child)
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _end(child: Child) -> None:
    """Kill a process, and close the pipe to it."""
    if child.process is not None:
        child.process.kill()
        child.process.wait()
        if child.process.stdin is not None:
            child.process.stdin.close()


class Clients:
    """Senders with keys, each of which sends a batch again until it is acknowledged.

    Attributes
    ----------
    acknowledged
        The keys whose batches were acknowledged.
    statuses
        How often each status was answered; 0 stands for no answer at all.
    """

    def __init__(
        self, port: int, key: str, name: str, *, clients: int = CLIENTS, pause: float = 0.01, patience: float = PATIENCE
    ) -> None:
        self._port, self._key, self._pause, self._patience = port, key, pause, patience
        self.acknowledged: list[str] = []
        self.statuses: dict[int, int] = {}
        self.longest = 0.0
        self._stopping = threading.Event()
        self._giving_up = threading.Event()
        self._threads = [threading.Thread(target=self._send_all, args=[f"{name}-{n}"]) for n in range(clients)]
        for thread in self._threads:
            thread.start()

    def stop(self, within: float = 300.0) -> None:
        """Begin no more batches; those that were begun are sent until they are acknowledged, or time is over."""
        self._stopping.set()
        end = time.monotonic() + within
        for thread in self._threads:
            thread.join(max(end - time.monotonic(), 0.1))
        self._giving_up.set()
        for thread in self._threads:
            thread.join()

    def _send_all(self, name: str) -> None:
        number = 0
        while not self._stopping.is_set():
            self._send_until_acknowledged(f"{name}-{number}")
            number += 1
            self._stopping.wait(self._pause)

    def _send_until_acknowledged(self, key: str) -> None:
        while not self._giving_up.is_set():
            start = time.monotonic()
            status = send(self._port, self._key, key, self._patience)
            self.longest = max(self.longest, time.monotonic() - start)
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status in {200, 201}:
                self.acknowledged.append(key)
                return
            self._giving_up.wait(0.05 + 0.1 * random.random())


def send(port: int, key: str, batch: str, timeout: float = PATIENCE) -> int:
    """Send a batch once and return the status; 0 if there was no whole answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", "Idempotency-Key": batch}
    try:
        body = json.dumps({"records": records_of(batch)})
        connection.request("POST", f"/v1/streams/{STREAM}/records", body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def wait_until_ready(port: int, within: float = 300.0) -> None:
    """Wait until a service says that it takes records."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        with closing(connection), suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/readyz")
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                return
        time.sleep(0.2)
    raise RuntimeError("the service does not become ready")


def expire_leases(service: Service) -> None:
    """Let every lease run out, as time would: whoever held one is dead."""
    with service.database.writing() as connection:
        for table in (run, job, delivery):
            connection.execute(update(table).where(table.c.state == "running").values(lease_until=0.0))


def check(settings: Settings, acknowledged: list[str]) -> list[str]:
    """Return what is wrong with a store: what was acknowledged is there once, and everything that verify checks."""
    with Service(settings) as service:
        wrong = verify(service)
        seq = find_stream(tenant_of(service), STREAM).seq
        ids = read_window(service, PROJECT, STREAM, (0, seq), columns=())["id"].to_list()
        wrong += verify(service)
    if len(set(ids)) < len(ids):
        wrong.append(f"{len(ids) - len(set(ids))} records are there twice")
    expected = {each["id"] for key in acknowledged for each in records_of(key)}
    if missing := expected.difference(ids):
        wrong.append(f"{len(missing)} acknowledged records are lost")
    if len(set(acknowledged)) < len(acknowledged):
        wrong.append("a client sent the same batch as two")
    return wrong


def finish_runs(settings: Settings) -> list[str]:
    """Let a worker of this process do what is due, and return what is wrong: every run must come to its end."""
    from fairtest.service.work.worker import work_once

    with Service(settings) as service:
        expire_leases(service)
        for _ in range(100):
            with service.database.writing() as connection:  # what failed before is tried again at once
                connection.execute(update(run).where(run.c.state == "due").values(due=0.0))
            if not work_once(service):
                break
        with service.database.reading() as connection:
            states = list(connection.scalars(select(run.c.state)))
        wrong = verify(service)
    if unfinished := [state for state in states if state not in {"done", "skipped"}]:
        wrong.append(f"{len(unfinished)} of {len(states)} runs did not come to an end: {sorted(set(unfinished))}")
    return wrong


def count_runs(settings: Settings) -> dict[str, int]:
    """Return how many runs are in each state."""
    with Service(settings) as service, service.database.reading() as connection:
        return dict(sorted(Counter(connection.scalars(select(run.c.state))).items()))


def wait_for_runs(settings: Settings, within: float = 60.0) -> None:
    """Wait until a worker has ended what was due, but not for ever."""
    end = time.monotonic() + within
    while time.monotonic() < end and {"due", "running"} & count_runs(settings).keys():
        time.sleep(1.0)


def ask_for_run(settings: Settings, key: str) -> None:
    """Make a run of the monitor due."""
    with Service(settings) as service:
        request_run(tenant_of(service), MONITOR, key)
