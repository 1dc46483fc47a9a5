"""A batch of hypotheses: the same metric in many contexts of one test set."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.engine.contract import Rows
from fairtest.progress import silent
from fairtest.statistics.resampling.samplers import KeyedSampler
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.summaries import Summary
    from fairtest.metrics.registry import Metric
    from fairtest.progress import Progress
    from fairtest.statistics.neighbours import Neighbours
    from fairtest.statistics.resampling.samplers import Sampler
    from fairtest.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Worth:
    """What the rows of each hypothesis are worth, where they are not one person each.

    Attributes
    ----------
    people, rows
        How many people they are of, and how many rows these have.
    weight
        What the rows weigh together.
    df
        The degrees of freedom with which the effective size is known.
    p
        The p-value where it does not follow from sums; else NaN.
    """

    people: IntArray
    rows: IntArray
    weight: FloatArray
    df: FloatArray
    p: FloatArray

    def take(self, at: IntArray) -> Worth:
        """Return those of some hypotheses."""
        return Worth(*(array[at] for array in vars(self).values()))


@dataclass(frozen=True, eq=False)
class Batch:
    """Hypotheses that are tested in the same way.

    Attributes
    ----------
    summary
        One entry along the leading axis for each hypothesis.
    fetch
        From the numbers of some hypotheses, in order, to the people of each, for methods that need them.
    seed
        Where randomness starts.
    memo
        What a procedure has computed once and needs again: arrays with an entry for each hypothesis.
    progress
        Called now and then with the share of long work on the batch that is done.
    worth
        Where rows are not one person each: how many people they are of, and what they are worth.
    counted
        The summary before that, as the engine counts it.
    near
        Where a number is conditioned on: from the numbers of some hypotheses, in order, to the people of each, with
        their places on that number.
    """

    metric: Metric
    summary: Summary
    fetch: Callable[[Sequence[int]], Iterator[Rows]]
    seed: int
    memo: dict[str, tuple[NDArray[Any], ...]] = field(default_factory=dict)
    progress: Progress = silent
    worth: Worth | None = None
    counted: Summary | None = None
    near: Callable[[Sequence[int]], Iterator[Neighbours]] | None = None

    def __len__(self) -> int:
        return len(self.size)

    @cached_property
    def size(self) -> IntArray:
        """The people of each hypothesis."""
        return self.summary.size if self.worth is None else self.worth.people

    @cached_property
    def effect(self) -> FloatArray:
        """The effect of each hypothesis, NaN where undefined."""
        if self.metric.summary is not SummaryKind.ROWS:
            return np.asarray(self.metric.effect(self.summary), dtype=float)
        return np.array([self._effect_of_rows(people) for _, people in self.each(range(len(self)))], dtype=float)

    def _effect_of_rows(self, people: Rows) -> float:
        if not len(people):
            return np.nan
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(self.metric.effect(people.protected, people.output, people.stratum))

    def rows(self, i: int) -> Rows:
        """Return the people of a hypothesis in an order that does not depend on the order of the rows."""
        return next(self.each([i]))[1]

    def each(self, some: Iterable[int]) -> Iterator[tuple[int, Rows]]:
        """Yield some hypotheses, in order, each with its people as :meth:`rows` has them; they are fetched together."""
        places = [int(i) for i in some]
        return zip(places, map(self._order_people, self.fetch(places)), strict=True)

    def _order_people(self, people: Rows) -> Rows:
        numbers = [v for v in (people.protected, people.output) if v.dtype.kind == "f"]
        protected, output = (
            v if v.dtype.kind == "f" else self._order_codes(v, numbers) for v in (people.protected, people.output)
        )
        stratum = relabel(people.stratum, people.protected, people.output)
        order = np.lexsort((output, protected, stratum))
        return Rows(protected[order], output[order], stratum[order], {})

    def _order_codes(self, codes: IntArray, numbers: Sequence[FloatArray]) -> IntArray:
        """Return codes of groups whose order says nothing (one-way layouts) in an order of their own."""
        unordered = self.metric.summary is SummaryKind.GROUP_MOMENTS and not self.metric.signed
        return relabel(codes, *numbers) if unordered else codes

    def generator(self, *content: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> np.random.Generator:
        """Return a generator that hangs on the seed and on the numbers at hand only, not on their place in line."""
        digest = hashlib.blake2b(digest_size=16)
        for array in content:
            digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return np.random.default_rng([self.seed, int.from_bytes(digest.digest(), "little")])

    def take(self, at: IntArray) -> Batch:
        """Return some of the hypotheses."""
        places = at.tolist()
        memo = {name: tuple(array[at] for array in arrays) for name, arrays in self.memo.items()}

        def fetch(some: Sequence[int]) -> Iterator[Rows]:
            return self.fetch([places[i] for i in some])

        worth = None if self.worth is None else self.worth.take(at)
        counted = None if self.counted is None else self.counted.take(at)
        return Batch(self.metric, self.summary.take(at), fetch, self.seed, memo, self.progress, worth, counted)

    def key_sampler(
        self, sampler: Sampler, *content: np.ndarray[tuple[int, ...], np.dtype[np.generic]]
    ) -> KeyedSampler:
        """Return a sampler that draws from :meth:`generator`."""
        return KeyedSampler(sampler, self.generator(*content))


def canonical_table(table: IntArray) -> IntArray:
    """Return ``[output, protected]`` without empty lines, lines ordered by what is in them: names leave no trace."""
    rows = _line_order(table)
    columns = _line_order(table.T)
    return np.asarray(table[np.ix_(rows, columns)])


def _line_order(lines: IntArray) -> IntArray:
    """Return the lines that are not empty, the fullest first, equally full ones by their sorted contents."""
    contents = np.sort(lines, axis=1)
    order: IntArray = np.lexsort((*contents.T, -lines.sum(axis=1)))
    return order[: np.count_nonzero(lines.sum(axis=1))]


def canonical_strata(tables: IntArray) -> IntArray:
    """Return ``[stratum, output, protected]`` with the strata in an order that does not depend on their names."""
    flat = tables.reshape(len(tables), -1)
    return np.asarray(tables[np.lexsort((*flat.T, -flat.sum(axis=1)))])


def relabel(codes: IntArray, *columns: NDArray[Any]) -> IntArray:
    """Return codes numbered by how many people have them, and by the sums of other columns where those tie."""
    codes = np.asarray(codes)
    size = int(codes.max(initial=-1)) + 1
    sums = [np.round(np.bincount(codes, weights=c.astype(float), minlength=size), 9) for c in columns]
    order = np.lexsort((*sums, -np.bincount(codes, minlength=size)))
    label = np.empty(size, dtype=codes.dtype)
    label[order] = np.arange(size)
    return np.asarray(label[codes])
