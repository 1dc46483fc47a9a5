"""How fast the service takes records, beside a bare script that writes the same rows into the same database.

Run it with ``make ingest``, or ``python -m benchmarks.ingest --seconds 20``.

*The bare script* is what somebody would write who needs no service: records that are Python values already (nothing is
parsed or checked), ten columns, 500 of them in a transaction of its own, one connection, and a commit that lasts:
``executemany`` into SQLite with a write-ahead log and ``synchronous=FULL``, or ``COPY`` of text into PostgreSQL.

*The service* is ``fairtest serve`` with one process that answers and one that works. Eight clients, on connections of
their own in one other process, send such batches as JSON or as Arrow and wait for each answer; meanwhile a monitor's
runs are going on. It parses, checks, remembers keys, and answers after the commit. Where it says that too much waits to
be sealed, they wait as long as it asks for, which counts. ``--batch 5000`` lets clients send larger batches; the bare
script keeps its 500.

They take turns in the same minute, because machines are noisy: what counts is the ratio, and beside it the CPU time a
row of each, which hardly depends on what else the machine does. CPU of the service is that of the process that answers;
that of PostgreSQL is given for both.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import multiprocessing
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import pyarrow as pa

from benchmarks.postgres import Postgres
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store.database import sqlite_driver
from fairtest.service.store.projects import create_key, create_project
from fairtest.service.store.streams import create_stream
from fairtest.service.store.tenant import Tenant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLIENTS, ROWS = 8, 500
COLUMNS = {
    "sex": "text", "race": "text", "region": "text", "job": "text", "age": "integer", "income": "number",
    "score": "number", "granted": "boolean", "person": "text",
}  # fmt: skip
MONITOR = {
    "name": "m", "stream": "loans", "protected": ["sex"], "output": "granted", "train_people": 1000,
    "test_people": 1000,
}  # fmt: skip
ARROW = "application/vnd.apache.arrow.stream"


@dataclass(frozen=True)
class Measured:
    """Rows a second, µs of CPU a row (ours, and the database's), and the 99th percentile of a batch in seconds."""

    speed: float
    cpu: float
    database_cpu: float
    slow: float = 0.0
    client_cpu: float = 0.0


def make_rows(prefix: str, rows: int = ROWS) -> dict[str, list[Any]]:
    """Return the columns of a batch."""
    rng = np.random.default_rng(len(prefix))
    names = [f"{prefix}-{n}" for n in range(rows)]
    return {
        "id": names,
        "sex": rng.choice(["f", "m"], rows).tolist(),
        "race": rng.choice(["a", "b", "c", "d"], rows).tolist(),
        "region": rng.choice([f"region-{n}" for n in range(20)], rows).tolist(),
        "job": rng.choice([f"job-{n}" for n in range(10)], rows).tolist(),
        "age": rng.integers(18, 90, rows).tolist(),
        "income": rng.normal(3e4, 1e4, rows).round(2).tolist(),
        "score": rng.random(rows).round(4).tolist(),
        "granted": (rng.random(rows) < 0.4).tolist(),
        "person": [f"p-{name}" for name in names],
    }


def make_body(form: str, prefix: str, rows: int = ROWS) -> bytes:
    """Return a batch as JSON or as an Arrow stream."""
    columns = make_rows(prefix, rows)
    if form == "json":
        records = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        return json.dumps({"records": records}).encode()
    buffer = io.BytesIO()
    table = pa.table(columns)
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def send_batches(port: int, key: str, form: str, name: str, batch: int, pipe: Any) -> None:
    """Send batches from eight threads while told to; tell how long each took, and the CPU of all this."""
    kind = "application/json" if form == "json" else ARROW
    bodies = [make_body(form, f"{name}-{n}", batch) for n in range(8)]
    fixed = f"POST /v1/streams/loans/records HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
    fixed += f"Content-Type: {kind}\r\nIdempotency-Key: "
    took: list[list[float]] = [[] for _ in range(CLIENTS)]
    pipe.send("ready")
    end = time.monotonic() + pipe.recv()

    def send(client: int) -> None:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while (start := time.monotonic()) < end:
                number = len(took[client])
                body = bodies[(client + number) % len(bodies)]
                head = f"{fixed}{name}-{client}-{number}\r\nContent-Length: {len(body)}\r\n\r\n"
                if _send_until_taken(connection, head.encode() + body, end):
                    took[client].append(time.monotonic() - start)

    cpu = time.process_time()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(send, range(CLIENTS)))
    pipe.send(([each for some in took for each in some], time.process_time() - cpu))


def _send_until_taken(connection: socket.socket, request: bytes, end: float) -> bool:
    """Send a batch, and again when the service asked to wait; whether it was taken before the time was up."""
    while True:
        connection.sendall(request)
        answer = _read_answer(connection)
        if answer[9:12] == b"201":
            return True
        if answer[9:12] != b"503":
            raise RuntimeError(f"HTTP {answer.decode()}")
        time.sleep(float(_header(answer, "retry-after")))
        if time.monotonic() >= end:
            return False


def _read_answer(connection: socket.socket) -> bytes:
    """Read an answer to its end."""
    answer = b""
    while b"\r\n\r\n" not in answer or len(answer.split(b"\r\n\r\n", 1)[1]) < _length(answer):
        part = connection.recv(65536)
        if not part:
            raise RuntimeError("the connection was closed")
        answer += part
    return answer


def _length(answer: bytes) -> int:
    return int(_header(answer, "content-length"))


def _header(answer: bytes, name: str) -> str:
    return answer.lower().split(f"{name}: ".encode(), 1)[1].split(b"\r\n", 1)[0].decode()


def measure_service(
    service: RunningService, form: str, seconds: float, batch: int = ROWS, database: Callable[[], float] = lambda: 0.0
) -> Measured:
    """Let the clients send, and return how fast it went."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    arguments = (service.port, service.key, form, f"{form}-{time.time_ns()}", batch, theirs)
    process = context.Process(target=send_batches, args=arguments, daemon=True)
    process.start()
    ours.recv()  # bodies are made before the clock starts
    cpu, of_database = service.cpu_seconds(), database()
    ours.send(seconds)
    took, of_clients = ours.recv()
    cpu, of_database = service.cpu_seconds() - cpu, database() - of_database
    process.join()
    rows = len(took) * batch
    slow = float(np.quantile(took, 0.99))
    return Measured(rows / seconds, 1e6 * cpu / rows, 1e6 * of_database / rows, slow, 1e6 * of_clients / rows)


class RunningService:
    """``fairtest serve`` on a store of its own."""

    def __init__(self, settings: Settings) -> None:
        with Service(settings) as service:
            create_project(service.database, "bench", "acme")
            made, _ = create_key(service.database, "bench", "acme", ["ingest", "manage"])
            tenant = Tenant(service.database, "bench", "acme", frozenset({"manage"}))
            create_stream(tenant, "loans", {"columns": COLUMNS, "person": "person"})
        self.key = made.text
        command = [
            sys.executable,
            "-m",
            "fairtest.cli.main",
            "serve",
            "--port",
            "0",
            "--rate",
            "0",
            "--data",
            str(settings.data),
        ]
        if settings.database:
            command += ["--database", settings.database]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        self.port = int(self.process.stderr.readline().split("127.0.0.1:")[1].split()[0])
        # what it logs is read on and on: with nobody at the other end of a full pipe, a service waits for ever
        threading.Thread(target=deque, args=[self.process.stderr, 0], daemon=True).start()
        for _ in range(100):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/readyz")
                if connection.getresponse().status == 200:
                    break
            except OSError:
                time.sleep(0.2)
        self.api = next(c for c in psutil.Process(self.process.pid).children() if "api" in c.cmdline())
        self.runs = 0
        self.call("POST", "/v1/monitors", MONITOR)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the service something."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        if answer.status >= 400:
            raise RuntimeError(f"HTTP {answer.status}: {answer.read()!r}")
        return json.loads(answer.read())

    def keep_running(self, stopping: threading.Event) -> None:
        """Let one run of the monitor follow the other."""
        while not stopping.is_set():
            started = self.call("POST", "/v1/monitors/m/runs")["id"]
            while not stopping.wait(1.0) and self.call("GET", f"/v1/runs/{started}")["state"] in {"due", "running"}:
                pass
            self.runs += 1

    def cpu_seconds(self) -> float:
        """Return how long the process that answers has computed."""
        times = self.api.cpu_times()
        return float(times.user + times.system)

    def memory(self) -> float:
        """Return its memory in MB."""
        return float(self.api.memory_info().rss) / 1e6

    def close(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait(30)


def bare_sqlite(folder: Path, seconds: float) -> Measured:
    """Insert batches by ``executemany``, one commit each."""
    columns = make_rows("bare")
    rows = list(zip(*columns.values(), strict=True))
    connection = sqlite_driver().connect(folder / "bare.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(f"CREATE TABLE IF NOT EXISTS loans ({', '.join(columns)})")
    marks = ", ".join("?" for _ in columns)

    def insert() -> None:
        connection.execute("BEGIN")
        connection.executemany(f"INSERT INTO loans VALUES ({marks})", rows)
        connection.execute("COMMIT")

    measured = _repeat(insert, seconds)
    connection.close()
    return measured


def bare_postgresql(url: str, seconds: float, database: Callable[[], float]) -> Measured:
    """Copy batches as text, one commit each."""
    import psycopg

    columns = make_rows("bare")
    rows = list(zip(*columns.values(), strict=True))
    kinds = {int: "bigint", float: "double precision", bool: "boolean", str: "text"}
    with psycopg.connect(url, autocommit=True) as connection:
        declared = ", ".join(f'"{name}" {kinds[type(values[0])]}' for name, values in columns.items())
        connection.execute(f"CREATE TABLE IF NOT EXISTS loans_bare ({declared})")  # type: ignore[call-overload]

        def insert() -> None:
            with (
                connection.transaction(),
                connection.cursor() as cursor,
                cursor.copy("COPY loans_bare FROM STDIN") as copy,
            ):
                for row in rows:
                    copy.write_row(row)

        return _repeat(insert, seconds, database)


def _repeat(insert: Any, seconds: float, database: Callable[[], float] = lambda: 0.0) -> Measured:
    done, start, cpu, of_database = 0, time.monotonic(), time.process_time(), database()
    while time.monotonic() - start < seconds:
        insert()
        done += ROWS
    cpu, of_database = time.process_time() - cpu, database() - of_database
    return Measured(done / (time.monotonic() - start), 1e6 * cpu / done, 1e6 * of_database / done)


def rounds(database: str, seconds: float, times: int, batch: int, server: Postgres) -> Iterator[str]:
    """Measure the service and the bare script in turn, and give lines that say what came out."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=Path.cwd())))
        url = "" if database == "sqlite" else server.create(f"ingest_{batch}")
        of_database = (lambda: 0.0) if not url else server.cpu_seconds
        service = RunningService(Settings(folder / "data", url, disk_least=0))
        stack.callback(service.close)
        for form in ("json", "arrow"):  # whatever is loaded at the first use is there
            measure_service(service, form, 2.0, batch)
        stopping = threading.Event()
        running = threading.Thread(target=service.keep_running, args=[stopping])
        running.start()
        stack.callback(running.join)
        stack.callback(stopping.set)
        ratios: dict[str, list[float]] = {"json": [], "arrow": []}
        memory = [service.memory()]
        for number in range(times):
            name = f"{database} round {number + 1}"
            few = seconds / 2
            bare = bare_sqlite(folder, few) if not url else bare_postgresql(url, few, of_database)
            yield f"{name}: bare {bare.speed:,.0f} rows/s, {bare.cpu:.2f} + {bare.database_cpu:.2f} µs CPU a row"
            for form, found in ratios.items():
                one = measure_service(service, form, seconds, batch, of_database)
                found.append(one.speed / bare.speed)
                memory.append(service.memory())
                yield (
                    f"{name}: {form} {one.speed:,.0f} rows/s, {found[-1]:.2f} x bare, {one.cpu:.2f} + "
                    f"{one.database_cpu:.2f} µs CPU a row (clients {one.client_cpu:.2f}), 99th percentile "
                    f"{1000 * one.slow:.0f} ms, memory {memory[-1]:.0f} MB, {service.runs} runs"
                )
        for form, found in ratios.items():
            spread = f"{min(found):.2f} to {max(found):.2f}"
            yield f"{database}, batches of {batch}: {form} {median(found):.2f} x bare (median of {times}; {spread})"
        yield f"{database}: memory {memory[0]:.0f} MB after warming up, {memory[-1]:.0f} MB after the last"


def main() -> None:
    """Print what came out as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=ROWS, help="records in a batch of the clients")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    given = parser.parse_args()
    with Postgres() as server:
        for database in given.database or ["sqlite", "postgresql"]:
            for line in rounds(database, given.seconds, given.rounds, given.batch, server):
                print(line, flush=True)


if __name__ == "__main__":
    main()
