"""Order statistics of blocks are those of everything sorted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairtest.data.streaming.order import from_keys, median, to_keys, values_at_ranks

CHECKED = settings(deadline=None, max_examples=60)
WHOLE = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 40), st.integers(2**50, 2**50 + 70_000))
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def cut(values: np.ndarray, at: list[int]) -> list[np.ndarray]:
    """Return the values in blocks, some of them empty."""
    return np.split(values, sorted(i % (values.size + 1) for i in at))


@CHECKED
@given(
    st.lists(WHOLE, min_size=1, max_size=80),
    st.lists(st.integers(0, 100), max_size=4),
    st.lists(st.integers(0, 1000), min_size=1, max_size=5),
    st.sampled_from([0, 1, 5, 1000]),
)
def test_numbers_at_ranks(values, at, ranks, gathered):
    """However few may be gathered: with none, all 64 bits are counted."""
    keys = np.array(values, dtype=np.uint64)
    ranks = [r % keys.size for r in ranks]
    found = values_at_ranks(lambda: cut(keys, at), ranks, gathered=gathered)
    assert found.tolist() == np.sort(keys)[ranks].tolist()


@CHECKED
@example([8.98846567431158e307], [0])  # twice it is more than there are numbers for
@given(st.lists(FINITE, min_size=1, max_size=40), st.lists(st.integers(0, 100), max_size=3))
def test_median(values, at):
    numbers = np.array(values)
    with np.errstate(over="ignore"):
        expected = float(np.median(numbers))
        for gathered in (0, 3, 1000):
            assert median(lambda: cut(numbers, at), numbers.size, gathered=gathered) == expected


@CHECKED
@given(st.lists(FINITE, min_size=2, max_size=30))
def test_keys_keep_the_order_and_the_numbers(values):
    numbers = np.sort(np.array(values) + 0.0)
    keys = to_keys(numbers)
    assert (np.diff(keys.astype(object)) >= 0).all()
    assert from_keys(keys).tobytes() == numbers.tobytes()


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_median_of_equal_numbers(size):
    assert median(lambda: [np.full(size, -3.5)] * 2, 2 * size, gathered=0) == -3.5
