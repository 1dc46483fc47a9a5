"""FairTest's part, each function run in a process of its own: what it returns is what is timed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import polars as pl

import fairtest as ft
import fairtest.pipeline.calls  # everything imported before the clock starts: starting up is measured elsewhere
from fairtest.pipeline.search import engine_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["conjunctions", "file_to_report"]


def conjunctions(path: str, least: int, train_size: float = 0.5, **options: Any) -> Callable[[], dict[str, Any]]:
    """Return the search of every conjunction of up to three predicates and its validation, from frame to report."""
    frame = pl.read_parquet(path)
    protected, output = frame.columns[:2]

    def work() -> dict[str, Any]:
        source = ft.DataSource(frame, train_size=train_size, **options)
        loaded = time.process_time()
        testing = ft.Testing(source, protected, output, metrics="DIFF")
        ft.train(testing, max_depth=3, min_size=round(least / train_size), search="exhaustive")
        found = time.process_time()
        ft.test(testing)
        report = ft.report(testing)[0]
        return {
            "search": found - loaded,
            "validation": time.process_time() - found,
            "looked_at": report.looked_at,
            "tested": report.tested,
            "significant": report.significant,
            "reported": report.reported,
        }

    return work


def file_to_report(
    path: str, search: str, min_size: int = 100, load_only: bool = False
) -> Callable[[], dict[str, Any]]:
    """Return the way from a Parquet file to the report as JSON, with the CPU time of each stage."""

    def work() -> dict[str, Any]:
        clock = [time.process_time()]
        source = ft.DataSource(path)
        testing = ft.Testing(source, "sex", "hired")
        _encode(source, testing.questions[0].contextual)
        if load_only:
            return {"rows": source.table.n_rows}
        clock.append(time.process_time())
        ft.train(testing, min_size=min_size, search=search)
        clock.append(time.process_time())
        ft.test(testing, correction="holm" if search == "tree" else None)
        clock.append(time.process_time())
        report = ft.report(testing)[0]
        report.to_json()
        clock.append(time.process_time())
        stages = zip(("loading", "search", "validation", "report"), clock[1:], clock[:-1], strict=False)
        return {
            **{name: after - before for name, after, before in stages},
            "looked_at": report.looked_at,
            "tested": report.tested,
            "significant": report.significant,
            "reported": report.reported,
        }

    return work


def _encode(source: ft.DataSource, columns: Sequence[str]) -> None:
    """Bring the columns into the codes that are counted, which would else be done when they are first needed."""
    engine = engine_of(source)
    for axis in engine.axes(columns):
        if axis is not None:
            engine.codes(axis)
