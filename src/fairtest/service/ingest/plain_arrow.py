"""Arrow streams that are just as their stream declares: checked and stored without becoming a frame in between.

That is what the client sends, and it costs a quarter of what :mod:`fairtest.service.ingest.arrow` needs. Whatever is
not plain, or not good, is left to that module, which converts and says what is wrong.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from fairtest.service.ingest.columns import LONGEST_ID, LONGEST_VALUE
from fairtest.service.ingest.frames import Packed

if TYPE_CHECKING:
    from fairtest.service.ingest.columns import Declaration, StreamColumn


def pack_batch(pa: Any, batch: Any, declaration: Declaration) -> Packed | None:
    """Return an Arrow record batch ready to be stored; None where it is not plain or not good."""
    names = list(declaration.names)
    if batch.num_rows == 0 or len(batch.schema) != len(names) or set(batch.schema.names) != set(names):
        return None
    batch = batch.select(names).replace_schema_metadata(None)
    if not all(given in _types(pa)[c.kind] for given, c in zip(batch.schema.types, declaration.columns, strict=True)):
        return None
    if not all(_is_good(pa, batch.column(place), column) for place, column in enumerate(declaration.columns)):
        return None
    ids = batch.column(names.index(declaration.record_id))
    shortest, longest = _lengths(ids)
    if shortest == 0 or longest > LONGEST_ID or len(ids.unique()) < len(ids):
        return None
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=_packing(pa)) as writer:
        writer.write_batch(batch)
    return Packed(batch.num_rows, sink.getvalue().to_pybytes())


@cache
def _packing(pa: Any) -> Any:
    """Return how batches are written: what packing costs is saved again where half as much is written and erased."""
    return pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)


@cache
def _types(pa: Any) -> dict[str, tuple[Any, ...]]:
    """Return the types of each kind of column that are stored as they come."""
    return {
        "text": (pa.string(), pa.large_string()), "integer": (pa.int64(),), "number": (pa.float64(),),
        "boolean": (pa.bool_(),), "date": (pa.date32(),), "time": (pa.timestamp("us", "UTC"),),
    }  # fmt: skip


def _is_good(pa: Any, values: Any, column: StreamColumn) -> bool:
    import pyarrow.compute as pc

    if column.required and values.null_count:
        return False
    if column.levels and pc.all(pc.is_in(values.drop_null(), pa.array(column.levels, values.type))).as_py() is False:
        return False
    if column.kind == "text":
        return bool(_lengths(values)[1] <= LONGEST_VALUE)
    if column.kind == "number":
        return pc.all(pc.is_finite(values)).as_py() is not False  # of nothing but nulls it is null
    return True


def _lengths(values: Any) -> tuple[int, int]:
    """Return how many bytes the shortest and the longest text have, from where each begins."""
    import numpy as np

    kind = np.dtype(np.int64 if str(values.type) == "large_string" else np.int32)
    starts = np.frombuffer(values.buffers()[1] or b"", kind, len(values) + 1, values.offset * kind.itemsize)
    lengths = starts[1:] - starts[:-1]
    return int(lengths.min()), int(lengths.max())
