"""``fairtest restore``: an archive into an empty database of either kind, without people who were erased since."""

from __future__ import annotations

import json
import tarfile
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select

from fairtest.exceptions import InputError
from fairtest.service.guard.secrets import Secret
from fairtest.service.operate.archive import Archive
from fairtest.service.operate.backup import archived_tables
from fairtest.service.service import SECRET_FILE
from fairtest.service.store import trail
from fairtest.service.store.database import Database
from fairtest.service.store.erasure import JOURNAL, JOURNAL_FIELDS
from fairtest.service.store.migrate import is_known_revision, migrate
from fairtest.service.store.segments import open_segments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Table

    from fairtest.service.settings import Settings

AT_ONCE, BYTES_AT_ONCE = 200, 16 << 20
OWN_OF_DATABASE = {"service"}
"""Tables that a database may have rows in and still be empty."""


def restore(settings: Settings, path: Path, erasures: Iterable[Path] = ()) -> dict[str, Any]:
    """Fill an empty database from an archive; return how many rows, segments and erasures were brought back.

    Parameters
    ----------
    settings
        Where the database and its segments are to be; the folder must have the secret of the service.
    erasures
        Journals of erasures, or newer archives: whoever was erased after the archive was made stays erased. The
        journal in the folder is read in any case.
    """
    secret_file = settings.data / SECRET_FILE
    if not secret_file.exists():
        raise InputError(
            f"There is no {secret_file}. Put that of the service that made the archive there first: without it, "
            "people who were tested or erased could not be recognised."
        )
    secret = Secret.from_file(secret_file)
    with Archive(path, secret) as archive:
        archive.check()
        _check_revision(archive, path)
        journal = settings.data / JOURNAL
        younger = [*erasures, *([journal] if journal.exists() else [])]
        stones = [stone for each in younger for stone in read_erasures(each, secret)]
        database = Database(settings.database_url)
        try:
            return _fill(settings, database, archive, stones)
        finally:
            database.close()


def read_erasures(path: Path, secret: Secret) -> Iterator[dict[str, Any]]:
    """Give the tombstones of a journal of erasures, or of an archive."""
    if not path.is_file():
        raise InputError(f"There is no file {path} to read erasures from.")
    if tarfile.is_tarfile(path):
        with Archive(path, secret) as archive:
            archive.check()
            yield from archive.rows("tombstone")
        return
    with path.open("r", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                stone = json.loads(line)
                yield {**{name: stone[name] for name in JOURNAL_FIELDS}, "erased": None}
            except (ValueError, KeyError, TypeError):
                if line.endswith("\n"):  # the last line may have been cut by a crash: nobody was answered then
                    raise InputError(f"{path}, line {number}: this is not a journal of erasures.") from None


def _check_revision(archive: Archive, path: Path) -> None:
    if not is_known_revision(archive.manifest["revision"]):
        raise InputError(
            f"{path} was made by a newer FairTest ({archive.manifest['fairtest']}). Update FairTest to restore it."
        )


def _fill(settings: Settings, database: Database, archive: Archive, stones: list[dict[str, Any]]) -> dict[str, Any]:
    revision = archive.manifest["revision"]
    migrate(database, revision)
    with database.reading() as connection:
        tables = archived_tables(connection)
        _check_empty(connection, tables, archive)
    segments = open_segments(settings.segments_at, database)
    places = 0
    for place, body in archive.segments():  # what nobody names yet, until the transaction below
        segments.write(place, body)
        places += 1
    with database.writing() as connection:
        _check_empty(connection, tables, archive)
        rows = sum(_insert_rows(connection, table, archive.rows(table.name)) for table in tables)
        erased = _add_tombstones(connection, tables, stones)
    migrate(database)
    with database.writing() as connection:
        trail.note(database, connection, "command line", "backup.restore", str(archive.manifest["made"]))
    return {"rows": rows, "segments": places, "erased": erased, "made": archive.manifest["made"]}


def _check_empty(connection: Connection, tables: list[Table], archive: Archive) -> None:
    """Raise unless nothing is in the tables, and they are those of the archive."""
    if unknown := sorted(set(archive.tables).difference(table.name for table in tables)):
        raise InputError(
            f"The database has no table {unknown[0]!r}: it was made by another FairTest. Restore into a new database."
        )
    for table in tables:
        if table.name not in OWN_OF_DATABASE and connection.scalar(select(func.count()).select_from(table)):
            raise InputError(f"The database is not empty: the table {table.name!r} has rows. Restore into a new one.")


def _insert_rows(connection: Connection, table: Table, rows: Iterator[dict[str, Any]]) -> int:
    if table.name in OWN_OF_DATABASE:
        known = set(connection.scalars(select(table.c.name)))
        rows = (row for row in rows if row["name"] not in known)
    count = 0
    for some in _in_parts(map(_without_lease, rows)):
        connection.execute(insert(table), some)
        count += len(some)
    return count


def _without_lease(row: dict[str, Any]) -> dict[str, Any]:
    """Return work that somebody was at when the archive was made as work that is due."""
    if row.get("state") == "running" and "lease_until" in row:
        return {**row, "state": "due", "lease_until": None, "worker": None}
    return row


def _in_parts(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Give rows in lists that are neither long nor large."""
    some: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        some.append(row)
        size += sum(len(value) for value in row.values() if isinstance(value, bytes))
        if len(some) >= AT_ONCE or size >= BYTES_AT_ONCE:
            yield some
            some, size = [], 0
    if some:
        yield some


def _add_tombstones(connection: Connection, tables: list[Table], stones: Iterable[dict[str, Any]]) -> int:
    """Hide again whom the archive still has; what arrives from now on is not hidden."""
    by_name = {table.name: table for table in tables}
    stream, tombstone = by_name["stream"], by_name["tombstone"]
    last = {(row.project, row.name): row.seq for row in connection.execute(select(stream))}
    key = tuple(column.name for column in tombstone.primary_key.columns)
    known = {tuple(row) for row in connection.execute(select(*(tombstone.c[name] for name in key)))}
    added = 0
    for stone in stones:
        owner, place = (stone["project"], stone["stream"]), tuple(stone[name] for name in key)
        if owner in last and place not in known:
            row = {**stone, "upto": min(stone["upto"], last[owner]), "erased": None}
            connection.execute(insert(tombstone).values(**row))
            known.add(place)
            added += 1
    return added
