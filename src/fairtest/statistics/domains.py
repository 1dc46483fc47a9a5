r"""Rates and medians of single groups, of rows that are not independent people of equal weight.

What each row contributes is summed by person, as in :mod:`fairtest.statistics.design`, and gives the number of
independent people with whom a share would be as sure. A share then has the interval of a share of so many people (Korn
and Graubard 1998), and a median is where the share below it may well be one half (Woodruff 1952).

References
----------
R. Woodruff (1952), Confidence intervals for medians and other position measures. JASA 47, 635–646.

E. Korn, B. Graubard (1998), Confidence intervals for proportions with small expected number of positive counts
estimated from survey data. Survey Methodology 24, 193–201.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.statistics.design import Effective, count_freedom, variance_of_sum

if TYPE_CHECKING:
    from fairtest.statistics.design import RowSums
    from fairtest.types import FloatArray, Interval

STEPS = 3
"""How often the interval of a median is made again with what rows are worth at its own ends."""


def judge_share(rows: RowSums, has: FloatArray) -> Effective:
    """Return what rows are worth for the share that has something, 1 or 0 (or ½ for half of it) in each row.

    Examples
    --------
    >>> from fairtest.statistics.design import RowSums
    >>> has = np.tile([0.0, 1.0, 0.0, 0.0, 1.0], 20)
    >>> each = RowSums.of(np.arange(100), None, np.zeros(100, dtype=int))
    >>> copies = RowSums.of(np.tile(np.arange(100), 4), None, np.zeros(400, dtype=int))
    >>> round(judge_share(each, has).size), round(judge_share(copies, np.tile(has, 4)).size)
    (97, 97)
    """
    people, weight = rows.people, rows.weight
    if people < 2 or not weight.any():
        return Effective(people, np.nan, np.nan)
    of_person = rows.by_person(weight)
    residual = weight * (has - (weight * has).sum() / rows.mass)
    # a person who is much of the group would, left out, move its share by more than the residual says
    left = np.maximum(1 - of_person / rows.mass, 1e-12)
    jackknifed = residual / (left if rows.person is None else left[rows.person])
    with np.errstate(divide="ignore", invalid="ignore"):
        independent = float(np.where(weight > 0, residual**2 / weight, 0.0).sum())
    robust = variance_of_sum(rows, jackknifed)
    if independent <= 0 or robust <= 0:  # all alike: the rows of a person may be, too
        return Effective(people, rows.mass**2 / float((of_person**2).sum()), _freedom(rows, of_person))
    size = min(rows.mass * independent / robust, rows.kish)
    return Effective(people, size, _freedom(rows, rows.by_person(jackknifed)))


def _freedom(rows: RowSums, sums: FloatArray) -> float:
    return count_freedom(rows.people, [(rows.person, rows.weight[:, None])], sums[:, None])


def share_below(values: FloatArray, at: float) -> FloatArray:
    """Return for each row whether it is below a value; those at it count half."""
    return np.asarray((values < at) + 0.5 * (values == at))


def weighted_median_interval(rows: RowSums, values: FloatArray, alpha: float) -> Interval:
    """Return the interval of a median; its ends are infinite where people are too few.

    It holds the values at which the share of the weight up to them, and from them on, could be one half, with as many
    independent people as the rows are worth there. Of one row for each person, all of the same weight, it is that of
    :func:`fairtest.statistics.numbers.medians.median_interval`, or a value wider.

    Examples
    --------
    >>> from fairtest.statistics.design import RowSums
    >>> rows = RowSums.of(np.repeat(np.arange(50), 2), None, np.zeros(100, dtype=int))
    >>> weighted_median_interval(rows, np.repeat(np.arange(50.0), 2), 0.05)
    (17.0, 32.0)
    """
    order = np.argsort(values, kind="stable")
    ordered, share = values[order], np.cumsum(rows.weight[order]) / max(rows.mass, 1e-300)
    middle = float(ordered[min(int(np.searchsorted(share, 0.5 - 1e-12)), ordered.size - 1)])
    looked_at = {middle: judge_share(rows, share_below(values, middle))}
    ends = (-np.inf, np.inf)
    for _ in range(STEPS):
        ends = _ends(ordered, share, list(looked_at.values()), alpha)
        new = [end for end in ends if np.isfinite(end) and end not in looked_at]
        if not new:
            break
        looked_at |= {end: judge_share(rows, share_below(values, end)) for end in new}
    return ends


def _ends(ordered: FloatArray, share: FloatArray, worth: list[Effective], alpha: float) -> Interval:
    """Return the outermost values at which one half is not rejected, by the worst of what rows are worth near them."""
    if not all(np.isfinite(found.size) for found in worth):
        return -np.inf, np.inf
    size, df = min(found.size for found in worth), min(found.df for found in worth)
    tail = float(special.ndtr(special.stdtrit(df, alpha / 2)))
    if tail <= 0.5**size:
        return -np.inf, np.inf
    least = float(special.bdtrik(tail, size, 0.5)) / size  # so small a share of the people is too small for one half
    low = ordered[np.argmax(share > least + 1e-12)]
    at_or_above = 1 - np.concatenate(([0.0], share[:-1]))
    high = ordered[ordered.size - 1 - np.argmax((at_or_above > least + 1e-12)[::-1])]
    return float(low), float(high)


def correlate_medians(rows: RowSums, values: FloatArray, is_group: FloatArray, medians: tuple[float, float]) -> float:
    """Return how the medians of two groups go together, since people may have rows in both: the correlation.

    ``is_group`` is 1 for rows of the first group, 0 for those of the other.
    """
    sums = []
    for member, median in zip((is_group > 0, is_group <= 0), medians, strict=True):
        mass = max(float(rows.weight[member].sum()), 1e-300)
        below = share_below(values, median)
        own = float((rows.weight * below)[member].sum()) / mass
        sums.append(rows.by_person(np.where(member, rows.weight * (below - own), 0.0)))
    first, second = sums
    spread = float((first**2).sum() * (second**2).sum()) ** 0.5
    return float((first * second).sum()) / spread if spread > 0 else 0.0
