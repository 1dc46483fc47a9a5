"""The outermost part of the app: every request passes it, is counted, and is logged without anything personal."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import secrets
import time
from typing import TYPE_CHECKING

from fairtest.service.api.problems import WHY, answer_error
from fairtest.service.errors import StoreUnavailable
from fairtest.service.guard.limits import Buckets
from fairtest.service.guard.secrets import id_of_key

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from fairtest.service.operate.metrics import Meters
    from fairtest.service.operate.tracing import Tracing

log = logging.getLogger("fairtest.requests")
TRACE = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
BATCH = re.compile(r"/v1/(streams|monitors)/[^/]+/(records|truths)")
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
)
"""What every answer has unless it says something else of its own."""
TLS_ONLY = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")
QUIET = {"/healthz", "/readyz", "/metrics"}
"""What machines ask for all day: logged only where the answer is no."""
REFUSED_LINES = 5.0
"""Lines a second that are logged about requests of one address that were refused: nobody fills the disk with them."""

WENT_AWAY = 499
"""What is noted of a request whose client was gone before the answer; nobody is answered with it."""
UNAVAILABLE = 503


class _Answer:
    """Passes the messages of a request on, and remembers what became of it.

    Attributes
    ----------
    status
        What was answered; None before that. A client that is gone is noted with a status of its own.
    """

    def __init__(self, scheme: str, receive: Receive, send: Send) -> None:
        self._scheme, self._receive, self._send = scheme, receive, send
        self.status: int | None = None

    async def receive(self) -> Message:
        """Return what the client sends next."""
        message = await self._receive()
        if message["type"] == "http.disconnect" and self.status is None:
            self.status = WENT_AWAY
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = self.status or message["status"]
            _add_headers(message, self._scheme)
        await self._send(message)


class Entrance:
    """Counts and logs requests, and adds the headers that every answer has.

    Batches that were stored are counted and not logged one by one: they are in the log of batches. Addresses are cut
    to the network, paths to the route that they match, and queries are left out.
    """

    def __init__(self, app: ASGIApp, meters: Meters, tracing: Tracing | None = None) -> None:
        self._app, self._meters, self._tracing = app, meters, tracing
        self._lines = Buckets(REFUSED_LINES, burst=10.0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, answer = time.perf_counter(), _Answer(scope["scheme"], receive, send)
        try:
            await self._app(scope, answer.receive, answer.send)
        except asyncio.CancelledError:  # the process ends, and has waited for this request as long as it may
            if answer.status is not None:
                raise
            error = StoreUnavailable("The service is stopping.")
            scope[WHY] = error
            await answer_error(error)(scope, answer.receive, answer.send)
        finally:
            self._note(scope, answer.status or 500, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        if self._tracing is not None:
            self._trace(self._tracing, scope, status, seconds)
        is_batch = scope["method"] == "POST" and BATCH.fullmatch(scope["path"]) is not None
        if is_batch:
            self._meters.note_batch(status, seconds)
        if status < 400 and (is_batch or scope["path"] in QUIET):
            return
        address = cut_address((scope.get("client") or ("",))[0])
        if 400 <= status < 500 and self._lines.take(address):
            return
        headers = dict(scope["headers"])
        fields = {
            "method": scope["method"] if scope["method"] in METHODS else "other",
            "route": name_route(scope),
            "status": status,
            "milliseconds": round(1000 * seconds, 1),
            "address": address,
            "trace": trace_of(headers.get(b"traceparent", b"")),
            "key": _key_of(headers.get(b"authorization", b"")),
        }
        if status == WENT_AWAY:
            log.info("the client went away", extra=fields)
        elif status == UNAVAILABLE:  # expected: the client is told to come back
            fields["error"] = type(scope[WHY]).__name__ if WHY in scope else None
            log.warning("not now", extra=fields)
        else:
            log.log(logging.ERROR if status >= 500 else logging.INFO, "request", extra=fields)

    def _trace(self, tracing: Tracing, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        route, ended = name_route(scope), time.time_ns()
        fields = {"http.request.method": method, "http.route": route, "http.response.status_code": status}
        parent = dict(scope["headers"]).get(b"traceparent", b"").decode("latin-1")
        tracing.add(f"{method} {route}", ended - int(seconds * 1e9), ended, fields, parent)


METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def cut_address(address: str) -> str:
    """Return the network of an address: it names no person's machine.

    Examples
    --------
    >>> cut_address("203.0.113.77"), cut_address("2001:db8:1:2:3::4"), cut_address("testclient")
    ('203.0.113.0', '2001:db8:1::', '')
    """
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return ""
    length = 24 if known.version == 4 else 48
    return str(ipaddress.ip_network(f"{known}/{length}", strict=False).network_address)


def trace_of(header: bytes) -> str:
    """Return the trace id of a W3C ``traceparent`` header, or a new one.

    Examples
    --------
    >>> trace_of(b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    '0af7651916cd43dd8448eb211c80319c'
    >>> len(trace_of(b"whatever"))
    32
    """
    found = TRACE.fullmatch(header.decode("latin-1"))
    return found[1] if found else secrets.token_hex(16)


def name_route(scope: Scope) -> str:
    """Return the route that a path matched, with names in place of what users put there.

    Examples
    --------
    >>> name_route({"method": "POST", "path": "/v1/streams/loans/records"})
    '/v1/streams/{stream}/records'
    """
    if (found := BATCH.fullmatch(scope["path"])) is not None:  # answered before the framework looks for a route
        return f"/v1/{found[1]}/{{{found[1].removesuffix('s')}}}/{found[2]}"
    template = str(getattr(scope.get("route"), "path", ""))
    if not template:
        return "(none)"
    # the route is that of its router: what comes before it in the path is the prefix, which stands in the code
    return "/".join(scope["path"].split("/")[: -template.count("/")]) + template


def _key_of(header: bytes) -> str | None:
    """Return the id of the key that a request was sent with; the id alone opens nothing."""
    return id_of_key(header.decode("latin-1").rpartition(" ")[2])


def _add_headers(message: Message, scheme: str) -> None:
    there = {name.lower() for name, _ in message["headers"]}
    more = [each for each in (*HEADERS, *((TLS_ONLY,) if scheme == "https" else ())) if each[0] not in there]
    message["headers"] = [*message["headers"], *more]
