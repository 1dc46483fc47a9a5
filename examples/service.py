"""A living service: six weeks of made-up loans behind it, and an application that goes on deciding.

``python -m examples.service`` (or ``make serve``) makes the folder ``demo-service``, lets two monitors live through six
weeks of records that are made up here, and then starts ``fairtest serve`` with an application that sends records by
``fairtest_client``. In the past, women of the north began to be refused more often; that was found. A minute after the
start, the application begins to refuse people born abroad: the alert comes a minute or two later.
"""

from __future__ import annotations

import argparse
import json
import shutil
import threading
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import uvicorn

from fairtest.service.api.app import create_app
from fairtest.service.operate.starting import Listening
from fairtest.service.operate.supervisor import serve
from fairtest.service.pages.sessions import make_sign_in_link
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store.projects import create_key, create_project
from fairtest.service.work.runs import do_run
from fairtest.service.work.watching import do_watch, plan_watches
from fairtest_client import Client

if TYPE_CHECKING:
    from collections.abc import Iterator

DAY, HOUR = 86400.0, 3600.0
PAST = 42
"""Days that the monitors have behind them."""
NORTH_SINCE, NORTH_UNTIL = 16, 0
A_DAY = 1200
A_SECOND = 40
QUIET = 60.0
"""Seconds until the application begins to refuse people born abroad."""
COLUMNS: dict[str, Any] = {
    "sex": {"kind": "text", "levels": ["female", "male"]},
    "born": {"kind": "text", "levels": ["here", "abroad"]},
    "age": "integer",
    "region": "text",
    "purpose": "text",
    "granted": "boolean",
}
MONITORS: tuple[dict[str, Any], ...] = (
    {
        "name": "loans-by-sex",
        "protected": ["sex"],
        "reference": {"sex": "male"},
        "exclude": ["born"],
    },
    {
        "name": "loans-by-birthplace",
        "protected": ["born"],
        "reference": {"born": "here"},
        "exclude": ["sex"],
    },
)


def applicants(
    rng: np.random.Generator, n: int, *, north: float = 0.0, abroad: float = 0.0
) -> Iterator[dict[str, Any]]:
    """Give applicants for loans; women of the north, and people born abroad, are granted less often by some share."""
    sex = rng.choice(["female", "male"], n, p=[0.48, 0.52])
    born = rng.choice(["here", "abroad"], n, p=[0.8, 0.2])
    region = rng.choice(["north", "south", "east", "west"], n)
    purpose = rng.choice(["car", "house", "studies", "other"], n, p=[0.4, 0.3, 0.1, 0.2])
    age = rng.integers(18, 75, n)
    chance = 0.55 + 0.1 * (purpose == "house") - 0.1 * (age < 25)
    chance -= north * ((sex == "female") & (region == "north")) + abroad * (
        born == "abroad"
    )
    granted = rng.random(n) < chance
    number = rng.integers(0, 2**62, n)
    for i in range(n):
        yield {
            "id": f"a-{number[i]:x}", "applicant": f"p-{number[i]:x}", "sex": str(sex[i]), "born": str(born[i]),
            "age": int(age[i]), "region": str(region[i]), "purpose": str(purpose[i]), "granted": bool(granted[i]),
        }  # fmt: skip


class PastClock:
    """A clock for the days that are made up: the service believes that it is then."""

    def __init__(self, moment: float) -> None:
        self.moment = moment

    def __call__(self, _connection: object = None) -> float:
        """Return the time; no two moments are the same."""
        self.moment += 0.001
        return self.moment


def make_past(settings: Settings, hook: str) -> str:
    """Make a project with six weeks behind it, and return a key for the application that goes on."""
    with Service(settings, writes=True) as service:
        create_project(service.database, "example", "bank")
        sender, _ = create_key(
            service.database, "example", "bank", ["ingest"], "The loan application"
        )
        owner, _ = create_key(
            service.database, "example", "bank", ["ingest", "read", "manage"], "The example"
        )
        now = service.database.now
        clock = PastClock(time.time() // DAY * DAY - PAST * DAY)
        service.database.now = clock  # type: ignore[method-assign]
        with running(service) as address:
            bank = Bank(address, owner.text)
            _declare(bank, hook)
            _live(service, bank, clock)
        service.database.now = now  # type: ignore[method-assign]
        while do_watch(service):
            pass
    return sender.text


@contextmanager
def running(service: Service) -> Iterator[str]:
    """Run a service in a thread of this process, whose clock is that of the past, and give its address."""
    config = uvicorn.Config(
        create_app(service), host="127.0.0.1", port=0, log_level="error", ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


@dataclass(frozen=True)
class Bank:
    """Who calls the service."""

    address: str
    key: str

    def post(self, path: str, body: dict[str, Any], batch: str = "") -> dict[str, Any]:
        """Return what the service answers."""
        headers = {
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
        }
        if batch:
            headers["Idempotency-Key"] = batch
        request = urllib.request.Request(
            f"{self.address}/v1{path}", json.dumps(body).encode(), headers
        )
        with urllib.request.urlopen(request) as answer:
            made: dict[str, Any] = json.load(answer)
            return made


def _declare(bank: Bank, hook: str) -> None:
    bank.post("/streams", {"name": "loans", "columns": COLUMNS, "person": "applicant"})
    told = bank.post(
        "/destinations", {"kind": "webhook", "address": hook, "label": "This terminal"}
    )
    common = {
        "stream": "loans",
        "output": "granted",
        "favourable": {"granted": True},
        "test_people": 10_000,
    }
    for each in MONITORS:
        bank.post(
            "/monitors", {**common, **each, "train_people": 1000, "tell": [told["id"]]}
        )


def _live(service: Service, bank: Bank, clock: PastClock) -> None:
    """Let the past happen, day by day: records arrive, the watch looks, and now and then a report is made."""
    rng = np.random.default_rng(2026)
    start = clock.moment
    for day in range(PAST):
        north = 0.22 if PAST - NORTH_SINCE <= day < PAST - NORTH_UNTIL else 0.0
        people = list(applicants(rng, int(rng.normal(A_DAY, A_DAY / 12)), north=north))
        for hour, part in enumerate(np.array_split(np.arange(len(people)), 12)):
            clock.moment = max(clock.moment, start + day * DAY + (8 + hour) * HOUR)
            body = {"records": [people[i] for i in part]}
            bank.post("/streams/loans/records", body, f"{day}-{hour}")
        clock.moment = start + day * DAY + 23 * HOUR
        plan_watches(service)
        while do_watch(service):
            pass
        if day in (PAST // 2, PAST - 2):
            bank.post(f"/monitors/{MONITORS[0]['name']}/runs", {})
            do_run(service)


def decide_for_ever(url: str, key: str, stopping: threading.Event) -> None:
    """Send what the made-up application decides, until it is stopped."""
    rng, began = np.random.default_rng(), time.monotonic()
    with Client(url, key=key) as client:
        loans = client.stream("loans", record_id="id")
        while not stopping.wait(1.0):
            abroad = 0.25 if time.monotonic() - began > QUIET else 0.0
            for person in applicants(rng, A_SECOND, north=0.22, abroad=abroad):
                loans.send(**person)


class Terminal(BaseHTTPRequestHandler):
    """A webhook that prints the alerts it gets."""

    def do_POST(self) -> None:
        """Print an alert."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        print(
            f"\n*** An alert arrived ({message['type']}): {message['data'].get('sentence', '')}\n",
            flush=True,
        )
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Print nothing else."""


def main() -> None:
    """Make the past if there is none, and start."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("demo-service"),
        help="the folder that everything is in",
    )
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument(
        "--again", action="store_true", help="forget what is there, and begin again"
    )
    given = parser.parse_args()
    if given.again:
        shutil.rmtree(given.data, ignore_errors=True)
    hook = HTTPServer(("127.0.0.1", 0), Terminal)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    settings = Settings(
        given.data,
        allow_private=("127.0.0.0/8",),
        public_url=f"http://localhost:{given.port}",
    )
    sender = given.data / "sender.key"
    if not sender.exists():
        print(
            "Making up six weeks of loans, and letting two monitors live through them …",
            flush=True,
        )
        key = make_past(settings, f"http://127.0.0.1:{hook.server_address[1]}/")
        sender.write_text(key)
        sender.chmod(0o600)
    with Service(settings) as service:
        link = make_sign_in_link(service, "bank")
    stopping = threading.Event()
    url = f"http://127.0.0.1:{given.port}"
    threading.Thread(
        target=decide_for_ever, args=(url, sender.read_text(), stopping), daemon=True
    ).start()
    print(
        f"Look at it (the link works once, within ten minutes): http://localhost:{given.port}{link}",
        flush=True,
    )
    print(
        f"In {QUIET:.0f} seconds the application begins to treat people born abroad otherwise. Stop it with Ctrl-C."
    )
    try:
        serve(
            settings, Listening(port=given.port), 1, lambda words: print(words, flush=True)
        )
    finally:
        stopping.set()


if __name__ == "__main__":
    main()
