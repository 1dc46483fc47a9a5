"""What is kept and for how long: retention, samples of people, truths in time, limits; and stopping without loss."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import served
from samples import as_arrow
from sqlalchemy import select, update
from starlette.testclient import TestClient

from fairtest.service.api.app import create_app
from fairtest.service.guard.limits import REMEMBERED, Buckets
from fairtest.service.guard.sampling import Sampling
from fairtest.service.operate.verify import verify
from fairtest.service.service import Service
from fairtest.service.store import tables
from fairtest.service.store.erasure import ask_to_erase
from fairtest.service.store.monitors import find_monitor
from fairtest.service.store.projects import create_key
from fairtest.service.store.sealing import seal_stream
from fairtest.service.store.streams import change_stream
from fairtest.service.store.windows import read_window
from fairtest.service.work import runs
from fairtest.service.work.jobs import do_job, plan_jobs
from fairtest.service.work.people import choose_people
from fairtest.service.work.runs import do_run
from fairtest_client import Client, NoAnswer, Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.service.settings import Settings
    from fairtest.service.store.tenant import Tenant

DAY = 86400.0
COLUMNS = {"sex": "text", "granted": "boolean", "repaid": "boolean"}


def make_stream(client: TestClient, **more: Any) -> None:
    made = client.post("/v1/streams", json={"name": "loans", "columns": COLUMNS, **more})
    assert made.status_code == 201, made.json()


def send(client: TestClient, key: str, rows: list[dict[str, Any]], kind: str = "records") -> dict[str, Any]:
    answer = client.post(f"/v1/streams/loans/{kind}", json={kind: rows}, headers={"Idempotency-Key": key})
    assert answer.status_code == 201, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def read(service: Service, kind: str = "records") -> list[str]:
    with service.database.reading() as connection:
        seq = connection.scalar(select(tables.stream.c.seq)) or 0
    return [*read_window(service, "acme", "loans", (0, seq), kind)["id"]]


def make_older(service: Service, key: str, days: float) -> None:
    """Let a batch have arrived so many days before."""
    with service.database.writing() as connection:
        mine = tables.batch.c.key == key
        connection.execute(update(tables.batch).where(mine).values(received=tables.batch.c.received - DAY * days))


def work(service: Service) -> None:
    while plan_jobs(service) or do_job(service):
        pass


class TestRetention:
    def fill(self, client: TestClient, service: Service, **more: Any) -> None:
        make_stream(client, **more)
        for key, days in (("old", 40), ("mixed", 20)):
            send(client, key, [{"id": key, "sex": "f"}])
            make_older(service, key, days)
            if key == "old":
                send(client, "truth", [{"id": "old", "repaid": True}], "truths")
                make_older(service, "truth", 39)
            seal_stream(service, "acme", "loans")
        send(client, "new", [{"id": "new", "sex": "m"}])

    def test_old_segments_go_whole(self, client: TestClient, service: Service, tenant: Tenant) -> None:
        self.fill(client, service, retention_days=30)
        work(service)
        assert read(service) == ["mixed", "new"]
        assert read(service, "truth") == []
        assert verify(service) == []
        rows, headers = [{"id": "old", "sex": "f"}], {"Idempotency-Key": "old"}
        again = client.post("/v1/streams/loans/records", json={"records": rows}, headers=headers)
        assert again.headers["Idempotency-Replayed"] == "true", "receipts stay"
        with service.database.reading() as connection:
            left = connection.scalars(select(tables.segment.c.kind).order_by(tables.segment.c.lo)).all()
            expired = tables.audit.c.what == "stream.expire"
            noted = connection.scalars(select(tables.audit.c.object).where(expired)).all()
        assert left == ["records", "records"], "rows and files of the others are gone"
        assert sorted(noted) == ["loans records 2", "loans truth 2"]

    def test_nothing_goes_without_being_told_to(self, client: TestClient, service: Service, tenant: Tenant) -> None:
        self.fill(client, service)
        work(service)
        assert read(service) == ["old", "mixed", "new"]
        change_stream(tenant, "loans", {"retention_days": 10}, None)
        work(service)
        assert read(service) == ["new"]
        change_stream(tenant, "loans", {"retention_days": None}, None)
        assert verify(service) == [], "what went is in the audit trail, whatever the setting is now"

    def test_what_goes_by_itself_is_told(self, client: TestClient, service: Service, tenant: Tenant) -> None:
        self.fill(client, service, retention_days=30)
        with service.database.writing() as connection:
            connection.execute(tables.segment.delete().where(tables.segment.c.lo == 0))
        assert any("0 of 1 records" in what for what in verify(service)), "the trail does not say that it may be gone"


class TestSamples:
    def test_the_same_people_in_every_format(self, client: TestClient, service: Service, tenant: Tenant) -> None:
        make_stream(client, person="who", sample=0.3)
        rows = [{"id": f"r-{n}", "who": f"p-{n % 200}", "sex": "f"} for n in range(400)]
        receipt = send(client, "json", rows)
        kept = read(service)
        assert receipt["accepted"] == len(kept)
        assert 80 < len(kept) < 160
        assert {name.removeprefix("r-") for name in kept} == {str(n) for n in range(400) if f"r-{n % 200}" in kept}
        import polars as pl

        body = as_arrow(pl.DataFrame([{**row, "id": f"arrow-{row['id']}"} for row in rows]))
        headers = {"Idempotency-Key": "arrow", "Content-Type": "application/vnd.apache.arrow.stream"}
        answer = client.post("/v1/streams/loans/records", content=body, headers=headers)
        assert answer.json()["accepted"] == len(kept), answer.json()
        assert verify(service) == []

    def test_a_batch_of_nobody(self, client: TestClient, service: Service, tenant: Tenant) -> None:
        make_stream(client, sample=1e-9)
        assert send(client, "a", [{"id": "1", "sex": "f"}])["accepted"] == 0
        assert read(service) == []
        assert send(client, "t", [{"id": "1", "repaid": True}], "truths")["accepted"] == 0, "the record is the person"
        assert read(service, "truth") == []
        assert verify(service) == []

    def test_the_client_sends_those_whom_the_service_keeps(self, service: Service, tenant: Tenant) -> None:
        key, _ = create_key(service.database, "test", "acme", ["ingest", "manage"])
        with served(service) as url, Client(url, key.text) as client:
            asking = TestClient(create_app(service), headers={"Authorization": f"Bearer {key.text}"})
            make_stream(asking, person="who", sample=0.25)
            loans = client.stream("loans", truth="repaid", sample=client.ask_sample("loans"))
            for n in range(200):
                loans.send(id=f"r-{n}", who=f"p-{n}", sex="f")
            loans.truth("r-1", True)
            assert loans.flush() == 0
            counts = loans.counts
            with pytest.raises(NoAnswer, match="404"):
                client.ask_sample("nothing")
        kept = read(service)
        assert counts.accepted == len(kept) + 1
        assert counts.left_out == 200 - len(kept)
        assert 20 < len(kept) < 80
        with pytest.raises(NoAnswer, match="cannot be reached"):
            Client(url, key.text, timeout=1).ask_sample("loans")

    @given(st.text(max_size=30), st.floats(0.001, 1), st.binary(min_size=1, max_size=64))
    def test_client_and_service_agree(self, value: str, share: float, key: bytes) -> None:
        kept = Sampling(share, key, "id").keeps(value) if value.isprintable() else True
        assert Sample(share, "id", key.hex()).keeps({"id": value if value.isprintable() else None}) == kept

    def test_a_larger_share_has_everybody_of_a_smaller(self) -> None:
        few, many = (Sampling(share, b"k" * 32, "id") for share in (0.1, 0.2))
        people = [str(n) for n in range(5000)]
        chosen = {each for each in people if few.keeps(each)}
        assert 420 < len(chosen) < 580
        assert chosen < {each for each in people if many.keeps(each)}


class TestTruths:
    MONITOR: ClassVar = {
        "name": "errors", "stream": "loans", "kind": "error_profiling", "protected": ["sex"], "output": "granted",
        "ground_truth": "repaid", "test_people": 50, "train_people": 50,
    }  # fmt: skip

    def test_only_truths_that_came_in_time_count(self, client: TestClient, service: Service, tenant: Tenant) -> None:
        make_stream(client, truth_within_days=30)
        made = client.post("/v1/monitors", json=self.MONITOR)
        assert made.status_code == 201, made.json()
        send(client, "a", [{"id": f"{n}", "sex": "fm"[n % 2], "granted": True} for n in range(10)])
        make_older(service, "a", 50)
        send(client, "b", [{"id": f"new-{n}", "sex": "f", "granted": True} for n in range(3)])
        send(client, "soon", [{"id": f"{n}", "repaid": True} for n in range(4)], "truths")
        make_older(service, "soon", 25)
        send(client, "late", [{"id": f"{n}", "repaid": True} for n in range(4, 7)], "truths")
        chosen = choose_people(service, find_monitor(tenant, "errors"), time.time())
        people = [*chosen.train["id"], *chosen.test["id"]]
        assert sorted(people) == ["0", "1", "2", "3"]
        assert (chosen.waiting, chosen.overdue) == (3, 6)
        change_stream(tenant, "loans", {"truth_within_days": None}, None)
        chosen = choose_people(service, find_monitor(tenant, "errors"), time.time())
        assert (chosen.train.height + chosen.test.height, chosen.waiting, chosen.overdue) == (7, 6, 0)

    def test_the_report_says_who_was_left_out(self) -> None:
        from fairtest.service.work.audit import _notes

        detail = {"set": 1, "level": 0.02, "left": 0.03, "over": "life", "without_truth": 6, "sample": 0.25}
        detail["explain_by"] = []
        _, left_out, sampled = _notes(detail)
        assert left_out.startswith("6 records were left out because what really happened did not become known")
        assert "keeps 25 % of people" in sampled
        assert len(_notes({**detail, "without_truth": 0, "sample": 1.0})) == 1


def test_an_erased_record_never_comes_back_where_records_are_people(
    client: TestClient, service: Service, tenant: Tenant
) -> None:
    make_stream(client)
    client.post("/v1/monitors", json={"name": "m", "stream": "loans", "protected": ["sex"], "output": "granted"})
    send(client, "a", [{"id": "x", "sex": "f", "granted": True}, {"id": "y", "sex": "m", "granted": True}])
    ask_to_erase(service, tenant, "loans", "record", ["x"])
    work(service)
    with service.database.writing() as connection:  # a week later, when ids may come again
        connection.execute(update(tables.segment).values(created=0.0))
    send(client, "b", [{"id": "x", "sex": "f", "granted": True}, {"id": "z", "sex": "m", "granted": True}])
    assert sorted(read(service)) == ["x", "y", "z"]
    found = find_monitor(tenant, "m")
    chosen = choose_people(service, found, 0.0)
    assert "x" not in [*chosen.test["id"]]
    assert "z" in [*chosen.test["id"]]


class TestLimits:
    def test_a_key_that_sends_too_much_is_told_when_to_come_back(self, settings: Settings, tenant: Tenant) -> None:
        from dataclasses import replace

        with Service(replace(settings, rate=1.0), writes=True) as slow:
            keys = [create_key(slow.database, "test", "acme", ["ingest", "manage"])[0].text for _ in range(2)]
            app = create_app(slow)
            first, second = (TestClient(app, headers={"Authorization": f"Bearer {key}"}) for key in keys)
            make_stream(first)
            answers = [
                first.post("/v1/streams/loans/records", json={"records": [{"id": str(n)}]},
                           headers={"Idempotency-Key": str(n)})
                for n in range(4)
            ]  # fmt: skip
            refused = [answer for answer in answers if answer.status_code == 429]
            assert len(refused) >= 2
            assert refused[0].json()["type"] == "/problems/too-many-requests"
            assert 1 <= int(refused[0].headers["Retry-After"]) <= 2
            assert first.get("/v1/streams").status_code == 429, "all routes share it"
            assert second.get("/v1/streams").status_code == 200, "each key has its own"
            stored = second.get("/v1/streams/loans").json()["records"]
            assert stored == len([answer for answer in answers if answer.status_code == 201])

    def test_buckets(self) -> None:
        now = [0.0]
        buckets = Buckets(2.0, burst=2.0, clock=lambda: now[0])
        assert [buckets.take("a") for _ in range(5)] == [0.0, 0.0, 0.0, 0.0, 0.5]
        now[0] += 0.5
        assert (buckets.take("a"), buckets.take("a")) == (0.0, 0.5)
        now[0] += 1e6
        assert [buckets.take("a") for _ in range(5)][-2:] == [0.0, 0.5]
        assert buckets.wait("a") == 0.5
        assert Buckets(0).take("a") == 0.0

    def test_buckets_are_bounded(self) -> None:
        buckets = Buckets(1.0, clock=lambda: 0.0)
        for n in range(3 * REMEMBERED):
            buckets.take(str(n))
        assert len(buckets._buckets) <= REMEMBERED


def test_a_worker_that_stops_gives_its_run_back(
    client: TestClient, service: Service, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is due at once, and the attempt does not count; its process is gone."""
    make_stream(client)
    client.post("/v1/monitors", json={"name": "m", "stream": "loans", "protected": ["sex"], "output": "granted"})
    started = client.post("/v1/monitors/m/runs").headers["Location"]
    children: list[Any] = []
    popen = runs.subprocess.Popen

    def slow(command: list[str], **options: Any) -> Any:
        children.append(popen([command[0], "-c", "import time; time.sleep(60)"], **options))
        return children[-1]

    monkeypatch.setattr(runs.subprocess, "Popen", slow)
    service.stopping.set()
    begun = time.monotonic()
    assert do_run(service)
    assert time.monotonic() - begun < 20
    assert children[0].returncode is not None
    with service.database.reading() as connection:
        row = connection.execute(select(tables.run)).one()
    assert (row.state, row.attempts, row.lease_until, row.worker) == ("due", 0, None, None)
    assert client.get(started).json()["state"] == "due"


def test_a_run_ends_when_its_worker_is_gone(service: Service, tenant: Tenant, client_of: Callable[..., Any]) -> None:
    import subprocess
    import sys

    from fairtest.service.operate.starting import Listening, to_text

    child = subprocess.Popen(
        [sys.executable, "-m", "fairtest.service.work.audit"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    given = {"knows": to_text(service.settings, Listening()), "project": "acme", "monitor": "none", "version": 1}
    out, err = child.communicate(json.dumps(given) + "\n", timeout=60)  # closes its standard input, as a death does
    assert child.returncode == 1
    assert out == ""
    assert "Traceback" not in err
