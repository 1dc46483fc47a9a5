"""The calibration in short: a few cells of every metric, the same rule; and the rule itself, which can fail."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fairtest.statistics.resampling.samplers import Draws

ROOT = Path(__file__).resolve().parents[2]

CELLS = {
    "DIFF: base rate 0.02, n=1000, share 0.05, effect +0.05": 2_000,
    "DIFF: base rate 0.3, n=200, share 0.01, effect 0": 2_000,
    "RATIO: base rate 0.3, n=1000, share 0.05, effect +1": 2_000,
    "conditional DIFF: base rates 0.1 to 0.6, unequal effects, n=2000, share 0.1, 20 strata, effect +0.16": 400,
    "conditional DIFF: base rates 0.01 to 0.04, equal effects, n=1200, share 0.02, 6 strata, effect 0": 400,
    "conditional RATIO: base rates 0.1 to 0.6, equal effects, n=1200, share 0.5, 6 strata, effect 0": 20,
    "NMI: 5×2 table, n=100, share 0.01, effect 0": 1_000,
    "NMI: 3×4 table, n=10000, share 0.05, effect 0.086": 1_000,
    "NMI: 50×20 table, even, n=7000, share 0.05, effect 0": 100,
    "conditional NMI: 2×2 tables, n=2000, share 0.5, 20 strata, effect 0.031": 400,
    "MEAN: log-normal 1.5 errors, 3 times the spread, n=1000, share 0.05, effect 0": 1_000,
    "MEAN: log-normal 1 errors, 3 times the spread, n=200, share 0.2, effect 0.5": 1_000,
    "MEAN: zero-inflated errors, n=1000, share 0.05, effect 0": 1_000,
    "MEAN: count 0.1 errors, n=10000, share 0.01, effect 0": 200,
    "MEAN: normal errors, n=50, share 0.5, effect 0.5": 2_000,
    "conditional MEAN: log-normal 1 errors, n=1000, share 0.1, 50 strata, effect 0": 300,
    "conditional MEAN: normal errors, unequal effects, n=1200, share 0.5, 6 strata, effect 0.3": 300,
    "CORR: log-normal 1 errors, n=200, share 0.5, effect 0": 300,
    "CORR: unequal spread errors, n=1000, share 0.5, effect 0.3": 300,
    "conditional CORR: normal errors, unequal effects, n=1200, share 0.5, 6 strata, effect 0.3": 300,
    "ETA: 3 groups, normal errors, n=200, share 0.05, effect 0.1": 500,
    "ETA: 98.5%/1.0%/0.5%, count 0.03 errors, n=2000, share 0.005, effect 0": 400,
    "ETA: 99.5%/0.5%, rare amounts errors, n=2000, share 0.005, effect 0": 400,
    "conditional ETA: 3 groups, three a stratum, log-normal 1 errors, n=300, share 0.5, 100 strata, effect 0": 100,
    "conditional ETA: 3 groups, normal errors, n=1200, share 0.5, 6 strata, effect 0.1": 300,
    "RANK: log-normal 1 errors, n=200, share 0.5, effect 0": 300,
    "RANK: binary group, n=1000, share 0.5, effect 0.2": 300,
    "conditional RANK: normal errors, n=1200, share 0.5, 6 strata, effect 0": 200,
}


@pytest.fixture(scope="module")
def suite():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT), *sys.path])
        from calibration import __main__, levels, page, rules, runs
        from calibration.designs import grid as designs

        yield SimpleNamespace(main=__main__, designs=designs, levels=levels, page=page, rules=rules, runs=runs)


@pytest.fixture(scope="module")
def grid(suite):
    return {design.name: design for design in suite.designs.designs()}


@pytest.mark.parametrize("name", CELLS)
def test_cell(suite, grid, name):
    cell = suite.levels.evaluate(grid[name], CELLS[name], seed=3)
    assert cell.reps > 0.5 * CELLS[name]
    assert suite.rules.failures(cell, len(CELLS)) == []
    if cell.design.metric in ("DIFF", "RATIO") and cell.design.form != "conditional RATIO":
        assert cell.contradictions.tolist() == [0, 0]


def test_names_are_keys_and_every_form_is_there(grid, suite):
    assert len(grid) == len(suite.designs.designs())
    metrics = ("DIFF", "RATIO", "NMI", "MEAN", "CORR", "ETA", "RANK")
    assert {d.form for d in grid.values()} == {f + m for f in ("", "conditional ") for m in metrics}
    assert {f.split(":")[0] for f in CELLS} == {d.form for d in grid.values()}


@pytest.mark.parametrize(
    "name",
    [
        "CORR: log-normal pair 1, n=100000, share 0.5, effect 0.3",
        "CORR: binary group of threefold spread, n=100000, share 0.05, effect 0.2",
        "conditional CORR: normal errors, unequal effects, n=10000, share 0.5, 50 strata, effect 0.3",
        "ETA: 3 groups, the rare one of threefold spread, normal errors, n=100000, share 0.05, effect 0.1",
        "conditional ETA: 3 groups, normal errors, unequal effects, n=4000, share 0.5, 20 strata, effect 0.265",
        "NMI: 5×5 table, n=100000, share 0.05, effect 0.12",
        "DIFF: base rate 0.3, n=100000, share 0.2, effect +0.1",
    ],
)
def test_estimates_surround_the_true_effect(suite, grid, name):
    """Large samples: the mean estimate is the true effect that was worked out beforehand."""
    drawn = grid[name].draw(20, np.random.default_rng(0))
    estimate = suite.levels.find_metric(grid[name].metric).effect(drawn.summary)
    tolerance = max(4 * estimate.std() / np.sqrt(20), 0.001)
    assert estimate.mean() == pytest.approx(drawn.truth.mean(), abs=tolerance)


class Wald:
    """The textbook interval of a difference: what must not be used."""

    def p_values(self, batch, level):
        from scipy.special import ndtr

        d, se = self._difference(batch)
        return 2 * ndtr(-np.abs(d) / se), Draws()

    def interval(self, batch, p, alpha):
        from scipy.special import ndtri

        d, se = self._difference(batch)
        return d + ndtri(alpha / 2) * se, d - ndtri(alpha / 2) * se

    def notes(self, batch):
        return [()] * len(batch)

    @staticmethod
    def _difference(batch):
        counts = batch.summary.counts[:, 0]
        people = counts.sum(axis=1)
        rate = counts[:, 1] / np.maximum(people, 1)
        return rate[:, 1] - rate[:, 0], np.sqrt((rate * (1 - rate) / np.maximum(people, 1)).sum(axis=1)) + 1e-12


@pytest.fixture(scope="module")
def wald(suite, grid):
    design = grid["DIFF: base rate 0.02, n=1000, share 0.05, effect 0"]
    return suite.levels.evaluate(design, 2_000, seed=3, procedure=Wald())


def test_a_wrong_method_fails(suite, wald):
    found = suite.rules.failures(wald, 1_500)
    assert any("coverage" in line for line in found)
    assert suite.rules.judge([wald], known=()).broken


def test_a_known_weakness_must_be_warned_of(suite, wald):
    weak = suite.rules.Weak("DIFF: base rate 0.02, *", suite.rules.TAILS)
    verdict = suite.rules.judge([wald], known=(weak,))
    assert [entry for _, entry in verdict.weak] == [weak]
    assert any("the report says so in 0%" in line for line in verdict.broken)


def test_another_warning_does_not_count(suite, wald):
    weak = suite.rules.Weak("DIFF: base rate 0.02, *", suite.rules.TAILS)
    other = dataclasses.replace(wald, noted=Counter({suite.rules.SKEWED: wald.reps}))
    right = dataclasses.replace(wald, noted=Counter({suite.rules.TAILS: wald.reps}))
    assert any("the report says so in 0%" in line for line in suite.rules.judge([other], known=(weak,)).broken)
    assert not any("the report says so" in line for line in suite.rules.judge([right], known=(weak,)).broken)


def test_a_false_alarm_breaks_the_rule(suite, grid):
    cell = suite.levels.evaluate(grid["CORR: normal errors, n=200, share 0.5, effect 0"], 300)
    assert suite.rules.judge([cell], known=(), complete=False).broken == ()
    alarmed = dataclasses.replace(cell, noted=Counter({suite.rules.TAILS: cell.reps // 5}))
    assert any("plain" in line for line in suite.rules.judge([alarmed], known=(), complete=False).broken)


def test_a_weakness_that_is_gone_leaves_the_list(suite, grid):
    cell = suite.levels.evaluate(grid["DIFF: base rate 0.3, n=1000, share 0.5, effect 0"], 200)
    weak = suite.rules.Weak("DIFF: *", suite.rules.TAILS)
    assert any("nothing is weak" in line for line in suite.rules.judge([cell], known=(weak,)).broken)
    assert suite.rules.judge([cell], known=(weak,), complete=False).broken == ()


def test_a_warning_that_no_report_prints_is_noticed(suite):
    weak = suite.rules.Weak("nothing", "A text that nobody prints.")
    assert any("no text" in line for line in suite.rules.judge([], known=(weak,), complete=False).broken)


def test_the_list_is_in_order(suite, grid):
    """Each entry names cells of the grid and a warning that the code holds."""
    for weak in suite.rules.KNOWN_WEAK:
        assert weak.warning in suite.rules.printed_texts()
        assert any(suite.rules.fnmatchcase(name, weak.cells) for name in grid)


def test_limits_as_in_r(suite):
    """binom.test(5, 10)$conf.int"""
    assert suite.rules.limits(5, 10, 0.025) == pytest.approx((0.187086028447, 0.812913971553))
    assert suite.rules.limits(0, 10, 0.025)[0] == 0
    assert suite.rules.limits(10, 10, 0.025)[1] == 1


def test_whole_null_runs(suite):
    """Eight settings of different metrics, searches and corrections, twice each."""
    every = suite.runs.settings()
    results = list(suite.runs.null_runs(2, seed=1, which=every[:: len(every) // 8]))
    assert sum(found for _, found in results) <= 3  # more has a probability below 1 % at 5 %
    assert {t.what for t in suite.runs.tallies(results)} >= {"all runs", "DIFF"}


def test_the_page_is_written(suite, tmp_path, capsys):
    out = tmp_path / "calibration.md"
    assert suite.main.main(["--quick", "--metric", "RATIO", "--reps", "20", "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "| RATIO | 101 |" in text
    assert "Cells known to be weak" in text
    assert "0 rules broken" in capsys.readouterr().out
    other = tmp_path / "by two.md"
    suite.main.main(["--quick", "--metric", "RATIO", "--reps", "20", "--jobs", "2", "--out", str(other)])
    assert other.read_text(encoding="utf-8") == text


def test_a_part_of_the_grid_says_so(suite, tmp_path, capsys):
    out = tmp_path / "page.md"
    asked = ["--metric", "conditional NMI", "--only", "levels", "--reps", "2", "--minutes", "0", "--out", str(out)]
    assert suite.main.main(asked) == 0
    assert re.search(r"a part of the grid: \d+ of 78 cells", out.read_text(encoding="utf-8"))
    assert "0 rules broken" in capsys.readouterr().out
