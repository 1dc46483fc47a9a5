r"""Claims about a bias that has been found: that it is worse, better, or gone.

After an alarm, bets are made against other hypotheses, on the blocks that follow: "the gap is L at most" for each of
a few fixed levels L (won: it is *more than* L), and "it is L at least" in either direction (both won: it is *less
than* L). Levels are not chosen by the data, so no claim is against a first estimate that was too large because it was
chosen.

The hypotheses of a kind are nested, and a claim is made only after the weaker ones of its kind: so the first one that
is true decides, and the chance that the claims of one kind about a context are ever wrong is at most α times the
context's share. The k-th context that alarms has the share :math:`6/(π^2k^2)`; the shares add up to 1. *Worse* has
its own α over the life of a monitor; *better* and *gone*, which are one chain of hypotheses, have another.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.monitoring.capital import daily_stake
from fairtest.monitoring.evalues.tables import LessThan, MoreThan
from fairtest.monitoring.stakes import NOTHING, feed, log_totals, stakes_from_plain, stakes_to_plain

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray, IntArray, Interval

LEVELS = (0.02, 0.05, 0.10, 0.20)
"""Gaps of rates, and correlations, that claims speak of."""
_MORE, _LESS = MoreThan(0.1).number, LessThan(0.1).number


def levels_above(tolerance: float) -> tuple[float, ...]:
    """Return the levels of claims: below the first, which is the tolerance if there is one, a bias is gone.

    Examples
    --------
    >>> levels_above(0.0), levels_above(0.03)
    ((0.02, 0.05, 0.1, 0.2), (0.03, 0.05, 0.1, 0.2))
    """
    return (tolerance, *(level for level in LEVELS if level > tolerance)) if tolerance else LEVELS


def share_of(order: int) -> float:
    """Return the share of the k-th context that alarms.

    Examples
    --------
    >>> round(share_of(1), 4), round(sum(share_of(k) for k in range(1, 10_000)), 3)
    (0.6079, 1.0)
    """
    return 6 / (pi * order) ** 2


@dataclass
class Following:
    """An alarmed hypothesis: what has been claimed of it, and what is staked on further claims.

    Attributes
    ----------
    cell, sign
        The comparison that raised the alarm, and its direction; both are settled before the bets made here.
    order
        Which alarm of the monitor it was.
    since
        The day since 1970 of the alarm.
    seen
        The size of the gap when it was found.
    more_than, less_than
        How many levels have been claimed, from the lowest and from the highest.
    """

    levels: tuple[float, ...]
    cell: int
    sign: int
    order: int
    since: int
    seen: float
    more: FloatArray
    less: FloatArray
    more_than: int = 0
    less_than: int = 0

    @classmethod
    def begin(cls, levels: tuple[float, ...], cell: int, sign: int, order: int, since: int, seen: float) -> Following:
        """Return what follows an alarm: nothing is staked yet."""
        more = np.full((len(levels), _MORE), NOTHING)
        less = np.full((len(levels) * 2, _LESS), NOTHING)
        return cls(levels, cell, sign, order, since, seen, more, less)

    def begin_day(self, day: int) -> None:
        """Stake the capital of a day; days count from the alarm."""
        amount = share_of(self.order) * daily_stake(day - self.since)
        self.more = feed(self.more, np.full(len(self.more), amount))
        self.less = feed(self.less, np.full(len(self.less), amount))

    def close_table(self, x: IntArray, n1: IntArray, m1: IntArray, n: IntArray, log_threshold: float) -> list[Shown]:
        """Bet on the tables of a block, one for each stratum, and return what is shown now that was not before."""
        other = (m1 - x, n - n1, m1, n)
        along, against = ((x, n1, m1, n), other) if self.sign > 0 else (other, (x, n1, m1, n))
        for i, level in enumerate(self.levels):
            self.more[i] += MoreThan(level).log_e(*along).sum(axis=0)
            for side, tables in enumerate((along, against)):
                self.less[2 * i + side] += LessThan(level).log_e(*tables).sum(axis=0)
        return self._shown(
            np.asarray(log_totals(self.more) >= log_threshold),
            np.asarray((log_totals(self.less) >= log_threshold).reshape(-1, 2).all(axis=1)),
        )

    def close_window(self, window: Interval) -> list[Shown]:
        """Read off an interval that holds together with all others what is shown now that was not before."""
        low, high = sorted(self.sign * bound for bound in window)
        levels = np.asarray(self.levels)
        return self._shown(np.asarray(low > levels), np.asarray(max(-low, high) < levels))

    def _shown(self, more: BoolArray, less: BoolArray) -> list[Shown]:
        shown = []
        while self.more_than < len(self.levels) and more[self.more_than]:
            shown.append(Shown("worse", self.levels[self.more_than], self.levels[self.more_than] > self.seen))
            self.more_than += 1
        while self.less_than < len(self.levels) and less[-1 - self.less_than]:
            self.less_than += 1
            level = self.levels[-self.less_than]
            if self.less_than == len(self.levels):
                shown.append(Shown("gone", level, True))
            else:
                claimed = self.more_than and self.levels[self.more_than - 1] >= level
                shown.append(Shown("better", level, bool(claimed) or level < self.seen))
        return shown


@dataclass(frozen=True)
class Shown:
    """A claim that the data have shown.

    Attributes
    ----------
    news
        Whether it says something new: "more than 2 points" is none where 10 were seen from the start. All claims hold,
        whichever of them are spoken of.
    """

    kind: str
    level: float
    news: bool


def following_to_plain(following: Following) -> dict[str, Any]:
    """Return what follows an alarm as JSON can have it."""
    stored = {k: v for k, v in vars(following).items() if k not in ("more", "less", "levels")}
    more, less = stakes_to_plain(following.more), stakes_to_plain(following.less)
    return {**stored, "levels": list(following.levels), "more": more, "less": less}


def following_from_plain(stored: dict[str, Any]) -> Following:
    """Return what was stored of an alarm."""
    more, less = stakes_from_plain(stored["more"], _MORE), stakes_from_plain(stored["less"], _LESS)
    return Following(**{**stored, "levels": tuple(stored["levels"]), "more": more, "less": less})
