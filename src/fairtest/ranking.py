"""What matters: which significant contexts are shown, and in which order (section 5 of the statistics)."""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.contexts.context import Context
    from fairtest.types import BoolArray, FloatArray

__all__ = ["NEAR_COPY", "fold", "nearest_bound", "reported"]

NEAR_COPY = 0.5
"""Two contexts that share more than this part of the people of both are near-copies."""
NEARLY = 0.9
"""Of near-copies, a simpler one is shown if its bound is at least this part of the strongest one's."""


def nearest_bound(low: FloatArray, high: FloatArray, strength: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return the strength of the interval's bound nearest to no effect: 0 where the interval contains it.

    This is the least association the data still allow, and what findings are compared and ranked by.
    """
    with np.errstate(invalid="ignore"):
        bound = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    return np.where(np.isnan(low) | np.isnan(high), np.nan, strength(bound))


def reported(
    contexts: Sequence[Context], significant: BoolArray, sign: FloatArray, bound: FloatArray, size: FloatArray
) -> list[int]:
    """Return the positions of the contexts to report, strongest first; the population (first) is not among them.

    A significant context is reported if it is stronger than every larger context of the same sign that contains it. A
    context whose association turns the other way than in the larger ones is news, however weak.

    Parameters
    ----------
    contexts
        The population first.
    sign
        The direction of each effect; the same for all where a metric has none.
    bound
        The strength each context is known to have: see :func:`nearest_bound`.
    size
        The people of each context, to order ties.
    """
    by_columns: dict[frozenset[str], list[int]] = {}
    for j in np.flatnonzero(~np.isnan(bound)).tolist():
        by_columns.setdefault(contexts[j].columns, []).append(j)

    def surpassed(i: int) -> bool:
        return any(
            bound[j] >= bound[i] and sign[j] == sign[i] and j != i and contexts[j].contains(contexts[i])
            for columns in _subsets(contexts[i].columns)
            for j in by_columns.get(columns, ())
        )

    kept = [i for i in np.flatnonzero(significant).tolist() if len(contexts[i]) and not surpassed(i)]
    return sorted(kept, key=lambda i: (-round(float(bound[i]), 12), -size[i], str(contexts[i])))


def _subsets(columns: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yield every set of columns that a containing context may speak of."""
    return map(frozenset, chain.from_iterable(combinations(columns, k) for k in range(len(columns) + 1)))


def fold(
    contexts: Sequence[Context], members: NDArray[np.uint64], sign: FloatArray, bound: FloatArray
) -> list[list[int]]:
    """Return groups of near-copies, strongest first, each led by the one to show.

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
        leaders = [group[0] for group in kept]
        shared = np.bitwise_count(members[leaders] & members[i]).sum(axis=1)
        alike = shared / np.maximum(size[leaders] + size[i] - shared, 1) * (sign[leaders] == sign[i])
        if alike.size and alike.max() > NEAR_COPY:
            kept[int(alike.argmax())].append(i)
        else:
            kept.append([i])
    led = [_led_by_the_simplest(group, contexts, bound) for group in kept]
    return sorted(led, key=lambda group: group[0])


def _led_by_the_simplest(group: list[int], contexts: Sequence[Context], bound: FloatArray) -> list[int]:
    strong = [i for i in group if bound[i] >= NEARLY * bound[group[0]]]
    leader = min(strong, key=lambda i: (len(contexts[i]), i))
    return [leader, *(i for i in group if i != leader)]
