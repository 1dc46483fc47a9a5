"""The marks of a figure: positions of intervals, boxes and fitted lines on an axis, in per cent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding, Group, GroupTable, Stratum, Tested
    from fairtest.model.rates import Rate
    from fairtest.reporting.figures.axes import Axis

Point = tuple[float, float]
FEW = 20
"""The fewest people for whom a box is drawn among others."""


@dataclass(frozen=True)
class IntervalMark:
    """An estimate with its interval; an end that leaves the axis is an arrow."""

    dot: float
    low: float
    high: float
    leaves_left: bool = False
    leaves_right: bool = False


@dataclass(frozen=True)
class BoxMark:
    """A box plot: whiskers, middle half, median and mean."""

    low: float
    q1: float
    median: float
    q3: float
    high: float
    mean: float


@dataclass(frozen=True)
class StandingBox:
    """The box plot of a group standing up: where its middle and its sides are, and its box if it has people enough."""

    group: Group
    middle: float
    left: float
    right: float
    box: BoxMark | None


def mark_effect(part: Finding | Stratum | Tested, axis: Axis, scale: Scale) -> IntervalMark | None:
    """Return the mark of an effect and its interval, or None where there is no effect."""
    if part.effect is None:
        return None
    dot = axis.at(scale.at(part.effect))
    if part.interval is None or any(math.isnan(b) for b in part.interval):
        return IntervalMark(dot, dot, dot)
    low, high = (scale.at(b) for b in part.interval)
    return IntervalMark(dot, axis.at(low), axis.at(high), low < axis.low, high > axis.high)


def mark_rate(rate: Rate | None, axis: Axis) -> IntervalMark | None:
    """Return the mark of a rate and its interval; None for a group without people."""
    if rate is None:
        return None
    low, high = rate.interval
    return IntervalMark(axis.at(rate.share), axis.at(low), axis.at(high))


def mark_box(group: Group, axis: Axis) -> BoxMark | None:
    """Return the box of a group, or None where it has too few people for one."""
    if group.quantiles is None or group.reach is None or group.mean is None:
        return None
    low, high = group.reach
    _, q1, median, q3, _ = group.quantiles
    return BoxMark(*(axis.at(n) for n in (low, q1, median, q3, high, group.mean)))


def mark_large_box(group: Group, axis: Axis) -> BoxMark | None:
    """Return the box of a group in a figure of boxes only, where groups of a few people have none."""
    return mark_box(group, axis) if group.size >= FEW else None


def stand_boxes(table: GroupTable, axis: Axis) -> list[StandingBox]:
    """Return the boxes of a number by bins of another, side by side."""
    share = 100 / len(table.rows)
    return [
        StandingBox(
            group,
            middle=round((i + 0.5) * share, 2),
            left=round((i + 0.2) * share, 2),
            right=round((i + 0.8) * share, 2),
            box=mark_large_box(group, axis),
        )
        for i, group in enumerate(table.rows)
    ]


def fit_segments(table: GroupTable, axis: Axis) -> list[tuple[Point, Point]]:
    """Return the fitted line from bin to bin, at the mean of each on the attribute that makes the bins."""
    if table.line is None:
        return []
    ends = [
        (column.middle, axis.at(table.line.at(column.group.at)))
        for column in stand_boxes(table, axis)
        if column.group.at is not None
    ]
    return list(pairwise(ends))
