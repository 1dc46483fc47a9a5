"""One status line on stderr, for a person who waits."""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["StatusLine"]


class StatusLine:
    """Shows what is going on in one line that is overwritten, and wiped at the end.

    It writes to a terminal only, and nowhere if ``quiet``.

    Examples
    --------
    >>> with StatusLine(quiet=True) as status:
    ...     status("searching")
    """

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._on = not quiet and self._stream.isatty()

    def __call__(self, text: str) -> None:
        """Show this text in place of the last."""
        if self._on:
            width = get_terminal_size().columns - 1
            self._stream.write(f"\r{text[:width]:<{width}}\r")
            self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self("")
