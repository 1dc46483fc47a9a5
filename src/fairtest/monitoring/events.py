"""Events: what a monitor has to say."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtest.monitoring.slots import date_of
from fairtest.monitoring.words import say_claim

if TYPE_CHECKING:
    from fairtest.model.context import Context
    from fairtest.monitoring.intervals import Measured

NEW, WORSE, BETTER, GONE = "new", "worse", "better", "gone"


@dataclass(frozen=True)
class Event:
    """A claim: *new*, *worse*, *better* or *gone*.

    Attributes
    ----------
    key
        What tells it from all other events of the monitor: kind, hypothesis, slot and level.
    hypothesis
        The name of the hypothesis: the pair and the context.
    group, outcome
        Who is compared with the rest, and in what; empty where both are numbers.
    time
        The end of the slot whose block decided.
    stake
        What the stake had grown to; 0 for claims that follow.
    level
        The gap that a claim speaks of.
    sign
        1 if the group has more of the outcome, −1 if it has less.
    measured
        The gap over the last weeks, with an interval that may be read on any day; None where nothing could be compared.
    points
        Whether gaps are differences of rates; otherwise they are correlations.
    """

    kind: str
    hypothesis: str
    protected: str
    output: str
    context: Context
    group: str
    outcome: str
    day: int
    hour: int
    slot: str
    stake: float
    level: float
    sign: int
    measured: Measured | None
    points: bool
    alpha: float

    @property
    def key(self) -> tuple[str, str, str, float]:
        """What tells the event from all others."""
        return self.kind, self.hypothesis, self.slot, self.level

    @property
    def time(self) -> dt.datetime:
        """When the block that decided ended."""
        return dt.datetime.combine(date_of(self.day), dt.time()) + dt.timedelta(hours=self.hour)

    def __str__(self) -> str:
        return say_claim(self)

    def to_plain(self) -> dict[str, Any]:
        """Return the event as JSON can have it, with its sentence."""
        stored = {k: v for k, v in vars(self).items() if k not in ("context", "measured")}
        measured = None if self.measured is None else dict(vars(self.measured))
        time = self.time.isoformat()
        return {**stored, "context": str(self.context), "measured": measured, "time": time, "sentence": str(self)}


def newest_first(events: list[Event]) -> list[list[Event]]:
    """Return events as messages: those of one day together, the largest stake first.

    Alarms of overlapping contexts on one day are one piece of news.
    """
    days = sorted({event.day for event in events}, reverse=True)
    return [sorted((e for e in events if e.day == day), key=lambda e: -e.stake) for day in days]
