"""Finer strata: what a number explains is taken out in many bins, and shown in a few.

People in one bin of an explanatory number still differ in it, and what that explains stays in the comparison. What
stays falls with the square of the number of bins, while the error of an estimate falls with the root of the number of
people only: with enough of them, five bins find a disparity where there is none. So the bins grow with the people, and
a small context has fewer than a large one.

The fifths that are shown are cut into as many pieces each, the inner ones alike, the two outer ones the finer the
nearer to the end, where numbers lie far apart: the first ``k`` of ``m`` pieces hold the share (k/m)² of an outer fifth.
With twice as many pieces every cut stays, so that merging neighbours leads from the finest strata to those shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.streaming.blocks import gather_numbers
from fairtest.data.summaries import Counts, GroupMoments
from fairtest.data.variables import cross_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.data.summaries import Summary
    from fairtest.data.table import Table
    from fairtest.data.variables import Part, Variable
    from fairtest.types import FloatArray, IntArray

LEAST = 20
"""Fifths are cut into m pieces where there are m² times as many people; the outermost pieces then hold four of them."""
MOST_PIECES = 64


@dataclass(frozen=True, eq=False)
class FinerStrata:
    """Strata finer than those shown, and how to merge them step by step.

    Attributes
    ----------
    strata
        The finest.
    shown
        For each of the finest, the one it is shown in.
    merged
        For each step, from none to those shown: the first of the finest with which each is merged.
    least
        For each step, how many people it takes.
    bins
        For each step, how many bins each number is in.
    """

    strata: Variable
    shown: IntArray
    merged: tuple[IntArray, ...]
    least: tuple[float, ...]
    bins: tuple[dict[str, int], ...]

    @property
    def n_shown(self) -> int:
        """The number of strata that are shown."""
        return int(self.shown.max()) + 1

    def steps_for(self, people: IntArray) -> IntArray:
        """Return by how many steps the strata of contexts of these sizes must be merged."""
        enough = people[:, None] >= np.asarray(self.least)
        steps: IntArray = np.argmax(enough, axis=1)  # the last takes no people at all
        return steps

    def merge(self, summary: Summary, steps: IntArray) -> Summary:
        """Return the summary of contexts with their strata merged; sums of merged ones stand where the first was.

        Strata that are empty carry no information, so that the places that are left do no harm.
        """
        sums = summary.counts if isinstance(summary, Counts) else summary.sums
        merged = sums.copy()
        for step in np.unique(steps[steps > 0]).tolist():
            at = steps == step
            merged[at] = _add_merged(sums[at], self.merged[step])
        return _with_sums(summary, merged)

    def by_shown(self, summary: Summary) -> Summary:
        """Return contexts × strata shown as separate summaries, row by row, each of the finer strata inside it."""
        sums = summary.counts if isinstance(summary, Counts) else summary.sums
        inside = [np.flatnonzero(self.shown == place) for place in range(self.n_shown)]
        empty, width = sums.shape[1], max(map(len, inside))
        at = np.array([np.append(one, [empty] * (width - one.size)) for one in inside], dtype=np.intp)
        padded = np.concatenate((sums, np.zeros_like(sums[:, :1])), axis=1)
        apart = _with_sums(summary, padded[:, at].reshape(-1, width, *sums.shape[2:]))
        if isinstance(apart, GroupMoments) and isinstance(apart.unit, np.ndarray):
            return replace(apart, unit=np.repeat(apart.unit, self.n_shown))
        return apart


def _with_sums(summary: Summary, sums: NDArray[Any]) -> Summary:
    return Counts(sums) if isinstance(summary, Counts) else replace(summary, sums=sums)


def _add_merged(sums: NDArray[Any], first: IntArray) -> NDArray[Any]:
    """Return sums ``[context, stratum, ...]`` with those of merged strata added up in the place of the first."""
    order = np.argsort(first, kind="stable")
    starts = np.flatnonzero(np.diff(first[order], prepend=-1))
    together = np.zeros_like(sums)
    together[:, first[order][starts]] = np.add.reduceat(sums[:, order], starts, axis=1)
    return together


def finer_strata(table: Table, rows: NDArray[np.intp], shown: Variable, people: float, most: int) -> FinerStrata | None:
    """Return strata finer than those shown, or None where there are too few people or no numbers to cut.

    Parameters
    ----------
    rows
        Whose numbers say where to cut: the training set.
    people
        How many will be compared.
    most
        The most strata there may be.
    """
    sizes = [len(part.levels) for part in shown.parts]
    around = [prod(sizes) / size for size in sizes]
    numbers = [sort_numbers(part, table, rows) for part in shown.parts]
    pieces = [
        1 if ordered is None else _pieces(people / LEAST / others)
        for ordered, others in zip(numbers, around, strict=True)
    ]
    while max(pieces) > 1:
        cuts = [_all_cuts(part, ordered, m) for part, ordered, m in zip(shown.parts, numbers, pieces, strict=True)]
        if prod(1 + len(cut[0]) if cut else size for cut, size in zip(cuts, sizes, strict=True)) <= most:
            return _finer(table, shown, cuts, _least_people(pieces, around))
        pieces[int(np.argmax(pieces))] //= 2
    return None


def sort_numbers(part: Part, table: Table, rows: NDArray[np.intp]) -> FloatArray | None:
    """Return the numbers of the training set in order; None for an attribute with levels of its own."""
    if part.thresholds is None or not part.thresholds:
        return None
    seen = gather_numbers(part.blocks(table), rows)
    seen.sort()
    return seen


def _pieces(times: float) -> int:
    """Return the largest power of two whose square is at most ``times``."""
    root = isqrt(int(times))
    return min(1 << (root.bit_length() - 1), MOST_PIECES) if root else 1


def _least_people(pieces: Sequence[int], around: Sequence[float]) -> tuple[float, ...]:
    """Return how many people each step takes, from the finest to that shown, which takes none."""
    steps = range(max(pieces).bit_length() - 1)
    least = [max(LEAST * others * (m >> step) ** 2 for m, others in zip(pieces, around, strict=True)) for step in steps]
    return (*least, 0.0)


def _all_cuts(part: Part, ordered: FloatArray | None, pieces: int) -> list[FloatArray]:
    """Return the thresholds of each step, from the finest to those shown; none for an attribute with levels."""
    if ordered is None:
        return []
    kept = np.asarray(part.thresholds)
    steps = [pieces >> step for step in range(pieces.bit_length())]
    return [np.union1d(kept, cut_finer(ordered, m)) if m > 1 else kept for m in steps]


def cut_finer(ordered: FloatArray, pieces: int) -> FloatArray:
    """Return the observed values at which sorted numbers fall into fifths and these into pieces; never the largest.

    Examples
    --------
    >>> cut_finer(np.arange(1.0, 101.0), 2)
    array([ 5., 20., 30., 40., 50., 60., 70., 80., 95.])
    """
    outer = (np.arange(1, pieces + 1) / pieces) ** 2 / 5
    inner = np.arange(1, 3 * pieces) / (5 * pieces) + 0.2
    shares = np.concatenate((outer, inner, 1 - outer[::-1]))
    at = np.ceil(np.round(shares * ordered.size, 6)).astype(int) - 1
    cut: FloatArray = np.unique(ordered[np.maximum(at, 0)])
    return np.asarray(cut[cut < ordered[-1]])


def _finer(
    table: Table, shown: Variable, cuts: Sequence[Sequence[FloatArray]], least: tuple[float, ...]
) -> FinerStrata:
    parts = [part if not cut else cut_part(part, cut[0]) for part, cut in zip(shown.parts, cuts, strict=True)]
    strata = cross_parts(shown.name, parts, table)
    codes = codes_of_parts(strata)
    merged = []
    for step in range(len(least)):
        coarse = [_coarser(code, cut, step) for code, cut in zip(codes, cuts, strict=True)]
        _, first, group = np.unique(np.stack(coarse), axis=1, return_index=True, return_inverse=True)
        merged.append(first[group.ravel()])
    place = np.zeros(len(strata.levels), dtype=np.int64)
    for part, code in zip(shown.parts, coarse, strict=True):
        place = place * len(part.levels) + code
    bins = tuple(
        {p.column: 1 + len(cut[min(step, len(cut) - 1)]) for p, cut in zip(parts, cuts, strict=True) if cut}
        for step in range(len(least))
    )
    return FinerStrata(strata, np.asarray(shown.lookup)[place], tuple(merged), least, bins)


def codes_of_parts(crossed: Variable) -> tuple[IntArray, ...]:
    """Return for each part of crossed attributes the code that each level has there."""
    mixed = np.argsort(np.asarray(crossed.lookup), kind="stable")[-len(crossed.levels) :]
    return np.unravel_index(mixed, [len(part.levels) for part in crossed.parts])


def cut_part(part: Part, thresholds: FloatArray) -> Part:
    """Return a number in other bins, which have codes for names."""
    return replace(part, thresholds=tuple(thresholds.tolist()), levels=tuple(range(thresholds.size + 1)))


def _coarser(codes: IntArray, cuts: Sequence[FloatArray], step: int) -> IntArray:
    """Return the bins of a later step in which the finest bins are."""
    if not cuts:
        return codes
    finest, wanted = cuts[0], cuts[min(step, len(cuts) - 1)]
    return np.searchsorted(wanted, np.append(finest, np.inf), side="left")[codes]
