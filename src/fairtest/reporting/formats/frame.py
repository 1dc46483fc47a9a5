"""The report as a data frame: one row for each population and each finding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fairtest.numbers import P_FLOOR
from fairtest.reporting.words.sentences import sentence_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.model.finding import Finding
    from fairtest.model.report import AttributeReport, Report

_TYPES: dict[str, type] = {
    "protected": str, "output": str, "context": str, "size": int, "metric": str, "effect": float,
    "low": float, "high": float, "low_single": float, "high_single": float,
    "p_value": float, "p_value_raw": float, "significant": bool, "population": bool, "sentence": str,
}  # fmt: skip
COLUMNS = tuple(_TYPES)


def as_frame(report: Report) -> Any:
    """Return populations and findings as a pandas frame if the data came as one, else as a polars frame.

    An undefined number is null (NaN in pandas), an open bound infinite.
    """
    rows = list(rows_of(report))
    columns = {name: [row[name] for row in rows] for name in _TYPES}
    return _pandas(columns) if report.data.library == "pandas" else _polars(columns)


def rows_of(report: Report) -> Iterator[dict[str, Any]]:
    """Yield a row for each population and each finding, in the order of the report."""
    for attribute in report.attributes:
        for finding in attribute.populations:
            yield _row(report, attribute, finding, population=True)
        for finding in attribute.inside:
            yield _row(report, attribute, finding, population=False)


def _row(report: Report, attribute: AttributeReport, finding: Finding, *, population: bool) -> dict[str, Any]:
    none = (None, None)
    low, high = finding.interval or none
    low_single, high_single = finding.interval_single or none
    return {
        "protected": finding.protected,
        "output": finding.output,
        "context": str(finding.context),
        "size": int(finding.size),
        "metric": finding.metric,
        "effect": _number(finding.effect),
        "low": _number(low),
        "high": _number(high),
        "low_single": _number(low_single),
        "high_single": _number(high_single),
        "p_value": floor_p_value(finding.p_value),
        "p_value_raw": floor_p_value(finding.p_value_raw),
        "significant": bool(finding.significant),
        "population": population,
        "sentence": sentence_of(report, attribute, finding),
    }


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def floor_p_value(p: float | None) -> float | None:
    """Return a p-value for programs: None where it is not known, and never 0."""
    known = _number(p)
    return None if known is None else max(known, P_FLOOR)


def _polars(columns: dict[str, list[Any]]) -> Any:
    import polars as pl

    kinds = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    return pl.DataFrame(columns, schema={name: kinds[kind] for name, kind in _TYPES.items()})


def _pandas(columns: dict[str, list[Any]]) -> Any:
    import pandas as pd

    kinds = {str: "object", int: "int64", float: "float64", bool: "bool"}
    return pd.DataFrame({name: pd.Series(columns[name], dtype=kinds[kind]) for name, kind in _TYPES.items()})
