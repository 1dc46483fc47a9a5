"""Errors as RFC 9457 problem documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from fairtest.exceptions import FairTestError
from fairtest.service import errors
from fairtest.service.errors import ServiceError, StoreUnavailable

if TYPE_CHECKING:
    from fastapi import FastAPI, Request

MEDIA_TYPE = "application/problem+json"
WHY = "fairtest.error"
"""Where the scope of a request has the error that it was answered with, for the log."""


def problem(
    status: int, kind: str, title: str, detail: str = "", *, headers: dict[str, str] | None = None, **extra: Any
) -> JSONResponse:
    """Return a problem document; its type is a page of the service."""
    body = {"type": f"/problems/{kind}", "title": title, "status": status, **extra}
    if detail and detail != title:
        body["detail"] = detail
    return JSONResponse(body, status, headers, MEDIA_TYPE)


def describe_problems() -> dict[int | str, dict[str, Any]]:
    """Return the problems that any route may answer with, for the description of the interface."""
    statuses = {
        400: "the body cannot be read", 401: "no valid key", 403: "the key may not do this", 404: "no such thing",
        405: "no such method", 409: "not possible as things are", 412: "changed since it was read", 413: "too large",
        415: "an unknown format", 422: "not what it must be", 429: "too many requests",
        500: "a fault of the service", 503: "not now",
    }  # fmt: skip
    schema = {
        "type": "object",
        "properties": {"type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"}},
        "required": ["type", "title", "status"],
    }
    body = {MEDIA_TYPE: {"schema": schema}}
    return {status: {"description": words, "content": body} for status, words in statuses.items()}


def add_handlers(app: FastAPI) -> None:
    """Let an app answer every error with a problem document."""
    app.add_exception_handler(FairTestError, _of_library)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _of_fault)


def known_problems() -> dict[str, tuple[int, str, str]]:
    """Return every kind of problem with its status, title and explanation."""
    found = {}
    for each in vars(errors).values():
        if isinstance(each, type) and issubclass(each, ServiceError):
            title = "Records of a batch were not accepted" if each is errors.BatchRejected else each.title
            found[each.kind] = (each.status, title, (each.__doc__ or "").strip())
    return found


def answer_error(error: FairTestError) -> JSONResponse:
    """Return the problem document of an error: of the service, or what the library says of a question."""
    if not isinstance(error, ServiceError):
        return problem(422, "bad-request", errors.BadRequest.title, str(error))
    headers = {}
    if isinstance(error, StoreUnavailable | errors.TooManyRequests):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, errors.Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    return problem(error.status, error.kind, error.title, str(error), headers=headers, **error.extra())


async def _of_library(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, FairTestError)
    request.scope[WHY] = error
    return answer_error(error)


async def _of_validation(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    wrong = [
        {"where": ".".join(str(part) for part in each["loc"]), "allowed": each["msg"]} for each in error.errors()[:100]
    ]
    return problem(422, "bad-request", errors.BadRequest.title, errors=wrong)


async def _of_http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    kind = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "bad-request")
    headers = dict(error.headers) if error.headers else None
    return problem(error.status_code, kind, str(error.detail), headers=headers)


async def _of_fault(_: Request, _error: Exception) -> JSONResponse:
    return problem(500, ServiceError.kind, ServiceError.title, "It is in the log of the service.")
