"""Scratch space on disk: a folder that is removed when nobody needs it any more."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fairtest.data.locks import hold_lock
from fairtest.exceptions import InputError, setting

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX, LOCK = "fairtest-", "lock"
SETTLED = 60.0
"""For how many seconds a new folder is left alone: it may not have taken its lock yet."""


class Scratch:
    """A temporary folder in the place that ``TMPDIR`` names, or else the system's.

    It is removed when the object is, and at the latest when Python ends. A process that is killed leaves it behind,
    under a name that begins with ``fairtest-``; the next one removes it.
    """

    def __init__(self) -> None:
        lock = ExitStack()
        with advise_on_disk_errors():
            self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
            lock.enter_context(hold_lock(self.folder / LOCK))
        self._made = 0
        self.remove = weakref.finalize(self, _remove, self.folder, lock, os.getpid())
        _sweep(self.folder.parent)

    def new(self) -> Path:
        """Return a path that is not taken."""
        self._made += 1
        return self.folder / f"{self._made:06d}"

    def check_room(self, size: int) -> None:
        """Raise if the disk has not this many bytes left."""
        free = shutil.disk_usage(self.folder).free
        if size > free:
            raise InputError(
                f"{setting('engine', 'disk')} writes {_amount(size)} of scratch files, and {self.folder.parent} has "
                f"{_amount(free)} left. Make room, or set the environment variable TMPDIR to a folder with more."
            )


@contextmanager
def advise_on_disk_errors() -> Iterator[None]:
    """Turn an error of the file system into one that says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{setting('engine', 'disk')} could not write its scratch files in {tempfile.gettempdir()}: {reason}. Make "
            "room there, or set the environment variable TMPDIR to a folder that can be written to and has more."
        ) from error


def _remove(folder: Path, lock: ExitStack, process: int) -> None:
    if os.getpid() == process:  # a forked process does not own it
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def _sweep(place: Path) -> None:
    """Remove the folders of processes that were killed: nobody holds their locks."""
    for lock in place.glob(f"{PREFIX}*/{LOCK}"):
        try:
            if time.time() - lock.stat().st_mtime < SETTLED:
                continue
            with hold_lock(lock) as abandoned:
                if abandoned:
                    shutil.rmtree(lock.parent, ignore_errors=True)
        except OSError:  # somebody else's, or gone in the meantime
            continue


def _amount(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 10**9 else f"{size / 1e6:.1f} MB"
