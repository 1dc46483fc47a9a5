"""The law of a sum of squares, beside laws that are known exactly."""

import numpy as np
import pytest
from scipy import stats

from fairtest.statistics.numerics.quadratic import SumOfSquares

TAILS = np.array([0.9, 0.5, 0.2, 0.05, 1e-3, 1e-6, 1e-9])


@pytest.mark.parametrize("df", [2, 3, 8, 40, 150])
def test_equal_variances_make_a_chi_square(df):
    law = SumOfSquares.from_eigenvalues(np.full(df, 2.5))
    assert law.p(2.5 * stats.chi2.isf(TAILS, df)) == pytest.approx(TAILS, rel=0.02)
    assert [law.quantile(p) for p in TAILS[1:]] == pytest.approx(2.5 * stats.chi2.isf(TAILS[1:], df), rel=0.003)


@pytest.mark.parametrize("mean", [[1.0, 2.0], [0.1, 1.0, 5.0], [1.0, 1.1, 1.3, 20.0], [0.01, 10.0]])
def test_pairs_of_equal_variances_make_sums_of_exponentials(mean):
    """Two squares of the same variance λ add up to an exponential with mean 2λ; sums of those have a closed form."""
    rate = 1 / (2 * np.array(mean))
    law = SumOfSquares.from_eigenvalues(np.repeat(mean, 2))
    weight = [np.prod([b / (b - a) for b in rate if b != a]) for a in rate]
    at = np.array([law.quantile(p) for p in TAILS])
    exact = sum(w * np.exp(-a * at) for w, a in zip(weight, rate, strict=True))
    assert law.p(at) == pytest.approx(exact, rel=0.005)


def test_directions_without_variance_do_not_count():
    some, more = (SumOfSquares.from_eigenvalues(np.array(v)) for v in ([3.0, 1.0], [3.0, 1e-14, 1.0, 0.0]))
    assert more.p(np.array([4.0, 30.0])) == pytest.approx(some.p(np.array([4.0, 30.0])))


def test_larger_sums_are_rarer():
    p = SumOfSquares.from_eigenvalues(np.array([5.0, 1.0, 0.2])).p(np.linspace(0, 300, 500))
    assert (np.diff(p) <= 0).all()
    assert (p >= 0).all()
    assert (p <= 1).all()
