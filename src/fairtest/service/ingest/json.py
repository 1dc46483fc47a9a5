"""Records as JSON or as lines of JSON.

The quick path is compiled: msgspec checks every value while it reads. Only when that fails a slow path reads the same
bytes again without types and names every bad record.
"""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import msgspec

from fairtest.service.errors import BadRow, BatchRejected, TooLarge
from fairtest.service.ingest.columns import LONGEST_ID, LONGEST_VALUE
from fairtest.service.ingest.frames import bad_ids, frame_of, reject, show_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from fairtest.service.ingest.columns import Declaration, StreamColumn

LARGEST = 2**63 - 1
TYPES: dict[str, Any] = {
    "text": Annotated[str, msgspec.Meta(max_length=LONGEST_VALUE)],
    "integer": Annotated[int, msgspec.Meta(ge=-LARGEST - 1, le=LARGEST)],
    "number": float,
    "boolean": bool,
    "date": dt.date,
    "time": Annotated[dt.datetime, msgspec.Meta(tz=True)],
}


def read_json(body: bytes, declaration: Declaration, most: int) -> pl.DataFrame:
    """Return the records of ``{"records": [{…}, …]}`` or ``{"columns": {"name": […], …}}``."""
    envelope, _, columns_of = _decoders(declaration)
    try:
        found = envelope.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        _explain(_untyped_rows(body), declaration, error, most)
    if (found.records is None) + (found.columns is None) + (found.truths is None) != 2:
        raise BatchRejected([BadRow(None, None, "neither or several", 'one of "records" and "columns"')], 0, 0)
    if found.columns is None:
        return _frame_of_records(found.records if found.truths is None else found.truths, declaration, most)
    values = columns_of(found.columns)
    lengths = {len(each) for each in values if each is not None}
    if len(lengths) > 1:
        raise BatchRejected([BadRow(None, None, str(sorted(lengths)), "columns of one length")], 0, 0)
    n = lengths.pop() if lengths else 0
    _check_size(n, most)
    return _with_ids_checked(frame_of(declaration, [[None] * n if v is None else v for v in values]), declaration)


def read_lines(body: bytes, declaration: Declaration, most: int) -> pl.DataFrame:
    """Return the records of lines of JSON, one on each."""
    _, record, _ = _decoders(declaration)
    try:
        return _frame_of_records(record.decode_lines(body), declaration, most)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        _explain(_untyped_lines(body), declaration, error, most)


def count_good_records(body: bytes, declaration: Declaration, most: int) -> int | None:
    """Return how many records ``{"records": […]}`` has if all are good; None where something is to be said of them."""
    envelope, _, _ = _decoders(declaration)
    try:
        found = envelope.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if found.records is None or found.columns is not None or found.truths is not None:
        return None
    return _count_good(found.records, declaration, most)


def count_good_lines(body: bytes, declaration: Declaration, most: int) -> int | None:
    """Return how many records lines of JSON have if all are good; None where something is to be said of them."""
    _, record, _ = _decoders(declaration)
    try:
        return _count_good(record.decode_lines(body), declaration, most)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _count_good(records: list[Any], declaration: Declaration, most: int) -> int | None:
    """Return how many records there are, unless there are none, too many, or ids that are not allowed."""
    field = f"c{declaration.names.index(declaration.record_id)}"
    ids = list(map(attrgetter(field), records))
    if not 0 < len(ids) <= most or len(set(ids)) < len(ids) or "" in ids:
        return None
    if max(map(len, ids)) > LONGEST_ID // 4 and max(len(each.encode()) for each in ids) > LONGEST_ID:
        return None
    return len(ids)


def _frame_of_records(records: list[Any], declaration: Declaration, most: int) -> pl.DataFrame:
    _check_size(len(records), most)
    _, _, columns_of = _decoders(declaration)
    values: Iterable[Any] = zip(*map(columns_of, records), strict=True)
    return _with_ids_checked(frame_of(declaration, list(values)), declaration)


def _with_ids_checked(frame: pl.DataFrame, declaration: Declaration) -> pl.DataFrame:
    if bad := bad_ids(frame[declaration.record_id], declaration.record_id):
        reject(bad, frame.height)
    return frame


def _check_size(n: int, most: int) -> None:
    if n == 0:
        raise BatchRejected([BadRow(None, None, "no records", "at least one record")], 0, 0)
    if n > most:
        raise TooLarge(f"A batch may have {most:,} records. Got {n:,}: send them in several batches.")


@lru_cache(maxsize=256)
def _decoders(declaration: Declaration) -> tuple[Any, Any, Any]:
    """Return what decodes a whole body, what decodes one record, and what takes the columns out of either."""
    fields = [f"c{place}" for place in range(len(declaration.columns))]
    names = dict(zip(fields, declaration.names, strict=True))
    strict = declaration.unknown == "reject"
    single: list[Any] = []
    whole: list[Any] = []
    for field, column in zip(fields, declaration.columns, strict=True):
        kind = _type(column)
        single.append((field, kind) if column.required else (field, kind, None))
        whole.append((field, list[kind]) if column.required else (field, list[kind] | None, None))  # type: ignore[valid-type]
    # keyword-only: fields that a record must have need not come first then
    record: Any = msgspec.defstruct(
        "Record", single, rename=names, forbid_unknown_fields=strict, kw_only=True, gc=False
    )
    columns: Any = msgspec.defstruct("Columns", whole, rename=names, forbid_unknown_fields=strict, kw_only=True)
    forms: list[Any] = [(form, list[record] | None, None) for form in ("records", "truths")]
    envelope = msgspec.defstruct("Body", [*forms, ("columns", columns | None, None)], forbid_unknown_fields=True)
    getter = attrgetter(*fields)
    take = getter if len(fields) > 1 else lambda one: (getter(one),)
    return msgspec.json.Decoder(envelope), msgspec.json.Decoder(record), take


def _type(column: StreamColumn) -> Any:
    kind = Literal[column.levels] if column.levels else TYPES[column.kind]
    return kind if column.required else kind | None


def _explain(rows: list[Any] | None, declaration: Declaration, error: Exception, most: int) -> NoReturn:
    """Raise the error that names every bad record."""
    if rows is None:
        words = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BatchRejected([BadRow(None, None, words[:200], "JSON as described in /v1/schema")], 0, 0) from None
    _check_size(len(rows), most)
    bad = [found for place, row in enumerate(rows) for found in _bad_fields(place, row, declaration)]
    if not bad:  # what msgspec refuses and we do not know of
        bad = [BadRow(None, None, str(error)[:200], "records as described in /v1/schema")]
    reject(bad, len(rows))


def _untyped_rows(body: bytes) -> list[Any] | None:
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(found, dict) or len(found) != 1:
        return None
    ((form, rows),) = found.items()
    if form in {"records", "truths"} and isinstance(rows, list):
        return rows
    if form == "columns" and isinstance(rows, dict) and all(isinstance(each, list) for each in rows.values()):
        lengths = {len(each) for each in rows.values()}
        if len(lengths) == 1:
            return [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    return None


def _untyped_lines(body: bytes) -> list[Any] | None:
    rows = []
    for line in body.splitlines():
        if line.strip():
            try:
                rows.append(msgspec.json.decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                rows.append(line.decode("utf-8", "replace"))
    return rows


def _bad_fields(place: int, row: Any, declaration: Declaration) -> list[BadRow]:
    if not isinstance(row, dict):
        return [BadRow(place, None, show_value(row), "an object")]
    bad = []
    for column in declaration.columns:
        value = row.get(column.name)
        missing = value is None and column.required
        if missing or (value is not None and not _fits(value, column)):
            bad.append(BadRow(place, column.name, show_value(value), column.allowed))
    if declaration.unknown == "reject":
        unknown = sorted(set(row).difference(declaration.names))
        bad += [BadRow(place, name[:80], show_value(row[name]), "a declared column") for name in unknown]
    return bad


def _fits(value: Any, column: StreamColumn) -> bool:
    try:
        msgspec.convert(value, _type(column))
    except (msgspec.ValidationError, RecursionError):
        return False
    return True
