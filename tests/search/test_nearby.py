"""Thresholds beside those that the training set likes best."""

from __future__ import annotations

import numpy as np
import polars as pl

import fairtest as ft
from fairtest.model.context import Context, Op, Predicate
from fairtest.model.plans import TrainingPlan, TrainingRun
from fairtest.pipeline.search import searcher_of
from fairtest.search.exhaustive import Candidates
from fairtest.search.nearby import LEAST, MOST, STEPS, are_nearly_as_clear, move_thresholds, pick_outstanding

AGES = tuple(Predicate("age", Op.ABOVE, age) for age in range(20, 80, 5))
WEST = Predicate("region", Op.IS, "West")


def test_one_threshold_is_moved_a_few_steps_to_either_side():
    ladders = {("age", Op.ABOVE): AGES}
    moved = list(move_thresholds(Context.of((AGES[4], WEST)), ladders))
    assert moved == [Context.of((AGES[i], WEST)) for i in (1, 2, 3, 5, 6, 7)]
    at_the_end = list(move_thresholds(Context.of((AGES[0],)), ladders))
    assert at_the_end == [Context.of((age,)) for age in AGES[1 : STEPS + 1]]
    assert list(move_thresholds(Context.of((WEST,)), ladders)) == []


def test_of_many_conjunctions_with_a_threshold_those_that_stand_out_most_are_looked_at_again():
    contexts = (Context.of((WEST,)), *(Context.of((AGES[i % 12], Predicate("n", Op.IS, i))) for i in range(90)))
    link = np.concatenate(([9.0], np.linspace(0, 5, 90)))
    found = Candidates(contexts, np.full(91, -9.0), link, 91, wide=False)
    at = pick_outstanding(found)
    assert at.size == MOST
    assert at.min() == 91 - MOST
    few = Candidates(contexts[:11], np.full(11, 9.0), np.full(11, LEAST - 0.01), 11, wide=False)
    assert pick_outstanding(few).size == 0


def test_nearly_as_clear_means_to_the_same_side_and_little_less():
    z = np.array([3.0, 4.0, -3.0, np.nan, 2.0])
    assert are_nearly_as_clear(z, np.full(5, 3.5)).tolist() == [True, True, False, False, False]


def test_thresholds_around_a_planted_one_are_proposed():
    rng = np.random.default_rng(5)
    n = 12_000
    age, region = rng.gamma(9, 5.2, n).round(1), rng.choice(["West", "East", "South"], n)
    low = rng.random(n) < 0.5
    rate = 0.4 + np.where(low, 0.5, -0.5) * 0.3 * ((age > 50) & (region == "West"))
    frame = pl.DataFrame({"age": age, "region": region, "low": low, "yes": np.where(rng.random(n) < rate, "Yes", "No")})
    source = ft.DataSource(frame, seed=1)
    (question,) = ft.Testing(source, "low", "yes").questions
    contexts = searcher_of(source, question, TrainingRun(TrainingPlan(), min_people=50)).find().contexts
    assert len(set(contexts)) == len(contexts)
    cuts = sorted(
        p.value
        for c in contexts
        if set(c.columns) == {"age", "region"} and WEST in c.predicates
        for p in c.predicates
        if p.op is Op.ABOVE and abs(p.value - 50) < 5
    )
    assert len(cuts) >= 3
    assert min(abs(cut - 50) for cut in cuts) < 1.5
