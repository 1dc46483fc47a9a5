"""Error profiles agree with fairlearn and scikit-learn, by group, on the same predictions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from fairlearn_rates import GROUPS, people, rates

import fairtest as ft

REFERENCE = json.loads(Path(__file__).with_name("fairlearn_rates.json").read_text("utf-8"))
ABOUT = {
    "false-positive-rate": "False positive",
    "false-negative-rate": "False negative",
    "selection-rate": 1,
    "accuracy": "Correct",
}


def population(**asked) -> ft.Finding:
    """Return the whole table as one population, with nothing held back."""
    report = ft.audit(people(), "group", contextual=[], split=False, **asked)
    return report.populations[0]


@pytest.mark.parametrize("notion", ABOUT)
def test_rates(notion):
    table = population(output="said", ground_truth="truth", notion=notion).table
    found = table.shares(table.rows.index(ABOUT[notion]))
    assert dict(zip(table.columns, found, strict=True)) == pytest.approx(REFERENCE[notion], rel=1e-12)


def test_the_table_of_usual_rates_for_arrays():
    """As they are typed in fairlearn's documentation."""
    everybody = people()
    arrays = {"y_true": everybody["truth"], "y_pred": everybody["said"], "sensitive_features": everybody["group"]}
    report = ft.audit(**arrays)
    same = {
        "selection": "selection-rate",
        "accuracy": "accuracy",
        "FPR": "false-positive-rate",
        "FNR": "false-negative-rate",
        "PPV": "precision",
    }
    for group in report.attributes[0].errors:
        for name, theirs in same.items():
            assert group.rates[name].share == pytest.approx(REFERENCE[theirs][group.group], rel=1e-12)
    numbers = ft.audit(y_true=everybody["amount"], y_pred=everybody["guess"], sensitive_features=everybody["group"])
    means = {group.name: group.mean for group in numbers.populations[0].table.rows}
    assert means == pytest.approx(REFERENCE["absolute"], rel=1e-12)


def test_rates_from_the_three_classes():
    """Correct, false positive and false negative give the same rates, once the truth is known."""
    table = population(output="said", ground_truth="truth").table
    everybody = people()
    for at, group in enumerate(table.columns):
        truth = everybody["truth"][everybody["group"] == group]
        count = {row: table.counts[i][at] for i, row in enumerate(table.rows)}
        assert count["False positive"] / (truth == 0).sum() == pytest.approx(
            REFERENCE["false-positive-rate"][group], rel=1e-12
        )
        assert count["False negative"] / truth.sum() == pytest.approx(
            REFERENCE["false-negative-rate"][group], rel=1e-12
        )


@pytest.mark.parametrize(
    ("error", "output", "truth"),
    [
        ("absolute", "guess", "amount"),
        ("squared", "guess", "amount"),
        ("brier", "probability", "truth"),
        ("log-loss", "probability", "truth"),
    ],
)
def test_errors_of_numbers(error, output, truth):
    table = population(output=output, ground_truth=truth, error=error).table
    means = {group.name: group.mean for group in table.rows}
    assert means == pytest.approx(REFERENCE[error], rel=1e-12)


def test_errors_of_numbers_are_those_of_numpy():
    everybody = people()
    table = population(output="guess", ground_truth="amount", error="signed").table
    error = everybody["guess"] - everybody["amount"]
    for group in table.rows:
        here = error[everybody["group"] == group.name]
        assert group.size == here.size
        assert group.mean == pytest.approx(here.mean(), rel=1e-12)
        assert group.deviation == pytest.approx(here.std(ddof=1), rel=1e-12)
        assert group.quantiles == pytest.approx(np.quantile(here, [0, 0.25, 0.5, 0.75, 1]), rel=1e-12)


def test_the_numbers_are_still_those_of_fairlearn():
    for name, groups in rates().items():
        assert groups == pytest.approx(REFERENCE[name], rel=1e-12)
    assert set(REFERENCE["accuracy"]) == set(GROUPS)
