"""``fairtest serve``: one process that answers and some that work, started again when they die.

The socket belongs to the supervisor, so that clients who come while a process starts again wait instead of failing.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from fairtest.exceptions import InputError
from fairtest.service.operate.starting import check_may_listen, note_address, to_text
from fairtest.service.pages.sessions import make_sign_in_link
from fairtest.service.service import Service
from fairtest.service.store.projects import any_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.service.operate.starting import Listening
    from fairtest.service.settings import Settings

STOP_WITHIN = 20.0
FIRST_PAUSE, LONGEST_PAUSE, WELL_AFTER = 0.5, 30.0, 60.0


class Child:
    """A process that is started again when it ends, later and later while it keeps ending soon."""

    def __init__(self, name: str, arguments: list[str], knows: str, passed: tuple[int, ...] = ()) -> None:
        self.name = name
        self._arguments, self._knows, self._passed = arguments, knows, passed
        self._pause, self._started, self._again = FIRST_PAUSE, 0.0, 0.0
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the process."""
        command = [sys.executable, "-m", "fairtest.service.operate.child", *self._arguments]
        # frames of one batch are small: handing parts of them to other threads costs more than it gains
        few = {"POLARS_MAX_THREADS": "1", "ARROW_IO_THREADS": "1", "MALLOC_ARENA_MAX": "2"} if self._passed else {}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, text=True, pass_fds=self._passed, env={**few, **os.environ}
        )
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(self._knows + "\n")
            self.process.stdin.flush()
        self._started = time.monotonic()

    def look_after(self, say: Callable[[str], None]) -> None:
        """Start the process again if it has ended."""
        now = time.monotonic()
        if self.process is not None and self.process.poll() is not None:
            code = self.process.returncode
            self._pause = FIRST_PAUSE if now - self._started > WELL_AFTER else min(2 * self._pause, LONGEST_PAUSE)
            self._again = now + self._pause
            self.process = None
            say(f"the {self.name} process ended with {code}; starting again in {self._pause:g} s")
        if self.process is None and now >= self._again:
            self.start()

    def stop(self, deadline: float) -> None:
        """Ask the process to end, and end it when it is late."""
        if self.process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(deadline - time.monotonic(), 0.1))
            return
        self.process.kill()
        self.process.wait()


def serve(settings: Settings, listening: Listening, workers: int, say: Callable[[str], None]) -> None:
    """Run the service until it is interrupted or terminated."""
    with Service(settings) as service:  # makes or migrates the tables, before any child does
        check_may_listen(service, listening)
        link = make_sign_in_link(service, None) if not any_key(service.database) else ""
    with _listen(listening) as listener:
        port = listener.getsockname()[1]
        knows = to_text(settings, listening)
        children = [Child("API", ["api", str(listener.fileno())], knows, (listener.fileno(),))]
        children += [Child("worker", ["worker"], knows) for _ in range(workers)]
        stopping = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        for child in children:
            child.start()
        scheme = "https" if listening.tls_cert else "http"
        say(f"FairTest listens on {scheme}://{listening.host}:{port} and keeps its data in {settings.data}")
        if link:
            say(f"Sign in, once and within ten minutes: {scheme}://localhost:{port}{link}")
        note_address(settings, f"{scheme}://localhost:{port}")
        while not stopping.wait(0.2):
            for child in children:
                child.look_after(say)
        note_address(settings, "")
        deadline = time.monotonic() + STOP_WITHIN
        for child in children:
            if child.process is not None:
                child.process.send_signal(signal.SIGTERM)
        for child in children:
            child.stop(deadline)


def _listen(listening: Listening) -> socket.socket:
    try:
        family = socket.getaddrinfo(listening.host, listening.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # an answer is written in two parts: else the second waits 40 ms for the client to confirm the first
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind((listening.host, listening.port))
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"Cannot listen on {listening.host}, port {listening.port}: {why}. Choose another.") from None
    listener.listen(2048)
    listener.set_inheritable(True)
    return listener
