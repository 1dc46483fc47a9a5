"""Good, bad, or just an event."""

import numpy as np
import polars as pl
import pytest

import fairtest as ft
from fairtest.reporting.words.impact import impact_ratios


def loans(n=3_000, seed=0):
    rng = np.random.default_rng(seed)
    race = rng.choice(["white", "black"], n, p=[0.7, 0.3])
    denied = rng.random(n) < np.where(race == "black", 0.28, 0.09)
    grade = np.where(denied, "worst", rng.choice(["good", "fair"], n))
    return pl.DataFrame({"race": race, "deny": np.where(denied, "yes", "no"), "grade": grade})


def asked(output="deny", **options):
    return ft.audit(loans(), "race", output, contextual=[], **options)


def test_an_event_is_spoken_of_and_not_judged():
    report = asked(event="yes")
    assert (report.favourable, report.favourable_is, report.good_row) == ("yes", "event", None)
    assert "have deny = yes 18 points more often" in str(report).replace("\n", " ")
    assert impact_ratios(report, report.populations[0]) is None
    assert "four fifths" not in report.to_text()


def test_an_adverse_event_has_its_impact_ratio_the_right_way_round():
    report = asked(event="deny=yes", adverse=True)
    ratios = impact_ratios(report, report.populations[0])
    kept = [1 - share for share in report.populations[0].table.shares(1)]
    assert ratios == pytest.approx([rate / max(kept) for rate in kept])
    assert "not below four fifths" in report.to_text() or "below four fifths" in report.to_text()
    assert "which is adverse" in report.to_html()
    entry = report.to_dict()["investigations"][0]
    assert (entry["event"], entry["favourable"], entry["favourable_is"]) == ("yes", "no", "adverse")


def test_an_event_that_is_not_the_favourable_value_is_adverse():
    report = asked(event="yes", favourable={"deny": "no"})
    assert (report.favourable, report.favourable_is) == ("yes", "adverse")


@pytest.mark.parametrize("favourable", ["no", {"deny": "no"}])
def test_a_favourable_value_with_or_without_its_column(favourable):
    report = asked(favourable=favourable)
    assert (report.favourable, report.favourable_is, report.good_row) == ("no", "declared", 1)


def test_one_of_several_values_against_the_rest():
    report = asked("grade", event="worst", adverse=True)
    assert report.populations[0].metric == "DIFF"
    assert report.populations[0].table.rows == ("not worst", "worst")
    assert "have grade = worst 18 points more often" in str(report).replace("\n", " ")


def test_true_or_one_is_not_known_to_be_good():
    frame = loans().with_columns(deny=(pl.col("deny") == "yes").cast(int))
    report = ft.audit(frame.drop("grade"), "race", "deny", contextual=[])
    assert (report.favourable, report.favourable_is) == (1, "true")
    assert impact_ratios(report, report.populations[0]) is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"event": "perhaps"}, "no such value"),
        ({"event": "no", "adverse": True, "favourable": "no"}, "Take one of them out"),
        ({"output": "grade", "adverse": True}, "name one of its values"),
    ],
)
def test_contradictions_are_refused(options, words):
    with pytest.raises(ft.FairTestError, match=words):
        asked(**options)


def test_inspect_suggests_an_event_and_never_what_is_good():
    look = ft.inspect(loans().rename({"deny": "received_callback"}).drop("grade"))
    assert look.command.endswith("-o received_callback --event received_callback=yes")
    assert [c.role for c in ft.inspect(loans()).columns if c.name == "deny"] == ["output"]
