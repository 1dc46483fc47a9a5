"""Corrections: published examples by hand, and the order in which the procedures must stand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from fairtest.exceptions import InputError
from fairtest.inference.multiplicity.corrections import (
    benjamini_hochberg,
    benjamini_yekutieli,
    bonferroni,
    corrections,
    holm,
)
from fairtest.inference.multiplicity.prior import Prior

p_values = arrays(np.float64, st.integers(0, 12), elements=st.floats(0, 1) | st.sampled_from([0.01, 0.05]))
every = pytest.mark.parametrize("adjust", [bonferroni, holm, benjamini_hochberg, benjamini_yekutieli])

# Benjamini and Hochberg (1995), section 3.2: fifteen comparisons of two treatments of infarction.
INFARCTION = np.array(
    [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
     0.7590, 1.0000]
)  # fmt: skip


def test_holm_by_hand():
    """4 · 0.005, 3 · 0.01, 2 · 0.03; then 1 · 0.04 is below the step before it and takes its value."""
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_the_published_example():
    """The paper: Bonferroni rejects the three smallest at 5 %, the new procedure four. Holm stops at 3."""
    assert (bonferroni(INFARCTION) <= 0.05).sum() == 3
    assert (holm(INFARCTION) <= 0.05).sum() == 3
    assert (benjamini_hochberg(INFARCTION) <= 0.05).sum() == 4
    assert holm(INFARCTION)[:4] == pytest.approx([0.0015, 0.0056, 0.0247, 0.114])
    assert benjamini_hochberg(INFARCTION)[3] == pytest.approx(0.0095 * 15 / 4)


@given(p_values.filter(lambda p: p.size > 0))
def test_false_discovery_rate_agrees_with_scipy(p):
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p, method="bh"))
    assert benjamini_yekutieli(p) == pytest.approx(stats.false_discovery_control(p, method="by"))


@given(p_values)
def test_holm_rejects_what_the_step_down_loop_rejects(p):
    rejected = np.zeros(p.size, dtype=bool)
    for step, i in enumerate(np.argsort(p, kind="stable")):
        if p[i] * (p.size - step) > 0.05:
            break
        rejected[i] = True
    assert ((holm(p) <= 0.05) == rejected).all()


@given(p_values)
def test_the_procedures_stand_in_order(p):
    assert (benjamini_hochberg(p) <= holm(p)).all()
    assert (holm(p) <= bonferroni(p)).all()
    assert (benjamini_hochberg(p) <= benjamini_yekutieli(p)).all()


@every
@given(p=p_values, data=st.data())
def test_order_of_hypotheses_does_not_matter(adjust, p, data):
    order = np.array(data.draw(st.permutations(range(p.size))), dtype=int)
    assert (adjust(p[order]) == adjust(p)[order]).all()


@every
@given(p=p_values)
def test_adjusted_lies_between_raw_and_one_and_keeps_the_order(adjust, p):
    adjusted = adjust(p)
    assert ((p <= adjusted) & (adjusted <= 1)).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


@every
@given(p=p_values, data=st.data())
def test_a_larger_raw_p_value_never_helps_anyone(adjust, p, data):
    rise = data.draw(arrays(np.float64, p.size, elements=st.floats(0, 1)))
    assert (adjust(np.minimum(p + rise, 1)) >= adjust(p)).all()


@every
@given(p=p_values, data=st.data())
def test_untestable_hypotheses_are_no_members(adjust, p, data):
    places = data.draw(st.lists(st.integers(0, p.size), max_size=4))
    with_gaps = np.insert(p, sorted(places), np.nan)
    adjusted = adjust(with_gaps)
    assert (np.isnan(adjusted) == np.isnan(with_gaps)).all()
    assert (adjusted[~np.isnan(with_gaps)] == adjust(p)).all()


@every
@pytest.mark.parametrize("bad", [-0.1, 1.1, np.inf])
def test_what_is_no_probability_is_refused(adjust, bad):
    with pytest.raises(InputError, match="between 0 and 1"):
        adjust(np.array([0.5, bad]))


@pytest.mark.parametrize("correction", corrections.values(), ids=list(corrections))
def test_registry(correction):
    assert corrections[correction.name] is correction
    assert correction.title
    tested = np.arange(120) < 100
    levels = correction.levels(0.05, tested, Prior.ignorant(120))
    assert levels[tested].sum() == pytest.approx(0.05)
    assert levels[tested] == pytest.approx(0.0005)
    assert np.all(levels > 0)
