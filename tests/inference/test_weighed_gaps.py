"""Several groups, medians, ratios and rates where rows are not one person each."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairtest as ft

DESIGNS = [{"person": "who"}, {"weights": "weight"}, {"person": "who", "weights": "weight"}]


def log_of(seed: int = 0, people: int = 700, rows: int = 4) -> pl.DataFrame:
    """Return rows of people of three groups and one small one, in which the rows of a person depend on each other."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.integers(1, 2 * rows, people))
    n = who.size
    race = rng.choice(["white", "black", "asian", "few"], people, p=[0.6, 0.25, 0.13, 0.02])[who]
    own = (rng.normal(size=people)[who] + rng.normal(size=n)) / 2**0.5 - 0.7 * (race == "black")
    yes = own > 0.3
    return pl.DataFrame(
        {
            "who": who,
            "race": race,
            "job": rng.choice(["desk", "floor"], people)[who],
            "sex": rng.choice(["f", "m"], people)[who],
            "hired": np.where(yes, "yes", "no"),
            "pay": np.round(np.exp(3 + 0.4 * own), 2),
            "truth": yes.astype(int),
            "guess": np.where(rng.random(n) < 0.2, ~yes, yes).astype(int),
            "weight": np.exp(0.5 * rng.normal(size=n) + 0.4 * yes + 0.3 * (race == "black")),
        }
    )


def audit(frame: pl.DataFrame, output: str, protected: str = "race", **options: Any) -> ft.Report:
    said = {"favourable": {"hired": "yes"}} if output == "hired" else {}
    if "person" not in options:
        frame = frame.drop("who", strict=False)
    return ft.audit(frame, protected, output, **({"contextual": []} | said | options))


@pytest.mark.parametrize("design", DESIGNS, ids="+".join)
def test_each_group_beside_the_largest(design: dict[str, str]) -> None:
    """Rates and means are weighted, sizes count people, and intervals are wider than those of rows taken for people."""
    frame = log_of()
    for output in ("hired", "pay"):
        [comparison] = audit(frame, output, **design).populations[0].comparisons
        [naive] = audit(frame.drop("who", "weight"), output).populations[0].comparisons
        assert comparison.reference == "white"
        assert {gap.group: gap.significant for gap in comparison.gaps if gap.group != "few"} == {
            "asian": False,
            "black": True,
        }
        black, usual = (next(g for g in c.gaps if g.group == "black") for c in (comparison, naive))
        some = frame.filter(pl.col("race") == "black")
        values = (some["hired"] == "yes").cast(float) if output == "hired" else some["pay"]
        weights = some["weight"] if "weights" in design else None
        assert black.value == pytest.approx(np.average(values, weights=weights), rel=1e-6)
        assert black.size == (some["who"].n_unique() if "person" in design else len(some))
        width, narrow = (g.interval[1] - g.interval[0] for g in (black, usual))
        assert width > 1.1 * narrow


def test_people_are_counted_to_say_which_groups_are_small() -> None:
    frame = log_of()
    by_person, by_row = (audit(frame, "hired", **said) for said in ({"person": "who"}, {}))
    few = frame.filter(pl.col("race") == "few")["who"].n_unique()
    assert by_person.populations[0].comparisons[0].small == (("few", few),)
    assert by_row.populations[0].comparisons[0].small == ()


@pytest.mark.parametrize("design", DESIGNS, ids="+".join)
def test_medians_and_ratios(design: dict[str, str]) -> None:
    frame = log_of()
    for report in (audit(frame, "pay", **design), audit(frame, "pay", "sex", **design)):
        for gap in report.populations[0].comparisons[0].gaps:
            assert gap.median_gap_interval[0] <= gap.median_gap <= gap.median_gap_interval[1]
            assert gap.ratio_interval[0] < gap.ratio < gap.ratio_interval[1]
    black = next(g for g in audit(frame, "pay", **design).populations[0].comparisons[0].gaps if g.group == "black")
    assert black.ratio_interval[1] < 1
    assert black.median_gap_interval[1] < 0


def test_before_and_after_an_explanatory_attribute() -> None:
    [comparison] = audit(log_of(), "hired", explanatory="job", person="who").populations[0].comparisons
    black = next(g for g in comparison.gaps if g.group == "black")
    assert black.before is not None
    assert black.before == pytest.approx(black.gap, abs=0.02)
    assert black.interval[0] < black.gap < black.interval[1] < 0


@pytest.mark.parametrize("design", DESIGNS, ids="+".join)
def test_the_usual_rates_of_a_prediction(design: dict[str, str]) -> None:
    frame = log_of()
    report = audit(frame, "guess", ground_truth="truth", **design)
    rows = audit(frame.drop("who", "weight"), "guess", ground_truth="truth")
    for errors, naive in zip(report.attributes[0].errors, rows.attributes[0].errors, strict=True):
        some = frame.filter(pl.col("race") == errors.group)
        weight = some["weight"].to_numpy() if "weights" in design else np.ones(len(some))
        negative, guessed = some["truth"].to_numpy() == 0, some["guess"].to_numpy() == 1
        assert errors.rates["FPR"].share == pytest.approx(weight[negative & guessed].sum() / weight[negative].sum())
        assert errors.rates["selection"].share == pytest.approx(np.average(guessed, weights=weight))
        assert errors.size == (some["who"].n_unique() if "person" in design else len(some))
        width, narrow = (e.rates["selection"].interval for e in (errors, naive))
        assert width[1] - width[0] > narrow[1] - narrow[0]
    assert "selection" in report.to_text()
    assert json.loads(report.to_json())["investigations"][0]["protected"][0]["error_rates"][0]["intervals"]["PPV"]


def test_rates_of_small_weights_are_not_rounded() -> None:
    """Weights may add up to 1: counts of them are then 0, but rates and their intervals are not."""
    frame = log_of().with_columns(weight=pl.col("weight") / pl.col("weight").sum())
    few, many = (audit(f, "hired", "sex", weights="weight").populations[0] for f in (frame, log_of()))
    assert few.table.rates[1][0].share == pytest.approx(many.table.rates[1][0].share)
    assert few.table.rates[1][0].interval == pytest.approx(many.table.rates[1][0].interval)
    assert sum(few.table.sizes) == pytest.approx(len(frame), abs=3)
    assert few.weight is None
    text = " ".join(audit(frame, "hired", "sex", weights="weight").to_text().split())
    assert "standing for" not in text
    assert "weighted by weight, relative to each other" in text


def test_nothing_is_said_to_be_missing() -> None:
    text = audit(log_of(), "pay", person="who").to_text()
    assert "Not given for such rows" not in text
    assert "median" in text
