"""One root for each context, all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from fairtest.types import FloatArray, IntArray

Increasing: TypeAlias = Callable[[FloatArray, IntArray], FloatArray]
"""``function(x, rows)``: the value at ``x[i]`` of the function that belongs to context ``rows[i]``."""

Three: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]


def increasing_root(
    function: Increasing,
    low: FloatArray,
    high: FloatArray,
    *,
    first: FloatArray | None = None,
    tolerance: float = 1e-12,
) -> FloatArray:
    """Find where each context's increasing function crosses zero, between ``low`` and ``high``.

    Chandrupatla's method (1997): inverse quadratic interpolation where the last three points allow it,
    bisection elsewhere, so that it never takes much longer than bisection and usually a fifth of its steps.
    Contexts that have converged drop out of the computation.

    Parameters
    ----------
    function
        Called with the points and the numbers of the contexts they belong to.
    low, high
        Where the search starts. A function that is positive at ``low`` gives ``low``, one that is negative at
        ``high`` gives ``high``.
    first
        Where to look first; by default in the middle.
    tolerance
        The width, absolute, at which a bracket is narrow enough.

    Examples
    --------
    >>> powers = np.array([1.0, 3.0])
    >>> increasing_root(lambda x, rows: x ** powers[rows] - 8, np.zeros(2), np.full(2, 10.0)).round(9)
    array([8., 2.])
    """
    everyone = np.arange(len(low))
    at_low, at_high = function(low, everyone), function(high, everyone)
    root = np.where(at_low >= 0, low, high)
    rows = np.flatnonzero((at_low < 0) & (at_high > 0))
    new = (low + high)[rows] / 2 if first is None else np.clip(first, low, high)[rows]
    # The bracket runs from the newest point a to the opposite point b; c is the point before.
    a, fa, b, fb = high[rows], at_high[rows], low[rows], at_low[rows]
    for _ in range(200):
        if rows.size == 0:
            break
        value = function(new, rows)
        same = (value > 0) == (fa > 0)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = new, value
        root[rows] = np.where(np.abs(fa) <= np.abs(fb), a, b)
        open_ = (np.abs(b - a) > tolerance) & (fa != 0)
        rows, a, fa, b, fb, c, fc = (v[open_] for v in (rows, a, fa, b, fb, c, fc))
        step = _step((a, b, c), (fa, fb, fc))
        least = 0.5 * tolerance / np.abs(b - a)
        new = a + np.clip(step, least, 1 - least) * (b - a)
    return root


def _step(points: Three, values: Three) -> FloatArray:
    """Return the share of the way from a to b at which to look next."""
    (a, b, c), (fa, fb, fc) = points, values
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        trusted = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        inverse = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return np.where(trusted & np.isfinite(inverse), inverse, 0.5)
