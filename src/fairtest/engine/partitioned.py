"""The engine over partitions: every operation maps a pure function over them and adds, or strings together, results.

Sums are exact, so any number of partitions in any order gives the same bits. The tree built so far travels as the
steps that led to it, from which a partition finds the node of each of its rows: nothing is kept anywhere that could
not be made again.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

from fairtest.data.axes import level_axis, numeric_axis
from fairtest.data.holdout import TRAIN
from fairtest.data.labels import label_part
from fairtest.engine.contract import LabelRows, Profiles, Rows, sample_step
from fairtest.engine.kernel.cells import SAMPLE, expected, most_kinds, possible_kinds
from fairtest.engine.kernel.joint import merged
from fairtest.engine.kernel.tables import count_contexts
from fairtest.engine.local import EachPart, LocalCache, Request, Step, fulfil
from fairtest.engine.memory import frontier_of, joint_of, people_of
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.holdout import Holdout
    from fairtest.data.labels import Labels
    from fairtest.data.streaming.partitions import Partition
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.engine.contract import Frontier
    from fairtest.engine.kernel.cells import Kinds, Tally
    from fairtest.types import FloatArray, IntArray

AT_ONCE = 1 << 23
"""About how many numbers may be counted together in one pass over the partitions."""
MOST_KINDS = 1 << 20
"""More kinds of people than this are not tallied."""
FEW_CONTEXTS = 64
"""So few contexts are counted as people, unless their kinds are known: that takes one pass too, of fewer columns."""


class Runner(Protocol):
    """Where requests are answered."""

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
        self._cache = LocalCache(kept)

    def run(self, request: Request, *, add: bool) -> Any:
        """Return what the partitions answer."""
        parts = [(i, partition, request.within(i)) for i, partition in enumerate(self.partitions)]
        return fulfil(self._cache, parts, add=add)


class PartitionedEngine:
    """Counts the people of a table in partitions. See :class:`fairtest.engine.contract.Engine`.

    Parameters
    ----------
    table
        What is known of the columns; their rows are not looked at.
    """

    def __init__(self, table: Table, holdout: Holdout, runner: Runner) -> None:
        self._table = table
        self._holdout = holdout
        self._runner = runner
        self._axes: dict[str, Axis | None] = {}
        self._sizes: dict[int, list[int]] = {}
        self._cells: tuple[int, Target, NDArray[np.int32]] | None = None
        self._kinds: tuple[tuple[int, Target, tuple[Axis, ...]], Kinds | None] | None = None
        self._not_few: tuple[Target, tuple[Axis, ...]] | None = None

    def _run(self, method: str, *arguments: Any, columns: Iterable[str], add: bool = True) -> Any:
        request = Request(method, arguments, frozenset(columns), self._axes, self._holdout, self._table.n_rows)
        return self._runner.run(request, add=add)

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
            counts = self._run("counts_of_levels", TRAIN, names, columns=names)
            self._axes |= {c.name: level_axis(c, n) for c, n in zip(levelled, counts, strict=True)}
        for column in (c for c in new if c.kind is Kind.NUMERIC):
            self._axes[column.name] = numeric_axis(column, self._numbers_of(column.name))
        return [self._axes[c] for c in columns]

    def _numbers_of(self, column: str) -> NDArray[np.float64]:
        """Return the numbers that people of the training set have in a column, held once."""
        parts = self._run("numbers_of", TRAIN, column, columns=[column], add=False)
        numbers = np.empty(sum(part.size for part in parts))
        end = numbers.size
        while parts:
            last = parts.pop()
            numbers[end - last.size : end] = last
            end -= last.size
        return numbers

    def spoken_of(self, contexts: Sequence[Sequence[Condition]]) -> set[str]:
        """Return the columns that contexts speak of, whose axes a partition must know."""
        columns = {condition.column for context in contexts for condition in context}
        self.axes(sorted(columns))
        return columns

    # Sums ------------------------------------------------------------------------------------------------------------

    def frontier(self, target: Target) -> Frontier:
        """Return the root of a tree over the training rows."""
        kinds = self._kinds_of(TRAIN, target)
        if kinds is None:
            return PartitionedFrontier(self, target)
        return frontier_of(kinds, target, lambda: PartitionedFrontier(self, target))

    def histograms(
        self, target: Target, steps: Sequence[Step], axes: Sequence[Axis], first: int, last: int
    ) -> list[NDArray[Any]]:
        """Return the sums by node and code of each axis, for the nodes that some steps lead to."""
        used = {a.column for a in axes} | {a.column for cut, _, _ in steps for a in cut if a is not None}
        here = self._local(target)
        return list(self._run("histograms", here, steps, axes, first, last, columns=used | columns_of(target)))

    def total(self, number: int, target: Target) -> NDArray[Any]:
        """Return the sums over a whole set."""
        return np.asarray(self._run("total", number, self._local(target), columns=columns_of(target)))

    def tables(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> NDArray[Any]:
        """Return the sums of every context in a set, in as few passes as memory allows."""
        spoken = self.spoken_of(contexts)
        kinds = self._kinds_of(number, target, spoken, look=len(contexts) > FEW_CONTEXTS)
        if kinds is not None:
            return count_contexts(people_of(kinds), contexts, target, self.axis)
        here = self._local(target)
        pieces = []
        step = max(AT_ONCE // _numbers(target), 1)
        for first in range(0, max(len(contexts), 1), step):
            some = contexts[first : first + step]
            pieces.append(self._run("tables", number, some, here, columns=self.spoken_of(some) | columns_of(target)))
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def joint(self, number: int, axes: Sequence[Axis], target: Target) -> NDArray[Any]:
        """Return the sums by the codes of several axes at once."""
        return next(self.joints(number, [axes], target))

    def joints(self, number: int, several: Sequence[Sequence[Axis]], target: Target) -> Iterator[NDArray[Any]]:
        """Yield the sums by the codes of each of several sets of axes, in as few passes as memory allows."""
        kinds = self._kinds_of(number, target, {a.column for axes in several for a in axes})
        if kinds is not None:
            people = people_of(kinds)
            yield from (joint_of(people, axes, target) for axes in several)
            return
        here = self._local(target)
        for some in _in_budget(several, [_numbers(target) * _prod(a.size for a in axes) for axes in several]):
            columns = {a.column for axes in some for a in axes} | columns_of(target)
            yield from self._run("joint_of_each", number, some, here, columns=columns)

    def _kinds_of(self, number: int, target: Target, columns: Iterable[str] = (), *, look: bool = True) -> Kinds | None:
        """Return the kinds of people in a set, alike on all axes that are known by now; None if they are not few.

        Those last found are kept. ``look`` says whether it is worth a pass to find others; where they are not few in
        one set, they are not looked for in another.
        """
        axes = tuple(axis for _, axis in sorted(self._axes.items()) if axis is not None)
        key = (number, target, axes)
        if (target, axes) == self._not_few:
            return None
        if (self._kinds is None or self._kinds[0] != key) and look:
            self._kinds = key, self._found_kinds(number, target, axes)
            if self._kinds[1] is None:
                self._not_few = (target, axes)
        if self._kinds is None or self._kinds[0] != key:
            return None
        kinds = self._kinds[1]
        return kinds if kinds is not None and all(map(kinds.know, columns)) else None

    def _found_kinds(self, number: int, target: Target, axes: Sequence[Axis]) -> Kinds | None:
        if target.summary is not SummaryKind.COUNTS or label_part(target.output) is not None:
            return None
        sizes = self._sizes_of(number)
        most = min(most_kinds(axes, target.n_cells, sum(sizes)), MOST_KINDS)
        if not most:
            return None
        columns = {axis.column for axis in axes} | columns_of(target)
        if possible_kinds(axes, target.n_cells) > most:
            some = {0, len(sizes) // 2, len(sizes) - 1}
            step = max(sum(sizes[i] for i in some) // SAMPLE, 1)
            asked = EachPart([step if i in some else 0 for i in range(len(sizes))])
            sample = self._run("sample_of_kinds", number, target, axes, asked, columns=columns, add=False)
            if expected(np.concatenate(sample), sum(sizes)) > most:
                return None
        tally: Tally = self._run("tally", number, target, axes, most, columns=columns)
        return tally.kinds(axes, target.n_cells)

    def left_out(self, number: int, target: Target) -> int:
        """Return how many people of a set have no value for the target's variables."""
        return int(self._run("left_out", number, self._local(target), columns=columns_of(target)))

    # People ----------------------------------------------------------------------------------------------------------

    def rows(self, number: int, context: Sequence[Condition], target: Target, axes: Sequence[Axis] = ()) -> Rows:
        """Return the people of one context in a set, as the target sees them."""
        return next(self._rows_of(number, [context], target, axes))

    def many_rows(self, number: int, contexts: Sequence[Sequence[Condition]], target: Target) -> Iterator[Rows]:
        """Yield the people of each of several contexts, fetched in as few passes as memory allows."""
        about = replace(target, summary=SummaryKind.ROWS)
        people = self.tables(number, contexts, about).reshape(len(contexts), -1).sum(axis=1)
        for some in _in_budget(contexts, people.tolist()):
            yield from self._rows_of(number, some, target, ())

    def _rows_of(
        self, number: int, contexts: Sequence[Sequence[Condition]], target: Target, axes: Sequence[Axis]
    ) -> Iterator[Rows]:
        columns = self.spoken_of(contexts) | {a.column for a in axes} | columns_of(target)
        parts = self._run("rows_of_each", number, contexts, self._local(target), axes, columns=columns, add=False)
        return (_strung(part) for part in zip(*parts, strict=True))

    def profiles(self, number: int, targets: Sequence[Target], axes: Sequence[Axis]) -> Profiles:
        """Return the kinds of people in a set, ordered by their codes."""
        here = [self._local(target) for target in targets]
        listed = EachPart([[_at(t, i) for t in here] for i in range(len(self._runner.partitions))])
        columns = {a.column for a in axes}.union(*(columns_of(t) for t in targets))
        return merged(self._run("profiles", number, listed, axes, columns=columns, add=False))

    def members(self, number: int, contexts: Sequence[Sequence[Condition]]) -> NDArray[np.uint64]:
        """Return who of a set is in each context; every partition begins a new word."""
        columns = self.spoken_of(contexts)
        parts = self._run("picked_members", number, contexts, self._picked(number), columns=columns, add=False)
        return np.concatenate(parts, axis=1)

    def contributions(self, number: int, target: Target) -> tuple[NDArray[np.int32], FloatArray]:
        """Return what each person that is looked at adds to the sums of a target."""
        here, columns = self._local(target), columns_of(target)
        parts = self._run("picked_contributions", number, here, self._picked(number), columns=columns, add=False)
        return np.concatenate([cell for cell, _ in parts]), np.concatenate([terms for _, terms in parts], axis=1)

    def _sizes_of(self, number: int) -> list[int]:
        """Return how many people of a set are in each partition."""
        if number not in self._sizes:
            self._sizes[number] = [
                self._holdout.rows_within(number, p.start, p.start + p.n_rows).size for p in self._runner.partitions
            ]
        return self._sizes[number]

    def _picked(self, number: int) -> EachPart:
        """Return, for every partition, the first person that is looked at and every how many-th from there on."""
        sizes = self._sizes_of(number)
        step = sample_step(sum(sizes))
        starts = [0, *accumulate(sizes)]
        return EachPart([(-start % step, step) for start in starts[: len(sizes)]])

    # Labels ----------------------------------------------------------------------------------------------------------

    def label_counter(self, number: int, target: Target, labels: Labels) -> PartitionedLabelCounter:
        """Return what counts labels in a set."""
        return PartitionedLabelCounter(self, number, target, labels)

    def of_labels(self, method: str, *arguments: Any, columns: Iterable[str], add: bool = True) -> Any:
        """Return what the partitions' label counters answer."""
        return self._run(method, *arguments, columns=columns, add=add)

    def labels_in_parts(self, labels: Labels) -> EachPart:
        """Return the labels of each partition's people."""
        return EachPart(labels.within([p.start + p.n_rows for p in self._runner.partitions]))

    def _local(self, target: Target) -> Target | EachPart:
        """Return a target as partitions see it: of a label, each gets those of its own people."""
        part = label_part(target.output)
        if part is None:
            return target
        labels = self.labels_in_parts(part.labels.only(part.place))
        return EachPart([replace(target, output=alone.variable(0)) for alone in labels.values])


class PartitionedFrontier:
    """The nodes at one depth of a tree, known by the steps that lead to them."""

    def __init__(self, engine: PartitionedEngine, target: Target) -> None:
        self._engine = engine
        self._target = target
        self._steps: list[Step] = []
        self.n_nodes = 1

    def histograms(self, axes: Sequence[Axis], first: int, last: int) -> Iterator[NDArray[Any]]:
        """Yield the sums by node and code of each axis, counted in one pass."""
        if axes:
            yield from self._engine.histograms(self._target, self._steps, axes, first, last)

    def advance(self, axes: Sequence[Axis | None], child: IntArray, nodes: IntArray | None = None) -> None:
        """Go one level down."""
        self._steps = [*self._steps, (tuple(axes), child.copy(), None if nodes is None else nodes.copy())]
        self.n_nodes = int(child.max(initial=-1)) + 1


class PartitionedLabelCounter:
    """Counts labels in partitions. See :class:`fairtest.engine.contract.LabelCounter`."""

    def __init__(self, engine: PartitionedEngine, number: int, target: Target, labels: Labels) -> None:
        self._engine = engine
        self._target = target
        self._head = (number, target, engine.labels_in_parts(labels))
        n_people, self.people = engine.of_labels("people_with_labels", *self._head, columns=columns_of(target))
        self.n_people = int(n_people)

    def _ask(self, method: str, asked: Sequence[Any], columns: Iterable[str], *, add: bool = True) -> Iterator[Any]:
        """Yield what partitions answer to each of several questions, in one pass."""
        columns = {*columns, *columns_of(self._target)}
        found = self._engine.of_labels("of_labels", *self._head, method, asked, columns=columns, add=add)
        return iter(found if add else zip(*found, strict=True))

    def joint(self, axes: Sequence[Axis], places: IntArray) -> NDArray[Any]:
        """Return the sums by the codes of some axes."""
        return next(self.joints([(axes, places)]))

    def joints(self, asked: Sequence[tuple[Sequence[Axis], IntArray]]) -> Iterator[NDArray[Any]]:
        """Yield the sums by the codes of several sets of axes, in as few passes as memory allows."""
        size = _numbers(self._target)
        numbers = [size * len(places) * _prod(a.size for a in axes) for axes, places in asked]
        for some in _in_budget(asked, numbers):
            yield from self._ask("joint", some, {a.column for axes, _ in some for a in axes})

    def frontier(self) -> PartitionedLabelFrontier:
        """Return the root of a tree."""
        return PartitionedLabelFrontier(self)

    def histogram(self, steps: Sequence[Step], axis: Axis, places: IntArray) -> NDArray[Any]:
        """Return the sums by node, code of an axis and label, for the nodes that some steps lead to."""
        columns = {axis.column, *columns_of(self._target)}
        columns |= {a.column for cut, _, _ in steps for a in cut if a is not None}
        asked = (*self._head, steps, axis, places)
        return np.asarray(self._engine.of_labels("label_histogram", *asked, columns=columns))

    def table(self, context: Sequence[Condition], places: IntArray) -> NDArray[Any]:
        """Return the sums of some labels in one context."""
        return next(self.tables([(context, places)]))

    def tables(self, asked: Sequence[tuple[Sequence[Condition], IntArray]]) -> Iterator[NDArray[Any]]:
        """Yield the sums of some labels in each of several contexts, in as few passes as memory allows."""
        size = _numbers(self._target)
        for some in _in_budget(asked, [size * len(places) for _, places in asked]):
            yield from self._ask("table", some, self._engine.spoken_of([context for context, _ in some]))

    def design(self, context: Sequence[Condition], places: IntArray) -> LabelRows:
        """Return who in a context has which of some labels, person by person."""
        parts = next(self._ask("design", [(context, places)], self._engine.spoken_of([context]), add=False))
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


def columns_of(target: Target) -> set[str]:
    """Return the columns a target is made of; those of a label are not read, its people are known."""
    variables = [v for v in (target.protected, target.output, target.strata) if v is not None]
    return {c for v in variables if label_part(v) is None for c in v.columns}


def _at(value: Any, place: int) -> Any:
    return value.values[place] if isinstance(value, EachPart) else value


def _strung(parts: Sequence[Rows]) -> Rows:
    """Return the people of all partitions, in the order of the rows."""
    return Rows(
        np.concatenate([part.protected for part in parts]),
        np.concatenate([part.output for part in parts]),
        np.concatenate([part.stratum for part in parts]),
        {name: np.concatenate([part.codes[name] for part in parts]) for name in parts[0].codes},
    )


def _numbers(target: Target) -> int:
    return target.n_cells * _prod(target.sum_shape)


def _prod(sizes: Iterable[int]) -> int:
    return int(np.prod([1, *sizes], dtype=np.int64))


def _in_budget(several: Sequence[Any], numbers: Sequence[int]) -> Iterator[list[Any]]:
    """Yield runs of requests that together ask for no more numbers than are counted at once; a large one alone."""
    some: list[Any] = []
    held = 0
    for one, many in zip(several, numbers, strict=True):
        if some and held + many > AT_ONCE:
            yield some
            some, held = [], 0
        some.append(one)
        held += many
    if some:
        yield some
