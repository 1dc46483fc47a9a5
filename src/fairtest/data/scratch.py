"""Scratch space on disk: a folder that is gone when nobody needs it any more."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fairtest.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Scratch", "on_disk"]


class Scratch:
    """A temporary folder in the place that ``TMPDIR`` names, or else the system's.

    It is removed when the object is, and at the latest when Python ends; a process that is killed leaves it behind,
    under a name that begins with ``fairtest-``.
    """

    def __init__(self) -> None:
        with on_disk():
            self.folder = Path(tempfile.mkdtemp(prefix="fairtest-"))
        self._made = 0
        self.remove = weakref.finalize(self, _remove, self.folder, os.getpid())

    def new(self) -> Path:
        """Return a path that is not taken."""
        self._made += 1
        return self.folder / f"{self._made:06d}"

    def check_room(self, size: int) -> None:
        """Raise if so many bytes do not fit."""
        free = shutil.disk_usage(self.folder).free
        if size > free:
            raise InputError(
                f"engine='disk' writes {_amount(size)} of scratch files, and {self.folder.parent} has {_amount(free)} "
                "left. Make room, or set the environment variable TMPDIR to a folder with more."
            )


@contextmanager
def on_disk() -> Iterator[None]:
    """Turn an error of the file system into one that says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"engine='disk' could not write its scratch files in {tempfile.gettempdir()}: {reason}. Make room there, "
            "or set the environment variable TMPDIR to a folder that can be written to and has more."
        ) from error


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # a forked process does not own it
        shutil.rmtree(folder, ignore_errors=True)


def _amount(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 10**9 else f"{size / 1e6:.1f} MB"
