"""What people contribute: their sum is the statistic, and its covariance that of a plain computation."""

from __future__ import annotations

import numpy as np
import pytest

import fairtest as ft
from fairtest.data.summaries import Counts, GroupMoments, Moments
from fairtest.inference.multiplicity.dependence import Part, covariance
from fairtest.inference.recentre import test_summary as summary_of
from fairtest.metrics.batch import Batch
from fairtest.metrics.choice import find_metric
from fairtest.pipeline.answers import pose_question
from fairtest.pipeline.search import engine_of
from fairtest.statistics.influence import contrasts
from fairtest.statistics.numbers.strata import stratum_ranks

RNG = np.random.default_rng(8)
N, STRATA = 500, 3
stratum_of = RNG.integers(0, STRATA, N)
group_of = RNG.choice(4, N, p=[0.4, 0.3, 0.2, 0.1])
OUTPUT = (group_of + RNG.integers(0, 3, N)) % 3
NUMBER = RNG.gamma(2, 1, N) + 0.3 * group_of
OTHER = RNG.normal(size=N) + 0.2 * NUMBER


def counts(s, o, stratum, shape):
    table = np.zeros(shape, dtype=int)
    np.add.at(table, (stratum, o, s), 1)
    return Counts(table[None])


def totals(name, summary, s, o, stratum, means=(None, None)):
    """Return the sums over people of one hypothesis."""
    nothing = np.full((1, STRATA), np.nan)
    means = [nothing if m is None else m for m in means]
    influence = find_metric(name).influence
    sums = influence.sums(summary, np.array([0]), *means)
    assert len(sums.hypothesis) == influence.count(summary)[0]
    terms = sums.protected.at(stratum, s) * sums.output.at(stratum, o)
    return (terms * ((sums.stratum[:, None] < 0) | (stratum == sums.stratum[:, None]))).sum(axis=1)


def stratum_mean(x, stratum):
    return np.array([[x[stratum == e].mean() for e in range(stratum.max() + 1)]])


def test_the_difference_of_rates():
    s, o = (group_of > 1).astype(int), (OUTPUT == 2).astype(int)
    table = counts(s, o, stratum_of, (STRATA, 2, 2))
    effect = [o[(stratum_of == e) & (s == 1)].mean() - o[(stratum_of == e) & (s == 0)].mean() for e in range(STRATA)]
    share = np.bincount(stratum_of) / N
    assert totals("DIFF", table, s, o, stratum_of) / N == pytest.approx([np.dot(effect, share)])
    rate = [o[stratum_of == e].mean() for e in range(STRATA)]
    assert totals("RATIO", table, s, o, stratum_of) / N == pytest.approx([np.dot(np.divide(effect, rate), share)])


def test_a_stratum_without_one_of_the_groups_contributes_nothing():
    s, o = (group_of > 1).astype(int), (OUTPUT == 2).astype(int)
    s[stratum_of == 1] = 0
    inside = stratum_of != 1
    whole = totals("DIFF", counts(s, o, stratum_of, (STRATA, 2, 2)), s, o, stratum_of)
    part = totals(
        "DIFF",
        counts(s[inside], o[inside], stratum_of[inside], (STRATA, 2, 2)),
        s[inside],
        o[inside],
        stratum_of[inside],
    )
    assert whole == pytest.approx(part)


def test_mutual_information_is_pearsons_chi_square_over_the_entropy():
    table = counts(group_of, OUTPUT, stratum_of, (STRATA, 3, 4))
    wanted = 0.0
    for t in table.counts[0]:
        expected = np.outer(t.sum(axis=1), t.sum(axis=0)) / t.sum()
        entropy = [-(m / m.sum() * np.log(m / m.sum())).sum() for m in (t.sum(axis=0), t.sum(axis=1))]
        wanted += ((t - expected) ** 2 / expected).sum() / min(entropy)
    sums = totals("NMI", table, group_of, OUTPUT, stratum_of)
    assert sums.size == STRATA * 2 * 3
    assert (sums**2).sum() == pytest.approx(wanted)


def test_levels_nobody_has_make_no_sums():
    o, s = np.where(OUTPUT == 1, 0, OUTPUT), np.where(group_of == 0, 3, group_of)
    alone = np.zeros(N, dtype=int)
    full = totals("NMI", counts(s, o, alone, (1, 3, 4)), s, o, alone)
    assert full.size == 1 * 2
    again = totals("NMI", counts(s - 1, o // 2, alone, (1, 2, 3)), s - 1, o // 2, alone)
    assert (full**2).sum() == pytest.approx((again**2).sum())


@pytest.mark.parametrize("swapped", [False, True])
def test_the_correlation_ratio_is_the_variation_between_groups(swapped):
    sums = np.zeros((1, STRATA, 4, 5))
    for e in range(STRATA):
        for g in range(4):
            sums[0, e, g] = [(NUMBER[(stratum_of == e) & (group_of == g)] ** k).sum() for k in range(5)]
    wanted = sum(
        n * (sums[0, e, g, 1] / n - NUMBER[stratum_of == e].mean()) ** 2
        for e in range(STRATA)
        for g in range(4)
        if (n := sums[0, e, g, 0])
    )
    mean = stratum_mean(NUMBER, stratum_of)
    args = (NUMBER, group_of) if swapped else (group_of, NUMBER)
    found = totals("ETA", GroupMoments(sums), *args, stratum_of, (mean, None) if swapped else (None, mean))
    assert (found**2).sum() == pytest.approx(wanted)


def test_correlations_are_sums_of_products():
    means = stratum_mean(NUMBER, stratum_of), stratum_mean(OTHER, stratum_of)
    wanted = ((NUMBER - means[0][0][stratum_of]) * (OTHER - means[1][0][stratum_of])).sum()
    nothing = Moments(np.zeros((1, STRATA, 15)), 4)
    assert totals("CORR", nothing, NUMBER, OTHER, stratum_of, means) == pytest.approx([wanted])
    table = counts(group_of, OUTPUT, stratum_of, (STRATA, 3, 4))
    ranks = [stratum_ranks(v, stratum_of) for v in (group_of, OUTPUT)]
    assert totals("RANK", table, group_of, OUTPUT, stratum_of) == pytest.approx([np.dot(*ranks)])


def test_contrasts_have_mean_0_and_covariance_1():
    share = np.array([0.3, 0.0, 0.5, 0.2])
    f = contrasts(share)
    assert f @ share == pytest.approx(np.zeros(3), abs=1e-12)
    assert (f * share) @ f.T == pytest.approx(np.diag([0.0, 1.0, 1.0]), abs=1e-12)


def frame(n=700):
    rng = np.random.default_rng(3)
    sex, job = rng.choice(["f", "m"], n), rng.choice(["x", "y"], n)
    hired = rng.choice(["no", "yes"], n)
    gone = rng.random(n) < 0.05
    return {
        "sex": sex,
        "job": job,
        "city": rng.choice(["A", "B", "C"], n),
        "hired": np.where(gone, None, hired),
        "pay": rng.gamma(2, 10, n),
    }


def asked_of(source, protected, output, **how):
    investigation = ft.Testing(source, protected, output, contextual=["city", "job"], **how)
    ft.train([investigation], max_depth=2, min_size=30)
    return pose_question(source, investigation.questions[0], investigation.training.found[0])


def part_of(source, asked):
    engine = engine_of(source)
    summary = summary_of(engine, 1, asked.conditions, asked.target)

    def fetch(places):
        return engine.many_rows(1, [asked.conditions[i] for i in places], asked.target)

    made = Batch(asked.question.metric, summary, fetch, 0)
    return Part(made, asked.target, asked.conditions, np.ones(len(made), dtype=bool))


def test_covariances_over_two_questions_are_those_of_the_people_they_share():
    """Everyone's contribution written out person by person, the difference of rates beside the correlation."""
    data = frame()
    source = ft.DataSource(data, split=False)
    rates, pay = asked_of(source, "sex", "hired"), asked_of(source, "sex", "pay", metrics="CORR")
    found = covariance(engine_of(source), 1, [part_of(source, rates), part_of(source, pay)])
    terms = []
    for asked in (rates, pay):
        for context in asked.contexts:
            inside = np.array(
                [all(data[p.column][i] == p.value for p in context.predicates) for i in range(len(data["sex"]))]
            )
            if asked is rates:
                inside &= data["hired"] != None  # noqa: E711 - element by element
                o = (data["hired"] == "yes").astype(float)
            else:
                o = data["pay"]
            s = (data["sex"] == "f").astype(float)
            u = np.where(inside, (s - s[inside].mean()) * (o - o[inside].mean()), 0.0)
            terms.append(u / np.sqrt((u**2).sum()))
    wanted = np.array(terms) @ np.array(terms).T
    place = np.argsort(found.hypothesis)
    got = found.matrix[np.ix_(place, place)]
    assert np.abs(got) == pytest.approx(np.abs(wanted), abs=1e-9)
    assert np.abs(wanted - np.eye(len(wanted))).max() > 0.5


def test_a_handful_of_people_does_not_decide_which_contrasts_count():
    """Without association all contrasts of a table vary alike, however few people are in its rarest cell."""
    rng = np.random.default_rng(2)
    n = 400
    group = rng.choice(["a", "b", "rare"], n, p=[0.6, 0.38, 0.02])
    data = {
        "group": group,
        "hired": np.where(group == "rare", True, rng.random(n) < 0.1),
        "job": rng.choice(list("xy"), n),
    }
    source = ft.DataSource(data, split=False)
    investigation = ft.Testing(source, "group", "hired", contextual=["job"], metrics="NMI")
    ft.train([investigation], max_depth=1, min_size=30)
    asked = pose_question(source, investigation.questions[0], investigation.training.found[0])
    found = covariance(engine_of(source), 1, [part_of(source, asked)])
    assert np.diag(found.matrix) == pytest.approx(np.full(2 * len(asked.contexts), 0.5))


def test_each_hypothesis_has_total_variance_1_and_its_sums_stand_together():
    source = ft.DataSource(frame(), split=False)
    investigation = ft.Testing(source, "city", "pay", contextual=["job", "sex"])
    ft.train([investigation], max_depth=2, min_size=30)
    asked = pose_question(source, investigation.questions[0], investigation.training.found[0])
    found = covariance(engine_of(source), 1, [part_of(source, asked)])
    assert np.bincount(found.hypothesis, weights=np.diag(found.matrix)) == pytest.approx(np.ones(len(asked.contexts)))
    assert np.count_nonzero(np.diff(found.hypothesis)) == len(asked.contexts) - 1
    assert len(found.hypothesis) == 2 * len(asked.contexts)
