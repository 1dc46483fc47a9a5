"""Exhaustive search: every conjunction of a few predicates with enough people, and how surely each stands out.

For every set of attributes the engine counts one joint table of their codes; sums along its axes turn codes into
predicates, so that all conjunctions over these attributes are evaluated in one call. Size and depth prune: attributes
of which some have no large conjunction are not combined. Evidence only filters, since a part of a context can show what
the context does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.holdout import TRAIN
from fairtest.engine.kernel.joint import collapse, membership
from fairtest.model.context import Context
from fairtest.progress import silent
from fairtest.search.cuts import items

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.engine.contract import Engine
    from fairtest.model.context import Predicate
    from fairtest.progress import Progress
    from fairtest.search.scoring import Strength
    from fairtest.types import BoolArray, FloatArray, IntArray

MOST_NUMBERS = 4_000_000
"""The most numbers that the tables of all conjunctions may hold together; beyond, the search goes less deep."""
MOST_CELLS = 1 << 25
"""The most numbers a table of conjunctions over the same attributes may hold."""
MOST_WAITING = 1 << 19
"""How many numbers may wait to be evaluated together: enough that a call costs nothing, few enough for a cache."""
WIDE = 5000
"""From this many candidates on, only those are kept that stand out from the larger contexts around them …"""
LEAST_LINK = 0.5
"""… by this many standard deviations."""
FINE_DEPTH = 2
"""Conjunctions of more predicates than this use a few thresholds of each number only."""
COARSE = 7
"""… namely so many, at equally spaced quantiles."""
FEWEST_OUTSIDE = 20
"""A context is compared with the rest of a larger one only if that has so many people."""


@dataclass(frozen=True, eq=False)
class ItemAxis:
    """An axis with all predicates it allows."""

    axis: Axis
    predicates: tuple[Predicate, ...]
    matrix: FloatArray

    @property
    def size(self) -> int:
        """The number of predicates."""
        return len(self.predicates)

    thresholds: int = 0

    @property
    def runs(self) -> tuple[slice, ...]:
        """The runs of thresholds of the same direction."""
        return (slice(0, self.thresholds), slice(self.thresholds, 2 * self.thresholds)) if self.thresholds else ()

    def coarse(self) -> ItemAxis:
        """Return the axis with a few thresholds only, for longer conjunctions."""
        if self.thresholds <= COARSE:
            return self
        few = np.unique(np.round((np.arange(1, COARSE + 1) * (self.thresholds + 1)) / (COARSE + 1) - 1).astype(int))
        kept = [*few, *(few + self.thresholds), *range(2 * self.thresholds, self.size)]
        return ItemAxis(self.axis, tuple(self.predicates[i] for i in kept), self.matrix[kept], len(few))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Conjunctions with enough people in the training set.

    Attributes
    ----------
    contexts
        The conjunctions, fewest predicates first.
    z
        The training set's normal deviate, signed where the metric is.
    link
        The deviate of "stronger than in the rest of each larger context that one predicate less gives", the smallest
        over those; infinite where no rest is large enough.
    looked_at
        How many conjunctions were evaluated.
    wide
        Whether they were so many that only those were kept that stand out.
    """

    contexts: tuple[Context, ...]
    z: FloatArray
    link: FloatArray
    looked_at: int
    wide: bool


def item_axes(axes: Sequence[Axis], table: Table) -> list[ItemAxis]:
    """Return the axes, by name, with the predicates they allow."""
    made = []
    for axis in sorted(axes, key=lambda a: a.column):
        parts = items(axis, table[axis.column])
        matrix = membership([c for _, c in parts], axis.size)
        made.append(ItemAxis(axis, tuple(p for p, _ in parts), matrix, len(axis.thresholds or ())))
    return made


def feasible_depth(axes: Sequence[ItemAxis], target: Target, most: int) -> int:
    """Return how many predicates can be combined without looking at more candidates than is bearable."""
    cells = target.n_cells * int(np.prod(target.sum_shape or (1,)))
    depth = 0
    for k in range(1, min(most, len(axes)) + 1):
        sizes = np.array([a.size for a in at_depth(axes, k)], dtype=float)
        largest = np.sort(sizes)[::-1][:k]
        if _conjunctions_of(sizes, k) * cells > MOST_NUMBERS or np.prod(largest) * cells > MOST_CELLS:
            break
        depth = k
    return depth


def at_depth(axes: Sequence[ItemAxis], depth: int) -> list[ItemAxis]:
    """Return the axes with the predicates that conjunctions of a length are made of."""
    return list(axes) if depth <= FINE_DEPTH else [a.coarse() for a in axes]


def _conjunctions_of(sizes: FloatArray, length: int) -> float:
    """Return how many conjunctions of a length there are: the elementary symmetric polynomial of the sizes."""
    ways = np.ones(1)
    for size in sizes:
        ways = (np.append(ways, 0.0) + size * np.append(0.0, ways))[: length + 1]
    return float(ways[length])


def conjunctions(
    engine: Engine,
    target: Target,
    axes: Sequence[ItemAxis],
    strength: Strength,
    *,
    depth: int,
    min_people: float,
    every: bool = False,
    progress: Progress = silent,
) -> Candidates:
    """Evaluate every conjunction of up to ``depth`` predicates over different attributes.

    Conjunctions with the same people as one of fewer predicates are left out, and so are thresholds next to one of
    the same direction that shows the association more surely. Where there are many candidates, only those are kept
    that stand out from the larger contexts around them. ``every`` leaves out nothing but conjunctions with too few
    people, or the same people as a shorter one: then the outputs have no say.
    """
    tables: dict[tuple[int, ...], _Sums] = {(): _Sums.of(engine.total(TRAIN, target), strength, target)}
    found: list[_Kept] = []
    looked_at = 0
    sets, done = sum(comb(len(axes), k) for k in range(1, depth + 1)), 0
    for k in range(1, depth + 1):
        here, next_axes = at_depth(axes, k), at_depth(axes, k + 1)
        deeper: dict[tuple[int, ...], _Sums] = {}
        waiting: list[_Conjunctions] = []
        held = 0
        every_choice = [c for c in combinations(range(len(axes)), k) if _may_be_large(c, tables, min_people)]
        done += comb(len(axes), k) - len(every_choice)
        joints = engine.joints(TRAIN, [[here[i].axis for i in chosen] for chosen in every_choice], target)
        for chosen, joint in zip(every_choice, joints, strict=True):
            progress(done / sets)
            done += 1
            sums = _Sums.of(collapse(joint, [here[i].matrix for i in chosen]), strength, target)
            if k == FINE_DEPTH < depth:
                coarse = collapse(joint, [next_axes[i].matrix for i in chosen])
                deeper[chosen] = _Sums.of(coarse, strength, target)
            elif k < depth:
                deeper[chosen] = sums
            around = [tables[chosen[:place] + chosen[place + 1 :]] for place in range(k)]
            waiting.append(_Conjunctions([here[i] for i in chosen], sums, around, min_people))
            held += waiting[-1].numbers
            if held > MOST_WAITING:
                looked_at += _judge(waiting, found, target, strength, every)
                held = 0
        looked_at += _judge(waiting, found, target, strength, every)
        tables = deeper
    return _gathered(found, looked_at, wide=looked_at > WIDE and not every)


def _may_be_large(chosen: tuple[int, ...], tables: Mapping[tuple[int, ...], _Sums], min_people: float) -> bool:
    """Whether a conjunction over some attributes can have enough people: over all but one of them, some must have."""
    larger = (tables.get(chosen[:place] + chosen[place + 1 :]) for place in range(len(chosen)))
    return all(sums is not None and sums.size.max(initial=0) >= min_people for sums in larger)


@dataclass(frozen=True, eq=False)
class _Sums:
    """The sums of all conjunctions over the same attributes, and their people."""

    sums: NDArray[Any]
    size: IntArray

    @classmethod
    def of(cls, sums: NDArray[Any], strength: Strength, target: Target) -> _Sums:
        """Count the people of every conjunction."""
        return cls(sums, strength.sizes(sums, target))


class _Conjunctions:
    """All conjunctions over the same attributes: arrays with one axis for each attribute's predicates.

    ``around`` are the larger contexts: those over all attributes but the first, all but the second, and so on.

    Attributes
    ----------
    populated
        Which have enough people, and fewer than each larger one.
    at
        Where those are.
    """

    def __init__(self, axes: Sequence[ItemAxis], here: _Sums, around: Sequence[_Sums], min_people: float) -> None:
        self.axes = axes
        self._here = here
        self._around = around
        self.populated: BoolArray = here.size >= max(min_people, 1)
        for place, larger in enumerate(around):
            self.populated &= here.size < np.expand_dims(larger.size, place)
        self.at = np.nonzero(self.populated)

    def __len__(self) -> int:
        return int(self.at[0].size)

    @property
    def numbers(self) -> int:
        """How many numbers are held to judge them."""
        cells = prod(self._here.sums.shape[len(self.axes) :])
        return self._here.sums.size + len(self) * (1 + len(self._around)) * cells

    def sums(self) -> list[NDArray[Any]]:
        """Return the sums of those with enough people, and of the rest of each larger context."""
        inside = self._here.sums[self.at]
        return [inside, *(larger.sums[where] - inside for larger, where in self._larger())]

    def rests(self) -> list[IntArray]:
        """Return how many people the rest of each larger context has."""
        inside = self._here.size[self.at]
        return [larger.size[where] - inside for larger, where in self._larger()]

    def _larger(self) -> Iterator[tuple[_Sums, tuple[IntArray, ...]]]:
        for place, larger in enumerate(self._around):
            yield larger, self.at[:place] + self.at[place + 1 :]

    def kept(self, z: FloatArray, link: FloatArray, every: bool) -> _Kept:
        """Return what is kept, given the deviates of those with enough people."""
        if every:
            return _Kept(self.axes, np.argwhere(self.populated), z, link)
        known = ~np.isnan(z)
        if any(axis.runs for axis in self.axes):
            sure = np.full(self.populated.shape, -np.inf)
            sure[self.at] = np.where(known, np.abs(z), -np.inf)
            known &= peaks(sure, sure >= 0, self.axes)[self.at]
        places = np.stack(self.at, axis=1)[known]
        return _Kept(self.axes, places, z[known], link[known])


def _judge(waiting: list[_Conjunctions], found: list[_Kept], target: Target, strength: Strength, every: bool) -> int:
    """Move conjunctions from the waiting ones to those found, if they are kept; return how many were evaluated.

    One evaluation for those over many sets of attributes, since most sets have few.
    """
    some = [each for each in waiting if len(each)]
    if not some:
        waiting.clear()
        return 0
    many = sum(map(len, some))
    parts = [part for place in zip(*(each.sums() for each in some), strict=True) for part in place]
    evidence = strength.evidence(target.wrap(_cell_by_cell(parts)))
    here, link = evidence[:many], np.full(many, np.inf)
    rests = zip(*(each.rests() for each in some), strict=True)
    for number, people in enumerate(rests, start=1):
        beyond = here.beyond(evidence[number * many : (number + 1) * many], strength.metric.signed)
        known = (np.concatenate(people) >= FEWEST_OUTSIDE) & ~np.isnan(beyond)
        link = np.where(known, np.minimum(link, beyond), link)
    ends = np.cumsum([len(each) for each in some])[:-1]
    for each, z, least in zip(some, np.split(here.z, ends), np.split(link, ends), strict=True):
        found.append(each.kept(z, least, every))
    waiting.clear()
    return int(np.count_nonzero(~np.isnan(here.z)))


def peaks(sure: FloatArray, enough: BoolArray, axes: Sequence[ItemAxis]) -> BoolArray:
    """Return which candidates, one axis for each attribute's predicates, no neighbouring threshold surpasses."""
    sure = np.where(enough, sure, -np.inf)
    keep = enough.copy()
    for place, axis in enumerate(axes):
        values, kept = np.moveaxis(sure, place, 0), np.moveaxis(keep, place, 0)
        for run in axis.runs:
            part = values[run]
            kept[run][:-1] &= part[:-1] >= part[1:]
            kept[run][1:] &= part[1:] > part[:-1]
    return keep


def _cell_by_cell(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the sums of many contexts one after the other, in memory cell by cell.

    Metrics add up a few cells of each context; with the same cell of all contexts side by side, that takes a third of
    the time.
    """
    cells = np.empty((*parts[0].shape[1:], sum(len(part) for part in parts)), dtype=parts[0].dtype)
    return np.concatenate(parts, out=np.moveaxis(cells, -1, 0))


@dataclass(frozen=True, eq=False)
class _Kept:
    """What is kept of the conjunctions over some attributes: the positions of their predicates, and the evidence."""

    axes: Sequence[ItemAxis]
    places: IntArray
    z: FloatArray
    link: FloatArray

    def linked(self, least: float) -> _Kept:
        """Return those that stand out from what is around them by so much."""
        at = self.link >= least
        return _Kept(self.axes, self.places[at], self.z[at], self.link[at])

    def contexts(self) -> Iterator[Context]:
        """Return the conjunctions; axes are sorted by name, as the predicates of a context are."""
        columns = zip(self.axes, self.places.T.tolist(), strict=True)
        return map(Context, zip(*([axis.predicates[j] for j in places] for axis, places in columns), strict=True))


def _gathered(found: Sequence[_Kept], looked_at: int, wide: bool) -> Candidates:
    if wide:
        found = [kept.linked(LEAST_LINK) for kept in found]
    contexts = tuple(context for kept in found for context in kept.contexts())
    empty = np.zeros(0)
    z, link = (np.concatenate([empty, *(getattr(kept, name) for kept in found)]) for name in ("z", "link"))
    return Candidates(contexts, z, link, looked_at, wide)
