"""Tables of labels in text, HTML and JSON: by the group they go with, with rates, interval and p."""

import json
import re

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.reporting.views.labels import label_blocks


def report_of(kind, n=6000, **words):
    rng = np.random.default_rng(0)
    high = rng.random(n)
    group = {
        "two": np.where(high > 0.4, "women", "men"),
        "three": np.array(["k", "l", "m"])[(3 * high).astype(int)],
        "eight": np.array(list("abcdefgh"))[(8 * high).astype(int)],
        "number": np.round(100 * high),
    }[kind]
    labels = {
        "rises": rng.random(n) < 0.02 + 0.15 * (high > 0.6),
        "falls": rng.random(n) < 0.02 + 0.15 * (high < 0.3),
        **{f"other {i}": rng.random(n) < 0.05 for i in range(4)},
    }
    frame = pl.DataFrame({"who": group, **{k: v.astype(int) for k, v in labels.items()}})
    return ft.audit(frame, "who", list(labels), seed=0, **words)


@pytest.mark.parametrize(
    ("kind", "titles"),
    [
        ("two", ["with who = women", "with who = men"]),
        ("three", ["with who = m", "with who = k"]),
        ("number", ["more often the higher who is", "more often the lower who is"]),
    ],
)
def test_labels_stand_with_the_group_they_go_with(kind, titles):
    report = report_of(kind)
    attribute = report.attributes[0]
    blocks = label_blocks(attribute, [f for f in attribute.labels if f.significant])
    assert {b.title: [f.label for f in b.labels] for b in blocks} == {titles[0]: ["rises"], titles[1]: ["falls"]}
    for title in titles:
        assert title in report.to_text()
        assert title[1:] in report.to_html()


def test_groups_go_by_the_words_of_the_user():
    report = report_of("three", labels={"who": {"": "origin", "m": "newcomers"}}, people="users")
    for shown in (report.to_text(), report.to_html()):
        assert "with origin = newcomers" in shown
        assert "with origin = k" in shown
        assert "who = m" not in shown


def test_the_text_shows_rates_interval_and_p():
    text = report_of("two").to_text()
    row = next(line for line in text.splitlines() if line.startswith("rises"))
    cells = [cell.strip() for cell in row.split("│")]
    assert len(cells) == 5
    assert all(cell.endswith(" %") for cell in cells[1:3])
    assert re.fullmatch(r"\[−\d+\.\d, −\d+\.\d\]", cells[3])  # of men, less often than women
    assert "Looked promising on the training set and not confirmed" in text
    assert "four fifths" not in text


def test_a_narrow_terminal_and_many_groups_are_no_trouble():
    report = report_of("eight")
    for width in (40, 60, 100):
        assert max(map(len, report.to_text(width=width).splitlines())) <= max(width, 60)
    assert "others" in report.to_text()


def test_the_page_has_the_table_and_a_closed_list_of_what_was_not_confirmed():
    report = report_of("two")
    page = report.to_html()
    assert page.count('<table class="labels') == 1
    assert "More often with who = women" in page
    assert "looked promising on the training set and" in page
    assert '<table class="labels' in report._repr_html_()


def test_json_has_the_label_of_every_finding_and_what_was_looked_at():
    asked = json.loads(report_of("two").to_json())["investigations"][0]
    assert asked["kind"] == "discovery"
    assert asked["labels"] == {"number": 6, "top_k": 35, "min_people": 10, "separator": None}
    attribute = asked["protected"][0]
    assert {f["label"] for f in attribute["findings"]} == {"rises", "falls"}
    assert all(f["label"] == f["output"] and f["context"] == [] for f in attribute["findings"])
    assert not {f["label"] for f in attribute["unconfirmed"]} & {"rises", "falls"}
    assert attribute["population"]["label"] in {"rises", "falls"}


def test_sentences_speak_of_labels():
    finding = report_of("two").findings[0]
    assert f"get the label {finding.label}" in finding.sentence
