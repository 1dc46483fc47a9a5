"""Counting many labels at once: only the people who have a label are touched for it, the others follow from totals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from fairtest.data.summaries import exact_pieces, powers
from fairtest.engine.contract import LabelRows
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.labels import Labels
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.engine.contract import Engine, Frontier, LabelCounter
    from fairtest.engine.kernel.frontier import Step
    from fairtest.types import FloatArray, IntArray


class MemoryLabelCounter:
    """Counts the people of one set who have each label. See :class:`fairtest.engine.contract.LabelCounter`.

    Parameters
    ----------
    codes
        From an axis to every row's code.
    axis
        From a column to its axis.
    n_rows
        How many people there are in all, where ``table`` has only some of them.
    weight
        What each row weighs; None if all weigh the same.
    """

    def __init__(
        self,
        table: Table,
        rows: NDArray[np.intp],
        target: Target,
        labels: Labels,
        axis: Callable[[str], Axis | None],
        codes: Callable[[Axis], NDArray[np.uint8]],
        n_rows: int,
        weight: FloatArray | None = None,
    ) -> None:
        self._target = target
        self._axis = axis
        self._codes = codes
        stratum, seen, valid = _read_people(target, table, labels)
        rows = rows[valid[rows]]
        self._rows = rows
        self._stratum, self._protected = stratum[rows], seen[rows]
        self._weight = None if weight is None else weight[rows]
        self._base, self._n_base, self._terms = _base(target, self._stratum, self._protected, n_rows, self._weight)
        place = np.full(table.n_rows, -1, dtype=np.int32)
        place[rows] = np.arange(rows.size, dtype=np.int32)
        at = place[labels.rows]
        inside = at >= 0
        self._people = at[inside]
        self._starts = np.append(0, np.cumsum(inside))[labels.starts]
        self.n_people = int(rows.size)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        arrays = (self._rows, self._stratum, self._protected, self._base, self._people, *self._terms)
        return sum(array.nbytes for array in arrays)

    @property
    def people(self) -> IntArray:
        """How many people of the set have each label."""
        return np.diff(self._starts)

    def joint(self, axes: Sequence[Axis], places: IntArray) -> NDArray[Any]:
        """Return the sums by the codes of some axes: ``[code, …, label, *cell_shape, *sum_shape]``."""
        index = np.zeros(self.n_people, dtype=np.int64)
        for axis in axes:
            index = index * axis.size + self._codes(axis)[self._rows]
        sizes = [axis.size for axis in axes]
        sums = self.sums(index, int(np.prod(sizes)), places)
        return sums.reshape(*sizes, *sums.shape[1:])

    def joints(self, asked: Sequence[tuple[Sequence[Axis], IntArray]]) -> Iterator[NDArray[Any]]:
        """Yield the sums by the codes of several sets of axes."""
        return (self.joint(axes, places) for axes, places in asked)

    def tally(self) -> list[Any]:
        """Return how many people there are, and how many with each label."""
        return [self.n_people, self.people]

    def frontier(self, places: IntArray) -> MemoryLabelFrontier:
        """Return the root of a tree."""
        return MemoryLabelFrontier(self, places)

    def histogram(self, steps: Sequence[Step], axis: Axis, places: IntArray, first: int, last: int) -> NDArray[Any]:
        """Return the sums by node, code of an axis and label, for some of the nodes that some steps lead to."""
        frontier = self.frontier(places)
        for step in steps:
            frontier.advance(*step)
        return next(frontier.histograms([axis], first, last))

    def codes(self, axis: Axis) -> NDArray[np.uint8]:
        """Return everybody's code on an axis."""
        return self._codes(axis)[self._rows]

    def table(self, context: Sequence[Condition], places: IntArray) -> NDArray[Any]:
        """Return the sums of some labels in one context: ``[label, *cell_shape, *sum_shape]``."""
        sums: NDArray[Any] = self.sums(self._inside(context), 1, places)[0]
        return sums

    def tables(self, asked: Sequence[tuple[Sequence[Condition], IntArray]]) -> Iterator[NDArray[Any]]:
        """Yield the sums of some labels in each of several contexts."""
        return (self.table(context, places) for context, places in asked)

    def design(self, context: Sequence[Condition], places: IntArray) -> LabelRows:
        """Return who in a context has which of some labels, person by person."""
        at = np.flatnonzero(self._inside(context) >= 0)
        order = np.full(self.n_people, -1, dtype=np.int64)
        order[at] = np.arange(at.size)
        people, number = self._having(places)
        row = order[people]
        kept = row >= 0
        matrix = sparse.csc_matrix(
            (np.ones(int(kept.sum())), (row[kept], number[kept])), shape=(at.size, len(places)), dtype=np.float64
        )
        return LabelRows(self._protected[at], self._stratum[at], matrix)

    def _inside(self, context: Sequence[Condition]) -> IntArray:
        """Return 0 for the people in a context and −1 for all others."""
        index = np.zeros(self.n_people, dtype=np.int64)
        for condition in context:
            axis = self._axis(condition.column)
            assert axis is not None
            member = np.zeros(256, dtype=bool)
            member[list(condition.codes)] = True
            index[~member[self._codes(axis)[self._rows]]] = -1
        return index

    def _having(self, places: IntArray) -> tuple[NDArray[np.int32], IntArray]:
        """Return the people with each of some labels, and which of these labels it is."""
        first, last = self._starts[places], self._starts[np.asarray(places) + 1]
        many = last - first
        if len(places) == len(self._starts) - 1:
            return self._people, np.repeat(np.arange(len(places)), many)
        ends = np.cumsum(many)
        within = np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - many, many)
        return self._people[np.repeat(first, many) + within], np.repeat(np.arange(len(places)), many)

    def sums(self, index: IntArray, size: int, places: IntArray) -> NDArray[Any]:
        """Return the sums by a number from −1 (nowhere) to ``size``: ``[size, label, *cell_shape, *sum_shape]``."""
        cells = self._n_base
        key = np.where(index < 0, -1, index * cells + self._base)
        there = key >= 0
        people, number = self._having(places)
        own = key[people]
        kept = own >= 0
        people, number, own = people[kept], number[kept], own[kept]
        own = (own // cells * len(places) + number) * cells + own % cells
        with_label = self._add_up(own, size * len(places) * cells, people).reshape(size, len(places), cells, -1)
        everyone = self._add_up(key[there], size * cells, np.flatnonzero(there)).reshape(size, 1, cells, -1)
        return _lay_out(with_label, everyone, self._target)

    def _add_up(self, key: IntArray, length: int, people: IntArray) -> NDArray[Any]:
        if not self._terms:
            weight = None if self._weight is None else self._weight[people]
            return np.bincount(key, weights=weight, minlength=length)
        sums = [np.bincount(key, weights=t[people], minlength=length) for t in self._terms]
        return np.stack(sums, axis=-1).astype(np.float64, copy=False)  # of nobody, numpy counts in whole numbers


class MemoryLabelFrontier:
    """The nodes at one depth of a tree: everybody's, −1 for none. See :class:`fairtest.engine.contract.Frontier`."""

    def __init__(self, counter: MemoryLabelCounter, places: IntArray) -> None:
        self._counter = counter
        self._places = places
        self._node = np.zeros(counter.n_people, dtype=np.int64)
        self.n_nodes = 1

    def histograms(self, axes: Sequence[Axis], first: int, last: int) -> Iterator[NDArray[Any]]:
        """Yield the sums by node and code of each axis: ``[node, code, label, *cell_shape, *sum_shape]``."""
        outside = (self._node < first) | (self._node >= last)
        for axis in axes:
            index = np.where(outside, -1, (self._node - first) * axis.size + self._counter.codes(axis))
            sums = self._counter.sums(index, (last - first) * axis.size, self._places)
            yield sums.reshape(last - first, axis.size, *sums.shape[1:])

    def advance(self, axes: Sequence[Axis | None], child: IntArray, nodes: IntArray | None = None) -> None:
        """Go one level down; a person is in one node only, so that no node can be cut in several ways."""
        assert nodes is None
        new = np.full(self._node.size, -1, dtype=np.int64)
        for number, axis in enumerate(axes):
            if axis is not None:
                at = np.flatnonzero(self._node == number)
                new[at] = child[number][self._counter.codes(axis)[at]]
        self._node = new
        self.n_nodes = int(child.max(initial=-1)) + 1


class LabelAxis:
    """Counts as an engine does (:class:`fairtest.engine.contract.Counter`), in tables with an axis for some labels."""

    def __init__(self, engine: Engine, counter: LabelCounter, places: IntArray) -> None:
        self.axis = engine.axis
        self._counter = counter
        self._places = places

    def total(self, number: int, target: Target) -> NDArray[Any]:  # noqa: ARG002 - as the counter has it
        """Return the sums over everybody: ``[label, *cell_shape, *sum_shape]``."""
        return next(self._counter.tables([((), self._places)]))

    def tables(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> NDArray[Any]:  # noqa: ARG002
        """Return the sums of every context: ``[context, label, *cell_shape, *sum_shape]``."""
        return np.stack(list(self._counter.tables([(context, self._places) for context in contexts])))

    def joints(self, number: int, several: Sequence[Sequence[Axis]], target: Target) -> Iterator[NDArray[Any]]:  # noqa: ARG002
        """Yield the sums by the codes of several axes at once: ``[code, …, label, *cell_shape, *sum_shape]``."""
        return self._counter.joints([(axes, self._places) for axes in several])

    def frontier(self, target: Target) -> Frontier:  # noqa: ARG002
        """Return the root of a tree."""
        return self._counter.frontier(self._places)


def _read_people(target: Target, table: Table, labels: Labels) -> tuple[IntArray, NDArray[Any], NDArray[np.bool_]]:
    """Return the stratum and the protected attribute of every row, and which rows have both and known labels."""
    stratum = np.zeros(table.n_rows, np.int32) if target.strata is None else target.strata.codes(table)
    number = target.summary is SummaryKind.MOMENTS
    seen = target.protected.values(table) if number else target.protected.codes(table)
    valid = (stratum >= 0) & (~np.isnan(seen) if number else seen >= 0)
    valid[labels.missing] = False
    return stratum, seen, valid


def _base(
    target: Target, stratum: IntArray, seen: NDArray[Any], n_rows: int, weight: FloatArray | None
) -> tuple[IntArray, int, list[FloatArray]]:
    """Return each person's cell without the output, the number of such cells, and the terms added up there."""
    if target.summary is SummaryKind.MOMENTS:
        one = 1.0 if weight is None else weight
        pieces = [p for i in range(target.order + 1) for p in exact_pieces(one * seen**i, n_rows, target.pieces)]
        return stratum.astype(np.int64), target.n_strata, pieces
    groups = len(target.protected.levels)
    return stratum.astype(np.int64) * groups + seen, target.n_strata * groups, []


def _lay_out(having: NDArray[Any], everyone: NDArray[Any], target: Target) -> NDArray[Any]:
    """Return sums over those with a label and over all as the target has them: ``[…, label, *cell, *sum]``."""
    if target.summary is SummaryKind.MOMENTS:
        shape = (*having.shape[:3], target.order + 1, target.pieces)
        having = having.reshape(shape)
        everyone = np.broadcast_to(everyone.reshape(shape[0], 1, *shape[2:]), shape)
        return np.stack([(having if j else everyone)[..., i, :] for i, j in powers(target.order)], axis=-2)
    shape = (*having.shape[:2], target.n_strata, len(target.protected.levels))
    having = having.reshape(shape)
    return np.stack((everyone.reshape(shape[0], 1, *shape[2:]) - having, having), axis=-2)


def sums_of_entries(counter: LabelCounter, contexts: Sequence[Sequence[Condition]], places: IntArray) -> NDArray[Any]:
    """Return the sums of one label in one context each, entry by entry: ``[entry, *cell_shape, *sum_shape]``."""
    entries: dict[Sequence[Condition], list[int]] = {}
    for i, context in enumerate(contexts):
        entries.setdefault(context, []).append(i)
    order = np.array([i for at in entries.values() for i in at], dtype=int)
    tables = counter.tables([(context, places[at]) for context, at in entries.items()])
    sums = np.concatenate(list(tables))
    return sums[np.argsort(order)]
