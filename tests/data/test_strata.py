"""Finer strata: how a number is cut, and how the cuts are merged into those shown."""

from __future__ import annotations

import numpy as np
import pytest

import fairtest as ft
from fairtest.data.strata import FinerStrata, cut_finer, finer_strata
from fairtest.data.summaries import Counts, GroupMoments
from fairtest.investigations.roles import strata_variable


def source_of(n: int = 12_000, **columns):
    rng = np.random.default_rng(0)
    frame = {"age": rng.normal(size=n), "job": rng.choice(list("abc"), n), "out": rng.random(n) < 0.5, **columns}
    return ft.DataSource(frame)


def finer_of(names: tuple[str, ...], people: float, most: int = 1000, **columns):
    source = source_of(**columns)
    shown = strata_variable(source, names)
    return finer_strata(source.table, source.holdout.rows(0), shown, people, most), shown


@pytest.mark.parametrize("pieces", [2, 4, 8])
def test_twice_as_many_pieces_keep_every_cut(pieces):
    ordered = np.sort(np.random.default_rng(1).normal(size=3_001))
    assert np.isin(cut_finer(ordered, pieces), cut_finer(ordered, 2 * pieces)).all()


def test_the_ends_are_cut_finest():
    ordered = np.arange(10_000.0)
    sizes = np.diff(np.searchsorted(ordered, cut_finer(ordered, 8), side="right"), prepend=0)
    assert sizes[0] == pytest.approx(10_000 / 5 / 64, abs=1)
    assert sizes[:8].tolist() == sorted(sizes[:8])
    assert sizes[8:32].tolist() == pytest.approx([250] * 24, abs=1)


@pytest.mark.parametrize(("people", "bins"), [(300, 10), (400, 20), (2_000, 40), (6_000, 80)])
def test_bins_grow_with_the_people(people, bins):
    finer, _ = finer_of(("age",), people)
    assert finer.bins[0] == {"age": bins}
    assert [b["age"] for b in finer.bins][-1] == 5


def test_few_people_get_what_is_shown():
    assert finer_of(("age",), 79)[0] is None
    assert finer_of(("job",), 100_000)[0] is None


def test_crossing_keeps_people_in_the_strata():
    finer, shown = finer_of(("age", "job", "pay"), 21_000, pay=np.random.default_rng(5).normal(size=12_000))
    assert len(shown.levels) == 75
    assert 75 < len(finer.strata.levels) <= 1000
    assert set(finer.shown.tolist()) == set(range(75))


def test_strata_are_inside_those_shown():
    finer, shown = finer_of(("job", "age"), 20_000)
    table = source_of().table
    fine, coarse = finer.strata.codes(table), shown.codes(table)
    assert (finer.shown[fine] == coarse).all()
    for step in finer.merged:
        assert (finer.shown[step] == finer.shown).all()
    assert len(np.unique(finer.merged[-1])) == len(shown.levels)


def test_missing_numbers_are_in_no_stratum():
    age = np.random.default_rng(2).normal(size=12_000)
    age[:50] = np.nan
    source = source_of(age=age)
    shown = strata_variable(source, ("age",))
    finer = finer_strata(source.table, source.holdout.rows(0), shown, 5_000, 1000)
    assert (finer.strata.codes(source.table)[:50] == -1).all()


@pytest.fixture
def pairs() -> FinerStrata:
    """Four strata in two, and all of them in one."""
    merged = (np.arange(4), np.array([0, 0, 2, 2]), np.array([0, 0, 0, 0]))
    return FinerStrata(None, np.array([0, 0, 1, 1]), merged, (400.0, 100.0, 0.0), ({}, {}, {}))


def test_small_contexts_have_fewer_strata(pairs):
    assert pairs.steps_for(np.array([500, 399, 100, 99])).tolist() == [0, 1, 1, 2]


def test_merging_adds_people(pairs):
    counts = np.arange(32).reshape(2, 4, 2, 2)
    merged = pairs.merge(Counts(counts), np.array([0, 1])).counts
    assert (merged[0] == counts[0]).all()
    assert (merged[1, 0] == counts[1, 0] + counts[1, 1]).all()
    assert (merged[1, 2] == counts[1, 2] + counts[1, 3]).all()
    assert not merged[1, [1, 3]].any()


def test_a_stratum_shown_has_its_finer_ones(pairs):
    sums = np.arange(24.0).reshape(2, 4, 3, 1)
    inner = pairs.by_shown(GroupMoments(sums)).sums
    assert inner.shape == (4, 2, 3, 1)
    assert (inner[1] == sums[0, 2:]).all()
    assert (inner[2] == sums[1, :2]).all()


def explained(n: int, seed: int, **columns):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    chance = 1 / (1 + np.exp(-2 * z))
    return {"z": z, "sex": np.where(rng.random(n) < chance, "f", "m"), "hired": rng.random(n) < chance, **columns}


def test_what_a_number_explains_is_no_finding():
    """With five bins this is found in every run."""
    report = ft.audit(explained(30_000, 1), "sex", "hired", explanatory="z", contextual=[])
    assert report.significant == 0
    population = report.populations[0]
    assert len(population.strata) == 5
    assert any("Compared within 160 bins of z" in note for note in population.notes)


def test_a_true_gap_is_found_given_a_number():
    columns = explained(20_000, 2)
    columns["hired"] |= (columns["sex"] == "f") & (np.random.default_rng(3).random(20_000) < 0.1)
    report = ft.audit(columns, "sex", "hired", explanatory="z", contextual=[])
    assert report.populations[0].significant
    assert abs(report.populations[0].effect) == pytest.approx(0.05, abs=0.03)


@pytest.mark.parametrize("correction", ["max-t", "holm"])
def test_contexts_and_strata_are_tested_with_every_correction(correction):
    city = np.random.default_rng(6).choice(list("PQR"), 6_000)
    report = ft.audit(explained(6_000, 4, city=city), "sex", "hired", explanatory="z", correction=correction)
    assert report.significant == 0
    assert report.tested >= 6


def test_resampling_sees_the_same_strata():
    report = ft.audit(explained(2_000, 7), "sex", "hired", explanatory="z", contextual=[], method="resampling")
    plain = ft.audit(explained(2_000, 7), "sex", "hired", explanatory="z", contextual=[])
    assert report.populations[0].effect == pytest.approx(plain.populations[0].effect)
    assert report.populations[0].p_value_raw == pytest.approx(plain.populations[0].p_value_raw, abs=0.1)


def test_joint_counts_of_ranks_stay_small():
    """The finer the strata, the fewer the bins of ranks; with many contexts, the fewer the strata."""
    rng = np.random.default_rng(8)
    source = source_of(pay=rng.normal(size=12_000), score=rng.normal(size=12_000))
    question = ft.Testing(source, "pay", "score", explanatory="age", metrics="RANK").questions[0]
    finer = question.finer_strata(source, 20)
    assert question.test_target(source, 20, finer).n_cells * 20 < 1 << 24
    assert len(finer.strata.levels) == 80
    assert question.finer_strata(source, 5_000) is None


def wavy(n: int, seed: int, link: float = 0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    s = 2.8 * np.sin(3 * z) + rng.normal(size=n)
    return {"z": z, "pay": s, "score": 2.8 * np.sin(3 * z) + link * s + rng.normal(size=n)}


def test_what_bins_leave_is_no_finding():
    """Within bins alone it is clear: both follow the number in waves."""
    report = ft.audit(wavy(3_000, 1), "pay", "score", explanatory="z", contextual=[])
    assert report.significant == 0
    population = report.populations[0]
    assert any("no link is clear" in note for note in population.notes)
    assert population.interval[0] <= 0 <= population.interval[1]
    assert population.interval_single[0] <= 0 <= population.interval_single[1]


def test_a_link_beside_waves_is_found():
    report = ft.audit(wavy(10_000, 2, link=0.3), "pay", "score", explanatory="z", contextual=[])
    assert report.populations[0].significant
    assert not any("no link is clear" in note for note in report.populations[0].notes)
