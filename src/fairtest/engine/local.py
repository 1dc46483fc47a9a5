"""Counting within one partition: a request goes in, what can be added over partitions comes out.

A request is a pure function of a partition. What a partition has read and encoded may be kept for the next request,
within a bound of memory; the answer is the same whether it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.streaming.blocks import count_levels
from fairtest.data.table import Column, Table
from fairtest.engine.kernel.cells import Tally, keys_of, possible_kinds
from fairtest.engine.memory import MemoryEngine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.holdout import Holdout
    from fairtest.data.labels import Labels
    from fairtest.data.streaming.partitions import Partition
    from fairtest.data.summaries import Target
    from fairtest.engine.contract import Rows
    from fairtest.engine.kernel.labels import MemoryLabelCounter, MemoryLabelFrontier
    from fairtest.engine.memory import MemoryFrontier
    from fairtest.types import FloatArray, IntArray

Step = tuple["Sequence[Axis | None]", "IntArray", "IntArray | None"]
"""One level of a tree: see :meth:`fairtest.engine.contract.Frontier.advance`."""


@dataclass(frozen=True, eq=False)
class EachPart:
    """An argument that is another one for each partition."""

    values: Sequence[Any]


@dataclass(frozen=True, eq=False)
class Request:
    """A method of :class:`LocalEngine` and what to call it with.

    Attributes
    ----------
    columns
        The columns that are likely to be needed: a partition reads them together.
    axes
        What is known of the axes, which are those of the whole training set.
    holdout
        Which set every row of the whole table is in.
    n_rows
        How many rows that has.
    """

    method: str
    arguments: tuple[Any, ...]
    columns: frozenset[str]
    axes: Mapping[str, Axis | None]
    holdout: Holdout
    n_rows: int

    def within(self, place: int) -> Request:
        """Return the request as one partition gets it."""
        if not any(isinstance(a, EachPart) for a in self.arguments):
            return self
        arguments = tuple(a.values[place] if isinstance(a, EachPart) else a for a in self.arguments)
        return Request(self.method, arguments, self.columns, self.axes, self.holdout, self.n_rows)


@dataclass(frozen=True)
class _Split:
    """The part of a split that concerns one partition."""

    holdout: Holdout
    start: int
    stop: int

    def rows(self, number: int) -> NDArray[np.intp]:
        """Return the positions of a set's rows, counted from the start of the partition."""
        return self.holdout.rows_within(number, self.start, self.stop)


class _Columns(Mapping[str, Column]):
    """The columns of a partition, read when they are first asked for, those that are likely needed together."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._read: dict[str, Column] = {}
        self.likely: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> Column:
        if name not in self._read:
            wanted = sorted({name, *self.likely} - self._read.keys())
            self._read.update(self._partition.table(wanted).columns)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)

    def forget(self) -> None:
        """Let go of what was read."""
        self._read.clear()
        self.likely = frozenset()


class LocalEngine(MemoryEngine):
    """Counts the people of a partition along given axes. Every method is one that a :class:`Request` may name."""

    def __init__(self, partition: Partition, holdout: Holdout, n_rows: int) -> None:
        self._read = _Columns(partition)
        split = _Split(holdout, partition.start, partition.start + partition.n_rows)
        super().__init__(Table("", "", partition.n_rows, self._read), split, n_rows)
        self._frontier: tuple[Target, list[Step], MemoryFrontier] | None = None
        self._counter: tuple[int, Target, Labels, MemoryLabelCounter] | None = None
        self._picked: tuple[int, int] = (0, 1)

    def answer(self, request: Request) -> Any:
        """Return what a request asks for."""
        self._axes.update(request.axes)
        self._read.likely = frozenset(c for c in request.columns if c not in self._codes)
        return getattr(self, request.method)(*request.arguments)

    def axis(self, column: str) -> Axis | None:
        """Return a contextual column in codes, as the request has it: a partition must not make its own."""
        return self._axes[column]

    def _kinds_of(self, number: int, target: Target) -> None:
        """Count people as they are: finding kinds of them would read columns that a request does not need."""

    def sample_of_kinds(self, number: int, target: Target, axes: Sequence[Axis], step: int) -> NDArray[np.int64]:
        """Return the keys of the kinds of every so many-th person; of none for 0."""
        return self._keys_of(number, target, axes, step) if step else np.zeros(0, dtype=np.int64)

    def tally(self, number: int, target: Target, axes: Sequence[Axis], most: int) -> Tally:
        """Return how many people there are of each kind."""
        return Tally.of(self._keys_of(number, target, axes, 1), possible_kinds(axes, target.n_cells), most)

    def _keys_of(self, number: int, target: Target, axes: Sequence[Axis], step: int) -> NDArray[np.int64]:
        people = self._people_of(number, target)

        def codes(axis: Axis, step: int) -> NDArray[np.uint8]:
            return self.codes(axis)[people.rows[::step]]

        return keys_of(codes, axes, people.cells.cell, target.n_cells, step)

    def rest(self) -> None:
        """Let go of columns, and keep what was made of them for the next request."""
        self._read.forget()
        self._numbers.clear()
        self._levels.clear()

    def slim(self) -> None:
        """Let go of all but the codes, which every request needs."""
        self.rest()
        self._cells, self._people, self._rows, self._frontier, self._counter = {}, {}, {}, None, None

    @property
    def nbytes(self) -> int:
        """About how much memory is held."""
        held = sum(c.nbytes for c in self._codes.values()) + sum(r.nbytes for r in self._rows.values())
        held += sum(thing.nbytes for kept in (self._cells, self._people) for thing in kept.values())
        if self._frontier is not None:
            held += self._frontier[2].nbytes
        return held + (0 if self._counter is None else self._counter[3].nbytes)

    # What is asked besides the methods of the engine in memory -------------------------------------------------------

    def counts_of_levels(self, number: int, columns: Sequence[str]) -> list[IntArray]:
        """Return how many people of a set have each level of some columns."""
        return [count_levels(self._table[column], self._set(number)) for column in columns]

    def numbers_of(self, number: int, column: str) -> FloatArray:
        """Return the numbers that people of a set have in a column."""
        values = self._table[column].values
        assert values is not None
        seen = values[self._set(number)]
        return seen[~np.isnan(seen)]

    def joint_of_each(self, number: int, several: Sequence[Sequence[Axis]], target: Target) -> list[NDArray[Any]]:
        """Return the sums by the codes of each of several sets of axes."""
        return list(self.joints(number, several, target))

    def rows_of_each(
        self, number: int, contexts: Sequence[Sequence[Condition]], target: Target, axes: Sequence[Axis]
    ) -> list[Rows]:
        """Return the people of each of several contexts."""
        return [self.rows(number, context, target, axes) for context in contexts]

    def histograms(
        self, target: Target, steps: Sequence[Step], axes: Sequence[Axis], first: int, last: int
    ) -> list[NDArray[Any]]:
        """Return the sums by node and code of each axis, for the nodes that some steps lead to."""
        return list(self._led(target, steps).histograms(axes, first, last))

    def _led(self, target: Target, steps: Sequence[Step]) -> MemoryFrontier:
        """Return the nodes at the end of some steps, going on from where the last request was if that is on the way."""
        known, self._frontier = self._frontier, None
        done: list[Step] = []
        frontier = None
        if known is not None and known[0] == target and _begins(steps, known[1]):
            _, done, frontier = known
        if frontier is None:
            frontier = self.frontier_of_people(target)
        for axes, child, nodes in steps[len(done) :]:
            frontier.advance(axes, child, nodes)
        self._frontier = (target, list(steps), frontier)
        return frontier

    def picked_members(
        self, number: int, contexts: Sequence[Sequence[Condition]], picked: tuple[int, int]
    ) -> NDArray[np.uint64]:
        """Return who of the people that are looked at is in each context: every so many-th from a first one on."""
        self._picked = picked
        return self.members(number, contexts)

    def picked_contributions(
        self, number: int, target: Target, picked: tuple[int, int]
    ) -> tuple[NDArray[np.int32], FloatArray]:
        """Return what the people that are looked at add to the sums of a target."""
        self._picked = picked
        return self.contributions(number, target)

    def _sample(self, number: int) -> NDArray[np.intp]:
        first, step = self._picked
        return self._set(number)[first::step]

    def of_labels(
        self, number: int, target: Target, labels: Labels, method: str, asked: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        """Return what a method of a label counter gives for several arguments."""
        counter = self._counter_of(number, target, labels)
        return [getattr(counter, method)(*arguments) for arguments in asked]

    def people_with_labels(self, number: int, target: Target, labels: Labels) -> list[Any]:
        """Return how many people there are, and how many with each label."""
        counter = self._counter_of(number, target, labels)
        return [counter.n_people, counter.people]

    def label_histogram(
        self, number: int, target: Target, labels: Labels, steps: Sequence[Step], axis: Axis, places: IntArray
    ) -> NDArray[Any]:
        """Return the sums by node, code of an axis and label, for the nodes that some steps lead to."""
        frontier: MemoryLabelFrontier = self._counter_of(number, target, labels).frontier()
        for axes, child, _ in steps:
            frontier.advance(axes, child)
        return frontier.histogram(axis, places)

    def _counter_of(self, number: int, target: Target, labels: Labels) -> MemoryLabelCounter:
        known = self._counter
        if known is None or known[0] != number or known[1] != target or known[2] is not labels:
            known = self._counter = (number, target, labels, self.label_counter(number, target, labels))
        return known[3]


def _begins(steps: Sequence[Step], with_: Sequence[Step]) -> bool:
    """Whether some steps begin with others."""
    return len(with_) <= len(steps) and all(
        a[0] == b[0] and np.array_equal(a[1], b[1]) and _same(a[2], b[2]) for a, b in zip(steps, with_, strict=False)
    )


def _same(a: IntArray | None, b: IntArray | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)


@dataclass
class LocalCache:
    """Partitions with what was read and encoded of them, as long as it fits.

    What is there stays: requests go through all partitions in turn, so that whatever made place for the next would be
    missed when its own turn comes again.

    Attributes
    ----------
    most
        The most bytes that are kept.
    """

    most: int
    _kept: dict[object, tuple[LocalEngine, int]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _held: int = 0

    def answer(self, key: object, partition: Partition, request: Request) -> Any:
        """Return what a partition answers to a request."""
        with self._lock:
            local, held = self._kept.pop(key, (None, 0))
            self._held -= held
        if local is None:
            local = LocalEngine(partition, request.holdout, request.n_rows)
        found = local.answer(request)
        self._keep(key, local)
        return found

    def _keep(self, key: object, local: LocalEngine) -> None:
        local.rest()
        with self._lock:
            if self._held + local.nbytes > self.most:
                local.slim()
            if key not in self._kept and self._held + local.nbytes <= self.most:
                self._kept[key] = local, local.nbytes
                self._held += local.nbytes


def added(results: Iterator[Any]) -> Any:
    """Return the sum of what partitions answered: numbers, arrays, or lists of those."""
    total = next(results)
    for result in results:
        total = _plus(total, result)
    return total


def _plus(one: Any, other: Any) -> Any:
    if isinstance(one, list):
        return [_plus(a, b) for a, b in zip(one, other, strict=True)]
    if isinstance(one, np.ndarray) and one.ndim and one.flags.writeable:
        one += other
        return one
    return one + other


def fulfil(cache: LocalCache, parts: Sequence[tuple[object, Partition, Request]], *, add: bool) -> Any:
    """Return what some partitions answer, added up or one after the other."""
    answers = (cache.answer(key, partition, request) for key, partition, request in parts)
    return added(answers) if add else list(answers)
