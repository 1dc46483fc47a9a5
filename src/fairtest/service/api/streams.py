"""Routes of streams."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response

from fairtest.service.api.access import Manager, Reader, Sender, TheService
from fairtest.service.api.listing import After, Limit, page_of
from fairtest.service.api.models import NewStream, Page, StreamChange, moment
from fairtest.service.errors import BadRequest
from fairtest.service.ingest.columns import LONGEST_ID, LONGEST_VALUE, StreamColumn
from fairtest.service.store import streams
from fairtest.service.store.streams import Stream

router = APIRouter(tags=["streams"])


@router.get("/streams", response_model=Page)
def list_streams(
    tenant: Reader, request: Request, response: Response, limit: Limit = 50, after: After = None
) -> dict[str, Any]:
    """List streams."""
    found = streams.list_streams(tenant, after, limit + 1)
    return page_of(request, response, found, limit, show_stream, lambda each: str(each.name))


@router.post("/streams", status_code=201)
def create_stream(tenant: Manager, given: NewStream) -> dict[str, Any]:
    """Make a stream."""
    return show_stream(streams.create_stream(tenant, given.name, given.model_dump()))


@router.get("/streams/{stream}")
def get_stream(tenant: Reader, stream: str, response: Response) -> dict[str, Any]:
    """Return a stream."""
    found = streams.find_stream(tenant, stream)
    response.headers["ETag"] = f'"{found.version}"'
    return show_stream(found)


@router.patch("/streams/{stream}")
def change_stream(
    tenant: Manager, stream: str, given: StreamChange, if_match: Annotated[str | None, Header(max_length=64)] = None
) -> dict[str, Any]:
    """Add optional columns, or change how long records are kept."""
    return show_stream(
        streams.change_stream(tenant, stream, given.model_dump(exclude_unset=True), read_match(if_match))
    )


@router.get("/streams/{stream}/sampling")
def get_sampling(tenant: Sender, service: TheService, stream: str) -> dict[str, Any]:
    """Say which people are kept, so that a client need not send the others."""
    found = streams.with_sampling(service.secret, streams.find_stream(tenant, stream))
    if found.sampling is None:
        return {"share": 1.0, "column": found.declaration.person or found.declaration.record_id, "key": ""}
    return {"share": found.sampling.share, "column": found.sampling.column, "key": found.sampling.key.hex()}


@router.delete("/streams/{stream}", status_code=204)
def delete_stream(tenant: Manager, stream: str) -> None:
    """Delete a stream with its records and monitors."""
    streams.delete_stream(tenant, stream)


@router.get("/schema/{stream}")
def get_schema(tenant: Reader, stream: str) -> dict[str, Any]:
    """Return the JSON Schema of a record."""
    declaration = streams.find_stream(tenant, stream).declaration
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A record of the stream {stream}",
        "type": "object",
        "properties": {column.name: _schema(column, declaration.record_id) for column in declaration.columns},
        "required": [column.name for column in declaration.columns if column.required],
        "additionalProperties": declaration.unknown == "ignore",
    }


def read_match(if_match: str | None) -> int | None:
    """Return the version in an ``If-Match`` header."""
    if if_match is None or if_match.strip() == "*":
        return None
    text = if_match.strip().strip('"')
    if not text.isascii() or not text.isdigit():
        raise BadRequest(f"If-Match must be the ETag of what you read. Got {if_match[:40]!r}.")
    return int(text)


def show_stream(stream: Stream) -> dict[str, Any]:
    """Return a stream as answers have it."""
    declaration = stream.declaration
    return {
        "name": stream.name,
        "columns": json.loads(declaration.columns_as_json()),
        "record_id": declaration.record_id,
        "person": declaration.person,
        "time": declaration.time,
        "unknown": declaration.unknown,
        "sample": stream.sample,
        "retention_days": stream.retention_days,
        "truth_within_days": stream.truth_within_days,
        "version": stream.version,
        "created": moment(stream.created),
        "batches": stream.seq,
        "records": stream.records,
    }


def _schema(column: StreamColumn, record_id: str) -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {
        "text": {"type": "string", "maxLength": LONGEST_VALUE},
        "integer": {"type": "integer"},
        "number": {"type": "number"},
        "boolean": {"type": "boolean"},
        "date": {"type": "string", "format": "date"},
        "time": {"type": "string", "format": "date-time"},
    }
    schema = dict(kinds[column.kind])
    if column.name == record_id:
        schema |= {"minLength": 1, "maxLength": LONGEST_ID}
    if column.levels:
        schema["enum"] = [*column.levels] if column.required else [*column.levels, None]
    if not column.required:
        schema["type"] = [schema["type"], "null"]
    return schema
