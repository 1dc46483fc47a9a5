"""Routes of monitors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Request, Response
from pydantic import Field

from fairtest.exceptions import unknown_name
from fairtest.pipeline.periodic import check_plans
from fairtest.service.api.access import Manager, Reader, TheService
from fairtest.service.api.listing import After, Limit, page_of
from fairtest.service.api.models import Given, Name, Page, moment
from fairtest.service.api.streams import read_match
from fairtest.service.errors import BadRequest
from fairtest.service.store import monitors, streams
from fairtest.service.store.monitors import Monitor
from fairtest.service.store.tenant import Tenant
from fairtest.service.work.planning import plan_monitor
from fairtest.service.work.schedule import check_schedule

router = APIRouter(tags=["monitors"])
Column = Annotated[str, Field(min_length=1, max_length=128)]
Columns = Annotated[list[Column], Field(max_length=300)]
Destinations = Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=20)]
Words = Annotated[str, Field(max_length=256)]
Value = Annotated[str, Field(max_length=4096)] | bool | int | float


class ErrorRate(Given):
    """The chance of even one false finding, over the life of the monitor or over each year."""

    level: Annotated[float, Field(gt=0, lt=1)] = 0.05
    over: Literal["life", "year"] = "life"


class Schedule(Given):
    """When it runs by itself: at times, and after so many records."""

    cron: Annotated[str, Field(max_length=128)] | None = None
    timezone: Annotated[str, Field(max_length=64)] = "UTC"
    after: Annotated[int, Field(ge=1)] | None = None


class Question(Given):
    """What is asked; it never changes: another question is the next version."""

    kind: Literal["testing", "discovery", "error_profiling"] = "testing"
    protected: Annotated[list[Column | Columns], Field(min_length=1, max_length=50, examples=[["sex"]])]
    output: Column | Columns
    ground_truth: Column | None = None
    error_by: Annotated[str, Field(max_length=64)] | None = None
    notion: Annotated[str, Field(max_length=64)] | None = None
    top_k: Annotated[int, Field(ge=1, le=1000)] | None = None
    separator: Annotated[str, Field(max_length=8)] | None = None
    contextual: Columns | None = None
    explanatory: Columns | None = None
    exclude: Columns | None = None
    leave_out: Columns | None = None
    metrics: dict[Column, Annotated[str, Field(max_length=64)]] | Annotated[str, Field(max_length=64)] | None = None
    categorical: Columns | None = None
    numeric: Columns | None = None
    ordered: dict[Column, list[Value]] | None = None
    favourable: dict[Column, Value] | None = None
    reference: dict[Column, Value] | None = None
    labels: (
        dict[Column, Annotated[str, Field(max_length=256)] | dict[str, Annotated[str, Field(max_length=256)]]] | None
    ) = None
    people: Annotated[str, Field(max_length=128)] | None = None
    outcome: Annotated[str, Field(max_length=256)] | None = None
    tolerance: Annotated[float, Field(ge=0, lt=1)] | None = None
    correction: Annotated[str, Field(max_length=32)] | None = None
    max_depth: Annotated[int, Field(ge=1, le=10)] | None = None
    min_size: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    error: ErrorRate = ErrorRate()
    training_days: Annotated[float, Field(gt=0, le=36500)] | None = None
    test_people: Annotated[int, Field(ge=50, le=100_000_000)] = 1000
    train_people: Annotated[int, Field(ge=50, le=100_000_000)] = 500


class NewMonitor(Question):
    """A monitor to make."""

    name: Name
    stream: Name
    run: Schedule = Schedule()
    tell: Destinations = Field(default_factory=list)


class MonitorChange(Given):
    """What may change; another question is the next version."""

    question: Question | None = None
    run: Schedule | None = None
    tell: Destinations | None = None
    paused: bool | None = None


@router.get("/monitors", response_model=Page)
def list_monitors(
    tenant: Reader, request: Request, response: Response, limit: Limit = 50, after: After = None
) -> dict[str, Any]:
    """List monitors."""
    found = monitors.list_monitors(tenant, after, limit + 1)
    return page_of(request, response, found, limit, show_monitor, lambda each: str(each.id))


@router.post("/monitors", status_code=201)
def create_monitor(tenant: Manager, service: TheService, given: NewMonitor) -> dict[str, Any]:
    """Make a monitor: it tests people who arrive from now on."""
    body = checked_question(tenant, given.stream, given)
    schedule = check_schedule(given.run.model_dump())
    made = monitors.create_monitor(tenant, given.name, given.stream, body, schedule, given.tell)
    planned = plan_monitor(service, tenant.project, given.stream, body)
    return {**show_monitor(made), "planning": vars(planned)}


class PlannedMonitor(Question):
    """A monitor that is only thought of."""

    stream: Name


@router.post("/plans")
def plan(tenant: Reader, service: TheService, given: PlannedMonitor) -> dict[str, Any]:
    """Say what a monitor would notice, and how soon, without making it.

    It is computed from the records that have arrived; where they are too few, from 1,000 a day.
    """
    return vars(plan_monitor(service, tenant.project, given.stream, checked_question(tenant, given.stream, given)))


@router.get("/monitors/{monitor}")
def get_monitor(tenant: Reader, monitor: str, response: Response) -> dict[str, Any]:
    """Return a monitor, by its id or name."""
    found = monitors.find_monitor(tenant, monitor)
    response.headers["ETag"] = f'"{found.revision}"'
    return show_monitor(found)


@router.patch("/monitors/{monitor}")
def change_monitor(
    tenant: Manager, monitor: str, given: MonitorChange, if_match: Annotated[str | None, Header(max_length=64)] = None
) -> dict[str, Any]:
    """Change the schedule, whom to tell, or whether it is paused; another question makes the next version."""
    found = monitors.find_monitor(tenant, monitor)
    changes: dict[str, Any] = {}
    if given.question is not None:
        changes["question"] = checked_question(tenant, found.stream, given.question)
    if given.run is not None:
        changes["schedule"] = check_schedule(given.run.model_dump())
    changes |= {name: value for name in ("tell", "paused") if (value := getattr(given, name)) is not None}
    return show_monitor(monitors.change_monitor(tenant, found.id, changes, read_match(if_match)))


@router.delete("/monitors/{monitor}", status_code=204)
def delete_monitor(tenant: Manager, monitor: str) -> None:
    """Take a monitor away; its reports stay."""
    monitors.delete_monitor(tenant, monitors.find_monitor(tenant, monitor).id)


@router.get("/monitors/{monitor}/versions")
def list_versions(tenant: Reader, monitor: str) -> dict[str, Any]:
    """Return every question that a monitor has asked."""
    found = monitors.list_versions(tenant, monitor)
    return {"items": [{**each, "created": moment(each["created"])} for each in found]}


def show_monitor(found: Monitor) -> dict[str, Any]:
    """Return a monitor as answers have it."""
    return {
        "id": found.id,
        "name": found.name,
        "stream": found.stream,
        "question": found.question,
        "version": found.version,
        "after_batch": found.fixed_at_seq,
        "run": found.schedule,
        "tell": found.tell,
        "paused": found.paused,
        "created": moment(found.created),
    }


def checked_question(tenant: Tenant, stream: str, given: Question) -> dict[str, Any]:
    """Return a question as it is stored, if it can be asked of a stream."""
    body = _question(given)
    _check_columns(streams.find_stream(tenant, stream).declaration.names, body)
    return body


def _question(given: Question) -> dict[str, Any]:
    """Return a question as it is stored, if it can be asked."""
    body = given.model_dump(include=set(Question.model_fields), exclude_none=True)
    body["error_rate"] = body.pop("error")
    if (error := body.pop("error_by", None)) is not None:
        body["error"] = error
    if (body["kind"] == "error_profiling") != ("ground_truth" in body):
        raise BadRequest("An error profile, and nothing else, needs 'ground_truth': the column that has the truth.")
    if body["kind"] == "testing" and not isinstance(body["output"], str):
        raise BadRequest("Testing has one output. Several outputs, or labels, are asked about with kind 'discovery'.")
    training: dict[str, Any] = {name: body[name] for name in ("max_depth", "min_size") if name in body}
    check_plans(training, {name: body[name] for name in ("tolerance", "correction") if name in body})
    return body


def _check_columns(known: tuple[str, ...], body: dict[str, Any]) -> None:
    """Raise for a column that the stream does not declare."""
    named = [body["output"], body.get("ground_truth"), *body["protected"]]
    roles = ("contextual", "explanatory", "exclude", "leave_out", "categorical", "numeric")
    named += [body.get(role) for role in roles]
    named += [list(body.get(role, {})) for role in ("favourable", "reference", "ordered")]
    for each in named:
        for name in [] if each is None else [each] if isinstance(each, str) else each:
            if name not in known:
                raise BadRequest(str(unknown_name("column of the stream", name, known)))
