"""Receivers of alerts: a webhook and a mail server, both real, on the loopback address."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class Hook:
    """A webhook that notes what comes; ``answers`` are the statuses of the next answers, then 204."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int | str] = []
        self.headers: dict[str, str] = {}
        self.body = b""
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                answer = hook.answers.pop(0) if hook.answers else 204
                if answer == "drip":
                    for byte in b"HTTP/1.1 204 No Content\r\n\r\n":  # a good answer, if one waits for it
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                        time.sleep(0.1)
                    self.close_connection = True
                    return
                if answer == "cut":
                    self.close_connection = True
                    return
                self.send_response(int(answer))
                for name, value in hook.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(hook.body)))
                self.end_headers()
                self.wfile.write(hook.body)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def hooked() -> Iterator[Hook]:
    hook = Hook()
    try:
        yield hook
    finally:
        hook.close()


class Mailbox:
    """What a mail server took; ``refuse`` makes it answer so to a recipient."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.refuse: str | None = None

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.refuse is not None:
            return self.refuse
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.messages.append(envelope.content)
        return "250 OK"


@contextmanager
def mail_server() -> Iterator[tuple[Mailbox, int]]:
    from aiosmtpd.controller import Controller

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    box = Mailbox()
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield box, port
    finally:
        controller.stop()
