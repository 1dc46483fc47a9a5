r"""Corrections that weight each hypothesis by the training set's evidence for it.

The weights are fixed before the test set is opened, so they cannot invalidate anything; good ones make the test of a
likely finding easier at the expense of unlikely ones. In a population with 240 planted contexts, plain Holm reports 109
of them, the step-down pooled correction 134 (three tenths of the people for training).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    from fairtest.inference.multiplicity.prior import Prior
    from fairtest.types import BoolArray, FloatArray

_BLOCK, _WIDTH = 128, 1.5
"""The most hypotheses of a block, and how many standard deviations their deviates may be apart …"""
_POINTS = np.cos(np.pi * (np.arange(6) + 0.5) / 6)
"""… so that interpolation between these points (Chebyshev's, from −1 to 1) is right …"""
_MARGIN = 1e-4
"""… up to less than this part."""
_LARGE, _HOPELESS = 20_000, 0.2
"""In very large families, adjusted p-values from 0.2 on are given as 1."""
_STEEPNESS = 1.5
EVIDENCE_SHARE = 0.9
"""The share of the level that goes to the evidence of the training set; the rest is a floor that needs none."""


def pooled_above_floor(p: FloatArray, prior: Prior) -> FloatArray:
    r"""Correct by the pooled procedure with most of the level, and by depth with the rest: the default.

    Evidence is a good guide, and sometimes a bad one: a real context that training happened to miss would need a
    much smaller p-value than without any weights. So a tenth of the level is divided by depth alone, and a hypothesis
    is rejected if either procedure rejects it: :math:`\tilde p = \min\{pooled/0.9,\; by\ depth/0.1\}`.
    """
    first, second = pooled(p, prior) / EVIDENCE_SHARE, by_depth(p, prior) / (1 - EVIDENCE_SHARE)
    return np.minimum(np.minimum(first, second), np.where(np.isnan(p), np.nan, 1.0))


def depth_weights(prior: Prior) -> FloatArray:
    """Return weights that give every depth the same share, divided evenly among its hypotheses.

    Examples
    --------
    >>> from fairtest.inference.multiplicity.prior import Prior
    >>> depth_weights(Prior(np.zeros(3), np.zeros(3), 0.3, np.array([1, 2, 2])))
    array([0.5 , 0.25, 0.25])
    """
    depth = np.zeros(prior.evidence.size, dtype=int) if prior.depth is None else prior.depth
    depths, inverse, many = np.unique(depth, return_inverse=True, return_counts=True)
    return np.asarray(1 / (max(depths.size, 1) * many))[inverse]


def by_depth(p: FloatArray, prior: Prior) -> FloatArray:
    r"""Correct by Holm's procedure with weights by depth: few contexts have one predicate, very many have three.

    With :math:`p_{(1)}/w_{(1)} ≤ p_{(2)}/w_{(2)} ≤ …`,
    :math:`\tilde p_{(k)} = \max_{l ≤ k} \min\{1, p_{(l)} \sum_{j ≥ l} w_{(j)} / w_{(l)}\}`, two-sided.
    """
    member = np.flatnonzero(~np.isnan(p))
    result = np.full(p.shape, np.nan)
    result[member] = _weighted_steps(p[member], depth_weights(prior.take(member)))
    return result


def _weighted_steps(p: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the adjusted p-values of Holm's procedure with weights."""
    order = np.argsort(p / weight, kind="stable")
    remaining = np.cumsum(weight[order][::-1])[::-1]
    adjusted = np.empty(p.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * remaining / weight[order]), 1.0)
    return adjusted


def pooled(p: FloatArray, prior: Prior) -> FloatArray:
    r"""Correct by the step-down pooled procedure.

    Training evidence e and test deviate q = Φ⁻¹(1 − p) are pooled as if all people had been tested at once,
    :math:`T = \sqrt f e + \sqrt{1-f} q`, f being the training share. With :math:`T_{(1)} ≥ T_{(2)} ≥ …`

    .. math:: a_k = \sum_{j ≥ k} Φ\left(\frac{\sqrt f e_{(j)} − T_{(k)}}{\sqrt{1−f}}\right), \qquad
              \tilde p_{(k)} = \min\{1, \max_{l ≤ k} a_l\}.

    Why it is valid: given the training set, e is a constant and each true null hypothesis has P(p ≤ u) ≤ u. Testing
    the intersection of any set of hypotheses by "some T reaches C", with C such that the terms of the sum are α in
    all, is a weighted Bonferroni test; a smaller set has a smaller C, so closed testing has this step-down shortcut
    (Hommel, Bretz and Maurer 2007). The probability of a single false finding stays below α, whatever the
    dependence between contexts and however wrong e and f are.

    Parameters
    ----------
    p
        Raw p-values, two-sided; NaN is no member of the family. Inside, they are one-sided in the direction seen in
        training; what comes out is never below what went in.

    References
    ----------
    G. Hommel, F. Bretz and W. Maurer, "Powerful short-cuts for multiple testing procedures with special reference to
    gatekeeping strategies", Statistics in Medicine 26 (2007), 4063–4073.
    """
    member = np.flatnonzero(~np.isnan(p))
    known = prior.take(member)
    one_sided = np.clip(known.one_sided(p[member]), 1e-300, 1 - 1e-16)
    train, test = np.sqrt(known.share), np.sqrt(1 - known.share)
    together = train * known.evidence - test * ndtri(one_sided)
    order = np.argsort(-together, kind="stable")
    adjusted = np.empty(member.size)
    adjusted[order] = _step_down(together[order], train * known.evidence[order], test)
    result = np.full(p.shape, np.nan)
    result[member] = np.maximum(adjusted, p[member])
    return result


def _step_down(together: FloatArray, evidence: FloatArray, scale: float) -> FloatArray:
    """Return the adjusted p-values of hypotheses sorted by the pooled deviate, a block of similar ones at a time."""
    adjusted = np.ones(together.size)
    enough = 1.0 if together.size <= _LARGE else _HOPELESS
    start, largest = 0, 0.0
    while start < together.size and largest < enough:
        similar = int(np.searchsorted(-together, _WIDTH * scale - together[start], side="right"))
        block = slice(start, min(similar, start + _BLOCK))
        sums = _sums_from_own(together[block], evidence[block], evidence[block.stop :], scale)
        stepped = np.maximum.accumulate(np.maximum(sums, largest))
        adjusted[block] = np.where(stepped < enough, stepped, 1.0)
        start, largest = block.stop, stepped[-1]
    return adjusted


def _sums_from_own(reached: FloatArray, own: FloatArray, later: FloatArray, scale: float) -> FloatArray:
    """Return a_k for a block of hypotheses: the terms from their own on within the block, and those of all later ones.

    The latter are a smooth function of the deviate that was reached: where a block is longer than a few points, its
    logarithm is computed at these only and interpolated, and raised by more than that can miss. Terms that are too
    small to matter beside a hypothesis' own are left out, and what they can amount to is added.
    """

    def terms(deviates: FloatArray, evidence: FloatArray) -> FloatArray:
        return np.asarray(ndtr((evidence - deviates[:, None]) / scale))

    inside = terms(reached, own)
    first = np.maximum(inside.diagonal(), 1e-290)
    small = first.min() * _MARGIN / max(later.size, 1)
    later = later[later > reached[-1] + ndtri(max(small, 1e-300)) * scale]
    within = np.triu(inside).sum(axis=1) + _MARGIN * first
    if reached.size <= _POINTS.size:
        return np.asarray(within + terms(reached, later).sum(axis=1))
    middle, half = (reached[0] + reached[-1]) / 2, max((reached[0] - reached[-1]) / 2, 1e-300)
    at_points = np.log(np.maximum(terms(middle + half * _POINTS, later).sum(axis=1), 1e-300))
    line = Polynomial.fit(_POINTS, at_points, _POINTS.size - 1, domain=[-1, 1])
    return np.asarray(within + np.exp(line((reached - middle) / half)) * (1 + _MARGIN))


def weighted_holm(p: FloatArray, prior: Prior) -> FloatArray:
    r"""Correct by Holm's procedure with weights that fall with the rank of the evidence.

    With weights :math:`w ∝ r^{-1.5}` and :math:`p_{(1)}/w_{(1)} ≤ p_{(2)}/w_{(2)} ≤ …`,
    :math:`\tilde p_{(k)} = \max_{l ≤ k} \min\{1, p_{(l)} \sum_{j ≥ l} w_{(j)} / w_{(l)}\}`.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979),
    65–70, section 4.
    """
    member = np.flatnonzero(~np.isnan(p))
    known = prior.take(member)
    adjusted = _weighted_steps(known.one_sided(p[member]), _rank_weights(known.evidence))
    result = np.full(p.shape, np.nan)
    result[member] = np.maximum(adjusted, p[member])
    return result


def rank_levels(alpha: float, tested: BoolArray, prior: Prior) -> FloatArray:
    """Return the level of each simultaneous interval: larger for hypotheses with more evidence, α in all.

    The step-down procedure itself has no intervals; these hold together with probability 1 − α, and a finding's
    interval may touch 0 although the finding is significant. Hypotheses that were not tested get the smallest level.
    """
    levels = np.full(tested.size, np.nan)
    levels[tested] = alpha * _rank_weights(prior.evidence[tested])
    return np.where(tested, levels, np.min(levels[tested], initial=alpha))


def _rank_weights(evidence: FloatArray) -> FloatArray:
    """Return weights that fall with the rank of the evidence; equal evidence shares its mean rank."""
    _, inverse, ties = np.unique(-evidence, return_inverse=True, return_counts=True)
    rank = (np.cumsum(ties) - (ties - 1) / 2)[inverse]
    weight = rank**-_STEEPNESS
    return np.asarray(weight / weight.sum())
