"""What is shown of what is significant: people whose truth is known, through the public interface."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from calibration.shops import SCENARIOS
from fairtest.data.source import DataSource
from fairtest.pipeline.search import engine_of
from fairtest.ranking.choice import Shown
from fairtest.ranking.crowd import Crowd
from fairtest.ranking.pricing import Prices
from fairtest.ranking.shown import Chooser
from fairtest.search.cuts import conditions_of

N = 12_000


def shop(gap, n=N, seed=0, **more):
    """Return people of two incomes whose rates differ by ``gap(columns)``."""
    rng = np.random.default_rng(seed)
    columns = {
        "region": rng.choice(["North", "South", "West"], n, p=[0.4, 0.35, 0.25]),
        "city": rng.choice(["urban", "rural"], n, p=[0.4, 0.6]),
        "age": rng.integers(18, 80, n),
        "device": rng.choice(["phone", "laptop"], n),
        **{name: make(rng, n) for name, make in more.items()},
    }
    low = rng.random(n) < 0.5
    rate = 0.4 + np.where(low, 0.5, -0.5) * gap(columns)
    return pl.DataFrame(
        {**columns, "income": np.where(low, "low", "high"), "yes": np.where(rng.random(n) < rate, "Yes", "No")}
    )


def audit(frame, **how):
    return ft.audit(frame, "income", "yes", favourable={"yes": "Yes"}, reference={"income": "high"}, **how)


def named(report):
    return [str(f.context) for f in report.findings]


def test_a_planted_group_is_shown_alone():
    report = audit(shop(lambda c: 0.35 * (c["region"] == "West")))
    assert named(report) == ["region = West"]
    (found,) = report.findings
    assert found.folded > 0
    assert found.confirmed == (True,)


def test_what_is_the_same_everywhere_is_told_once():
    report = audit(shop(lambda c: np.full(N, 0.15)))
    assert report.populations[0].significant
    assert report.findings == ()


def test_a_part_that_is_stronger_stands_inside_the_larger_one():
    west = lambda c: c["region"] == "West"  # noqa: E731
    report = audit(shop(lambda c: 0.2 * west(c) + 0.4 * (west(c) & (c["city"] == "urban")), n=30_000))
    inside = {str(f.context): None if f.inside is None else str(f.inside) for f in report.findings}
    assert inside == {"region = West": None, "city = urban, region = West": "region = West"}


def test_opposite_groups_are_both_shown_and_nothing_is_left():
    report = audit(shop(lambda c: np.where(c["city"] == "urban", 0.3, -0.25)))
    assert sorted(named(report)) == ["city = rural", "city = urban"]
    attribute = report.attributes[0]
    assert not attribute.everywhere
    assert attribute.elsewhere is None or attribute.elsewhere.size == 0


def test_everywhere_and_more_so_in_a_group():
    report = audit(shop(lambda c: np.where(c["region"] == "West", 0.45, 0.12), n=30_000, seed=2))
    attribute = report.attributes[0]
    assert named(report) == ["region = West"]
    assert attribute.everywhere
    low, high = attribute.elsewhere.interval
    assert low <= 0.12 <= high
    assert attribute.elsewhere.size + report.findings[0].size == report.data.test


def test_a_weak_gap_that_is_the_same_everywhere_is_not_laid_to_a_group():
    """Few people are outside a lucky group: that they show nothing does not make it the group's gap."""
    reports = [audit(shop(lambda c: np.full(4_000, 0.06), n=4_000, seed=seed), seed=seed) for seed in range(24)]
    assert sum(report.populations[0].significant for report in reports) >= 20
    assert sum(bool(report.findings) for report in reports) <= 1


def test_a_link_that_two_groups_hold_is_theirs_though_some_is_left_outside():
    """In the other regions a weak gap remains, far from half of everybody's: it is not called everybody's gap."""
    gap = {"North": 0.02, "South": 0.02, "West": 0.4}
    frame = shop(lambda c: np.vectorize(gap.get)(c["region"]), n=60_000, seed=3)
    attribute = audit(frame).attributes[0]
    assert [str(f.context) for f in attribute.inside] == ["region = West"]
    assert not attribute.everywhere
    assert 0 < attribute.elsewhere.interval[0] < attribute.elsewhere.interval[1] < attribute.population.effect / 2


def test_a_group_that_is_hardly_stronger_than_everybody_is_no_news():
    """Surely stronger, by a tenth of the gap of everybody: there is nothing to tell of it."""
    gap = lambda c: np.where(c["region"] == "North", 0.3, 0.36)  # noqa: E731
    report = audit(shop(gap, n=200_000, seed=4))
    assert report.attributes[0].everywhere
    assert report.findings == ()
    stronger = audit(shop(lambda c: np.where(c["region"] == "North", 0.1, 0.36), n=60_000, seed=4))
    assert set(named(stronger)) & {"region = South", "region = West"}


def test_a_condition_that_adds_nothing_on_the_test_set_is_left_out(monkeypatch):
    """Training likes phones in western cities better, by luck; the test set hardly sees a difference."""
    people, _ = SCENARIOS["proxy"].draw(np.random.default_rng([5002, *b"proxy"]), 20_000)

    def names():
        return named(ft.audit(people, "income", "discount", reference={"income": "high"}, seed=5002))

    assert names() == ["city = urban, region = West"]
    monkeypatch.setattr(Chooser, "_is_worth_more", lambda *_: True)
    assert names() == ["city = urban, device = phone, region = West"]


def test_a_group_that_training_saw_clearly_need_not_pay_the_whole_price(monkeypatch):
    """With evidence, less than the price is required against everybody; without a training set, the price."""
    seen = []
    choose = Chooser.choose

    def remember(self, *, confirmed, sign):
        known = self._candidates
        seen.append((known.required, known.prices.deviates_from_everybody))
        return choose(self, confirmed=confirmed, sign=sign)

    monkeypatch.setattr(Chooser, "choose", remember)
    frame = shop(lambda c: np.where(c["region"] == "West", 0.3, 0.12), n=8_000, seed=1)
    report = audit(frame)
    ((required, price),) = seen
    assert report.attributes[0].everywhere
    assert named(report) == ["region = West"]
    assert (required <= price).all()
    assert (required < price).any()
    assert (required > 1.96).all()


def test_single_intervals_are_left_out_where_the_correction_lets_flukes_in():
    frame = shop(lambda c: 0.35 * (c["region"] == "West"))
    strict, lenient = (audit(frame, correction=name).findings[0] for name in ("holm", "bh"))
    assert strict.interval_single is not None
    assert lenient.interval is not None
    assert lenient.interval_single is None


def test_single_intervals_are_left_out_where_a_group_is_rare():
    frame = shop(lambda c: 0.5 * (c["region"] == "West"), n=30_000)
    few = frame.filter((pl.col("income") == "high") | (pl.int_range(pl.len()) % 15 == 0))
    common, rare = (audit(people).findings[0] for people in (frame, few))
    assert common.table.rarest > 0.3
    assert common.interval_single is not None
    assert rare.table.rarest < 0.1
    assert rare.interval_single is None
    assert rare.interval is not None


def test_groups_with_an_unclear_interval_come_last():
    chosen = Shown(((3, 8), (5,), (2,), (7,)), (None, None, 3, None), ((True,), (False,), (True, True), ()), True)
    bound = np.array([0.1, 0.0, 0.2, 0.0, 0.0, 0.3, 0.0, np.nan, 0.0])
    shown = chosen.put_clear_first(bound)
    assert shown.groups == ((5,), (2,), (7,), (3, 8))
    assert shown.inside == (None, 3, None, None)
    assert shown.confirmed == ((False,), (True, True), (), (True,))
    assert shown.everywhere


def test_the_order_of_columns_and_names_of_categories_leave_no_trace():
    frame = shop(lambda c: 0.3 * (c["region"] == "West"))
    other = frame.select(reversed(frame.columns)).with_columns(pl.col("region").replace({"West": "Aest"}))
    assert [f.effect for f in audit(frame).findings] == [f.effect for f in audit(other).findings]


def test_whoever_is_shown_may_stand_beside_all_the_others(monkeypatch):
    rng = np.random.default_rng(6)
    frame, ends = overlapping(rng), []
    refine = Chooser._refine

    def remember(self, chosen, *, base):
        ends.append((self, refine(self, chosen, base=base), base))
        return ends[-1][1]

    monkeypatch.setattr(Chooser, "_refine", remember)
    assert len(audit(frame).findings) > 2
    for chooser, chosen, base in ends:
        assert chooser._first_superfluous(chosen.members, chosen.cells, base=base) is None


def overlapping(rng, n=8000):
    """Return people with several groups that overlap, in which parts replace what contains them and it comes back."""
    columns = {
        "region": rng.choice(["N", "S", "W", "E"], n, p=[0.4, 0.3, 0.15, 0.15]),
        "city": rng.choice(["u", "r"], n, p=[0.4, 0.6]),
        "age": rng.integers(18, 80, n),
        "device": rng.choice(["p", "l"], n),
        "tenure": rng.exponential(3, n).round(1),
    }
    gap = np.zeros(n)
    for _ in range(rng.integers(2, 6)):
        inside = np.ones(n, bool)
        for place in rng.choice(5, rng.integers(1, 4), replace=False):
            values = list(columns.values())[place]
            if values.dtype.kind in "if":
                threshold = np.quantile(values, rng.uniform(0.2, 0.8))
                inside &= (values <= threshold) if rng.random() < 0.5 else values > threshold
            else:
                inside &= values == rng.choice(np.unique(values))
        gap += inside * rng.uniform(0.15, 0.4) * rng.choice([1, 1, 1, -1])
    low = rng.random(n) < 0.5
    yes = rng.random(n) < np.clip(0.45 + np.where(low, 0.5, -0.5) * gap, 0, 1)
    return pl.DataFrame({**columns, "income": np.where(low, "low", "high"), "yes": np.where(yes, "Yes", "No")})


def test_levels_of_comparisons_are_divided_among_all_that_a_set_answers(monkeypatch):
    levels = []
    among = Prices.among.__func__

    def remember(cls, contexts, proposed, level):
        levels.append(level)
        return among(cls, contexts, proposed, level)

    monkeypatch.setattr(Prices, "among", classmethod(remember))
    frame = shop(lambda c: 0.3 * (c["region"] == "West"), n=4_000)
    ft.audit(frame, ["income", "device"], "yes")
    assert levels == [0.025, 0.025]
    levels.clear()
    labels = frame.with_columns(no=pl.col("yes") == "No", yes=pl.col("yes") == "Yes")
    ft.audit(labels, "income", ["yes", "no"])
    assert levels == [0.025, 0.025]


@pytest.mark.parametrize("metric", ["DIFF", "NMI", "CORR"])
@pytest.mark.parametrize("explanatory", [None, "device"])
def test_sums_of_a_crowd_are_those_of_contexts(metric, explanatory):
    frame = shop(lambda c: 0.3 * (c["region"] == "West"), n=2_000).with_columns(
        pl.Series("pay", np.random.default_rng(1).gamma(2, 3, 2_000))
    )
    source = DataSource(frame)
    output = "pay" if metric == "CORR" else "yes"
    question = ft.Testing(source, "income", output, explanatory=explanatory, metrics=metric).questions[0]
    engine, target = engine_of(source), question.search_target(source)
    contexts = [ft.Context.of([p]) for p in map(_predicate, ("region = West", "city = urban", "age > 40"))]
    both = [*contexts, ft.Context.of(contexts[0].predicates + contexts[1].predicates)]
    engine.axes(["region", "city", "age"])
    conditions = conditions_of(both, engine.axis)
    crowd = Crowd(engine, 1, target, conditions[:3])
    tables = engine.tables(1, conditions, target)
    within = np.moveaxis(crowd.sums_within(np.stack((crowd.everyone, crowd.members[0]))), (-2, -1), (0, 1))
    np.testing.assert_array_equal(within[0], tables[:3])
    np.testing.assert_array_equal(within[1, 1], tables[3])
    both = crowd.totals(np.stack((crowd.everyone, crowd.members[0] & crowd.members[1])))
    np.testing.assert_array_equal(both, np.stack((engine.total(1, target), tables[3])))


def _predicate(text):
    column, op, value = text.split()
    if op == "=":
        return ft.Predicate(column, "==", value)
    thresholds = {18: 40}
    return ft.Predicate(column, ">", thresholds.get(int(value), int(value)))
