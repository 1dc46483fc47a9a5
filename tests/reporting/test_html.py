"""The report as a page and in a notebook."""

import dataclasses
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
import report_builders as build

from fairtest.metrics.choice import scale_for
from fairtest.reporting.figures.axes import axis_over, effect_axis, number_axis, rate_axis
from fairtest.reporting.formats.html import render_html, render_notebook
from fairtest.reporting.formats.json import as_dict

REPORTS = build.all_reports()
VOID = {"meta", "br", "hr", "img", "input", "link", "line", "circle", "rect", "path"}


class Page(HTMLParser):
    """A strict reader: every tag closed in order, every id once."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.words, self.attributes = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        found = dict(attrs)
        assert len(found) == len(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if "href" in found else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append("" if self.open and self.open[-1] in {"style", "script"} else data)

    @property
    def text(self):
        return " ".join("".join(self.words).replace("\u202f", " ").split())


@pytest.mark.parametrize("name", REPORTS)
def test_pages_are_well_formed(name):
    page = Page(render_html(REPORTS[name]))
    assert page.tags.count("h1") == 1
    assert len(set(page.ids)) == len(page.ids)
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert page.tags.count("script") == 2, "the numbers, and what filters and sorts"


@pytest.mark.parametrize("name", REPORTS)
def test_headings_skip_no_level(name):
    levels = [int(tag[1]) for tag in Page(render_html(REPORTS[name])).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


@pytest.mark.parametrize("render", [render_html, render_notebook])
@pytest.mark.parametrize("name", REPORTS)
def test_nothing_comes_from_elsewhere_and_nothing_undefined_leaks(name, render):
    text = render(REPORTS[name])
    page = Page(text)
    assert not re.search(r"https?:|@import|url\(", text)
    assert not any(key.startswith("on") or key == "src" for key, _ in page.attributes)
    assert not re.search(r"\b(nan|NaN|inf|None)\b", page.text)
    assert not any(
        re.search("nan|inf", value or "") for key, value in page.attributes if key in {"x", "x1", "x2", "cx"}
    )
    assert text == render(build.all_reports()[name])


@pytest.mark.parametrize("render", [render_html, render_notebook])
def test_what_the_user_wrote_is_escaped(render):
    text = render(build.odd_report())
    assert "<script>alert" not in text
    assert "</script>alert" not in text
    assert "<b>&" not in text
    assert "Zürich <b>" not in text
    page = Page(text)
    assert build.HOSTILE in page.text
    assert "Zürich <b>" in page.text
    assert "東京" in page.text


def test_the_page_says_it_all():
    page = Page(render_html(build.income_report()))
    for part in (
        "In two groups the link looks stronger than over everybody.",
        "11.6 % with sex = Female and 44.1 % with sex = Male have income = >50K: a gap of 32.5 points",
        "−32.5 points",
        "[−39.2, −24.8]",
        "Looked at alone, the interval is [−36.5, −28.0] points.",
        "p = 1 × 10⁻³⁷",
        "corrected for 59 tests",
        "below four fifths",
        "9479f8b76861e48c66836d97937f2c5a",
        "excluded by the settings",
        "Five rows were repeated.",
        "53 hypotheses",
        "2,809 missing",
    ):
        assert part in page.text, part


def test_per_cents_have_a_narrow_space_and_groups_their_colour():
    text = render_html(build.income_report())
    assert '<span class="a">11.6\u202f% with sex = Female</span>' in text
    assert '<span class="b">44.1\u202f% with sex = Male</span>' in text
    assert not re.search(r"\d %", text.split("</style>")[1].split("<script")[0])


def test_four_fifths_only_for_selections():
    assert "not below four fifths" in Page(render_html(build.nothing_report())).text
    for changes in ({"kind": "error profiling"}, {"favourable_is": "rarer"}, {"explanatory": ("age",)}):
        other = dataclasses.replace(build.income_report(), **changes)
        assert "four fifths" not in Page(render_html(other)).text.lower()
        assert as_dict(other)["investigations"][0]["protected"][0]["population"]["impact_ratios"] is None
    page = Page(render_html(build.race_report())).text
    assert "Impact ratio0.50 Black ÷ Asian-Pac-Islander; below four fifths" in page
    [about] = as_dict(build.race_report())["investigations"][0]["protected"]
    assert about["population"]["impact_ratios"][0] is None, "under two per cent of the people"


@pytest.mark.parametrize("name", REPORTS)
def test_the_numbers_inside_are_the_json_report(name):
    inside = re.search(r'id="report-data">(.*?)</script>', render_html(REPORTS[name]), re.DOTALL)[1]
    assert json.loads(inside) == as_dict(REPORTS[name])
    assert "<" not in inside


def test_strata_have_verdicts_and_counts():
    page = Page(render_html(build.berkeley_report()))
    assert "department = A" in page.text
    assert "not enough data to say: only 11 with gender = Female" in page.text
    assert "too small to be tested" in page.text
    assert page.tags.count("table") == 1 + 1 + 1 + 1 + 6


def test_a_notebook_fragment_keeps_its_style_to_itself():
    text = render_notebook(build.income_report())
    assert text.startswith('<div class="fairtest-report">')
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    selectors = [s.strip() for rule in re.findall(r"([^{}]+)\{[^}]*\}", style) for s in rule.split(",")]
    assert all(s.startswith(".fairtest-report") for s in selectors)
    page = Page(text)
    assert not page.ids
    assert not page.links
    assert build.income_report()._repr_html_() == text


def test_files_are_small():
    assert len(render_html(build.income_report()).encode()) < 60_000


def test_open_bars_are_arrows():
    assert "arrow" in render_html(build.open_report()).split("</style>")[1]


def test_axes_have_round_ticks_and_hold_what_they_show():
    for low, high in ((0, 0.441), (-39.2, 0), (0.0054, 0.0278), (1e-9, 2e-9), (-3e6, 5e7), (5, 5)):
        axis = axis_over(low, high, lambda n, d: f"{n:.{d}f}")
        assert axis.low <= low <= high <= axis.high
        assert 2 <= len(axis.ticks) <= 8
        assert (axis.ticks[0].at, axis.ticks[-1].at) == (0.0, 100.0)
        assert len({tick.label for tick in axis.ticks}) == len(axis.ticks)
    assert [t.label for t in rate_axis([0.116, 0.441]).ticks] == [f"{n}\u202f%" for n in (0, 10, 20, 30, 40, 50)]
    assert rate_axis([1.0]).high == 1.0
    assert rate_axis([0.0]).high > 0


def test_axes_of_effects_and_of_nothing():
    assert effect_axis([build.undefined_report().populations[0]], scale_for("DIFF")) is None
    axis = effect_axis([build.ratio_finding()], scale_for("RATIO"))
    assert axis.low <= 0.26
    assert axis.high < 10
    empty = number_axis([build.Group("x", 0, None, None, None)])
    assert empty.high > empty.low
