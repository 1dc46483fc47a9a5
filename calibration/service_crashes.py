"""Services that are killed at any moment, and what is left of their store.

Run it with ``python -m calibration.service_crashes --kills 50``. A process takes records from several senders, seals
and erases, and is killed by SIGKILL: at a named point, or after a random time. Then another one starts on the same
store, the senders send again what was not acknowledged, and everything that :mod:`fairtest.service.operate.verify`
checks must hold: what was acknowledged is there once.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, update

from benchmarks.postgres import QUICK, Postgres
from fairtest.service import pausing
from fairtest.service.alerts.postman import Postman
from fairtest.service.ingest.reading import Sent, read_batch
from fairtest.service.operate.verify import verify
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store import sealing
from fairtest.service.store.destinations import create_destination
from fairtest.service.store.erasure import ask_to_erase, erase_stream
from fairtest.service.store.monitors import create_monitor
from fairtest.service.store.outbox import Happening, announce
from fairtest.service.store.projects import create_project
from fairtest.service.store.runs import request_run, spend
from fairtest.service.store.sealing import seal_stream
from fairtest.service.store.streams import create_stream, find_stream
from fairtest.service.store.tables import delivery, report, run
from fairtest.service.store.tenant import Tenant
from fairtest.service.store.windows import read_window
from fairtest.service.work.audit import audit
from fairtest.service.work.leases import claim
from fairtest.service.work.runs import as_answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

PROJECT, STREAM = "acme", "loans"
SENDERS, ROWS = 3, 20
LONGEST = 60.0
"""Seconds after which a process ends by itself: a point that is never passed must not hang."""


def prepare(settings: Settings) -> None:
    """Make the project and the stream."""
    with Service(settings) as service:
        create_project(service.database, "crashes", PROJECT)
        create_stream(_tenant(service), STREAM, {"columns": {"sex": "text", "granted": "boolean"}, "person": "who"})


def records_of(key: str) -> list[dict[str, Any]]:
    """Return the records of a batch: every retry sends the same."""
    return [{"id": f"{key}-{n}", "who": f"p-{key}-{n}", "sex": "fm"[n % 2], "granted": n % 3 == 0} for n in range(ROWS)]


def work(settings: Settings, moment: str | float, seed: int, acknowledged: Connection) -> None:
    """Send, seal and erase until killed; tell every key whose batch was acknowledged."""
    _arm(moment)
    if seed % 2:  # every batch counts as a large one, and is written beside the segments
        sealing.LARGE = ROWS
    service = Service(settings, writes=True)
    telling = threading.Lock()

    def send(sender: int) -> None:
        number = 0
        while True:
            key = f"{seed}-{sender}-{number}"
            _submit(service, key)
            with telling:
                acknowledged.send(key)
            number += 1
            time.sleep(0.003)

    for sender in range(SENDERS):
        threading.Thread(target=send, args=(sender,), daemon=True).start()
    for number in range(SENDERS * ROWS):
        time.sleep(0.02)
        seal_stream(service, PROJECT, STREAM)
        person = f"p-{seed}-{number % SENDERS}-0-{number // SENDERS}"
        ask_to_erase(service, _tenant(service), STREAM, "person", [person])
        erase_stream(service, PROJECT, STREAM)


def prepare_run(settings: Settings) -> None:
    """Make a monitor, people enough for its first set, and a run that is due."""
    question = {
        "kind": "testing", "protected": ["sex"], "output": "granted", "train_people": 100, "test_people": 100,
        "min_size": 30, "error_rate": {"level": 0.05, "over": "life"},
    }  # fmt: skip
    with Service(settings, writes=True) as service:
        create_monitor(_tenant(service), "m", STREAM, question, {}, [])
        for number in range(12):
            _submit(service, f"run-{number}")
        request_run(_tenant(service), "m", "crash")


def work_run(settings: Settings, moment: str | float, _seed: int, acknowledged: Connection) -> None:
    """Claim the run and spend it, until killed; tell what was shown."""
    _arm(moment)
    with Service(settings) as service:
        lease = claim(service.database, run, "crashes")
        if lease is None:
            return
        spend(service.database, lease, as_answer(audit(service, PROJECT, lease.row["monitor"], 1)))
        acknowledged.send(lease.id)


def finish_run(settings: Settings) -> list[str]:
    """Take the run again when its lease is over, and return what is wrong: it must be spent exactly once."""
    with Service(settings) as service:
        wrong = verify(service)
        with service.database.writing() as connection:
            connection.execute(update(run).where(run.c.state == "running").values(lease_until=0.0))
        lease = claim(service.database, run, "another")
        if lease is not None:
            spend(service.database, lease, as_answer(audit(service, PROJECT, lease.row["monitor"], 1)))
        wrong += verify(service)
        with service.database.reading() as connection:
            states = connection.scalars(select(run.c.state)).all()
            reports = connection.scalar(select(func.count()).select_from(report))
    if list(states) != ["done"] or reports != 1:
        wrong.append(f"the run is {states} with {reports} reports")
    return wrong


def prepare_send(settings: Settings, url: str) -> None:
    """Make an event that waits to be told to a webhook."""
    question = {"kind": "testing", "protected": ["sex"], "output": "granted"}
    with Service(settings) as service:
        tenant = _tenant(service)
        tell = [create_destination(tenant, "webhook", url).id]
        made = create_monitor(tenant, "told", STREAM, question, {}, tell)
        with service.database.writing() as connection:
            what = Happening("new", "hyp_1", "2026-11-18", {"sentence": "Among women, 12 % are granted."})
            announce(service.database, connection, PROJECT, made.id, what)


def work_send(settings: Settings, moment: str | float, _seed: int, _acknowledged: Connection) -> None:
    """Deliver what is due, until killed."""
    _arm(moment)
    with Service(settings) as service:
        Postman(service).deliver_due()


def finish_send(settings: Settings) -> list[str]:
    """Deliver again when the lease is over, and return what is wrong: it must be noted as sent, once."""
    with Service(settings) as service:
        with service.database.writing() as connection:
            connection.execute(update(delivery).where(delivery.c.state == "running").values(lease_until=0.0))
        again = Postman(service).deliver_due() + Postman(service).deliver_due()
        with service.database.reading() as connection:
            states = list(connection.scalars(select(delivery.c.state)))
        wrong = verify(service)
    if states != ["sent"] or again > 1:
        wrong.append(f"deliveries are {states}, {again} of them done again")
    return wrong


def kill_once(settings: Settings, moment: str | float, seed: int, target: Callable[..., None] = work) -> list[str]:
    """Let a process work until it is killed; return the keys that were acknowledged until then.

    ``moment`` is ``"point:n"``, the n-th time that a point is passed, or seconds; ``"point:n:s"`` is whatever comes
    first.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["fairtest.service.work.audit", "fairtest.service.operate.verify"])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(settings, moment, seed, theirs), daemon=True)
    process.start()
    theirs.close()
    keys: list[str] = []
    with suppress(EOFError):
        while True:
            keys.append(ours.recv())
    process.join()
    if process.exitcode != -signal.SIGKILL:
        raise RuntimeError(f"The process was not killed at {moment}; it ended with {process.exitcode}.")
    return keys


def check(settings: Settings, keys: list[str], seed: int) -> list[str]:
    """Start again on what is left, send again what was not acknowledged, and return what is wrong."""
    with Service(settings, writes=True) as service:
        wrong = verify(service)
        for sender in range(SENDERS):  # as a client does that had no answer
            done = sum(key.startswith(f"{seed}-{sender}-") for key in keys)
            for number in (max(done - 1, 0), done):
                _submit(service, f"{seed}-{sender}-{number}")
                keys = [*keys, f"{seed}-{sender}-{number}"]
        erase_stream(service, PROJECT, STREAM)
        wrong += verify(service)
        seq = find_stream(_tenant(service), STREAM).seq
        ids = read_window(service, PROJECT, STREAM, (0, seq), columns=())["id"].to_list()
    if len(set(ids)) < len(ids):
        wrong.append("a record is there twice")
    # of the first batch of each sender people are erased; of all others every record must be there
    expected = {each["id"] for key in keys if not key.endswith("-0") for each in records_of(key)}
    if missing := expected.difference(ids):
        wrong.append(f"{len(missing)} acknowledged records are lost")
    return wrong


def _submit(service: Service, key: str) -> None:
    assert service.writer is not None
    stream = find_stream(_tenant(service), STREAM)
    sent = Sent("records", key, "application/json", "", json.dumps({"records": records_of(key)}).encode())
    service.writer.submit(sealing.stage_body(service, read_batch(sent, stream, None))).result()


def _tenant(service: Service) -> Tenant:
    return Tenant(service.database, "crashes", PROJECT, frozenset({"manage", "ingest"}))


def _arm(moment: str | float) -> None:
    """Let this process be killed at a moment, and end after a while in any case."""

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    late = threading.Timer(LONGEST, lambda: os._exit(3))
    late.daemon = True
    late.start()
    if isinstance(moment, float):
        timer = threading.Timer(moment, die)
        timer.daemon = True
        timer.start()
        return
    point, times, *otherwise = moment.split(":")
    left = [int(times)]
    if otherwise:  # a point that is not passed in time: killed anyway
        timer = threading.Timer(float(otherwise[0]), die)
        timer.daemon = True
        timer.start()

    def pass_point(name: str) -> None:
        if name == point:
            left[0] -= 1
            if left[0] == 0:
                die()

    pausing.hook = pass_point


def main() -> None:
    """Kill as often as asked, on both databases, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    points = [point for point in pausing.POINTS if point.split(".")[0] in {"append", "seal", "swap"}]
    with ExitStack() as stack:
        server = stack.enter_context(Postgres(QUICK))
        for database in given.database or ("sqlite", "postgresql"):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            url = "" if database == "sqlite" else server.create("crashes")
            settings = Settings(folder, url, disk_least=0)
            prepare(settings)
            total, wrong = 0, 0
            for number in range(given.kills):
                moment = rng.uniform(0.3, 2.5) if number % 2 else f"{rng.choice(points)}:{rng.randint(1, 3)}:8"
                keys = kill_once(settings, moment, number)
                found = check(settings, keys, number)
                total, wrong = total + len(keys), wrong + bool(found)
                print(
                    f"{database} kill {number + 1} at {moment}: {len(keys)} acknowledged", *found, sep="; ", flush=True
                )
            print(
                f"{database}: {given.kills} kills, {total} batches acknowledged, {wrong} stores with a fault",
                flush=True,
            )


if __name__ == "__main__":
    main()
