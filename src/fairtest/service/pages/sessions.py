"""Who looks at pages: one-time links, sessions, and tokens that a form must carry.

There is no password. Whoever may use the machine makes a link for a key; the link works once, within ten minutes, and
gives a session in a cookie, which ends when it has not been used for eight hours, and after a week. A session may do
what its key may do and ends with it; the store has hashes only. Cookies open no route of the API, and keys open no
page.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, or_, select, update

from fairtest.service.errors import NotFound, Refused, Unauthorized
from fairtest.service.store import trail
from fairtest.service.store.projects import create_key
from fairtest.service.store.tables import key, session

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from fairtest.service.guard.secrets import Secret
    from fairtest.service.service import Service
    from fairtest.service.store.database import Database

LINK, PAGES = "link", "pages"
LABEL = "dashboard"
LINK_LASTS, IDLE, LONGEST = 600.0, 8 * 3600.0, 7 * 86400.0
"""Seconds that a link lasts, that a session lasts without being used, and that it lasts at all."""
NAME = 16
"""Characters of the hash of a session that name it on pages."""
NOTE_EVERY = 60.0
"""Seconds between two notes that a session is in use."""


@dataclass(frozen=True)
class Visitor:
    """Somebody who is signed in."""

    key: str
    label: str
    project: str | None
    scopes: frozenset[str]
    session: str


def make_link(database: Database, key_id: str) -> str:
    """Return the token of a link that signs somebody in, once, with what a key may do."""
    token = secrets.token_urlsafe(32)
    with database.writing() as connection:
        now = database.now(connection)
        if connection.scalar(select(key.c.id).where(key.c.id == key_id, _valid(now))) is None:
            raise NotFound(f"There is no valid key {key_id!r}.")
        _add(connection, token, key_id, LINK, now, now + LINK_LASTS)
        trail.note(database, connection, key_id, "signin.link", key_id)
    return token


def make_sign_in_link(service: Service, project: str | None) -> str:
    """Return the path of a link for whoever may use the machine: for a project, or for the whole service.

    Its key is one of the dashboard's own. Nobody ever sees its text, so it opens pages and nothing else; revoking it
    ends every session that began with such a link.
    """
    with service.database.reading() as connection:
        now = service.database.now(connection)
        mine = key.c.project.is_(None) if project is None else key.c.project == project
        found = connection.scalar(select(key.c.id).where(key.c.label == LABEL, mine, _valid(now)).limit(1))
    if found is None:
        found = create_key(service.database, "command line", project, ["read", "manage"], LABEL)[0].id
    return f"/signin?token={make_link(service.database, found)}"


def sign_in(database: Database, token: str) -> str:
    """Use a link up, and return the token of a session.

    Raises
    ------
    Unauthorized
        The link was used, is too old, or never existed.
    """
    with database.writing() as connection:
        now = database.now(connection)
        spent = delete(session).where(
            session.c.hash == _hash(token), session.c.purpose == LINK, session.c.expires > now
        )
        row = connection.execute(spent.returning(session.c.key)).first()
        alive = row is not None and connection.scalar(select(key.c.id).where(key.c.id == row.key, _valid(now)))
        if row is None or not alive:
            raise Unauthorized("This link has been used, or is older than ten minutes. Make another: fairtest signin.")
        connection.execute(delete(session).where(session.c.expires <= now))
        made = secrets.token_urlsafe(32)
        _add(connection, made, row.key, PAGES, now, now + IDLE)
        trail.note(database, connection, row.key, "signin", row.key)
    return made


def find_visitor(database: Database, token: str) -> Visitor | None:
    """Return who a session belongs to, if it and its key are valid; its time begins anew."""
    hashed = _hash(token)
    with database.reading() as connection:
        now = database.now(connection)
        both = session.join(key, session.c.key == key.c.id)
        query = select(session.c.expires, key.c.id, key.c.label, key.c.project, key.c.scopes).select_from(both)
        mine = (session.c.hash == hashed, session.c.purpose == PAGES, session.c.expires > now, _valid(now))
        row = connection.execute(query.where(*mine, session.c.created > now - LONGEST)).first()
    if row is None:
        return None
    if row.expires < now + IDLE - NOTE_EVERY:
        with database.writing() as connection:
            connection.execute(update(session).where(session.c.hash == hashed).values(expires=now + IDLE))
    return Visitor(row.id, row.label, row.project, frozenset(row.scopes.split()), hashed)


def sign_out(database: Database, visitor: Visitor) -> None:
    """End a session."""
    with database.writing() as connection:
        connection.execute(delete(session).where(session.c.hash == visitor.session))


@dataclass(frozen=True)
class OpenSession:
    """A session of a key that is open: ``name`` is part of its hash, and opens nothing."""

    name: str
    began: float
    ends: float
    is_this: bool


def list_sessions(database: Database, visitor: Visitor) -> list[OpenSession]:
    """Return the sessions that are open with the visitor's key, newest first."""
    with database.reading() as connection:
        now = database.now(connection)
        mine = (session.c.key == visitor.key) & (session.c.purpose == PAGES)
        valid = (session.c.expires > now) & (session.c.created > now - LONGEST)
        rows = connection.execute(select(session).where(mine, valid).order_by(session.c.created.desc()).limit(200))
        return [
            OpenSession(
                row.hash[:NAME], row.created, min(row.expires, row.created + LONGEST), row.hash == visitor.session
            )
            for row in rows
        ]


def end_session(database: Database, visitor: Visitor, name: str) -> None:
    """End a session of the visitor's key.

    Raises
    ------
    NotFound
        The key has no such session.
    """
    with database.writing() as connection:
        mine = (session.c.key == visitor.key) & (session.c.purpose == PAGES)
        begins = session.c.hash.startswith(name, autoescape=True)
        if len(name) != NAME or connection.execute(delete(session).where(mine, begins)).rowcount == 0:
            raise NotFound("There is no such session: it has ended already.")
        trail.note(database, connection, visitor.key, "session.end", name)


def form_token(secret: Secret, visitor: Visitor) -> str:
    """Return what each form of a session carries, so that no other site can send one."""
    return hmac.new(secret.derive("forms"), visitor.session.encode(), hashlib.sha256).hexdigest()


def check_form(secret: Secret, visitor: Visitor, given: str) -> None:
    """Raise unless a form came from a page that was signed in to."""
    if not hmac.compare_digest(form_token(secret, visitor).encode(), given.encode()):
        raise Refused("The form did not come from a page of the same sign-in. Go back, reload the page and try again.")


def _add(connection: Connection, token: str, key_id: str, purpose: str, now: float, expires: float) -> None:
    row = {"hash": _hash(token), "key": key_id, "purpose": purpose, "created": now, "expires": expires}
    connection.execute(insert(session).values(**row))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _valid(now: float) -> ColumnElement[bool]:
    return key.c.revoked.is_(None) & or_(key.c.expires.is_(None), key.c.expires > now)
