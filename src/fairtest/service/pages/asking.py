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
from fairtest.service.pages import reading
from fairtest.service.pages.routes import AtDesk, Desk, PageRoute, Sent
from fairtest.service.store import destinations, monitors, streams
from fairtest.service.store.runs import request_run
from fairtest.service.store.streams import Stream
from fairtest.service.work.planning import Planning, plan_monitor

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
    return _show_form(desk, chosen, {})


def _show_form(desk: Desk, chosen: Stream, form: dict[str, str], planned: Planning | None = None) -> Response:
    """Return the form, with what was typed into it and what such a monitor would notice."""
    roles = propose_roles(chosen.declaration)
    if form:
        roles |= {"protected": form.get("protected", "").split("\n"), "output": form.get("output", "")}
    return desk.show(
        "new_monitor.html.jinja",
        streams=streams.list_streams(desk.tenant, None, 200),
        stream=chosen,
        destinations=destinations.list_destinations(desk.tenant, None, 200),
        form=form,
        planned=planned,
        **roles,
    )


@router.post("/p/{project}/monitors/plan")
def plan_new_monitor(sent: Sent) -> Response:
    """Show what a monitor would notice, and how soon, before it is made."""
    desk, form = sent
    given = _read_monitor(form)
    body = api.checked_question(desk.tenant, given.stream, given)
    planned = plan_monitor(desk.service, desk.project, given.stream, body)
    return _show_form(desk, streams.find_stream(desk.tenant, given.stream), form, planned)


@router.post("/p/{project}/monitors/")
def add_monitor(sent: Sent) -> Response:
    """Make a monitor."""
    desk, form = sent
    made = api.create_monitor(desk.tenant, desk.service, _read_monitor(form))
    return desk.go(f"/monitors/{made['id']}")


def _read_monitor(form: dict[str, str]) -> NewMonitor:
    several = {name: form[name].split("\n") for name in ("protected", "explanatory", "tell") if form.get(name)}
    schedule = {name: value for name in ("cron", "after") if (value := form.get(name, "").strip())}
    plain = {name: value for name in ("name", "stream", "output", "tolerance") if (value := form.get(name, "").strip())}
    rate = {"over": form.get("over", "life")}
    try:
        return NewMonitor.model_validate({"protected": [], **plain, **several, "run": schedule, "error": rate})
    except ValidationError as error:
        wrong = [f"{' '.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5]]
        raise BadRequest(f"The monitor cannot be made. {'; '.join(wrong)}.") from None


@router.post("/p/{project}/monitors/{monitor}/run")
def run_now(sent: Sent, monitor: str) -> Response:
    """Ask for a run now."""
    desk, _ = sent
    return desk.go(f"/runs/{request_run(desk.tenant, monitor, secrets.token_hex(8))}")


@router.post("/p/{project}/findings/{finding}/explain")
def explain_finding(sent: Sent, finding: str) -> Response:
    """Ask the next people whether attributes explain a finding, which spends them."""
    desk, form = sent
    names = form.get("explain_by", "").split("\n")
    if not names[0]:
        raise BadRequest("Tick at least one attribute that may explain the finding.")
    found = reading.find_finding(desk.tenant, finding)
    return desk.go(f"/runs/{request_run(desk.tenant, found.monitor, secrets.token_hex(8), names)}")


@router.post("/p/{project}/monitors/{monitor}/{action}")
def change_monitor(sent: Sent, monitor: str, action: str) -> Response:
    """Pause a monitor, or let it go on."""
    desk, _ = sent
    if action not in ("pause", "resume"):
        raise BadRequest(f"There is nothing called {action[:40]!r} to do with a monitor.")
    found = monitors.find_monitor(desk.tenant, monitor)
    monitors.change_monitor(desk.tenant, found.id, {"paused": action == "pause"}, None)
    return desk.go(f"/monitors/{found.id}")
