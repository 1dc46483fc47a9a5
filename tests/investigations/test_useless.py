"""Columns that make no sense as contexts."""

import numpy as np
import polars as pl

import fairtest as ft


def people(n=1_000):
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], n)
    hired = np.where(rng.random(n) < 0.4, "yes", "no")
    return pl.DataFrame(
        {
            "sex": sex,
            "hired": hired,
            "pronoun": np.where(sex == "f", "she", "he"),
            "letter": np.where(hired == "yes", "welcome", "sorry"),
            "latitude": rng.uniform(40, 50, n),
            "zip_code": rng.integers(10_000, 99_999, n),
            "region": rng.choice(["north", "south"], n),
        }
    )


def test_they_are_left_out_with_a_word():
    asked = ft.Testing(ft.DataSource(people()), "sex", "hired")
    assert asked.questions[0].contextual == ("region",)
    notes = {note.name: note.note for note in asked.column_notes() if note.role == "left out"}
    assert "gives the protected attribute 'sex' away" in notes["pronoun"]
    assert "gives the output 'hired' away" in notes["letter"]
    assert "coordinate" in notes["latitude"]
    assert "code numbers" in notes["zip_code"]


def test_the_user_may_have_them():
    asked = ft.Testing(ft.DataSource(people()), "sex", "hired", contextual=["zip_code", "pronoun"])
    assert asked.questions[0].contextual == ("zip_code", "pronoun")


def test_a_rare_value_gives_nothing_away():
    frame = people().with_columns(rare=pl.Series(["x"] * 995 + ["y"] * 5), hired=pl.Series(["no"] * 980 + ["yes"] * 20))
    asked = ft.Testing(ft.DataSource(frame), "sex", "hired")
    assert "rare" in asked.questions[0].contextual


def test_findings_show_themselves_briefly():
    report = ft.audit(people(), "sex", "hired", contextual=[])
    assert repr(report.populations[0]).startswith("<Finding: sex → hired, everyone: DIFF ")
    assert str(report.populations[0]) == report.populations[0].sentence
