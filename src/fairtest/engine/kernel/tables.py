"""Counting many contexts at once, each set of them in the cheapest of several ways.

Contexts that speak of the same attributes are read off one joint table of their codes, if they are many. The others are
counted as bits, a word of 64 people at a time; where numbers are added up, or people are counted into many cells or by
kinds, by the product of two matrices: who is in which context, and what is added up for whom; where there are too few
contexts for that, or too many numbers, one after the other down the tree of common prefixes. The nodes of a tree, and
whatever else has small prefixes, are counted by everybody's walking down at once (:mod:`.descent`). All
give the same sums to the last bit: the choice is one of cost alone.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.engine.kernel.descent import Descent
from fairtest.engine.kernel.histogram import add_up_at
from fairtest.engine.kernel.joint import among, collapse, membership, pack_bits
from fairtest.engine.kernel.prefixes import prefix_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.summaries import Target
    from fairtest.engine.kernel.people import CodedPeople
    from fairtest.engine.kernel.prefixes import Prefix
    from fairtest.types import IntArray

MOST_JOINT = 1 << 22
"""The most cells a joint table may have."""
MOST_CELLS = 16
"""People are counted as bits only where there are at most this many cells."""
CELL, TABLE, CONTEXT, WORD = 2.0, 20_000.0, 2_000.0, 0.15
"""What things cost, a person in a joint table being 1: a cell of it, the table itself; counting a context by bits, and
each word of 64 bits."""
PREFIX, STEP = 800.0, 8.0
"""… finding the prefixes of a context, and a step of one person from a prefix to the next."""
FEWEST_STEPS = 2
"""Walking down the prefixes costs at least this many steps a person: what is cheaper than that is done another way."""
TERM, INSIDE, PRODUCT = 1.0, 0.5, 0.05
"""… a number added up for one person in a joint table; where people and contexts are multiplied, to look whether one is
in the other, and a number added up."""
MOST_TERMS = 1 << 9
"""Products of matrices add up at most this many numbers for each person."""
BLOCK = 1 << 19
"""How many people are counted as bits at a time …"""
PEOPLE_AT_ONCE, CONTEXTS_AT_ONCE = 1 << 12, 1 << 8
"""… and how many people and contexts are multiplied."""


def count_contexts(
    people: CodedPeople, contexts: Sequence[Sequence[Condition]], target: Target, axis_of: Callable[[str], Axis | None]
) -> NDArray[Any]:
    """Return the sums of every context: ``[context, *cell_shape, *sum_shape]``."""
    asked = _ContextConditions(contexts, axis_of)
    total = add_up_at(people.cells.cell.astype(np.intp), 1, people.cells, target)
    out = np.zeros((len(contexts), *total.shape[1:]), dtype=total.dtype)
    out[asked.depth == 0] = total
    plain = not people.cells.terms and people.cells.weight is None
    bits = plain and target.n_cells <= MOST_CELLS
    joints, rest, cost = _plan(people, asked, target, bits)
    if plain and _by_descent(people, asked, target, cost, out):
        return out
    for places, axes in joints:
        out[places] = _from_joint(people, asked, places, axes, target)
    if rest.size and bits:
        _by_bits(people, asked, rest, target, out)
    elif rest.size and _products_pay(people, asked, rest, target):
        out[rest] = _by_products(people, asked, rest, target)
    elif rest.size:
        few = [[asked.conditions[i] for i in row if i >= 0] for row in asked.order[rest].tolist()]
        sums = np.zeros((rest.size, *out.shape[1:]), dtype=out.dtype)
        _descend(people, prefix_tree(few), target, total[0], axis_of, sums)
        out[rest] = sums
    return out


def _plan(
    people: CodedPeople, asked: _ContextConditions, target: Target, bits: bool
) -> tuple[list[tuple[IntArray, list[Axis]]], IntArray, float]:
    """Return which contexts to read off joint tables, which are left, and what it all costs."""
    n = people.cells.cell.size
    left = asked.depth > 0
    joints, cost = [], 0.0
    for places in asked.by_columns():
        axes = [asked.axes[asked.column[i]] for i in asked.sorted_by_column(places[:1])[0]]
        cells = prod([*(axis.size for axis in axes), target.n_cells, *target.sum_shape])
        together = n * (1 + TERM * len(people.cells.terms)) + CELL * cells + TABLE
        apart = _bit_cost(len(axes), n, target.n_cells) if bits else _sum_cost(people, target)
        if together < places.size * apart and cells <= MOST_JOINT:
            joints.append((places, axes))
            left[places] = False
            cost += together
    rest = np.flatnonzero(left)
    depths, many = np.unique(asked.depth[rest], return_counts=True)
    for depth, contexts in zip(depths.tolist(), many.tolist(), strict=True):
        cost += contexts * (_bit_cost(depth, n, target.n_cells) if bits else _sum_cost(people, target))
    return joints, rest, cost


def _bit_cost(depth: int, n: int, n_cells: int) -> float:
    """Return what it costs to count the people of a context as bits."""
    return CONTEXT + WORD * (depth + 2 * n_cells) * n / 64


def _sum_cost(people: CodedPeople, target: Target) -> float:
    """Return what it costs to add up the numbers of the people of a context, if there are many contexts."""
    one_by_one = _prefix_cost(people)
    return min(one_by_one, _product_cost(people, target)) if _width(target) <= MOST_TERMS else one_by_one


def _prefix_cost(people: CodedPeople) -> float:
    """… one context after the other."""
    return TABLE + people.cells.cell.size * (1 + TERM * len(people.cells.terms))


def _product_cost(people: CodedPeople, target: Target) -> float:
    """… by a product of matrices, whose making does not count."""
    return CONTEXT + people.cells.cell.size * (INSIDE + PRODUCT * _width(target))


def _products_pay(people: CodedPeople, asked: _ContextConditions, contexts: IntArray, target: Target) -> bool:
    """Whether contexts are better added up by a product of matrices than one after the other."""
    if _width(target) > MOST_TERMS:
        return False
    made = people.cells.cell.size * (TERM * _width(target) + INSIDE * len(asked.conditions))
    return made + contexts.size * _product_cost(people, target) < contexts.size * _prefix_cost(people)


def _width(target: Target) -> int:
    """Return how many sums a context has."""
    return target.n_cells * prod(target.sum_shape)


def _by_descent(people: CodedPeople, asked: _ContextConditions, target: Target, cost: float, out: NDArray[Any]) -> bool:
    """Count everybody on the way down the prefixes of the contexts, if that is cheaper than ``cost``."""
    inside = np.flatnonzero(asked.depth)
    n = people.cells.cell.size
    if not n or cost < 2 * inside.size * PREFIX + FEWEST_STEPS * n * STEP:
        return False
    descent = Descent(asked.order[inside], asked.conditions, asked.column, max(axis.size for axis in asked.axes))
    most = int((cost - inside.size * PREFIX) / STEP)
    codes = [people.codes(axis) for axis in asked.axes]
    steps = descent.steps(codes, most)
    if steps > most:
        return False
    counts = descent.counts(codes, people.cells.cell, target.n_cells, steps)
    out[inside] = counts.reshape(-1, *target.cell_shape)
    return True


class _ContextConditions:
    """Contexts as rows of numbers of conditions, the commonest first, −1 after the last.

    Attributes
    ----------
    conditions
        The different conditions.
    column
        For each, its axis.
    order
        ``[context, place]``.
    """

    def __init__(self, contexts: Sequence[Sequence[Condition]], axis_of: Callable[[str], Axis | None]) -> None:
        known: dict[Condition, int] = {}
        same: dict[int, int] = {}  # most contexts share the very objects, whose identity is cheaper than their hash
        for context in contexts:
            for condition in context:
                if id(condition) not in same:
                    same[id(condition)] = known.setdefault(condition, len(known))
        self.conditions = tuple(known)
        self.depth = np.array([len(context) for context in contexts], dtype=np.int64)
        names = sorted({c.column for c in self.conditions})
        self.axes = [_present(axis_of(name)) for name in names]
        place = {name: i for i, name in enumerate(names)}
        self.column = np.array([place[c.column] for c in self.conditions], dtype=np.int64)
        numbers = np.full((len(contexts), int(self.depth.max(initial=0))), -1, dtype=np.int64)
        numbers[np.arange(numbers.shape[1]) < self.depth[:, None]] = [same[id(c)] for each in contexts for c in each]
        self.order = self._commonest_first(numbers)

    def _commonest_first(self, numbers: IntArray) -> IntArray:
        times = np.bincount(numbers[numbers >= 0], minlength=len(self.conditions))
        by_times = np.lexsort((np.arange(times.size), -times))
        rank = np.empty(times.size + 1, dtype=np.int64)
        rank[by_times] = np.arange(times.size)
        rank[-1] = times.size
        ranked = np.sort(rank[numbers], axis=1)
        return np.append(by_times, -1)[ranked]

    def sorted_by_column(self, places: IntArray) -> IntArray:
        """Return the conditions of contexts of one depth in the order of their columns."""
        numbers = self.order[places, : self.depth[places[0]]]
        return np.take_along_axis(numbers, np.argsort(self.column[numbers], axis=1), axis=1)

    def by_columns(self) -> Iterator[IntArray]:
        """Yield the contexts of each set of columns; contexts with two predicates on one column come apart."""
        columns = np.sort(np.append(self.column, len(self.axes))[self.order], axis=1)
        twice = ((columns[:, 1:] == columns[:, :-1]) & (columns[:, 1:] < len(self.axes))).any(axis=1)
        at = np.flatnonzero((self.depth > 0) & ~twice)
        if not at.size:
            return
        _, kind = np.unique(columns[at], axis=0, return_inverse=True)
        order = np.argsort(kind, kind="stable")
        yield from np.split(at[order], np.flatnonzero(np.diff(kind[order])) + 1)


def _present(axis: Axis | None) -> Axis:
    assert axis is not None, "a context speaks of a column without an axis"
    return axis


def _from_joint(
    people: CodedPeople, asked: _ContextConditions, contexts: IntArray, axes: Sequence[Axis], target: Target
) -> NDArray[Any]:
    """Return the sums of contexts whose predicates are on the same columns."""
    sizes = [axis.size for axis in axes]
    joint = add_up_at(people.keys(axes, target.n_cells), prod(sizes), people.cells, target)
    places, matrices = [], []
    for numbers, axis in zip(asked.sorted_by_column(contexts).T, axes, strict=True):
        different, place = np.unique(numbers, return_inverse=True)
        places.append(place)
        matrices.append(membership([asked.conditions[i] for i in different.tolist()], axis.size))
    sums: NDArray[Any] = collapse(joint.reshape(*sizes, *joint.shape[1:]), matrices)[tuple(places)]
    return sums


def _by_products(people: CodedPeople, asked: _ContextConditions, contexts: IntArray, target: Target) -> NDArray[Any]:
    """Return the sums of contexts: for every context 1 for those inside and 0 for others, times what is added up.

    What is added up are multiples of a power of two, so that no order of adding rounds.
    """
    codes, cells = [people.codes(axis) for axis in asked.axes], people.cells
    n, width = cells.cell.size, prod(target.sum_shape)
    sums = np.zeros((contexts.size, _width(target)))
    numbers = asked.order[contexts]
    used = np.unique(numbers[numbers >= 0])
    place = np.full(len(asked.conditions) + 1, used.size)  # the last is the condition that everybody satisfies
    place[used] = np.arange(used.size)
    for first in range(0, n, PEOPLE_AT_ONCE):
        block = slice(first, min(first + PEOPLE_AT_ONCE, n))
        size = block.stop - block.start
        satisfied = np.ones((used.size + 1, size), dtype=np.uint8)
        for i, number in enumerate(used.tolist()):
            satisfied[i] = among(codes[asked.column[number]][block], asked.conditions[number])
        added = np.zeros((size, target.n_cells, width))
        own = np.zeros((size, width))
        own[:, 0] = 1 if cells.weight is None else cells.weight[block]
        for k, term in enumerate(cells.terms, start=width - len(cells.terms)):
            own[:, k] = term[block]
        added[np.arange(size), cells.cell[block]] = own
        for start in range(0, contexts.size, CONTEXTS_AT_ONCE):
            some = place[numbers[start : start + CONTEXTS_AT_ONCE]]
            inside = satisfied[some[:, 0]]
            for conditions in some.T[1:]:
                inside &= satisfied[conditions]
            sums[start : start + CONTEXTS_AT_ONCE] += inside.astype(np.float64) @ added.reshape(size, -1)
    return sums.reshape(-1, *target.cell_shape, *target.sum_shape)


def _by_bits(
    people: CodedPeople, asked: _ContextConditions, contexts: IntArray, target: Target, out: NDArray[Any]
) -> None:
    """Count people as bits: a context is the conjunction of its conditions' bits, a count the number of those left.

    Contexts come in the order of their conditions, so that what one shares with the next is not done again.
    """
    contexts = contexts[np.lexsort(asked.order[contexts].T[::-1])]
    counts = np.zeros((contexts.size, target.n_cells), dtype=np.int64)
    for first in range(0, people.cells.cell.size, BLOCK):
        block = slice(first, first + BLOCK)
        counts += _bit_counts(
            [people.codes(axis)[block] for axis in asked.axes],
            people.cells.cell[block],
            asked,
            contexts,
            target.n_cells,
        )
    counts[:, 0] -= counts[:, 1:].sum(axis=1)
    out[contexts] = counts.reshape(-1, *target.cell_shape)


def _bit_counts(
    codes: list[NDArray[np.uint8]], cell: IntArray, asked: _ContextConditions, contexts: IntArray, n_cells: int
) -> IntArray:
    """Return how many people there are in each context, and in each of its cells but the first.

    People are sorted by the attribute that most contexts begin with: those of one condition on it are then neighbours,
    and the words of all others need not be looked at.
    """
    numbers = asked.order[contexts]
    leading = int(np.bincount(asked.column[numbers[:, 0]]).argmax())
    order = np.argsort(codes[leading], kind="stable")
    codes, cell = [c[order] for c in codes], cell[order]
    used = np.unique(numbers[numbers >= 0]).tolist()
    bits = {i: pack_bits(among(codes[asked.column[i]], asked.conditions[i])) for i in used}
    places = {i: _words(codes[leading], asked.conditions[i]) for i in used if asked.column[i] == leading}
    everyone = np.ones(cell.size, dtype=bool)
    cells = np.stack([pack_bits(everyone), *(pack_bits(cell == c) for c in range(1, n_cells))])
    shared = np.empty((numbers.shape[1], cells.shape[1]), dtype=np.uint64)
    counts = np.zeros((contexts.size, n_cells), dtype=np.int64)
    before: list[int] = []
    for place, (row, depth) in enumerate(zip(numbers.tolist(), asked.depth[contexts].tolist(), strict=True)):
        part = places.get(row[0], slice(None))
        same = _count_shared(before, row)
        if same == 0:
            shared[0, part], same = bits[row[0]][part], 1
        for d in range(same, depth):
            np.bitwise_and(shared[d - 1, part], bits[row[d]][part], out=shared[d, part])
        within = cells[:, part] & shared[depth - 1, part]
        counts[place] = np.bitwise_count(within).sum(axis=1, dtype=np.uint32)
        before = row[:depth]
    return counts


def _words(codes: NDArray[np.uint8], condition: Condition) -> slice:
    """Return where the bits of a condition are, for people sorted by their codes."""
    first = np.searchsorted(codes, min(condition.codes, default=0), side="left")
    last = np.searchsorted(codes, max(condition.codes, default=0), side="right")
    return slice(int(first) // 64, -(-int(last) // 64))


def _count_shared(one: list[int], other: list[int]) -> int:
    """Return how many conditions two contexts begin with alike."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def _descend(
    people: CodedPeople,
    prefix: Prefix,
    target: Target,
    sums: NDArray[Any],
    axis_of: Callable[[str], Axis | None],
    out: NDArray[Any],
) -> None:
    """Add up the people of all contexts that go on from a prefix."""
    out[prefix.contexts] = sums
    for column, children in prefix.by_column():
        axis = _present(axis_of(column))
        codes = people.codes(axis)
        table = add_up_at(people.keys([axis], target.n_cells), axis.size, people.cells, target)
        for condition, child in children:
            inside = table[list(condition.codes)].sum(axis=0)
            if child.children:
                fewer = people.take(np.flatnonzero(among(codes, condition)))
                _descend(fewer, child, target, inside, axis_of, out)
            else:
                out[child.contexts] = inside
