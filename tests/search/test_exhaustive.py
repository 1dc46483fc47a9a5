"""Every conjunction of a few predicates, against a plain enumeration."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.data.holdout import TRAIN
from fairtest.model.context import Context
from fairtest.pipeline.search import engine_of, searcher_of
from fairtest.search.cuts import items
from fairtest.search.exhaustive import conjunctions, feasible_depth, item_axes
from fairtest.search.proposals import half_link
from fairtest.search.scoring import Outputs, Strength


def people(n=900, seed=0):
    rng = np.random.default_rng(seed)
    sex, city = rng.choice(["f", "m"], n), rng.choice(["A", "B", "C"], n)
    age = rng.integers(20, 26, n).astype(float)
    age[rng.random(n) < 0.1] = np.nan
    hired = rng.random(n) < np.where((city == "B") & (sex == "f"), 0.15, 0.5)
    grade = rng.choice(["low", "mid", "high"], n)
    return pl.DataFrame(
        {"sex": sex, "city": city, "age": pl.Series(age).fill_nan(None), "grade": grade, "hired": hired.astype(int)}
    )


def searched(frame, metric=None, depth=3, min_people=20, output="hired", watch=lambda engine: engine):
    source = ft.DataSource(frame, train_size=0.5, ordered={"grade": ["low", "mid", "high"]}, numeric=["age"])
    question = ft.Testing(source, "sex", output, metrics=metric).questions[0]
    engine, target = watch(engine_of(source)), question.search_target(source)
    axes = item_axes([a for c in question.contextual if (a := engine.axis(c))], source.table)
    strength = Strength(question.metric, "bound")
    found = conjunctions([Outputs(engine, strength)], target, axes, depth=depth, min_people=min_people)
    return source, question, axes, found


def brute_force(source, frame, axes, depth, min_people):
    """All conjunctions over different columns with enough people, and 5 % fewer than with any predicate less."""
    train = frame[source.holdout.rows(TRAIN)]
    masks = {p: Context((p,)).mask(train) for a in axes for p in a.predicates}
    everyone = np.ones(train.height, dtype=bool)
    kept = {}
    for k in range(1, depth + 1):
        for chosen in combinations(axes, k):
            for predicates in _product([a.predicates for a in chosen]):
                inside = np.logical_and.reduce([masks[p] for p in predicates])
                around = [
                    np.logical_and.reduce([everyone, *(masks[q] for q in predicates if q is not p)]) for p in predicates
                ]
                if inside.sum() >= min_people and all(inside.sum() <= 0.95 * a.sum() for a in around):
                    kept[Context.of(predicates)] = inside
    return train, kept


def _product(lists):
    if not lists:
        return [()]
    return [(first, *rest) for first in lists[0] for rest in _product(lists[1:])]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_everything_with_enough_people_is_looked_at(depth):
    frame = people()
    source, _, axes, found = searched(frame, depth=depth)
    _, expected = brute_force(source, frame, axes, depth, 20)
    assert found.looked_at == len(expected)
    assert set(found.contexts) <= set(expected)
    by_category = {c for c in expected if c.columns <= {"city"}}
    assert by_category <= set(found.contexts)


def test_attributes_without_a_large_conjunction_are_not_combined():
    """Few have the rare values of two attributes: nothing beyond is counted, and nothing is missed."""
    rng = np.random.default_rng(3)
    frame = people().with_columns(
        job=pl.Series(rng.choice([f"j{i}" for i in range(9)], 900)), team=pl.Series(rng.choice(list("uvwxyz"), 900))
    )
    counted = []

    class Watched:
        def __init__(self, engine):
            self._engine = engine

        def __getattr__(self, name):
            return getattr(self._engine, name)

        def joints(self, number, axes, target):
            counted.extend(tuple(axis.column for axis in chosen) for chosen in axes)
            return self._engine.joints(number, axes, target)

    source, _, axes, found = searched(frame, min_people=35, watch=Watched)
    _, expected = brute_force(source, frame, axes, 3, 35)
    assert found.looked_at == len(expected)
    assert ("job", "team") in counted
    assert not [chosen for chosen in counted if len(chosen) == 3 and {"job", "team"} <= set(chosen)]
    assert ("age", "city", "grade") in counted


def test_only_the_surest_of_neighbouring_thresholds_is_kept():
    frame = people()
    source, question, axes, found = searched(frame, depth=1)
    age = next(a for a in axes if a.axis.column == "age")
    z = dict(zip(found.contexts, np.abs(found.z), strict=True))
    kept = [i for i, p in enumerate(age.predicates) if Context((p,)) in z]
    everything = searcher_of(source, question).evidence([Context((p,)) for p in age.predicates])[0]
    for run in age.runs:
        values = np.abs(everything[run])
        peaks = [
            run.start + i
            for i in range(len(values))
            if (i == 0 or values[i] > values[i - 1]) and (i == len(values) - 1 or values[i] >= values[i + 1])
        ]
        assert [i for i in kept if run.start <= i < run.stop] == peaks


@pytest.mark.parametrize("metric", ["DIFF", "NMI", "RATIO", "CORR"])
def test_evidence_is_that_of_the_people_themselves(metric):
    frame = people()
    source, question, _, found = searched(frame, metric, depth=2)
    z, link = searcher_of(source, question).evidence(found.contexts)
    assert found.z == pytest.approx(z, rel=1e-9, abs=1e-12)
    assert found.link == pytest.approx(link, rel=1e-9, abs=1e-9)


def test_the_deviate_of_a_difference_is_the_score_statistic():
    frame = people()
    source, _, _, found = searched(frame, "DIFF", depth=2)
    train = frame[source.holdout.rows(TRAIN)]
    for context, z in list(zip(found.contexts, found.z, strict=True))[:25]:
        inside = train.filter(context.mask(train))
        reference = "m" if (frame["sex"] == "m").sum() >= (frame["sex"] == "f").sum() else "f"
        group, other = (
            inside.filter(pl.col("sex") != reference)["hired"],
            inside.filter(pl.col("sex") == reference)["hired"],
        )
        n, rate = inside.height, inside["hired"].mean()
        variance = rate * (1 - rate) * (1 / group.len() + 1 / other.len()) * n / (n - 1)
        assert z == pytest.approx((group.mean() - other.mean()) / variance**0.5)


def test_the_planted_context_stands_out():
    _, _, _, found = searched(people(4000), depth=2)
    best = found.contexts[int(np.argmax(np.abs(found.z)))]
    assert str(best) == "city = B"
    link = dict(zip(map(str, found.contexts), found.link, strict=True))
    assert link["city = B"] > 5


def test_all_predicates_of_an_axis():
    frame = people()
    source = ft.DataSource(frame, ordered={"grade": ["low", "mid", "high"]}, numeric=["age"])
    engine = engine_of(source)
    written = [str(p) for p, _ in items(engine.axis("grade"), source.table["grade"])]
    assert written == ["grade ≤ low", "grade ≤ mid", "grade > low", "grade > mid"]
    assert [str(p) for p, _ in items(engine.axis("age"), source.table["age"])][-1] == "age missing"


def test_the_depth_falls_with_the_number_of_predicates():
    source, question, axes, _ = searched(people(), depth=1)
    target = question.search_target(source)
    assert [feasible_depth(axes * k, target, 3) for k in (1, 40, 400)] == [3, 2, 1]
    assert feasible_depth(axes * 40, target, 1) == 1
    assert feasible_depth([], target, 3) == 0


def test_half_of_the_evidence_is_what_a_context_shows_beyond_the_larger_ones():
    z, link = np.array([4.0, -4.0, 4.0, 4.0, np.nan]), np.array([np.inf, 2.0, -1.0, 9.0, 1.0])
    assert half_link(z, link) == pytest.approx([4.0, 3.0, 2.0, 4.0, 0.0])


@pytest.mark.parametrize("search", ["exhaustive", "auto", "tree"])
def test_each_search_finds_the_planted_context_through_the_front_door(search):
    report = ft.audit(people(6000, seed=3), "sex", "hired", search=search, min_size=60)
    assert "city = B" in [str(f.context) for f in report.findings]
    assert report.settings.search == search


def test_auto_looks_at_least_as_deep_as_the_tree():
    frame = people(6000, seed=4)
    source = ft.DataSource(frame)
    both = {}
    for search in ("auto", "exhaustive"):
        t = ft.Testing(source, "sex", "hired")
        ft.train([t], search=search)
        both[search] = t.training.found[0]
    assert set(both["exhaustive"].contexts) <= set(both["auto"].contexts)
    assert both["auto"].looked_at > both["exhaustive"].looked_at
    assert len(both["auto"].contexts) == len(set(both["auto"].contexts)) == len(both["auto"].evidence)
