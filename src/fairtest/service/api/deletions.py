"""Routes that erase records and people."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from fairtest.service.api.access import Manager, TheService
from fairtest.service.api.models import NewDeletion, moment
from fairtest.service.errors import BadRequest
from fairtest.service.store import streams
from fairtest.service.store.erasure import Deletion, ask_to_erase, find_deletion, record_exists

router = APIRouter(tags=["deletions"])


@router.post("/streams/{stream}/deletions", status_code=202)
def erase(tenant: Manager, service: TheService, stream: str, given: NewDeletion) -> dict[str, Any]:
    """Erase records, or all records of people; nobody reads them from now on."""
    if (given.record_ids is None) == (given.person_ids is None):
        raise BadRequest("Name either 'record_ids' or 'person_ids'.")
    found = streams.find_stream(tenant, stream)
    if given.person_ids is not None and found.declaration.person is None:
        raise BadRequest(f"The stream {stream!r} has no column that names people: erase by 'record_ids'.")
    kind, ids = ("record", given.record_ids) if given.record_ids is not None else ("person", given.person_ids)
    return _show(ask_to_erase(service, tenant, stream, kind, ids or ()))


@router.get("/streams/{stream}/deletions/{deletion}")
def get_deletion(tenant: Manager, stream: str, deletion: str) -> dict[str, Any]:
    """Return the receipt of a deletion."""
    return _show(find_deletion(tenant, stream, deletion))


@router.get("/streams/{stream}/records/{record}/exists")
def exists(tenant: Manager, service: TheService, stream: str, record: str) -> dict[str, bool]:
    """Say whether a record can be read."""
    return {"exists": record_exists(service, tenant, stream, record)}


def _show(deletion: Deletion) -> dict[str, Any]:
    return {
        "id": deletion.id,
        "state": deletion.state,
        "ids": deletion.ids,
        "asked": moment(deletion.asked),
        "erased": moment(deletion.erased),
    }
