"""Expectations are a probability distribution over answers: the whole argument hangs on that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtest.inference.agreement import (
    Said,
    add_intervals,
    bits_told,
    expectations,
    likely_real,
    proposal_level,
    read_answers,
)
from fairtest.inference.family import Estimates


@given(
    z=st.lists(st.floats(-40, 40), min_size=1, max_size=6),
    looked_at=st.integers(0, 10**6),
    level=st.floats(1e-12, 0.05),
    share=st.floats(0.05, 0.95),
)
def test_the_chances_of_all_answers_add_up_to_one(z, looked_at, level, share):
    evidence = np.array(z)
    chance = expectations(evidence, likely_real(evidence, looked_at), np.full(len(z), np.nan), level, share).chance
    assert chance.sum(axis=1) == pytest.approx(np.ones(len(z)))
    assert (chance > 0).all()


def test_no_answer_costs_without_bound():
    for z in (0.0, 37.0):
        chance = expectations(np.full(10, z), np.ones(10), np.full(10, np.nan), 1e-9, 0.3).chance
        assert -np.log2(chance.min()) < np.log2(8 * 10) + np.log2(10) + 0.1


def test_what_is_quoted_tells_nothing_and_what_was_denied_is_expected_to_be_denied():
    z = np.full(3, 9.0)
    expected = expectations(z, np.ones(3), np.array([1.0, 0.0, np.nan]), 0.01, 0.5)
    alone = [bits_told(np.array([a]), type(expected)(expected.chance[[i]])) for i, a in enumerate((2, 0, 0))]
    assert alone[0] == 0
    assert alone[1] < 0.1
    assert alone[2] > 3


def estimates(effect, p, low, high, low_single, high_single) -> Estimates:
    arrays = [np.array(v, dtype=float) for v in (effect, p, p, low, high, low_single, high_single)]
    return Estimates(np.full(len(effect), 9), *arrays, ((),) * len(effect), np.full(len(effect), np.nan))


def test_what_the_test_set_says():
    nan = np.nan
    train = estimates(
        [0.3, 0.3, -0.3, 0.3, nan], [nan] * 5, [nan] * 5, [nan] * 5, [0.1, 0.1, -0.5, 0.1, nan], [0.5] * 5
    )
    test = estimates(
        [0.3, 0.3, 0.3, 0.3, 0.3],
        [0.001, 0.001, 0.001, 0.2, 0.001],
        [0.2, 0.05, 0.2, -0.1, 0.2],
        [0.4] * 5,
        [0.2] * 5,
        [0.4] * 5,
    )
    assert read_answers(test, train, 0.01, signed=True).tolist() == [2, 1, 0, 0, 0]
    assert read_answers(test, train, 0.01, signed=False).tolist() == [2, 1, 2, 0, 1]


def test_what_the_answers_amount_to():
    train = estimates([0.3, -0.3, 0.3, 0.2], *[[np.nan] * 4] * 3, [0.1, -0.5, 0.1, -0.1], [0.5, -0.1, 0.5, 0.5])
    answers = add_intervals(np.array([2, 1, 0, 2]), train)
    assert [a.interval for a in answers] == [(0.1, 0.5), (-np.inf, 0.0), None, (0.0, 0.5)]
    assert [a.confirmed for a in answers] == [True, True, False, True]
    assert answers[1].said is Said.CONFIRMED


def test_proposed_intervals_are_wide_enough_to_be_confirmed_as_often_as_is_expected():
    """Two estimates of the same effect: the test set's interval lies in the proposed one in about nine of ten cases."""
    from fairtest.statistics.numerics.rules import normal_quantile

    rng = np.random.default_rng(0)
    share, level, m = 0.3, 0.002, 10
    s_train, s_test = 1 / np.sqrt(share), 1 / np.sqrt(1 - share)
    train, test = rng.normal(0, s_train, 20_000), rng.normal(0, s_test, 20_000)
    reach = normal_quantile(level / m) * s_test
    proposed = normal_quantile(proposal_level(level, m, share)) * s_train
    assert 0.9 < np.mean(np.abs(train - test) + reach <= proposed) < 0.97
