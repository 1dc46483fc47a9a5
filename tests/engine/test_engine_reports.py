"""Whole reports are the same byte for byte, wherever the people were counted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.pipeline import search

PEOPLE = 1500
LABELS = ["tag a", "tag b", "tag c", "tag d"]


def people() -> pl.DataFrame:
    """Weak links in one city, missing values everywhere, contexts small enough for p-values to be drawn."""
    rng = np.random.default_rng(7)
    woman = rng.random(PEOPLE) < 0.45
    city = rng.choice(["Paris", "Quito", "Rome"], PEOPLE, p=[0.4, 0.35, 0.25])
    race = rng.choice(["ash", "birch", "cedar"], PEOPLE, p=[0.6, 0.3, 0.1])
    age = rng.integers(18, 80, PEOPLE)
    there = city == "Quito"
    hired = rng.random(PEOPLE) < np.where(woman & there, 0.15, 0.55)
    pay = rng.gamma(4, 5, PEOPLE) * (1 + 0.5 * there * (race == "cedar")) + 0.2 * there * age - 4 * there * woman
    tags = {name: rng.random(PEOPLE) < np.where(woman, 0.25, 0.1 + 0.04 * i) for i, name in enumerate(LABELS)}
    columns = {
        "sex": np.where(woman, "woman", "man"),
        "race": race,
        "age": age,
        "city": city,
        "shift": rng.choice(["day", "night"], PEOPLE, p=[0.7, 0.3]),
        "hired": np.where(hired, "yes", "no"),
        "predicted": np.where(rng.random(PEOPLE) < np.where(woman, 0.3, 0.1), ~hired, hired),
        "right": hired,
        "pay": pay,
        "guess": pay + rng.normal(0, 2 + 3 * woman, PEOPLE),
        **tags,
    }
    gaps = {
        name: pl.Series(name, values).scatter(np.flatnonzero(rng.random(PEOPLE) < 0.03), None)
        for name, values in columns.items()
        if name in ("sex", "city", "pay", "tag a")
    }
    return pl.DataFrame({**columns, **gaps})


FRAME = people()
OTHERS = ["race", "hired", "predicted", "right", "pay", "guess", *LABELS]


def audited(source, protected, output, **how):
    exclude = [c for c in OTHERS if c not in (protected, output)]
    return ft.audit(source, protected=protected, output=output, exclude=exclude, min_size=60, **how)


def discovery(source, protected="sex", explanatory=None, **how):
    exclude = [c for c in OTHERS if c not in LABELS]
    return put(ft.Discovery(source, protected, LABELS, explanatory=explanatory, exclude=exclude), **how)


def profiling(source, **asked):
    exclude = [c for c in OTHERS if c not in asked.values()]
    return put(ft.ErrorProfiling(source, "sex", **asked, exclude=exclude))


def put(asked, **how):
    ft.train([asked], min_size=60, **how)
    ft.test([asked])
    return ft.report([asked])[0]


def off_by(guess, truth):
    return np.abs(guess - truth) > 3


CASES = {
    "DIFF": lambda s: audited(s, "sex", "hired"),
    "DIFF in a tree": lambda s: audited(s, "sex", "hired", search="tree", correction="holm"),
    "DIFF in a forest": lambda s: audited(s, "sex", "hired", search="forest", max_depth=3),
    "DIFF, every conjunction": lambda s: audited(s, "sex", "hired", search="exhaustive", max_depth=2),
    "DIFF, max-T": lambda s: audited(s, "sex", "hired", correction="max-t", max_depth=2),
    "RATIO": lambda s: audited(s, "sex", "hired", metrics="RATIO", max_depth=2),
    "NMI": lambda s: audited(s, "race", "city"),
    "CORR": lambda s: audited(s, "age", "pay", max_depth=2),
    "MEAN": lambda s: audited(s, "sex", "pay", search="tree"),
    "ETA": lambda s: audited(s, "race", "pay", max_depth=2),
    "ETA, max-T": lambda s: audited(s, "race", "pay", correction="max-t", search="tree"),
    "RANK": lambda s: audited(s, "age", "pay", metrics="RANK", max_depth=2),
    "given shift": lambda s: audited(s, "sex", "hired", explanatory="shift", max_depth=2),
    "CORR given shift": lambda s: audited(s, "age", "pay", explanatory="shift", search="tree"),
    "labels": discovery,
    "labels in a tree, given shift": lambda s: discovery(s, search="tree", explanatory="shift"),
    "labels and a number": lambda s: discovery(s, "age", max_depth=2),
    "errors": lambda s: profiling(s, output="predicted", ground_truth="right"),
    "errors that are numbers": lambda s: profiling(s, output="guess", ground_truth="pay", error="absolute"),
    "errors of the user's own": lambda s: profiling(s, output="guess", ground_truth="pay", error=off_by),
}
SOURCES = {
    "not split": ({"split": False}, "DIFF"),
    "one test set for all": ({"reuse": True, "budget": 3}, "DIFF in a tree"),
    "two test sets": ({"budget": 2}, "NMI"),
}


def told(case, engine_over=None, **how):
    """Return the report as JSON, from an engine other than the usual one if it is given."""
    source = ft.DataSource(FRAME, seed=3, **({"train_size": 0.5} if how.get("split", True) else {}), **how)
    if engine_over is not None:
        source._attached[search.make_engine] = engine_over(source.table, source.holdout)
    return CASES[case](source).to_json()


@pytest.fixture(scope="module")
def expected():
    """Return what the engine in memory gives, computed once for each case."""
    known = {}

    def of(case, **how):
        key = (case, *sorted(how))
        if key not in known:
            known[key] = told(case, **how)
        return known[key]

    return of


@pytest.mark.parametrize("case", CASES)
def test_every_engine_gives_the_same_report(engine_over, expected, case):
    assert told(case, engine_over) == expected(case)


@pytest.mark.parametrize("which", SOURCES)
def test_so_does_every_way_to_divide_the_people(engine_over, expected, which):
    how, case = SOURCES[which]
    assert told(case, engine_over, **how) == expected(case, **how)
