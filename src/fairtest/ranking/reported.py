"""Which significant contexts are reported, and in which order (section 5 of the statistics)."""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairtest.model.context import Context
    from fairtest.types import BoolArray, FloatArray


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
    known = np.flatnonzero(~np.isnan(bound)).tolist()
    containers = _containers(contexts, known)

    def surpassed(i: int) -> bool:
        return any(bound[j] >= bound[i] and sign[j] == sign[i] for j in containers(i))

    kept = [i for i in np.flatnonzero(significant).tolist() if len(contexts[i]) and not surpassed(i)]
    return sorted(kept, key=lambda i: (-round(float(bound[i]), 12), -size[i], str(contexts[i])))


def _containers(contexts: Sequence[Context], among: Sequence[int]) -> Callable[[int], Iterator[int]]:
    """Return what yields the larger contexts, among some, that contain a given one."""
    by_columns: dict[frozenset[str], list[int]] = {}
    for j in among:
        by_columns.setdefault(contexts[j].columns, []).append(j)

    def containers(i: int) -> Iterator[int]:
        for columns in _subsets(contexts[i].columns):
            for j in by_columns.get(columns, ()):
                if j != i and contexts[j].contains(contexts[i]):
                    yield j

    return containers


def _subsets(columns: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yield every set of columns that a containing context may speak of."""
    return map(frozenset, chain.from_iterable(combinations(columns, k) for k in range(len(columns) + 1)))
