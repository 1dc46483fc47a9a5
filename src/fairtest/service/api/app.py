"""The app: every route of the service."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI

from fairtest.service.api import alerts, deletions, health, monitors, projects, records, runs, streams, watches
from fairtest.service.api.problems import add_handlers, documented
from fairtest.service.api.records import Intake
from fairtest.service.pages import actions, asking, views
from fairtest.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

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


def create_app(service: Service) -> FastAPI:
    """Return the app of a service; closing the app does not close the service."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.intake = Intake(service)
        yield

    app = FastAPI(
        title="FairTest",
        version=__version__,
        summary="Finds where a running application treats people unfairly, and says how sure it is.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        lifespan=lifespan,
        responses=documented(),
    )
    app.state.service = service
    app.state.intake = Intake(service)
    add_handlers(app)
    for router in VERSIONED:
        app.include_router(router, prefix="/v1")
    app.include_router(health.router)
    for router in (actions.router, asking.router, views.router):
        app.include_router(router)
    return app
