"""People: only the first record of a person is bet on.

What happens to a person often happens again: records of the same people are not new evidence. What is kept of a
person is a hash, which tells two people apart and says nothing else.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from fairtest.types import BoolArray

HASH = "<u8"


class People:
    """Those whose record has been used: sorted hashes, and apart from them the newest, which may not be stored yet.

    Parameters
    ----------
    seen
        The hashes of those who are known.
    """

    def __init__(self, seen: Iterable[int] | NDArray[np.uint64] = ()) -> None:
        known = seen if isinstance(seen, np.ndarray) else np.fromiter(seen, dtype=np.uint64)
        self._known: NDArray[np.uint64] = np.unique(known)
        self._newest: list[NDArray[np.uint64]] = []

    def __len__(self) -> int:
        return int(self._known.size)

    def first_records(self, people: NDArray[np.uint64], usable: BoolArray) -> BoolArray:
        """Return which of the usable records are the first of their person, and remember these people.

        Examples
        --------
        >>> known = People({7})
        >>> known.first_records(np.array([7, 9, 9, 5], dtype=np.uint64), np.array([True, True, True, False])).tolist()
        [False, True, False, False]
        """
        rows = np.flatnonzero(usable & (people > 0))
        each, at = np.unique(people[rows], return_index=True)
        place = np.searchsorted(self._known, each)
        known = place < self._known.size
        known[known] = self._known[place[known]] == each[known]
        first = np.zeros(people.size, dtype=bool)
        first[rows[at[~known]]] = True
        if not known.all():
            self._newest.append(each[~known])
            self._known = np.insert(self._known, place[~known], each[~known])
        return first

    def take_newest(self) -> bytes:
        """Return the hashes of those who came since this was last called: for whoever stores them apart."""
        newest, self._newest = self._newest, []
        return np.concatenate(newest).astype(HASH).tobytes() if newest else b""

    def to_plain(self) -> str:
        """Return the hashes as text."""
        return base64.b64encode(self._known.astype(HASH).tobytes()).decode("ascii")

    @classmethod
    def from_bytes(cls, stored: bytes) -> People:
        """Return people whose hashes were stored."""
        return cls(np.frombuffer(stored, dtype=HASH).astype(np.uint64))

    @classmethod
    def from_plain(cls, stored: str) -> People:
        """Return stored people."""
        return cls.from_bytes(base64.b64decode(stored))
