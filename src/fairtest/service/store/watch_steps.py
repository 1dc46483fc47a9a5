"""What the watch keeps: a step is stored as a whole, once, by whoever holds the lease, or not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from fairtest.monitoring.words import OwnWords, say_association, say_claim
from fairtest.service.errors import Conflict
from fairtest.service.pausing import pause
from fairtest.service.store.database import insert_new
from fairtest.service.store.findings import find_by_mark, find_or_add, fingerprint, turn_finding
from fairtest.service.store.outbox import Happening, announce
from fairtest.service.store.packing import pack_plain, unpack_plain
from fairtest.service.store.watch_tables import block, hypothesis, watch, watch_past, watch_people
from fairtest.service.work.leases import update_held
from fairtest.workspace.codec import pack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import Connection

    from fairtest.monitoring.events import Event
    from fairtest.monitoring.view import Followed
    from fairtest.service.store.database import Database
    from fairtest.service.work.leases import Lease

LEARNING, UNABLE, WATCHING = "learning", "unable", "watching"
"""The phases of a watch: it waits for records to learn the columns from; it cannot watch what is asked; it watches."""
EVER_ALARMED = ("alarmed", "gone")


@dataclass(frozen=True)
class Step:
    """What a step of a watch did, not yet stored.

    Attributes
    ----------
    position, records
        Up to which batch it has looked, and how many records of the stream are in these batches.
    state
        What the watch must know to go on; None where it has not learned yet.
    journal
        What happened to stakes.
    people
        For each pair, the hashes of people whose first record was used.
    said
        What else happened that people may want to be told.
    words
        What the monitor calls things: what is told is told in these words.
    past
        What was summed up of days that are over; None where that is stored already.
    """

    phase: str
    position: int
    records: int
    due: float
    view: Mapping[str, Any]
    state: Mapping[str, Any] | None = None
    journal: Mapping[str, Any] = field(default_factory=dict)
    people: Sequence[bytes] = ()
    events: Sequence[Event] = ()
    followed: Sequence[Followed] = ()
    said: Sequence[Happening] = ()
    words: OwnWords = field(default_factory=OwnWords)
    past: Sequence[Mapping[str, Any]] | None = None


class LeaseLost(Conflict):
    """Somebody else has the watch by now: what was computed must not count."""


def store_step(database: Database, lease: Lease, step: Step) -> None:
    """Store what a step did: stakes, journal, people, what is drawn, findings, events and deliveries, all or nothing.

    Raises
    ------
    LeaseLost
        The token is not the watch's any more; nothing is stored then.
    """
    number = lease.row["step"] + 1
    with database.writing() as connection:
        now = database.now(connection)
        values = {
            "state": "due", "due": step.due, "lease_until": None, "worker": None, "attempts": 0, "reason": None,
            "phase": step.phase, "position": step.position, "records": step.records, "step": number, "looked": now,
            "view": json.dumps(step.view, ensure_ascii=False),
        }  # fmt: skip
        if step.state is not None:
            values["body"] = pack_plain(step.state)
        own = update_held(lease).where(watch.c.step == lease.row["step"])
        if connection.execute(own.values(**values)).rowcount != 1:
            raise LeaseLost("The lease of this watch was lost.")
        if step.past is not None:
            _store_past(connection, lease, step.past)
        place = {"project": lease.project, "watch": lease.id, "step": number}
        if entries := step.journal.get("entries"):
            body = pack_plain(step.journal)
            row = {**place, "position": step.position, "entries": len(entries), "body": body, "created": now}
            connection.execute(insert(block).values(**row))
        for pair, hashes in enumerate(step.people):
            if hashes:
                connection.execute(insert(watch_people).values(**place, pair=pair, hashes=hashes))
        _store_followed(connection, lease, step.followed, now)
        _tell(database, connection, lease, step, now)
        pause("watch.inside")
    pause("watch.committed")


def _store_past(connection: Connection, lease: Lease, past: Sequence[Mapping[str, Any]]) -> None:
    own = (watch_past.c.project == lease.project) & (watch_past.c.watch == lease.id)
    body = pack_plain({"books": list(past)})
    if connection.execute(update(watch_past).where(own).values(body=body)).rowcount == 0:
        connection.execute(insert(watch_past).values(project=lease.project, watch=lease.id, body=body))


def _store_followed(connection: Connection, lease: Lease, followed: Sequence[Followed], now: float) -> None:
    known = {row.id: row.state for row in connection.execute(_hypotheses(lease.project, lease.id))}
    for each in followed:
        name = hypothesis_id(each.hypothesis)
        before = known.pop(name, None)
        state = "gone" if each.state == "quiet" and before in EVER_ALARMED else each.state
        values = {
            "name": each.hypothesis, "fingerprint": fingerprint(each.protected, each.output, each.context),
            "state": state, "stake": each.stake, "given": each.given, "changed": now,
            "body": json.dumps(each.to_plain(), ensure_ascii=False),
        }  # fmt: skip
        own = (hypothesis.c.project == lease.project) & (hypothesis.c.watch == lease.id) & (hypothesis.c.id == name)
        if before is None:
            place = {"project": lease.project, "watch": lease.id, "id": name}
            connection.execute(insert(hypothesis).values(**place, **values))
        else:
            connection.execute(update(hypothesis).where(own).values(**values))
    if known and followed:  # contexts that a search had found, and that are not followed any more
        own = (hypothesis.c.project == lease.project) & (hypothesis.c.watch == lease.id)
        connection.execute(update(hypothesis).where(own, hypothesis.c.id.in_(known)).values(state="dropped"))


def _tell(database: Database, connection: Connection, lease: Lease, step: Step, now: float) -> None:
    monitor = lease.row["monitor"]
    for event in step.events:
        mark = fingerprint(event.protected, event.output, event.context)
        about = {
            "protected": event.protected, "output": event.output, "context": pack(event.context),
            "words": str(event.context), "metric": "", "sentence": say_association(event, step.words),
        }  # fmt: skip
        found = find_by_mark(connection, lease.project, monitor, mark)
        if event.kind == "new":
            found = find_or_add(connection, lease.project, monitor, mark, about, lease.id, now)
            turn_finding(connection, lease.project, found, to="open", only_from=("closed",))
        elif event.kind == "gone" and found is not None:
            turn_finding(connection, lease.project, found, to="closed", only_from=("open", "acknowledged"))
        announce(database, connection, lease.project, monitor, _as_happening(event, found, lease, step.words))
    for happening in step.said:
        announce(database, connection, lease.project, monitor, happening)


def _as_happening(event: Event, finding_id: str | None, lease: Lease, words: OwnWords) -> Happening:
    measured = event.measured
    body: dict[str, Any] = {
        "sentence": say_claim(event, words), "version": lease.row["version"], "time": event.time.isoformat(),
        "level": event.level, "context": str(event.context), "protected": event.protected, "output": event.output,
        "group": event.group, "outcome": event.outcome,
    }  # fmt: skip
    if event.stake:
        body["stake"] = round(event.stake, 1)
    if finding_id is not None:
        body["finding_id"] = finding_id
    if measured is not None:
        low, high = sorted((event.sign * measured.low, event.sign * measured.high))
        body |= {"effect": round(event.sign * measured.gap, 4), "interval": [round(low, 4), round(high, 4)]}
    # two claims about one context may fall into one slot: the gap that they speak of tells them apart
    slot = f"{event.slot} {event.level:g}" if event.level else event.slot
    subject = hypothesis_id(f"{lease.row['version']} {event.hypothesis}")
    return Happening(event.kind, subject, slot, body)


def hypothesis_id(name: str) -> str:
    """Return the id of a hypothesis, from its name, which may be long."""
    return sha256(name.encode()).hexdigest()[:40]


def add_watches(database: Database, missing: Sequence[Mapping[str, Any]]) -> int:
    """Add watches that are not there yet."""
    with database.writing() as connection:
        return insert_new(connection, watch, [dict(each) for each in missing])


def load_people(connection: Connection, project: str, watch_id: str, pairs: int) -> list[bytes]:
    """Return for each pair whose first record a watch has used."""
    own = (watch_people.c.project == project) & (watch_people.c.watch == watch_id)
    known: list[list[bytes]] = [[] for _ in range(pairs)]
    for row in connection.execute(select(watch_people.c.pair, watch_people.c.hashes).where(own)):
        known[row.pair].append(row.hashes)
    return [b"".join(each) for each in known]


def load_past(connection: Connection, project: str, watch_id: str) -> list[dict[str, Any]] | None:
    """Return what a watch has summed up of days that are over; None where that is not stored apart from it."""
    own = (watch_past.c.project == project) & (watch_past.c.watch == watch_id)
    body = connection.scalar(select(watch_past.c.body).where(own))
    if body is None:
        return None
    books: list[dict[str, Any]] = unpack_plain(body)["books"]
    return books


def load_journal(connection: Connection, project: str, watch_id: str) -> Iterator[dict[str, Any]]:
    """Give the journal of a watch, step by step."""
    own = (block.c.project == project) & (block.c.watch == watch_id)
    for body in connection.scalars(select(block.c.body).where(own).order_by(block.c.step)):
        yield unpack_plain(body)


def names_of_followed(connection: Connection, project: str, watch_id: str) -> list[str]:
    """Return the names of the hypotheses that are drawn."""
    return [row.name for row in connection.execute(_hypotheses(project, watch_id))]


def _hypotheses(project: str, watch_id: str) -> Any:
    return select(hypothesis).where(hypothesis.c.project == project, hypothesis.c.watch == watch_id)
