"""Routes of runs, reports and findings."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import Field
from sqlalchemy import select, update

from fairtest.service.api.access import Manager, Reader
from fairtest.service.api.listing import After, Limit, page_of
from fairtest.service.api.models import Given, Page, moment
from fairtest.service.errors import NotFound
from fairtest.service.store import trail
from fairtest.service.store.monitors import find_monitor
from fairtest.service.store.runs import cancel_run, find_report, request_run
from fairtest.service.store.tables import finding, measure, report, run
from fairtest.service.store.tenant import Tenant

router = APIRouter(tags=["runs"])
State = Literal["due", "running", "done", "skipped", "failed", "cancelled"]
TYPES = {"application/json": "json", "text/html": "html", "text/plain": "text"}
Name = Annotated[str | None, Query(max_length=64)]
SHOWN: dict[int | str, dict[str, Any]] = {
    200: {"content": {name: {} for name in TYPES}},
    304: {"description": "as it was"},
}


class FindingChange(Given):
    """What may change about a finding: acknowledge it, or close it so that it is not followed any more."""

    state: Literal["open", "acknowledged", "closed"] | None = None
    note: Annotated[str, Field(max_length=4000)] | None = None


class NewRun(Given):
    """A run that is asked for; ``explain_by`` asks whether people who share these attributes are treated alike."""

    explain_by: Annotated[list[Annotated[str, Field(max_length=128)]], Field(max_length=10)] = Field(
        default_factory=list
    )


@router.post("/monitors/{monitor}/runs", status_code=202)
def start_run(
    tenant: Manager,
    monitor: str,
    response: Response,
    given: NewRun | None = None,
    idempotency_key: Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)] = None,
) -> dict[str, Any]:
    """Ask for a run now; it spends the people who have arrived since the last one, if they are enough."""
    by = () if given is None else given.explain_by
    found = request_run(tenant, monitor, idempotency_key or secrets.token_hex(8), by)
    response.headers["Location"] = f"/v1/runs/{found}"
    return {"id": found}


@router.get("/runs", response_model=Page)
def list_runs(
    tenant: Reader,
    request: Request,
    response: Response,
    monitor: Name = None,
    state: State | None = None,
    limit: Limit = 50,
    after: After = None,
) -> dict[str, Any]:
    """List runs."""
    query = select(run).where(run.c.project == tenant.project).order_by(run.c.id).limit(limit + 1)
    if monitor is not None:
        query = query.where(run.c.monitor == find_monitor(tenant, monitor).id)
    if state is not None:
        query = query.where(run.c.state == state)
    if after is not None:
        query = query.where(run.c.id > after)
    with tenant.reading() as connection:
        found = connection.execute(query).all()
    return page_of(request, response, found, limit, show_run, lambda row: str(row.id))


@router.get("/runs/{run_id}")
def get_run(tenant: Reader, run_id: str) -> dict[str, Any]:
    """Return a run with the headlines of its reports."""
    with tenant.reading() as connection:
        row = connection.execute(select(run).where(run.c.project == tenant.project, run.c.id == run_id)).first()
        own = (report.c.project == tenant.project) & (report.c.run == run_id)
        headlines = connection.execute(
            select(report.c.place, report.c.headline).where(own).order_by(report.c.place)
        ).all()
    if row is None:
        raise NotFound(f"There is no run {run_id!r}.")
    return {**show_run(row), "reports": [{"number": r.place, **json.loads(r.headline)} for r in headlines]}


@router.delete("/runs/{run_id}", status_code=204)
def cancel(tenant: Manager, run_id: str) -> None:
    """Cancel a run that is not spent."""
    cancel_run(tenant, run_id)


@router.get("/runs/{run_id}/reports/{number}", responses=SHOWN)
def get_report(
    tenant: Reader,
    run_id: str,
    number: int,
    accept: Annotated[str, Header(max_length=1000)] = "application/json",
    if_none_match: Annotated[str | None, Header(max_length=200)] = None,
) -> Response:
    """Return a report exactly as it was stored: JSON, HTML or text."""
    wanted = [each.partition(";")[0].strip() for each in accept.split(",")]
    kind = next((each for each in wanted if each in TYPES), "application/json")
    body = find_report(tenant, run_id, number, TYPES[kind])
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    # a report's page runs its own script in a frame of its own, apart from everything else of the service
    headers = {"ETag": tag, "Vary": "Accept", "Content-Security-Policy": "sandbox allow-scripts"}
    if if_none_match == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=kind, headers=headers)


@router.get("/findings", response_model=Page)
def list_findings(
    tenant: Reader,
    request: Request,
    response: Response,
    monitor: Name = None,
    state: Literal["open", "acknowledged", "closed"] | None = None,
    limit: Limit = 50,
    after: After = None,
) -> dict[str, Any]:
    """List findings."""
    query = select(finding).where(finding.c.project == tenant.project).order_by(finding.c.id).limit(limit + 1)
    if monitor is not None:
        query = query.where(finding.c.monitor == find_monitor(tenant, monitor).id)
    if state is not None:
        query = query.where(finding.c.state == state)
    if after is not None:
        query = query.where(finding.c.id > after)
    with tenant.reading() as connection:
        found = connection.execute(query).all()
    return page_of(request, response, found, limit, show_finding, lambda row: str(row.id))


@router.get("/findings/{finding_id}/measures")
def list_measures(tenant: Reader, finding_id: str) -> dict[str, Any]:
    """Return what later runs measured of a finding, in their order."""
    _load_finding(tenant, finding_id)
    both = measure.join(run, (measure.c.project == run.c.project) & (measure.c.run == run.c.id))
    own = (measure.c.project == tenant.project) & (measure.c.finding == finding_id)
    with tenant.reading() as connection:
        query = select(measure, run.c.spent_at, run.c.set_number).select_from(both).where(own)
        rows = connection.execute(query.order_by(run.c.set_number)).all()
    names = ("run", "effect", "low", "high", "people", "p", "verdict")
    items = [{**{name: getattr(row, name) for name in names}, "when": moment(row.spent_at)} for row in rows]
    return {"items": items}


@router.patch("/findings/{finding_id}")
def change_finding(tenant: Manager, finding_id: str, given: FindingChange) -> dict[str, Any]:
    """Acknowledge a finding, close it, or add a note."""
    _load_finding(tenant, finding_id)
    values = given.model_dump(exclude_none=True)
    own = (finding.c.project == tenant.project) & (finding.c.id == finding_id)
    if values:
        with tenant.writing() as connection:
            connection.execute(update(finding).where(own).values(**values))
            trail.note(tenant.database, connection, tenant.who, "finding.change", finding_id, project=tenant.project)
    return show_finding(_load_finding(tenant, finding_id))


def show_run(row: Any) -> dict[str, Any]:
    """Return a run as answers have it."""
    return {
        "id": row.id,
        "monitor": row.monitor,
        "version": row.version,
        "occasion": row.occasion,
        "state": row.state,
        "reason": row.reason,
        "attempts": row.attempts,
        "due": moment(row.due),
        "ended": moment(row.ended),
        "window": None if row.lo is None else [row.lo, row.hi],
        "set": row.set_number,
        "level": row.level,
        "people": row.people,
        "detail": None if row.detail is None else json.loads(row.detail),
    }


def show_finding(row: Any) -> dict[str, Any]:
    """Return a finding as answers have it."""
    body = json.loads(row.body)
    return {
        "id": row.id,
        "monitor": row.monitor,
        "state": row.state,
        "note": row.note,
        "since_run": row.since_run,
        "created": moment(row.created),
        **{name: body[name] for name in ("protected", "output", "words", "metric", "sentence")},
    }


def _load_finding(tenant: Tenant, finding_id: str) -> Any:
    with tenant.reading() as connection:
        own = (finding.c.project == tenant.project) & (finding.c.id == finding_id)
        row = connection.execute(select(finding).where(own)).first()
    if row is None:
        raise NotFound(f"There is no finding {finding_id!r}.")
    return row
