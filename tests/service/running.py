"""The app of a service on a real port of the loopback address, and runs without a process of their own."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
from contextlib import contextmanager, redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TextIO

import pytest
import uvicorn

from fairtest.service.api.app import create_app
from fairtest.service.operate.starting import from_text
from fairtest.service.work import audit, runs
from fairtest.service.work.errors import describe_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.service.service import Service


@contextmanager
def served(service: Service, patience: int | None = None) -> Iterator[str]:
    """Serve until the block ends, and give the address.

    ``patience`` is how many seconds requests that are under way then have until they are cancelled.
    """
    config = uvicorn.Config(
        create_app(service), host="127.0.0.1", port=0, log_level="error", log_config=None, ws="none",
        timeout_graceful_shutdown=patience,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        thread.join(0.01)
    try:
        (listening,) = server.servers[0].sockets
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


class _Here:
    """What stands for the process of a run: the same words go in, and the same come out."""

    def __init__(self, command: list[str], *, stdout: TextIO, stderr: TextIO, **_: Any) -> None:
        assert command == [sys.executable, "-m", "fairtest.service.work.audit"]
        self.stdin = io.StringIO()
        self.returncode: int | None = None
        self._stdout, self._stderr = stdout, stderr

    def wait(self, _: float | None = None) -> int:
        asked = json.loads(self.stdin.getvalue())
        settings, _unused = from_text(asked["knows"])
        try:
            with redirect_stdout(self._stdout):
                audit._write_answer(settings, asked)
            self.returncode = 0
        except Exception as error:  # as the process says it
            self._stderr.write(describe_error(error))
            self.returncode = 1
        return self.returncode

    def poll(self) -> int | None:
        return self.returncode


@contextmanager
def in_this_process() -> Iterator[None]:
    """Let runs be computed here, which saves the seconds that a process takes to start."""
    with pytest.MonkeyPatch.context() as patch:
        stand_in = SimpleNamespace(Popen=_Here, PIPE=subprocess.PIPE, TimeoutExpired=subprocess.TimeoutExpired)
        patch.setattr(runs, "subprocess", stand_in)
        yield
