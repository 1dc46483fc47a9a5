"""Rows that are not one person each, on a cluster of several processes: the same report to the last byte."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairtest as ft


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    rng = np.random.default_rng(9)
    person = np.repeat(np.arange(600), rng.integers(1, 7, 600))
    n = person.size
    sex, region = rng.choice(["f", "m"], 600)[person], rng.choice(list("NESW"), 600)[person]
    habit = rng.normal(size=600)[person] + 1.3 * ((sex == "f") & (region == "N"))
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pl.DataFrame(
        {
            "user": [f"user {p}" for p in person],
            "sex": sex,
            "region": region,
            "device": rng.choice(["phone", "desk"], n),
            "yes": (habit + rng.normal(size=n) > 0.5).astype(int),
            "weight": np.exp(0.7 * rng.normal(size=n)),
        }
    ).write_parquet(path, row_group_size=500)
    return path


@pytest.mark.parametrize("design", [{"person": "user"}, {"person": "user", "weights": "weight"}], ids="+".join)
def test_a_cluster_says_the_same(cluster, log, design):
    reports = []
    for engine in ("memory", cluster):
        source = ft.DataSource(log, engine=engine, **design)
        excluded = [] if "weights" in design else ["weight"]
        reports.append(ft.audit(source, "sex", "yes", explanatory="device", exclude=excluded).to_json())
    assert reports[0] == reports[1]
    assert '"rows"' in reports[0]
