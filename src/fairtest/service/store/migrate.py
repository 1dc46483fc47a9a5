"""Bringing the tables of a database to what this version needs, by one process at a time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from fairtest.service.store.database import Database

FOLDER = Path(__file__).parent / "migrations"
VERSION_TABLE = "alembic_version"
LOCK = 0x466169725465  # any number that only FairTest would take


def migrate(database: Database, revision: str = "head") -> None:
    """Bring the tables up to date, or to an older revision where there are none.

    A second server that starts at the same time waits until the first is done.
    """
    with database.writing() as connection:  # SQLite: BEGIN IMMEDIATE is the lock
        if not database.is_sqlite:
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        here = current_revision(connection)
        if here is not None and not is_known_revision(here):
            raise InputError(
                f"The database was made by a newer FairTest (its tables are at {here!r}). Update FairTest to use it."
            )
        if revision == "head" or here is None:
            command.upgrade(_config(connection), revision)


def current_revision(connection: Connection) -> str | None:
    """Return the revision of the tables; None where there are none."""
    return MigrationContext.configure(connection).get_current_revision()


def is_known_revision(revision: str) -> bool:
    """Return whether this version of FairTest knows a revision of the tables."""
    return revision in {script.revision for script in ScriptDirectory(str(FOLDER)).walk_revisions()}


def is_current(connection: Connection) -> bool:
    """Return whether the tables are those of this version."""
    return current_revision(connection) == ScriptDirectory(str(FOLDER)).get_current_head()


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.attributes["connection"] = connection
    return config
