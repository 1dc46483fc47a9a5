"""Is it alive, is it ready, and what problems mean."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from fairtest.service.api.access import TheService
from fairtest.service.api.problems import known_problems
from fairtest.service.errors import NotFound, ServiceError
from fairtest.service.store.migrate import is_current

router = APIRouter(tags=["health"])


@router.get("/healthz")
def alive() -> dict[str, str]:
    """Say that the process answers."""
    return {"status": "alive"}


@router.get("/readyz", responses={503: {"description": "not ready", "content": {"application/json": {}}}})
def ready(service: TheService) -> Response:
    """Say whether records can be taken: database, tables, disk and writer."""
    checks: dict[str, str] = {}
    try:
        with service.database.reading() as connection:
            checks["database"] = "ok"
            checks["tables"] = "ok" if is_current(connection) else "of another version"
    except ServiceError as error:
        checks["database"] = str(error)
    try:
        service.check_room()
        checks["room"] = "ok"
    except ServiceError as error:
        checks["room"] = str(error)
    checks["writer"] = "ok" if service.writer is not None and service.writer.alive else "stopped"
    good = all(value == "ok" for value in checks.values())
    body: dict[str, Any] = {"status": "ready" if good else "not ready", "checks": checks}
    return JSONResponse(body, 200 if good else 503, {} if good else {"Retry-After": "2"})


@router.get("/problems/{kind}", response_class=PlainTextResponse)
def explain_problem(kind: str) -> str:
    """Explain a kind of problem."""
    known = known_problems()
    if kind not in known:
        raise NotFound(f"There is no problem {kind!r}.")
    status, title, words = known[kind]
    return f"{title} (HTTP {status})\n\n{words}\n"
