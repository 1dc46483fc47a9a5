"""Records of a stream, in every format."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = {
    "sex": {"kind": "text", "levels": ["f", "m"], "required": True},
    "age": "integer",
    "income": "numeric",
    "granted": "boolean",
    "born": "date",
    "at": "time",
}
RECORDS: list[dict[str, Any]] = [
    {
        "id": f"a-{n}", "sex": "fm"[n % 2], "age": 20 + n, "income": 1000.5 + n, "granted": n % 3 == 0,
        "born": "1990-02-03", "at": "2026-03-14T09:26:53Z",
    }
    for n in range(5)
]  # fmt: skip


def as_columns() -> dict[str, list[Any]]:
    return {name: [record[name] for record in RECORDS] for name in RECORDS[0]}


def as_arrow(frame: pl.DataFrame | None = None, **options: Any) -> bytes:
    table = (typed() if frame is None else frame).to_arrow()
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def typed() -> pl.DataFrame:
    return pl.DataFrame(RECORDS).with_columns(
        pl.col("born").str.to_date(), pl.col("at").str.to_datetime(time_zone="UTC")
    )


FORMATS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "records": ("application/json", lambda: json.dumps({"records": RECORDS}).encode()),
    "columns": ("application/json; charset=utf-8", lambda: json.dumps({"columns": as_columns()}).encode()),
    "ndjson": ("application/x-ndjson", lambda: b"\n".join(json.dumps(r).encode() for r in RECORDS)),
    "csv": ("text/csv", lambda: pl.DataFrame(RECORDS).write_csv().encode()),
    "arrow": ("application/vnd.apache.arrow.stream", as_arrow),
}
