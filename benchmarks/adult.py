"""Adult census income (48,842 people): sex and race, from data frame to findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import fairtest as ft
from benchmarks.measure import Measured, cpu_seconds

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "adult.csv.gz"
PROTOTYPE, PROTOTYPE_ASYMPTOTIC = 91.0, 8.7


def run(data: Path = DATA, rows: int | None = None, repeats: int = 3) -> list[Measured]:
    """Return the cost of the paper's search with our statistics, of the default, and of the paper's preset."""
    if not data.exists():
        print(f"adult: SKIPPED, there is no {data.name} in ../{data.parent.parent.name}/{data.parent.name}")
        return []
    frame = pl.read_csv(data, n_rows=rows)
    measured = []
    for name, audit, most in (
        ("tree, Holm, half for training", _audit_tree, PROTOTYPE / 100),
        ("default settings", _audit, PROTOTYPE / 40),
        ("preset paper, NMI", _audit_as_in_the_paper, PROTOTYPE / 40),
    ):
        seconds, report = cpu_seconds(lambda: frame, audit, repeats)
        print(f"adult, {name}: {report.tested} tested, {report.significant} significant, {report.reported} reported")
        measured.append(Measured(f"Adult, sex and race, {name}", seconds, PROTOTYPE, most))
    return [*measured, Measured("  the last, prototype asymptotic only", seconds, PROTOTYPE_ASYMPTOTIC)]


def _audit_tree(frame: pl.DataFrame) -> ft.Report:
    return _ask(frame, search="tree", correction="holm", train_size=0.5)


def _audit(frame: pl.DataFrame) -> ft.Report:
    return _ask(frame)


def _audit_as_in_the_paper(frame: pl.DataFrame) -> ft.Report:
    return _ask(frame, metrics="NMI", preset="paper")


def _ask(frame: pl.DataFrame, **how: Any) -> ft.Report:
    """Ask without the sampling weight, which says nothing of a person."""
    return ft.audit(frame, ["sex", "race"], "income", exclude="fnlwgt", **how)
