"""The family: the contexts that the columns make, as far as they have enough records.

Who is in it on a day hangs on the records that came before, and on nothing but how many there were.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.monitoring.candidates import Candidates
    from fairtest.types import BoolArray, IntArray

DAYS = 28
"""Records of so many days are looked at …"""
RECORDS = 2
"""… for contexts with so many a day …"""
MOST = 10_000
"""… of which so many are followed at most."""
WEEK = 7
MOST_CELLS = 40_000_000
"""The most numbers that the open blocks of a pair may have."""


@dataclass
class Census:
    """How many records each candidate had on each of the last days.

    Attributes
    ----------
    days, candidates, counts
        For each day, since 1970, which candidates had records, and how many.
    total
        The records of each candidate over these days.
    """

    total: NDArray[np.int64]
    days: list[int] = field(default_factory=list)
    candidates: list[IntArray] = field(default_factory=list)
    counts: list[IntArray] = field(default_factory=list)

    def add(self, day: int, candidates: IntArray) -> None:
        """Add the candidates that the records of a day are in; days come in order."""
        numbers = np.bincount(candidates[candidates >= 0].ravel(), minlength=self.total.size)
        self.total += numbers
        seen = np.flatnonzero(numbers)
        if self.days and self.days[-1] == day:
            seen = np.union1d(seen, self.candidates[-1])
            numbers[self.candidates[-1]] += self.counts[-1]
            self.candidates[-1], self.counts[-1] = seen, numbers[seen]
        else:
            self.days.append(day)
            self.candidates.append(seen)
            self.counts.append(numbers[seen])

    def forget(self, day: int) -> None:
        """Forget what is too long ago, on the morning of a day."""
        while self.days and self.days[0] < day - DAYS:
            self.total[self.candidates.pop(0)] -= self.counts.pop(0)
            self.days.pop(0)

    def week_before(self, day: int, candidates: IntArray) -> tuple[IntArray, int]:
        """Return the records of candidates on each of the seven days before a day, by day modulo 7.

        And since how many days, seven at most, records have been counted.
        """
        week = np.zeros((candidates.size, WEEK), dtype=np.int64)
        for each, who, many in zip(self.days, self.candidates, self.counts, strict=True):
            if each >= day - WEEK:
                place = np.searchsorted(who, candidates)
                found = (place < who.size) & (who[np.minimum(place, who.size - 1)] == candidates)
                week[found, each % WEEK] = many[place[found]]
        return week, min(day - self.days[0], WEEK) if self.days else 0

    def frequent(self, day: int, allowed: BoolArray, most: int = MOST) -> IntArray:
        """Return the candidates that have enough records on the morning of a day, the largest if they are too many."""
        if not self.days:
            return np.zeros(1, dtype=np.int64)
        least = RECORDS * max(day - self.days[0], 1)
        found = np.flatnonzero((self.total >= least) & allowed)
        if found.size > most:
            found = np.sort(found[np.argsort(-self.total[found], kind="stable")[:most]])
        return found if found.size and found[0] == 0 else np.insert(found, 0, 0)

    def to_plain(self) -> dict[str, Any]:
        """Return the census as JSON can have it."""
        lists = {name: [a.tolist() for a in getattr(self, name)] for name in ("candidates", "counts")}
        return {"days": self.days, **lists}

    @classmethod
    def from_plain(cls, stored: dict[str, Any], number: int) -> Census:
        """Return a stored census."""
        lists: list[list[IntArray]] = [
            [np.array(a, dtype=np.int64) for a in stored[n]] for n in ("candidates", "counts")
        ]
        candidates, counts = lists
        census = cls(np.zeros(number, dtype=np.int64), list(stored["days"]), candidates, counts)
        for who, many in zip(candidates, counts, strict=True):
            census.total[who] += many
        return census


def allowed_candidates(candidates: Candidates, columns: frozenset[str]) -> BoolArray:
    """Return which candidates speak of these columns only."""
    allowed = np.zeros(candidates.number, dtype=bool)
    for start, stop, names in candidates.segments():
        allowed[start:stop] = columns.issuperset(names)
    return allowed
