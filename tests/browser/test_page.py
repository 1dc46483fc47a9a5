"""The page in a browser: nothing is fetched or fails, everybody can read it, and its controls work."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

KINDS = ("admissions", "discounts", "errors", "odd_report", "discovery_report", "nothing_report")
VIEWS = {
    "light": {"scheme": "light"},
    "dark": {"scheme": "dark"},
    "phone": {"width": 360},
}


@pytest.mark.parametrize("name", [*KINDS, "undefined_report", "numeric_report"])
def test_nothing_fails_nothing_is_fetched_and_headings_are_in_order(visit, name):
    seen = visit(name)
    assert seen.troubles == []
    assert len(seen.requests) == 1, "the file itself"
    levels = seen.page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5')].map(h => +h.tagName[1])")
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(visit, name, view):
    from axe_playwright_python.sync_playwright import Axe

    seen = visit(name, **VIEWS[view])
    seen.open_everything()
    assert seen.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    found = Axe().run(seen.page).response["violations"]
    serious = [v for v in found if v["impact"] in {"serious", "critical"}]
    assert not serious, json.dumps([(v["id"], [n["html"] for n in v["nodes"][:3]]) for v in serious], indent=1)


def visible(seen, css):
    """Return the contexts of what is shown, in one call."""
    found = "css => [...document.querySelectorAll(css)].filter(e => e.checkVisibility()).map(e => e.dataset.context)"
    return seen.page.evaluate(found, css)


def rows(seen):
    return visible(seen, "[data-sortable=findings] > tr")


def articles(seen):
    return visible(seen, "[data-sortable=articles] > article")


def test_filter_and_sort(visit):
    seen = visit("long")
    whole = rows(seen)
    assert len(whole) == 200
    assert seen.page.get_by_role("status").inner_text() == "200 of 200 findings shown"
    seen.page.get_by_label("Context contains").fill("region 3")
    some = rows(seen)
    assert some == [context for context in whole if "region 3" in context]
    assert articles(seen) == some
    assert seen.page.get_by_role("status").inner_text() == f"{len(some)} of 200 findings shown"
    seen.page.get_by_label("Order").select_option("size")
    assert rows(seen) == some[::-1], "later ones have more people"
    assert articles(seen) == some[::-1]
    seen.page.get_by_role("button", name="Reset").click()
    seen.page.wait_for_function("document.querySelector('#shown').textContent.startsWith('200 ')")
    assert rows(seen) == whole


def test_size_filters(visit):
    seen = visit("long")
    seen.page.get_by_label("At least").select_option("5000")
    assert rows(seen) == []
    assert seen.page.get_by_role("status").inner_text() == "0 of 200 findings shown"


def test_two_hundred_findings_are_drawn_only_in_sight(visit):
    seen = visit("long")
    last = seen.page.locator("article").last
    assert last.evaluate("part => getComputedStyle(part).contentVisibility") == "auto"
    last.scroll_into_view_if_needed()
    assert last.locator("table").is_visible()
    assert seen.troubles == []


def test_the_theme_is_the_systems_until_it_is_chosen(visit):
    def paper(seen):
        return seen.page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = visit("discounts", scheme="light"), visit("discounts", scheme="dark")
    at_first = paper(light), paper(dark)
    assert at_first == ("rgb(253, 252, 249)", "rgb(21, 24, 28)")
    light.page.get_by_role("button", name="Dark").click()
    dark.page.get_by_role("button", name="Light").click()
    assert (paper(light), paper(dark)) == at_first[::-1]


def test_the_picture_of_the_tree_opens_the_outline(visit):
    seen = visit("discounts")
    seen.page.locator("button[data-open=no]").first.click()
    node = seen.page.locator("ul.tree ul li").first
    assert not node.is_visible()
    seen.page.evaluate("id => { location.hash = id }", node.get_attribute("id"))
    assert node.is_visible()
    seen.page.locator("button[data-open=no]").first.click()
    assert not node.is_visible()
    seen.page.locator("svg.ice [data-node]").nth(1).click()
    chosen = seen.page.evaluate("location.hash.slice(1)")
    assert seen.page.locator(f"#{chosen}").is_visible()


def test_what_is_saved_is_what_the_page_holds(visit):
    seen = visit("discounts")
    with seen.page.expect_download() as saved:
        seen.page.get_by_role("button", name="JSON").click()
    held = json.loads(saved.value.path().read_text("utf-8"))
    assert held == json.loads(seen.page.locator("#report-data").inner_text())
    with seen.page.expect_download() as saved:
        seen.page.get_by_role("button", name="CSV").click()
    head, *lines = saved.value.path().read_text("utf-8").splitlines()
    assert head.startswith('"protected","output","context","size"')
    about = held["investigations"][0]["protected"]
    assert len(lines) == sum(1 + len(a["findings"]) for a in about)


def test_without_a_script_nothing_is_missing(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["discounts"].as_uri())
    assert page.locator("article").count() >= 4
    assert all(part.is_visible() for part in page.locator("article").all())
    assert not page.locator("#buttons").is_visible(), "controls that would do nothing"
    context.close()


def test_print_shows_what_is_closed(visit):
    seen = visit("discounts")
    seen.page.emulate_media(media="print")
    assert not seen.page.locator(".rail").is_visible()
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert seen.page.locator("details:not([open])").count() == 0
    seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert seen.page.locator("details:not([open])").count() > 0
