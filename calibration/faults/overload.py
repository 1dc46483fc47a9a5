"""A hundred times as many requests as a service takes: it refuses, says when to come back, and loses nothing.

Run it with ``make overload``, or ``python -m calibration.faults.overload --seconds 30``. A hundred senders without a
pause share a key that may send a few requests a second; each sends its batch again until it is acknowledged. Only 429
and 503 may be said to them, the memory of the process that answers must stay as it is, and what was acknowledged must
be there once.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from benchmarks.postgres import QUICK, Postgres
from calibration.faults.serving import Clients, Processes, check, prepare, wait_until_ready
from fairtest.service.settings import Settings

SENDERS, RATE = 100, 7.0
ALLOWED = {200, 201, 429, 503}


@dataclass(frozen=True)
class Overloaded:
    """What came out: what is wrong, how often each status was answered, and the memory in MB over time."""

    wrong: list[str]
    statuses: dict[int, int]
    memory: list[float]


def overload(settings: Settings, seconds: float, *, senders: int = SENDERS, rate: float = RATE) -> Overloaded:
    """Send far too much for some seconds, and return what came out."""
    settings = replace(settings, rate=rate)
    key = prepare(settings)
    memory: list[float] = []
    with Processes(settings) as processes:
        wait_until_ready(processes.port)
        assert processes.api.process is not None
        api = psutil.Process(processes.api.process.pid)
        clients = Clients(processes.port, key, "load", clients=senders, pause=0.0, patience=60.0)
        try:
            for _ in range(10):
                time.sleep(seconds / 10)
                memory.append(api.memory_info().rss / 1e6)
        finally:
            clients.stop()
        alive = processes.api.process.poll() is None
    wrong = check(settings, clients.acknowledged)
    if unexpected := {status: n for status, n in clients.statuses.items() if status not in ALLOWED}:
        wrong.append(f"answers that nobody may get: {unexpected}")
    if not alive:
        wrong.append("the process that answers has ended")
    return Overloaded(wrong, dict(sorted(clients.statuses.items())), memory)


def main() -> None:
    """Overload a service on both databases and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    with ExitStack() as stack:
        server = stack.enter_context(Postgres(QUICK))
        for name in ("sqlite", "postgresql"):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            url = "" if name == "sqlite" else server.create("overload")
            found = overload(Settings(folder, url, disk_least=0), given.seconds)
            taken = found.statuses.get(201, 0) + found.statuses.get(200, 0)
            asked = sum(found.statuses.values())
            print(
                f"{name}: {asked:,} requests, {asked / max(taken, 1):.0f} for each that was taken; {found.statuses}; "
                f"memory {found.memory[1]:.0f} to {found.memory[-1]:.0f} MB; {found.wrong or 'nothing is wrong'}"
            )


if __name__ == "__main__":
    main()
