"""Slots: the stretches of time whose records make a block.

Rates of the output and shares of the groups may drift from block to block in any way, but not within one: so a block is
as short as its records allow. How long hangs on how many records came before, never on their groups or outputs.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fairtest.types import IntArray

HOURS = 24
EXPECTED = 5
"""A slot is long enough for so many records to be expected."""
MOST_RECORDS = 2000
"""A block closes early at so many records."""
MOST_DAYS = 7
"""Small contexts wait so many days at most."""
FIRST_DAYS = 7
"""So many days a context must be known before its slots are chosen by its records; until then they have …"""
FIRST_HOURS = 6
"""… so many hours."""


@dataclass(frozen=True)
class SlotRule:
    """How long slots are: some hours of the clock, over some days.

    Examples
    --------
    >>> SlotRule(6, 3).name(dt.date(2026, 3, 14), 12)
    '2026-03-14T06+6h×3d'
    """

    hours: int = FIRST_HOURS
    days: int = 1

    def name(self, first_day: dt.date, end: int) -> str:
        """Return the name of the slot that begins on a day and ends at an hour."""
        many = "" if self.days == 1 else f"×{self.days}d"
        return f"{first_day.isoformat()}T{end - self.hours:02d}+{self.hours}h{many}"


def choose_slots(records_a_day: ArrayLike) -> tuple[IntArray, IntArray]:
    """Return the hours and the days of the slots of contexts with so many records a day.

    Examples
    --------
    >>> [v.tolist() for v in choose_slots([1000, 60, 25, 10, 1])]
    [[1, 3, 6, 6, 6], [1, 1, 1, 2, 7]]
    """
    rate = np.asarray(records_a_day, dtype=float)
    hours = np.select([rate >= HOURS * EXPECTED, rate * 3 >= HOURS * EXPECTED], [1, 3], 6)
    with np.errstate(divide="ignore"):
        days = np.where(rate > 0, np.ceil(EXPECTED * HOURS / 6 / np.maximum(rate, 1e-9)), MOST_DAYS)
    return hours, np.where(hours < 6, 1, np.clip(days, 1, MOST_DAYS)).astype(int)


def effective_strata(records: ArrayLike) -> float:
    """Return of how many equally large strata a record sees as much as of these.

    Examples
    --------
    >>> effective_strata([50, 50]), round(effective_strata([98, 1, 1]), 2)
    (2.0, 1.04)
    """
    sizes = np.asarray(records, dtype=float)
    return float(sizes.sum() ** 2 / (sizes**2).sum()) if sizes.any() else 1.0


DAY_MICROSECONDS = 86_400_000_000


def day_of(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the days since 1970 of times in microseconds."""
    return times // DAY_MICROSECONDS


def hour_of(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the hours of the day, 0 to 23."""
    return times % DAY_MICROSECONDS // (DAY_MICROSECONDS // HOURS)


def date_of(day: int) -> dt.date:
    """Return the date of a day since 1970."""
    return dt.date(1970, 1, 1) + dt.timedelta(days=day)


def days_until(records: float, records_a_day: float) -> int:
    """Return how many days it takes until so many records have come."""
    return ceil(records / records_a_day)
