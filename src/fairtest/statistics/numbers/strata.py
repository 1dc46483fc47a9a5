"""People's numbers within their strata: means and ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.types import FloatArray, IntArray


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
