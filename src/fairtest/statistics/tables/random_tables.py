"""Random tables with both margins fixed: what permuting people does to a table, without the people.

Under independence, given who belongs to which group and how many people got each output, every assignment
of outputs to people is equally likely. The table that results has a known law, and drawing from it costs
hardly more for a hundred million people than for a thousand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairtest.exceptions import InputError
from fairtest.statistics.tables.logarithms import x_log_x
from fairtest.statistics.tables.null_moments import NullMoments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairtest.types import FloatArray, IntArray

CELLS_AT_ONCE = 2**18
"""Cells drawn at once: enough to hide the cost of a call, few enough to stay near the processor's cache."""

MOST_PEOPLE = 10**9 - 1
"""The largest urn from which numpy's hypergeometric generator draws."""

MOST_COMPILED = 30_000
"""Up to so many people scipy draws the tables faster than numpy, several times where they are few."""

Counts: TypeAlias = NDArray[np.int64]


def random_tables(row_margins: IntArray, column_margins: IntArray, draws: int, rng: np.random.Generator) -> Counts:
    r"""Draw tables with the given margins as if outputs were dealt to people at random.

    A table :math:`(n_{ij})` has probability

    .. math:: \frac{\prod_i n_{i\cdot}! \prod_j n_{\cdot j}!}{n! \prod_{ij} n_{ij}!},

    the multivariate hypergeometric law, which is that of the table after one column of the rows of people
    has been permuted. Cells are drawn one after the other, each hypergeometric given those before it, whatever the
    number of people: by scipy, or, where people are very many, all draws of a cell in one call of numpy.

    Parameters
    ----------
    row_margins, column_margins
        People in each row and in each column; zeros are allowed, the sums must agree and stay below 10⁹.
    draws
        How many tables.
    rng
        The source of randomness.

    Returns
    -------
    Counts
        ``[draws, R, C]``, each table with exactly the given margins.

    References
    ----------
    W. M. Patefield, "An efficient method of generating random R × C tables with given row and column totals",
    Applied Statistics 30 (1981), 91–97. Patefield inverts the distribution function of each cell; numpy's
    rejection sampler draws the same conditional law.

    Examples
    --------
    >>> tables = random_tables(np.array([3, 5]), np.array([2, 6]), 4, np.random.default_rng(0))
    >>> tables.shape, tables.sum(axis=2)[0], tables.sum(axis=1)[0]
    ((4, 2, 2), array([3, 5]), array([2, 6]))
    """
    rows, columns = _checked_margins(row_margins, column_margins)
    tables = np.zeros((draws, rows.size, columns.size), dtype=np.int64)
    filled = np.ix_(np.arange(draws), np.flatnonzero(rows), np.flatnonzero(columns))
    tables[filled] = _without_empty_lines(rows[rows > 0], columns[columns > 0], draws, rng)
    return tables


def permuted_counts(counts: IntArray, draws: int, rng: np.random.Generator) -> Counts:
    """Permute the outputs of people within each stratum, seen through the table of counts.

    Parameters
    ----------
    counts
        ``[stratum, output, protected]``.

    Returns
    -------
    Counts
        ``[draws, stratum, output, protected]``; strata are permuted independently, so each keeps its own
        margins and what the explanatory attribute explains stays as it is.
    """
    if len(counts) == 1:
        return random_tables(counts[0].sum(axis=1), counts[0].sum(axis=0), draws, rng)[:, None]
    return _dealt(counts.sum(axis=2), counts.sum(axis=1), draws, rng)


def g_null_moments(counts: IntArray, draws: int, rng: np.random.Generator) -> NullMoments:
    """Return the moments of G in each stratum when outputs are permuted within it.

    G = 2n·MI (natural logarithms) follows a χ² with (r − 1)(c − 1) degrees of freedom only in large strata.
    In small ones its mean and variance are others (the mean is mostly larger), and a sum over many small
    strata adds the errors up: referred to the sum of the degrees of freedom, a nominal 5 % test rejects up
    to 57 % of the time. Matching the permutation moments repairs that.

    Parameters
    ----------
    counts
        ``[stratum, output, protected]``.
    draws
        Random tables for each stratum, at least 2. The mean has a relative error of about
        √(2 / (draws · df)).

    Returns
    -------
    NullMoments
        One value for each stratum; all 0 where only one table has these margins (a group or an output is
        absent).

    Examples
    --------
    >>> table = np.array([[[300, 200], [100, 150], [50, 90]]])
    >>> mean, variance, _ = g_null_moments(table, 20_000, np.random.default_rng(1))
    >>> bool(abs(mean[0] - 2) < 0.1), bool(abs(variance[0] - 4) < 0.3)
    (True, True)
    """
    if draws < 2:
        raise InputError(f"The 'draws' parameter must be an int ≥ 2: one draw has no variance. Got {draws}.")
    counts = np.asarray(counts)
    moments = np.zeros((3, len(counts)))
    log_term = x_log_x(int(counts.sum(axis=(1, 2)).max(initial=0)))
    start = 0
    for width in chunks(len(counts), draws * counts[0].size if len(counts) else 1):
        block = slice(start, start + width)
        moments[:, block] = _g_moments(counts[block], draws, rng, log_term)
        start += width
    return NullMoments(*moments)


def chunks(total: int, cells: int) -> Iterator[int]:
    """Split ``total`` draws of ``cells`` cells each into parts whose memory is bounded.

    Examples
    --------
    >>> list(chunks(1000, 2**10))
    [256, 256, 256, 232]
    """
    width = max(1, CELLS_AT_ONCE // max(1, cells))
    for start in range(0, total, width):
        yield min(width, total - start)


def _checked_margins(row_margins: IntArray, column_margins: IntArray) -> tuple[Counts, Counts]:
    rows = np.asarray(row_margins, dtype=np.int64)
    columns = np.asarray(column_margins, dtype=np.int64)
    if rows.min(initial=0) < 0 or columns.min(initial=0) < 0:
        raise InputError("Margins must be counts ≥ 0. Got a negative one.")
    if not np.array_equal(rows.sum(axis=-1), columns.sum(axis=-1)):
        raise InputError("Row and column margins must add up to the same number of people. They do not.")
    if rows.sum(axis=-1).max(initial=0) > MOST_PEOPLE:
        raise InputError(f"A table may hold at most {MOST_PEOPLE:,} people to be drawn at random.")
    return rows, columns


def _without_empty_lines(rows: Counts, columns: Counts, draws: int, rng: np.random.Generator) -> Counts:
    if min(rows.size, columns.size) < 2:  # one table has these margins
        return np.broadcast_to(rows[:, None] if columns.size == 1 else columns, (draws, rows.size, columns.size))
    if columns.size == 2:
        return _two_columns(rows, columns, draws, rng)
    if rows.size == 2:
        return _two_columns(columns, rows, draws, rng).swapaxes(1, 2)
    if rows.sum() > MOST_COMPILED:
        return _dealt(rows[None], columns[None], draws, rng)[:, 0]
    from scipy.stats import random_table  # slow to import

    tables: Counts = random_table.rvs(rows, columns, size=draws, method="patefield", random_state=rng)
    return tables


def _two_columns(rows: Counts, columns: Counts, draws: int, rng: np.random.Generator) -> Counts:
    """Draw R × 2 tables: one compiled call gives the first column, the second is what is left."""
    first = rng.multivariate_hypergeometric(rows, int(columns[0]), size=draws, method="marginals")
    return np.stack((first, rows - first), axis=-1)


def _dealt(row_margins: IntArray, column_margins: IntArray, draws: int, rng: np.random.Generator) -> Counts:
    """Draw tables ``[draws, stratum, R, C]`` cell by cell, all draws and strata of a cell in one call."""
    rows, columns = _checked_margins(row_margins, column_margins)
    (strata, height), width = rows.shape, columns.shape[1]
    tables = np.empty((draws, strata, height, width), dtype=np.int64)
    left = np.broadcast_to(columns, (draws, strata, width)).copy()  # of each column, for the rows still to fill
    for i in range(height - 1):
        wanted = np.broadcast_to(rows[:, i], (draws, strata)).copy()
        others = left.sum(axis=2)
        for j in range(width - 1):
            others -= left[..., j]
            cell = rng.hypergeometric(left[..., j], others, wanted)
            tables[..., i, j] = cell
            wanted -= cell
        tables[..., i, -1] = wanted
        left -= tables[..., i, :]
    tables[..., -1, :] = left
    return tables


def _g_moments(
    counts: IntArray, draws: int, rng: np.random.Generator, log_term: Callable[[IntArray], FloatArray]
) -> FloatArray:
    rows, columns = counts.sum(axis=2), counts.sum(axis=1)
    fixed = log_term(rows).sum(axis=1) + log_term(columns).sum(axis=1) - log_term(rows.sum(axis=1))
    g = 2 * (log_term(permuted_counts(counts, draws, rng)).sum(axis=(2, 3)) - fixed)
    free = ((rows > 0).sum(axis=1) > 1) & ((columns > 0).sum(axis=1) > 1)
    third = ((g - g.mean(axis=0)) ** 3).mean(axis=0)
    return np.where(free, np.stack((g.mean(axis=0), g.var(axis=0, ddof=1), third)), 0.0)
