"""What rows with survey weights are worth, from tables: each row is one person, so that cells know all there is.

The same as :mod:`fairtest.statistics.design` gives row by row, for all contexts at once. Cells have the number of rows
and the sums of their weights, of the squares of these and of their fourth powers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray

MOST_PAIRS = 1 << 22
"""About how many pairs of cells are looked at together."""
MOST_CELLS = 64
"""Larger tables have too many pairs of cells."""


@dataclass(frozen=True, eq=False)
class WeightTables:
    """Sums of powers of weights by context, stratum, output and group: ``[context, stratum, output, group]``."""

    rows: FloatArray
    first: FloatArray
    second: FloatArray
    fourth: FloatArray

    @classmethod
    def of(cls, sums: FloatArray, largest: float) -> WeightTables:
        """Return tables of the sums ``[..., power]`` that an engine counts, where weights are parts of the largest."""
        return cls(sums[..., 1], sums[..., 0], sums[..., 2] * largest**2, sums[..., 3] * largest**4)

    def by_stratum(self) -> WeightTables:
        """Return contexts × strata as contexts of one stratum, row by row."""
        return WeightTables(*(v.reshape(-1, 1, *v.shape[2:]) for v in vars(self).values()))

    def take(self, at: slice) -> WeightTables:
        """Return some of the contexts."""
        return WeightTables(*(v[at] for v in vars(self).values()))

    @property
    def people(self) -> FloatArray:
        """How many rows, and so people, each context has."""
        return np.asarray(self.rows.sum(axis=(1, 2, 3)))

    @property
    def kish(self) -> FloatArray:
        """As how many people of equal weight they count together."""
        return _divide(self.first.sum(axis=(1, 2, 3)) ** 2, self.second.sum(axis=(1, 2, 3)))


@dataclass(frozen=True, eq=False)
class EffectiveTables:
    """What the rows of each context are worth: see :class:`fairtest.statistics.design.Effective`."""

    size: FloatArray
    df: FloatArray
    p: FloatArray


def compare_two_groups_in_tables(tables: WeightTables) -> EffectiveTables:
    """Return what rows are worth for the gap between two groups' rates, averaged over strata by size."""
    mass = tables.first.sum(axis=2)
    whole = mass.sum(axis=-1)
    defined = (mass > 0).all(axis=-1)
    share = np.where(defined, _divide(mass[..., 1], whole), 0.5)[..., None]
    side = (np.arange(2) - share) / (share * (1 - share)) * defined[..., None]
    output = np.arange(2)[:, None]
    everybody = _divide(tables.first[..., 1, :].sum(axis=-1), whole)[..., None, None]
    own = _divide(tables.first[..., 1, :], mass)[..., None, :]
    null = side[..., None, :] * (output - everybody)
    around = side[..., None, :] * (output - own)
    heaviest = np.sqrt(_divide(tables.fourth, tables.second))  # no less than the mean weight, weighted by its square
    left = 1 - np.minimum(_divide(heaviest, mass[..., None, :]), 0.99)
    # a group of one person has no residuals, and nothing is known of its spread
    jackknifed = np.where(tables.rows.sum(axis=2)[..., None, :] <= 1, null, around / left)
    people = tables.people
    sizes = [tables.kish]
    for alone, summed in ((null, null), (around, jackknifed)):
        independent = (tables.first * alone**2).sum(axis=(1, 2, 3))
        robust = (tables.second * summed**2).sum(axis=(1, 2, 3)) * _divide(people, people - 1)
        known = (independent > 0) & (robust > 0)
        sizes.append(np.where(known, tables.first.sum(axis=(1, 2, 3)) * _divide(independent, robust), np.inf))
    few = np.minimum(_number_of(tables, side[..., None, :] ** 2), 3 * _number_of(tables, jackknifed**2))
    size = np.where(np.isinf(sizes[1]) & np.isinf(sizes[2]), np.nan, np.minimum.reduce(sizes))
    return EffectiveTables(size, _freedom(few, people), np.full(len(size), np.nan))


def judge_independence_in_tables(tables: WeightTables) -> EffectiveTables:
    """Return what rows are worth for a link of any form between groups and outputs, and its p-value."""
    per = max(MOST_PAIRS // max(int(np.prod(tables.first.shape[1:])) * int(np.prod(tables.first.shape[2:])), 1), 1)
    parts = [_judge(tables.take(slice(i, i + per))) for i in range(0, len(tables.first), per)]
    return EffectiveTables(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("size", "df", "p")))


def _judge(tables: WeightTables) -> EffectiveTables:
    whole = tables.first.sum(axis=(2, 3))
    groups, outputs = _inner_products(tables.first.sum(axis=2)), _inner_products(tables.first.sum(axis=3))
    own = np.einsum("ceoo,cess->ceos", outputs, groups)
    second = _divide(tables.second, whole[..., None, None])
    trace = (second * own).sum(axis=(1, 2, 3))
    squares = np.einsum("ceos,cept,ceop,cest->c", second, second, outputs**2, groups**2, optimize=True)
    expected = _divide(
        tables.first.sum(axis=2)[..., None, :] * tables.first.sum(axis=3)[..., None], whole[..., None, None]
    )
    statistic = _divide((tables.first - expected) ** 2, expected).sum(axis=(1, 2, 3))
    people = tables.people
    correction = _divide(people, people - 1)
    trace, squares = trace * correction, squares * correction**2
    counting = np.maximum(_divide(trace**2, squares), 1e-9)
    few = np.minimum(_number_of(tables, np.einsum("cess->ces", groups)[..., None, :]), 3 * _number_of(tables, own))
    df = _freedom(few, people)
    p = special.fdtrc(counting, counting * df, _divide(statistic, trace))
    size = np.minimum(tables.first.sum(axis=(1, 2, 3)) * _divide(trace, squares), tables.kish)
    known = trace > 0
    return EffectiveTables(np.where(known, size, np.nan), df, np.where(known, p, np.nan))


def _inner_products(margin: FloatArray) -> FloatArray:
    """Return the inner products of the levels' indicators, centred and whitened: 1/p on the diagonal, less 1.

    0 for levels that nobody has.
    """
    present: BoolArray = margin > 0
    share = _divide(margin, margin.sum(axis=-1, keepdims=True))
    inverse = _divide(np.ones_like(share), share)
    products = np.eye(margin.shape[-1]) * inverse[..., None] - 1
    return np.asarray(np.where(present[..., None] & present[..., None, :], products, 0.0))


def _number_of(tables: WeightTables, squares: FloatArray) -> FloatArray:
    """Return how many equal contributions would be as unequal as weights times something, given squared by cell."""
    total = (tables.second * squares).sum(axis=(1, 2, 3))
    return np.where(total > 0, _divide(total**2, (tables.fourth * squares**2).sum(axis=(1, 2, 3))), 1.0)


def _freedom(few: FloatArray, people: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(np.minimum(few, people) - 1, 1.0))


def _divide(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a/b, 0 where b is 0."""
    return np.asarray(np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b))), where=b != 0))
