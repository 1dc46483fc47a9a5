"""Corrections for many hypotheses: from raw p-values to p-values that hold for the whole family.

A family is everything validated together on one test set. An adjusted p-value is the smallest level at
which the procedure would reject that hypothesis, so a decision is one comparison: adjusted p ≤ α.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.exceptions import InputError
from fairtest.inference.multiplicity.weighted import pooled_above_floor, rank_levels, weighted_holm

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.inference.multiplicity.max_t import JointNull
    from fairtest.inference.multiplicity.prior import Prior
    from fairtest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class ErrorRate:
    """What a correction keeps at or below the level of the test set.

    Attributes
    ----------
    name
        What it is, in a few words.
    promise
        What a report says it means; ``{level}`` stands for the level.
    adds_up
        Whether the levels of several test sets add up to one that holds for all of them together.
    """

    name: str
    promise: str
    adds_up: bool


FAMILY_WISE = ErrorRate(
    "the chance of even one false finding",
    "The chance that even one reported link is a fluke is at most {level}",
    adds_up=True,
)
FALSE_DISCOVERY = ErrorRate(
    "the expected share of false findings",
    "Of the reported links at most {level} are expected to be flukes",
    adds_up=False,
)


@dataclass(frozen=True)
class Correction:
    """A way to correct for the number of hypotheses.

    Attributes
    ----------
    name
        What a user writes to choose it.
    title
        How a report calls it.
    adjust
        Raw p-values and what was known of the hypotheses before, to adjusted p-values in the same order. NaN
        (untestable) stays NaN and is no member of the family. The result is at most 1 and never falls when a raw
        p-value rises.
    levels
        The level of the family, which hypotheses are members, and what was known of them, to the error level of
        each simultaneous interval.
    weighted
        Whether hypotheses with more evidence are tested at larger levels.
    controls
        The error that it keeps at or below the level.
    joint
        Whether it makes use of how hypotheses depend on each other, which :meth:`for_family` tells it. Without that it
        must suppose the worst, like Holm's.
    """

    name: str
    title: str
    adjust: Callable[[FloatArray, Prior], FloatArray]
    levels: Callable[[float, BoolArray, Prior], FloatArray]
    weighted: bool = False
    joint: bool = False
    controls: ErrorRate = FAMILY_WISE

    def for_family(self, null: JointNull) -> Correction:
        """Return the correction for one family, whose joint distribution under no association is known."""
        return replace(self, adjust=null.adjust, levels=null.levels)


def bonferroni(p: FloatArray) -> FloatArray:
    """Multiply each p-value by the number of hypotheses.

    Controls the probability of a single false finding, under any dependence. Holm does the same and never
    rejects less.

    References
    ----------
    O. J. Dunn, "Multiple comparisons among means", JASA 56 (1961), 52–64.

    Examples
    --------
    >>> bonferroni(np.array([0.01, 0.04, np.nan]))
    array([0.02, 0.08,  nan])
    """
    return _adjust_sorted(p, lambda ordered: ordered * ordered.size)


def holm(p: FloatArray) -> FloatArray:
    r"""Correct by Holm's step-down procedure: the correction of the paper.

    With :math:`p_{(1)} ≤ … ≤ p_{(m)}`, the smallest must pass α/m, the next α/(m − 1), and so on; the first
    failure ends it. The adjusted p-value is

    .. math:: \tilde p_{(i)} = \max_{j ≤ i} \min\{1, (m − j + 1)\, p_{(j)}\}.

    The probability of a single false finding stays below α, under any dependence.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
    (1979), 65–70.

    Examples
    --------
    At 5 %, the hypotheses with p = 0.01 and 0.005 are rejected, the two others are not.

    >>> holm(np.array([0.01, 0.04, 0.03, 0.005]))
    array([0.03, 0.06, 0.06, 0.02])
    """
    return _adjust_sorted(p, lambda ordered: np.maximum.accumulate(ordered * np.arange(ordered.size, 0, -1)))


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    r"""Correct by the step-up procedure of Benjamini and Hochberg.

    .. math:: \tilde p_{(i)} = \min_{j ≥ i} \min\{1, m\, p_{(j)} / j\}

    Controls the false discovery rate, the expected share of false findings among the findings, when
    hypotheses are independent or positively dependent. Contexts that share people are dependent, mostly in
    that way, but nothing guarantees it. A single finding is weaker evidence than under Holm.

    References
    ----------
    Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", JRSS B 57 (1995), 289–300.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.005]))
    array([0.02, 0.04, 0.04, 0.02])
    """
    return _adjust_sorted(p, lambda ordered: _step_up(ordered, ordered.size / _ranks(ordered)))


def benjamini_yekutieli(p: FloatArray) -> FloatArray:
    """Correct by the step-up procedure of Benjamini and Yekutieli.

    That of Benjamini and Hochberg with every p-value multiplied by 1 + 1/2 + … + 1/m: the price of
    controlling the false discovery rate under any dependence. For few true findings it can reject less than
    Holm.

    References
    ----------
    Y. Benjamini and D. Yekutieli, "The control of the false discovery rate in multiple testing under
    dependency", Annals of Statistics 29 (2001), 1165–1188.

    Examples
    --------
    >>> benjamini_yekutieli(np.array([0.01, 0.04]))
    array([0.03, 0.06])
    """
    return _adjust_sorted(
        p, lambda ordered: _step_up(ordered, np.sum(1 / _ranks(ordered)) * (ordered.size / _ranks(ordered)))
    )


def equal_levels(alpha: float, tested: BoolArray, prior: Prior) -> FloatArray:  # noqa: ARG001
    """Return α/m for each: all m intervals cover together with probability at least 1 − α, under any dependence.

    Holm and Bonferroni share it. A Holm rejection beyond the first step can therefore stand beside an
    interval that contains 0. The procedures for the false discovery rate use it too: intervals that control
    the false coverage rate (Benjamini and Yekutieli 2005) depend on how many hypotheses were rejected and
    are not offered.
    """
    return np.full(tested.size, alpha / max(1, int(np.count_nonzero(tested))))


def _plain(correct: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray, Prior], FloatArray]:
    """Return a correction that makes no use of what was known before."""

    def adjust(p: FloatArray, prior: Prior) -> FloatArray:  # noqa: ARG001
        return correct(p)

    return adjust


def _adjust_sorted(p: FloatArray, correct: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Apply a correction written for sorted p-values, and put the result back in the order of the input."""
    p = np.asarray(p, dtype=np.float64)
    member = ~np.isnan(p)
    family = p[member]
    if family.size and not (family.min() >= 0 and family.max() <= 1):
        raise InputError(f"p-values must lie between 0 and 1. Got {family.min():g} … {family.max():g}.")
    order = np.argsort(family, kind="stable")
    corrected = np.empty_like(family)
    corrected[order] = np.minimum(correct(family[order]), 1.0)
    result = np.full_like(p, np.nan)
    result[member] = corrected
    return result


def _ranks(ordered: FloatArray) -> IntArray:
    return np.arange(1, ordered.size + 1)


def _step_up(ordered: FloatArray, factor: FloatArray) -> FloatArray:
    """Multiply sorted p-values, then let none exceed a later one."""
    return np.minimum.accumulate((ordered * factor)[::-1])[::-1]


corrections: dict[str, Correction] = {
    correction.name: correction
    for correction in (
        Correction(
            "pooled",
            "step-down; a hypothesis with more evidence in the training set is tested at a larger level",
            pooled_above_floor,
            rank_levels,
            True,
        ),
        Correction("holm", "Holm's procedure", _plain(holm), equal_levels),
        Correction(
            "weighted-holm",
            "Holm's procedure, with weights that fall with the rank of the evidence in the training set",
            weighted_holm,
            rank_levels,
            True,
        ),
        Correction(
            "max-t",
            "step-down max-T, which counts hypotheses about the same people once as far as they agree (Gaussian "
            "multipliers)",
            _plain(holm),
            equal_levels,
            joint=True,
        ),
        Correction("bonferroni", "Bonferroni's inequality", _plain(bonferroni), equal_levels),
        Correction(
            "bh",
            "the procedure of Benjamini and Hochberg, for the share of false findings",
            _plain(benjamini_hochberg),
            equal_levels,
            controls=FALSE_DISCOVERY,
        ),
        Correction(
            "by",
            "the procedure of Benjamini and Yekutieli, for the share of false findings",
            _plain(benjamini_yekutieli),
            equal_levels,
            controls=FALSE_DISCOVERY,
        ),
    )
}
"""The corrections by name."""
