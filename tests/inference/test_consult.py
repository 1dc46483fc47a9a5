"""What the training set says before a test set is opened."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fairtest as ft
from fairtest.data.holdout import TRAIN
from fairtest.data.summaries import Counts
from fairtest.inference.consult import consult_training, testable
from fairtest.metrics.difference import least_p
from fairtest.model.context import Context
from fairtest.pipeline.answers import pose_question
from fairtest.pipeline.search import engine_of


@given(st.lists(st.floats(1e-12, 1), min_size=1, max_size=60), st.floats(0.001, 0.2))
def test_tarone_keeps_no_more_than_it_counts(values, level):
    """By the definition: the smallest K such that at most K hypotheses could reach α/K."""
    p = np.array(values)
    smallest = next(k for k in range(1, p.size + 1) if np.count_nonzero(p <= level / k) <= k)
    assert np.array_equal(testable(p, level), p <= level / smallest)


def test_the_most_extreme_table_is_that_of_fisher():
    rng = np.random.default_rng(0)
    tables = rng.integers(0, 12, (50, 1, 2, 2)) + np.array([[1, 0], [0, 1]])
    for table, p in zip(tables[:, 0], least_p(Counts(tables), 1.0), strict=True):
        one, other, favourable = table[:, 1].sum(), table[:, 0].sum(), table[1].sum()
        ends = max(favourable - other, 0), min(one, favourable)
        chances = stats.hypergeom(one + other, one, favourable).pmf(ends)
        assert p == pytest.approx(chances.min(), rel=1e-9)


def make_club() -> pl.DataFrame:
    """In the club, 69 people of the training set, one woman is refused and no man; elsewhere sex says nothing."""
    n = 3000
    rng = np.random.default_rng(1)
    training = np.zeros(n, dtype=bool)
    training[ft.DataSource({"a": list(range(n))}).holdout.rows(0)] = True
    club = np.zeros(n, dtype=bool)
    inside = np.flatnonzero(training)[:69]
    club[inside] = True
    club[np.flatnonzero(~training)[:160]] = True
    woman = rng.random(n) < 0.3
    woman[club] = False
    woman[inside[0]] = True
    refused = rng.random(n) < 0.3
    refused[inside] = False
    refused[inside[0]] = True
    return pl.DataFrame({"sex": np.where(woman, "f", "m"), "club": np.where(club, "in", "out"), "refused": refused})


def test_one_person_of_69_is_no_evidence_of_eight():
    source = ft.DataSource(make_club(), reference={"sex": "m"})
    testing = ft.Testing(source, "sex", "refused")
    ft.train([testing], min_size=60)
    (found,) = testing.training.found
    asked = pose_question(source, testing.questions[0], found, named=True)
    place = [str(context) for context in asked.contexts].index("club = in")
    assert asked.evidence[place] > 5  # half of it by itself, half beyond everybody
    calibrated = consult_training(engine_of(source), asked, level=0.05, growth=1e6, weighted=True)
    place = [str(context) for context in calibrated.contexts].index("club = in")
    assert calibrated.evidence[place] < 3  # it might have been anybody: 1/69 is a deviate of 2.4


def test_contexts_that_no_test_set_could_confirm_are_dropped():
    source = ft.DataSource(make_club(), reference={"sex": "m"})
    testing = ft.Testing(source, "sex", "refused")
    ft.train([testing], min_size=60)
    asked = pose_question(source, testing.questions[0], testing.training.found[0], named=True)
    # as many people again: 1/69 at the least, where two hypotheses are tested at 0.025
    left = consult_training(engine_of(source), asked, level=0.025, growth=1.0, weighted=True)
    assert "club = in" in [str(context) for context in asked.contexts]
    assert "club = in" not in [str(context) for context in left.contexts]
    assert left.contexts[0] == Context()
    assert len(left.evidence) == len(left.conditions) == len(left.outputs) == len(left.contexts)


def test_what_was_counted_in_the_training_set_is_kept_for_those_that_are_left():
    source = ft.DataSource(make_club(), reference={"sex": "m"})
    testing = ft.Testing(source, "sex", "refused")
    ft.train([testing], min_size=60)
    asked = pose_question(source, testing.questions[0], testing.training.found[0], named=True)
    left = consult_training(engine_of(source), asked, level=0.025, growth=1.0, weighted=True)
    assert len(left.contexts) < len(asked.contexts)
    again = engine_of(source).tables(TRAIN, left.conditions, left.target)
    np.testing.assert_array_equal(left.training.counts, again)
