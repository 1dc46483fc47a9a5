"""How surely each hypothesis had to show an association to be rejected, the others being as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from fairtest.inference.multiplicity.weighted import EVIDENCE_SHARE, by_depth, depth_weights, pooled

if TYPE_CHECKING:
    from fairtest.inference.multiplicity.corrections import Correction
    from fairtest.inference.multiplicity.prior import Prior
    from fairtest.types import FloatArray


def required_deviates(
    correction: Correction, p: FloatArray, adjusted: FloatArray, prior: Prior, level: float
) -> FloatArray:
    """Return the normal deviate at which each hypothesis would have been rejected; infinite if none was.

    Weighted procedures differ between hypotheses; in others, all had to reach what the last one rejected reached.
    """
    if correction.name == "pooled":
        return np.minimum(required_by_evidence(p, prior, EVIDENCE_SHARE * level), _by_depth(p, prior, level))
    with np.errstate(invalid="ignore"):
        rejected = p[adjusted <= level]
    return np.full(p.size, -ndtri(rejected.max() / 2) if rejected.size else np.inf)


def required_by_evidence(p: FloatArray, prior: Prior, level: float) -> FloatArray:
    """Return where the pooled procedure rejects: the pooled deviate must reach that of the last one rejected."""
    with np.errstate(invalid="ignore"):
        rejected = pooled(p, prior) <= level
    if not rejected.any():
        return np.full(p.size, np.inf)
    train, test = np.sqrt(prior.share) * prior.evidence, np.sqrt(1 - prior.share)
    one_sided = np.clip(prior.one_sided(p)[rejected], 1e-300, 1 - 1e-16)
    least = np.min(train[rejected] - test * ndtri(one_sided))
    deviate = (least - train) / test
    # without a direction p-values are two-sided here; against that of the training set, no deviate is enough
    two_sided = -ndtri(ndtr(-deviate) / 2)
    return np.where(prior.direction < 0, np.inf, np.where(prior.direction == 0, two_sided, deviate))


def _by_depth(p: FloatArray, prior: Prior, level: float) -> FloatArray:
    """Return where the procedure by depth rejects."""
    with np.errstate(invalid="ignore"):
        rejected = by_depth(p, prior) <= (1 - EVIDENCE_SHARE) * level
    if not rejected.any():
        return np.full(p.size, np.inf)
    member = ~np.isnan(p)
    weight = np.ones(p.size)
    weight[member] = depth_weights(prior.take(np.flatnonzero(member)))
    most = np.max(p[rejected] / weight[rejected])
    return np.asarray(-ndtri(np.minimum(most * weight, 1.0) / 2))
