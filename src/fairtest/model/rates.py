"""Rates of groups with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairtest.types import Interval

NORMAL_QUANTILE = 1.959963984540054
"""The intervals of rates have a confidence of 95 %, each by itself: they describe, the test decides."""


@dataclass(frozen=True)
class Rate:
    """The share of a group that has an output, with its interval."""

    share: float
    interval: Interval


def rate_of(number: int, people: int, worth: float = 1.0) -> Rate | None:
    """Return the rate of ``number`` out of ``people`` with its interval; None where there are no people.

    ``worth`` is as how many independent people each of them counts.
    """
    return Rate(number / people, wilson(number * worth, people * worth)) if people else None


def wilson(number: float, people: float) -> Interval:
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
    share, spread = number / people, NORMAL_QUANTILE**2 / people
    middle = (share + spread / 2) / (1 + spread)
    reach = (spread * (share * (1 - share) + spread / 4)) ** 0.5 / (1 + spread)
    return 0.0 if number == 0 else middle - reach, 1.0 if number == people else middle + reach
