"""Planning: what a monitor would notice, said before it is made, from the records that have arrived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from fairtest.exceptions import InputError
from fairtest.monitoring.checks import NO_PERSON
from fairtest.monitoring.plan import say_usual_delays
from fairtest.service.store.monitors import Monitor
from fairtest.service.store.streams import load_stream
from fairtest.service.store.tables import batch
from fairtest.service.work.people import arrivals_between
from fairtest.service.work.question import make_watch, watched_frame
from fairtest.service.work.watching import DAY, with_time

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from fairtest.service.service import Service
    from fairtest.service.store.streams import Stream

SAMPLE = 20_000
"""Records that planning looks at: the newest."""
DAYS = 28.0
"""Days over which the records of a day are averaged."""


@dataclass(frozen=True)
class Planning:
    """What a monitor would notice.

    Attributes
    ----------
    sentences
        How soon which gap would be noticed.
    warnings
        What would break the promise, or what is only assumed.
    problem
        Why it could not be watched; empty if it can.
    """

    sentences: list[str]
    warnings: list[str]
    problem: str = ""


def plan_monitor(service: Service, project: str, stream_name: str, question: dict[str, Any]) -> Planning:
    """Return what a monitor with a question would notice; nothing is stored and nobody is tested."""
    with service.database.reading() as connection:
        now = service.database.now(connection)
        found = load_stream(connection, project, stream_name)
        first, a_day = _recent(connection, found, now)
    warnings = [] if found.declaration.person is not None else [NO_PERSON]
    asked = Monitor(project, "plan", stream_name, "plan", {}, [], False, 1, 1, now, question, found.seq)
    frame = arrivals_between(service, asked, (first, found.seq)) if found.seq else None
    if frame is None or frame.height < question["train_people"]:
        assumed = f"This assumes 1,000 records a day; {found.records:,} have arrived so far, too few to say more."
        return Planning(say_usual_delays(question.get("tolerance") or 0.0), [*warnings, assumed])
    try:
        watch, said = make_watch(asked, watched_frame(with_time(frame), found.declaration, question))
    except InputError as error:
        return Planning([], warnings, str(error))
    return Planning(watch.outlooks(a_day), [*warnings, *said])


def _recent(connection: Connection, found: Stream, now: float) -> tuple[int, float]:
    """Return the batch before the newest records, and how many records arrive in a day."""
    own = (batch.c.project == found.project) & (batch.c.stream == found.name)
    early = select(func.max(batch.c.seq)).where(own, batch.c.stream_records <= found.records - SAMPLE)
    lately = own & (batch.c.kind == "records") & (batch.c.received >= now - DAYS * DAY)
    counted = select(func.coalesce(func.sum(batch.c.rows), 0), func.min(batch.c.received)).where(lately)
    records, since = connection.execute(counted).one()
    days = max((now - since) / DAY, 1.0) if since is not None else 1.0
    return int(connection.scalar(early) or 0), float(records) / days
