"""Growing a tree: everybody's node, and the sums of many nodes at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.axes import Axis
from fairtest.engine.kernel.histogram import add_up_at
from fairtest.types import IntArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from fairtest.data.summaries import Target
    from fairtest.engine.kernel.people import CodedPeople

Step = tuple[Sequence[Axis | None], IntArray, IntArray | None]
"""One level of a tree: see :meth:`fairtest.engine.contract.Frontier.advance`."""


class MemoryFrontier:
    """The nodes at one depth of a tree over people, or kinds of people, in memory. See :class:`.contract.Frontier`.

    Rows are sorted by node, so that some nodes are a slice. It belongs to one tree, and so to one thread.
    """

    def __init__(self, people: CodedPeople, target: Target) -> None:
        self._codes_of = people.codes_of
        self._rows = people.rows
        self._cells = people.cells
        self._target = target
        self._node = np.zeros(len(people), dtype=np.int32)
        self._start = np.array([0, len(people)])
        self.n_nodes = 1

    @property
    def nbytes(self) -> int:
        """How much memory the rows and their cells take."""
        return self._rows.nbytes + self._node.nbytes + self._cells.nbytes

    def histograms(self, axes: Sequence[Axis], first: int, last: int) -> Iterator[NDArray[Any]]:
        """Yield the sums by node and code of each axis."""
        part, nodes = slice(self._start[first], self._start[last]), last - first
        rows, cells = self._rows[part], self._cells.part(part)
        own = (self._node[part].astype(np.intp) - first) * self._target.n_cells + cells.cell
        for axis in axes:
            key = self._codes_of(axis).take(rows) * np.intp(nodes * self._target.n_cells)
            key += own
            sums = add_up_at(key, axis.size * nodes, cells, self._target)
            yield np.moveaxis(sums.reshape(axis.size, nodes, *sums.shape[1:]), 0, 1)

    def advance(self, axes: Sequence[Axis | None], child: IntArray, nodes: IntArray | None = None) -> None:
        """Go one level down: row by row to the child its code leads to."""
        along: dict[str, tuple[Axis, list[int]]] = {}
        for cut, axis in enumerate(axes):
            if axis is not None:
                along.setdefault(axis.column, (axis, []))[1].append(cut)
        moves = [self._move_rows(axis, np.array(cuts), child, nodes) for axis, cuts in along.values()]
        where = np.concatenate([np.zeros(0, np.intp), *(at for at, _ in moves)])
        to = np.concatenate([np.zeros(0, np.int32), *(new for _, new in moves)])
        smallest = np.min_scalar_type(int(child.max(initial=0)))  # numbers of one or two bytes are sorted fast
        order = np.argsort(to.astype(smallest), kind="stable")
        rows = where.take(order)
        self._rows, self._cells, self._node = self._rows.take(rows), self._cells.take(rows), to.take(order)
        self.n_nodes = int(child.max(initial=-1)) + 1
        self._start = np.searchsorted(self._node, np.arange(self.n_nodes + 1))

    def _move_rows(
        self, axis: Axis, cuts: NDArray[np.intp], child: IntArray, nodes: IntArray | None
    ) -> tuple[NDArray[np.intp], IntArray]:
        """Return which rows of the nodes that are cut along an axis go on, and where to."""
        of = cuts if nodes is None else nodes[cuts]
        first = self._start[of]
        many = self._start[of + 1] - first
        at = np.repeat(first - np.cumsum(many) + many, many)
        at += np.arange(at.size)
        way = np.repeat(cuts * child.shape[1], many)
        way += self._codes_of(axis).take(self._rows.take(at))
        to = child.ravel().take(way)
        kept = np.flatnonzero(to >= 0)
        return at.take(kept), to.take(kept)


class PartitionedFrontier:
    """The nodes at one depth of a tree, known by the steps that lead to them."""

    def __init__(self, histograms: Callable[..., Iterable[NDArray[Any]]]) -> None:
        self._histograms = histograms
        self._steps: list[Step] = []
        self.n_nodes = 1

    def histograms(self, axes: Sequence[Axis], first: int, last: int) -> Iterator[NDArray[Any]]:
        """Yield the sums by node and code of each axis, counted in one pass."""
        if axes:
            yield from self._histograms(self._steps, axes, first, last)

    def advance(self, axes: Sequence[Axis | None], child: IntArray, nodes: IntArray | None = None) -> None:
        """Go one level down."""
        self._steps = [*self._steps, (tuple(axes), child.copy(), None if nodes is None else nodes.copy())]
        self.n_nodes = int(child.max(initial=-1)) + 1
