"""A project with a month behind it, for pages to show: written straight into the tables."""

from __future__ import annotations

import datetime as dt
import json
import math
import sys
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from fairtest.service.store.destinations import create_destination
from fairtest.service.store.outbox import Happening, announce
from fairtest.service.store.streams import create_stream
from fairtest.service.store.tables import batch, delivery, finding, measure, monitor, question, report, run, stream
from fairtest.service.store.watch_tables import hypothesis, watch

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from fairtest.service.store.tenant import Tenant

DAY = 86400.0
COLUMNS = {
    "sex": {"kind": "text", "levels": ["f", "m"], "required": True},
    "race": "text",
    "age": "integer",
    "purpose": "text",
    "granted": "boolean",
    "repaid": "boolean",
}
HOSTILE = "<script>alert('x')</script>\"'&"
SENTENCES = (
    "Among the 4,210 applicants aged up to 30 who ask for a car, 41 % of women and 58 % of men are granted a loan: "
    "a gap of 17 points, against 6 in the whole population.",
    "Among the 1,902 applicants from the north, 22 % of women and 31 % of men are granted a loan: a gap of 9 points.",
    f"Among the 1,100 applicants with purpose = {HOSTILE}, the two go together.",
)


@cache
def report_html() -> str:
    sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))
    import report_builders

    from fairtest.reporting.formats.html import render_html

    return str(render_html(report_builders.all_reports()["odd_report"]))


def put(connection: Connection, table: Any, **row: Any) -> None:
    connection.execute(insert(table).values(**row))


def furnish(tenant: Tenant, hook: str = "https://example.com/hook") -> dict[str, str]:
    """Fill the project and return the ids that tests open."""
    create_stream(tenant, "loans", {"name": "loans", "columns": COLUMNS, "record_id": "id"})
    create_stream(
        tenant, "offers", {"name": "offers", "columns": {"sex": "text", "price": "number"}, "record_id": "id"}
    )
    ops = create_destination(tenant, "webhook", hook, "On-call")
    create_destination(tenant, "email", "ethics@example.com")
    with tenant.writing() as connection:
        now = tenant.database.now(connection)
        _fill_log(connection, now)
        for place, name in enumerate(("loans-by-sex", "loans-by-race", "offers-by-sex")):
            _add_monitor(connection, now, place, name, [ops.id])
        _add_findings(connection, now)
        _add_watch(connection, now)
        for kind, slot in (("new", "2026-11-02"), ("worse", "2026-11-16")):
            body = {
                "sentence": SENTENCES[0],
                "finding_id": "fnd_0",
                "stake": 41.2,
                "effect": 0.17,
                "interval": [0.11, 0.23],
            }
            announce(tenant.database, connection, tenant.project, "mon_0", Happening(kind, "fnd_0", slot, body))
        _end_deliveries(connection, now)
    return {"monitor": "mon_0", "run": "run_0_8", "finding": "fnd_0", "destination": ops.id}


def _fill_log(connection: Connection, now: float) -> None:
    sent, records = 0, 0
    for day in range(29, -1, -1):
        rows = int(5000 * (1.15 + math.sin(day * 0.9))) if day != 11 else 0
        if rows:
            sent, records = sent + 1, records + rows
            put(
                connection, batch, project="acme", stream="loans", seq=sent, key=f"k-{day}", digest="0" * 64,
                kind="records", format="ndjson", rows=rows, bytes=rows * 40, stream_records=records,
                received=now - day * DAY, duplicates=None,
            )  # fmt: skip
    connection.execute(stream.update().where(stream.c.name == "loans").values(seq=sent, records=records))


def _add_monitor(connection: Connection, now: float, place: int, name: str, tell: list[str]) -> None:
    mine = {"project": "acme", "monitor": f"mon_{place}"}
    row = {"project": "acme", "id": f"mon_{place}", "stream": "offers" if place == 2 else "loans", "name": name}
    row |= {"schedule": "{}", "tell": json.dumps(tell), "paused": False, "version": 1, "created": now - 40 * DAY}
    if "created_at_records" in monitor.c:
        row["created_at_records"] = 0
    put(connection, monitor, **row)
    asked = {
        "kind": "testing",
        "protected": ["sex"],
        "output": "granted",
        "explanatory": ["purpose"],
        "tolerance": 0.02,
    }
    asked["error_rate"] = {"level": 0.05, "over": "life"}
    put(connection, question, **mine, version=1, body=json.dumps(asked), fixed_at_seq=0, created=now - 40 * DAY)
    runs = (9, 4, 1)[place]
    for number in range(runs):
        done = place < 2
        level = 0.05 * (1 / math.log2(number + 2) - 1 / math.log2(number + 3)) if done else None
        when = now - (runs - number) * 3 * DAY + 2 * DAY
        put(
            connection, run, **mine, id=f"run_{place}_{number}", version=1, occasion=f"t:{number}",
            state="done" if done else "skipped", due=when, attempts=1, created=when,
            lo=number * 3 if done else None, hi=number * 3 + 3 if done else None,
            set_number=number + 1 if done else None,
            level=level, people=12_000 + 100 * number if done else None, ended=when + 40,
            reason=None if done else "4,200 people to go", spent_at=when + 40 if done else None,
        )  # fmt: skip
    put(
        connection, run, **mine, id=f"run_{place}_next", version=1, occasion="t:next", state="due", due=now + DAY,
        attempts=0, created=now,
    )  # fmt: skip


def _add_findings(connection: Connection, now: float) -> None:
    for place, sentence in enumerate(SENTENCES):
        put(
            connection, finding, project="acme", id=f"fnd_{place}", monitor="mon_0", fingerprint=f"{place}" * 64,
            body=json.dumps({"sentence": sentence}), state=("open", "open", "acknowledged")[place], since_run="run_0_1",
            created=now - 20 * DAY + place,
        )  # fmt: skip
        for number in range(1 + place, 9):
            effect = 0.17 - 0.04 * place + 0.02 * math.sin(number + place)
            half = 0.06 + 0.01 * place
            put(
                connection, measure, project="acme", finding=f"fnd_{place}", run=f"run_0_{number}", effect=effect,
                low=effect - half, high=effect + half, people=4000 - 900 * place, p=0.001,
                verdict="reported" if (number + place) % 4 else "not confirmed",
            )  # fmt: skip
    packed = zlib.compress(report_html().encode())
    put(
        connection, report, project="acme", run="run_0_8", place=1,
        headline=json.dumps(
            {"kind": "testing", "title": "granted by sex", "explained_by": "", "significant": 5, "reported": 2}
        ),
        **dict.fromkeys(("question", "prior", "document", "json", "text"), b""), html=packed,
    )  # fmt: skip


def _add_watch(connection: Connection, now: float) -> None:
    """Add a watch with a context that alarmed, one that is gone and everybody, and one that cannot begin."""
    today = dt.datetime.fromtimestamp(now, dt.UTC).date()
    dates = [(today - dt.timedelta(days=back)).isoformat() for back in range(40, -1, -1)]
    stake = {"context": "everyone", "protected": "sex", "output": "granted", "stake": 3.2, "given": 0.2}
    view = {
        "started": dates[0], "day": dates[-1], "hour": 9, "alarms": 1, "records": 41_000, "warnings": [HOSTILE],
        "hypotheses": {"schema": 79, "found": 12, "listed": 3}, "explain": "How this monitor decides. It bets.",
        "capital": {"mode": "lifetime", "staked": 0.58, "left": 0.42, "words": "58 % of the capital has been staked."},
        "outlook": ["A gap of 10 points in 5 % of your records would be noticed after about 53 days."],
        "standings": [{**stake, "alarmed": False, "echo": False}],
    }  # fmt: skip
    row = {"project": "acme", "version": 1, "state": "due", "due": now + 600, "created": now, "looked": now}
    put(connection, watch, **row, id="wat_0", monitor="mon_0", phase="watching", view=json.dumps(view))
    reason = json.dumps({"reason": "The tolerance is a gap between rates."})
    put(connection, watch, **row, id="wat_1", monitor="mon_1", phase="unable", view=reason)
    for place, state in enumerate(("alarmed", "gone", "quiet")):
        words = "everyone" if state == "quiet" else f"context {place} {HOSTILE}"
        put(
            connection, hypothesis, project="acme", watch="wat_0", id=f"h{place}", name=words, state=state, stake=1.5,
            fingerprint=f"{place}" * 64, given=0.1, changed=now, body=json.dumps(_followed(dates, words, state)),
        )  # fmt: skip


def _followed(dates: list[str], words: str, state: str) -> dict[str, Any]:
    gaps = [-0.01 - (0.15 if state == "alarmed" and n > 25 else 0.0) + 0.01 * math.sin(n) for n in range(len(dates))]
    both = list(enumerate(zip(dates, gaps, strict=True)))
    running = [[d, g, g - 0.9 / (n + 3), g + 0.9 / (n + 3), 100 * n] for n, (d, g) in both][8:]
    return {
        "hypothesis": f"sex → granted | {words}", "protected": "sex", "output": "granted", "words": words,
        "comparison": "sex = f → granted = True", "origin": "schema", "state": state, "stake": 1.5, "given": 0.1,
        "sign": -1, "more_than": 0.1, "less_than": None, "points": True, "gap": gaps[-1], "records": 4000,
        "since": dates[26] if state == "alarmed" else None, "sentence": "The gap is −16.0 points.",
        "timeline": running, "weeks": running[::7], "now": running[-1], "days": [[d, g, 100] for _, (d, g) in both],
    }  # fmt: skip


def _end_deliveries(connection: Connection, now: float) -> None:
    first, second = connection.scalars(delivery.select().with_only_columns(delivery.c.id).order_by(delivery.c.id)).all()
    sent = delivery.update().where(delivery.c.id == first).values(state="sent", attempts=2, ended=now - DAY)
    connection.execute(sent)
    dead = {"state": "dead", "attempts": 12, "ended": now - 3600, "reason": "The receiver answered 500."}
    connection.execute(delivery.update().where(delivery.c.id == second).values(**dead))
