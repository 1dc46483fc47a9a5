"""Groups beside one that is the reference: several in a rate or a mean, or two in a mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairtest.types import Interval, Level

FEWEST_COMPARED = 30
"""A group of fewer people is named, but not compared: its rate says next to nothing."""


@dataclass(frozen=True)
class GroupGap:
    """A group beside the reference group.

    Attributes
    ----------
    size, value
        The people of the group, and the rate (or the mean) among them.
    gap
        The rate (or the mean) of the group less that of the reference; given explanatory attributes, among people who
        are alike. None where it is undefined.
    before
        Given explanatory attributes: the gap over all people together; None without.
    interval, interval_single
        Of the gap: simultaneous over everything tested, and by itself at the level of the set.
    p_value, p_value_raw
        After correction, and alone; None in contexts, where gaps are described and not tested.
    significant
        Whether the gap is confirmed; in contexts, whether its simultaneous interval excludes none.
    ratio, ratio_interval
        Of a number that is never negative: the mean of the group over that of the reference, all people together, with
        its single interval; None elsewhere, and given explanatory attributes.
    median_gap, median_gap_interval
        Of a number: the median of the group less that of the reference, with its single interval; None elsewhere.
    """

    group: Level
    size: int
    value: float | None
    gap: float | None
    interval: Interval | None = None
    interval_single: Interval | None = None
    p_value: float | None = None
    p_value_raw: float | None = None
    significant: bool = False
    before: float | None = None
    ratio: float | None = None
    ratio_interval: Interval | None = None
    median_gap: float | None = None
    median_gap_interval: Interval | None = None


@dataclass(frozen=True)
class Comparison:
    """Several groups beside the reference, in the share that has one output or in the mean of a number.

    Attributes
    ----------
    output
        The output value whose rates are compared; None where means of a number are.
    size, value
        The people of the reference group, and the rate (or the mean) among them.
    gaps
        The other groups with enough people, in the order of the attribute's values.
    small
        The groups with fewer than :data:`FEWEST_COMPARED` people, each with how many they are.
    """

    reference: Level
    output: Level | None
    size: int
    value: float | None
    gaps: tuple[GroupGap, ...]
    small: tuple[tuple[Level, int], ...] = ()

    @property
    def confirmed(self) -> tuple[GroupGap, ...]:
        """The gaps that are confirmed, those that weigh most first: by size, and by the root of the people."""
        clear = (gap for gap in self.gaps if gap.significant)
        return tuple(sorted(clear, key=lambda g: (-abs(g.gap or 0.0) * g.size**0.5, str(g.group))))


def spoken_of(comparisons: tuple[Comparison, ...]) -> Comparison | None:
    """Return the comparison that sentences are about: the only one, or the one with the surest gap; None of none."""

    def least_p(comparison: Comparison) -> tuple[float, float]:
        p = min((1.0 if g.p_value_raw is None else g.p_value_raw for g in comparison.gaps), default=1.0)
        return p, -max((abs(g.gap or 0.0) for g in comparison.gaps), default=0.0)

    return min(comparisons, key=least_p, default=None)
