"""The loop of a worker: plan what is due, do it, rest when there is nothing."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from fairtest.service.alerts.postman import deliver_alerts
from fairtest.service.errors import StoreUnavailable
from fairtest.service.work.jobs import do_job, plan_jobs
from fairtest.service.work.runs import do_run
from fairtest.service.work.schedule import plan_runs
from fairtest.service.work.watching import do_watch, plan_watches

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from fairtest.service.operate.tracing import Tracing
    from fairtest.service.service import Service

REST = 1.0
"""Seconds between two looks when nothing is due."""
log = logging.getLogger("fairtest.worker")

STEPS: tuple[tuple[Callable[[Service], object], ...], tuple[Callable[[Service], bool], ...]] = (
    (plan_jobs, plan_watches, plan_runs),
    (do_job, do_watch, do_run, deliver_alerts),
)
"""What plans and what does; each returns whether it did something. To add a kind of work, add its two functions."""


def work_until(service: Service, stopping: threading.Event, rest: float = REST, tracing: Tracing | None = None) -> None:
    """Work until told to stop."""
    while not stopping.is_set():
        if not work_once(service, tracing):
            stopping.wait(rest)


def work_once(service: Service, tracing: Tracing | None = None) -> bool:
    """Plan, then do one piece of each kind of work; return whether anything was done."""
    planning, doing = STEPS
    did = False
    for step in (*planning, *doing):
        if service.stopping.is_set():
            return did
        began, did_this, failed = time.time_ns(), False, True
        try:
            did_this = bool(step(service)) and step in doing
            did, failed = did or did_this, False
        except StoreUnavailable as error:
            log.warning("the database does not answer", extra={"error": type(error).__name__})
        except Exception:  # one piece of work that fails must not end the worker; its row says why
            log.exception("a piece of work failed")
        if tracing is not None and (did_this or failed):
            tracing.add(step.__name__, began, time.time_ns(), {"fairtest.failed": failed})
    return did
