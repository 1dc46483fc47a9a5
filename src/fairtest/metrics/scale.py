"""How the effects of a metric are written, and on which scale they add up."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.numbers import UNDEFINED, decimals_for, fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairtest.types import FloatArray, Interval


@dataclass(frozen=True)
class Scale:
    """How effects are written, and where they stand on an axis.

    Attributes
    ----------
    decimals
        How many are written.
    factor, offset
        What is shown is ``factor * effect + offset``: a difference in points, a ratio rather than ratio − 1.
    plus
        Whether a plus is written.
    unit
        What follows an estimate; intervals go without.
    finer_below
        Effects smaller than this get a decimal more, each for itself …
    finer_for_weak
        … and if the whole population's effect is smaller than this, all effects of the attribute do.
    significant
        Whether each number has the decimals that its size asks for, whatever the unit it is measured in.

    Examples
    --------
    >>> POINTS.estimate(-0.3246), TIMES.interval((-0.83, float("inf")))
    ('−32.5 points', '[0.17, ∞)')
    """

    decimals: int = 3
    factor: float = 1.0
    offset: float = 0.0
    plus: bool = False
    unit: str = ""
    finer_below: float = 0.0
    finer_for_weak: float = 0.02
    significant: bool = False

    def for_effect(self, population: float | None) -> Scale:
        """Return the scale of all findings of an attribute, from the effect in the whole population."""
        weak = population is not None and abs(population) < self.finer_for_weak
        return replace(self, decimals=self.decimals + 1) if weak else self

    def at(self, effect: float) -> float:
        """Return the number that is shown for an effect."""
        return self.factor * effect + self.offset

    def number(self, effect: float | None, beside: Iterable[float] = ()) -> str:
        """Return an effect without its unit; with the decimals of the numbers it stands beside."""
        if effect is None or math.isnan(effect):
            return UNDEFINED
        decimals = self.decimals + (0 < abs(effect) < self.finer_below)
        if self.significant:
            decimals = decimals_for([self.at(effect), *map(self.at, beside)])
        shown = fixed(self.at(effect), decimals, signed=self.plus, shy=self.plus)
        return shown.replace("∞", "+∞") if self.plus and shown == "∞" else shown

    def estimate(self, effect: float | None) -> str:
        """Return an effect with its unit."""
        shown = self.number(effect)
        return shown if shown == UNDEFINED else shown + self.unit

    def size(self, effect: float) -> str:
        """Return how large an effect is, whatever its direction, with its unit."""
        return self.estimate(abs(effect)).removeprefix("+")

    def interval(self, interval: Interval | None) -> str:
        """Return ``[low, high]``; an infinite bound has a round bracket."""
        if interval is None or any(math.isnan(bound) for bound in interval):
            return UNDEFINED
        low, high = interval
        left, right = "(" if math.isinf(low) else "[", ")" if math.isinf(high) else "]"
        return f"{left}{self.number(low, interval)}, {self.number(high, interval)}{right}"


POINTS = Scale(1, factor=100.0, plus=True, unit=" points", finer_for_weak=0.0)
"""A difference of rates in percentage points."""
TIMES = Scale(2, offset=1.0, finer_for_weak=0.0)
"""A ratio, of which the effect is the distance from 1."""
AMOUNT = Scale(plus=True, finer_for_weak=0.0, significant=True)
"""A difference of amounts, in the unit of whatever is measured."""
COEFFICIENT = Scale(2, finer_below=0.01, finer_for_weak=0.0)
"""A number between −1 and 1."""


@dataclass(frozen=True)
class Additive:
    """Where effects add up: the scale on which two effects are compared and standard errors hold.

    Attributes
    ----------
    forth, back
        From an effect to that scale, 0 staying 0, and back.
    """

    forth: Callable[[FloatArray], FloatArray]
    back: Callable[[FloatArray], FloatArray]


def _log_of_ratio(effect: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log1p(np.maximum(effect, -1.0)))


PLAIN = Additive(np.asarray, np.asarray)
"""Effects that add up as they are."""
LOGARITHM = Additive(_log_of_ratio, np.expm1)
"""Ratios less 1, which add up as logarithms: half as often is as far from 1 as twice as often."""
