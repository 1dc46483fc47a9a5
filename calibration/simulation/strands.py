"""Functions that take turns: each runs on a thread of its own, and only one of them at any time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from fairtest.service.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

GO, FAIL, KILL = "go", "fail", "kill"
PATIENCE = 60.0
"""Seconds after which a strand that does not come back is a fault of the simulation."""


class Killed(BaseException):
    """The process of an actor died: nothing of it may catch this."""


class Strand:
    """A piece of work that stops at named points until it is let go on.

    Attributes
    ----------
    at
        The point at which it waits; None when it has ended.
    error
        What it ended with, where that was an error other than being killed.
    """

    def __init__(self, name: str, work: Callable[[], object]) -> None:
        self.name = name
        self.at: str | None = "start"
        self.error: BaseException | None = None
        self._fate = GO
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, args=[work], daemon=True)
        self._thread.start()

    @property
    def ident(self) -> int | None:
        """The thread that it runs on."""
        return self._thread.ident

    def resume(self, fate: str = GO) -> None:
        """Let it run to its next point; ``fail`` and ``kill`` say what happens to it where it is."""
        self._fate = fate
        self._go.release()
        if not self._back.acquire(timeout=PATIENCE):
            raise RuntimeError(f"{self.name} does not come back from {self.at}")
        if self.at is None:
            self._thread.join()

    def stop_at(self, point: str) -> None:
        """Wait at a point, on the thread of the strand itself."""
        self.at = point
        self._back.release()
        self._go.acquire()
        self._meet_fate()

    def _run(self, work: Callable[[], object]) -> None:
        self._go.acquire()
        try:
            self._meet_fate()
            work()
        except Killed:
            pass
        except BaseException as error:  # the scheduler decides what it means
            self.error = error
        finally:
            self.at = None
            self._back.release()

    def _meet_fate(self) -> None:
        if self._fate == KILL:
            raise Killed
        if self._fate == FAIL:
            raise StoreUnavailable("The simulation lost this connection.")
