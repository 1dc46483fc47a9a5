"""The upper tail of a standardised statistic whose skewness is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from fairtest.types import FloatArray

_NEARLY_NORMAL = 1e-4
_SMALLEST = 1e-6


def skewed_tail(z: FloatArray, skewness: FloatArray) -> FloatArray:
    r"""Return the probability that a statistic with this skewness exceeds z standard deviations.

    The larger of the normal tail and of the Pearson type III tail (a shifted gamma distribution),

    .. math:: T = \max\{\Phi(-z),\; P_3(z, \gamma)\}, \qquad
              P_3 = Q(k, k + 2z/\gamma) \text{ if } \gamma > 0,
              \quad P(k, k + 2z/\gamma) \text{ if } \gamma < 0,

    with k = 4/γ² and Q, P the regularised incomplete gamma functions. The short side of a Pearson III has an
    end beyond which its tail is exactly 0: without the maximum, ordinary tables of a rare group would get
    p ≈ 0.

    Examples
    --------
    A rare event seen twice as often as expected is less surprising than the normal tail says.

    >>> skewed_tail(np.array([3.0, 3.0, 3.0]), np.array([-1.0, 0.0, 1.0])).round(4)
    array([0.0013, 0.0014, 0.0103])
    """
    normal: FloatArray = special.ndtr(-z)
    return np.maximum(normal, pearson3_tail(z, skewness))


def skewed_deviate(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the normal deviate y with Φ(y) equal to the tail: nearly linear, so its roots are found fast."""
    skewed: FloatArray = special.ndtri(pearson3_tail(z, skewness))
    return np.maximum(-z, skewed)


def pearson3_tail(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the tail of the Pearson type III distribution alone; on its short side it may be exactly 0."""
    gamma = _away_from_zero(skewness)
    shape = 4 / (gamma * gamma)
    place = np.maximum(shape + 2 * z / gamma, 0.0)
    tail = np.empty_like(place)
    right = gamma > 0
    tail[right] = special.gammaincc(shape[right], place[right])
    tail[~right] = special.gammainc(shape[~right], place[~right])
    return tail


def _away_from_zero(skewness: FloatArray) -> FloatArray:
    """Take 1e-4 for a skewness in [0, 1e-4], where the gamma functions would lose digits.

    Just below 0 the value rises from −1e-4 to 1e-4 without a jump, so that the tail stays continuous.
    """
    raised = _NEARLY_NORMAL + 2 * np.minimum(skewness, 0.0)
    raised = np.copysign(np.maximum(np.abs(raised), _SMALLEST), raised)
    return np.where(np.abs(skewness) < _NEARLY_NORMAL, raised, skewness)
