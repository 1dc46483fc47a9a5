"""Routes of records and late truths: durable before the answer, all or nothing."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header

from fairtest.service.api.access import Sender
from fairtest.service.api.intake import show_receipt
from fairtest.service.ingest.reading import FORMATS
from fairtest.service.store.log import find_receipt

router = APIRouter(tags=["records"])
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


# The three that follow describe the interface. Requests to them never come here: ``InFront`` takes them out.


@router.post("/streams/{stream}/records", status_code=201, openapi_extra=BODY, responses=REPLAYED)
async def send_records(stream: str, idempotency_key: IdempotencyKey = None) -> None:
    """Take a batch of records."""


@router.post("/streams/{stream}/truths", status_code=201, openapi_extra=BODY, responses=REPLAYED)
async def send_truths(stream: str, idempotency_key: IdempotencyKey = None) -> None:
    """Take what became known later about records that were sent before, by their ids."""


@router.post("/monitors/{monitor}/records", status_code=201, openapi_extra=BODY, responses=REPLAYED)
async def send_records_to_monitor(monitor: str, idempotency_key: IdempotencyKey = None) -> None:
    """Take a batch of records for the stream that a monitor reads."""


@router.get("/streams/{stream}/batches/{key}")
def get_batch(tenant: Sender, stream: str, key: str) -> dict[str, Any]:
    """Return the receipt of a batch."""
    with tenant.reading() as connection:
        return show_receipt(find_receipt(connection, tenant.project, stream, key))
