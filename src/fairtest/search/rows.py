"""Scoring candidates by a user's metric of people: one call of it for each candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.holdout import TRAIN
from fairtest.exceptions import InputError, unquoted
from fairtest.progress import progress_of_step, silent
from fairtest.search.cuts import children, n_splits
from fairtest.search.scoring import aggregate_score, round_scores
from fairtest.search.tree import LookedAt, Split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.axes import Axis
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.engine.contract import Engine, Rows
    from fairtest.metrics.registry import Metric
    from fairtest.model.plans import TrainingRun
    from fairtest.progress import Progress
    from fairtest.search.tree import ChildTable, Cut, Node
    from fairtest.types import BoolArray, FloatArray, IntArray

MOST_PEOPLE = 200_000


class RowScorer:
    """Calls the metric on the people of every candidate; meant for small data."""

    def __init__(
        self,
        engine: Engine,
        target: Target,
        axes: Sequence[Axis],
        metric: Metric,
        settings: TrainingRun,
        table: Table,
        looked_at: LookedAt | None = None,
    ) -> None:
        self._engine = engine
        self._target = target
        self._axes = sorted(axes, key=lambda a: a.column)
        self._metric = metric
        self._settings = settings
        self._table = table
        self.looked_at = LookedAt() if looked_at is None else looked_at
        self._known: dict[tuple[int, str], tuple[FloatArray, IntArray, int]] = {}
        self._everyone = self._engine.rows(TRAIN, (), target, self._axes)
        if len(self._everyone) > MOST_PEOPLE:
            raise InputError(
                f"The metric {metric.name} is evaluated on the people of each context, which is possible for training "
                f"sets of up to {MOST_PEOPLE:,}. Got {len(self._everyone):,}: lower {unquoted('train_size')}, "
                "or use counts."
            )

    def root(self) -> float:
        """Return the strength in the whole population."""
        return float(self._strength(np.ones(len(self._everyone), dtype=bool)))

    def best_splits(self, nodes: Sequence[Node], progress: Progress = silent) -> list[Split | None]:
        """Return the best cut of each node."""
        return [self._best(node, progress_of_step(progress, number, len(nodes))) for number, node in enumerate(nodes)]

    def _best(self, node: Node, progress: Progress) -> Split | None:
        inside = np.ones(len(self._everyone), dtype=bool)
        for condition in node.conditions:
            inside &= np.isin(self._everyone.codes[condition.column], condition.codes)
        best: Split | None = None
        parent = round_scores(np.array([node.strength]))
        axes = [axis for axis in self._axes if node.allows(axis)]
        for number, axis in enumerate(axes):
            progress(number / len(axes))
            if (node.place, axis.column) not in self._known:
                self._known[node.place, axis.column] = self._candidates(axis, inside)
            strengths, size, looked_at = self._known[node.place, axis.column]
            self.looked_at.add(node, axis, looked_at)
            enough = size >= max(self._settings.min_people, 1)
            score = aggregate_score(strengths[None], size[None], enough[None], parent, self._settings.plan.aggregate)[0]
            j = int(score.argmax())
            if score[j] > (parent[0] if best is None else best.score):
                best = Split(float(score[j]), axis, j, strengths[j])
        return best

    def _candidates(self, axis: Axis, inside: BoolArray) -> tuple[FloatArray, IntArray, int]:
        codes = self._everyone.codes[axis.column]
        column = self._table[axis.column]
        parts = [[condition for _, condition in children(axis, j, column)] for j in range(n_splits(axis))]
        size = np.zeros((len(parts), len(parts[0])), dtype=np.int64)
        strengths = np.full(size.shape, np.nan)
        looked_at = 0
        for j, conditions in enumerate(parts):
            for k, condition in enumerate(conditions):
                people = inside & np.isin(codes, condition.codes)
                size[j, k] = np.count_nonzero(people)
                unreadable = axis.pool is not None and condition.codes == (axis.pool,) and not axis.pool_is_readable
                if size[j, k] >= max(self._settings.min_people, 1) and not unreadable:
                    looked_at += 1
                    strengths[j, k] = round_scores(self._strength(people))
        return strengths, size, looked_at

    def _strength(self, people: BoolArray) -> FloatArray:
        everyone: Rows = self._everyone
        with np.errstate(invalid="ignore", divide="ignore"):
            effect = self._metric.effect(everyone.protected[people], everyone.output[people], everyone.stratum[people])
        return self._metric.strength(np.asarray(effect, dtype=float))

    def advance(self, cuts: Sequence[Cut], child: ChildTable) -> None:  # noqa: ARG002
        """Forget what was evaluated: the people of a node are found by its conditions."""
        self._known = {}
