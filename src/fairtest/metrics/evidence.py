"""Evidence: how surely the training set shows an association, and how two groups of people can be compared.

Used to weight hypotheses before the test set is opened. Anything may be used here: a poor choice costs power, never
validity, since it is fixed when the test set is opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc, ndtri

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.types import BoolArray, FloatArray, IntArray

MOST = 37.0
"""Where normal deviates end: beyond, tail probabilities are below 1e-300."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the training set says about each of many contexts.

    Attributes
    ----------
    z
        The normal deviate of "no association", with the sign of the effect where the metric has one.
    effect
        The effect on a scale on which two contexts can be compared.
    variance
        Its variance there.
    statistic, df
        For a metric without sign: the statistic that is χ² where there is no association, and its degrees of freedom.
    variance_if
        What the variance of each context would be if its effect were another one; None where that is not known.
    """

    z: FloatArray
    effect: FloatArray
    variance: FloatArray
    statistic: FloatArray | None = None
    df: FloatArray | None = None
    variance_if: Callable[[FloatArray], FloatArray] | None = None

    def __getitem__(self, at: BoolArray | IntArray | slice) -> Evidence:
        return Evidence(self.z[at], self.effect[at], self.variance[at])

    def beyond(self, rest: Evidence, signed: bool) -> FloatArray:
        """Return the deviate of "stronger than in the rest", in the direction of the effect here."""
        sign = np.sign(self.z) if signed else 1.0
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sign * (self.effect - rest.effect) / np.sqrt(self.variance + rest.variance))

    def variance_for(self, effect: FloatArray) -> FloatArray:
        """Return the variance to compare with others by if all had an effect: at least that at what is seen."""
        return self.variance if self.variance_if is None else np.fmax(self.variance, self.variance_if(effect))


def from_chi_square(statistic: FloatArray, df: FloatArray, n: FloatArray) -> Evidence:
    """Return the evidence of a statistic that is χ² with ``df`` degrees of freedom where there is no association.

    Its root, less what chance gives, is the effect of a metric without sign; that of n people has variance 1/n.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        p = chdtrc(df, statistic)
        z = np.minimum(-ndtri(np.maximum(p, 1e-300) / 2), MOST)
        effect = np.sqrt(np.maximum(statistic - df, 0.0) / n)
        return Evidence(z, effect, 1 / n, statistic, df)


def noncentral_low(statistic: FloatArray, df: FloatArray, z: float) -> FloatArray:
    """Return about the lower limit of the noncentrality of a χ² statistic, ``z`` being a normal quantile."""
    half = (df - 1) / 2
    root = np.sqrt(np.maximum(statistic - half, 0.0)) - z
    return np.maximum(np.where(root > 0, root**2, 0.0) - half, 0.0)
