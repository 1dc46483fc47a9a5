"""How fast the service takes records, beside a bare script that writes the same rows into the same database.

Run it with ``make ingest``, or ``python -m benchmarks.ingest --seconds 20``. Eight clients send batches of 500 records
with ten columns to a service of one process; the bare script inserts such batches, one commit each, over one
connection: ``executemany`` on SQLite, ``COPY`` on PostgreSQL. They take turns in the same minute, because machines are
noisy: what counts is the ratio.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import multiprocessing
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import pyarrow as pa

from benchmarks.postgres import Postgres
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store.projects import create_key, create_project
from fairtest.service.store.streams import create_stream
from fairtest.service.store.tenant import Tenant

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENTS, ROWS = 8, 500
COLUMNS = {
    "sex": "text", "race": "text", "region": "text", "job": "text", "age": "integer", "income": "number",
    "score": "number", "granted": "boolean", "person": "text",
}  # fmt: skip
ARROW = "application/vnd.apache.arrow.stream"


def make_rows(prefix: str) -> dict[str, list[Any]]:
    """Return the columns of a batch."""
    rng = np.random.default_rng(len(prefix))
    names = [f"{prefix}-{n}" for n in range(ROWS)]
    return {
        "id": names,
        "sex": rng.choice(["f", "m"], ROWS).tolist(),
        "race": rng.choice(["a", "b", "c", "d"], ROWS).tolist(),
        "region": rng.choice([f"region-{n}" for n in range(20)], ROWS).tolist(),
        "job": rng.choice([f"job-{n}" for n in range(10)], ROWS).tolist(),
        "age": rng.integers(18, 90, ROWS).tolist(),
        "income": rng.normal(3e4, 1e4, ROWS).round(2).tolist(),
        "score": rng.random(ROWS).round(4).tolist(),
        "granted": (rng.random(ROWS) < 0.4).tolist(),
        "person": [f"p-{name}" for name in names],
    }


def make_body(form: str, prefix: str) -> bytes:
    """Return a batch as JSON or as an Arrow stream."""
    columns = make_rows(prefix)
    if form == "json":
        records = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        return json.dumps({"records": records}).encode()
    buffer = io.BytesIO()
    table = pa.table(columns)
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def send(port: int, key: str, form: str, name: str, seconds: float, told: Any) -> None:
    """Send batches until the time is over; tell how many records were acknowledged, and how long each batch took."""
    bodies = [make_body(form, f"{name}-{n}") for n in range(20)]
    kind = "application/json" if form == "json" else ARROW
    connection = http.client.HTTPConnection("127.0.0.1", port)
    took: list[float] = []
    told.recv()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        headers = {"Authorization": f"Bearer {key}", "Content-Type": kind, "Idempotency-Key": f"{name}-{len(took)}"}
        connection.request("POST", "/v1/streams/loans/records", bodies[len(took) % len(bodies)], headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 201:
            raise RuntimeError(f"HTTP {answer.status}")
        took.append(time.monotonic() - start)
    told.send(took)


def measure_service(service: RunningService, form: str, seconds: float) -> tuple[float, float, float]:
    """Return rows a second, the 99th percentile of a batch in milliseconds, and µs of CPU a row."""
    context = multiprocessing.get_context("fork")
    name = f"{form}-{time.time_ns()}"
    pipes = [context.Pipe() for _ in range(CLIENTS)]
    processes = [
        context.Process(target=send, args=(service.port, service.key, form, f"{name}-{n}", seconds, theirs))
        for n, (_, theirs) in enumerate(pipes)
    ]
    for process in processes:
        process.start()
    time.sleep(2)  # bodies are made before the clock starts
    cpu = service.cpu_seconds()
    for ours, _ in pipes:
        ours.send("go")
    took = [each for ours, _ in pipes for each in ours.recv()]
    cpu = service.cpu_seconds() - cpu
    for process in processes:
        process.join()
    rows = len(took) * ROWS
    return rows / seconds, 1000 * float(np.quantile(took, 0.99)), 1e6 * cpu / rows


class RunningService:
    """``fairtest serve`` on a store of its own."""

    def __init__(self, settings: Settings) -> None:
        with Service(settings) as service:
            create_project(service.database, "bench", "acme")
            made, _ = create_key(service.database, "bench", "acme", ["ingest", "manage"])
            tenant = Tenant(service.database, "bench", "acme", frozenset({"manage"}))
            create_stream(tenant, "loans", {"columns": COLUMNS, "person": "person"})
        self.key = made.text
        command = [sys.executable, "-m", "fairtest.cli.main", "serve", "--port", "0", "--data", str(settings.data)]
        if settings.database:
            command += ["--database", settings.database]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        self.port = int(self.process.stderr.readline().split("127.0.0.1:")[1].split()[0])
        for _ in range(100):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/readyz")
                if connection.getresponse().status == 200:
                    break
            except OSError:
                time.sleep(0.2)
        self.api = next(c for c in psutil.Process(self.process.pid).children() if "api" in c.cmdline())

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


def bare_sqlite(folder: Path, seconds: float) -> float:
    """Return rows a second of a script that inserts batches by ``executemany``, one commit each."""
    columns = make_rows("bare")
    rows = list(zip(*columns.values(), strict=True))
    connection = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")  # the quicker of its two modes
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(f"CREATE TABLE IF NOT EXISTS loans ({', '.join(columns)})")
    marks = ", ".join("?" for _ in columns)

    def insert() -> None:
        connection.execute("BEGIN")
        connection.executemany(f"INSERT INTO loans VALUES ({marks})", rows)
        connection.execute("COMMIT")

    speed = _repeat(insert, seconds)
    connection.close()
    return speed


def bare_postgresql(url: str, seconds: float) -> float:
    """Return rows a second of a script that copies batches as text, one commit each."""
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

        return _repeat(insert, seconds)


def _repeat(insert: Any, seconds: float) -> float:
    done, start = 0, time.monotonic()
    while time.monotonic() - start < seconds:
        insert()
        done += ROWS
    return done / (time.monotonic() - start)


def rounds(database: str, seconds: float, times: int, server: Postgres) -> Iterator[str]:
    """Measure the service and the bare script in turn, and give lines that say what came out."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=Path.cwd())))
        url = "" if database == "sqlite" else server.create("ingest")
        service = RunningService(Settings(folder / "data", url, disk_least=0))
        stack.callback(service.close)
        ratios: dict[str, list[float]] = {"json": [], "arrow": []}
        memory = []
        for number in range(times):
            bare = bare_sqlite(folder, seconds / 2) if not url else bare_postgresql(url, seconds / 2)
            yield f"{database} round {number + 1}: bare {bare:,.0f} rows/s"
            for form in ("json", "arrow"):
                speed, slow, cpu = measure_service(service, form, seconds)
                ratios[form].append(speed / bare)
                memory.append(service.memory())
                yield (
                    f"{database} round {number + 1}: {form} {speed:,.0f} rows/s, {speed / bare:.2f} x bare, "
                    f"{cpu:.1f} µs CPU a row, 99th percentile {slow:.0f} ms, memory {memory[-1]:.0f} MB"
                )
        for form, found in ratios.items():
            spread = f"{min(found):.2f} to {max(found):.2f}"
            yield f"{database}: {form} {median(found):.2f} x bare (median of {times}; {spread})"
        yield f"{database}: memory {memory[0]:.0f} MB after the first load, {memory[-1]:.0f} MB after the last"


def main() -> None:
    """Print what came out as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    given = parser.parse_args()
    with Postgres() as server:
        for database in given.database or ["sqlite", "postgresql"]:
            for line in rounds(database, given.seconds, given.rounds, server):
                print(line, flush=True)


if __name__ == "__main__":
    main()
