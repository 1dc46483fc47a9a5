"""Locks between processes that the operating system takes back when a process ends, however it ends."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    def _give_back(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _give_back(file: IO[bytes]) -> None:
        # not left to closing: a child forked in the meantime would keep the lock with its copy of the file
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def hold_lock(path: Path) -> Iterator[bool]:
    """Hold the lock of a file while the block runs, if nobody else does; gives whether it is held.

    The file stays: to remove it would let two processes hold locks on two files of one name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with hold_lock(Path(folder) / "lock") as first, hold_lock(Path(folder) / "lock") as second:
    ...         first, second
    (True, False)
    """
    with path.open("ab") as file:
        try:
            _take(file)
        except (BlockingIOError, PermissionError):
            yield False
            return
        try:
            yield True
        finally:
            _give_back(file)
