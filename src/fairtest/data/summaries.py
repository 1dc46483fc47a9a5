"""Summaries: the small tables that rows are reduced to, and that metrics, tests and intervals read.

A summary has any number of leading axes (contexts, candidate splits, draws), then a stratum axis: without an
explanatory attribute there is one stratum.

Sums of numbers are exact up to the last collapse, so they depend neither on the order of rows nor on how rows were
divided among partitions: every term is cut into pieces that are multiples of fixed powers of two, small enough that
adding them never rounds (pre-rounding, as in Demmel and Nguyen, "Fast reproducible floating-point summation", 2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb, prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.data.variables import Variable
    from fairtest.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Counts:
    """People by stratum, output and group: ``counts[..., e, o, s]``.

    Where rows are not one person each, as many as they are worth: no whole numbers.
    """

    counts: IntArray

    def take(self, at: IntArray) -> Counts:
        """Return some of the contexts, along the leading axis."""
        return Counts(self.counts[at])

    def scale_people(self, by: FloatArray) -> Counts:
        """Return the summary with the number of people of each context multiplied by ``by``."""
        scaled: Any = self.counts * by[:, None, None, None]
        return Counts(scaled)

    @property
    def size(self) -> IntArray:
        """The people in each context."""
        return np.asarray(self.counts.sum(axis=(-3, -2, -1)))


@dataclass(frozen=True, eq=False)
class Central:
    """Sums of products of deviations from the stratum's means: ``sums[i, j] = Σ (s − s̄)ⁱ (o − ō)ʲ``.

    Attributes
    ----------
    n
        The people counted, over the strata that carry information.
    strata
        The number of those strata.
    """

    n: FloatArray
    strata: FloatArray
    sums: dict[tuple[int, int], FloatArray]


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of products of two numbers by stratum: ``sums[..., e, p]``, ``p`` counting through :func:`powers`."""

    sums: FloatArray
    order: int

    def take(self, at: IntArray) -> Moments:
        """Return some of the contexts, along the leading axis."""
        return Moments(self.sums[at], self.order)

    def scale_people(self, by: FloatArray) -> Moments:
        """Return the summary with the number of people of each context multiplied by ``by``."""
        return Moments(self.sums * by[:, None, None], self.order)

    @property
    def size(self) -> IntArray:
        """The people in each context."""
        return _whole(self.sums[..., 0].sum(axis=-1))

    @cached_property
    def by_stratum(self) -> Central:
        """The centred sums of every stratum."""
        at = {p: i for i, p in enumerate(powers(self.order))}
        n = self.sums[..., 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            s, o = self.sums[..., at[1, 0]] / n, self.sums[..., at[0, 1]] / n
        sums: dict[tuple[int, int], FloatArray] = {}
        for i, j in at:
            if i + j >= 2:
                terms = [
                    comb(i, a) * comb(j, b) * (-s) ** (i - a) * (-o) ** (j - b) * self.sums[..., at[a, b]]
                    for a in range(i + 1)
                    for b in range(j + 1)
                ]
                sums[i, j] = np.sum(terms, axis=0)
        for i, j in ((2, 0), (0, 2)):
            floor = 1e-13 * self.sums[..., at[i, j]]  # what is left when equal numbers cancel
            sums[i, j] = np.where(sums[i, j] > floor, sums[i, j], 0.0)
        return Central(n, np.ones_like(n), sums)

    @cached_property
    def pooled(self) -> Central:
        """The centred sums added over the strata in which both numbers vary."""
        each = self.by_stratum
        informative = (each.sums[2, 0] > 0) & (each.sums[0, 2] > 0)
        return Central(
            np.where(informative, each.n, 0).sum(axis=-1),
            informative.sum(axis=-1).astype(float),
            {p: np.where(informative, v, 0.0).sum(axis=-1) for p, v in each.sums.items()},
        )


@dataclass(frozen=True, eq=False)
class GroupMoments:
    """Power sums of a number by stratum and group: ``sums[..., e, g, p] = Σ xᵖ``.

    ``unit`` is how much a step of 1 in x is in the number that users know, for all contexts or for each of them.
    """

    sums: FloatArray
    unit: float | FloatArray = 1.0

    def take(self, at: IntArray) -> GroupMoments:
        """Return some of the contexts, along the leading axis."""
        return GroupMoments(self.sums[at], self.unit[at] if isinstance(self.unit, np.ndarray) else self.unit)

    def scale_people(self, by: FloatArray) -> GroupMoments:
        """Return the summary with the number of people of each context multiplied by ``by``."""
        return GroupMoments(self.sums * by[:, None, None, None], self.unit)

    @property
    def size(self) -> IntArray:
        """The people in each context."""
        return _whole(self.sums[..., 0].sum(axis=(-2, -1)))

    @cached_property
    def means(self) -> FloatArray:
        """The mean of each group in each stratum, NaN for an empty one."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sums[..., 1] / self.sums[..., 0]

    def central(self, power: int) -> FloatArray:
        """Return Σ (x − mean of the group)ᵖ for each stratum and group; 0 for an empty one."""
        mean = np.nan_to_num(self.means)
        total = sum(comb(power, a) * (-mean) ** (power - a) * self.sums[..., a] for a in range(power + 1))
        if power == 2:
            total = np.where(total > 1e-13 * self.sums[..., 2], total, 0.0)
        return np.asarray(total, dtype=float)


def _whole(sums: FloatArray) -> IntArray:
    """Return sums that count people as integers."""
    people: IntArray = np.rint(sums).astype(np.int64)
    return people


Summary: TypeAlias = Counts | Moments | GroupMoments


def by_stratum(summary: Summary) -> Summary:
    """Return contexts × strata as separate summaries of one stratum, row by row."""
    if isinstance(summary, Counts):
        counts = summary.counts
        return Counts(counts.reshape(-1, 1, *counts.shape[2:]))
    if isinstance(summary, Moments):
        return Moments(summary.sums.reshape(-1, 1, summary.sums.shape[-1]), summary.order)
    unit = summary.unit
    if isinstance(unit, np.ndarray):
        unit = np.repeat(unit, summary.sums.shape[1])
    return GroupMoments(summary.sums.reshape(-1, 1, *summary.sums.shape[2:]), unit)


def powers(order: int) -> list[tuple[int, int]]:
    """Return the exponents (of s, of o) of all products up to ``order``.

    Examples
    --------
    >>> powers(2)
    [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
    """
    return [(total - j, j) for total in range(order + 1) for j in range(total + 1)]


@dataclass(frozen=True)
class Target:
    """What to count for whom: the two variables of an association, the strata, and the shape of the summary.

    ``share`` is as how many independent people a row counts in summaries, 1 unless rows are not one person each.
    """

    protected: Variable
    output: Variable
    strata: Variable | None
    summary: SummaryKind
    order: int = 2
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.summary is SummaryKind.COUNTS:  # counts have no moments: those that differ only in order are the same
            object.__setattr__(self, "order", 2)

    @property
    def by(self) -> Variable:
        """For group moments: the variable that makes the groups."""
        grouping = self.protected.kind in (Kind.BINARY, Kind.CATEGORICAL)
        return self.protected if grouping and self.output.kind is not Kind.CATEGORICAL else self.output

    @property
    def measured(self) -> Variable:
        """For group moments: the variable that is averaged."""
        return self.output if self.by is self.protected else self.protected

    @property
    def n_strata(self) -> int:
        """The number of strata, at least 1."""
        return 1 if self.strata is None else len(self.strata.levels)

    @property
    def cell_shape(self) -> tuple[int, ...]:
        """The axes along which people are counted."""
        if self.summary is SummaryKind.GROUP_MOMENTS:
            return (self.n_strata, len(self.by.levels))
        if self.summary in (SummaryKind.MOMENTS, SummaryKind.ROWS):
            return (self.n_strata,)
        return (self.n_strata, len(self.output.levels), len(self.protected.levels))

    @property
    def n_cells(self) -> int:
        """The number of cells people are counted into."""
        return prod(self.cell_shape)

    @property
    def sum_shape(self) -> tuple[int, ...]:
        """The axes of what is added up in every cell: nothing, or powers and the pieces of each."""
        if self.summary is SummaryKind.MOMENTS:
            return (len(powers(self.order)), self.pieces)
        if self.summary is SummaryKind.GROUP_MOMENTS:
            return (self.order + 1, self.pieces)
        if self.summary is SummaryKind.WEIGHTS:
            return (4,)  # weights, rows, squares and fourth powers of weights
        return ()

    @property
    def pieces(self) -> int:
        """How many pieces the terms of a sum are cut into."""
        if self.summary is SummaryKind.WEIGHTS:
            return 1
        return 2 if self.order <= 2 else 3

    def wrap(self, array: NDArray[Any]) -> Summary:
        """Return the summary of an array ``[..., *cell_shape, *sum_shape]``; for rows, just how many there are."""
        if self.share != 1.0:
            array = array * self.share
        if self.summary is SummaryKind.MOMENTS:
            return Moments(array.sum(axis=-1), self.order)
        if self.summary is SummaryKind.GROUP_MOMENTS:
            return GroupMoments(array.sum(axis=-1), self.measured.scale)
        if self.summary is SummaryKind.ROWS:
            return Counts(array[..., None, None])
        return Counts(array)


def exact_pieces(terms: FloatArray, n_rows: int, pieces: int) -> list[FloatArray]:
    """Cut terms of size at most 1 into pieces whose sums over ``n_rows`` never round.

    Piece ``k`` is a multiple of ``2**-k·bits`` with ``bits = 52 − ⌈log₂ n⌉``.

    Examples
    --------
    >>> high, low = exact_pieces(np.array([1 / 3, -1 / 7]), 1000, 2)
    >>> bool(np.all(high + low == [1 / 3, -1 / 7]))
    True
    """
    bits = 52 - max(int(np.ceil(np.log2(max(n_rows, 2)))), 1)
    cut: list[FloatArray] = []
    rest = terms
    for k in range(1, pieces + 1):
        piece = np.ldexp(np.rint(np.ldexp(rest, k * bits)), -k * bits)
        cut.append(piece)
        rest = rest - piece
    return cut
