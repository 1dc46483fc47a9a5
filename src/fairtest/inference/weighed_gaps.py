"""Gaps between groups of rows that are not one person each: what the rows behind each gap are worth.

Sums of a group and the reference become sums of as many independent people as their rows are worth to that gap
(:func:`fairtest.statistics.design.compare_two_groups`), and are then compared as those of people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtest.inference.effective import enlarge_p, shrink_alpha
from fairtest.statistics.design import RowSums, compare_two_groups
from fairtest.statistics.domains import correlate_medians
from fairtest.statistics.numerics.rules import per_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.engine.contract import Rows
    from fairtest.statistics.numerics.rules import Alpha
    from fairtest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class GapWorth:
    """What the rows behind some gaps are worth.

    Attributes
    ----------
    rows
        All rows of the context, in the strata in which they are compared.
    scale, df
        For each gap, as how many independent people one that is counted counts, and how well that is known.
    known
        For each gap, whether anything is known of how sure it is.
    """

    rows: Rows
    scale: FloatArray
    df: FloatArray
    known: BoolArray

    def correct_p(self, p: FloatArray) -> FloatArray:
        """Return p-values of sums of effective people that know how well their number is known."""
        return np.where(self.known, enlarge_p(p, self.df), 1.0)

    def correct_alpha(self, alpha: Alpha) -> FloatArray:
        """Return the level at which the interval of each gap is made."""
        return shrink_alpha(per_context(alpha, len(self.df)), self.df)

    def weigh_ratio(self, place: int, reference: int, group: int, ratio: float) -> tuple[float, float]:
        """Return scale and degrees of freedom where a group is compared with so many times the reference."""
        two, is_group = _take_two(self.rows, reference, group)
        scale, df, _ = _compare(two, is_group, np.where(is_group > 0, two.output, ratio * two.output))
        return min(scale, float(self.scale[place])), min(df, float(self.df[place]))

    def correlate_medians(self, reference: int, group: int, medians: tuple[float, float]) -> float:
        """Return how the medians of a group and of the reference go together; 0 where nobody is in both."""
        if self.rows.person is None:
            return 0.0
        two, is_group = _take_two(self.rows, reference, group)
        rows = RowSums.of(two.person, two.weight, np.zeros_like(two.stratum))
        return correlate_medians(rows, np.asarray(two.output, dtype=float), is_group, medians)


def count_people(rows: Rows, n_groups: int) -> IntArray:
    """Return how many people have rows in each group."""
    if rows.person is None:
        return np.bincount(rows.protected, minlength=n_groups)
    person = np.unique(rows.person, return_inverse=True)[1].astype(np.int64)
    pairs = np.unique(person * n_groups + rows.protected)
    return np.bincount(pairs % n_groups, minlength=n_groups)


def weigh_gaps(
    rows: Rows, reference: int, groups: Sequence[int], outputs: Sequence[int], *, is_number: bool
) -> GapWorth:
    """Return what rows are worth to the gap of each group to the reference, in a number or in the rate of an output."""
    found = []
    for group, output in zip(groups, outputs, strict=True):
        two, is_group = _take_two(rows, reference, group)
        found.append(_compare(two, is_group, two.output if is_number else two.output == output))
    scale, df, known = (np.array([each[i] for each in found]) for i in range(3))
    return GapWorth(rows, scale, df, known.astype(bool))


def _take_two(rows: Rows, reference: int, group: int) -> tuple[Rows, FloatArray]:
    """Return the rows of two groups, and 1 for each that is not of the reference."""
    two = rows.take(np.isin(rows.protected, (reference, group)))
    return two, np.asarray(two.protected == group, dtype=float)


def _compare(two: Rows, is_group: FloatArray, output: FloatArray) -> tuple[float, float, bool]:
    """Return as how many independent people one that is counted counts, the degrees of freedom, and if that is known.

    Where nothing varies, rows of a person may be all alike.
    """
    sums = RowSums.of(two.person, two.weight, two.stratum)
    if not sums.weight.any():
        return 1.0, 1.0, False
    found = compare_two_groups(sums, is_group.astype(int), np.asarray(output, dtype=float))
    if np.isfinite(found.size):
        return found.size / sums.mass, found.df if np.isfinite(found.df) else 1.0, True
    size = sums.mass**2 / float((sums.by_person(sums.weight) ** 2).sum())
    return size / sums.mass, max(size - 1, 1.0), False
