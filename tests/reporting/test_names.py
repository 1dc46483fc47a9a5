"""The user's words for groups, columns, people and outcomes reach every sentence, and nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.reporting.words.headline import headline

WORDS: dict[str, Any] = {
    "labels": {"sex": {"f": "women", "m": "men", "": "gender"}, "home_region": "region"},
    "people": "applicants",
    "outcome": "are hired",
}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    n = 3_000
    sex, region = rng.choice(["f", "m"], n), rng.choice(["north", "south"], n)
    rate = 0.6 - 0.4 * ((sex == "f") & (region == "north"))
    return pl.DataFrame(
        {
            "sex": sex,
            "race": rng.choice(["a", "b", "c"], n),
            "home_region": region,
            "hired": np.where(rng.random(n) < rate, "yes", "no"),
            "score": rng.normal(size=n) + 2 * (sex == "f"),
        }
    )


def audit(people: pl.DataFrame, protected: str = "sex", output: str = "hired", **options: Any) -> ft.Report:
    usual = {"favourable": {"hired": "yes"}, "reference": {"sex": "m"}, "contextual": ["home_region"]}
    return ft.audit(people, protected, output, **(usual | WORDS | options))


def test_a_gap(people: pl.DataFrame) -> None:
    report = audit(people)
    everyone, north = report.populations[0], report.findings[0]
    assert " applicants), " in everyone.sentence
    assert " % of women and " in everyone.sentence
    assert " % of men are hired: a gap of " in everyone.sentence
    assert " applicants with region north, " in north.sentence
    assert "home region" not in north.sentence
    assert headline(report).startswith("Women are hired 21 points less often than men: 38 % to 59 %")


def test_tables_and_headings_too(people: pl.DataFrame) -> None:
    report = audit(people, explanatory="race", labels=WORDS["labels"] | {"race": {"a": "the first", "": "origin"}})
    text, page, markdown = report.to_text(), report.to_html(), report.to_markdown()
    assert text.splitlines()[0].endswith("3,000 applicants · gender → hired, given origin")
    assert "hired │ " in text
    assert re.search(r"^hired +│ +men │ +women │", text, re.MULTILINE)
    for words in (
        "O = hired on S = gender, given origin",
        "* origin = the first: population",
        " not enough applicants to ",
    ):
        assert words in text
    assert ">applicants</th>" in page
    assert "<h4>Among applicants with the same origin</h4>" in page
    assert '<th scope="row">women</th>' in page
    assert "| gender | hired = no | hired = yes | applicants |" in markdown
    assert "| origin = the first |" in markdown
    for shown in (text, re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL), markdown):
        without = shown.replace("chance findings", "")
        assert not re.search(r"\d people\b", without)
        assert "race = a" not in shown


def test_the_exact_predicates_keep_the_columns(people: pl.DataFrame) -> None:
    report = audit(people)
    assert str(report.findings[0].context) == "home_region = north"
    assert "home_region = north" in report.to_text()


def test_all_forms_have_the_sentences(people: pl.DataFrame) -> None:
    report = audit(people)
    told = report.populations[0].sentence
    assert told in " ".join(report.to_text(width=400).split())
    made = json.loads(report.to_json())["investigations"][0]
    assert made["protected"][0]["population"]["sentence"] == told
    assert made["names"]["people"] == "applicants"
    assert {"column": "sex", "value": "f", "words": "women"} in made["names"]["groups"]
    assert "of women" in report.to_html()


def test_several_groups(people: pl.DataFrame) -> None:
    report = audit(people, "race", labels={"race": {"a": "Alphas", "b": "Betas", "c": "Gammas"}})
    sentence = report.populations[0].sentence
    assert "the share that are hired runs from" in sentence
    assert any(word in sentence for word in ("(Alphas)", "(Betas)", "(Gammas)"))


def test_a_number(people: pl.DataFrame) -> None:
    sentence = audit(people, output="score", labels=WORDS["labels"] | {"score": "rating"}).populations[0].sentence
    assert "average rating is" in sentence
    assert "for women" in sentence
    assert "are hired" not in sentence


def test_an_outcome_for_one_output_is_not_told_of_another(people: pl.DataFrame) -> None:
    assert "have hired = yes" in audit(people, outcome={"race": "are tall"}).populations[0].sentence
    assert "men are hired" in audit(people, outcome={"hired": "are hired"}).populations[0].sentence


def test_explanatory_attributes(people: pl.DataFrame) -> None:
    sentence = audit(people, explanatory="home_region", contextual=[]).populations[0].sentence
    assert "Comparing only applicants with the same region" in sentence


def test_without_words_nothing_is_said_of_them(people: pl.DataFrame) -> None:
    report = ft.audit(people, "sex", "hired", contextual=[])
    assert "names" not in report.to_dict()["investigations"][0]


def test_errors_of_predictions(people: pl.DataFrame) -> None:
    frame = people.with_columns(said=pl.col("hired").shuffle(seed=3))
    report = ft.audit(
        frame, "sex", "said", ground_truth="hired", error="class", contextual=[], labels=WORDS["labels"], people="cases"
    )
    assert "cases" in report.populations[0].sentence
    assert "(women)" in report.populations[0].sentence


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"labels": {"sexx": {"f": "women"}}}, "Did you mean 'sex'"),
        ({"labels": {"sex": {"F": "women"}}}, "no value 'F'. Did you mean 'f'"),
        ({"labels": {"sex": {"f": ""}}}, "must be words"),
        ({"labels": ["sex"]}, "'labels' of DataSource must map"),
        ({"labels": {"score": {"1": "one"}}}, "numeric"),
        ({"outcome": {"hird": "are hired"}}, "Did you mean 'hired'"),
        ({"outcome": 3}, "'outcome' of DataSource must be words"),
        ({"people": " "}, "'people' of DataSource must be words"),
    ],
)
def test_mistakes(people: pl.DataFrame, words: dict[str, Any], message: str) -> None:
    with pytest.raises(ft.InputError) as raised:
        ft.DataSource(people, **words)
    assert message in str(raised.value)
