"""The report as a data frame."""

import dataclasses

import pandas as pd
import polars as pl
import pytest
import report_builders as build

COLUMNS = [
    "protected", "output", "context", "size", "metric", "effect", "low", "high", "low_single", "high_single",
    "p_value", "p_value_raw", "significant", "population", "sentence",
]  # fmt: skip


@pytest.mark.parametrize(("name", "report"), build.all_reports().items())
def test_one_row_for_each_population_and_finding(name, report):
    frame = report.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == COLUMNS
    assert frame["population"].to_list() == [True] + [False] * len(report.findings)
    assert frame.schema["effect"] == pl.Float64
    assert frame.schema["significant"] == pl.Boolean


def test_values():
    row = build.income_report().to_frame().row(1, named=True)
    assert row["context"] == "age > 46, education > 9, education ≤ 11"
    assert (row["size"], row["metric"], row["effect"]) == (1444, "DIFF", -0.32504)
    assert (row["low"], row["high"], row["low_single"], row["high_single"]) == (-0.392, -0.248, -0.365, -0.28)
    assert row["sentence"].startswith("Among the 1,444 people")


def test_undefined_is_null_and_open_is_infinite():
    row = build.undefined_report().to_frame().row(0, named=True)
    assert row["effect"] is row["low"] is row["p_value"] is None
    frame = build.open_report().to_frame()
    assert frame["low"][0] == -float("inf")
    assert frame["p_value"].min() == 1e-300


def test_pandas_data_gives_a_pandas_frame():
    for report in (build.income_report(), build.undefined_report()):
        frame = dataclasses.replace(report, data=build.data(library="pandas")).to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert list(frame.columns) == COLUMNS
        assert frame["effect"].dtype == "float64"
        assert frame["population"].dtype == "bool"
