"""Candidates: every conjunction of up to two predicates that the columns allow, by number.

A value of a column is a predicate, and so is "missing"; a number has a few thresholds, fixed beforehand. The records
of a day are in few of all candidates, so a record carries the numbers of those it is in, and counting is one pass
over them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.variables import cut_points
from fairtest.model.context import Context, Op, Predicate
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.table import Column, Table
    from fairtest.monitoring.schema import Schema
    from fairtest.types import FloatArray, IntArray

PARTS = 4
"""A number is cut at its quartiles."""
SPARE = 8
"""Room for so many values that are not known yet, besides half as many as are."""


@dataclass(frozen=True)
class Items:
    """The predicates that one column allows, by number: "missing" is 0.

    Attributes
    ----------
    thresholds
        Of a number, or of the positions of an ordered column's levels: ``≤`` each of them, then ``>`` each. Empty for a
        column of values.
    room
        How many numbers the column has, used or not.
    """

    column: str
    thresholds: tuple[float, ...]
    ordered: bool
    room: int

    @property
    def each(self) -> int:
        """How many predicates of the column a record satisfies."""
        return max(len(self.thresholds), 1)

    def numbers(self, table: Table) -> IntArray:
        """Return the predicates that each record satisfies, −1 for none: a row each."""
        column = table[self.column]
        if not self.thresholds:
            codes = np.asarray(column.codes, dtype=np.int64)
            # a value for which there is no room left is in no context
            known = np.where(codes + 1 < self.room, codes + 1, -1)
            return known[:, None]
        values = _numbers_of(column)
        cuts = np.asarray(self.thresholds)
        above = values[:, None] > cuts
        at = np.arange(1, len(cuts) + 1)
        found = np.where(above, len(cuts) + at, at)
        gone = np.isnan(values)
        found[gone] = -1
        found[gone, 0] = 0
        return found

    def predicate(self, number: int, schema: Schema) -> Predicate:
        """Return the predicate of a number."""
        known = schema.columns[self.column]
        if number == 0:
            return Predicate(self.column, Op.MISSING)
        if not self.thresholds:
            return Predicate(self.column, Op.IS, known.levels[number - 1])
        op = Op.AT_MOST if number <= len(self.thresholds) else Op.ABOVE
        cut = self.thresholds[(number - 1) % len(self.thresholds)]
        if self.ordered:
            return Predicate(self.column, op, known.levels[int(cut)], tuple(known.levels))
        return Predicate(self.column, op, known.number.to_level(cut))


def items_of(column: Column, grows: bool) -> Items:
    """Return the predicates of a column of earlier records."""
    if column.kind in (Kind.NUMERIC, Kind.ORDERED):
        values = _numbers_of(column)
        seen = np.sort(values[~np.isnan(values)])
        few = np.unique(seen)
        cuts = few[:-1] if few.size <= PARTS else cut_points(seen, PARTS)
        return Items(column.name, tuple(float(c) for c in cuts), column.kind is Kind.ORDERED, 2 * len(cuts) + 1)
    levels = len(column.levels)
    return Items(column.name, (), False, 1 + levels + (levels // 2 + SPARE if grows else 0))


def _numbers_of(column: Column) -> FloatArray:
    if column.values is not None:
        return column.values
    codes = np.asarray(column.codes, dtype=float)
    return np.where(codes < 0, np.nan, codes)


class Candidates:
    """The numbers of all conjunctions of up to two predicates on different columns; everybody is 0."""

    def __init__(self, items: Sequence[Items]) -> None:
        self.items = tuple(items)
        self._pairs = list(combinations(range(len(items)), 2))
        sizes = [1, *(i.room for i in items), *(items[a].room * items[b].room for a, b in self._pairs)]
        self._starts = np.concatenate(([0], np.cumsum(sizes)))

    @cached_property
    def number(self) -> int:
        """How many there are."""
        return int(self._starts[-1])

    def of_records(self, table: Table) -> IntArray:
        """Return the candidates that each record is in, −1 in places that are not used: a row each."""
        single = [i.numbers(table) for i in self.items]
        found: list[IntArray] = [np.zeros((table.n_rows, 1), dtype=np.int64)]
        start = iter(self._starts[1:].tolist())
        found += [_shift(numbers, next(start)) for numbers in single]
        for a, b in self._pairs:
            first, second = single[a][:, :, None], single[b][:, None, :]
            both = np.where((first < 0) | (second < 0), -1, first * self.items[b].room + second)
            found.append(_shift(both.reshape(table.n_rows, -1), next(start)))
        return np.concatenate(found, axis=1)

    def segments(self) -> list[tuple[int, int, tuple[str, ...]]]:
        """Return the runs of candidates that speak of the same columns: where they start and stop, and the columns."""
        names = [i.column for i in self.items]
        columns = [(), *((n,) for n in names), *((names[a], names[b]) for a, b in self._pairs)]
        bounds = self._starts.tolist()
        return list(zip(bounds[:-1], bounds[1:], columns, strict=True))

    def context(self, number: int, schema: Schema) -> Context:
        """Return a candidate as a context."""
        return Context.of([items.predicate(i, schema) for items, i in self._parts(number)])

    def _parts(self, number: int) -> list[tuple[Items, int]]:
        at = int(np.searchsorted(self._starts, number, side="right")) - 1
        rest = number - int(self._starts[at])
        if at == 0:
            return []
        if at <= len(self.items):
            return [(self.items[at - 1], rest)]
        a, b = self._pairs[at - 1 - len(self.items)]
        return [(self.items[a], rest // self.items[b].room), (self.items[b], rest % self.items[b].room)]

    def depths(self, numbers: IntArray) -> IntArray:
        """Return how many predicates candidates have."""
        at = np.searchsorted(self._starts, numbers, side="right") - 1
        return np.where(at == 0, 0, np.where(at <= len(self.items), 1, 2))


def _shift(numbers: IntArray, start: int) -> IntArray:
    return np.where(numbers < 0, -1, numbers + start)


def items_to_plain(items: Items) -> dict[str, Any]:
    """Return the predicates of a column as JSON can have them."""
    return {"column": items.column, "thresholds": list(items.thresholds), "ordered": items.ordered, "room": items.room}


def items_from_plain(stored: dict[str, Any]) -> Items:
    """Return stored predicates."""
    return Items(stored["column"], tuple(stored["thresholds"]), stored["ordered"], stored["room"])


def rows_in_each(contexts: Iterable[Context], table: Table) -> Iterator[NDArray[np.bool_]]:
    """Return for each context which records of a table are in it; a predicate that many share is looked at once."""
    known: dict[Predicate, NDArray[np.bool_]] = {}
    for context in contexts:
        inside = np.ones(table.n_rows, dtype=bool)
        for predicate in context.predicates:
            if predicate not in known:
                known[predicate] = _rows_that_meet(predicate, table[predicate.column])
            inside &= known[predicate]
        yield inside


def _rows_that_meet(predicate: Predicate, column: Column) -> NDArray[np.bool_]:
    op = predicate.op
    if op is Op.MISSING:
        return np.isnan(_numbers_of(column))
    if op in (Op.AT_MOST, Op.ABOVE):
        values = _numbers_of(column) if column.values is None else column.values
        cut = float(column.levels.index(predicate.value)) if column.values is None else predicate.rank
        return np.asarray(values <= cut if op is Op.AT_MOST else values > cut)
    wanted = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
    if column.values is not None:
        return np.isin(column.values, [float(v) for v in wanted])  # type: ignore[arg-type]
    places = [place for place, level in enumerate(column.levels) if level in wanted]
    codes = np.asarray(column.codes)
    return np.asarray(codes == places[0]) if len(places) == 1 else np.isin(codes, places)
