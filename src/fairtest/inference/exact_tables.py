"""The exact permutation p-value of mutual information in a table with two rows (or two columns), without draws.

With both margins fixed, such a table is given by one number a group: how many of its people are in the first row. Given
their sum these numbers are independent, and the statistic is a sum of one term a group. So the groups are divided into
two halves and the largest one, which takes what is left. Where each half alone can do few things, all of them are
listed, and for every pair of totals the terms of one half are looked up in the sorted terms of the other: the tables
themselves, which are many more, are never listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.types import FloatArray, IntArray

__all__ = ["exact_p"]

TIE = 1e-12
"""Tables whose Σ n·log n is within this part of the observed one are as extreme as it."""
MOST_WORK = 1 << 19
"""The most look-ups and listed terms: about as costly as 2¹⁶ random tables."""
_REACH = 30.0
"""Counts with a probability below 2·exp(−30) in all, for each group, are not listed but added to the p-value."""


def exact_p(table: IntArray) -> float | None:
    """Return the probability of a table at least as associated, given both margins; None where that is too much work.

    Parameters
    ----------
    table
        ``[output, protected]``, without empty rows and columns.

    Examples
    --------
    Where only tables one step further from independence are as extreme, it is Fisher's exact test.

    >>> round(exact_p(np.array([[9, 3], [1, 7]])), 4)
    0.0198
    >>> exact_p(np.full((3, 3), 10)) is None
    True
    """
    table = table if table.shape[0] == 2 else table.T
    if table.shape[0] != 2 or table.shape[1] < 2:
        return None
    counts = min(table, key=lambda row: int(row.sum()))  # the smaller row has the narrower range
    groups = table.sum(axis=0)
    largest, *others = np.argsort(-groups, kind="stable").tolist()
    total, people = int(counts.sum()), int(groups.sum())
    rate = total / people
    parts = [_likely(int(groups[j]), total, rate) for j in others]
    one, other = _halves(parts)
    reach = 1 + sum(p.count.size - 1 for p in other)
    sizes = [int(np.prod([p.count.size for p in half])) for half in (one, other)]
    if sizes[0] * reach + sizes[1] > MOST_WORK:
        return None
    least, most = (total - sum(int(p.count[end]) for p in parts) for end in (-1, 0))
    rest = _counts(int(groups[largest]), max(least, 0), min(most, int(groups[largest])), rate)
    observed = float(xlogy(table, table).sum())
    inside = _tail(_all_sums(one), _all_sums(other), rest, total, observed - TIE * abs(observed))
    everything = np.exp(_log_binomial(np.array(total), people, rate))
    left_out = sum(2 * np.exp(-_REACH) for p in parts if not p.complete)
    return float(min(inside / everything + left_out, 1.0))


@dataclass(frozen=True, eq=False)
class _Counts:
    """What some groups together can have in the first row, with the term of the statistic and the probability."""

    count: IntArray
    term: FloatArray
    probability: FloatArray
    complete: bool = True


def _likely(size: int, total: int, rate: float) -> _Counts:
    """Return the counts that one group is likely to have.

    The window is Bernstein's: it bounds the tails of the binomial and, since drawing without replacement has the
    smaller exponential moments (Hoeffding 1963), also those of the hypergeometric distribution.
    """
    spread = size * rate * (1 - rate)
    reach = _REACH / 3 + np.sqrt(_REACH**2 / 9 + 2 * _REACH * spread)
    low, high = max(int(np.floor(size * rate - reach)), 0), min(int(np.ceil(size * rate + reach)), size, total)
    return _counts(size, low, high, rate, complete=low == 0 and high == min(size, total))


def _counts(size: int, low: int, high: int, rate: float, *, complete: bool = True) -> _Counts:
    """Return some counts of one group, with the probability they would have if people were independent."""
    count = np.arange(low, high + 1)
    term = xlogy(count, count) + xlogy(size - count, size - count)
    return _Counts(count, term, np.exp(_log_binomial(count, size, rate)), complete)


def _log_binomial(count: IntArray, size: int, rate: float) -> FloatArray:
    ways = gammaln(size + 1) - gammaln(count + 1) - gammaln(size - count + 1)
    return np.asarray(ways + xlogy(count, rate) + xlog1py(size - count, -rate))


def _halves(parts: Sequence[_Counts]) -> tuple[list[_Counts], list[_Counts]]:
    """Divide the groups so that each half can do about as many things."""
    halves: tuple[list[_Counts], list[_Counts]] = ([], [])
    ways = [1, 1]
    for part in sorted(parts, key=lambda p: -p.count.size):
        lesser = int(ways[1] < ways[0])
        halves[lesser].append(part)
        ways[lesser] *= part.count.size
    return halves


def _all_sums(parts: Sequence[_Counts]) -> _Counts:
    """Return everything that some groups can do together."""
    count, term, probability = np.zeros(1, dtype=np.int64), np.zeros(1), np.ones(1)
    for part in parts:
        count = np.add.outer(count, part.count).ravel()
        term = np.add.outer(term, part.term).ravel()
        probability = np.multiply.outer(probability, part.probability).ravel()
    return _Counts(count, term, probability)


def _tail(one: _Counts, other: _Counts, rest: _Counts, total: int, threshold: float) -> float:
    """Return the probability of "the counts add up to the total, and the terms to the threshold or more"."""
    order = np.lexsort((other.term, other.count))
    count, term, probability = other.count[order], other.term[order], other.probability[order]
    starts = np.flatnonzero(np.diff(count, prepend=-1))
    tail = 0.0
    for start, end in pairwise([*starts.tolist(), count.size]):
        left = total - int(count[start]) - one.count - rest.count[0]
        can = (left >= 0) & (left < rest.count.size)
        place = left[can]
        needed = threshold - one.term[can] - rest.term[place]
        at_least = np.append(np.cumsum(probability[start:end][::-1])[::-1], 0.0)
        extreme = at_least[np.searchsorted(term[start:end], needed)]
        tail += float(np.sum(one.probability[can] * rest.probability[place] * extreme))
    return tail
