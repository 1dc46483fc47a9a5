"""Counting labels over partitions."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy import sparse

from fairtest.engine.batches import columns_of, in_batches, sums_of
from fairtest.engine.contract import LabelRows
from fairtest.engine.kernel.labels import MemoryLabelCounter
from fairtest.engine.local import CodedPartition, one_for_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.labels import Labels
    from fairtest.data.summaries import Target
    from fairtest.engine.kernel.frontier import Step
    from fairtest.engine.partitioned import PartitionedEngine
    from fairtest.types import IntArray

T = TypeVar("T")


class PartitionedLabelCounter:
    """Counts labels in partitions. See :class:`fairtest.engine.contract.LabelCounter`."""

    def __init__(self, engine: PartitionedEngine, number: int, target: Target, labels: Labels) -> None:
        self._engine = engine
        self._target = target
        self._whom: dict[str, Any] = {
            "number": number,
            "target": target,
            "labels": one_for_each(engine.labels_of_each(labels)),
        }
        question = partial(CodedPartition.people_with_labels, **self._whom)
        n_people, self.people = engine.add(question, columns_of(target))
        self.n_people = int(n_people)

    def _ask(
        self, method: Callable[..., T], asked: Sequence[tuple[Any, ...]], columns: Iterable[str]
    ) -> tuple[partial[list[T]], set[str]]:
        """Return the question what a method of the partitions' counters gives for several arguments, in one pass."""
        question = partial(CodedPartition.ask_labels, **self._whom, method=method, asked=asked)
        return question, {*columns, *columns_of(self._target)}

    def joint(self, axes: Sequence[Axis], places: IntArray) -> NDArray[Any]:
        """Return the sums by the codes of some axes."""
        return next(self.joints([(axes, places)]))

    def joints(self, asked: Sequence[tuple[Sequence[Axis], IntArray]]) -> Iterator[NDArray[Any]]:
        """Yield the sums by the codes of several sets of axes, in as few passes as memory allows."""
        size = sums_of(self._target)
        numbers = [size * len(places) * prod(a.size for a in axes) for axes, places in asked]
        for some in in_batches(asked, numbers):
            columns = {a.column for axes, _ in some for a in axes}
            yield from self._engine.add(*self._ask(MemoryLabelCounter.joint, some, columns))

    def frontier(self) -> PartitionedLabelFrontier:
        """Return the root of a tree."""
        return PartitionedLabelFrontier(self)

    def histogram(self, steps: Sequence[Step], axis: Axis, places: IntArray) -> NDArray[Any]:
        """Return the sums by node, code of an axis and label, for the nodes that some steps lead to."""
        columns = {axis.column, *columns_of(self._target)}
        columns |= {a.column for cut, _, _ in steps for a in cut if a is not None}
        question = partial(CodedPartition.label_histogram, **self._whom, steps=steps, axis=axis, places=places)
        return np.asarray(self._engine.add(question, columns))

    def table(self, context: Sequence[Condition], places: IntArray) -> NDArray[Any]:
        """Return the sums of some labels in one context."""
        return next(self.tables([(context, places)]))

    def tables(self, asked: Sequence[tuple[Sequence[Condition], IntArray]]) -> Iterator[NDArray[Any]]:
        """Yield the sums of some labels in each of several contexts, in as few passes as memory allows."""
        size = sums_of(self._target)
        for some in in_batches(asked, [size * len(places) for _, places in asked]):
            columns = self._engine.columns_in([context for context, _ in some])
            yield from self._engine.add(*self._ask(MemoryLabelCounter.table, some, columns))

    def design(self, context: Sequence[Condition], places: IntArray) -> LabelRows:
        """Return who in a context has which of some labels, person by person."""
        asked = self._ask(MemoryLabelCounter.design, [(context, places)], self._engine.columns_in([context]))
        parts = [part for (part,) in self._engine.collect(*asked)]
        return LabelRows(
            np.concatenate([part.protected for part in parts]),
            np.concatenate([part.stratum for part in parts]),
            sparse.vstack([part.labels for part in parts], format="csc"),
        )


class PartitionedLabelFrontier:
    """The nodes at one depth of a tree in which labels are counted."""

    def __init__(self, counter: PartitionedLabelCounter) -> None:
        self._counter = counter
        self._steps: list[Step] = []
        self.n_nodes = 1

    def histogram(self, axis: Axis, places: IntArray) -> NDArray[Any]:
        """Return the sums by node and code of an axis."""
        return self._counter.histogram(self._steps, axis, places)

    def advance(self, axes: Sequence[Axis | None], child: IntArray) -> None:
        """Go one level down."""
        self._steps = [*self._steps, (tuple(axes), child.copy(), None)]
        self.n_nodes = int(child.max(initial=-1)) + 1
