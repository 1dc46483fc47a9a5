"""The regression of a protected attribute on labels: it ranks what adds to the rest, and its errors hold."""

import numpy as np
import pytest
from scipy import sparse

from fairtest.metrics.regression import linear, multinomial


def labels(rng, n, rates):
    return (rng.random((n, len(rates))) < rates).astype(float)


@pytest.mark.parametrize("groups", [2, 4])
def test_strength_is_that_of_chance_where_there_is_nothing(groups):
    rng = np.random.default_rng(1)
    found = []
    for _ in range(40):
        x = labels(rng, 1500, np.full(12, 0.04))
        fit = multinomial(rng.integers(0, groups, 1500), groups, sparse.csc_matrix(x))
        found.append((fit.strength, np.abs(fit.coefficients / fit.errors).ravel()))
    strength, wald = (np.concatenate(part) for part in zip(*found, strict=True))
    assert np.mean(strength > 1.96) == pytest.approx(0.05, abs=0.03)
    assert np.mean(wald > 1.96) < 0.065


def test_errors_of_a_number_hold_where_people_with_a_label_vary_more():
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(200):
        x = labels(rng, 800, np.array([0.05, 0.2, 0.2]))
        numbers = rng.normal(size=800) * np.where(x[:, 0] == 1, 5.0, 1.0)
        fit = linear(numbers, sparse.csc_matrix(x))
        wrong += fit.strength[0] > 1.96
    assert wrong <= 22  # classical errors would be a fifth of what they should be


@pytest.mark.parametrize("kind", ["logistic", "linear"])
def test_the_cause_ranks_before_what_follows_from_it(kind):
    """The second label is had by nearly everybody with the first, and says nothing more about the group."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        cause = rng.random(8000) < 0.05
        follows = (cause & (rng.random(8000) < 0.9)) | (rng.random(8000) < 0.002)
        x = np.column_stack((follows, cause, labels(rng, 8000, np.full(5, 0.03))))
        s = rng.random(8000) < np.where(cause, 0.8, 0.5)
        matrix = sparse.csc_matrix(x)
        number = cause + rng.normal(size=8000)
        fit = multinomial(s.astype(int), 2, matrix) if kind == "logistic" else linear(number, matrix)
        own = [abs(s[x[:, j] > 0].mean() - s[x[:, j] == 0].mean()) for j in (0, 1)]
        assert own[0] > 0.15  # by itself it looks strong
        assert fit.strength.argmax() == 1
        assert fit.strength[0] < 3.5


def test_a_label_of_one_group_alone_is_strong_and_finite():
    rng = np.random.default_rng(4)
    groups = rng.integers(0, 2, 1000)
    x = labels(rng, 1000, np.full(6, 0.05))
    x[:, 0] = (groups == 1) & (rng.random(1000) < 0.06)
    fit = multinomial(groups, 2, sparse.csc_matrix(x))
    assert np.isfinite(fit.coefficients).all()
    assert fit.strength.argmax() == 0
    assert fit.coefficients[0, 0] > 1


def test_names_of_groups_leave_no_trace():
    rng = np.random.default_rng(5)
    groups = rng.integers(0, 3, 900)
    x = labels(rng, 900, np.array([0.05, 0.1, 0.3, 0.9])) * 1.0
    first = multinomial(groups, 3, sparse.csc_matrix(x))
    second = multinomial(np.array([2, 0, 1])[groups], 3, sparse.csc_matrix(x))
    assert second.strength == pytest.approx(first.strength, rel=1e-6)


def test_having_and_not_having_are_one_thing():
    rng = np.random.default_rng(6)
    groups = rng.integers(0, 2, 900)
    x = labels(rng, 900, np.array([0.05, 0.1, 0.95]))
    turned = x.copy()
    turned[:, 2] = 1 - x[:, 2]
    one, other = (multinomial(groups, 2, sparse.csc_matrix(m)) for m in (x, turned))
    assert other.strength == pytest.approx(one.strength)
    assert other.coefficients[2] == pytest.approx(-one.coefficients[2])


def test_strata_get_intercepts_of_their_own():
    """Labels that go with the stratum only, which goes with the group, add nothing given the stratum."""
    rng = np.random.default_rng(7)
    stratum = rng.integers(0, 2, 6000)
    groups = (rng.random(6000) < np.where(stratum == 1, 0.8, 0.2)).astype(int)
    x = (rng.random((6000, 3)) < np.where(stratum == 1, 0.2, 0.05)[:, None]).astype(float)
    plain = multinomial(groups, 2, sparse.csc_matrix(x))
    given = multinomial(groups, 2, sparse.csc_matrix(x), stratum)
    assert plain.strength.min() > 5
    assert given.strength.max() < 3.5
