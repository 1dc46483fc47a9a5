"""Token buckets: how many requests a key may send, and how often an address may present a key that is none.

A bucket fills steadily up to a few seconds' worth; a request takes a token. So short bursts pass, and whoever sends too
much for long is told when to come back. Buckets are those of one process.
"""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

BURST = 2.0
"""Seconds' worth of requests that may come at once."""
REMEMBERED = 10_000
"""Buckets that are kept; full ones are forgotten first, which changes nothing."""


class Buckets:
    """A token bucket for each name.

    Parameters
    ----------
    rate
        Tokens that each bucket gains in a second; 0 for no limit.
    burst
        How many seconds' worth a bucket holds.
    clock
        What time is read from.

    Examples
    --------
    >>> buckets = Buckets(1, clock=lambda: 0.0)
    >>> [buckets.take("web") for _ in range(3)]
    [0.0, 0.0, 1.0]
    """

    def __init__(self, rate: float, burst: float = BURST, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._most = max(rate * burst, 1.0)
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take(self, name: str) -> float:
        """Take a token and return 0; or, where none is left, return after how many seconds there is one."""
        if not self._rate:
            return 0.0
        with self._lock:
            now = self._clock()
            left = self._left(name, now)
            if left < 1.0:
                return (1.0 - left) / self._rate
            if name not in self._buckets and len(self._buckets) >= REMEMBERED:
                self._forget(now)
            self._buckets[name] = left - 1.0, now
            return 0.0

    def wait(self, name: str) -> float:
        """Return after how many seconds there is a token, without taking one."""
        if not self._rate:
            return 0.0
        with self._lock:
            return max(1.0 - self._left(name, self._clock()), 0.0) / self._rate

    def _left(self, name: str, now: float) -> float:
        left, then = self._buckets.get(name, (self._most, now))
        return min(left + (now - then) * self._rate, self._most)

    def _forget(self, now: float) -> None:
        full = [name for name in self._buckets if self._left(name, now) >= self._most]
        for name in full or list(self._buckets)[: REMEMBERED // 10]:
            del self._buckets[name]


def as_retry_after(seconds: float) -> int:
    """Return whole seconds for a ``Retry-After`` header, at least one.

    Examples
    --------
    >>> as_retry_after(0.2), as_retry_after(3.1)
    (1, 4)
    """
    return max(math.ceil(seconds), 1)
