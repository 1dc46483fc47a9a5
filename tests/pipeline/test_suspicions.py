"""People who may have several rows, and weights: what a run does with them, and that it says so first."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.data.suspicion import repeats, samples

BRIEF = {"max_depth": 1, "search": "tree", "min_size": 100}
PERSON = (
    "user_id repeats: 400 values in 2,000 rows, and sex hardly ever changes within one. If it names people, say "
    "--person user_id (person='user_id' in Python); until then the 5 % does not hold."
)
WEIGHT = (
    "fnlwgt looks like a sampling weight, and is kept out of contexts. If a row stands for as many people, say "
    "--weights fnlwgt (weights='fnlwgt' in Python); until then every row counts alike."
)


@pytest.fixture
def log() -> pl.DataFrame:
    """Return 400 people with five rows each, of noise."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(400), 5)
    return pl.DataFrame(
        {
            "user_id": who + 7,
            "sex": rng.choice(["f", "m"], 400)[who],
            "age": rng.integers(18, 80, 400)[who],
            "city": rng.choice([f"c{i}" for i in range(40)], 400)[who],
            "credit": rng.integers(100, 900, 400)[who],
            "fnlwgt": rng.lognormal(9, 0.5, who.size),
            "hired": rng.integers(0, 2, who.size),
        }
    )


def ask(data, **how):
    return ft.Testing(ft.DataSource(data), "sex", "hired", **how)


def test_they_are_kept_out_of_contexts_and_the_report_says_why(log):
    asked = ask(log)
    assert asked.questions[0].contextual == ("age", "city", "credit")
    notes = {note.name: (note.role, note.note) for note in asked.column_notes()}
    kept = "no context unless named as contextual"
    assert notes["user_id"] == ("left out", f"an identifier that repeats: 400 values in 2,000 rows; {kept}")
    assert notes["fnlwgt"] == ("left out", f"looks like a sampling weight; {kept}")


def test_who_names_them_gets_them(log):
    asked = ask(log, contextual=["user_id", "fnlwgt", "age"])
    assert asked.questions[0].contextual == ("user_id", "fnlwgt", "age")
    assert {n.name: n.role for n in asked.column_notes()}["fnlwgt"] == "contextual"
    assert asked.warnings == (PERSON,)  # people are as many, whatever describes them


def test_a_column_with_another_role_is_not_suspected(log):
    assert ask(log).warnings == (PERSON, WEIGHT)
    assert ask(log, exclude=["fnlwgt", "user_id"]).warnings == (PERSON,)
    assert ft.Testing(ft.DataSource(log), "sex", "fnlwgt").warnings == (PERSON,)
    assert ft.Testing(ft.DataSource(log), "sex", "hired", explanatory="fnlwgt").warnings == (PERSON,)


def test_copies_are_said_where_no_column_names_people(log):
    rows = log.drop("user_id", "fnlwgt")
    (words,) = ask(rows).warnings
    assert words == (
        "2,000 of 2,000 rows agree with another one in sex, age, city and credit, far more than chance gives. If they "
        "are the same people, add a column that names them and say --person COLUMN (person='COLUMN' in Python); until "
        "then the 5 % does not hold."
    )
    assert ask(rows.unique(maintain_order=True, subset=["sex", "age", "city", "credit"])).warnings == ()


def test_whole_rows_twice_are_copies_and_a_weight_helps_to_see_it():
    rng = np.random.default_rng(4)
    once = pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 1_000),
            "dept": rng.choice(list("abc"), 1_000),
            "fnlwgt": rng.lognormal(9, 0.5, 1_000),
            "hired": rng.integers(0, 2, 1_000),
        }
    )
    assert ask(once).warnings == (WEIGHT,)
    assert (
        ask(pl.concat([once, once])).warnings[0].startswith("2,000 of 2,000 rows agree with another one in sex, dept")
    )


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"person": "user_id"}, (WEIGHT,)),
        ({"weights": "fnlwgt"}, (PERSON,)),
        ({"person": "user_id", "weights": "fnlwgt"}, ()),
    ],
)
def test_what_is_declared_is_not_suspected(log, declared, said):
    source = ft.DataSource(log, **declared)
    assert ft.Testing(source, "sex", "hired").warnings == said
    about = " ".join(ft.inspect(source).notes)
    assert ("user_id repeats" in about, "sampling weight" in about) == (PERSON in said, WEIGHT in said)
    assert declared.get("person") not in ft.Testing(source, "sex", "hired").suspicions.kept_out
    rows = ft.DataSource(log.drop("user_id", "fnlwgt"))
    vars(rows).update({"person": "city", "counts": None} if "person" in declared else {"counts": "age"})
    assert ft.Testing(rows, "sex", "hired").warnings == ()


def test_the_promise_is_that_of_the_source(log):
    asked = ft.Testing(ft.DataSource(log, conf=0.9), "sex", "hired")
    assert "until then the 10 % does not hold." in asked.warnings[0]


def test_training_warns_once_for_a_batch(log):
    source = ft.DataSource(log)
    batch = [ft.Testing(source, "sex", "hired"), ft.Testing(source, "sex", "credit")]
    with pytest.warns(ft.FairTestWarning) as caught:
        ft.train(batch, **BRIEF)
    assert [str(each.message) for each in caught] == [PERSON, WEIGHT]
    assert caught[0].filename == __file__  # where the user called it


def test_every_format_begins_with_it(log):
    with pytest.warns(ft.FairTestWarning):
        report = ft.audit(log, "sex", "hired", **BRIEF)
    assert report.warnings == (PERSON, WEIGHT)
    text = " ".join(report.to_text().split())
    assert text.index(f"Warning: {PERSON} Warning: {WEIGHT}") < text.index("The groups were chosen on")
    assert report.to_text().splitlines()[2].startswith("Warning: user_id repeats: 400 values in 2,000 rows")
    lines = report.to_markdown().splitlines()
    assert lines[4] == "> [!WARNING]"
    assert lines[5].replace("\\", "") == f"> {PERSON}"
    keys = list(json.loads(report.to_json()))
    assert keys.index("warnings") < keys.index("data")
    assert report.to_dict()["warnings"] == [PERSON, WEIGHT]
    for page in (report.to_html(), report._repr_html_()):
        shown = re.sub(r"<[^>]+>", "", page).replace("&#39;", "'").replace("\u202f", " ")
        assert PERSON in shown
    assert report.to_html().index("user_id repeats") < report.to_html().index("<h1>")


def test_nothing_is_said_of_ordinary_people(log):
    report = ft.audit(log.select("sex", "hired", "age"), "sex", "hired", **BRIEF)
    assert report.warnings == ()
    assert "warnings" not in report.to_dict()
    assert "Warning" not in report.to_text() + report.to_markdown()
    assert 'class="callout warning"' not in report.to_html()


def test_an_explanation_says_it_too(log):
    source = ft.DataSource(log, budget=2)
    asked = ft.Testing(source, "sex", "hired")
    with pytest.warns(ft.FairTestWarning):
        ft.train([asked], **BRIEF)
    ft.test([asked])
    assert ft.explain(asked, by="age").warnings == (PERSON, WEIGHT)


def test_discovery_and_error_profiling_say_it_too(log):
    rng = np.random.default_rng(5)
    data = log.with_columns(
        tags=pl.Series(rng.choice(["a|b", "b", "a|c"], log.height)), guess=pl.Series(rng.integers(0, 2, log.height))
    )
    source = ft.DataSource(data)
    assert ft.Discovery(source, "sex", "tags", separator="|").warnings == (PERSON, WEIGHT)
    assert ft.ErrorProfiling(source, "sex", "guess", "hired").warnings == (PERSON, WEIGHT)


@pytest.mark.parametrize("drop", [[], ["user_id", "fnlwgt"]])
@pytest.mark.parametrize("form", ["memory", "disk", "dask"])
def test_all_engines_say_the_same(log, tmp_path, monkeypatch, form, drop, request):
    monkeypatch.setattr(samples.sample_values, "__defaults__", (1_000,))
    monkeypatch.setattr(samples.positions, "__defaults__", (1_500,))
    monkeypatch.setattr(repeats, "sample_values", samples.sample_values)
    path = tmp_path / "log.parquet"
    log.drop(drop).write_parquet(path)
    expected = ft.Testing(ft.DataSource(log.drop(drop)), "sex", "hired").warnings
    assert re.match(r"[\d,]+ of a sample of 1,\d{3} rows agree" if drop else "user_id repeats: 400 values", expected[0])
    engine = request.getfixturevalue("small_cluster") if form == "dask" else form
    how = {} if form == "memory" else {"memory": 10**8}
    assert ft.Testing(ft.DataSource(path, engine=engine, **how), "sex", "hired").warnings == expected


@pytest.fixture(scope="module")
def small_cluster():
    """Return the client of a cluster within this process."""
    from distributed import Client

    with Client(processes=False, n_workers=1, dashboard_address=":0", set_as_default=False) as client:
        yield client


def test_more_columns_are_looked_at_too(log):
    source = ft.DataSource(log.drop("user_id", "fnlwgt", "age", "city", "credit"))
    assert ft.Testing(source, "sex", "hired").warnings == ()
    wider = source.with_columns(log.select("user_id"))
    assert ft.Testing(wider, "sex", "hired").warnings == (PERSON,)


@pytest.mark.parametrize("mark", ["NA", "?", "n/a"])
def test_a_mark_of_missing_values_in_the_question_is_said_first(mark):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 600),
            "hired": rng.choice(["no", "yes", mark], 600),
            "town": rng.choice(["x", "y", "NA"], 600),
            "kind": rng.choice(["none", "unknown"], 600),
        }
    )
    asked = ft.Testing(ft.DataSource(frame), ["sex", "kind"], "hired")
    [said] = asked.warnings
    assert said.startswith(f"hired has the value '{mark}'. If that means missing, say so (--missing ")
    known = frame.with_columns(hired=pl.col("hired").replace(mark, None))
    assert not ft.Testing(ft.DataSource(known), ["sex", "kind"], "hired").warnings


def test_numbers_with_a_mark_are_refused_with_the_way_out(tmp_path):
    path = tmp_path / "pay.csv"
    rng = np.random.default_rng(5)
    rows = [f"{rng.choice(['f', 'm'])},{'NA' if i % 9 == 0 else round(rng.normal(20, 4), 2)}" for i in range(900)]
    path.write_text("sex,pay\n" + "\n".join(rows))
    with pytest.raises(ft.InputError, match=r"say that 'NA' means missing \(missing=\['NA'\]\) if they are numbers"):
        ft.Testing(ft.DataSource(path), "sex", "pay")
    assert ft.Testing(ft.DataSource(path, missing=["NA"]), "sex", "pay").questions[0].output.is_number


def test_equal_weights_of_a_survey_are_no_copies():
    """Weights that are the same in each cell of the design say nothing about who has several rows."""
    rng = np.random.default_rng(6)
    n = 3_000
    sex, age = rng.integers(0, 2, n), rng.integers(0, 4, n)
    frame = pl.DataFrame(
        {
            "sex": np.array(["f", "m"])[sex],
            "age": np.array(list("abcd"))[age],
            "sick": rng.choice(["no", "yes"], n),
            "perwt": 1000.0 + 37.123 * (10 * sex + age) + rng.integers(0, 300, n),
        }
    )
    assert not ft.Testing(ft.DataSource(frame, weights="perwt"), "sex", "sick").warnings
