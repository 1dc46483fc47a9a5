"""Axes of figures: linear scales with round ticks. Positions on them are in per cent of their length."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairtest.numbers import fixed, rate, typeset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding, Group, Stratum, Tested
    from fairtest.model.rates import Rate

_FURTHEST = 3.0
"""How far a bound may be from the effects, in multiples of their distance from no link, to be on the axis."""
_ENOUGH = 30
"""An axis of rates makes room for the intervals of groups with at least so many people."""


@dataclass(frozen=True)
class Tick:
    """A tick of an axis; a narrow screen leaves out those that are not at an end."""

    at: float
    label: str
    middle: bool


@dataclass(frozen=True)
class Axis:
    """A linear scale from ``low`` to ``high``; ``zero`` is the position of no link, None where it is off the axis."""

    low: float
    high: float
    ticks: tuple[Tick, ...]
    zero: float | None = None

    def at(self, number: float) -> float:
        """Return the position of a number in per cent; numbers beyond the axis are at its end."""
        share = (min(max(number, self.low), self.high) - self.low) / (self.high - self.low)
        return round(100 * share, 2)


def axis_over(low: float, high: float, label: Callable[[float, int], str], zero: float | None = None) -> Axis:
    """Return an axis that covers a range, with three to seven round ticks."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    step = round_up((high - low) / 6, (1, 2, 2.5, 5, 10))
    # The billionths keep a range like 0.1 to 0.3, whose ends are no exact multiples of 0.1, from getting another tick.
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9) + _is_quarter(step))
    numbers = [n * step for n in range(first, last + 1)]
    span = numbers[-1] - numbers[0]
    ticks = tuple(
        Tick(round(100 * (n - numbers[0]) / span, 2), label(n, decimals), 0 < i < len(numbers) - 1)
        for i, n in enumerate(numbers)
    )
    axis = Axis(numbers[0], numbers[-1], ticks)
    return replace(axis, zero=axis.at(zero)) if zero is not None and axis.low <= zero <= axis.high else axis


def round_up(step: float, multiples: Sequence[float]) -> float:
    """Return the least of some multiples of a power of ten that is no smaller; the last of ``multiples`` is 10.

    Examples
    --------
    >>> round_up(0.13, (1, 2, 5, 10)), round_up(600.0, (1, 2, 5, 10))
    (0.2, 1000.0)
    """
    power = 10.0 ** math.floor(math.log10(step))
    return next(m * power for m in multiples if m * power >= step * (1 - 1e-9))


def _is_quarter(step: float) -> bool:
    """Whether a step has two digits, as 0.25 has."""
    return math.isclose(step / 10 ** math.floor(math.log10(step) + 1e-9), 2.5)


def rate_axis(shares: Iterable[float]) -> Axis:
    """Return an axis from 0 to the next tick above the largest rate."""
    largest = max(shares, default=0.0)
    return axis_over(0.0, min(max(largest, 0.005), 1.0), lambda share, d: typeset(rate(share, max(d - 2, 0))))


def rates_axis(rates: Sequence[Rate | None], people: Sequence[int]) -> Axis:
    """Return an axis from 0 to the next tick above the largest interval of groups that are not tiny."""
    sure = [r.interval[1] for r, n in zip(rates, people, strict=True) if r is not None and n >= _ENOUGH]
    return rate_axis([*sure, *(r.share for r in rates if r is not None)])


def number_axis(groups: Sequence[Group]) -> Axis:
    """Return an axis that holds the whiskers and the means of a number by group."""
    ends = [end for group in groups for end in group.reach or ()]
    ends += [group.mean for group in groups if group.mean is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return axis_over(0.0 if 0 < low < high / 2 else low, high, fixed)


def effect_axis(parts: Sequence[Finding | Stratum | Tested], scale: Scale) -> Axis | None:
    """Return an axis for effects on one scale, None where no effect is defined; bounds very far out are beyond it."""
    effects = [scale.at(part.effect) for part in parts if part.effect is not None]
    if not effects:
        return None
    zero = scale.at(0.0)
    reach = max(10.0**-scale.decimals, *(abs(e - zero) for e in effects)) * (1 + _FURTHEST)
    bounds = [scale.at(b) for part in parts if part.interval is not None for b in part.interval]
    near = [min(max(b, zero - reach), zero + reach) for b in bounds if not math.isnan(b)]
    low, high = min([*effects, *near, zero]), max([*effects, *near, zero])
    return axis_over(low, high, lambda n, d: fixed(n, d, signed=scale.plus), zero)
