r"""Corrections that weight each hypothesis by the training set's evidence for it.

The weights are fixed before the test set is opened, so they cannot invalidate anything; good ones make the test of a
likely finding easier at the expense of unlikely ones. In a population with 240 planted contexts, plain Holm reports 109
of them, the step-down pooled correction 134 (three tenths of the people for training).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    from fairtest.inference.prior import Prior
    from fairtest.types import BoolArray, FloatArray

__all__ = ["pooled", "rank_levels", "weighted_holm"]

_MARGIN = 1e-3
_LARGE, _HOPELESS = 20_000, 0.2
"""In very large families, adjusted p-values from 0.2 on are given as 1."""
_STEEPNESS = 1.5


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
    """Return the adjusted p-values of hypotheses sorted by the pooled deviate.

    Terms that are too small to matter beside a hypothesis' own are not computed but bounded, all together, by a
    thousandth of it.
    """
    adjusted = np.ones(together.size)
    by_evidence = np.argsort(-evidence, kind="stable")
    sorted_evidence = -evidence[by_evidence]
    own = np.maximum(ndtr((evidence - together) / scale), 1e-290)
    reach = -ndtri(np.maximum(own * _MARGIN / together.size, 1e-300)) * scale
    last = np.searchsorted(sorted_evidence, reach - together, side="right")
    largest = 0.0
    for k, reached in enumerate(together):
        left = by_evidence[: last[k]]
        total = float(ndtr((evidence[left[left >= k]] - reached) / scale).sum()) + _MARGIN * own[k]
        largest = max(largest, total)
        if largest >= (1.0 if together.size <= _LARGE else _HOPELESS):
            break
        adjusted[k] = largest
    return adjusted


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
    one_sided = known.one_sided(p[member])
    weight = _rank_weights(known.evidence)
    order = np.argsort(one_sided / weight, kind="stable")
    remaining = np.cumsum(weight[order][::-1])[::-1]
    stepped = np.maximum.accumulate(one_sided[order] * remaining / weight[order])
    adjusted = np.empty(member.size)
    adjusted[order] = np.minimum(stepped, 1.0)
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
