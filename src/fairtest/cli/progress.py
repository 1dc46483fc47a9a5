"""What is going on, for people who wait: a line with a bar and the time left, on a terminal only."""

from __future__ import annotations

import sys
import threading
from time import monotonic
from typing import Any, Self, TextIO

AFTER = 1.0
"""Seconds: shorter work shows nothing."""
SURE = 0.02
"""The share done from which on the time left can be guessed."""


def time_left(share: float | None, seconds: float) -> str:
    """Return how long the rest takes, if it goes on as it did; empty where that cannot be said.

    Examples
    --------
    >>> time_left(0.25, 10), time_left(0.4, 150), time_left(None, 10), time_left(0.9, 5)
    ('about 30 s left', 'about 4 min left', '', 'about 1 s left')
    """
    if share is None or share < SURE:
        return ""
    left = seconds * (1 - min(share, 1.0)) / share
    if left < 90:
        return f"about {max(round(left), 1)} s left"
    return f"about {round(left / 60)} min left" if left < 5400 else f"about {round(left / 3600)} h left"


class StatusLine:
    """Shows what is being done, how far it is and how long it will take; wiped at the end.

    It is a :class:`fairtest.progress.StageProgress`: called with a text and perhaps a share. It shows only on a
    terminal, only once the work has taken a second, and never if ``quiet``.

    Parameters
    ----------
    verbose
        Also write, wherever stderr goes, how long each stage took, and what :meth:`note` is told.

    Examples
    --------
    >>> with StatusLine(quiet=True) as status:
    ...     status("searching", 0.5)
    """

    def __init__(
        self, *, quiet: bool = False, verbose: bool = False, stream: TextIO | None = None, after: float = AFTER
    ) -> None:
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._on = not quiet and self._stream.isatty()
        self._verbose = verbose and not quiet
        self._lock = threading.Lock()
        self._timer = threading.Timer(after, self._show)
        self._timer.daemon = True
        self._text, self._share, self._since = "", None, monotonic()  # type: tuple[str, float | None, float]
        self._bar: Any = None

    def __call__(self, text: str, share: float | None = None, /) -> None:
        """Show this in place of the last."""
        with self._lock:
            if text != self._text:
                self._end_stage()
                self._text, self._since = text, monotonic()
            self._share = share
            self._update()

    def warn(self, text: str) -> None:
        """Write a warning that stays, unless quiet."""
        if not self._quiet:
            self._write(f"fairtest: warning: {text}")

    def note(self, text: str) -> None:
        """Write a line that stays, if verbose."""
        if self._verbose:
            self._write(text)

    def __enter__(self) -> Self:
        if self._on:
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._on = False
            if kind is None:
                self._end_stage()
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def _end_stage(self) -> None:
        if self._text and self._verbose:
            self._write(f"{self._text}: {monotonic() - self._since:.1f} s")
        self._text = ""

    def _write(self, text: str) -> None:
        if self._bar is None:
            self._stream.write(f"{text}\n")
        else:
            self._bar.console.print(text, markup=False, highlight=False)

    def _show(self) -> None:
        """Begin to show; called by the timer."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        with self._lock:
            if not self._on:
                return
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[left]}", markup=False),
                console=Console(file=self._stream),
                transient=True,
                refresh_per_second=4,
            )
            self._bar.add_task("", total=None, left="")
            self._update()
            self._bar.start()

    def _update(self) -> None:
        if self._bar is None:
            return
        task = self._bar.tasks[0].id
        left = time_left(self._share, monotonic() - self._since)
        total = None if self._share is None else 1.0
        self._bar.update(task, description=self._text, total=total, completed=self._share or 0.0, left=left)
