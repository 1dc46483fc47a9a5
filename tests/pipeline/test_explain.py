"""Debugging what was found: the same contexts, the next test set, conditioned on an explanatory attribute."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.inference.multiplicity.corrections import holm
from fairtest.statistics.rates.score import difference_interval, difference_p

PEOPLE = 9000
DEPARTMENTS = ("A", "B", "C")


def people() -> pl.DataFrame:
    """Women apply where fewer are admitted; in city P they are turned away besides, whatever the department."""
    rng = np.random.default_rng(17)
    woman = rng.random(PEOPLE) < 0.5
    choice = rng.random(PEOPLE) + np.where(woman, 0.25, -0.25)
    department = np.select([choice < 0.3, choice < 0.7], ["A", "B"], "C")
    city = rng.choice(list("PQRS"), PEOPLE)
    rate = np.select([department == "A", department == "B"], [0.8, 0.5], 0.2)
    rate = np.where(woman & (city == "P"), rate / 3, rate)
    return pl.DataFrame(
        {
            "sex": np.where(woman, "woman", "man"),
            "department": department,
            "city": city,
            "age": rng.integers(18, 60, PEOPLE),
            "admitted": rng.random(PEOPLE) < rate,
        }
    )


FRAME = people()


def answered(budget: int, **options) -> tuple[ft.DataSource, ft.Testing]:
    source = ft.DataSource(FRAME, budget=budget, train_size=0.3, reference={"sex": "man"})
    investigation = ft.Testing(source, "sex", "admitted", **options)
    ft.train([investigation], min_size=200, max_depth=3, search="tree")
    ft.test([investigation], correction="holm")
    return source, investigation


def tables(frame: pl.DataFrame) -> list[np.ndarray]:
    """Return, by department, the women admitted, the women, the men admitted, the men."""
    numbers = []
    for sex in ("woman", "man"):
        parts = [frame.filter((pl.col("sex") == sex) & (pl.col("department") == d)) for d in DEPARTMENTS]
        numbers += [np.array([[p["admitted"].sum() for p in parts]]), np.array([[p.height for p in parts]])]
    return numbers


def test_the_same_contexts_on_the_next_set():
    source, investigation = answered(budget=2)
    significant = investigation.results.attributes[0].significant_contexts
    kept = [c for c in significant if "department" not in c.columns]
    assert any(len(c) for c in kept)
    why = ft.explain(investigation, by="department")
    assert source.budget.left == 0
    assert why.settings.set == 2
    assert why.explanatory == ("department",)
    assert why.explains == (1, 1 + sum(len(c) > 0 for c in kept))
    told = " ".join(why.to_text().split())
    assert f"{why.explains[1]} groups of run 1 asked about again: everyone, and where the link was significant" in told
    assert "candidate groups looked at" not in told
    assert json.loads(why.to_json())["investigations"][0]["explains"] == {"run": 1, "groups": why.explains[1]}
    assert f"**{why.explains[1]}** asked about again → " in why.to_markdown()
    second = FRAME[source.holdout.rows(2)]
    assert why.populations[0].size == second.height
    for found in why.findings:
        assert found.context in kept
        assert found.size == second.filter(found.context.mask(second)).height


def test_the_numbers_are_conditional_and_corrected_together():
    """The population, contexts and strata of the second set, counted again.

    The population has half of the level, and passes it on here, because it is confirmed. What it leaves is divided:
    a fifth is for its strata, by Holm, the rest for the contexts and their strata, by Holm too.
    """
    source, investigation = answered(budget=2)
    significant = investigation.results.attributes[0].significant_contexts
    contexts = [ft.Context(), *(c for c in significant if len(c) and "department" not in c.columns)]
    why = ft.explain(investigation, by="department")
    second = FRAME[source.holdout.rows(2)]
    fewest = 200 * second.height / PEOPLE
    raw, keys = [], []
    for context in contexts:
        numbers = tables(second.filter(context.mask(second)))
        raw.append(difference_p(*numbers)[0])
        keys.append((context, None))
        for e, department in enumerate(DEPARTMENTS):
            alone = [v[:, e : e + 1] for v in numbers]
            if (alone[1] + alone[3])[0, 0] >= fewest:
                raw.append(difference_p(*alone)[0])
                keys.append((context, department))
    strata = sum(not len(context) for context, _ in keys)
    alone = min(raw[0] / 0.5, 1)
    assert alone <= why.settings.level
    inside = np.concatenate((holm(np.array(raw[1:strata])) / 0.2, holm(np.array(raw[strata:])) / 0.8))
    inside = np.minimum(np.minimum(inside / 0.5, np.maximum(inside, alone)), 1)
    corrected = dict(zip(keys, (alone, *inside), strict=True))
    assert why.tested == len(raw)
    assert why.findings
    for found in (*why.populations, *why.findings):
        numbers = tables(second.filter(found.context.mask(second)))
        weights = (numbers[1] + numbers[3])[0] / found.size
        gaps = (numbers[0] / numbers[1] - numbers[2] / numbers[3])[0]
        assert found.effect == pytest.approx(float(weights @ gaps), rel=1e-9)
        assert found.p_value_raw == pytest.approx(difference_p(*numbers)[0], rel=1e-9)
        assert found.p_value == pytest.approx(corrected[found.context, None], rel=1e-9)
        low, high = difference_interval(*numbers, alpha=why.settings.level)
        assert found.interval_single == pytest.approx((low[0], high[0]), rel=1e-9)
        for part, department in zip(found.strata, DEPARTMENTS, strict=True):
            assert part.values == {"department": department}
            assert part.p_value == pytest.approx(corrected[found.context, department], rel=1e-9)


def test_what_the_attribute_explains_shrinks_and_what_it_does_not_stays():
    _, investigation = answered(budget=2)
    before = ft.report([investigation])[0]
    why = ft.explain(investigation, by="department")
    assert abs(why.populations[0].effect) < abs(before.populations[0].effect) / 2
    assert "city = P" in {str(f.context) for f in why.findings}
    assert not any(f.context.columns == {"age"} for f in why.findings)


def test_contexts_that_speak_of_the_attribute_are_left_out_and_counted():
    _, investigation = answered(budget=2)
    significant = [c for c in investigation.results.attributes[0].significant_contexts if len(c)]
    speaking = [c for c in significant if "city" in c.columns]
    assert speaking
    why = ft.explain(investigation, by="city")
    assert not any("city" in f.context.columns for f in why.findings)
    note = next(n for n in why.notes if "city" in n)
    assert note.rstrip(".").endswith(f" {len(speaking)}")
    assert note in why.to_text().replace("\n", " ")
    kept = len(significant) - len(speaking)
    assert why.tested <= (1 + kept) * (1 + 4)


def test_nothing_is_said_where_nothing_is_left_out():
    _, investigation = answered(budget=2, exclude="department")
    assert ft.explain(investigation, by="department").notes == ()


def test_explaining_twice_needs_a_budget_of_three():
    source, investigation = answered(budget=2)
    ft.explain(investigation, by="department")
    with pytest.raises(ft.BudgetExhausted):
        ft.explain(investigation, by="city")
    source, investigation = answered(budget=3)
    first, second = ft.explain(investigation, by="department"), ft.explain(investigation, by="city")
    assert (first.settings.set, second.settings.set) == (2, 3)
    assert source.budget.left == 0
    assert first.settings.level == pytest.approx(0.05 / 3)


def test_the_investigation_keeps_its_own_answer():
    _, investigation = answered(budget=2)
    before = ft.report([investigation])[0].to_json()
    training, results = investigation.training, investigation.results
    ft.explain(investigation, by="department")
    assert investigation.explanatory == ()
    assert investigation.training is training
    assert investigation.results is results
    assert ft.report([investigation])[0].to_json() == before


def test_a_failed_explanation_gives_its_set_back(monkeypatch):
    source, investigation = answered(budget=2)
    results = investigation.results

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("fairtest.pipeline.answers.validate", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ft.explain(investigation, by="department")
    assert source.budget.left == 1
    assert investigation.results is results
    assert ft.explain(investigation, by="department").settings.set == 2


def test_by_several_attributes_crossed():
    source, investigation = answered(budget=2)
    why = ft.explain(investigation, by=["department", "city"])
    assert why.explanatory == ("department", "city")
    second = FRAME[source.holdout.rows(2)]
    sizes = second.group_by("department", "city").len().sort("department", "city")
    strata = why.populations[0].strata
    assert [tuple(s.values.values()) for s in strata] == [r[:2] for r in sizes.rows()]
    assert [s.size for s in strata] == sizes["len"].to_list()


def test_by_a_number_in_bins():
    source, investigation = answered(budget=2)
    why = ft.explain(investigation, by="age")
    training, second = (FRAME["age"].to_numpy()[source.holdout.rows(k)] for k in (0, 2))
    cuts = np.quantile(training, [0.2, 0.4, 0.6, 0.8], method="inverted_cdf")
    sizes = np.bincount(np.searchsorted(cuts, second, side="left"), minlength=5)
    assert [s.size for s in why.populations[0].strata] == sizes.tolist()
    note = next(c.note for c in why.data.columns if c.name == "age")
    assert all(str(int(c)) in note for c in cuts)


def test_beside_the_explanatory_attributes_it_has():
    _, investigation = answered(budget=2, explanatory="department")
    why = ft.explain(investigation, by="city")
    assert why.explanatory == ("department", "city")
    assert len(why.populations[0].strata) == 12


def test_every_protected_attribute_is_explained():
    source = ft.DataSource(FRAME.with_columns(old=pl.col("age") > 40), budget=2)
    investigation = ft.Testing(source, ["sex", "old"], "admitted", exclude="age")
    ft.train([investigation], min_size=200, max_depth=2)
    ft.test([investigation])
    why = ft.explain(investigation, by="department")
    assert [p.protected for p in why.populations] == ["sex", "old"]
    assert all(len(p.strata) == 3 for p in why.populations)
