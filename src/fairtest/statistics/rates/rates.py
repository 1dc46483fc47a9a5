"""Rates of groups with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairtest.model.finding import CountTable
    from fairtest.types import Interval

_Z = 1.959963984540054
"""The intervals of rates stand at 95 %, each by itself: they describe, the test decides."""


@dataclass(frozen=True)
class Rate:
    """The share of a group that has an output, with its interval."""

    share: float
    interval: Interval


def wilson(number: int, people: int) -> Interval:
    """Return the 95 % interval of a rate: all rates the score test does not reject.

    Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).

    Examples
    --------
    >>> low, high = wilson(58, 499)
    >>> print(round(low, 4), round(high, 4))
    0.091 0.1473
    >>> wilson(0, 20)[0], wilson(20, 20)[1]
    (0.0, 1.0)
    """
    share, spread = number / people, _Z * _Z / people
    middle = (share + spread / 2) / (1 + spread)
    reach = (spread * (share * (1 - share) + spread / 4)) ** 0.5 / (1 + spread)
    return 0.0 if number == 0 else middle - reach, 1.0 if number == people else middle + reach


def rates_with_intervals(table: CountTable) -> tuple[tuple[Rate | None, ...], ...]:
    """Return for each output and group the share of the group that has it; None for a group without people."""
    people = [sum(column) for column in zip(*table.counts, strict=True)]
    return tuple(
        tuple(Rate(c / n, wilson(c, n)) if n else None for c, n in zip(row, people, strict=True))
        for row in table.counts
    )
