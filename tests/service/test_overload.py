"""Far more requests than a service takes, and a PostgreSQL whose disk is full: refused, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from benchmarks.postgres import QUICK, Postgres, find_binaries
from calibration.faults.overload import ALLOWED, overload
from calibration.faults.serving import check, prepare, records_of
from fairtest.service.api.app import create_app
from fairtest.service.service import Service
from fairtest.service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_forty_senders_without_a_pause(settings: Settings) -> None:
    """``make overload`` has a hundred, for half a minute."""
    found = overload(settings, 3.0, senders=40)
    assert found.wrong == []
    assert set(found.statuses) <= ALLOWED
    assert found.statuses[429] > found.statuses[201]
    assert max(found.memory[2:]) - min(found.memory[2:]) < 60, "MB"


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 64 MB in memory."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system")
    place = Path(tempfile.mkdtemp(prefix="ftfull-"))  # where the server's user can go, too
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", place], check=False, capture_output=True)
    if made.returncode:
        place.rmdir()
        pytest.skip(f"a small file system cannot be mounted here: {made.stderr.decode()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)
        place.rmdir()


def test_postgresql_on_a_full_disk_and_with_room_again(tmp_path: Path, small_disk: Path) -> None:
    if find_binaries() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    tables = small_disk / "tables"
    tables.mkdir()
    with Postgres(QUICK) as server:
        shutil.chown(tables, server.folder.owner(), server.folder.group())
        server.execute(f"CREATE TABLESPACE small LOCATION '{tables}'")
        server.execute("CREATE DATABASE full_disk TEMPLATE template0 TABLESPACE small")
        settings = Settings(tmp_path / "data", server.url("full_disk"), disk_least=0)
        key = prepare(settings)
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - (1 << 20)))
        acknowledged, statuses = [], []
        with Service(settings, writes=True) as service:
            client = TestClient(create_app(service), headers={"Authorization": f"Bearer {key}"})

            def send(batch: str) -> int:
                headers = {"Idempotency-Key": batch}
                body = {"records": records_of(batch)}
                status = client.post("/v1/streams/loans/records", json=body, headers=headers).status_code
                if status in {200, 201}:
                    acknowledged.append(batch)
                statuses.append(status)
                return status

            number = 0
            while number < 3000 and send(f"b-{number}") == 201:
                number += 1
            assert statuses[-1] == 503, "the disk was filled"
            assert client.get("/v1/streams/loans").status_code == 200, "reading goes on"
            ballast.unlink()
            assert send(f"b-{number}") == 201
        assert set(statuses) == {201, 503}
        assert check(settings, acknowledged) == []
