"""How mutual information varies in tables of two rows (or two columns) when people are permuted, without draws.

With both margins fixed, such a table is given by one number a group: how many of its people are in the first row. These
numbers are those of independent binomials of which only the sum is known, and the statistic is a sum of one term a
group. The tables themselves, which are many, need never be listed:

- For the p-value the groups are divided into two halves and the largest one, which takes what is left. Everything that
  each half alone can do is listed, and for every pair of totals the terms of one half are looked up in the sorted terms
  of the other.
- The moments follow from convolutions, one group after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log, log1p, prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from fairtest.statistics.tables.logarithms import log_factorial, x_log_x

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtest.types import FloatArray, IntArray

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
    groups = _Groups.of(table)
    if groups is None:
        return None
    one, other = _halves(groups.smaller)
    reach = 1 + sum(p.count.size - 1 for p in other)
    sizes = [prod(p.count.size for p in half) for half in (one, other)]
    if sizes[0] * reach + sizes[1] > MOST_WORK:
        return None
    observed = float(xlogy(table, table).sum())
    inside = _tail(_all_sums(one), _all_sums(other), groups, observed - TIE * abs(observed))
    everything = np.exp(_log_binomial(np.array(groups.total), groups.people, groups.rate))
    left_out = sum(2 * np.exp(-_REACH) for p in groups.smaller if not p.complete)
    return float(min(inside / everything + left_out, 1.0))


def exact_moments(table: IntArray) -> tuple[float, float, float] | None:
    """Return mean, variance and third central moment of G over all tables with these margins; None: too much work.

    Parameters
    ----------
    table
        ``[output, protected]``, without empty rows and columns.

    Examples
    --------
    >>> [round(moment, 3) for moment in exact_moments(np.array([[3, 1], [1, 3]]))]
    [1.274, 3.895, 26.218]
    """
    if min(table.shape) < 2:
        return 0.0, 0.0, 0.0  # one table has these margins
    groups = _Groups.of(table)
    if groups is None:
        return None
    sizes = [part.count.size for part in groups.smaller]
    if sum(sum(sizes[:k]) * size for k, size in enumerate(sizes)) > MOST_WORK:
        return None
    # Of the groups so far, by their sum: the probability, and with it the first three moments of their terms, centred.
    centre, moments = 0.0, [np.ones(1), np.zeros(1), np.zeros(1), np.zeros(1)]
    for part in groups.smaller:
        middle = float(part.probability @ part.term)
        centre += middle
        moments = _combine_moments(moments, part.probability, part.term - middle, np.convolve)
    rest = groups.largest
    at = groups.total - rest.count - sum(int(part.count[0]) for part in groups.smaller)
    middle = float(rest.term[rest.probability.argmax()])
    sums = _combine_moments([moment[at] for moment in moments], rest.probability, rest.term - middle, np.dot)
    mean, second, third = (float(total / sums[0]) for total in sums[1:])
    margins = sum(float(xlogy(m, m).sum()) for m in (table.sum(axis=0), table.sum(axis=1)))
    fixed = margins - float(xlogy(groups.people, groups.people))
    return 2 * (mean + centre + middle - fixed), 4 * (second - mean**2), 8 * (third - 3 * mean * second + 2 * mean**3)


@dataclass(frozen=True, eq=False)
class _Groups:
    """The groups of a table, each with what it can do: the smaller ones, smallest first, and the largest."""

    smaller: list[_Counts]
    largest: _Counts
    total: int
    people: int

    @property
    def rate(self) -> float:
        """The share of the people that are in the first row."""
        return self.total / self.people

    @classmethod
    def of(cls, table: IntArray) -> _Groups | None:
        """Return the groups of a table with two rows or two columns, None for any other table."""
        table = table if table.shape[0] == 2 else table.T
        if table.shape[0] != 2 or table.shape[1] < 2:
            return None
        *sizes, largest = sorted(table.sum(axis=0).tolist())
        people, total = sum(sizes) + largest, int(table.sum(axis=1).min())  # the smaller row has the narrower range
        smaller = [_likely(size, total, total / people) for size in sizes]
        least, most = (total - sum(int(part.count[end]) for part in smaller) for end in (-1, 0))
        return cls(smaller, _counts(largest, max(least, 0), min(most, largest), total / people), total, people)


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
    reach = _REACH / 3 + sqrt(_REACH**2 / 9 + 2 * _REACH * spread)
    low, high = max(floor(size * rate - reach), 0), min(ceil(size * rate + reach), size, total)
    return _counts(size, low, high, rate, complete=low == 0 and high == min(size, total))


def _counts(size: int, low: int, high: int, rate: float, *, complete: bool = True) -> _Counts:
    """Return some counts of one group, with the probability they would have if people were independent."""
    count, log_term = np.arange(low, high + 1), x_log_x(size)
    term = log_term(count) + log_term(size - count)
    return _Counts(count, term, np.exp(_log_binomial(count, size, rate)), complete)


def _log_binomial(count: IntArray, size: int, rate: float) -> FloatArray:
    log_ways = log_factorial(size)
    ways = log_ways(np.array(size)) - log_ways(count) - log_ways(size - count)
    return np.asarray(ways + count * log(rate) + (size - count) * log1p(-rate))


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


def _combine_moments(
    moments: list[FloatArray], probability: FloatArray, term: FloatArray, product: Callable[..., Any]
) -> list[FloatArray]:
    """Return moments of order 0 to 3 of a sum of two independent parts."""
    zero, one, two, three = moments
    first = probability * term
    second = first * term
    third = second * term
    return [
        product(zero, probability),
        product(one, probability) + product(zero, first),
        product(two, probability) + 2 * product(one, first) + product(zero, second),
        product(three, probability) + 3 * (product(two, first) + product(one, second)) + product(zero, third),
    ]


def _tail(one: _Counts, other: _Counts, groups: _Groups, threshold: float) -> float:
    """Return the probability of "the counts add up to the total, and the terms to the threshold or more"."""
    order = np.lexsort((other.term, other.count))
    count, term, probability = other.count[order], other.term[order], other.probability[order]
    starts = np.flatnonzero(np.diff(count, prepend=-1))
    rest, tail = groups.largest, 0.0
    for start, end in pairwise([*starts.tolist(), count.size]):
        left = groups.total - int(count[start]) - one.count - rest.count[0]
        can = (left >= 0) & (left < rest.count.size)
        place = left[can]
        needed = threshold - one.term[can] - rest.term[place]
        at_least = np.append(np.cumsum(probability[start:end][::-1])[::-1], 0.0)
        extreme = at_least[np.searchsorted(term[start:end], needed)]
        tail += float(np.sum(one.probability[can] * rest.probability[place] * extreme))
    return tail
