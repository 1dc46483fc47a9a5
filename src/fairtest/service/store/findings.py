"""Findings: contexts that a run or the watch has found, known by protected attribute, output and context."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from fairtest.service.store.identifiers import make_id
from fairtest.service.store.tables import finding
from fairtest.workspace.codec import unpack

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from fairtest.model.context import Context


def fingerprint(protected: str, output: str, context: Context) -> str:
    """Return what tells a finding from all others of a monitor; the same for runs and for the watch."""
    predicates = sorted(map(str, context.predicates))
    return sha256(json.dumps([protected, output, predicates]).encode()).hexdigest()


def find_or_add(
    connection: Connection, project: str, monitor: str, mark: str, body: Mapping[str, Any], since: str, now: float
) -> str:
    """Return the id of a finding; one that is not known is added as open."""
    known = find_by_mark(connection, project, monitor, mark)
    if known is not None:
        return known
    made = make_id("fnd")
    connection.execute(
        insert(finding).values(
            project=project, id=made, monitor=monitor, fingerprint=mark, state="open", body=json.dumps(body),
            since_run=since, created=now,
        )
    )  # fmt: skip
    return made


def find_by_mark(connection: Connection, project: str, monitor: str, mark: str) -> str | None:
    """Return the id of the finding with a fingerprint; None where there is none."""
    own = (finding.c.project == project) & (finding.c.monitor == monitor) & (finding.c.fingerprint == mark)
    found = connection.scalar(select(finding.c.id).where(own))
    return None if found is None else str(found)


def turn_finding(connection: Connection, project: str, finding_id: str, *, to: str, only_from: tuple[str, ...]) -> None:
    """Change the state of a finding, if it is in one of some states."""
    own = (finding.c.project == project) & (finding.c.id == finding_id) & finding.c.state.in_(only_from)
    connection.execute(update(finding).where(own).values(state=to))


def followed_contexts(connection: Connection, project: str, monitor: str) -> list[Context]:
    """Return the contexts of findings that are not closed: runs test them again, and the watch follows them."""
    own = (finding.c.project == project) & (finding.c.monitor == monitor) & (finding.c.state != "closed")
    bodies = connection.scalars(select(finding.c.body).where(own).order_by(finding.c.id)).all()
    return list({unpack(each["context"]): None for each in map(json.loads, bodies) if "context" in each})
