"""The metrics of numbers as functions of people, for resampling them one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairtest.metrics.registry import Metric
    from fairtest.types import FloatArray, IntArray

    RowEffect: TypeAlias = Callable[[NDArray[Any], NDArray[Any], IntArray], float]


def row_effect(metric: Metric) -> RowEffect:
    """Return the effect of a metric as a function of both columns and the stratum."""
    if metric.summary is SummaryKind.MOMENTS:
        return pooled_correlation
    if metric.summary is SummaryKind.GROUP_MOMENTS:
        return pooled_ratio
    if metric.summary is SummaryKind.RANKS:
        return pooled_rank_correlation
    return metric.effect


def stratum_means(values: FloatArray, stratum: IntArray) -> FloatArray:
    """Return each person's mean over their stratum."""
    people = np.bincount(stratum)
    return (np.bincount(stratum, weights=values) / np.maximum(people, 1))[stratum]


def stratum_ranks(values: NDArray[Any], stratum: IntArray) -> FloatArray:
    """Return mid-ranks within each stratum, as shares of it, less a half.

    Examples
    --------
    >>> stratum_ranks(np.array([7, 1, 1, 5]), np.array([0, 0, 0, 1]))
    array([ 0.33333333, -0.16666667, -0.16666667,  0.        ])
    """
    ranks = np.empty(len(values))
    for e in np.unique(stratum):
        at = np.flatnonzero(stratum == e)
        _, inverse, counts = np.unique(values[at], return_inverse=True, return_counts=True)
        ranks[at] = ((np.cumsum(counts) - counts / 2) / at.size - 0.5)[inverse]
    return ranks


def pooled_correlation(s: FloatArray, o: FloatArray, stratum: IntArray) -> float:
    """Return Pearson's r of the deviations from the strata's means; NaN where a column does not vary."""
    x, y = s - stratum_means(s, stratum), o - stratum_means(o, stratum)
    norm = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / norm if norm > 0 else np.nan


def pooled_rank_correlation(s: NDArray[Any], o: NDArray[Any], stratum: IntArray) -> float:
    """Return Pearson's r of the ranks within strata."""
    return pooled_correlation(stratum_ranks(s, stratum), stratum_ranks(o, stratum), stratum)


def pooled_ratio(s: NDArray[Any], o: NDArray[Any], stratum: IntArray) -> float:
    """Return η² of whichever column holds numbers between the groups of the other."""
    by, x = (o, s) if s.dtype.kind == "f" else (s, o)
    x = x - stratum_means(x, stratum)
    total = float(x @ x)
    cell = stratum * (int(by.max(initial=0)) + 1) + by
    between = float(np.sum(stratum_means(x, cell) ** 2))
    return between / total if total > 0 else np.nan
