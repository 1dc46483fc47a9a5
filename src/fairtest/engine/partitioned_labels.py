"""Counting labels over partitions."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy import sparse

from fairtest.engine.batches import columns_of, in_batches, sums_of
from fairtest.engine.contract import LabelRows
from fairtest.engine.kernel.frontier import PartitionedFrontier
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
        ((n_people, self.people),) = engine.add(*self._ask(MemoryLabelCounter.tally, [()], ()))
        self.n_people = int(n_people)

    def _ask(
        self, method: Callable[..., T], asked: Sequence[tuple[Any, ...]], columns: Iterable[str]
    ) -> tuple[partial[list[T]], set[str]]:
        """Return the question what a method of the partitions' counters gives for several arguments, in one pass."""
        question = partial(CodedPartition.ask_labels, **self._whom, method=method, asked=asked)
        return question, {*columns, *columns_of(self._target)}

    def joints(self, asked: Sequence[tuple[Sequence[Axis], IntArray]]) -> Iterator[NDArray[Any]]:
        """Yield the sums by the codes of several sets of axes, in as few passes as memory allows."""
        size = sums_of(self._target)
        numbers = [size * len(places) * prod(a.size for a in axes) for axes, places in asked]
        for some in in_batches(asked, numbers):
            columns = {a.column for axes, _ in some for a in axes}
            yield from self._engine.add(*self._ask(MemoryLabelCounter.joint, some, columns))

    def frontier(self, places: IntArray) -> PartitionedFrontier:
        """Return the root of a tree."""
        return PartitionedFrontier(partial(self._histograms, places))

    def _histograms(
        self, places: IntArray, steps: Sequence[Step], axes: Sequence[Axis], first: int, last: int
    ) -> Iterator[NDArray[Any]]:
        """Yield the sums by node, code of an axis and label, for some of the nodes that some steps lead to."""
        cut = {a.column for cuts, _, _ in steps for a in cuts if a is not None}
        for axis in axes:
            asked = [(steps, axis, places, first, last)]
            yield from self._engine.add(*self._ask(MemoryLabelCounter.histogram, asked, {*cut, axis.column}))

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
