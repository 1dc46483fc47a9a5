"""People: only the first record of a person is bet on.

What happens to a person often happens again: records of the same people are not new evidence. What is kept of a
person is a hash, which tells two people apart and says nothing else.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.types import BoolArray


@dataclass
class People:
    """Those whose record has been used."""

    seen: set[int] = field(default_factory=set)

    def first_records(self, people: NDArray[np.uint64], usable: BoolArray) -> BoolArray:
        """Return which of the usable records are the first of their person, and remember these people.

        Examples
        --------
        >>> known = People({7})
        >>> known.first_records(np.array([7, 9, 9, 5], dtype=np.uint64), np.array([True, True, True, False])).tolist()
        [False, True, False, False]
        """
        first = np.zeros(people.size, dtype=bool)
        for row in np.flatnonzero(usable & (people > 0)).tolist():
            person = int(people[row])
            if person not in self.seen:
                self.seen.add(person)
                first[row] = True
        return first

    def to_plain(self) -> str:
        """Return the hashes as text."""
        return base64.b64encode(np.array(sorted(self.seen), dtype="<u8").tobytes()).decode("ascii")

    @classmethod
    def from_plain(cls, stored: str) -> People:
        """Return stored people."""
        return cls(set(np.frombuffer(base64.b64decode(stored), dtype="<u8").tolist()))
