"""The first look at a file: what is in it, and how to go on."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.investigations.suggested import suggested_roles

if TYPE_CHECKING:
    from pathlib import Path


def test_columns_kinds_roles_and_metrics(here: Path, run: Any) -> None:
    made = run("inspect", "people.csv")
    assert (made.code, made.err) == (0, "")
    table = made.out.split("\n\n")[1]
    lines = {line.split()[0]: line for line in table.splitlines()}
    assert "binary" in lines["sex"]
    assert "protected" in lines["sex"]
    assert "text, 2 values" in lines["sex"]
    assert "its name says 'age'" in " ".join(made.out.split())
    assert "left out" in lines["id"]
    assert "constant" in lines["same"]
    assert "perhaps explanatory" in made.out
    assert "sex → hired: DIFF" in made.out
    assert "race → hired: NMI" in made.out
    assert "age → hired: CORR" in made.out
    assert "'race' has '?'" in made.out
    assert "--missing '?'" in made.out


def test_the_command_it_ends_with_can_be_pasted(here: Path, run: Any) -> None:
    command = run("inspect", "people.csv", "--missing", "?").out.splitlines()[-1].strip()
    assert command == ("fairtest test people.csv -p sex -p race -p age -o hired --favourable hired=yes --missing '?'")
    assert run(*shlex.split(command)[1:]).code == 0


def test_a_decision_is_rather_the_output_than_an_income(tmp_path: Path, run: Any) -> None:
    lines = [f"{'fm'[i % 2]},{1000 + i},{i % 3},{'yes' if i % 3 else 'no'}" for i in range(60)]
    for last, expected in [("approved", "-o approved"), ("married", "-o married")]:
        data = tmp_path / "people.csv"
        data.write_text("\n".join([f"sex,income,children,{last}", *lines]) + "\n", "utf-8")
        assert expected in run("inspect", str(data)).out.splitlines()[-1]


def test_names_that_need_quotes(here: Path, run: Any) -> None:
    pl.read_csv("people.csv").rename({"hired": "was hired?", "sex": "Applicant's Sex"}).write_csv("odd file.csv")
    command = run("inspect", "odd file.csv").out.splitlines()[-1].strip()
    assert run(*shlex.split(command)[1:]).code == 0


def test_roles_that_are_named(here: Path, run: Any) -> None:
    made = run("inspect", "people.csv", "-p", "region", "-o", "age")
    assert "region → age: MEAN" in made.out
    assert "sex →" not in made.out
    assert "no column 'regon'. Did you mean 'region'?" in run("inspect", "people.csv", "-p", "regon").err
    assert "sex*region → hired: NMI" in run("inspect", "people.csv", "-p", "sex*region", "-o", "hired").out


def test_json(here: Path, run: Any) -> None:
    made = json.loads(run("inspect", "people.csv", "--json").out)
    assert made["rows"] == 1200
    assert {"name": "same", "role": "left out", "distinct": 1}.items() <= made["columns"][6].items()
    assert made["pairs"][0] == {
        "protected": "sex",
        "output": "hired",
        "metric": "DIFF",
        "phrase": "difference of rates",
    }
    assert made["command"].startswith("fairtest test people.csv -p sex")


def test_predictions_with_the_truth_lead_to_errors(tmp_path: Path, run: Any) -> None:
    path = tmp_path / "p.csv"
    frame = pl.DataFrame({"sex": ["f", "m"] * 300, "predicted": [0, 1, 1] * 200, "actual": [1, 1, 0] * 200})
    frame.write_csv(path)
    assert f"fairtest errors {path} -p sex -o predicted --truth actual" in run("inspect", path).out


def test_nothing_suggests_a_role(tmp_path: Path, run: Any) -> None:
    path = tmp_path / "p.csv"
    pl.DataFrame({"a": ["x", "y", "z"] * 50, "b": [1.5, 2.5, 3.5] * 50}).write_csv(path)
    made = run("inspect", path)
    assert "no name suggests a protected attribute" in made.out
    assert "no name suggests the output" in made.out
    assert "-p COLUMN -o COLUMN" in made.out
    assert "150 people are few" in made.out


def test_a_file_that_cannot_be_read(tmp_path: Path, run: Any) -> None:
    made = run("inspect", tmp_path / "none.csv")
    assert (made.code, made.out, made.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("name", ["page", "message", "usage", "essex", "racetrack", "passenger_class", "loan_status"])
def test_names_that_only_contain_a_word_suggest_nothing(name: str) -> None:
    table = ft.DataSource({name: ["a", "b", "c", "d"] * 5, "other": ["x", "y", "z", "w"] * 5}).table
    assert suggested_roles(table)[name].role == "contextual"


def test_python_takes_what_a_source_takes_and_prints_itself() -> None:
    frame = {"gender": ["f", "m"] * 60, "grade": ["low", "mid", "high"] * 40, "score": [0.5, 1.5, 2.25] * 40}
    look = ft.inspect(frame, ordered={"grade": ["low", "mid", "high"]})
    assert next(c.kind for c in look.columns if c.name == "grade") == "ordered"
    assert str(look).startswith("data: 120 people, 3 columns")
    assert ft.inspect(ft.DataSource(frame)).pairs[0].metric == "MEAN"


def test_sets_of_labels(tmp_path: Path) -> None:
    look = ft.inspect(pl.DataFrame({"sex": ["f", "m"] * 10, "tags": [["a"], ["b", "c"]] * 10}))
    assert [(c.kind, c.distinct) for c in look.columns] == [("binary", 2), ("labels", 3)]


@pytest.fixture
def log(tmp_path: Path) -> str:
    """Return a file of 300 people with four rows each, and weights."""
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(300), 4)
    frame = pl.DataFrame(
        {
            "the user": [f"u{i}" for i in who],
            "sex": rng.choice(["f", "m"], 300)[who],
            "age": rng.integers(18, 80, who.size),
            "pweight": rng.lognormal(7, 0.5, who.size).round(2),
            "hired": rng.integers(0, 2, who.size),
        }
    )
    path = tmp_path / "log.csv"
    frame.write_csv(path)
    return str(path)


def test_people_who_may_have_several_rows_come_first(log: str, run: Any) -> None:
    made = run("inspect", log)
    out = " ".join(made.out.split())
    said = (
        "Note: the user repeats: 300 values in 1,200 rows, and sex hardly ever changes within one. If it names people,"
    )
    assert f"{said} say --person 'the user' (person='the user' in Python); until then the 5 % does not hold." in out
    assert "Note: pweight looks like a sampling weight, and is kept out of contexts." in out
    assert out.index(said) < out.index("To go on:")
    roles = {each["name"]: each["role"] for each in json.loads(run("inspect", log, "--json").out)["columns"]}
    assert (roles["the user"], roles["pweight"], roles["age"]) == ("left out", "left out", "protected")


def test_what_is_declared_is_not_suspected(log: str) -> None:
    look = ft.inspect(log, person="the user", weights="pweight")
    assert not any("repeats" in note or "weight" in note for note in look.notes)
    assert any("repeats" in note for note in ft.inspect(log).notes)


def test_a_run_says_it_before_it_begins_and_in_the_report(log: str, run: Any) -> None:
    question = ("test", log, "-p", "sex", "-o", "hired", "--max-depth", "1")
    made = run(*question)
    assert made.code == 0
    assert "fairtest: warning: the user repeats: 300 values in 1,200 rows" in made.err
    assert made.out.splitlines()[2].startswith("Warning: the user repeats: 300 values in 1,200 rows")
    assert "the user repeats" not in run(*question, "--quiet").err
    proposed = run(*question, "--train-only")
    assert proposed.out.startswith("Warning: the user repeats: 300 values in 1,200 rows")
    assert "the user" not in proposed.out.partition("NOTHING WAS TESTED")[2]
