"""Variables: a column, or several crossed, in the role of protected attribute, output or stratum.

A variable is a description. What it needs of the rows it computes from any table that has the columns, so the same
description serves a whole table, a row group of a file or a partition on another machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.streaming.blocks import count_codes, gather_numbers, number_blocks, smallest_values
from fairtest.data.streaming.order import median
from fairtest.data.table import Number
from fairtest.exceptions import InputError
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.measures import Measure
    from fairtest.data.table import Column, Table
    from fairtest.types import FloatArray, IntArray, Level

RANK_BINS = 256
"""The most bins that ranks are counted in: see :func:`rank_variable` for what that costs."""


@dataclass(frozen=True)
class Part:
    """One column of a variable, as codes: its levels, or the bins between thresholds of a number.

    Bin ``i`` holds the values above threshold ``i − 1`` and up to threshold ``i``. With a measure, the number is
    computed from several columns, and ``column`` is what to call it.
    """

    column: str
    levels: tuple[Level, ...]
    thresholds: tuple[float, ...] | None = None
    measure: Measure | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table it is made of."""
        return (self.column,) if self.measure is None else self.measure.columns

    def codes(self, table: Table) -> IntArray:
        """Return each row's code, −1 where it is missing."""
        if self.thresholds is None:
            codes = table[self.column].codes
            assert codes is not None
            return codes
        return self.bins(self.numbers(table))

    def bins(self, numbers: FloatArray) -> IntArray:
        """Return the bin of each number, −1 where it is missing."""
        assert self.thresholds is not None
        bins = np.searchsorted(np.asarray(self.thresholds), numbers, side="left")
        return np.where(np.isnan(numbers), -1, bins)

    def numbers(self, table: Table) -> FloatArray:
        """Return each row's number, NaN where missing."""
        if self.measure is not None:
            return self.measure(table)
        values = table[self.column].values
        assert values is not None
        return values

    def blocks(self, table: Table) -> Iterator[tuple[int, FloatArray]]:
        """Return the numbers in blocks, each with the position of its first row."""
        return ((start, self.numbers(block)) for start, block in table.blocks(self.columns))


@dataclass(frozen=True)
class Variable:
    """A protected attribute, an output or a stratum.

    Attributes
    ----------
    parts
        The columns behind it; several are crossed.
    levels
        What its codes mean. For two levels the second is the one effects are about: the favourable output, the
        group that is compared with the reference. Empty for a plain number.
    combinations
        Of crossed columns: the value of every part, for each level.
    lookup
        From the mixed-radix code of the parts to the position in ``levels``.
    scores
        Numbers that stand for the levels in metrics that need numbers (0 and 1, or steps between them, or ranks).
    centre, scale
        A number is shifted and scaled by these before sums are taken, to at most 1, so that no digits are lost.
    """

    name: str
    kind: Kind
    parts: tuple[Part, ...]
    levels: tuple[Level, ...] = ()
    combinations: tuple[tuple[Level, ...], ...] = ()
    lookup: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    centre: float = 0.0
    scale: float = 1.0
    number: Number = Number.REAL

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it is made of."""
        return tuple(dict.fromkeys(c for p in self.parts for c in p.columns))

    @property
    def is_number(self) -> bool:
        """Whether it is a plain number, without levels."""
        return not self.levels

    def codes(self, table: Table) -> NDArray[np.int32]:
        """Return each row's level, −1 where a part is missing."""
        mixed = np.zeros(table.n_rows, dtype=np.int64)
        missing = np.zeros(table.n_rows, dtype=bool)
        for part in self.parts:
            codes = part.codes(table)
            missing |= codes < 0
            mixed = mixed * len(part.levels) + codes
        mixed[missing] = len(self.lookup)
        return np.asarray([*self.lookup, -1], dtype=np.int32)[mixed]

    def counts(self, table: Table, rows: NDArray[np.intp] | None = None) -> IntArray:
        """Return how many rows, of some or of all, have each level."""
        blocks = ((start, self.codes(block)) for start, block in table.blocks(self.columns))
        return count_codes(blocks, len(self.levels), rows)

    def numbers(self, table: Table) -> FloatArray:
        """Return each row's number as the user knows it, NaN where missing; for a plain number."""
        return self.parts[0].numbers(table)

    def values(self, table: Table) -> FloatArray:
        """Return each row's number (shifted and scaled), NaN where missing."""
        if self.is_number:
            return (self.numbers(table) - self.centre) / self.scale
        return np.asarray([*self.scores, np.nan])[self.codes(table)]

    def raw(self, scaled: float) -> float:
        """Return a shifted and scaled number as the user knows it."""
        return scaled * self.scale + self.centre


def level_variable(column: Column, first: Level | None = None, second: Level | None = None) -> Variable:
    """Return the variable of one column with levels; for two levels, ``first`` or ``second`` fixes the order."""
    order = list(range(len(column.levels)))
    if column.kind is Kind.BINARY and (
        (second is not None and column.levels[0] == second) or (first is not None and column.levels[1] == first)
    ):
        order.reverse()
    levels = tuple(column.levels[i] for i in order)
    steps = max(len(levels) - 1, 1)
    scored = column.kind in (Kind.BINARY, Kind.ORDERED)
    return Variable(
        name=column.name,
        kind=column.kind,
        parts=(Part(column.name, column.levels),),
        levels=levels,
        lookup=tuple(order.index(i) for i in range(len(order))),
        scores=tuple(i / steps for i in range(len(levels))) if scored else (),
        scale=float(steps) if scored else 1.0,
    )


def event_variable(column: Column, event: Level) -> Variable:
    """Return a column as whether an event happens; several other values become one."""
    if column.kind is Kind.BINARY:
        return level_variable(column, second=event)
    return Variable(
        name=column.name,
        kind=Kind.BINARY,
        parts=(Part(column.name, column.levels),),
        levels=(f"not {event}", event),
        lookup=tuple(int(level == event) for level in column.levels),
        scores=(0.0, 1.0),
    )


def number_variable(column: Column) -> Variable:
    """Return the variable of a plain number, centred at its median and scaled to at most 1."""
    return _centre_number(Part(column.name, ()), lambda: (block for _, block in number_blocks(column)), column.number)


def measure_variable(name: str, measure: Measure, table: Table) -> Variable:
    """Return the variable of a number that is computed from several columns."""
    part = Part(name, (), measure=measure)
    if table.block is not None:
        return _centre_number(part, lambda: (numbers for _, numbers in part.blocks(table)), Number.REAL)
    everybody = part.numbers(table)  # kept, because a function of the user's own may be slow
    return _centre_number(part, lambda: [everybody], Number.REAL)


def _centre_number(part: Part, blocks: Callable[[], Iterable[FloatArray]], number: Number) -> Variable:
    """Return the variable of a number, centred and scaled; ``blocks`` gives the same numbers each time."""

    def present() -> Iterator[FloatArray]:
        return (block[~np.isnan(block)] for block in blocks())

    ends = [(block.size, block.min(), block.max()) for block in present() if block.size]
    centre = median(present, sum(size for size, _, _ in ends)) if ends else 0.0
    spread = max((float(abs(end - centre)) for _, *both in ends for end in both), default=0.0)
    return Variable(part.column, Kind.NUMERIC, (part,), centre=centre, scale=spread or 1.0, number=number)


def cross_parts(name: str, parts: Sequence[Part], table: Table) -> Variable:
    """Return the variable whose levels are the combinations of the parts' values that occur."""
    sizes = [len(p.levels) for p in parts]
    if np.prod(np.asarray(sizes, dtype=float)) > 1e6:  # as floats, which do not wrap around
        raise InputError(
            f"Crossing {', '.join(p.column for p in parts)} gives {' × '.join(map(str, sizes))} combinations; at most "
            "a million can be told apart. Name fewer attributes, or ones with fewer values."
        )
    every = int(np.prod(sizes))
    whole = Variable(name, Kind.CATEGORICAL, tuple(parts), tuple(range(every)), lookup=tuple(range(every)))
    people = whole.counts(table)
    seen = np.flatnonzero(people)
    if seen.size == 2 and people[seen[1]] > people[seen[0]]:
        seen = seen[::-1]  # the larger group is the reference
    lookup = np.full(len(whole.lookup), -1)
    lookup[seen] = np.arange(seen.size)
    combinations = tuple(
        tuple(p.levels[i] for p, i in zip(parts, np.unravel_index(c, sizes), strict=True)) for c in seen
    )
    return replace(
        whole,
        kind=Kind.BINARY if seen.size == 2 else Kind.CATEGORICAL,
        levels=tuple(c[0] if len(c) == 1 else ", ".join(str(v) for v in c) for c in combinations),
        combinations=combinations,
        lookup=tuple(int(i) for i in lookup),
        scores=(0.0, 1.0) if seen.size == 2 else (),
    )


def cut_column(column: Column, rows: NDArray[np.intp], bins: int, *, distinct: int = 10) -> Part:
    """Return a numeric column in bins: every value its own if they are few, else quantiles of ``rows``."""
    seen = gather_numbers(number_blocks(column), rows)
    return _cut_part(Part(column.name, ()), seen, column.number, bins, distinct)


def cut_variable(
    variable: Variable, table: Table, rows: NDArray[np.intp], bins: int, *, distinct: int = 10
) -> Variable:
    """Return a plain number as a variable of bins, in order."""
    seen = gather_numbers(variable.parts[0].blocks(table), rows)
    part = _cut_part(variable.parts[0], seen, variable.number, bins, distinct)
    return replace(variable, parts=(part,), levels=part.levels, lookup=tuple(range(len(part.levels))))


def _cut_part(part: Part, seen: FloatArray, number: Number, bins: int, distinct: int) -> Part:
    """Return a number in bins, given the numbers of the training set, which are sorted on the spot."""
    seen.sort()
    values = smallest_values(seen, distinct + 1)
    values = cut_points(seen, bins) if values.size > distinct else values[:-1]
    thresholds = tuple(float(v) for v in values)
    return replace(part, levels=_bin_names(thresholds, number), thresholds=thresholds)


def cut_points(ordered: FloatArray, parts: int) -> FloatArray:
    """Return the observed values at which sorted numbers fall into about equal parts; never the largest one.

    Where many share the largest value, the one below it takes its place, so that they are told from the rest.

    Examples
    --------
    >>> cut_points(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 3)
    array([2., 4.])
    >>> cut_points(np.array([1.0, 2.0, 9.0, 9.0, 9.0, 9.0]), 3)
    array([2.])
    """
    at = np.ceil(np.arange(1, parts) * ordered.size / parts).astype(int) - 1
    below = ordered[np.searchsorted(ordered, ordered[-1]) - 1]
    return np.unique(np.minimum(ordered[at], below))


def _bin_names(thresholds: tuple[float, ...], number: Number) -> tuple[str, ...]:
    if not thresholds:
        return ("any",)
    text = [_short(number.to_level(t)) for t in thresholds]
    inner = [f"> {a}, ≤ {b}" for a, b in pairwise(text)]
    return (f"≤ {text[0]}", *inner, f"> {text[-1]}")


def _short(value: Level) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def rank_variable(variable: Variable, table: Table, rows: NDArray[np.intp], bins: int = RANK_BINS) -> Variable:
    """Return the variable with value codes in order and the mid-distribution of ``rows`` as scores.

    A number of many values is cut at quantiles: with 256 bins, Spearman's coefficient of the bins differs from that of
    the values by about one part in 65,000, with 64 by one in 4,000. In a context that lies within a few of the bins it
    is coarser.
    """
    if variable.is_number:
        variable = cut_variable(variable, table, rows, bins, distinct=bins)
    counts = variable.counts(table, rows)
    below = np.cumsum(counts) - counts
    scores = (below + counts / 2) / max(counts.sum(), 1) - 0.5
    return replace(variable, scores=tuple(float(s) for s in scores))
