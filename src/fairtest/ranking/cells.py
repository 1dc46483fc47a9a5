"""What candidates show in the cells that the contexts chosen so far cut a test set into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.metrics.evidence import Evidence
    from fairtest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Terms:
    """What candidates show in some cells: terms t/u and weights 1/u, ``[cell, candidate]``, 0 where nothing is known.

    ``apart`` is the difference between a candidate's people and the others there, ``alone`` what its people show by
    themselves.
    """

    apart: tuple[FloatArray, FloatArray]
    alone: tuple[FloatArray, FloatArray]

    def beyond(self, sign: FloatArray, *, base: bool) -> FloatArray:
        """Return the deviates of what candidates show beyond the chosen contexts, the first cell being outside them.

        There it is the link itself that counts, unless the population is the ``base`` that candidates must differ from.
        """
        outside = self.apart if base else self.alone
        total, weight = (first[0] + rest[1:].sum(axis=0) for first, rest in zip(outside, self.apart, strict=True))
        return _deviate(sign, total, weight)

    def outside(self, sign: FloatArray, *, base: bool) -> FloatArray:
        """Return the deviates of what candidates show outside the chosen contexts alone."""
        total, weight = (a[0] for a in (self.apart if base else self.alone))
        return _deviate(sign, total, weight)

    def of(self, candidate: int) -> Terms:
        """Return those of one candidate."""
        apart, alone = ((a[:, [candidate]], b[:, [candidate]]) for a, b in (self.apart, self.alone))
        return Terms(apart, alone)


@dataclass(frozen=True)
class Merged:
    """Which cells become one: in ``order``, each group of them begins at one of the ``starts``."""

    keys: tuple[frozenset[int], ...]
    order: IntArray
    starts: IntArray


def merge_cells(keys: Sequence[frozenset[int]], dropped: set[int]) -> Merged:
    """Return which cells are no longer told apart without some contexts; the one outside all stays the first."""
    groups: dict[frozenset[int], list[int]] = {frozenset(): []}
    for i, key in enumerate(keys):
        groups.setdefault(key - dropped, []).append(i)
    sizes = [len(cells) for cells in groups.values()]
    order = np.array([i for cells in groups.values() for i in cells], dtype=int)
    return Merged(tuple(groups), order, np.cumsum([0, *sizes[:-1]]))


def weigh(value: FloatArray, variance: FloatArray, enough: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return value/variance and 1/variance, 0 where there are too few people to say."""
    with np.errstate(invalid="ignore", divide="ignore"):
        known = enough & np.isfinite(value) & (variance > 0) & np.isfinite(variance)
        return np.where(known, value / variance, 0.0), np.where(known, 1 / variance, 0.0)


def contrast(here: Evidence, there: Evidence) -> FloatArray:
    """Return the deviates of the differences between the links of some people and of others."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((here.effect - there.effect) / np.sqrt(here.variance + there.variance))


def cell_by_cell(sums: NDArray[Any]) -> NDArray[Any]:
    """Return the same sums, in memory cell by cell: metrics add up a few cells of each of many contexts."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(sums, 0, -1)), -1, 0)


def _deviate(sign: FloatArray, total: FloatArray, weight: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(weight > 0, sign * total / np.sqrt(weight), 0.0)
