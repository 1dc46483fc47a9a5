"""From a request's bytes to a checked batch, whatever its format."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.service.errors import BadRequest, BadRow, BatchRejected, TooLarge, Unsupported
from fairtest.service.ingest.arrow import pack_arrow, read_arrow
from fairtest.service.ingest.csv import read_csv
from fairtest.service.ingest.frames import pack_frame
from fairtest.service.ingest.json import read_json, read_lines
from fairtest.service.ingest.received import pack_received
from fairtest.service.store.log import Append

if TYPE_CHECKING:
    import polars as pl

    from fairtest.service.ingest.columns import Declaration
    from fairtest.service.ingest.frames import Packed
    from fairtest.service.store.streams import Stream

FORMATS = {
    "application/json": ("json", read_json),
    "application/x-ndjson": ("ndjson", read_lines),
    "text/csv": ("csv", read_csv),
    "application/vnd.apache.arrow.stream": ("arrow", read_arrow),
}
LARGEST_BODY, MOST_RECORDS, LONGEST_KEY = 16 << 20, 50_000, 255


@dataclass(frozen=True)
class Sent:
    """A batch as it came: ``kind`` is ``records`` or ``truth``; ``encoding`` is how the body is packed."""

    kind: str
    key: str
    media_type: str
    encoding: str
    body: bytes


def check_key(key: str | None) -> str:
    """Return an idempotency key, or say what it must be."""
    if not key or len(key) > LONGEST_KEY or not key.isprintable():
        raise BadRequest(
            f"The header Idempotency-Key is needed: 1 to {LONGEST_KEY} printable characters, a new one for each batch, "
            "the same when a batch is sent again."
        )
    return key


def read_batch(sent: Sent, stream: Stream, writer_key: str | None) -> Append:
    """Return a batch that is ready to be stored, or raise and name every bad record."""
    media_type = sent.media_type.partition(";")[0].strip().lower()
    if media_type not in FORMATS:
        raise Unsupported(f"Content-Type must be one of {', '.join(FORMATS)}. Got {media_type[:80]!r} instead.")
    format_name, read = FORMATS[media_type]
    body = unpack_body(sent.body, sent.encoding)
    declaration = stream.declaration if sent.kind == "records" else stream.declaration.for_truths()
    packed = None
    if sent.kind == "records" and stream.sampling is None:
        packed = _pack_quickly(format_name, body, declaration)
    if packed is None:
        frame = read(body, declaration, MOST_RECORDS)
        frame = frame if sent.kind == "records" else _check_truths(frame, declaration)
        packed = pack_frame(frame if stream.sampling is None else stream.sampling.of(frame))
    digest = hashlib.sha256(f"{sent.kind} {format_name} ".encode())
    digest.update(body)
    return Append(
        stream.project,
        stream.name,
        sent.key,
        digest.hexdigest(),
        sent.kind,
        format_name,
        packed.rows,
        packed.body,
        stream.version,
        writer_key,
    )


def _pack_quickly(format_name: str, body: bytes, declaration: Declaration) -> Packed | None:
    """Return records ready to be stored without making a frame of them; None where that cannot be."""
    if format_name == "arrow":
        return pack_arrow(body, declaration, MOST_RECORDS)
    return pack_received(format_name, body, declaration, MOST_RECORDS)


def unpack_body(body: bytes, encoding: str) -> bytes:
    """Return a body without its ``Content-Encoding``, never more than a request may have."""
    if encoding in {"", "identity"}:
        return body
    if encoding not in {"gzip", "deflate"}:
        raise Unsupported(f"Content-Encoding must be gzip or deflate, or left out. Got {encoding[:40]!r} instead.")
    unpacking = zlib.decompressobj(wbits=47 if encoding == "gzip" else 15)
    try:
        unpacked = unpacking.decompress(body, LARGEST_BODY + 1)
    except zlib.error as error:
        raise BatchRejected([BadRow(None, None, str(error), f"a body packed by {encoding}")], 0, 0) from None
    if len(unpacked) > LARGEST_BODY:
        raise TooLarge(f"A body may have {LARGEST_BODY >> 20} MB when it is unpacked.")
    if not unpacking.eof:
        raise BatchRejected([BadRow(None, None, "it ends early", f"a whole body packed by {encoding}")], 0, 0)
    return unpacked


def _check_truths(frame: pl.DataFrame, declaration: Declaration) -> pl.DataFrame:
    import polars as pl

    values = [name for name in declaration.names if name != declaration.record_id]
    if not values:
        raise BadRequest("The stream has no column that could come late: all of them are required.")
    empty = frame.select(pl.all_horizontal(pl.col(values).is_null()).alias("empty"))["empty"]
    if empty.any():
        allowed = f"a value for at least one of {', '.join(values[:10])}"
        bad = [BadRow(row, None, "no value", allowed) for row in empty.arg_true()]
        raise BatchRejected(bad, len(bad), frame.height)
    return frame
