"""The standardised score statistic of two proportions, for a difference and for a ratio.

Both classes answer one question for a batch of contexts: given a candidate effect, how many standard
deviations is the observed statistic away from it, and how skewed is the statistic? Only the upper tail is
ever needed, because the lower tail of a comparison is the upper tail of the comparison with the groups
swapped.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class StratifiedTables:
    """Two groups in K strata, for m contexts; strata without information have weight 0.

    Attributes
    ----------
    p1, p2
        The observed rates, [m, K].
    n1, n2
        The sizes of the groups, [m, K] (1 in a stratum without information).
    weight
        The stratum's share of the people of the informative strata, [m, K].
    floor
        The unrestricted variance V_U, under which the variance may not fall where several strata are
        informative, since the effects of strata may differ; 0 where there is one, [m].
    """

    p1: FloatArray
    n1: FloatArray
    p2: FloatArray
    n2: FloatArray
    weight: FloatArray
    floor: FloatArray

    @classmethod
    def from_counts(cls, x1: IntArray, n1: IntArray, x2: IntArray, n2: IntArray) -> tuple[StratifiedTables, BoolArray]:
        """Return the contexts in which a difference is defined, and which of the given ones those are."""
        counts = [np.asarray(v, dtype=np.float64) for v in (x1, n1, x2, n2)]
        informative = (counts[1] > 0) & (counts[3] > 0)
        defined = np.asarray(informative.any(axis=1))
        used = informative[defined]
        c1, g1, c2, g2 = (np.where(used, v[defined], fill) for v, fill in zip(counts, (0, 1, 0, 1), strict=True))
        people = np.where(used, g1 + g2, 0.0)
        weight = people / people.sum(axis=1, keepdims=True)
        p1, p2 = c1 / g1, c2 / g2
        spread = p1 * (1 - p1) / np.maximum(g1 - 1, 1) + p2 * (1 - p2) / np.maximum(g2 - 1, 1)
        several = used.sum(axis=1) > 1
        floor = np.where(several, (weight**2 * spread).sum(axis=1), 0.0)
        return cls(p1, g1, p2, g2, weight, floor), defined

    @property
    def estimate(self) -> FloatArray:
        """The size-weighted difference of the rates."""
        return np.asarray((self.weight * (self.p1 - self.p2)).sum(axis=1), dtype=np.float64)

    @property
    def rough_deviation(self) -> FloatArray:
        """A standard deviation that is never 0, good enough to start a search."""
        variance = np.zeros_like(self.floor)
        for p, n in ((self.p1, self.n1), (self.p2, self.n2)):
            mild = (p * n + 1) / (n + 2)
            variance += (self.weight**2 * mild * (1 - mild) / n).sum(axis=1)
        return np.sqrt(variance)

    def take(self, rows: IntArray) -> Self:
        """Return some of the contexts."""
        return type(self)(*(getattr(self, f.name)[rows] for f in fields(self)))

    def swap_groups(self) -> Self:
        """Return the comparison of the second group with the first."""
        return type(self)(self.p2, self.n2, self.p1, self.n1, self.weight, self.floor)

    def beside(self, other: Self) -> Self:
        """Return these contexts and then the other ones: to search for the bounds of all of them in one go."""
        return type(self)(*(np.concatenate((getattr(self, f.name), getattr(other, f.name))) for f in fields(self)))

    def standardise(self, delta: FloatArray) -> tuple[FloatArray, FloatArray]:
        r"""Return z = (D − δ)/√V and the skewness γ = M/V^1.5 at a common difference δ.

        .. math::
            V &= \sum_e w_e^2 \left[\frac{r_1(1-r_1)}{n_1} + \frac{r_2(1-r_2)}{n_2}\right]\frac{N}{N-1} \\
            M &= \sum_e w_e^3 \left[\frac{r_1(1-r_1)(1-2r_1)}{n_1^2}
                 - \frac{r_2(1-r_2)(1-2r_2)}{n_2^2}\right]\frac{N^2}{(N-1)(N-2)}

        with r₁, r₂ = r₁ − δ the most likely rates of the stratum, and N = n₁ + n₂.
        """
        r1 = restricted_rate(self.p1, self.p2, self.n2 / self.n1, delta[:, None])
        r2 = np.clip(r1 - delta[:, None], 0.0, 1.0)
        variance, third = _moments(r1, self.n1, r2, self.n2)
        variance = np.maximum((self.weight**2 * variance).sum(axis=1), self.floor)
        third = (self.weight**3 * third).sum(axis=1)
        return _standardise(self.estimate - delta, variance, third)


@dataclass(frozen=True)
class RatioTables:
    """Two groups without strata, for m contexts: ``x1`` of ``n1`` and ``x2`` of ``n2`` have the output."""

    x1: FloatArray
    n1: FloatArray
    x2: FloatArray
    n2: FloatArray

    @classmethod
    def from_counts(cls, x1: IntArray, n1: IntArray, x2: IntArray, n2: IntArray) -> tuple[RatioTables, BoolArray]:
        """Return the contexts in which both groups are present, and which of the given ones those are."""
        counts = [np.asarray(v, dtype=np.float64) for v in (x1, n1, x2, n2)]
        defined = (counts[1] > 0) & (counts[3] > 0)
        return cls(*(v[defined] for v in counts)), defined

    @property
    def estimate(self) -> FloatArray:
        """The ratio of the rates: NaN for 0/0, infinite where only the second rate is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.x1 * self.n2) / (self.n1 * self.x2)

    @property
    def rough_deviation(self) -> FloatArray:
        """The usual standard deviation of a log ratio, never 0, good enough to start a search."""
        return np.sqrt(1 / (self.x1 + 0.5) + 1 / (self.x2 + 0.5))

    def take(self, rows: IntArray) -> Self:
        """Return some of the contexts."""
        return type(self)(*(getattr(self, f.name)[rows] for f in fields(self)))

    def swap_groups(self) -> Self:
        """Return the comparison of the second group with the first."""
        return type(self)(self.x2, self.n2, self.x1, self.n1)

    def standardise(self, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return z and the skewness of p̂₁ − φp̂₂ at a ratio φ, at the most likely rates r₁ = φr₂."""
        linear = self.n1 * phi + self.x1 + self.n2 + self.x2 * phi
        both = self.x1 + self.x2
        root = np.sqrt(np.maximum(linear**2 - 4 * (self.n1 + self.n2) * phi * both, 0.0))
        r2 = np.clip(2 * both / (linear + root), 0.0, 1.0)
        r1 = np.clip(phi * r2, 0.0, 1.0)
        variance, third = _moments(r1, self.n1, r2, self.n2, phi)
        return _standardise(self.x1 / self.n1 - phi * (self.x2 / self.n2), variance, third)


def restricted_rate(p1: FloatArray, p2: FloatArray, theta: FloatArray, delta: FloatArray) -> FloatArray:
    """Return the most likely rate of the first group if the rates differ by exactly ``delta``.

    The root of a cubic in closed form (Farrington and Manning 1990), ``theta`` = n₂/n₁. The closed form
    loses digits where two roots nearly coincide (rare outputs); one Newton step gives them back.
    """
    a = 1 + theta
    b = -(a + p1 + theta * p2 + delta * (theta + 2)) / a
    c = (delta * delta + delta * (2 * p1 + a) + p1 + theta * p2) / a
    d = -p1 * delta * (1 + delta) / a
    third = b / 3
    v = third * (third * third - c / 2) + d / 2
    u = np.sign(v) * np.sqrt(np.maximum(third * third - c / 3, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = np.arccos(np.clip(np.nan_to_num(v / u**3, nan=1.0), -1.0, 1.0))
        rate = 2 * u * np.cos((np.pi + angle) / 3) - third
        low, high = np.maximum(delta, 0.0), np.minimum(1 + delta, 1.0)
        rate = np.clip(rate, low, high)
        newton = rate - (((rate + b) * rate + c) * rate + d) / ((3 * rate + 2 * b) * rate + c)
    close = np.abs(newton - rate) < 1e-6
    result: FloatArray = np.where(close, np.clip(newton, low, high), rate)
    return result


def _moments(
    r1: FloatArray, n1: FloatArray, r2: FloatArray, n2: FloatArray, phi: FloatArray | float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Return the variance and the third central moment of p̂₁ − φp̂₂, as sampled without replacement."""
    people = n1 + n2
    v1, v2 = r1 * (1 - r1) / n1, phi**2 * (r2 * (1 - r2)) / n2
    m1, m2 = v1 * (1 - 2 * r1) / n1, phi * v2 * (1 - 2 * r2) / n2
    scale = people / np.maximum(
        people - 1, 1e-3
    )  # rows may be worth less than one person, and then say next to nothing
    return (v1 + v2) * scale, (m1 - m2) * scale * people / np.maximum(people - 2, 1)


def _standardise(distance: FloatArray, variance: FloatArray, third: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Divide by the standard deviation; where there is no variance, any distance is infinitely far."""
    varies = variance > 0
    deviation = np.sqrt(np.where(varies, variance, 1.0))
    certain = np.where(distance == 0, 0.0, np.copysign(np.inf, distance))
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = third / deviation**3
    return np.where(varies, distance / deviation, certain), np.where(varies & np.isfinite(skewness), skewness, 0.0)
