"""A forest is trees on random subsets of attributes, counted together: the same as one by one, in whatever order."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.data.holdout import TRAIN
from fairtest.metrics.registry import named_metrics
from fairtest.model.context import Context, Op, Predicate
from fairtest.model.plans import TrainingPlan, TrainingRun
from fairtest.pipeline.search import engine_of
from fairtest.search import proposals
from fairtest.search.cuts import children, n_splits
from fairtest.search.forest import choices_of
from fairtest.search.scoring import Outputs, Strength
from fairtest.search.tree import HistogramScorer, LookedAt, grow, grow_trees, merge_trees

PEOPLE = 3000


def people(seed: int = 5) -> pl.DataFrame:
    """Return people among whom an attribute, ``loud``, hides what happens where two others meet."""
    rng = np.random.default_rng(seed)
    n = PEOPLE
    frame = {
        "city": rng.choice(["Paris", "Quito", "Rome"], n),
        "age": rng.integers(18, 80, n),
        "job": rng.choice(["judge", "knight", "lord", "monk"], n),
        "shift": rng.choice(["day", "night"], n),
        "loud": rng.choice(["yes", "no"], n),
        "grade": rng.choice(["a", "b", "c"], n),
        "sex": rng.choice(["f", "m"], n),
    }
    woman = frame["sex"] == "f"
    hidden = (frame["city"] == "Rome") & (frame["job"] == "lord")
    rate = 0.5 - woman * (0.35 * (frame["loud"] == "yes") + 0.3 * hidden)
    return pl.DataFrame({**frame, "hired": np.where(rng.random(n) < rate, "yes", "no")})


class Search:
    """One question put to the training set."""

    def __init__(self, **how) -> None:
        self.source = ft.DataSource(people(), train_size=0.6, seed=3)
        self.question = ft.Testing(self.source, "sex", "hired").questions[0]
        self.engine = engine_of(self.source)
        self.target = self.question.search_target(self.source)
        self.axes = [a for c in self.question.contextual if (a := self.engine.axis(c)) is not None]
        few = how.pop("attributes_per_node", None)
        plan = TrainingPlan(max_depth=3, search="forest", trees=6, attributes_per_node=few)
        self.settings = TrainingRun(plan, 30, seed=3, **how)

    def scorer(self) -> HistogramScorer:
        strength = Strength(self.question.metric, self.settings.plan.score)
        return HistogramScorer([Outputs(self.engine, strength)], self.target, self.axes, self.settings)


def contexts_of(nodes) -> list[Context]:
    return [node.context for node in nodes]


def trained(frame: pl.DataFrame | None = None, seed: int = 3, **how):
    source = ft.DataSource(people() if frame is None else frame, train_size=0.6, seed=seed)
    asked = ft.Testing(source, "sex", "hired")
    ft.train([asked], max_depth=3, min_size=50, **{"search": "forest", "trees": 6, **how})
    return asked.training.found[0]


def same(a, b) -> bool:
    return (
        a.contexts == b.contexts
        and a.looked_at == b.looked_at
        and np.array_equal(a.evidence, b.evidence)
        and np.array_equal(a.sign, b.sign)
    )


def test_trees_that_grow_together_are_those_that_grow_alone() -> None:
    search = Search()
    choices = choices_of(search.axes, search.settings)
    together = grow_trees(search.scorer(), search.source.table, search.settings, choices)
    alone = [grow_trees(search.scorer(), search.source.table, search.settings, [choice])[0] for choice in choices]
    assert len({tuple(contexts_of(nodes)) for nodes in alone}) > 3
    for a, b in zip(together, alone, strict=True):
        assert contexts_of(a) == contexts_of(b)
        assert [(n.parent, n.strength) for n in a] == [(n.parent, n.strength) for n in b]


def test_the_first_tree_is_the_guided_tree_and_the_others_keep_to_their_attributes() -> None:
    search = Search(attributes_per_node=2)
    choices = choices_of(search.axes, search.settings)
    trees = grow_trees(search.scorer(), search.source.table, search.settings, choices)
    plain = grow(search.scorer(), search.source.table, search.settings)
    assert merge_trees(trees[:1], LookedAt()).contexts == plain.contexts
    for nodes, choice in zip(trees[1:], choices[1:], strict=True):
        for node in nodes[1:]:
            around = nodes[node.parent].context
            new = node.context.columns - around.columns or {
                p.column for p in node.context.predicates if p not in around.predicates
            }
            assert new <= choice(around)
            assert len(choice(around)) == 2


def test_a_wide_tree_cuts_its_strongest_populations_only() -> None:
    wide, narrow = Search(widest=None), Search(widest=3)
    everything = grow_trees(wide.scorer(), wide.source.table, wide.settings, [None])[0]
    scorer = narrow.scorer()
    nodes = grow_trees(scorer, narrow.source.table, narrow.settings, [None])[0]
    depth = [0]
    for node in nodes[1:]:
        depth.append(depth[node.parent] + 1)
    assert set(contexts_of(nodes)) < set(contexts_of(everything))
    whole = {node.context: node.strength for node in everything}
    assert all(node.strength == whole[node.context] for node in nodes)  # counted right after others were left out
    cut = {node.parent for node in nodes[1:]}
    uncut = 0
    for level in (1, 2):
        here = sorted((i for i in range(len(nodes)) if depth[i] == level), key=lambda i: (-nodes[i].strength, i))
        assert {i for i in here if i in cut} <= set(here[:3])
        uncut += max(len(here) - 3, 0)
    assert scorer.looked_at.uncut == uncut > 0
    assert f"{uncut:,} weaker ones" in merge_trees([nodes], scorer.looked_at).notes[0]


def test_trees_that_grow_together_are_bounded_one_by_one() -> None:
    search = Search(widest=2)
    choices = choices_of(search.axes, search.settings)
    together = grow_trees(search.scorer(), search.source.table, search.settings, choices)
    alone = [grow_trees(search.scorer(), search.source.table, search.settings, [choice])[0] for choice in choices]
    for a, b in zip(together, alone, strict=True):
        assert [(n.context, n.parent, n.strength) for n in a] == [(n.context, n.parent, n.strength) for n in b]


def test_each_candidate_is_counted_once() -> None:
    search = Search()
    choices = choices_of(search.axes, search.settings)
    scorer = search.scorer()
    trees = grow_trees(scorer, search.source.table, search.settings, choices)
    frame = people().filter(pl.Series(np.isin(np.arange(PEOPLE), search.source.holdout.rows(TRAIN))))
    cuts = set()
    for nodes, choice in zip(trees, choices, strict=True):
        depth = {0: 0}
        for i, node in enumerate(nodes[1:], start=1):
            depth[i] = depth[node.parent] + 1
        cuts |= {(n.context, c) for i, n in enumerate(nodes) if depth[i] < 3 for c in choice(n.context)}
    looked_at = 1
    for context, column in cuts:
        inside = context.mask(frame)
        axis = search.engine.axis(column)
        for split in range(n_splits(axis)):
            parts = [Context((p,)).mask(frame) for p, _ in children(axis, split, search.source.table[column])]
            looked_at += sum(int((inside & part).sum()) >= 30 for part in parts)
    assert scorer.looked_at.total == looked_at


def test_how_many_trees_fit_in_memory_does_not_matter(monkeypatch) -> None:
    found = trained()
    for rows in (1, 2 * PEOPLE):
        monkeypatch.setattr(proposals, "MOST_ROWS", rows)
        assert same(trained(), found)


def test_the_order_of_columns_does_not_matter() -> None:
    frame = people()
    assert same(trained(frame.select(frame.columns[::-1])), trained(frame))


def test_the_seed_decides() -> None:
    search = Search()
    plan = TrainingPlan(search="forest", trees=4)
    drawn = [choices_of(search.axes, TrainingRun(plan, 30, seed=seed)) for seed in (0, 0, 1)]
    first, again, other = ([choice(Context()) for choice in choices] for choices in drawn)
    assert first == again
    assert first != other
    assert len(set(first)) > 2  # the trees differ from each other


def test_a_forest_finds_what_hides_behind_a_stronger_attribute() -> None:
    def speaks_of(found) -> bool:
        wanted = {Predicate("city", Op.IS, "Rome"), Predicate("job", Op.IS, "lord")}
        return any(wanted <= set(c.predicates) and "loud" not in c.columns for c in found.contexts)

    assert not speaks_of(trained(search="tree", trees=None))
    assert speaks_of(trained(trees=16))


def test_evidence_is_that_of_the_same_contexts_in_a_tree() -> None:
    tree, forest = trained(search="tree", trees=None), trained()
    known = dict(zip(forest.contexts, forest.evidence, strict=True))
    assert [known[c] for c in tree.contexts] == tree.evidence.tolist()
    assert len(forest.contexts) > len(tree.contexts)
    assert forest.looked_at > tree.looked_at


def test_report_says_how_the_forest_was_made() -> None:
    report = ft.audit(people(), "sex", "hired", search="forest", trees=3, max_depth=2, train_size=0.6)
    assert (report.settings.search, report.settings.trees) == ("forest", 3)
    assert "trees 3" in report.to_text()
    again = ft.audit(people(), "sex", "hired", search="forest", trees=3, max_depth=2, train_size=0.6)
    assert report.to_json() == again.to_json()


def test_labels_too() -> None:
    rng = np.random.default_rng(2)
    frame = people()
    has = rng.random((PEOPLE, 6)) < 0.3
    has[:, 0] |= (frame["sex"] == "f").to_numpy() & (frame["city"] == "Rome").to_numpy()
    tags = [";".join(f"tag{j}" for j in np.flatnonzero(row)) for row in has]
    found = {}
    for search in ("tree", "forest"):
        asked = ft.Discovery(
            ft.DataSource(frame.with_columns(tags=pl.Series(tags)), train_size=0.6), "sex", "tags", separator=";"
        )
        ft.train([asked], max_depth=2, search=search)
        found[search] = asked.training.found[0]
    assert set(found["tree"].contexts) <= set(found["forest"].contexts)
    assert len(set(found["forest"].contexts)) > len(set(found["tree"].contexts))
    assert found["forest"].looked_at > found["tree"].looked_at


def test_a_metric_of_people_too() -> None:
    before = dict(named_metrics())
    try:

        @ft.metric("gap", protected="binary", output="numeric")
        def gap(protected, output, stratum):
            return np.corrcoef(protected, output)[0, 1]

        counts = {}
        for search in ("tree", "forest"):
            asked = ft.Testing(ft.DataSource(people()), "sex", "age", metrics=gap, contextual=["city", "job", "grade"])
            ft.train([asked], max_depth=2, search=search)
            counts[search] = set(asked.training.found[0].contexts)
        assert counts["tree"] <= counts["forest"]
    finally:
        named_metrics().clear()
        named_metrics().update(before)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "many"])
@pytest.mark.parametrize("argument", ["trees", "attributes_per_node"])
def test_bad_numbers(argument: str, wrong) -> None:
    with pytest.raises(ft.InputError, match=f"'{argument}' of train must be a whole number of at least 1"):
        trained(**{argument: wrong})


@pytest.mark.parametrize("argument", ["trees", "attributes_per_node"])
def test_options_of_a_forest_need_one(argument: str) -> None:
    with pytest.raises(ft.InputError, match="search='forest'"):
        trained(**{"trees": None, argument: 4, "search": "tree"})
