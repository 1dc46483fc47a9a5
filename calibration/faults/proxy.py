"""A TCP proxy that behaves badly on request: before the server, its database or a webhook."""

from __future__ import annotations

import selectors
import socket
import struct
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

MODES = ("pass", "cut", "swallow", "delay", "trickle", "refuse")
PAUSE = 0.3


class Proxy:
    """Forwards connections to another address while ``mode`` says how.

    ``pass`` forwards. ``cut`` resets every connection after the bytes that :attr:`cut_after` allows. ``swallow`` takes
    bytes and forwards none: the connection is half open. ``delay`` waits before it forwards. ``trickle`` forwards one
    byte at a time. ``refuse`` resets connections at once.

    Parameters
    ----------
    target
        Where to forward to: a host and a port, or the path of a socket.
    """

    def __init__(self, target: tuple[str, int] | str) -> None:
        self._target = target
        self.mode = "pass"
        self.cut_after = 0
        self.swallow_answers_only = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._closing = False
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def behave(self, mode: str, *, cut_after: int = 0, answers_only: bool = False) -> None:
        """Change how bytes are forwarded, also on connections that are open."""
        if mode not in MODES:
            raise ValueError(f"mode must be one of {MODES}. Got {mode!r} instead.")
        self.cut_after, self.swallow_answers_only, self.mode = cut_after, answers_only, mode

    def close(self) -> None:
        """End everything."""
        self._closing = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop()
        for thread in self._threads:
            thread.join(5)

    def drop(self) -> None:
        """Reset every connection that is open."""
        for each in list(self._open):
            _reset(each)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, target: object, *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)  # type: ignore[arg-type]
        thread.start()
        self._threads.append(thread)

    def _accept(self) -> None:
        while not self._closing:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.mode == "refuse":
                _reset(client)
                continue
            self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        try:
            server = self._connect()
        except OSError:
            _reset(client)
            return
        self._open |= {client, server}
        try:
            self._forward(client, server)
        except OSError:
            pass
        finally:
            for each in (client, server):
                self._open.discard(each)
                _reset(each)

    def _connect(self) -> socket.socket:
        if isinstance(self._target, str):
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            return server
        return socket.create_connection(self._target, 5)

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(client, selectors.EVENT_READ, server)
            selector.register(server, selectors.EVENT_READ, client)
            passed = 0
            while not self._closing:
                for key, _ in selector.select(0.2):
                    assert isinstance(key.fileobj, socket.socket)
                    part = key.fileobj.recv(65536)
                    if not part:
                        return
                    if self.mode in {"cut", "refuse"} and passed + len(part) > self.cut_after:
                        key.data.sendall(part[: max(self.cut_after - passed, 0)])
                        return
                    passed += len(part)
                    self._pass_on(part, key.data, answer=key.fileobj is server)

    def _pass_on(self, part: bytes, to: socket.socket, *, answer: bool) -> None:
        if self.mode == "swallow" and (answer or not self.swallow_answers_only):
            return
        if self.mode == "delay":
            time.sleep(PAUSE)
        if self.mode == "trickle":
            for place in range(len(part)):
                to.sendall(part[place : place + 1])
            return
        to.sendall(part)


def _reset(connection: socket.socket) -> None:
    """Close with a reset instead of a good-bye, as a network that breaks does."""
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
