"""A table in codes: all that is counted in memory, of a whole table or of one partition of a larger one."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.variables import Variable
from fairtest.engine.contract import Profiles, Rows, sample_step
from fairtest.engine.kernel.histogram import cells_of
from fairtest.engine.kernel.joint import among, distinct, pack_bits
from fairtest.engine.kernel.labels import MemoryLabelCounter
from fairtest.engine.kernel.people import CodedPeople
from fairtest.engine.kernel.prefixes import commonest_first
from fairtest.engine.kernel.tables import count_contexts
from fairtest.engine.recent import Recent
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.design import Design
    from fairtest.data.labels import Labels
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.engine.kernel.histogram import Cells
    from fairtest.types import FloatArray, IntArray

MOST_VARIABLES = 4
"""How many variables are kept row by row: those of a target, while its contexts are described one after the other."""


class CodedTarget:
    """All rows of a table as one target sees them: their cells, and the people of the set that was asked for last."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.sets: Recent[int, CodedPeople] = Recent(most=1)
        self.together: Recent[int, NDArray[np.intp]] = Recent(most=1)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.cells.nbytes + sum(people.nbytes for people in self.sets.values())


class CodedTable:
    """A table and what has been computed of it. Every method is a pure function of the table, the split and the axes.

    What is kept follows from its key, so that any thread may ask at any time, and gets the same whether it was kept:

    - the codes of every row on an axis, the rows of a set, and how many people a target leaves out: written once for
      each. One byte for a row and an axis, eight for a row in all sets, and a number for a set and a target: no bound
      but the table's own size. Everything needs them.
    - the rows as the last target sees them: up to hundreds of bytes for a row, so one at a time.
    - the last few variables row by row, for describing contexts one after the other.

    Parameters
    ----------
    find_rows
        Gives the positions of a set's rows in the table, in order.
    axes
        What is known of axes. It may grow.
    n_rows
        How many people there are in all, where ``table`` has only some of them: sums are cut so that those of all
        parts add up without rounding.
    design
        Whose the rows are and what they weigh; None if each is one person.
    """

    def __init__(
        self,
        table: Table,
        find_rows: Callable[[int], NDArray[np.intp]],
        axes: dict[str, Axis | None],
        n_rows: int,
        design: Design | None = None,
    ) -> None:
        self._table = table
        self._design = design
        self._find_rows = find_rows
        self._axes = axes
        self._n_rows = n_rows
        self._codes: dict[str, NDArray[np.uint8]] = {}
        self._rows: dict[int, NDArray[np.intp]] = {}
        self._left_out: dict[tuple[int, Target], int] = {}
        self._targets: Recent[Target, CodedTarget] = Recent(most=1)
        self._variables: Recent[tuple[Any, Variable], NDArray[Any]] = Recent(MOST_VARIABLES)

    # Codes -----------------------------------------------------------------------------------------------------------

    def axis(self, column: str) -> Axis | None:
        """Return a contextual column in codes."""
        return self._axes[column]

    def codes(self, axis: Axis) -> NDArray[np.uint8]:
        """Return every row's code on an axis."""
        if axis.column not in self._codes:
            self._codes[axis.column] = axis.codes(self._table)
        return self._codes[axis.column]

    def rows_of(self, number: int) -> NDArray[np.intp]:
        """Return the positions of a set's rows."""
        if number not in self._rows:
            self._rows[number] = self._find_rows(number)
        return self._rows[number]

    def people(self, number: int, target: Target) -> CodedPeople:
        """Return the people of a set who have a value for all variables of a target."""
        coded = self._code_target(target)

        def make() -> CodedPeople:
            everyone = self.rows_of(number)
            rows = everyone[coded.cells.valid[everyone]]
            self._left_out[number, target] = everyone.size - rows.size
            return CodedPeople(self.codes, rows, coded.cells.take(rows))

        return coded.sets.get(number, make)

    def people_of(self, number: int, target: Target) -> CodedPeople:
        """Return whose sums are added up: the people of a set."""
        return self.people(number, target)

    def _code_target(self, target: Target) -> CodedTarget:
        def make() -> CodedTarget:
            largest = 1.0 if self._design is None else self._design.largest_weight
            return CodedTarget(cells_of(target, self._table, self._n_rows, self._weight, largest))

        return self._targets.get(target, make)

    @cached_property
    def _weight(self) -> FloatArray | None:
        """What every row weighs; None if all weigh the same."""
        return None if self._design is None else self._design.weights_of(self._table)

    @cached_property
    def _person(self) -> IntArray | None:
        """Whose every row is; None if each is one person who counts as any other."""
        return None if self._design is None else self._design.people_of(self._table)

    # Sums ------------------------------------------------------------------------------------------------------------

    def total(self, number: int, target: Target) -> NDArray[Any]:
        """Return the sums over a whole set."""
        return self.people_of(number, target).total(target)

    def tables(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> NDArray[Any]:
        """Return the sums of every context in a set."""
        return count_contexts(self.people_of(number, target), contexts, target, self.axis)

    def count_left_out(self, number: int, target: Target) -> int:
        """Return how many people of a set have no value for the target's variables."""
        if (number, target) not in self._left_out:
            self.people(number, target)
        return self._left_out[number, target]

    def label_counter(self, number: int, target: Target, labels: Labels) -> MemoryLabelCounter:
        """Return what counts labels in a set."""
        rows = self.rows_of(number)
        return MemoryLabelCounter(self._table, rows, target, labels, self.axis, self.codes, self._n_rows, self._weight)

    # People ----------------------------------------------------------------------------------------------------------

    def rows(self, number: int, context: Sequence[Condition], target: Target, axes: Sequence[Axis] = ()) -> Rows:
        """Return the people of one context in a set, as the target sees them."""
        rows = self._together(number, target)
        for condition in context:
            rows = rows[among(self._codes_on(condition.column)[rows], condition)]
        return self._seen_rows(rows, target, axes)

    def each_rows(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> Iterator[Rows]:
        """Yield the people of each of several contexts; those that begin alike are found together."""
        everybody = self._together(number, target)
        path: list[tuple[Condition, NDArray[np.intp]]] = []
        for ordered in commonest_first(contexts):
            same = 0
            while same < min(len(path), len(ordered)) and path[same][0] == ordered[same]:
                same += 1
            del path[same:]
            for condition in ordered[same:]:
                inside = path[-1][1] if path else everybody
                path.append((condition, inside[among(self._codes_on(condition.column)[inside], condition)]))
            yield self._seen_rows(path[-1][1] if path else everybody, target)

    def _together(self, number: int, target: Target) -> NDArray[np.intp]:
        """Return the rows of a set that have a value, those of a person one after the other."""
        coded = self._code_target(target)

        def order() -> NDArray[np.intp]:
            rows = self.people(number, target).rows
            return rows if self._person is None else rows[np.argsort(self._person[rows], kind="stable")]

        return coded.together.get(number, order)

    def _seen_rows(self, rows: NDArray[np.intp], target: Target, axes: Sequence[Axis] = ()) -> Rows:
        def take(variable: Variable, read: Callable[[Variable, Table], NDArray[Any]]) -> NDArray[Any]:
            everybody = self._variables.get((read, variable), lambda: read(variable, self._table))
            return everybody[rows]

        protected, output = (
            take(v, Variable.numbers if v.is_number else Variable.values if _is_summed(v, target) else Variable.codes)
            for v in (target.protected, target.output)
        )
        stratum = np.zeros(rows.size, np.int32) if target.strata is None else take(target.strata, Variable.codes)
        person = None if self._person is None else self._person[rows]
        weight = None if self._weight is None else self._weight[rows]
        return Rows(protected, output, stratum, {axis.column: self.codes(axis)[rows] for axis in axes}, person, weight)

    def profiles(self, number: int, targets: Sequence[Target], axes: Sequence[Axis]) -> Profiles:
        """Return the kinds of people in a set, ordered by their codes."""
        rows = self.rows_of(number)
        codes = {axis.column: self.codes(axis)[rows] for axis in axes}
        seen = [self._rows_for_sums(target, rows) for target in targets]
        columns = [*codes.values(), *(column for s in seen for column in (s.stratum, s.protected, s.output))]
        first, people = distinct(columns, rows.size)
        return Profiles(
            people,
            {name: code[first] for name, code in codes.items()},
            [Rows(s.protected[first], s.output[first], s.stratum[first], {}) for s in seen],
        )

    def _rows_for_sums(self, target: Target, rows: NDArray[np.intp]) -> Rows:
        """Return people as sums see them, nothing but zeros and the stratum −1 where a value is missing."""
        valid = self._code_target(target).cells.valid[rows]
        stratum = np.zeros(rows.size, np.int32) if target.strata is None else target.strata.codes(self._table)[rows]
        s, o = (
            np.where(valid, (v.values if _is_summed(v, target) else v.codes)(self._table)[rows], 0)
            for v in (target.protected, target.output)
        )
        return Rows(s, o, np.where(valid, stratum, -1), {})

    def members(
        self, number: int, contexts: Sequence[Sequence[Condition]], sample: slice | None = None
    ) -> NDArray[np.uint64]:
        """Return who of a set is in each context, a bit for each person of the sample."""
        rows = self._sample_rows(number, sample)
        conditions = {condition for context in contexts for condition in context}
        codes = {column: self._codes_on(column).take(rows) for column in {c.column for c in conditions}}
        known = {condition: pack_bits(among(codes[condition.column], condition)) for condition in conditions}
        inside = np.tile(pack_bits(np.ones(rows.size, dtype=bool)), (len(contexts), 1))
        for i, context in enumerate(contexts):
            for condition in context:
                inside[i] &= known[condition]
        return inside

    def contributions(
        self, number: int, target: Target, sample: slice | None = None
    ) -> tuple[NDArray[np.int32], FloatArray]:
        """Return the cell of each person of the sample, and what they add to it, as many as there are bits for them."""
        rows, cells = self._sample_rows(number, sample), self._code_target(target).cells
        valid = cells.valid[rows]
        length = (rows.size + 63) // 64 * 64
        cell = np.full(length, -1, dtype=np.int32)
        cell[: rows.size] = np.where(valid, cells.cell[rows], -1)
        added = cells.terms if cells.weight is None else [cells.weight, *cells.terms]
        terms = np.zeros((len(added), length))
        for place, term in enumerate(added):
            terms[place, : rows.size] = np.where(valid, term[rows], 0.0)
        return cell, terms

    def _sample_rows(self, number: int, sample: slice | None) -> NDArray[np.intp]:
        """Return the rows of a sample of a set; if there is none, of that which a whole table would take."""
        rows = self.rows_of(number)
        return rows[slice(None, None, sample_step(rows.size)) if sample is None else sample]

    def _codes_on(self, column: str) -> NDArray[np.uint8]:
        axis = self.axis(column)
        assert axis is not None, "a context speaks of a column without an axis"
        return self.codes(axis)


def _is_summed(variable: Variable, target: Target) -> bool:
    """Whether the numbers of a variable are added up, rather than people with its codes counted."""
    return variable.is_number or (
        target.summary is SummaryKind.MOMENTS
        or (target.summary is SummaryKind.GROUP_MOMENTS and variable is target.measured)
    )
