"""People in codes: what all ways of counting read."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.engine.kernel.histogram import add_up_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis
    from fairtest.data.summaries import Target
    from fairtest.engine.kernel.histogram import Cells
    from fairtest.types import IntArray


class CodedPeople:
    """Some people that have a value for all variables of a target: their rows, their cells, their codes on axes.

    They never change. Codes are computed when they are first asked for and live as long as the people do, some bytes
    for each person and axis. Any thread may ask: two that ask at once compute the same, and one result is kept.

    Attributes
    ----------
    codes_of
        From an axis to the codes of all rows of the table that the people are in.
    rows
        Where they are in it.
    cells
        Their cells of the target.
    """

    def __init__(self, codes_of: Callable[[Axis], NDArray[np.uint8]], rows: NDArray[np.intp], cells: Cells) -> None:
        self.codes_of = codes_of
        self.rows = rows
        self.cells = cells
        self._codes: dict[str, NDArray[np.uint8]] = {}
        self._with_cell: dict[str, IntArray] = {}
        # Tables that are asked for one after the other mostly differ in the last axis: what the others give is kept.
        self._prefix: tuple[tuple[str, ...], NDArray[np.intp]] = ((), np.zeros(0, dtype=np.intp))

    def __len__(self) -> int:
        return self.rows.size

    @property
    def nbytes(self) -> int:
        """How much memory their rows, cells and codes take."""
        held = (*self._codes.values(), *self._with_cell.values(), self._prefix[1])
        return self.rows.nbytes + self.cells.nbytes + sum(c.nbytes for c in held)

    def codes(self, axis: Axis) -> NDArray[np.uint8]:
        """Return their codes on an axis."""
        if axis.column not in self._codes:
            self._codes[axis.column] = self.codes_of(axis).take(self.rows)
        return self._codes[axis.column]

    def keys(self, axes: Sequence[Axis], n_cells: int) -> NDArray[np.intp]:
        """Return where everybody is in a joint table of some axes and the target's cells."""
        *others, last = axes
        columns = tuple(axis.column for axis in others)
        if not columns:
            return self._in_cells(last, n_cells).astype(np.intp)
        known, index = self._prefix  # read once: another thread may replace it
        if columns != known:
            index = self.codes(others[0]).astype(np.intp)
            for axis in others[1:]:
                index *= axis.size
                index += self.codes(axis)
            self._prefix = (columns, index)
        key = index * (last.size * n_cells)
        key += self._in_cells(last, n_cells)
        return key

    def _in_cells(self, axis: Axis, n_cells: int) -> IntArray:
        """Return their code on an axis and their cell in one number."""
        if axis.column not in self._with_cell:
            key: IntArray = self.codes(axis).astype(np.uint16 if axis.size * n_cells <= 1 << 16 else np.int32)
            key *= n_cells
            key += self.cells.cell.astype(key.dtype)
            self._with_cell[axis.column] = key
        return self._with_cell[axis.column]

    def take(self, at: NDArray[np.intp]) -> CodedPeople:
        """Return some of them."""
        return CodedPeople(self.codes_of, self.rows[at], self.cells.take(at))

    def total(self, target: Target) -> NDArray[Any]:
        """Return the sums over all of them."""
        everyone: NDArray[Any] = add_up_at(self.cells.cell.astype(np.intp), 1, self.cells, target)[0]
        return everyone

    def joint(self, axes: Sequence[Axis], target: Target) -> NDArray[Any]:
        """Return the sums by the codes of several axes at once."""
        sizes = [axis.size for axis in axes]
        sums = add_up_at(self.keys(axes, target.n_cells), prod(sizes), self.cells, target)
        return sums.reshape(*sizes, *sums.shape[1:])
