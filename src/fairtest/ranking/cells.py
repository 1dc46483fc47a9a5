"""What candidates show in the cells that the contexts chosen so far cut a test set into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.metrics.evidence import Evidence
    from fairtest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Terms:
    """What candidates show in some cells: terms t/u and weights 1/u, ``[cell, candidate]``, 0 where nothing is known.

    ``apart`` is the difference between a candidate's people and the others there, ``alone`` what its people show by
    themselves, which is asked of the first cell only.
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

    def take_cells(self, at: IntArray) -> Terms:
        """Return those in some cells."""
        apart, alone = ((a[at], b[at]) for a, b in (self.apart, self.alone))
        return Terms(apart, alone)

    def enlarge(self, cells: int) -> Terms:
        """Return the terms of so many cells, those that are new without any."""
        apart, alone = ((_fill(a, cells), _fill(b, cells)) for a, b in (self.apart, self.alone))
        return Terms(apart, alone)

    def replace_cells(self, at: IntArray, new: Terms) -> Terms:
        """Return the terms with new ones in some cells."""
        changed = self.take_cells(np.arange(len(self.apart[0])))
        for before, after in zip((*changed.apart, *changed.alone), (*new.apart, *new.alone), strict=True):
            before[at] = after
        return changed


@dataclass(frozen=True)
class Merged:
    """Which cells become one: in ``order``, each group of them begins at one of the ``starts``."""

    keys: tuple[frozenset[int], ...]
    order: IntArray
    starts: IntArray

    @property
    def leading(self) -> IntArray:
        """The first cell of each group."""
        return self.order[self.starts]

    @property
    def joining(self) -> list[tuple[int, int]]:
        """Which cells join which groups, but for those that lead them."""
        group = np.repeat(np.arange(len(self.starts)), np.diff(np.append(self.starts, self.order.size)))
        others = np.ones(self.order.size, dtype=bool)
        others[self.starts] = False
        return list(zip(group[others].tolist(), self.order[others].tolist(), strict=True))

    @property
    def first(self) -> IntArray:
        """The cells that become the first one."""
        return self.order[: self.starts[1]] if len(self.starts) > 1 else self.order


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
    """Return the deviates of the differences between the links of some people and of others.

    Variances are those of one link for both, where these are larger than those of what is seen: if all fifteen people
    of a rare group have the output, what is seen varies little, and would seem to differ from anything.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = 1 / here.variance, 1 / there.variance
        common = (weights[0] * here.effect + weights[1] * there.effect) / (weights[0] + weights[1])
        variance = here.variance_for(common) + there.variance_for(common)
        return np.asarray((here.effect - there.effect) / np.sqrt(variance))


def _fill(values: FloatArray, rows: int) -> FloatArray:
    every = np.zeros((rows, values.shape[1]))
    every[: len(values)] = values
    return every


def _deviate(sign: FloatArray, total: FloatArray, weight: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(weight > 0, sign * total / np.sqrt(weight), 0.0)
