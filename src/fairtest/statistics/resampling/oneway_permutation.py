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
        edges = np.flatnonzero(np.r_[True, np.diff(stratum[order]) != 0])
        self._strata = [slice(a, b) for a, b in zip(edges, np.append(edges[1:], cell.size), strict=True)]
        observed = float(self._between(centred[None])[0])
        self._threshold = observed * (1 - 1e-9)
        self.cost = max(1.0, centred.size / 10)

    def draw(self, count: int, rng: np.random.Generator, /) -> int:
        """Return the hits among ``count`` permutations within strata."""
        return sum(self._hits(part, rng) for part in chunks(count, self._values.size))

    def _hits(self, draws: int, rng: np.random.Generator) -> int:
        shuffled = np.empty((draws, self._values.size))
        for part in self._strata:
            size = part.stop - part.start
            shuffled[:, part] = rng.permuted(np.broadcast_to(self._values[part], (draws, size)), axis=1)
        return int(np.count_nonzero(self._between(shuffled) >= self._threshold))

    def _between(self, values: FloatArray) -> FloatArray:
        sums = np.add.reduceat(values, self._starts, axis=1)
        between: FloatArray = (sums**2 / self._people).sum(axis=1)
        return between
