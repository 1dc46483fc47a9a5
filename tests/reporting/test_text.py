"""The report for a terminal."""

import dataclasses
import re
from dataclasses import replace

import pytest
import report_builders as build

from fairtest.metrics.choice import scale_for
from fairtest.model.names import Names
from fairtest.reporting.figures.bars import forest_lines, rate_lines
from fairtest.reporting.figures.ink import Ink
from fairtest.reporting.figures.plots import ForestRow, plot_effects
from fairtest.reporting.formats.tables import display_width, draw_table, table_lines
from fairtest.reporting.formats.text import render_text

REPORTS = build.all_reports()


def test_it_says_what_the_papers_figure_says():
    text = render_text(build.income_report())
    places = [text.index(words) for words in ("\nWhole population", "\n1. age > 46", "\n2. education ≤ 9")]
    assert places == sorted(places)
    assert "Population of size 1,444; p-value = 1e-37 ; DIFF = [−39.2, −24.8] points" in text
    assert "simultaneous 95 % interval; estimate −32.5 points; single interval [−36.5, −28.0]" in text
    assert ">50K   │ 417 (44.1 %) │  58 (11.6 %) │   475 ( 32.9 %)" in text
    assert "Total  │ 945 (65.4 %) │ 499 (34.6 %) │ 1,444 (100.0 %)" in text


def test_opening_and_closing():
    text = render_text(build.income_report())
    assert text.startswith(
        "FairTest · testing · adult.csv · 48,842 people · sex → income\n\nOver everybody: income differs by sex"
    )
    for number in ("827 candidate", "59 hypotheses", "6 significant", "3 reported"):
        assert number in text
    assert "53 hypotheses not significant" in text
    assert "3 groups significant, but no stronger than a larger group" in text
    assert "17 people of the test set have no value for sex or income" in text
    assert "fnlwgt: excluded by the settings" in text
    assert "Fingerprint: 9479f8b76861e48c66836d97937f2c5a" in text
    assert "Note: Five rows were repeated." in text
    assert "Repeat it" not in text
    again = replace(build.income_report(), repeat="fairtest test adult.csv -p sex -o income")
    assert "Repeat it: fairtest test adult.csv -p sex -o income" in render_text(again)


def test_strata_stand_beneath_their_finding():
    text = render_text(build.berkeley_report())
    assert "COND-DIFF = [−3.5, +9.8] points" in text
    assert "* department = A: population of size 482\n  p-value = 0.015 ; DIFF = [+2.3, +33.0] points" in text
    assert "* department = H: population of size 4\n  DIFF = +50.0 points, not tested (too small to be tested)" in text
    assert "  Yes      │ 265 (61.8 %) │ 44 (83.0 %) │ 309 ( 64.1 %)" in text


def test_numbers_by_group():
    text = render_text(build.eta_report())
    assert "price by region" in text
    assert "North  │    800 │ 18,123 │       900 │ 9,000 │ 15,000 │ 18,000 │ 21,000 │ 90,000" in text
    assert "East   │      0 │      – │" in text


@pytest.mark.parametrize("width", [20, 60, 80, 100, 200])
@pytest.mark.parametrize("name", REPORTS)
def test_every_line_of_a_table_is_equally_wide(name, width):
    for block in re.split(r"\n(?=[^│┼\n]*\n)|\n\n", render_text(REPORTS[name], width=width)):
        lines = [line for line in block.splitlines() if "│" in line or "┼" in line]
        assert len({display_width(line) for line in lines}) <= 1, block
        assert len({tuple(i for i, c in enumerate(_wide(line)) if c in "│┼") for line in lines}) <= 1, block


def _wide(line):
    return "".join(c * display_width(c) for c in line)


@pytest.mark.parametrize("name", REPORTS)
def test_nothing_undefined_leaks_and_lines_are_no_wider_than_asked(name):
    text = render_text(REPORTS[name], width=80)
    assert not re.search(r"\b(nan|NaN|inf|None)\b", text)
    assert "\x1b" not in text
    prose = [line for line in text.splitlines() if "│" not in line and "┼" not in line and "alert" not in line]
    assert max(map(display_width, prose)) <= 80
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("name", REPORTS)
def test_the_same_report_gives_the_same_text(name):
    assert render_text(REPORTS[name]) == render_text(build.all_reports()[name])


def test_open_bounds_and_tiny_p_values():
    text = render_text(build.open_report())
    assert "p-value < 1e-300 ; RATIO = [0.15, ∞)" in text
    assert "(−∞, 0.50]" in text


def test_many_outputs_are_folded_not_cut():
    outputs, groups = [f"value {i}" for i in range(12)], [f"group number {i}" for i in range(60)]
    table = build.counts("answer", "place", outputs, groups, [[i + j for j in range(60)] for i in range(12)])
    lines = table_lines(table, 80)
    assert max(map(display_width, lines)) <= 80
    assert all(any(output in line for line in lines) for output in outputs)
    assert lines[-1] == "(and 20 more groups, in the JSON report)"


def test_wide_and_combining_letters_are_measured():
    lines = draw_table(["a", "b"], [["東京", "1"], ["e\u0301te\u0301", "22"]])
    assert {display_width(line) for line in lines} == {4 + 3 + 2}


def test_long_names_are_shortened():
    table = build.counts("o" * 90, "s", ("x" * 90, "y"), ("g" * 90, "h"), [[1, 2], [3, 4]])
    assert max(map(display_width, table_lines(table, 100))) <= 100


def test_budgets_and_false_discovery_rates_are_told():
    twice = dataclasses.replace(build.income_report(), settings=build.settings(budget=2, level=0.0253, set=2))
    text = " ".join(render_text(twice).split())
    assert "at most 2.53 %, and 5 % over both test sets" in text
    assert "2 test sets, of which this is number 2" in text
    rate = dataclasses.replace(build.income_report(), settings=build.settings(correction="bh"))
    assert "at most 5 % are expected to be flukes" in " ".join(render_text(rate).split())


def test_the_call_that_was_made_is_shown_as_given():
    text = render_text(build.income_report(repeat="ft.audit(frame, protected='sex', output='income')"))
    assert "Repeat it: ft.audit(frame, protected='sex', output='income')" in text


def test_it_has_the_order_of_the_page():
    text = render_text(build.income_report())
    parts = ("income differs by sex", "chance that even one", "827 candidate", "Left out", "All findings by sex")
    places = [text.index(part) for part in (*parts, "Whole population: ", "How to read", "How it was done")]
    assert places == sorted(places)


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("width", [40, 80, 120])
def test_colour_adds_nothing_but_colour(name, width):
    plain, coloured = (render_text(REPORTS[name], width, color=color) for color in (False, True))
    assert "\x1b[1m" in coloured
    assert [line.rstrip() for line in re.sub(r"\x1b\[\d*m", "", coloured).splitlines()] == plain.splitlines()


def test_rates_are_bars_on_one_scale_with_their_intervals():
    lines = rate_lines(build.finding(build.income_by_sex([[50, 75], [50, 25]])), Names(), 0, 80, Ink(color=False))
    female, male = lines[1:]
    assert lines[0] == "Share with income = >50K, each with its 95 % interval:"
    assert female.startswith("Female")
    assert abs(male.count("█") - 2 * female.count("█")) <= 1  # eighths of a character make up the rest
    assert female.index("┤") < male.index("┤")
    assert female.endswith(" 25.0 % [17.5, 34.3]")
    assert male.endswith(" 50.0 % [40.4, 59.6]")


def test_bars_are_called_what_the_user_calls_them():
    names = Names(labels={"sex": {"Female": "women"}}, outcome="earn more")
    lines = rate_lines(build.finding(build.income_by_sex([[50, 75], [50, 25]])), names, 0, 80, Ink(color=False))
    assert lines[0] == "Share that earn more, each with its 95 % interval:"
    assert lines[1].startswith("women ")
    assert lines[2].startswith("Male ")


def test_a_rate_of_nobody_has_no_bar():
    lines = rate_lines(build.finding(build.income_by_sex([[50, 0], [50, 0]])), Names(), 0, 80, Ink(color=False))
    assert lines[1].split() == ["Female", "–"]


def test_many_groups_have_no_bars():
    table = build.counts("o", "s", ("no", "yes"), [f"g{i}" for i in range(13)], [[5] * 13, [4] * 13])
    assert rate_lines(build.finding(table), Names(), 0, 80, Ink(color=False)) == []


def test_effects_stand_on_one_axis_with_the_whole_population():
    whole, part, weak = build.income_population(), build.income_finding(), build.income_finding(interval=(-0.6, 0.1))
    rows = [ForestRow("Everyone", whole, whole=True), ForestRow("a", part), ForestRow("b", weak, clear=False)]
    forest = plot_effects(rows, scale_for("DIFF"), whole.effect)
    lines = forest_lines(forest, Names(), 100, Ink(color=False))
    everyone, clear, unclear, ticks = lines
    assert everyone.index("◆") == clear.index("┊")  # the dotted line is the population's
    assert clear.index("●") < everyone.index("◆") < clear.index("│")  # further from no link
    assert unclear.index("○") == clear.index("●")
    assert unclear.index("├") < clear.index("├")
    assert "−60" in ticks
    assert "−32.5 [−39.2, −24.8]   1,444 people" in clear
    assert "◆" not in "".join(forest_lines(forest, Names(), 50, Ink(color=False)))


def test_an_interval_that_leaves_the_axis_is_an_arrow():
    rows = [ForestRow("Everyone", build.ratio_finding())]
    (line, _) = forest_lines(plot_effects(rows, scale_for("RATIO")), Names(), 100, Ink(color=False))
    assert "▸" in line


def test_strata_stand_on_one_axis():
    text = render_text(build.berkeley_report())
    block = text[text.index("\nBy department") : text.index("* department = A")]
    assert re.search(r"All, given department .*◇.* \+4\.5 \[−3\.5, \+9\.8\]", block)
    assert re.search(r"department = A .*●", block)
    assert re.search(r"department = B .*○", block)
    assert re.search(r"department = G .*– +12 people", block)


def test_an_impact_ratio_is_told_apart_from_a_ratio_the_other_way_round():
    """A ratio of 2 is not below four fifths; the lower rate over the higher is."""
    table = build.income_by_sex([[600, 400], [200, 400]])
    finding = build.finding(table, effect=0.25, interval=(0.2, 0.3), ratio=2.0, ratio_interval=(1.7, 2.4))
    told = " ".join(render_text(build.report(build.attribute(finding), favourable=">50K")).split())
    assert "ratio of the rates 2.00 [1.70, 2.40], impact ratio 0.50, below four fifths" in told


def test_a_clear_link_whose_interval_reaches_past_none_is_accounted_for():
    sharper = "The tests are sharper than the simultaneous intervals"
    assert sharper not in " ".join(render_text(build.income_report()).split())
    table = build.income_by_sex([[600, 400], [200, 400]])
    finding = build.finding(table, effect=0.25, interval=(-0.01, 0.5), p_value=0.01, significant=True)
    assert sharper in " ".join(render_text(build.report(build.attribute(finding))).split())


@pytest.mark.parametrize(
    ("groups", "left_out", "told"),
    [
        (1, 0, "1 group of run 2 asked about again: everyone; no other was significant"),
        (1, 1, "1 group of run 2 asked about again: everyone; the one other that was significant speaks of department"),
        (1, 3, "1 group of run 2 asked about again: everyone; all others significant speak of department"),
        (4, 1, "4 groups of run 2 asked about again: everyone, and where the link was significant"),
    ],
)
def test_an_explanation_begins_with_the_groups_of_a_run(groups, left_out, told):
    again = {"explains": (2, groups), "not_asked_again": left_out}
    text = " ".join(render_text(dataclasses.replace(build.berkeley_report(), **again)).split())
    assert told in text
    assert "The groups are those of run 2, tested again on" in text
    assert "looked at on the training set" not in text
