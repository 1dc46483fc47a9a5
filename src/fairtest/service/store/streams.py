"""Streams: what applications send."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from fairtest.service.errors import BadRequest, Conflict, NotFound, PreconditionFailed
from fairtest.service.guard.sampling import Sampling, sampling_key
from fairtest.service.ingest.columns import MOST_COLUMNS, Declaration, read_columns, read_declaration
from fairtest.service.store import trail
from fairtest.service.store.identifiers import check_name
from fairtest.service.store.tables import stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, Row

    from fairtest.service.guard.secrets import Secret
    from fairtest.service.store.tenant import Tenant


@dataclass(frozen=True)
class Stream:
    """A stream as it is now."""

    project: str
    name: str
    declaration: Declaration
    sample: float
    retention_days: int | None
    truth_within_days: float | None
    version: int
    created: float
    seq: int
    records: int
    sealed: int
    sampling: Sampling | None = None


def create_stream(tenant: Tenant, name: str, given: Mapping[str, Any]) -> Stream:
    """Make a stream."""
    check_name("stream", name)
    declaration = read_declaration(given)
    try:
        with tenant.writing() as connection:
            connection.execute(
                insert(stream).values(
                    project=tenant.project,
                    name=name,
                    columns=declaration.columns_as_json(),
                    record_id=declaration.record_id,
                    person=declaration.person,
                    time=declaration.time,
                    unknown=declaration.unknown,
                    sample=_checked_sample(given.get("sample")),
                    retention_days=given.get("retention_days"),
                    truth_within_days=given.get("truth_within_days"),
                    created=tenant.database.now(connection),
                )
            )
            trail.note(tenant.database, connection, tenant.who, "stream.create", name, project=tenant.project)
            return load_stream(connection, tenant.project, name)
    except IntegrityError:
        raise Conflict(f"There is a stream {name!r} already.") from None


def find_stream(tenant: Tenant, name: str) -> Stream:
    """Return a stream of the project."""
    with tenant.reading() as connection:
        return load_stream(connection, tenant.project, name)


def with_sampling(secret: Secret, found: Stream) -> Stream:
    """Return a stream with how its people are chosen, where not all are kept."""
    if found.sample >= 1:
        return found
    column = found.declaration.person or found.declaration.record_id
    return replace(found, sampling=Sampling(found.sample, sampling_key(secret, found.project, found.name), column))


def load_stream(connection: Connection, project: str, name: str) -> Stream:
    """Return a stream."""
    row = connection.execute(select(stream).where(stream.c.project == project, stream.c.name == name)).first()
    if row is None:
        raise NotFound(f"There is no stream {name!r}.")
    return _stream(row)


def list_streams(tenant: Tenant, after: str | None, limit: int) -> list[Stream]:
    """Return the streams of the project by name."""
    query = select(stream).where(stream.c.project == tenant.project).order_by(stream.c.name).limit(limit)
    with tenant.reading() as connection:
        return [
            _stream(row) for row in connection.execute(query if after is None else query.where(stream.c.name > after))
        ]


def change_stream(tenant: Tenant, name: str, changes: Mapping[str, Any], version: int | None) -> Stream:
    """Add optional columns, which makes the next version, or change how long records are kept."""
    with tenant.writing() as connection:
        before = load_stream(connection, tenant.project, name)
        if version is not None and version != before.version:
            raise PreconditionFailed(f"The stream is at version {before.version}; you read version {version}.")
        added = read_columns(changes.get("columns") or {})
        _check_added(before.declaration, added)
        kept = ("retention_days", "truth_within_days")
        values: dict[str, Any] = {each: changes[each] for each in kept if each in changes}
        if added:
            declaration = Declaration((*before.declaration.columns, *added))
            values |= {"columns": declaration.columns_as_json(), "version": before.version + 1}
        if values:
            chosen = (stream.c.project == tenant.project) & (stream.c.name == name)
            connection.execute(update(stream).where(chosen).values(**values))
            trail.note(tenant.database, connection, tenant.who, "stream.change", name, project=tenant.project)
        return load_stream(connection, tenant.project, name)


def delete_stream(tenant: Tenant, name: str) -> None:
    """Delete a stream with its records and monitors."""
    with tenant.writing() as connection:
        chosen = (stream.c.project == tenant.project) & (stream.c.name == name)
        if connection.execute(delete(stream).where(chosen)).rowcount == 0:
            raise NotFound(f"There is no stream {name!r}.")
        trail.note(tenant.database, connection, tenant.who, "stream.delete", name, project=tenant.project)


def _check_added(before: Declaration, added: tuple[Any, ...]) -> None:
    if len(before.columns) + len(added) > MOST_COLUMNS:
        raise BadRequest(f"A stream may have {MOST_COLUMNS} columns.")
    for column in added:
        if column.name in before.names:
            raise BadRequest(f"There is a column {column.name!r} already, and what it is cannot change.")
        if column.required:
            raise BadRequest(
                f"The new column {column.name!r} cannot be required: earlier records have no value for it."
            )


def _checked_sample(sample: float | None) -> float:
    if sample is None:
        return 1.0
    if not 0 < sample <= 1:
        raise BadRequest(f"'sample' must be above 0 and at most 1. Got {sample!r} instead.")
    return float(sample)


def _stream(row: Row[tuple[Any, ...]]) -> Stream:
    return Stream(
        row.project,
        row.name,
        _declaration(row.columns, row.record_id, row.person, row.time, row.unknown),
        row.sample,
        row.retention_days,
        row.truth_within_days,
        row.version,
        row.created,
        row.seq,
        row.records,
        row.sealed,
    )


@lru_cache(maxsize=512)
def _declaration(columns: str, record_id: str, person: str | None, time: str | None, unknown: str) -> Declaration:
    return Declaration(read_columns(json.loads(columns)), record_id, person, time, unknown)
