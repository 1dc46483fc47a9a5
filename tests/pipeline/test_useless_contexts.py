"""Contexts that say nothing are left out, with a word."""

import numpy as np
import polars as pl

import fairtest as ft
from fairtest.model.context import Context, Op, Predicate
from fairtest.model.found import Found
from fairtest.pipeline.search import searcher_of

RNG = np.random.default_rng(3)
N = 10_000
SEX = RNG.choice(["f", "m"], N)
PEOPLE = pl.DataFrame(
    {
        "sex": SEX,
        "citizen": np.where(RNG.random(N) < 0.985, "yes", "no"),
        "town": RNG.choice(list("abc"), N),
        "score": 50 + 5 * (SEX == "f") + RNG.normal(0, 10, N),
    }
)


def test_groups_of_nearly_everybody_are_not_tested():
    source = ft.DataSource(PEOPLE)
    [question] = ft.Testing(source, "sex", "score").questions
    contexts = tuple(
        Context(tuple(Predicate(column, Op.IS, value) for column, value in conditions))
        for conditions in ([], [("citizen", "yes")], [("citizen", "no")], [("citizen", "yes"), ("town", "a")])
    )
    found = Found(contexts, 4, np.arange(4.0), np.ones(4))
    left = searcher_of(source, question)._without_nearly_everybody(found)
    assert left.contexts == (contexts[0], *contexts[2:])
    assert left.evidence.tolist() == [0.0, 2.0, 3.0]
    assert left.notes[0].startswith("1 group was not tested because nearly everybody (98 % or more) is in it")


def test_no_conditions_at_all_ask_about_everybody_only():
    report = ft.audit(PEOPLE, "sex", "score", max_depth=0)
    same = ft.audit(PEOPLE, "sex", "score", contextual=[])
    assert not report.findings
    assert report.looked_at == same.looked_at <= 1
    assert report.populations[0].interval == same.populations[0].interval


def test_copies_of_the_output_are_no_contexts():
    frame = PEOPLE.with_columns((pl.col("score") * 1.8 + 32).alias("in_other_units"))
    notes = {note.name: note.note for note in ft.audit(frame, "sex", "score").data.columns}
    assert notes["in_other_units"].startswith("it is a copy of the output 'score'")


def test_it_is_the_same_on_disk(tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.with_columns(pl.col("sex").replace({"f": "Ms", "m": "Mr"}).alias("title")).write_csv(path)
    here, there = (ft.audit(path, "sex", "score", engine=engine) for engine in ("memory", "disk"))
    assert here.to_json() == there.to_json()
    assert "gives the protected attribute 'sex' away" in str(here.data.columns)
