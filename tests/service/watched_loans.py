"""Streams with a past: batches that arrived on earlier days, so that a watch has weeks to look at."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import update

from fairtest.service.store.watch_tables import watch
from fairtest.service.work.watching import do_watch, plan_watches

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from fairtest.service.service import Service

DAY = 86400.0
COLUMNS = {"sex": "text", "region": "text", "purpose": "text", "granted": "boolean", "score": "numeric", "tags": "text"}
MONITOR: dict[str, Any] = {
    "name": "loans-sex", "stream": "loans", "protected": ["sex"], "output": "granted", "favourable": {"granted": True},
    "reference": {"sex": "m"}, "train_people": 500, "exclude": ["score", "tags", "purpose"],
}  # fmt: skip


def applicants(seed: int, n: int, gap: float = 0.0) -> list[dict[str, Any]]:
    """Return records of people who never came before; women of the north are granted less by ``gap``."""
    rng = np.random.default_rng(seed)
    sex, region = rng.choice(["f", "m"], n), rng.choice(["north", "south", "west"], n)
    worse = (sex == "f") & (region == "north")
    granted = rng.random(n) < 0.6 - gap * worse
    score = rng.normal(size=n) - 3 * gap * worse
    tags = np.where(rng.random(n) < 0.3 + gap * worse, "flower,tree", "tree,sky")
    return [
        {
            "id": f"r-{seed}-{i}", "who": f"p-{seed}-{i}", "sex": str(sex[i]), "region": str(region[i]),
            "purpose": ["car", "house"][i % 2], "granted": bool(granted[i]), "score": float(score[i]),
            "tags": str(tags[i]),
        }
        for i in range(n)
    ]  # fmt: skip


def make_stream(client: TestClient, person: str | None = "who") -> None:
    given: dict[str, Any] = {"name": "loans", "columns": COLUMNS, "person": person}
    if person is None:
        given = {"name": "loans", "columns": {**COLUMNS, "who": "text"}}
    made = client.post("/v1/streams", json=given)
    assert made.status_code == 201, made.json()


def make_monitor(client: TestClient, **more: Any) -> str:
    made = client.post("/v1/monitors", json={**MONITOR, **more})
    assert made.status_code == 201, made.json()
    return str(made.json()["id"])


class Clock:
    """The clock of a service's database, which tests move."""

    def __init__(self, service: Service, days_ago: float = 100) -> None:
        self.today = time.time() // DAY * DAY
        self.moment = self.today - days_ago * DAY
        service.database.now = self  # type: ignore[method-assign]

    def __call__(self, _connection: object = None) -> float:
        self.moment += 0.001
        return self.moment

    def go_to(self, days_ago: float, hour: float = 0.0) -> None:
        self.moment = max(self.moment, self.today - days_ago * DAY + hour * 3600)


def send_on(clock: Clock, client: TestClient, days_ago: int, rows: list[dict[str, Any]], kind: str = "records") -> None:
    """Send records over the hours from nine to five of a day."""
    for hour, part in enumerate(np.array_split(np.arange(len(rows)), 8)):
        clock.go_to(days_ago, 9 + hour)
        send(client, [rows[i] for i in part], kind)
    clock.go_to(days_ago, 18)


def send(client: TestClient, rows: list[dict[str, Any]], kind: str = "records") -> None:
    key = f"{rows[0]['id']}-{kind}"
    answer = client.post(f"/v1/streams/loans/{kind}", json={kind: rows}, headers={"Idempotency-Key": key})
    assert answer.status_code == 201, answer.json()


def live(clock: Clock, client: TestClient, days: range, n: int = 400, gap: float = 0.0) -> None:
    """Send the records of some days, each so many days ago."""
    for day in days:
        send_on(clock, client, day, applicants(1000 - day, n, gap))


def watch_all(service: Service) -> int:
    """Let watches look until nothing is left; return the number of steps."""
    plan_watches(service)
    steps = 0
    while do_watch(service):
        steps += 1
        plan_watches(service)
        assert steps < 200, "a watch does not come to an end"
    return steps


def make_due(service: Service) -> None:
    """Let all watches be due at once."""
    with service.database.writing() as connection:
        connection.execute(update(watch).where(watch.c.state == "due").values(due=0.0))
