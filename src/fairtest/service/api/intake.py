"""Taking records: a plain ASGI application in front of the framework, which would cost more than all the rest.

A batch is read and checked on the loop where it is small and everything about its sender is remembered; else on a
thread. It is handed to the writer, and answered when it is committed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from anyio import CapacityLimiter, to_thread

from fairtest.exceptions import FairTestError
from fairtest.service.api.access import SenderCache
from fairtest.service.api.models import moment
from fairtest.service.api.problems import WHY, answer_error
from fairtest.service.errors import BatchRejected, Overloaded, StoreUnavailable, TooLarge, Unauthorized
from fairtest.service.ingest.reading import LARGEST_BODY, Sent, check_key, read_batch
from fairtest.service.store.log import StreamChanged
from fairtest.service.store.monitors import find_monitor
from fairtest.service.store.sealing import stage_body

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from fairtest.service.service import Service
    from fairtest.service.store.log import Append, Receipt
    from fairtest.service.store.tenant import Tenant

AT_ONCE = 256 << 20
"""Bytes of requests that may be in memory before others are refused."""
SMALL = 128 << 10
"""Bytes of a body that is read on the loop: less than a millisecond, and going to a thread and back costs more."""
PATH = re.compile(r"/v1/(streams|monitors)/([^/]+)/(records|truths)")
JSON = (b"content-type", b"application/json")


class Disconnected(Exception):  # noqa: N818 - what happened
    """The client went away before its request was complete."""


class Intake:
    """Takes batches: knows how much is in memory, how many read at once, and what is remembered of senders."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.cache = SenderCache(service)
        self.readers = CapacityLimiter(4)
        self.bytes = 0

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that matches :data:`PATH`: with a receipt, or with a problem document."""
        try:
            receipt = await self._take(scope, receive)
        except FairTestError as error:
            scope[WHY] = error
            await answer_error(error)(scope, receive, send)
            return
        except Disconnected:
            return
        body = msgspec.json.encode(show_receipt(receipt))
        headers = [JSON, (b"content-length", str(len(body)).encode())]
        if receipt.replayed:
            headers.append((b"idempotency-replayed", b"true"))
        status = 200 if receipt.replayed else 201
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _take(self, scope: Scope, receive: Receive) -> Receipt:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        claimed = _claimed_length(headers)
        if self.bytes + claimed > AT_ONCE:
            raise Overloaded("Too many requests at once. Send again later.")
        self.bytes += claimed
        try:
            return await self._take_one(scope["path"], headers, receive)
        finally:
            self.bytes -= claimed

    async def _take_one(self, path: str, headers: dict[bytes, str], receive: Receive) -> Receipt:
        found = PATH.fullmatch(path)
        assert found is not None
        owner, name, what = found.groups()
        sender = headers.get(b"authorization"), headers.get(b"fairtest-project")
        tenant = await self._admit(*sender)
        stream = name if owner == "streams" else await to_thread.run_sync(_stream_of_monitor, tenant, name)
        sent = Sent(
            "records" if what == "records" else "truth",
            check_key(headers.get(b"idempotency-key")),
            headers.get(b"content-type", ""),
            headers.get(b"content-encoding", "").strip().lower(),
            await _read_body(receive),
        )
        try:
            return await self._store(tenant, stream, sent)
        except (StreamChanged, BatchRejected, Unauthorized):
            # what was remembered may be old: once more with what is true now
            self.cache.forget(sender[0], tenant.project, stream)
            return await self._store(await self._admit(*sender), stream, sent)

    async def _admit(self, authorization: str | None, project: str | None) -> Tenant:
        """Return who sends, if it may and if there is room."""

        def look() -> Tenant:
            tenant = self.cache.tenant(authorization, project)
            self.service.check_room()
            return tenant

        if self.cache.remembers(authorization, project) and self.service.looked_lately:
            return look()
        return await to_thread.run_sync(look)

    async def _store(self, tenant: Tenant, stream: str, sent: Sent) -> Receipt:
        writer = self.service.writer
        if writer is None:
            raise StoreUnavailable("This process takes no records.")
        known = self.cache.known_stream(tenant, stream)
        if known is not None and len(sent.body) <= SMALL and not sent.encoding:
            append = read_batch(sent, known, tenant.who)
        else:
            append = await to_thread.run_sync(self._prepare, tenant, stream, sent, limiter=self.readers)
        return await writer.submit_from_loop(append)

    def _prepare(self, tenant: Tenant, stream: str, sent: Sent) -> Append:
        return stage_body(self.service, read_batch(sent, self.cache.stream(tenant, stream), tenant.who))


class InFront:
    """Lets batches of records past the framework, and everything else through to it."""

    def __init__(self, app: ASGIApp, intake: Intake) -> None:
        self._app, self._intake = app, intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and scope["method"] == "POST" and is_for_intake(scope["path"]):
            await self._intake.answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def is_for_intake(path: str) -> bool:
    """Return whether a path is one that takes batches.

    Examples
    --------
    >>> [is_for_intake(f"/v1/{path}") for path in ("streams/a/records", "monitors/a/truths", "streams/a/b/records")]
    [True, False, False]
    """
    found = PATH.fullmatch(path)
    return found is not None and (found[1], found[3]) != ("monitors", "truths")


def show_receipt(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as answers have it."""
    return {
        "batch": receipt.key,
        "seq": receipt.seq,
        "kind": receipt.kind,
        "accepted": receipt.rows,
        "stream_records": receipt.stream_records,
        "received": moment(receipt.received),
        "duplicates": receipt.duplicates,
    }


def _claimed_length(headers: dict[bytes, str]) -> int:
    length = headers.get(b"content-length", "")
    claimed = int(length) if length.isascii() and length.isdigit() else LARGEST_BODY
    if claimed > LARGEST_BODY:
        raise TooLarge(f"A request may have {LARGEST_BODY >> 20} MB. Send the records in several batches.")
    return claimed


async def _read_body(receive: Receive) -> bytes:
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        part = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(part)
        if size > LARGEST_BODY:
            raise TooLarge(f"A request may have {LARGEST_BODY >> 20} MB. Send the records in several batches.")
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _stream_of_monitor(tenant: Tenant, monitor: str) -> str:
    return find_monitor(tenant, monitor).stream
