"""The guided tree is Algorithm 1 of the paper, node for node, and finds what was planted."""

from __future__ import annotations

import datetime as dt
import math
from itertools import product

import numpy as np
import polars as pl
import pytest
from algorithm_1 import (
    ORDER,
    Algorithm1,
    correlation,
    difference,
    difference_bound,
    information,
    log_ratio,
    said,
    variation,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import fairtest as ft
from fairtest.data.holdout import TRAIN, Holdout
from fairtest.engine.memory import MemoryEngine
from fairtest.model.context import Context, Op
from fairtest.model.plans import TrainingPlan, TrainingRun
from fairtest.search import tree as tree_module
from fairtest.search.cuts import children, conditions_of, n_splits
from fairtest.search.proposals import Searcher
from fairtest.search.rows import RowScorer
from fairtest.search.scoring import Outputs, Strength, aggregate_score
from fairtest.search.tree import HistogramScorer, grow
from fairtest.types import SummaryKind

CHECKED = settings(deadline=None, max_examples=12)
SEEDS = st.integers(0, 2**32 - 1)
PAPER = {"score": "point", "aggregate": "avg"}


class Fixed(Holdout):
    """A split that is given."""

    def __init__(self, numbers):
        self._numbers = np.asarray(numbers, dtype=int)
        self._n_rows = self._numbers.size
        self.sizes = tuple(np.bincount(self._numbers, minlength=2).tolist())

    def rows_within(self, number, start, stop):
        return np.flatnonzero(self._numbers[start:stop] == number)


class Search:
    """One question about some columns, with a split of one's own; everybody trains if none is given."""

    def __init__(self, data, protected="s", output="o", *, numbers=None, metric=None, explanatory=None, **declared):
        self.source = ft.DataSource(data, **declared)
        n = self.source.table.n_rows
        self.source.holdout = Fixed(np.zeros(n) if numbers is None else numbers)
        asked = ft.Testing(self.source, protected, output, explanatory=explanatory, metrics=metric)
        self.question = asked.questions[0]
        self.engine = MemoryEngine(self.source.table, self.source.holdout)
        self.target = self.question.search_target(self.source)

    def grow(self, max_depth=3, min_people=5, **how):
        setting = TrainingRun(TrainingPlan(max_depth=max_depth, **how), min_people)
        axes = [a for c in self.question.contextual if (a := self.engine.axis(c)) is not None]
        metric = self.question.metric
        if metric.summary is SummaryKind.ROWS:
            scorer = RowScorer(self.engine, self.target, axes, metric, setting, self.source.table)
        else:
            strength = Strength(metric, setting.plan.score)
            scorer = HistogramScorer([Outputs(self.engine, strength)], self.target, axes, setting)
        return grow(scorer, self.source.table, setting)

    def sizes(self, found):
        conditions = conditions_of(found.contexts, self.engine.axis)
        return self.target.wrap(self.engine.tables(TRAIN, conditions, self.target)).size


ATTRIBUTES = {"city": "category", "flag": "category", "age": "number", "debt": "number", "grade": "ordered"}


def people(seed, kind="binary", strata=False):
    """Return random columns; the association hangs on a few of them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 220))

    def some(values, share):
        return [None if r < share else v for v, r in zip(values, rng.random(n), strict=True)]

    data = {
        "city": some(rng.choice(["a", "b", "c"], n).tolist(), 0.1),
        "flag": rng.choice([True, False], n).tolist(),
        "age": some(rng.integers(-3, 4, n).tolist(), 0.15),
        "debt": (np.round(rng.normal(size=n), 1)).tolist(),
        "grade": some(rng.choice(ORDER, n).tolist(), 0.05),
    }
    if strata:
        data["e"] = some(rng.choice(["p", "q"], n).tolist(), 0.05)
    inside = np.array([(a or 0) <= 0 for a in data["age"]]) & np.array([c != "b" for c in data["city"]])
    if kind == "binary":
        s = rng.choice(["f", "m"], n, p=[0.45, 0.55])
        rate = 0.4 + 0.4 * inside * (s == "f") - 0.3 * (np.array(data["flag"]) & (s == "m"))
        data["s"] = some(s.tolist(), 0.05)
        data["o"] = some(np.where(rng.random(n) < rate, "yes", "no").tolist(), 0.05)
        if "yes" not in data["o"][:2]:
            data["o"][:2] = ["yes", "no"]
    elif kind == "many":
        s = rng.choice(["x", "y", "z"], n)
        data["s"] = some(s.tolist(), 0.05)
        o = np.where(inside & (rng.random(n) < 0.6), s, rng.choice(["x", "y", "z", "w"], n))
        data["o"] = some(o.tolist(), 0.05)
    else:
        s = rng.normal(size=n)
        o = rng.normal(size=n) + inside * s
        if kind == "groups":
            data["s"] = some(np.where(s < -0.5, "x", np.where(s < 0.5, "y", "z")).tolist(), 0.05)
        else:
            data["s"] = some(s.tolist(), 0.05)
        data["o"] = some(o.tolist(), 0.05)
    return data


def declared(data):
    return {
        "ordered": {"grade": ORDER},
        "numeric": ["age", "debt"],
        **({"favourable": {"o": "yes"}, "reference": {"s": "m"}} if "yes" in data["o"] else {}),
    }


def as_rows(data):
    return [dict(zip(data, values, strict=True)) for values in zip(*data.values(), strict=True)]


CASES = {
    "DIFF": ("binary", difference),
    "RATIO": ("binary", log_ratio),
    "NMI": ("many", information),
    "CORR": ("numbers", correlation),
    "ETA": ("groups", variation),
}


@pytest.mark.parametrize("aggregate", ["avg", "weighted", "max"])
@pytest.mark.parametrize("metric", CASES)
def test_the_tree_is_algorithm_1_node_for_node(metric, aggregate):
    kind, naive = CASES[metric]
    grown = 0
    for seed in range(3):
        data = people(seed, kind)
        found = Search(data, metric=metric, **declared(data)).grow(3, 8, score="point", aggregate=aggregate)
        want = Algorithm1(as_rows(data), ATTRIBUTES, naive, min_size=8, max_depth=3, aggregate=aggregate)
        assert said(found) == want.found
        assert found.looked_at == want.looked_at
        grown += len(found.contexts)
    assert grown > 12  # trees, not stumps


@CHECKED
@given(SEEDS, st.integers(1, 4), st.integers(1, 40))
def test_depth_and_size_are_those_of_algorithm_1(seed, max_depth, min_size):
    data = people(seed)
    search = Search(data, metric="DIFF", **declared(data))
    found = search.grow(max_depth, min_size, **PAPER)
    want = Algorithm1(as_rows(data), ATTRIBUTES, difference, min_size=min_size, max_depth=max_depth)
    assert said(found) == want.found
    assert found.looked_at == want.looked_at
    assert (search.sizes(found)[1:] >= min_size).all()


@pytest.mark.parametrize(("metric", "kind", "naive"), [("DIFF", "binary", difference), ("NMI", "many", information)])
def test_the_tree_within_strata_is_algorithm_1_too(metric, kind, naive):
    for seed in range(3):
        data = people(seed, kind, strata=True)
        found = Search(data, metric=metric, explanatory="e", **declared(data)).grow(2, 8, **PAPER)
        want = Algorithm1(as_rows(data), ATTRIBUTES, naive, min_size=8, max_depth=2)
        assert said(found) == want.found


@pytest.mark.parametrize("aggregate", ["avg", "weighted", "max"])
def test_the_lower_bound_guides_the_same_recursion(aggregate):
    for seed in range(3):
        data = people(seed)
        found = Search(data, metric="DIFF", **declared(data)).grow(3, 8, score="bound", aggregate=aggregate)
        want = Algorithm1(as_rows(data), ATTRIBUTES, difference_bound, min_size=8, max_depth=3, aggregate=aggregate)
        assert said(found) == want.found
        assert found.looked_at == want.looked_at


def test_only_training_rows_are_looked_at():
    data = people(3)
    n = len(data["s"])
    numbers = np.random.default_rng(0).integers(0, 3, n)
    found = Search(data, metric="DIFF", numbers=numbers, **declared(data)).grow(3, 5, **PAPER)
    training = [r for r, k in zip(as_rows(data), numbers, strict=True) if k == TRAIN]
    assert said(found) == Algorithm1(training, ATTRIBUTES, difference, min_size=5, max_depth=3).found


def test_an_undefined_population_is_not_cut():
    data = {"s": ["f", "m"] * 40, "o": ["yes", "no", "no", "no"] * 20, "city": ["a", "b"] * 40}
    numbers = [0 if s == "f" else 1 for s in data["s"]]  # nobody else in training
    found = Search(data, metric="DIFF", numbers=numbers).grow(**PAPER)
    assert [str(c) for c in found.contexts] == ["everyone"]


def test_a_part_without_association_counts_as_none_and_is_no_context():
    """Cutting off people of one group must not pay by itself."""
    people_of = {"a": {"f": (2, 10), "m": (8, 10)}, "b": {"f": (5, 20), "m": (0, 0)}, "c": {"f": (5, 10), "m": (5, 10)}}
    rows = []
    for city, groups in people_of.items():
        for s, (hits, n) in groups.items():
            rows += [{"s": s, "o": "yes" if i < hits else "no", "city": city} for i in range(n)]
    data = {k: [r[k] for r in rows] for k in rows[0]}
    search = Search(data, metric="DIFF")
    average = search.grow(1, 5, score="point", aggregate="avg")
    assert said(average) == {frozenset()}  # (0.6 + 0 + 0) / 3 is less than in everybody
    best = search.grow(1, 5, score="point", aggregate="max")
    assert said(best) == {frozenset(), frozenset({("city", "==", "a")}), frozenset({("city", "==", "c")})}


@pytest.mark.parametrize(
    ("aggregate", "score"),
    [("avg", (0.5 + 0.25 + 0) / 3), ("weighted", (0.5 * 10 + 0.25 * 30 + 0 * 60) / 100), ("max", 0.5)],
)
def test_the_score_of_a_split(aggregate, score):
    """Of four parts one has no association to measure, and one is too small."""
    strength = np.array([[[0.5, 0.25, np.nan, np.nan]]])
    size = np.array([[[10, 30, 60, 2]]])
    got = aggregate_score(strength, size, size >= 5, np.array([0.1]), aggregate)
    assert got == pytest.approx(np.array([[score]]))
    for parent in (0.5, 0.9, math.nan):  # no part is stronger
        assert aggregate_score(strength, size, size >= 5, np.array([parent]), aggregate).tolist() == [[-math.inf]]
    nothing = np.full_like(strength, np.nan)
    assert aggregate_score(nothing, size, size >= 500, np.array([0.1]), aggregate).tolist() == [[-math.inf]]


# Planted trees


def planted():
    """Return people in exact shares: x ≤ 0, then y > −2, then city = B, then z missing, each stronger than the last."""
    hits_of_twenty = (1, 9, 14, 17, 19)
    columns = {k: [] for k in ("x", "y", "city", "z", "s", "o")}
    cells = product(
        (-1.5, -0.5, 0.0, 0.5, 1.5, 2.5), (-4.0, -3.25, -2.0, -1.0, 0.0, 3.0), "ABC", ("lo", "mid", "hi", None)
    )
    for x, y, city, z in cells:
        depth = 0
        for condition in (x <= 0, y > -2, city == "B", z is None):
            if not condition:
                break
            depth += 1
        for s, hits in (("m", hits_of_twenty[0]), ("f", hits_of_twenty[depth])):
            for k, v in (("x", x), ("y", y), ("city", city), ("z", z), ("s", s)):
                columns[k] += [v] * 20
            columns["o"] += ["yes"] * hits + ["no"] * (20 - hits)
    return columns


PLANTED = [
    {"everyone"},
    {"x ≤ 0", "x > 0"},
    {"x ≤ 0, y ≤ -2", "x ≤ 0, y > -2"},
    {f"city = {c}, x ≤ 0, y > -2" for c in "ABC"},
    {f"city = B, x ≤ 0, y > -2, {z}" for z in ("z = lo", "z = mid", "z = hi", "z missing")},
]
SPLIT = {"favourable": {"o": "yes"}, "reference": {"s": "m"}, "metric": "DIFF"}


@pytest.mark.parametrize("max_depth", [1, 2, 3, 4, 7])
def test_a_planted_tree_is_recovered_split_by_split(max_depth):
    found = Search(planted(), **SPLIT).grow(max_depth, 50)
    assert {str(c) for c in found.contexts} == set().union(*PLANTED[: max_depth + 1])


def test_every_context_of_a_planted_tree_is_cut_from_one_before_it():
    contexts = Search(planted(), **SPLIT).grow(7, 50).contexts
    assert contexts[0] == Context()
    for i, context in enumerate(contexts[1:], start=1):
        assert any(len(around) == len(context) - 1 and around.contains(context) for around in contexts[:i])


def test_the_smallest_contexts_of_a_planted_tree_fall_to_the_minimum_size():
    search = Search(planted(), **SPLIT)
    leaf = 3 * 3 * 40  # one city and one z within x ≤ 0 and y > −2
    assert any("z missing" in str(c) for c in search.grow(7, leaf).contexts)
    assert not any("z" in str(c) for c in search.grow(7, leaf + 1).contexts)
    assert search.grow(7, leaf - 0.5).looked_at == search.grow(7, leaf).looked_at


def test_a_planted_tree_of_numbers_is_recovered():
    columns = {k: [] for k in ("x", "y", "u", "s", "o")}
    for x, y, u in product((-3.0, -1.25, 0.5, 2.0), (-1.0, 0.0, 1.5), ("k", None)):
        r = 0.0 if x > -1.25 else 0.5 if y > 0 else 0.8 if u else 0.98
        for s, other in list(product((-1.0, 1.0), repeat=2)) * 15:
            for k, v in (("x", x), ("y", y), ("u", u), ("s", s), ("o", r * s + math.sqrt(1 - r * r) * other)):
                columns[k].append(v)
    found = Search(columns, metric="CORR", numeric=["x", "y", "s", "o"], categorical=["u"]).grow(6, 20)
    branches = ["x ≤ -1.25, y ≤ 0", "x ≤ -1.25, y > 0", "u missing, x ≤ -1.25, y ≤ 0", "u = k, x ≤ -1.25, y ≤ 0"]
    assert {str(c) for c in found.contexts} == {"everyone", "x ≤ -1.25", "x > -1.25", *branches}
    assert next(c for c in found.contexts if len(c) == 2).predicates[1].value == 0.0


# What the result must not hang on


def shuffled_columns(data, seed):
    names = list(np.random.default_rng(seed).permutation(list(data)))
    return {str(n): data[n] for n in names}


@CHECKED
@given(SEEDS, st.sampled_from(sorted(CASES)), st.booleans())
def test_the_order_of_columns_does_not_matter(seed, metric, paper):
    data = people(seed, CASES[metric][0])
    how = PAPER if paper else {}
    here = Search(data, metric=metric, **declared(data)).grow(3, 8, **how)
    there = Search(shuffled_columns(data, seed), metric=metric, **declared(data)).grow(3, 8, **how)
    assert here.contexts == there.contexts
    assert here.looked_at == there.looked_at


@CHECKED
@given(SEEDS, st.sampled_from(sorted(CASES)), st.booleans())
def test_the_order_of_rows_does_not_matter_given_the_split(seed, metric, paper):
    data = people(seed, CASES[metric][0])
    rng = np.random.default_rng(seed)
    n = len(data["s"])
    numbers, order = rng.integers(0, 2, n), rng.permutation(n)
    how = PAPER if paper else {}
    mixed = {k: [v[i] for i in order] for k, v in data.items()}
    here = Search(data, metric=metric, numbers=numbers, **declared(data)).grow(3, 4, **how)
    there = Search(mixed, metric=metric, numbers=numbers[order], **declared(data)).grow(3, 4, **how)
    assert here.contexts == there.contexts
    assert here.looked_at == there.looked_at


@CHECKED
@given(SEEDS, st.sampled_from(["DIFF", "RATIO", "NMI", "ETA"]), st.booleans())
def test_the_names_of_categories_do_not_matter(seed, metric, paper):
    data = people(seed, CASES[metric][0])
    how = PAPER if paper else {}
    rng = np.random.default_rng(seed)
    new = {k: {} for k in data}
    for column in ("city", "flag", "s", "o"):
        if column == "o" and metric == "ETA":
            continue
        values = sorted({v for v in data[column] if v is not None})
        names = rng.permutation([f"{c}{column}" for c in "zyxwvu"][: len(values)]).tolist()
        new[column] = dict(zip(values, names, strict=True))
    renamed = {k: [new[k].get(v, v) for v in values] for k, values in data.items()}
    names = declared(data)
    other = {
        **names,
        **{k: {c: new[c][v] for c, v in names[k].items()} for k in ("favourable", "reference") if k in names},
    }
    here = Search(data, metric=metric, **names).grow(3, 8, **how)
    there = Search(renamed, metric=metric, **other).grow(3, 8, **how)
    back = {c: {v: k for k, v in names.items()} for c, names in new.items()}
    assert said(here) == {
        frozenset((c, op, back[c].get(v, v) if op == "==" else v) for c, op, v in context) for context in said(there)
    }
    assert here.looked_at == there.looked_at


def test_groups_may_be_swapped_with_the_reference():
    data = people(11)
    for how in ({}, PAPER):
        trees = [
            said(
                Search(data, metric="DIFF", **{**declared(data), "reference": {"s": s}, "favourable": {"o": o}}).grow(
                    3, 8, **how
                )
            )
            for s in "fm"
            for o in ("yes", "no")
        ]
        assert trees[0] == trees[1] == trees[2] == trees[3]


def test_of_equal_columns_the_first_by_name_is_cut():
    data = planted()
    data |= {"zz": data["x"], "a": data["city"], "w": data["x"]}
    names = {c for context in Search(data, **SPLIT).grow(7, 50).contexts for c in context.columns}
    assert names == {"w", "y", "a", "z"}


def test_nodes_in_batches_give_the_same_tree(monkeypatch):
    for seed in range(2):
        data = people(seed)
        search = Search(data, metric="DIFF", **declared(data))
        whole = search.grow(4, 5)
        monkeypatch.setattr(tree_module, "MOST_CELLS", 1)
        one_by_one = search.grow(4, 5)
        monkeypatch.undo()
        assert whole.contexts == one_by_one.contexts
        assert whole.looked_at == one_by_one.looked_at


# People


def test_the_mask_of_a_context_is_the_people_the_engine_counts():
    rng = np.random.default_rng(6)
    n = 3000
    day = [dt.datetime(2019, 12, 1, 9) + dt.timedelta(hours=7 * int(h)) for h in rng.integers(0, 400, n)]
    frame = pl.DataFrame(
        {
            "s": rng.choice(["f", "m"], n),
            "pay": np.where(rng.random(n) < 0.1, np.nan, np.round(np.exp(rng.normal(8, 2, n)), 2)),
            "day": day,
            "code": rng.integers(0, 5, n),
            "flag": [None if r < 0.1 else r < 0.5 for r in rng.random(n)],
            "zip": [f"z{int(v):03d}" for v in np.minimum(rng.exponential(60, n), 239)],
            "grade": [None if r < 0.1 else ORDER[int(r * 3)] for r in rng.random(n)],
            "half": rng.choice([0.5, 1.5], n),
        },
        nan_to_null=True,
    )
    frame = frame.with_columns(o=pl.Series(rng.random(n) < 0.4))
    pandas = frame.to_pandas()
    numbers = rng.integers(0, 2, n)
    search = Search(frame, numbers=numbers, ordered={"grade": ORDER})
    predicates = []
    for name in search.question.contextual:
        axis = search.engine.axis(name)
        for split in {0, n_splits(axis) // 2, n_splits(axis) - 1}:
            parts = children(axis, split, search.source.table[name])
            predicates += [p for p, _ in parts if p.op is Op.IN] + [
                parts[i][0] for i in rng.permutation(len(parts))[:4]
            ]
    contexts = [Context.of([p]) for p in predicates]
    contexts += [
        Context.of([predicates[i] for i in pair]) for pair in rng.permutation(len(predicates))[:12].reshape(6, 2)
    ]
    assert {p.op for p in predicates} == {Op.AT_MOST, Op.ABOVE, Op.IS, Op.IN, Op.MISSING}
    for number in (TRAIN, 1):
        conditions = conditions_of(contexts, search.engine.axis)
        sizes = search.target.wrap(search.engine.tables(number, conditions, search.target)).size
        for context, size in zip(contexts, sizes, strict=True):
            assert context.mask(frame)[numbers == number].sum() == size, str(context)
            assert context.mask(pandas)[numbers == number].sum() == size, str(context)


def test_rare_levels_are_cut_together_and_a_long_pool_never():
    rng = np.random.default_rng(1)
    for rare, expected in ((40, True), (60, False)):
        frequent = np.repeat(np.arange(200), 6)
        town = np.concatenate([frequent, np.repeat(np.arange(200, 200 + rare), 4)])
        n = town.size
        s = rng.choice(["f", "m"], n)
        pooled = town >= 200
        o = np.where(pooled, s == "f", rng.random(n) < 0.5)
        found = Search({"s": s, "o": o, "town": [f"t{t:03d}" for t in town]}, metric="DIFF").grow(1, 30)
        named = [p for c in found.contexts for p in c.predicates if p.op is Op.IN]
        assert [len(p.value) for p in named] == ([rare] if expected else [])


# Metrics of one's own


def test_a_metric_of_people_grows_the_tree_of_the_same_metric(registry):
    @ft.metric("own", protected="numeric", output="numeric")
    def own(s, o, stratum):
        assert set(stratum.tolist()) <= {0}
        return np.corrcoef(s, o)[0, 1]

    for seed in range(3):
        data = people(seed, "numbers")
        for aggregate in ("avg", "weighted", "max"):
            how = {"score": "point", "aggregate": aggregate}
            here = Search(data, metric="CORR", **declared(data)).grow(2, 10, **how)
            there = Search(data, metric=own, **declared(data)).grow(2, 10, **how)
            assert here.contexts == there.contexts
            assert here.looked_at == there.looked_at


def test_a_metric_of_people_gets_numbers_as_the_user_knows_them(registry):
    seen = []

    @ft.metric("spy", protected="binary", output="numeric")
    def spy(s, o, stratum):
        seen.append((s.copy(), o.copy(), stratum.copy()))
        return np.nan

    data = {"s": ["f", "m", "m", None] * 10, "o": [2001.5, 2002.5, None, 1.0] * 10, "city": ["a"] * 20 + ["b"] * 20}
    found = Search(data, metric=spy, reference={"s": "m"}).grow(2, 5)
    assert [str(c) for c in found.contexts] == ["everyone"]
    s, o, stratum = seen[0]
    assert s.tolist() == [1, 0] * 10  # the reference first
    assert o.tolist() == [2001.5, 2002.5] * 10
    assert stratum.tolist() == [0] * 20
    assert found.looked_at == len(seen) == 3


def test_a_metric_of_counts_grows_the_tree_of_the_same_metric(registry):
    @ft.metric("gap", protected="binary", output="binary")
    def gap(counts):
        table = counts.sum(axis=-3)
        rates = table[..., 1, :] / table.sum(axis=-2)
        return rates[..., 1] - rates[..., 0]

    for seed in range(3):
        data = people(seed)
        here, there = (Search(data, metric=m, **declared(data)).grow(3, 8, **PAPER) for m in ("DIFF", "gap"))
        assert here.contexts == there.contexts
        assert here.looked_at == there.looked_at
        own = Search(data, metric="gap", **declared(data)).grow(3, 8)
        assert len(own.contexts) >= 1


def test_a_metric_of_people_refuses_more_than_it_can_handle(registry, monkeypatch):
    from fairtest.search import rows

    @ft.metric("mean of people", protected="numeric", output="numeric")
    def mean(s, o, stratum):
        return (s * o).mean()

    data = people(0, "numbers")
    monkeypatch.setattr(rows, "MOST_PEOPLE", 20)
    with pytest.raises(ft.InputError, match=r"The metric mean of people.*up to 20.*train_size"):
        Search(data, metric="mean of people", **declared(data)).grow()


@pytest.mark.parametrize(("correction", "times"), [("holm", 0), ("bh", 0), ("pooled", 1), ("weighted-holm", 1)])
def test_evidence_is_counted_once_and_only_if_it_weighs(monkeypatch, correction, times):
    rng = np.random.default_rng(2)
    people = {
        "group": rng.choice(["a", "b"], 3000),
        "place": rng.choice(["x", "y", "z"], 3000),
        "age": rng.integers(20, 60, 3000),
    }
    here = (people["group"] == "a") & (people["place"] == "x")
    people["hired"] = np.where(rng.random(3000) < 0.4 + 0.4 * here, "yes", "no")
    counted = []
    whole = Searcher.evidence
    monkeypatch.setattr(Searcher, "evidence", lambda self, contexts: counted.append(contexts) or whole(self, contexts))
    asked = ft.Testing(ft.DataSource(people), "group", "hired")
    ft.train(asked, search="tree")
    assert not counted
    ft.test(asked, correction=correction)
    assert len(counted) == times
    assert ft.report(asked)[0].reported
    [found] = asked.training.found
    assert found.evidence.shape == found.sign.shape == (len(found.contexts),)
    assert (found.evidence > 0).any()
    assert len(counted) == 1
