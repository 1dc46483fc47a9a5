"""The budget: each test set answers once, a failed run gives its set back, and a batch is one family."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from flaky_metric import Flaky

import fairtest as ft
from fairtest.inference.multiplicity.corrections import holm
from fairtest.statistics.rates.score import difference_interval, difference_p

PEOPLE = 2400


def people() -> pl.DataFrame:
    """Women in city P are hired and paid well less often; ``paid`` follows ``hired`` closely."""
    rng = np.random.default_rng(11)
    woman = rng.random(PEOPLE) < 0.45
    city = rng.choice(list("PQRS"), PEOPLE)
    hired = rng.random(PEOPLE) < np.where((city == "P") & woman, 0.15, 0.55)
    paid = np.where(rng.random(PEOPLE) < 0.9, hired, rng.random(PEOPLE) < 0.5)
    return pl.DataFrame(
        {
            "sex": np.where(woman, "f", "m"),
            "city": city,
            "job": rng.choice(list("JKL"), PEOPLE),
            "hired": hired,
            "paid": paid,
        }
    )


def source_of(**options) -> ft.DataSource:
    return ft.DataSource(people(), **{"train_size": 0.5, **options})


def trained(source: ft.DataSource, output: str = "hired", **options) -> ft.Testing:
    investigation = ft.Testing(source, "sex", output, **options)
    ft.train([investigation], min_size=60, search="tree")
    return investigation


def contexts_of(investigation: ft.Testing) -> tuple[ft.Context, ...]:
    return investigation.training.found[0].contexts


def two_by_two(frame: pl.DataFrame, output: str) -> tuple[int, int, int, int]:
    """Return the women with the output, the women, the men with it, the men."""
    woman, has = (frame["sex"] == "f").to_numpy(), frame[output].to_numpy()
    return int((woman & has).sum()), int(woman.sum()), int((~woman & has).sum()), int((~woman).sum())


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_every_set_answers_once_and_the_next_raises(budget):
    source = source_of(budget=budget)
    investigation = trained(source)
    sets = []
    for left in range(budget, 0, -1):
        assert source.budget.left == left
        ft.test([investigation])
        sets.append(ft.report([investigation])[0].settings.set)
    assert sets == list(range(1, budget + 1))
    last = ft.report([investigation])[0].to_json()
    with pytest.raises(ft.BudgetExhausted, match=f"budget={budget + 1}") as raised:
        ft.test([investigation])
    assert isinstance(raised.value, (ft.FairTestError, RuntimeError))
    assert ft.report([investigation])[0].to_json() == last


def test_an_exhausted_source_is_refused_before_anything_is_searched(monkeypatch):
    source = source_of()
    ft.audit(source, "sex", "hired", min_size=60, search="tree")

    def search(*_):
        raise AssertionError("there is nothing left to search for")

    monkeypatch.setattr("fairtest.pipeline.stages.find_contexts", search)
    with pytest.raises(ft.BudgetExhausted):
        ft.audit(source, "sex", "hired", min_size=60, search="tree")


def test_training_is_free():
    source = source_of()
    for _ in range(3):
        trained(source)
    assert source.budget.left == 1


def test_reporting_again_is_free():
    source = source_of(budget=2)
    investigation = trained(source)
    ft.test([investigation])
    assert len({ft.report([investigation])[0].to_json() for _ in range(3)}) == 1
    assert source.budget.left == 1


def test_each_set_has_people_of_its_own():
    source = source_of(budget=3, train_size=0.4)
    sets = [source.holdout.rows(number) for number in range(4)]
    assert [s.size for s in sets] == [960, 480, 480, 480]
    assert sorted(np.concatenate(sets)) == list(range(PEOPLE))
    investigation = trained(source)
    for number in (1, 2, 3):
        ft.test([investigation])
        report = ft.report([investigation])[0]
        # the question came first: over everybody, it is put to the training set too, once; groups to this set alone
        asked = np.concatenate((sets[0], sets[1])) if number == 1 else sets[number]
        x1, n1, x2, n2 = two_by_two(people()[asked], "hired")
        assert report.populations[0].table.counts == ((n2 - x2, n1 - x1), (x2, x1))
        here = people()[sets[number]]
        assert all(f.size == here.filter(f.context.mask(here)).height for f in report.findings)
        assert report.findings


@pytest.mark.parametrize(("conf", "budget"), [(0.95, 1), (0.95, 2), (0.99, 3), (0.8, 7)])
def test_the_level_of_each_set(conf, budget):
    source = source_of(conf=conf, budget=budget)
    investigation = trained(source)
    ft.test([investigation], correction="holm")
    report = ft.report([investigation])[0]
    level = (1 - conf) / budget
    assert report.settings.level == pytest.approx(level, rel=1e-12)
    assert report.to_dict()["settings"]["level"] == pytest.approx(level, rel=1e-12)
    population = report.populations[0]
    rows = np.concatenate((source.holdout.rows(0), source.holdout.rows(1)))
    table = [[v] for v in two_by_two(people()[rows], "hired")]
    low, high = difference_interval(*np.array(table)[:, None], alpha=level)
    assert population.interval_single == pytest.approx((low[0], high[0]), rel=1e-9)
    # half of the level is for the whole population
    low, high = difference_interval(*np.array(table)[:, None], alpha=level / 2)
    assert population.interval == pytest.approx((low[0], high[0]), rel=1e-9)
    assert all(f.significant == (f.p_value <= level) for f in (*report.findings, population))


def test_before_training_there_is_nothing_to_test():
    source = source_of()
    investigation = ft.Testing(source, "sex", "hired")
    with pytest.raises(ft.UsageError, match="train") as raised:
        ft.test([investigation])
    assert isinstance(raised.value, (ft.FairTestError, RuntimeError))
    assert source.budget.left == 1


def test_one_untrained_investigation_stops_the_batch():
    source = source_of()
    ready, untrained = trained(source), ft.Testing(source, "sex", "paid")
    with pytest.raises(ft.UsageError, match="train"):
        ft.test([ready, untrained])
    assert source.budget.left == 1
    assert ready.results is None


@pytest.mark.parametrize("call", [lambda i: ft.report([i]), lambda i: ft.explain(i, by="job")])
def test_before_testing_there_is_nothing_to_report_or_explain(call):
    source = source_of()
    investigation = trained(source)
    with pytest.raises(ft.UsageError, match="test"):
        call(investigation)
    assert source.budget.left == 1


def test_training_again_forgets_the_answer():
    """The answer was about other contexts; the set stays spent."""
    source = source_of(budget=2)
    investigation = trained(source)
    ft.test([investigation])
    ft.train([investigation], min_size=200)
    with pytest.raises(ft.UsageError):
        ft.report([investigation])
    assert source.budget.left == 1


@pytest.mark.parametrize("error", [ZeroDivisionError("in the metric"), KeyboardInterrupt()])
@pytest.mark.parametrize("answered_before", [False, True])
def test_a_run_that_fails_gives_its_set_back(error, answered_before):
    flaky = Flaky()
    metric = ft.metric("flaky gap", protected="binary", output="binary")(flaky)
    source = source_of(budget=2)
    investigation = trained(source, metrics=metric, contextual=["city"])
    if answered_before:
        ft.test([investigation])
    results, left = investigation.results, source.budget.left
    flaky.error = error
    with pytest.raises(type(error)):
        ft.test([investigation])
    assert source.budget.left == left
    assert investigation.results is results
    flaky.error = None
    ft.test([investigation])
    assert source.budget.left == left - 1
    assert ft.report([investigation])[0].settings.set == 2 - source.budget.left


@pytest.mark.parametrize("stage", ["validate", "Describer"])
def test_an_interrupt_anywhere_in_the_run_gives_the_set_back(monkeypatch, stage):
    source = source_of()
    first, second = trained(source), trained(source, "paid")
    ft.train([first, second])

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(f"fairtest.pipeline.answers.{stage}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ft.test([first, second])
    assert source.budget.left == 1
    assert first.results is None
    assert second.results is None
    ft.test([first, second])
    assert source.budget.left == 0


def test_a_search_that_fails_leaves_the_last_training_and_answer():
    flaky = Flaky()
    metric = ft.metric("flaky search", protected="binary", output="binary")(flaky)
    source = source_of(budget=2)
    investigation = trained(source, metrics=metric, contextual=["city"])
    ft.test([investigation])
    before = (investigation.training, investigation.results)
    flaky.error = ZeroDivisionError("in the metric")
    with pytest.raises(ZeroDivisionError):
        ft.train([investigation], min_size=60, search="tree")
    assert (investigation.training, investigation.results) == before
    assert source.budget.left == 1


def test_a_batch_shares_one_set_and_one_family():
    source = source_of()
    hired, paid = ft.Testing(source, "sex", "hired"), ft.Testing(source, "sex", "paid")
    ft.train([hired, paid], min_size=60, search="tree")
    ft.test([hired, paid], correction="holm")
    assert source.budget.left == 0
    reports = ft.report([hired, paid])
    frame = people()[source.holdout.rows(1)]
    raw = []
    for investigation in (hired, paid):
        # over everybody, on all people; in contexts, on those of the test set
        tables = [two_by_two(people(), investigation.output_name)]
        tables += [
            two_by_two(frame.filter(c.mask(frame)), investigation.output_name) for c in contexts_of(investigation)[1:]
        ]
        raw.append(difference_p(*(np.array([[t[k]] for t in tables]) for k in range(4))))
    assert sum(r.tested for r in reports) == sum(p.size for p in raw)
    assert min(p.size for p in raw) > 2
    populations = np.minimum(holm(np.array([p[0] for p in raw])) / 0.5, 1)
    inside = holm(np.concatenate([p[1:] for p in raw]))
    inside = np.minimum(np.minimum(inside / 0.5, np.maximum(inside, populations.max())), 1)
    parts = np.split(inside, [raw[0].size - 1])
    corrected = [np.concatenate(([first], rest)) for first, rest in zip(populations, parts, strict=True)]
    for investigation, report, p_raw, p in zip((hired, paid), reports, raw, corrected, strict=True):
        contexts = contexts_of(investigation)
        for found in (*report.populations, *report.findings):
            i = contexts.index(found.context)
            assert found.p_value_raw == pytest.approx(p_raw[i], rel=1e-9)
            assert found.p_value == pytest.approx(p[i], rel=1e-9)
        assert report.significant == np.count_nonzero(p <= source.level)
        assert report.findings, "nothing was found, nothing was compared"


def test_a_batch_corrects_more_than_each_alone():
    alone, together = source_of(), source_of()
    one = trained(alone, exclude="paid")
    ft.test([one], correction="holm")
    hired, paid = ft.Testing(together, "sex", "hired"), ft.Testing(together, "sex", "paid")
    ft.train([hired, paid], min_size=60, search="tree")
    ft.test([hired, paid], correction="holm")
    assert contexts_of(one) == contexts_of(hired)
    single, shared = ft.report([one])[0].findings[0], ft.report([hired, paid])[0].findings[0]
    assert single.context == shared.context
    assert single.p_value_raw == shared.p_value_raw
    assert single.p_value < shared.p_value
    assert single.interval_single == shared.interval_single
    assert shared.interval[0] < single.interval[0]
    assert single.interval[1] < shared.interval[1]


def test_a_report_for_each_investigation_of_the_batch():
    source = source_of()
    hired, paid = ft.Testing(source, "sex", "hired"), ft.Testing(source, "sex", "paid")
    ft.train([hired, paid], min_size=60, search="tree")
    ft.test([hired, paid], correction="holm")
    assert [r.output for r in ft.report([hired, paid])] == ["hired", "paid"]
    assert [r.output for r in ft.report([paid, hired])] == ["paid", "hired"]


def test_investigations_of_two_sources_are_no_batch():
    first, second = source_of(), source_of()
    one, two = trained(first), trained(second)
    for call in (ft.train, ft.test):
        with pytest.raises(ft.InputError, match="same DataSource"):
            call([one, two])
    assert (first.budget.left, second.budget.left) == (1, 1)
    assert one.results is None
    assert two.results is None


def test_the_output_of_another_investigation_is_no_context():
    """Alone, the search cuts by ``paid``, which tells so much; beside an investigation of ``paid`` it must not."""
    source = source_of(budget=2)
    alone = trained(source)
    assert any("paid" in c.columns for c in contexts_of(alone))
    hired, paid = ft.Testing(source, "sex", "hired"), ft.Testing(source, "sex", "paid")
    ft.train([hired, paid], min_size=60, search="tree")
    for investigation in (hired, paid):
        assert len(contexts_of(investigation)) > 1
        assert not any({"hired", "paid"} & c.columns for c in contexts_of(investigation))


def test_one_investigation_needs_no_list():
    source = source_of()
    investigation = ft.Testing(source, "sex", "hired")
    ft.train(investigation, min_size=60)
    ft.test(investigation)
    assert len(ft.report(investigation)) == 1


def test_what_was_trained_apart_is_not_tested_together():
    source = source_of()
    first, second = trained(source), trained(source, "paid")
    with pytest.raises(ft.UsageError, match=r"train\(\[a, b\]\)"):
        ft.test([first, second])
    assert source.budget.left == source.budget.size


def test_explaining_by_nothing_spends_nothing():
    source = source_of()
    investigation = trained(source)
    ft.test([investigation])
    left = source.budget.left
    with pytest.raises(ft.InputError, match="'by'"):
        ft.explain(investigation, by=[])
    assert source.budget.left == left
