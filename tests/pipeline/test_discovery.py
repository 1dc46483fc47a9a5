"""Discovery from end to end: planted labels over everybody and in a context, for every kind of protected attribute."""

import json

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.model.context import Context
from fairtest.model.plans import TrainingPlan, TrainingRun
from fairtest.pipeline.search import label_searcher
from fairtest.search import labels

N = 12_000
NOISE = tuple(f"noise {i:02d}" for i in range(40))
EVERYWHERE, INSIDE = ("everywhere a", "everywhere b"), ("inside a", "inside b")


def people(kind: str = "two", seed: int = 0, n: int = N) -> pl.DataFrame:
    """Two labels go with the attribute in everyone, two in the north on the plus plan only (an eighth)."""
    rng = np.random.default_rng(seed)
    region, plan = rng.choice(["north", "south", "east"], n, p=[0.3, 0.4, 0.3]), rng.choice(["basic", "plus"], n)
    inside = (region == "north") & (plan == "plus")
    high = rng.random(n)
    attribute = {
        "two": np.where(high > 0.5, "b", "a"),
        "four": np.array(["k", "l", "m", "n"])[(high * 4).astype(int)],
        "number": np.round(20 + 60 * high, 1),
    }[kind]
    gap = {"two": high > 0.5, "four": high > 0.75, "number": high}[kind]
    rate = 0.03 + 0.12 * gap
    columns = {name: rng.random(n) < 0.04 for name in NOISE}
    columns |= {name: rng.random(n) < rate for name in EVERYWHERE}
    columns |= {name: rng.random(n) < np.where(inside, rate * 1.5, 0.06) for name in INSIDE}
    context = {"region": region, "plan": plan, "age": rng.integers(18, 80, n)}
    return pl.DataFrame({"s": attribute, **context, **{k: v.astype(int) for k, v in columns.items()}})


LABELS = [*NOISE, *EVERYWHERE, *INSIDE]


def discovered(frame, **options):
    source = ft.DataSource(frame, seed=1, **options.pop("source", {}))
    investigation = ft.Discovery(source, "s", LABELS, **options)
    ft.train([investigation])
    ft.test([investigation])
    return investigation, ft.report([investigation])[0]


@pytest.fixture(scope="module")
def two():
    return discovered(people())


@pytest.mark.parametrize(("kind", "metric"), [("two", "DIFF"), ("four", "NMI"), ("number", "CORR")])
def test_planted_labels_are_found_for_every_kind_of_attribute(kind, metric, two):
    report = two[1] if kind == "two" else discovered(people(kind))[1]
    assert {f.metric for f in report.findings} == {metric}
    everyone = [f.label for f in report.findings if not len(f.context)]
    assert set(everyone[:2]) == set(EVERYWHERE)
    there = {f.label for f in report.findings if str(f.context) == "plan = plus, region = north"}
    assert there == set(INSIDE)
    assert not {f.label for f in report.findings} & set(NOISE)


def test_findings_hold_labels_over_everybody_first_then_contexts(two):
    _, report = two
    depth = [bool(len(f.context)) for f in report.findings]
    assert depth == sorted(depth)
    assert all(f.significant and f.output == f.label for f in report.findings)
    assert set(report.populations) == set(report.attributes[0].labels)
    assert all(not len(f.context) for f in report.populations)
    assert report.attributes[0].population == report.populations[0]
    assert report.reported == len(report.findings)
    frame = report.to_frame()
    assert frame["population"].sum() == len(report.populations)
    assert len(frame) == len(report.populations) + sum(depth)


def test_numbers_are_those_of_testing_the_label_alone():
    """The effect, the raw p-value and the table do not come from the regression."""
    frame = people(n=4000)
    _, report = discovered(frame)
    finding = next(f for f in report.populations if f.label == EVERYWHERE[0])
    rename = frame.select("s", pl.col(EVERYWHERE[0]).alias("o"))
    alone = ft.audit(rename, "s", "o", seed=1, contextual=[], population_share=0).populations[0]
    assert finding.effect == alone.effect
    assert finding.p_value_raw == alone.p_value_raw
    assert finding.table.counts == alone.table.counts
    assert finding.p_value >= finding.p_value_raw


def test_neither_order_of_columns_nor_form_of_the_labels_matters(two):
    _, report = two
    frame = people()
    shuffled = frame.select(["age", *LABELS[::-1], "plan", "s", "region"])
    sets = frame.select("s", "region", "plan", "age").with_columns(
        pl.Series("labels", [[LABELS[j] for j in np.flatnonzero(row)] for row in frame.select(LABELS).to_numpy()])
    )
    text = sets.with_columns(pl.col("labels").list.join("; ") + "; ")
    assert discovered(shuffled)[1].findings == report.findings
    for other, separator in ((sets, None), (text, ";")):
        source = ft.DataSource(other, seed=1)
        investigation = ft.Discovery(source, "s", "labels", separator=separator)
        ft.train([investigation])
        ft.test([investigation])
        assert ft.report([investigation])[0].findings == report.findings


def test_the_same_seed_gives_the_same_report(two):
    again = discovered(people())[1]
    assert again.to_json() == two[1].to_json()


def test_what_a_context_is_judged_by_does_not_hang_on_top_k(two):
    investigation, _ = two
    few = ft.Discovery(investigation.source, "s", LABELS, top_k=1)
    ft.train([few])
    one, many = few.training.found[0], investigation.training.found[0]
    assert one.looked_at == many.looked_at
    assert set(one.contexts) <= set(many.contexts)
    assert len(one.strongest) == 1
    assert one.strongest[0] == many.strongest[0]


def test_regression_ranks_the_cause_first():
    """A label that comes with another one shows the association too; the other one is ranked before it."""
    rng = np.random.default_rng(0)
    frame = people()
    cause = frame[EVERYWHERE[0]].to_numpy()
    follows = (cause & (rng.random(N) < 0.9)) | (rng.random(N) < 0.002)
    frame = frame.with_columns(pl.Series("a shadow", follows.astype(int)))
    source = ft.DataSource(frame, seed=1)
    investigation = ft.Discovery(source, "s", [*LABELS, "a shadow"])
    searcher = label_searcher(source, investigation.questions[0], TrainingRun(TrainingPlan(max_depth=1), 1))
    names = investigation.labels.names
    assert searcher.common.tolist() == list(range(len(names)))
    (z,), _ = searcher.contexts.evidence([Context()])
    (ranked,) = searcher.rank_labels([Context()], z[None])
    order = [names[i] for i in ranked]
    assert abs(z[names.index("a shadow")]) > 10
    assert set(order[:2]) == set(EVERYWHERE)
    assert order.index("a shadow") > 3


@pytest.mark.parametrize("search", ["auto", "forest"])
def test_it_does_not_matter_how_many_labels_are_counted_together(monkeypatch, search):
    source = ft.DataSource(people(n=3000), seed=1)
    found = []
    for most in (labels.MOST_CELLS, 1):
        monkeypatch.setattr(labels, "MOST_CELLS", most)
        investigation = ft.Discovery(source, "s", LABELS[-7:])
        ft.train([investigation], max_depth=2, search=search)
        found += investigation.training.found
    together, one_by_one = found
    assert len(set(together.contexts)) > 3
    assert together.contexts == one_by_one.contexts
    assert together.looked_at == one_by_one.looked_at
    assert together.outputs.tolist() == one_by_one.outputs.tolist()
    assert together.evidence.tolist() == one_by_one.evidence.tolist()


def test_an_explanatory_attribute_explains_a_label_away():
    rng = np.random.default_rng(2)
    frame = people()
    field = rng.random(N) < np.where(frame["s"].to_numpy() == "b", 0.8, 0.3)
    worn = rng.random(N) < np.where(field, 0.3, 0.02)
    frame = frame.with_columns(
        pl.Series("field", np.where(field, "sport", "law")), pl.Series(NOISE[0], worn.astype(int))
    )
    _, plain = discovered(frame)
    _, given = discovered(frame, explanatory="field")
    assert NOISE[0] in {f.label for f in plain.findings}
    assert NOISE[0] not in {f.label for f in given.findings}
    kept = next(f for f in given.findings if f.label == EVERYWHERE[0])
    assert len(kept.strata) == 2
    assert "COND-DIFF" in given.to_text()


def test_explain_asks_again_about_what_was_significant():
    frame = people().with_columns(pl.Series("field", np.random.default_rng(3).choice(["x", "y"], N)))
    investigation, report = discovered(frame, source={"budget": 3}, exclude=["field"])
    why = ft.explain(investigation, by="field")
    assert why.explanatory == ("field",)
    assert {f.label for f in why.populations} == {f.label for f in report.findings}
    assert set(EVERYWHERE) <= {f.label for f in why.findings}
    assert all(f.strata for f in why.findings)
    without = ft.explain(investigation, by="plan")
    assert not any("plan" in f.context.columns for f in without.findings)
    assert any("speak of plan themselves are left out" in note for note in without.notes)


def test_a_batch_with_testing_is_one_family():
    source = ft.DataSource(people(), seed=1)
    labels = ft.Discovery(source, "s", LABELS)
    age = ft.Testing(source, "s", "age")
    ft.train([labels, age])
    ft.test([labels, age])
    first, second = ft.report([labels, age])
    assert first.family == second.family == first.tested + second.tested
    assert not any(set(f.context.columns) & set(LABELS) for f in (*first.findings, *second.findings))
    assert not any("age" in f.context.columns for f in first.findings)


def test_audit_takes_labels():
    report = ft.audit(people(n=4000), "s", LABELS, top_k=5, min_size=200)
    assert report.kind == "discovery"
    assert report.labels.top_k == 5
    assert ft.audit(people(n=4000), "s", "noise*", top_k=5).labels.number == len(NOISE)


def test_rare_labels_are_left_out_and_counted():
    frame = people(n=4000)
    rare = {f"rare {i}": np.arange(4000) == i for i in range(7)}
    common = {"common": np.arange(4000) > 2}
    frame = frame.with_columns(**{k: pl.Series(v.astype(int)) for k, v in (rare | common).items()})
    source = ft.DataSource(frame, seed=1)
    investigation = ft.Discovery(source, "s", ["rare *", "common", *LABELS], min_people=30)
    ft.train([investigation])
    ft.test([investigation])
    report = ft.report([investigation])[0]
    assert report.attributes[0].rare == 8
    assert "8 labels that fewer than about 30 people have" in report.to_text()
    assert json.loads(report.to_json())["investigations"][0]["protected"][0]["rare"] == 8


def test_people_without_a_value_are_left_out_and_counted():
    frame = people(n=4000).with_columns(
        pl.when(pl.int_range(pl.len()) % 10 == 0).then(None).otherwise(pl.col("s")).alias("s")
    )
    frame = frame.with_columns(
        pl.when(pl.int_range(pl.len()) % 10 == 1).then(None).otherwise(pl.col(NOISE[0])).alias(NOISE[0])
    )
    _, report = discovered(frame)
    attribute = report.attributes[0]
    assert attribute.left_out + attribute.population.size == report.data.test
    assert attribute.left_out == pytest.approx(0.2 * report.data.test, rel=0.1)


def test_paper_preset_tests_the_labels_of_every_node():
    frame = people(n=6000)
    source = ft.DataSource(frame, seed=1, preset="paper")
    investigation = ft.Discovery(source, "s", LABELS, top_k=10)
    ft.train([investigation], preset="paper", max_depth=2)
    found = investigation.training.found[0]
    assert len(set(found.contexts)) > 3
    ft.test([investigation])
    report = ft.report([investigation])[0]
    assert report.settings.correction == "holm"
    assert set(EVERYWHERE) <= {f.label for f in report.findings}


@pytest.mark.parametrize(
    ("options", "source", "message"),
    [
        ({"top_k": 0}, {}, "'top_k' of Discovery must be a whole number of at least 1. Got 0"),
        ({"min_people": 2.5}, {}, "'min_people' of Discovery must be"),
        ({"metrics": "ETA"}, {}, "does not fit|cannot be used for labels"),
        ({}, {"split": False}, "split=False has none"),
        ({}, {"reuse": True, "budget": 3}, "cannot be put to a reusable test set"),
        ({"contextual": [NOISE[0]]}, {}, "named in two roles, 'output' and 'contextual'"),
    ],
)
def test_mistakes_are_told(options, source, message):
    with pytest.raises(ft.InputError, match=message):
        ft.Discovery(ft.DataSource(people(n=1000), **source), "s", LABELS, **options)


def test_only_rare_labels_are_an_error():
    source = ft.DataSource(people(n=1000))
    with pytest.raises(ft.InputError, match="None of the 44 labels is had by enough people"):
        ft.train([ft.Discovery(source, "s", LABELS, min_people=900)])


def test_nothing_found_says_so():
    frame = people(n=3000).select("s", "plan", *NOISE[:5])
    source = ft.DataSource(frame, seed=1)
    investigation = ft.Discovery(source, "s", list(NOISE[:5]))
    ft.train([investigation])
    ft.test([investigation])
    report = ft.report([investigation])[0]
    assert not report.findings
    assert "No link between any label and s could be confirmed" in report.to_text()
    assert "No label is confirmed over everyone" in report.to_html()
