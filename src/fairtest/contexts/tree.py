"""The association-guided tree: Algorithm 1 of the paper.

Starting from everybody, each population is cut along the attribute whose parts show the strongest association, as
long as some part shows a stronger one than the whole. Every node is a context. Nodes of one depth are counted
together, for all attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairtest.contexts.context import Context, Predicate
from fairtest.contexts.cuts import children
from fairtest.contexts.scoring import aggregate_score, child_sums, rounded
from fairtest.contexts.search import Found
from fairtest.data.holdout import TRAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.contexts.scoring import Strength
    from fairtest.contexts.search import SearchSettings
    from fairtest.data.axes import Axis, Condition
    from fairtest.data.table import Table
    from fairtest.engine.contract import Engine
    from fairtest.summaries import Target
    from fairtest.types import FloatArray

__all__ = ["ChildTable", "HistogramScorer", "Node", "Scorer", "Split", "grow"]

ChildTable: TypeAlias = NDArray[np.int32]
"""For each node and code of the axis it is cut along, the position of the child; −1 for none."""

MOST_CELLS = 1 << 22
"""The most numbers one batch of candidate tables may hold."""


@dataclass
class Node:
    """One population of the tree, with its strength on the training set."""

    predicates: tuple[Predicate, ...]
    conditions: tuple[Condition, ...]
    parent: int
    strength: float


@dataclass
class Split:
    """The best cut of a node: the strength of each child, NaN for those too small or undefined to count."""

    score: float
    axis: Axis
    number: int
    strengths: FloatArray


class Scorer(Protocol):
    """Evaluates the candidates at one depth."""

    looked_at: int

    def root(self) -> float:
        """Return the strength in the whole population."""

    def best_splits(self, nodes: Sequence[Node]) -> list[Split | None]:
        """Return the best cut of each node, None where no cut is worth it."""

    def advance(self, splits: Sequence[Split | None], child: ChildTable) -> None:
        """Go one level down: a row of node ``i`` with code ``c`` on the axis of its cut goes to ``child[i, c]``."""


def grow(
    scorer: Scorer, table: Table, settings: SearchSettings, progress: Callable[[int], None] | None = None
) -> Found:
    """Grow the tree and return its nodes as contexts."""
    nodes = [Node((), (), -1, scorer.root())]
    frontier = [0]
    for depth in range(settings.max_depth):
        if progress is not None:
            progress(depth)
        splits = scorer.best_splits([nodes[i] for i in frontier])
        child = np.full((len(frontier), 256), -1, dtype=np.int32)
        grown: list[int] = []
        for at, (number, split) in enumerate(zip(frontier, splits, strict=True)):
            if split is None:
                continue
            parts = children(split.axis, split.number, table[split.axis.column])
            for (predicate, condition), strength in zip(parts, split.strengths, strict=True):
                if np.isnan(strength):
                    continue
                child[at, list(condition.codes)] = len(grown)
                grown.append(len(nodes))
                nodes.append(_child(nodes[number], number, predicate, condition, float(strength)))
        if not grown:
            break
        frontier = grown
        if depth + 1 < settings.max_depth:
            scorer.advance(splits, child)
    return _found(nodes, scorer.looked_at)


def _child(parent: Node, number: int, predicate: Predicate, condition: Condition, strength: float) -> Node:
    return Node((*parent.predicates, predicate), (*parent.conditions, condition), number, strength)


def _found(nodes: Sequence[Node], looked_at: int) -> Found:
    """Return the nodes as contexts; two paths to the same people (after simplification) count once."""
    at: dict[Context, int] = {}
    parents: list[int] = []
    position: list[int] = []
    for node in nodes:
        context = Context.of(node.predicates)
        if context not in at:
            at[context] = len(at)
            parents.append(position[node.parent] if node.parent >= 0 else -1)
        position.append(at[context])
    nothing = np.zeros(len(at))
    return Found(tuple(at), tuple(parents), looked_at, nothing, nothing)


class HistogramScorer:
    """Scores candidates from the engine's counts: one vectorised evaluation for each axis and batch of nodes."""

    def __init__(
        self, engine: Engine, target: Target, axes: Sequence[Axis], strength: Strength, settings: SearchSettings
    ) -> None:
        self._frontier = engine.frontier(target)
        self._engine = engine
        self._target = target
        self._axes = sorted(axes, key=lambda a: a.column)
        self._strength = strength
        self._settings = settings
        self.looked_at = 1

    def root(self) -> float:
        """Return the strength in the whole population."""
        return float(self._strength(self._target.wrap(self._engine.total(TRAIN, self._target)[None]))[0])

    def best_splits(self, nodes: Sequence[Node]) -> list[Split | None]:
        """Return the best cut of each node."""
        best: list[Split | None] = []
        batch = max(MOST_CELLS // max(sum(self._cells(axis) for axis in self._axes), 1), 1)
        for first in range(0, len(nodes), batch):
            best += self._best_of(nodes[first : first + batch], first)
        return best

    def _cells(self, axis: Axis) -> int:
        sums = int(np.prod(self._target.sum_shape)) if self._target.sum_shape else 1
        return axis.size * self._target.n_cells * sums

    def _best_of(self, nodes: Sequence[Node], first: int) -> list[Split | None]:
        best: list[Split | None] = [None] * len(nodes)
        parent = rounded(np.array([n.strength for n in nodes]))
        histograms = self._frontier.histograms(self._axes, first, first + len(nodes))
        for axis, histogram in zip(self._axes, histograms, strict=True):
            strengths, score = self._scores(axis, histogram, parent)
            number = score.argmax(axis=1)
            for i, j in enumerate(number):
                known = best[i]
                if score[i, j] > (parent[i] if known is None else known.score):
                    best[i] = Split(float(score[i, j]), axis, int(j), strengths[i, j])
        return best

    def _scores(self, axis: Axis, table: NDArray[Any], parent: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums = child_sums(axis, table)
        size = self._strength.sizes(sums, self._target)
        strengths = rounded(self._strength(self._target.wrap(sums)))
        enough = size >= max(self._settings.min_people, 1)
        if axis.pool is not None and not axis.pool_is_readable:
            enough[:, :, axis.pool] = False
        self.looked_at += int(np.count_nonzero(enough))
        strengths = np.where(enough, strengths, np.nan)
        return strengths, aggregate_score(strengths, size, enough, parent, self._settings.aggregate)

    def advance(self, splits: Sequence[Split | None], child: ChildTable) -> None:
        """Go one level down."""
        self._frontier.advance([None if s is None else s.axis for s in splits], child)
