"""A million people with State, Race, Gender and Income, and ten planted groups: loading apart."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import fairtest as ft
from benchmarks.measure import Measured, cpu_seconds
from fairtest.datasets.planted import microbenchmark

if TYPE_CHECKING:
    import polars as pl

PEOPLE = 988_871
PROTOTYPE, PROTOTYPE_LOADING = 137.0, 5.0
AT_MOST = 2.0


def run(people: int = PEOPLE, context_size: int = 2_000, repeats: int = 3) -> list[Measured]:
    """Return the cost of loading, of Income, and of Race and Income together."""
    made = microbenchmark(context_size, delta=0.1, seed=0, people=people)
    load = partial(ft.DataSource, made.frame)
    one, report = cpu_seconds(load, partial(_audit, protected=["Income"]), repeats)
    hits = len(made.found_by(finding.context for finding in report.findings))
    print(f"million: {hits} of {len(made.planted)} planted, {len(report.findings)} groups reported")
    both, _ = cpu_seconds(load, partial(_audit, protected=["Race", "Income"]), repeats)
    return [
        Measured("A million people: loading a CSV file", _loading(made.frame, repeats), PROTOTYPE_LOADING),
        Measured("A million people: Income, after loading", one, at_most=AT_MOST),
        Measured("A million people: Race and Income, after loading", both, PROTOTYPE, AT_MOST),
    ]


def _audit(source: ft.DataSource, protected: list[str]) -> ft.Report:
    return ft.audit(source, protected, "Output", min_size=50)


def _loading(frame: pl.DataFrame, repeats: int) -> float:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        frame.write_csv(path)
        return cpu_seconds(lambda: path, ft.DataSource, repeats)[0]
