"""Logs that nobody reads: no request waits for them, what is dropped is counted and said, and stopping ends."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from test_serving import call, serving

from fairtest.service.operate.lines import Lines
from fairtest.service.operate.logs import configure_logs, count_dropped_lines
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store.projects import create_key, create_project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TextIO

LONG = "x" * 8192


def say(count: int) -> str:
    return f"{count} dropped"


@pytest.fixture
def pipe() -> Iterator[tuple[int, TextIO]]:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as to:
        yield reading, to
    os.close(reading)


def fill(lines: Lines, count: int = 100) -> float:
    began = time.monotonic()
    for _ in range(count):
        lines.write(LONG)
    return time.monotonic() - began


def read_until(reading: int, words: str) -> str:
    found = ""
    while words not in found or not found.endswith("\n"):
        found += os.read(reading, 65536).decode()
    return found


def test_lines_come_in_their_order_and_none_is_missing() -> None:
    to = io.StringIO()
    lines = Lines(to, say)
    for number in range(500):
        lines.write(str(number))
    lines.flush()
    assert to.getvalue().splitlines() == [str(number) for number in range(500)]
    assert lines.dropped == 0


def test_a_pipe_that_nobody_reads_keeps_nobody_waiting(pipe: tuple[int, TextIO]) -> None:
    reading, to = pipe
    lines = Lines(to, say, most=20)
    assert fill(lines) < 2
    assert 60 <= lines.dropped < 100
    began = time.monotonic()
    lines.flush(within=0.2)
    assert time.monotonic() - began < 2
    dropped = lines.dropped
    assert read_until(reading, "dropped").count(LONG) == 100 - dropped
    lines.write("again")
    assert read_until(reading, "again").strip() == "again", "it is said once"


def test_the_line_about_dropped_ones_comes_after_those_that_waited(pipe: tuple[int, TextIO]) -> None:
    reading, to = pipe
    lines = Lines(to, say, most=20)
    fill(lines)
    assert read_until(reading, "dropped").splitlines()[-1] == f"{lines.dropped} dropped"


def test_whoever_read_is_gone() -> None:
    gone, other = os.pipe()
    os.close(gone)
    with os.fdopen(other, "w") as nowhere:
        lines = Lines(nowhere, say)
        lines.write("nobody")
        lines.flush()
        assert lines.dropped == 1


def test_what_is_dropped_is_logged_and_counted(pipe: tuple[int, TextIO], monkeypatch: pytest.MonkeyPatch) -> None:
    reading, to = pipe
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    handler = configure_logs("api", to)
    handler.lines._most = 5
    for _ in range(2000):
        logging.getLogger("fairtest.worker").warning("something happened", extra={"error": LONG})
    dropped = count_dropped_lines()
    assert dropped > 1000
    told: list[dict[str, Any]] = []
    while sum(each["count"] for each in told) < dropped:
        lines = read_until(reading, '"log lines were dropped"').splitlines()
        told += [json.loads(line) for line in lines if "were dropped" in line]
    assert sum(each["count"] for each in told) == dropped
    assert {(each["process"], each["level"]) for each in told} == {("api", "warning")}
    logging.captureWarnings(capture=False)


def test_a_process_ends_though_nobody_reads_its_log() -> None:
    program = (
        "import logging; from fairtest.service.operate.logs import configure_logs; configure_logs('api');\n"
        "for _ in range(5000): logging.getLogger('fairtest').warning('something happened')"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE)
    assert process.wait(60) == 0
    assert process.stderr is not None
    process.stderr.close()


def test_a_service_whose_log_nobody_reads(tmp_path: Path) -> None:
    """A pipe has 64 kB, which is 300 requests; the service answers all the same, stops, and loses nothing."""
    data = tmp_path / "data"
    with Service(Settings(data)) as service:
        create_project(service.database, "test", "acme")
        key = create_key(service.database, "test", "acme", ["ingest", "manage", "read"])[0].text
    with serving(data) as (url, process):
        assert call(f"{url}/v1/streams", key, {"name": "loans", "columns": {"sex": "text"}})[0] == 201
        slowest = 0.0
        for _ in range(600):
            began = time.monotonic()
            assert call(f"{url}/v1/streams", key)[0] == 200
            slowest = max(slowest, time.monotonic() - began)
        assert slowest < 30
        answer = call(f"{url}/v1/streams/loans/records", key, {"records": [{"id": "1", "sex": "f"}]}, "a")
        assert answer[0] == 201
    assert process.returncode == 0
