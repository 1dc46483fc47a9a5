"""Records as CSV, read by polars: all values as text first, so that every one that does not fit can be named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairtest.service.errors import BadRow, BatchRejected, TooLarge
from fairtest.service.ingest.frames import TYPES, check_frame, reject, show_value

if TYPE_CHECKING:
    from fairtest.service.ingest.columns import Declaration, StreamColumn

TRUE, FALSE = ("true", "1"), ("false", "0")


def read_csv(body: bytes, declaration: Declaration, most: int) -> pl.DataFrame:
    """Return the records of a CSV file with a header."""
    try:
        text = pl.read_csv(body, infer_schema=False, n_rows=most + 1, truncate_ragged_lines=False)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, ValueError) as error:
        first = (str(error).splitlines() or ["it cannot be read"])[0]
        raise BatchRejected([BadRow(None, None, first[:200], "CSV with a header, in UTF-8")], 0, 0) from None
    if text.height > most:
        raise TooLarge(f"A batch may have {most:,} records: send them in several batches.")
    if text.height == 0:
        raise BatchRejected([BadRow(None, None, "no records", "at least one record")], 0, 0)
    check_header(text.columns, declaration)
    columns, bad = [], []
    for column in declaration.columns:
        given = (
            text[column.name]
            if column.name in text.columns
            else pl.Series(column.name, [None] * text.height, pl.String)
        )
        values = _convert_column(given, column)
        wrong = given.is_not_null() & values.is_null()
        bad += [BadRow(row, column.name, show_value(given[row]), column.allowed) for row in wrong.arg_true()]
        columns.append(values)
    if bad:
        reject(bad, text.height)
    frame = pl.DataFrame(columns)
    check_frame(frame, declaration)
    return frame


def check_header(names: list[str], declaration: Declaration) -> None:
    """Raise for columns that are missing or not declared."""
    missing = [c.name for c in declaration.columns if c.required and c.name not in names]
    bad = [BadRow(None, name, "no such column", "a column that every record has") for name in missing]
    if declaration.unknown == "reject":
        unknown = [name for name in names if name not in declaration.names]
        bad += [BadRow(None, name[:80], "a column", "a declared column") for name in unknown]
    if bad:
        raise BatchRejected(bad, 0, 0)


def _convert_column(given: pl.Series, column: StreamColumn) -> pl.Series:
    """Return text as values; what does not fit is null."""
    if column.kind == "text":
        return given
    if column.kind == "boolean":
        lower = given.str.to_lowercase()
        return lower.replace_strict(
            [*TRUE, *FALSE], [True] * len(TRUE) + [False] * len(FALSE), default=None, return_dtype=pl.Boolean
        )
    if column.kind == "time":
        # a time without its zone would be read in whatever zone the server is in
        zoned = given.str.contains(r"(Z|[+-]\d\d:?\d\d)$").fill_null(value=False)
        parsed = given.str.to_datetime(time_unit="us", time_zone="UTC", strict=False)
        return parsed.set(zoned.not_(), None)
    if column.kind == "date":
        return given.str.to_date(strict=False)
    return given.str.strip_chars().cast(TYPES[column.kind], strict=False)
