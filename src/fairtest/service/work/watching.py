"""The watch of each monitor, step by step: read what has arrived, bet, and store it all under the lease.

A step is due at the start of each hour, and sooner when enough records for a block have arrived. What it does hangs on
the records alone: a step that is lost is done again with the same result, and one that comes late is thrown away.
"""

from __future__ import annotations

import datetime as dt
import logging
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl
from sqlalchemy import and_, case, exists, func, or_, select, update

from fairtest.exceptions import FairTestWarning, InputError
from fairtest.monitoring.checks import NO_PERSON
from fairtest.monitoring.journal import entries_to_plain
from fairtest.monitoring.slots import MOST_RECORDS
from fairtest.monitoring.watch import Watch
from fairtest.monitoring.words import OwnWords
from fairtest.service.errors import StoreUnavailable
from fairtest.service.store.findings import followed_contexts
from fairtest.service.store.identifiers import make_id
from fairtest.service.store.monitors import load_monitor
from fairtest.service.store.outbox import Happening, announce
from fairtest.service.store.packing import unpack_plain
from fairtest.service.store.streams import load_stream
from fairtest.service.store.tables import batch, monitor, stream
from fairtest.service.store.watch_steps import (
    LEARNING,
    UNABLE,
    WATCHING,
    LeaseLost,
    Step,
    add_watches,
    load_past,
    load_people,
    names_of_followed,
    store_step,
)
from fairtest.service.store.watch_tables import watch
from fairtest.service.work.errors import describe_error
from fairtest.service.work.leases import ATTEMPTS, claim, put_off
from fairtest.service.work.people import ARRIVED, ARRIVED_AT, arrivals_between, first_arrivals
from fairtest.service.work.question import TIME, make_watch, watched_frame

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

    from fairtest.monitoring.stakes import Entry
    from fairtest.service.service import Service
    from fairtest.service.store.monitors import Monitor
    from fairtest.service.store.streams import Stream
    from fairtest.service.work.leases import Lease

log = logging.getLogger("fairtest.watch")
HOUR, DAY = 3600.0, 86400.0
SETTLES = 5.0
"""Seconds after the hour: what was received before it has been stored by then."""
AT_ONCE = 100_000
"""Records that one step looks at, at most; more are left for the next, which is due at once."""
REMEMBERED = 90.0
"""Days of records that the search of a watch looks at, and that it learns from."""
MOST_LEARNED = 200_000
"""Records that a watch learns from, at most: the last ones."""
SILENT = DAY
"""Seconds without any record after which somebody is told."""
FEW_RECORDS = 100
"""After so many records a watch that waits for people to learn from counts them again."""
MOST_HELD = 50
"""Watches that a worker keeps in memory between steps."""


@dataclass
class HeldWatch:
    """A watch that a worker keeps in memory, after the step with some number.

    ``past_stored`` says which of the changes of its past are stored; −1 where that is not stored apart from it.
    """

    step: int
    watch: Watch
    journal: list[Entry] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    past_stored: int = -1


def plan_watches(service: Service) -> int:
    """Make a watch for each question that has none, and make those due for which enough records have arrived."""
    with service.database.reading() as connection:
        now = service.database.now(connection)
        missing = connection.execute(_questions_without_watch()).all()
        full = connection.execute(_watches_with_records(now)).all()
    if missing:
        made = {"state": "due", "due": now, "phase": LEARNING, "created": now}
        rows = [
            {"project": row.project, "id": make_id("wat"), "monitor": row.id, "version": row.version, **made}
            for row in missing
        ]
        add_watches(service.database, rows)
    if full:
        with service.database.writing() as connection:
            wanted = or_(*(and_(watch.c.project == row.project, watch.c.id == row.id) for row in full))
            connection.execute(update(watch).where(wanted, watch.c.state == "due").values(due=now))
    return len(missing) + len(full)


def _questions_without_watch() -> Select[Any]:
    same = (watch.c.project == monitor.c.project) & (watch.c.monitor == monitor.c.id)
    there = exists().where(same, watch.c.version == monitor.c.version)
    return select(monitor.c.project, monitor.c.id, monitor.c.version).where(_active(), ~there)


def _watches_with_records(now: float) -> Select[Any]:
    """Return the watches that are not due yet, and for which a block of records may be full."""
    of_stream = (monitor.c.project == stream.c.project) & (monitor.c.stream == stream.c.name)
    of_watch = (watch.c.project == monitor.c.project) & (watch.c.monitor == monitor.c.id)
    joined = monitor.join(stream, of_stream).join(watch, of_watch & (watch.c.version == monitor.c.version))
    enough = case((watch.c.phase == LEARNING, FEW_RECORDS), else_=MOST_RECORDS)
    waits = (watch.c.state == "due") & (watch.c.due > now) & (stream.c.records - watch.c.records >= enough)
    return select(watch.c.project, watch.c.id).select_from(joined).where(_active(), waits, watch.c.attempts == 0)


def _active() -> ColumnElement[bool]:
    return and_(~monitor.c.paused, monitor.c.deleted.is_(None))


def do_watch(service: Service) -> bool:
    """Do one step of a watch that is due; return whether there was one."""
    lease = claim(service.database, watch, service.worker_name, _rests)
    if lease is None:
        return False
    try:
        store_step(service.database, lease, take_step(service, lease))
        if (held := service.held_watches.get(lease.id)) is not None:
            held.step += 1
            held.past_stored = held.watch.past_changes
    except LeaseLost:
        service.held_watches.pop(lease.id, None)
    except StoreUnavailable:  # its lease runs out, and then it is done again
        service.held_watches.pop(lease.id, None)
        raise
    except Exception as error:  # whatever it is, the watch must say so and go on later
        service.held_watches.pop(lease.id, None)
        log.exception("a step of a watch failed")
        _fail(service, lease, describe_error(error))
    return True


def take_step(service: Service, lease: Lease) -> Step:
    """Return what the next step of a watch does; nothing is stored."""
    with service.database.reading() as connection:
        now = service.database.now(connection)
        asked = load_monitor(connection, lease.project, lease.row["monitor"], lease.row["version"])
        found = load_stream(connection, lease.project, asked.stream)
    if lease.row["body"] is None:
        return _learn(service, lease, asked, found, now)
    return _bet(service, lease, asked, found, now)


def _rests(_now: float) -> ColumnElement[bool]:
    """Return the condition that nothing is to be watched: paused, deleted, or there is a newer question."""
    other = (monitor.c.paused) | monitor.c.deleted.is_not(None) | (monitor.c.version != watch.c.version)
    return exists().where(monitor.c.project == watch.c.project, monitor.c.id == watch.c.monitor, other)


# Learning: what is fixed before the first bet


def _learn(service: Service, lease: Lease, asked: Monitor, found: Stream, now: float) -> Step:
    """Learn from people who came before the question was fixed, or from the first ones; nobody of them is bet on."""
    people, *_ = first_arrivals(service, asked, found.seq, now)
    needed = asked.question["train_people"]
    if people.height < needed:
        return _wait(lease, found, now, {"to_go": needed - people.height})
    until = max(asked.fixed_at_seq, int(people[ARRIVED][needed - 1]))
    history = people.filter((pl.col(ARRIVED) <= until) & (pl.col(ARRIVED_AT) >= now - REMEMBERED * DAY))
    if history.height < needed:  # what is there is old
        history = people.filter(pl.col(ARRIVED) <= until)
    frame = watched_frame(with_time(history.tail(MOST_LEARNED)), found.declaration, asked.question)
    held = HeldWatch(lease.row["step"], None)  # type: ignore[arg-type]
    try:
        held.watch, held.warnings = make_watch(asked, frame, held.journal.append, _before(service, lease))
    except InputError as error:
        return _wait(lease, found, now, {"reason": str(error)}, UNABLE)
    if found.declaration.person is None:
        held.warnings.insert(0, f"{NO_PERSON} Name it when the stream is made.")
    _keep(service, lease, held)
    with service.database.reading() as connection:
        position, records = _piece_end(connection, found, until, 0)
    view = {"warnings": held.warnings, **_outlook_of(held.watch), "learned_from": frame.height}
    state = {"watch": held.watch.state(people=False, past=False), "warnings": held.warnings}
    return Step(
        WATCHING, position, records, now, view, state, entries_to_plain(_taken(held)), held.watch.take_new_people()
    )


def _wait(lease: Lease, found: Stream, now: float, view: dict[str, Any], phase: str = LEARNING) -> Step:
    return Step(phase, lease.row["position"], found.records, _next_look(now), view)


def _outlook_of(made: Watch) -> dict[str, Any]:
    return {"outlook": made.outlooks(), "explain": made.explain()}


def _before(service: Service, lease: Lease) -> Watch | None:
    """Return the watch of the question that was asked before, if it has begun: both share one capital."""
    own = (watch.c.project == lease.project) & (watch.c.monitor == lease.row["monitor"])
    earlier = own & (watch.c.version < lease.row["version"]) & watch.c.body.is_not(None)
    with service.database.reading() as connection:
        body = connection.scalar(select(watch.c.body).where(earlier).order_by(watch.c.version.desc()).limit(1))
    if body is None:
        return None
    made = Watch.restore(unpack_plain(body)["watch"])
    return made if made.has_begun else None


# Betting


def _bet(service: Service, lease: Lease, asked: Monitor, found: Stream, now: float) -> Step:
    held = _resume(service, lease, asked, found, now)
    with service.database.reading() as connection:
        position, records = _piece_end(connection, found, lease.row["position"], AT_ONCE)
        contexts = followed_contexts(connection, lease.project, asked.id)
        drawn = names_of_followed(connection, lease.project, lease.id)
    for context in contexts:
        held.watch.follow_if_possible(context)
    window = (lease.row["position"], position)
    frame = arrivals_between(service, asked, window) if position > window[0] else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FairTestWarning)
        events = []
        if frame is not None and frame.height:
            events += held.watch.observe(watched_frame(with_time(frame), found.declaration, asked.question))
        if caught_up := position >= found.seq:
            events += held.watch.advance(dt.datetime.fromtimestamp(now // HOUR * HOUR, dt.UTC))
    held.warnings += [str(each.message) for each in caught if str(each.message) not in held.warnings]
    view = {"warnings": held.warnings, **(held.watch.view() if held.watch.has_begun else _outlook_of(held.watch))}
    return Step(
        phase=WATCHING, position=position, records=records, due=_next_look(now) if caught_up else now, view=view,
        state={"watch": held.watch.state(people=False, past=False), "warnings": held.warnings},
        past=held.watch.past() if held.watch.past_changes != held.past_stored else None,
        journal=entries_to_plain(_taken(held)), people=held.watch.take_new_people(), events=events,
        followed=held.watch.followed(drawn, contexts) if held.watch.has_begun else (),
        said=_silence(service, found, now) if caught_up else (), words=OwnWords.of(asked.question),
    )  # fmt: skip


def _resume(service: Service, lease: Lease, asked: Monitor, found: Stream, now: float) -> HeldWatch:
    """Return the watch as its last step left it: from memory, or from the store."""
    held = service.held_watches.get(lease.id)
    if held is not None and held.step == lease.row["step"]:
        return held
    stored = unpack_plain(lease.row["body"])
    with service.database.reading() as connection:
        pairs = len(stored["watch"]["learned"]["pairs"])
        people = load_people(connection, lease.project, lease.id, pairs)
        past = load_past(connection, lease.project, lease.id)
        since = now - REMEMBERED * DAY
        own = (batch.c.project == lease.project) & (batch.c.stream == asked.stream) & (batch.c.received < since)
        first = connection.scalar(select(func.max(batch.c.seq)).where(own)) or 0
    recent = arrivals_between(service, asked, (first, lease.row["position"])).filter(pl.col(ARRIVED_AT) >= since)
    memory = watched_frame(with_time(recent), found.declaration, asked.question) if recent.height else None
    made = HeldWatch(lease.row["step"], None, warnings=stored["warnings"])  # type: ignore[arg-type]
    made.watch = Watch.restore(stored["watch"], history=memory, journal=made.journal.append, people=people, past=past)
    made.past_stored = -1 if past is None else made.watch.past_changes
    _keep(service, lease, made)
    return made


def _keep(service: Service, lease: Lease, held: HeldWatch) -> None:
    while len(service.held_watches) >= MOST_HELD:
        service.held_watches.pop(next(iter(service.held_watches)))
    service.held_watches[lease.id] = held


def _taken(held: HeldWatch) -> list[Entry]:
    entries = list(held.journal)
    held.journal.clear()
    return entries


def _piece_end(connection: Connection, found: Stream, position: int, most: int) -> tuple[int, int]:
    """Return up to which batch the next piece goes, and how many records of the stream are in all until there."""
    own = (batch.c.project == found.project) & (batch.c.stream == found.name)
    start = connection.scalar(select(batch.c.stream_records).where(own, batch.c.seq == position)) or 0
    if not most:
        return position, int(start)
    later = own & (batch.c.seq > position)
    fits = select(func.max(batch.c.seq)).where(later, batch.c.stream_records <= start + most)
    end = connection.scalar(fits) or connection.scalar(select(func.min(batch.c.seq)).where(later)) or position
    return int(end), int(connection.scalar(select(batch.c.stream_records).where(own, batch.c.seq == end)) or 0)


def with_time(frame: pl.DataFrame) -> pl.DataFrame:
    """Return records with the moment of their arrival as the core reads it."""
    return frame.with_columns((pl.col(ARRIVED_AT) * 1e6).cast(pl.Int64).cast(pl.Datetime("us")).alias(TIME))


def _next_look(now: float) -> float:
    return (now // HOUR + 1) * HOUR + SETTLES


def _silence(service: Service, found: Stream, now: float) -> list[Happening]:
    """Return what is said when nothing has arrived for long: once after each batch that came last."""
    own = (batch.c.project == found.project) & (batch.c.stream == found.name) & (batch.c.kind == "records")
    with service.database.reading() as connection:
        last = connection.execute(
            select(batch.c.seq, batch.c.received).where(own).order_by(batch.c.seq.desc()).limit(1)
        ).first()
    if last is None or now - last.received < SILENT:
        return []
    when = dt.datetime.fromtimestamp(last.received, dt.UTC)
    sentence = f"No records have arrived in the stream {found.name!r} since {when:%d %B %Y, %H:%M} UTC."
    return [Happening("no_data", found.name, str(last.seq), {"sentence": sentence, "stream": found.name})]


def _fail(service: Service, lease: Lease, reason: str) -> None:
    """Put the step off; after some attempts somebody is told, and it is tried again later all the same."""
    with service.database.writing() as connection:
        now = service.database.now(connection)
        put_off(connection, now, lease, reason, final="due")
        if lease.attempts == ATTEMPTS:
            sentence = f"The watch has failed {ATTEMPTS} times and will be tried again; nothing was lost. {reason}"
            said = Happening("run_failed", lease.id, str(lease.row["step"]), {"reason": reason, "sentence": sentence})
            announce(service.database, connection, lease.project, lease.row["monitor"], said)
