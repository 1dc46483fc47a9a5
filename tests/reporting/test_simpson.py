"""Simpson's paradox in words."""

import dataclasses

import report_builders as build

from fairtest.model.names import Names
from fairtest.reporting.words.simpson import simpson_note


def turned(**changes):
    [population] = build.berkeley_report().populations
    known = {"gap": -0.154, "gap_interval": (-0.19, -0.11), "significant": True}
    return dataclasses.replace(population, **(known | changes))


def test_the_note_says_both_numbers_and_where_people_are():
    [note] = simpson_note(turned(), Names())
    for part in (
        "Simpson’s paradox. Overall, those with gender = Female are behind by 15.4 points",
        "the difference is +4.5 points, the other way, and clear. Both are true.",
        "with gender = Male are in department A or department B, where the share with accepted = Yes is highest",
        "Whether it also excuses it is not a question statistics can answer.",
    ):
        assert part in note, part


def test_where_each_group_is_are_shares_of_it():
    [note] = simpson_note(turned(), Names())
    women, men = 9 + 44 + 2 + 9, 164 + 265 + 108 + 172
    all_women, all_men = (sum(s.table.sizes[g] for s in turned().strata) for g in (1, 0))
    assert f"{100 * women / all_women:.0f} % with gender = Female but" in note
    assert f"but {100 * men / all_men:.0f} % with gender = Male are in" in note


def test_shares_are_of_the_people_of_the_strata_where_everybody_are_more():
    one = turned()
    double = tuple(tuple(2 * n for n in row) for row in one.table.counts)
    wider = turned(table=dataclasses.replace(one.table, counts=double))
    assert simpson_note(wider, Names()) == simpson_note(one, Names())


def test_no_note_where_nothing_turns_or_nothing_was_clear():
    assert simpson_note(turned(gap=0.154, gap_interval=(0.1, 0.2)), Names()) == ()
    assert simpson_note(turned(gap_interval=(-0.3, 0.01)), Names()) == ()
    assert simpson_note(turned(gap=None, gap_interval=None), Names()) == ()
    assert simpson_note(turned(strata=()), Names()) == ()
    assert simpson_note(turned(significant=False), Names()) == ()
    assert simpson_note(turned(effect=None), Names()) == ()
