"""The reusable test set: it says what it confirms, tells nothing else, and keeps count of what it told."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from flaky_metric import Flaky

import fairtest as ft
from fairtest.data.reuse import LEAST_LEVEL, ReusedSet

PEOPLE = 4000


def people(gap: float = 0.4, seed: int = 5) -> pl.DataFrame:
    """Women in city P are hired less often, by ``gap``; nothing else is linked to anything."""
    rng = np.random.default_rng(seed)
    woman, city = rng.random(PEOPLE) < 0.5, rng.choice(list("PQRS"), PEOPLE)
    return pl.DataFrame(
        {
            "sex": np.where(woman, "f", "m"),
            "city": city,
            "job": rng.choice(list("JKL"), PEOPLE),
            "hired": rng.random(PEOPLE) < np.where(woman & (city == "P"), 0.6 - gap, 0.6),
            "pay": rng.normal(size=PEOPLE),
        }
    )


def source_of(frame: pl.DataFrame | None = None, **options) -> ft.DataSource:
    return ft.DataSource(
        people() if frame is None else frame, **{"budget": 5, "reuse": True, "reference": {"sex": "m"}, **options}
    )


def ask(source: ft.DataSource, protected="sex", output="hired", **options) -> ft.Report:
    return ft.audit(source, protected, output, contextual=["city", "job"], search="exhaustive", **options)


def test_every_question_goes_to_the_same_people():
    source = source_of()
    train, *tests = source.holdout.sizes
    assert (train, tests) == (1200, [2800])
    reports = [ask(source) for _ in range(5)]
    assert {r.data.test for r in reports} == {2800}
    assert [r.reuse.question for r in reports] == [1, 2, 3, 4, 5]
    assert [r.reuse.left for r in reports] == [4, 3, 2, 1, 0]
    with pytest.raises(ft.BudgetExhausted, match="all 5 questions"):
        ask(source)


def test_a_real_link_is_confirmed_and_the_numbers_are_of_the_training_set():
    source = source_of()
    report = ask(source)
    found = report.findings[0]
    assert str(found.context) == "city = P"
    assert found.significant
    train = people()[source.holdout.rows(0)].filter(pl.col("city") == "P")
    rate = {s: train.filter(pl.col("sex") == s)["hired"].mean() for s in "fm"}
    assert found.size == len(train)
    assert found.effect == pytest.approx(rate["f"] - rate["m"])
    assert found.interval[0] < -0.4 < found.interval[1] <= 0
    assert found.p_value is found.p_value_raw is found.interval_single is found.ratio_interval is None


def test_the_report_hangs_on_the_training_set_and_the_answers_only():
    """Other people in the test set, the same answers: the same report, byte for byte but for the fingerprint."""
    frame = people(gap=0.0)
    source = source_of(frame)
    test = source.holdout.rows(1)
    rng = np.random.default_rng(0)
    texts = []
    for _ in range(3):
        shuffled = {name: frame[name].to_numpy().copy() for name in ("hired", "pay", "sex", "city")}
        for values in shuffled.values():
            values[test] = rng.permutation(values[test])
        changed = source_of(frame.with_columns(**{k: pl.Series(v) for k, v in shuffled.items()}))
        reports = [ask(changed), ask(changed, output="pay"), ask(changed, explanatory=None, protected="job")]
        assert not any(r.significant for r in reports)
        texts.append(
            [r.to_json().replace(r.data.fingerprint, "") + r.to_html().replace(r.data.fingerprint, "") for r in reports]
        )
    assert texts[0] == texts[1] == texts[2]


def test_the_level_falls_by_what_was_told():
    source = source_of(conf=0.9, budget=4)
    first, second = ask(source), ask(source, protected="job")
    assert first.settings.level == pytest.approx(0.025)
    assert first.reuse.bits_before == 0
    assert first.reuse.bits > 0
    assert second.settings.level == pytest.approx(0.025 * 2**-first.reuse.bits)
    assert second.settings.level == first.reuse.next_level
    assert second.reuse.bits_before == first.reuse.bits


def test_what_was_confirmed_is_quoted_and_what_was_not_tells_little():
    source = source_of()
    first, again = ask(source), ask(source)
    assert [f.interval for f in again.findings] == [f.interval for f in first.findings]
    assert [f.significant for f in again.populations] == [f.significant for f in first.populations]
    assert again.reuse.bits < 0.2 < first.reuse.bits


def test_a_column_of_the_same_name_is_another_question():
    """What is quoted is known by the values of its columns, not by what they are called."""
    source = source_of(people(gap=0.0))
    rng = np.random.default_rng(3)
    hired = people(gap=0.0)["hired"].to_numpy()
    copy = np.where(rng.random(PEOPLE) < 0.8, hired, rng.random(PEOPLE) < 0.5)
    good = ft.audit(source.with_columns({"new": copy}), "new", "hired", contextual=[])
    bad = ft.audit(source.with_columns({"new": rng.random(PEOPLE) < 0.5}), "new", "hired", contextual=[])
    assert good.populations[0].significant
    assert not bad.populations[0].significant


def test_explain_asks_the_same_set_again():
    source = source_of()
    investigation = ft.Testing(source, "sex", "hired", contextual=["city", "job"])
    ft.train(investigation, search="exhaustive")
    ft.test(investigation)
    why = ft.explain(investigation, by="job")
    assert why.reuse.question == 2
    assert [str(f.context) for f in why.findings][:1] == ["city = P"]
    assert all(s.p_value is None and s.interval is None for f in why.findings for s in f.strata)
    assert "of the training set, not tested" in why.to_text()


def test_the_report_says_whose_numbers_it_shows_and_what_is_left():
    source = source_of()
    report = ask(source)
    for text in (report.to_text(width=2000), report.to_html()):
        assert "1,200 people, and the shares, tables and estimates shown are of these" in text
        assert "confirmed" in text
        assert "4 more questions are left" in text
    assert "p-value" not in report.to_text(width=2000).split("How to read this")[0]
    state = json.loads(report.to_json())["reuse"]
    assert state["question"] == 1
    assert state["left"] == 4
    assert state["next_level"] == pytest.approx(0.01 * 2 ** -state["bits"])
    assert "Over all 5 questions" in state["promise"]
    assert json.loads(report.to_json())["investigations"][0]["protected"][0]["findings"][0]["p_value"] is None
    assert report.to_frame()["p_value"].is_null().all()


def test_a_report_without_reuse_has_nothing_of_it():
    report = ft.audit(people(), "sex", "hired", contextual=["city"], search="exhaustive")
    assert report.reuse is None
    assert "reuse" not in report.to_dict()


def test_the_same_seed_gives_the_same_answers():
    texts = []
    for _ in range(2):
        source = source_of()
        texts.append([ask(source).to_json(), ask(source, protected=["sex", "job"]).to_json()])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("error", [ZeroDivisionError("in the metric"), KeyboardInterrupt()])
def test_a_question_that_fails_is_given_back(error):
    flaky = Flaky()
    metric = ft.metric("flaky reused gap", protected="binary", output="binary")(flaky)
    source = source_of()
    investigation = ft.Testing(source, "sex", "hired", contextual=["city"], metrics=metric)
    ft.train(investigation, search="tree")
    flaky.error = error
    with pytest.raises(type(error)):
        ft.test(investigation)
    assert (source.budget.left, source.budget.bits, source.level) == (5, 0.0, pytest.approx(0.01))
    flaky.error = None
    ft.test(investigation)
    assert source.budget.left == 4


def test_a_set_that_has_told_too_much_answers_no_more():
    source = source_of()
    source.budget.tell(40.0)
    assert source.level < LEAST_LEVEL
    with pytest.raises(ft.BudgetExhausted, match=r"told 40\.0 bits.*cannot be trusted"):
        ask(source)
    assert source.budget.left == 5


def test_answers_given_at_the_same_time_are_both_counted():
    budget = ReusedSet(3, 0.05)
    with budget.draw() as first, budget.draw() as second:
        budget.tell(1.0)
        budget.tell(2.0)
    assert (first, second, budget.left, budget.bits) == (1, 1, 1, 3.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": False}, "split=False has none"),
        ({"budget": 1}, "say how many"),
        ({"budget": 0}, "whole number"),
    ],
)
def test_what_does_not_go_with_reuse(options, message):
    with pytest.raises(ft.InputError, match=message):
        source_of(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"correction": "bh"}, "share of false findings"), ({"tolerance": 0.05}, "needs an interval")],
)
def test_choices_that_would_break_the_promise(options, message):
    source = source_of()
    with pytest.raises(ft.InputError, match=message):
        ask(source, **options)
    assert source.budget.left == 5


@pytest.mark.parametrize("correction", ["pooled", "holm", "weighted-holm", "bonferroni"])
def test_every_family_wise_correction_confirms_a_strong_link(correction):
    assert ask(source_of(), correction=correction).findings


def test_the_paper_preset_halves_the_people():
    assert source_of(preset="paper").holdout.sizes == (2000, 2000)


def test_the_source_says_what_is_left():
    source = source_of()
    ask(source)
    assert repr(source).endswith("a reusable test set of 2,800; 4 of 5 questions left)")


def test_new_columns_share_the_split_and_the_budget():
    source = ft.DataSource(people(), budget=2)
    wider = source.with_columns({"score": np.arange(PEOPLE) % 3})
    assert wider.holdout is source.holdout
    ft.audit(wider, "score", "hired", contextual=[])
    assert source.budget.left == wider.budget.left == 1
    assert "score" not in source.table
    assert wider.fingerprint != source.fingerprint


@pytest.mark.parametrize(
    ("columns", "message"),
    [({"score": [1, 2, 3]}, "a row for each of the 4,000 people"), ({"sex": ["f"] * PEOPLE}, "column 'sex' already")],
)
def test_new_columns_that_do_not_fit(columns, message):
    with pytest.raises(ft.InputError, match=message):
        source_of().with_columns(columns)
