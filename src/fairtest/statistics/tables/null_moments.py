"""How the G statistic of a two-by-two table varies when the outputs are shuffled among the people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray, IntArray

_BLOCK = 1_000_000
_REACH = 12.0


class NullMoments(NamedTuple):
    """How G varies without association: its mean, its variance and its third central moment."""

    mean: FloatArray
    variance: FloatArray
    third: FloatArray


def g_null_moments_2x2(counts: IntArray) -> NullMoments:
    """Return the moments of G over all tables with the margins of ``counts``.

    With both margins fixed, one cell has a hypergeometric distribution, and G is summed over its support.
    At most about 350 points are needed for any table: where all expected counts are above 144 (so that the
    ends of the support are more than 12 standard deviations away) every (sd/3)-th point gives the same sum
    to twelve digits, because equidistant sums of a smooth bell converge faster than any power of their
    step.

    Parameters
    ----------
    counts
        Tables in the last two axes, both of length 2.

    Returns
    -------
    NullMoments
        In the shape of the leading axes; NaN where a group or an output is absent.

    Examples
    --------
    Large tables have the moments of χ² with one degree of freedom, small ones do not.

    >>> mean, variance, third = g_null_moments_2x2([[[3, 1], [1, 3]], [[4000, 6000], [5000, 5000]]])
    >>> print(mean.round(3), variance.round(3), third.round(2))
    [1.274 1.   ] [3.895 2.   ] [26.22  8.  ]
    """
    tables = np.asarray(counts, dtype=np.float64)
    flat = tables.reshape(-1, 2, 2)
    row, column, people = flat[:, 0].sum(axis=1), flat[:, :, 0].sum(axis=1), flat.sum(axis=(1, 2))
    moments = np.full((3, len(flat)), np.nan)
    proper = (row > 0) & (row < people) & (column > 0) & (column < people)
    # Many strata share their margins: each triple is summed once.
    margins, inverse = np.unique(np.stack([row, column, people], axis=1)[proper], axis=0, return_inverse=True)
    moments[:, proper] = _moments_of_margins(margins)[:, inverse.reshape(-1)]
    return NullMoments(*moments.reshape(3, *tables.shape[:-2]))


def _moments_of_margins(margins: FloatArray) -> FloatArray:
    """Return the three moments, [3, tables], in blocks of tables that fit in memory."""
    first, step, points = _support(margins)
    result = np.empty((3, len(margins)))
    order = np.argsort(points)
    cuts = np.flatnonzero(np.diff(np.cumsum(points[order]) // _BLOCK)) + 1
    for block in np.split(order, cuts):
        if block.size:
            index = np.arange(points[block].max())
            cell = first[block, None] + step[block, None] * index
            result[:, block] = _weighted_moments(cell, index < points[block, None], margins[block])
    return result


def _support(margins: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the first point, the step and the number of points over which to sum."""
    row, column, people = margins.T
    centre = row * column / people
    deviation = np.sqrt(centre * (people - row) * (people - column) / (people * np.maximum(people - 1, 1)))
    smallest = np.minimum(row, people - row) * np.minimum(column, people - column) / people
    smooth = smallest > _REACH**2
    step = np.where(smooth, np.maximum(np.floor(deviation / 3), 1.0), 1.0)
    reach = _REACH * deviation + np.where(smooth, 0.0, 30.0)
    low = np.maximum(np.ceil(centre - reach), np.maximum(0.0, row + column - people))
    high = np.minimum(np.floor(centre + reach), np.minimum(row, column))
    return low, step, (np.floor((high - low) / step) + 1).astype(np.int64)


def _weighted_moments(cell: FloatArray, inside: BoolArray, margins: FloatArray) -> FloatArray:
    """Return the moments of G over the given values of the first cell."""
    row, column, people = (v[:, None] for v in margins.T)
    cell = np.where(inside, cell, np.maximum(0.0, row + column - people))
    g, log_weight = np.zeros_like(cell), np.zeros_like(cell)
    for value, expected in (
        (cell, row * column / people),
        (row - cell, row * (people - column) / people),
        (column - cell, (people - row) * column / people),
        (people - row - column + cell, (people - row) * (people - column) / people),
    ):
        g += 2 * special.xlogy(value, value / expected)
        log_weight -= special.gammaln(value + 1)
    log_weight = np.where(inside, log_weight, -np.inf)
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    mean = (weight * g).sum(axis=1)
    aside = g - mean[:, None]
    squares = weight * aside**2
    return np.stack([mean, squares.sum(axis=1), (squares * aside).sum(axis=1)])
