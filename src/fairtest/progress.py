"""How far long work has come: callbacks that are told the share done, and how a user's function becomes one."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Progress: TypeAlias = "Callable[[float], None]"
"""Called now and then with the share of some work that is done, from 0 to 1. What it raises ends the work."""


class StageProgress(Protocol):
    """Called with the stage that is under way and, now and then, the share of it that is done, from 0 to 1."""

    def __call__(self, text: str, share: float | None = None, /) -> None:
        """Take note of the stage and the share."""


def as_stage_progress(function: Callable[..., None] | None) -> StageProgress:
    """Return what a user gave as ``progress`` in its full form.

    A function of one argument is called once for each stage, with its text; None is never called.

    Examples
    --------
    >>> progress = as_stage_progress(print)  # print takes any number of arguments
    >>> progress("searching", 0.5)
    searching 0.5
    >>> texts = []
    >>> progress = as_stage_progress(lambda text: texts.append(text))
    >>> for share in (0.0, 0.5, 1.0):
    ...     progress("searching", share)
    >>> texts
    ['searching']
    """
    if function is None:
        return lambda _text, _share=None, /: None
    return function if _takes_two(function) else _TextOnly(function)


def silent(_share: float, /) -> None:
    """Do nothing: the progress of work that nobody watches."""


def progress_of_stage(progress: StageProgress, text: str) -> Progress:
    """Return the progress of one stage; the share it passes on never goes back.

    Examples
    --------
    >>> searching = progress_of_stage(as_stage_progress(print), "searching")
    >>> for share in (0.0, 0.5, 0.25, 1.5):
    ...     searching(share)
    searching 0.0
    searching 0.5
    searching 0.5
    searching 1.0
    """
    most = 0.0

    def pass_on(share: float, /) -> None:
        nonlocal most
        most = min(max(most, share), 1.0)
        progress(text, most)

    return pass_on


def progress_of_step(progress: Progress, number: int, steps: int) -> Progress:
    """Return the progress of one of several equal steps of some work, numbered from 0.

    Examples
    --------
    >>> second = progress_of_step(print, 1, 4)
    >>> second(0.0), second(1.0)
    0.25
    0.5
    (None, None)
    """
    return lambda share, /: progress((number + share) / steps)


class _TextOnly:
    """Calls a function of one argument whenever a new stage begins."""

    def __init__(self, function: Callable[[str], None]) -> None:
        self._function = function
        self._last: str | None = None

    def __call__(self, text: str, _share: float | None = None, /) -> None:
        """Pass on a text that is new."""
        if text != self._last:
            self._last = text
            self._function(text)


def _takes_two(function: Callable[..., None]) -> bool:
    try:
        inspect.signature(function).bind("", 0.5)
    except TypeError:
        return False
    except ValueError:  # a function without a signature, written in C
        return True
    return True
