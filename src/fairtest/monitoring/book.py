"""The book of a pair: its hypotheses with their stakes, their open blocks, and what has been measured of them.

One row of each array is one hypothesis. Open blocks are tallies by hour of the day, stratum, output and group: blocks
of one hour or of several are sums of them, and a slot over several days adds the same hours of each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.monitoring.intervals import DAILY, Trail
from fairtest.monitoring.pairs import Form
from fairtest.monitoring.slots import FIRST_DAYS, FIRST_HOURS, HOURS, choose_slots
from fairtest.monitoring.stakes import NOTHING, feed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairtest.model.context import Context
    from fairtest.monitoring.claims import Following
    from fairtest.monitoring.pairs import Pair
    from fairtest.types import BoolArray, FloatArray, IntArray

WEEK = 7
_COLUMNS = ("row", "hour", "stratum", "protected", "output")


@dataclass
class Held:
    """Records of open blocks, kept one by one where they cannot be counted: one for each context of a record."""

    row: IntArray
    hour: IntArray
    stratum: IntArray
    protected: FloatArray
    output: FloatArray

    @classmethod
    def none(cls) -> Held:
        """Return no records."""
        whole, number = np.zeros(0, dtype=np.int64), np.zeros(0)
        return cls(whole, whole, whole, number, number)

    def take(self, chosen: BoolArray | IntArray) -> Held:
        """Return some of them."""
        return Held(*(getattr(self, name)[chosen] for name in _COLUMNS))

    def joined(self, other: Held) -> Held:
        """Return these and others, in order."""
        return Held(*(np.concatenate((getattr(self, name), getattr(other, name))) for name in _COLUMNS))


@dataclass
class Book:
    """What is known of the hypotheses of a pair.

    Attributes
    ----------
    candidate
        The candidate that each context is, −1 where it is none (it was found or listed, and has its own predicates).
    valid_from
        The first day since 1970 whose records may be bet on.
    hours, days, first_day
        How long slots are, and the day on which the present ones began.
    recent, known
        The records of each of the last seven days, by day modulo 7, and since how many days they are counted.
    fed
        Whether it may get capital: a context of the columns has enough records, a found one is among the best.
    unseen
        For how many days a found context has not been among the best.
    echo_of
        The row whose alarm said before what the alarm of this row says again; −1 for none.
    """

    pair: Pair
    number: int
    """How many candidates there are."""
    contexts: list[Context] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    followings: dict[int, Following] = field(default_factory=dict)
    strata: int = 1
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    held: Held = field(default_factory=Held.none)
    past_days: list[int] = field(default_factory=list)
    past_sums: list[FloatArray] = field(default_factory=list)
    past_changes: int = 0
    """How often the past has changed since this book was made or read."""
    lookup: NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        if not self.arrays:
            self.arrays = {name: fill(0, self) for name, fill in _FILLS.items()}
        self.relabel()

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["arrays"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __len__(self) -> int:
        return len(self.contexts)

    def relabel(self) -> None:
        """Find out anew which row belongs to which candidate."""
        self.lookup = np.full(self.number + 1, -1, dtype=np.int32)
        known = np.flatnonzero(self.arrays["candidate"] >= 0)
        self.lookup[self.arrays["candidate"][known]] = known

    @property
    def names(self) -> list[str]:
        """The names of the hypotheses."""
        return [f"{self.pair.name} | {context}" for context in self.contexts]

    def add(self, contexts: Sequence[Context], origin: str, candidates: Sequence[int], day: int) -> range:
        """Add hypotheses that are followed from a day on; return their rows."""
        first, many = len(self), len(contexts)
        if not many:
            return range(0)
        new = {name: fill(many, self) for name, fill in _FILLS.items()}
        new["candidate"][:] = candidates
        new["depths"][:] = [len(c) for c in contexts]
        new["valid_from"][:] = new["first_day"][:] = day
        self.arrays = {name: np.concatenate((self.arrays[name], new[name])) for name in self.arrays}
        self.contexts += contexts
        self.origins += [origin] * many
        self.relabel()
        return range(first, first + many)

    def drop(self, rows: Sequence[int]) -> None:
        """Forget hypotheses, with their stakes."""
        kept = np.setdiff1d(np.arange(len(self)), rows)
        place = np.full(len(self), -1)
        place[kept] = np.arange(kept.size)
        self.arrays = {name: array[kept] for name, array in self.arrays.items()}
        self.contexts = [self.contexts[i] for i in kept]
        self.origins = [self.origins[i] for i in kept]
        echoes = self.arrays["echo_of"]
        self.arrays["echo_of"] = np.where(echoes >= 0, place[echoes], -1)
        self.followings = {int(place[r]): f for r, f in self.followings.items() if place[r] >= 0}
        self.past_sums = [sums[kept[kept < len(sums)]] for sums in self.past_sums]
        self.past_changes += 1
        self.held = self.held.take(place[self.held.row] >= 0)
        self.held.row = place[self.held.row]
        self.relabel()

    def need_strata(self, number: int) -> None:
        """Make room for strata that were not known."""
        if number > self.strata:
            old = self.arrays["tally"]
            self.strata = number
            self.arrays["tally"] = _tally(len(self), self)
            self.arrays["tally"][:, :, : old.shape[2]] = old

    def feed(self, amounts: FloatArray) -> None:
        """Put capital into the hypotheses."""
        self.arrays["log_stakes"] = feed(self.log_stakes, amounts)
        self.arrays["given"] = self.given + amounts

    def count(self, rows: IntArray, records: IntArray, batch: Batch) -> None:
        """Add records to open blocks: record ``records[i]`` is in the context of row ``rows[i]``."""
        outputs, groups = self.pair.shape
        hour, stratum = batch.hour[records], batch.stratum[records]
        key = (rows.astype(np.int64) * HOURS + hour) * self.strata + stratum
        if self.pair.form is Form.TABLE:
            key = (key * outputs + batch.output[records].astype(int)) * groups + batch.protected[records].astype(int)
        else:
            values = (batch.protected[records], batch.output[records])
            self.held = self.held.joined(Held(rows.astype(np.int64), hour, stratum, *values))
        added = np.bincount(key, minlength=self.tally.size).astype(np.int32)
        self.arrays["tally"] += added.reshape(self.tally.shape)
        self.arrays["today"] += np.bincount(rows, minlength=len(self))

    def members(self, batch: Batch) -> tuple[IntArray, IntArray]:
        """Return the rows of the contexts that records are in, and which record it is, one entry for each."""
        found = self.lookup[batch.candidates]  # the last place of the lookup is for −1
        record, _ = np.nonzero(found >= 0)
        rows = found[found >= 0]
        return rows, record

    def begin_day(self, day: int, strata: float, *, whole_days: bool) -> None:
        """Settle how long the slots of the day are, where those before are over."""
        due = self.first_day + self.days <= day
        hours, days = choose_slots(self.recent.sum(axis=1) / WEEK / strata)
        young = self.known < FIRST_DAYS
        hours, days = np.where(young, FIRST_HOURS, hours), np.where(young, 1, days)
        if whole_days:
            hours, days = np.full_like(hours, HOURS), np.ones_like(days)
        self.arrays["hours"] = np.where(due, hours, self.hours)
        self.arrays["days"] = np.where(due, days, self.days)
        self.arrays["first_day"] = np.where(due, day, self.first_day)

    def end_day(self, day: int) -> None:
        """Keep what a day has brought."""
        self.arrays["recent"][:, day % WEEK] = self.today
        self.arrays["today"] = np.zeros_like(self.today)
        self.arrays["known"] = self.known + 1
        if self.sums.any():
            self.past_days.append(day)
            self.past_sums.append(self.sums.copy())
            self.past_changes += 1
            self.arrays["sums"] = np.zeros_like(self.sums)
        if day % WEEK == 0:
            self._pool_weeks(day)

    def _pool_weeks(self, today: int) -> None:
        pooled: dict[int, FloatArray] = {}
        for day, sums in zip(self.past_days, self.past_sums, strict=True):
            first = day if day >= today - DAILY else day - day % WEEK
            if first in pooled:
                wider = sums.copy()
                wider[: len(pooled[first])] += pooled[first]
                sums = wider  # noqa: PLW2901 - rows are only ever added at the end
            pooled[first] = sums
        self.past_days, self.past_sums = list(pooled), list(pooled.values())
        self.past_changes += 1

    def busiest(self, first: int = 0, last: int = HOURS) -> int:
        """Return the records of the largest open block among those of some hours."""
        most = 0
        for width in np.unique(self.hours):
            start, stop = first // width * width, -(-last // width) * width
            tally = self.tally[self.hours == width, start:stop]
            slots = tally.reshape(len(tally), (stop - start) // width, width, *tally.shape[2:]).sum(axis=(2, 4, 5))
            most = max(most, int(slots.max(initial=0)))
        return most

    def trail(self, row: int, cell: int, today: int, later: FloatArray | None = None) -> Trail:
        """Return what has been measured of a comparison in a hypothesis, without ``later``, which came after."""
        trail = Trail()
        for day, sums in zip(self.past_days, self.past_sums, strict=True):
            if row < len(sums) and sums[row, cell, 3]:
                trail.add(day, sums[row, cell])
        now = self.sums[row, cell] if later is None else self.sums[row, cell] - later[cell]
        if now[3]:
            trail.add(today, now)
        return trail

    @property
    def able(self) -> BoolArray:
        """Whether each hypothesis may have capital."""
        return np.asarray(~self.alarmed & self.fed)


@dataclass(frozen=True, eq=False)
class Batch:
    """Records that may be bet on in a pair, in the order of arrival.

    Attributes
    ----------
    candidates
        The candidates that each record is in, −1 in places that are not used.
    """

    hour: IntArray
    stratum: IntArray
    protected: FloatArray
    output: FloatArray
    candidates: IntArray


def _tally(rows: int, book: Book) -> NDArray[Any]:
    return np.zeros((rows, HOURS, book.strata, *book.pair.shape), dtype=np.int32)


_FILLS: dict[str, Callable[[int, Book], NDArray[Any]]] = {
    "candidate": lambda n, _: np.full(n, -1, dtype=np.int64),
    "depths": lambda n, _: np.zeros(n, dtype=np.int64),
    "valid_from": lambda n, _: np.zeros(n, dtype=np.int64),
    "log_stakes": lambda n, book: np.full((n, book.pair.bets), NOTHING),
    "given": lambda n, _: np.zeros(n),
    "alarmed": lambda n, _: np.zeros(n, dtype=bool),
    "fed": lambda n, _: np.ones(n, dtype=bool),
    "hours": lambda n, _: np.full(n, FIRST_HOURS, dtype=np.int64),
    "days": lambda n, _: np.zeros(n, dtype=np.int64),
    "first_day": lambda n, _: np.zeros(n, dtype=np.int64),
    "recent": lambda n, _: np.zeros((n, WEEK), dtype=np.int64),
    "known": lambda n, _: np.zeros(n, dtype=np.int64),
    "today": lambda n, _: np.zeros(n, dtype=np.int64),
    "unseen": lambda n, _: np.zeros(n, dtype=np.int64),
    "echo_of": lambda n, _: np.full(n, -1, dtype=np.int64),
    "early": lambda n, _: np.zeros(n, dtype=np.int64),
    "tally": _tally,
    "sums": lambda n, book: np.zeros((n, len(book.pair.cells), 4)),
}
"""What a new row of each array holds."""
