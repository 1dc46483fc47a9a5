"""k·log k of counts."""

import numpy as np
import pytest
from scipy.special import gammaln, xlogy

from fairtest.statistics.tables.logarithms import log_factorial, x_log_x


@pytest.mark.parametrize("largest", [10, 10**6])
def test_x_log_x(largest):
    assert x_log_x(largest)(np.array([[0, 1], [2, 10]])) == pytest.approx(
        np.array([[0, 0], [2 * np.log(2), 10 * np.log(10)]])
    )


@pytest.mark.parametrize("largest", [0, 1, 255, 256, 2**18 - 1, 2**18])
def test_the_largest_count_is_known(largest):
    assert x_log_x(largest)(np.array([largest])) == xlogy(largest, largest)


@pytest.mark.parametrize("largest", [0, 1, 255, 256, 2**18 - 1, 2**18])
def test_the_largest_factorial_is_known(largest):
    assert log_factorial(largest)(np.array([largest])) == gammaln(largest + 1)
