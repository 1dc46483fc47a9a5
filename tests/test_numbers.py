"""How numbers are written."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtest import numbers
from fairtest.metrics.choice import scale_for


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        (1.0, "> 0.99"),
        (0.995, "> 0.99"),
        (0.9949, "0.99"),
        (0.1, "0.10"),
        (0.0999, "0.100"),
        (0.001, "0.001"),
        (0.00096, "1e-3"),
        (2.2e-21, "2e-21"),
        (1e-300, "< 1e-297"),
        (0.0, "< 1e-300"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_p_values(p, shown):
    assert numbers.p_value(p) == shown


@given(st.floats(0, 1))
def test_a_p_value_is_never_written_as_zero(p):
    shown = numbers.p_value(p)
    assert shown.startswith("<") or float(shown.lstrip("> ")) > 0


def test_p_values_on_a_page_have_powers_of_ten_and_narrow_spaces():
    assert numbers.typeset_p(2.2e-21) == "p\u202f=\u202f2\u202f×\u202f10⁻²¹"
    assert numbers.typeset_p(0.0) == "p\u202f<\u202f10⁻³⁰⁰"


@given(st.floats(-1e8, 1e8), st.integers(0, 4), st.booleans(), st.booleans())
def test_fixed_is_near_the_number_and_has_a_real_minus(number, decimals, signed, shy):
    shown = numbers.fixed(number, decimals, signed=signed, shy=shy)
    assert "-" not in shown
    assert "−0" not in shown or float(shown.replace("−", "-").replace(",", "")) != 0
    value = float(shown.replace("−", "-").replace(",", ""))
    assert value == pytest.approx(number, abs=0.5001 * 10.0**-decimals)


def test_small_bounds_get_another_digit():
    diff = scale_for("DIFF")
    assert diff.interval((-0.0004, 0.1)) == "[−0.04, +10.0]"
    assert diff.interval((0.0, 0.1)) == "[0.0, +10.0]"


def test_digits_of_strengths_are_one_choice_for_an_attribute():
    assert scale_for("NMI", 0.0088).interval((0.0054, 0.131)) == "[0.0054, 0.1310]"
    assert scale_for("NMI", 0.045).interval((0.0054, 0.131)) == "[0.005, 0.131]"
    assert scale_for("CORR").estimate(0.0061) == "0.006"
    assert scale_for("CORR").estimate(-0.061) == "−0.06"


def test_ratios_are_shown_as_ratios():
    ratio = scale_for("RATIO")
    assert ratio.estimate(-0.74) == "0.26"
    assert ratio.interval((-0.83, math.inf)) == "[0.17, ∞)"


def test_undefined_and_infinite():
    diff = scale_for("DIFF")
    assert diff.estimate(None) == diff.interval(None) == diff.estimate(math.nan) == "–"
    assert diff.interval((-math.inf, math.inf)) == "(−∞, +∞)"
    assert diff.interval((math.nan, 0.1)) == "–"


@pytest.mark.parametrize(
    ("shares", "shown"),
    [
        ([0.116, 0.441], ["12 %", "44 %"]),
        ([0.004, 0.441], ["0.4 %", "44.1 %"]),
        ([0.40, 0.42], ["40 %", "42 %"]),
        ([0.40, 0.415], ["40.0 %", "41.5 %"]),
        ([0.0, 0.5], ["0 %", "50 %"]),
    ],
)
def test_rates_in_sentences(shares, shown):
    assert numbers.rates_in_words(shares) == shown


def test_quantities():
    assert numbers.quantity(18123.4, numbers.decimals_for([18123.4, 3.0])) == "18,123"
    assert numbers.quantity(0.0123, numbers.decimals_for([0.0123])) == "0.0123"
    assert numbers.quantity(-2.5e17, 0) == "−2.50e+17"
    assert numbers.quantity(0.0, numbers.decimals_for([0.0])) == "0"
    assert numbers.quantity(math.nan, 1) == "–"
