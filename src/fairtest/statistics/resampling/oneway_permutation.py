"""Permutation of a number between groups, within strata."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.statistics.numbers.strata import stratum_means
from fairtest.statistics.tables.random_tables import chunks

if TYPE_CHECKING:
    from fairtest.types import FloatArray, IntArray


class OneWaySampler:
    """Permutation test of the variation between groups, the numbers shuffled within strata.

    With everybody's stratum and group fixed, η² rises with Σ (sum of the group)²/(its people) of the centred numbers,
    so that is all a draw computes.

    Parameters
    ----------
    group, stratum
        Codes of each person.
    values
        The number of each person.
    """

    def __init__(self, group: IntArray, values: FloatArray, stratum: IntArray) -> None:
        order = np.lexsort((group, stratum))
        centred = (values - stratum_means(values, stratum))[order]
        self._values = centred
        cell = stratum[order].astype(np.int64) * (int(group.max(initial=0)) + 1) + group[order]
        self._starts = np.flatnonzero(np.r_[True, np.diff(cell) != 0])
        self._people = np.diff(np.append(self._starts, cell.size))
        self._strata = _by_size(stratum[order])
        observed = float(self._between(centred[None])[0])
        self._threshold = observed * (1 - 1e-9)
        self.cost = max(1.0, centred.size / 10)

    def draw(self, count: int, rng: np.random.Generator, /) -> int:
        """Return the hits among ``count`` permutations within strata."""
        return sum(self._hits(part, rng) for part in chunks(count, self._values.size))

    def _hits(self, draws: int, rng: np.random.Generator) -> int:
        shuffled = np.empty((draws, self._values.size))
        for places in self._strata:
            shuffled[:, places] = rng.permuted(np.broadcast_to(self._values[places], (draws, *places.shape)), axis=2)
        return int(np.count_nonzero(self._between(shuffled) >= self._threshold))

    def _between(self, values: FloatArray) -> FloatArray:
        sums = np.add.reduceat(values, self._starts, axis=1)
        between: FloatArray = (sums**2 / self._people).sum(axis=1)
        return between


def _by_size(stratum: IntArray) -> list[IntArray]:
    """Return the places of the people of strata of the same size together, ``[stratum, person]``: one call for all."""
    edges = np.flatnonzero(np.r_[True, np.diff(stratum) != 0])
    people = np.diff(np.append(edges, stratum.size))
    return [edges[people == size][:, None] + np.arange(size) for size in np.unique(people)]
