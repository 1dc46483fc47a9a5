r"""How large an association must be to be confirmed, before a test set is opened.

Everything here comes from the training set and the sizes of the sets. A hypothesis alone among others that show nothing
is confirmed when its p-value is at most its critical one; an effect that is larger than the critical deviate by 0.84
standard errors gets there with a chance of 80 %. Other true associations can only help: the corrections step down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.inference.prior import Prior
from fairtest.inference.rules import normal_quantile
from fairtest.inference.verdict import POWER_DEVIATE

if TYPE_CHECKING:
    from fairtest.inference.multiplicity import Correction
    from fairtest.types import BoolArray, FloatArray, IntArray

__all__ = ["critical_p", "detectable_signed", "detectable_unsigned"]

_TINY = 1e-12


def critical_p(
    correction: Correction, evidence: FloatArray, directed: BoolArray, share: float, level: float, at: IntArray
) -> FloatArray:
    """Return the largest two-sided p-value that confirms each hypothesis ``at`` if no other shows anything.

    Parameters
    ----------
    evidence, directed
        The training set's evidence for every hypothesis of the family, and whether it has a direction there.
    share
        The training set's share of the people of both sets.

    Examples
    --------
    >>> from fairtest.inference.multiplicity import corrections
    >>> holm, pooled = corrections["holm"], corrections["pooled"]
    >>> family = np.array([4.0, 0.0, 0.0, 0.0]), np.full(4, True), 0.3, 0.05
    >>> critical_p(holm, *family, np.array([0, 1]))
    array([0.0125, 0.0125])
    >>> critical_p(pooled, *family, np.array([0, 1])).round(5)
    array([5.e-02, 2.e-05])
    """
    if correction.name == "pooled":
        return _critical_pooled(evidence, directed, share, level, at)
    allowed = np.empty(at.size)
    prior = Prior(evidence, directed.astype(float), share)
    factors: dict[float, float] = {}
    for place, i in enumerate(at.tolist()):
        known = float(evidence[i]) if correction.weighted else 0.0  # the others treat all hypotheses alike
        if known not in factors:
            p = np.ones(evidence.size)
            p[i] = _TINY
            factors[known] = float(correction.adjust(p, prior)[i]) / _TINY
        allowed[place] = level / max(factors[known], 1.0)
    return allowed


def _critical_pooled(evidence: FloatArray, directed: BoolArray, share: float, level: float, at: IntArray) -> FloatArray:
    """Invert the first step of :func:`fairtest.inference.weighted.pooled`."""
    train, test = np.sqrt(share), np.sqrt(1 - share)
    low, high = -40.0, 80.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if special.ndtr((train * evidence - middle) / test).sum() > level:
            low = middle
        else:
            high = middle
    one_sided = special.ndtr(-(high - train * evidence[at]) / test)
    return np.asarray(np.minimum(np.where(directed[at], 2 * one_sided, one_sided), level))


def detectable_signed(p: FloatArray, error: FloatArray) -> FloatArray:
    """Return the effect that is confirmed with a chance of 80 %, for p-values and standard errors on the test set."""
    return np.asarray((normal_quantile(p) + POWER_DEVIATE) * error)


def detectable_unsigned(p: FloatArray, df: FloatArray) -> FloatArray:
    r"""Return the noncentrality of a χ² statistic that exceeds its critical value with a chance of 80 %.

    Examples
    --------
    One degree of freedom at 5 %: (1.96 + 0.84)².

    >>> detectable_unsigned(np.array([0.05]), np.array([1.0])).round(2)
    array([7.85])
    """
    critical = special.chdtri(df, p)
    low, high = np.zeros_like(critical), (np.sqrt(critical) + 6) ** 2 + df
    for _ in range(80):
        middle = (low + high) / 2
        missed = special.chndtr(critical, df, middle) > special.ndtr(-POWER_DEVIATE)
        low, high = np.where(missed, middle, low), np.where(missed, high, middle)
    return np.asarray(high)
