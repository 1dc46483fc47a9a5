"""Forms about monitors: make one, run it now, pause it."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import ValidationError

from fairtest.service.api import monitors as api
from fairtest.service.api.monitors import NewMonitor
from fairtest.service.errors import BadRequest
from fairtest.service.ingest.columns import Declaration
from fairtest.service.pages.routes import AtDesk, PageRoute, Sent
from fairtest.service.store import destinations, monitors, streams
from fairtest.service.store.runs import request_run

router = APIRouter(route_class=PageRoute, include_in_schema=False)
PROTECTED = {
    "sex", "gender", "race", "ethnicity", "age", "religion", "disability", "nationality", "citizenship", "orientation",
    "pregnant", "marital_status",
}  # fmt: skip
"""Names that are proposed as protected; whoever makes the monitor decides."""


def propose_roles(declared: Declaration) -> dict[str, Any]:
    """Return the columns that may be asked about, those to propose as protected, and an output: by names and kinds."""
    ids = {declared.record_id, declared.person, declared.time}
    columns = [each for each in declared.columns if each.name not in ids]
    protected = [each.name for each in columns if each.name.lower() in PROTECTED]
    decisions = [each.name for each in columns if each.kind == "boolean" and each.name not in protected]
    others = [each.name for each in columns if each.name not in protected]
    return {"columns": columns, "protected": protected, "output": next(iter(decisions or others[-1:]), "")}


@router.get("/p/{project}/monitors/new")
def show_new_monitor(desk: AtDesk, stream: Annotated[str, Query(max_length=64)] = "") -> Response:
    """Show the form for a new monitor, with roles proposed."""
    desk.tenant.require("manage")
    known = streams.list_streams(desk.tenant, None, 200)
    if not known:
        raise BadRequest("A monitor asks about a stream, and there is none yet. Make one: POST /v1/streams.")
    chosen = streams.find_stream(desk.tenant, stream or known[0].name)
    tell = destinations.list_destinations(desk.tenant, None, 200)
    roles = propose_roles(chosen.declaration)
    return desk.show("new_monitor.html.jinja", streams=known, stream=chosen, destinations=tell, **roles)


@router.post("/p/{project}/monitors/")
def add_monitor(sent: Sent) -> Response:
    """Make a monitor."""
    desk, form = sent
    several = {name: form[name].split("\n") for name in ("protected", "explanatory", "tell") if form.get(name)}
    schedule = {name: value for name in ("cron", "after") if (value := form.get(name, "").strip())}
    plain = {name: value for name in ("name", "stream", "output", "tolerance") if (value := form.get(name, "").strip())}
    try:
        given = NewMonitor.model_validate({"protected": [], **plain, **several, "run": schedule})
    except ValidationError as error:
        wrong = [f"{' '.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5]]
        raise BadRequest(f"The monitor cannot be made. {'; '.join(wrong)}.") from None
    made = api.create_monitor(desk.tenant, given)
    return desk.go(f"/monitors/{made['id']}")


@router.post("/p/{project}/monitors/{monitor}/run")
def run_now(sent: Sent, monitor: str) -> Response:
    """Ask for a run now."""
    desk, _ = sent
    return desk.go(f"/runs/{request_run(desk.tenant, monitor, secrets.token_hex(8))}")


@router.post("/p/{project}/monitors/{monitor}/{action}")
def change_monitor(sent: Sent, monitor: str, action: str) -> Response:
    """Pause a monitor, or let it go on."""
    desk, _ = sent
    if action not in ("pause", "resume"):
        raise BadRequest(f"There is nothing called {action[:40]!r} to do with a monitor.")
    found = monitors.find_monitor(desk.tenant, monitor)
    monitors.change_monitor(desk.tenant, found.id, {"paused": action == "pause"}, None)
    return desk.go(f"/monitors/{found.id}")
