"""Errors of predictions from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from calling import fairtest

import fairtest as ft
from fairtest.datasets.healthcare import healthcare

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("errors") / "patients.csv"
    healthcare(4_000, seed=1).write_csv(path)
    return path


class TestErrorProfiles:
    def test_is_the_library_s(self, predictions: Path) -> None:
        roles = ("-p", "age", "-o", "predicted", "--truth", "visits", "-x", "sex", "-x", "urgent_care")
        run = fairtest("errors", predictions, *roles, "--json", "-")
        contextual = ["sex", "urgent_care"]
        report = ft.audit(predictions, "age", "predicted", ground_truth="visits", contextual=contextual)
        ours, theirs = json.loads(run.out), json.loads(report.to_json())
        command = ours["investigations"][0].pop("repeat")
        theirs["investigations"][0].pop("repeat")
        assert ours == theirs
        assert command == f"fairtest errors patients.csv {' '.join(roles[:4])} -x sex -x urgent_care --truth visits"

    def test_notion(self, predictions: Path) -> None:
        run = fairtest(
            "errors", predictions, "-p", "sex", "-o", "answered", "--truth", "smoker", "--notion", "fnr", "-x", "age"
        )
        assert (run.code, run.err) == (0, "")
        assert "sex → false-negative rate of answered" in run.out

    def test_train_only(self, predictions: Path) -> None:
        asked = ("-p", "age", "-o", "predicted", "--truth", "visits", "-x", "sex", "--train-only")
        run = fairtest("errors", predictions, *asked)
        assert run.code == 0
        assert "age → absolute error of predicted, by CORR" in run.out

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--truth", "visit"), "Did you mean 'visits'"),
            (("--truth", "visits", "--error", "absolut"), "Did you mean 'absolute'"),
            (("--truth", "visits", "--notion", "fpr"), "needs labels"),
            ((), "Missing option '--truth'"),
        ],
    )
    def test_mistakes(self, predictions: Path, options: tuple[str, ...], message: str) -> None:
        run = fairtest("errors", predictions, "-p", "age", "-o", "predicted", *options)
        assert run.code == 2
        assert message in run.err
        assert len(run.err.splitlines()) == 1
