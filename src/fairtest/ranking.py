"""What matters: which significant contexts are shown, and in which order (section 5 of the statistics)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.contexts.context import Context
    from fairtest.types import BoolArray, FloatArray

__all__ = ["nearest_bound", "reported"]


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
    rivals = [j for j in range(len(contexts)) if not np.isnan(bound[j])]
    kept = []
    for i in np.flatnonzero(significant).tolist():
        if not len(contexts[i]):
            continue
        larger = (j for j in rivals if j != i and sign[j] == sign[i] and contexts[j].contains(contexts[i]))
        if all(bound[i] > bound[j] for j in larger):
            kept.append(i)
    return sorted(kept, key=lambda i: (-round(float(bound[i]), 12), -size[i], str(contexts[i])))
