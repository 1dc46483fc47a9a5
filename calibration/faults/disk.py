"""A disk that is full: a process that may not write beyond a size, and then may again."""

from __future__ import annotations

import multiprocessing
import resource
from typing import TYPE_CHECKING

from calibration.faults.serving import records_of

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from pathlib import Path

    from fairtest.service.settings import Settings

ROOM = 300_000
"""Bytes that files may still grow by."""


def fill_the_disk(settings: Settings, key: str) -> tuple[list[str], list[int]]:
    """Send until nothing fits, and again when there is room; return the keys acknowledged, and the statuses."""
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_fill, args=(settings, key, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        keys, statuses = ours.recv()
    finally:
        process.join()
    return keys, statuses


def _fill(settings: Settings, key: str, pipe: Connection) -> None:
    from starlette.testclient import TestClient

    from fairtest.service.api.app import create_app
    from fairtest.service.service import Service

    keys: list[str] = []
    statuses: list[int] = []
    with Service(settings, writes=True) as service:
        client = TestClient(create_app(service), headers={"Authorization": f"Bearer {key}"})

        def send(batch: str) -> int:
            body = {"records": records_of(batch, 200)}
            headers = {"Idempotency-Key": batch}
            statuses.append(client.post("/v1/streams/loans/records", json=body, headers=headers).status_code)
            if statuses[-1] in {200, 201}:
                keys.append(batch)
            return statuses[-1]

        send("first")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (_largest(settings.data) + ROOM, before[1]))
        number = 0
        while number < 400 and send(f"b-{number}") == 201:
            number += 1
        refused = send(f"b-{number}")
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        statuses.append(refused)
        send(f"b-{number}")
    pipe.send((keys, statuses))


def _largest(folder: Path) -> int:
    return max(path.stat().st_size for path in folder.rglob("*") if path.is_file())
