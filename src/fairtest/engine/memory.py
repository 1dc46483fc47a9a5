"""The engine for tables that fit in memory: one partition, counted here."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairtest.data.axes import make_axis
from fairtest.data.holdout import TRAIN
from fairtest.engine.contract import Profiles, Rows, sample_step
from fairtest.engine.kernel.cells import Kinds, KindsFrontier, kinds_of
from fairtest.engine.kernel.histogram import Cells, add_up, add_up_at, cells_of
from fairtest.engine.kernel.joint import among, distinct, packed
from fairtest.engine.kernel.labels import MemoryLabelCounter
from fairtest.engine.kernel.tables import count_contexts
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.labels import Labels
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.data.variables import Part, Variable
    from fairtest.engine.contract import Frontier
    from fairtest.types import FloatArray, IntArray

MOST_KEPT = 4
"""How many variables are kept in codes for every row, to describe one context after the other."""


class Split(Protocol):
    """What an engine has to know of a split: :class:`fairtest.data.holdout.Holdout` is one."""

    def rows(self, number: int) -> NDArray[np.intp]:
        """Return the positions of a set's rows, in order."""


class MemoryEngine:
    """Counts the people of a table held in memory. See :class:`fairtest.engine.contract.Engine`.

    Parameters
    ----------
    n_rows
        How many people there are in all, where ``table`` has only some of them: sums are cut so that those of all
        parts add up without rounding.
    """

    def __init__(self, table: Table, holdout: Split, n_rows: int | None = None) -> None:
        self._table = table
        self._holdout = holdout
        self._n_rows = table.n_rows if n_rows is None else n_rows
        self._axes: dict[str, Axis | None] = {}
        self._codes: dict[str, NDArray[np.uint8]] = {}
        self._cells: dict[Target, Cells] = {}
        self._people: dict[tuple[int, Target], CodedPeople] = {}
        self._kinds: dict[tuple[int, Target, tuple[Axis, ...]], Kinds | None] = {}
        self._not_few: tuple[Target, tuple[Axis, ...]] | None = None
        self._as_people: tuple[Kinds, CodedPeople] | None = None
        self._left_out: dict[tuple[int, Target], int] = {}
        self._rows: dict[int, NDArray[np.intp]] = {}
        self._numbers: dict[Part, FloatArray] = {}
        self._levels: dict[tuple[Variable, bool], FloatArray | IntArray] = {}

    def axis(self, column: str) -> Axis | None:
        """Return a contextual column in codes."""
        if column not in self._axes:
            self._axes[column] = make_axis(self._table[column], self._set(TRAIN))
        return self._axes[column]

    def axes(self, columns: Sequence[str]) -> list[Axis | None]:
        """Return several contextual columns in codes."""
        return [self.axis(column) for column in columns]

    def frontier(self, target: Target) -> MemoryFrontier | KindsFrontier:
        """Return the root of a tree over the training rows."""
        kinds = self._kinds_of(TRAIN, target)
        if kinds is None:
            return self.frontier_of_people(target)
        return frontier_of(kinds, target, lambda: self.frontier_of_people(target))

    def frontier_of_people(self, target: Target) -> MemoryFrontier:
        """Return the root of a tree over the training rows, whatever kinds of people there are."""
        people = self._people_of(TRAIN, target)
        return MemoryFrontier(self, people.rows, people.cells, target)

    def total(self, number: int, target: Target) -> NDArray[Any]:
        """Return the sums over a whole set."""
        return total_of(self._counted(number, target), target)

    def tables(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> NDArray[Any]:
        """Return the sums of every context in a set."""
        people = self._counted(number, target, {c.column for context in contexts for c in context})
        return count_contexts(people, contexts, target, self.axis)

    def joint(self, number: int, axes: Sequence[Axis], target: Target) -> NDArray[Any]:
        """Return the sums by the codes of several axes at once."""
        return joint_of(self._counted(number, target, [axis.column for axis in axes]), axes, target)

    def joints(self, number: int, several: Sequence[Sequence[Axis]], target: Target) -> Iterator[NDArray[Any]]:
        """Yield the sums by the codes of each of several sets of axes."""
        return (self.joint(number, axes, target) for axes in several)

    def rows(self, number: int, context: Sequence[Condition], target: Target, axes: Sequence[Axis] = ()) -> Rows:
        """Return the people of one context in a set, as the target sees them."""
        rows = self._people_of(number, target).rows
        for condition in context:
            axis = self.axis(condition.column)
            assert axis is not None
            rows = rows[among(self.codes(axis)[rows], condition)]
        stratum = np.zeros(rows.size, np.int32) if target.strata is None else target.strata.codes(self._table)[rows]
        return Rows(
            self._seen(target.protected, target)[rows],
            self._seen(target.output, target)[rows],
            stratum,
            {axis.column: self.codes(axis)[rows] for axis in axes},
        )

    def _seen(self, variable: Variable, target: Target) -> FloatArray | IntArray:
        if variable.is_number:
            part = variable.parts[0]
            if part not in self._numbers:
                self._numbers[part] = variable.numbers(self._table)
            return self._numbers[part]
        summed = self._is_summed(variable, target)
        if (variable, summed) not in self._levels:
            if len(self._levels) >= MOST_KEPT:
                self._levels.clear()
            self._levels[variable, summed] = (variable.values if summed else variable.codes)(self._table)
        return self._levels[variable, summed]

    def many_rows(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> Iterator[Rows]:
        """Yield the people of each of several contexts."""
        return (self.rows(number, context, target) for context in contexts)

    def profiles(self, number: int, targets: Sequence[Target], axes: Sequence[Axis]) -> Profiles:
        """Return the kinds of people in a set, ordered by their codes."""
        rows = self._set(number)
        codes = {axis.column: self.codes(axis)[rows] for axis in axes}
        seen = [self._summed(target, rows) for target in targets]
        columns = [*codes.values(), *(column for s in seen for column in (s.stratum, s.protected, s.output))]
        first, people = distinct(columns, rows.size)
        return Profiles(
            people,
            {name: code[first] for name, code in codes.items()},
            [Rows(s.protected[first], s.output[first], s.stratum[first], {}) for s in seen],
        )

    def _summed(self, target: Target, rows: NDArray[np.intp]) -> Rows:
        """Return people as sums see them, nothing but zeros and the stratum −1 where a value is missing."""
        valid = self._cells_of(target).valid[rows]
        stratum = np.zeros(rows.size, np.int32) if target.strata is None else target.strata.codes(self._table)[rows]
        s, o = (
            np.where(valid, (v.values if self._is_summed(v, target) else v.codes)(self._table)[rows], 0)
            for v in (target.protected, target.output)
        )
        return Rows(s, o, np.where(valid, stratum, -1), {})

    @staticmethod
    def _is_summed(variable: Variable, target: Target) -> bool:
        """Whether the numbers of a variable are added up, rather than people with its codes counted."""
        return variable.is_number or (
            target.summary is SummaryKind.MOMENTS
            or (target.summary is SummaryKind.GROUP_MOMENTS and variable is target.measured)
        )

    def members(self, number: int, contexts: Sequence[Sequence[Condition]]) -> NDArray[np.uint64]:
        """Return who of a set is in each context, a bit for each person that is looked at."""
        rows = self._sample(number)
        everyone = packed(np.ones(rows.size, dtype=bool))
        codes: dict[str, NDArray[np.uint8]] = {}
        known: dict[Condition, NDArray[np.uint64]] = {}
        inside = np.tile(everyone, (len(contexts), 1))
        for place, context in enumerate(contexts):
            for condition in context:
                if condition not in known:
                    if condition.column not in codes:
                        axis = self.axis(condition.column)
                        assert axis is not None
                        codes[condition.column] = self.codes(axis).take(rows)
                    known[condition] = packed(among(codes[condition.column], condition))
                inside[place] &= known[condition]
        return inside

    def contributions(self, number: int, target: Target) -> tuple[NDArray[np.int32], FloatArray]:
        """Return the cell of each person that is looked at, and what they add to it."""
        rows, cells = self._sample(number), self._cells_of(target)
        valid = cells.valid[rows]
        length = (rows.size + 63) // 64 * 64
        cell = np.full(length, -1, dtype=np.int32)
        cell[: rows.size] = np.where(valid, cells.cell[rows], -1)
        terms = np.zeros((len(cells.terms), length))
        for place, term in enumerate(cells.terms):
            terms[place, : rows.size] = np.where(valid, term[rows], 0.0)
        return cell, terms

    def left_out(self, number: int, target: Target) -> int:
        """Return how many people of a set have no value for the target's variables."""
        if (number, target) not in self._left_out:
            self._people_of(number, target)
        return self._left_out[number, target]

    def label_counter(self, number: int, target: Target, labels: Labels) -> MemoryLabelCounter:
        """Return what counts labels in a set."""
        rows = self._set(number)
        return MemoryLabelCounter(self._table, rows, target, labels, self.axis, self.codes, self._n_rows)

    def codes(self, axis: Axis) -> NDArray[np.uint8]:
        """Return every row's code on an axis."""
        if axis.column not in self._codes:
            self._codes[axis.column] = axis.codes(self._table)
        return self._codes[axis.column]

    def _set(self, number: int) -> NDArray[np.intp]:
        if number not in self._rows:
            self._rows[number] = self._holdout.rows(number)
        return self._rows[number]

    def _sample(self, number: int) -> NDArray[np.intp]:
        rows = self._set(number)
        return rows[:: sample_step(rows.size)]

    def _people_of(self, number: int, target: Target) -> CodedPeople:
        if (number, target) not in self._people:
            cells, everyone = self._cells_of(target), self._set(number)
            rows = everyone[cells.valid[everyone]]
            self._left_out[number, target] = everyone.size - rows.size
            self._people = {(number, target): CodedPeople(self, rows, cells.take(rows))}  # one at a time, as the cells
        return self._people[number, target]

    def _counted(self, number: int, target: Target, columns: Iterable[str] = ()) -> CodedPeople:
        """Return whose sums are to be added up: the people of a set, or the kinds of people where they are few."""
        kinds = self._kinds_of(number, target)
        if kinds is None or not all(map(kinds.know, columns)):
            return self._people_of(number, target)
        if self._as_people is None or self._as_people[0] is not kinds:
            self._as_people = (kinds, people_of(kinds))
        return self._as_people[1]

    def _kinds_of(self, number: int, target: Target) -> Kinds | None:
        """Return the kinds of people in a set, alike on all axes that are known by now.

        Where there are not few of them in one set, they are not looked for in another.
        """
        axes = tuple(axis for _, axis in sorted(self._axes.items()) if axis is not None)
        key = (number, target, axes)
        if (target, axes) == self._not_few:
            return None
        if key not in self._kinds:
            people = self._people_of(number, target)
            worth = target.summary is SummaryKind.COUNTS

            def codes(axis: Axis, step: int) -> NDArray[np.uint8]:
                return people.codes(axis) if step == 1 else self.codes(axis)[people.rows[::step]]

            self._kinds = {key: kinds_of(codes, axes, people.cells, target.n_cells) if worth else None}
            if self._kinds[key] is None:
                self._not_few = (target, axes)
        return self._kinds[key]

    def _cells_of(self, target: Target) -> Cells:
        if target not in self._cells:
            self._cells, self._people, self._kinds, self._as_people = {}, {}, {}, None  # one at a time: they are large
            self._cells[target] = cells_of(target, self._table, self._n_rows)
        return self._cells[target]


class CodedPeople:
    """Some people that have a value for all variables of a target: their rows, their cells, their codes on axes."""

    def __init__(self, engine: MemoryEngine | Kinds, rows: NDArray[np.intp], cells: Cells) -> None:
        self._engine = engine
        self.rows = rows
        self.cells = cells
        self._codes: dict[str, NDArray[np.uint8]] = {}
        self._with_cell: dict[str, IntArray] = {}
        self._prefix: tuple[tuple[str, ...], NDArray[np.intp]] = ((), np.zeros(0, dtype=np.intp))

    def codes(self, axis: Axis) -> NDArray[np.uint8]:
        """Return their codes on an axis."""
        if axis.column not in self._codes:
            self._codes[axis.column] = self._engine.codes(axis).take(self.rows)
        return self._codes[axis.column]

    @property
    def nbytes(self) -> int:
        """How much memory their rows, cells and codes take."""
        held = (*self._codes.values(), *self._with_cell.values(), self._prefix[1])
        return self.rows.nbytes + self.cells.nbytes + sum(c.nbytes for c in held)

    def keys(self, axes: Sequence[Axis], n_cells: int) -> NDArray[np.intp]:
        """Return where everybody stands in a joint table of some axes and the target's cells.

        Tables asked for one after the other mostly differ in the last axis: what the others give is kept.
        """
        *others, last = axes
        columns = tuple(axis.column for axis in others)
        if not columns:
            return self.in_cells(last, n_cells).astype(np.intp)
        if columns != self._prefix[0]:
            index = self.codes(others[0]).astype(np.intp)
            for axis in others[1:]:
                index *= axis.size
                index += self.codes(axis)
            self._prefix = (columns, index)
        key = self._prefix[1] * (last.size * n_cells)
        key += self.in_cells(last, n_cells)
        return key

    def in_cells(self, axis: Axis, n_cells: int) -> IntArray:
        """Return their code on an axis and their cell in one number."""
        if axis.column not in self._with_cell:
            key: IntArray = self.codes(axis).astype(np.uint16 if axis.size * n_cells <= 1 << 16 else np.int32)
            key *= n_cells
            key += self.cells.cell.astype(key.dtype)
            self._with_cell[axis.column] = key
        return self._with_cell[axis.column]

    def take(self, at: NDArray[np.intp]) -> CodedPeople:
        """Return some of them."""
        return CodedPeople(self._engine, self.rows[at], self.cells.take(at))


def people_of(kinds: Kinds) -> CodedPeople:
    """Return kinds of people as if each were a person."""
    return CodedPeople(kinds, np.arange(len(kinds)), kinds.cells)


def total_of(people: CodedPeople, target: Target) -> NDArray[Any]:
    """Return the sums over some people."""
    everyone: NDArray[Any] = add_up(np.zeros(people.rows.size, np.int8), 1, people.cells, target)[0]
    return everyone


def joint_of(people: CodedPeople, axes: Sequence[Axis], target: Target) -> NDArray[Any]:
    """Return the sums over some people by the codes of several axes at once."""
    sizes = [axis.size for axis in axes]
    sums = add_up_at(people.keys(axes, target.n_cells), prod(sizes), people.cells, target)
    return sums.reshape(*sizes, *sums.shape[1:])


def frontier_of(kinds: Kinds, target: Target, on_people: Callable[[], Frontier]) -> KindsFrontier:
    """Return the root of a tree over kinds; ``on_people`` gives that over people."""
    return KindsFrontier(kinds, MemoryFrontier(kinds, np.arange(len(kinds)), kinds.cells, target), on_people)


class MemoryFrontier:
    """The nodes at one depth of a tree; rows, perhaps kinds of people, are sorted by node: some nodes are a slice."""

    def __init__(
        self,
        engine: MemoryEngine | Kinds,
        rows: NDArray[np.intp],
        cells: Cells,
        target: Target,
    ) -> None:
        self._engine = engine
        self._rows = rows
        self._cells = cells
        self._target = target
        self._node = np.zeros(rows.size, dtype=np.int32)
        self._start = np.array([0, rows.size])
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
            key = self._engine.codes(axis).take(rows) * np.intp(nodes * self._target.n_cells)
            key += own
            sums = add_up_at(key, axis.size * nodes, cells, self._target)
            yield np.moveaxis(sums.reshape(axis.size, nodes, *sums.shape[1:]), 0, 1)

    def advance(self, axes: Sequence[Axis | None], child: IntArray, nodes: IntArray | None = None) -> None:
        """Go one level down: row by row to the child its code leads to."""
        along: dict[str, tuple[Axis, list[int]]] = {}
        for cut, axis in enumerate(axes):
            if axis is not None:
                along.setdefault(axis.column, (axis, []))[1].append(cut)
        moves = [self._moved(axis, np.array(cuts), child, nodes) for axis, cuts in along.values()]
        where = np.concatenate([np.zeros(0, np.intp), *(at for at, _ in moves)])
        to = np.concatenate([np.zeros(0, np.int32), *(new for _, new in moves)])
        smallest = np.min_scalar_type(int(child.max(initial=0)))  # numbers of one or two bytes are sorted fast
        order = np.argsort(to.astype(smallest), kind="stable")
        rows = where.take(order)
        self._rows, self._cells, self._node = self._rows.take(rows), self._cells.take(rows), to.take(order)
        self.n_nodes = int(child.max(initial=-1)) + 1
        self._start = np.searchsorted(self._node, np.arange(self.n_nodes + 1))

    def _moved(
        self, axis: Axis, cuts: NDArray[np.intp], child: IntArray, nodes: IntArray | None
    ) -> tuple[NDArray[np.intp], IntArray]:
        """Return which rows of the nodes that are cut along an axis go on, and where to."""
        of = cuts if nodes is None else nodes[cuts]
        first = self._start[of]
        many = self._start[of + 1] - first
        at = np.repeat(first - np.cumsum(many) + many, many)
        at += np.arange(at.size)
        way = np.repeat(cuts * child.shape[1], many)
        way += self._engine.codes(axis).take(self._rows.take(at))
        to = child.ravel().take(way)
        kept = np.flatnonzero(to >= 0)
        return at.take(kept), to.take(kept)
