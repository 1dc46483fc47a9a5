"""The two answers of a report, over everybody and in groups, and what stands beside them."""

import dataclasses

import pytest
import report_builders as build

from fairtest.model.context import Op, Predicate
from fairtest.model.finding import Elsewhere
from fairtest.reporting.assemble import _in_order
from fairtest.reporting.formats.html import render_html, render_notebook
from fairtest.reporting.formats.markdown import render_markdown
from fairtest.reporting.formats.text import render_text
from fairtest.reporting.outline import outline_of
from fairtest.reporting.words.everybody import detectable_note, sign_note, who_was_asked
from fairtest.reporting.words.funnel import funnel, left_out
from fairtest.reporting.words.groups import elsewhere_words, relation_words
from fairtest.reporting.words.headline import answers
from fairtest.reporting.words.method import how_sure, method

CONFIRMED = "People with sex = Female have income = >50K 19 points less often than those with sex = Male: 11 % to 30 %"


def group(*predicates, confirmed=(True,), **changes):
    where = predicates or (Predicate("job", Op.IS, "Sales"),)
    return dataclasses.replace(
        build.sales_finding(),
        context=type(build.sales_finding().context).of(where),
        confirmed=confirmed * len(where) if len(confirmed) == 1 else confirmed,
        **changes,
    )


def turned(**changes):
    return group(Predicate("age", Op.AT_MOST, 20), effect=0.1, interval=(0.05, 0.2), **changes)


def without(**changes):
    """Return a group whose gap is the other way round, by an interval that reaches past none."""
    return group(Predicate("age", Op.AT_MOST, 30), effect=0.03, interval=(-0.005, 0.065), **changes)


def unclear(**changes):
    return build.income_population(**({"significant": False, "p_value": 0.4, "p_value_raw": 0.2} | changes))


def asked(population, *findings, settings=None, **changes):
    known = {"reference": "Male", "groups": ("Male", "Female"), "named": True, "everywhere": False}
    about = build.attribute(population, findings, **(known | changes))
    return build.report(about, settings=settings or build.settings(population_share=0.5))


def text_of(report):
    return " ".join(render_text(report, width=200).split())


class TestHeadline:
    def test_confirmed_and_nothing_beyond(self):
        report = asked(build.income_population(), significant=1, reported=1, tested=7319)
        assert answers(report) == (CONFIRMED, "Beyond that, in none of 7,318 groups could a difference be confirmed")

    def test_confirmed_and_seen_in_groups_that_say_no_more(self):
        report = asked(build.income_population(), significant=32, reported=1, tested=220)
        assert answers(report)[1] == "Beyond that, in none of 219 groups could much more be confirmed"

    def test_never_no_link_where_everybody_is_confirmed(self):
        for tested, significant in ((1, 1), (59, 1), (59, 20)):
            report = asked(build.income_population(), significant=significant, reported=1, tested=tested)
            assert not any(words in text_of(report).lower() for words in ("no link between", "no link over"))

    @pytest.mark.parametrize(
        ("findings", "words"),
        [
            ((group(),), "This holds everywhere, and more so in one group (job = Sales)"),
            ((group(), group(Predicate("x", Op.IS, 1))), "This holds everywhere, and more so in two groups"),
            ((turned(),), "This holds everywhere but in one group (age ≤ 20), where it is the other way round"),
            (
                (group(), turned()),
                "This holds nearly everywhere: more so in one group, the other way round in one",
            ),
            ((without(),), "This holds everywhere but in one group (age ≤ 30), where there is no such gap"),
            (
                (dataclasses.replace(without(), effect=0.12, interval=(-0.02, 0.3)),),
                "This holds everywhere but in one group (age ≤ 30), where it is the other way round",
            ),
            (
                (group(), turned(), without()),
                "This holds nearly everywhere: more so in one group, the other way round in one, no such gap in one",
            ),
            (
                (turned(), without()),
                "This holds nearly everywhere: the other way round in one group, no such gap in one",
            ),
        ],
    )
    def test_everywhere_and_more_so_or_otherwise(self, findings, words):
        rest = Elsewhere(9000, -0.15, (-0.2, -0.1))
        report = asked(build.income_population(), *findings, everywhere=True, elsewhere=rest)
        assert answers(report) == (CONFIRMED, words)

    def test_everywhere_is_not_said_where_nothing_is_left(self):
        rest = Elsewhere(40, -0.01, (-0.2, 0.18))
        report = asked(build.income_population(), group(), everywhere=True, elsewhere=rest)
        assert answers(report)[1] == "It is stronger in one group (job = Sales)"

    def test_all_of_it_is_in_groups(self):
        rest = Elsewhere(9000, -0.004, (-0.012, 0.004))
        report = asked(build.income_population(), group(), elsewhere=rest)
        assert answers(report)[1] == "It shows in one group (job = Sales), and outside it nothing clear is left"

    def test_nothing_is_said_of_the_rest_where_it_is_not_known(self):
        report = asked(build.income_population(), group())
        assert answers(report)[1] == "It shows in one group (job = Sales)"

    def test_only_in_groups(self):
        report = asked(unclear(), group(), turned())
        assert answers(report) == (
            "Over everybody, no link between income and sex could be confirmed",
            "But it differs in two groups",
        )

    def test_nothing_at_all(self):
        report = asked(unclear(), significant=0, reported=0, tested=364)
        assert answers(report) == (
            "No link between income and sex could be confirmed, neither over everybody nor in any of 363 groups",
        )

    def test_a_sign_is_not_proof_and_not_nothing(self):
        sign = unclear(p_value=0.06, p_value_raw=0.03)
        report = asked(sign, significant=0, reported=0, tested=364)
        assert answers(report) == (
            "There is a sign that income goes with sex, but no proof (p = 0.030 alone, 0.060 after correction)",
            "In none of 363 groups could a link be confirmed either",
        )
        assert sign_note(report.settings, sign) == ("A sign, not proof: p = 0.030 alone, 0.060 after correction.",)
        assert sign_note(report.settings, unclear()) == sign_note(report.settings, build.income_population()) == ()

    def test_a_sign_below_five_per_cent_names_the_level_of_a_smaller_set(self):
        settings = build.settings(level=0.05 / 3, budget=3)
        [note] = sign_note(settings, unclear(p_value=0.03, p_value_raw=0.015))
        assert note.endswith("0.030 after correction, where 0.017 was the level of this test set.")

    def test_several_attributes(self):
        first = build.attribute(unclear(), [group(), turned()], named=True)
        second = dataclasses.replace(build.attribute(unclear(), significant=0, reported=0, tested=1074), name="race")
        assert answers(build.report(first, second)) == (
            "Over everybody, no link between income and sex or race could be confirmed",
            "By sex, it differs in two groups; by race, in none of 1,073 groups could a link be confirmed",
        )
        clear = dataclasses.replace(first, population=build.income_population())
        assert answers(build.report(clear, second))[:2] == (
            CONFIRMED,
            "Over everybody, no link between income and race could be confirmed",
        )

    def test_every_form_says_both(self):
        report = asked(build.income_population(), group(), everywhere=True)
        for form in (render_text, render_markdown, render_notebook, render_html):
            assert "more so in one group (job = Sales)" in form(report)
        assert report.to_dict()["investigations"][0]["answers"] == list(answers(report))
        assert "p = 2 × 10⁻²⁶³ after correction" in render_html(report).replace("\u202f", " ")


class TestNotConfirmed:
    def test_the_smallest_gap_for_everybody_and_for_a_group(self):
        assert detectable_note(unclear(), 0.105, (500, 0.13)) == (
            "A gap of about 10.5 points over everybody would have been seen with a chance of 80 %; "
            "in a group of 500 people, one of about 13.0 points.",
        )
        assert detectable_note(unclear(), 0.105, None)[0].endswith("seen with a chance of 80 %.")

    def test_confirmed_over_everybody_it_is_about_groups(self):
        assert detectable_note(build.income_population(), 0.01, (500, 0.13)) == (
            "In a group of 500 people, a gap of about 13.0 points would have been seen with a chance of 80 %.",
        )

    def test_the_page_says_it_at_once(self):
        report = asked(unclear(), significant=0, reported=0, detectable=0.105, detectable_inside=(500, 0.13))
        lead = render_html(report).partition("<b>How sure")[0].replace("\u202f", " ")
        assert "A gap of about 10.5 points over everybody would have been seen with a chance of 80 %" in lead

    def test_too_few_people(self):
        assert detectable_note(unclear(), 1.2, (50, 2.0)) == (
            "There are too few people to see any gap, even over everybody.",
        )
        [note] = detectable_note(unclear(), 0.5, (50, 1.01))
        assert note.endswith("; a group of 50 people is too small to see any gap.")
        assert detectable_note(build.income_population(), 0.5, (50, 1.01)) == (
            "A group of 50 people is too small to see any gap.",
        )

    def test_a_metric_without_sign_rules_out(self):
        without = build.race_report().populations[0]
        plain = dataclasses.replace(without, significant=False)
        assert detectable_note(plain, 0.02, None)[0].startswith(
            "A link stronger than 0.0200 (NMI, from 0 to 1) over everybody"
        )
        assert detectable_note(without, 0.02, None) == ()


class TestEverybody:
    def test_all_people_of_the_file(self):
        report = asked(build.income_population(size=48842))
        [about] = report.attributes
        assert who_was_asked(report, about) == "all 48,842 people"
        assert outline_of(report).attributes[0].population.share == "the whole file"
        assert "Whole population: all 48,842 people" in text_of(report)

    def test_training_and_this_set(self):
        report = asked(build.income_population(size=3165))
        report = dataclasses.replace(report, data=dataclasses.replace(report.data, train=1165, test=2000))
        assert who_was_asked(report, report.attributes[0]) == "training and this set, 3,165 people"
        assert outline_of(report).attributes[0].population.share == "100.0 % of training and this set"

    def test_a_later_question(self):
        report = asked(build.income_population(size=3409), named=False)
        words = "tested on the 3,409 people of this set, because the question came after results were shown"
        assert who_was_asked(report, report.attributes[0]) == words
        assert "100.0 % of the test set" not in text_of(report)
        assert words in text_of(report)
        assert "because the question came after results were shown" in method(report)

    def test_no_share_of_the_test_set_is_above_all_of_it(self):
        report = asked(build.income_population(size=48842), group())
        assert "142." not in text_of(report)
        assert "142." not in render_html(report)

    def test_groups_are_shares_of_the_test_set(self):
        report = asked(build.income_population(size=48842), group())
        assert "of the test set" in outline_of(report).attributes[0].inside[0].share

    def test_the_method_says_which_level_and_whom(self):
        words = method(asked(build.income_population()))
        assert "half of the level is kept for it, and goes on to the groups where it is confirmed" in words
        assert "tested on everybody, because the question was there before anything was shown" in words
        assert "half of the level" not in method(asked(build.income_population(), settings=build.settings()))

    def test_each_set_has_its_part_of_the_level(self):
        settings = build.settings(level=0.05 / 3, budget=3, population_share=0.5)
        assert "Each of the 3 test sets has the level 0.05 / 3 = 0.017." in method(
            asked(build.income_population(), settings=settings)
        )


class TestFindings:
    def test_more_so_or_otherwise(self):
        report = asked(build.income_population(), group(), turned(), without(), everywhere=True)
        [about] = report.attributes
        assert [relation_words(about, f) for f in about.inside] == [
            "more so than everybody else",
            "the other way round than among everybody else",
            "no such gap as among everybody else",
        ]
        assert all("No such gap as among everybody else" in render(report) for render in (render_text, render_html))

    def test_inside_a_group_without_its_gap(self):
        around = group()
        inner = without(inside=around.context)
        report = asked(build.income_population(), around, inner)
        words = "inside group 1, and with no such gap as the rest of it"
        assert relation_words(report.attributes[0], inner) == words

    def test_one_inside_another_stands_below_it(self):
        around = group()
        inner = group(Predicate("job", Op.IS, "Sales"), Predicate("age", Op.ABOVE, 40), inside=around.context)
        lone = turned()
        order = _in_order((around, lone, inner))
        assert [f.context for f in order] == [around.context, inner.context, lone.context]
        report = asked(build.income_population(), *order, everywhere=True)
        assert relation_words(report.attributes[0], inner) == "inside group 1, and stronger than in the rest of it"
        assert "└ 2. age > 40, job = Sales" in render_text(report)
        assert 'class="finding inside"' in render_html(report)
        assert "| └ age \\> 40, job = Sales |" in render_markdown(report)
        assert "every group shown inside another, or as differing from everybody, truly differs" in how_sure(report)

    def test_a_finding_whose_parent_is_not_shown_is_kept(self):
        orphan = group(inside=turned().context)
        assert _in_order((orphan,)) == (orphan,)

    def test_ticks_have_words(self):
        where = (Predicate("age", Op.ABOVE, 40), Predicate("job", Op.IS, "Sales"))
        report = asked(build.income_population(), group(*where, confirmed=(True, False)))
        assert "Conditions: age > 40 ✓, job = Sales (surely needed where there is a ✓)." in text_of(report)
        assert "✓ a condition that is surely needed" in text_of(report)
        page = render_html(report)
        assert page.count('aria-hidden="true">✓') == 1
        assert page.count("(surely needed)") == 1
        none = asked(build.income_population(), group(*where, confirmed=(False, False)))
        assert "None of the conditions is confirmed by itself." in text_of(none)
        assert "surely needed" not in text_of(none)

    def test_nobody_else_or_still_there(self):
        nothing = Elsewhere(24445, -0.004, (-0.012, 0.004))
        report = asked(build.income_population(), group(), turned(), elsewhere=nothing)
        words = "Outside these groups (24,445 people) nothing clear is left: −0.4 points [−1.2, +0.4]"
        assert elsewhere_words(report, report.attributes[0]).startswith(words)
        for form in (render_text, render_markdown, render_notebook, render_html):
            said = " ".join(form(report).replace("\\", "").split())
            assert "nothing clear is left: −0.4 points [−1.2, +0.4], a single interval" in said
        still = Elsewhere(900, -0.15, (-0.2, -0.1))
        report = asked(build.income_population(), group(), elsewhere=still, everywhere=True)
        assert "Outside this group (900 people) the gap is still there: −15.0 points" in text_of(report)
        report = asked(unclear(), group(), elsewhere=still)
        assert "(900 people) a gap is to be seen as well" in text_of(report)
        assert elsewhere_words(asked(unclear()), asked(unclear()).attributes[0]) == ""

    def test_the_two_promises_stand_apart(self):
        report = asked(build.income_population(), group(), everywhere=True)
        words = how_sure(report)
        assert "The chance that even one reported link is a fluke is at most 5 %." in words
        assert (
            "Apart from that, with a confidence of 95 %, every group shown as differing from everybody truly" in words
        )
        assert "not a separate test" not in words
        paper = asked(build.income_population(), group(confirmed=(True, True)), everywhere=False)
        plain = dataclasses.replace(paper.attributes[0].findings[0], confirmed=())
        looked = asked(build.income_population(), plain)
        assert "not a separate test" in how_sure(looked)
        assert "Apart from that" not in how_sure(looked)


class TestCounts:
    def test_what_is_not_shown_adds_up(self):
        report = asked(build.income_population(), group(folded=796), significant=840, reported=2, tested=3643)
        numbers = [number for number, _ in funnel(report)]
        assert numbers == [827, 3643, 840, 2]
        assert funnel(report)[-1][1].endswith(
            "1 of them the whole population; the other significant groups say no more"
        )
        said = dict(left_out(report))
        assert said["838 groups"] == (
            "significant, and saying no more than a group shown, with which they share people (796), "
            "or than everybody together (42)"
        )
        assert "Stands for 796 other significant groups" in text_of(report)

    def test_findings_stand_as_chosen_but_in_the_papers_preset(self):
        assert "they stand in that order" in method(asked(build.income_population(), group()))
        settings = build.settings(preset="paper")
        plain = dataclasses.replace(group(), confirmed=())
        assert "bound of their simultaneous interval" in method(
            asked(build.income_population(), plain, settings=settings)
        )
