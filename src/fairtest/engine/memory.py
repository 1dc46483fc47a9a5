"""The engine for tables that fit in memory: one partition, counted here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtest.data.axes import make_axis
from fairtest.data.holdout import TRAIN
from fairtest.engine.coded import CodedTable
from fairtest.engine.kernel.cells import KnownKinds, kinds_of
from fairtest.engine.kernel.frontier import MemoryFrontier
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.design import Design
    from fairtest.data.holdout import Holdout
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.engine.contract import Frontier, Rows
    from fairtest.engine.kernel.people import CodedPeople


class MemoryEngine(CodedTable):
    """Counts the people of a table held in memory. See :class:`fairtest.engine.contract.Engine`.

    Besides what :class:`CodedTable` keeps, it has an axis for each column, and the kinds of people last found, which
    change what counting costs and never what comes out.
    """

    def __init__(self, table: Table, holdout: Holdout, design: Design | None = None) -> None:
        super().__init__(table, holdout.rows, {}, table.n_rows, design)
        self._kinds = KnownKinds()

    def axis(self, column: str) -> Axis | None:
        """Return a contextual column in codes."""
        if column not in self._axes:
            self._axes[column] = make_axis(self._table[column], self.rows_of(TRAIN))
        return self._axes[column]

    def axes(self, columns: Sequence[str]) -> list[Axis | None]:
        """Return several contextual columns in codes."""
        return [self.axis(column) for column in columns]

    def frontier(self, target: Target) -> Frontier:
        """Return the root of a tree over the training rows."""
        return MemoryFrontier(self.people_of(TRAIN, target), target)

    def joint(self, number: int, axes: Sequence[Axis], target: Target) -> NDArray[Any]:
        """Return the sums by the codes of several axes at once."""
        return next(self.joints(number, [axes], target))

    def joints(self, number: int, several: Sequence[Sequence[Axis]], target: Target) -> Iterator[NDArray[Any]]:
        """Yield the sums by the codes of each of several sets of axes."""
        people = self.people_of(number, target)
        return (people.joint(axes, target) for axes in several)

    def many_rows(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> Iterator[Rows]:
        """Yield the people of each of several contexts."""
        return self.each_rows(number, contexts, target)

    def tables(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> NDArray[Any]:
        """Return the sums of every context in a set."""
        self.axes(sorted({condition.column for context in contexts for condition in context}))  # for kinds to know
        return super().tables(number, contexts, target)

    def people_of(self, number: int, target: Target) -> CodedPeople:
        """Return whose sums are added up: the people of a set, or the kinds of people where they are few."""
        kinds = self._kinds_of(number, target)
        return self.people(number, target) if kinds is None else kinds

    def _kinds_of(self, number: int, target: Target) -> CodedPeople | None:
        """Return the kinds of people in a set, alike on all axes that are known by now; None if they are not few."""
        if target.summary is not SummaryKind.COUNTS:
            return None
        axes = tuple(axis for _, axis in sorted(self._axes.copy().items()) if axis is not None)

        def find() -> CodedPeople | None:
            people = self.people(number, target)

            def codes(axis: Axis, step: int) -> NDArray[np.uint8]:
                return people.codes(axis) if step == 1 else self.codes(axis)[people.rows[::step]]

            return kinds_of(codes, axes, people.cells, target.n_cells)

        return self._kinds.get(number, target, axes, find)
