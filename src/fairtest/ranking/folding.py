"""Which contexts say the same thing: near-copies of a stronger one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.model.context import Context
    from fairtest.types import BoolArray, FloatArray

    People = NDArray[np.uint64]

NEAR_COPY = 0.5
"""Two contexts that share more than this part of the people of both are near-copies."""
NEARLY = 0.9
"""Of near-copies, a simpler one is shown if its bound is at least this part of the strongest one's."""


def fold(
    contexts: Sequence[Context],
    members: People,
    sign: FloatArray,
    bound: FloatArray,
) -> list[list[int]]:
    """Return groups of contexts that say the same thing, strongest first, each led by the one to show.

    Of contexts that hold nearly the same people the one with the fewest predicates is shown, if it is nearly as
    strong as the strongest. Leaving out some of the rejected hypotheses keeps the guarantee for those that are shown.

    Parameters
    ----------
    contexts, bound
        Strongest first.
    members
        Who is in each context: a bit for each person.
    sign
        The direction of each effect; contexts of different direction are no copies.
    """
    size = np.bitwise_count(members).sum(axis=1)
    kept: list[list[int]] = []
    for i in range(len(members)):
        leaders = [group[0] for group in kept if sign[group[0]] == sign[i]]
        shared = np.bitwise_count(members[leaders] & members[i]).sum(axis=1)
        alike = shared / np.maximum(size[leaders] + size[i] - shared, 1)
        if alike.size and alike.max() > NEAR_COPY:
            _group_of(leaders[int(alike.argmax())], kept).append(i)
        else:
            kept.append([i])
    near: list[BoolArray] = [_near_copies(members[group], size[group]) for group in kept]
    led = [_led_by_the_simplest(group, at, contexts, bound) for group, at in zip(kept, near, strict=True)]
    return sorted(led, key=lambda group: group[0])


def _group_of(leader: int, groups: Sequence[list[int]]) -> list[int]:
    return next(group for group in groups if group[0] == leader)


def _near_copies(members: People, size: FloatArray) -> BoolArray:
    """Return which members of a group hold nearly the same people as its first."""
    shared = np.bitwise_count(members & members[0]).sum(axis=1)
    return np.asarray(shared / np.maximum(size + size[0] - shared, 1) > NEAR_COPY)


def _led_by_the_simplest(
    group: list[int], near: BoolArray, contexts: Sequence[Context], bound: FloatArray
) -> list[int]:
    strong = [i for i, copy in zip(group, near.tolist(), strict=True) if copy and bound[i] >= NEARLY * bound[group[0]]]
    leader = min(strong, key=lambda i: (len(contexts[i]), i))
    return [leader, *(i for i in group if i != leader)]
