"""One task for FairTest and other tools: the gap between two groups in every conjunction of up to three values.

Numbers are cut into a few bins beforehand, so that a predicate is ``attribute = value`` for everybody. The other tools
get the people FairTest trains on and search; FairTest searches and validates on the other half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from benchmarks.fresh import Run, in_a_new_process
from benchmarks.people import people
from fairtest.data.holdout import TRAIN, Holdout

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["adult_task", "binned", "made_up_task", "run", "write_task"]

ATTRIBUTES = [
    "age", "workclass", "education_num", "marital_status", "occupation", "relationship", "race", "capital_gain",
    "capital_loss", "hours_per_week", "native_country",
]  # fmt: skip
BINS = 5
LEAST = 100
"""A conjunction needs this many people in the training half."""
FAIRLEARN = 1 / 40
"""The share of the sets of attributes that fairlearn gets; its time is to be multiplied."""


def adult_task(data: Path) -> pl.DataFrame:
    """Return Adult with sex and income first, and eleven attributes with a few values each."""
    frame = pl.read_csv(data)
    return binned(frame.select("sex", "income", *ATTRIBUTES))


def made_up_task(rows: int, attributes: int) -> pl.DataFrame:
    """Return made-up people with so many attributes, a few values each."""
    return binned(people(rows, attributes + 2))


def binned(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with numbers in up to five bins at quantiles, and missing values as a value."""
    return frame.with_columns(
        [_bins(series) if series.dtype.is_numeric() else series.fill_null("?") for series in frame.get_columns()]
    )


def _bins(series: pl.Series) -> pl.Series:
    numbers = series.to_numpy()
    cuts = np.unique(np.quantile(numbers, np.arange(1, BINS) / BINS, method="lower"))
    cuts = cuts[cuts < numbers.max()]
    return pl.Series(series.name, np.searchsorted(cuts, numbers, side="left"))


def write_task(frame: pl.DataFrame, folder: Path, seed: int = 0) -> tuple[Path, Path]:
    """Write the task for FairTest (everybody) and for the others (the half FairTest trains on)."""
    whole, half = folder / "task.parquet", folder / "task.npz"
    frame.write_parquet(whole)
    rows = Holdout(frame.height, 1, 0.5, seed).rows(TRAIN)
    first, second, *names = frame.columns
    stored: dict[str, Any] = {"names": np.array(names)}
    for number, name in enumerate(names):
        levels, codes = np.unique(frame[name].to_numpy().astype(str), return_inverse=True)
        stored[f"levels_{number}"] = levels
        stored[f"codes_{number}"] = codes[rows].astype(np.int16)
    stored["group"] = _rarer(frame[first])[rows]
    stored["output"] = _rarer(frame[second])[rows]
    np.savez(half, **stored)
    return whole, half


def _rarer(series: pl.Series) -> np.ndarray:
    """Return who has the rarer of two values: the group, and the output, that effects are about."""
    rarer = series.value_counts(sort=True)[series.name][-1]
    return (series == rarer).to_numpy()


def run(frame: pl.DataFrame, folder: Path, python: Path | None, limits: dict[str, float], what: str) -> list[Run]:
    """Measure FairTest, then every other tool."""
    whole, half = write_task(frame, folder)
    own: dict[str, Any] = {"path": str(whole), "least": LEAST, "repeats": 5}
    numbers = [name for name in frame.columns if frame[name].dtype.is_numeric()]
    runs = [
        in_a_new_process("FairTest", "benchmarks.own", "conjunctions", {**own, "categorical": numbers}),
        in_a_new_process(
            "FairTest, ≤ and > on all bins", "benchmarks.own", "conjunctions", {**own, "numeric": numbers}
        ),
    ]
    if python is None:
        print(f"{what}: other tools SKIPPED, there is no environment for them")
        return runs
    common: dict[str, Any] = {"path": str(half), "least": LEAST, **limits}
    tools: list[tuple[str, str, dict[str, Any]]] = [
        ("check: what FairTest looks at, by pandas", "distinct", {}),
        ("plain numpy, counting only", "bincount", {"repeats": 3}),
        ("pysubgroup, Apriori", "pysubgroup", {"algorithm": "Apriori", "repeats": 3}),
        ("pysubgroup, DFS", "pysubgroup", {"algorithm": "DFS", "repeats": 3}),
        ("pysubgroup, GP-growth", "pysubgroup", {"algorithm": "GpGrowth"}),
        ("DivExplorer", "divexplorer", {}),
        ("SliceLine, ten best by mean output", "sliceline", {}),
        ("aequitas", "aequitas", {}),
        ("fairlearn, a fortieth", "fairlearn", {"share": FAIRLEARN}),
    ]
    for name, function, options in tools:
        runs.append(in_a_new_process(name, "benchmarks.peer_tools", function, {**common, **options}, python))
    return runs
