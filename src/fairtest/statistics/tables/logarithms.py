"""k·log k and log k! of counts: what entropies, mutual information and the chances of tables are made of."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, xlogy

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.types import FloatArray, IntArray

_LARGEST_LOOKUP = 2**18


def x_log_x(largest: int, *, whole: bool = True) -> Callable[[IntArray], FloatArray]:
    """Return k ↦ k·log k for counts up to ``largest``: a look-up when they are small and whole, else the formula.

    Examples
    --------
    >>> x_log_x(10)(np.array([0, 1, 2])).round(4)
    array([0.    , 0.    , 1.3863])
    """
    if largest >= _LARGEST_LOOKUP or not whole:
        return lambda counts: xlogy(counts, counts)
    return _tabulate(int(largest).bit_length()).__getitem__


def log_factorial(largest: int) -> Callable[[IntArray], FloatArray]:
    """Return k ↦ log k! in the same way.

    Examples
    --------
    >>> log_factorial(10)(np.array([0, 1, 3])).round(4)
    array([0.    , 0.    , 1.7918])
    """
    if largest >= _LARGEST_LOOKUP:
        return lambda counts: gammaln(counts + 1.0)
    return _known_factorials(int(largest).bit_length()).__getitem__


@lru_cache
def _known_factorials(bits: int) -> FloatArray:
    factorials: FloatArray = gammaln(np.arange(1, (1 << bits) + 1, dtype=np.float64))
    return factorials


@lru_cache
def _tabulate(bits: int) -> FloatArray:
    """Return k·log k for all k below a power of two, computed once."""
    numbers = np.arange(1 << bits)
    known: FloatArray = xlogy(numbers, numbers)
    return known
