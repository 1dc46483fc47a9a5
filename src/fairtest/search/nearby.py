"""Other thresholds beside those that the training set likes best.

The training set has few of the people, and the threshold that shows an association best there is often not the best one
for everybody. So where a conjunction stands out, thresholds nearby that show it nearly as well are proposed too: the
test set, with more people, tells them apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.model.context import Context, Op

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairtest.model.context import Predicate
    from fairtest.search.exhaustive import Candidates, ItemAxis
    from fairtest.types import BoolArray, FloatArray, IntArray

    Ladders = Mapping[tuple[str, Op], tuple[Predicate, ...]]

LEAST = 2.0
"""Thresholds are looked for nearby where a conjunction stands out by at least so many deviates …"""
MOST = 40
"""… for at most so many conjunctions, those that stand out most …"""
STEPS = 3
"""… so many steps to either side."""
NEARLY = 4.0
"""A threshold shows an association nearly as well if its squared deviate is smaller by no more than this."""


def list_thresholds(axes: Sequence[ItemAxis]) -> Ladders:
    """Return the thresholds of each number in each direction, from low to high."""
    runs = (axis.predicates[run] for axis in axes for run in axis.runs)
    return {(run[0].column, run[0].op): run for run in runs}


def pick_outstanding(found: Candidates) -> IntArray:
    """Return the conjunctions that stand out most, of those that speak of a threshold."""
    clear = np.minimum(np.abs(np.nan_to_num(found.z)), found.link)
    at = np.array([i for i in np.flatnonzero(clear >= LEAST) if _has_threshold(found.contexts[i])], dtype=int)
    return np.sort(at[np.argsort(-np.round(clear[at], 9), kind="stable")][:MOST])


def _has_threshold(context: Context) -> bool:
    return any(p.op in (Op.AT_MOST, Op.ABOVE) for p in context.predicates)


def move_thresholds(context: Context, ladders: Ladders) -> Iterator[Context]:
    """Yield the context with one of its thresholds a few steps higher or lower."""
    predicates = context.predicates
    for place, predicate in enumerate(predicates):
        ladder = ladders.get((predicate.column, predicate.op), ())
        if predicate in ladder:
            at = ladder.index(predicate)
            for other in (*ladder[max(at - STEPS, 0) : at], *ladder[at + 1 : at + STEPS + 1]):
                yield Context((*predicates[:place], other, *predicates[place + 1 :]))


def list_nearby(found: Candidates, axes: Sequence[ItemAxis]) -> dict[Context, int]:
    """Return conjunctions with another threshold than the outstanding ones, each with the place of that one."""
    ladders, known = list_thresholds(axes), set(found.contexts)
    near: dict[Context, int] = {}
    for i in pick_outstanding(found).tolist():
        for other in move_thresholds(found.contexts[i], ladders):
            if other not in known:
                near.setdefault(other, i)
    return near


def are_nearly_as_clear(z: FloatArray, best: FloatArray) -> BoolArray:
    """Return which deviates are nearly as far from 0 as the best ones, to the same side."""
    with np.errstate(invalid="ignore"):
        return np.asarray((z * best > 0) & (z**2 >= best**2 - NEARLY))
