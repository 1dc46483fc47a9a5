"""Several investigations in one batch: one test set, one family, a report each, and one clear error."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.model.plans import TestingPlan, TrainingPlan
from fairtest.pipeline.stages import explain_answer, search_batch, validate_batch
from fairtest.progress import as_stage_progress


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """Return people with a decision, a prediction with its truth, and labels; each is worse for one group."""
    rng = np.random.default_rng(3)
    n = 6_000
    sex = rng.choice(["f", "m"], n)
    truth = rng.random(n) < 0.4
    wrong = rng.random(n) < np.where(sex == "f", 0.3, 0.1)
    toys, cars = (sex == "f") & (rng.random(n) < 0.2), rng.random(n) < 0.5
    labels = np.where(toys, np.where(cars, "toys|cars", "toys"), np.where(cars, "cars", "|"))
    return pl.DataFrame(
        {
            "sex": sex,
            "city": rng.choice(list("ABC"), n),
            "hired": rng.random(n) < np.where(sex == "f", 0.3, 0.45),
            "predicted": truth ^ wrong,
            "truth": truth,
            "labels": labels,
        }
    )


def three(source: ft.DataSource) -> list[ft.Testing | ft.ErrorProfiling | ft.Discovery]:
    return [
        ft.Testing(source, "sex", "hired"),
        ft.ErrorProfiling(source, "sex", "predicted", "truth"),
        ft.Discovery(source, "sex", "labels", separator="|"),
    ]


def test_all_three_share_a_test_set_and_a_family(people):
    source = ft.DataSource(people, budget=2, seed=1)
    batch = three(source)
    ft.train(batch)
    ft.test(batch)
    reports = ft.report(batch)
    assert source.budget.left == 1
    assert [r.kind for r in reports] == ["testing", "error profiling", "discovery"]
    assert {r.corrected_for for r in reports} == {sum(r.tested for r in reports)}
    assert {r.settings.set for r in reports} == {1}
    assert all(r.populations[0].significant for r in reports)
    assert {f.label for f in reports[2].findings} == {"toys"}
    outputs = {"hired", "predicted", "truth", "labels"}
    assert not any(outputs & f.context.columns for r in reports for f in r.findings)


def test_together_they_are_corrected_for_more_than_alone(people):
    alone = ft.Testing(ft.DataSource(people, seed=1), "sex", "hired", contextual=["city"])
    ft.train([alone])
    ft.test([alone], correction="bonferroni", population_share=0)
    batch = three(ft.DataSource(people, seed=1))
    ft.train(batch)
    ft.test(batch, correction="bonferroni", population_share=0)
    one, together = ft.report([alone])[0], ft.report(batch)[0]
    assert together.populations[0].p_value_raw == one.populations[0].p_value_raw
    ratio = together.populations[0].p_value / one.populations[0].p_value
    assert ratio == pytest.approx(together.corrected_for / one.corrected_for)
    assert ratio > 1


def test_an_error_in_one_says_which_and_spends_nothing(people):
    @ft.metric("broken", protected="binary", output="binary")
    def broken(counts):
        if len(counts) and counts.shape[0] < 10_000:
            raise ft.InputError("no such luck")
        return counts

    source = ft.DataSource(people, seed=1)
    batch = [*three(source)[:2], ft.Testing(source, "sex", "hired", metrics="broken")]
    with pytest.raises(ft.FairTestError, match=r"Investigation 3 of 3.*no such luck"):
        ft.train(batch)
    assert source.budget.left == 1
    assert all(each.training is None for each in batch)


def test_the_stages_return_what_they_find_and_change_no_investigation(people):
    source = ft.DataSource(people, budget=2, seed=1)
    batch, silent = three(source), as_stage_progress(None)
    before = [dict(vars(each)) for each in batch]
    trainings = search_batch(batch, TrainingPlan(), silent)
    results = validate_batch(batch, trainings, TestingPlan(), silent)
    why = explain_answer(batch[0], results[0].to_explain(), results[0].test.number, "city")
    assert [dict(vars(each)) for each in batch] == before
    cities = sum("city" in c.columns for c in results[0].attributes[0].significant_contexts)
    assert cities > 0
    assert why.explains == (1, 1)
    assert why.notes == (f"Significant contexts that speak of city themselves are left out here: {cities}.",)
    assert why.not_asked_again == cities
    assert "no other was significant" not in why.to_text()
    assert source.budget.left == 0


def test_an_investigation_remembers_what_train_and_test_returned(people):
    batch = three(ft.DataSource(people, seed=1))[:2]
    trainings = ft.train(batch)
    assert [each.training for each in batch] == trainings
    results = ft.test(batch)
    assert [(each.training, each.results) for each in batch] == list(zip(trainings, results, strict=True))
    ft.train(batch[:1])
    assert batch[0].results is None, "what was tested were other contexts"
    assert batch[1].results is results[1]
