"""One story in a browser, on each database: link, form, records, report, alert at a webhook, and what is shown then."""

from __future__ import annotations

import json
import random
import secrets
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service is not installed: pip install 'fairtest[service]'")
sys.path.insert(0, str(Path(__file__).parents[1] / "service"))

from hooks import hooked
from running import served

from benchmarks.postgres import QUICK, Postgres, find_binaries
from fairtest.client import Client
from fairtest.service.pages.sessions import make_sign_in_link
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store.projects import create_key, create_project
from fairtest.service.store.streams import create_stream
from fairtest.service.store.tenant import Tenant
from fairtest.service.work.worker import work_once


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request, tmp_path):
    if request.param == "sqlite":
        yield Settings(tmp_path, disk_least=0, allow_private=("127.0.0.0/8",))
        return
    if find_binaries() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with Postgres(QUICK) as server:
        url = server.create(f"story_{secrets.token_hex(4)}")
        yield Settings(tmp_path, url, disk_least=0, allow_private=("127.0.0.0/8",))


def test_from_the_link_to_the_alert(browser, settings):
    with hooked() as hook, Service(settings, writes=True) as service, served(service) as address:
        create_project(service.database, "test", "shop")
        owner = Tenant(service.database, "test", "shop", frozenset({"read", "manage", "ingest"}))
        columns = {"sex": "text", "region": "text", "granted": "boolean"}
        create_stream(owner, "loans", {"columns": columns, "person": "applicant"})
        page = browser.new_context(reduced_motion="reduce").new_page()
        page.set_default_timeout(120_000)
        troubles = []
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        sign_in(page, address, service)
        add_webhook(page, hook.url)
        make_monitor(page)
        send_decisions(service, address)
        while work_once(service):
            pass
        read_alert(page, hook)
        read_report(page, service)
        assert troubles == [], "no error, and nothing that the policy forbids"
        page.context.close()


def sign_in(page, address, service):
    page.goto(address.replace("127.0.0.1", "localhost") + make_sign_in_link(service, "shop"))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/p/shop/")
    assert page.locator("h1").inner_text() == "Nothing is watched yet"


def add_webhook(page, url):
    page.get_by_role("link", name="Destinations").click()
    page.get_by_label("Address").fill(url)
    page.get_by_label("Name, if you like").fill("On-call")
    page.get_by_role("button", name="Add", exact=True).click()
    assert page.locator(".secret").inner_text().startswith("whsec_")


def make_monitor(page):
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("link", name="New monitor").click()
    page.get_by_label("Name").fill("loans-by-sex")
    page.get_by_label("On-call").check()
    page.get_by_role("button", name="What would it notice?").click()
    assert (
        "a gap of 10 points in 5 % of them would be noticed after about 48 days" in page.locator("#plan").inner_text()
    )
    assert page.get_by_label("On-call").is_checked()  # what was filled in is still there
    page.get_by_role("button", name="Make the monitor").click()
    assert page.locator("h1").inner_text() == "The watch begins when the first people have arrived"


def send_decisions(service, address):
    key, _ = create_key(service.database, "test", "shop", ["ingest"])
    chance = random.Random(7)
    with Client(address, key.text) as client:
        loans = client.stream("loans")
        for n in range(12_000):
            sex, region = chance.choice("fm"), chance.choice("nsew")
            rate = 0.2 if n > 1000 and sex == "f" and region == "n" else 0.6
            loans.send(id=f"p-{n}", applicant=f"a-{n}", sex=sex, region=region, granted=chance.random() < rate)


def read_alert(page, hook):
    messages = [json.loads(body) for _, body in hook.got]
    new = [message["data"] for message in messages if message["type"] == "finding.new"]
    assert any("region = n" in data["sentence"] for data in new)
    page.reload()
    assert "granted = True" in page.locator("h1").inner_text()
    assert page.locator("svg.timeline").count() >= 1
    page.get_by_role("link", name="Alerts", exact=True).click()
    assert page.get_by_text("sent ", exact=False).count() >= 1
    page.get_by_role("link", name="Findings").click()
    page.locator("td.sentence a").first.click()
    assert "What could explain it?" in page.locator("main").inner_text()


def read_report(page, service):
    page.get_by_role("link", name="loans-by-sex").click()
    page.get_by_role("button", name="Run a report now").click()
    while work_once(service):
        pass
    page.reload()
    page.locator("iframe").scroll_into_view_if_needed()
    frame = page.frame_locator("iframe")
    frame.locator("h1").wait_for()
    assert "granted" in frame.locator("h1").inner_text().lower()
