"""The log of batches: appended in the order of a counter row, many batches in one transaction.

The counter row is taken before anything else, so that the numbers of a stream have no gaps and become visible in their
order: a reader who has seen batch 8 will never find a batch 7 that was not there before. Inside that transaction it is
decided whether an idempotency key was used, whether the sender's key is still valid, and whether the stream still
declares what the records were checked against.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, select, update

from fairtest.service.errors import KeyReused, NotFound, ServiceError, StoreUnavailable, Unauthorized
from fairtest.service.pausing import pause
from fairtest.service.store.identifiers import make_id
from fairtest.service.store.naming import is_too_late
from fairtest.service.store.projects import valid_keys
from fairtest.service.store.tables import batch, batch_body, segment, stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from fairtest.service.store.database import Database


@dataclass(frozen=True)
class Append:
    """A checked batch that waits to be written.

    Attributes
    ----------
    key, digest
        The client's idempotency key, and the SHA-256 of what came with it.
    body
        The records as an Arrow stream.
    checked_against
        The version of the stream whose columns the records were checked against.
    writer_key
        The id of the key that sent it; None for a command on the machine itself.
    place
        Where the body lasts already, if that is not to be the database: then only a row that names it is stored.
    staged
        When it was put there.
    """

    project: str
    stream: str
    key: str
    digest: str
    kind: str
    format: str
    rows: int
    body: bytes
    checked_against: int
    writer_key: str | None = None
    place: str | None = None
    staged: float | None = None

    def may_be_gone(self, now: float) -> bool:
        """Return whether the body may have been swept away."""
        return self.staged is not None and is_too_late(now, self.staged)


@dataclass(frozen=True)
class Receipt:
    """What is said of a batch that is stored."""

    key: str
    seq: int
    kind: str
    rows: int
    stream_records: int
    received: float
    duplicates: int | None = None
    replayed: bool = False


# written once, because making a statement costs more than running it
COUNT_UP = (
    update(stream)
    .where(stream.c.project == bindparam("of_project"), stream.c.name == bindparam("of_stream"))
    .values(seq=stream.c.seq + bindparam("batches"), records=stream.c.records + bindparam("new_records"))
    .returning(stream.c.seq, stream.c.records, stream.c.version)
)
FIND_KEYS = select(
    batch.c.digest, batch.c.key, batch.c.seq, batch.c.kind, batch.c.rows, batch.c.stream_records, batch.c.received,
    batch.c.duplicates,
).where(
    batch.c.project == bindparam("of_project"),
    batch.c.stream == bindparam("of_stream"),
    batch.c.key.in_(bindparam("keys", expanding=True)),
)  # fmt: skip
ADD_BATCHES, ADD_BODIES, ADD_SEGMENT = insert(batch), insert(batch_body), insert(segment)
BODY = "body"
"""The kind of a segment that is one batch as it came, until it is sealed with others."""


class StreamChanged(ServiceError):  # noqa: N818 - nothing is wrong: the batch is checked again
    """The stream has other columns than the batch was checked against."""

    status, kind, title = 409, "stream-changed", "The stream changed at this moment; send the batch again"


def append_group(database: Database, group: Sequence[Append]) -> list[Receipt | ServiceError]:
    """Store batches in one transaction and return a receipt, or what is wrong, for each."""
    answers: dict[int, Receipt | ServiceError] = {}
    by_stream: dict[tuple[str, str], list[int]] = {}
    for place, each in enumerate(group):
        by_stream.setdefault((each.project, each.stream), []).append(place)
    with database.writing_soon() as connection:
        now = database.now(connection)
        valid = valid_keys(connection, {a.writer_key for a in group if a.writer_key is not None}, now)
        for owner, places in sorted(by_stream.items()):  # one order for all writers: no deadlocks
            allowed = [p for p in places if group[p].writer_key is None or group[p].writer_key in valid]
            answers |= {p: Unauthorized("The key was revoked or has expired.") for p in set(places).difference(allowed)}
            lasting = {p: group[p] for p in allowed if not group[p].may_be_gone(now)}
            answers |= {p: StoreUnavailable("Storing the batch took too long.") for p in set(allowed) - set(lasting)}
            answers |= _append_to_stream(connection, owner, lasting, now)
        pause("append.inside")
    pause("append.committed")
    return [answers[place] for place in range(len(group))]


def _append_to_stream(
    connection: Connection, owner: tuple[str, str], appends: dict[int, Append], now: float
) -> dict[int, Receipt | ServiceError]:
    """Write batches of one stream inside a transaction."""
    if not appends:
        return {}
    own = {"of_project": owner[0], "of_stream": owner[1]}
    counted = len(appends), _count_records(appends.values())
    # taking the counter row keeps every other writer of this stream waiting until we have committed
    row = connection.execute(COUNT_UP, {**own, "batches": counted[0], "new_records": counted[1]}).first()
    if row is None:
        return dict.fromkeys(appends, NotFound(f"There is no stream {owner[1]!r}."))
    seq, records = row.seq - counted[0], row.records - counted[1]
    known = _receipts(connection, owner, {each.key for each in appends.values()})
    answers: dict[int, Receipt | ServiceError] = {}
    new: list[tuple[Append, Receipt]] = []
    for place, each in appends.items():
        if each.key in known:
            digest, receipt = known[each.key]
            answers[place] = _mark_replayed(receipt) if digest == each.digest else _refuse_reuse(each.key)
        elif each.checked_against != row.version:
            answers[place] = StreamChanged(f"The stream is at version {row.version} now.")
        else:
            seq += 1
            records += each.rows if each.kind == "records" else 0
            receipt = Receipt(each.key, seq, each.kind, each.rows, records, now)
            known[each.key] = each.digest, receipt
            answers[place] = receipt
            new.append((each, receipt))
    if len(new) < counted[0]:  # all were counted as new: take back those that were not
        back = {"batches": seq - row.seq, "new_records": records - row.records}
        connection.execute(COUNT_UP, {**own, **back})
    _write(connection, owner, new)
    return answers


def _count_records(appends: Iterable[Append]) -> int:
    return sum(each.rows for each in appends if each.kind == "records")


def _write(connection: Connection, owner: tuple[str, str], new: Sequence[tuple[Append, Receipt]]) -> None:
    if not new:
        return
    place = {"project": owner[0], "stream": owner[1]}
    rows = [
        {
            **place,
            "seq": receipt.seq,
            "key": each.key,
            "digest": each.digest,
            "kind": each.kind,
            "format": each.format,
            "rows": each.rows,
            "bytes": len(each.body),
            "stream_records": receipt.stream_records,
            "received": receipt.received,
        }
        for each, receipt in new
    ]
    connection.execute(ADD_BATCHES, rows)
    if small := [{**place, "seq": r.seq, "body": each.body} for each, r in new if each.place is None]:
        connection.execute(ADD_BODIES, small)
    for each, receipt in new:
        if each.place is not None:
            connection.execute(ADD_SEGMENT, {**place, **_name_body(each, receipt), "place": each.place})


def _name_body(each: Append, receipt: Receipt) -> dict[str, Any]:
    """Return what the manifest says of a body that is outside of the database until it is sealed."""
    return {
        "id": make_id("seg"), "kind": BODY, "lo": receipt.seq - 1, "hi": receipt.seq, "rows": each.rows,
        "bytes": len(each.body), "sha256": hashlib.sha256(each.body).hexdigest(),
        "columns_version": each.checked_against, "created": receipt.received,
    }  # fmt: skip


def find_receipt(connection: Connection, project: str, stream_name: str, key: str) -> Receipt:
    """Return the receipt of a batch by its key."""
    found = _receipts(connection, (project, stream_name), {key})
    if key not in found:
        raise NotFound(f"There is no batch {key!r} in the stream {stream_name!r}.")
    return found[key][1]


def _receipts(connection: Connection, owner: tuple[str, str], keys: Iterable[str]) -> dict[str, tuple[str, Receipt]]:
    rows = connection.execute(FIND_KEYS, {"of_project": owner[0], "of_stream": owner[1], "keys": list(keys)})
    return {row[1]: (row[0], Receipt(*row[1:])) for row in rows}


def _mark_replayed(receipt: Receipt) -> Receipt:
    return Receipt(**{**vars(receipt), "replayed": True})


def _refuse_reuse(key: str) -> KeyReused:
    return KeyReused(f"The Idempotency-Key {key!r} was used for another body. A new batch needs a key of its own.")
