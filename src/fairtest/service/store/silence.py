"""Databases that fall silent: a connection that is open and says nothing would keep its transaction waiting for ever.

PostgreSQL's own limits hold where it is alive, and TCP's where its machine is gone. What neither sees is a network in
between that takes bytes and forwards none; so a thread cuts connections whose transaction is overdue.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOK_EVERY = 0.5


class SilenceGuard:
    """Cuts connections whose transaction takes longer than it may."""

    def __init__(self) -> None:
        self._due: dict[int, float] = {}
        self._lock = threading.Lock()
        self._looking = False

    @contextmanager
    def watching(self, handle: int, within: float) -> Iterator[None]:
        """Cut the connection of a socket unless the block ends in time."""
        with self._lock:
            self._due[handle] = time.monotonic() + within
            if not self._looking:
                self._looking = True
                threading.Thread(target=self._look, name="fairtest-silence", daemon=True).start()
        try:
            yield
        finally:
            with self._lock:
                self._due.pop(handle, None)

    def _look(self) -> None:
        """Look until nothing is watched any more for a while."""
        idle = 0.0
        while idle < 60.0:
            time.sleep(LOOK_EVERY)
            with self._lock:  # nobody closes a socket while it is cut: its number could be another's by then
                now = time.monotonic()
                idle = 0.0 if self._due else idle + LOOK_EVERY
                for handle in [handle for handle, due in self._due.items() if due < now]:
                    del self._due[handle]
                    _cut(handle)
                if idle >= 60.0:
                    self._looking = False


def _cut(handle: int) -> None:
    with suppress(OSError), socket.socket(fileno=os.dup(handle)) as connection:
        connection.shutdown(socket.SHUT_RDWR)
