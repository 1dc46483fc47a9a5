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
from fairtest.progress import progress_of_step, silent
from fairtest.search.cuts import items

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.model.context import Predicate
    from fairtest.progress import Progress
    from fairtest.search.scoring import Outputs, Strength
    from fairtest.types import BoolArray, FloatArray, IntArray

MOST_CELLS = 1 << 25
"""The most numbers a table of conjunctions over the same attributes may hold."""
MOST_WAITING = 1 << 19
"""How many numbers may wait to be evaluated together: enough that a call costs nothing, few enough for a cache."""
WIDE = 5000
"""From this many candidates on, only those are kept that stand out from the larger contexts around them …"""
LEAST_LINK = 0.5
"""… by this many standard deviations."""
COARSE = 7
"""How many thresholds of a number are used where not all of them are, at equally spaced quantiles."""
FEWEST_OUTSIDE = 20
"""A context is compared with the rest of a larger one only if that rest has at least this many people."""
SAME = 0.05
"""A context that lacks no more than this part of a larger one's people says nothing else.

Were it proposed, it could stand for the larger one with a better threshold, and name a condition that plays no role.
"""


@dataclass(frozen=True)
class Reach:
    """How far the search goes.

    Attributes
    ----------
    depth
        The most predicates of a conjunction.
    fine_depth
        Conjunctions of more predicates than this use a few thresholds of each number only.
    numbers
        The most numbers that the tables of all conjunctions may hold together; beyond, the search goes less deep.
    """

    depth: int = 3
    fine_depth: int = 2
    numbers: int = 4_000_000

    def axes(self, axes: Sequence[ItemAxis], depth: int) -> list[ItemAxis]:
        """Return the axes with the predicates that conjunctions of a length are made of."""
        return list(axes) if depth <= self.fine_depth else [a.coarse() for a in axes]


ONE_OUTPUT = Reach()


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
        few = coarse_cuts(self.thresholds)
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
        The training set's normal deviate, signed where the metric is; of many outputs, that of the one that stands out
        most.
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


def coarse_cuts(thresholds: int) -> IntArray:
    """Return which thresholds of a number are used where a few must do."""
    if thresholds <= COARSE:
        return np.arange(thresholds)
    return np.unique(np.round(np.arange(1, COARSE + 1) * (thresholds + 1) / (COARSE + 1) - 1).astype(int))


def feasible_depth(
    axes: Sequence[ItemAxis], target: Target, most: int, outputs: int = 1, reach: Reach = ONE_OUTPUT
) -> int:
    """Return how many predicates can be combined without looking at more candidates than is bearable."""
    cells = target.n_cells * int(np.prod(target.sum_shape or (1,)))
    depth = 0
    for k in range(1, min(most, len(axes)) + 1):
        sizes = np.array([a.size for a in reach.axes(axes, k)], dtype=float)
        largest = np.sort(sizes)[::-1][:k]
        if _conjunctions_of(sizes, k) * cells * outputs > reach.numbers or np.prod(largest) * cells > MOST_CELLS:
            break
        depth = k
    return depth


def _conjunctions_of(sizes: FloatArray, length: int) -> float:
    """Return how many conjunctions of a length there are: the elementary symmetric polynomial of the sizes."""
    ways = np.ones(1)
    for size in sizes:
        ways = (np.append(ways, 0.0) + size * np.append(0.0, ways))[: length + 1]
    return float(ways[length])


def conjunctions(
    outputs: Sequence[Outputs],
    target: Target,
    axes: Sequence[ItemAxis],
    *,
    depth: int,
    min_people: float,
    every: bool = False,
    reach: Reach = ONE_OUTPUT,
    progress: Progress = silent,
) -> Candidates:
    """Evaluate every conjunction of up to ``depth`` predicates over different attributes.

    Conjunctions with nearly the same people as one of fewer predicates are left out, and so are thresholds next to
    one of the same direction that shows the association more surely. Where there are many candidates, only those are
    kept that stand out from the larger contexts around them. ``every`` leaves out nothing but conjunctions with too few
    people, or nearly the same as a shorter one: then the outputs have no say.
    """
    judged: list[_Judgements] = []
    for number, some in enumerate(outputs):
        here = _judge_conjunctions(
            some, target, axes, depth, min_people, reach, progress_of_step(progress, number, len(outputs))
        )
        judged = [a.or_stronger(b) for a, b in zip(judged, here, strict=True)] if judged else here
    looked_at = sum(int(np.count_nonzero(~np.isnan(each.z))) for each in judged)
    return _gather_candidates(
        [each.keep_surest(every) for each in judged], looked_at, wide=looked_at > WIDE and not every
    )


def _judge_conjunctions(
    outputs: Outputs,
    target: Target,
    axes: Sequence[ItemAxis],
    depth: int,
    min_people: float,
    reach: Reach,
    progress: Progress,
) -> list[_Judgements]:
    """Evaluate every conjunction by some outputs: those over the same attributes together."""
    engine, strength = outputs.engine, outputs.strength
    tables: dict[tuple[int, ...], _Sums] = {(): _Sums.of(engine.total(TRAIN, target), strength, target)}
    found: list[_Judgements] = []
    sets, done = sum(comb(len(axes), k) for k in range(1, depth + 1)), 0
    for k in range(1, depth + 1):
        here, next_axes = reach.axes(axes, k), reach.axes(axes, k + 1)
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
            if k == reach.fine_depth < depth:
                coarse = collapse(joint, [next_axes[i].matrix for i in chosen])
                deeper[chosen] = _Sums.of(coarse, strength, target)
            elif k < depth:
                deeper[chosen] = sums
            around = [tables[chosen[:place] + chosen[place + 1 :]] for place in range(k)]
            waiting.append(_Conjunctions([here[i] for i in chosen], sums, around, min_people))
            held += waiting[-1].numbers
            if held > MOST_WAITING:
                found += _judge(waiting, target, strength)
                waiting, held = [], 0
        found += _judge(waiting, target, strength)
        tables = deeper
    return found


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
    at
        Where those are that have enough people, and clearly fewer than each larger one.
    """

    def __init__(self, axes: Sequence[ItemAxis], here: _Sums, around: Sequence[_Sums], min_people: float) -> None:
        self.axes = axes
        self._here = here
        self._around = around
        populated: BoolArray = here.size >= max(min_people, 1)
        for place, larger in enumerate(around):
            populated &= here.size <= (1 - SAME) * np.expand_dims(larger.size, place)
        self.at = np.nonzero(populated)

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


def _judge(waiting: Sequence[_Conjunctions], target: Target, strength: Strength) -> list[_Judgements]:
    """Return how surely conjunctions show an association, and one stronger than around.

    One evaluation for those over many sets of attributes, since most sets have few.
    """
    some = [each for each in waiting if len(each)]
    if not some:
        return []
    many = sum(map(len, some))
    parts = [part for place in zip(*(each.sums() for each in some), strict=True) for part in place]
    evidence = strength.evidence(target.wrap(_cell_by_cell(parts)))
    here, link = evidence[:many], np.full(evidence.z[:many].shape, np.inf)
    rests = zip(*(each.rests() for each in some), strict=True)
    for number, people in enumerate(rests, start=1):
        beyond = here.beyond(evidence[number * many : (number + 1) * many], strength.metric.signed)
        link = np.minimum(link, known_links(beyond, np.concatenate(people)))
    z, link = strength.stands_out(here.z, link)
    ends = np.cumsum([len(each) for each in some])[:-1]
    return [
        _Judgements(each.axes, each.at, own, least)
        for each, own, least in zip(some, np.split(z, ends), np.split(link, ends), strict=True)
    ]


def known_links(beyond: FloatArray, people: IntArray) -> FloatArray:
    """Return by how much contexts surpass the rest of a larger one: infinite where too few people are in the rest."""
    enough = (people >= FEWEST_OUTSIDE).reshape(-1, *(1,) * (beyond.ndim - 1))
    return np.where(enough & ~np.isnan(beyond), beyond, np.inf)


@dataclass(frozen=True, eq=False)
class _Judgements:
    """Conjunctions over the same attributes, by the positions of their predicates, with their deviates."""

    axes: Sequence[ItemAxis]
    at: tuple[IntArray, ...]
    z: FloatArray
    link: FloatArray

    def or_stronger(self, other: _Judgements) -> _Judgements:
        """Return the same conjunctions, each as the outputs judge it that it stands out by most."""
        return _Judgements(self.axes, self.at, np.maximum(self.z, other.z), self.link)

    def keep_surest(self, every: bool) -> _Survivors:
        """Return those that are kept: no threshold next to one that shows the association more surely."""
        places = np.stack(self.at, axis=1)
        if every:
            return _Survivors(self.axes, places, self.z, self.link)
        known = ~np.isnan(self.z)
        if any(axis.runs for axis in self.axes):
            sure = np.full([axis.size for axis in self.axes], -np.inf)
            sure[self.at] = np.where(known, np.abs(self.z), -np.inf)
            known &= peaks(sure, self.axes)[self.at]
        return _Survivors(self.axes, places[known], self.z[known], self.link[known])


def peaks(sure: FloatArray, axes: Sequence[ItemAxis]) -> BoolArray:
    """Return which candidates, one axis for each attribute's predicates, no neighbouring threshold surpasses.

    Those that are no candidates are −∞.
    """
    keep = sure >= 0
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
class _Survivors:
    """What is kept of the conjunctions over some attributes: the positions of their predicates, and the evidence."""

    axes: Sequence[ItemAxis]
    places: IntArray
    z: FloatArray
    link: FloatArray

    def keep_linked(self, least: float) -> _Survivors:
        """Return those that stand out from what is around them by so much, and all of one predicate: they are few."""
        at = (self.link >= least) | (len(self.axes) == 1)
        return _Survivors(self.axes, self.places[at], self.z[at], self.link[at])

    def contexts(self) -> Iterator[Context]:
        """Return the conjunctions; axes are sorted by name, as the predicates of a context are."""
        columns = zip(self.axes, self.places.T.tolist(), strict=True)
        return map(Context, zip(*([axis.predicates[j] for j in places] for axis, places in columns), strict=True))


def _gather_candidates(found: Sequence[_Survivors], looked_at: int, wide: bool) -> Candidates:
    if wide:
        found = [kept.keep_linked(LEAST_LINK) for kept in found]
    contexts = tuple(context for kept in found for context in kept.contexts())
    empty = np.zeros(0)
    z, link = (np.concatenate([empty, *(getattr(kept, name) for kept in found)]) for name in ("z", "link"))
    return Candidates(contexts, z, link, looked_at, wide)
