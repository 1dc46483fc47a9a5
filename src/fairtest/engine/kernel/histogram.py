"""The counting kernel: combined codes in, sums by code out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import exact_pieces, powers
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.types import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Cells:
    """Every row's cell of the target, and the terms that are added up there.

    Attributes
    ----------
    valid
        The rows that have a value for each of the target's variables.
    cell
        Each row's cell (meaningless where not valid).
    terms
        One array for each power and piece; none for plain counts, nor for the power 0, which is a plain count.
    weight
        How many people a row stands for, or what it weighs; None if each is one person. Terms have it in them.
    whole
        Whether weights are whole numbers of people.
    """

    valid: BoolArray
    cell: NDArray[np.int32]
    terms: Sequence[FloatArray]
    weight: FloatArray | None = None
    whole: bool = True

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return self.valid.nbytes + self.cell.nbytes + sum(term.nbytes for term in self.terms)

    def take(self, rows: NDArray[np.intp]) -> Cells:
        """Return the cells of some valid rows."""
        weight = None if self.weight is None else self.weight[rows]
        valid, terms = np.broadcast_to(np.True_, rows.shape), [t[rows] for t in self.terms]
        return Cells(valid, self.cell[rows], terms, weight, self.whole)

    def part(self, rows: slice) -> Cells:
        """Return the cells of rows that follow each other, without copying them."""
        weight = None if self.weight is None else self.weight[rows]
        return Cells(self.valid[rows], self.cell[rows], [t[rows] for t in self.terms], weight, self.whole)


def cells_of(
    target: Target, table: Table, n_rows: int, weight: FloatArray | None = None, largest: float = 1.0
) -> Cells:
    """Reduce the rows of a table (perhaps a partition of ``n_rows`` in all) to cells and terms.

    Weights are 1 on average over all rows, so that no sum is larger than that of as many ones; ``largest`` is the
    largest of them.
    """
    stratum = np.zeros(table.n_rows, np.int32) if target.strata is None else target.strata.codes(table)
    valid = stratum >= 0
    if target.summary is SummaryKind.MOMENTS:
        s, o = target.protected.values(table), target.output.values(table)
        valid &= ~(np.isnan(s) | np.isnan(o))
        s, o = np.where(valid, s, 0.0), np.where(valid, o, 0.0)
        products = [s**i * o**j for i, j in powers(target.order)[1:]]
        return Cells(valid, stratum, _terms(products, target, n_rows, weight), weight, weight is None)
    if target.summary is SummaryKind.ROWS:
        for variable in (target.protected, target.output):
            valid &= ~np.isnan(variable.values(table)) if variable.is_number else variable.codes(table) >= 0
        return Cells(valid, stratum, [], weight, weight is None)
    if target.summary is SummaryKind.GROUP_MOMENTS:
        group, x = target.by.codes(table), target.measured.values(table)
        valid &= (group >= 0) & ~np.isnan(x)
        x = np.where(valid, x, 0.0)
        cell = stratum * np.int32(len(target.by.levels)) + group
        products = [x**p for p in range(1, target.order + 1)]
        return Cells(valid, cell, _terms(products, target, n_rows, weight), weight, weight is None)
    s_code, o_code = target.protected.codes(table), target.output.codes(table)
    valid &= (s_code >= 0) & (o_code >= 0)
    cell = (stratum * np.int32(len(target.output.levels)) + o_code) * np.int32(len(target.protected.levels)) + s_code
    if target.summary is SummaryKind.WEIGHTS:
        assert weight is not None, "only rows with weights have powers of them"
        part = weight / largest
        powers_of_weights = [
            piece for v in (np.ones_like(part), part**2, part**4) for piece in exact_pieces(v, n_rows, 1)
        ]
        return Cells(valid, cell, powers_of_weights, weight, whole=False)
    return Cells(valid, cell, [], weight, weight is None)


def _terms(products: list[FloatArray], target: Target, n_rows: int, weight: FloatArray | None) -> list[FloatArray]:
    weighed = products if weight is None else [p * weight for p in products]
    return [piece for p in weighed for piece in exact_pieces(p, n_rows, target.pieces)]


def add_up_at(key: NDArray[np.intp], size: int, cells: Cells, target: Target) -> NDArray[Any]:
    """Return the sums by combined code, ``[size, *cell_shape, *sum_shape]``; ``key`` is code and cell in one number."""
    length = size * target.n_cells
    people = np.bincount(key, weights=cells.weight, minlength=length)
    if cells.weight is not None and cells.whole:
        people = people.astype(np.int64)  # whole numbers below 2⁵³, exact as they are
    if not cells.terms:
        return people.reshape(size, *target.cell_shape)
    sums = np.zeros((length, target.pieces + len(cells.terms)))
    sums[:, 0] = people
    for place, term in enumerate(cells.terms, start=target.pieces):
        sums[:, place] = np.bincount(key, weights=term, minlength=length)
    return sums.reshape(size, *target.cell_shape, *target.sum_shape)
