"""The one writer thread of a process: takes all batches that wait and stores them in one transaction.

A commit costs the same for one batch as for thirty. Nobody is answered before the commit, and what does not fit into
the queue is refused, never dropped.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING

from fairtest.service.errors import Overloaded, ServiceError, StoreUnavailable
from fairtest.service.store.log import append_group

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtest.service.store.database import Database
    from fairtest.service.store.log import Append, Receipt

    Promise = Future[Receipt] | asyncio.Future[Receipt]

log = logging.getLogger("fairtest.writer")
GROUP, GROUP_BYTES = 32, 8 << 20
"""How many batches, and how many bytes, are stored in one transaction at most."""
WAITING, WAITING_BYTES = 512, 64 << 20
"""How many may wait before others are refused."""


class Writer:
    """Stores batches in groups, on a thread of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: deque[tuple[Append, Promise]] = deque()
        self._bytes = 0
        self._ready = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name="fairtest-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many batches wait."""
        return len(self._queue)

    @property
    def alive(self) -> bool:
        """Whether the thread is at work."""
        return self._thread.is_alive() and not self._stopping

    def submit(self, append: Append) -> Future[Receipt]:
        """Hand over a batch; the result is there when it is committed."""
        promise: Future[Receipt] = Future()
        self._enqueue(append, promise)
        return promise

    def submit_from_loop(self, append: Append) -> asyncio.Future[Receipt]:
        """Hand over a batch from a coroutine: all that are committed together wake its loop once."""
        promise: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._enqueue(append, promise)
        return promise

    def stop(self) -> None:
        """Write what waits, then end; nothing is taken from now on."""
        with self._ready:
            self._stopping = True
            self._ready.notify()
        self._thread.join()

    def _enqueue(self, append: Append, promise: Promise) -> None:
        with self._ready:
            if self._stopping:
                raise StoreUnavailable("The service is stopping.")
            if len(self._queue) >= WAITING or self._bytes + len(append.body) > WAITING_BYTES:
                raise Overloaded("Too many batches wait to be written. Send again later.")
            self._queue.append((append, promise))
            self._bytes += len(append.body)
            self._ready.notify()

    def _work(self) -> None:
        while group := self._take():
            try:
                answers: list[Receipt | ServiceError] = append_group(self._database, [append for append, _ in group])
            except ServiceError as error:
                answers = [error] * len(group)
            except Exception as error:  # the thread must live: whoever waits is told, the next group is tried
                log.exception("a group of batches was not stored", extra={"count": len(group)})
                failed = StoreUnavailable(f"The batch could not be stored: {type(error).__name__}.")
                failed.__cause__ = error
                answers = [failed] * len(group)
            _keep_promises([promise for _, promise in group], answers)

    def _take(self) -> list[tuple[Append, Promise]]:
        """Wait for batches and return a group of them; nothing when it is time to end."""
        with self._ready:
            while not self._queue and not self._stopping:
                self._ready.wait()
            group: list[tuple[Append, Promise]] = []
            size = 0
            while (
                self._queue and len(group) < GROUP and (not group or size + len(self._queue[0][0].body) <= GROUP_BYTES)
            ):
                group.append(self._queue.popleft())
                size += len(group[-1][0].body)
            self._bytes -= size
            return group


def _keep_promises(promises: list[Promise], answers: list[Receipt | ServiceError]) -> None:
    """Give each batch its answer; coroutines get theirs in their own loop, in one go."""
    of_loops: dict[asyncio.AbstractEventLoop, list[tuple[Promise, Receipt | ServiceError]]] = {}
    for promise, answer in zip(promises, answers, strict=True):
        if isinstance(promise, Future):
            _settle([(promise, answer)])
        else:
            of_loops.setdefault(promise.get_loop(), []).append((promise, answer))
    for loop, settled in of_loops.items():
        with suppress(RuntimeError):  # the loop has been closed: nobody waits there any more
            loop.call_soon_threadsafe(_settle, settled)


def _settle(settled: Iterable[tuple[Promise, Receipt | ServiceError]]) -> None:
    for promise, answer in settled:
        if promise.done():  # whoever waited has given up
            continue
        if isinstance(answer, ServiceError):
            promise.set_exception(answer)
        else:
            promise.set_result(answer)
