"""Routes that take records and late truths: durable before the answer, all or nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse

from fairtest.service.api.access import Sender, SenderCache, TheService
from fairtest.service.api.models import moment
from fairtest.service.errors import BatchRejected, Overloaded, StoreUnavailable, TooLarge, Unauthorized
from fairtest.service.ingest.reading import FORMATS, LARGEST_BODY, Sent, check_key, read_batch
from fairtest.service.store.log import Append, Receipt, StreamChanged, find_receipt
from fairtest.service.store.monitors import find_monitor

if TYPE_CHECKING:
    from fairtest.service.service import Service
    from fairtest.service.store.tenant import Tenant

router = APIRouter(tags=["records"])
AT_ONCE = 256 << 20
"""Bytes of requests that may be in memory before others are refused."""
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            name: {"schema": {"type": "object"} if name == "application/json" else {"type": "string"}}
            for name in FORMATS
        },
    }
}
REPLAYED: dict[int | str, dict[str, Any]] = {200: {"description": "it was stored before; the same receipt"}}
IdempotencyKey = Annotated[str | None, Header(alias="Idempotency-Key", max_length=1024)]


class Intake:
    """What the routes of an app share: how much is in memory, how many read at once, what is remembered."""

    def __init__(self, service: Service) -> None:
        self.cache = SenderCache(service)
        self.readers = CapacityLimiter(4)
        self.bytes = 0


@router.post("/streams/{stream}/records", status_code=201, openapi_extra=BODY, responses=REPLAYED)
async def send_records(
    request: Request, service: TheService, stream: str, idempotency_key: IdempotencyKey = None
) -> JSONResponse:
    """Take a batch of records."""
    return await _take(request, service, stream, "records", idempotency_key)


@router.post("/streams/{stream}/truths", status_code=201, openapi_extra=BODY, responses=REPLAYED)
async def send_truths(
    request: Request, service: TheService, stream: str, idempotency_key: IdempotencyKey = None
) -> JSONResponse:
    """Take what became known later about records that were sent before, by their ids."""
    return await _take(request, service, stream, "truth", idempotency_key)


@router.post("/monitors/{monitor}/records", status_code=201, openapi_extra=BODY, responses=REPLAYED)
async def send_records_to_monitor(
    request: Request, service: TheService, monitor: str, idempotency_key: IdempotencyKey = None
) -> JSONResponse:
    """Take a batch of records for the stream that a monitor reads."""
    intake: Intake = request.app.state.intake
    headers = request.headers

    def find_stream_name() -> str:
        tenant = intake.cache.tenant(headers.get("authorization"), headers.get("fairtest-project"))
        return find_monitor(tenant, monitor).stream

    return await _take(request, service, await to_thread.run_sync(find_stream_name), "records", idempotency_key)


@router.get("/streams/{stream}/batches/{key}")
def get_batch(tenant: Sender, stream: str, key: str) -> dict[str, Any]:
    """Return the receipt of a batch."""
    with tenant.reading() as connection:
        return show_receipt(find_receipt(connection, tenant.project, stream, key))


async def _take(request: Request, service: Service, stream: str, kind: str, key: str | None) -> JSONResponse:
    intake: Intake = request.app.state.intake
    headers = request.headers
    authorization, project = headers.get("authorization"), headers.get("fairtest-project")
    length = headers.get("content-length", "")
    claimed = int(length) if length.isascii() and length.isdigit() else LARGEST_BODY
    if claimed > LARGEST_BODY:
        raise TooLarge(f"A request may have {LARGEST_BODY >> 20} MB. Send the records in several batches.")
    if intake.bytes + claimed > AT_ONCE:
        raise Overloaded("Too many requests at once. Send again later.")
    intake.bytes += claimed
    try:
        if intake.cache.remembers(authorization, project) and service.looked_lately:
            tenant = _admit(service, intake, authorization, project)
        else:
            tenant = await to_thread.run_sync(_admit, service, intake, authorization, project)
        media_type, encoding = headers.get("content-type", ""), headers.get("content-encoding", "").strip().lower()
        sent = Sent(kind, check_key(key), media_type, encoding, await _read_body(request))
        try:
            receipt = await _store(service, intake, tenant, stream, sent)
        except (StreamChanged, BatchRejected, Unauthorized):
            # what was remembered may be old: once more with what is true now
            intake.cache.forget(authorization, tenant.project, stream)
            tenant = await to_thread.run_sync(_admit, service, intake, authorization, project)
            receipt = await _store(service, intake, tenant, stream, sent)
    finally:
        intake.bytes -= claimed
    replayed = {"Idempotency-Replayed": "true"} if receipt.replayed else None
    return JSONResponse(show_receipt(receipt), 200 if receipt.replayed else 201, replayed)


def _admit(service: Service, intake: Intake, authorization: str | None, project: str | None) -> Tenant:
    tenant = intake.cache.tenant(authorization, project)
    service.check_room()
    return tenant


async def _store(service: Service, intake: Intake, tenant: Tenant, stream: str, sent: Sent) -> Receipt:
    def prepare() -> Append:
        return read_batch(sent, intake.cache.stream(tenant, stream), tenant.who)

    append = await to_thread.run_sync(prepare, limiter=intake.readers)
    if service.writer is None:
        raise StoreUnavailable("This process takes no records.")
    return await asyncio.wrap_future(service.writer.submit(append))


async def _read_body(request: Request) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_BODY:
            raise TooLarge(f"A request may have {LARGEST_BODY >> 20} MB. Send the records in several batches.")
        parts.append(part)
    return b"".join(parts)


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
