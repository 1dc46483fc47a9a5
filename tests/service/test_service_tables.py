"""Tables: migrations make what the code expects, once, whoever starts first; answers cannot be changed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from fairtest.exceptions import InputError
from fairtest.service.errors import StoreUnavailable
from fairtest.service.store import tables
from fairtest.service.store.database import Database
from fairtest.service.store.migrate import current_revision, migrate
from fairtest.service.store.projects import delete_project

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.postgres import Postgres
    from fairtest.service.service import Service
    from fairtest.service.store.tenant import Tenant

REFUSED = (DBAPIError, StoreUnavailable)


def test_migrations_make_the_tables_of_the_code(service: Service) -> None:
    with service.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, tables.metadata) == []


def _start_two(urls: str) -> list[str | None]:
    revisions: list[str | None] = []
    barrier = threading.Barrier(2)

    def start() -> None:
        database = Database(urls)
        barrier.wait()
        migrate(database)
        with database.reading() as connection:
            revisions.append(current_revision(connection))
        database.close()

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return revisions


def test_two_servers_that_start_at_once_on_sqlite(tmp_path: Path) -> None:
    assert len(set(_start_two(f"sqlite:///{tmp_path}/new.sqlite"))) == 1


def test_two_servers_that_start_at_once_on_postgresql(postgres: Postgres) -> None:
    revisions = _start_two(postgres.create("two_servers"))
    assert len(revisions) == 2
    assert len(set(revisions)) == 1


def test_a_database_of_a_newer_version_is_refused(service: Service) -> None:
    with service.database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match="newer FairTest"):
        migrate(service.database)


@pytest.mark.parametrize("url", ["mysql://x", "nothing", "sqlite://"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(InputError, match=r"sqlite:///FILE or postgresql://"):
        Database(url)


def test_no_password_in_the_error() -> None:
    with pytest.raises(InputError) as caught:
        Database("mysql://me:hunter2@host/name")
    assert "hunter2" not in str(caught.value)


@pytest.fixture
def spent(service: Service, tenant: Tenant) -> Service:
    """A store with a run that is done, and its report."""
    leased = {"state": "done", "due": 0.0, "token": 1, "attempts": 1}
    with service.database.writing() as connection:
        connection.execute(
            insert(tables.stream).values(
                project="acme", name="s", columns="{}", record_id="id", unknown="reject", created=0
            )
        )
        connection.execute(
            insert(tables.monitor).values(
                project="acme",
                id="mon_1",
                stream="s",
                name="m",
                schedule="{}",
                tell="[]",
                paused=False,
                version=1,
                created_at_records=0,
                created=0,
            )
        )
        connection.execute(
            insert(tables.question).values(
                project="acme", monitor="mon_1", version=1, body="{}", fixed_at_seq=0, created=0
            )
        )
        connection.execute(
            insert(tables.run).values(
                project="acme", id="run_1", monitor="mon_1", version=1, occasion="r:1", created=0, lo=0, hi=5, **leased
            )
        )
        parts = dict.fromkeys(("question", "prior", "document", "json", "text", "html"), b"x")
        connection.execute(insert(tables.report).values(project="acme", run="run_1", place=1, headline="{}", **parts))
    return service


@pytest.mark.parametrize(
    "statement",
    [
        update(tables.report).values(json=b"y"),
        delete(tables.report),
        update(tables.run).values(level=0.5),
        update(tables.run).values(state="due"),
        delete(tables.run),
        update(tables.question).values(body="other"),
        update(tables.audit).values(who="nobody"),
        delete(tables.audit),
        delete(tables.monitor),
        insert(tables.run).values(
            project="acme", id="run_2", monitor="mon_1", version=1, occasion="r:2", created=0, lo=0, hi=9,
            state="done", due=0.0, token=1, attempts=1,
        ),
    ],
    ids=lambda statement: str(statement).split(" WHERE")[0].replace("\n", " ")[:50],
)  # fmt: skip
def test_answers_are_immutable(spent: Service, statement: object) -> None:
    with pytest.raises(REFUSED), spent.database.writing() as connection:
        connection.execute(statement)  # type: ignore[call-overload]
    with spent.database.reading() as connection:
        assert connection.scalar(select(tables.report.c.json)) == b"x"


def test_everything_goes_with_its_project(spent: Service) -> None:
    delete_project(spent.database, "test", "acme")
    with spent.database.reading() as connection:
        for table in tables.metadata.sorted_tables:
            if "project" in table.c and table.name != "audit":
                assert connection.execute(select(table)).all() == [], table.name
