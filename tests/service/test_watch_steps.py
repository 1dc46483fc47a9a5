"""The watch of a monitor: it learns, bets, says what it has found once, and goes on after every crash."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from running import in_this_process
from sqlalchemy import delete, select, update
from watched_loans import MONITOR, Clock, applicants, live, make_due, make_monitor, make_stream, send_on, watch_all

from fairtest.monitoring.state import join_past
from fairtest.service import pausing
from fairtest.service.operate.verify import verify
from fairtest.service.store.erasure import ask_to_erase
from fairtest.service.store.packing import pack_plain, unpack_plain
from fairtest.service.store.tables import delivery, event, finding
from fairtest.service.store.watch_tables import block, hypothesis, watch, watch_past, watch_people
from fairtest.service.work.runs import do_run
from fairtest.service.work.watching import do_watch, plan_watches

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from fairtest.service.service import Service
    from fairtest.service.store.tenant import Tenant


@pytest.fixture
def loans(client: TestClient) -> TestClient:
    make_stream(client)
    return client


@pytest.fixture
def clock(service: Service) -> Clock:
    return Clock(service)


def stored(service: Service, table: Any) -> list[Any]:
    with service.database.reading() as connection:
        return list(connection.execute(select(table)).all())


def events(service: Service) -> list[tuple[str, str]]:
    rows = sorted(stored(service, event), key=lambda row: row.created)
    return [(row.kind, json.loads(row.body).get("context", "")) for row in rows]


def alarms(service: Service) -> list[str]:
    return [context for kind, context in events(service) if kind == "new"]


def shown(client: TestClient, monitor: str = "loans-sex") -> dict[str, Any]:
    answer = client.get(f"/v1/monitors/{monitor}/watch")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_from_the_first_people_to_gone(loans: TestClient, service: Service, clock: Clock) -> None:
    hook = loans.post("/v1/destinations", json={"kind": "email", "address": "ops@example.com"}).json()["id"]
    make_monitor(loans, tolerance=0.05, tell=[hook])
    send_on(clock, loans, 60, applicants(1, 200))
    watch_all(service)
    assert shown(loans)["phase"] == "learning"
    assert shown(loans)["to_go"] == 300
    live(clock, loans, range(59, 40, -1))
    watch_all(service)
    quiet = shown(loans)
    assert quiet["phase"] == "watching"
    assert quiet["alarms"] == 0
    assert events(service) == []
    assert quiet["outlook"][0].startswith("A gap of 10 points in 5 % of your records would be noticed after about")
    live(clock, loans, range(40, 28, -1), gap=0.4)
    watch_all(service)
    assert ("new", "region = north") in events(service)
    live(clock, loans, range(28, 0, -1), n=900)
    watch_all(service)
    kinds = [kind for kind, context in events(service) if context == "region = north"]
    assert kinds[0] == "new"
    assert kinds[-1] == "gone"
    assert len(stored(service, delivery)) == len(stored(service, event))
    (found,) = [row for row in stored(service, finding) if json.loads(row.body)["words"] == "region = north"]
    assert found.state == "closed"
    states = {row.name: row.state for row in stored(service, hypothesis)}
    assert states["sex → granted | region = north"] == "gone"
    assert verify(service) == []


def test_what_it_draws_and_says_of_itself(loans: TestClient, service: Service, clock: Clock) -> None:
    make_monitor(loans)
    live(clock, loans, range(20, 0, -1), gap=0.4)
    watch_all(service)
    found = shown(loans)
    assert found["warnings"] == []
    assert "another monitor has its own" in found["capital"]["words"]
    assert "at most 5 %" in found["explain"]
    (north,) = [each for each in found["followed"] if each["words"] == "region = north"]
    assert (north["state"], north["sign"]) == ("alarmed", -1)
    day, gap, low, high, records = north["timeline"][-1]
    assert low < -0.4 < high < 0
    assert gap == pytest.approx(-0.4, abs=0.1)
    assert (day, records) == (north["days"][-1][0], sum(each[2] for each in north["days"][7:]))
    assert found["followed"][0]["words"] == "region = north"  # what alarmed comes first
    assert "everyone" in [each["words"] for each in found["followed"]]
    told = loans.get("/v1/events").json()["items"]
    ids = {each["id"] for each in loans.get("/v1/findings").json()["items"]}
    assert {each["data"]["finding_id"] for each in told} == ids


def test_alerts_use_the_words_of_the_monitor(loans: TestClient, service: Service, clock: Clock) -> None:
    labels = {"sex": {"f": "women", "m": "men"}}
    make_monitor(loans, people="applicants", outcome="are granted a loan", labels=labels)
    live(clock, loans, range(12, 1, -1), gap=0.4)
    watch_all(service)
    told = [each["data"]["sentence"] for each in loans.get("/v1/events").json()["items"]]
    (north,) = [each for each in told if each.startswith("New: where region = north")]
    assert "women are granted a loan less often than the others (the stake on it reached" in north
    assert all("sex = f" not in each for each in told)
    shown = [each["sentence"] for each in loans.get("/v1/findings").json()["items"]]
    assert "Where region = north, women are granted a loan less often than the others." in shown


def test_it_does_not_matter_when_it_looks(loans: TestClient, service: Service, clock: Clock) -> None:
    """One watch looks after every day, another once, a third loses its memory each time: they hold the same."""
    ids = [make_monitor(loans, name=f"m{n}", seed=7) for n in range(3)]
    for day in range(15, 0, -1):
        send_on(clock, loans, day, applicants(50 - day, 400, 0.35 if day < 9 else 0.0))
        with service.database.writing() as connection:
            connection.execute(update(watch).where(watch.c.monitor == ids[1]).values(state="running", lease_until=2e10))
        service.held_watches.clear()
        watch_all(service)
    with service.database.writing() as connection:
        connection.execute(update(watch).where(watch.c.monitor == ids[1]).values(state="due", lease_until=None))
    watch_all(service)
    said = {each: [] for each in ids}
    for row in stored(service, event):
        said[row.monitor].append((row.kind, row.subject, row.slot))
    assert len(said[ids[0]]) >= 1
    assert sorted(said[ids[0]]) == sorted(said[ids[1]]) == sorted(said[ids[2]])
    stakes: dict[str, dict[str, float]] = {row.id: {} for row in stored(service, watch)}
    for row in stored(service, hypothesis):
        stakes[row.watch][row.name] = row.stake
    first, *others = stakes.values()
    for other in others:
        assert other == pytest.approx(first)


def test_days_that_are_over_are_stored_once_a_day(loans: TestClient, service: Service, clock: Clock) -> None:
    make_monitor(loans)
    live(clock, loans, range(12, 3, -1))
    watch_all(service)
    (before,) = stored(service, watch_past)
    (held,) = stored(service, watch)
    assert "past_sums" not in unpack_plain(held.body)["watch"]["life"]["books"][0]
    assert len(unpack_plain(before.body)["books"][0]["past_days"]) >= 3
    with service.database.writing() as connection:  # a step on the same day must not touch it
        connection.execute(update(watch_past).values(body=b"untouched"))
    make_due(service)
    assert do_watch(service)
    assert stored(service, watch_past)[0].body == b"untouched"
    with service.database.writing() as connection:
        connection.execute(update(watch_past).values(body=before.body))
    live(clock, loans, range(3, 0, -1))
    watch_all(service)
    assert len(stored(service, watch_past)[0].body) > len(before.body)


def test_what_an_earlier_version_stored_is_read(loans: TestClient, service: Service, clock: Clock) -> None:
    """Days that are over were in the body of a watch before they had a table of their own."""
    make_monitor(loans)
    live(clock, loans, range(12, 3, -1), gap=0.4)
    watch_all(service)
    (row,), (apart,) = stored(service, watch), stored(service, watch_past)
    body = unpack_plain(row.body)
    body["watch"]["life"] = join_past(body["watch"]["life"], unpack_plain(apart.body)["books"])
    with service.database.writing() as connection:
        connection.execute(update(watch).values(body=pack_plain(body)))
        connection.execute(delete(watch_past))
    service.held_watches.clear()
    make_due(service)
    assert do_watch(service)
    assert unpack_plain(stored(service, watch_past)[0].body) == unpack_plain(apart.body)
    assert verify(service) == []


@pytest.mark.parametrize("point", ["claim.committed", "watch.inside", "watch.committed"])
def test_a_step_counts_once_wherever_its_worker_dies(
    loans: TestClient, service: Service, clock: Clock, point: str
) -> None:
    make_monitor(loans)
    live(clock, loans, range(12, 0, -1), gap=0.4)
    plan_watches(service)
    assert do_watch(service)  # it learns
    deaths = 0

    class Died(BaseException):
        pass

    def die(name: str) -> None:
        nonlocal deaths
        if name == point and deaths < 2:
            deaths += 1
            raise Died

    pausing.hook = die
    try:
        for _ in range(2):
            with pytest.raises(Died):
                do_watch(service)
            service.held_watches.clear()  # what a dead worker knew is gone
            with service.database.writing() as connection:
                connection.execute(update(watch).values(lease_until=0.0, due=0.0))
    finally:
        pausing.hook = None
    watch_all(service)
    assert deaths == 2
    assert alarms(service) == ["region = north"]  # everybody, too, but that is said by it
    assert verify(service) == []


def test_a_step_that_comes_late_is_thrown_away(loans: TestClient, service: Service, clock: Clock) -> None:
    from fairtest.service.store.watch_steps import LeaseLost, store_step
    from fairtest.service.work.leases import claim
    from fairtest.service.work.watching import take_step

    make_monitor(loans)
    live(clock, loans, range(12, 0, -1), gap=0.4)
    plan_watches(service)
    assert do_watch(service)
    late = claim(service.database, watch, "slow")
    assert late is not None
    step = take_step(service, late)
    service.held_watches.clear()
    with service.database.writing() as connection:
        connection.execute(update(watch).values(lease_until=0.0))
    assert do_watch(service)
    with pytest.raises(LeaseLost):
        store_step(service.database, late, step)
    assert alarms(service) == ["region = north"]  # everybody, too, but that is said by it
    assert verify(service) == []


def test_only_the_first_record_of_a_person_counts(
    loans: TestClient, service: Service, clock: Clock, tenant: Tenant
) -> None:
    make_monitor(loans)
    send_on(clock, loans, 5, applicants(1, 600))
    send_on(clock, loans, 4, applicants(2, 300))
    watch_all(service)
    known = sum(len(row.hashes) // 8 for row in stored(service, watch_people))
    assert known == 900
    again = [{**each, "id": f"again-{each['id']}"} for each in applicants(2, 300)]
    erased = applicants(3, 10)
    ask_to_erase(service, tenant, "loans", "person", [erased[0]["who"]])
    service.held_watches.clear()
    send_on(clock, loans, 3, [*again, *erased])
    make_due(service)
    watch_all(service)
    assert sum(len(row.hashes) // 8 for row in stored(service, watch_people)) == 909
    assert shown(loans)["records"] == 75 + 300 + 9  # the first batches with 500 people are not bet on


def test_without_a_person_column_it_warns(client: TestClient, service: Service, clock: Clock) -> None:
    make_stream(client, person=None)
    make_monitor(client, exclude=["score", "tags", "purpose", "who"])
    send_on(clock, client, 2, applicants(1, 600))
    watch_all(service)
    (warning,) = shown(client)["warnings"]
    assert warning.startswith("No 'person' column is named")


def test_what_it_cannot_watch_it_says(loans: TestClient, service: Service, clock: Clock) -> None:
    make_monitor(loans, output="score", tolerance=0.05, exclude=["granted", "tags"], favourable=None)
    send_on(clock, loans, 2, applicants(1, 600))
    watch_all(service)
    found = shown(loans)
    assert found["phase"] == "unable"
    assert "tolerance" in found["reason"]
    assert "It is a gap between rates" in found["reason"] or "is a gap between rates" in found["reason"]


@pytest.mark.parametrize(
    "asked",
    [
        {"output": "score", "exclude": ["granted", "tags", "purpose"], "favourable": None},
        {"kind": "discovery", "output": "tags", "separator": ",", "exclude": ["granted", "score"], "favourable": None},
        {"explanatory": ["purpose"], "exclude": ["score", "tags"]},
        {"protected": [["sex", "purpose"]], "exclude": ["score", "tags"], "reference": None},
        {"error": {"level": 0.05, "over": "year"}},
    ],
    ids=["number", "labels", "explanatory", "crossed", "rate"],
)
def test_every_kind_of_output(loans: TestClient, service: Service, clock: Clock, asked: dict[str, Any]) -> None:
    given = {name: value for name, value in {**MONITOR, **asked}.items() if value is not None}
    made = loans.post("/v1/monitors", json=given)
    assert made.status_code == 201, made.json()
    live(clock, loans, range(15, 0, -1), gap=0.45)
    watch_all(service)
    found = shown(loans)
    assert found["phase"] == "watching", found
    contexts = [context for kind, context in events(service) if kind == "new"]
    assert any("region = north" in context or context == "everyone" for context in contexts), contexts
    assert verify(service) == []


def test_errors_arrive_with_their_truth(client: TestClient, service: Service, clock: Clock) -> None:
    columns = {"sex": "text", "region": "text", "predicted": "boolean", "late": "boolean"}
    client.post("/v1/streams", json={"name": "loans", "columns": columns, "person": "who"})
    question = {"kind": "error_profiling", "output": "predicted", "ground_truth": "late", "notion": "fpr"}
    made = client.post("/v1/monitors", json={"name": "errors", "stream": "loans", "protected": ["sex"], **question})
    assert made.status_code == 201, made.json()
    for day in range(14, 0, -1):
        people = applicants(day, 400, 0.4)
        rows = [
            {"id": p["id"], "who": p["who"], "sex": p["sex"], "region": p["region"], "predicted": not p["granted"]}
            for p in people
        ]
        send_on(clock, client, day, rows)
        send_on(clock, client, day, [{"id": p["id"], "late": False} for p in people], "truths")
    watch_all(service)
    assert shown(client, "errors")["phase"] == "watching"
    assert ("new", "region = north") in events(service)


def test_findings_of_reports_are_followed_and_tested_again(loans: TestClient, service: Service, clock: Clock) -> None:
    from fairtest.model.context import Context, Predicate
    from fairtest.service.store.findings import find_or_add, fingerprint
    from fairtest.workspace.codec import pack

    monitor = make_monitor(loans, contextual=["region", "purpose"], exclude=["score", "tags"])
    live(clock, loans, range(9, 5, -1))
    watch_all(service)
    deep = Context.of([Predicate("region", "==", "north"), Predicate("purpose", "==", "car")])
    body = {"protected": "sex", "output": "granted", "context": pack(deep), "words": str(deep), "metric": "DIFF",
            "sentence": "Among …"}  # fmt: skip
    with service.database.writing() as connection:
        mark = fingerprint("sex", "granted", deep)
        find_or_add(connection, "acme", monitor, mark, body, "run_1", 0.0)
    live(clock, loans, range(5, 0, -1))
    make_due(service)
    watch_all(service)
    names = [each["words"] for each in shown(loans)["followed"]]
    assert str(deep) in names


def test_the_next_question_has_what_is_left_of_the_capital(loans: TestClient, service: Service, clock: Clock) -> None:
    make_monitor(loans)
    live(clock, loans, range(20, 10, -1))
    watch_all(service)
    before = shown(loans)["capital"]["staked"]
    asked = {name: value for name, value in MONITOR.items() if name not in {"name", "stream", "exclude"}}
    changed = loans.patch("/v1/monitors/loans-sex", json={"question": {**asked, "exclude": ["tags"]}})
    assert changed.json()["version"] == 2
    live(clock, loans, range(10, 0, -1))
    watch_all(service)
    found = shown(loans)
    assert found["version"] == 2
    assert found["capital"]["staked"] > before
    assert "in 19 days" in found["capital"]["words"]  # days since the first question
    first, second = sorted(stored(service, watch), key=lambda row: row.version)
    given = [sum(json.loads(row.view)["capital"]["staked"] for row in (each,)) for each in (first, second)]
    assert given[1] < 1
    assert verify(service) == []


def test_the_journal_cannot_be_changed_and_is_checked(loans: TestClient, service: Service, clock: Clock) -> None:
    from sqlalchemy.exc import DBAPIError

    from fairtest.service.errors import StoreUnavailable
    from fairtest.service.store.packing import pack_plain, unpack_plain

    make_monitor(loans)
    live(clock, loans, range(6, 0, -1))
    watch_all(service)
    with pytest.raises((DBAPIError, StoreUnavailable)), service.database.writing() as connection:
        connection.execute(update(block).values(entries=0))
    (row,) = stored(service, watch)
    state = unpack_plain(row.body)
    state["watch"]["life"]["books"][0]["log_stakes"][0][0] = 3.0
    with service.database.writing() as connection:
        connection.execute(update(watch).values(body=pack_plain(state)))
    assert any("stake" in each for each in verify(service))


def test_paused_it_bets_on_nothing_and_leaves_nothing_out(loans: TestClient, service: Service, clock: Clock) -> None:
    make_monitor(loans)
    live(clock, loans, range(12, 8, -1))
    watch_all(service)
    loans.patch("/v1/monitors/loans-sex", json={"paused": True})
    live(clock, loans, range(8, 4, -1), gap=0.4)
    make_due(service)
    assert watch_all(service) == 0
    loans.patch("/v1/monitors/loans-sex", json={"paused": False})
    watch_all(service)
    assert ("new", "region = north") in events(service)


def test_silence_is_told_once(loans: TestClient, service: Service, clock: Clock) -> None:
    make_monitor(loans)
    live(clock, loans, range(9, 3, -1))
    watch_all(service)
    for day in (2, 1):
        clock.go_to(day)
        watch_all(service)
    assert [kind for kind, _ in events(service)].count("no_data") == 1


def test_a_watch_that_fails_says_so_and_goes_on(
    loans: TestClient, service: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fairtest.service.work import watching

    make_monitor(loans)
    live(clock, loans, range(6, 1, -1))
    watch_all(service)
    works = watching.arrivals_between
    monkeypatch.setattr(watching, "arrivals_between", lambda *_: 1 / 0)
    live(clock, loans, range(1, 0, -1))
    for _ in range(4):
        make_due(service)
        do_watch(service)
    assert [kind for kind, _ in events(service)].count("run_failed") == 1
    assert "ZeroDivisionError" in shown(loans)["trouble"]
    monkeypatch.setattr(watching, "arrivals_between", works)
    make_due(service)
    watch_all(service)
    assert shown(loans)["trouble"] is None
    assert verify(service) == []


def test_planning_says_what_would_be_noticed(loans: TestClient, service: Service, clock: Clock) -> None:
    plan = {name: value for name, value in MONITOR.items() if name != "name"}
    first = loans.post("/v1/plans", json=plan).json()
    assert first["sentences"][0] == (
        "If 1,000 records arrive in a day, a gap of 10 points in 5 % of them would be noticed after about 48 days."
    )
    assert "too few to say more" in first["warnings"][0]
    live(clock, loans, range(5, 1, -1), n=1000)
    planned = loans.post("/v1/plans", json=plan).json()
    assert planned["warnings"] == []
    assert planned["sentences"][0].startswith("A gap of 10 points in 5 % of your records would be noticed after about")
    assert planned["sentences"][2].startswith("A gap of 10 points in all of your records would be noticed")
    made = loans.post("/v1/monitors", json=MONITOR).json()
    assert made["planning"]["sentences"] == planned["sentences"]
    numbers = {"output": "score", "tolerance": 0.1, "favourable": None, "exclude": ["granted", "tags", "purpose"]}
    unable = loans.post("/v1/plans", json={**plan, **numbers}).json()
    assert "gap between rates" in unable["problem"]


def test_the_names_of_findings_are_those_of_reports(loans: TestClient, service: Service, clock: Clock) -> None:
    """What the watch finds and what a run reports is one finding: the same fingerprint."""
    make_monitor(loans, test_people=2000, min_size=50)
    live(clock, loans, range(12, 0, -1), gap=0.4)
    watch_all(service)
    before = {each["words"]: each["id"] for each in loans.get("/v1/findings").json()["items"]}
    assert "region = north" in before
    loans.post("/v1/monitors/loans-sex/runs")
    with in_this_process():
        assert do_run(service)
    after = {each["words"]: each["id"] for each in loans.get("/v1/findings").json()["items"]}
    assert after["region = north"] == before["region = north"]
    measured = loans.get(f"/v1/findings/{after['region = north']}/measures").json()["items"]
    assert len(measured) == 1


def test_the_next_people_are_asked_what_explains_a_finding(loans: TestClient, service: Service, clock: Clock) -> None:
    make_monitor(loans, test_people=1000, min_size=50, exclude=["score", "tags"])
    live(clock, loans, range(6, 0, -1), gap=0.4)
    refused = loans.post("/v1/monitors/loans-sex/runs", json={"explain_by": ["granted"]})
    assert refused.status_code == 422
    assert "cannot explain itself" in refused.json()["detail"]
    assert loans.post("/v1/monitors/loans-sex/runs", json={"explain_by": ["nothing"]}).status_code == 422
    started = loans.post("/v1/monitors/loans-sex/runs", json={"explain_by": ["purpose"]})
    with in_this_process():
        assert do_run(service)
    run = loans.get(started.headers["Location"]).json()
    assert run["state"] == "done", run["reason"]
    assert run["detail"]["explain_by"] == ["purpose"]
    assert run["reports"][0]["explained_by"] == "purpose"
    text = loans.get(f"/v1/runs/{run['id']}/reports/1", headers={"Accept": "text/plain"}).text
    assert "have the same purpose" in " ".join(text.split())
    again = loans.post("/v1/monitors/loans-sex/runs")
    with in_this_process():
        assert do_run(service)
    assert loans.get(again.headers["Location"]).json()["state"] == "skipped"  # these people are spent
