"""Forms: signing in and out, and everything that a page changes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import update

from fairtest.service.alerts.signing import show_secret, webhook_secret
from fairtest.service.api.access import service_of
from fairtest.service.api.alerts import send_test
from fairtest.service.errors import BadRequest
from fairtest.service.pages import reading, sessions
from fairtest.service.pages.routes import COOKIE, PageRoute, Sent, check_origin, page, read_form, visitor_of
from fairtest.service.pages.views import show_destination_list, show_key_list
from fairtest.service.pages.writing import fill_page
from fairtest.service.store import destinations, outbox, projects, streams, trail
from fairtest.service.store.destinations import Destination
from fairtest.service.store.tables import finding

router = APIRouter(route_class=PageRoute, include_in_schema=False)
LONGEST_NOTE = 2000
Form = Annotated[dict[str, str], Depends(read_form)]


@router.get("/signin")
def show_sign_in(request: Request, token: Annotated[str, Query(max_length=128)] = "") -> Response:
    """Ask whether to sign in: programs that open links in advance must not use them up."""
    return page(request, fill_page("signin.html.jinja", token=token))


@router.post("/signin")
def sign_in(request: Request, form: Form) -> Response:
    """Use a link up and begin a session."""
    check_origin(request)
    made = sessions.sign_in(service_of(request).database, form.get("token", ""))
    response = RedirectResponse("/", 303)
    response.set_cookie(COOKIE, made, secure=True, httponly=True, samesite="lax", path="/")
    return response


@router.post("/signout")
def sign_out(request: Request, form: Form) -> Response:
    """End the session."""
    check_origin(request)
    visitor, service = visitor_of(request), service_of(request)
    sessions.check_form(service.secret, visitor, form.get("form_token", ""))
    sessions.sign_out(service.database, visitor)
    response = RedirectResponse("/signin", 303)
    response.delete_cookie(COOKIE, secure=True, httponly=True, samesite="lax", path="/")
    response.headers["Clear-Site-Data"] = '"cache"'  # whoever uses the machine next sees nothing by going back
    return response


@router.post("/sessions/{name}/end")
def end_session(request: Request, form: Form, name: str) -> Response:
    """End a session of the visitor's key, on whatever machine it is; whoever may only read may do that, too."""
    check_origin(request)
    visitor, service = visitor_of(request), service_of(request)
    sessions.check_form(service.secret, visitor, form.get("form_token", ""))
    sessions.end_session(service.database, visitor, name)
    return RedirectResponse("/" if visitor.project is None else f"/p/{visitor.project}/settings/", 303)


@router.post("/p/{project}/findings/{finding_id}")
def note_finding(sent: Sent, finding_id: str) -> Response:
    """Acknowledge a finding with a note, or open or close it again."""
    desk, form = sent
    found = reading.find_finding(desk.tenant, finding_id)
    state, note = form.get("state", found.state), form.get("note", found.note)[:LONGEST_NOTE]
    if state not in ("open", "acknowledged", "closed"):
        raise BadRequest("The state of a finding must be open, acknowledged or closed.")
    with desk.tenant.writing() as connection:
        mine = (finding.c.project == desk.project) & (finding.c.id == finding_id)
        connection.execute(update(finding).where(mine).values(state=state, note=note))
        database, who = desk.service.database, desk.visitor.key
        trail.note(database, connection, who, f"finding.{state}", finding_id, project=desk.project)
    return desk.go(f"/findings/{finding_id}")


@router.post("/p/{project}/alerts/{delivery}/retry")
def retry(sent: Sent, delivery: str) -> Response:
    """Try a delivery again now."""
    desk, _ = sent
    outbox.retry_delivery(desk.tenant, delivery)
    return desk.go("/alerts/")


@router.post("/p/{project}/destinations/")
def add_destination(sent: Sent) -> Response:
    """Make a destination, and show the secret of a webhook once."""
    desk, form = sent
    address = form.get("address", "").strip()
    kind = form.get("kind", "")
    made = destinations.create_destination(desk.tenant, kind, address, form.get("label", "").strip()[:256])
    return show_destination_list(
        desk, secret=_secret(sent, made), words=f"{made.label or made.address} has been added."
    )


@router.post("/p/{project}/destinations/{destination}/{action}")
def change_destination(sent: Sent, destination: str, action: str) -> Response:
    """Test, pause, resume, delete a destination, or give it a new secret."""
    desk, _ = sent
    found = destinations.find_destination(desk.tenant, destination)
    name = found.label or found.address
    if action == "test":
        outcome = send_test(desk.service, desk.visitor.key, found)
        words = "was delivered" if outcome["delivered"] else f"was not delivered. {outcome['reason']}"
        return show_destination_list(desk, words=f"The test message to {name} {words}")
    if action == "rotate":
        changed = destinations.rotate_secret(desk.tenant, destination)
        return show_destination_list(desk, secret=_secret(sent, changed), words=f"{name} has a new secret.")
    if action in ("pause", "resume"):
        destinations.change_destination(desk.tenant, destination, {"paused": action == "pause"})
    elif action == "delete":
        destinations.delete_destination(desk.tenant, destination)
    else:
        raise BadRequest(f"There is nothing called {action[:40]!r} to do with a destination.")
    return desk.go("/destinations/")


def _secret(sent: Sent, made: Destination) -> str:
    if made.kind != "webhook":
        return ""
    return show_secret(webhook_secret(sent[0].service.secret, made.project, made.id, made.secret_version))


@router.post("/p/{project}/keys/")
def add_key(sent: Sent) -> Response:
    """Make a key and show it once."""
    desk, form = sent
    scopes, label = form.get("scopes", "").split(), form.get("label", "").strip()[:256]
    made, _ = projects.create_key(desk.service.database, desk.visitor.key, desk.project, scopes, label)
    return show_key_list(desk, secret=made.text, words="The key has been made.")


@router.post("/p/{project}/keys/{key_id}/revoke")
def revoke(sent: Sent, key_id: str) -> Response:
    """Revoke a key at once."""
    desk, _ = sent
    projects.revoke_key(desk.service.database, desk.visitor.key, key_id, desk.project)
    return desk.go("/keys/")


@router.post("/p/{project}/streams/{stream}")
def change_stream(sent: Sent, stream: str) -> Response:
    """Change how long a stream keeps records."""
    desk, form = sent
    text = form.get("retention_days", "").strip()
    if text and (not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 36500):
        raise BadRequest(f"Records are kept for 1 to 36,500 days, or for ever. Got {text[:20]!r}.")
    streams.change_stream(desk.tenant, stream, {"retention_days": int(text) if text else None}, None)
    return desk.go("/settings/")
