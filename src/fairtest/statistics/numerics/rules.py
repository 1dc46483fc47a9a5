"""Small rules that every p-value and interval obeys."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy import special

from fairtest.types import BoolArray, FloatArray

P_FLOOR = 1e-300
"""No p-value is smaller: zero would be a claim that no data can support."""

Alpha: TypeAlias = float | FloatArray
"""The level of an interval, one for all contexts or one for each."""

Bounds: TypeAlias = tuple[FloatArray, FloatArray]
"""The lower and the upper bounds, one pair for each context."""


def clip_p(p: FloatArray) -> FloatArray:
    """Keep p-values within [1e-300, 1]; NaN stays NaN."""
    return np.clip(p, P_FLOOR, 1.0)


def per_context(alpha: Alpha, size: int) -> FloatArray:
    """Return one level for each of ``size`` contexts."""
    return np.broadcast_to(np.asarray(alpha, dtype=np.float64), (size,))


def normal_quantile(alpha: Alpha) -> FloatArray:
    """Return the z that a standard normal exceeds in absolute value with probability ``alpha``.

    Examples
    --------
    >>> float(normal_quantile(0.05).round(4))
    1.96
    """
    return np.asarray(-special.ndtri(np.asarray(alpha, dtype=np.float64) / 2), dtype=np.float64)


def scatter(values: FloatArray, where: BoolArray) -> FloatArray:
    """Put ``values`` where ``where`` is true, and NaN (undefined) elsewhere.

    Examples
    --------
    >>> scatter(np.array([1.0, 2.0]), np.array([True, False, True]))
    array([ 1., nan,  2.])
    """
    result = np.full(where.shape, np.nan)
    result[where] = values
    return result


def widen_to_zero(low: FloatArray, high: FloatArray, p: FloatArray, alpha: Alpha) -> Bounds:
    """Move the bound nearest 0 to 0 where the test at level ``alpha`` does not reject.

    A p-value and an interval that come from two statistics can contradict each other. Where p > α, an
    interval that lies on one side of 0 is stretched until it touches 0. This only widens, so it keeps the
    coverage. It serves signed effects as well as those that are never negative.

    Examples
    --------
    >>> low, high = np.array([0.1, -0.4, 0.1]), np.array([0.3, -0.2, 0.3])
    >>> widen_to_zero(low, high, np.array([0.2, 0.2, 0.01]), 0.05)
    (array([ 0. , -0.4,  0.1]), array([0.3, 0. , 0.3]))
    """
    doubtful = p > alpha
    return np.where(doubtful & (low > 0), 0.0, low), np.where(doubtful & (high < 0), 0.0, high)
