"""Whole runs on data without any association: hardly ever may one report a finding.

Short versions of the simulation that section 7 of the statistics asks for. A run must report something in at most 5 %
of data sets; a test fails if the number seen has a probability below 1 in 1,000 under that.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import fairtest as ft

RUNS = 60
PEOPLE = 800


def people(seed: int) -> pl.DataFrame:
    """Everything is independent of everything else; one group is small, one output skewed."""
    rng = np.random.default_rng([2024, seed])
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], PEOPLE, p=[0.3, 0.7]),
            "race": rng.choice(list("abcd"), PEOPLE, p=[0.55, 0.3, 0.1, 0.05]),
            "age": rng.integers(2, 8, PEOPLE) * 10,
            "city": rng.choice(list("PQRST"), PEOPLE),
            "job": rng.choice(list("JKL"), PEOPLE),
            "hired": rng.random(PEOPLE) < 0.25,
            "choice": rng.choice(["no", "maybe", "yes"], PEOPLE, p=[0.6, 0.3, 0.1]),
            "pay": np.exp(rng.normal(0, 0.7, PEOPLE)).round(1),
        }
    )


CASES = {
    "DIFF": {"protected": "sex", "output": "hired"},
    "NMI": {"protected": "race", "output": "choice"},
    "MEAN": {"protected": "sex", "output": "pay"},
    "CORR": {"protected": "sex", "output": "pay", "metrics": "CORR"},
    "ETA": {"protected": "race", "output": "pay"},
    "RANK": {"protected": "age", "output": "pay", "metrics": "RANK"},
}


def reports_something(case: dict, seed: int) -> bool:
    used = [case["protected"], case["output"], case.get("explanatory")]
    contextual = [c for c in ("age", "city") if c not in used]
    report = ft.audit(people(seed), **case, contextual=contextual, min_size=40, max_depth=2, seed=seed)
    strata = [s for f in (*report.populations, *report.findings) for s in f.strata]
    return report.reported > 0 or any(s.p_value is not None and s.p_value <= 0.05 for s in strata)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_without_association_hardly_any_run_reports_one(case):
    false = sum(reports_something(case, seed) for seed in range(RUNS))
    assert stats.binomtest(false, RUNS, 0.05, alternative="greater").pvalue >= 0.001


def test_the_check_can_fail():
    """With the weakest of associations planted, most runs report it."""
    found = 0
    for seed in range(20):
        frame = people(seed)
        rng = np.random.default_rng(seed)
        hired = pl.Series(rng.random(PEOPLE) < np.where(frame["sex"] == "f", 0.15, 0.35))
        report = ft.audit(frame.with_columns(hired=hired), "sex", "hired", contextual=["city", "job"], min_size=40)
        found += report.reported > 0
    assert found > 10
