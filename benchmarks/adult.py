"""Adult census income (48,842 people): sex and race, default statistics, from data frame to findings."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import fairtest as ft
from benchmarks.measure import Measured, cpu_seconds

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "adult.csv.gz"
PROTOTYPE, PROTOTYPE_ASYMPTOTIC = 91.0, 8.7


def run(data: Path = DATA, rows: int | None = None, repeats: int = 3) -> list[Measured]:
    """Return the cost with the default metrics, and with the paper's preset and metric."""
    if not data.exists():
        print(f"adult: SKIPPED, there is no {data.name} in ../{data.parent.parent.name}/{data.parent.name}")
        return []
    frame = pl.read_csv(data, n_rows=rows)
    seconds, report = cpu_seconds(lambda: frame, _audit, repeats)
    print(f"adult: {report.tested} tested, {report.significant} significant, {report.reported} reported")
    paper, report = cpu_seconds(lambda: frame, _audit_as_in_the_paper, repeats)
    print(f"adult, paper: {report.tested} tested, {report.significant} significant, {report.reported} reported")
    return [
        Measured("Adult, sex and race", seconds, PROTOTYPE, PROTOTYPE / 40),
        Measured("Adult, sex and race, preset paper, NMI", paper, PROTOTYPE, PROTOTYPE / 40),
        Measured("  the same, prototype asymptotic only", paper, PROTOTYPE_ASYMPTOTIC),
    ]


def _audit(frame: pl.DataFrame) -> ft.Report:
    return ft.audit(frame, ["sex", "race"], "income")


def _audit_as_in_the_paper(frame: pl.DataFrame) -> ft.Report:
    return ft.audit(frame, ["sex", "race"], "income", metrics="NMI", preset="paper")
