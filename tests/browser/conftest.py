"""A browser, and reports of every kind as files it can open."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))

import report_builders as build

import fairtest as ft
from fairtest.cli.demo import admissions, discounts
from fairtest.datasets.healthcare import healthcare
from fairtest.model.context import Op, Predicate

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """Return the browser to use: the one that FAIRTEST_CHROMIUM names, or one that is installed."""
    named = os.environ.get("FAIRTEST_CHROMIUM")
    if named is not None:
        assert Path(named).is_file(), f"FAIRTEST_CHROMIUM names {named!r}, which is no file"
        return named
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed, and FAIRTEST_CHROMIUM names none")
    return found


@pytest.fixture(scope="module")  # while it is open, its loop runs in this thread, and others cannot
def browser():
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


class Visit:
    """A page that is open, and everything that went wrong or was asked of the network."""

    def __init__(self, browser, path, *, width=1280, scheme="light"):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        self.page = self.context.new_page()
        self.troubles, self.requests = [], []
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def open_everything(self):
        self.page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")


@pytest.fixture
def visit(browser, pages):
    """Return what opens the page of a report by its name."""
    visits = []

    def opened(name, **how):
        visits.append(Visit(browser, pages[name], **how))
        return visits[-1]

    yield opened
    for one in visits:
        one.context.close()


def errors_report():
    source = ft.DataSource(healthcare(6_000), budget=2, name="hospital")
    asked = ft.ErrorProfiling(source, "age", "predicted", "visits", exclude=["width", "confident_prediction"])
    ft.train([asked], max_depth=2)
    ft.test([asked])
    return ft.explain(asked, by="answered")


def long_report(findings=200):
    found = [
        build.finding(
            build.income_by_sex([[528, 441], [417, 58 + i]]),
            [Predicate("age", Op.ABOVE, i), Predicate("region", Op.IS, f"region {i % 7}")],
            effect=-0.3 + i / 1000,
            interval=(-0.4, -0.1),
        )
        for i in range(findings)
    ]
    return build.report(build.attribute(build.income_population(), found, reference="Male"), favourable=">50K")


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Return the files of the reports."""
    folder = tmp_path_factory.mktemp("pages")
    reports = {
        "admissions": admissions()[1],
        "discounts": discounts(),
        "errors": errors_report(),
        "long": long_report(),
    }
    paths = {}
    for name, report in (reports | build.all_reports()).items():
        paths[name] = folder / f"{name}.html"
        report.to_html(paths[name])
    return paths
