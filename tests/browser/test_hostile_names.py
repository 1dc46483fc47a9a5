"""Columns, values and monitors whose names are scripts: every page shows them, and none runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service is not installed: pip install 'fairtest[service]'")
sys.path.insert(0, str(Path(__file__).parents[1] / "service"))

import numpy as np
from running import served
from starlette.testclient import TestClient

from fairtest.service.api.app import create_app
from fairtest.service.pages.sessions import make_link
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store.projects import create_key, create_project
from fairtest.service.work.runs import do_run

SCRIPT = "<script>document.title='pwned'</script>"
IMAGE = "<img src=x onerror=document.title='pwned'>"
ATTRIBUTE = "\"' onmouseover=document.title='pwned' x='"
TEMPLATE = "{{ 7 * 7 }}${7 * 7}{% raw %}"
ADDRESS = "javascript:document.title='pwned'//"
CLOSING = "</title></style></textarea>--></svg><svg onload=document.title='pwned'>"
SENTINEL = "pwned"
VIOLATIONS = """
window.__violations = [];
document.addEventListener(
  'securitypolicyviolation', e => window.__violations.push(e.violatedDirective + ' ' + e.blockedURI));
"""


def records(n):
    """Return people whose groups and outputs are hostile; a group is treated differently, so that it is reported."""
    rng = np.random.default_rng(5)
    sex, town = rng.choice([SCRIPT, IMAGE], n), rng.choice([ATTRIBUTE, CLOSING], n)
    granted = rng.random(n) < 0.6 - 0.4 * ((sex == SCRIPT) & (town == ATTRIBUTE))
    return [
        {"id": f"{ATTRIBUTE}{i}", IMAGE: str(sex[i]), TEMPLATE: str(town[i]), SCRIPT: bool(granted[i])}
        for i in range(n)
    ]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A service where everything that users name is hostile: its address, its key and the pages that it has."""
    with Service(Settings(tmp_path_factory.mktemp("hostile"), disk_least=0), writes=True) as service:
        create_project(service.database, "test", "acme")
        key, _ = create_key(service.database, "test", "acme", ["read", "manage", "ingest"], CLOSING)
        client = TestClient(create_app(service), headers={"Authorization": f"Bearer {key.text}"})
        columns = {IMAGE: "text", TEMPLATE: "text", SCRIPT: "boolean"}
        assert client.post("/v1/streams", json={"name": "loans", "columns": columns}).status_code == 201
        body = {
            "name": "m", "stream": "loans", "protected": [IMAGE], "output": SCRIPT, "test_people": 600,
            "train_people": 400, "min_size": 50,
        }  # fmt: skip
        monitor = client.post("/v1/monitors", json=body)
        assert monitor.status_code == 201, monitor.json()
        everybody = records(2000)
        for name, some in ((SCRIPT, everybody[:600]), (ATTRIBUTE, everybody[600:])):  # the first train
            headers = {"Idempotency-Key": name}
            sent = client.post("/v1/streams/loans/records", json={"records": some}, headers=headers)
            assert sent.status_code == 201, sent.json()
        client.post("/v1/destinations", json={"kind": "webhook", "address": "https://example.com/", "label": IMAGE})
        run = client.post("/v1/monitors/m/runs").json()["id"]
        assert do_run(service)
        assert client.get(f"/v1/runs/{run}").json()["state"] == "done", client.get(f"/v1/runs/{run}").json()
        findings = [each["id"] for each in client.get("/v1/findings").json()["items"]]
        assert findings, "a group with a hostile name is reported"
        client.patch(f"/v1/findings/{findings[0]}", json={"note": CLOSING, "state": "acknowledged"})
        pages = [
            "/", "/monitors/new", "/monitors/new?stream=loans", f"/monitors/{monitor.json()['id']}", f"/runs/{run}",
            "/findings/", *(f"/findings/{each}" for each in findings), "/alerts/", "/destinations/", "/streams/loans",
            "/keys/", "/settings/", "/audit/",
        ]  # fmt: skip
        with served(service) as address:
            yield address.replace("127.0.0.1", "localhost"), service, key.id, pages


def test_every_page_shows_them_and_none_runs(browser, hostile):
    address, service, key, pages = hostile
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(VIOLATIONS)
    page = context.new_page()
    troubles, asked = [], []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/signin?token={make_link(service.database, key)}")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/p/acme/")
    shown = ""
    for place in pages:
        answer = page.goto(f"{address}/p/acme{place}")
        assert answer.status == 200, place
        page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
        for frame in page.frames:
            frame.wait_for_load_state()
        assert page.title() != SENTINEL, place
        assert page.evaluate("window.__violations") == [], place
        for element in page.locator("a[href], [onclick], button").element_handles()[:200]:
            href = element.get_attribute("href") or ""
            assert not href.lower().startswith(("javascript:", "data:")), place
        shown += page.content() + "".join(frame.content() for frame in page.frames[1:])
    assert troubles == [], "no error, and nothing that the policy forbids"
    assert all(url.startswith(address) for url in asked), "nothing was fetched that a name asked for"
    assert "&lt;script&gt;" in shown, "they are shown, as text"
    assert "49" not in [part.strip() for part in page.locator("code").all_inner_texts()]
    context.close()


def test_the_report_of_such_a_run_opened_by_itself(browser, hostile):
    address, service, key, pages = hostile
    (run,) = [each for each in pages if each.startswith("/runs/")]
    context = browser.new_context()
    context.add_init_script(VIOLATIONS)
    page = context.new_page()
    page.goto(f"{address}/signin?token={make_link(service.database, key)}")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/p/acme/")
    answer = page.goto(f"{address}/p/acme{run}/reports/1")
    assert answer.status == 200
    assert "sandbox" in answer.headers["content-security-policy"]
    assert page.title() != SENTINEL
    assert page.locator("h1").count() == 1
    for element in page.locator("summary").element_handles()[:20]:
        element.evaluate("part => { part.parentElement.open = true }")
    assert page.locator("img[src=x]").count() == 0
    context.close()
