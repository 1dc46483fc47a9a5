"""The one cache of the engines: the few things that were made last."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The few things that were made last, for whoever asks for them again.

    Any thread may ask at any time. The lock is not held while something is made, so that two threads that ask for the
    same new thing both make it: what is made must follow from its key alone.

    Parameters
    ----------
    most
        How many things are kept. The oldest goes before the next is made: those kept here are large.

    Examples
    --------
    >>> squares = Recent(most=1)
    >>> squares.get(3, lambda: 9), squares.get(3, lambda: 0), squares.get(4, lambda: 16), squares.get(3, lambda: 0)
    (9, 9, 16, 0)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[K, V] = {}
        self._lock = Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return what has a key, made now unless it is kept."""
        with self._lock:
            if key in self._kept:
                self._kept[key] = kept = self._kept.pop(key)
                return kept
            self._shrink(self._most - 1)
        made = make()
        with self._lock:
            self._kept[key] = made
            self._shrink(self._most)
        return made

    def find(self, key: K) -> V | None:
        """Return what has a key if it is kept."""
        with self._lock:
            return self._kept.get(key)

    def values(self) -> list[V]:
        """Return what is kept."""
        with self._lock:
            return list(self._kept.values())

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._kept.clear()

    def _shrink(self, size: int) -> None:
        while len(self._kept) > size:
            del self._kept[next(iter(self._kept))]
