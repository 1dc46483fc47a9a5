"""MEAN through the public interface: in units, as the default for two groups and a number, with a level that holds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.exceptions import InputError


def people(n=3000, seed=0, gap=5.0):
    rng = np.random.default_rng(seed)
    sex = np.where(rng.random(n) < 0.4, "f", "m")
    return pl.DataFrame(
        {
            "sex": sex,
            "age": rng.integers(18, 80, n),
            "city": rng.choice(list("PQR"), n),
            "year": 1990 + rng.normal(0, 3, n) - gap * (sex == "f"),
        }
    )


def audit(frame, output="year", **options):
    return ft.audit(frame, "sex", output, reference={"sex": "m"}, max_depth=1, **options)


def test_the_effect_is_in_the_unit_of_the_output():
    frame = people()
    report = audit(frame, split=False)
    population = report.populations[0]
    mean = dict(frame.group_by("sex").agg(pl.col("year").mean()).iter_rows())
    assert population.metric == "MEAN"
    assert population.effect == pytest.approx(mean["f"] - mean["m"], rel=1e-9)
    low, high = population.interval_single
    assert low < population.effect < high
    assert high - low < 1
    for finding in report.findings:
        first, second = (group.mean for group in finding.table.rows)
        assert finding.effect == pytest.approx(second - first, rel=1e-9)


def test_numbers_far_from_everybodys_centre_keep_their_unit():
    """Contexts whose sums are taken again about their own mean are told in the same unit."""
    frame = people().with_columns(
        year=pl.when(pl.col("city") == "P").then(pl.col("year") / 1000 + 1e6).otherwise(pl.col("year"))
    )
    inside = frame.filter(pl.col("city") == "P")
    mean = dict(inside.group_by("sex").agg(pl.col("year").mean()).iter_rows())
    report = ft.audit(frame, "sex", "year", reference={"sex": "m"}, contextual=["city"], split=False)
    (found,) = (f for f in report.findings if f.size == len(inside))
    assert found.effect == pytest.approx(mean["f"] - mean["m"], rel=1e-6, abs=1e-9)


def test_the_sentence_has_both_averages_and_the_difference():
    text = audit(people()).to_text()
    assert "Average year is 5.08 lower for people with sex = f than for those with sex = m: 1,98" in " ".join(
        text.split()
    )
    assert "; median" in text
    assert "difference (MEAN)" in text


def test_a_tolerance_is_in_the_unit_of_the_output():
    report = audit(people(), tolerance=2.0)
    assert report.populations[0].verdict.outcome.value == "above"
    assert audit(people(), tolerance=8.0).populations[0].verdict.outcome.value == "below"
    with pytest.raises(InputError, match="between 0 and 1 for CORR"):
        audit(people(), tolerance=2.0, metrics="CORR")


@pytest.mark.parametrize(
    "options", [{"preset": "paper"}, {"correction": "max-t"}, {"explanatory": "city"}, {"method": "resampling"}]
)
def test_everything_that_follows_from_a_metric(options):
    report = audit(people(1200), **options)
    population = report.populations[0]
    assert population.metric == "MEAN"
    assert population.significant
    assert population.effect == pytest.approx(-5, abs=1)
    assert population.interval[1] < 0
    assert "MEAN" in report.to_html()


def test_engines_agree(tmp_path):
    path = tmp_path / "people.parquet"
    people(1200).write_parquet(path)
    here, disk = (audit(source, engine=engine) for source, engine in ((people(1200), "memory"), (path, "disk")))
    assert [(f.effect, f.p_value, f.interval) for f in here.findings] == [
        (f.effect, f.p_value, f.interval) for f in disk.findings
    ]


def test_ordered_outputs_are_compared_in_steps():
    frame = people().with_columns(grade=pl.Series(np.where(np.arange(3000) % 3, "good", "bad")))
    frame = frame.with_columns(grade=pl.when(pl.col("sex") == "f").then(pl.lit("fair")).otherwise(pl.col("grade")))
    report = audit(frame.drop("year"), "grade", ordered={"grade": ["bad", "fair", "good"]}, split=False)
    steps = frame["grade"].replace_strict({"bad": 0, "fair": 1, "good": 2})
    mean = dict(frame.with_columns(steps=steps).group_by("sex").agg(pl.col("steps").mean()).iter_rows())
    population = report.populations[0]
    assert population.metric == "MEAN"
    assert population.effect == pytest.approx(mean["f"] - mean["m"], rel=1e-9)


def test_calibration_of_two_groups_is_a_difference_of_means():
    rng = np.random.default_rng(1)
    score = rng.beta(1, 9, 4000)
    group = rng.random(4000) < 0.3
    frame = pl.DataFrame(
        {
            "sex": np.where(group, "f", "m"),
            "score": score,
            "late": (rng.random(4000) < score + 0.15 * group).astype(int),
        }
    )
    report = ft.audit(frame, "sex", "score", ground_truth="late", notion="calibration", reference={"sex": "m"})
    population = report.populations[0]
    assert population.metric == "MEAN"
    assert population.effect == pytest.approx(-0.15, abs=0.05)
    assert population.significant


@pytest.mark.parametrize("metric", ["MEAN", "CORR"])
def test_one_rare_amount_is_no_finding(metric):
    """One of two people of a group has the only amount: the old p-value of CORR was 1e-300."""
    n = 400
    frame = pl.DataFrame(
        {"sex": ["f"] * 2 + ["m"] * (n - 2), "paid": [1.0] + [0.0] * (n - 1), "city": list("PQ") * (n // 2)}
    )
    report = ft.audit(frame, "sex", "paid", metrics=metric, split=False, numeric=["paid"])
    assert report.populations[0].p_value_raw >= 1 / n


@pytest.mark.parametrize("metric", ["MEAN", "CORR"])
def test_skewed_amounts_of_unequal_spread_are_no_finding(metric):
    found = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = 4000
        group = rng.random(n) < 0.2
        pay = np.where(group, 3, 1) * (rng.lognormal(0, 1.5, n) - np.exp(1.125))
        frame = pl.DataFrame(
            {
                "sex": np.where(group, "f", "m"),
                "pay": pay,
                "age": rng.integers(18, 80, n),
                "city": rng.choice(list("PQRSTU"), n),
                "job": rng.choice(list("JKLM"), n),
            }
        )
        found += ft.audit(frame, "sex", "pay", metrics=metric, seed=seed).significant > 0
    assert found <= 1
