"""The report on one screen of a terminal."""

import dataclasses
import re

import pytest
import report_builders as build

from fairtest.model.context import Op, Predicate
from fairtest.reporting.formats.screen import MOST_FINDINGS, render_screen

REPORTS = build.all_reports()


def many_findings(number):
    found = [
        dataclasses.replace(
            build.income_finding(), context=build.finding(build.income_by_sex([[1, 1], [1, 1]]), [where]).context
        )
        for where in (Predicate("age", Op.ABOVE, i) for i in range(number))
    ]
    return build.report(build.attribute(build.income_population(), found, reference="Male"), favourable=">50K")


def test_the_answer_the_picture_how_sure_and_the_groups_in_this_order():
    text = render_screen(build.income_report(), full="")
    parts = (
        "FairTest · testing",
        "People with sex = Female have income = >50K 19 points less often",
        "10.9 % [10.3, 11.6]",
        "How sure: Over everybody, p = 2e-263",
        "1. age > 46, education > 9",
        "--full",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    for later in ("827 candidate", "Left out", "How it was done", "Fingerprint"):
        assert later not in text


@pytest.mark.parametrize("name", REPORTS)
def test_it_fits_a_screen(name):
    lines = render_screen(REPORTS[name], width=100).splitlines()
    assert len(lines) <= 50
    assert all(len(line) <= 100 for line in lines), max(lines, key=len)
    assert not re.search(r"\b(nan|NaN|inf|None)\b", "\n".join(lines))


def test_findings_are_capped_and_the_others_counted():
    text = render_screen(many_findings(354), full="report.html")
    assert len(re.findall(r"^\d+\. ", text, re.MULTILINE)) == MOST_FINDINGS
    assert "and 349 more in report.html" in text
    assert "Everything is in report.html." in text


def test_before_and_after_is_a_small_table():
    report = build.berkeley_report()
    [about] = report.attributes
    about = dataclasses.replace(about, population=dataclasses.replace(about.population, gap=-0.16))
    text = render_screen(dataclasses.replace(report, attributes=(about,)))
    assert "all together │" in text
    assert "given department │" in text
    assert "−16.0 │" in text
    assert "Clear by itself where department = A" in text
    assert "* department = A" not in text


def test_warnings_come_before_the_answer():
    report = dataclasses.replace(build.income_report(), warnings=("These rows may not be people.",))
    text = render_screen(report)
    assert text.index("Warning: These rows may not be people.") < text.index("19 points less often")


def test_printing_a_report_shows_the_screen_and_to_text_everything():
    report = build.income_report()
    assert str(report) == render_screen(report)
    assert "How it was done" in report.to_text()
    assert report.to_text(full=False) == str(report)
