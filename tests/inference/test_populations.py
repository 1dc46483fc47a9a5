"""Whole populations have a level and people of their own."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairtest as ft
from fairtest.inference.multiplicity.corrections import holm
from fairtest.inference.populations import Population, Populations
from fairtest.statistics.rates import score

LEVEL = 0.05


def with_p(*p: float, share: float = 0.5) -> Populations:
    """Return populations with these corrected p-values."""
    answers = (Population(None, None, SimpleNamespace(p=np.array([one]))) for one in p)
    return Populations(tuple(answers), share)


class TestRecycling:
    """Contexts have what populations leave, and all of it where every population is confirmed."""

    def test_the_formula(self):
        known = with_p(0.01, 0.03)
        p = np.array([1e-4, 0.02, 0.04, 0.6, np.nan])
        assert known.recycle_contexts(p) == pytest.approx([2e-4, 0.03, 0.04, 0.6, np.nan], nan_ok=True)
        assert with_p(0.9).recycle_contexts(p) == pytest.approx([2e-4, 0.04, 0.08, 0.9, np.nan], nan_ok=True)
        assert with_p(0.9, share=0.2).recycle_contexts(p) == pytest.approx(
            [1.25e-4, 0.025, 0.05, 0.75, np.nan], nan_ok=True
        )

    def test_without_populations_nothing_changes(self):
        p = np.array([0.01, 0.5, np.nan])
        assert Populations((), 0.5).recycle_contexts(p) is p
        assert Populations((), 0.5).left_for_contexts(LEVEL) == LEVEL

    def test_a_population_that_cannot_be_tested_is_not_confirmed(self):
        known = with_p(1e-9, np.nan)
        assert known.gates.populations == 1.0
        assert known.left_for_contexts(LEVEL) == LEVEL / 2

    @given(
        st.lists(st.floats(0, 1), min_size=1, max_size=4),
        st.lists(st.floats(0, 1), min_size=1, max_size=10),
        st.floats(0, 0.95),
    )
    def test_it_decides_as_the_level_that_is_left_would(self, populations, contexts, share):
        known, p = with_p(*populations, share=share), np.array(contexts)
        recycled = known.recycle_contexts(p)
        assert ((recycled >= p) & (recycled <= 1)).all()
        left = known.left_for_contexts(LEVEL)
        clear = np.abs(p - left) > 1e-9  # divisions round
        assert np.array_equal((recycled <= LEVEL)[clear], (p <= left)[clear])
        assert left == (LEVEL if max(populations) <= LEVEL else (1 - share) * LEVEL)

    @pytest.mark.parametrize(("strata_share", "contexts_share"), [(0.0, 1.0), (0.2, 0.8), (1.0, 1.0)])
    def test_what_is_left_is_divided_between_strata_and_contexts(self, strata_share, contexts_share):
        p = np.array([1e-4, 0.004])
        for largest, left in ((0.01, LEVEL), (0.9, LEVEL / 2)):
            known = Populations(with_p(largest).answers, 0.5, strata_share)
            assert known.left_for_contexts(LEVEL) == pytest.approx(contexts_share * left)
            assert known.left_for_strata(LEVEL) == pytest.approx(strata_share * left)
            assert known.certain_for_contexts(LEVEL) == pytest.approx(contexts_share * LEVEL / 2)
            assert known.recycle_contexts(p) == pytest.approx(with_p(largest).recycle_contexts(p / contexts_share))
            if strata_share:
                assert known.recycle_strata(p) == pytest.approx(with_p(largest).recycle_contexts(p / strata_share))

    @given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
    def test_it_never_falls_when_anything_rises(self, population, more, context, higher):
        population, more = sorted((population, more))
        context, higher = sorted((context, higher))
        at = with_p(population).recycle_contexts(np.array([context]))[0]
        assert with_p(more).recycle_contexts(np.array([context]))[0] >= at
        assert with_p(population).recycle_contexts(np.array([higher]))[0] >= at


def make_people(n: int = 3000, seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    group, other = rng.random(n) < 0.4, rng.random(n) < 0.5
    return pl.DataFrame(
        {
            "group": np.where(group, "b", "a"),
            "other": np.where(other, "y", "x"),
            "region": rng.choice(["n", "s"], n),
            "yes": rng.random(n) < 0.4 + 0.06 * group + 0.04 * other,
        }
    )


def p_of(people: pl.DataFrame, protected: str, groups: str) -> float:
    counts = []
    for name in groups[::-1]:
        yes = people.filter(pl.col(protected) == name)["yes"]
        counts += [np.array([[yes.sum()]]), np.array([[yes.len()]])]
    return float(score.difference_p(*counts)[0])


class TestPeople:
    """A question that was there first is put to the training set too."""

    def make_source(self, **options) -> tuple[pl.DataFrame, ft.DataSource]:
        frame = make_people()
        reference = {"group": "a", "other": "x"}
        return frame, ft.DataSource(frame, reference=reference, **options)

    @pytest.mark.parametrize("share", [0.2, 0.5])
    def test_holm_among_attributes(self, share):
        frame, source = self.make_source()
        report = self.ask(source, population_share=share)
        raw = np.array([p_of(frame, "group", "ab"), p_of(frame, "other", "xy")])
        assert [p.p_value_raw for p in report.populations] == pytest.approx(raw, rel=1e-9)
        expected = np.minimum(holm(raw) / share, 1)
        assert [p.p_value for p in report.populations] == pytest.approx(expected, rel=1e-9)

    def test_a_question_that_came_later_does_without_the_training_set(self):
        frame, source = self.make_source(budget=2)
        first, second = self.ask(source), self.ask(source)
        assert first.settings.level == 0.025
        assert all(a.named for a in first.attributes)
        assert not any(a.named for a in second.attributes)
        test = frame[source.holdout.rows(2)]
        assert [p.size for p in second.populations] == [test.height] * 2
        assert second.populations[0].p_value_raw == pytest.approx(p_of(test, "group", "ab"), rel=1e-9)
        both = frame[np.sort(np.concatenate([source.holdout.rows(0), source.holdout.rows(1)]))]
        assert [p.size for p in first.populations] == [both.height] * 2
        assert first.populations[0].p_value_raw == pytest.approx(p_of(both, "group", "ab"), rel=1e-9)

    def test_without_a_split_everybody_is_in_the_only_set(self):
        frame, source = self.make_source(split=False)
        report = self.ask(source)
        assert [p.size for p in report.populations] == [frame.height] * 2
        assert report.populations[0].p_value_raw == pytest.approx(p_of(frame, "group", "ab"), rel=1e-9)

    def ask(self, source: ft.DataSource, **options) -> ft.Report:
        testing = ft.Testing(source, ["group", "other"], "yes", contextual=["region"])
        ft.train([testing])
        ft.test([testing], **options)
        return ft.report([testing])[0]
