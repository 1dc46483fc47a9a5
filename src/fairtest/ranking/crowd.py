"""The people of a test set, arranged so that the sums of many contexts within some of them are quick to get.

Choosing what to show asks the same thing again and again: what do the people of each significant context who are also
in some other groups say? Everybody is a bit, and people who count in the same cell of the target stand together, so
that for counts the answer is a population count of words.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Condition
    from fairtest.data.summaries import Target
    from fairtest.engine.contract import Engine
    from fairtest.types import IntArray

    People = NDArray[np.uint64]

MOST_WORDS = 1 << 21
"""About how many words of 64 people are kept for all contexts together; beyond, only some of the people are."""


PLANES = 10
"""Weights are kept in so many bits here: 1 in 1,000 of the largest is fine enough to choose what is shown."""


WORDS_AT_ONCE = 128
"""So many words of 64 people are counted at once: few enough to stay near the processor, and for sums of 16 bits."""


MOST_TOLD_APART = 20
"""People stand together by who of them meet so many conditions, those used most."""


class Crowd:
    """The people of a test set, and who of them is in each of some contexts.

    Attributes
    ----------
    members
        A row of bits for each context.
    everyone
        The bits of all people who have a value for the target.
    """

    def __init__(self, engine: Engine, number: int, target: Target, contexts: Sequence[Sequence[Condition]]) -> None:
        self._target = target
        place: dict[Condition, int] = {}
        for condition in (c for context in contexts for c in context):
            place.setdefault(condition, len(place))
        cell, terms = engine.contributions(number, target)
        bits = engine.members(number, [[condition] for condition in place])
        words = len(cell) // 64
        step = max(words * len(contexts) // MOST_WORDS, 1)
        if step > 1:  # the split is by a hash of the position, so that any words are a sample
            some = np.arange(cell.size).reshape(words, 64)[::step].ravel()
            cell, terms = cell[some], terms[:, some]
            bits = bits[:, ::step]
        # where rows have weights, the first term is the weight
        self._weighted = len(terms) > (prod(target.sum_shape) - target.pieces if target.sum_shape else 0)
        self._planes: People | None = None
        if self._weighted and not target.sum_shape:
            weight, terms = terms[0], terms[1:]
        known = np.unpackbits(np.ascontiguousarray(bits).view(np.uint8), axis=1).reshape(len(place), -1)
        uses = np.bincount([place[condition] for context in contexts for condition in context], minlength=len(place))
        self._terms, order, self._starts, self._cells = _by_cell(cell, terms, _who_is_alike(known, uses))
        known = np.concatenate((known, np.zeros((len(place), 1), np.uint8)), axis=1)  # nobody, to fill up words
        satisfied = _pack(known.take(order, axis=1))
        if self._weighted and not target.sum_shape:
            # a power of two: sums are then exact, and what is left of one never falls below 0
            self._unit = float(
                2.0 ** np.ceil(np.log2(max(float(weight.max(initial=0.0)), 1e-300) / ((1 << PLANES) - 1)))
            )
            units = np.rint(np.append(weight, 0.0)[order] / self._unit).astype(np.int64)
            self._planes = np.concatenate([_pack((units[None] >> bit & 1).astype(np.uint8)) for bit in range(PLANES)])
        self.everyone: People = _pack((order < cell.size).astype(np.uint8)[None])[0]
        self.members: People = np.tile(self.everyone, (len(contexts), 1))
        for row, context in enumerate(contexts):
            for condition in context:
                self.members[row] &= satisfied[place[condition]]

    def take(self, at: IntArray) -> Crowd:
        """Return the same people with some of the contexts."""
        some = copy(self)
        some.__dict__.pop("_by_word", None)
        some.members = self.members[at]
        return some

    @cached_property
    def _by_word(self) -> People:
        """The same bits, those of all contexts for 64 people side by side: few words are quick to take."""
        return np.ascontiguousarray(self.members.T)

    def count_shared(self, people: People) -> IntArray:
        """Return how many of some people are in each context."""
        counts, words = np.zeros((1, len(self.members)), dtype=np.int64), np.flatnonzero(people)
        _add_people(counts, np.zeros_like(words), self._by_word, words, people[words])
        return np.asarray(counts[0])

    def totals(self, cells: People) -> NDArray[Any]:
        """Return the sums over the people of each of some cells: ``[cell, *cell_shape, *sum_shape]``."""
        return self._sums(cells, self.everyone)

    def sums_within(self, cells: People) -> NDArray[Any]:
        """Return the sums over the people of each context in some cells: ``[…, cell, context]``."""
        if self._target.sum_shape or self._weighted:
            shape = (*self._target.cell_shape, *self._target.sum_shape, 0, len(self.members))
            each = [np.moveaxis(self._sums(self.members, people), 0, -1)[..., None, :] for people in cells]
            return np.concatenate(each, axis=-2) if each else np.zeros(shape)
        row, word = np.nonzero(cells)
        counts = np.zeros((self._target.n_cells, len(cells), len(self.members)), dtype=np.int64)
        cell = self._cells[np.searchsorted(self._starts, word, side="right") - 1] if word.size else word
        _add_people(
            counts.reshape(-1, len(self.members)), cell * len(cells) + row, self._by_word, word, cells[row, word]
        )
        return counts.reshape(*self._target.cell_shape, *counts.shape[1:])

    def _sums(self, members: People, people: People) -> NDArray[Any]:
        some = np.flatnonzero(people)
        if some.size < people.size // 2:
            inside = members[:, some] & people[some]
        else:  # most words have somebody: taking them out would cost more than counting the others
            some, inside = np.arange(people.size), members & people
        starts = np.searchsorted(some, self._starts)
        shape = (len(members), self._target.n_cells, *self._target.sum_shape)
        sums = np.zeros(shape, dtype=float if self._target.sum_shape or self._weighted else np.int64)
        present = np.diff(np.append(starts, some.size)) > 0
        if not present.any():
            return sums.reshape(len(members), *self._target.cell_shape, *self._target.sum_shape)
        cells, starts = self._cells[present], starts[present]
        if self._planes is not None:
            sums[:, cells] = self._unit * sum(
                (1 << bit) * _count_people(inside & plane[some], starts) for bit, plane in enumerate(self._planes)
            )
            return sums.reshape(len(members), *self._target.cell_shape)
        counts = _count_people(inside, starts)
        if not self._target.sum_shape:
            sums[:, cells] = counts
            return sums.reshape(len(members), *self._target.cell_shape)
        if not self._weighted:
            sums[:, cells, 0, 0] = counts
        ends = np.append(starts[1:], some.size)
        for cell, start, end in zip(cells.tolist(), starts.tolist(), ends.tolist(), strict=True):
            here = np.unpackbits(np.ascontiguousarray(inside[:, start:end]).view(np.uint8), axis=1).astype(float)
            terms = self._terms[:, some[start:end]].reshape(len(self._terms), -1)
            added = here @ terms.T  # pieces of exact sums: the order of additions does not matter
            if self._weighted:
                sums[:, cell, 0, 0], added = added[:, 0], added[:, 1:]
            sums[:, cell, 1:] = added.reshape(len(members), -1, self._target.pieces)
        return sums.reshape(len(members), *self._target.cell_shape, *self._target.sum_shape)


def _count_people(people: People, starts: IntArray) -> IntArray:
    """Return how many bits are set from each start to the next."""
    # adding up in small numbers takes a quarter of the time
    kind = np.uint16 if people.shape[1] * 64 <= np.iinfo(np.uint16).max else np.int64
    return np.add.reduceat(np.bitwise_count(people), starts, axis=1, dtype=kind).astype(np.int64)


def _add_people(counts: IntArray, at: IntArray, by_word: People, words: IntArray, people: People) -> None:
    """Add to rows of counts how many of the people in some words are in each context; ``at`` says to which row."""
    edges = np.flatnonzero(np.diff(at, prepend=-1, append=-1)).tolist()
    for first, end in pairwise(edges):
        for start in range(first, end, WORDS_AT_ONCE):
            some = slice(start, min(start + WORDS_AT_ONCE, end))
            inside = by_word[words[some]]
            inside &= people[some, None]
            counts[at[first]] += np.bitwise_count(inside).sum(axis=0, dtype=np.uint16)


def _pack(mask: NDArray[np.uint8]) -> People:
    return np.packbits(mask, axis=1).view(np.uint64)


def _who_is_alike(known: NDArray[np.uint8], uses: IntArray) -> IntArray:
    """Return a number for each person, alike for people of whom the same conditions hold, those used most first.

    People who are alike stand together, so that the people of a context or a cell are in few words.
    """
    common = np.argsort(-uses, kind="stable")[:MOST_TOLD_APART]
    alike = np.zeros(known.shape[1], dtype=np.int64)
    for row in known[common]:
        alike = 2 * alike + row
    return alike


def _by_cell(
    cell: NDArray[np.int32], terms: NDArray[Any], alike: IntArray
) -> tuple[NDArray[Any], IntArray, IntArray, IntArray]:
    """Return people ordered by cell and by who is alike, every cell filled up to whole words.

    Gives their terms ``[term, word, bit]``, their positions (one beyond the last where a word is filled up), the first
    word of each cell that has anybody, and which cells these are.
    """
    order = np.argsort((cell.astype(np.int64) << MOST_TOLD_APART) + alike, kind="stable")
    order = order[np.searchsorted(cell[order], 0) :]
    cells, first, many = np.unique(cell[order], return_index=True, return_counts=True)
    words = (many + 63) // 64
    starts = np.concatenate(([0], np.cumsum(words)[:-1])).astype(int) if cells.size else np.zeros(0, dtype=int)
    placed = np.full(int(words.sum()) * 64, cell.size)
    for at, start, n in zip(first.tolist(), starts.tolist(), many.tolist(), strict=True):
        placed[start * 64 : start * 64 + n] = order[at : at + n]
    filled = np.concatenate((terms, np.zeros((len(terms), 1))), axis=1).take(placed, axis=1)
    return filled.reshape(len(terms), placed.size // 64, 64), placed, starts, cells
