"""Doing runs: claim one, let a child process compute, renew the lease meanwhile, spend or put off."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy import exists

from fairtest.service.operate.starting import Listening, to_text
from fairtest.service.store.outbox import Happening, announce
from fairtest.service.store.runs import AlreadySpent, Answer, Measured, end_run, spend
from fairtest.service.store.tables import run
from fairtest.service.work.leases import RENEW_EVERY, claim, give_back, put_off, renew
from fairtest.service.work.memory import say_out_of_memory

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

    from fairtest.service.service import Service
    from fairtest.service.work.leases import Lease

LOOK_EVERY = 0.5
"""Seconds between two looks at whether the worker is to end."""
LONGEST = 3600.0
"""Seconds that a run may take."""


def do_run(service: Service) -> bool:
    """Do one run that is due; return whether there was one."""
    lease = claim(service.database, run, service.worker_name, _another_runs)
    if lease is None:
        return False
    began = time.monotonic()
    try:
        answer = compute(service, lease)
        if answer is None:  # the lease was lost, and with it the run
            return True
        answer["detail"]["seconds"] = round(time.monotonic() - began, 3)
        if answer["skipped"]:
            to_go = answer["detail"]["to_go"]
            words = f"Not enough people yet: {to_go:,} to go. Nothing was spent."
            end_run(service.database, lease, "skipped", words, answer["detail"])
            return True
        spend(service.database, lease, as_answer(answer))
    except AlreadySpent as error:  # thrown away unseen; the next attempt has the next window
        _fail(service, lease, str(error))
    except RunFailed as error:
        _fail(service, lease, str(error))
    except Stopped:
        give_back(service.database, lease)
    return True


class Stopped(Exception):  # noqa: N818 - what happened
    """The worker is to end; somebody else does the run."""


class RunFailed(Exception):  # noqa: N818 - what happened
    """The child process of a run did not come to an answer."""


def compute(service: Service, lease: Lease) -> dict[str, Any] | None:
    """Return what a child process computes for a run; None if the lease was lost meanwhile."""
    knows = to_text(service.settings, Listening())
    row = lease.row
    given = {"knows": knows, "project": lease.project, "monitor": row["monitor"], "version": row["version"]}
    given["explain_by"] = json.loads(row["detail"] or "{}").get("explain_by", [])
    with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(
            [sys.executable, "-m", "fairtest.service.work.audit"],
            stdin=subprocess.PIPE, stdout=output, stderr=errors, text=True, start_new_session=True,
        )  # fmt: skip
        assert child.stdin is not None
        with suppress(BrokenPipeError):
            child.stdin.write(json.dumps(given) + "\n")
            child.stdin.flush()
        if not _wait(service, lease, child):
            return None
        output.seek(0)
        errors.seek(0)
        if child.returncode != 0:
            raise RunFailed(_say_end(child.returncode, errors.read(), service.settings.run_memory))
        answer: dict[str, Any] = json.load(output)
        return answer


def _say_end(code: int, errors: str, most: int) -> str:
    """Return why a child process ended without an answer."""
    lines = errors.strip().splitlines()
    return say_out_of_memory(code, errors, most) or (lines[-1] if lines else f"the process ended with {code}")


def as_answer(answer: dict[str, Any]) -> Answer:
    """Return what a child computed, ready to be stored."""
    names = ("lo", "hi", "before", "level", "people", "detail", "reports")
    measures = [Measured(**each) for each in answer["measures"]]
    return Answer(**{name: answer[name] for name in names}, hashes=bytes.fromhex(answer["hashes"]), measures=measures)


def _wait(service: Service, lease: Lease, child: subprocess.Popen[str]) -> bool:
    """Wait for a child and renew the lease; ends the child and returns False if the lease is lost.

    The end of its standard input is what a child ends by when its worker is killed, so that stays open until then.
    """
    start = renewed = time.monotonic()
    try:
        while True:
            try:
                child.wait(LOOK_EVERY)
                return True
            except subprocess.TimeoutExpired:
                now = time.monotonic()
            if service.stopping.is_set():
                raise Stopped
            if now - start > LONGEST:
                raise RunFailed(f"it took longer than {LONGEST:,.0f} s")
            if now - renewed >= RENEW_EVERY:
                if not renew(service.database, lease):
                    return False
                renewed = now
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        if child.stdin is not None:
            with suppress(BrokenPipeError):
                child.stdin.close()


def _fail(service: Service, lease: Lease, reason: str) -> None:
    """Put a run off, or end it after the last attempt with an event that tells of it."""
    with service.database.writing_soon() as connection:
        now = service.database.now(connection)
        if put_off(connection, now, lease, reason):
            sentence = f"A run failed after {lease.attempts} attempts; nothing was spent. {reason}"
            told = Happening("run_failed", lease.id, "", {"run": lease.id, "reason": reason, "sentence": sentence})
            announce(service.database, connection, lease.project, lease.row["monitor"], told)


def _another_runs(now: float) -> ColumnElement[bool]:
    """Return the condition that another run of the same monitor is under a live lease."""
    other = run.alias()
    same = (other.c.project == run.c.project) & (other.c.monitor == run.c.monitor) & (other.c.id != run.c.id)
    return exists().where(same, other.c.state == "running", other.c.lease_until >= now)
