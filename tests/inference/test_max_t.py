"""The max-T correction: laws of known families, a plain version of the procedure, and what may never happen."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairtest.inference.multiplicity.corrections import corrections, holm
from fairtest.inference.multiplicity.dependence import Covariance
from fairtest.inference.multiplicity.max_t import JointNull, draw_joint_null
from fairtest.inference.multiplicity.prior import Prior

LEVEL = 0.05


def null_of(matrix, hypothesis=None, size=None, level=LEVEL, seed=0) -> JointNull:
    matrix = np.asarray(matrix, dtype=float)
    hypothesis = np.arange(len(matrix)) if hypothesis is None else np.asarray(hypothesis)
    return draw_joint_null(Covariance(hypothesis, matrix), size or int(hypothesis.max()) + 1, level, seed)


def adjusted(null, p):
    p = np.asarray(p, dtype=float)
    return null.adjust(p, Prior.ignorant(p.size))


def level_of(null, tested):
    tested = np.asarray(tested)
    return null.levels(LEVEL, tested, Prior.ignorant(tested.size))


def plain(drawn, p, level=LEVEL):
    """Westfall and Young's step-down min-P from a full table ``drawn[draw, hypothesis]``, NaN where not drawn."""
    order = np.argsort(p, kind="stable")
    result, largest = np.empty(p.size), 0.0
    for k, i in enumerate(order):
        later = order[k:]
        known = later[~np.isnan(drawn[0, later])]
        value = p[i] * (later.size - known.size)
        if known.size:
            value += (1 + (drawn[:, known].min(axis=1) <= p[i]).sum()) / (1 + len(drawn))
        if value <= level / 4 or later.size == 1:
            value = min(value, later.size * p[i])
        largest = max(largest, value)
        result[i] = max(min(largest, 1.0), p[i])
    return result


def null_from(drawn):
    """The same draws as the correction holds them."""
    draw, hypothesis = np.nonzero(~np.isnan(drawn))
    p = drawn[draw, hypothesis]
    order = np.lexsort((p, draw))
    known = ~np.isnan(drawn[0])
    return JointNull(known, len(drawn), draw[order], hypothesis[order], p[order], 1.0, LEVEL)


@st.composite
def families(draw):
    """Draws of a few hypotheses, dependent, some of which could not be drawn; and p-values seen."""
    size, seed = draw(st.integers(1, 8)), draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(60, 1))
    z = np.sqrt(0.7) * shared + np.sqrt(0.3) * rng.normal(size=(60, size))
    drawn = 2 * stats.norm.sf(np.abs(z))
    drawn[:, rng.random(size) < 0.25] = np.nan
    p = np.array(draw(st.lists(st.floats(1e-9, 1) | st.sampled_from([0.01, 0.2]), min_size=size, max_size=size)))
    return drawn, p


@given(families())
def test_it_is_the_plain_procedure(family):
    drawn, p = family
    assert adjusted(null_from(drawn), p) == pytest.approx(plain(drawn, p), rel=1e-12)


@given(families(), st.data())
def test_a_smaller_p_value_never_hurts_and_none_falls_below_its_raw_value(family, data):
    drawn, p = family
    null = null_from(drawn)
    smaller = p.copy()
    smaller[data.draw(st.integers(0, p.size - 1))] /= 3
    assert (adjusted(null, smaller) <= adjusted(null, p)).all()
    assert (adjusted(null, p) >= p).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted(null, p)[order]) >= 0).all()


def test_the_plain_procedure_can_tell_dependence_from_independence():
    rng = np.random.default_rng(0)
    drawn = rng.random((4000, 20))
    copies = np.repeat(drawn[:, :1], 20, axis=1)
    p = np.full(20, 0.02)
    assert plain(drawn, p)[0] > 5 * plain(copies, p)[0]


def test_independent_hypotheses_are_corrected_as_sidak_says():
    p = np.concatenate(([0.0005, 0.002, 0.01], np.full(37, 0.9)))
    wanted = 1 - (1 - p[:3]) ** np.array([40, 39, 38])
    assert adjusted(null_of(np.eye(40)), p)[:3] == pytest.approx(wanted, rel=0.12)
    assert level_of(null_of(np.eye(40)), np.ones(40, dtype=bool))[0] == pytest.approx(1 - 0.95 ** (1 / 40), rel=0.12)


def test_copies_count_once():
    p = np.array([0.03, 0.03, 0.03, 0.03, 0.2, 0.6])
    null = null_of(np.ones((6, 6)))
    assert adjusted(null, p) == pytest.approx(p, rel=0.1)
    assert (holm(p) > 0.15).all()
    assert level_of(null, np.ones(6, dtype=bool)) == pytest.approx(np.full(6, LEVEL), rel=0.1)


def test_opposite_hypotheses_are_copies_too():
    p = np.array([0.03, 0.04])
    assert adjusted(null_of([[1, -1], [-1, 1]]), p) == pytest.approx(p, rel=0.1)


def test_statistics_of_several_sums_are_compared_by_their_p_values():
    """Three independent sums of squares of 1, 3 and 8 sums, whose variances differ: still Šidák."""
    hypothesis = np.repeat([0, 1, 2], [1, 3, 8])
    variance = np.concatenate(([1.0], [0.7, 0.2, 0.1], np.full(8, 1 / 8)))
    null = null_of(np.diag(variance), hypothesis)
    for i in range(3):
        p = np.full(3, 0.9)
        p[i] = 0.02
        assert adjusted(null, p)[i] == pytest.approx(1 - 0.98**3, rel=0.12)


def test_what_cannot_be_drawn_is_counted_in_full():
    """Four copies that were drawn and three hypotheses that were not: 1 + 3."""
    null = null_of(np.ones((4, 4)), size=7)
    assert null.joint.tolist() == [True] * 4 + [False] * 3
    p = np.array([0.02, 0.5, 0.5, 0.5, 0.9, 0.9, 0.9])
    assert adjusted(null, p)[0] == pytest.approx(0.02 + 3 * 0.02, rel=0.1)
    level = level_of(null, np.ones(7, dtype=bool))[0]
    assert level == pytest.approx(LEVEL / 4, rel=0.1)


@given(families())
def test_a_p_value_at_the_level_of_the_intervals_is_significant(family):
    """Unless it is Bonferroni's, below which the level never falls."""
    drawn, p = family
    null = null_from(drawn)
    level = level_of(null, np.ones(p.size, dtype=bool))
    assert (level >= LEVEL / p.size).all()
    if level[0] > LEVEL / p.size:
        alone = np.full(p.size, 0.99)
        alone[0] = level[0]
        assert plain(drawn, alone)[0] <= LEVEL


def test_with_nothing_drawn_it_is_holm():
    null = draw_joint_null(Covariance(np.zeros(0, dtype=int), np.zeros((0, 0))), 5, LEVEL, 0)
    p = np.array([0.011, 0.2, np.nan, 0.004, 0.01])
    assert adjusted(null, p) == pytest.approx(holm(p), nan_ok=True)
    assert level_of(null, ~np.isnan(p)) == pytest.approx(np.full(5, LEVEL / 4), rel=1e-3)
    assert corrections["max-t"].adjust(p, Prior.ignorant(5)) == pytest.approx(holm(p), nan_ok=True)


def test_untestable_hypotheses_are_no_members():
    matrix = 0.5 + 0.5 * np.eye(5)
    p = np.array([0.02, 0.03, 0.3])
    whole = np.array([0.02, np.nan, 0.03, np.nan, 0.3])
    few = adjusted(null_of(matrix), whole)
    assert np.isnan(few[[1, 3]]).all()
    assert few[[0, 2, 4]] == pytest.approx(adjusted(null_of(matrix[:3, :3]), p), rel=0.1)
    assert (few[[0, 2, 4]] < holm(p))[:2].all()


def test_tiny_p_values_keep_their_size():
    """Draws cannot tell 1e-12 from 1e-30; Holm's bound can, and no decision hangs on it."""
    p = np.array([1e-30, 1e-12, 0.5])
    assert adjusted(null_of(np.eye(3)), p)[:2] == pytest.approx([3e-30, 2e-12])


def test_a_single_hypothesis_needs_no_correction():
    null = null_of([[1.0]])
    assert adjusted(null, [0.0499999])[0] == 0.0499999
    assert level_of(null, [True])[0] == pytest.approx(LEVEL, rel=1e-3)


def test_an_interval_excludes_nothing_that_the_first_step_keeps():
    null = null_of(0.6 + 0.4 * np.eye(30))
    level = level_of(null, np.ones(30, dtype=bool))[0]
    assert LEVEL / 30 < level < LEVEL / 10
    p = np.full(30, 0.9)
    p[7] = level
    assert adjusted(null, p)[7] <= LEVEL
    p[7] = level * 1.01
    assert adjusted(null, p)[7] > LEVEL - 0.002


def test_large_families_keep_only_what_may_matter():
    """Above the cap Holm's value is given; below it, what all draws would give."""
    size = 400
    null = null_of(0.8 + 0.2 * np.eye(size))
    assert LEVEL <= null.cap < 1
    assert null.p.max() <= null.cap * 1.01
    assert len(null.p) == pytest.approx(null.cap * size * null.draws, rel=0.2)
    p = np.linspace(0.0005, 1, size)
    got = adjusted(null, p)
    assert (np.diff(got) >= 0).all()
    assert got[0] < size * p[0] / 2


@pytest.mark.parametrize("shared", [0.0, 0.6, 0.95])
def test_few_families_of_nulls_have_a_finding_and_not_too_few(shared):
    rng = np.random.default_rng(5)
    size, runs = 10, 600
    null = null_of(shared + (1 - shared) * np.eye(size))
    z = np.sqrt(shared) * rng.normal(size=(runs, 1)) + np.sqrt(1 - shared) * rng.normal(size=(runs, size))
    found = sum((adjusted(null, p) <= LEVEL).any() for p in 2 * stats.norm.sf(np.abs(z)))
    assert stats.binomtest(found, runs, LEVEL).pvalue > 0.001


def test_the_same_seed_gives_the_same_draws_and_another_gives_others():
    matrix = 0.5 + 0.5 * np.eye(6)
    p = np.linspace(0.01, 0.3, 6)
    assert (adjusted(null_of(matrix), p) == adjusted(null_of(matrix), p)).all()
    assert (adjusted(null_of(matrix), p) != adjusted(null_of(matrix, seed=1), p)).any()


def test_a_smaller_level_gets_more_draws():
    assert null_of(np.eye(2), level=0.005).draws > 5 * null_of(np.eye(2)).draws


def test_given_a_family_it_uses_what_is_known_of_it():
    null = SimpleNamespace(adjust=lambda p, prior: p, levels=lambda alpha, tested, prior: tested * alpha)
    informed = corrections["max-t"].for_family(null)
    assert informed.adjust(np.array([0.3]), Prior.ignorant(1))[0] == 0.3
    assert (informed.name, informed.joint) == ("max-t", True)
    assert not any(c.joint for name, c in corrections.items() if name != "max-t")
