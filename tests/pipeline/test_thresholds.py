"""Errors that make sense: scores with a threshold, and questions that are refused."""

import numpy as np
import polars as pl
import pytest

import fairtest as ft


def defendants(n=3_000, seed=0, whole=True):
    rng = np.random.default_rng(seed)
    race = rng.choice(["black", "white"], n)
    again = rng.random(n) < 0.4
    score = np.clip(np.round(rng.normal(4.5 + 2 * again + 1.5 * (race == "black"), 2)), 1, 10)
    score = score.astype(int) if whole else score + rng.uniform(0, 0.5, n)
    return pl.DataFrame({"race": race, "score": score, "again": again.astype(int)})


@pytest.mark.parametrize("whole", [True, False])
def test_predicted_positive_from_the_threshold_on(whole):
    frame = defendants(whole=whole)
    report = ft.audit(frame, "race", "score", ground_truth="again", threshold=5, contextual=[])
    for group in report.attributes[0].errors:
        some = frame.filter(pl.col("race") == group.group)
        said, true = (some["score"] >= 5).to_numpy(), some["again"].to_numpy() == 1
        assert group.cells == (
            int((~said & ~true).sum()), int((said & ~true).sum()), int((~said & true).sum()), int((said & true).sum()),
        )  # fmt: skip
    text = " ".join(report.to_text().split())
    assert "score from 5 on, a prediction of 1," in text
    assert "The usual rates, each with its 95 % interval" in text
    assert report.to_dict()["investigations"][0]["protected"][0]["error_rates"][0]["group"] in {"black", "white"}
    assert "The usual rates" in report.to_html()


def test_notions_know_the_threshold():
    frame = defendants()
    rate = ft.audit(frame, "race", "score", ground_truth="again", threshold=5, notion="fpr", contextual=[])
    errors = {group.group: group.rates["FPR"].share for group in rate.attributes[0].errors}
    table = rate.populations[0].table
    assert dict(zip(table.columns, table.shares(1), strict=True)) == pytest.approx(errors)
    for notion in ("selection-rate", "equalized-odds", "accuracy"):
        ft.audit(frame, "race", "score", ground_truth="again", threshold=5, notion=notion, contextual=[])


@pytest.mark.parametrize("whole", [True, False])
def test_a_score_on_its_own_scale_is_refused_with_two_ways_out(whole):
    with pytest.raises(ft.InputError, match=r"a score from 1.* to 10.*threshold.*calibrated probability"):
        ft.audit(defendants(whole=whole), "race", "score", ground_truth="again")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threshold": "five"}, "must be a number"),
        ({"threshold": 5, "notion": "predictive-parity"}, "column of its own"),
        ({"threshold": 5, "output": "race", "protected": "again", "ground_truth": "score"}, "no numbers"),
    ],
)
def test_thresholds_that_make_no_sense(options, words):
    asked = {"protected": "race", "output": "score", "ground_truth": "again"} | options
    with pytest.raises(ft.InputError, match=words):
        ft.audit(defendants(), **asked)


def test_a_calibrated_probability_is_welcome():
    frame = defendants().with_columns(score=pl.col("score") / 11)
    report = ft.audit(frame, "race", "score", ground_truth="again", contextual=[])
    assert report.errors.error == "brier"
