"""How G varies in a sparse table of any shape when the outputs are shuffled among the people, without draws.

With many cells of which few people are expected in each, G is not χ²: a cell that expects one or two people adds up to
a fifth more to its mean than the degrees of freedom say, one that expects a tenth of a person much less. In a table of
50 × 50 and 7,000 people that alone is four standard deviations.

References
----------
D. A. Williams (1976), Improved likelihood ratio tests for complete contingency tables. Biometrika 63, 33–37.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray, IntArray

LARGE = 100
"""From so many degrees of freedom on, a bias that no single cell shows adds up."""
_BIAS = 0.05
"""The bias of G that does not matter, in standard deviations."""
_LARGEST_LIFT = 1.2
"""A cell adds at most this to the mean of G, where between one and two people are expected."""
_REACH = 9.0
"""Counts are summed up to so many standard deviations from what is expected …"""
_EXTRA = 25.0
"""… and so many people more, for the long tails of rare cells."""
_MANY = 100.0
"""Cells in which more people are expected have moments in closed form."""


def is_biased(counts: IntArray) -> BoolArray:
    """Whether each table is so large and so sparse that G must not be compared with χ².

    Examples
    --------
    >>> is_biased(np.stack([np.full((20, 20), 10), np.full((20, 20), 1000)]))
    array([ True, False])
    """
    bias, df = _williams(counts)
    return np.asarray((df >= LARGE) & (bias > _BIAS * np.sqrt(2 * df)))


def lift_of_g(counts: IntArray) -> FloatArray:
    """Return about by how much the mean of G, added over strata, exceeds its degrees of freedom in large tables.

    At once for many contexts ``[..., stratum, output, protected]``, for searching; 1 for small tables.

    Examples
    --------
    >>> lift_of_g(np.full((2, 1, 20, 20), 3)).round(3), lift_of_g(np.full((2, 1, 4, 4), 3))
    (array([1.061, 1.061]), array([1., 1.]))
    """
    if (counts.shape[-1] - 1) * (counts.shape[-2] - 1) < LARGE:
        return np.ones(counts.shape[:-3])
    bias, df = _williams(counts)
    most = (_LARGEST_LIFT - 1) * df
    added = np.where(df >= LARGE, np.minimum(bias, most), 0.0).sum(axis=-1)
    return np.asarray(1 + added / np.maximum(df.sum(axis=-1), 1.0))


def _williams(counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return Williams' bias of G and its degrees of freedom for each table in the last two axes."""
    tables = np.asarray(counts)
    people = np.maximum(tables.sum(axis=(-2, -1)), 1.0)
    product, df = np.ones_like(people), np.ones_like(people)
    for axis in (-2, -1):
        margin = tables.sum(axis=axis)
        product *= people * np.where(margin > 0, 1 / np.maximum(margin, 1), 0.0).sum(axis=-1) - 1
        df *= np.maximum((margin > 0).sum(axis=-1) - 1, 0)
    return product / (6 * people), df


def matched_p(g: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the tail of the scaled χ² that has this mean and variance.

    Examples
    --------
    >>> matched_p(np.array([7.0]), np.array([2.0]), np.array([4.0])).round(4)
    array([0.0302])
    """
    return np.asarray(special.chdtrc(2 * mean**2 / variance, 2 * mean * g / variance))


def g_moments_of_margins(table: IntArray) -> tuple[float, float]:
    r"""Return the mean and about the variance of G over all tables with these margins.

    A single cell is hypergeometric given the margins, and the mean of a sum needs no more: it is exact. The variance is
    that of independent Poisson cells given their margins, to first order,

    .. math:: \sum_{ij} \mathrm{Var}(g_{ij}) - \sum_i \frac{(\sum_j c_{ij})^2}{n_i}
              - \sum_j \frac{(\sum_i c_{ij})^2}{n_j} + \frac{(\sum_{ij} c_{ij})^2}{n}

    with g the terms of G and c their covariance with the cells, times (rows − 1)(columns − 1) over the number of cells,
    which makes it right for large counts.

    Parameters
    ----------
    table
        ``[output, protected]``, without empty rows and columns, at least two of each.

    References
    ----------
    C. Morris (1975), Central limit theorems for multinomial sums. Annals of Statistics 3, 165–188.

    K. Koehler (1986), Goodness-of-fit tests for log-linear models in sparse contingency tables. JASA 81, 483–493.

    Examples
    --------
    >>> mean, variance = g_moments_of_margins(np.full((50, 50), 3))
    >>> round(mean / 49**2, 3), round(variance / (2 * 49**2), 3)
    (1.097, 1.201)
    """
    rows, columns = table.sum(axis=1).astype(float), table.sum(axis=0).astype(float)
    people = float(rows.sum())
    # Cells with the same margins are alike: each pair of margins is summed once.
    (row, row_times), (column, column_times) = (np.unique(m, return_counts=True) for m in (rows, columns))
    times = np.multiply.outer(row_times, column_times).astype(float)
    mean, variance, covariance = _cells(row[:, None], column, people)
    by_row, by_column = (covariance * column_times).sum(axis=1), (covariance.T * row_times).sum(axis=1)
    explained = (row_times * by_row**2 / row).sum() + (column_times * by_column**2 / column).sum()
    explained -= float((times * covariance).sum()) ** 2 / people
    free = (rows.size - 1) * (columns.size - 1) / table.size
    return float((times * mean).sum()), float((times * variance).sum() - explained) * free


def _cells(row: FloatArray, column: FloatArray, people: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of each cell's term of G, and as of a Poisson cell its variance and covariance with the cell."""
    row, column = np.broadcast_arrays(row, column)
    expected = row * column / people
    mean, variance, covariance = _full_cells(row, column, people)
    few = expected <= _MANY
    if few.any():
        mean[few], variance[few], covariance[few] = _rare_cells(row[few], column[few], people)
    return mean, variance, covariance


def _full_cells(row: FloatArray, column: FloatArray, people: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the same from the first terms of the series of g about what is expected."""
    expected = row * column / people
    spread = expected * (1 - row / people) * (1 - column / people) * people / (people - 1)
    third = spread * (1 - 2 * row / people) * (1 - 2 * column / people)
    mean = spread / expected - third / (3 * expected**2) + spread**2 / (2 * expected**3)
    return mean, 4 * expected + 2, 2 * expected


def _rare_cells(row: FloatArray, column: FloatArray, people: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the same by summing over all counts that are at all likely."""
    expected = row * column / people
    reach = _REACH * np.sqrt(expected) + _EXTRA
    low = np.maximum(np.floor(expected - reach), 0.0)
    count = low[:, None] + np.arange(int(np.ceil((expected + reach - low).max())) + 1, dtype=np.float64)
    centre = expected[:, None]
    g = 2 * special.xlogy(count, count / centre)
    poisson = np.exp(special.xlogy(count, centre) - centre - special.gammaln(count + 1))
    aside = g - (poisson * g).sum(axis=1, keepdims=True)
    variance, covariance = (poisson * aside**2).sum(axis=1), (poisson * aside * (count - centre)).sum(axis=1)
    return (_hypergeometric(count, row[:, None], column[:, None], people) * g).sum(axis=1), variance, covariance


def _hypergeometric(count: FloatArray, row: FloatArray, column: FloatArray, people: float) -> FloatArray:
    """Return the probability of each count of a cell given its margins, 0 where it cannot be."""
    others = people - row - column + count
    possible = (count <= np.minimum(row, column)) & (others >= 0)
    log_ways = np.zeros_like(count)
    for part in (count, row - count, column - count, others):
        log_ways -= special.gammaln(np.where(possible, part, 0.0) + 1)
    for margin in (row, people - row, column, people - column):
        log_ways = log_ways + special.gammaln(margin + 1)
    return np.exp(np.where(possible, log_ways - special.gammaln(people + 1), -np.inf))
