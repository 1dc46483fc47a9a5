"""Backup and restore: one moment of a service in one file, and the same service from it on either database."""

from __future__ import annotations

import json
import secrets
import tarfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from running import in_this_process
from sqlalchemy import MetaData, select, update
from starlette.testclient import TestClient
from test_runs import COLUMNS, make, people, run_now, send

from fairtest.cli.main import cli
from fairtest.exceptions import InputError
from fairtest.service.api.app import create_app
from fairtest.service.guard.secrets import Secret
from fairtest.service.operate.archive import Archive
from fairtest.service.operate.backup import NOT_ARCHIVED, SegmentVanished, back_up
from fairtest.service.operate.restore import read_erasures, restore
from fairtest.service.operate.verify import verify
from fairtest.service.service import SECRET_FILE, Service
from fairtest.service.settings import Settings
from fairtest.service.store import tables
from fairtest.service.store.database import Database
from fairtest.service.store.erasure import JOURNAL, ask_to_erase, erase_stream, record_exists
from fairtest.service.store.migrate import migrate
from fairtest.service.store.monitors import find_monitor
from fairtest.service.store.projects import create_key
from fairtest.service.store.runs import PARTS
from fairtest.service.store.sealing import seal_stream
from fairtest.service.work.people import choose_people

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.postgres import Postgres
    from fairtest.service.store.tenant import Tenant


@pytest.fixture
def loans(client: TestClient) -> TestClient:
    made = client.post("/v1/streams", json={"name": "loans", "columns": COLUMNS, "person": "who"})
    assert made.status_code == 201, made.json()
    return client


@pytest.fixture(params=["sqlite", "postgresql"])
def elsewhere(request: pytest.FixtureRequest, service: Service, tmp_path: Path) -> Settings:
    """Another machine, with a new database of either kind and the secret of the first."""
    url = ""
    if request.param == "postgresql":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.create(f"restored_{secrets.token_hex(6)}")
    return with_secret(service, Settings(tmp_path / "elsewhere", url, disk_least=0))


def with_secret(service: Service, settings: Settings) -> Settings:
    settings.data.mkdir()
    (settings.data / SECRET_FILE).write_bytes((service.settings.data / SECRET_FILE).read_bytes())
    return settings


def everything(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    found = MetaData()
    with database.reading() as connection:
        found.reflect(connection)
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key.columns))]
            for table in found.sorted_tables
            if table.name not in NOT_ARCHIVED
        }


def reports(service: Service) -> dict[tuple[Any, ...], bytes]:
    with service.database.reading() as connection:
        return {
            (row.run, row.place, part): getattr(row, part)
            for row in connection.execute(select(tables.report))
            for part in PARTS
        }


def test_the_same_service_from_an_archive(
    loans: TestClient, service: Service, tenant: Tenant, elsewhere: Settings, tmp_path: Path
) -> None:
    make(loans)
    send(loans, "a", people(0, 500))
    send(loans, "b", people(500, 700))
    with in_this_process():
        first = run_now(loans, service)
    assert first["state"] == "done", first["reason"]
    send(loans, "c", people(1200, 300))
    asked = loans.post("/v1/streams/loans/deletions", json={"person_ids": ["p-3"]}).json()
    archive = tmp_path / "backup.tar"
    made = back_up(service, archive)
    assert archive.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == ["backup.tar"]
    before, stored = everything(service.database), reports(service)
    assert stored

    done = restore(elsewhere, archive)
    assert done["segments"] == made["segments"] > 0
    with Service(elsewhere, writes=True) as restored:
        after = everything(restored.database)
        assert after["audit"][:-1] == before["audit"], "the chain goes on from what was there"
        assert {name: rows for name, rows in after.items() if name != "audit"} == {
            name: rows for name, rows in before.items() if name != "audit"
        }
        assert reports(restored) == stored
        assert verify(restored) == []
        with TestClient(create_app(restored), headers=dict(loans.headers)) as there:  # the same key opens it
            for kind in ("application/json", "text/html", "text/plain"):
                url, headers = f"/v1/runs/{first['id']}/reports/1", {"Accept": kind}
                assert there.get(url, headers=headers).content == loans.get(url, headers=headers).content
            assert there.get(f"/v1/streams/loans/deletions/{asked['id']}").json()["state"] == "hidden"
            assert erase_stream(restored, "acme", "loans")
            assert there.get(f"/v1/streams/loans/deletions/{asked['id']}").json()["state"] == "erased"
            again = there.post("/v1/streams/loans/records", json={"records": people(1200, 300)},
                               headers={"Idempotency-Key": "c"})  # fmt: skip
            assert again.headers["Idempotency-Replayed"] == "true"
            send(there, "d", people(1500, 400))
            with in_this_process():
                second = run_now(there, restored)
        assert (second["state"], second["set"], second["people"]) == ("done", 2, 700), second["reason"]
        assert verify(restored) == []


def test_whoever_is_erased_after_a_backup_stays_erased(
    loans: TestClient, service: Service, tenant: Tenant, elsewhere: Settings, tmp_path: Path
) -> None:
    make(loans)
    send(loans, "a", people(0, 5))
    back_up(service, tmp_path / "old.tar")
    send(loans, "b", people(5, 5))
    ask_to_erase(service, tenant, "loans", "person", ["p-3"])
    assert restore(elsewhere, tmp_path / "old.tar", [service.settings.data / JOURNAL])["erased"] == 1
    with Service(elsewhere, writes=True) as restored:
        there = replace(tenant, database=restored.database)
        assert not record_exists(restored, there, "loans", "r-3")
        assert record_exists(restored, there, "loans", "r-4")
        assert erase_stream(restored, "acme", "loans")
        with TestClient(create_app(restored), headers=dict(loans.headers)) as client:
            send(client, "later", [{**people(3, 1)[0], "id": "new"}])
        # what arrives after the restoring is not hidden, although its number is below that of the erasure
        assert record_exists(restored, there, "loans", "new")
        chosen = choose_people(restored, find_monitor(there, "loans-sex"), 0.0)
        assert "p-3" not in [*chosen.test["who"]]
        assert verify(restored) == []


def test_erasures_come_from_a_newer_archive_and_from_the_folder(
    loans: TestClient, service: Service, tenant: Tenant, tmp_path: Path
) -> None:
    send(loans, "a", people(0, 5))
    back_up(service, tmp_path / "old.tar")
    ask_to_erase(service, tenant, "loans", "record", ["r-1"])
    back_up(service, tmp_path / "new.tar")
    one = with_secret(service, Settings(tmp_path / "one"))
    assert restore(one, tmp_path / "old.tar", [tmp_path / "new.tar"])["erased"] == 1
    two = with_secret(service, Settings(tmp_path / "two"))
    (two.data / JOURNAL).write_bytes((service.settings.data / JOURNAL).read_bytes() + b'{"project": "ac')
    assert restore(two, tmp_path / "old.tar")["erased"] == 1
    assert (service.settings.data / JOURNAL).stat().st_mode & 0o777 == 0o600
    assert b"r-1" not in (service.settings.data / JOURNAL).read_bytes()
    (two.data / JOURNAL).write_text("nonsense\n")
    with pytest.raises(InputError, match="line 1: this is not a journal"):
        list(read_erasures(two.data / JOURNAL, service.secret))


@pytest.fixture
def made(loans: TestClient, service: Service, tmp_path: Path) -> Path:
    send(loans, "a", people(0, 5))
    seal_stream(service, "acme", "loans")
    send(loans, "b", people(5, 5))
    back_up(service, tmp_path / "made.tar")
    return tmp_path / "made.tar"


def test_an_archive_that_was_changed_is_refused_whole(made: Path, service: Service, tmp_path: Path) -> None:
    target = with_secret(service, Settings(tmp_path / "target"))
    content = made.read_bytes()
    with tarfile.open(made) as tar:
        members = tar.getmembers()
    for member in members:
        if not member.size:
            continue
        place = member.offset_data + member.size // 2
        (tmp_path / "changed.tar").write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(InputError):
            restore(target, tmp_path / "changed.tar")
    for length in (0, 100, len(content) // 2, members[-1].offset):
        (tmp_path / "cut.tar").write_bytes(content[:length])
        with pytest.raises(InputError):
            restore(target, tmp_path / "cut.tar")
    assert not (target.data / "fairtest.sqlite").exists(), "nothing was begun"
    restore(target, made)


def test_only_an_empty_database_is_filled(made: Path, service: Service, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not empty"):
        restore(service.settings, made)
    target = with_secret(service, Settings(tmp_path / "target"))
    with Service(target):
        pass  # tables, and no rows
    restore(target, made)
    with pytest.raises(InputError, match="is not empty"):
        restore(target, made)


def test_the_secret_is_needed_and_must_be_the_same(made: Path, service: Service, tmp_path: Path) -> None:
    target = Settings(tmp_path / "target")
    with pytest.raises(InputError, match=r"There is no .*secret\.key"):
        restore(target, made)
    Secret.from_file(target.data / SECRET_FILE)
    with pytest.raises(InputError, match="another secret"):
        restore(target, made)


@pytest.mark.parametrize("revision", ["0001", "0002", "0003", "0004"])
def test_an_archive_of_an_older_version_is_brought_up_to_date(
    service: Service, elsewhere: Settings, tmp_path: Path, revision: str
) -> None:
    old = with_secret(service, Settings(tmp_path / "old"))
    database = Database(old.database_url)
    migrate(database, revision)
    with database.writing() as connection:
        connection.exec_driver_sql("INSERT INTO project VALUES ('p', 1.5)")

    class Older:
        """A service of the version before: back_up needs no more of it."""

        segments, secret = service.segments, service.secret

    Older.database = database  # type: ignore[attr-defined]
    back_up(Older, tmp_path / "old.tar")  # type: ignore[arg-type]
    database.close()
    restore(elsewhere, tmp_path / "old.tar")
    with Service(elsewhere) as restored:
        assert everything(restored.database)["project"] == [("p", 1.5)]
        assert "monitor" in everything(restored.database)


def test_an_archive_of_a_newer_version_is_refused(
    made: Path, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = with_secret(service, Settings(tmp_path / "target"))
    monkeypatch.setattr("fairtest.service.operate.restore.is_known_revision", lambda revision: False)
    with pytest.raises(InputError, match="newer FairTest"):
        restore(target, made)


def test_work_that_was_going_on_is_due_again(loans: TestClient, service: Service, tmp_path: Path) -> None:
    make(loans)
    loans.post("/v1/monitors/loans-sex/runs")
    with service.database.writing() as connection:
        connection.execute(update(tables.run).values(state="running", lease_until=9e9, worker="elsewhere", token=4))
    back_up(service, tmp_path / "busy.tar")
    target = with_secret(service, Settings(tmp_path / "target"))
    restore(target, tmp_path / "busy.tar")
    with Service(target) as restored, restored.database.reading() as connection:
        row = connection.execute(select(tables.run)).one()
    assert (row.state, row.lease_until, row.worker, row.token) == ("due", None, None, 4)


def test_a_segment_that_goes_while_it_is_copied(
    loans: TestClient, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(loans, "a", people(0, 5))
    seal_stream(service, "acme", "loans")
    read, tries = service.segments.read, []

    def replaced_at_first(place: str) -> bytes:
        tries.append(place)
        if len(tries) == 1:
            raise FileNotFoundError(place)
        return read(place)

    monkeypatch.setattr(service.segments, "read", replaced_at_first)
    back_up(service, tmp_path / "a.tar")
    assert len(tries) == 2
    monkeypatch.setattr(service.segments, "read", lambda place: (_ for _ in ()).throw(SegmentVanished(place)))
    with pytest.raises(InputError, match="try again"):
        back_up(service, tmp_path / "b.tar")
    monkeypatch.setattr(service.segments, "read", lambda place: b"rotten")
    with pytest.raises(InputError, match="fairtest verify"):
        back_up(service, tmp_path / "b.tar")
    assert [path.name for path in tmp_path.iterdir() if "tar" in path.name] == ["a.tar"]


def test_an_archive_has_every_table_but_those_named(made: Path, service: Service) -> None:
    with Archive(made, service.secret) as archive:
        assert set(archive.tables) | NOT_ARCHIVED == {table.name for table in tables.metadata.sorted_tables} | {
            "alembic_version"
        }
        # as of one moment: the counter row agrees with the log
        (stream,), batches = list(archive.rows("stream")), list(archive.rows("batch"))
        assert (stream["seq"], stream["records"]) == (len(batches), sum(row["rows"] for row in batches))


def test_a_backup_while_records_arrive_is_of_one_moment(
    loans: TestClient, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between any two tables a batch arrives: the archive has none of them, and nobody waits."""
    from fairtest.service.operate import archive

    number = iter(range(1000))
    add = archive.ArchiveWriter.add_table

    def add_after_a_batch(self: Any, name: str, rows: Any) -> int:
        send(loans, f"k{(n := next(number))}", people(10 * n, 2))
        return add(self, name, rows)

    send(loans, "before", people(9000, 3))
    monkeypatch.setattr(archive.ArchiveWriter, "add_table", add_after_a_batch)
    back_up(service, tmp_path / "moving.tar")
    monkeypatch.undo()
    target = with_secret(service, Settings(tmp_path / "target"))
    restore(target, tmp_path / "moving.tar")
    with Service(target) as restored:
        assert verify(restored) == []
        with restored.database.reading() as connection:
            assert connection.scalar(select(tables.stream.c.records)) == 3


class TestCommands:
    @pytest.fixture
    def data(self, tmp_path: Path) -> Path:
        with Service(Settings(tmp_path / "data")) as service:
            create_key(service.database, "test", None, ["manage"])
        return tmp_path / "data"

    def test_backup_and_restore(self, data: Path, tmp_path: Path) -> None:
        run = CliRunner().invoke
        archive, other = str(tmp_path / "a.tar"), tmp_path / "other"
        done = run(cli, ["backup", archive, "--data", str(data)])
        assert done.exit_code == 0, done.output
        assert "secret.key as well" in done.output
        other.mkdir()
        (other / SECRET_FILE).write_bytes((data / SECRET_FILE).read_bytes())
        done = run(cli, ["restore", archive, "--data", str(other)])
        assert done.exit_code == 0, done.output
        assert run(cli, ["verify", "--data", str(other)]).exit_code == 0
        assert "manage" in run(cli, ["key", "list", "--data", str(other)]).output
        for arguments, words in (
            (["backup", archive, "--data", str(data)], "never overwritten"),
            (["backup", str(tmp_path / "no" / "a.tar"), "--data", str(data)], "There is no folder"),
            (["restore", str(tmp_path / "none.tar"), "--data", str(data)], "not an archive"),
            (["restore", archive, "--data", str(data)], "not empty"),
        ):
            refused = run(cli, arguments)
            assert refused.exit_code == 2
            assert words in refused.output


def test_the_secret_is_not_in_the_archive(made: Path, service: Service) -> None:
    secret = (service.settings.data / SECRET_FILE).read_text()
    with Archive(made, service.secret) as archive:
        for table in archive.tables:
            assert secret not in json.dumps([{k: repr(v) for k, v in row.items()} for row in archive.rows(table)])
    assert secret.encode() not in made.read_bytes()


def test_a_watch_goes_on_from_an_archive_as_it_would_have(
    client: TestClient, service: Service, elsewhere: Settings, tmp_path: Path
) -> None:
    """The same days after the backup, here and there: the same stakes to the last digit."""
    from watched_loans import Clock, applicants, make_monitor, make_stream, send_on, watch_all

    from fairtest.service.store.watch_tables import hypothesis

    make_stream(client)
    clock = Clock(service, 20)
    make_monitor(client, seed=7)
    for day in (8, 7, 6):
        send_on(clock, client, day, applicants(day, 400, 0.3))
    watch_all(service)
    back_up(service, tmp_path / "watch.tar")
    restore(elsewhere, tmp_path / "watch.tar")

    def go_on(at: Service, sender: TestClient) -> dict[str, Any]:
        own = Clock(at, 20)
        own.go_to(5, 1)
        send_on(own, sender, 5, applicants(5, 400, 0.3))
        own.go_to(3)
        watch_all(at)
        with at.database.reading() as connection:
            return {row.name: (row.state, row.stake) for row in connection.execute(select(hypothesis))}

    here = go_on(service, client)
    with Service(elsewhere, writes=True) as restored, TestClient(create_app(restored)) as there:
        there.headers |= dict(client.headers)
        assert go_on(restored, there) == here
        assert verify(restored) == []
    assert here
