"""What only Discovery does: a few labels speak for a context, and in each context a few labels are chosen to be tested.

Contexts come from the searches that every question has, over an axis of labels. In each, and in the whole population,
labels are screened by their own association, the protected attribute is regressed on those that remain, and the
strongest few are kept.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from fairtest.data.holdout import TRAIN
from fairtest.engine.kernel.labels import LabelAxis
from fairtest.exceptions import InputError, unquoted
from fairtest.metrics.regression import linear, multinomial
from fairtest.model.context import Context
from fairtest.model.found import Found
from fairtest.progress import progress_of_step, silent
from fairtest.search.cuts import conditions_of, n_splits
from fairtest.search.exhaustive import LEAST_LINK, Reach, coarse_cuts, item_axes
from fairtest.search.proposals import GROWN, Searcher, half_link, is_covered, weights_and_signs
from fairtest.search.scoring import Outputs, Strength
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.labels import Labels
    from fairtest.data.summaries import Summary, Target
    from fairtest.data.table import Table
    from fairtest.engine.contract import Engine
    from fairtest.model.plans import TrainingRun
    from fairtest.progress import Progress
    from fairtest.types import FloatArray, IntArray

SPEAK = 3
"""How many of its strongest labels make the score of a context, whatever ``top_k`` is."""
LEVEL = 0.05
MANY_OUTPUTS = Reach(depth=2, fine_depth=1, numbers=200_000_000)
"""Conjunctions of more predicates come from the tree."""
MOST_CELLS = 1 << 22
"""The most numbers that the table of some labels, over all conjunctions of the same attributes, may hold."""
MOST_CONTEXTS = 100
"""In how many contexts besides the whole population labels are tested: those in which one stands out most."""
MOST_TREE = 500
"""Where all nodes of the trees are taken, labels are tested in at most this many of them."""
MOST_AHEAD = 1 << 20
"""About how many numbers of contexts to come are counted together."""
SCREEN = 1.0
"""A label is looked at further in a context if its own association is this many standard deviations from none."""
MOST_COEFFICIENTS = 200
"""At most this many coefficients are estimated together …"""
PEOPLE_EACH = 10
"""… and no more than one for this many people of the smallest group: beyond, they are mostly noise (Peduzzi et al.,
"A simulation study of the number of events per variable in logistic regression analysis", 1996)."""
MOST_STRATA = 200
"""With more strata than this they get no intercepts of their own in the regression."""


@dataclass(frozen=True, eq=False)
class LabelStrength(Strength):
    """The strength of a context from those of its labels, which are the last axis of what a summary gives.

    By ``"bound"``, a label counts by how much stronger it is known to be here than over everybody: the lower bound of
    its effect, at a level that holds for all labels at once, less that over everybody. Labels that go with the
    attribute everywhere would otherwise lead the search to where most people are, and hide the others. By ``"point"``
    (the paper) a label counts by its effect.

    Attributes
    ----------
    n_labels
        How many labels are looked at in all.
    everyone
        The strength of each of these labels over everybody.
    """

    n_labels: int
    everyone: FloatArray

    def alone(self, summary: Summary) -> FloatArray:
        """Return the strength of each label, 0 where it is undefined."""
        if self.estimate == "bound" and self.metric.bound is not None:
            known = self.metric.bound(summary, float(-ndtri(LEVEL / 2 / max(self.n_labels, 1))))
        else:
            known = self(summary)
        return np.where(np.isnan(known), 0.0, np.maximum(known, 0.0))

    def contributions(self, summary: Summary) -> FloatArray:
        """Return the most that some of the labels contribute: ``[..., up to SPEAK]``."""
        known = self.alone(summary)
        if self.estimate == "bound":
            known = np.maximum(known - self.everyone, 0.0)
        few = min(SPEAK, known.shape[-1])
        return np.partition(known, known.shape[-1] - few, axis=-1)[..., -few:]

    @staticmethod
    def together(contributions: Sequence[FloatArray]) -> FloatArray:
        """Return the strength of each context: the mean of the largest contributions."""
        largest = np.sort(np.concatenate(contributions, axis=-1), axis=-1)[..., -SPEAK:]
        return np.asarray(largest.sum(axis=-1) / SPEAK)

    def stands_out(self, z: FloatArray, link: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how surely some label is associated and more so than around, which is all that counts."""
        both = np.minimum(np.abs(np.nan_to_num(z)), np.where(np.isinf(link), 0.0, link))
        return both.max(axis=-1, initial=0.0), np.full(len(z), np.inf)

    def splits(self, axis: Axis) -> IntArray:
        """Return the splits of an axis that the tree tries: of a number, a few at equally spaced quantiles."""
        return coarse_cuts(n_splits(axis))

    def sizes(self, array: NDArray[Any], target: Target) -> IntArray:
        """Return the people of each context from its sums: the same for every label."""
        labels = array.ndim - len(target.cell_shape) - len(target.sum_shape) - 1
        return super().sizes(array.take(0, axis=labels), target)


class LabelSearcher:
    """Searches the training set for labels and contexts.

    Parameters
    ----------
    min_people
        So many people of the training set must have a label, and as many must not.
    """

    def __init__(
        self,
        engine: Engine,
        target: Target,
        labels: Labels,
        axes: Sequence[Axis],
        strength: Strength,
        settings: TrainingRun,
        table: Table,
        min_people: float,
        progress: Progress = silent,
    ) -> None:
        self._engine = engine
        self._target = target
        self._axes = axes
        self._metric = strength.metric
        self._search = settings.plan.search
        self._n_labels = len(labels)
        self._progress = progress
        self._counter = engine.label_counter(TRAIN, target, labels)
        self.common = self._common_labels(max(min_people, 1))
        outputs = self._outputs(strength, table)
        self.contexts = Searcher(outputs, target, axes, settings, table, progress, MANY_OUTPUTS)

    def _common_labels(self, min_people: float) -> IntArray:
        """Return the labels that enough people have, and enough have not."""
        people, everyone = self._counter.people, self._counter.n_people
        common = np.flatnonzero(np.minimum(people, everyone - people) >= min_people)
        if not common.size:
            raise InputError(
                f"None of the {self._n_labels:,} labels is had by enough people (and not had by enough): in the "
                f"training set of {everyone:,} it takes {min_people:g}. Lower {unquoted('min_people')}."
            )
        return common

    def _outputs(self, strength: Strength, table: Table) -> list[Outputs]:
        """Return the labels in groups of which tables over any attributes that are combined fit in memory."""
        fine, coarse = (
            sorted(max(a.size, a.axis.size) for a in MANY_OUTPUTS.axes(item_axes(self._axes, table), depth))
            for depth in (1, 2)
        )
        step = max(MOST_CELLS // (self._cells * max(1, *fine, int(np.prod(coarse[-2:])))), 1)
        made = []
        for first in range(0, self.common.size, step):
            places = self.common[first : first + step]
            axis = LabelAxis(self._engine, self._counter, places)
            here = LabelStrength(strength.metric, strength.estimate, self.common.size, np.zeros(places.size))
            everyone = here.alone(self._target.wrap(axis.total(TRAIN, self._target)))
            here = LabelStrength(strength.metric, strength.estimate, self.common.size, everyone)
            made.append(Outputs(axis, here, places.size))
        return made

    @property
    def _cells(self) -> int:
        return self._target.n_cells * int(np.prod(self._target.sum_shape or (1,)))

    def find(self, top_k: int) -> Found:
        """Return the labels and contexts to test."""
        contexts, looked_at, notes = self._chosen_contexts()
        ((_, z, link),) = self._evidence([Context()])
        ranked = self.rank_labels([Context()], z)[0]
        first = ranked if ranked.size else np.argsort(-np.abs(np.nan_to_num(z[0])), kind="stable")[:1]
        strongest = first[:top_k].tolist()
        inside: dict[int, list[tuple[Context, float, float]]] = defaultdict(list, {i: [] for i in strongest})
        last, done = progress_of_step(self._progress, 2, 3), 0
        for some, here, beyond in self._evidence(contexts):
            last(done / len(contexts))
            done += len(some)
            weight = half_link(here, beyond)
            for c, order in enumerate(self.rank_labels(some, here)):
                for i in self._worth_testing(order[:top_k], here[c], beyond[c]):
                    inside[i].append((some[c], weight[c, i], here[c, i]))
        own = half_link(z, link)[0]
        entries = [(i, *e) for i in sorted(inside) for e in ((Context(), own[i], z[0, i]), *inside[i])]
        numbers, where, weights, deviates = zip(*entries, strict=True)
        evidence, sign = weights_and_signs(np.array(weights), np.array(deviates), self._metric)
        return Found(
            where,
            (looked_at + 1) * self.common.size,
            evidence,
            sign,
            notes=notes,
            outputs=self.common[list(numbers)],
            strongest=tuple(self.common[strongest].tolist()),
            rare=self._n_labels - self.common.size,
        )

    def _worth_testing(self, labels: IntArray, z: FloatArray, link: FloatArray) -> list[int]:
        """Return those of some labels that are not simply like everywhere in a context."""
        own, beyond = z[labels], link[labels]
        differs = (np.abs(np.nan_to_num(own)) >= SCREEN) & (beyond >= LEAST_LINK)
        return list(labels[~np.isnan(own) if self._search in GROWN else differs])

    def _chosen_contexts(self) -> tuple[list[Context], int, tuple[str, ...]]:
        """Return the contexts in which labels are tested, how many were looked at, and what was not."""
        if not self._axes:
            return [], 0, ()
        deep: list[Context] = []
        looked_at = 0
        if self._search != "exhaustive":
            grown = self.contexts.grow_trees(progress_of_step(self._progress, 0, 3))
            deep, looked_at = list(grown.contexts[1:]), grown.looked_at
        if self._search in GROWN:
            return deep[:MOST_TREE], looked_at, ()
        few, depth, notes = self.contexts.conjunctions(progress_of_step(self._progress, 1, 3))
        score = dict(zip(few.contexts, few.z.tolist(), strict=True))
        for some, z, link in self._evidence([c for c in deep if not is_covered(c, depth)]):
            best, _ = self.contexts.strength.stands_out(z, link)
            score.update(zip(some, best.tolist(), strict=True))
        order = sorted(score, key=lambda c: (-round(score[c], 9), len(c), str(c)))
        return [c for c in order if score[c] >= SCREEN][:MOST_CONTEXTS], looked_at + few.looked_at, notes

    def _evidence(self, contexts: Sequence[Context]) -> Iterator[tuple[Sequence[Context], FloatArray, FloatArray]]:
        """Yield contexts with the deviates of all labels and of their differences from around, many at a time."""
        step = max(MOST_AHEAD // (self._cells * self.common.size), 1)
        for first in range(0, len(contexts), step):
            some = contexts[first : first + step]
            yield some, *self.contexts.evidence(some)

    # Which labels, in each context -----------------------------------------------------------------------------------

    def rank_labels(self, contexts: Sequence[Context], z: FloatArray) -> list[IntArray]:
        """Return the labels that show some association of their own in each context, strongest first.

        As positions in ``common``, as in the deviates ``z``.
        """
        conditions = conditions_of(contexts, self._engine.axis)
        tables = self._counter.tables([(c, self.common[:1]) for c in conditions])
        return [
            self._rank_labels_in(*each) for each in zip(conditions, z, map(self._most_together, tables), strict=True)
        ]

    def _rank_labels_in(self, context: Sequence[Condition], z: FloatArray, most: int) -> IntArray:
        """Return the labels of one context.

        Those that the protected attribute was regressed on (``most`` at most) come first, by what they add to each
        other; if there are more than can be regressed on, the others follow by their own association.
        """
        own = np.abs(np.nan_to_num(z))
        order = np.argsort(-own, kind="stable")
        order = order[own[order] >= SCREEN]
        together = order[:most]
        if together.size < 2:
            return order
        rows = self._counter.design(context, self.common[together])
        stratum = rows.stratum if 1 < self._target.n_strata <= MOST_STRATA else None
        if self._target.summary is SummaryKind.MOMENTS:
            fitted = linear(rows.protected, rows.labels, stratum)
        else:
            present, codes = np.unique(rows.protected, return_inverse=True)
            fitted = multinomial(codes, len(present), rows.labels, stratum)
        strength = np.round(fitted.strength, 9)
        return np.concatenate((together[np.argsort(-strength, kind="stable")], order[together.size :]))

    def _most_together(self, table: NDArray[Any]) -> int:
        """Return on how many labels the protected attribute can be regressed in a context, given sums of any label."""
        summary = self._target.wrap(table)
        if self._target.summary is SummaryKind.MOMENTS:
            return min(MOST_COEFFICIENTS, int(summary.size[0]) // PEOPLE_EACH)
        groups = np.asarray(summary.counts).sum(axis=(0, 1, 2))  # type: ignore[union-attr]
        present = groups[groups > 0]
        if present.size < 2:
            return 0
        return int(min(MOST_COEFFICIENTS // (present.size - 1), present.min() // PEOPLE_EACH))
