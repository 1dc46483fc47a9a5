"""How long work says how far it is."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Tell: TypeAlias = "Callable[[float], None]"
"""Told now and then which share of some work is done, from 0 to 1."""


class Progress(Protocol):
    """Told what is being done, and now and then which share of it is done, from 0 to 1."""

    def __call__(self, text: str, share: float | None = None, /) -> None:
        """Take note of it."""


def as_progress(given: Callable[..., None] | None) -> Progress:
    """Return what can be told of progress: a function of a text hears of each new text only, None of nothing.

    Examples
    --------
    >>> tell = as_progress(print)  # print takes any number of arguments
    >>> tell("searching", 0.5)
    searching 0.5
    >>> said = []
    >>> tell = as_progress(lambda text: said.append(text))
    >>> for share in (0.0, 0.5, 1.0):
    ...     tell("searching", share)
    >>> said
    ['searching']
    """
    if given is None:
        return lambda _text, _share=None, /: None
    return given if _takes_two(given) else _TextOnly(given)


def silent(_share: float, /) -> None:
    """Tell nobody."""


def share_of(progress: Progress, text: str) -> Tell:
    """Return what tells of the share done of one thing; it never goes back.

    Examples
    --------
    >>> tell = share_of(as_progress(print), "searching")
    >>> for share in (0.0, 0.5, 0.25, 1.5):
    ...     tell(share)
    searching 0.0
    searching 0.5
    searching 0.5
    searching 1.0
    """
    most = 0.0

    def tell(share: float, /) -> None:
        nonlocal most
        most = min(max(most, share), 1.0)
        progress(text, most)

    return tell


def part(tell: Tell, number: int, of: int) -> Tell:
    """Return what tells of one of several parts of some work, counted from 0.

    Examples
    --------
    >>> second = part(print, 1, 4)
    >>> second(0.0), second(1.0)
    0.25
    0.5
    (None, None)
    """
    return lambda share, /: tell((number + share) / of)


class _TextOnly:
    """Tells a function of one argument what is being done, once."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._last: str | None = None

    def __call__(self, text: str, _share: float | None = None, /) -> None:
        """Pass on a text that is new."""
        if text != self._last:
            self._last = text
            self._tell(text)


def _takes_two(function: Callable[..., None]) -> bool:
    try:
        inspect.signature(function).bind("", 0.5)
    except TypeError:
        return False
    except ValueError:  # a function without a signature, written in C
        return True
    return True
