"""E-values by permutation: for two numbers, and for any metric of a user's own.

Where there is no association within a block, the value T₀ of a statistic is exchangeable with those of permuted blocks.
Whatever is computed of all values alike, the share that T₀ has of the sum has mean 1/(B + 1): so the bet pays
:math:`e = e^{λz_0} / mean_j e^{λz_j}` with mean exactly 1, for any number of permutations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp, ndtri

from fairtest.monitoring.evalues.scores import normal_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from fairtest.types import FloatArray, IntArray

PERMUTATIONS = 199
_SIZES = (0.025, 0.05, 0.1, 0.2, 0.4)
CORRELATION_BETS = np.array([*_SIZES, *(-size for size in _SIZES)])
"""The correlations bet on."""


def log_e_soft_rank(observed: float, permuted: ArrayLike, strength: ArrayLike) -> FloatArray:
    """Return the log of what bets of some strengths λ pay.

    Examples
    --------
    >>> float(np.exp(log_e_soft_rank(2.1, [0.3, -1, 0.4, 1.2, -0.6, 0, 0.9, -1.4, 0.2], 1.0)).round(10))
    4.0809195618
    """
    every = np.concatenate(([observed], np.asarray(permuted, float)))
    strength = np.asarray(strength, float)
    spread = every.std()
    if not np.isfinite(spread) or spread <= 1e-12 * max(np.abs(every).max(), 1e-300):
        return np.zeros(strength.shape)  # nothing varies: nothing can be learned
    z = (every - every.mean()) / spread
    return np.asarray(strength * z[0] - logsumexp(strength[..., None] * z, axis=-1) + np.log(z.size))


def permuted_products(strata: Sequence[tuple[FloatArray, FloatArray]], rng: np.random.Generator) -> FloatArray:
    """Return T = Σ ab of normal scores as it is, and with b permuted within strata."""
    total = np.zeros(PERMUTATIONS + 1)
    for first, second in strata:
        a, b = normal_scores(first), normal_scores(second)
        many = np.broadcast_to(b, (PERMUTATIONS, b.size))
        total[0] += a @ b
        total[1:] += rng.permuted(many, axis=1) @ a
    return total


def permuted_effects(
    effect: Callable[[FloatArray, IntArray], FloatArray],
    protected: FloatArray,
    stratum: IntArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return an effect as it is, and with the protected attribute permuted within strata.

    ``effect`` takes many versions of the protected attribute at once, a row each, and the strata.
    """
    many = np.repeat(protected[None, :], PERMUTATIONS + 1, axis=0)
    for each in np.unique(stratum):
        rows = np.flatnonzero(stratum == each)
        many[1:, rows] = rng.permuted(many[1:, rows], axis=1)
    return effect(many, stratum)


def correlation_strengths(records: float) -> FloatArray:
    """Return the strengths λ of the bets in a block that compares so many records, strata less their means.

    Examples
    --------
    >>> correlation_strengths(100.0)[:3]
    array([0.25, 0.5 , 1.  ])
    """
    return np.asarray(CORRELATION_BETS * np.sqrt(max(records, 0.0)))


def log_e_from_p(p: ArrayLike, strength: float) -> FloatArray:
    """Return the log of what a bet pays where only a p-value is to be had: a randomised exact one-sided one.

    A p-value that is merely valid, such as Fisher's without randomising, leaves the bet without power.

    Examples
    --------
    >>> float(np.exp(log_e_from_p(0.01, 1.0)).round(10))
    6.2111612425
    """
    z = -ndtri(np.asarray(p, float))
    return np.asarray(strength * z - strength**2 / 2)
