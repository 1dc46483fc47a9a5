"""Where the bytes of segments are: a folder, the database itself, or a bucket.

A place is written once and never changed. Writing it makes it last; nobody reads it before a row of the table
``segment`` names it, so that a crash leaves at most a place that nobody names, which is swept away later.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import delete, insert, select

from fairtest.exceptions import InputError
from fairtest.service.errors import StoreUnavailable
from fairtest.service.store.tables import segment_body

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.service.store.database import Database


RETRIES: Any = {"max_retries": 4, "retry_timeout": dt.timedelta(seconds=20)}
"""How often a request to a bucket is tried again, and for how long; then it is said that it does not answer."""


class SegmentStore(Protocol):
    """Keeps the bytes of segments."""

    in_database: bool
    """Whether what is written here goes through the database anyway."""

    def write(self, place: str, body: bytes) -> None:
        """Make bytes last at a place; writing the same again is harmless."""

    def read(self, place: str) -> bytes:
        """Return the bytes of a place."""

    def remove(self, place: str) -> None:
        """Remove a place; nothing where it is gone already."""

    def places(self, older_than: float) -> Iterator[str]:
        """Give the places that have been there for so many seconds."""


class FolderSegments:
    """Segments as files under a folder."""

    in_database = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, place: str, body: bytes) -> None:
        """Make bytes last: a file is complete before it has its name, and its name lasts before anyone relies on it."""
        path = self._folder / place
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        try:
            _make_folders(path.parent, self._folder)
            with temporary.open("wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            _sync_folder(path.parent)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise StoreUnavailable(f"A segment cannot be written: {error.strerror}.") from error

    def read(self, place: str) -> bytes:
        """Return the bytes of a file."""
        return (self._folder / place).read_bytes()

    def remove(self, place: str) -> None:
        """Unlink a file."""
        (self._folder / place).unlink(missing_ok=True)

    def places(self, older_than: float) -> Iterator[str]:
        """Give the files that have not been changed for so many seconds, half-written ones too."""
        latest = time.time() - older_than
        for path in self._folder.rglob("*"):
            if path.is_file() and path.stat().st_mtime <= latest:
                yield path.relative_to(self._folder).as_posix()


class DatabaseSegments:
    """Segments as rows, so that workers on other machines need no shared disk."""

    in_database = True

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, place: str, body: bytes) -> None:
        """Store bytes as a row."""
        with self._database.writing() as connection:
            connection.execute(delete(segment_body).where(segment_body.c.place == place))
            now = self._database.now(connection)
            connection.execute(insert(segment_body).values(place=place, body=body, created=now))

    def read(self, place: str) -> bytes:
        """Return the bytes of a row."""
        with self._database.reading() as connection:
            found = connection.scalar(select(segment_body.c.body).where(segment_body.c.place == place))
        if found is None:
            raise FileNotFoundError(place)
        return bytes(found)

    def remove(self, place: str) -> None:
        """Delete a row."""
        with self._database.writing() as connection:
            connection.execute(delete(segment_body).where(segment_body.c.place == place))

    def places(self, older_than: float) -> Iterator[str]:
        """Give the rows that were written so many seconds ago."""
        with self._database.reading() as connection:
            latest = self._database.now(connection) - older_than
            found = connection.scalars(select(segment_body.c.place).where(segment_body.c.created <= latest)).all()
        yield from found


class BucketSegments:
    """Segments as objects of a bucket, for many machines and much data.

    Parameters
    ----------
    bucket
        A store of ``obstore``: what it is and how it is reached is its own affair.
    """

    in_database = False

    def __init__(self, bucket: Any) -> None:
        import obstore

        self._objects, self._bucket = obstore, bucket

    def write(self, place: str, body: bytes) -> None:
        """Store bytes as an object, which lasts when this returns and is there as a whole or not at all."""
        with _telling_of_bucket():
            self._objects.put(self._bucket, place, body)

    def read(self, place: str) -> bytes:
        """Return the bytes of an object."""
        with _telling_of_bucket():
            return bytes(self._objects.get(self._bucket, place).bytes())

    def remove(self, place: str) -> None:
        """Delete an object."""
        with _telling_of_bucket(), suppress(FileNotFoundError):
            self._objects.delete(self._bucket, place)

    def places(self, older_than: float) -> Iterator[str]:
        """Give the objects that were written so many seconds ago."""
        latest = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=older_than)
        with _telling_of_bucket():
            for part in self._objects.list(self._bucket):
                yield from (each["path"] for each in part if each["last_modified"] <= latest)


@contextmanager
def _telling_of_bucket() -> Iterator[None]:
    """Turn errors that mean "not now" into one that says so; what is not there stays a ``FileNotFoundError``."""
    from obstore.exceptions import BaseError

    try:
        yield
    except BaseError as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise StoreUnavailable(f"The bucket of the segments does not answer ({type(error).__name__}).") from error


def open_segments(where: str, database: Database) -> SegmentStore:
    """Return the store of segments that settings name."""
    if where == "database":
        return DatabaseSegments(database)
    return BucketSegments(_open_bucket(where)) if where.startswith("s3://") else FolderSegments(Path(where))


def _open_bucket(url: str) -> Any:
    """Return the bucket of an address; its keys and its region are in the environment, as for any tool of S3."""
    try:
        from obstore.store import from_url
    except ImportError:
        raise InputError("Segments at s3:// need obstore: pip install 'fairtest[s3]'.") from None
    try:
        return from_url(url, retry_config=RETRIES)
    except Exception as error:
        raise InputError(f"Segments cannot be at {url!r}: {str(error).splitlines()[0]}") from None


def _make_folders(folder: Path, root: Path) -> None:
    """Make a folder under another, each name lasting."""
    if folder.is_dir():
        return
    if folder != root:
        _make_folders(folder.parent, root)
    folder.mkdir(exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
