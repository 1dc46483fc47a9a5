"""A world: the store of a service, what its actors do, and a model of what must be true of both."""

from __future__ import annotations

import io
import json
import random
import secrets
import shutil
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import polars as pl
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy import select

from calibration.simulation.strands import FAIL, GO, KILL, Killed, Strand
from fairtest.service import pausing
from fairtest.service.alerts import postman
from fairtest.service.alerts.webhook import Outcome
from fairtest.service.errors import ServiceError, StoreUnavailable
from fairtest.service.ingest.reading import Sent, read_batch
from fairtest.service.operate.verify import verify
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store import sealing, tables
from fairtest.service.store.destinations import create_destination
from fairtest.service.store.erasure import ask_to_erase
from fairtest.service.store.log import append_group
from fairtest.service.store.monitors import create_monitor, load_monitor
from fairtest.service.store.outbox import Happening, announce
from fairtest.service.store.projects import create_project
from fairtest.service.store.rows import SEQ
from fairtest.service.store.runs import request_run
from fairtest.service.store.streams import create_stream, find_stream
from fairtest.service.store.tenant import Tenant
from fairtest.service.store.windows import read_window
from fairtest.service.work import jobs, leases, people, runs, schedule
from fairtest.service.work.people import choose_people

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairtest.service.work.leases import Lease

START = 1_790_000_000.0
PROJECT, STREAM, MONITOR = "acme", "loans", "m"
PEOPLE = 60
"""People of whom records tell: few, so that they come again."""
QUESTION = {
    "kind": "testing", "protected": ["sex"], "output": "granted", "train_people": 4, "test_people": 3,
    "error_rate": {"level": 0.05, "over": "life"},
}  # fmt: skip
REPORT = dict.fromkeys(("question", "prior", "document", "json", "text", "html"), "…") | {"headline": "{}"}


class World:
    """A service under a seed.

    Parameters
    ----------
    folder
        Where its files are; a store that was prepared before is copied from ``template``.
    faults
        How often something goes wrong where something can: 0 to 1.
    """

    def __init__(self, seed: int, folder: Path, template: Path | None = None, faults: float = 0.12) -> None:
        self.rng = random.Random(seed)
        self.faults = faults
        self.clock = START
        self.log: list[str] = []
        self.sent: dict[str, list[dict[str, Any]]] = {}
        self.acknowledged: set[str] = set()
        self.erased: dict[str, int] = {}
        self.received: list[str] = []
        self.strands: list[Strand] = []
        self._world = ExitStack()
        if template is not None:
            shutil.copytree(template, folder, dirs_exist_ok=True)
        where = "database" if self.rng.random() < 0.5 else ""
        self._world.enter_context(self._seeded())
        self.service = self._world.enter_context(
            Service(Settings(folder, "", where, disk_least=0, allow_private=("127.0.0.0/8",)))
        )
        self._make_quick()
        if template is None:
            self._prepare()

    def close(self) -> None:
        """Give back what the world took over."""
        self._world.close()

    # what actors do

    def send(self) -> None:
        """Send a batch: a new one, or one of before again."""
        fresh = not self.sent or self.rng.random() < 0.7
        key = f"k{len(self.sent)}" if fresh else self.rng.choice(sorted(self.sent))
        if fresh:
            self.sent[key] = self._draw_records(key)
        tenant = self.tenant()
        sent = Sent("records", key, "application/json", "", json.dumps({"records": self.sent[key]}).encode())
        append = sealing.stage_body(self.service, read_batch(sent, find_stream(tenant, STREAM), None))
        (answer,) = append_group(self.service.database, [append])
        if isinstance(answer, ServiceError):
            raise answer
        self.acknowledged.add(key)

    def erase(self) -> None:
        """Ask to forget somebody."""
        person = f"p{self.rng.randrange(PEOPLE)}"
        tenant = self.tenant()
        upto = find_stream(tenant, STREAM).seq
        ask_to_erase(self.service, tenant, STREAM, "person", [person])
        self.erased[person] = max(self.erased.get(person, 0), upto)

    def request(self) -> None:
        """Ask for a run."""
        request_run(self.tenant(), MONITOR, f"r{self.rng.randrange(6)}")

    def announce(self) -> None:
        """Let something happen that is told; the same may happen again."""
        what = Happening("new", f"hyp_{self.rng.randrange(4)}", "slot", {"sentence": "…"})
        with self.service.database.writing() as connection:
            monitor = load_monitor(connection, PROJECT, MONITOR)
            announce(self.service.database, connection, PROJECT, monitor.id, what)

    def plan(self) -> None:
        """Look what is due."""
        schedule.plan_runs(self.service)
        jobs.plan_jobs(self.service)

    def do_job(self) -> None:
        """Seal or erase."""
        jobs.do_job(self.service)

    def do_run(self) -> None:
        """Do a run."""
        runs.do_run(self.service)

    def deliver(self) -> None:
        """Carry one message."""
        carrier = postman.Postman(self.service, self.rng)
        for lease in carrier._claim_some(1):
            carrier._deliver(lease)

    def pass_time(self) -> None:
        """Let the clock go on, mostly a little; now and then it jumps, also back."""
        self.clock += self.rng.choice([1.0, 5.0, 20.0, 61.0, 400.0, 3700.0, -30.0])

    ACTS = (
        send, send, send, send, erase, request, announce, plan, plan, do_job, do_job, do_job, do_run, do_run, do_run,
        deliver, deliver,
    )  # fmt: skip

    # the scheduler

    def step(self) -> None:
        """Let one actor go on, or begin."""
        if self.rng.random() < 0.2:
            self.pass_time()
            return
        if len(self.strands) < 4 and (not self.strands or self.rng.random() < 0.5):
            self.begin(self.rng.choice(self.ACTS))
            return
        self.go_on(self.rng.choice(self.strands))

    def begin(self, act: Callable[[World], None]) -> Strand:
        """Let an actor begin something; it stops at its first point."""
        strand = Strand(act.__name__, lambda: act(self))
        self.strands.append(strand)
        self.go_on(strand)
        return strand

    def go_on(self, strand: Strand, fate: str = GO) -> None:
        """Let a strand run to its next point, whatever becomes of it there."""
        if strand.at != "start" and self.rng.random() < self.faults:
            fate = self.rng.choice([FAIL, KILL])
        self.log.append(f"{self.clock:.0f} {strand.name} {fate} at {strand.at}")
        strand.resume(fate)
        if strand.at is None:
            self.strands.remove(strand)
            if strand.error is not None and not isinstance(strand.error, ServiceError):
                raise strand.error

    def finish(self) -> None:
        """Let everybody come to an end, without faults, and do what is left to do."""
        self.faults = 0.0
        while self.strands:
            self.go_on(self.strands[0])
        for _ in range(60):
            self.clock += 2 * leases.LEASE + 400.0
            self.plan()
            before = self._left()
            for act in (World.do_job, World.do_run, World.deliver):
                act(self)
            if before == self._left() == 0:
                return

    # what must be true

    def wrong(self) -> list[str]:
        """Return what is wrong; call it when everybody has finished."""
        found = verify(self.service)
        seq = find_stream(self.tenant(), STREAM).seq
        frame = read_window(self.service, PROJECT, STREAM, (0, seq), columns=())
        there = frame["id"].to_list()
        if len(set(there)) < len(there):
            found.append("a record is there twice")
        if unknown := set(there).difference(r["id"] for rows in self.sent.values() for r in rows):
            found.append(f"{sorted(unknown)} were never sent")
        found += self._wrong_batches(set(there))
        if hidden := self._forgotten(frame):
            found.append(f"{hidden} asked to be forgotten and are seen")
        return found + self._wrong_files() + self._wrong_work()

    def _forgotten(self, frame: pl.DataFrame) -> list[str]:
        return [p for p, s in zip(frame["who"], frame[SEQ], strict=True) if s <= self.erased.get(p, 0)]

    def _wrong_files(self) -> list[str]:
        """Look into the segments themselves, where nothing hides what should have gone."""
        with self.service.database.reading() as connection:
            segments = sealing.live_segments(connection, PROJECT, STREAM, "records")
            pending = connection.scalars(select(tables.tombstone.c.hash).where(tables.tombstone.c.erased.is_(None)))
            wrong = [f"tombstone {each} is pending" for each in pending]
        for each in segments:
            frame = pl.read_parquet(io.BytesIO(self.service.segments.read(each.place)))
            if left := self._forgotten(frame):
                wrong.append(f"{left} were erased and are in {each.place}")
        return wrong

    def _wrong_batches(self, there: set[str]) -> Iterator[str]:
        # whoever uses an id twice has the first record, and loses it with the person it was about
        gone = {r["id"] for rows in self.sent.values() for r in rows if r["who"] in self.erased}
        for key in sorted(self.acknowledged):
            lost = [r["id"] for r in self.sent[key] if r["id"] not in there | gone]
            if lost:
                yield f"{lost} of batch {key} were acknowledged and are lost"
        with self.service.database.reading() as connection:
            keys = list(connection.scalars(select(tables.batch.c.key)))
        if len(set(keys)) < len(keys):
            yield "a batch is there twice"

    def _wrong_work(self) -> list[str]:
        with self.service.database.reading() as connection:
            states = list(connection.scalars(select(tables.run.c.state)))
            told = connection.execute(select(tables.delivery.c.id, tables.delivery.c.state)).all()
            waiting = connection.execute(select(tables.job.c.kind, tables.job.c.state, tables.job.c.reason)).all()
        wrong = [f"a run is {state}" for state in states if state in {"due", "running"}]
        wrong += [f"a {kind} job is {state}: {reason}" for kind, state, reason in waiting]
        wrong += [f"message {row.id} is {row.state}" for row in told if row.state != "sent"]
        wrong += [f"message {row.id} was never received" for row in told if row.id not in self.received]
        if strange := set(self.received).difference(row.id for row in told):
            wrong.append(f"{strange} were received and nobody sent them")
        return wrong

    def count_done(self) -> int:
        """Return how many runs were spent."""
        with self.service.database.reading() as connection:
            return len(connection.execute(select(tables.run.c.id).where(tables.run.c.state == "done")).all())

    def _left(self) -> int:
        with self.service.database.reading() as connection:
            return sum(
                len(connection.execute(select(table.c.id).where(table.c.state.in_(("due", "running")))).all())
                for table in (tables.run, tables.job, tables.delivery)
            )

    # what the world is made of

    def tenant(self) -> Tenant:
        """Return somebody who may do everything."""
        return Tenant(self.service.database, "world", PROJECT, frozenset({"manage", "ingest", "read"}))

    def _prepare(self) -> None:
        create_project(self.service.database, "world", PROJECT)
        tenant = self.tenant()
        create_stream(tenant, STREAM, {"columns": {"sex": "text", "granted": "boolean"}, "person": "who"})
        to = create_destination(tenant, "webhook", "http://127.0.0.1:9/hook").id
        when = {"cron": "0 * * * *", "timezone": "UTC", "after": 25}
        create_monitor(tenant, MONITOR, STREAM, QUESTION, when, [to])

    def _draw_records(self, key: str) -> list[dict[str, Any]]:
        count = self.rng.choice([1, 3, 6])
        records = []
        for number in range(count):
            who = self.rng.randrange(PEOPLE)
            # an id of before may come again in another batch: the first that was acknowledged counts
            again = self.sent and self.rng.random() < 0.05
            earlier = self.rng.choice(self.sent[self.rng.choice(sorted(self.sent))])["id"] if again else None
            if earlier is None or earlier in {each["id"] for each in records}:
                earlier = f"{key}-{number}"
            records.append({"id": earlier, "who": f"p{who}", "sex": "fm"[who % 2], "granted": who % 3 == 0})
        return records

    @contextmanager
    def _seeded(self) -> Iterator[None]:
        """Take over the clock, chance, the points, the computing of a run and the network."""
        world = self

        def compute(service: Service, lease: Lease) -> dict[str, Any]:
            return world._compute(service, lease)

        def carry(_: Any, letter: postman.Letter, _to: object) -> Outcome:
            return world._carry(letter)

        with (
            patch.object(secrets, "token_hex", lambda n=16: self.rng.randbytes(n).hex()),
            patch.object(secrets, "token_bytes", lambda n=16: self.rng.randbytes(n)),
            patch.object(secrets, "choice", self.rng.choice),
            patch.object(pausing, "hook", self._pass_point),
            patch.object(runs, "compute", compute),
            patch.object(postman.Postman, "carry", carry),
            patch.object(sealing, "LARGE", 6),
            patch.object(sealing, "MOST_ROWS", 30),
            patch.object(jobs, "MOST_ROWS", 12),
            patch.object(people, "FEWEST_IN_GROUP", 1),
        ):
            yield

    def _make_quick(self) -> None:
        """Let the database go by our clock, and not wait for the disk: no power is lost here."""
        database = self.service.database
        database.now = lambda _connection: self.clock  # type: ignore[method-assign]
        sqlalchemy_event.listen(database.engine, "connect", lambda raw, _: raw.execute("PRAGMA synchronous=OFF"))
        database.engine.dispose()

    def _pass_point(self, point: str) -> None:
        strand = next((each for each in self.strands if each.ident == threading.get_ident()), None)
        if strand is None:
            return
        if not point.endswith(".inside"):
            strand.stop_at(point)
        elif self.rng.random() < self.faults / 2:  # nobody waits inside a transaction; it may fail, or its process die
            self.log.append(f"{self.clock:.0f} {strand.name} fails at {point}")
            raise self.rng.choice([StoreUnavailable("The simulation rolled this back."), Killed()])

    def _compute(self, service: Service, lease: Lease) -> dict[str, Any]:
        """Choose the people of a run as it is really done, and answer with an empty report."""
        with service.database.reading() as connection:
            monitor = load_monitor(connection, PROJECT, lease.row["monitor"], lease.row["version"])
        chosen = choose_people(service, monitor, self.clock)
        detail = {"to_go": chosen.to_go}
        pausing.pause("run.computed")
        if chosen.to_go:
            return {"skipped": True, "detail": detail}
        return {
            "skipped": False, "detail": detail, "lo": chosen.lo, "hi": chosen.hi, "before": chosen.before,
            "level": 0.01, "people": chosen.test.height, "hashes": chosen.hashes.hex(), "reports": [REPORT],
            "measures": [],
        }  # fmt: skip

    def _carry(self, letter: postman.Letter) -> Outcome:
        luck = 1.0 if self.faults == 0.0 else self.rng.random()
        if luck < 0.1:
            return Outcome(False, "There was no answer.")
        self.received.append(letter.id)
        return Outcome(luck >= 0.2, "The answer was lost.")
