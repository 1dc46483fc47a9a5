"""Findings in plain words."""

import dataclasses
import datetime as dt
import re

import numpy as np
import polars as pl
import pytest
import report_builders as build
from report_builders import counts, finding, group

import fairtest as ft
from fairtest.model.context import Context, Op, Predicate
from fairtest.model.finding import GroupTable
from fairtest.model.names import Names
from fairtest.reporting.words.clauses import compare_rates
from fairtest.reporting.words.headline import headline, nothing_found
from fairtest.reporting.words.phrases import context_words
from fairtest.reporting.words.sentences import sentence, sentence_of, stratum_words

WHO = "Among the 1,444 people with age above 46 and education above 9 and up to 11, "


def test_difference_against_the_population():
    assert sentence(build.income_finding(), build.income_population()) == (
        WHO + "11.6 % with sex = Female and 44.1 % with sex = Male have income = >50K: "
        "a gap of 32.5 points, against 19.2 in the whole population."
    )


def test_difference_in_the_population_and_alone():
    whole = build.income_population()
    expected = "In the whole population (24,421 people), 11 % with sex = Female and 30 % with sex = Male have"
    assert sentence(whole, whole) == f"{expected} income = >50K: a gap of 19 points."
    assert sentence(build.income_finding()).endswith(": a gap of 32.5 points.")


def test_a_gap_no_wider_is_told_as_a_ratio():
    told = sentence(build.sales_finding(), build.income_population())
    assert told.endswith(": those with sex = Male 6.2 times as often, against 2.8 times in the whole population.")


def test_a_gap_the_other_way_says_so():
    turned = dataclasses.replace(
        build.income_finding(), table=build.income_by_sex([[441, 300], [58, 200]]), effect=0.28
    )
    turned = dataclasses.replace(turned, interval=(0.1, 0.4))
    assert "the other way round from the whole population’s 19" in sentence(turned, build.income_population())
    wide = dataclasses.replace(turned, interval=(-0.01, 0.5))  # the test is sharper than the interval
    assert "the other way round from the whole population’s 19" in sentence(wide, build.income_population())
    slight = dataclasses.replace(
        turned, table=build.income_by_sex([[441, 450], [58, 75]]), effect=0.027, interval=(-0.01, 0.06)
    )
    words = "a gap of 2.7 points that is hardly clear, against 19.2 the other way round in the whole population."
    assert sentence(slight, build.income_population()).endswith(words)


def test_a_group_without_the_outcome_has_no_ratio():
    none = dataclasses.replace(build.sales_finding(), table=build.income_by_sex([[900, 400], [100, 0]]), effect=-0.1)
    assert sentence(none, build.income_population()).endswith("a gap of 10 points, against 19 in the whole population.")


def test_ratio():
    whole = build.income_population(metric="RATIO", effect=-0.637)
    told = sentence(build.ratio_finding(), whole)
    assert told.endswith("those with sex = Male 3.8 times as often, against 2.8 times in the whole population.")
    unclear = dataclasses.replace(whole, significant=False)
    assert sentence(unclear).endswith("2.8 times as often, not distinguishable from none.")


def test_information_two_groups_reads_as_a_gap():
    two = dataclasses.replace(build.income_finding(), metric="NMI", effect=0.094)
    whole = dataclasses.replace(build.income_population(), metric="NMI", effect=0.045)
    assert "a gap of 32.5 points, against 19.2 in the whole population." in sentence(two, whole)


def test_information_many_groups_names_only_large_ones():
    report = build.race_report()
    told = sentence(report.findings[0], report.populations[0])
    assert told == (
        "Among the 5,271 people with age above 42 and workclass Private or State-gov, the share with income = >50K "
        "runs from 18 % (Black) to 35 % (White): a link estimated at 1.7 times that in the whole population."
    )
    assert "Amer-Indian-Eskimo" in sentence(report.findings[0], report.populations[0], least=20)


def test_information_many_outputs_tells_the_one_that_varies_most():
    table = counts("grade", "race", ("low", "mid", "high"), ("x", "y", "z"), [[50, 60, 50], [40, 10, 30], [10, 30, 20]])
    told = sentence(finding(table, metric="NMI", effect=0.1), least=100)
    assert told.endswith("the share with grade = mid varies most: it runs from 10 % (y) to 40 % (x).")


def test_correlation_of_two_numbers():
    report = build.numeric_report()
    told = sentence(report.findings[0], report.populations[0])
    assert told.endswith(
        "error rises with age: 1.20 on average where age ≤ 30, 1.43 where age > 60 "
        "(correlation 0.11, against 0.06 in the whole population). The link is clear and moderate."
    )
    assert sentence(report.populations[0]).endswith("(correlation 0.06). The link is clear but weak.")


def test_correlation_of_two_groups_with_a_number():
    table = GroupTable("wage", "sex", (group("Male", 500, 21.5), group("Female", 400, 18.0)))
    told = sentence(finding(table, metric="CORR", effect=-0.31))
    assert "average wage is 18.00 with sex = Female and 21.50 with sex = Male (correlation −0.31)." in told
    assert told.endswith("The link is clear and strong.")


def test_correlation_of_a_number_with_two_outputs():
    table = GroupTable("age", "hired", (group(False, 500, 44.0), group(True, 400, 36.0)))
    about = finding(table, metric="CORR", effect=-0.2, protected="age", output="hired", significant=False)
    told = sentence(about)
    assert "average age is 36.00 with hired = True and 44.00 with hired = False (correlation −0.20)." in told
    assert told.endswith("The link is not distinguishable from none.")


def test_correlation_ratio_both_ways_round():
    told = sentence(build.eta_report().populations[0])
    assert told.endswith(
        "average price runs from 18,123 (North) to 20,150 (South); region accounts for 3.1 % of its variation."
    )
    swapped = finding(build.eta_table(), metric="ETA", effect=0.031, protected="price", output="region")
    assert sentence(swapped).endswith("; 3.1 % of its variation goes with region.")


def test_rank():
    report = build.numeric_report()
    ranked = dataclasses.replace(report.populations[0], metric="RANK", effect=-0.2)
    assert "error tends to fall with age (rank correlation −0.20). The link is clear and moderate." in sentence(ranked)


def test_a_metric_of_ones_own():
    own = dataclasses.replace(build.income_finding(), metric="my gap", effect=0.12345)
    assert "have income = >50K; my gap = 0.123." in sentence(own)
    other = dataclasses.replace(build.race_report().populations[0], metric="gini", effect=0.2, significant=False)
    assert sentence(other).endswith("the link between income and race is gini = 0.200, not distinguishable from none.")


def test_given_an_explanatory_attribute():
    told = sentence(build.berkeley_report().populations[0])
    assert told == (
        "In the whole population (2,213 people), 32.4 % with gender = Female and 47.8 % with gender = Male have "
        "accepted = Yes. Comparing only people with the same department, the gap is +4.5 points [−3.5, +9.8]: "
        "not distinguishable from none."
    )


def test_given_an_explanatory_attribute_it_may_turn_or_stay():
    whole = dataclasses.replace(build.berkeley_report().populations[0], significant=True)
    assert sentence(whole).endswith(": clear, and it turns the other way.")
    stays = dataclasses.replace(whole, effect=-0.04, interval=(-0.08, -0.01))
    assert sentence(stays).endswith("the gap is −4.0 points [−8.0, −1.0]: still clear.")


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("NMI", "the strength of the link is 0.100 [0.050, 0.200]"),
        ("CORR", "the correlation is 0.10 [0.05, 0.20]"),
        ("RANK", "the rank correlation is 0.10 [0.05, 0.20]"),
        ("ETA", "the share of variation accounted for is 0.100 [0.050, 0.200]"),
        ("own", "own is 0.100 [0.050, 0.200]"),
    ],
)
def test_conditional_form_of_each_metric(metric, words):
    about = finding(build.eta_table(), metric=metric, effect=0.1, interval=(0.05, 0.2))
    told = sentence(about, explanatory=("dept", "year_of_entry"))
    assert f"comparing only people with the same dept and the same year of entry, {words}: still clear." in told


def test_undefined_says_why():
    told = sentence(build.undefined_report().populations[0])
    assert told.endswith("the link cannot be measured: there are none of those with sex = Female.")
    constant = finding(build.income_by_sex([[5, 5], [0, 0]]), effect=None)
    assert sentence(constant).endswith("cannot be measured: everyone has income = <=50K.")
    numbers = finding(build.eta_table(), metric="ETA", effect=float("nan"))
    assert "price or region does not vary" in sentence(numbers)


def test_labels():
    report = build.discovery_report()
    told = sentence_of(report, report.attributes[0], report.findings[0])
    assert "20 % with race = Black and 5 % with race = White get the label drum: a gap of 15 points." in told


def test_the_users_names():
    names = Names({"sex": {"Female": "women", "Male": "men"}}, "applicants", "earn well")
    told = sentence(build.income_finding(), build.income_population(), names=names)
    assert told.startswith("Among the 1,444 applicants with")
    assert "11.6 % of women and 44.1 % of men earn well: a gap of 32.5 points" in told


def test_contexts_in_words():
    context = Context.of(
        [
            Predicate("job", Op.IN, ("a", "b", "c")),
            Predicate("since", Op.AT_MOST, dt.date(2020, 1, 31)),
            Predicate("hours_per_week", Op.MISSING),
            Predicate("x", Op.IS, ""),
        ]
    )
    assert context_words(context) == "hours per week missing, job a, b or c, since up to 2020-01-31 and x “”"


def test_verdicts_of_strata():
    strata = build.berkeley_report().populations[0].strata
    assert [stratum_words(build.berkeley_report(), s) for s in strata] == [
        "clear",
        "not enough data to say: only 11 with gender = Female",
        "not distinguishable from none",
        "not distinguishable from none",
        "cannot be measured: there are none of those with gender = Female",
        "too small to be tested",
    ]


def test_headlines():
    assert headline(build.income_report()) == (
        "People with sex = Female have income = >50K 19 points less often than those with sex = Male: 11 % to 30 %. "
        "In two groups the link looks stronger than over everybody"
    )
    assert headline(build.eta_report()) == (
        "Average price runs from 18,123 (North) to 20,150 (South). "
        "Beyond that, in none of 58 groups could much more be confirmed"
    )
    assert headline(build.nothing_report()) == (
        "No link between income and sex could be confirmed, neither over everybody nor in any of 58 groups"
    )
    assert headline(build.undefined_report()) == "No link between income and sex could be tested"
    assert (
        headline(build.discovery_report())
        == "Over everybody, one label goes with race. In groups, one label goes with race"
    )
    assert headline(build.berkeley_report()) == (
        "There is a sign that accepted goes with gender, comparing only people with the same department, "
        "but no proof (p = 0.041 alone, > 0.99 after correction). "
        "It differs clearly by gender only where department = A"
    )


def test_headline_without_a_link_in_the_population_or_with_one_that_turns():
    weak = build.income_population(significant=False, p_value=0.4, p_value_raw=0.2)
    lone = build.report(build.attribute(weak, [build.income_finding()]))
    assert headline(lone) == (
        "Over everybody, no link between income and sex could be confirmed. But it differs in one group "
        "(age > 46, education > 9, education ≤ 11)"
    )
    turned = dataclasses.replace(build.income_finding(), effect=0.3)
    both = build.report(build.attribute(build.income_population(), [turned]))
    assert headline(both).endswith("education ≤ 11) the link looks stronger or turns the other way")


def test_an_output_that_ends_in_a_digit_stands_apart_from_the_points():
    assert compare_rates("women", "have hired = yes", "men", 0.1, 0.3) == (
        "women have hired = yes 20 points less often than men: 10 % to 30 %"
    )
    assert compare_rates("women", "have hired = 1", "men", 0.3, 0.1) == (
        "women have hired = 1 more often than men, by 20 points: 30 % to 10 %"
    )


def test_several_attributes_are_joined():
    attributes = (*build.income_report().attributes, *build.race_report().attributes)
    assert headline(build.report(*attributes)).startswith(
        "People with sex = Female have income = >50K 19 points less often than those with sex = Male: 11 % to 30 %. "
        "The share with income = >50K runs from 12 % "
    )
    assert "between income and sex or race" in nothing_found(build.report(*attributes))


@pytest.mark.parametrize(("name", "report"), build.all_reports().items())
def test_no_sentence_judges(name, report):
    told = " ".join([headline(report), *(sentence_of(report, a, a.population) for a in report.attributes)])
    told += " ".join(sentence_of(report, a, f) for a in report.attributes for f in a.findings)
    assert not re.search(r"\bcaus|\bbias|discriminat|unfair|victim|\bnan\b|\binf\b|None", told), told
    assert told.count("  ") == 0


def test_a_sentence_of_its_own_wins():
    given = dataclasses.replace(build.income_finding(), sentence="As told.")
    report = build.income_report()
    assert sentence_of(report, report.attributes[0], given) == "As told."


def test_rates_and_their_gap_subtract():
    cells = {(528, 417, 441, 58): "11.6 % with sex = Female and 44.1 % with sex = Male", (60, 40, 88, 12): "12 % with"}
    for (no, yes, others_no, others_yes), words in cells.items():
        table = build.income_by_sex([[no, others_no], [yes, others_yes]])
        text = sentence(build.finding(table))
        assert words in text
        shares = [float(n) for n in re.findall(r"([\d.]+) % with", text)]
        gap = float(re.search(r"gap of ([\d.]+) points", text)[1])
        assert gap == pytest.approx(abs(shares[0] - shares[1]), abs=0.11)


def test_a_number_with_a_plural_name_rises_as_one():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 70, 1_000)
    frame = pl.DataFrame({"age": age, "sex": rng.choice(["f", "m"], 1_000), "wages": age + rng.normal(0, 9, 1_000)})
    said = " ".join(str(ft.audit(frame, ["age", "sex"], "wages", contextual=[])).split())
    assert "Wages rise with age: " in said
    assert "Average wages by age: " in said
    given = " ".join(str(ft.audit(frame, "sex", "wages", explanatory="age", contextual=[])).split())
    assert "= >" not in given
