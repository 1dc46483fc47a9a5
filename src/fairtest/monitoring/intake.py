"""Intake: frames in, records out, in the order of arrival."""

from __future__ import annotations

import datetime as dt
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.reading.frames import column_names
from fairtest.data.reading.stream import hash_people, read_times
from fairtest.data.selection import row_count
from fairtest.exceptions import FairTestWarning, InputError
from fairtest.monitoring.life import Records
from fairtest.monitoring.people import People
from fairtest.monitoring.schema import take_rows
from fairtest.monitoring.slots import day_of, hour_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.data.table import Table
    from fairtest.monitoring.learning import Learned
    from fairtest.monitoring.search import Memory

UNKNOWN_DAY = -1
"""The day of earlier records without a time."""


@dataclass
class Intake:
    """Reads the frames of a stream.

    Attributes
    ----------
    person, time
        The columns that say who a record is about and when it arrived; None where there are none.
    people
        For each pair, those whose record has been used.
    clock
        The time of the last record, in microseconds since 1970; −1 before the first.
    memory
        The records of the last days, for the search; None where there is none.
    """

    learned: Learned
    person: str | None
    time: str | None
    people: list[People] = field(default_factory=list)
    clock: int = -1
    memory: Memory | None = None
    warned: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.people = self.people or [People() for _ in self.learned.pairs]

    def read(self, frame: Any, at: dt.datetime | None) -> Records | None:
        """Return the records of the next frame; None if it has none. What comes late counts when it comes."""
        table, unknown = self.learned.schema.read(frame)
        times = self._arrivals(frame, at)
        if not times.size:
            return None
        self._warn_of(unknown)
        order = np.argsort(times, kind="stable")
        times = np.maximum(times[order], self.clock)
        self.clock = int(times[-1])
        records = self._records(frame, take_rows(table, order), order, day_of(times), hour_of(times))
        self._keep(records)
        return records

    def read_history(self, frame: Any) -> Records:
        """Return records from before the monitor; the people in them are known from now on."""
        table, _ = self.learned.schema.read(frame)
        days = np.full(table.n_rows, UNKNOWN_DAY, dtype=np.int64)
        if self.time is not None and self.time in column_names(frame):
            days = day_of(read_times(frame, self.time))
        order = np.argsort(days, kind="stable")
        hours = np.zeros_like(days)
        records = self._records(frame, take_rows(table, order), order, days[order], hours, history=True)
        if days.size and days[order[0]] != UNKNOWN_DAY:
            self._keep(records)
        return records

    def recall(self, frame: Any) -> None:
        """Give the search its records back: those of the last weeks, which a state does not hold."""
        if self.memory is None:
            return
        if self.time is None or self.time not in column_names(frame):
            raise InputError("The 'history' for the search must have the time column of the stream.")
        table, _ = self.learned.schema.read(frame)
        days = day_of(read_times(frame, self.time))
        for day in np.unique(days):
            self.memory.add(int(day), take_rows(table, np.flatnonzero(days == day)))

    def move_clock(self, at: dt.datetime) -> tuple[int, int]:
        """Let time pass, and return the day and the hour; it never goes back."""
        self.clock = max(self.clock, microseconds_of(at))
        now = np.array([self.clock])
        return int(day_of(now)[0]), int(hour_of(now)[0])

    def _arrivals(self, frame: Any, at: dt.datetime | None) -> NDArray[np.int64]:
        if self.time is not None:
            if at is not None:
                raise InputError(f"The records have a time column, {self.time!r}: leave 'at' out.")
            return read_times(frame, self.time)
        if at is None:
            raise InputError(
                "When did these records arrive? Name the column that says so (Watch(…, time='column')), or say it in "
                "each call (observe(frame, at=datetime))."
            )
        return np.full(row_count(frame), microseconds_of(at), dtype=np.int64)

    def _records(
        self,
        frame: Any,
        table: Table,
        order: NDArray[np.intp],
        days: NDArray[np.int64],
        hours: NDArray[np.int64],
        *,
        history: bool = False,
    ) -> Records:
        stratum = self.learned.strata.of_records(table)
        who = None
        if self.person is not None and (not history or self.person in column_names(frame)):
            who = hash_people(frame, self.person)[order]
        pairs = []
        for pair, people in zip(self.learned.pairs, self.people, strict=True):
            protected, output, usable = pair.values(table)
            usable &= stratum >= 0
            pairs.append((protected, output, usable if who is None else people.first_records(who, usable)))
        return Records(days, hours, np.maximum(stratum, 0), pairs, table)

    def _keep(self, records: Records) -> None:
        if self.memory is not None:
            for day in np.unique(records.day):
                self.memory.add(int(day), take_rows(records.table, np.flatnonzero(records.day == day)))

    def _warn_of(self, unknown: dict[str, int]) -> None:
        """Say, once for each column, that records cannot be compared."""
        for name, many in unknown.items():
            if name not in self.warned:
                self.warned.add(name)
                known = ", ".join(map(repr, self.learned.schema.columns[name].levels[:10]))
                warnings.warn(
                    f"{many:,} records have a value of {name!r} that was not known when the monitor began ({known}): "
                    "they are not bet on. Make a new monitor if it is a group or an output of its own.",
                    FairTestWarning,
                    stacklevel=5,
                )


def microseconds_of(time: dt.datetime) -> int:
    """Return a time in microseconds since 1970; one with a zone in UTC.

    Examples
    --------
    >>> microseconds_of(dt.datetime(1970, 1, 2))
    86400000000
    """
    if not isinstance(time, dt.datetime):
        raise InputError(f"The 'at' must be a datetime. Got {time!r} instead.")
    if time.tzinfo is not None:
        time = time.astimezone(dt.UTC).replace(tzinfo=None)
    return (time - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
