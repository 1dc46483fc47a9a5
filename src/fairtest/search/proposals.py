"""Proposals: the contexts that will be tested, from all searches together, each with its evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairtest.data.holdout import TRAIN
from fairtest.exceptions import InputError, setting
from fairtest.metrics.evidence import MOST
from fairtest.model.context import Context
from fairtest.model.found import Found, FoundUnweighed
from fairtest.numbers import per_cent
from fairtest.progress import progress_of_step, silent
from fairtest.search.cuts import conditions_of
from fairtest.search.exhaustive import (
    LEAST_LINK,
    ONE_OUTPUT,
    SAME,
    conjunctions,
    feasible_depth,
    item_axes,
    known_links,
)
from fairtest.search.forest import grow_forest
from fairtest.search.nearby import are_nearly_as_clear, list_nearby
from fairtest.search.tree import HistogramScorer, LookedAt, grow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis, Condition
    from fairtest.data.summaries import Target
    from fairtest.data.table import Table
    from fairtest.metrics.registry import Metric
    from fairtest.model.context import Predicate
    from fairtest.model.plans import TrainingRun
    from fairtest.progress import Progress
    from fairtest.search.exhaustive import Candidates, ItemAxis, Reach
    from fairtest.search.scoring import Outputs
    from fairtest.types import BoolArray, FloatArray

Key: TypeAlias = tuple[int, ...]
"""A context by the numbers of its predicates."""

GROWN = ("tree", "forest")
"""The searches whose nodes are taken as they are; the others evaluate every conjunction of a few predicates."""
MOST_FIXED = 5000
"""The most contexts that are tested on everybody at once."""
NEARLY_EVERYBODY = 0.98
"""A context with such a share of the people is no context."""
MOST_ROWS = 1 << 23
"""The most rows that the nodes of trees which grow together may have; at least one tree grows at a time."""


class Searcher:
    """Searches the training set for the contexts of one question."""

    def __init__(
        self,
        outputs: Sequence[Outputs],
        target: Target,
        axes: Sequence[Axis],
        settings: TrainingRun,
        table: Table,
        progress: Progress = silent,
        reach: Reach = ONE_OUTPUT,
    ) -> None:
        self._outputs = outputs
        self.strength = outputs[0].strength
        self._axis = outputs[0].engine.axis
        self._target = target
        self._axes = axes
        self._settings = settings
        self._table = table
        self._progress = progress
        self._reach = reach

    def find(self) -> Found:
        """Return the contexts to test, as the plan says how to search."""
        search = self._settings.plan.search
        if search in GROWN:
            found = self.grow_trees(self._progress)
            return self.weigh(replace(found, guided=frozenset(found.contexts if search == "tree" else ())))
        if search == "exhaustive":
            return self._union(None, self._progress)
        tree = self.grow_trees(progress_of_step(self._progress, 0, 2))
        return self._union(tree, progress_of_step(self._progress, 1, 2))

    def grow_trees(self, progress: Progress) -> Found:
        """Return the nodes of the guided tree, or of a forest, as they are."""
        if self._settings.plan.search != "forest":
            return grow(self._scorer(), self._table, self._settings, progress)
        everyone = self._outputs[0].engine.total(TRAIN, self._target)[None]
        people = int(self.strength.sizes(everyone, self._target)[0])
        together = max(MOST_ROWS // max(people, 1), 1) if self.one_output else 1
        return grow_forest(self._scorer, self._table, self._settings, self._axes, LookedAt(), together, progress)

    @property
    def one_output(self) -> bool:
        """Whether there is one output only."""
        return sum(some.number for some in self._outputs) == 1

    def _scorer(self, looked_at: LookedAt | None = None) -> HistogramScorer:
        return HistogramScorer(self._outputs, self._target, self._axes, self._settings, looked_at)

    def weigh(self, found: Found) -> Found:
        """Return contexts with the evidence for each, to be counted when it is asked for."""

        def weigh() -> tuple[FloatArray, FloatArray]:
            z, link = self.evidence(found.contexts)
            return weights_and_signs(half_link(z, link), z, self.strength.metric)

        return FoundUnweighed(found, weigh)

    def find_fixed(self) -> Found:
        """Return every conjunction of as many predicates as keep the family small; the outputs have no say in it."""
        axes = item_axes(self._axes, self._table)
        few = None
        wanted, depth = min(self._reach.depth, self._settings.plan.max_depth, len(axes)), 0
        for length in range(1, feasible_depth(axes, self._target, wanted) + 1):
            more = self._conjunctions(axes, length, self._progress, every=True)
            if len(more.contexts) > MOST_FIXED:
                break
            few, depth = more, length
        if few is None and axes:
            raise InputError(
                f"Without a split the family must be small: single predicates alone make over {MOST_FIXED:,} contexts. "
                f"Name fewer contextual attributes ({setting('contextual', [...])}), or let the data be divided "
                "(split=True)."
            )
        contexts = (Context(), *(() if few is None else few.contexts))
        nothing = np.zeros(len(contexts))
        return Found(contexts, len(contexts), nothing, nothing, notes=note_cut_short(depth, wanted, tree=False))

    def _union(self, tree: Found | None, progress: Progress) -> Found:
        """Return every conjunction of a few predicates, and the deeper nodes of the guided tree if there is one."""
        few, depth, notes = self.conjunctions(progress)
        few = self._add_nearby(few)
        deep = () if tree is None else tuple(c for c in tree.contexts if len(c) and not is_covered(c, depth))
        others = (Context(), *deep)
        z, link = self.evidence(others)
        if few.wide:
            kept = [i for i in range(len(others)) if i == 0 or link[i] >= LEAST_LINK]
            others, z, link = tuple(others[i] for i in kept), z[kept], link[kept]
        z, link = np.concatenate((z, few.z)), np.concatenate((link, few.link))
        contexts = (*others, *few.contexts)
        evidence = known_deviates(z) if few.wide else half_link(z, link)
        looked_at = few.looked_at + (1 if tree is None else tree.looked_at)
        guided = frozenset(() if tree is None else tree.contexts)
        weights, signs = weights_and_signs(evidence, z, self.strength.metric)
        notes = (*notes, *(() if tree is None else tree.notes))
        found = Found(contexts, looked_at, weights, signs, guided=guided, notes=notes)
        return self._without_nearly_everybody(found)

    def _add_nearby(self, few: Candidates) -> Candidates:
        """Return conjunctions, and those with a threshold nearby that show nearly as much."""
        near = list_nearby(few, item_axes(self._axes, self._table))
        if not near:
            return few
        contexts, best = tuple(near), few.z[list(near.values())]
        z, link = self.evidence(contexts)
        kept = np.flatnonzero(are_nearly_as_clear(z, best) & (link >= LEAST_LINK) & self._are_proper(contexts))
        return replace(
            few,
            contexts=(*few.contexts, *(contexts[i] for i in kept)),
            z=np.concatenate((few.z, z[kept])),
            link=np.concatenate((few.link, link[kept])),
            looked_at=few.looked_at + len(contexts),
        )

    def _are_proper(self, contexts: Sequence[Context]) -> BoolArray:
        """Whether each context has enough people, and clearly fewer than each larger one."""
        people = self._count_people(contexts)
        proper = people >= max(self._settings.min_people, 1)
        owner = np.array([i for i, c in enumerate(contexts) for _ in c.predicates])
        larger = [Context(c.predicates[:k] + c.predicates[k + 1 :]) for c in contexts for k in range(len(c))]
        around = self._count_people(larger)
        np.logical_and.at(proper, owner, people[owner] <= (1 - SAME) * around)
        return proper

    def _without_nearly_everybody(self, found: Found) -> Found:
        """Return contexts without those that nearly everybody is in: they say again what the population says."""
        far = self._are_nearly_everybody(found.contexts)
        if not far.any():
            return found
        at = np.flatnonzero(~far)
        kept = found.take(at)
        notes = (*found.notes, note_nearly_everybody(int(far.sum())))
        return replace(kept, notes=notes, strongest=found.strongest, rare=found.rare)

    def _are_nearly_everybody(self, contexts: Sequence[Context]) -> BoolArray:
        """Whether each context has nearly all people of the training set; all its predicates must have them, too."""
        total = self._count_people([Context()])[0]
        singles = list(dict.fromkeys(p for context in contexts for p in context.predicates))
        people = self._count_people([Context((p,)) for p in singles])
        common = {p for p, n in zip(singles, people.tolist(), strict=True) if n >= NEARLY_EVERYBODY * total}
        at = [i for i, c in enumerate(contexts) if len(c) and common.issuperset(c.predicates)]
        far = np.zeros(len(contexts), dtype=bool)
        far[at] = self._count_people([contexts[i] for i in at]) >= NEARLY_EVERYBODY * total
        return far

    def _count_people(self, contexts: Sequence[Context]) -> FloatArray:
        """Return how many people of the training set are in each context, as far as their output is known."""
        engine = self._outputs[0].engine
        sums = engine.tables(TRAIN, conditions_of(contexts, self._axis), self._target)
        return np.asarray(self.strength.sizes(sums, self._target), dtype=float)

    def conjunctions(self, progress: Progress) -> tuple[Candidates, int, tuple[str, ...]]:
        """Return every conjunction of a few predicates, of how many, and a word if longer ones are too many."""
        axes = item_axes(self._axes, self._table)
        wanted = min(self._reach.depth, self._settings.plan.max_depth, len(axes))
        number = sum(some.number for some in self._outputs)
        depth = feasible_depth(axes, self._target, wanted, number, self._reach)
        notes = note_cut_short(depth, wanted, tree=self._settings.plan.search != "exhaustive")
        return self._conjunctions(axes, depth, progress), depth, notes

    def _conjunctions(
        self, axes: Sequence[ItemAxis], depth: int, progress: Progress, *, every: bool = False
    ) -> Candidates:
        return conjunctions(
            self._outputs,
            self._target,
            axes,
            depth=depth,
            min_people=self._settings.min_people,
            every=every,
            reach=self._reach,
            progress=progress,
        )

    def evidence(self, contexts: Sequence[Context]) -> tuple[FloatArray, FloatArray]:
        """Return the deviate of each context, and that of its difference from the larger contexts around it.

        Where there are several outputs, both have a second axis for them.
        """
        known = _ContextKeys(contexts, self._axis)
        parts = [self._evidence(some, known) for some in self._outputs]
        if len(parts) == 1:
            return parts[0]
        z, link = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        return z, link

    def _evidence(self, outputs: Outputs, known: _ContextKeys) -> tuple[FloatArray, FloatArray]:
        place = {key: i for i, key in enumerate(known.keys)}
        around = [around_of(key) for key in known.keys]
        new = list(dict.fromkeys(p for each in around for p in each if p not in place))
        place.update({p: len(known.keys) + i for i, p in enumerate(new)})

        def sums_of(keys: Sequence[Key]) -> NDArray[Any]:
            return outputs.engine.tables(TRAIN, known.conditions(keys), self._target)

        own = sums_of(known.keys)  # apart from the others: a tree is counted faster by itself
        here = self.strength.evidence(self._target.wrap(own))
        link = np.full(here.z.shape, np.inf)
        child = np.array([i for i, each in enumerate(around) for _ in each], dtype=int)
        if not child.size:
            return here.z, link
        sums = np.concatenate((own, sums_of(new))) if new else own
        outside = sums[[place[p] for each in around for p in each]] - own[child]
        rest = self.strength.evidence(self._target.wrap(outside))
        gap = here[child].beyond(rest, self.strength.metric.signed)
        np.minimum.at(link, child, known_links(gap, self.strength.sizes(outside, self._target)))
        return here.z, link


class _ContextKeys:
    """Contexts as numbers of their predicates, which are quicker to compare than the predicates themselves."""

    def __init__(self, contexts: Sequence[Context], axis_of: Callable[[str], Axis | None]) -> None:
        number: dict[Predicate, int] = {}
        same: dict[int, int] = {}
        for context in contexts:
            for p in context.predicates:
                if id(p) not in same:
                    same[id(p)] = number.setdefault(p, len(number))
        self.keys: list[Key] = [tuple([same[id(p)] for p in context.predicates]) for context in contexts]
        self._conditions = [c for (c,) in conditions_of([Context((p,)) for p in number], axis_of)]

    def conditions(self, keys: Sequence[Key]) -> list[tuple[Condition, ...]]:
        """Return contexts as an engine understands them."""
        return [tuple([self._conditions[i] for i in key]) for key in keys]


def around_of(key: Key) -> list[Key]:
    """Return the larger contexts that one predicate less gives.

    Examples
    --------
    >>> around_of((4, 7, 1))
    [(7, 1), (4, 1), (4, 7)]
    """
    return [key[:i] + key[i + 1 :] for i in range(len(key))]


def note_nearly_everybody(number: int) -> str:
    """Return a word about groups that nearly everybody is in.

    Examples
    --------
    >>> note_nearly_everybody(1)
    '1 group was not tested because nearly everybody (98 % or more) is in it: what holds there is what holds overall.'
    """
    who = "1 group was" if number == 1 else f"{number:,} groups were"
    them = "it" if number == 1 else "them"
    return (
        f"{who} not tested because nearly everybody ({per_cent(NEARLY_EVERYBODY)} or more) is in {them}: "
        "what holds there is what holds overall."
    )


def note_cut_short(depth: int, wanted: int, tree: bool) -> tuple[str, ...]:
    """Return a note about conjunctions that were not looked at because there are too many of them.

    Examples
    --------
    >>> note_cut_short(3, 3, tree=True)
    ()
    """
    if depth >= wanted:
        return ()
    every = {0: "Not even groups of one condition could all be", 1: "All groups of one condition were"}
    told = every.get(depth, f"All groups of up to {depth} conditions were")
    rest = "of the longer ones only those that the guided tree led to" if tree else "longer ones were not looked at"
    return (f"{told} looked at; {rest}. With fewer contextual columns the search goes deeper.",)


def is_covered(context: Context, depth: int) -> bool:
    """Whether the exhaustive search has looked at a context: few predicates, on different attributes."""
    return len(context) <= depth and len(context.columns) == len(context)


def half_link(z: FloatArray, link: FloatArray) -> FloatArray:
    """Return (z + min(z, max(link, 0))) / 2: half what a context shows, half what it shows beyond the larger ones."""
    sure = known_deviates(z)
    return (sure + np.minimum(sure, np.maximum(link, 0.0))) / 2


def known_deviates(z: FloatArray) -> FloatArray:
    """Return how surely there is an association in either direction: 0 where it is unknown."""
    return np.minimum(np.abs(np.nan_to_num(z)), MOST)


def weights_and_signs(evidence: FloatArray, z: FloatArray, metric: Metric) -> tuple[FloatArray, FloatArray]:
    """Return the evidence that hypotheses may be weighted by, and the direction of each.

    There is none for a metric whose errors are only guessed.
    """
    nothing = np.zeros(len(evidence))
    if metric.evidence is None:
        return nothing, nothing
    return evidence, np.sign(np.nan_to_num(z)) if metric.signed else nothing
