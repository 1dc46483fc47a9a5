"""The numbers for Prometheus."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from fairtest.service.api.access import TheService, authenticate
from fairtest.service.guard.loopback import is_loopback
from fairtest.service.operate.metrics import Meters

router = APIRouter(tags=["health"])
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
"""Headers that proxies add: whoever sends them is not this machine."""


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def get_metrics(
    request: Request,
    service: TheService,
    authorization: Annotated[str | None, Header()] = None,
    fairtest_project: Annotated[str | None, Header()] = None,
) -> Response:
    """Return numbers: to this machine, or to a key with the scope metrics, which sees its own project."""
    meters: Meters = request.app.state.meters
    project = None
    if authorization is not None or not _is_this_machine(request):
        tenant = authenticate(service, authorization, fairtest_project)
        tenant.require("metrics")
        project = tenant.bound_to
    return Response(meters.write(project), media_type=MEDIA_TYPE)


def _is_this_machine(request: Request) -> bool:
    """Return whether a request came from here, and not through a proxy that is here."""
    if request.app.state.behind_proxy or any(name in request.headers for name in FORWARDED):
        return False
    return request.client is not None and is_loopback(request.client.host)
