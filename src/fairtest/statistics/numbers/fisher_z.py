"""Test and interval of a correlation on Fisher's scale, z = atanh r, with a given standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.statistics.numerics.rules import Alpha, Bounds, clip_p, per_context

if TYPE_CHECKING:
    from fairtest.types import FloatArray


def t_quantile(alpha: Alpha, df: FloatArray) -> FloatArray:
    """Return the t that a Student variable exceeds in absolute value with probability ``alpha``.

    Through the inverse incomplete beta function, which keeps its digits at the levels of simultaneous
    intervals.

    Examples
    --------
    >>> t_quantile(0.05, np.array([1.0, 10.0, 1e6])).round(4)
    array([12.7062,  2.2281,  1.96  ])
    """
    share, rest = special.betainccinv(0.5, df / 2, alpha), special.betaincinv(df / 2, 0.5, alpha)
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(np.sqrt(df * share / rest), dtype=np.float64)


def fisher_z_p(r: FloatArray, se: FloatArray, df: FloatArray) -> FloatArray:
    """Return the two-sided p-value of "no correlation": Student's t of atanh r / se.

    A correlation of exactly ±1 has the smallest p-value there is. NaN where ``r`` or ``se`` is.

    Examples
    --------
    >>> fisher_z_p(np.array([0.5, 1.0]), np.array([0.1, 0.1]), np.array([100.0, 100.0])).round(6)
    array([0., 0.])
    """
    with np.errstate(divide="ignore"):
        t = np.abs(np.arctanh(r)) / se
    return clip_p(np.asarray(2 * special.stdtr(df, -t), dtype=np.float64))


def fisher_z_interval(r: FloatArray, se: FloatArray, df: FloatArray, alpha: Alpha) -> Bounds:
    """Return tanh(atanh r ± t·se), the interval at confidence 1 − ``alpha``; (r, r) where r is ±1.

    Examples
    --------
    >>> r, se, df = np.array([0.5, -1.0]), np.array([0.1, 0.1]), np.array([100.0, 100.0])
    >>> low, high = fisher_z_interval(r, se, df, 0.05)
    >>> print(low.round(3), high.round(3))
    [ 0.337 -1.   ] [ 0.634 -1.   ]
    """
    with np.errstate(divide="ignore"):
        z = np.arctanh(r)
    reach = t_quantile(per_context(alpha, len(r)), df) * se
    return np.tanh(z - reach), np.tanh(z + reach)
