"""What a report lists beside its findings: significant contexts that are not reported, and the guided tree."""

from __future__ import annotations

import numpy as np
import pytest

import fairtest as ft
from fairtest.datasets.pricing import pricing
from fairtest.ranking.listed import MOST_LISTED, MOST_NODES

ROLES = {"favourable": {"discount": "Yes"}, "reference": {"income": "high"}}


@pytest.fixture(scope="module")
def shop():
    return pricing(12_000)


def audited(shop, **how):
    return ft.audit(shop, "income", "discount", seed=1, **ROLES, **how)


@pytest.mark.parametrize("search", ["auto", "tree", "exhaustive"])
def test_others_are_no_findings_and_are_few(shop, search):
    [about] = audited(shop, search=search).attributes
    contexts = [other.context for other in about.others]
    assert len(set(contexts)) == len(contexts)
    assert not {f.context for f in (about.population, *about.findings)} & set(contexts)
    assert len(about.unreported) <= MOST_LISTED + MOST_NODES
    assert about.significant == about.reported + len(about.unreported) + about.unlisted
    assert any(other.guided for other in about.others) == (search != "exhaustive")
    assert all(other.p_value <= 0.05 for other in about.unreported)


def test_others_stand_under_what_they_repeat_the_largest_first():
    rng = np.random.default_rng(0)
    n = 6_000
    woman, a, b = rng.random(n) < 0.5, rng.choice(list("xyz"), n), rng.integers(0, 20, n)
    gap = np.where(a == "x", 0.35, np.where(b > 14, -0.3, 0.0))
    out = rng.random(n) < 0.5 + np.where(woman, 0.5, -0.5) * gap
    columns = {"sex": np.where(woman, "f", "m"), "a": a, "b": b, "c": rng.choice(list("pq"), n), "out": out}
    [about] = ft.audit(columns, "sex", "out", seed=1).attributes
    contexts = [finding.context for finding in about.inside]
    cards = [contexts.index(o.part_of) if o.part_of in contexts else len(contexts) for o in about.unreported]
    assert cards == sorted(cards)
    assert len(set(cards)) > 2
    for card in set(cards):
        sizes = [other.size for other, own in zip(about.unreported, cards, strict=True) if own == card]
        assert sizes == sorted(sizes, reverse=True)
    folded = {f.context: f.folded for f in about.inside}
    for context, number in folded.items():
        assert sum(other.part_of == context for other in about.unreported) <= number


def test_numbers_of_others_are_those_of_their_people(shop):
    report = audited(shop)
    [about] = report.attributes
    source = ft.DataSource(shop, seed=1, **ROLES)
    test = shop[source.holdout.rows(1).tolist()]
    tested = [other for other in about.others if other.effect is not None]
    assert tested
    for other in about.others:
        people = test.filter(other.context.mask(test))
        assert people.height == other.size
        if other.effect is not None:
            groups = [people.filter(people["income"] == group)["discount"] for group in ("low", "high")]
            rates = [(outputs == "Yes").mean() for outputs in groups]
            assert other.effect == pytest.approx(rates[0] - rates[1])


def test_nodes_that_were_not_tested_have_a_size_and_nothing_else(shop):
    [about] = audited(shop).attributes
    untested = [other for other in about.others if other.effect is None]
    assert all(o.guided and not o.significant and o.interval is None and o.p_value is None for o in untested)
    nodes = [other.context for other in about.others if other.guided and other.effect is not None]
    assert all(any(other.context.contains(node) for node in nodes) for other in untested)


def test_gap_and_ratio_have_intervals(shop):
    report = audited(shop)
    for finding in (*report.populations, *report.findings):
        assert finding.gap == pytest.approx(finding.effect)
        assert finding.gap_interval == pytest.approx(finding.interval_single)
        assert finding.ratio_interval[0] <= finding.ratio <= finding.ratio_interval[1]


def test_the_gap_of_everybody_stays_beside_the_one_given_a_column(shop):
    report = audited(shop, explanatory="race")
    [population] = report.populations
    high, low = population.table.counts[1]
    people = [sum(column) for column in zip(*population.table.counts, strict=True)]
    assert population.gap == pytest.approx(low / people[1] - high / people[0])
    assert population.gap_interval[0] <= population.gap <= population.gap_interval[1]
    assert population.ratio is None


@pytest.mark.parametrize(("values", "how"), [((0, 1), "true"), ((False, True), "true"), (("no", "yes"), "rarer")])
def test_how_the_favourable_output_is_known(values, how):
    rng = np.random.default_rng(0)
    data = {"g": rng.choice(["a", "b"], 600).tolist(), "out": [values[i] for i in rng.integers(0, 2, 600)]}
    import polars as pl

    frame = pl.DataFrame(data)
    report = ft.audit(frame, "g", "out")
    assert report.favourable_is == how
    assert "impact ratio" not in report.to_html().lower()
    declared = ft.audit(frame, "g", "out", favourable={"out": values[0]})
    assert declared.favourable_is == "declared"
    assert "impact ratio" in declared.to_html().lower()
    assert len(repr(report)) < 120
