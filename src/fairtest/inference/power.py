r"""How large an association must be to be confirmed, before a test set is opened.

Everything here comes from the training set and the sizes of the sets. A hypothesis is confirmed when its p-value is at
most its critical one, which depends on the others: corrections step down, and what is confirmed first makes room. An
effect that is larger than the critical deviate by 0.84 standard errors gets there with a chance of 80 %.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.inference.multiplicity.weighted import EVIDENCE_SHARE, by_depth, depth_weights, pooled
from fairtest.inference.verdict import POWER_DEVIATE
from fairtest.statistics.numerics.rules import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from fairtest.inference.multiplicity.corrections import Correction
    from fairtest.inference.multiplicity.prior import Prior
    from fairtest.types import BoolArray, FloatArray, IntArray

    Procedure: TypeAlias = Callable[[FloatArray, Prior], FloatArray]

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

    Where none is expected (NaN), the hypothesis is no member of the family.

    Examples
    --------
    >>> from fairtest.inference.multiplicity.corrections import corrections
    >>> from fairtest.inference.multiplicity.prior import Prior
    >>> prior, first = Prior(np.array([4.0, 0.0, 0.0]), np.ones(3), 0.3), np.array([0, 1])
    >>> critical_p(corrections["holm"], np.array([1e-6, 1.0, 1.0]), prior, 0.06, first).round(3)
    array([0.02, 0.03])
    >>> critical_p(corrections["pooled"], np.array([1e-6, 1.0, 1.0]), prior, 0.06, first).round(4)
    array([0.054, 0.054])
    """
    if correction.name == "pooled":
        return _critical_above_floor(expected, prior, level, at)
    with np.errstate(invalid="ignore"):
        with_others = correction.adjust(expected, prior) <= level
    known: dict[object, float] = {}
    critical = np.empty(at.size)
    for place, i in enumerate(at.tolist()):
        alike = (bool(with_others[i]), float(prior.evidence[i]) if correction.weighted else None)
        if alike not in known:  # hypotheses that the correction cannot tell apart
            known[alike] = _bisect_critical_p(correction, expected, prior, level, i)
        critical[place] = known[alike]
    return critical


def _bisect_critical_p(correction: Correction, expected: FloatArray, prior: Prior, level: float, i: int) -> float:
    """Ask the correction itself."""
    p = expected.copy()
    low, high = 0.0, FARTHEST
    while high - low > PRECISION:
        middle = (low + high) / 2
        p[i] = 2 * special.ndtr(-middle)
        confirmed = correction.adjust(p, prior)[i] <= level
        low, high = (low, middle) if confirmed else (middle, high)
    return float(2 * special.ndtr(-high))


def _critical_above_floor(expected: FloatArray, prior: Prior, level: float, at: IntArray) -> FloatArray:
    """Return where :func:`~fairtest.inference.multiplicity.weighted.pooled_above_floor` decides.

    Either of its two procedures is enough. Both step down: a hypothesis has to hold among those that are left when all
    others have been rejected that can be without it.
    """
    shares = (pooled, EVIDENCE_SHARE * level), (by_depth, (1 - EVIDENCE_SHARE) * level)
    weight = np.full(expected.size, np.nan)
    member = np.flatnonzero(~np.isnan(expected))
    weight[member] = depth_weights(prior.take(member))
    first: dict[Procedure, BoolArray] = {adjust: _find_rejected(adjust, expected, prior, own) for adjust, own in shares}
    critical = []
    for i in at.tolist():
        left = {}
        for adjust, own in shares:
            rejected = first[adjust]
            if rejected[i]:  # others may have been rejected only because this one was
                rejected = _find_rejected(adjust, *_without_support(i, expected, prior), own)
            left[adjust] = ~rejected & ~np.isnan(expected)
            left[adjust][i] = True
        (_, by_evidence), (_, without) = shares
        floor = without * weight[i] / weight[left[by_depth]].sum()
        critical.append(max(_critical_pooled(i, left[pooled], prior, by_evidence), floor))
    return np.array(critical)


def _find_rejected(adjust: Procedure, p: FloatArray, prior: Prior, level: float) -> BoolArray:
    with np.errstate(invalid="ignore"):
        return np.asarray(adjust(p, prior) <= level)


def _without_support(i: int, expected: FloatArray, prior: Prior) -> tuple[FloatArray, Prior]:
    """Return p-values and prior without any evidence for one hypothesis: its p-value is 1, and it has no direction."""
    p, direction = expected.copy(), prior.direction.copy()
    p[i], direction[i] = 1.0, 0.0
    return p, replace(prior, direction=direction)


def _critical_pooled(i: int, left: BoolArray, prior: Prior, level: float) -> float:
    """Return where :func:`~fairtest.inference.multiplicity.weighted.pooled` decides, this one being among those left.

    The pooled deviate must reach the C at which the terms of those that are left add up to the level.
    """
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
