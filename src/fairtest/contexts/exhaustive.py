"""Exhaustive search: every conjunction of a few predicates with enough people, and how surely each stands out.

For every set of attributes the engine counts one joint table of their codes; sums along its axes turn codes into
predicates, so that all conjunctions over these attributes are evaluated in one call. Size and depth prune, evidence
only filters.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.contexts.context import Context
from fairtest.contexts.cuts import items
from fairtest.data.holdout import TRAIN
from fairtest.engine.joint import collapse, membership
from fairtest.progress import silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.contexts.context import Predicate
    from fairtest.contexts.scoring import Strength
    from fairtest.data.axes import Axis
    from fairtest.data.table import Table
    from fairtest.engine.contract import Engine
    from fairtest.progress import Tell
    from fairtest.summaries import Target
    from fairtest.types import BoolArray, FloatArray, IntArray

__all__ = [
    "FEWEST_OUTSIDE",
    "LEAST_LINK",
    "Candidates",
    "ItemAxis",
    "conjunctions",
    "feasible_depth",
    "item_axes",
    "peaks",
]

MOST_NUMBERS = 4_000_000
"""The most numbers that the tables of all conjunctions may hold together; beyond, the search goes less deep."""
MOST_CELLS = 1 << 25
"""The most numbers a table of conjunctions over the same attributes may hold."""
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
    tell: Tell = silent,
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
        every_choice = list(combinations(range(len(axes)), k))
        joints = engine.joints(TRAIN, [[here[i].axis for i in chosen] for chosen in every_choice], target)
        for chosen, joint in zip(every_choice, joints, strict=True):
            tell(done / sets)
            done += 1
            sums = _Sums.of(collapse(joint, [here[i].matrix for i in chosen]), strength, target)
            if k == FINE_DEPTH < depth:
                coarse = collapse(joint, [next_axes[i].matrix for i in chosen])
                deeper[chosen] = _Sums.of(coarse, strength, target)
            elif k < depth:
                deeper[chosen] = sums
            around = [tables[chosen[:place] + chosen[place + 1 :]] for place in range(k)]
            evaluated = _Evaluated([here[i] for i in chosen], sums, around, target, strength, min_people)
            looked_at += int(np.count_nonzero(evaluated.enough))
            keep = evaluated.populated if every else evaluated.peaks
            found.append(_Kept([here[i] for i in chosen], np.argwhere(keep), evaluated.z[keep], evaluated.link[keep]))
        tables = deeper
    return _gathered(found, looked_at, wide=looked_at > WIDE and not every)


@dataclass(frozen=True, eq=False)
class _Sums:
    """The sums of all conjunctions over the same attributes, and their people."""

    sums: NDArray[Any]
    size: IntArray

    @classmethod
    def of(cls, sums: NDArray[Any], strength: Strength, target: Target) -> _Sums:
        """Count the people of every conjunction."""
        return cls(sums, strength.sizes(sums, target))


class _Evaluated:
    """All conjunctions over the same attributes: arrays with one axis for each attribute's predicates.

    ``around`` are the larger contexts: those over all attributes but the first, all but the second, and so on.
    """

    def __init__(
        self,
        axes: Sequence[ItemAxis],
        here: _Sums,
        around: Sequence[_Sums],
        target: Target,
        strength: Strength,
        min_people: float,
    ) -> None:
        self._axes = axes
        size = here.size
        self.enough: BoolArray = size >= max(min_people, 1)
        for place, larger in enumerate(around):
            self.enough &= size < np.expand_dims(larger.size, place)
        self.populated = self.enough.copy()
        self.z, self.link = np.full(size.shape, np.nan), np.full(size.shape, np.inf)
        at = np.nonzero(self.enough)
        if at[0].size:
            self.z[at], self.link[at] = self._evidence(at, here, around, target, strength)
        self.enough &= ~np.isnan(self.z)

    @staticmethod
    def _evidence(
        at: tuple[IntArray, ...], here: _Sums, around: Sequence[_Sums], target: Target, strength: Strength
    ) -> tuple[FloatArray, FloatArray]:
        """Return the deviates of some conjunctions, and the smallest of those against the rest of a larger context."""
        inside, many = here.sums[at], at[0].size
        larger_at = [at[:place] + at[place + 1 :] for place in range(len(around))]
        outside = [larger.sums[where] - inside for larger, where in zip(around, larger_at, strict=True)]
        everything = strength.evidence(target.wrap(_cell_by_cell([inside, *outside])))
        evidence = everything[:many]
        smallest = np.full(many, np.inf)
        for number, (larger, where) in enumerate(zip(around, larger_at, strict=True), start=1):
            link = evidence.beyond(everything[number * many : (number + 1) * many], strength.metric.signed)
            known = (larger.size[where] - here.size[at] >= FEWEST_OUTSIDE) & ~np.isnan(link)
            smallest = np.where(known, np.minimum(smallest, link), smallest)
        return evidence.z, smallest

    @property
    def peaks(self) -> BoolArray:
        """Candidates that no neighbouring threshold of one of their predicates shows more surely."""
        return peaks(np.abs(np.nan_to_num(self.z)), self.enough, self._axes)


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


def _gathered(found: Sequence[_Kept], looked_at: int, wide: bool) -> Candidates:
    if wide:
        found = [kept.linked(LEAST_LINK) for kept in found]
    contexts = tuple(
        Context(tuple(axis.predicates[j] for axis, j in zip(kept.axes, place, strict=True)))
        for kept in found
        for place in kept.places.tolist()
    )
    empty = np.zeros(0)
    z, link = (np.concatenate([empty, *(getattr(kept, name) for kept in found)]) for name in ("z", "link"))
    return Candidates(contexts, z, link, looked_at, wide)
