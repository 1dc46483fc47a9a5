"""Networks that cut, swallow, delay and trickle: before the server, its database and a webhook."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from hooks import hooked
from running import served

from benchmarks.postgres import QUICK, Postgres, find_binaries
from calibration.faults.proxy import Proxy
from calibration.faults.serving import Clients, check, prepare, send
from fairtest.service.alerts import webhook
from fairtest.service.alerts.settings import AlertSettings
from fairtest.service.api import access
from fairtest.service.operate.verify import verify
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store import database
from fairtest.service.work.worker import work_once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def proxied(settings: Settings) -> Iterator[tuple[Service, Proxy]]:
    with (
        Service(settings, writes=True) as service,
        served(service) as url,
        Proxy(("127.0.0.1", int(url.rpartition(":")[2]))) as proxy,
    ):
        yield service, proxy


@pytest.mark.parametrize(
    ("mode", "cut_after", "answers_only"),
    [
        ("cut", 700, False),  # in the middle of the body
        ("cut", 2600, False),  # in the middle of the answer
        ("swallow", 0, True),  # stored, and the client never hears of it
        ("swallow", 0, False),
        ("delay", 0, False),
        ("trickle", 0, False),
        ("refuse", 0, False),
    ],
)
def test_between_clients_and_server(settings: Settings, mode: str, cut_after: int, answers_only: bool) -> None:
    key = prepare(settings)
    with proxied(settings) as (_, proxy):
        assert send(proxy.port, key, "before") == 201
        clients = Clients(proxy.port, key, mode, clients=3, patience=1.5)
        time.sleep(0.1)
        proxy.behave(mode, cut_after=cut_after, answers_only=answers_only)
        time.sleep(0.6)
        proxy.behave("pass")
        proxy.drop()
        clients.stop(60.0)
        assert len(clients.acknowledged) >= 3, clients.statuses
        assert set(clients.statuses) <= {0, 200, 201}, clients.statuses
    assert check(settings, ["before", *clients.acknowledged]) == []


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    if find_binaries() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with Postgres(QUICK) as made:
        yield made


@pytest.mark.parametrize(
    ("mode", "remembered"),
    [("cut", 5.0), ("swallow", 5.0), ("swallow", 0.0), ("delay", 5.0), ("trickle", 5.0), ("refuse", 0.0)],
)
def test_between_server_and_database(
    tmp_path: Path, server: Postgres, mode: str, remembered: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"network_{mode}_{remembered:g}"
    monkeypatch.setattr(database, "SOON", 30.0 if mode in {"delay", "trickle"} else 1.0)
    monkeypatch.setattr(access, "REMEMBERED", remembered)
    server.create(name)
    with Proxy(f"{server.folder}/.s.PGSQL.5432") as proxy:
        url = f"postgresql://fairtest@127.0.0.1:{proxy.port}/{name}?sslmode=disable&gssencmode=disable"
        settings = Settings(tmp_path, url, disk_least=0)
        key = prepare(settings)
        with Service(settings, writes=True) as service, served(service) as address:
            port = int(address.rpartition(":")[2])
            assert send(port, key, "a") == 201
            proxy.behave(mode)
            start = time.monotonic()
            status = send(port, key, "b", 30.0)
            assert status == (201 if mode in {"delay", "trickle"} else 503)
            assert time.monotonic() - start < 25.0
            proxy.behave("pass")
            # connections that were cut are found out when they are used; nobody starts the service again
            answers = [send(port, key, "b", 30.0) for _ in range(6)]
            assert answers[-1] == 200, answers
            assert send(port, key, "c") == 201
            work_once(service)
            assert verify(service) == []
        assert check(settings, ["a", "b", "c"]) == []


@pytest.mark.parametrize("mode", ["cut", "swallow", "trickle", "refuse"])
def test_between_server_and_webhook(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "CONNECT_WITHIN", 1.0)
    allowed = AlertSettings.from_environment(("127.0.0.0/8",), "").allow_private
    with hooked() as hook, Proxy(("127.0.0.1", hook.port)) as proxy:
        url = f"http://127.0.0.1:{proxy.port}/hook"
        proxy.behave(mode)
        start = time.monotonic()
        outcome = webhook.post(url, {"webhook-id": "msg_1"}, b'{"type": "finding.new"}', allowed, within=1.0)
        assert time.monotonic() - start < 10.0
        assert outcome.delivered == (mode == "trickle")
        assert not outcome.final
        proxy.behave("pass")
        assert webhook.post(url, {"webhook-id": "msg_1"}, b'{"type": "finding.new"}', allowed).delivered
        assert {headers["webhook-id"] for headers, _ in hook.got} == {"msg_1"}


def test_a_receiver_whose_answer_is_lost_gets_the_same_message_again() -> None:
    allowed = AlertSettings.from_environment(("127.0.0.0/8",), "").allow_private
    with hooked() as hook, Proxy(("127.0.0.1", hook.port)) as proxy:
        url = f"http://127.0.0.1:{proxy.port}/hook"
        proxy.behave("swallow", answers_only=True)
        body, headers = bytes(random.Random(1).randbytes(100).hex(), "ascii"), {"webhook-id": "msg_1"}
        assert not webhook.post(url, headers, body, allowed, within=0.5).delivered
        proxy.behave("pass")
        assert webhook.post(url, headers, body, allowed).delivered
        assert len(hook.got) == 2
        assert len({(headers["webhook-id"], body) for headers, body in hook.got}) == 1
