"""Exact order statistics of numbers that come in blocks: what sorting everything would give, without sorting it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from fairtest.types import BoolArray, FloatArray, IntArray

DIGIT = 16
"""How many bits one pass over the numbers settles: the counters of 65,536 buckets fit a cache."""
GATHERED = 1 << 21
"""At most this many numbers are gathered and sorted; more are divided by another pass. They take 16 MB."""
_SIGN = np.uint64(1 << 63)


def values_at_ranks(
    blocks: Callable[[], Iterable[NDArray[np.uint64]]], ranks: Sequence[int], *, gathered: int = GATHERED
) -> NDArray[np.uint64]:
    """Return the numbers with these ranks, counted from 0, among those of all blocks together.

    A pass over the blocks counts how the numbers begin, which says in what bucket each rank is; the next pass sorts
    these buckets, or divides them further if they are large.

    Parameters
    ----------
    blocks
        Gives the same numbers each time it is called.

    Examples
    --------
    >>> values_at_ranks(lambda: [np.array([9, 2], np.uint64), np.array([5], np.uint64)], [0, 2]).tolist()
    [2, 9]
    """
    prefixes, left = np.zeros(len(ranks), dtype=np.uint64), np.array(ranks, dtype=np.int64)
    for shift in range(64 - DIGIT, -1, -DIGIT):
        parents = np.unique(prefixes)
        counts = _digits(blocks(), parents, shift)
        upto = np.cumsum(counts, axis=1)
        parent = np.searchsorted(parents, prefixes)
        digit = np.array([np.searchsorted(upto[p], rank, side="right") for p, rank in zip(parent, left, strict=True)])
        people = counts[parent, digit]
        left -= upto[parent, digit] - people
        prefixes = (prefixes << np.uint64(DIGIT)) | digit.astype(np.uint64)
        chosen, first = np.unique(prefixes, return_index=True)
        if people[first].sum() <= gathered:
            return _gather(blocks(), chosen, prefixes, left, shift)
    return prefixes


def _digits(blocks: Iterable[NDArray[np.uint64]], parents: NDArray[np.uint64], shift: int) -> NDArray[np.int64]:
    """Return, for each known beginning of a number, how many numbers continue it with each digit."""
    size = 1 << DIGIT
    counts = np.zeros(parents.size * size, dtype=np.int64)
    for block in blocks:
        index = (block >> np.uint64(shift)).astype(np.int64)
        if shift + DIGIT < 64:  # only those that begin like one of the numbers looked for
            place, inside = _find(parents, block >> np.uint64(shift + DIGIT))
            index = place[inside] * size + (index[inside] & (size - 1))
        counts += np.bincount(index, minlength=counts.size)
    return counts.reshape(parents.size, size)


def _gather(
    blocks: Iterable[NDArray[np.uint64]],
    chosen: NDArray[np.uint64],
    prefixes: NDArray[np.uint64],
    left: NDArray[np.int64],
    shift: int,
) -> NDArray[np.uint64]:
    kept = [block[_find(chosen, block >> np.uint64(shift))[1]] for block in blocks]
    ordered = np.sort(np.concatenate(kept))
    first = np.searchsorted(ordered, prefixes << np.uint64(shift))
    found: NDArray[np.uint64] = ordered[first + left]
    return found


def _find(known: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> tuple[IntArray, BoolArray]:
    """Return where each number stands among sorted ones, and whether it is one of them."""
    place = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    return place, known[place] == wanted


def to_keys(values: FloatArray) -> NDArray[np.uint64]:
    """Return numbers as unsigned integers in the same order; :func:`from_keys` goes back.

    The bits of positive floats sort like integers; those of negative ones sort backwards, so they are all flipped.
    """
    bits = (values + 0.0).view(np.uint64)  # −0.0 becomes 0.0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def from_keys(keys: NDArray[np.uint64]) -> FloatArray:
    """Return the numbers behind their keys.

    Examples
    --------
    >>> from_keys(to_keys(np.array([-2.5, 0.0, 7.0])))
    array([-2.5,  0. ,  7. ])
    """
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)


def median(blocks: Callable[[], Iterable[FloatArray]], size: int, *, gathered: int = GATHERED) -> float:
    """Return the median of ``size`` numbers in blocks, as :func:`numpy.median` has it.

    Examples
    --------
    >>> median(lambda: [np.array([3.0, 1.0]), np.array([2.0, 9.0])], 4)
    2.5
    """
    is_here = len(list(islice(blocks(), 2))) < 2  # one block is everything, and in memory already
    if is_here or size <= gathered:
        return float(np.median(np.concatenate(list(blocks()))))
    ranks = [size // 2] if size % 2 else [size // 2 - 1, size // 2]
    middle = values_at_ranks(lambda: map(to_keys, blocks()), ranks, gathered=gathered)
    return float(np.mean(from_keys(middle)))
