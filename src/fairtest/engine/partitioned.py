"""The engine over partitions: every operation maps a pure function over them and adds, or concatenates, the results.

Sums are exact, so any number of partitions in any order gives the same bits. The tree built so far travels as the
steps that led to it, from which a partition finds the node of each of its rows: nothing is kept anywhere that could
not be made again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np

from fairtest.data.axes import level_axis, numeric_axis
from fairtest.data.holdout import TRAIN
from fairtest.data.labels import label_part
from fairtest.engine.batches import columns_of, in_batches, sums_of
from fairtest.engine.contract import Profiles, Rows, sample_step
from fairtest.engine.kernel.cells import SAMPLE, KnownKinds, estimate_kinds, most_kinds, possible_kinds
from fairtest.engine.kernel.frontier import MemoryFrontier, PartitionedFrontier
from fairtest.engine.kernel.joint import merge_profiles
from fairtest.engine.kernel.tables import count_contexts
from fairtest.engine.local import CodedPartition, PartitionCache, Request, one_for_each
from fairtest.engine.partitioned_labels import PartitionedLabelCounter
from fairtest.engine.recent import Recent
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.design import Design
    from fairtest.data.holdout import Holdout
    from fairtest.data.labels import Labels
    from fairtest.data.streaming.partitions import Partition
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.engine.contract import Frontier
    from fairtest.engine.kernel.frontier import Step
    from fairtest.engine.kernel.people import CodedPeople
    from fairtest.types import FloatArray

T = TypeVar("T")

MOST_KINDS = 1 << 20
"""More kinds of people than this are not tallied."""
FEW_CONTEXTS = 64
"""Up to this many contexts are counted person by person, unless the kinds of people are known: it is one pass over the
rows as well, and reads fewer columns."""


class Runner(Protocol):
    """Where requests are answered. Threads may ask at once."""

    @property
    def partitions(self) -> Sequence[Partition]:
        """The table, in the order of its rows."""

    def run(self, request: Request, *, add: bool) -> Any:
        """Return the sum of the partitions' answers, or a list of them in the order of the rows."""


class Here:
    """Answers requests in this process, one partition after the other.

    Parameters
    ----------
    kept
        How many bytes may be kept from one request to the next.
    """

    def __init__(self, partitions: Sequence[Partition], kept: int) -> None:
        self.partitions = partitions
        self._cache = PartitionCache(kept)

    def run(self, request: Request, *, add: bool) -> Any:
        """Return what the partitions answer."""
        parts = [(number, partition, request.to(number)) for number, partition in enumerate(self.partitions)]
        return self._cache.answers(parts, add=add)


class PartitionedEngine:
    """Counts the people of a table in partitions. See :class:`fairtest.engine.contract.Engine`.

    It keeps what takes a pass over all partitions to find and is small: the axis of each column and the size of each
    set, written once; the kinds of people last found; and, where the last contexts were compared person by person, the
    cells of these people. Any thread may ask: what is kept follows from its key.

    Parameters
    ----------
    table
        What is known of the columns; their rows are not looked at.
    """

    def __init__(self, table: Table, holdout: Holdout, runner: Runner, design: Design | None = None) -> None:
        self._design = design
        self._table = table
        self._holdout = holdout
        self._runner = runner
        self._axes: dict[str, Axis | None] = {}
        self._sizes: dict[int, list[int]] = {}
        self._kinds = KnownKinds()
        self._cells: Recent[tuple[int, Target], NDArray[np.int32]] = Recent(most=1)

    def add(self, question: partial[T], columns: Iterable[str]) -> T:
        """Return the sum of what partitions answer to a question: a method of :class:`CodedPartition`."""
        return cast("T", self._runner.run(self._request(question, columns), add=True))

    def collect(self, question: partial[T], columns: Iterable[str]) -> list[T]:
        """Return what every partition answers, in the order of the rows."""
        return cast("list[T]", self._runner.run(self._request(question, columns), add=False))

    def _request(self, question: partial[Any], columns: Iterable[str]) -> Request:
        axes = self._axes.copy()  # another thread may add one while the request is sent
        return Request(question, frozenset(columns), axes, self._holdout, self._table.n_rows, self._design)

    # Axes ------------------------------------------------------------------------------------------------------------

    def axis(self, column: str) -> Axis | None:
        """Return a contextual column in codes."""
        return self.axes([column])[0]

    def axes(self, columns: Sequence[str]) -> list[Axis | None]:
        """Return several contextual columns in codes: those with levels are counted in one pass."""
        new = [self._table[c] for c in dict.fromkeys(columns) if c not in self._axes]
        self._axes |= {c.name: None for c in new if c.kind is Kind.IDENTIFIER}
        levelled = [c for c in new if c.kind not in (Kind.IDENTIFIER, Kind.NUMERIC)]
        if levelled:
            names = [c.name for c in levelled]
            counts = self.add(partial(CodedPartition.count_levels, number=TRAIN, columns=names), names)
            self._axes |= {c.name: level_axis(c, n) for c, n in zip(levelled, counts, strict=True)}
        for column in (c for c in new if c.kind is Kind.NUMERIC):
            self._axes[column.name] = numeric_axis(column, self._numbers_in(column.name))
        return [self._axes[c] for c in columns]

    def _numbers_in(self, column: str) -> NDArray[np.float64]:
        """Return the numbers that people of the training set have in a column, held once."""
        parts = self.collect(partial(CodedPartition.numbers_in, number=TRAIN, column=column), [column])
        numbers = np.empty(sum(part.size for part in parts))
        end = numbers.size
        while parts:
            last = parts.pop()
            numbers[end - last.size : end] = last
            end -= last.size
        return numbers

    def columns_in(self, contexts: Sequence[Sequence[Condition]]) -> set[str]:
        """Return the columns of some contexts, and find their axes, which a partition must know."""
        columns = {condition.column for context in contexts for condition in context}
        self.axes(sorted(columns))
        return columns

    # Sums ------------------------------------------------------------------------------------------------------------

    def frontier(self, target: Target) -> Frontier:
        """Return the root of a tree over the training rows."""
        kinds = self._kinds_of(TRAIN, target)
        if kinds is not None:
            return MemoryFrontier(kinds, target)
        return PartitionedFrontier(partial(self.histograms, target))

    def histograms(
        self, target: Target, steps: Sequence[Step], axes: Sequence[Axis], first: int, last: int
    ) -> list[NDArray[Any]]:
        """Return the sums by node and code of each axis, for the nodes that some steps lead to."""
        here = self._in_parts(target)
        question = partial(CodedPartition.histograms, target=here, steps=steps, axes=axes, first=first, last=last)
        return self.add(question, _columns(axes, *(cut for cut, _, _ in steps)) | columns_of(target))

    def total(self, number: int, target: Target) -> NDArray[Any]:
        """Return the sums over a whole set."""
        question = partial(CodedPartition.total, number=number, target=self._in_parts(target))
        return np.asarray(self.add(question, columns_of(target)))

    def tables(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> NDArray[Any]:
        """Return the sums of every context in a set, in as few passes as memory allows."""
        self.columns_in(contexts)
        kinds = self._kinds_of(number, target, look=len(contexts) > FEW_CONTEXTS)
        if kinds is not None:
            return count_contexts(kinds, contexts, target, self.axis)
        here = self._in_parts(target)
        pieces = [
            self.add(
                partial(CodedPartition.tables, number=number, contexts=some, target=here),
                self.columns_in(some) | columns_of(target),
            )
            for some in [*in_batches(contexts, [sums_of(target)] * len(contexts))] or [[]]
        ]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def joint(self, number: int, axes: Sequence[Axis], target: Target) -> NDArray[Any]:
        """Return the sums by the codes of several axes at once."""
        return next(self.joints(number, [axes], target))

    def joints(self, number: int, several: Sequence[Sequence[Axis]], target: Target) -> Iterator[NDArray[Any]]:
        """Yield the sums by the codes of each of several sets of axes, in as few passes as memory allows."""
        kinds = self._kinds_of(number, target)
        if kinds is not None:
            yield from (kinds.joint(axes, target) for axes in several)
            return
        here = self._in_parts(target)
        for some in in_batches(several, [sums_of(target) * prod(a.size for a in axes) for axes in several]):
            question = partial(CodedPartition.joints, number=number, several=some, target=here)
            yield from self.add(question, _columns(*some) | columns_of(target))

    def count_left_out(self, number: int, target: Target) -> int:
        """Return how many people of a set have no value for the target's variables."""
        question = partial(CodedPartition.count_left_out, number=number, target=self._in_parts(target))
        return int(self.add(question, columns_of(target)))

    def _kinds_of(self, number: int, target: Target, *, look: bool = True) -> CodedPeople | None:
        """Return the kinds of people in a set, alike on all axes that are known by now; None if they are not few.

        ``look`` says whether it is worth a pass to find them, if they are not known.
        """
        if target.summary is not SummaryKind.COUNTS or label_part(target.output) is not None:
            return None
        if self._design is not None and self._design.weights is not None:
            return None  # people of one kind weigh differently
        axes = tuple(axis for _, axis in sorted(self._axes.copy().items()) if axis is not None)
        find = partial(self._find_kinds, number, target, axes) if look else None
        return self._kinds.get(number, target, axes, find)

    def _find_kinds(self, number: int, target: Target, axes: Sequence[Axis]) -> CodedPeople | None:
        sizes = self._sizes_of(number)
        most = min(most_kinds(axes, target.n_cells, sum(sizes)), MOST_KINDS)
        if not most:
            return None
        columns = _columns(axes) | columns_of(target)
        if possible_kinds(axes, target.n_cells) > most:
            some = {0, len(sizes) // 2, len(sizes) - 1}
            step = max(sum(sizes[i] for i in some) // SAMPLE, 1)
            steps = one_for_each([step if i in some else 0 for i in range(len(sizes))])
            question = partial(CodedPartition.sample_kinds, number=number, target=target, axes=axes, step=steps)
            if estimate_kinds(np.concatenate(self.collect(question, columns)), sum(sizes)) > most:
                return None
        tally = self.add(
            partial(CodedPartition.tally_kinds, number=number, target=target, axes=axes, most=most), columns
        )
        return tally.kinds(axes, target.n_cells)

    # People ----------------------------------------------------------------------------------------------------------

    def rows(self, number: int, context: Sequence[Condition], target: Target, axes: Sequence[Axis] = ()) -> Rows:
        """Return the people of one context in a set, as the target sees them."""
        return next(self._rows_of(number, [context], target, axes))

    def many_rows(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> Iterator[Rows]:
        """Yield the people of each of several contexts, fetched in as few passes as memory allows."""
        about = replace(target, summary=SummaryKind.ROWS)
        people = self.tables(number, contexts, about).reshape(len(contexts), -1).sum(axis=1)
        for some in in_batches(contexts, people.tolist()):
            yield from self._rows_of(number, some, target, ())

    def _rows_of(
        self, number: int, contexts: Sequence[Sequence[Condition]], target: Target, axes: Sequence[Axis]
    ) -> Iterator[Rows]:
        columns = self.columns_in(contexts) | _columns(axes) | columns_of(target)
        here = self._in_parts(target)
        question = partial(CodedPartition.many_rows, number=number, contexts=contexts, target=here, axes=axes)
        return map(_concatenate, zip(*self.collect(question, columns), strict=True))

    def profiles(self, number: int, targets: Sequence[Target], axes: Sequence[Axis]) -> Profiles:
        """Return the kinds of people in a set, ordered by their codes."""
        here = one_for_each([list(some) for some in zip(*map(self._target_of_each, targets), strict=True)])
        columns = _columns(axes).union(*map(columns_of, targets))
        question = partial(CodedPartition.profiles, number=number, targets=here, axes=axes)
        return merge_profiles(self.collect(question, columns))

    def members(self, number: int, contexts: Sequence[Sequence[Condition]]) -> NDArray[np.uint64]:
        """Return who of a set is in each context; every partition begins a new word."""
        sample = one_for_each(self._samples(number))
        question = partial(CodedPartition.members, number=number, contexts=contexts, sample=sample)
        return np.concatenate(self.collect(question, self.columns_in(contexts)), axis=1)

    def contributions(self, number: int, target: Target) -> tuple[NDArray[np.int32], FloatArray]:
        """Return what each person that is looked at adds to the sums of a target."""
        here, sample = self._in_parts(target), one_for_each(self._samples(number))
        question = partial(CodedPartition.contributions, number=number, target=here, sample=sample)
        cells, terms = zip(*self.collect(question, columns_of(target)), strict=True)
        return np.concatenate(cells), np.concatenate(terms, axis=1)

    def _sizes_of(self, number: int) -> list[int]:
        """Return how many people of a set are in each partition."""
        if number not in self._sizes:
            self._sizes[number] = [
                self._holdout.rows_within(number, p.start, p.start + p.n_rows).size for p in self._runner.partitions
            ]
        return self._sizes[number]

    def _samples(self, number: int) -> list[slice]:
        """Return who is looked at in each partition: every k-th person of the whole set, beginning with the first."""
        sizes = self._sizes_of(number)
        step = sample_step(sum(sizes))
        starts = [0, *accumulate(sizes)]
        return [slice(-start % step, None, step) for start in starts[: len(sizes)]]

    # Labels ----------------------------------------------------------------------------------------------------------

    def label_counter(self, number: int, target: Target, labels: Labels) -> PartitionedLabelCounter:
        """Return what counts labels in a set."""
        return PartitionedLabelCounter(self, number, target, labels)

    def labels_of_each(self, labels: Labels) -> list[Labels]:
        """Return the labels of each partition's people."""
        return labels.within([p.start + p.n_rows for p in self._runner.partitions])

    def _target_of_each(self, target: Target) -> list[Target]:
        """Return a target as each partition sees it: of a label, only its own people."""
        part = label_part(target.output)
        if part is None:
            return [target] * len(self._runner.partitions)
        labels = self.labels_of_each(part.labels.only(part.place))
        return [replace(target, output=alone.variable(0)) for alone in labels]

    def _in_parts(self, target: Target) -> Target:
        """Return a target as an argument of a question."""
        return target if label_part(target.output) is None else one_for_each(self._target_of_each(target))


def _columns(*several: Iterable[Axis | None]) -> set[str]:
    """Return the columns of some sets of axes."""
    return {axis.column for axes in several for axis in axes if axis is not None}


def _concatenate(parts: Sequence[Rows]) -> Rows:
    """Return the people of all partitions: in the order of the rows, or the rows of a person one after the other."""
    found = Rows(
        np.concatenate([part.protected for part in parts]),
        np.concatenate([part.output for part in parts]),
        np.concatenate([part.stratum for part in parts]),
        {name: np.concatenate([part.codes[name] for part in parts]) for name in parts[0].codes},
        *(_together([getattr(part, name) for part in parts]) for name in ("person", "weight")),
    )
    if found.person is None:
        return found
    order = np.argsort(found.person, kind="stable")
    return replace(found.take(order), codes={name: codes[order] for name, codes in found.codes.items()})


def _together(parts: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """Return what all partitions have, one after the other; None if they have nothing."""
    there = [part for part in parts if part is not None]
    return np.concatenate(there) if there else None
