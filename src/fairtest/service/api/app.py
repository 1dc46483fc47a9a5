"""The app: every route of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI

from fairtest.service.api import alerts, deletions, health, metrics, monitors, projects, records, runs, streams, watches
from fairtest.service.api.entrance import Entrance
from fairtest.service.api.intake import InFront, Intake
from fairtest.service.api.problems import add_handlers, describe_problems
from fairtest.service.operate.metrics import Meters
from fairtest.service.pages import actions, asking, views
from fairtest.version import __version__

if TYPE_CHECKING:
    from fairtest.service.operate.tracing import Tracing
    from fairtest.service.service import Service

VERSIONED = (
    projects.router,
    streams.router,
    records.router,
    deletions.router,
    monitors.router,
    watches.router,
    runs.router,
    alerts.router,
)
"""The routes under ``/v1``, one router for each file. To add one: write ``api/NAME.py`` with a router, and name it."""


def create_app(service: Service, *, behind_proxy: bool = False, tracing: Tracing | None = None) -> FastAPI:
    """Return the app of a service; closing the app does not close the service.

    Parameters
    ----------
    behind_proxy
        Whether others reach it through a proxy: then nobody is taken for this machine.
    tracing
        What makes spans of requests, if anything does.
    """
    app = FastAPI(
        title="FairTest",
        version=__version__,
        summary="Finds where a running application treats people unfairly, and says how sure it is.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        responses=describe_problems(),
    )
    app.state.service = service
    app.state.intake = Intake(service)
    app.add_middleware(InFront, intake=app.state.intake)
    app.state.meters = Meters(service)
    app.state.behind_proxy = behind_proxy
    app.add_middleware(Entrance, meters=app.state.meters, tracing=tracing)
    add_handlers(app)
    for router in VERSIONED:
        app.include_router(router, prefix="/v1")
    app.include_router(health.router)
    app.include_router(metrics.router)
    for router in (actions.router, asking.router, views.router):
        app.include_router(router)
    return app
