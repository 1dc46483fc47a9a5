"""Every metric against a naive one, alone and within strata; what is undefined."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import fairtest as ft
from fairtest.data.holdout import TRAIN
from fairtest.data.summaries import Counts, GroupMoments, Moments, powers
from fairtest.engine.memory import MemoryEngine
from fairtest.exceptions import InputError
from fairtest.metrics.choice import BUILT_IN, default_metric, find_metric, fitting_metric
from fairtest.metrics.conditional import stratum_weights, weighted_average
from fairtest.search.scoring import Z_SEARCH, Strength
from fairtest.types import Kind

CHECKED = settings(deadline=None, max_examples=40)
SEEDS = st.integers(0, 2**32 - 1)
DIFF, RATIO, NMI, CORR, ETA, RANK = (find_metric(m) for m in ("DIFF", "RATIO", "NMI", "CORR", "ETA", "RANK"))
B, C, R, N = Kind.BINARY, Kind.CATEGORICAL, Kind.ORDERED, Kind.NUMERIC


# Naive metrics, one table or one sample at a time


def naive_average(effects):
    """Return Σ (n_e / n)·effect_e over defined strata, from pairs of size and effect."""
    defined = [(n, x) for n, x in effects if x is not None]
    if not defined:
        return math.nan
    return sum(n * x for n, x in defined) / sum(n for n, _ in defined)


def naive_rates(table):
    (a, b), (c, d) = table.tolist()  # outputs in rows, groups in columns
    return (None if a + c == 0 else c / (a + c)), (None if b + d == 0 else d / (b + d))


def naive_diff(strata):
    effects = []
    for table in strata:
        reference, group = naive_rates(table)
        effects.append((table.sum(), None if None in (reference, group) else group - reference))
    return naive_average(effects)


def naive_ratio(strata):
    effects = []
    for table in strata:
        reference, group = naive_rates(table)
        effects.append((table.sum(), None if group is None or not reference else group / reference - 1))
    return naive_average(effects)


def naive_nmi(strata):
    effects = []
    for table in strata:
        n = table.sum()
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        if (rows > 0).sum() < 2 or (columns > 0).sum() < 2:
            effects.append((n, None))
            continue
        p = table / n
        mi = sum(
            p[i, j] * math.log(p[i, j] * n * n / (rows[i] * columns[j]))
            for i, j in np.ndindex(table.shape)
            if table[i, j]
        )
        effects.append((n, mi / min(stats.entropy(rows), stats.entropy(columns))))
    return naive_average(effects)


def naive_corr(s, o, e):
    ds, do = [], []
    for k in np.unique(e):
        a, b = s[e == k], o[e == k]
        if len(set(a.tolist())) > 1 and len(set(b.tolist())) > 1:
            ds.extend(a - a.mean())
            do.extend(b - b.mean())
    if not ds:
        return math.nan
    ds, do = np.array(ds), np.array(do)
    return (ds * do).sum() / math.sqrt((ds**2).sum() * (do**2).sum())


def naive_eta(g, o, e):
    between = total = 0.0
    for k in np.unique(e):
        groups, values = g[e == k], o[e == k]
        if len(set(groups.tolist())) < 2:
            continue
        between += sum((groups == j).sum() * (values[groups == j].mean() - values.mean()) ** 2 for j in set(groups))
        total += ((values - values.mean()) ** 2).sum()
    return between / total if total > 0 else math.nan


def naive_rank(s, o, e):
    """Return the correlation of ranks within strata, as shares of the stratum."""
    s, o = s.astype(float), o.astype(float)
    for k in np.unique(e):
        at = e == k
        s[at], o[at] = (stats.rankdata(x[at]) / at.sum() for x in (s, o))
    return naive_corr(s, o, e)


# Random summaries: empty cells, rows, columns and strata are common


def random_counts(rng, batch, strata, outputs, groups):
    rate = rng.choice([0.0, 0.5, 3.0, 40.0], (batch, strata, outputs, groups))
    rate *= rng.choice([0, 1], (batch, strata, 1, groups), p=[0.2, 0.8])
    rate *= rng.choice([0, 1], (batch, strata, outputs, 1), p=[0.2, 0.8])
    return rng.poisson(rate)


def random_people(rng, strata=3, n=None):
    """Return (s, o, stratum): constants within strata are common."""
    n = int(rng.integers(1, 60)) if n is None else n
    e = rng.integers(0, strata, n)
    s, o = np.round(rng.normal(size=(2, n)), int(rng.integers(0, 3)))
    o = o + 0.5 * s
    for k in range(strata):
        if rng.random() < 0.25:
            s[e == k] = 0.25
        if rng.random() < 0.25:
            o[e == k] = -0.5
    return s, o, e


def moments(s, o, e, strata, order=2):
    out = np.array([[(s[e == k] ** i * o[e == k] ** j).sum() for i, j in powers(order)] for k in range(strata)])
    return Moments(out, order)


def group_moments(g, o, e, strata, groups, order=2):
    at = [[(e == k) & (g == j) for j in range(groups)] for k in range(strata)]
    return GroupMoments(np.array([[[(o[a] ** p).sum() for p in range(order + 1)] for a in row] for row in at]))


def rank_counts(s, o, e, strata):
    a, b = (np.unique(x, return_inverse=True)[1] for x in (s, o))
    counts = np.zeros((strata, b.max() + 1, a.max() + 1), dtype=np.int64)
    np.add.at(counts, (e, b, a), 1)
    return Counts(counts)


def close(got, want, tolerance=1e-9):
    assert np.asarray(got) == pytest.approx(np.asarray(want), abs=tolerance, rel=tolerance, nan_ok=True)


@pytest.mark.parametrize("strata", [1, 2, 5])
@pytest.mark.parametrize(("metric", "naive"), [(DIFF, naive_diff), (RATIO, naive_ratio), (NMI, naive_nmi)])
def test_metrics_of_two_by_two_tables(metric, naive, strata):
    counts = random_counts(np.random.default_rng(strata), 400, strata, 2, 2)
    effect = metric.effect(Counts(counts))
    want = [naive(c) for c in counts]
    assert 0 < np.isnan(want).sum() < 400
    close(effect, want)


@pytest.mark.parametrize("strata", [1, 3])
@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (4, 5), (6, 2)])
def test_nmi_of_larger_tables(shape, strata):
    counts = random_counts(np.random.default_rng(sum(shape)), 200, strata, *shape)
    close(NMI.effect(Counts(counts)), [naive_nmi(c) for c in counts])


def test_nmi_is_mutual_information_over_the_smaller_entropy():
    table = np.array([[10, 20, 5], [3, 40, 9]])
    g = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    want = g / (2 * table.sum()) / min(stats.entropy(table.sum(axis=0)), stats.entropy(table.sum(axis=1)))
    assert float(NMI.effect(Counts(table[None]))) == pytest.approx(want, rel=1e-12)


def test_nmi_reaches_its_ends():
    assert float(NMI.effect(Counts(np.array([[[50, 0, 0], [0, 20, 30]]])))) == pytest.approx(1, abs=1e-12)
    independent = np.outer([10, 20, 30], [7, 11])
    assert 0 <= float(NMI.effect(Counts(independent[None]))) < 1e-12
    assert (NMI.effect(Counts(random_counts(np.random.default_rng(0), 2000, 1, 3, 3) * 1000)) <= 1).sum() > 1000


@CHECKED
@given(SEEDS, st.integers(1, 4))
def test_correlation(seed, strata):
    s, o, e = random_people(np.random.default_rng(seed), strata)
    close(CORR.effect(moments(s, o, e, strata)), naive_corr(s, o, e))
    close(CORR.effect(moments(s, o, e, strata, order=4)), naive_corr(s, o, e))


def test_correlation_of_everybody_is_pearsons():
    s, o, _ = random_people(np.random.default_rng(8), 1, 300)
    s += np.random.default_rng(1).normal(size=300)
    o += s
    zero = np.zeros(300, int)
    assert float(CORR.effect(moments(s, o, zero, 1))) == pytest.approx(stats.pearsonr(s, o).statistic, rel=1e-12)
    assert float(RANK.effect(rank_counts(s, o, zero, 1))) == pytest.approx(stats.spearmanr(s, o).statistic, rel=1e-12)


def test_correlation_with_a_binary_group_is_the_phi_of_its_table():
    table = np.array([[30, 12], [7, 25]])
    o, s = (np.repeat(i.ravel(), table.ravel()) for i in np.indices((2, 2)))
    phi = math.sqrt(stats.chi2_contingency(table, correction=False).statistic / table.sum())
    assert float(CORR.effect(moments(s * 1.0, o * 1.0, 0 * s, 1))) == pytest.approx(phi, rel=1e-12)


@CHECKED
@given(SEEDS, st.integers(1, 4))
def test_rank_correlation(seed, strata):
    s, o, e = random_people(np.random.default_rng(seed), strata)
    close(RANK.effect(rank_counts(s, o, e, strata)), naive_rank(s, o, e))


@CHECKED
@given(SEEDS, st.integers(1, 4), st.integers(2, 5))
def test_correlation_ratio(seed, strata, groups):
    rng = np.random.default_rng(seed)
    s, o, e = random_people(rng, strata)
    g = np.clip(np.round(s + 2), 0, groups - 1).astype(int)
    close(ETA.effect(group_moments(g, o, e, strata, groups)), naive_eta(g, o, e))


def test_correlation_ratio_is_that_of_the_analysis_of_variance():
    rng = np.random.default_rng(0)
    samples = [rng.normal(m, 1, n) for m, n in ((0, 30), (0.5, 40), (1, 25))]
    f = stats.f_oneway(*samples).statistic
    n = sum(map(len, samples))
    want = 2 * f / (2 * f + n - 3)
    g = np.repeat([0, 1, 2], [len(x) for x in samples])
    o = np.concatenate(samples)
    assert float(ETA.effect(group_moments(g, o, 0 * g, 1, 3))) == pytest.approx(want, rel=1e-12)


# What is undefined


@pytest.mark.parametrize("strata", [1, 3])
@pytest.mark.parametrize("metric", [DIFF, RATIO, NMI, RANK], ids=lambda m: m.name)
@pytest.mark.parametrize(
    "table",
    [
        [[0, 0], [0, 0]],
        [[5, 0], [7, 0]],  # a group is absent
        [[0, 5], [0, 7]],
        [[1, 0], [0, 0]],  # one person
    ],
    ids=str,
)
def test_an_absent_group_leaves_the_effect_undefined(metric, table, strata):
    summary = Counts(np.array([[table] * strata] * 2))
    assert np.isnan(metric.effect(summary)).all()
    assert np.isnan(metric.strength(metric.effect(summary))).all()
    if metric is not RANK:
        assert np.isnan(metric.bound(summary, 2.0)).all()


@pytest.mark.parametrize(
    ("table", "diff", "ratio", "nmi"),
    [
        ([[5, 5], [0, 0]], 0.0, math.nan, math.nan),  # nobody has the output
        ([[0, 0], [5, 5]], 0.0, 0.0, math.nan),  # everybody
        ([[5, 0], [0, 5]], 1.0, math.nan, 1.0),  # nobody of the reference
        ([[0, 5], [5, 0]], -1.0, -1.0, 1.0),  # nobody of the group
    ],
    ids=str,
)
def test_extreme_tables(table, diff, ratio, nmi):
    summary = Counts(np.array([table]))
    close(DIFF.effect(summary), diff)
    close(RATIO.effect(summary), ratio)
    close(NMI.effect(summary), nmi)


def test_a_constant_number_or_nobody_leaves_the_correlation_undefined():
    o, e = np.array([1.0, 2.0, 4.0]), np.zeros(3, int)
    for s in (np.zeros(3), np.full(3, 0.1), np.full(3, -1 / 3)):
        for pair in ((s, o), (o, s), (s, s)):
            assert np.isnan(CORR.effect(moments(*pair, e, 2)))
            assert np.isnan(CORR.bound(moments(*pair, e, 2), 2.0))
    nobody = np.zeros(0)
    assert np.isnan(CORR.effect(moments(nobody, nobody, nobody, 2)))
    assert np.isnan(CORR.bound(moments(nobody, nobody, nobody, 2), 2.0))


def test_one_group_or_nobody_leaves_the_correlation_ratio_undefined():
    o, e = np.array([1.0, 2.0, 4.0]), np.zeros(3, int)
    for g in (np.zeros(3, int), np.full(3, 2)):
        assert np.isnan(ETA.effect(group_moments(g, o, e, 2, 3)))
    assert np.isnan(ETA.effect(GroupMoments(np.zeros((4, 2, 3, 3))))).all()
    assert np.isnan(ETA.effect(group_moments(np.array([0, 1, 1]), np.zeros(3), e, 1, 2)))


# What a metric must not see


@CHECKED
@given(SEEDS, st.integers(1, 3))
def test_the_order_of_categories_and_strata_does_not_matter(seed, strata):
    rng = np.random.default_rng(seed)
    counts = random_counts(rng, 20, strata, 4, 3)
    e, o, s = rng.permutation(strata), rng.permutation(4), rng.permutation(3)
    mixed = Counts(counts[:, e][:, :, o][..., s])
    close(NMI.effect(mixed), NMI.effect(Counts(counts)), 1e-12)
    close(NMI.bound(mixed, 2.0), NMI.bound(Counts(counts), 2.0), 1e-12)
    close(NMI.effect(Counts(counts.swapaxes(-1, -2))), NMI.effect(Counts(counts)), 1e-12)
    people = random_people(rng, strata)
    g = np.clip(np.round(people[0] + 1), 0, 2).astype(int)
    sums = group_moments(g, *people[1:], strata, 3).sums
    close(ETA.effect(GroupMoments(sums[e][:, s])), ETA.effect(GroupMoments(sums)), 1e-9)


@CHECKED
@given(SEEDS)
def test_swapping_group_or_output_turns_the_sign(seed):
    counts = random_counts(np.random.default_rng(seed), 30, 2, 2, 2)
    here = DIFF.effect(Counts(counts))
    close(DIFF.effect(Counts(counts[..., ::-1])), -here)
    close(DIFF.effect(Counts(counts[..., ::-1, :])), -here)
    one = Counts(counts[:, :1])
    other = Counts(counts[:, :1, :, ::-1])
    both = ~(np.isnan(RATIO.effect(one)) | np.isnan(RATIO.effect(other)))
    close(RATIO.strength(RATIO.effect(one))[both], RATIO.strength(RATIO.effect(other))[both])


@pytest.mark.parametrize("metric", [DIFF, RATIO, NMI, RANK], ids=lambda m: m.name)
def test_a_batch_of_counts_gives_what_single_tables_give(metric):
    counts = random_counts(np.random.default_rng(1), 60, 3, 2, 2).reshape(4, 5, 3, 3, 2, 2)
    together = metric.effect(Counts(counts))
    assert together.shape == (4, 5, 3)
    alone = [float(metric.effect(Counts(counts[i]))) for i in np.ndindex(4, 5, 3)]
    assert np.array_equal(together.ravel(), alone, equal_nan=True)
    if metric is not RANK:
        bounds = metric.bound(Counts(counts), 1.5)
        alone = [float(metric.bound(Counts(counts[i]), 1.5)) for i in np.ndindex(4, 5, 3)]
        assert np.array_equal(bounds.ravel(), alone, equal_nan=True)


def test_a_batch_of_moments_gives_what_single_ones_give():
    rng = np.random.default_rng(2)
    people = [random_people(rng, 2) for _ in range(12)]
    several = [moments(*p, 2).sums for p in people]
    sums = np.stack(several).reshape(3, 4, *several[0].shape)
    for function in (CORR.effect, RANK.effect, lambda m: CORR.bound(m, 2.0)):
        alone = [float(function(Moments(s, 2))) for s in several]
        assert np.array_equal(function(Moments(sums, 2)).ravel(), alone, equal_nan=True)
    groups = [group_moments((p[0] > 0) * 1, *p[1:], 2, 2).sums for p in people]
    for function in (ETA.effect, lambda m: ETA.bound(m, 2.0)):
        alone = [float(function(GroupMoments(s))) for s in groups]
        together = function(GroupMoments(np.stack(groups).reshape(3, 4, *groups[0].shape)))
        assert np.array_equal(together.ravel(), alone, equal_nan=True)


# Weights of strata


@CHECKED
@given(st.lists(st.tuples(st.one_of(st.none(), st.floats(-5, 5)), st.integers(0, 500)), min_size=2, max_size=8))
def test_strata_weigh_as_many_as_they_have_where_defined(strata):
    effect = np.array([math.nan if x is None else x for x, _ in strata])
    size = np.array([n for _, n in strata], dtype=float)
    size[~np.isnan(effect)] += 1  # an effect needs somebody
    weights = stratum_weights(size, effect)
    used = ~np.isnan(effect)
    if not used.any():
        assert np.isnan(weighted_average(effect, size))
        return
    assert weights.sum() == pytest.approx(1)
    assert (weights[~used] == 0).all()
    close(weighted_average(effect, size), np.average(effect[used], weights=size[used]))


def test_a_stratum_without_a_group_is_left_out_and_not_counted_as_zero():
    table = [[60, 30], [40, 70]]
    empty = [[500, 0], [500, 0]]
    for metric in (DIFF, RATIO, NMI):
        assert metric.effect(Counts(np.array([table, empty]))) == metric.effect(Counts(np.array([table])))
        close(metric.bound(Counts(np.array([table, empty])), 2.0), metric.bound(Counts(np.array([table])), 2.0))


def test_simpsons_paradox_is_resolved_by_strata():
    strata = np.array([[[900, 70], [100, 30]], [[10, 400], [90, 600]]])  # reference first, favourable second
    alone = DIFF.effect(Counts(strata[:, None]))
    assert alone.tolist() == pytest.approx([0.2, -0.3])
    n = strata.sum(axis=(1, 2))
    assert float(DIFF.effect(Counts(strata))) == pytest.approx((0.2 * n[0] - 0.3 * n[1]) / n.sum())


# Bounds that guide the search


@CHECKED
@given(SEEDS, st.floats(0.5, 4), st.integers(1, 3))
def test_bounds_do_not_exceed_the_strength(seed, z, strata):
    rng = np.random.default_rng(seed)
    counts = Counts(random_counts(rng, 60, strata, 2, 2))
    larger = Counts(random_counts(rng, 60, strata, 3, 4))
    s, o, e = random_people(rng, strata)
    g = (s > 0) * 1
    pairs = [
        (NMI, counts),
        (NMI, larger),
        (CORR, moments(s, o, e, strata)),
        (ETA, group_moments(g, o, e, strata, 2)),
    ]
    if strata == 1:  # these two shrink the rates, which at lower levels may outweigh the error
        pairs += [(DIFF, counts), (RATIO, counts)]
    for metric, summary in pairs:
        effect = metric.effect(summary)
        known = ~np.isnan(effect)
        bound = metric.bound(summary, Z_SEARCH if metric in (DIFF, RATIO) else z)
        assert (np.asarray(bound)[known] <= metric.strength(effect)[known] + 1e-9).all(), metric.name


@pytest.mark.parametrize("metric", [DIFF, RATIO, NMI], ids=lambda m: m.name)
def test_a_bound_rises_to_the_strength_with_more_people(metric):
    table = np.array([[[60, 30], [40, 70]]])
    bounds = [float(metric.bound(Counts(table * k), 1.96)) for k in (1, 10, 100, 10_000, 1_000_000)]
    assert bounds == sorted(bounds)
    assert bounds[-1] == pytest.approx(float(metric.strength(metric.effect(Counts(table)))), rel=5e-3)


def test_bounds_of_numbers_rise_too():
    rng = np.random.default_rng(3)
    s, o = rng.normal(size=(2, 200))
    o += s
    e = np.zeros(200, int)
    for metric, summary in ((CORR, moments(s, o, e, 1)), (ETA, group_moments((s > 0) * 1, o, e, 1, 2))):
        bounds = [float(metric.bound(type(summary)(summary.sums * k, *ORDER[metric.name]), 1.96)) for k in (1, 10, 1e6)]
        assert bounds == sorted(bounds)
        assert bounds[-1] == pytest.approx(float(metric.effect(summary)), rel=1e-2)


ORDER = {"CORR": (2,), "ETA": ()}


@pytest.mark.parametrize("strata", [1, 3])
def test_the_bound_of_a_correlation_is_fishers(strata):
    rng = np.random.default_rng(9)
    s, noise = rng.normal(size=(2, 120))
    o, e = noise - s, rng.integers(0, strata, 120)
    r = abs(naive_corr(s, o, e))
    want = math.tanh(math.atanh(r) - 1.7 / math.sqrt(120 - strata - 2))
    assert float(CORR.bound(moments(s, o, e, strata), 1.7)) == pytest.approx(want, rel=1e-9)


def test_the_strength_of_a_ratio_is_its_logarithm():
    close(RATIO.strength(np.array([1.0, -0.5, 0.0, -1.0])), [math.log(2), math.log(2), 0, math.inf])
    assert np.isnan(RATIO.strength(np.array([math.nan]))).all()


def test_the_bound_of_a_metric_of_ones_own_is_walds_for_a_difference():
    counts = np.array([[[[700, 450], [300, 550]]], [[[80, 60], [20, 40]]]])
    rates = counts[:, 0, 1] / counts[:, 0].sum(axis=1)
    variance = (rates * (1 - rates) / counts[:, 0].sum(axis=1)).sum(axis=1)
    want = np.abs(rates[:, 1] - rates[:, 0]) - Z_SEARCH * np.sqrt(variance)
    own = replace(DIFF, bound=None)
    assert Strength(own, "bound")(Counts(counts)) == pytest.approx(want, rel=0.02)


# Choosing a metric


@pytest.mark.parametrize(
    ("protected", "output", "name"),
    [
        (B, B, "DIFF"), (B, C, "NMI"), (B, R, "MEAN"), (B, N, "MEAN"),
        (C, B, "NMI"), (C, C, "NMI"), (C, R, "ETA"), (C, N, "ETA"),
        (R, B, "CORR"), (R, C, "ETA"), (R, R, "RANK"), (R, N, "RANK"),
        (N, B, "CORR"), (N, C, "ETA"), (N, R, "RANK"), (N, N, "CORR"),
    ],
)  # fmt: skip
def test_the_default_metric_follows_from_the_kinds(protected, output, name):
    chosen = default_metric(protected, output)
    assert chosen.name == name
    assert chosen.accepts(protected, output)
    assert fitting_metric(None, ("s", protected), ("o", output)) is chosen
    assert fitting_metric(name.lower(), ("s", protected), ("o", output)) is chosen


@pytest.mark.parametrize(
    ("name", "protected", "output", "fits", "does_not"),
    [
        ("DIFF", C, B, ("NMI", "ETA"), ("RATIO", "CORR")),
        ("RATIO", B, N, ("CORR", "ETA", "RANK"), ("DIFF", "NMI")),
        ("NMI", N, N, ("CORR", "RANK"), ("DIFF", "ETA")),
        ("CORR", C, C, ("NMI",), ("DIFF", "ETA", "RANK")),
        ("ETA", N, N, ("CORR", "RANK"), ("NMI",)),
        ("RANK", C, N, ("ETA",), ("NMI", "CORR")),
    ],
)
def test_a_metric_that_does_not_fit_names_those_that_do(name, protected, output, fits, does_not):
    with pytest.raises(InputError) as error:
        fitting_metric(name, ("group", protected), ("result", output))
    text = str(error.value)
    assert f"The metric {name} does not fit" in text
    assert f"'group' is {protected.value}" in text
    assert f"'result' is {output.value}" in text
    alternatives = text.partition("use one of ")[2].partition(", or declare")[0].split(", ")
    assert set(fits) <= set(alternatives)
    assert not {*does_not, name} & set(alternatives)


def test_an_unknown_metric_names_the_nearest():
    with pytest.raises(InputError, match=r"no metric 'RATOI'.*'RATIO'"):
        find_metric("RATOI")
    assert find_metric("eta") is ETA
    assert find_metric(ETA) is ETA


def source_of_all_kinds(n=600):
    rng = np.random.default_rng(0)
    columns = {}
    for role in "so":
        columns |= {
            f"{role}_binary": rng.choice(["x", "y"], n),
            f"{role}_categorical": rng.choice(["x", "y", "z"], n),
            f"{role}_ordered": rng.choice(["low", "mid", "high"], n),
            f"{role}_numeric": rng.normal(size=n),
        }
    ordered = {f"{role}_ordered": ["low", "mid", "high"] for role in "so"}
    columns |= {"e": rng.choice(["p", "q"], n), "city": rng.choice(["a", "b"], n)}
    return ft.DataSource(columns, train_size=0.5, ordered=ordered)


ALL_KINDS = source_of_all_kinds()
FITTING = [
    (metric.name, s, o)
    for metric in BUILT_IN
    for s in (B, C, R, N)
    for o in (B, C, R, N)
    if metric.accepts(s, o) and (metric.name, s, o) != ("ETA", B, C)
]


@pytest.mark.parametrize(("name", "s", "o"), FITTING, ids=str)
@pytest.mark.parametrize("explanatory", [None, "e"], ids=["alone", "given"])
def test_what_a_metric_accepts_it_can_measure(name, s, o, explanatory):
    asked = ft.Testing(ALL_KINDS, f"s_{s}", f"o_{o}", explanatory=explanatory, metrics=name).questions[0]
    engine = MemoryEngine(ALL_KINDS.table, ALL_KINDS.holdout)
    search, test = asked.search_target(ALL_KINDS), asked.test_target(ALL_KINDS)
    for number, target in ((TRAIN, search), (1, test)):
        effect = float(asked.metric.effect(target.wrap(engine.total(number, target))))
        assert abs(effect) <= asked.metric.most
        assert abs(effect) < 0.25  # nothing is associated
    assert float(asked.metric.bound(search.wrap(engine.total(TRAIN, search)), 2.0)) <= abs(effect) + 0.25


def test_no_metric_accepts_an_identifier():
    for metric in (DIFF, RATIO, NMI, CORR, ETA, RANK):
        for kind in Kind:
            assert not metric.accepts(Kind.IDENTIFIER, kind)
            assert not metric.accepts(kind, Kind.IDENTIFIER)
