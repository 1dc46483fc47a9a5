"""Erasing: whoever asks to be forgotten is in no byte of database, segments, journal, logs, and never tested again."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from sqlalchemy import MetaData, select, text
from starlette.testclient import TestClient

from fairtest.service.api.app import create_app
from fairtest.service.ingest.frames import from_bytes
from fairtest.service.operate.verify import verify
from fairtest.service.service import Service
from fairtest.service.store.monitors import find_monitor
from fairtest.service.store.projects import create_key
from fairtest.service.store.sealing import seal_stream
from fairtest.service.work.jobs import do_job, plan_jobs
from fairtest.service.work.people import choose_people

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.service.settings import Settings
    from fairtest.service.store.tenant import Tenant

NEEDLE = "needle"
COLUMNS = {"sex": "text", "town": "text", "granted": "boolean", "repaid": "boolean"}


@pytest.fixture(params=["folder", "database"])
def service(settings: Settings, request: pytest.FixtureRequest) -> Iterator[Service]:
    where = "database" if request.param == "database" else str(settings.data / "segments")
    with Service(replace(settings, segments=where), writes=True) as made:
        yield made


def contents(service: Service) -> str:
    """Return everything that can be read of a store: every value of every table, and of frames within them."""
    found, parts = MetaData(), []
    with service.database.reading() as connection:
        found.reflect(connection)
        for table in found.sorted_tables:
            for row in connection.execute(select(table)):
                parts += [_show(table.name, value) for value in row]
    folder = Path(service.settings.segments_at)
    if folder.is_dir():
        parts += [_show("segment_body", path.read_bytes()) for path in folder.rglob("*.parquet")]
    return "\n".join(parts)


def _show(table: str, value: Any) -> str:
    if isinstance(value, bytes) and table == "segment_body":
        return str(pl.read_parquet(io.BytesIO(value)).to_dicts())
    if isinstance(value, bytes) and table == "batch_body":
        return str(from_bytes(value).to_dicts())
    return repr(value)


def send(client: TestClient, key: str, rows: list[dict[str, Any]], kind: str = "records") -> None:
    answer = client.post(f"/v1/streams/loans/{kind}", json={kind: rows}, headers={"Idempotency-Key": key})
    assert answer.status_code == 201, answer.json()


def one(n: int, **more: Any) -> dict[str, Any]:
    return {"id": f"r-{n}", "who": f"p-{n}", "sex": "fm"[n % 2], "town": f"t-{n}", "granted": n % 3 == 0, **more}


def test_nothing_of_a_person_is_left(service: Service, tenant: Tenant, logged: io.StringIO, tmp_path: Path) -> None:
    key, _ = create_key(service.database, "test", "acme", ["ingest", "manage", "read"])
    client = TestClient(create_app(service), headers={"Authorization": f"Bearer {key.text}"})
    client.post("/v1/streams", json={"name": "loans", "columns": COLUMNS, "person": "who"})
    client.post("/v1/monitors", json={"name": "m", "stream": "loans", "protected": ["sex"], "output": "granted"})
    needle = {"id": f"{NEEDLE}-record", "who": f"{NEEDLE}-person", "town": f"{NEEDLE}-value"}
    send(client, "sealed", [one(1), one(2, **needle)])
    seal_stream(service, "acme", "loans")
    send(client, "unsealed", [one(3), one(4, **{**needle, "id": f"{NEEDLE}-other"})])
    send(client, "truth", [{"id": f"{NEEDLE}-record", "repaid": True}, {"id": "r-1", "repaid": False}], "truths")
    assert NEEDLE in contents(service), "it is there before"

    asked = client.post("/v1/streams/loans/deletions", json={"person_ids": [f"{NEEDLE}-person"]}).json()
    receipt = f"/v1/streams/loans/deletions/{asked['id']}"
    assert client.get(receipt).json()["state"] == "hidden"
    assert client.get(f"/v1/streams/loans/records/{NEEDLE}-record/exists").json() == {"exists": False}
    while plan_jobs(service) or do_job(service):
        pass
    assert client.get(receipt).json()["state"] == "erased"
    assert client.get(receipt).json()["erased"] is not None

    assert NEEDLE not in contents(service)
    assert NEEDLE not in logged.getvalue()
    assert verify(service) == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"secret.key", "erasures.jsonl"} <= {path.name for path in files}
    assert [path for path in files if NEEDLE.encode() in path.read_bytes()] == []

    # the person comes back: kept, and never tested again
    send(client, "later", [one(5, who=f"{NEEDLE}-person"), one(6)])
    chosen = choose_people(service, find_monitor(tenant, "m"), 0.0)
    tested = [*chosen.test["who"]]
    assert "p-6" in tested
    assert f"{NEEDLE}-person" not in tested


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_postgresql_has_it_in_no_file_after_its_vacuum(service: Service, tenant: Tenant) -> None:
    """Dead rows stay in PostgreSQL's pages until they are written again: the documentation says what to do."""
    key, _ = create_key(service.database, "test", "acme", ["ingest", "manage"])
    client = TestClient(create_app(service), headers={"Authorization": f"Bearer {key.text}"})
    client.post("/v1/streams", json={"name": "loans", "columns": COLUMNS, "person": "who"})
    send(client, "a", [one(2, id=f"{NEEDLE}-a", who=f"{NEEDLE}-b", town=f"{NEEDLE}-c")])
    client.post("/v1/streams/loans/deletions", json={"person_ids": [f"{NEEDLE}-b"]})
    while plan_jobs(service) or do_job(service):
        pass
    with service.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM FULL batch_body, segment_body, batch, segment"))
        connection.execute(text("CHECKPOINT"))
        folder = connection.scalar(text("SELECT current_setting('data_directory') || '/base/' || oid FROM pg_database "
                                        "WHERE datname = current_database()"))  # fmt: skip
    files = [path for path in Path(str(folder)).iterdir() if path.is_file()]
    assert len(files) > 50
    assert [path for path in files if NEEDLE.encode() in path.read_bytes()] == []


def test_a_journal_line_names_nobody(service: Service, tenant: Tenant) -> None:
    from fairtest.service.store.erasure import JOURNAL, ask_to_erase
    from fairtest.service.store.streams import create_stream

    create_stream(tenant, "loans", {"columns": COLUMNS, "person": "who"})
    ask_to_erase(service, tenant, "loans", "person", ["Ms Smith"])
    (line,) = (service.settings.data / JOURNAL).read_text().splitlines()
    assert "Smith" not in line
    assert len(json.loads(line)["hash"]) == 32
