"""Testing: who and what is left out, and which column and value is what."""

from __future__ import annotations

import itertools
import json

import numpy as np
import polars as pl
import pytest
from planted_people import FRAME, ORDERED, PEOPLE, all_of, audited, people_of

import fairtest as ft


class TestLeftOut:
    """People and columns that are left out, and where it is said."""

    def test_people_without_a_value_are_left_out_for_that_attribute_only(self):
        rng = np.random.default_rng(1)
        holes = {"sex": 0.05, "race": 0.1, "hired": 0.02, "city": 0.1}
        frame = FRAME.with_columns(
            pl.when(pl.Series(rng.random(PEOPLE) < share)).then(None).otherwise(pl.col(name)).alias(name)
            for name, share in holes.items()
        )
        report, test = audited(["sex", "race"], "hired", frame=frame)
        for attribute in report.attributes:
            present = test.filter(pl.col(attribute.name).is_not_null() & pl.col("hired").is_not_null())
            assert attribute.left_out == test.height - present.height
            whole = frame.filter(pl.col(attribute.name).is_not_null() & pl.col("hired").is_not_null())
            assert attribute.population.size == whole.height
            assert f"{attribute.left_out:,}" in report.to_text().replace(" ", " ")
            for found in attribute.findings:
                assert found.size == people_of(found, present).height
        assert report.attributes[0].left_out != report.attributes[1].left_out

    def test_people_without_an_explanatory_value_are_left_out_and_counted(self):
        rng = np.random.default_rng(1)
        gone = pl.Series(rng.random(PEOPLE) < 0.1)
        frame = FRAME.with_columns(pl.when(gone).then(None).otherwise(pl.col("department")).alias("department"))
        report, test = audited("sex", "hired", frame=frame, explanatory="department")
        missing = test["department"].null_count()
        assert missing > 0
        assert report.attributes[0].left_out == missing
        assert report.populations[0].size == PEOPLE - frame["department"].null_count()

    def test_nobody_is_left_out_of_a_complete_table(self):
        report, _ = audited(["sex", "race"], "hired")
        assert [a.left_out for a in report.attributes] == [0, 0]

    def test_identifiers_are_left_out_with_a_word(self):
        frame = FRAME.with_columns(
            name=pl.Series([f"n{i:05d}" for i in range(PEOPLE)]),
            person_id=pl.int_range(1000, 1000 + PEOPLE, eager=True),
        )
        report, _ = audited("sex", "hired", frame=frame, contextual=None, max_depth=3)
        notes = {c.name: c for c in report.data.columns}
        text = report.to_text()
        for name in ("name", "person_id"):
            assert notes[name].role == "left out"
            assert "identifier" in notes[name].note
            assert notes[name].kind == "identifier"
            assert f"{name}:" in text
            assert not any(name in f.context.columns for f in report.findings)

    def test_excluded_columns_are_no_contexts(self):
        report, _ = audited("sex", "hired", contextual=None, exclude=["city", "joined"])
        assert report.findings
        assert not any({"city", "joined", "hired", "sex"} & f.context.columns for f in report.findings)
        assert {c.name: c.note for c in report.data.columns}["city"] == "excluded by the user"

    def test_untestable_contexts_are_counted(self):
        """A club whose women are all in the training set: on the test set there is nobody to compare."""
        n = 2000
        training = np.zeros(n, dtype=bool)
        training[ft.DataSource({"a": list(range(n))}, train_size=0.5).holdout.rows(0)] = True
        rng = np.random.default_rng(0)
        club = rng.random(n) < 0.2
        woman = np.where(club & ~training, False, rng.random(n) < 0.5)
        y = rng.random(n) < np.where(club & woman, 0.05, 0.5)
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "club": np.where(club, "in", "out"), "y": y})
        for metric in ("DIFF", "NMI", "RATIO"):
            source = ft.DataSource(frame, train_size=0.5)
            investigation = ft.Testing(source, "sex", "y", metrics=metric)
            ft.train([investigation], min_size=100, search="tree")
            assert len(investigation.training.found[0].contexts) == 3
            ft.test([investigation], correction="holm")
            attribute = ft.report([investigation])[0].attributes[0]
            assert (attribute.tested, attribute.untestable) == (2, 1), metric
            assert not any("club = in" in str(f.context) for f in attribute.findings)

    def test_an_output_that_does_not_vary_on_the_test_set_is_no_error(self):
        n = 1000
        training = np.zeros(n, dtype=bool)
        training[ft.DataSource({"a": list(range(n))}, train_size=0.5).holdout.rows(0)] = True
        rng = np.random.default_rng(0)
        frame = pl.DataFrame({"sex": rng.choice(["f", "m"], n), "y": training & (rng.random(n) < 0.5)})
        report, _ = audited("sex", "y", frame=frame, metrics="NMI", contextual=[], ordered=None, population_share=0)
        population = report.populations[0]
        assert population.effect is None
        assert population.interval is None
        assert population.p_value is None
        assert population.significant is False
        assert (report.tested, report.attributes[0].untestable, report.reported) == (0, 1, 0)
        assert population.sentence
        assert json.loads(report.to_json())["investigations"][0]["protected"][0]["population"]["effect"] is None
        report.to_html()
        report.to_text()


class TestRoles:
    """Kinds, groups and values that the user declares."""

    def test_declared_kinds_choose_the_metric(self):
        cases = [
            ({}, "level", "salary", "ETA"),
            ({"numeric": ["level"]}, "level", "salary", "CORR"),
            ({"ordered": {**ORDERED, "level": [1, 2, 3, 4]}}, "level", "salary", "RANK"),
            ({}, "sex", "level", "NMI"),
            ({"numeric": ["level"]}, "sex", "level", "MEAN"),
            ({}, "years", "hired", "CORR"),
            ({"categorical": ["years"]}, "years", "hired", "NMI"),
        ]
        for options, protected, output, metric in cases:
            report, _ = audited(protected, output, contextual=["city"], **options)
            assert report.attributes[0].metric == metric

    def test_a_declared_order_turns_the_direction(self):
        effects = []
        for order in (["low", "mid", "high"], ["high", "mid", "low"]):
            report, _ = audited("grade", "points", ordered={"grade": order}, contextual=[])
            effects.append(report.populations[0].effect)
        assert effects[0] == pytest.approx(-effects[1], rel=1e-9)

    def test_favourable_and_reference_turn_the_sign(self):
        found = {}
        for favourable, reference in itertools.product((True, False), ("man", "woman")):
            report, _ = audited("sex", "hired", favourable={"hired": favourable}, reference={"sex": reference})
            assert report.favourable == favourable
            assert report.attributes[0].reference == reference
            found[favourable, reference] = report.findings[0]
        assert found[True, "man"].effect < -0.2
        assert found[False, "woman"].effect == pytest.approx(found[True, "man"].effect, rel=1e-9)
        for other in ((False, "man"), (True, "woman")):
            assert found[other].effect == pytest.approx(-found[True, "man"].effect, rel=1e-9)
            low, high = found[True, "man"].interval
            assert found[other].interval == pytest.approx((-high, -low), rel=1e-6)
            assert found[other].p_value_raw == pytest.approx(found[True, "man"].p_value_raw, rel=1e-9)

    def test_what_effects_are_about_by_default(self):
        """True and 1 are favourable, else the rarer value; the larger group is the reference; ties go by name."""
        n = 400
        frame = pl.DataFrame(
            {
                "group": ["b"] * 240 + ["a"] * 160,
                "even": ["b", "a"] * 200,
                "flag": [True] * 300 + [False] * 100,
                "one": [1] * 300 + [0] * 100,
                "word": ["yes"] * 300 + ["no"] * 100,
                "tie": ["yes", "no"] * 200,
            }
        ).sample(n, shuffle=True, seed=0)
        favourable = {"flag": True, "one": 1, "word": "no", "tie": "no"}
        for output, value in favourable.items():
            report, _ = audited(["group", "even"], output, frame=frame, contextual=[], min_size=50, ordered=None)
            assert report.favourable == value
            assert [a.reference for a in report.attributes] == ["b", "a"]

    def test_crossed_protected_attributes(self):
        report, _ = audited([("sex", "race"), "sex"], "hired", contextual=["city"])
        crossed, alone = report.attributes
        assert (crossed.name, crossed.metric, alone.metric) == ("sex × race", "NMI", "DIFF")
        pairs = list(itertools.product(("man", "woman"), ("ash", "birch", "cedar")))
        table = crossed.population.table
        assert list(table.columns) == [", ".join(pair) for pair in pairs]
        for column, (sex, race) in enumerate(pairs):
            people = FRAME.filter((pl.col("sex") == sex) & (pl.col("race") == race))
            assert table.counts[1][column] == people["hired"].sum()
            assert table.counts[0][column] == people.height - people["hired"].sum()

    def test_crossed_attributes_are_no_contexts_of_their_own(self):
        testing = ft.Testing(
            ft.DataSource(FRAME, train_size=0.5), [("sex", "race"), "sex"], "hired", exclude=["salary", "points"]
        )
        crossed, alone = (set(q.contextual) for q in testing.questions)
        assert not {"sex", "race", "hired", "salary"} & crossed
        assert alone - crossed == {"race"}

    def test_a_protected_attribute_may_be_context_for_another(self):
        rng = np.random.default_rng(3)
        n = 3000
        woman, race = rng.random(n) < 0.5, rng.choice(["a", "b"], n)
        y = rng.random(n) < np.where(woman & (race == "b"), 0.2, 0.6)
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "race": race, "y": y})
        report, _ = audited(["sex", "race"], "y", frame=frame, contextual=None, ordered=None)
        contexts = {(f.protected, str(f.context)) for f in report.findings}
        assert ("sex", "race = b") in contexts
        assert ("race", "sex = f") in contexts

    def test_numeric_outputs_by_group(self):
        """The table of a finding has the means and quantiles that numpy gives."""
        report, test = audited("race", "salary")
        assert report.favourable is None
        for found in all_of(report):
            people = people_of(found, test)
            assert (found.table.measured, found.table.by) == ("salary", "race")
            assert [g.name for g in found.table.rows] == ["ash", "birch", "cedar"]
            assert sum(g.size for g in found.table.rows) == found.size
            for group in found.table.rows:
                values = people.filter(pl.col("race") == group.name)["salary"].to_numpy()
                assert group.size == values.size
                assert group.mean == pytest.approx(values.mean(), rel=1e-12)
                assert group.deviation == pytest.approx(values.std(ddof=1), rel=1e-12)
                assert group.quantiles == pytest.approx(np.quantile(values, [0, 0.25, 0.5, 0.75, 1]), rel=1e-12)

    def test_a_numeric_protected_attribute_is_shown_in_fifths(self):
        report, _ = audited("hours", "hired", contextual=[])
        population = report.populations[0]
        assert population.metric == "CORR"
        counts = np.array(population.table.counts)
        assert counts.shape == (2, 5)
        assert counts.sum() == PEOPLE
        assert counts[1].sum() == FRAME["hired"].sum()
        assert population.effect == pytest.approx(np.corrcoef(FRAME["hours"], FRAME["hired"])[0, 1], rel=1e-9)

    def test_sums_keep_their_digits(self):
        """Moving a number by a million millions changes neither the correlation nor its interval."""
        base, _ = audited("years", "points", contextual=[], metrics="CORR")
        moved, _ = audited(
            "years", "points", frame=FRAME.with_columns(pl.col("points") + 10**12), contextual=[], metrics="CORR"
        )
        assert moved.populations[0].effect == pytest.approx(base.populations[0].effect, rel=1e-6)
        assert moved.populations[0].interval == pytest.approx(base.populations[0].interval, rel=1e-6)
