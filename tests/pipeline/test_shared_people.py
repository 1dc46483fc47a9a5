"""The correction max-t through the public interface."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import fairtest as ft
from fairtest.inference.multiplicity import dependence, max_t

AGES = 12


def people(n=900, seed=0, gap=0.0, confounded=False):
    """Ages in order make contexts that hold each other; x may explain everything there is."""
    rng = np.random.default_rng([5, seed])
    x = rng.integers(0, 3, n)
    lift = 0.3 * x * confounded
    sex = np.where(rng.random(n) < 0.3 + lift, "f", "m")
    age = rng.integers(20, 20 + AGES, n)
    rate = 0.15 + lift + gap * ((sex == "f") & (age > 27))
    return pl.DataFrame(
        {
            "sex": sex,
            "race": rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2]),
            "age": age,
            "x": np.array(list("xyz"))[x],
            "hired": rng.random(n) < rate,
            "pay": np.exp(rng.normal(0, 0.5, n)),
        }
    )


def audited(frame, correction="max-t", protected="sex", output="hired", **how):
    how = {"contextual": ["age"], "split": False, "min_size": 50, "max_depth": 2, **how}
    return ft.audit(frame, protected, output, correction=correction, **how)


def everything(report):
    return {str(f.context): f for f in (*report.populations, *report.findings)}


def test_contexts_that_share_people_cost_less_than_holm_says():
    frame = people(gap=0.13)
    drawn, bound = (audited(frame, name, population_share=0) for name in ("max-t", "holm"))
    assert drawn.tested == bound.tested > 20
    assert drawn.significant > bound.significant
    shared = everything(drawn).keys() & everything(bound).keys()
    assert shared
    for name in shared:
        one, other = everything(drawn)[name], everything(bound)[name]
        assert one.p_value_raw == other.p_value_raw <= one.p_value <= other.p_value
        low, high = one.interval
        assert other.interval[0] < low < high < other.interval[1]
        assert one.interval_single == other.interval_single


def test_populations_apart_are_corrected_by_holm_and_contexts_together():
    """Contexts keep what they gain by sharing people; the population has its own level either way."""
    frame = people(gap=0.13)
    drawn, bound = audited(frame), audited(frame, "holm")
    assert drawn.populations[0].p_value == bound.populations[0].p_value == 2 * drawn.populations[0].p_value_raw
    assert drawn.populations[0].interval == bound.populations[0].interval
    assert drawn.significant > bound.significant


def test_the_report_says_it_in_words():
    text = audited(people()).to_text()
    assert "max-T" in " ".join(text.split())
    assert "Gaussian multipliers" in " ".join(text.split())
    assert "at most 5 %" in " ".join(text.split())
    assert audited(people()).settings.correction == "max-t"


def test_it_works_after_a_split_and_with_every_other_question():
    report = audited(people(1500, gap=0.25), split=True, search="tree", protected=["sex", "race"], explanatory="x")
    assert report.settings.correction == "max-t"
    assert report.tested > 6
    assert everything(report)["everyone"].strata
    assert report.significant > 0
    again = audited(people(1500, gap=0.25), split=True, search="tree", protected=["sex", "race"], explanatory="x")
    assert report.to_json() == again.to_json()


def test_another_question_to_the_same_people_about_the_same_costs_nothing():
    """Asked twice under two names, a question has one chance to be wrong, not two."""
    frame = people(gap=0.1).with_columns(gender=pl.col("sex").replace({"f": "w", "m": "v"}))
    one = audited(frame.drop("gender"), population_share=0).populations[0]
    two = audited(frame, protected=["sex", "gender"], population_share=0)
    assert [p.p_value_raw for p in two.populations] == [one.p_value_raw] * 2
    for p in two.populations:
        assert p.p_value == pytest.approx(one.p_value, rel=0.25)
    assert two.tested == 2 * audited(frame.drop("gender")).tested


def test_a_metric_of_ones_own_is_counted_in_full_and_the_report_says_so():
    @ft.metric("mine", protected="binary", output="binary")
    def mine(counts):
        rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
        return rates[..., 1] - rates[..., 0]

    frame = people(400, gap=0.4)
    report = audited(frame, metrics=mine, min_size=150, max_depth=1)
    bound = audited(frame, "holm", metrics=mine, min_size=150, max_depth=1)
    assert "mine were counted in full" in " ".join(report.to_text().split())
    assert [f.p_value for f in report.populations] == [f.p_value for f in bound.populations]
    assert not audited(frame).notes


def test_a_family_that_is_too_large_is_refused_and_the_test_set_given_back(monkeypatch):
    source = ft.DataSource(people(), split=False)
    for name, value in (("MOST_SUMS", 10), ("MOST_WORK", 1000)):
        with monkeypatch.context() as patch:
            patch.setattr(dependence, name, value)
            with pytest.raises(ft.InputError, match=r"correction='holm'"):
                ft.audit(source, "sex", "hired", contextual=["age"], correction="max-t")
        assert source.budget.left == 1


CASES = {
    "overlapping contexts": ({}, {}),
    "explained by x": ({"confounded": True}, {"explanatory": "x", "max_depth": 1}),
    "groups": ({}, {"protected": "race", "output": "pay", "max_depth": 1}),
}


@pytest.mark.parametrize(("data", "how"), CASES.values(), ids=CASES)
def test_few_runs_on_nothing_find_something(data, how, monkeypatch):
    """With few draws: the level is kept whatever their number."""
    monkeypatch.setattr(max_t, "AT_LEVEL", 50)
    runs = 40
    found = sum(audited(people(500, seed, **data), **how).significant > 0 for seed in range(runs))
    assert stats.binomtest(found, runs, 0.05, alternative="greater").pvalue > 0.001


def test_what_x_explains_is_found_without_it():
    """The check above can fail."""
    assert sum(audited(people(500, seed, confounded=True), max_depth=1).significant > 0 for seed in range(5)) == 5


def test_conditional_nmi_is_counted_in_full_and_the_report_says_so():
    """Its p-values are approximate in small strata, and max-T leaves no room for that."""
    frame = people(2000, gap=0.3)
    call = {"protected": "race", "metrics": "NMI", "max_depth": 1, "min_size": 400}
    drawn, plain = audited(frame, **call, explanatory="x"), audited(frame, **call)
    assert "those of NMI were counted in full" in " ".join(drawn.to_text().split())
    assert not plain.notes
