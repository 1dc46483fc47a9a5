"""How many independent people rows are worth to each metric, where people have several rows or rows have weights.

The formulas are in :mod:`fairtest.statistics.design`; here is which of them fits what a metric sees of people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.statistics.design import (
    Effective,
    RowSums,
    compare_two_groups,
    correlate,
    indicators,
    judge_independence,
    weighted_ranks,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.engine.contract import Rows
    from fairtest.types import FloatArray


def of_two_groups(people: Rows) -> Effective:
    """Return what rows are worth for the gap between two groups' rates or means."""
    return compare_two_groups(_sums(people), people.protected, people.output.astype(float))


def of_correlation(people: Rows) -> Effective:
    """Return what rows are worth for the correlation of two numbers."""
    return correlate(_sums(people), people.protected.astype(float), people.output.astype(float))


def of_rank_correlation(people: Rows) -> Effective:
    """Return what rows are worth for the correlation of two ranks within strata."""
    rows = _sums(people)
    return correlate(rows, weighted_ranks(rows, people.protected), weighted_ranks(rows, people.output))


def of_any_link(people: Rows) -> Effective:
    """Return what rows are worth for a link of any form between groups, or between groups and a number."""
    return judge_independence(_sums(people), _columns(people.protected), _columns(people.output))


def _sums(people: Rows) -> RowSums:
    return RowSums.of(people.person, people.weight, people.stratum)


def _columns(values: NDArray[Any]) -> FloatArray:
    """Return a number as it is, codes as indicators of their levels."""
    return values[:, None].astype(float) if values.dtype.kind == "f" else indicators(np.asarray(values))
