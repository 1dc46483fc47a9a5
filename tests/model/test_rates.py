"""Rates with their intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairtest.model.finding import CountTable
from fairtest.model.rates import wilson


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(pair):
    number, people = pair
    expected = stats.binomtest(number, people).proportion_ci(0.95, method="wilson")
    assert wilson(number, people) == pytest.approx((expected.low, expected.high), abs=1e-12)
    low, high = wilson(number, people)
    assert 0 <= low <= number / people <= high <= 1


def test_rates_of_a_table():
    table = CountTable("income", "sex", ("no", "yes"), ("a", "b", "c"), ((3, 0, 0), (1, 4, 0)))
    rates = table.rates
    assert [[None if r is None else r.share for r in row] for row in rates] == [[0.75, 0.0, None], [0.25, 1.0, None]]
    assert np.allclose(rates[1][0].interval, wilson(1, 4))
    assert table.sizes == (4, 4, 0)
    assert table.shares(1) == (0.25, 1.0, None)
