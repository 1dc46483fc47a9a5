"""The dashboard in a browser: everybody can read it, nothing comes from elsewhere, and its forms do what they say."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service is not installed: pip install 'fairtest[service]'")
sys.path.insert(0, str(Path(__file__).parents[1] / "service"))

from dashboards import furnish
from hooks import hooked
from running import served

from fairtest.client import Client
from fairtest.service.pages.sessions import make_link, make_sign_in_link
from fairtest.service.service import Service
from fairtest.service.settings import Settings
from fairtest.service.store.projects import create_key, create_project
from fairtest.service.store.streams import create_stream
from fairtest.service.store.tenant import Tenant
from fairtest.service.work.runs import do_run
from fairtest.service.work.worker import work_once

VIEWS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 320, "height": 700}},
}


class House:
    """A service with a month behind it, on a real port, and those who look at it."""

    def __init__(self, folder, address, service, hook):
        self.service, self.hook = service, hook
        self.address = address.replace("127.0.0.1", "localhost")
        create_project(service.database, "test", "acme")
        self.tenant = Tenant(service.database, "test", "acme", frozenset({"read", "manage", "ingest"}))
        self.ids = furnish(self.tenant, hook.url)
        self.key, _ = create_key(service.database, "test", None, ["read", "manage"], "Wall screen")

    @property
    def pages(self):
        ids = self.ids
        return {
            "overview": "/", "new monitor": "/monitors/new",
            "monitor": f"/monitors/{ids['monitor']}", "run": f"/runs/{ids['run']}",
            "findings": "/findings/",
            "finding": f"/findings/{ids['finding']}", "alerts": "/alerts/", "destinations": "/destinations/",
            "stream": "/streams/loans", "keys": "/keys/", "project": "/settings/", "audit": "/audit/",
            "system": "/system/",
        }  # fmt: skip

    def sign_in(self, page):
        page.goto(f"{self.address}/signin?token={make_link(self.service.database, self.key.id)}")
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/p/acme/")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    settings = Settings(folder, disk_least=0, allow_private=("127.0.0.0/8",))
    with hooked() as hook, Service(settings, writes=True) as service, served(service) as address:
        yield House(folder, address, service, hook)


@pytest.fixture
def look(browser, house):
    """Gives pages that are signed in, and notes what goes wrong and what is asked of the network."""
    contexts = []

    def make(**how):
        context = browser.new_context(reduced_motion="reduce", **how)
        contexts.append(context)
        page = context.new_page()
        page.troubles, page.asked = [], []
        page.on("console", lambda message: page.troubles.append(message.text))
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        house.sign_in(page)
        return page

    yield make
    for context in contexts:
        context.close()


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_can_be_read_by_everybody(look, house, view):
    from axe_playwright_python.sync_playwright import Axe

    page = look(**VIEWS[view])
    for name, place in house.pages.items():
        page.goto(f"{house.address}/p/acme{place}")
        page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, f"{name} is too wide"
        levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(h => +h.tagName[1])")
        assert levels.count(1) == 1, name
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        serious = [
            (each["id"], each["nodes"][0]["html"][:200]) for each in found if each["impact"] in ("serious", "critical")
        ]
        assert serious == [], name
    assert page.troubles == [], "no error, and nothing that the policy forbids"
    assert all(url.startswith((house.address, "data:")) for url in page.asked)


def test_from_the_first_link_to_the_first_alert(browser, house):
    """Sign in by the link, make a monitor by the form, send with the client, run, read the report, get the alert."""
    create_stream(house.tenant, "prices", {"columns": {"sex": "text", "region": "text", "discount": "boolean"}})
    context = browser.new_context(**VIEWS["light"])
    page = context.new_page()
    troubles = []
    page.on("console", lambda message: troubles.append(message.text))
    page.goto(house.address + make_sign_in_link(house.service, None))
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"{house.address}/p/acme/monitors/new?stream=prices")
    page.get_by_label("Name").fill("prices-by-sex")
    page.get_by_label("On-call").check()
    page.get_by_role("button", name="Make the monitor").click()
    assert page.locator("h1").inner_text() == "The watch begins when the first people have arrived"
    send_prices(house, range(2400))
    page.get_by_role("button", name="Run a report now").click()
    assert page.locator("h1").inner_text() == "The run is due"
    assert do_run(house.service)
    page.reload()
    page.frame_locator("iframe").locator("h1").wait_for()
    assert "sex" in page.frame_locator("iframe").locator("h1").inner_text()
    before = len(house.hook.got)
    for start in range(2400, 14_400, 4000):
        send_prices(house, range(start, start + 4000))
        while work_once(house.service):
            pass
    told = [json.loads(body) for _, body in house.hook.got[before:]]
    new = [each for each in told if each["type"] == "finding.new" and each["data"]["monitor_name"] == "prices-by-sex"]
    assert any("discount" in each["data"]["sentence"] for each in new)
    page.goto(f"{house.address}/p/acme/alerts/")
    page.get_by_text("prices-by-sex").first.wait_for()
    page.goto(f"{house.address}/p/acme/")
    assert "open finding" in page.get_by_role("row", name="prices-by-sex").inner_text()
    assert troubles == []
    context.close()


def send_prices(house, numbers):
    """Send records in which women get a discount less often."""
    key, _ = create_key(house.service.database, "test", "acme", ["ingest"])
    chance = random.Random(numbers.start)
    with Client(house.address, key.text) as client:
        prices = client.stream("prices")
        for n in numbers:
            sex = chance.choice("fm")
            fair = 0.2 if sex == "f" else 0.6
            prices.send(id=f"p-{n}", sex=sex, region=chance.choice("nsew"), discount=chance.random() < fair)


def test_an_alert_can_be_set_up_and_tried_by_the_forms(look, house):
    page = look(**VIEWS["light"])
    page.get_by_role("link", name="Destinations").click()
    page.get_by_label("Address").fill(house.hook.url)
    page.get_by_label("Name, if you like").fill("My <hook>")
    page.get_by_role("button", name="Add", exact=True).click()
    assert page.locator(".secret").inner_text().startswith("whsec_")
    before = len(house.hook.got)
    page.get_by_role("button", name="Send a test My <hook>").click()
    assert page.get_by_role("status").inner_text() == "The test message to My <hook> was delivered"
    assert len(house.hook.got) == before + 1
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete My <hook>").click()
    assert page.get_by_text("My <hook>").count() == 0
    assert page.troubles == []


def test_a_finding_is_acknowledged_with_the_keyboard_alone(look, house):
    page = look(**VIEWS["light"])
    page.goto(f"{house.address}/p/acme/findings/fnd_1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "note":
            break
    page.keyboard.type("We know")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator(".eyebrow", has_text="acknowledged").wait_for()
    assert page.get_by_label("What is known").input_value() == "We know"


def test_what_the_client_sends_appears_without_a_reload(look, house):
    page = look(**VIEWS["light"])
    key, _ = create_key(house.service.database, "test", "acme", ["ingest"])
    with Client(house.address, key.text) as client:
        offers = client.stream("offers")
        for n in range(1234):
            offers.send(id=f"o-{n}", sex="fm"[n % 2], price=9.5)
    assert "1,234 records" not in page.locator("main").inner_text()
    page.evaluate("lookForNews()")
    page.get_by_text("1,234 records, 1,234 today").wait_for(timeout=10_000)
    assert page.troubles == []


def test_everything_works_without_a_script(look, house):
    page = look(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page.goto(f"{house.address}/p/acme/settings/")
    page.get_by_label("Days that loans are kept").fill("365")
    page.get_by_role("button", name="Save").first.click()
    assert page.get_by_label("Days that loans are kept").input_value() == "365"
    page.get_by_role("button", name="Sign out").click()
    assert "You need a link" in page.locator("h1").inner_text()


def test_another_site_can_send_no_form(look, house):
    page = look(**VIEWS["light"])
    with hooked() as other:
        form = f'<form method="post" action="{house.address}/p/acme/keys/">'
        page.route(
            f"{other.url}*",
            lambda route: route.fulfill(
                content_type="text/html",
                body=f'{form}<input name="scopes" value="manage"><button>Win</button></form>',
            ),
        )
        page.goto(other.url)
        page.get_by_role("button", name="Win").click()
        page.wait_for_load_state()
        assert "ftk_" not in page.content()
        assert page.locator("h1").inner_text() in ("This key may not do that", "You need a link to sign in")


def test_a_report_in_its_frame_is_whole_and_apart(look, house):
    page = look(**VIEWS["light"])
    page.goto(f"{house.address}/p/acme/runs/{house.ids['run']}")
    page.locator("iframe").scroll_into_view_if_needed()
    frame = page.frame_locator("iframe")
    frame.locator("h1").wait_for()
    with pytest.raises(Exception, match=r"sandbox|origin|denied"):
        page.frames[1].evaluate("document.cookie")
    assert [words for words in page.troubles if "script" in words.lower()] == []


def test_the_theme_is_switched_and_kept(look, house):
    page = look(**VIEWS["light"])
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    page.reload()
    assert page.get_by_role("button", name="Light").count() == 1


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_the_link_of_the_machine_signs_in_on_either_name(browser, house, host):
    context = browser.new_context()
    page = context.new_page()
    address = house.address.replace("localhost", host)
    page.goto(address + make_sign_in_link(house.service, None))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/p/acme/")
    context.close()


def test_names_of_columns_are_not_broken_where_there_is_room(look, house):
    name = "months_of_continuous_employment"
    create_stream(house.tenant, "named", {"columns": {name: "integer", "x" * 100: "text"}, "person": "customer"})
    page = look(**VIEWS["phone"])
    for width in (320, 390, 600, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{house.address}/p/acme/streams/named")
        short, long = (page.get_by_role("row", name=each).locator("code") for each in ("customer", name))
        assert long.bounding_box()["height"] == short.bounding_box()["height"], f"broken at {width} px"
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
