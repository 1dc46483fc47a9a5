"""Rates of groups, of rows that are not one person each: as sure as with so many independent people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from fairtest.inference.weighed_gaps import count_people
from fairtest.model.error_rates import PARTS, GroupErrors
from fairtest.model.rates import NORMAL_QUANTILE, Rate, wilson
from fairtest.statistics.design import RowSums
from fairtest.statistics.domains import judge_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.engine.contract import Rows
    from fairtest.types import BoolArray, IntArray, Level

TAIL = float(special.ndtr(-NORMAL_QUANTILE))


def weigh_rates(
    rows: Rows, output: NDArray[Any], group: NDArray[Any], n_outputs: int, n_groups: int
) -> tuple[tuple[Rate | None, ...], ...]:
    """Return for each output the share of each group that has it, with its interval; None for a group without rows."""
    inside = [group == g for g in range(n_groups)]
    return tuple(tuple(weigh_rate(rows, output == o, among) for among in inside) for o in range(n_outputs))


def weigh_rate(rows: Rows, has: BoolArray, among: BoolArray) -> Rate | None:
    """Return the share of some rows that has something, with its 95 % interval; None where they weigh nothing.

    It is the interval of a share of as many independent people as the rows are worth, fewer where that is itself known
    from few people (Student's t in the place of the normal law).
    """
    some = rows.take(among)
    sums = RowSums.of(some.person, some.weight, np.zeros(len(some), dtype=np.int64))
    if not sums.weight.any():
        return None
    own = has[among].astype(float)
    share = min(max(float((sums.weight * own).sum() / sums.mass), 0.0), 1.0)
    found = judge_share(sums, own)
    if not np.isfinite(found.size):
        return Rate(share, (0.0, 1.0))  # one person says nothing about others
    people = found.size * (NORMAL_QUANTILE / float(special.stdtrit(found.df, 1 - TAIL))) ** 2
    number = people if own.all() else share * people if own.any() else 0.0
    return Rate(share, wilson(number, people))


def weigh_errors(rows: Rows, levels: Sequence[Level], cells: IntArray) -> tuple[GroupErrors, ...]:
    """Return how prediction and truth go together in each group; ``cells`` has the counts of each, weights included."""
    people = count_people(rows, len(levels))
    found = []
    for g, level in enumerate(levels):
        some = rows.take(rows.protected == g)
        rates = [
            weigh_rate(some, np.isin(some.output, part), np.isin(some.output, whole)) for part, whole in PARTS.values()
        ]
        tn, fp, fn, tp = cells[g].tolist()
        found.append(GroupErrors(level, (tn, fp, fn, tp), int(people[g]), tuple(rates)))
    return tuple(found)
