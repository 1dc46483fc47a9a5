"""Counting within one partition: a request goes in, what can be added over partitions comes out.

A request is a pure function of a partition. What a partition has read and encoded may be kept for the next request,
within a bound of memory; the answer is the same whether it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from fairtest.data.holdout import TRAIN
from fairtest.data.streaming.blocks import count_levels
from fairtest.data.table import Column, Table
from fairtest.engine.coded import CodedTable
from fairtest.engine.kernel.cells import Tally, keys_of, possible_kinds
from fairtest.engine.kernel.frontier import MemoryFrontier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.design import Design
    from fairtest.data.holdout import Holdout
    from fairtest.data.labels import Labels
    from fairtest.data.streaming.partitions import Partition
    from fairtest.data.summaries import Target
    from fairtest.engine.contract import Rows
    from fairtest.engine.kernel.frontier import Step
    from fairtest.engine.kernel.labels import MemoryLabelCounter
    from fairtest.types import FloatArray, IntArray

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _OneForEach:
    """An argument that is another one for each partition."""

    values: Sequence[Any]


def one_for_each(values: Sequence[T]) -> T:
    """Return an argument of a question that is another one for each partition; to type checkers it is any of them."""
    return cast("T", _OneForEach(values))


@dataclass(frozen=True, eq=False)
class Request:
    """A question to partitions, and what they must know to answer it. It can be pickled, and answered twice.

    Attributes
    ----------
    question
        A method of :class:`CodedPartition` with all of its arguments, as keywords.
    columns
        The columns that are likely to be needed: a partition reads them together.
    axes
        What is known of the axes, which are those of the whole training set.
    holdout
        Which set every row of the whole table is in.
    n_rows
        How many rows that has.
    design
        Whose the rows are and what they weigh.
    """

    question: partial[Any]
    columns: frozenset[str]
    axes: Mapping[str, Axis | None]
    holdout: Holdout
    n_rows: int
    design: Design | None = None

    @property
    def name(self) -> str:
        """What is asked."""
        return self.question.func.__name__

    def to(self, number: int) -> Request:
        """Return the request as one partition gets it, of the arguments that differ only its own."""
        given = self.question.keywords
        own = {name: value.values[number] for name, value in given.items() if isinstance(value, _OneForEach)}
        return replace(self, question=partial(self.question, **own)) if own else self


class _Columns(Mapping[str, Column]):
    """The columns of a partition, read when they are first asked for, those that are likely needed together."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._read: dict[str, Column] = {}
        self._likely: frozenset[str] = frozenset()

    def expect(self, columns: Iterable[str]) -> None:
        """Let go of what was read, and say which columns are likely to be needed next."""
        self._read.clear()
        self._likely = frozenset(columns)

    def __getitem__(self, name: str) -> Column:
        if name not in self._read:
            self._read.update(self._partition.table(sorted({name, *self._likely} - self._read.keys())).columns)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)


class CodedPartition(CodedTable):
    """A partition in codes, along axes that are given. Its methods are the questions that a :class:`Request` may ask.

    It belongs to one request at a time (see :class:`PartitionCache`). Besides what :class:`CodedTable` keeps, it has
    the nodes of the last tree and the last counter of labels, as the next request mostly goes on from there.
    """

    def __init__(self, partition: Partition, holdout: Holdout, n_rows: int, design: Design | None = None) -> None:
        self._columns = _Columns(partition)
        rows = partial(holdout.rows_within, start=partition.start, stop=partition.start + partition.n_rows)
        super().__init__(Table("", "", partition.n_rows, self._columns), rows, {}, n_rows, design)
        self._frontier: tuple[Target, Sequence[Step], MemoryFrontier] | None = None
        self._counter: tuple[int, Target, Labels, MemoryLabelCounter] | None = None

    def answer(self, request: Request) -> Any:
        """Return what a request asks for."""
        self._axes.update(request.axes)
        self._columns.expect(request.columns - self._codes.keys())
        return request.question(self)

    def let_go_of_columns(self) -> None:
        """Keep for the next request what was made of columns, and not the columns."""
        self._columns.expect(())
        self._variables.clear()

    def let_go_of_targets(self) -> None:
        """Keep nothing but the codes, which every request needs."""
        self._targets.clear()
        self._rows.clear()
        self._frontier = self._counter = None

    @property
    def nbytes(self) -> int:
        """About how much memory is held."""
        kept: list[Any] = [*self._codes.values(), *self._rows.values(), *self._targets.values()]
        kept += [known[-1] for known in (self._frontier, self._counter) if known is not None]
        return sum(thing.nbytes for thing in kept)

    # Columns and kinds of people -------------------------------------------------------------------------------------

    def count_levels(self, number: int, columns: Sequence[str]) -> list[IntArray]:
        """Return how many people of a set have each level of some columns."""
        return [count_levels(self._table[column], self.rows_of(number)) for column in columns]

    def numbers_in(self, number: int, column: str) -> FloatArray:
        """Return the numbers that people of a set have in a column."""
        values = self._table[column].values
        assert values is not None
        seen = values[self.rows_of(number)]
        return seen[~np.isnan(seen)]

    def sample_kinds(self, number: int, target: Target, axes: Sequence[Axis], step: int) -> NDArray[np.int64]:
        """Return the keys of the kinds of every ``step``-th person; 0 is nobody."""
        if not step:
            return np.zeros(0, dtype=np.int64)
        people = self.people(number, target)

        def codes(axis: Axis, step: int) -> NDArray[np.uint8]:
            return self.codes(axis)[people.rows[::step]]

        return keys_of(codes, axes, people.cells.cell, target.n_cells, step)

    def tally_kinds(self, number: int, target: Target, axes: Sequence[Axis], most: int) -> Tally:
        """Return how many people there are of each kind."""
        return Tally.of(self.sample_kinds(number, target, axes, 1), possible_kinds(axes, target.n_cells), most)

    # Sums and people -------------------------------------------------------------------------------------------------

    def joints(self, number: int, several: Sequence[Sequence[Axis]], target: Target) -> list[NDArray[Any]]:
        """Return the sums by the codes of each of several sets of axes."""
        people = self.people(number, target)
        return [people.joint(axes, target) for axes in several]

    def many_rows(
        self, number: int, contexts: Sequence[Sequence[Condition]], target: Target, axes: Sequence[Axis]
    ) -> list[Rows]:
        """Return the people of each of several contexts."""
        if axes:
            return [self.rows(number, context, target, axes) for context in contexts]
        return list(self.each_rows(number, contexts, target))

    def histograms(
        self, target: Target, steps: Sequence[Step], axes: Sequence[Axis], first: int, last: int
    ) -> list[NDArray[Any]]:
        """Return the sums by node and code of each axis, for the nodes that some steps lead to."""
        return list(self._frontier_after(steps, target).histograms(axes, first, last))

    def _frontier_after(self, steps: Sequence[Step], target: Target) -> MemoryFrontier:
        """Return the nodes at the end of some steps, going on from where the last request was if that is on the way."""
        known, self._frontier = self._frontier, None
        done: Sequence[Step] = ()
        if known is not None and known[0] == target and _begins(steps, known[1]):
            _, done, frontier = known
        else:
            frontier = MemoryFrontier(self.people(TRAIN, target), target)
        for step in steps[len(done) :]:
            frontier.advance(*step)
        self._frontier = (target, tuple(steps), frontier)
        return frontier

    # Labels ----------------------------------------------------------------------------------------------------------

    def ask_labels(
        self,
        number: int,
        target: Target,
        labels: Labels,
        method: Callable[..., T],
        asked: Sequence[tuple[Any, ...]],
    ) -> list[T]:
        """Return what a method of a label counter gives for several arguments."""
        counter = self._counter_of(number, target, labels)
        return [method(counter, *arguments) for arguments in asked]

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
class PartitionCache:
    """Partitions in codes, as long as they fit. Reading and encoding is most of the work of a request.

    What is there stays: requests go through all partitions in turn, so that whatever made room for the next would be
    missed when its own turn comes again. A request takes a partition out and puts it back when it is answered: no two
    threads ever share one, and one that raised is not used again.

    Attributes
    ----------
    most
        The most bytes that are kept.
    """

    most: int
    _kept: dict[object, tuple[CodedPartition, int]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _held: int = 0

    def answer(self, key: object, partition: Partition, request: Request) -> Any:
        """Return what a partition answers to a request."""
        with self._lock:
            coded, held = self._kept.pop(key, (None, 0))
            self._held -= held
        if coded is None:
            coded = CodedPartition(partition, request.holdout, request.n_rows, request.design)
        found = coded.answer(request)
        self._keep(key, coded)
        return found

    def _keep(self, key: object, coded: CodedPartition) -> None:
        coded.let_go_of_columns()
        with self._lock:
            if self._held + coded.nbytes > self.most:
                coded.let_go_of_targets()
            if key not in self._kept and self._held + coded.nbytes <= self.most:
                self._kept[key] = coded, coded.nbytes
                self._held += coded.nbytes

    def answers(self, parts: Iterable[tuple[object, Partition, Request]], *, add: bool) -> Any:
        """Return what some partitions answer, added up or one after the other."""
        found = (self.answer(*part) for part in parts)
        return add_answers(found) if add else list(found)


def add_answers(answers: Iterator[Any]) -> Any:
    """Return the sum of what partitions answered: numbers, arrays, or lists of those. The first may be changed."""
    total = next(answers)
    for answer in answers:
        total = _plus(total, answer)
    return total


def _plus(one: Any, other: Any) -> Any:
    if isinstance(one, list):
        return [_plus(a, b) for a, b in zip(one, other, strict=True)]
    if isinstance(one, np.ndarray) and one.ndim and one.flags.writeable:
        one += other
        return one
    return one + other
