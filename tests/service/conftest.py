"""A service on each database; a PostgreSQL of the tests' own."""

from __future__ import annotations

import io
import logging
import secrets
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from benchmarks.postgres import QUICK, Postgres, find_binaries
from fairtest.service.api.app import create_app
from fairtest.service.operate.logs import configure_logs
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store.database import Database
from fairtest.service.store.migrate import migrate
from fairtest.service.store.projects import create_key, create_project
from fairtest.service.store.tenant import Tenant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ALL = ("ingest", "read", "manage")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    if find_binaries() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with Postgres(QUICK) as server:
        database = Database(server.create("template_of_tests"))
        migrate(database)
        database.close()
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store; its tables are there already on PostgreSQL, which saves time."""
    if request.param == "sqlite":
        return ""
    server: Postgres = request.getfixturevalue("postgres")
    return server.create(f"test_{secrets.token_hex(6)}", "template_of_tests")


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(tmp_path / "data", database_url, disk_least=0)


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    with Service(settings, writes=True) as made:
        yield made


@pytest.fixture
def tenant(service: Service) -> Tenant:
    create_project(service.database, "test", "acme")
    return Tenant(service.database, "test", "acme", frozenset(ALL))


@pytest.fixture
def client_of(service: Service, tenant: Tenant) -> Iterator[Callable[..., TestClient]]:
    """Gives clients with a key of their own: ``client_of("read", project="other")``."""
    with TestClient(create_app(service), raise_server_exceptions=False) as running:

        def make(*scopes: str, project: str | None = "acme") -> TestClient:
            key, _ = create_key(service.database, "test", project, scopes or ALL)
            made = TestClient(
                running.app, headers={"Authorization": f"Bearer {key.text}"}, raise_server_exceptions=False
            )
            made.portal = running.portal  # one thread for all of them, else each request starts one
            return made

        yield make


@pytest.fixture
def client(client_of: Callable[..., TestClient]) -> TestClient:
    return client_of()


class Logged(io.StringIO):
    """What was logged: a thread writes it, which whoever reads here waits for."""

    def getvalue(self) -> str:
        for handler in logging.getLogger().handlers:
            handler.flush()
        return super().getvalue()


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """What the service logs, as it would in a process of its own."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    lines = Logged()
    configure_logs("api", lines)
    yield lines
    logging.captureWarnings(capture=False)
    root.handlers[:], root.level = before
