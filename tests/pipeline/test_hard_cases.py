"""Data that is awkward in ways real data is."""

import numpy as np
import pandas as pd
import pytest

import fairtest as ft
from fairtest.data.summaries import Counts, GroupMoments
from fairtest.metrics.correlation_ratio import ETA
from fairtest.metrics.ratio import RATIO


@pytest.mark.parametrize("seed", range(8))
def test_a_constant_output_in_a_context_is_no_association(seed):
    rng = np.random.default_rng(seed)
    n = 2000
    inside = rng.random(n) < 0.3
    people = {
        "pay": np.where(inside, round(rng.uniform(0.5, 1.5), 2), rng.normal(size=n)),
        "city": np.where(inside, "A", rng.choice(["B", "C"], n)),
        "race": rng.choice(["a", "b", "c"], n),
    }
    report = ft.audit(people, "race", "pay", search="tree", correction="holm", train_size=0.5)
    assert "city = A" not in [str(f.context) for f in report.findings]


def test_bounds_are_undefined_where_the_effect_is():
    one_group = GroupMoments(np.array([[[3, 0.7, 0.21], [0, 0, 0]]]))
    assert np.isnan(ETA.bound(one_group, 1.96))
    nobody = Counts(np.array([[[10, 1000], [0, 0]]]))
    assert np.isnan(RATIO.bound(nobody, 1.96))


@pytest.mark.parametrize("factor", [16_000, 160_000])
def test_another_currency_elsewhere_changes_nothing_here(factor):
    rng = np.random.default_rng(10)
    n = 20_000
    us, age = rng.random(n) < 0.3, rng.normal(40, 10, n)
    dollars = 4000 + 10 * (age - 40) + rng.normal(0, 1000, n)
    elsewhere = 4000 + rng.normal(0, 1000, n)

    def found(k):
        people = {"age": age, "pay": np.where(us, dollars, k * elsewhere), "country": np.where(us, "US", "ID")}
        report = ft.audit(people, "age", "pay", search="tree", correction="holm", train_size=0.5)
        return next(f for f in report.findings if str(f.context) == "country = US")

    here, there = found(1), found(factor)
    assert there.effect == pytest.approx(here.effect, rel=1e-9)
    assert there.interval_single == pytest.approx(here.interval_single, rel=1e-6)


def test_two_groups_and_several_outputs_can_be_asked_by_eta():
    rng = np.random.default_rng(0)
    people = {"sex": rng.choice(["f", "m"], 900), "job": rng.choice(["a", "b", "c"], 900)}
    found = ft.audit(people, "sex", "job", metrics="ETA").populations[0]
    share = np.array([np.mean(np.array(people["sex"])[np.array(people["job"]) == j] == "f") for j in "abc"])
    assert found.effect < 0.05
    assert share.std() < 0.1


def test_an_ordered_column_may_have_hundreds_of_levels():
    rng = np.random.default_rng(1)
    people = {
        "sex": rng.choice(["f", "m"], 3000),
        "hired": rng.integers(0, 2, 3000),
        "rank": rng.integers(0, 300, 3000),
    }
    report = ft.audit(people, "sex", "hired", ordered={"rank": list(range(300))})
    assert report.looked_at > 20


def test_an_ordered_column_with_one_level_and_missing_values_may_be_a_context():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 800), "hired": rng.integers(0, 2, 800)})
    frame["badge"] = pd.Categorical(np.where(rng.random(800) < 0.5, "a", None), ["a"], ordered=True)
    assert ft.audit(frame, "sex", "hired").looked_at >= 2


def test_a_predicate_may_be_written_with_a_plain_text():
    wide, narrow = (ft.Context.of([ft.Predicate("age", "<=", limit)]) for limit in (42, 30))
    assert wide.contains(narrow)
    assert str(ft.Predicate("age", "missing")) == "age missing"
    assert str(ft.Context.of([ft.Predicate("age", "<=", 50), ft.Predicate("age", "<=", 42)])) == "age ≤ 42"
    assert len(ft.Context.of([ft.Predicate("c", "==", "a"), ft.Predicate("c", "==", "b")])) == 2


def test_an_explanatory_number_at_its_maximum_for_most_still_has_strata():
    rng = np.random.default_rng(3)
    hours = np.where(rng.random(2000) < 0.85, 40.0, rng.integers(5, 40, 2000))
    people = {"sex": rng.choice(["f", "m"], 2000), "hired": rng.integers(0, 2, 2000), "hours": hours}
    found = ft.audit(people, "sex", "hired", explanatory="hours").populations[0]
    assert len(found.strata) > 1


def test_of_two_crossed_groups_the_larger_is_the_reference():
    rng = np.random.default_rng(4)
    big = rng.random(1000) < 0.7
    people = {"a": np.where(big, "z", "b"), "b": np.where(big, "z", "b"), "hired": rng.integers(0, 2, 1000)}
    report = ft.audit(people, [("a", "b")], "hired")
    assert report.attributes[0].reference == "z, z"


@pytest.mark.parametrize(
    ("values", "favourable"), [((5, 7), 5), ((1, 2), 1), ((0, 1), 1), ((False, True), True), (("no", "yes"), "no")]
)
def test_the_favourable_value_is_true_or_one_else_the_rarer(values, favourable):
    rng = np.random.default_rng(5)
    output = np.where(rng.random(1000) < 0.3, values[0], values[1])
    people = {"sex": rng.choice(["f", "m"], 1000), "out": output.tolist()}
    assert ft.audit(people, "sex", "out").favourable == favourable


def test_a_metric_of_ones_own_cannot_take_the_name_of_another():
    for name in ("DIFF", "diff", "Nmi"):
        with pytest.raises(ft.InputError, match="exists already"):
            ft.metric(name, protected="binary", output="binary")
    with pytest.raises(ft.InputError, match="kinds"):
        ft.metric("own", protected=5, output="binary")


def test_resampling_and_formula_agree_for_an_ordered_attribute_and_a_category():
    rng = np.random.default_rng(6)
    output = rng.choice(list("xyz"), 1600)
    grade = np.where(output == "y", rng.choice(3, 1600, p=[0.6, 0.2, 0.2]), rng.choice(3, 1600, p=[0.3, 0.3, 0.4]))
    people = {"grade": np.array(["lo", "mid", "hi"])[grade].tolist(), "o": output.tolist()}
    both = [
        ft.audit(people, "grade", "o", ordered={"grade": ["lo", "mid", "hi"]}, method=method).populations[0]
        for method in ("auto", "resampling")
    ]
    assert both[0].effect == pytest.approx(both[1].effect)
    assert both[0].interval_single == pytest.approx(both[1].interval_single, abs=0.03)
    assert both[1].significant
