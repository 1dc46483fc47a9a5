"""From file to report as rows, columns and contexts grow, each in a new process, beside scikit-learn's tree grower."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from benchmarks.fresh import Run, in_a_new_process
from benchmarks.people import write_people

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Size", "measure"]

MOST_BINNED = 33
MOST_REPEATED = 1_000_000


class Size:
    """A table: rows × columns, with the runs on it by name."""

    def __init__(self, rows: int, columns: int, min_size: int = 100) -> None:
        self.rows = rows
        self.columns = columns
        self.min_size = min_size
        self.runs: dict[str, Run] = {}

    def __str__(self) -> str:
        return f"{self.rows:,} × {self.columns}"


def measure(
    sizes: Sequence[Size],
    folder: Path,
    python: Path | None,
    searches: Sequence[str] = ("tree", "auto"),
) -> Sequence[Size]:
    """Load, search and validate tables of several sizes, each in several new processes but the largest in one."""
    for size in sizes:
        path = folder / f"people-{size.rows}-{size.columns}.parquet"
        if not path.exists():
            write_people(path, size.rows, size.columns)
        given = {"path": str(path), "min_size": size.min_size}
        loading = {**given, "search": "tree", "load_only": True}
        size.runs["loading"] = _quickest(f"{size}, loading", loading, size)
        for search in searches:
            name = f"{size}, min_size {size.min_size:,}, {search}"
            size.runs[search] = _quickest(name, {**given, "search": search}, size)
        if python is not None:
            binned = folder / "binned.npz"
            _write_binned(path, binned)
            given = {"path": str(binned), "repeats": 3}
            name = f"{size}, scikit-learn's tree grower"
            size.runs["yardstick"] = in_a_new_process(name, "benchmarks.peer_tools", "tree_grower", given, python)
    return sizes


def _quickest(name: str, given: dict[str, Any], size: Size) -> Run:
    """Return the quickest of a few runs."""
    several = range(3 if size.rows <= MOST_REPEATED else 1)
    runs = [in_a_new_process(name, "benchmarks.own", "file_to_report", given) for _ in several]
    return min(runs, key=lambda run: inf if run.ended else run.cpu)


def _write_binned(path: Path, to: Path) -> None:
    """Write the columns in codes of up to 33 bins, as gradient boosting has them when it starts to grow."""
    frame = pl.read_parquet(path / "*.parquet" if path.is_dir() else path)
    codes = np.empty((frame.height, frame.width - 2), dtype=np.uint8, order="F")
    for number, name in enumerate(frame.columns[2:]):
        series = frame[name]
        if series.dtype == pl.String:
            codes[:, number] = series.cast(pl.Enum(series.unique().sort())).to_physical().to_numpy()
        else:
            values = series.to_numpy()
            cuts = np.unique(np.quantile(values[:100_000], np.arange(1, MOST_BINNED) / MOST_BINNED, method="lower"))
            codes[:, number] = np.searchsorted(cuts, values, side="left")
    gap = (frame["hired"] == "yes").to_numpy() * np.where((frame["sex"] == "woman").to_numpy(), 1.0, -1.0)
    np.savez(to, binned=codes, gradients=gap - gap.mean())
