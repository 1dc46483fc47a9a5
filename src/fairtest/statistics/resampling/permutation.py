"""Permutation tests: how often does chance alone look as extreme as what was observed.

Each sampler holds one hypothesis and counts hits, draws whose statistic is at least as large as the
observed one; ``monte_carlo`` turns hits into p-values. Two conventions hold for all:

- A draw within a relative 10⁻⁹ of the observed statistic is a tie, and ties are hits: two orders of summation
  must not decide a test.
- A draw whose statistic is undefined (NaN) is a hit, and if the observed one is undefined all draws are.
  Both can only raise the p-value.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairtest.exceptions import InputError
from fairtest.statistics.tables.exact_tables import exact_p
from fairtest.statistics.tables.logarithms import x_log_x
from fairtest.statistics.tables.random_tables import chunks, permuted_counts, random_tables

if TYPE_CHECKING:
    from fairtest.types import FloatArray, IntArray

TIE = 1e-9
_ROUNDING = 1e-12

Column: TypeAlias = NDArray[Any]
TableStatistic: TypeAlias = Callable[["IntArray"], "FloatArray"]
RowStatistic: TypeAlias = Callable[[Column, Column, "IntArray"], float]


class TableSampler:
    """Permutation test of any statistic of counts, within strata.

    Parameters
    ----------
    counts
        ``[stratum, output, protected]``.
    statistic
        Maps ``[..., stratum, output, protected]`` to ``[...]``; larger is more extreme (for a signed
        effect, its absolute value).
    observed
        The statistic of ``counts``, if it is already known.

    Examples
    --------
    Of 20 people, 9 of 10 in one group and 3 of 10 in the other were accepted. Fisher's exact p-value is
    0.0198.

    >>> def difference(counts):
    ...     rate = counts[..., 0, 0, :] / counts[..., 0, :, :].sum(axis=-2)
    ...     return abs(rate[..., 0] - rate[..., 1])
    >>> sampler = TableSampler(np.array([[[9, 3], [1, 7]]]), difference)
    >>> hits = sampler.draw(100_000, np.random.default_rng(0))
    >>> round(hits / 100_000, 2)
    0.02
    """

    def __init__(self, counts: IntArray, statistic: TableStatistic, observed: float | None = None) -> None:
        self.counts = np.asarray(counts)
        self.statistic = statistic
        self.observed = float(evaluate(statistic, self.counts)) if observed is None else observed

    def draw(self, count: int, rng: np.random.Generator) -> int:
        """Return the hits among ``count`` tables with the margins of each stratum."""
        threshold = _threshold(self.observed)
        return sum(
            _hits(evaluate(self.statistic, permuted_counts(self.counts, part, rng)), threshold)
            for part in chunks(count, self.counts.size)
        )


class GSampler:
    """Permutation test of mutual information in one table.

    With both margins fixed, MI, NMI and G all rise with Σ n·log n over the cells, so that is all a draw
    computes: a look-up for each cell of a small table.

    Parameters
    ----------
    table
        ``[output, protected]``.

    Examples
    --------
    >>> sampler = GSampler(np.array([[9, 3], [1, 7]]))
    >>> round(sampler.draw(100_000, np.random.default_rng(0)) / 100_000, 2)
    0.02
    """

    def __init__(self, table: IntArray) -> None:
        table = np.asarray(table)
        table = table[table.any(axis=1)][:, table.any(axis=0)]
        self._table = table
        self.rows, self.columns = table.sum(axis=1), table.sum(axis=0)
        self.cost = table.size / 4 if min(table.shape) <= 2 else (table.shape[0] - 1) * (table.shape[1] - 1) / 2
        self._log_term = x_log_x(int(table.sum()))
        observed = float(self._log_term(table).sum())
        self._threshold = observed - _ROUNDING * abs(observed)

    def draw(self, count: int, rng: np.random.Generator) -> int:
        """Return the hits among ``count`` tables with the observed margins."""
        if min(self.rows.size, self.columns.size) < 2:
            return count  # one table has these margins
        return sum(
            _hits(self._strength(random_tables(self.rows, self.columns, part, rng)), self._threshold)
            for part in chunks(count, self.rows.size * self.columns.size)
        )

    def exact(self) -> float | None:
        """Return the p-value that draws would approach, where it can be had for less work."""
        return exact_p(self._table)

    def _strength(self, tables: IntArray) -> FloatArray:
        strength: FloatArray = self._log_term(tables).sum(axis=(1, 2))
        return strength


class CorrelationSampler:
    r"""Studentised permutation test of correlation, within strata.

    The statistic is :math:`T = |Σ x y| / \sqrt{Σ x² y²}`, of columns centred within strata, and only y is
    permuted, within strata. A permutation makes x and y independent, which is more than uncorrelated; plain
    permutation of r therefore rejects far too often when the spread of y depends on x (level 0.11 to 0.21
    instead of 0.05). Dividing by an estimate of the standard deviation that is right without independence
    repairs this, and stays exact under independence.

    Parameters
    ----------
    s, o
        Numbers of each person, finite.
    stratum
        Code of the stratum of each person; None for one stratum.

    Notes
    -----
    A draw costs time in proportion to the people: meant for up to about 1,000 of them. Not solved by any
    method known: a rare binary group with the larger spread (level up to 0.17 with 50 people).

    The denominator grows with the correlation, so T is bounded, for normal columns by √(n/3): a perfect
    correlation of 20 people has p ≈ 3 · 10⁻⁴, of 50 people 5 · 10⁻⁵, however many draws. A large family
    cannot reject in such small contexts.

    References
    ----------
    C. J. DiCiccio and J. P. Romano, "Robust permutation tests for correlation and regression coefficients",
    JASA 112 (2017), 1211–1220.
    """

    def __init__(self, s: Column, o: Column, stratum: IntArray | None = None) -> None:
        s, o = np.asarray(s, dtype=np.float64), np.asarray(o, dtype=np.float64)
        if not (np.isfinite(s).all() and np.isfinite(o).all()):
            raise InputError("A permutation test of correlation needs finite numbers. Got NaN or infinity.")
        order, self._strata = strata_order(stratum, s.size)
        self.x = _centre_strata(s[order], self._strata)
        self.y = _centre_strata(o[order], self._strata)
        self._x_squared = self.x**2
        self.observed = float(self._strength(self.y[None])[0])
        self.cost = max(1.0, self.x.size / 10)

    def draw(self, count: int, rng: np.random.Generator) -> int:
        """Return the hits among ``count`` permutations of y within strata."""
        threshold = _threshold(self.observed) - _ROUNDING
        return sum(_hits(self._strength(self._shuffle(part, rng)), threshold) for part in chunks(count, self.x.size))

    def _shuffle(self, draws: int, rng: np.random.Generator) -> FloatArray:
        if len(self._strata) == 1:
            return rng.permuted(np.broadcast_to(self.y, (draws, self.y.size)), axis=1)
        result = np.zeros((draws, self.y.size))
        for part in self._strata:
            size = part.stop - part.start
            if size > 1:
                result[:, part] = rng.permuted(np.broadcast_to(self.y[part], (draws, size)), axis=1)
        return result

    def _strength(self, y: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return np.abs(y @ self.x) / np.sqrt((y * y) @ self._x_squared)


class RowSampler:
    """Permutation test of a user's own statistic of people, within strata.

    Parameters
    ----------
    s, o
        Columns of any type, one value for each person.
    stratum
        Code of the stratum of each person; None for one stratum.
    statistic
        Maps ``(s, o, stratum)`` to a number; larger is more extreme. Only s is permuted.
    observed
        The statistic of the columns as they are, if it is already known.

    Notes
    -----
    One call of ``statistic`` for each draw: as slow as that is.
    """

    def __init__(
        self,
        s: Column,
        o: Column,
        stratum: IntArray | None,
        statistic: RowStatistic,
        observed: float | None = None,
    ) -> None:
        self.s, self.o = np.asarray(s), np.asarray(o)
        self.stratum = np.zeros(len(self.s), dtype=np.int64) if stratum is None else np.asarray(stratum)
        self.statistic = statistic
        self._order, self._strata = strata_order(self.stratum, len(self.s))
        self.observed = self._strength(self.s) if observed is None else observed

    def draw(self, count: int, rng: np.random.Generator) -> int:
        """Return the hits among ``count`` permutations of s within strata."""
        threshold = _threshold(self.observed)
        return sum(not self._strength(self._shuffle(rng)) < threshold for _ in range(count))

    def _shuffle(self, rng: np.random.Generator) -> Column:
        """Return s with the people of each stratum in random order, each stratum in its own places."""
        dealt = rng.permutation(len(self.s))
        if len(self._strata) > 1:
            dealt = dealt[np.argsort(self.stratum[dealt], kind="stable")]
        shuffled = np.empty_like(self.s)
        shuffled[self._order] = self.s[dealt]
        return shuffled

    def _strength(self, s: Column) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(self.statistic(s, self.o, self.stratum))


def evaluate(statistic: TableStatistic, counts: IntArray) -> FloatArray:
    """Apply a statistic to tables ``[..., stratum, output, protected]``; undefined is NaN, not a warning."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.asarray(statistic(counts), dtype=np.float64)
    if values.shape != counts.shape[:-3]:
        raise InputError(
            "A statistic of counts must reduce the last three axes (stratum, output, protected) and keep "
            f"the others: {counts.shape} must become {counts.shape[:-3]}. Got {values.shape} instead."
        )
    return values


def strata_order(stratum: IntArray | None, size: int) -> tuple[IntArray, list[slice]]:
    """Return an order of people that keeps strata together, and where each stratum lies in it.

    Examples
    --------
    >>> strata_order(np.array([7, 3, 7]), 3)
    (array([1, 0, 2]), [slice(0, 1, None), slice(1, 3, None)])
    """
    if stratum is None:
        return np.arange(size), [slice(0, size)]
    order = np.argsort(stratum, kind="stable")
    ordered = np.asarray(stratum)[order]
    bounds = [0, *(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist(), size]
    return order, [slice(a, b) for a, b in pairwise(bounds)]


def _centre_strata(column: FloatArray, strata: list[slice]) -> FloatArray:
    """Subtract the mean of each stratum; a column constant in a stratum becomes exactly 0 there."""
    result = np.empty_like(column)
    for part in strata:
        values = column[part]
        result[part] = values - (values[0] if values.size and np.ptp(values) == 0 else values.mean())
    return result


def _threshold(observed: float) -> float:
    return observed - TIE * abs(observed) if np.isfinite(observed) else observed


def _hits(values: FloatArray, threshold: float) -> int:
    return int(np.count_nonzero(~(values < threshold)))
