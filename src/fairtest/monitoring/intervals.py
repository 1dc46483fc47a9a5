r"""Intervals of a gap over time that may be read on any day.

Each block gives an estimate d of the gap, with weight :math:`w = n_1n_2/n` and variance v; what is kept of a day are
Σw, Σwd, Σw²v and the records. Since a day j, with V = Σw²v,

.. math:: \frac{Σwd}{Σw} ± \frac{\sqrt{(V+r)(\ln\frac{V+r}{r} + 2\ln\frac1a)}}{Σw}

covers the weighted mean of the true gaps on all days at once with probability 1 − a (Robbins' mixture;
asymptotically, Waudby-Smith and others): to look at, not to alarm by. The number r, fixed before day j, makes it
narrowest after four weeks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.monitoring.capital import daily_stake
from fairtest.monitoring.evalues.tables import log_normaliser

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from fairtest.types import FloatArray, Interval

WEEKS = 28
"""After so many days the interval is narrowest."""
DAILY = 90
"""So many days are kept one by one, older ones by the week."""
GRID = np.linspace(-3, 3, 121)
"""The log odds ratios of the exact interval."""


def radius(variance: ArrayLike, a: float, r: ArrayLike) -> FloatArray:
    """Return the half-width of Σw(d − true d), over all days at once.

    Examples
    --------
    >>> float(radius(100.0, 0.05, 10.0).round(10))
    30.3781102143
    """
    total = np.asarray(variance, float) + np.asarray(r, float)
    return np.asarray(np.sqrt(total * (np.log(total / r) + 2 * np.log(1 / a))))


def best_at(variance: float, a: float) -> float:
    """Return the r that makes intervals narrowest where Σw²v has a value.

    Examples
    --------
    >>> round(best_at(100.0, 0.05), 3)
    12.6...
    """
    double = 2 * np.log(1 / a)
    return float(variance / (double + np.log1p(double)))


@dataclass(frozen=True)
class Measured:
    """A gap over some time, with an interval that may be read on any day.

    Attributes
    ----------
    since, until
        The first and the last day since 1970.
    """

    since: int
    until: int
    gap: float
    low: float
    high: float
    records: int

    @property
    def interval(self) -> Interval:
        """Low and high."""
        return self.low, self.high


@dataclass
class Trail:
    """The sums of one comparison, day after day.

    Attributes
    ----------
    days, sums
        The days since 1970, or the first days of weeks, and their Σw, Σwd, Σw²v and records.
    """

    days: list[int] = field(default_factory=list)
    sums: list[FloatArray] = field(default_factory=list)

    def add(self, day: int, sums: FloatArray) -> None:
        """Add the sums of blocks that closed on a day; days come in order."""
        if self.days and self.days[-1] == day:
            self.sums[-1] = self.sums[-1] + sums
        else:
            self.days.append(day)
            self.sums.append(np.array(sums, dtype=float))

    def pool_weeks(self, today: int) -> None:
        """Add up the weeks that are over for long."""
        weeks: dict[int, FloatArray] = {}
        for day, sums in zip(self.days, self.sums, strict=True):
            first = day if day >= today - DAILY else day - day % 7
            weeks[first] = weeks[first] + sums if first in weeks else sums
        self.days, self.sums = list(weeks), list(weeks.values())

    def between(self, first: int, last: int) -> FloatArray:
        """Return the sums of the days from ``first`` to ``last``."""
        chosen = [s for d, s in zip(self.days, self.sums, strict=True) if first <= d <= last]
        return np.sum(chosen, axis=0) if chosen else np.zeros(4)

    def measure(self, first: int, last: int, level: float, expected: float) -> Measured | None:
        """Return the gap since a day; None where nothing could be compared.

        Parameters
        ----------
        level
            The chance that the interval misses on any day.
        expected
            Σw²v of four weeks, as it was expected before the first day.
        """
        weight, gap, variance, records = self.between(first, last)
        if weight <= 0 or expected <= 0:
            return None
        half = float(radius(variance, level, best_at(expected, level))) / weight
        estimate = gap / weight
        return Measured(first, last, float(estimate), float(estimate - half), float(estimate + half), int(records))

    def running(self, today: int, level: float) -> Measured | None:
        """Return the gap since the eighth day; what is expected of four weeks is four times the first one."""
        if not self.days or today < self.days[0] + 7:
            return None
        start = self.days[0] + 7
        return self.measure(start, today, level, 4 * float(self.between(start - 7, start - 1)[2]))

    def window(self, first: int, today: int, start: int, level: float) -> Measured | None:
        """Return the gap since a day, with an interval that holds together with those of all days to start at.

        Parameters
        ----------
        start
            The first day of the monitor: what is left for a window falls with the days since then.
        """
        share = level * daily_stake(max(first - start, 0) + 1)
        before = max(first - WEEKS, self.days[0] if self.days else first)
        past = float(self.between(before, first - 1)[2]) * WEEKS / max(first - before, 1)
        return self.measure(first, today, share, past)

    def clearest(self, windows: Iterable[int], today: int, start: int, level: float, sign: int) -> Measured | None:
        """Return the gap over the last so many days, of those windows the one whose interval is furthest from none.

        The intervals of all windows hold together, so whichever is chosen holds. Without any, the one since the eighth
        day; None where there is none either.
        """
        found = (self.window(today - days + 1, today, start, level) for days in windows)
        measured = [each for each in found if each is not None]
        if not measured:
            return self.running(today, level)
        return max(measured, key=lambda each: min(sign * each.low, sign * each.high))


def exact_interval(x: ArrayLike, n1: ArrayLike, m1: ArrayLike, n: ArrayLike, level: float = 0.05) -> Interval:
    """Return the log odds ratios that no bet on the grid has ruled out, if it is the same in all tables so far.

    Exact for any number of tables, looked at after each: what the mixture of all bets has against a value is an
    e-process if that value is true.

    Examples
    --------
    >>> low, high = exact_interval([30] * 5, [40] * 5, [50] * 5, [100] * 5)
    >>> round(low, 2), round(high, 2)
    (1.15, 2.45)
    """
    tables = [np.atleast_1d(np.asarray(a)) for a in (x, n1, m1, n)]
    margins = log_normaliser(tables[1], tables[2], tables[3], GRID)
    log_likelihood = (GRID * tables[0][:, None] - margins).sum(axis=0)
    top = log_likelihood.max()
    mixture = top + np.log(np.exp(log_likelihood - top).mean())
    kept = GRID[mixture - log_likelihood < np.log(1 / level)]
    return float(kept.min()), float(kept.max())


def trail_to_plain(trail: Trail) -> dict[str, Any]:
    """Return a trail as JSON can have it."""
    return {"days": trail.days, "sums": [s.tolist() for s in trail.sums]}


def trail_from_plain(stored: dict[str, Any]) -> Trail:
    """Return a stored trail."""
    return Trail(list(stored["days"]), [np.array(s) for s in stored["sums"]])
