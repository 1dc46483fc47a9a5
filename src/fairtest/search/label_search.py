"""The search of Discovery: which labels to test in which contexts, from the training set.

Contexts come from every conjunction of up to two predicates and from the association-guided tree, judged by their
labels. In each, and in the whole population, labels are screened by their own association, the protected attribute is
regressed on those that remain, and the strongest few are kept.
"""

from __future__ import annotations

from itertools import combinations, islice
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.holdout import TRAIN
from fairtest.data.summaries import by_stratum
from fairtest.engine.kernel.joint import collapse
from fairtest.exceptions import InputError, unquoted
from fairtest.metrics.evidence import MOST
from fairtest.metrics.regression import linear, multinomial
from fairtest.model.context import Context
from fairtest.model.found import FoundLabels
from fairtest.progress import progress_of_step, silent
from fairtest.search.cuts import conditions_of
from fairtest.search.exhaustive import FEWEST_OUTSIDE, LEAST_LINK, ItemAxis, item_axes, peaks
from fairtest.search.forest import grow_forest
from fairtest.search.label_scores import LabelScorer, LabelStrength, in_chunks
from fairtest.search.proposals import covered, cut_short, half_link
from fairtest.search.tree import LookedAt, grow
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis
    from fairtest.data.labels import Labels
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.engine.contract import Engine
    from fairtest.model.plans import TrainingRun
    from fairtest.progress import Progress
    from fairtest.search.scoring import Strength
    from fairtest.types import BoolArray, FloatArray, IntArray

MOST_CONTEXTS = 100
"""In so many contexts, besides the whole population, labels are tested: those in which one stands out most."""
GROWN = ("tree", "forest")
"""The searches whose nodes are taken as they are …"""
MOST_TREE = 500
"""… up to so many."""
DEPTH = 2
"""Conjunctions of more predicates come from the tree."""
MOST_NUMBERS = 200_000_000
"""The most numbers that the tables of all conjunctions and labels may hold together; beyond, single predicates only."""
MOST_AHEAD = 1 << 20
"""About how many numbers of contexts to come are counted together."""
SCREEN = 1.0
"""A label is looked at further in a context if its own association is so many standard deviations from none."""
MOST_COEFFICIENTS = 200
"""At most so many coefficients are estimated together …"""
PEOPLE_EACH = 10
"""… and no more than one for so many people of the smallest group: beyond, estimates are mostly noise (Peduzzi et al.,
"A simulation study of the number of events per variable in logistic regression analysis", 1996)."""
MOST_STRATA = 200
"""With more strata than this they get no intercepts of their own in the regression."""


class LabelSearcher:
    """Searches the training set for labels and contexts."""

    def __init__(
        self,
        engine: Engine,
        target: Target,
        labels: Labels,
        axes: Sequence[Axis],
        strength: Strength,
        settings: TrainingRun,
        table: Table,
        progress: Progress = silent,
    ) -> None:
        self._engine = engine
        self._target = target
        self._axes = axes
        self._strength = strength
        self._settings = settings
        self._table = table
        self._labels = labels
        self._counter = engine.label_counter(TRAIN, target, labels)
        self._tables: dict[Context, NDArray[Any]] = {}
        self._ahead: dict[Context, NDArray[Any]] = {}
        self._looked_at: IntArray | None = None
        self._progress = progress
        self._notes: tuple[str, ...] = ()

    def find(self, top_k: int, min_people: float) -> FoundLabels:
        """Return the labels and contexts to test.

        ``min_people`` of the training set must have a label, and as many must not.
        """
        people = self._counter.people
        fewer = np.minimum(people, self._counter.n_people - people)
        places = np.flatnonzero(fewer >= max(min_people, 1))
        if not places.size:
            raise InputError(
                f"None of the {len(self._labels):,} labels is had by enough people (and not had by enough): in the "
                f"training set of {self._counter.n_people:,} it takes {max(min_people, 1):g}. Lower "
                f"{unquoted('min_people')}."
            )
        contexts, looked_at = self._contexts(places)
        kept: dict[int, list[tuple[Context, float, float]]] = {}
        z, _ = self.evidence(Context(), places)
        ranked = self.ranked(Context(), places, z)
        first = ranked if ranked.size else np.argsort(-np.abs(np.nan_to_num(z)), kind="stable")[:1]
        strongest = places[first[:top_k]]
        for place in strongest.tolist():
            kept.setdefault(place, [])
        last = progress_of_step(self._progress, 2, 3)
        for number, context in enumerate(self._counted(contexts, places)):
            last(number / len(contexts))
            here, link = self.evidence(context, places)
            weight = half_link(here, link)
            first = self.ranked(context, places, here)[:top_k]
            for i in first[self._told(here[first], link[first])].tolist():
                kept.setdefault(int(places[i]), []).append((context, float(weight[i]), float(here[i])))
        return self._found(kept, dict(zip(places.tolist(), z, strict=True)), strongest, looked_at, places.size)

    def _told(self, z: FloatArray, link: FloatArray) -> BoolArray:
        """Return which labels are worth a test in a context: those that are not simply like everywhere."""
        if self._settings.plan.search in GROWN:
            return ~np.isnan(z)
        return (np.abs(np.nan_to_num(z)) >= SCREEN) & (link >= LEAST_LINK)

    def _found(
        self,
        kept: dict[int, list[tuple[Context, float, float]]],
        z: dict[int, float],
        strongest: IntArray,
        looked_at: int,
        n_places: int,
    ) -> FoundLabels:
        entries = [
            (place, *entry)
            for place in sorted(kept)
            for entry in ((Context(), min(abs(np.nan_to_num(z[place])), MOST), z[place]), *kept[place])
        ]
        evidence, sign = np.array([e[2] for e in entries]), np.array([e[3] for e in entries])
        return FoundLabels(
            tuple(e[1] for e in entries),
            (-1,) * len(entries),
            (looked_at + 1) * n_places,
            self._weight(evidence),
            self._sign(sign),
            np.array([e[0] for e in entries], dtype=int),
            tuple(strongest.tolist()),
            len(self._labels) - n_places,
            notes=self._notes,
        )

    def known(self, places: IntArray, contexts: Sequence[Context]) -> tuple[FloatArray, FloatArray]:
        """Return evidence and sign of given labels in given contexts, entry by entry."""
        z = np.zeros(len(places))
        for at, table in self._tables_of(places, contexts):
            z[at] = self._strength.evidence(self._target.wrap(table)).z
        return self._weight(np.minimum(np.abs(np.nan_to_num(z)), MOST)), self._sign(z)

    def by_stratum(self, places: IntArray, contexts: Sequence[Context]) -> FloatArray:
        """Return the evidence in each stratum of given labels in given contexts, row by row."""
        z = np.zeros((len(places), self._target.n_strata))
        for at, table in self._tables_of(places, contexts):
            summary = by_stratum(self._target.wrap(table))
            z[at] = self._strength.evidence(summary).z.reshape(at.size, -1)
        return np.minimum(np.abs(np.nan_to_num(z)), MOST).ravel()

    def _tables_of(self, places: IntArray, contexts: Sequence[Context]) -> Iterator[tuple[IntArray, NDArray[Any]]]:
        """Yield the entries of each context, and the sums of their labels in it."""
        entries: dict[Context, list[int]] = {}
        for i, context in enumerate(contexts):
            entries.setdefault(context, []).append(i)
        every = [np.array(at) for at in entries.values()]
        asked = [(self._conditions(c), places[at]) for c, at in zip(entries, every, strict=True)]
        return zip(every, self._counter.tables(asked), strict=True)

    def _weight(self, evidence: FloatArray) -> FloatArray:
        return np.zeros(len(evidence)) if self._strength.metric.evidence is None else evidence

    def _sign(self, z: FloatArray) -> FloatArray:
        directed = self._strength.metric.signed and self._strength.metric.evidence is not None
        return np.sign(np.nan_to_num(z)) if directed else np.zeros(len(z))

    # Which labels, in one context ----------------------------------------------------------------------------------

    def ranked(self, context: Context, places: IntArray, z: FloatArray) -> IntArray:
        """Return the labels that show some association of their own, as positions in ``places``, strongest first.

        Those that the protected attribute was regressed on come first, by what they add to each other; if there are
        more than can be regressed on, the others follow by their own association.
        """
        own = np.abs(np.nan_to_num(z))
        order = np.argsort(-own, kind="stable")
        order = order[own[order] >= SCREEN]
        together = order[: self._most_together(context, places)]
        if together.size < 2:
            return order
        rows = self._counter.design(self._conditions(context), places[together])
        stratum = rows.stratum if 1 < self._target.n_strata <= MOST_STRATA else None
        if self._target.summary is SummaryKind.MOMENTS:
            fitted = linear(rows.protected, rows.labels, stratum)
        else:
            present, codes = np.unique(rows.protected, return_inverse=True)
            fitted = multinomial(codes, len(present), rows.labels, stratum)
        strength = np.round(fitted.strength, 9)
        return np.concatenate((together[np.argsort(-strength, kind="stable")], order[together.size :]))

    def _most_together(self, context: Context, places: IntArray) -> int:
        """Return on how many labels the protected attribute can be regressed in a context."""
        summary = self._target.wrap(self._table_of(context, places[:1]))
        if self._target.summary is SummaryKind.MOMENTS:
            return min(MOST_COEFFICIENTS, int(summary.size[0]) // PEOPLE_EACH)
        groups = np.asarray(summary.counts).sum(axis=(0, 1, 2))  # type: ignore[union-attr]
        present = groups[groups > 0]
        if present.size < 2:
            return 0
        return int(min(MOST_COEFFICIENTS // (present.size - 1), present.min() // PEOPLE_EACH))

    def evidence(self, context: Context, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the deviate of each label in a context, and that of its difference from the larger ones around."""
        sums = self._table_of(context, places)
        here = self._strength.evidence(self._target.wrap(sums))
        link = np.full(len(places), np.inf)
        for around in _around(context):
            outside = self._table_of(around, places) - sums
            if self._strength.sizes(outside[:1], self._target)[0] < FEWEST_OUTSIDE:
                continue
            beyond = here.beyond(self._strength.evidence(self._target.wrap(outside)), self._strength.metric.signed)
            link = np.where(np.isnan(beyond), link, np.minimum(link, beyond))
        return here.z, link

    def _conditions(self, context: Context) -> tuple[Any, ...]:
        return conditions_of([context], self._engine.axis)[0]

    def _table_of(self, context: Context, places: IntArray) -> NDArray[Any]:
        """Return the sums of some labels in a context; those of all that larger contexts need are kept."""
        if len(context) > 1:
            known = self._ahead.get(context) if places is self._looked_at else None
            return self._counter.table(self._conditions(context), places) if known is None else known
        if context not in self._tables:
            everything = np.arange(len(self._labels))
            self._tables[context] = self._counter.table(self._conditions(context), everything)
        return np.asarray(self._tables[context][places])

    def _counted(self, contexts: Sequence[Context], places: IntArray) -> Iterator[Context]:
        """Yield contexts whose tables, and those of the larger ones around them, are at hand: many are counted at once.

        The engine may have to go through all people for each count, however many contexts it is of.
        """
        step = max(MOST_AHEAD // (self._cells * max(len(places), 1)), 1)
        for first in range(0, len(contexts), step):
            some = contexts[first : first + step]
            wanted = dict.fromkeys(c for context in some for c in (context, *_around(context)))
            missing = [c for c in wanted if c not in self._tables]
            everything = np.arange(len(self._labels))
            asked = [(self._conditions(c), places if len(c) > 1 else everything) for c in missing]
            found = dict(zip(missing, self._counter.tables(asked), strict=True))
            self._tables |= {c: table for c, table in found.items() if len(c) <= 1}
            self._ahead, self._looked_at = {c: table for c, table in found.items() if len(c) > 1}, places
            yield from some
        self._ahead = {}

    # Which contexts ------------------------------------------------------------------------------------------------

    def _contexts(self, places: IntArray) -> tuple[list[Context], int]:
        """Return the contexts in which labels are tested, and how many were looked at."""
        if not self._axes:
            return [], 0
        deep, looked_at = self._trees(places) if self._settings.plan.search != "exhaustive" else ([], 0)
        if self._settings.plan.search in GROWN:
            return deep[:MOST_TREE], looked_at
        depth = self._depth(places)
        wanted = min(DEPTH, self._settings.plan.max_depth, len(self._axes))
        self._notes = cut_short(depth, wanted, tree=self._settings.plan.search != "exhaustive")
        scored, many = self._conjunctions(places, depth)
        for context in self._counted([c for c in deep if not covered(c, depth)], places):
            scored[context] = self._score(*self.evidence(context, places))
        order = sorted(scored, key=lambda c: (-round(scored[c], 9), len(c), str(c)))
        return [c for c in order if scored[c] >= SCREEN][:MOST_CONTEXTS], looked_at + many

    def _trees(self, places: IntArray) -> tuple[list[Context], int]:
        """Return the contexts of the guided tree, or of a forest, and how many candidates were looked at."""
        strength = LabelStrength.over(self._strength, self._target, self._counter, places)

        def scorer(looked_at: LookedAt | None = None) -> LabelScorer:
            return LabelScorer(self._counter, strength, self._axes, places, self._settings, looked_at)

        progress = progress_of_step(self._progress, 0, 3)
        if self._settings.plan.search == "forest":
            found = grow_forest(scorer, self._table, self._settings, self._axes, LookedAt(), 1, progress)
        else:
            found = grow(scorer(), self._table, self._settings, progress)
        return list(found.contexts[1:]), found.looked_at

    @staticmethod
    def _score(z: FloatArray, link: FloatArray) -> float:
        """Return how surely some label stands out in a context."""
        return float(_stands_out(z, link).max(initial=0.0))

    def _depth(self, places: IntArray) -> int:
        """Return how many predicates can be combined without evaluating more tables than is bearable."""
        sizes = np.array([a.coarse().size for a in item_axes(self._axes, self._table)], dtype=float)
        pairs = (sizes.sum() ** 2 - (sizes**2).sum()) / 2
        return 1 if pairs * self._cells * len(places) > MOST_NUMBERS else min(DEPTH, self._settings.plan.max_depth)

    @property
    def _cells(self) -> int:
        return self._target.n_cells * int(np.prod(self._target.sum_shape or (1,)))

    def _conjunctions(self, places: IntArray, depth: int) -> tuple[dict[Context, float], int]:
        """Return every conjunction of a few predicates with how surely some label stands out in it."""
        axes = item_axes(self._axes, self._table)
        scored: dict[Context, float] = {}
        looked_at = 0
        sets, done = sum(comb(len(axes), k) for k in range(1, depth + 1)), 0
        progress = progress_of_step(self._progress, 1, 3)
        for k in range(1, depth + 1):
            used = axes if k == 1 else [a.coarse() for a in axes]
            every = list(combinations(used, k))
            asked = [([a.axis for a in chosen], some) for chosen in every for some in self._chunks(chosen, places)]
            joints = self._counter.joints(asked)
            for chosen in every:
                progress(done / sets)
                done += 1
                score, enough = self._evaluated(chosen, places, joints)
                looked_at += int(np.count_nonzero(enough))
                for at in np.argwhere(peaks(score, enough, chosen)).tolist():
                    predicates = tuple(axis.predicates[j] for axis, j in zip(chosen, at, strict=True))
                    scored[Context(predicates)] = float(score[tuple(at)])
        return scored, looked_at

    def _chunks(self, axes: tuple[ItemAxis, ...], places: IntArray) -> list[IntArray]:
        """Return labels in groups for which the tables of all conjunctions over the same attributes fit in memory."""
        predicates, codes = (int(np.prod(sizes)) for sizes in zip(*((a.size, a.axis.size) for a in axes), strict=True))
        return [places[first:last] for first, last in in_chunks(places, self._cells * max(predicates, codes))]

    def _evaluated(
        self, axes: tuple[ItemAxis, ...], places: IntArray, joints: Iterator[NDArray[Any]]
    ) -> tuple[FloatArray, BoolArray]:
        """Return the scores of all conjunctions over the same attributes, and which have enough people.

        The next of ``joints`` are the joint tables of :meth:`_chunks`.
        """
        shape = tuple(axis.size for axis in axes)
        score = np.zeros(shape)
        enough = np.zeros(shape, dtype=bool)
        for number, joint in enumerate(islice(joints, len(self._chunks(axes, places)))):
            sums = collapse(joint, [a.matrix for a in axes])
            around = [
                np.expand_dims(collapse(joint.sum(axis=i), [a.matrix for j, a in enumerate(axes) if j != i]), i)
                for i in range(len(axes))
            ]
            if not number:
                enough = self._enough(sums, around)
            if enough.any():
                score[enough] = np.maximum(score[enough], self._scores(sums, around, enough))
        return score, enough

    def _enough(self, sums: NDArray[Any], around: Sequence[NDArray[Any]]) -> BoolArray:
        """Return which conjunctions have enough people, and fewer than each larger one around."""
        axes = len(around)

        def size(table: NDArray[Any]) -> IntArray:
            return self._strength.sizes(table[(slice(None),) * axes + (0,)], self._target)

        people = size(sums)
        enough = people >= max(self._settings.min_people, 1)
        for larger in around:
            enough = enough & (people < size(larger))
        return enough

    def _scores(self, sums: NDArray[Any], around: Sequence[NDArray[Any]], enough: BoolArray) -> FloatArray:
        """Return for each conjunction with enough people how surely the label stands out that does so most."""
        inside = sums[enough]
        here = self._strength.evidence(self._target.wrap(inside))
        link = np.full(here.z.shape, np.inf)
        for larger in around:
            outside = np.broadcast_to(larger, sums.shape)[enough] - inside
            beyond = here.beyond(self._strength.evidence(self._target.wrap(outside)), self._strength.metric.signed)
            known = ~np.isnan(beyond) & (self._strength.sizes(outside[:, :1], self._target) >= FEWEST_OUTSIDE)
            link = np.where(known, np.minimum(link, beyond), link)
        return np.asarray(_stands_out(here.z, link).max(axis=-1))


def _around(context: Context) -> list[Context]:
    """Return the larger contexts that one predicate less gives."""
    return [Context(context.predicates[:i] + context.predicates[i + 1 :]) for i in range(len(context))]


def _stands_out(z: FloatArray, link: FloatArray) -> FloatArray:
    """Return the deviate of both: there is an association, and it is stronger here than around."""
    return np.minimum(np.abs(np.nan_to_num(z)), np.where(np.isinf(link), 0.0, link))
