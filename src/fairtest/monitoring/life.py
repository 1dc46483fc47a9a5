"""The life of a monitor: records come, blocks close, days end and begin, and now and then something is claimed.

It knows no frames: records are numbers by now. What it does hangs on the records and on nothing else, least of all on
when somebody looks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.monitoring.book import Batch, Book
from fairtest.monitoring.candidates import rows_in_each
from fairtest.monitoring.capital import FOUND, LISTED, SCHEMA, Mode, daily_stake, share_capital
from fairtest.monitoring.claims import Following, levels_above
from fairtest.monitoring.closing import Alarm, Claimed, Closer
from fairtest.monitoring.echoes import is_echo, see, seen_gap
from fairtest.monitoring.events import GONE, NEW, Event
from fairtest.monitoring.family import MOST, MOST_CELLS, Census, allowed_candidates
from fairtest.monitoring.pairs import BETS, Form
from fairtest.monitoring.schema import take_rows
from fairtest.monitoring.slots import FIRST_HOURS, HOURS, MOST_RECORDS, date_of, effective_strata
from fairtest.monitoring.stakes import Feeding, Opening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fairtest.data.table import Table
    from fairtest.model.context import Context
    from fairtest.monitoring.candidates import Candidates
    from fairtest.monitoring.pairs import Pair
    from fairtest.monitoring.schema import Schema
    from fairtest.monitoring.stakes import Entry
    from fairtest.types import BoolArray, FloatArray, IntArray

MOST_ROWS = 20_000
"""So many records are looked at at once: each is in many contexts."""
WINDOW = 28
"""What is claimed where there are no odds to bet on is read off the last so many days."""
WINDOWS = (28, 14, 7, 3)
"""The gap that an alarm tells is that of one of these numbers of days: the one that says most, as all hold together."""
SHORT_WINDOW = 7
"""The gap that a claim about a change tells is that of so many days."""
FOUND_AT_ONCE = 50
"""So many contexts that a search found are followed …"""
STILL_GOOD = 200
"""… each until it has not been among so many for …"""
FORGOTTEN = 28
"""… so many days."""


@dataclass(frozen=True, eq=False)
class Records:
    """Records in the order of arrival.

    Attributes
    ----------
    day, hour
        When they arrived: the day since 1970, and the hour.
    pairs
        For each pair the protected attribute, the output, and whether the record may be bet on.
    table
        The columns.
    """

    day: IntArray
    hour: IntArray
    stratum: IntArray
    pairs: Sequence[tuple[FloatArray, FloatArray, BoolArray]]
    table: Table

    def __len__(self) -> int:
        return len(self.day)


@dataclass(frozen=True)
class Terms:
    """The terms of a monitor, fixed for its life.

    Attributes
    ----------
    alpha
        The chance of a false alarm, over the life, or the number of them in a year.
    whole_days
        Whether blocks are days: only where groups and outputs do not follow the hour.
    born, staked_until, alarms_before
        Where another question of the same monitor was watched before this one: the first day of that, the last day on
        which capital was staked on it, and how many alarms there were. The days of the capital go on, so that all
        questions together have one.
    """

    name: str = "monitor"
    alpha: float = 0.05
    mode: Mode = "lifetime"
    tolerance: float = 0.0
    seed: int = 0
    whole_days: bool = False
    born: int = -1
    staked_until: int = -1
    alarms_before: int = 0

    @property
    def log_threshold(self) -> float:
        """The log of what a stake must reach."""
        return float(-np.log(self.alpha))


@dataclass
class Life:
    """A monitor that lives.

    Attributes
    ----------
    allowed
        For each pair, the columns that its contexts may speak of.
    start, day, hour
        The first day and the present one, and up to which hour of it blocks are closed.
    alarms
        How many there have been, echoes not counted.
    waiting
        Contexts that are followed from the next day on: the pair, the context, and where it comes from.
    find
        Searches the records before a day: gives for each pair the best contexts, the best first. None: no search.
    journal
        Is told of all that happens to stakes.
    """

    terms: Terms
    pairs: Sequence[Pair]
    candidates: Candidates
    schema: Schema
    allowed: Sequence[frozenset[str]]
    books: list[Book] = field(default_factory=list)
    censuses: list[Census] = field(default_factory=list)
    start: int = -1
    day: int = -1
    hour: int = 0
    alarms: int = 0
    waiting: list[tuple[int, Context, str]] = field(default_factory=list)
    stratum_records: dict[int, int] = field(default_factory=dict)
    find: Callable[[int], Sequence[Sequence[Context]]] | None = None
    journal: Callable[[Entry], None] | None = None
    _bound: int = MOST_RECORDS

    def __post_init__(self) -> None:
        number = self.candidates.number
        self._allowed = [allowed_candidates(self.candidates, columns) for columns in self.allowed]
        if not self.books:
            self.books = [Book(pair, number) for pair in self.pairs]
            self.censuses = [Census(np.zeros(number, dtype=np.int64)) for _ in self.pairs]

    # What comes in

    def remember(self, records: Records) -> None:
        """Count records of before the monitor: they say which contexts there are, and are not bet on."""
        for day in np.unique(records.day):
            today = np.flatnonzero(records.day == day)
            for rows in np.array_split(today, -(-today.size // MOST_ROWS)):
                candidates = self.candidates.of_records(take_rows(records.table, rows))
                for census, (_, _, usable) in zip(self.censuses, records.pairs, strict=True):
                    census.add(int(day), candidates[usable[rows]])

    def receive(self, records: Records) -> list[Event]:
        """Take in records, which must not be earlier than those before, and return what is claimed."""
        events: list[Event] = []
        at = 0
        while at < len(records):
            day = int(records.day[at])
            events += self.go_to(day)
            until = self._room(records, at, int(np.searchsorted(records.day, day, side="right")))
            self._count(records, slice(at, until))
            hour = int(records.hour[until - 1])
            events += self._close(hour)
            self._bound += until - at
            if self._bound >= MOST_RECORDS:
                events += self._events(partial(Closer.close_full, until=hour))
            at = until
        return events

    def _room(self, records: Records, at: int, stop: int) -> int:
        """Return up to which record of a day can be counted at once, without any block getting too large."""
        if self._bound + stop - at >= MOST_RECORDS:
            self._bound = max(book.busiest() for book in self.books)
        if self._bound + stop - at < MOST_RECORDS:
            return min(stop, at + MOST_ROWS)
        # too many for all hours at once: those of the next quarter of the day, and never mind the other quarters
        first = int(records.hour[at]) // FIRST_HOURS * FIRST_HOURS
        stop = at + int(np.searchsorted(records.hour[at:stop], first + FIRST_HOURS))
        most = max(book.busiest(first, first + FIRST_HOURS) for book in self.books)
        self._bound = MOST_RECORDS
        return min(stop, at + max(MOST_RECORDS - most, 1))

    def go_to(self, day: int, hour: int = 0) -> list[Event]:
        """Let time pass: close what is over, and begin the days that have come."""
        events: list[Event] = []
        if self.day < 0:
            self.start, self.day = (self.terms.born if self.terms.born >= 0 else day), day
            self.alarms = self.terms.alarms_before
            self._begin_day()
        while self.day < day:
            events += self._close(HOURS)
            events += self._end_day()
            self.day, self.hour = self.day + 1, 0
            self._begin_day()
        return events + self._close(hour if day == self.day else 0)

    def hand_over(self, terms: Terms) -> Terms:
        """Return the terms of a monitor that takes the place of this one, with what is left of the capital."""
        staked = max(self.day, self.terms.staked_until)
        return replace(terms, born=self.start, staked_until=staked, alarms_before=self.alarms)

    def follow(self, pair: int, context: Context, origin: str = LISTED) -> None:
        """Follow a context from the next day on: not with records that may have made somebody think of it."""
        known = [c for p, c, _ in self.waiting if p == pair]
        if context not in self.books[pair].contexts and context not in known:
            self.waiting.append((pair, context, origin))

    def follow_listed(self, context: Context) -> None:
        """Follow a context from the next day on in every pair whose contexts may speak of its columns."""
        for pair, columns in enumerate(self.allowed):
            if context.columns <= columns:
                self.follow(pair, context)

    def _count(self, records: Records, part: slice) -> None:
        table = take_rows(records.table, np.arange(part.start, part.stop))
        all_candidates = self.candidates.of_records(table)
        for book, census, (protected, output, usable) in zip(self.books, self.censuses, records.pairs, strict=True):
            rows = np.flatnonzero(usable[part]) + part.start
            if not rows.size:
                continue
            stratum = records.stratum[rows]
            book.need_strata(int(stratum.max()) + 1)
            candidates = all_candidates[rows - part.start]
            census.add(self.day, candidates)
            batch = Batch(records.hour[rows], stratum, protected[rows], output[rows], candidates)
            members = [book.members(batch), *self._free_members(book, records, rows)]
            inside, record = (np.concatenate(each) for each in zip(*members, strict=True))
            book.count(inside, record, batch)
            for each, many in zip(*np.unique(stratum, return_counts=True), strict=True):
                self.stratum_records[int(each)] = self.stratum_records.get(int(each), 0) + int(many)

    @staticmethod
    def _free_members(book: Book, records: Records, rows: IntArray) -> Iterable[tuple[IntArray, IntArray]]:
        free = np.flatnonzero(book.candidate < 0)
        if not free.size:
            return
        table = take_rows(records.table, rows.astype(np.intp))
        each = rows_in_each((book.contexts[row] for row in free), table)
        for row, inside in zip(free, each, strict=True):
            found = np.flatnonzero(inside)
            yield np.full(found.size, row), found

    # What time does

    def _close(self, hour: int) -> list[Event]:
        """Close the slots of the day that end by an hour."""
        if hour <= self.hour:
            return []
        before, self.hour = self.hour, hour
        return self._events(lambda closer: closer.close(before, hour))

    def _end_day(self) -> list[Event]:
        events = []
        for pair, book in enumerate(self.books):
            if book.pair.form is not Form.TABLE:
                events += self._read_windows(pair)
            book.end_day(self.day)
        return events

    def _read_windows(self, pair: int) -> list[Event]:
        """Claim what the intervals of the last weeks show, where there are no odds to bet on."""
        book, events = self.books[pair], []
        nothing = np.zeros((len(book.pair.cells), 4))
        for row, following in list(book.followings.items()):
            first = max(following.since + 1, self.day - WINDOW + 1)
            trail = book.trail(row, following.cell, self.day)
            window = trail.window(first, self.day, self.start, self.terms.alpha) if first <= self.day else None
            for shown in following.close_window(window.interval) if window is not None else ():
                events += self._claim(pair, Claimed(row, HOURS, date_of(self.day).isoformat(), nothing, shown))
        return events

    def _begin_day(self) -> None:
        strata = effective_strata(list(self.stratum_records.values()))
        for pair, (book, census) in enumerate(zip(self.books, self.censuses, strict=True)):
            census.forget(self.day)
            self._follow_family(pair)
            book.begin_day(self.day, strata, whole_days=self.terms.whole_days)
            for following in book.followings.values():
                if following.since < self.day:
                    following.begin_day(self.day)
        if self.find is not None and self.day > self.start:
            for pair, best in enumerate(self.find(self.day)):
                self.follow_found(pair, best)
        self._follow_waiting()
        self._stake()

    def _follow_family(self, pair: int) -> None:
        book = self.books[pair]
        room = MOST_CELLS // max(int(np.prod(book.tally.shape[1:])), 1)
        frequent = self.censuses[pair].frequent(self.day, self._allowed[pair], min(MOST, room))
        new = frequent[book.lookup[frequent] < 0]
        contexts = [self.candidates.context(int(number), self.schema) for number in new]
        rows = self._open(pair, contexts, SCHEMA, new.tolist())
        if rows:  # their slots hang on the days before, as those of all others do
            week, known = self.censuses[pair].week_before(self.day, new)
            book.recent[rows.start :], book.known[rows.start :] = week, known
        fed = np.array([origin == LISTED for origin in book.origins], dtype=bool)
        fed[book.lookup[frequent]] = True
        book.arrays["fed"] = fed

    def follow_found(self, pair: int, best: Sequence[Context]) -> list[Context]:
        """Follow the best contexts of a search from the next day on; forget those that have not been good for long.

        Returns those that were not followed before.
        """
        book = self.books[pair]
        place = {context: row for row, context in enumerate(book.contexts)}
        alarmed = [book.contexts[row] for row in book.followings]  # of these, parts are no news
        others = [c for c in best if c not in place or book.origins[place[c]] == FOUND]
        others = [c for c in others if not any(known.contains(c) for known in alarmed)]
        ours = np.array([row for row, origin in enumerate(book.origins) if origin == FOUND], dtype=int)
        book.unseen[ours] += 1
        book.unseen[[place[c] for c in others[:STILL_GOOD] if c in place]] = 0
        book.fed[[place[c] for c in others[:FOUND_AT_ONCE] if c in place]] = True
        new = [context for context in others[:FOUND_AT_ONCE] if context not in place]
        waiting = {c for p, c, _ in self.waiting if p == pair}
        self.waiting += [(pair, context, FOUND) for context in new if context not in waiting]
        gone = ours[(book.unseen[ours] >= FORGOTTEN) & ~book.alarmed[ours]]
        if gone.size:
            book.drop(gone.tolist())
        return new

    def _follow_waiting(self) -> None:
        known = [set(book.contexts) for book in self.books]
        for pair, context, origin in self.waiting:
            if context not in known[pair]:
                self._open(pair, [context], origin, [-1])
        self.waiting = []

    def _open(self, pair: int, contexts: list[Context], origin: str, candidates: list[int]) -> range:
        book = self.books[pair]
        rows = book.add(contexts, origin, candidates, self.day)
        if self.journal is not None:
            for name in book.names[rows.start : rows.stop]:
                self.journal(Opening(name, self.day, book.pair.bets))
        return rows

    def _stake(self) -> None:
        """Stake the capital of the day."""
        able = [book.able if self.terms.mode == "lifetime" else book.able | book.alarmed for book in self.books]
        origins = [origin for book in self.books for origin in book.origins]
        depths = np.concatenate([book.depths for book in self.books])
        amount = daily_stake(self.day - self.start + 1, self.terms.mode) if self.day > self.terms.staked_until else 0.0
        shares = share_capital(origins, depths, np.concatenate(able).tolist())
        ends = np.cumsum([len(book) for book in self.books])
        for book, part in zip(self.books, np.split(amount * shares, ends[:-1]), strict=True):
            book.feed(part)
            if self.journal is not None:
                given = {name: a for name, a in zip(book.names, part.tolist(), strict=True) if a}
                self.journal(Feeding(self.day, given))

    # What is said

    def _events(self, close: Callable[[Closer], Iterable[Alarm | Claimed]]) -> list[Event]:
        found: list[tuple[int, int, Alarm | Claimed]] = []
        seed = f"{self.terms.name}|{self.terms.seed}"
        for pair, book in enumerate(self.books):
            closer = Closer(book, self.day, self.terms.log_threshold, seed, self.journal)
            found += [(claim.end, pair, claim) for claim in close(closer)]
        found.sort(key=lambda each: (each[0], -getattr(each[2], "stake", 0.0)))  # the largest stake speaks first
        return [event for _, pair, claim in found for event in self._said(pair, claim)]

    def _said(self, pair: int, claim: Alarm | Claimed) -> list[Event]:
        return self._alarm(pair, claim) if isinstance(claim, Alarm) else self._claim(pair, claim)

    def _alarm(self, pair: int, alarm: Alarm) -> list[Event]:
        book = self.books[pair]
        if book.alarmed[alarm.row]:
            return []  # in rate mode a bias that is known goes on being bet on
        book.alarmed[alarm.row] = True
        cell, bet = divmod(alarm.bet, BETS)
        sign = 1 if bet < BETS // 2 else -1
        trail = book.trail(alarm.row, cell, self.day, alarm.later)
        seen = seen_gap(trail, sign, self.day)
        for row, known in book.followings.items():
            if (
                known.cell == cell
                and known.sign == sign
                and is_echo(
                    see(book.contexts[alarm.row], trail, sign, known.since, self.day, seen),
                    see(book.contexts[row], book.trail(row, cell, self.day), sign, known.since, self.day, known.seen),
                )
            ):
                book.echo_of[alarm.row] = row
                return []
        self.alarms += 1
        levels = levels_above(self.terms.tolerance)
        book.followings[alarm.row] = Following.begin(levels, cell, sign, self.alarms, self.day, seen)
        return [self._event(NEW, pair, alarm, stake=alarm.stake)]

    def _claim(self, pair: int, claim: Claimed) -> list[Event]:
        shown, book = claim.shown, self.books[pair]
        if claim.row not in book.followings or not shown.news:
            return []
        event = self._event(shown.kind, pair, claim, level=shown.level)
        if shown.kind == GONE:
            del book.followings[claim.row]
            over = book.echo_of == claim.row
            over[claim.row] = True
            book.alarmed[over] = False
            book.echo_of[over] = -1
        return [event]

    def _event(self, kind: str, pair: int, claim: Alarm | Claimed, **facts: Any) -> Event:
        book, of, row = self.books[pair], self.pairs[pair], claim.row
        following = book.followings[row]
        cell = of.cells[following.cell]
        trail = book.trail(row, following.cell, self.day, claim.later)
        windows = WINDOWS if kind == NEW else (SHORT_WINDOW,)
        measured = trail.clearest(windows, self.day, self.start, self.terms.alpha, following.sign)
        return Event(
            kind=kind,
            hypothesis=book.names[row],
            protected=of.protected.name,
            output=of.output.name,
            context=book.contexts[row],
            group=str(of.protected.levels[cell.group]) if cell.group >= 0 else "",
            outcome=str(of.output.levels[cell.outcome]) if cell.outcome >= 0 else "",
            day=self.day,
            hour=claim.end,
            slot=claim.slot,
            stake=facts.get("stake", 0.0),
            level=facts.get("level", 0.0),
            sign=following.sign,
            measured=measured,
            points=of.form is Form.TABLE,
            alpha=self.terms.alpha,
        )
