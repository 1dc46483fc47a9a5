"""Disparities against a tolerance."""

import numpy as np
import pytest

import fairtest as ft
from fairtest.inference.verdict import Outcome, verdict
from fairtest.metrics.difference import DIFF
from fairtest.metrics.ratio import RATIO
from fairtest.statistics.rates.score import difference_interval


@pytest.mark.parametrize(
    ("interval", "outcome"),
    [
        ((0.06, 0.10), Outcome.ABOVE),
        ((-0.10, -0.06), Outcome.ABOVE),
        ((-0.04, 0.04), Outcome.BELOW),
        ((-0.05, 0.05), Outcome.BELOW),
        ((0.01, 0.09), Outcome.UNKNOWN),
        ((-0.20, 0.02), Outcome.UNKNOWN),
    ],
)
def test_three_verdicts(interval, outcome):
    assert verdict(DIFF, sum(interval) / 2, interval, 0.05, 500).outcome is outcome


def test_a_ratio_is_judged_on_its_logarithm():
    assert verdict(RATIO, -0.5, (-0.6, -0.3), 0.2, 500).outcome is Outcome.ABOVE
    assert verdict(RATIO, 0.0, (-0.19, 0.24), 0.2, 500).outcome is Outcome.BELOW
    assert verdict(RATIO, 0.0, (-0.21, 0.24), 0.2, 500).outcome is Outcome.UNKNOWN
    assert verdict(RATIO, 0.0, (-1.0, float("inf")), 0.2, 500).needed is None


def test_the_people_needed_would_be_about_enough():
    rng = np.random.default_rng(0)

    def asked(n, seed):
        sex = rng.choice(["f", "m"], n)
        people = {"sex": sex, "hired": (rng.random(n) < np.where(sex == "f", 0.46, 0.5)).astype(int)}
        return ft.audit(people, "sex", "hired", tolerance=0.02, seed=seed).populations[0]

    first = asked(1500, 0)
    assert first.verdict.outcome is Outcome.UNKNOWN
    assert first.verdict.needed > first.size
    decided = [asked(150_000, seed).verdict.outcome for seed in range(3)]
    assert Outcome.BELOW not in decided
    assert Outcome.ABOVE in decided


def test_the_verdict_is_in_every_form_of_the_report():
    rng = np.random.default_rng(1)
    people = {"sex": rng.choice(["f", "m"], 5000), "hired": rng.integers(0, 2, 5000)}
    report = ft.audit(people, "sex", "hired", tolerance=0.1)
    assert report.populations[0].verdict.outcome is Outcome.BELOW
    assert "Against the tolerance (10.0 points): the disparity is within it." in report.to_text()
    assert report.to_dict()["investigations"][0]["protected"][0]["population"]["verdict"] == "below"
    assert report.to_dict()["settings"]["tolerance"] == 0.1


def test_nothing_found_says_what_could_have_been_seen():
    rng = np.random.default_rng(2)
    people = {"sex": rng.choice(["f", "m"], 4000), "hired": rng.integers(0, 2, 4000)}
    report = ft.audit(people, "sex", "hired")
    assert report.significant == 0
    size = report.attributes[0].detectable
    assert f"A gap of about {100 * size:.1f} points over everybody would have been seen" in report.to_text()
    found = 0
    for seed in range(60):
        sex = rng.choice(["f", "m"], 4000)
        planted = (rng.random(4000) < 0.5 + np.where(sex == "f", size / 2, -size / 2)).astype(int)
        found += ft.audit({"sex": sex, "hired": planted}, "sex", "hired", seed=seed).populations[0].significant
    assert 36 <= found <= 58  # 80 % of 60, give or take


@pytest.mark.parametrize("tolerance", [0, 1, -0.1, 5, True])
def test_a_tolerance_is_a_size_an_effect_can_have(tolerance):
    source = ft.DataSource({"sex": ["f", "m"] * 200, "hired": [0, 1, 1, 1] * 100})
    with pytest.raises(ft.InputError, match="'tolerance'"):
        ft.audit(source, "sex", "hired", tolerance=tolerance)
    assert source.budget.left == 1


@pytest.mark.parametrize("tolerance", [0.05, 0.02])
def test_the_people_needed_bring_a_verdict_in_four_of_five_cases(tolerance):
    """True differences near the tolerance; the next sample has as many people as were said to be needed."""
    rng = np.random.default_rng(7)

    def estimate(gap, people):
        half = people // 2
        x1, x2 = rng.binomial(half, 0.5 + gap), rng.binomial(half, 0.5)
        pair = [np.array([[v]]) for v in (x1, half, x2, half)]
        low, high = difference_interval(*pair, 0.05)
        return verdict(DIFF, float(x1 - x2) / half, (float(low[0]), float(high[0])), tolerance, people)

    came = []
    for gap in rng.uniform(-0.02, tolerance + 0.08, 1_500):
        first = estimate(gap, 1_000)
        if first.outcome is Outcome.UNKNOWN and first.needed is not None:
            came.append(estimate(gap, first.needed).outcome is not Outcome.UNKNOWN)
    assert len(came) > 500
    assert 0.76 < np.mean(came) < 0.86


def test_the_chance_is_stated():
    rng = np.random.default_rng(0)
    people = {"sex": rng.choice(["f", "m"], 1500), "hired": rng.random(1500) < 0.5}
    report = ft.audit(people, "sex", "hired", tolerance=0.03)
    population = report.to_dict()["investigations"][0]["protected"][0]["population"]
    assert population["people_needed_chance"] == 0.8
    assert population["people_needed"] == report.populations[0].verdict.needed
    assert "the chance of a verdict is 80 %" in report.to_text()
