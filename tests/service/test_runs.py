"""Runs: one for each occasion, on people who were never tested, at a level of its own, spent in one transaction."""

from __future__ import annotations

import datetime as dt
import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from running import in_this_process
from sqlalchemy import select, update

from fairtest.data.holdout import series_weight
from fairtest.service.errors import BadRequest
from fairtest.service.operate.verify import verify
from fairtest.service.store import tables
from fairtest.service.store.database import insert_new
from fairtest.service.store.erasure import ask_to_erase
from fairtest.service.store.monitors import find_monitor
from fairtest.service.store.runs import AlreadySpent, spend
from fairtest.service.work import leases
from fairtest.service.work.audit import audit
from fairtest.service.work.leases import claim, renew
from fairtest.service.work.people import ARRIVED_AT, SLOT, choose_people, with_slots
from fairtest.service.work.runs import as_answer, do_run
from fairtest.service.work.schedule import check_schedule, last_time, plan_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.testclient import TestClient

    from fairtest.service.service import Service
    from fairtest.service.store.tenant import Tenant

COLUMNS = {"sex": "text", "region": "text", "granted": "boolean", "repaid": "boolean", "tags": "text"}
MONITOR = {
    "name": "loans-sex", "stream": "loans", "protected": ["sex"], "output": "granted", "favourable": {"granted": True},
    "test_people": 600, "train_people": 400, "exclude": ["repaid", "tags"], "min_size": 50,
}  # fmt: skip


def people(start: int, n: int, gap: float = 0.35) -> list[dict[str, Any]]:
    """Return records of people; women of the north are granted less."""
    rng = np.random.default_rng(start)
    sex, region = rng.choice(["f", "m"], n), rng.choice(["north", "south"], n)
    granted = rng.random(n) < 0.6 - gap * ((sex == "f") & (region == "north"))
    repaid = np.where(rng.random(n) < 0.3 * (sex == "f"), ~granted, granted)
    tags = np.where(rng.random(n) < 0.2 + 0.3 * (sex == "f"), "flower,tree", "tree")
    return [
        {
            "id": f"r-{start + i}", "who": f"p-{start + i}", "sex": str(sex[i]), "region": str(region[i]),
            "granted": bool(granted[i]), "repaid": bool(repaid[i]), "tags": str(tags[i]),
        }
        for i in range(n)
    ]  # fmt: skip


@pytest.fixture
def _in_this_process() -> Iterator[None]:
    with in_this_process():
        yield


@pytest.fixture
def loans(client: TestClient) -> TestClient:
    made = client.post("/v1/streams", json={"name": "loans", "columns": COLUMNS, "person": "who"})
    assert made.status_code == 201, made.json()
    return client


def send(client: TestClient, key: str, rows: list[dict[str, Any]], kind: str = "records") -> None:
    answer = client.post(f"/v1/streams/loans/{kind}", json={kind: rows}, headers={"Idempotency-Key": key})
    assert answer.status_code == 201, answer.json()


def make(client: TestClient, **more: Any) -> str:
    made = client.post("/v1/monitors", json={**MONITOR, **more})
    assert made.status_code == 201, made.json()
    return str(made.json()["id"])


def run_now(client: TestClient, service: Service, monitor: str = "loans-sex") -> dict[str, Any]:
    started = client.post(f"/v1/monitors/{monitor}/runs")
    assert started.status_code == 202, started.json()
    assert do_run(service)
    found: dict[str, Any] = client.get(started.headers["Location"]).json()
    return found


def test_a_monitor_from_its_first_people_to_its_second_report(loans: TestClient, service: Service) -> None:
    make(loans)
    send(loans, "a", people(0, 500))
    with in_this_process():
        skipped = run_now(loans, service)
    assert skipped["state"] == "skipped"
    assert skipped["detail"]["to_go"] == 600
    assert skipped["reason"] == "Not enough people yet: 600 to go. Nothing was spent."
    send(loans, "b", people(500, 700))
    first = run_now(loans, service)
    assert first["state"] == "done", first["reason"]
    assert (first["set"], first["window"], first["people"]) == (1, [1, 2], 700)
    assert first["level"] == pytest.approx(0.05 * series_weight(1))
    with in_this_process():
        again = run_now(loans, service)
    assert (again["state"], again["detail"]["to_go"]) == ("skipped", 600)
    send(loans, "c", [*people(1200, 650), *({**each, "id": f"again-{each['id']}"} for each in people(500, 100))])
    with in_this_process():
        second = run_now(loans, service)
    assert (second["set"], second["window"], second["people"]) == (2, [2, 3], 650)
    assert second["level"] == pytest.approx(0.05 * series_weight(2))
    assert verify(service) == []

    url = f"/v1/runs/{second['id']}/reports/1"
    shown = loans.get(url)
    assert shown.json()["investigations"][0]["kind"] == "testing"
    assert "test set 2 of the monitor" in loans.get(url, headers={"Accept": "text/plain"}).text.replace("\n", " ")
    assert loans.get(url, headers={"Accept": "text/html"}).text.startswith("<!")
    assert loans.get(url, headers={"If-None-Match": shown.headers["etag"]}).status_code == 304
    findings = loans.get("/v1/findings", params={"monitor": "loans-sex"}).json()["items"]
    assert any("north" in each["words"] for each in findings)
    everyone = [each for each in findings if "region = north" in each["words"]]
    measures = loans.get(f"/v1/findings/{everyone[0]['id']}/measures").json()["items"]
    assert [each["run"] for each in measures][-1] == second["id"]
    closed = loans.patch(f"/v1/findings/{everyone[0]['id']}", json={"state": "closed", "note": "repaired"})
    assert closed.json()["state"] == "closed"


def test_a_question_tests_only_people_who_came_after_it(loans: TestClient, service: Service, tenant: Tenant) -> None:
    send(loans, "before", people(0, 2000))
    make(loans)
    chosen = choose_people(service, find_monitor(tenant, "loans-sex"), 0.0)
    assert (chosen.train.height, chosen.test.height, chosen.to_go) == (2000, 0, 600)
    send(loans, "after", people(2000, 800))
    chosen = choose_people(service, find_monitor(tenant, "loans-sex"), 0.0)
    assert (chosen.lo, chosen.train.height, chosen.test.height) == (1, 2000, 800)
    assert set(chosen.test["who"]).isdisjoint(chosen.train["who"])
    changed = loans.patch("/v1/monitors/loans-sex", json={"question": {**_asked(), "output": "repaid"}})
    assert (changed.json()["version"], changed.json()["after_batch"]) == (2, 2)
    assert choose_people(service, find_monitor(tenant, "loans-sex"), 0.0).test.height == 0
    assert [each["version"] for each in loans.get("/v1/monitors/loans-sex/versions").json()["items"]] == [1, 2]


def _asked() -> dict[str, Any]:
    return {name: value for name, value in MONITOR.items() if name not in {"name", "stream", "exclude"}}


def test_erased_people_are_never_tested(loans: TestClient, service: Service, tenant: Tenant) -> None:
    make(loans)
    send(loans, "a", people(0, 1200))
    send(loans, "b", people(1200, 100))
    ask_to_erase(service, tenant, "loans", "person", ["p-1250"])
    send(loans, "c", [{**people(1250, 1)[0], "id": "returned"}])
    chosen = choose_people(service, find_monitor(tenant, "loans-sex"), 0.0)
    assert "p-1250" not in chosen.test["who"].to_list()
    assert chosen.test.height == 99


@pytest.mark.parametrize(
    "question",
    [
        {"kind": "error_profiling", "output": "granted", "ground_truth": "repaid", "exclude": ["tags"]},
        {"kind": "discovery", "output": "tags", "separator": ",", "exclude": ["granted", "repaid"], "favourable": None},
    ],
    ids=["errors", "labels"],
)
@pytest.mark.usefixtures("_in_this_process")
def test_the_other_investigations(loans: TestClient, service: Service, question: dict[str, Any]) -> None:
    make(loans, **question)
    rows = people(0, 1200)
    if "ground_truth" in question:
        send(loans, "a", [{**row, "repaid": None} for row in rows])
        waiting = run_now(loans, service)
        assert waiting["detail"]["waiting_for_truth"] == 1200
        send(loans, "t1", [{"id": row["id"], "repaid": row["repaid"]} for row in rows[:500]], "truths")
        send(loans, "t2", [{"id": row["id"], "repaid": row["repaid"]} for row in rows[500:]], "truths")
    else:
        send(loans, "a", rows[:500])
        send(loans, "b", rows[500:])
    done = run_now(loans, service)
    assert done["state"] == "done", done["reason"]
    assert done["people"] == 700
    assert done["reports"][0]["reported"] >= 1
    assert done["reports"][0]["answers"]
    assert verify(service) == []


def test_a_lost_lease_spends_nothing(loans: TestClient, service: Service) -> None:
    monitor = make(loans)
    send(loans, "a", people(0, 500))
    send(loans, "b", people(500, 700))
    loans.post(f"/v1/monitors/{monitor}/runs")
    late = claim(service.database, tables.run, "slow")
    assert late is not None
    computed = as_answer(audit(service, "acme", monitor, 1))
    with service.database.writing() as connection:
        connection.execute(update(tables.run).values(lease_until=0.0))
    quick = claim(service.database, tables.run, "quick")
    assert quick is not None
    assert quick.token == late.token + 1
    assert not renew(service.database, late)
    with pytest.raises(AlreadySpent, match="lease"):
        spend(service.database, late, computed)
    spend(service.database, quick, computed)
    with pytest.raises(AlreadySpent):
        spend(service.database, quick, computed)
    assert verify(service) == []
    other = replace(quick, id="run_other")
    with pytest.raises(AlreadySpent, match="Another set"):
        spend(service.database, other, computed)


def test_a_run_that_fails_three_times(loans: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "BACK_OFF", (0.0, 0.0, 0.0))
    make(loans, metrics="NO SUCH METRIC")
    send(loans, "a", people(0, 500))
    send(loans, "b", people(500, 700))
    started = loans.post("/v1/monitors/loans-sex/runs").headers["Location"]
    with in_this_process():
        for _ in range(2):
            assert do_run(service)
    assert do_run(service)  # in a process of its own, which says why
    failed = loans.get(started).json()
    assert (failed["state"], failed["attempts"], failed["window"]) == ("failed", 3, None)
    assert "NO SUCH METRIC" in failed["reason"]
    with service.database.reading() as connection:
        assert connection.scalars(select(tables.event.c.kind)).all() == ["run_failed"]
    assert not do_run(service)


def test_runs_may_be_cancelled_until_they_are_spent(loans: TestClient, service: Service) -> None:
    make(loans)
    where = loans.post("/v1/monitors/loans-sex/runs", headers={"Idempotency-Key": "once"}).headers["Location"]
    assert loans.post("/v1/monitors/loans-sex/runs", headers={"Idempotency-Key": "once"}).headers["Location"] == where
    assert loans.delete(where).status_code == 204
    assert loans.get(where).json()["state"] == "cancelled"
    assert not do_run(service)


def test_two_hundred_runs_and_two_workers(loans: TestClient, service: Service) -> None:
    monitor = make(loans)
    with service.database.writing() as connection:
        rows = [
            {"project": "acme", "id": f"run_{n:03d}", "monitor": monitor, "version": 1, "occasion": f"r:{n}",
             "state": "due", "due": float(n), "created": 0.0}
            for n in range(200)
        ]  # fmt: skip
        assert insert_new(connection, tables.run, rows) == 200
        assert insert_new(connection, tables.run, [{**row, "id": row["id"] + "x"} for row in rows]) == 0
    taken: list[str] = []

    def work(name: str) -> None:
        while (lease := claim(service.database, tables.run, name)) is not None:
            taken.append(lease.id)

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [f"run_{n:03d}" for n in range(200)]


class TestSchedule:
    def test_occasions_are_made_once_and_coalesce(self, loans: TestClient, service: Service) -> None:
        make(loans, run={"cron": "0 6 * * *", "timezone": "Europe/Berlin", "after": 100})
        assert plan_runs(service) == 0  # none since it was made
        with service.database.writing() as connection:
            connection.execute(update(tables.monitor).values(created=0.0))
        assert plan_runs(service) == 1
        assert plan_runs(service) == 0
        send(loans, "a", people(0, 250))
        assert plan_runs(service) == 1
        assert plan_runs(service) == 0
        assert loans.patch("/v1/monitors/loans-sex", json={"paused": True}).json()["paused"]
        send(loans, "b", people(250, 250))
        assert plan_runs(service) == 0

    @pytest.mark.parametrize(
        ("now", "expected"),
        [
            ("2026-03-29T04:00+00:00", "2026-03-29T00:30+00:00"),  # 02:30 does not exist on that day
            ("2026-10-25T12:00+00:00", "2026-10-25T00:30+00:00"),  # 02:30 is there twice: the first
            ("2028-02-29T01:30+00:00", "2028-02-29T01:30+00:00"),
            ("2026-07-01T00:29+00:00", "2026-06-30T00:30+00:00"),
        ],
    )
    def test_times_of_a_zone(self, now: str, expected: str) -> None:
        found = last_time("30 2 * * *", "Europe/Berlin", dt.datetime.fromisoformat(now).timestamp())
        assert found is not None
        assert found <= dt.datetime.fromisoformat(now)
        assert abs(found - dt.datetime.fromisoformat(expected)) <= dt.timedelta(hours=1)

    @pytest.mark.parametrize("schedule", [{"cron": "every day"}, {"cron": "0 6 * * *", "timezone": "Mars/Base"}])
    def test_bad_schedules(self, schedule: dict[str, str]) -> None:
        with pytest.raises(BadRequest):
            check_schedule(schedule)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"protected": ["sexe"]}, "There is no column of the stream 'sexe'"),
        ({"output": ["granted", "repaid"]}, "discovery"),
        ({"kind": "error_profiling"}, "ground_truth"),
        ({"stream": "other"}, "There is no stream"),
        ({"correction": "none such"}, "correction"),
        ({"name": "a b"}, "name of a monitor"),
        ({"run": {"cron": "x"}}, "cron"),
        ({"favourable": {"grated": True}}, "grated"),
    ],
)
def test_questions_that_cannot_be_asked(loans: TestClient, change: dict[str, Any], words: str) -> None:
    answer = loans.post("/v1/monitors", json={**MONITOR, **change})
    assert answer.status_code in {404, 422}
    assert words in json.dumps(answer.json())


def test_people_are_compared_within_slots() -> None:
    hours = np.repeat(np.arange(48), 300) * 3600.0
    test, train = pl.DataFrame({ARRIVED_AT: hours}), pl.DataFrame({ARRIVED_AT: hours - 86400.0 * 9})
    trained, tested, several = with_slots(train, test)
    assert several
    assert tested[SLOT].n_unique() == 48
    assert set(trained[SLOT]) <= set(tested[SLOT])
    few = pl.DataFrame({ARRIVED_AT: np.repeat(np.arange(24), 10) * 3600.0})
    assert with_slots(train, few)[1][SLOT].n_unique() == 4
    assert not with_slots(train, few.head(10))[2]


def test_a_run_that_needs_too_much_memory_says_so_and_is_done_again_with_more(
    loans: TestClient, service: Service
) -> None:
    make(loans)
    send(loans, "a", people(0, 500))
    send(loans, "b", people(500, 700))
    started = loans.post("/v1/monitors/loans-sex/runs").headers["Location"]
    enough, service.settings = service.settings, replace(service.settings, run_memory=50_000_000)
    with service.database.writing() as connection:  # the last attempt
        connection.execute(update(tables.run).values(attempts=leases.ATTEMPTS - 1))
    assert do_run(service)
    failed = loans.get(started).json()
    assert failed["state"] == "failed"
    assert "needed more memory than the 0.05 GB" in failed["reason"]
    assert "--run-memory" in failed["reason"]
    (told,) = loans.get("/v1/events").json()["items"]
    assert told["kind"] == "run_failed"
    service.settings = enough
    done = run_now(loans, service)
    assert (done["state"], done["set"], done["people"]) == ("done", 1, 700)
    assert verify(service) == []
