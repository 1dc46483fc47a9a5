r"""How large an association must be to be confirmed, before a test set is opened.

Everything here comes from the training set and the sizes of the sets. A hypothesis is confirmed when its p-value is at
most its critical one, which depends on the others: corrections step down, and what is confirmed first makes room. An
effect that is larger than the critical deviate by 0.84 standard errors gets there with a chance of 80 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.inference.verdict import POWER_DEVIATE
from fairtest.statistics.numerics.rules import normal_quantile

if TYPE_CHECKING:
    from fairtest.inference.multiplicity.corrections import Correction
    from fairtest.inference.multiplicity.prior import Prior
    from fairtest.types import BoolArray, FloatArray, IntArray

FARTHEST, PRECISION = 37.0, 0.0005
"""Critical deviates are looked for up to here, so finely."""


def expected_p(evidence: FloatArray, chosen: FloatArray, share: float) -> FloatArray:
    """Return the p-values to expect on the test set from the evidence of the training set.

    Parameters
    ----------
    chosen
        Of how many candidates each hypothesis was picked: chance alone gives the best of n independent ones evidence of
        about √(2 ln n), and so much is taken off.
    share
        The training set's share of the people of both sets.

    Examples
    --------
    >>> expected_p(np.array([4.0, 4.0]), np.array([1, 10_000]), 0.5).round(5)
    array([6.e-05, 1.e+00])
    """
    beyond = np.maximum(evidence - np.sqrt(2 * np.log(np.maximum(chosen, 1))), 0.0)
    return np.asarray(np.clip(2 * special.ndtr(-beyond * np.sqrt((1 - share) / share)), 1e-300, 1.0))


def critical_p(correction: Correction, expected: FloatArray, prior: Prior, level: float, at: IntArray) -> FloatArray:
    """Return the largest two-sided p-value that confirms each hypothesis ``at`` if the others turn out as expected.

    Examples
    --------
    >>> from fairtest.inference.multiplicity.corrections import corrections
    >>> from fairtest.inference.multiplicity.prior import Prior
    >>> prior, first = Prior(np.array([4.0, 0.0, 0.0]), np.ones(3), 0.3), np.array([0, 1])
    >>> critical_p(corrections["holm"], np.array([1e-6, 1.0, 1.0]), prior, 0.06, first).round(3)
    array([0.02, 0.03])
    >>> critical_p(corrections["pooled"], np.array([1e-6, 1.0, 1.0]), prior, 0.06, first).round(4)
    array([0.06, 0.06])
    """
    with_others = correction.adjust(expected, prior) <= level
    if correction.name == "pooled":
        return np.array([_critical_pooled(i, with_others, prior, level) for i in at.tolist()])
    known: dict[object, float] = {}
    critical = np.empty(at.size)
    for place, i in enumerate(at.tolist()):
        alike = (bool(with_others[i]), float(prior.evidence[i]) if correction.weighted else None)
        if alike not in known:  # hypotheses that the correction cannot tell apart
            known[alike] = _bisected(correction, expected, prior, level, i)
        critical[place] = known[alike]
    return critical


def _bisected(correction: Correction, expected: FloatArray, prior: Prior, level: float, i: int) -> float:
    """Ask the correction itself."""
    p = expected.copy()
    low, high = 0.0, FARTHEST
    while high - low > PRECISION:
        middle = (low + high) / 2
        p[i] = 2 * special.ndtr(-middle)
        confirmed = correction.adjust(p, prior)[i] <= level
        low, high = (low, middle) if confirmed else (middle, high)
    return float(2 * special.ndtr(-high))


def _critical_pooled(i: int, confirmed: BoolArray, prior: Prior, level: float) -> float:
    """Return where :func:`~fairtest.inference.multiplicity.weighted.pooled` decides, once the others are confirmed.

    The pooled deviate must reach the C at which the terms of those that are left, this one among them, add up to α.
    """
    left = ~confirmed
    left[i] = True
    train, test = np.sqrt(prior.share), np.sqrt(1 - prior.share)
    shift, low, high = train * prior.evidence[left], -FARTHEST, 2 * FARTHEST
    while high - low > PRECISION:
        middle = (low + high) / 2
        too_low = special.ndtr((shift - middle) / test).sum() > level
        low, high = (middle, high) if too_low else (low, middle)
    one_sided = special.ndtr(-(high - train * prior.evidence[i]) / test)
    return float(min(one_sided * (2 if prior.direction[i] else 1), level))


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
