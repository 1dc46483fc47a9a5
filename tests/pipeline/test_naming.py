"""Questions that were there before anything was shown are put to everybody; those made later to the test set alone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.pipeline.prospects import prospects

PEOPLE = 1_200
SMALL = {"search": "tree", "min_size": 150, "max_depth": 1}


def people() -> pl.DataFrame:
    rng = np.random.default_rng(2)
    sex, race, city = (rng.choice(values, PEOPLE) for values in (["f", "m"], ["x", "y"], ["A", "B", "C"]))
    hired = rng.random(PEOPLE) < np.where(sex == "f", 0.35, 0.5)
    return pl.DataFrame({"sex": sex, "race": race, "city": city, "hired": hired})


def source_of(budget: int = 3) -> ft.DataSource:
    return ft.DataSource(people(), budget=budget)


def trained(source: ft.DataSource, *protected: str) -> ft.Testing:
    made = ft.Testing(source, list(protected or ("sex",)), "hired", contextual=["city"])
    ft.train([made], **SMALL)
    return made


def answer(*batch: ft.Testing, **options) -> list[ft.Report]:
    ft.test(batch, **options)
    return ft.report(batch)


def named(report: ft.Report) -> list[bool]:
    return [attribute.named for attribute in report.attributes]


def sizes(report: ft.Report) -> list[int]:
    return [attribute.population.size for attribute in report.attributes]


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_a_question_that_comes_first_is_put_to_training_and_test_set(budget: int) -> None:
    source = source_of(budget)
    (report,) = answer(trained(source))
    train, test, *_ = source.holdout.sizes
    assert (named(report), sizes(report)) == ([True], [train + test])
    assert report.settings.level == pytest.approx(0.05 / budget, rel=1e-12)


def test_several_attributes_of_one_call_are_all_named() -> None:
    assert named(answer(trained(source_of(), "sex", "race"))[0]) == [True, True]


def test_training_shows_nothing() -> None:
    source = source_of()
    first = trained(source)
    repr(first.training)
    assert not source.budget.shown
    assert trained(source, "race").named


def test_a_question_made_after_an_answer_is_put_to_its_set_alone() -> None:
    source = source_of()
    answer(trained(source))
    assert source.budget.shown
    (later,) = answer(trained(source, "race"))
    assert (named(later), sizes(later)) == ([False], [source.holdout.sizes[2]])


def test_a_question_made_before_the_first_answer_and_asked_after_it_is_put_to_its_set_alone() -> None:
    """Of many that were made, the one that the first answer speaks for could be asked next."""
    source = source_of()
    first, second = trained(source), trained(source, "race")
    answer(first)
    (later,) = answer(second)
    assert (later.settings.set, named(later)) == (2, [False])
    assert sizes(later) == [source.holdout.sizes[2]]


def test_a_question_that_was_answered_is_put_to_the_next_set_alone() -> None:
    """Of several that were answered the most promising could be asked again, and training would speak twice for it."""
    source = source_of()
    batch = trained(source), trained(source, "race")
    assert [named(report) for report in answer(*batch)] == [[True], [True]]
    (again,) = answer(batch[0])
    assert (named(again), sizes(again)) == ([False], [source.holdout.sizes[2]])
    ft.train([batch[1]], **SMALL)  # training once more makes no new question of it
    (again,) = answer(batch[1])
    assert (named(again), sizes(again)) == ([False], [source.holdout.sizes[3]])


def test_an_answer_that_nobody_saw_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    source = source_of()
    made = trained(source)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(source.budget, "keep", fail)
    with pytest.raises(KeyboardInterrupt):
        ft.test([made])
    assert not source.budget.shown


def test_after_prospects_a_question_is_put_to_its_set_alone() -> None:
    """Which of the questions that were looked at is tested may be decided by what was seen."""
    source = source_of()
    looked_at, other = trained(source), trained(source, "race")
    prospects(looked_at)
    assert source.budget.shown
    assert [named(report) for report in answer(looked_at, other)] == [[False], [False]]
    assert not trained(source, "race").named


def test_the_questions_of_one_batch_are_corrected_together() -> None:
    source = source_of()
    first, second = answer(trained(source), trained(source, "race"))
    # Holm over both: the larger of two corrected p-values is twice the raw one at most, over the share
    smaller, larger = sorted((r.attributes[0].population for r in (first, second)), key=lambda f: f.p_value_raw)
    assert smaller.p_value == pytest.approx(min(2 * smaller.p_value_raw / 0.5, 1))
    assert larger.p_value == pytest.approx(min(max(smaller.p_value, larger.p_value_raw / 0.5), 1))


def test_an_explanation_is_put_to_its_set_alone() -> None:
    source = source_of()
    made = trained(source)
    answer(made)
    why = ft.explain(made, by="race")
    assert (named(why), sizes(why)) == ([False], [source.holdout.sizes[2]])


def test_sources_with_more_columns_share_what_was_shown() -> None:
    source = source_of()
    wider = source.with_columns({"near": [True, False] * (PEOPLE // 2)})
    prospects(trained(source))
    assert not trained(wider, "race").named


def test_the_same_seed_gives_the_same_report_also_after_something_was_shown() -> None:
    def second_answer() -> str:
        source = source_of()
        answer(trained(source))
        return answer(trained(source, "race"))[0].to_json()

    assert second_answer() == second_answer()


@pytest.mark.parametrize("share", [1, 2, -1, "x", float("nan"), True])
def test_a_share_that_is_none_is_refused_before_anything_is_spent(share: object) -> None:
    source = source_of()
    made = trained(source)
    with pytest.raises(ft.InputError, match=r"'population_share' of test must be a number from 0"):
        ft.test([made], population_share=share)
    assert source.budget.left == 3


def test_without_a_share_the_population_is_one_hypothesis_of_its_set() -> None:
    source = source_of()
    (report,) = answer(trained(source), population_share=0)
    assert (named(report), sizes(report)) == ([False], [source.holdout.sizes[1]])
    assert report.settings.population_share == 0
