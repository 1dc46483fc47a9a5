"""SIGKILL of the server and the worker at random moments, while clients send over HTTP and runs go on.

Run it with ``make service-kills``, or ``python -m calibration.faults.kills --kills 50``. Clients send every batch again
until it is acknowledged. What was acknowledged must be there once, nobody may be tested twice, and every run must come
to its end.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from benchmarks.postgres import QUICK, Postgres
from calibration.faults.serving import (
    Clients,
    Processes,
    ask_for_run,
    check,
    count_runs,
    expire_leases,
    finish_runs,
    prepare,
    wait_for_runs,
    wait_until_ready,
)
from fairtest.service.service import Service
from fairtest.service.settings import Settings

CALM = 10
"""After so many kills runs may come to their end, while clients go on sending: later sets must be of other people."""


def kill_under_load(settings: Settings, kills: int, seed: int, *, longest: float = 3.0) -> tuple[list[str], Clients]:
    """Kill as often as asked while clients send; return what is wrong then, and the clients."""
    rng = random.Random(seed)
    key = prepare(settings)
    with Processes(settings) as processes:
        wait_until_ready(processes.port)
        clients = Clients(processes.port, key, f"s{seed}")
        try:
            for number in range(kills):
                if number % CALM == CALM - 1:  # without a pause, no worker lives long enough to end a run
                    wait_for_runs(settings)
                if number % 5 == 0:
                    ask_for_run(settings, f"{seed}-{number}")
                time.sleep(rng.uniform(0.05, longest))
                victim = processes.worker if rng.random() < 0.4 else processes.api
                processes.kill(victim)
                if victim is processes.worker:  # nobody waits a minute here for the lease of the dead
                    with Service(settings) as service:
                        expire_leases(service)
                wait_until_ready(processes.port)
        finally:
            clients.stop()
    wrong = check(settings, clients.acknowledged)
    return wrong + finish_runs(settings), clients


def main() -> None:
    """Kill on both databases and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    given = parser.parse_args()
    with ExitStack() as stack:
        server = stack.enter_context(Postgres(QUICK))
        for database in given.database or ("sqlite", "postgresql"):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            url = "" if database == "sqlite" else server.create("kills")
            settings = Settings(folder, url, disk_least=0)
            wrong, clients = kill_under_load(settings, given.kills, given.seed)
            answers = dict(sorted(clients.statuses.items()))
            print(
                f"{database}: {given.kills} kills, {len(clients.acknowledged)} batches acknowledged, "
                f"answers {answers}, longest {clients.longest:.1f} s, runs {count_runs(settings)};",
                f"wrong: {wrong or 'nothing'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
