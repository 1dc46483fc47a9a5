"""The picture on the front page: the first screen of a report, as a browser shows it.

``python -m docs.picture`` writes ``docs/_static/report.png`` from data that FairTest makes
itself. It needs Chromium, in the place that FAIRTEST_CHROMIUM names or on the path.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

import fairtest as ft
from fairtest.datasets.lending import applicants

PICTURE = Path(__file__).parent / "_static" / "report.png"
WIDTH, HEIGHT = 1180, 720


def lenders_report() -> ft.Report:
    """Return the report on a lender that turns women away, far more so on the web."""
    people = applicants()
    rng = np.random.default_rng(1)
    fault = np.where(people["channel"] == "web", 0.22, 0.03)
    granted = (
        rng.random(people.height) < 0.62 - fault * (people["sex"] == "female").to_numpy()
    )
    return ft.audit(
        people.with_columns(pl.Series("loan granted", np.where(granted, "yes", "no"))),
        "sex",
        "loan granted",
        favourable="yes",
        labels={"sex": {"female": "women", "male": "men"}},
        people="applicants",
        outcome="get a loan",
        name="a made-up lender",
    )


def main() -> None:
    """Make a report, open it and take the picture."""
    from playwright.sync_api import sync_playwright

    browser = os.environ.get("FAIRTEST_CHROMIUM") or shutil.which("chromium")
    if browser is None:
        sys.exit("There is no Chromium: name one with the variable FAIRTEST_CHROMIUM.")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_path = Path(folder) / "report.html"
        lenders_report().to_html(page_path)
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = opened.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light"
        )
        page.goto(page_path.as_uri())
        page.screenshot(path=PICTURE)
        opened.close()


if __name__ == "__main__":
    main()
