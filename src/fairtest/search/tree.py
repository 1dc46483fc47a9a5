"""The association-guided tree: Algorithm 1 of the paper.

Starting from everybody, each population is cut along the attribute whose parts show the strongest association, as
long as some part shows a stronger one than the whole. Every node is a context. Nodes of one depth are counted
together, for all attributes; so are those of several trees that may cut along different attributes
(:mod:`fairtest.search.forest`), people whom they have in common once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, groupby
from math import isnan
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairtest.data.holdout import TRAIN
from fairtest.model.context import Context
from fairtest.model.found import Found
from fairtest.progress import progress_of_step, silent
from fairtest.search.cuts import children, n_splits
from fairtest.search.scoring import aggregate_score, child_sums, pick_children, round_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.model.context import Predicate
    from fairtest.model.plans import TrainingRun
    from fairtest.progress import Progress
    from fairtest.search.scoring import Outputs
    from fairtest.types import FloatArray

ChildTable: TypeAlias = NDArray[np.int32]
"""For each cut and code of the axis it goes along, the place of the child at the next depth; −1 for none."""

Choice: TypeAlias = "Callable[[Context], frozenset[str]]"
"""Along which attributes a tree may cut a context."""

MOST_CODES = 256
"""The most codes of an axis: they are kept in a byte."""
MOST_CELLS = 1 << 22
"""The most numbers one batch of candidate tables may hold."""


@dataclass(slots=True)
class Node:
    """One population of a tree, with its strength on the training set.

    Attributes
    ----------
    place
        Its position among the different populations of its depth; nodes of several trees with the same people share
        one.
    columns
        The attributes it may be cut along; None for all.
    """

    context: Context
    conditions: tuple[Condition, ...]
    parent: int
    strength: float
    place: int = 0
    columns: frozenset[str] | None = None

    def allows(self, axis: Axis) -> bool:
        """Whether the node may be cut along an axis."""
        return self.columns is None or axis.column in self.columns


@dataclass(slots=True)
class Split:
    """The best cut of a node: the strength of each child, NaN for those too small or undefined to count."""

    score: float
    axis: Axis
    number: int
    strengths: FloatArray


@dataclass(slots=True)
class Cut:
    """A split of the population at a place that is carried out."""

    place: int
    axis: Axis


@dataclass
class LookedAt:
    """Counts the candidates that were evaluated, once however many trees come by.

    Attributes
    ----------
    uncut
        How many populations were large enough to be cut further, and were not because there were so many of them.
    """

    total: int = 1
    uncut: int = 0
    _known: set[tuple[Context, str]] = field(default_factory=set)

    def add(self, node: Node, axis: Axis, candidates: int) -> None:
        """Count the parts of a node that were evaluated along an axis."""
        if node.columns is not None:
            key = (node.context, axis.column)
            if key in self._known:
                return
            self._known.add(key)
        self.total += candidates


class Scorer(Protocol):
    """Evaluates the candidates at one depth."""

    looked_at: LookedAt

    def root(self) -> float:
        """Return the strength in the whole population."""

    def best_splits(self, nodes: Sequence[Node], progress: Progress) -> list[Split | None]:
        """Return the best cut of each node, None where no cut is worth it."""

    def advance(self, cuts: Sequence[Cut], child: ChildTable) -> None:
        """Go one level down: people with code ``c`` on the axis of the cut ``i`` go to the place ``child[i, c]``."""


def grow(scorer: Scorer, table: Table, settings: TrainingRun, progress: Progress = silent) -> Found:
    """Grow one tree and return its nodes as contexts."""
    return merge_trees(grow_trees(scorer, table, settings, [None], progress), scorer.looked_at)


def grow_trees(
    scorer: Scorer,
    table: Table,
    settings: TrainingRun,
    choices: Sequence[Choice | None],
    progress: Progress = silent,
) -> list[list[Node]]:
    """Grow a tree for each choice of attributes, all of them together, and return their nodes."""
    start, everyone = scorer.root(), Context()
    trees = [[Node(everyone, (), -1, start, 0, None if c is None else c(everyone))] for c in choices]
    frontier = [(number, 0) for number in range(len(trees))]
    parts = _Parts(table)
    for depth in range(settings.plan.max_depth):
        splits = scorer.best_splits(
            [trees[t][i] for t, i in frontier], progress_of_step(progress, depth, settings.plan.max_depth)
        )
        below = _Below(parts)
        new: list[tuple[int, int]] = []
        for (t, i), split in zip(frontier, splits, strict=True):
            if split is None:
                continue
            choice = choices[t]
            for node in below.children(trees[t][i], i, split):
                node.columns = None if choice is None else choice(node.context)
                new.append((t, len(trees[t])))
                trees[t].append(node)
        if not new:
            break
        if depth + 1 < settings.plan.max_depth:
            frontier = _strongest(new, trees, settings.widest)
            scorer.looked_at.uncut += len(new) - len(frontier)
            scorer.advance(*below.only([trees[t][i] for t, i in frontier]))
    progress(1.0)
    return trees


def _strongest(
    nodes: list[tuple[int, int]], trees: Sequence[Sequence[Node]], widest: int | None
) -> list[tuple[int, int]]:
    """Return the nodes that are cut further: the ``widest`` strongest of each tree, in the order they came in."""
    if widest is None or len(nodes) <= widest:
        return nodes
    kept: set[tuple[int, int]] = set()
    for _, own in groupby(sorted(nodes), key=itemgetter(0)):
        kept.update(sorted(own, key=lambda node: -trees[node[0]][node[1]].strength)[:widest])
    return [node for node in nodes if node in kept]


class _Below:
    """The populations one level further down: each once, whatever trees and cuts lead to it."""

    def __init__(self, parts: _Parts) -> None:
        self._parts = parts
        self._places: dict[Context, int] = {}
        self._known: dict[tuple[int, str, int], list[Node]] = {}
        self._cuts: list[tuple[Cut, list[tuple[NDArray[np.intp], int]]]] = []

    def children(self, parent: Node, number: int, split: Split) -> list[Node]:
        """Return the children of the node with this number in its tree."""
        key = (parent.place, split.axis.column, split.number)
        if key not in self._known:
            self._known[key] = self._cut(parent, split)
        return [Node(n.context, n.conditions, number, n.strength, n.place) for n in self._known[key]]

    def only(self, nodes: Sequence[Node]) -> tuple[list[Cut], ChildTable]:
        """Return the cuts that lead to some of the nodes, which get places of their own."""
        places = {place: number for number, place in enumerate(sorted({node.place for node in nodes}))}
        for node in nodes:
            node.place = places[node.place]
        on = [(cut, [(codes, places[place]) for codes, place in to if place in places]) for cut, to in self._cuts]
        on = [(cut, to) for cut, to in on if to]
        child = np.full((len(on), MOST_CODES), -1, dtype=np.int32)
        for row, (_, to) in zip(child, on, strict=True):
            for codes, place in to:
                row[codes] = place
        return [cut for cut, _ in on], child

    def _cut(self, parent: Node, split: Split) -> list[Node]:
        made: list[Node] = []
        to: list[tuple[NDArray[np.intp], int]] = []
        parts = zip(self._parts.of(split), split.strengths.tolist(), strict=True)
        some = [(part, strength) for part, strength in parts if not isnan(strength)]
        contexts = parent.context.narrowings([predicate for (predicate, _, _), _ in some])
        for context, ((_, condition, codes), strength) in zip(contexts, some, strict=True):
            place = self._places.get(context)
            if place is None:
                self._places[context] = place = len(self._places)
                to.append((codes, place))
            made.append(Node(context, (*parent.conditions, condition), -1, strength, place))
        if to:
            self._cuts.append((Cut(parent.place, split.axis), to))
        return made


class _Parts:
    """The parts into which splits cut, the same objects for all nodes that are cut alike."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known: dict[tuple[str, int], list[tuple[Predicate, Condition, NDArray[np.intp]]]] = {}

    def of(self, split: Split) -> list[tuple[Predicate, Condition, NDArray[np.intp]]]:
        """Return the predicate of each part, its condition and its codes."""
        key = (split.axis.column, split.number)
        if key not in self._known:
            parts = children(split.axis, split.number, self._table[split.axis.column])
            self._known[key] = [(p, condition, np.array(condition.codes, dtype=np.intp)) for p, condition in parts]
        return self._known[key]


def merge_trees(trees: Sequence[Sequence[Node]], looked_at: LookedAt) -> Found:
    """Return the nodes as contexts, tree by tree; two ways to the same people count once."""
    contexts = tuple(dict.fromkeys(node.context for nodes in trees for node in nodes))
    nothing = np.zeros(len(contexts))
    return Found(contexts, looked_at.total, nothing, nothing, notes=_note_left_whole(looked_at.uncut))


def _note_left_whole(uncut: int) -> tuple[str, ...]:
    """Return a note about populations that were not cut further because there were too many."""
    if not uncut:
        return ()
    return (
        f"The guided tree cut only its strongest groups of each depth further; {uncut:,} weaker ones were left "
        "whole. A larger min_size leaves fewer to divide.",
    )


class HistogramScorer:
    """Scores candidates from the engine's counts: one vectorised evaluation for each axis and batch of nodes."""

    def __init__(
        self,
        outputs: Sequence[Outputs],
        target: Target,
        axes: Sequence[Axis],
        settings: TrainingRun,
        looked_at: LookedAt | None = None,
    ) -> None:
        self._outputs = outputs
        self._strength = outputs[0].strength
        self._frontiers = [some.engine.frontier(target) for some in outputs]
        self._target = target
        self._axes = sorted(axes, key=lambda a: a.column)
        self._settings = settings
        self.looked_at = LookedAt() if looked_at is None else looked_at

    def root(self) -> float:
        """Return the strength in the whole population."""
        totals = (some.engine.total(TRAIN, self._target)[None] for some in self._outputs)
        return float(self._together(totals)[0])

    def _together(self, tables: Iterable[NDArray[Any]]) -> FloatArray:
        """Return the strength of contexts, given the sums of each group of outputs in them."""
        groups = zip(self._outputs, tables, strict=True)
        return self._strength.together([some.strength.contributions(self._target.wrap(t)) for some, t in groups])

    def best_splits(self, nodes: Sequence[Node], progress: Progress = silent) -> list[Split | None]:
        """Return the best cut of each node."""
        best: list[Split | None] = [None] * len(nodes)
        batch = max(MOST_CELLS // max(sum(self._cells(axis) for axis in self._axes), 1), 1)
        batches = range(0, max(node.place for node in nodes) + 1, batch)
        for number, first in enumerate(batches):
            at = [i for i, node in enumerate(nodes) if first <= node.place < first + batch]
            here = progress_of_step(progress, number, len(batches))
            for i, split in zip(at, self._best_of([nodes[i] for i in at], first, here), strict=True):
                best[i] = split
        return best

    def _cells(self, axis: Axis) -> int:
        sums = int(np.prod(self._target.sum_shape)) if self._target.sum_shape else 1
        return axis.size * self._target.n_cells * sums * max(some.number for some in self._outputs)

    def _best_of(self, nodes: Sequence[Node], first: int, progress: Progress) -> list[Split | None]:
        """Return the best cut of each node; their places are all that there are from ``first`` on."""
        best: list[Split | None] = [None] * len(nodes)
        strength = round_scores(np.array([n.strength for n in nodes]))
        place = np.array([n.place for n in nodes]) - first
        any_axis = all(node.columns is None for node in nodes)
        axes = [axis for axis in self._axes if any_axis or any(node.allows(axis) for node in nodes)]
        highest = strength.copy()
        last = first + int(place.max()) + 1
        histograms = [frontier.histograms(axes, first, last) for frontier in self._frontiers]
        for number, axis in enumerate(axes):
            progress(number / len(axes))
            asking = np.flatnonzero([any_axis or node.allows(axis) for node in nodes])
            wanted, which, back = np.unique(place[asking], return_index=True, return_inverse=True)
            tables = (table if wanted.size == len(table) else table[wanted] for table in map(next, histograms))
            splits = np.arange(n_splits(axis))[self._strength.splits(axis)]
            strengths, score, looked_at = self._scores(axis, tables, strength[asking[which]])
            if any_axis:
                self.looked_at.total += int(looked_at.sum())
            else:
                for i, many in zip(asking[which].tolist(), looked_at.tolist(), strict=True):
                    self.looked_at.add(nodes[i], axis, many)
            top = score.argmax(axis=1)
            peak = score[np.arange(len(top)), top][back]
            for k in np.flatnonzero(peak > highest[asking]).tolist():
                i, at, j = int(asking[k]), back[k], int(top[back[k]])
                highest[i] = peak[k]
                best[i] = Split(float(peak[k]), axis, int(splits[j]), strengths[at, j])
        return best

    def _scores(
        self, axis: Axis, tables: Iterator[NDArray[Any]], parent: FloatArray
    ) -> tuple[FloatArray, FloatArray, NDArray[np.intp]]:
        """Return the strengths of all parts of some nodes along an axis, the scores, and how many were evaluated.

        ``tables`` are counted when they are taken: there is one for each group of outputs, and all of them are large.
        """
        splits = self._strength.splits(axis)
        sums = child_sums(axis, next(tables))[:, splits]
        size = self._strength.sizes(sums, self._target)
        enough = size >= max(self._settings.min_people, 1)
        if axis.pool is not None and not axis.pool_is_readable:
            enough[:, :, axis.pool] = False
        strengths = np.full((enough.shape[2], *enough.shape[:2]), np.nan)
        others = (child_sums(axis, table)[:, splits] for table in tables)
        known = self._together(pick_children(each, enough) for each in chain([sums], others))
        strengths[np.moveaxis(enough, 2, 0)] = round_scores(known)
        strengths = np.moveaxis(strengths, 0, 2)
        score = aggregate_score(strengths, size, enough, parent, self._settings.plan.aggregate)
        return strengths, score, np.count_nonzero(enough, axis=(1, 2))

    def advance(self, cuts: Sequence[Cut], child: ChildTable) -> None:
        """Go one level down."""
        for frontier in self._frontiers:
            frontier.advance(*lay_out_cuts(cuts, child, frontier.n_nodes))


def lay_out_cuts(
    cuts: Sequence[Cut], child: ChildTable, n_nodes: int
) -> tuple[list[Axis | None], ChildTable, NDArray[np.intp] | None]:
    """Return cuts as an engine takes them: one for each node, or, if a node is cut in several ways, those of each."""
    places = np.array([cut.place for cut in cuts], dtype=np.intp)
    if np.unique(places).size < places.size:
        return [cut.axis for cut in cuts], child, places
    axes: list[Axis | None] = [None] * n_nodes
    every = np.full((n_nodes, child.shape[1]), -1, dtype=np.int32)
    for cut, to in zip(cuts, child, strict=True):
        axes[cut.place] = cut.axis
        every[cut.place] = to
    return axes, every, None
