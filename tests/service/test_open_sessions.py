"""Where one is signed in: listed on a page, and ended from there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.testclient import TestClient

from fairtest.service.api.app import create_app
from fairtest.service.pages import sessions
from fairtest.service.store.projects import create_key

if TYPE_CHECKING:
    from fairtest.service.service import Service
    from fairtest.service.store.tenant import Tenant

ORIGIN = "https://testserver"


def signed_in(service: Service, key_id: str) -> TestClient:
    browser = TestClient(create_app(service), base_url=ORIGIN, headers={"Origin": ORIGIN})
    assert browser.post("/signin", data={"token": sessions.make_link(service.database, key_id)}).status_code == 200
    return browser


def test_sessions_are_listed_and_can_be_ended(service: Service, tenant: Tenant) -> None:
    key, _ = create_key(service.database, "test", "acme", ["read"])
    stranger, _ = create_key(service.database, "test", "acme", ["read"])
    here, elsewhere, theirs = (signed_in(service, each.id) for each in (key, key, stranger))
    text = here.get("/p/acme/settings/").text
    names = re.findall(r'action="/sessions/([0-9a-f]{16})/end"', text)
    assert len(names) == 2, "those of the same key alone"
    assert text.count("this browser") == 1
    this = text.split("this browser")[0].rsplit("<li>", 1)[1]
    (other,) = [name for name in names if name not in this]
    form = {"form_token": re.findall(r'name="form_token" value="(\w+)"', text)[0]}
    assert here.post(f"/sessions/{other}/end", data={"form_token": "x"}).status_code == 403
    foreign = re.findall(r'action="/sessions/([0-9a-f]{16})/end"', theirs.get("/p/acme/settings/").text)[0]
    for unknown in (foreign, "%25", "_" * 16, other[:15]):
        assert here.post(f"/sessions/{unknown}/end", data=form).status_code == 404, unknown
    assert here.post(f"/sessions/{other}/end", data=form).status_code == 200
    assert elsewhere.get("/p/acme/", follow_redirects=False).status_code == 303
    for still in (here, theirs):
        assert still.get("/p/acme/", follow_redirects=False).status_code == 200
