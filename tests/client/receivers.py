"""A service that misbehaves: a real HTTP server on the loopback address, with the answers a test asks for."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter, deque
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "ftk_test_0123456789abcdef"


class Receiver:
    """What arrived, and what the next answers will be.

    A fault is taken from ``faults`` for each request; when there is none, the request is answered as the service would.
    """

    def __init__(self, port=0):
        self.faults = deque()
        self.always = None
        self.stored = {}  # by idempotency key, as the service stores: once
        self.deliveries = Counter()
        self.bodies = {}
        self.requests = []
        self.connections = set()
        self.lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # an answer is one packet

            def do_POST(self):
                receiver.answer(self)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request):
        body = request.rfile.read(int(request.headers["Content-Length"]))
        key = request.headers["Idempotency-Key"]
        with self.lock:
            fault = self.faults.popleft() if self.faults else self.always
            self.requests.append((request.path, dict(request.headers)))
            self.connections.add(request.client_address)
            self.deliveries[key] += 1
            if self.bodies.setdefault(key, body) != body:
                raise AssertionError("the same key with other bytes")
        if fault is None:
            return self.accept(request, key, body)
        return fault(self, request, key, body)

    def accept(self, request, key, body):
        rows = [json.loads(line) for line in body.splitlines()]
        with self.lock:
            new = key not in self.stored
            self.stored.setdefault(key, (request.path, rows))
        receipt = {"batch": key, "seq": 1, "accepted": len(rows)}
        self.reply(request, 201 if new else 200, receipt)

    def reply(self, request, status, document, headers=None):
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        request.send_response(status)
        for name, value in (headers or {}).items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def records(self, kind="records"):
        with self.lock:
            return [row for path, rows in self.stored.values() if path.endswith(f"/{kind}") for row in rows]

    def ids(self):
        return [row["id"] for row in self.records()]


def status(code, document=None, **headers):
    """Answer with a status."""

    def fault(receiver, request, key, body):
        receiver.reply(
            request, code, document or {"title": "out of order"}, {k.replace("_", "-"): v for k, v in headers.items()}
        )

    return fault


def cut(receiver, request, key, body):
    """Close the connection without an answer."""
    request.connection.shutdown(socket.SHUT_RDWR)
    request.close_connection = True


def store_then_cut(receiver, request, key, body):
    """Store the batch and die before the answer: the client must send it again, and it must count once."""
    rows = [json.loads(line) for line in body.splitlines()]
    with receiver.lock:
        receiver.stored.setdefault(key, (request.path, rows))
    cut(receiver, request, key, body)


def half_an_answer(receiver, request, key, body):
    """Begin an answer and die in the middle of it."""
    request.send_response(201)
    request.send_header("Content-Length", "500")
    request.end_headers()
    request.wfile.write(b'{"batch": ')
    request.wfile.flush()
    cut(receiver, request, key, body)


def slow(seconds):
    """Answer after a while."""

    def fault(receiver, request, key, body):
        time.sleep(seconds)
        receiver.accept(request, key, body)

    return fault


@contextmanager
def receiving(port=0):
    receiver = Receiver(port)
    try:
        yield receiver
    finally:
        receiver.stop()


def wait_until(condition, seconds=20.0):
    """Wait for something that happens in another thread; a bound for tests that fail, not a measurement."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.005)
