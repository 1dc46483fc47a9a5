"""What there is to show of a watch, as plain data: for dashboards, which must not compute anything themselves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.exceptions import InputError
from fairtest.model.context import Context
from fairtest.monitoring.capital import YEAR, daily_stake
from fairtest.monitoring.pairs import BETS, Form
from fairtest.monitoring.slots import date_of
from fairtest.monitoring.stakes import log_totals
from fairtest.monitoring.standing import LARGEST, standings_of
from fairtest.monitoring.words import say_followed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fairtest.monitoring.book import Book
    from fairtest.monitoring.intervals import Measured, Trail
    from fairtest.monitoring.life import Life

SHOWN = 10
"""So many of the largest stakes are listed."""
HUNDRED = 100
WEEK = 7
NOT_PLAIN = ("context", "timeline", "weeks", "now", "days", "since")


@dataclass(frozen=True)
class Followed:
    """A context whose effect is drawn over time.

    Attributes
    ----------
    hypothesis
        Its name: the pair and the context.
    comparison
        Who is compared in what: ``sex = f → hired = True``.
    origin
        ``schema``, ``found`` or ``listed``.
    state
        ``quiet``, ``alarmed``, or ``echo``: alarmed by what an overlapping context had said before.
    since
        The day of the alarm; None where there was none, or it is gone.
    sign
        The direction of the bias: 1 if the group has more, −1 if it has less; 0 where none was found.
    more_than, less_than
        The largest gap that it was shown to exceed, and the smallest that it was shown to be below, since the alarm.
    points
        Whether gaps are differences of rates; otherwise they are correlations.
    gap, records
        The gap in all records so far, and how many they are: no interval belongs to it.
    timeline
        By day, the gap since the eighth day with its interval, which may be read on any day.
    weeks
        The gap of each week alone; the intervals of all weeks, and of all other windows, hold together.
    now
        The gap since the alarm, or since the eighth day where there was none; None where nothing can be said yet.
    days
        By day, or week, the gap in the records of that time alone.
    """

    hypothesis: str
    protected: str
    output: str
    context: Context
    comparison: str
    origin: str
    state: str
    stake: float
    given: float
    since: int | None
    sign: int
    more_than: float | None
    less_than: float | None
    points: bool
    gap: float | None
    records: int
    timeline: Sequence[Measured]
    weeks: Sequence[Measured]
    now: Measured | None
    days: Sequence[tuple[int, float, int]]

    def to_plain(self) -> dict[str, Any]:
        """Return what can be stored as JSON: days as dates, the context in words."""
        stored = {k: v for k, v in vars(self).items() if k not in NOT_PLAIN}
        return {
            **stored,
            "words": str(self.context),
            "sentence": say_followed(self),
            "since": None if self.since is None else date_of(self.since).isoformat(),
            "timeline": [_measured_to_plain(each) for each in self.timeline],
            "weeks": [_measured_to_plain(each) for each in self.weeks],
            "now": None if self.now is None else _measured_to_plain(self.now),
            "days": [[date_of(day).isoformat(), _short(gap), records] for day, gap, records in self.days],
        }


def _measured_to_plain(measured: Measured) -> list[Any]:
    """Return the last day, the gap, the ends of its interval and the records."""
    numbers = (_short(value) for value in (measured.gap, measured.low, measured.high))
    return [date_of(measured.until).isoformat(), *numbers, measured.records]


def follow_over_time(life: Life, names: Collection[str], contexts: Collection[Context]) -> list[Followed]:
    """Return what is drawn: everybody, contexts that alarmed or that somebody listed, and those asked for."""
    found = []
    for book in life.books:
        for row, name in enumerate(book.names):
            wanted = row in book.followings or book.origins[row] == "listed" or not len(book.contexts[row])
            if wanted or name in names or book.contexts[row] in contexts:
                found.append(_describe_followed(life, book, row, name))
    return found


def _describe_followed(life: Life, book: Book, row: int, name: str) -> Followed:
    following = book.followings.get(row)
    cell = _largest_cell(book, row) if following is None else following.cell
    trail = book.trail(row, cell, life.day)
    stake = float(np.exp(min(float(log_totals(book.log_stakes[row])), LARGEST)))
    state = "quiet" if not book.alarmed[row] else "echo" if book.echo_of[row] >= 0 else "alarmed"
    more = less = None
    if following is not None:
        more = following.levels[following.more_than - 1] if following.more_than else None
        less = following.levels[-following.less_than] if following.less_than else None
    gap, records = _gap_so_far(trail)
    timeline = timeline_of(life, trail)
    since = None if following is None else trail.window(following.since, life.day, life.start, life.terms.alpha)
    return Followed(
        hypothesis=name, protected=book.pair.protected.name, output=book.pair.output.name, context=book.contexts[row],
        comparison=book.pair.describe(book.pair.cells[cell]), origin=book.origins[row], state=state, stake=stake,
        given=float(book.given[row]), since=None if following is None else following.since,
        sign=0 if following is None else following.sign, more_than=more, less_than=less,
        points=book.pair.form is Form.TABLE, gap=gap, records=records,
        timeline=timeline, weeks=timeline_of(life, trail, WEEK), now=since or (timeline[-1] if timeline else None),
        days=[(d, float(s[1] / s[0]), int(s[3])) for d, s in zip(trail.days, trail.sums, strict=True) if s[0] > 0],
    )  # fmt: skip


def _largest_cell(book: Book, row: int) -> int:
    """Return the comparison on which most is held: of several, the one that is worth looking at."""
    return int(log_totals(book.log_stakes[row].reshape(-1, BETS)).argmax())


def _gap_so_far(trail: Trail) -> tuple[float | None, int]:
    if not trail.days:
        return None, 0
    weight, gap, _, records = trail.between(trail.days[0], trail.days[-1])
    return (float(gap / weight) if weight > 0 else None), int(records)


def trail_of(life: Life, context: Context | None, pair: int, cell: int) -> Trail:
    """Return what has been measured of a comparison in a context, or raise if there is no such."""
    if not 0 <= pair < len(life.books) or not 0 <= cell < len(life.pairs[pair].cells):
        raise InputError(f"There is no pair {pair} with a cell {cell}; watch.comparisons lists them.")
    book, wanted = life.books[pair], context or Context()
    if wanted not in book.contexts:
        raise InputError(f"The context {str(wanted)!r} is not followed. Call watch.follow(context) first.")
    return book.trail(book.contexts.index(wanted), cell, life.day)


def timeline_of(life: Life, trail: Trail, days: int | None = None) -> list[Measured]:
    """Return the gap after each day with its interval, or over windows of some days."""
    alpha = life.terms.alpha
    if days is None:
        drawn = [trail.running(day, alpha) for day in trail.days]
    else:
        firsts = range(life.start, life.day - days + 2, days)
        drawn = [trail.window(day, day + days - 1, life.start, alpha) for day in firsts]
    return [measured for measured in drawn if measured is not None]


def view_of(life: Life) -> dict[str, Any]:
    """Return how a watch stands: what it follows, what of its capital is staked, and the largest stakes."""
    origins = [origin for book in life.books for origin in book.origins]
    standings = [
        {**asdict(standing), "context": str(standing.context)} for standing in standings_of(life) if not standing.echo
    ]
    return {
        "started": date_of(life.start).isoformat(),
        "day": date_of(life.day).isoformat(),
        "hour": life.hour,
        "alarms": life.alarms,
        "records": int(sum(book.trail(0, 0, life.day).between(0, life.day)[3] for book in life.books if len(book))),
        "hypotheses": {origin: origins.count(origin) for origin in ("schema", "found", "listed")},
        "capital": describe_capital(life),
        "standings": standings[:SHOWN],
    }


def describe_capital(life: Life) -> dict[str, Any]:
    """Return what of the capital is staked and what is left, as numbers and in words."""
    days = life.day - life.start + 1
    if life.terms.mode == "rate":
        words = (
            "A capital of 1 is staked every year, the same on each day, so nothing runs out. "
            f"At most {life.terms.alpha:g} false alarms a year are expected."
        )
        return {"mode": "rate", "staked": days / YEAR, "left": None, "words": words}
    staked = float(sum(daily_stake(day) for day in range(1, days + 1)))
    words = (
        f"{HUNDRED * staked:.0f} % of the capital has been staked in {days:,} day{'' if days == 1 else 's'}; "
        f"{HUNDRED * (1 - staked):.0f} % is left for all days to come, a little less on each. Looking costs nothing. "
        "This is the capital of this monitor, over all its questions; another monitor has its own."
    )
    return {"mode": "lifetime", "staked": staked, "left": 1 - staked, "words": words}


def _short(value: float) -> float:
    return round(value, 5)
