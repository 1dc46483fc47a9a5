"""Routes of events, deliveries and destinations."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from fairtest.service.alerts.postman import Letter, Postman
from fairtest.service.alerts.signing import show_secret, webhook_secret
from fairtest.service.api.access import Manager, Reader, TheService
from fairtest.service.api.listing import After, Limit, page_of
from fairtest.service.api.models import Given, Page, Text, moment
from fairtest.service.service import Service
from fairtest.service.store import destinations, outbox, trail
from fairtest.service.store.destinations import Destination
from fairtest.service.store.identifiers import make_id
from fairtest.service.store.outbox import Delivery, Event

router = APIRouter(tags=["alerts"])
Address = Annotated[str, Field(max_length=2000, examples=["https://example.com/hook", "ops@example.com"])]


class NewDestination(Given):
    """A destination to make."""

    kind: Literal["webhook", "email"]
    address: Address
    label: Text = ""


class DestinationChange(Given):
    """What may change about a destination."""

    address: Address | None = None
    label: Text | None = None
    paused: bool | None = None


@router.get("/events", response_model=Page)
def list_events(
    tenant: Reader,
    request: Request,
    response: Response,
    limit: Limit = 50,
    after: After = None,
    monitor: Annotated[str | None, Query(max_length=40)] = None,
) -> dict[str, Any]:
    """List events, newest first."""
    found = outbox.list_events(tenant, after, limit + 1, about=monitor)
    return page_of(request, response, found, limit, _show_event, outbox.mark_of)


@router.get("/deliveries", response_model=Page)
def list_deliveries(
    tenant: Reader,
    request: Request,
    response: Response,
    limit: Limit = 50,
    after: After = None,
    state: Literal["due", "running", "sent", "dead"] | None = None,
    event: Annotated[str | None, Query(max_length=40)] = None,
) -> dict[str, Any]:
    """List deliveries, newest first."""
    found = outbox.list_deliveries(tenant, after, limit + 1, state=state, of_event=event)
    return page_of(request, response, found, limit, _show_delivery, outbox.mark_of)


@router.post("/deliveries/{delivery}/retry", status_code=202)
def retry_delivery(tenant: Manager, delivery: str) -> dict[str, Any]:
    """Try a delivery again now."""
    return _show_delivery(outbox.retry_delivery(tenant, delivery))


@router.get("/destinations", response_model=Page)
def list_destinations(
    tenant: Reader, request: Request, response: Response, limit: Limit = 50, after: After = None
) -> dict[str, Any]:
    """List destinations."""
    found = destinations.list_destinations(tenant, after, limit + 1)
    return page_of(request, response, found, limit, _show_destination, lambda each: str(each.id))


@router.post("/destinations", status_code=201)
def create_destination(tenant: Manager, service: TheService, given: NewDestination) -> dict[str, Any]:
    """Make a destination; the secret that signs its messages is in this answer only."""
    return _with_secret(service, destinations.create_destination(tenant, given.kind, given.address, given.label))


@router.get("/destinations/{destination}")
def get_destination(tenant: Reader, destination: str) -> dict[str, Any]:
    """Return a destination."""
    return _show_destination(destinations.find_destination(tenant, destination))


@router.patch("/destinations/{destination}")
def change_destination(tenant: Manager, destination: str, given: DestinationChange) -> dict[str, Any]:
    """Change a destination, or pause it."""
    return _show_destination(destinations.change_destination(tenant, destination, given.model_dump()))


@router.delete("/destinations/{destination}", status_code=204)
def delete_destination(tenant: Manager, destination: str) -> None:
    """Delete a destination with its deliveries."""
    destinations.delete_destination(tenant, destination)


@router.post("/destinations/{destination}/rotate")
def rotate_secret(tenant: Manager, service: TheService, destination: str) -> dict[str, Any]:
    """Give a webhook a new secret, which is in this answer only; the one before stays valid until the next time."""
    return _with_secret(service, destinations.rotate_secret(tenant, destination))


@router.post("/destinations/{destination}/test")
def test_destination(tenant: Manager, service: TheService, destination: str) -> dict[str, Any]:
    """Send a test message now, once, and say what became of it."""
    to = destinations.find_destination(tenant, destination)
    return {"destination": to.id, **send_test(service, tenant.who, to)}


def send_test(service: Service, who: str, to: Destination) -> dict[str, Any]:
    """Send a test message and return whether it was delivered, and why not."""
    with service.database.writing() as connection:
        trail.note(service.database, connection, who, "destination.test", to.id, project=to.project)
    body = {"sentence": "This is a test of FairTest's alerts: nothing has happened."}
    outcome = Postman(service).carry(Letter(make_id("msg"), "test", time.time(), body), to)
    return {"delivered": outcome.delivered, "reason": outcome.reason or None}


def _with_secret(service: Service, found: Destination) -> dict[str, Any]:
    shown = _show_destination(found)
    if found.kind == "webhook":
        secret = webhook_secret(service.secret, found.project, found.id, found.secret_version)
        shown["secret"] = show_secret(secret)
    return shown


def _show_destination(found: Destination) -> dict[str, Any]:
    return {
        "id": found.id,
        "kind": found.kind,
        "address": found.address,
        "label": found.label,
        "secret_version": found.secret_version if found.kind == "webhook" else None,
        "paused": found.paused,
        "created": moment(found.created),
    }


def _show_event(found: Event) -> dict[str, Any]:
    return {
        "id": found.id,
        "monitor": found.monitor,
        "kind": found.kind,
        "subject": found.subject,
        "slot": found.slot,
        "data": found.body,
        "created": moment(found.created),
    }


def _show_delivery(found: Delivery) -> dict[str, Any]:
    return {
        "id": found.id,
        "event": found.event,
        "destination": found.destination,
        "state": found.state,
        "attempts": found.attempts,
        "due": moment(found.due),
        "reason": found.reason,
        "created": moment(found.created),
        "ended": moment(found.ended),
    }
