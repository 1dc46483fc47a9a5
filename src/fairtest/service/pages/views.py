"""Pages that show."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import func, select

from fairtest.reporting.formats.inline_styles import move_styles
from fairtest.service.api.access import service_of
from fairtest.service.errors import NotFound, Refused
from fairtest.service.pages import reading
from fairtest.service.pages.routes import AtDesk, Desk, PageRoute, page, visitor_of
from fairtest.service.pages.sessions import form_token, list_sessions
from fairtest.service.pages.writing import STATIC, fill_page, static_file
from fairtest.service.store import destinations, outbox, projects, streams
from fairtest.service.store.database import Database
from fairtest.service.store.tables import delivery, event, job, run

router = APIRouter(route_class=PageRoute, include_in_schema=False)
LINES = 50
"""Lines of a list on one page."""
_SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style>", re.DOTALL)


@router.get("/")
def show_start(request: Request) -> Response:
    """Go to the visitor's project, or list projects for who sees all."""
    visitor = visitor_of(request)
    if visitor.project is not None:
        return RedirectResponse(f"/p/{visitor.project}/", 303)
    service = service_of(request)
    found = projects.list_projects(service.database, None, 200)
    if len(found) == 1:
        return RedirectResponse(f"/p/{found[0].name}/", 303)
    return page(
        request, fill_page("projects.html.jinja", projects=found, form_token=form_token(service.secret, visitor))
    )


@router.get("/pages/{_mark}/{name}")
def show_static(_mark: str, name: str) -> Response:
    """Return a file that pages load."""
    if name not in STATIC:
        raise NotFound(f"There is no file {name!r}.")
    headers = {"Content-Type": STATIC[name], "Cache-Control": "public, max-age=31536000, immutable"}
    return Response(static_file(name), headers=headers)


@router.get("/p/{project}/")
def show_overview(desk: AtDesk) -> Response:
    """Show every monitor in a line."""
    found = reading.list_monitors(desk.tenant)
    sent = streams.list_streams(desk.tenant, None, LINES)
    strongest = [each for each in reading.list_findings(desk.tenant) if each.state == "open"]
    newest = strongest[0] if strongest else None
    return desk.show("overview.html.jinja", monitors=found, streams=sent, newest=newest)


@router.get("/p/{project}/monitors/{monitor}")
def show_monitor(desk: AtDesk, monitor: str, before: Annotated[float | None, Query()] = None) -> Response:
    """Show a monitor: what holds, arrivals, what is followed, runs, versions."""
    found = reading.find_monitor(desk.tenant, monitor)
    runs = reading.list_runs(desk.tenant, monitor, before, LINES + 1)
    questions = reading.list_questions(desk.tenant, monitor)
    return desk.show(
        "monitor.html.jinja",
        monitor=found,
        findings=reading.list_findings(desk.tenant, of_monitor=monitor),
        runs=runs[:LINES],
        older=runs[LINES - 1].created if len(runs) > LINES else None,
        questions=questions,
        events=outbox.list_events(desk.tenant, None, 8, about=monitor),
        spent=reading.sum_spent(desk.tenant, monitor),
        level=_level(questions),
    )


def _level(questions: list[tuple[int, float, dict[str, Any]]]) -> float:
    error = questions[0][2].get("error_rate") if questions else None
    return float(error.get("level", 0.05)) if isinstance(error, dict) else 0.05


@router.get("/p/{project}/runs/{run_id}")
def show_run(desk: AtDesk, run_id: str) -> Response:
    """Show what a run did, and its reports."""
    found = reading.find_run(desk.tenant, run_id)
    return desk.show(
        "run.html.jinja",
        run=found,
        monitor=reading.find_monitor(desk.tenant, found.monitor),
        reports=reading.list_reports(desk.tenant, run_id),
        explain_by=json.loads(found.detail or "{}").get("explain_by", []),
    )


@router.get("/p/{project}/runs/{run_id}/reports/{place}")
def show_report(desk: AtDesk, run_id: str, place: int) -> Response:
    """Return a stored report for the frame of its run: apart from the dashboard, and with its own scripts only."""
    text = move_styles(reading.report_page(desk.tenant, run_id, place))  # older reports have styles in their elements
    scripts, styles = (" ".join(map(_hash_of, part.findall(text))) or "'none'" for part in (_SCRIPT, _STYLE))
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src {scripts}; style-src {styles}; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
    return HTMLResponse(text, headers={"Content-Security-Policy": policy, "Cache-Control": "private, max-age=3600"})


def _hash_of(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@router.get("/p/{project}/findings/")
def show_findings(desk: AtDesk) -> Response:
    """List findings of all monitors."""
    names = {each.id: each.name for each in reading.list_monitors(desk.tenant)}
    return desk.show("findings.html.jinja", findings=reading.list_findings(desk.tenant), names=names)


@router.get("/p/{project}/findings/{finding}")
def show_finding(desk: AtDesk, finding: str) -> Response:
    """Show a finding: its trend, the sentence, alerts, and the note of who acknowledged it."""
    found = reading.find_finding(desk.tenant, finding)
    told = [
        each for each in outbox.list_events(desk.tenant, None, 200, about=found.monitor) if _is_about(each, found.id)
    ]
    monitor = reading.find_monitor(desk.tenant, found.monitor)
    declared = streams.find_stream(desk.tenant, monitor.stream).declaration
    own = {declared.record_id, declared.person, declared.time, found.body.get("protected"), found.body.get("output")}
    explanatory = [each.name for each in declared.columns if each.name not in own]
    return desk.show("finding.html.jinja", finding=found, monitor=monitor, events=told, explanatory=explanatory)


def _is_about(happened: outbox.Event, finding: str) -> bool:
    return finding in (happened.body.get("finding_id"), happened.subject)


@router.get("/p/{project}/alerts/")
def show_alerts(desk: AtDesk, after: Annotated[str | None, Query(max_length=128)] = None) -> Response:
    """List events, and what became of each delivery."""
    events = outbox.list_events(desk.tenant, after, LINES + 1)
    following = outbox.mark_of(events[LINES - 1]) if len(events) > LINES else None
    names = {each.id: each.label or each.address for each in destinations.list_destinations(desk.tenant, None, 200)}
    sent = {each.id: outbox.list_deliveries(desk.tenant, None, 50, of_event=each.id) for each in events[:LINES]}
    return desk.show(
        "alerts.html.jinja",
        events=events[:LINES],
        deliveries=sent,
        names=names,
        following=following,
        older=after is not None,
    )


@router.get("/p/{project}/destinations/")
def show_destinations(desk: AtDesk) -> Response:
    """List destinations."""
    return show_destination_list(desk)


def show_destination_list(desk: Desk, *, secret: str = "", words: str = "") -> Response:
    """Return the page of destinations, with what came of the form that was just sent."""
    found = destinations.list_destinations(desk.tenant, None, 200)
    return desk.show("destinations.html.jinja", destinations=found, secret=secret, words=words)


@router.get("/p/{project}/streams/{stream}")
def show_stream(desk: AtDesk, stream: str) -> Response:
    """Show a stream: columns, arrivals, batches, and how to send to it."""
    found = streams.find_stream(desk.tenant, stream)
    return desk.show(
        "stream.html.jinja",
        stream=found,
        arrivals=reading.arrivals_of(desk.tenant, stream),
        batches=reading.list_batches(desk.tenant, stream),
        address=str(desk.request.base_url).rstrip("/"),
    )


@router.get("/p/{project}/keys/")
def show_keys(desk: AtDesk) -> Response:
    """List keys."""
    return show_key_list(desk)


def show_key_list(desk: Desk, *, secret: str = "", words: str = "") -> Response:
    """Return the page of keys, with the one that was just made."""
    desk.tenant.require("manage")
    found = projects.list_keys(desk.service.database, desk.project, None, 200)
    return desk.show("keys.html.jinja", keys=found, secret=secret, words=words)


@router.get("/p/{project}/settings/")
def show_project(desk: AtDesk) -> Response:
    """Show the project: streams and how long they keep records, and where the visitor is signed in."""
    found = projects.find_project(desk.service.database, desk.project)
    kept = streams.list_streams(desk.tenant, None, 200)
    signed_in = list_sessions(desk.service.database, desk.visitor)
    return desk.show("project.html.jinja", found=found, streams=kept, sessions=signed_in)


@router.get("/p/{project}/audit/")
def show_audit(desk: AtDesk, before: Annotated[int | None, Query(ge=1)] = None) -> Response:
    """List who did what."""
    desk.tenant.require("manage")
    rows = reading.list_audit(desk.tenant, before, LINES + 1)
    older = rows[LINES - 1].number if len(rows) > LINES else None
    return desk.show("audit.html.jinja", rows=rows[:LINES], older=older)


@router.get("/p/{project}/system/")
def show_system(desk: AtDesk) -> Response:
    """Show the service itself: version, database, disk, backlog."""
    if desk.visitor.project is not None:
        raise Refused("This page is for keys of the whole service.")
    service = desk.service
    disk = shutil.disk_usage(service.settings.data)
    return desk.show(
        "system.html.jinja",
        database="SQLite" if service.database.is_sqlite else "PostgreSQL",
        disk=disk,
        unsealed=service.unsealed_bytes(),
        waiting=_backlog(service.database),
        segments="in the database" if service.settings.segments_at == "database" else "in a folder",
    )


def _backlog(database: Database) -> dict[str, int]:
    """Return how much waits, and what has failed, in all projects."""
    counts = {
        "runs that are due": (run, ("due",)),
        "runs under way": (run, ("running",)),
        "runs that failed": (run, ("failed",)),
        "jobs on streams": (job, ("due", "running")),
        "alerts to deliver": (delivery, ("due", "running")),
        "alerts that are dead": (delivery, ("dead",)),
    }
    with database.reading() as connection:
        found = {
            name: int(connection.scalar(select(func.count()).select_from(table).where(table.c.state.in_(states))) or 0)
            for name, (table, states) in counts.items()
        }
        found["events in all"] = int(connection.scalar(select(func.count()).select_from(event)) or 0)
    return found


@router.get("/p/{unknown:path}", include_in_schema=False)
def show_nothing(request: Request, unknown: str) -> Response:
    """Say that there is no such page; the last route, so that all others come first."""
    visitor_of(request)
    raise NotFound(f"There is no page at /p/{unknown[:80]}. The pages of your projects are on the overview.")
