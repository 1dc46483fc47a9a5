"""``fairtest backup``: the whole store in one file, from one moment, while the service goes on."""

from __future__ import annotations

import datetime as dt
import hashlib
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import MetaData, Table, select

from fairtest.exceptions import InputError
from fairtest.service.operate.archive import ArchiveWriter
from fairtest.service.store import trail
from fairtest.service.store.database import WAIT, Database, sqlite_driver
from fairtest.service.store.migrate import VERSION_TABLE, current_revision
from fairtest.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from fairtest.service.service import Service

NOT_ARCHIVED = {VERSION_TABLE, "segment_body", "session", "job"}
"""Tables that no archive has: bytes of segments are in it as files, whoever was signed in signs in again, and jobs are
planned anew. Every other table comes along by itself, also one that is added later."""
TRIES = 3
AT_ONCE = 200
"""Rows that are in memory at once; one may have some megabytes."""


class SegmentVanished(Exception):  # noqa: N818 - what happened; the backup begins again
    """A segment was replaced while it was copied."""


def back_up(service: Service, path: Path) -> dict[str, Any]:
    """Write an archive of everything but the secret; return its manifest.

    Whoever sends, reads or runs goes on meanwhile. Segments are files that never change; where one is replaced while
    it is copied, because somebody is erased at that moment, all of it begins again.
    """
    if path.exists():
        raise InputError(f"There is a file {path} already. Choose another name; a backup is never overwritten.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} to write {path.name} to.")
    with service.database.writing() as connection:
        trail.note(service.database, connection, "command line", "backup.make", path.name)
    for attempt in range(TRIES):
        try:
            return _write(service, path)
        except SegmentVanished:
            if attempt == TRIES - 1:
                raise InputError("Segments are being replaced all the time; try again in a few minutes.") from None
    raise AssertionError("unreachable")


def _write(service: Service, path: Path) -> dict[str, Any]:
    with snapshot_of(service.database, path.parent) as connection, ArchiveWriter(path, service.secret) as archive:
        tables = archived_tables(connection)
        counts = {table.name: archive.add_table(table.name, _rows_of(connection, table)) for table in tables}
        places = _live_places(connection, tables)
        for place, expected in places.items():
            archive.add_segment(place, _read_segment(service, place, expected))
        about = {
            "made": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "fairtest": __version__,
            "revision": current_revision(connection),
            "fingerprint": service.secret.fingerprint,
        }
        archive.finish(about)
    return {**about, "rows": counts, "segments": len(places)}


@contextmanager
def snapshot_of(database: Database, folder: Path) -> Iterator[Connection]:
    """Give a connection that sees the database as it is now, however long the reading takes.

    SQLite's writers would wait for a long reader, so it reads a copy; PostgreSQL's do not.
    """
    if not database.is_sqlite:
        plain = database.engine.connect().execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        with plain as connection, connection.begin():
            yield connection
        return
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fairtest-backup-") as beside:
        copy = Path(beside) / "copy.sqlite"
        source = sqlite_driver().connect(str(database.url.database), timeout=WAIT, isolation_level=None)
        try:
            source.execute("VACUUM INTO ?", (str(copy),))
        finally:
            source.close()
        copied = Database(f"sqlite:///{copy}")
        try:
            with copied.reading() as connection:
                yield connection
        finally:
            copied.close()


def archived_tables(connection: Connection) -> list[Table]:
    """Return the tables that an archive has, each after those that it refers to.

    They are read from the database and not from the code, so that an archive of an older version can be restored.
    """
    found = MetaData()
    found.reflect(connection)
    return [table for table in found.sorted_tables if table.name not in NOT_ARCHIVED]


def _rows_of(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    query = select(table).order_by(*table.primary_key.columns)
    if table.name == "segment":  # a replaced one holds what was erased, and is about to go
        query = query.where(table.c.replaced.is_(None))
    for row in connection.execution_options(yield_per=AT_ONCE).execute(query).mappings():
        yield {str(name): value for name, value in row.items()}


def _live_places(connection: Connection, tables: list[Table]) -> dict[str, str]:
    """Return the places of segments that are read now, with their hashes."""
    (segment,) = (table for table in tables if table.name == "segment")
    rows = connection.execute(select(segment.c.place, segment.c.sha256).where(segment.c.replaced.is_(None)))
    return {row.place: row.sha256 for row in rows}


def _read_segment(service: Service, place: str, expected: str) -> bytes:
    try:
        body = service.segments.read(place)
    except FileNotFoundError:
        raise SegmentVanished(place) from None
    if hashlib.sha256(body).hexdigest() != expected:
        raise InputError(f"The segment {place} is not what was stored; see fairtest verify. No backup was made.")
    return body
