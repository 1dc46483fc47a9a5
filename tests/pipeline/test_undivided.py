"""One question to everybody, without a split."""

import numpy as np
import pytest
from scipy import stats

import fairtest as ft


def people(n=3000, seed=0, gap=0.0):
    rng = np.random.default_rng(seed)
    sex, city, job = rng.choice(["f", "m"], n), rng.choice(["A", "B", "C"], n), rng.choice(["x", "y"], n)
    rate = 0.5 - gap * ((city == "B") & (sex == "f"))
    return {"sex": sex, "city": city, "job": job, "hired": (rng.random(n) < rate).astype(int)}


def test_everybody_is_tested_in_every_context():
    report = ft.audit(people(gap=0.25), "sex", "hired", split=False)
    assert (report.data.train, report.data.test, report.populations[0].size) == (3000, 3000, 3000)
    assert report.tested == 1 + 5 + 6  # everybody; single values; pairs of values
    assert report.settings.correction == "holm"
    assert "city = B" in [str(f.context) for f in report.findings]
    assert "All 3,000 people" in report.to_text()


def test_the_outputs_have_no_say_in_what_is_tested():
    families = []
    for seed in (1, 2):
        source = ft.DataSource({**people(seed=0), "hired": people(seed=seed)["hired"]}, split=False)
        investigation = ft.Testing(source, "sex", "hired")
        ft.train([investigation])
        families.append(investigation.training.found[0].contexts)
    assert families[0] == families[1]


def test_few_runs_on_nothing_find_something():
    found, runs = 0, 150
    for seed in range(runs):
        found += ft.audit(people(600, seed), "sex", "hired", split=False, min_size=50).reported > 0
    assert stats.binomtest(found, runs, 0.05, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize(
    ("source", "call", "words"),
    [
        ({"budget": 2}, {}, "budget=1"),
        ({"train_size": 0.5}, {}, "train_size"),
        ({}, {"correction": "pooled"}, "'holm'"),
        ({}, {"search": "tree"}, "exhaustive"),
    ],
)
def test_what_does_not_go_together_is_said(source, call, words):
    with pytest.raises(ft.InputError, match=words):
        ft.audit(people(), "sex", "hired", split=False, **source, **call)


def test_a_large_family_stays_small():
    rng = np.random.default_rng(3)
    wide = {f"x{i}": rng.choice(list("abcdefgh"), 4000) for i in range(12)}
    report = ft.audit({**people(4000), **wide}, "sex", "hired", split=False, min_size=50)
    assert 100 < report.tested <= 5001


def test_a_source_that_is_not_split_says_so():
    assert repr(ft.DataSource(people(100), split=False)) == "DataSource('data': 100 people, undivided; 1 left)"
