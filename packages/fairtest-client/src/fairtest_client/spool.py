"""A folder in which records outlive the process that took them.

::

    FOLDER/.lock                                       held for moments: who makes or takes over a folder
    FOLDER/<stream>-<hash of the address>/
        <owner>/lock                                   held for as long as the owner lives
        <owner>/000000000001-records-<key>.open        being written; a record is in it before ``send`` returns
        <owner>/000000000001-records-<key>.ndjson      cut, flushed to the disk, renamed: may be sent
        rejected/<key>-records.ndjson, .json           refused by the service, with its reason

A record survives the death of the process from the moment ``send`` returns, and a failure of power from the moment its
batch is on the disk, which is before it is sent. Each process writes to a folder of its own. Locks die with their
process: whoever starts next takes over the folders of the dead, and two that start at once cannot take the same one.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import os
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from fairtest_client.batch import Batch, Kind
from fairtest_client.errors import InvalidSetting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger("fairtest_client")
REJECTED = "rejected"
KINDS: dict[str, Kind] = {"records": "records", "truths": "truths"}


def check_spool(folder: Path) -> None:
    """Raise where a folder cannot be a spool."""
    if fcntl is None:  # pragma: no cover - Windows
        raise InvalidSetting("The 'spool' of Client needs file locks, which this system does not have. Leave it out.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / ".lock").touch(mode=0o600)
    except OSError as error:
        raise InvalidSetting(f"The 'spool' of Client must be a folder that can be written to. {error}") from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open_lock(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@dataclass
class OpenFile:
    """The file of a draft."""

    path: Path
    descriptor: int
    size: int = 0

    def append(self, line: bytes) -> None:
        """Write a line whole or not at all."""
        written = 0
        try:
            while written < len(line):
                written += os.write(self.descriptor, line[written:])
        except OSError:
            os.ftruncate(self.descriptor, self.size)
            os.lseek(self.descriptor, self.size, os.SEEK_SET)
            raise
        self.size += len(line)

    def settle(self) -> Path:
        """Flush it to the disk and give it the name of a batch that may be sent."""
        os.fsync(self.descriptor)
        os.close(self.descriptor)
        settled = self.path.with_suffix(".ndjson")
        self.path.rename(settled)
        _sync_folder(settled.parent)
        return settled


@dataclass
class Owned:
    """A folder whose lock this process holds."""

    path: Path
    lock: int

    def batches(self) -> list[Batch]:
        """Return what a process that has ended left here, oldest first."""
        return [_settled_batch(path) for path in map(_settle, sorted(self.path.glob("*-*-*.*"))) if path is not None]


def _settle(path: Path) -> Path | None:
    """Make a batch of what a process was writing when it ended: its key was never sent, so its whole lines may be."""
    if path.suffix != ".open":
        return path
    body = path.read_bytes()
    whole = body[: body.rfind(b"\n") + 1]
    if whole != body:
        logger.warning("The last record in %s was cut off when the machine failed and is lost", path.name)
    if not whole:
        path.unlink()
        return None
    descriptor = os.open(path, os.O_RDWR)
    os.ftruncate(descriptor, len(whole))
    return OpenFile(path, descriptor).settle()


def _settled_batch(path: Path) -> Batch:
    _, kind, key = path.stem.split("-", 2)
    return Batch(KINDS[kind], key, path.read_bytes().count(b"\n"), None, path)


@dataclass(eq=False)
class Spool:
    """The files of one stream in this process."""

    root: Path
    stream: str
    address: str
    _own: Owned | None = None
    _adopted: list[Owned] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def folder(self) -> Path:
        """The folder of the stream; the address is part of it, so that no service gets what is another's."""
        return self.root / f"{quote(self.stream, safe='')}-{hashlib.sha256(self.address.encode()).hexdigest()[:8]}"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        descriptor = _open_lock(self.root / ".lock")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def begin(self, kind: Kind, key: str) -> OpenFile:
        """Return a new file to write records to."""
        if self._own is None:
            self._own = self._make_folder()
        path = self._own.path / f"{next(self._numbers):012d}-{kind}-{key}.open"
        return OpenFile(path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))

    def _make_folder(self) -> Owned:
        with self._alone():
            self.folder.mkdir(mode=0o700, exist_ok=True)
            path = self.folder / uuid4().hex
            path.mkdir(mode=0o700)
            lock = _open_lock(path / "lock")
            _try_lock(lock)
        return Owned(path, lock)

    def adopt(self) -> list[Batch]:
        """Take over the folders of processes that have ended, and return the batches in them."""
        found: list[Batch] = []
        if not self.folder.exists():
            return found
        with self._alone():
            others = [path for path in sorted(self.folder.iterdir()) if path.name != REJECTED]
            for path in others:
                if self._own is not None and path == self._own.path:
                    continue
                lock = _open_lock(path / "lock")
                if not _try_lock(lock):
                    os.close(lock)
                    continue
                self._adopted.append(owned := Owned(path, lock))
                found += owned.batches()
        return found

    def settle(self, batch: Batch) -> None:
        """Flush a batch to the disk; from then on the file alone holds it. Where the disk fails, memory keeps it."""
        if batch.open_file is None:
            return
        try:
            batch.path = batch.open_file.settle()
            batch.lines = None
        except OSError as error:
            batch.path = batch.open_file.path
            logger.error("Batch %s could not be flushed to the spool and is kept in memory: %s", batch.key, error)
        batch.open_file = None

    def remove(self, batch: Batch) -> None:
        """Forget a batch that the service has."""
        if batch.path is None:
            return
        try:
            batch.path.unlink(missing_ok=True)
        except OSError as error:  # it will be sent once more, under the same key
            logger.error("Batch %s could not be removed from the spool: %s", batch.key, error)

    def set_aside(self, batch: Batch, reason: dict[str, Any]) -> None:
        """Keep a batch that the service refused, with its reason."""
        place = self.folder / REJECTED
        try:
            place.mkdir(mode=0o700, exist_ok=True)
            (place / f"{batch.key}-{batch.kind}.json").write_text(json.dumps(reason, indent=1), "utf-8")
            (place / f"{batch.key}-{batch.kind}.ndjson").write_bytes(batch.body())
        except OSError as error:  # whoever handles the rejection still gets the records
            logger.error("Batch %s was refused and could not be kept in %s: %s", batch.key, place, error)
        self.remove(batch)

    def release(self) -> None:
        """Give the folders back: those that are empty go, the others wait for the next process."""
        owned = [*self._adopted, *([self._own] if self._own is not None else [])]
        self._own, self._adopted = None, []
        if not owned:
            return
        with self._alone():
            for one in owned:
                if {path.name for path in one.path.iterdir()} <= {"lock"}:
                    shutil.rmtree(one.path, ignore_errors=True)
                os.close(one.lock)

    def leave_to_parent(self) -> None:
        """In a process that was forked: close the copies of the locks, which stay with the parent."""
        for one in [*self._adopted, *([self._own] if self._own is not None else [])]:
            with suppress(OSError):
                os.close(one.lock)
        self._own, self._adopted = None, []
