"""Corrections that weight hypotheses by the evidence of the training set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairtest.inference.multiplicity.corrections import corrections, holm
from fairtest.inference.multiplicity.prior import Prior
from fairtest.inference.multiplicity.weighted import by_depth, pooled, pooled_above_floor, rank_levels, weighted_holm

WEIGHTED = {"pooled": pooled, "weighted-holm": weighted_holm}
weighted = pytest.mark.parametrize("adjust", WEIGHTED.values(), ids=list(WEIGHTED))


def naive_pooled(p, prior):
    """The formula of the procedure, term by term."""
    f = prior.share
    one_sided = np.clip(prior.one_sided(p), 1e-300, 1 - 1e-16)
    together = np.sqrt(f) * prior.evidence + np.sqrt(1 - f) * stats.norm.isf(one_sided)
    order = np.argsort(-together, kind="stable")
    adjusted, largest = np.empty(p.size), 0.0
    for k, i in enumerate(order):
        later = order[k:]
        terms = stats.norm.cdf((np.sqrt(f) * prior.evidence[later] - together[i]) / np.sqrt(1 - f))
        largest = max(largest, terms.sum())
        adjusted[i] = min(1.0, largest)
    return adjusted


@st.composite
def families(draw):
    size = draw(st.integers(1, 30))
    numbers = st.floats(0, 1, allow_nan=False)
    p = np.array(draw(st.lists(st.floats(1e-12, 1), min_size=size, max_size=size)))
    evidence = 8 * np.array(draw(st.lists(numbers, min_size=size, max_size=size)))
    direction = np.array(draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=size, max_size=size)))
    return p, Prior(evidence, direction, draw(st.floats(0.05, 0.95)))


@given(families())
def test_pooled_is_the_formula(family):
    p, prior = family
    assert pooled(p, prior) == pytest.approx(np.maximum(naive_pooled(p, prior), p), rel=2e-3)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("clusters", [False, True])
def test_a_large_family_is_the_formula_too(share, clusters):
    """Blocks of many hypotheses are interpolated; that may raise an adjusted p-value a little, never lower it."""
    rng = np.random.default_rng(1)
    evidence = np.where(rng.random(1500) < 0.4, 9.0, 1.0) if clusters else rng.exponential(6.0, 1500)
    z = np.where(rng.random(1500) < 0.5, evidence, 0.0) + rng.normal(size=1500)
    p, prior = 2 * stats.norm.sf(np.abs(z)), Prior(evidence, np.sign(z), share)
    adjusted, formula = pooled(p, prior), np.maximum(naive_pooled(p, prior), p)
    assert np.count_nonzero(formula < 1) > 50
    assert adjusted == pytest.approx(formula, rel=3e-4)
    assert (adjusted >= formula * (1 - 1e-12)).all()


@given(st.lists(st.floats(1e-9, 1), min_size=1, max_size=40))
def test_without_evidence_it_is_holm(values):
    p = np.array(values)
    prior = Prior.ignorant(p.size)
    assert pooled(p, prior) == pytest.approx(holm(p), rel=2e-3)
    assert weighted_holm(p, prior) == pytest.approx(holm(p))


@weighted
@given(families(), st.data())
def test_a_smaller_p_value_never_hurts(adjust, family, data):
    p, prior = family
    i = data.draw(st.integers(0, p.size - 1))
    smaller = p.copy()
    smaller[i] /= 3
    if prior.direction[i] >= 0:
        assert np.all(adjust(smaller, prior) <= adjust(p, prior) * (1 + 2e-3))


@weighted
@given(families())
def test_the_order_of_hypotheses_leaves_no_trace(adjust, family):
    p, prior = family
    order = np.random.default_rng(0).permutation(p.size)
    assert adjust(p[order], prior.take(order)) == pytest.approx(adjust(p, prior)[order], rel=1e-9)


@weighted
def test_untestable_hypotheses_are_no_members(adjust):
    p, evidence, direction = np.array([0.001, 0.2, 0.03]), np.array([3.0, 1.0, 0.0]), np.array([1.0, -1.0, 0.0])
    with_gaps = np.array([0.001, np.nan, 0.2, 0.03, np.nan])
    known = Prior(np.array([3.0, 9.0, 1.0, 0.0, 9.0]), np.array([1.0, 1.0, -1.0, 0.0, 0.0]), 0.3)
    adjusted = adjust(with_gaps, known)
    assert np.isnan(adjusted[[1, 4]]).all()
    assert adjusted[[0, 2, 3]] == pytest.approx(adjust(p, Prior(evidence, direction, 0.3)))


def test_evidence_helps_what_it_points_at_and_direction_counts():
    p, nothing = np.full(100, 0.5), np.zeros(100)
    p[0] = 0.002
    likely = np.where(np.arange(100) == 0, 4.0, 0.0)
    assert pooled(p, Prior(nothing, nothing, 0.3))[0] == pytest.approx(0.2, rel=0.01)
    assert pooled(p, Prior(likely, nothing, 0.3))[0] < 0.05
    agree, differ = np.where(np.arange(100) == 0, 1.0, 0.0), np.where(np.arange(100) == 0, -1.0, 0.0)
    assert pooled(p, Prior(likely, agree, 0.3))[0] < pooled(p, Prior(likely, nothing, 0.3))[0]
    assert pooled(p, Prior(likely, differ, 0.3))[0] > 0.9


@weighted
@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_few_families_of_nulls_have_a_finding(adjust, shared):
    """Whatever the evidence says, a family without effects is rejected in at most 5 % of cases."""
    rng = np.random.default_rng(5)
    found, runs, size = 0, 1500, 40
    for _ in range(runs):
        common = rng.normal()
        z = np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.normal(size=size)
        evidence = np.abs(rng.normal(0, 3, size))  # wrong: far too sure of itself
        direction = np.sign(z) * rng.choice([-1.0, 1.0], size)
        found += bool((adjust(2 * stats.norm.sf(np.abs(z)), Prior(evidence, direction, 0.3)) <= 0.05).any())
    assert stats.binomtest(found, runs, 0.05, alternative="greater").pvalue > 0.001


def test_it_finds_more_than_holm():
    rng = np.random.default_rng(6)
    gained = 0
    for _ in range(200):
        effect = np.where(np.arange(300) < 10, 3.0, 0.0)
        train, test = rng.normal(effect * 0.65), rng.normal(effect)
        prior = Prior(np.abs(train), np.sign(train) * np.sign(test), 0.3)
        p = 2 * stats.norm.sf(np.abs(test))
        gained += (pooled(p, prior) <= 0.05).sum() - (holm(p) <= 0.05).sum()
    assert gained > 100


def test_levels_follow_the_evidence_and_add_up():
    tested = np.array([True, True, False, True])
    levels = rank_levels(0.05, tested, Prior(np.array([1.0, 5.0, 9.0, 1.0]), np.zeros(4), 0.3))
    assert levels[tested].sum() == pytest.approx(0.05)
    assert levels[1] > levels[0] == levels[3]
    assert levels[2] == levels[0]


def test_a_family_of_thousands_is_quick_enough_to_be_usable():
    rng = np.random.default_rng(7)
    z = rng.normal(size=20_000) + np.where(np.arange(20_000) < 300, 8.0, 0.0)
    p = 2 * stats.norm.sf(np.abs(z))
    adjusted = corrections["pooled"].adjust(p, Prior(np.abs(z), np.ones(20_000), 0.3))
    assert 200 <= (adjusted <= 0.05).sum() <= 320


@given(families(), st.data())
def test_by_depth_is_weighted_holm_with_every_depth_alike(family, data):
    """In terms of the formula, hypothesis by hypothesis."""
    p, prior = family
    depth = np.array(data.draw(st.lists(st.integers(1, 3), min_size=p.size, max_size=p.size)))
    prior = Prior(prior.evidence, prior.direction, prior.share, depth)
    depths, many = np.unique(depth, return_counts=True)
    weight = np.array([1 / (depths.size * many[depths == d][0]) for d in depth])
    order = np.argsort(p / weight, kind="stable")
    expected, largest = np.empty(p.size), 0.0
    for k, i in enumerate(order):
        largest = max(largest, min(1.0, p[i] * weight[order[k:]].sum() / weight[i]))
        expected[i] = largest
    assert by_depth(p, prior) == pytest.approx(expected)
    assert (by_depth(p, prior) >= p - 1e-12).all()


def test_a_lonely_depth_has_its_share():
    """One context of one predicate and 99 of three: the first is tested at half the level, each other at 1/198."""
    p = np.full(100, 0.5)
    p[0] = 0.01
    prior = Prior(np.zeros(100), np.zeros(100), 0.3, np.array([1] + [3] * 99))
    assert by_depth(p, prior)[0] == pytest.approx(0.02)
    assert holm(p)[0] == pytest.approx(1.0)


def test_the_floor_helps_where_training_was_blind():
    """Ten hypotheses with strong evidence that come to nothing take the level from one with none, but for a tenth."""
    p = np.append(np.full(10, 0.5), 1e-4)
    prior = Prior(np.append(np.full(10, 8.0), 0.0), np.ones(11), 0.3, np.append(np.full(10, 3), 1))
    assert pooled(p, prior)[-1] > 0.05
    assert pooled_above_floor(p, prior)[-1] == pytest.approx(1e-4 * 2 / 0.1)


@given(families(), st.data())
def test_pooled_above_floor_is_the_smaller_of_both_and_never_falls(family, data):
    p, prior = family
    adjusted = pooled_above_floor(p, prior)
    expected = np.minimum(np.minimum(pooled(p, prior) / 0.9, by_depth(p, prior) / 0.1), 1)
    assert adjusted == pytest.approx(expected)
    assert (adjusted >= p - 1e-12).all()
    i = data.draw(st.integers(0, p.size - 1))
    higher = p.copy()
    higher[i] = data.draw(st.floats(p[i], 1))
    if prior.direction[i] >= 0:  # against the direction of training, a larger p-value says less against the link
        assert pooled_above_floor(higher, prior)[i] >= adjusted[i] * (1 - 1e-3)
