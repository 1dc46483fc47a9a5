"""Where the marks of a figure stand: axes, intervals, dots and boxes, in per cent of the figure's width."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from fairtest.reporting.words.numbers import decimals_for, fixed, rate, typeset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fairtest.model.finding import Finding, Group, GroupTable, Stratum, Tested
    from fairtest.reporting.words.numbers import Scale
    from fairtest.statistics.rates.rates import Rate

_FURTHEST = 3.0
ENOUGH = 30
"""An axis of rates makes room for the intervals of groups of so many people."""
FEW = 20
"""Of fewer people no box is drawn where boxes stand side by side."""


@dataclass(frozen=True)
class Tick:
    """A mark on an axis; those in the middle make way on a narrow screen."""

    at: float
    label: str
    middle: bool


@dataclass(frozen=True)
class Axis:
    """A straight scale from ``low`` to ``high``; ``zero`` is where no link stands, if it has a place."""

    low: float
    high: float
    ticks: tuple[Tick, ...]
    zero: float | None = None

    def at(self, number: float) -> float:
        """Return the place of a number in per cent, kept within the axis."""
        share = (min(max(number, self.low), self.high) - self.low) / (self.high - self.low)
        return round(100 * share, 2)


@dataclass(frozen=True)
class Bar:
    """An estimate with its interval; an end that leaves the axis is an arrow."""

    dot: float
    low: float
    high: float
    leaves_left: bool
    leaves_right: bool


@dataclass(frozen=True)
class Stem:
    """A rate with its interval."""

    dot: float
    low: float
    high: float


@dataclass(frozen=True)
class Box:
    """A box plot lying down: whiskers, middle half, median and mean."""

    low: float
    q1: float
    median: float
    q3: float
    high: float
    mean: float


@dataclass(frozen=True)
class Column:
    """A box plot standing up: where its middle and its sides are, and its box if there is one."""

    middle: float
    left: float
    right: float
    box: Box | None


@dataclass(frozen=True)
class Segment:
    """A piece of a line between the middles of two columns."""

    x1: float
    y1: float
    x2: float
    y2: float


def axis_over(low: float, high: float, label: Callable[[float, int], str], zero: float | None = None) -> Axis:
    """Return an axis that covers a range, with three to seven round ticks."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    step = _round_step((high - low) / 6)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9) + _is_quarter(step))
    places = [n * step for n in range(first, last + 1)]
    span = places[-1] - places[0]
    ticks = tuple(
        Tick(round(100 * (p - places[0]) / span, 2), label(p, decimals), 0 < i < len(places) - 1)
        for i, p in enumerate(places)
    )
    axis = Axis(places[0], places[-1], ticks)
    inside = zero is not None and axis.low <= zero <= axis.high
    return Axis(axis.low, axis.high, ticks, axis.at(zero) if zero is not None and inside else None)


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= step * (1 - 1e-9))


def _is_quarter(step: float) -> bool:
    """Whether a step has two digits, as 0.25 has."""
    return math.isclose(step / 10 ** math.floor(math.log10(step) + 1e-9), 2.5)


def rate_axis(shares: Iterable[float | None]) -> Axis:
    """Return an axis from 0 to the next tick above the largest rate."""
    largest = max((share for share in shares if share is not None), default=0.0)
    return axis_over(0.0, min(max(largest, 0.005), 1.0), lambda share, d: typeset(rate(share, max(d - 2, 0))))


def rates_axis(rates: Sequence[Rate | None], people: Sequence[int]) -> Axis:
    """Return an axis from 0 to the next tick above the largest interval of groups that are not tiny."""
    sure = [r.interval[1] for r, n in zip(rates, people, strict=True) if r is not None and n >= ENOUGH]
    return rate_axis([*sure, *(r.share for r in rates if r is not None)])


def stem_of(rate: Rate | None, axis: Axis) -> Stem | None:
    """Return where a rate and its interval stand; None for a group without people."""
    if rate is None:
        return None
    low, high = rate.interval
    return Stem(axis.at(rate.share), axis.at(low), axis.at(high))


def number_axis(groups: Sequence[Group]) -> Axis:
    """Return an axis that holds the whiskers and the means of a number by group."""
    ends = [end for group in groups for end in _whiskers(group) or ()]
    ends += [group.mean for group in groups if group.mean is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    if 0 < low < high / 2:
        low = 0.0
    return axis_over(low, high, fixed)


def _whiskers(group: Group) -> tuple[float, float] | None:
    """Return the ends of the whiskers; where a table does not bring them along, the least and the largest value."""
    if group.quantiles is None:
        return None
    return group.whiskers or (group.quantiles[0], group.quantiles[4])


def box_of(group: Group, axis: Axis) -> Box | None:
    """Return the box of a group, or None where there are too few people for one."""
    whiskers = _whiskers(group)
    if group.quantiles is None or whiskers is None or group.mean is None:
        return None
    low, high = whiskers
    _, q1, median, q3, _ = group.quantiles
    return Box(*(axis.at(n) for n in (low, q1, median, q3, high, group.mean)))


def columns_of(table: GroupTable, axis: Axis) -> list[Column]:
    """Return the boxes of a number by bins of another, side by side."""
    share = 100 / len(table.rows)
    return [
        Column(
            round((i + 0.5) * share, 2),
            round((i + 0.2) * share, 2),
            round((i + 0.8) * share, 2),
            box_of(group, axis) if group.size >= FEW else None,
        )
        for i, group in enumerate(table.rows)
    ]


def segments_of(table: GroupTable, axis: Axis) -> list[Segment]:
    """Return the fitted line from bin to bin, at the mean of each on the attribute that makes the bins."""
    if table.line is None:
        return []
    places = [
        (column.middle, axis.at(table.line.at(group.at)))
        for column, group in zip(columns_of(table, axis), table.rows, strict=True)
        if group.at is not None
    ]
    return [Segment(*first, *second) for first, second in pairwise(places)]


def effect_axis(parts: Sequence[Finding | Stratum | Tested], scale: Scale) -> Axis | None:
    """Return an axis for the effects of one attribute; bounds very far out leave it."""
    effects = [scale.at(part.effect) for part in parts if part.effect is not None]
    if not effects:
        return None
    zero = scale.at(0.0)
    reach = max(10.0**-scale.decimals, *(abs(e - zero) for e in effects)) * (1 + _FURTHEST)
    bounds = [scale.at(b) for part in parts if part.interval is not None for b in part.interval]
    near = [min(max(b, zero - reach), zero + reach) for b in bounds if not math.isnan(b)]
    low, high = min([*effects, *near, zero]), max([*effects, *near, zero])
    return axis_over(low, high, lambda n, d: fixed(n, d, signed=scale.signed), zero)


def bar_of(part: Finding | Stratum | Tested, axis: Axis, scale: Scale) -> Bar | None:
    """Return where an effect and its interval stand, or None where there is no effect."""
    if part.effect is None:
        return None
    dot = axis.at(scale.at(part.effect))
    if part.interval is None or any(math.isnan(b) for b in part.interval):
        return Bar(dot, dot, dot, leaves_left=False, leaves_right=False)
    low, high = (scale.at(b) for b in part.interval)
    return Bar(dot, axis.at(low), axis.at(high), low < axis.low, high > axis.high)


def shared_decimals(groups: Sequence[Group]) -> int:
    """Return how many decimals the numbers of a table by group are written with."""
    return decimals_for(n for g in groups for n in (*(g.quantiles or ()), g.mean or 0.0))
