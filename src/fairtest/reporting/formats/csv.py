"""The populations and findings as CSV: the rows of :func:`~fairtest.reporting.formats.frame.as_frame`."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from fairtest.reporting.formats.frame import COLUMNS, rows_of

if TYPE_CHECKING:
    from fairtest.model.report import Report

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render_csv(report: Report) -> str:
    """Return one line for each population and each finding; what is undefined is an empty field."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_field(row[name]) for name in COLUMNS] for row in rows_of(report))
    return file.getvalue()


def _field(value: Any) -> Any:
    """Return a value as it is written; text that a spreadsheet would run as a formula is given an apostrophe."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return str(value).lower() if isinstance(value, bool) else value
