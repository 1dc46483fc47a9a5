"""What a report of Testing says of itself: fields, families, counts, contexts of every kind."""

from __future__ import annotations

import itertools
import json

import numpy as np
import polars as pl
import pytest
from planted_people import CONTEXT, FRAME, PEOPLE, all_of, audited, count_table, make_people, people_of, rates_of

import fairtest as ft
from fairtest.inference.multiplicity.corrections import holm
from fairtest.statistics.rates import score


class TestFields:
    """What a finding and a report promise."""

    def test_the_fields_of_a_finding(self):
        report, test = audited("sex", "hired")
        found = report.findings[0]
        assert (found.protected, found.output, found.metric, found.label) == ("sex", "hired", "DIFF", None)
        assert found.context.predicates == found.predicates
        for predicate in found.predicates:
            assert predicate.op in ("<=", ">", "==", "in", "missing")
            assert predicate.column in CONTEXT
        assert str(found.context) == ", ".join(map(str, found.predicates))
        assert found.significant is True
        assert found.p_value_raw <= found.p_value <= report.settings.level
        assert found.strata == ()
        rates = np.array(found.table.counts)[1] / np.sum(found.table.counts, axis=0)
        for share in rates:
            assert f"{share:.0%}".replace("%", " %") in found.sentence.replace(" ", " ")
        assert f"{found.size:,}" in found.sentence.replace(" ", " ")
        assert people_of(found, test).height == found.size

    def test_populations_are_findings_without_a_context(self):
        report, test = audited(["sex", "race"], "hired")
        assert [p.protected for p in report.populations] == ["sex", "race"]
        for population in report.populations:
            assert isinstance(population, ft.Finding)
            assert len(population.context) == 0
            assert population.context.mask(test).all()
            assert population.size == PEOPLE
        assert [a.named for a in report.attributes] == [True, True]

    def test_without_a_share_the_population_is_one_hypothesis_among_the_others(self):
        report, test = audited(["sex", "race"], "hired", population_share=0)
        assert [p.size for p in report.populations] == [test.height] * 2
        assert [a.named for a in report.attributes] == [False, False]

    def test_findings_are_grouped_by_attribute_and_ordered_by_the_bound_nearest_zero(self):
        report, _ = audited(["race", "sex"], "hired", metrics={"sex": "DIFF", "race": "NMI"}, max_depth=4)
        names = [f.protected for f in report.findings]
        assert names == sorted(names, key=["race", "sex"].index)
        for attribute in report.attributes:
            bounds = [min(map(abs, f.interval_single)) for f in attribute.findings]
            assert bounds == sorted(bounds, reverse=True)
        assert len(report.attributes[1].findings) > 0

    def test_what_is_reported_is_stronger_than_every_larger_context_around_it(self):
        report, _ = audited("sex", "hired", max_depth=4)
        for inner, outer in itertools.permutations(all_of(report), 2):
            if not len(inner.context) or not outer.context.contains(inner.context):
                continue
            if np.sign(inner.effect) == np.sign(outer.effect) and outer.significant:
                assert min(map(abs, inner.interval_single)) > min(map(abs, outer.interval_single))

    def test_a_context_that_turns_the_other_way_is_reported(self):
        rng = np.random.default_rng(2)
        n = 8000
        woman, town = rng.random(n) < 0.5, rng.choice(["P", "Q"], n, p=[0.25, 0.75])
        gap = np.where(town == "P", 0.16, -0.3)
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "town": town, "y": rng.random(n) < 0.5 + woman * gap})
        report, _ = audited("sex", "y", frame=frame, contextual=["town"], reference={"sex": "m"}, ordered=None)
        by_town = {f.predicates[0].value: f for f in report.findings}
        assert report.populations[0].effect < -0.1
        assert set(by_town) == {"P", "Q"}
        assert 0 < by_town["P"].effect < abs(report.populations[0].effect)

    def test_counts_of_the_report(self):
        report, test = audited(["sex", "race"], "hired")
        assert report.discovered == report.tested
        assert report.validated == report.significant
        assert report.looked_at >= report.tested
        assert report.reported == len(report.findings) + sum(p.significant for p in report.populations)
        assert report.data.rows == PEOPLE
        assert (report.data.train, report.data.test) == (PEOPLE // 2, test.height)

    @pytest.mark.parametrize("share", [0, 0.2, 0.5])
    def test_the_family_is_corrected_by_holm(self, share):
        """All contexts of both attributes, counted again from the training: their corrected p-values.

        Both populations are corrected apart, with their share of the level; a context gets all of it if both hold.
        """
        source = ft.DataSource(FRAME, train_size=0.5)
        both = ft.Testing(source, ["sex", "member"], "hired", contextual=CONTEXT)
        ft.train([both], max_depth=2, min_size=200, search="tree")
        ft.test([both], correction="holm", population_share=share)
        report, test = ft.report([both])[0], FRAME[source.holdout.rows(1)]
        raw, keys = [], []
        for question, found in zip(both.questions, both.training.found, strict=True):
            name = question.protected.name
            for context in found.contexts:
                people = test.filter(context.mask(test)) if len(context) or not share else FRAME
                table = count_table(people, "hired", name, (False, True), question.protected.levels)
                raw.append(score.difference_p(*(v[None, None] for v in rates_of(table)))[0])
                keys.append((name, context))
        p = holm(np.array(raw))
        if share:
            whole = np.array([len(context) == 0 for _, context in keys])
            p[whole] = np.minimum(holm(np.array(raw)[whole]) / share, 1)
            among = holm(np.array(raw)[~whole])
            p[~whole] = np.minimum(np.minimum(among / (1 - share), np.maximum(among, p[whole].max())), 1)
        corrected = dict(zip(keys, p, strict=True))
        assert report.tested == len(raw)
        assert report.significant == sum(p <= 0.05 for p in corrected.values())
        for found in all_of(report):
            assert found.p_value == pytest.approx(corrected[found.protected, found.context], rel=1e-9)

    @pytest.mark.parametrize("correction", ["bonferroni", "bh", "by"])
    def test_other_corrections(self, correction):
        report, _ = audited("sex", "hired", correction=correction)
        plain, _ = audited("sex", "hired")
        found, same = report.findings[0], plain.findings[0]
        assert (found.context, found.p_value_raw) == (same.context, same.p_value_raw)
        assert report.settings.correction == correction
        if correction == "bonferroni":
            everybody = report.populations[0]
            assert everybody.p_value == pytest.approx(min(1, everybody.p_value_raw / 0.5), rel=1e-9)
            among = found.p_value_raw * (report.tested - 1)
            assert found.p_value == pytest.approx(min(2 * among, max(among, everybody.p_value), 1), rel=1e-9)

    def test_the_json_report_says_the_same(self):
        report, _ = audited(["sex", "race"], "hired")
        made = json.loads(report.to_json())
        assert made["schema"] == 1
        investigation = made["investigations"][0]
        assert (investigation["output"], investigation["favourable"]) == ("hired", True)
        for attribute, entry in zip(report.attributes, investigation["protected"], strict=True):
            assert entry["discovered"] == attribute.tested
            assert entry["validated"] == attribute.significant
            assert entry["reported"] == attribute.reported
            for found, written in zip(attribute.findings, entry["findings"], strict=True):
                assert written["effect"] == found.effect
                assert written["p_value"] == found.p_value
                assert tuple(written["interval"]) == found.interval
                assert written["table"]["counts"] == [list(row) for row in found.table.counts]


class TestContextsOfEveryKind:
    """The people of a context are the same whether the engine or the mask of a frame finds them."""

    @pytest.mark.parametrize("column", ["member", "level", "joined", "grade", "hours", "age", "city"])
    @pytest.mark.parametrize("missing", [False, True])
    def test_masks_agree_with_the_tables(self, column, missing):
        frame = make_people(3000, seed=9)
        top = frame[column].rank("dense") > frame[column].n_unique() / 2
        if column == "grade":
            top = frame["grade"] == "high"
        rng = np.random.default_rng(4)
        woman = (frame["sex"] == "woman").to_numpy()
        gone = rng.random(3000) < 0.25 * missing
        strong = gone if missing else top.to_numpy()
        frame = frame.with_columns(
            hired=pl.Series(rng.random(3000) < np.where(strong & woman, 0.1, 0.55)),
        ).with_columns(pl.when(pl.Series(gone)).then(None).otherwise(pl.col(column)).alias(column))
        report, test = audited("sex", "hired", frame=frame, contextual=[column], min_size=100, max_depth=3)
        assert report.findings
        for found in report.findings:
            table = count_table(people_of(found, test), "hired", "sex", (False, True), ("man", "woman"))
            assert np.array_equal(found.table.counts, table)
        ops = {p.op for f in report.findings for p in f.predicates}
        if missing:
            assert "missing" in ops
            assert f"{column} missing" in {str(f.context) for f in report.findings}
        assert ops <= ({"==", "missing"} if column in ("member", "level", "city") else {"<=", ">", "missing"})

    def test_a_split_at_zero(self):
        rng = np.random.default_rng(6)
        n = 3000
        woman, change = rng.random(n) < 0.5, rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], n)
        y = rng.random(n) < np.where(woman & (change <= 0), 0.1, 0.5)
        frame = pl.DataFrame({"sex": np.where(woman, "f", "m"), "change": change, "y": y})
        report, _ = audited(
            "sex", "y", frame=frame, contextual=["change"], numeric=["change"], max_depth=1, ordered=None
        )
        assert str(report.findings[0].context) == "change ≤ 0"
