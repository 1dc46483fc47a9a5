"""No element of a page has a style of its own, so that a strict policy need not allow any."""

from __future__ import annotations

import re

import pytest
import report_builders as build

from fairtest.reporting.formats.html import render_html
from fairtest.reporting.formats.inline_styles import move_styles


@pytest.mark.parametrize("name", build.all_reports())
def test_styles_are_in_the_style_sheet(name: str) -> None:
    page = render_html(build.all_reports()[name])
    assert re.findall(r"<[^>]* style=", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)) == []
    assert set(re.findall(r"(?<=[ \"])axis-\d+", page.partition("</style>")[2])) == set(
        re.findall(r"\.(axis-\d+)\{--steps", page)
    )
    assert move_styles(page) == page
