"""Lines that never keep anybody waiting: a thread writes them, and those that nobody takes in time are counted.

Whoever reads the standard error of a service may be slow, or stop reading: a pipe that is full keeps its writer waiting
for ever. Requests must not wait for that.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

MOST = 10_000
"""Lines that wait at most; what comes then is dropped, and counted."""
LAST_WAIT = 1.0
"""Seconds that a process which ends waits for its last lines to be taken."""


class Lines:
    """Writes lines to a stream on a thread of its own.

    Parameters
    ----------
    to
        Where to write. What has a file descriptor is written to directly: a thread that is stuck in there must not
        hold a lock that the interpreter needs to end.
    say_dropped
        Makes the line that says how many were dropped, once lines are taken again.

    Attributes
    ----------
    dropped
        How many lines were dropped.
    """

    def __init__(self, to: TextIO, say_dropped: Callable[[int], str], most: int = MOST) -> None:
        self._to, self._say_dropped, self._most = to, say_dropped, most
        self._waiting: deque[str] = deque()
        self._ready = threading.Condition()
        self._writing = False
        self._said = self.dropped = 0
        threading.Thread(target=self._work, name="fairtest-lines", daemon=True).start()

    def write(self, line: str) -> None:
        """Hand over a line, or drop it if too many wait; returns at once."""
        with self._ready:
            if len(self._waiting) < self._most:
                self._waiting.append(line)
                self._ready.notify_all()
            else:
                self.dropped += 1

    def drop(self) -> None:
        """Count a line that is not written."""
        with self._ready:
            self.dropped += 1

    def flush(self, within: float = LAST_WAIT) -> None:
        """Wait until everything is written, but no longer than so many seconds."""
        end = time.monotonic() + within
        with self._ready:
            self._ready.wait_for(lambda: not self._waiting and not self._writing, max(end - time.monotonic(), 0))

    def _work(self) -> None:
        while True:
            with self._ready:
                self._writing = False
                self._ready.notify_all()
                while not self._waiting:
                    self._ready.wait()
                self._writing = True
                line = self._waiting.popleft()
            if not self._try_to_write(line):
                self.drop()
                continue
            missing = self.dropped - self._said
            if missing and not self._waiting and self._try_to_write(self._say_dropped(missing)):
                self._said += missing

    def _try_to_write(self, line: str) -> bool:
        """Write a line; False if there is nobody who could ever take it."""
        try:
            _write(self._to, f"{line}\n")
        except (OSError, ValueError):  # closed, at one end or the other
            return False
        return True


def _write(to: TextIO, text: str) -> None:
    try:
        handle = to.fileno()
    except OSError:  # a stream in memory
        to.write(text)
        return
    rest = memoryview(text.encode("utf-8", "backslashreplace"))
    while rest:
        rest = rest[os.write(handle, rest) :]
