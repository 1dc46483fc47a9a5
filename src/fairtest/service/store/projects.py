"""Projects and keys."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from fairtest.service.errors import Conflict, NotFound
from fairtest.service.guard.scopes import check_scopes
from fairtest.service.guard.secrets import digest_of, id_of_key, make_key
from fairtest.service.store import trail
from fairtest.service.store.identifiers import check_name
from fairtest.service.store.tables import key, project

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import BindParameter, ColumnElement, Connection, Row

    from fairtest.service.guard.secrets import NewKey
    from fairtest.service.store.database import Database

USED_AT_MOST_EVERY = 60.0
"""Seconds between two notes of a key's last use."""


@dataclass(frozen=True)
class Project:
    """A project: everything in it is apart from every other."""

    name: str
    created: float


@dataclass(frozen=True)
class StoredKey:
    """A key as the store knows it."""

    id: str
    project: str | None
    scopes: frozenset[str]
    label: str
    created: float
    expires: float | None
    last_used: float | None
    revoked: float | None


def create_project(database: Database, who: str, name: str) -> float:
    """Make a project and return when; an error where it exists."""
    check_name("project", name)
    try:
        with database.writing() as connection:
            now = database.now(connection)
            connection.execute(insert(project).values(name=name, created=now))
            trail.note(database, connection, who, "project.create", name, project=name)
            return now
    except IntegrityError:
        raise Conflict(f"There is a project {name!r} already.") from None


def list_projects(database: Database, after: str | None, limit: int) -> list[Project]:
    """Return projects by name."""
    query = select(project.c.name, project.c.created).order_by(project.c.name).limit(limit)
    with database.reading() as connection:
        rows = connection.execute(query if after is None else query.where(project.c.name > after))
        return [Project(row.name, row.created) for row in rows]


def find_project(database: Database, name: str) -> Project:
    """Return a project."""
    with database.reading_soon() as connection:
        found = connection.execute(select(project.c.name, project.c.created).where(project.c.name == name)).first()
    if found is None:
        raise NotFound(f"There is no project {name!r}.")
    return Project(found.name, found.created)


def create_key(
    database: Database,
    who: str,
    project_name: str | None,
    scopes: Iterable[str],
    label: str = "",
    expires: float | None = None,
) -> tuple[NewKey, StoredKey]:
    """Make a key; what is returned first has its text, which is stored nowhere."""
    allowed = check_scopes(scopes)
    made = make_key()
    with database.writing() as connection:
        now = database.now(connection)
        if (
            project_name is not None
            and connection.scalar(select(project.c.name).where(project.c.name == project_name)) is None
        ):
            raise NotFound(f"There is no project {project_name!r}.")
        stored = StoredKey(made.id, project_name, allowed, label, now, expires, None, None)
        connection.execute(
            insert(key).values(
                id=made.id,
                project=project_name,
                scopes=" ".join(sorted(allowed)),
                digest=made.digest,
                label=label,
                created=now,
                expires=expires,
            )
        )
        trail.note(database, connection, who, "key.create", made.id, project=project_name)
    return made, stored


def list_keys(
    database: Database, project_name: str | None, after: str | None = None, limit: int = 50
) -> list[StoredKey]:
    """Return the keys of a project, or with None of everything."""
    query = select(key).order_by(key.c.id).limit(limit)
    if project_name is not None:
        query = query.where(key.c.project == project_name)
    if after is not None:
        query = query.where(key.c.id > after)
    with database.reading() as connection:
        return [_read_key(row) for row in connection.execute(query)]


def revoke_key(database: Database, who: str, key_id: str, project_name: str | None) -> None:
    """Revoke a key at once; with a project, only one of its own."""
    chosen = key.c.id == key_id
    if project_name is not None:
        chosen &= key.c.project == project_name
    with database.writing() as connection:
        owner = connection.execute(select(key.c.project).where(chosen)).first()
        if owner is None:
            raise NotFound(f"There is no key {key_id!r}.")
        now = database.now(connection)
        connection.execute(update(key).where(chosen, key.c.revoked.is_(None)).values(revoked=now))
        trail.note(database, connection, who, "key.revoke", key_id, project=owner.project)


def delete_project(database: Database, who: str, name: str) -> None:
    """Delete a project with everything in it, but for the audit trail."""
    with database.writing() as connection:
        if connection.execute(delete(project).where(project.c.name == name)).rowcount == 0:
            raise NotFound(f"There is no project {name!r}.")
        trail.note(database, connection, who, "project.delete", name, project=name)


def any_key(database: Database) -> bool:
    """Return whether there is a key that is valid."""
    with database.reading() as connection:
        now = database.now(connection)
        return bool(connection.scalar(select(func.count()).select_from(key).where(_valid(now))))


def find_key(database: Database, text: str) -> StoredKey | None:
    """Return the key that a client holds, if it is valid now; notes its use at most once a minute."""
    key_id = id_of_key(text)
    if key_id is None:
        return None
    with database.reading_soon() as connection:
        now = database.now(connection)
        row = connection.execute(select(key).where(key.c.id == key_id, _valid(now))).first()
    if row is None or not hmac.compare_digest(row.digest, digest_of(text)):
        return None
    if row.last_used is None or now - row.last_used > USED_AT_MOST_EVERY:
        with database.writing_soon() as connection:
            connection.execute(update(key).where(key.c.id == key_id).values(last_used=now))
    return _read_key(row)


def valid_keys(connection: Connection, ids: Iterable[str], now: float) -> set[str]:
    """Return which of these keys are valid."""
    return set(connection.scalars(FIND_VALID, {"ids": list(ids), "now": now}))


def _valid(now: float | BindParameter[float]) -> ColumnElement[bool]:
    return key.c.revoked.is_(None) & or_(key.c.expires.is_(None), key.c.expires > now)


FIND_VALID = select(key.c.id).where(key.c.id.in_(bindparam("ids", expanding=True)), _valid(bindparam("now")))


def _read_key(row: Row[Any]) -> StoredKey:
    return StoredKey(
        row.id,
        row.project,
        frozenset(row.scopes.split()),
        row.label,
        row.created,
        row.expires,
        row.last_used,
        row.revoked,
    )
