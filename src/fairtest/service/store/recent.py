"""Ids of records of the last days, kept between seals: each segment is read once, and not at every seal.

What is kept are the short hashes of ids in one sorted array, each with the segment that it is in. It says which
segments may have an id; whether one has it is decided by the id itself, as it is stored there.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

MOST = 20_000_000
"""Hashes that a process keeps, of all streams together; 12 bytes each. What is more is read again at every seal."""


class RecentIds:
    """Hashes of the ids in some segments of a stream."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._hashes: NDArray[np.int64] = np.empty(0, np.int64)
        self._owners: NDArray[np.int32] = np.empty(0, np.int32)

    def __len__(self) -> int:
        return self._hashes.size

    def keep(self, places: list[str], read: Callable[[str], NDArray[np.int64]]) -> None:
        """Know these segments and no others; those that are new are read."""
        wanted = set(places)
        if gone := [number for place, number in self._numbers.items() if place not in wanted]:
            stays = np.isin(self._owners, gone, invert=True)
            self._hashes, self._owners = self._hashes[stays], self._owners[stays]
            self._numbers = {place: number for place, number in self._numbers.items() if place in wanted}
        first = max(self._numbers.values(), default=-1) + 1
        new = {place: number for number, place in enumerate((p for p in places if p not in self._numbers), first)}
        if not new:
            return
        parts = [read(place) for place in new]
        numbers = [np.full(part.size, number, np.int32) for part, number in zip(parts, new.values(), strict=True)]
        hashes = np.concatenate([self._hashes, *parts])
        order = np.argsort(hashes, kind="stable")  # what was there is sorted already: merging is quick
        self._hashes, self._owners = hashes[order], np.concatenate([self._owners, *numbers])[order]
        self._numbers |= new

    def find(self, hashes: NDArray[np.int64]) -> list[str]:
        """Return the segments that may have one of some ids."""
        left, right = (np.searchsorted(self._hashes, hashes, side) for side in ("left", "right"))
        hits = np.flatnonzero(right > left)
        owners = {int(owner) for hit in hits for owner in self._owners[left[hit] : right[hit]]}
        return [place for place, number in self._numbers.items() if number in owners]


class RecentIdsOfStreams:
    """What a process keeps for all streams; those that were not sealed for longest are forgotten first."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._streams: OrderedDict[tuple[str, str], RecentIds] = OrderedDict()
        self._lock = threading.Lock()

    def find(
        self,
        owner: tuple[str, str],
        segments: Mapping[str, int],
        hashes: NDArray[np.int64],
        read: Callable[[str], NDArray[np.int64]],
    ) -> list[str]:
        """Return the segments of a stream that may have one of some ids.

        Parameters
        ----------
        segments
            The places of segments and how many records each has, oldest first.
        read
            Returns the hashes of a segment.
        """
        known: list[str] = []
        unknown: list[str] = []
        room = self._most
        for place, rows in reversed(list(segments.items())):  # the newest are kept: they are needed for longest
            room -= rows
            (known if room >= 0 else unknown).append(place)
        with self._lock:
            kept = self._streams.pop(owner, None) or RecentIds()
            kept.keep(known, read)
            self._streams[owner] = kept
            while sum(map(len, self._streams.values())) > self._most and len(self._streams) > 1:
                self._streams.popitem(last=False)
            found = kept.find(hashes)
        return found + [place for place in unknown if np.isin(hashes, read(place)).any()]
