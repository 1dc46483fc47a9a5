"""What all pages share: headers, errors as pages, who looks, forms, and answers that are sent when they changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute

from fairtest.service.api.access import service_of
from fairtest.service.api.problems import WHY
from fairtest.service.errors import BadRequest, NotFound, Refused, ServiceError, StoreUnavailable, TooLarge
from fairtest.service.pages import sessions
from fairtest.service.pages.sessions import Visitor
from fairtest.service.pages.writing import fill_page
from fairtest.service.service import Service
from fairtest.service.store.projects import find_project
from fairtest.service.store.tenant import Tenant

COOKIE = "__Host-fairtest"
LARGEST_FORM = 64_000
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class NotSignedIn(Exception):  # noqa: N818 - nothing is wrong: the visitor is shown how to sign in
    """Nobody is signed in."""


class PageRoute(APIRoute):
    """A route whose errors are pages, too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler with what all pages have in common around it."""
        handle = super().get_route_handler()

        async def handle_page(request: Request) -> Response:
            try:
                response = await handle(request)
            except NotSignedIn:
                response = RedirectResponse("/signin", 303)
            except ServiceError as error:
                request.scope[WHY] = error
                response = _error_page(error.status, error.title, str(error))
                if isinstance(error, StoreUnavailable):
                    response.headers["Retry-After"] = str(error.retry_after)
            except RequestValidationError:
                response = _error_page(
                    422, BadRequest.title, "The address of the page has a value that it cannot have."
                )
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        return handle_page


def _error_page(status: int, title: str, detail: str) -> HTMLResponse:
    return HTMLResponse(fill_page("error.html.jinja", title=title, detail=detail, status=status), status)


def page(request: Request, text: str) -> Response:
    """Return a page; 304 where the visitor has it already, so that looking for news is cheap."""
    mark = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
    headers = {"ETag": mark, "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return HTMLResponse(text, headers=headers)


def visitor_of(request: Request) -> Visitor:
    """Return who is signed in."""
    token = request.cookies.get(COOKIE)
    found = sessions.find_visitor(service_of(request).database, token) if token else None
    if found is None:
        raise NotSignedIn
    return found


def check_origin(request: Request) -> None:
    """Raise unless a form was sent by a page of this service; every browser says so since 2020 or 2023."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    ours = (
        site == "same-origin" if site is not None else origin is not None and _host(origin) == request.headers["host"]
    )
    if not ours or (origin is not None and _host(origin) != request.headers["host"]):
        raise Refused("The form was sent by another site.")


def _host(origin: str) -> str:
    return urlsplit(origin).netloc


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; of several with one name, the values in lines."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_FORM:
            raise TooLarge("The form has too much text.")
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=200, errors="strict")
    except (ValueError, UnicodeDecodeError):
        raise BadRequest("The form cannot be read.") from None
    return {name: "\n".join(values) for name, values in fields.items()}


class Desk:
    """Somebody who looks at a project: the store bound to it, and what each page needs."""

    def __init__(self, request: Request, project: str) -> None:
        self.request = request
        self.service: Service = service_of(request)
        self.visitor = visitor_of(request)
        if self.visitor.project is not None and self.visitor.project != project:
            raise NotFound(f"There is no project {project!r}.")
        find_project(self.service.database, project)
        whole = self.visitor.project is None
        self.tenant = Tenant(self.service.database, self.visitor.key, project, self.visitor.scopes, whole_service=whole)
        self.tenant.require("read")
        self.project = project
        self.home = f"/p/{project}"

    @property
    def manages(self) -> bool:
        """Whether the visitor may change things."""
        return "manage" in self.visitor.scopes

    def show(self, template: str, **values: Any) -> Response:
        """Return a page of the project."""
        token = sessions.form_token(self.service.secret, self.visitor)
        text = fill_page(template, desk=self, home=self.home, form_token=token, path=self.request.url.path, **values)
        return page(self.request, text)

    def go(self, place: str) -> Response:
        """Send the visitor to another page of the project, after a form."""
        return RedirectResponse(f"{self.home}{place}", 303)


def desk_of(request: Request, project: str) -> Desk:
    """Return the desk of whoever looks at a page."""
    return Desk(request, project)


def managing_desk(
    request: Request, project: str, form: Annotated[dict[str, str], Depends(read_form)]
) -> tuple[Desk, dict[str, str]]:
    """Return the desk of whoever sends a form, and its fields; the form must be ours, and the key one that manages."""
    check_origin(request)
    desk = Desk(request, project)
    sessions.check_form(desk.service.secret, desk.visitor, form.pop("form_token", ""))
    desk.tenant.require("manage")
    return desk, form


AtDesk = Annotated[Desk, Depends(desk_of)]
Sent = Annotated[tuple[Desk, dict[str, str]], Depends(managing_desk)]
