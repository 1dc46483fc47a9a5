"""How strong labels are in candidate contexts, as the search sees it: a few of the strongest speak for a context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from fairtest.progress import silent
from fairtest.search.exhaustive import COARSE
from fairtest.search.scoring import aggregate_score, child_sums, rounded
from fairtest.search.tree import LookedAt, Split, carried_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis
    from fairtest.data.summaries import Target
    from fairtest.engine.contract import LabelCounter
    from fairtest.model.plans import TrainingRun
    from fairtest.progress import Progress
    from fairtest.search.scoring import Strength
    from fairtest.search.tree import ChildTable, Cut, Node
    from fairtest.types import FloatArray, IntArray

SPEAK = 3
"""So many of its strongest labels make the score of a context, whatever ``top_k`` is."""
MOST_CELLS = 1 << 22
"""The most numbers one batch of candidate tables may hold."""
LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class LabelStrength:
    """The strength of a context from those of its labels.

    By ``"bound"``, a label counts by how much stronger it is known to be here than over everybody: the lower bound of
    its effect, at a level that holds for all labels at once, less that over everybody. Labels that go with the
    attribute everywhere would otherwise lead the search to where most people are, and hide the others. By ``"point"``
    (the paper) a label counts by its effect.
    """

    strength: Strength
    target: Target
    everyone: FloatArray

    @classmethod
    def over(cls, strength: Strength, target: Target, counter: LabelCounter, places: IntArray) -> LabelStrength:
        """Return the strength as compared with everybody of a set."""
        nothing = cls(strength, target, np.zeros(len(places)))
        return cls(strength, target, np.maximum(nothing.alone(counter.table((), places)), 0.0))

    def alone(self, sums: NDArray[Any]) -> FloatArray:
        """Return the strength of each label ``[..., label]``: −∞ where it is undefined."""
        summary = self.target.wrap(sums)
        bound = self.strength.metric.bound
        if self.strength.estimate == "bound" and bound is not None:
            known = bound(summary, float(-ndtri(LEVEL / 2 / max(len(self.everyone), 1))))
        else:
            known = self.strength(summary)
        return np.where(np.isnan(known), -np.inf, known)

    def best(self, sums: NDArray[Any], first: int, last: int) -> FloatArray:
        """Return the most that some of the labels contribute: ``[..., up to SPEAK]``."""
        known = self.alone(sums)
        if self.strength.estimate == "bound":
            known = np.maximum(known - self.everyone[first:last], 0.0)
        known = np.maximum(known, 0.0)
        few = min(SPEAK, known.shape[-1])
        return np.partition(known, known.shape[-1] - few, axis=-1)[..., -few:]

    @staticmethod
    def together(best: Sequence[FloatArray]) -> FloatArray:
        """Return the strength of contexts: the mean of the largest contributions."""
        every = np.sort(np.concatenate(best, axis=-1), axis=-1)[..., -SPEAK:]
        return np.asarray(every.sum(axis=-1) / SPEAK)


def in_chunks(places: IntArray, cells: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of labels whose tables, ``cells`` numbers each, fit in memory together."""
    step = max(MOST_CELLS // max(cells, 1), 1)
    for first in range(0, len(places), step):
        yield first, min(first + step, len(places))


def few_splits(axis: Axis) -> IntArray:
    """Return the splits of an axis that are tried: of a number, a few at equally spaced quantiles."""
    cuts = 1 if axis.thresholds is None else len(axis.thresholds)
    if cuts <= COARSE:
        return np.arange(cuts)
    return np.unique(np.round(np.arange(1, COARSE + 1) * (cuts + 1) / (COARSE + 1) - 1).astype(int))


class LabelScorer:
    """Scores the candidates of the guided tree (:class:`fairtest.search.tree.Scorer`) by their labels."""

    def __init__(
        self,
        counter: LabelCounter,
        strength: LabelStrength,
        axes: Sequence[Axis],
        places: IntArray,
        settings: TrainingRun,
        looked_at: LookedAt | None = None,
    ) -> None:
        self._counter = counter
        self._strength = strength
        self._axes = sorted(axes, key=lambda a: a.column)
        self._places = places
        self._settings = settings
        self._frontier = counter.frontier()
        self.looked_at = LookedAt() if looked_at is None else looked_at

    def root(self) -> float:
        """Return the strength in the whole population."""
        best = self._strength.best(self._counter.table((), self._places)[None], 0, len(self._places))
        return float(self._strength.together([best])[0])

    def best_splits(self, nodes: Sequence[Node], progress: Progress = silent) -> list[Split | None]:
        """Return the best cut of each node."""
        best: list[Split | None] = [None] * len(nodes)
        parent = rounded(np.array([node.strength for node in nodes]))
        for number, axis in enumerate(self._axes):
            progress(number / len(self._axes))
            asked = [i for i, node in enumerate(nodes) if node.allows(axis)]
            if not asked:
                continue
            splits = few_splits(axis)
            strengths, score, looked_at = self._scores(axis, splits, len(nodes), parent)
            top = score.argmax(axis=1)
            for i in asked:
                self.looked_at.add(nodes[i], axis, int(looked_at[i]))
                j, known = top[i], best[i]
                if score[i, j] > (parent[i] if known is None else known.score):
                    best[i] = Split(float(score[i, j]), axis, int(splits[j]), strengths[i, j])
        return best

    def _scores(
        self, axis: Axis, splits: IntArray, n_nodes: int, parent: FloatArray
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        target = self._strength.target
        cells = target.n_cells * int(np.prod(target.sum_shape or (1,)))
        children = 3 if axis.thresholds is not None else axis.size
        best: list[FloatArray] = []
        size: IntArray = np.zeros(0, dtype=np.int64)
        for first, last in in_chunks(self._places, cells * n_nodes * max(axis.size, len(splits) * children)):
            table = self._frontier.histogram(axis, self._places[first:last])
            sums = child_sums(axis, table)[:, splits]
            size = self._strength.strength.sizes(sums[:, :, :, 0], target)
            best.append(self._strength.best(sums, first, last))
        enough = size >= max(self._settings.min_people, 1)
        if axis.pool is not None and not axis.pool_is_readable:
            enough[:, :, axis.pool] = False
        strengths = np.where(enough, rounded(self._strength.together(best)), np.nan)
        score = aggregate_score(strengths, size, enough, parent, self._settings.plan.aggregate)
        return strengths, score, np.count_nonzero(enough, axis=(1, 2))

    def advance(self, cuts: Sequence[Cut], child: ChildTable) -> None:
        """Go one level down; a person is in one node of a tree, so that only one tree grows at a time."""
        axes, every, _ = carried_out(cuts, child, self._frontier.n_nodes)
        self._frontier.advance(axes, every)
