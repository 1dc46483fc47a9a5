"""Berkeley admissions (section 5.1 of the paper): a gap over all that departments explain.

Every seed divides the 4,425 applicants anew into a training and a test half, and as in the paper all that is tested is
tested on the test half. For the 200 splits of the project's
promise, call ``admissions(frame, range(200))``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

import fairtest as ft

DEPARTMENTS = tuple("ABCDEF")
LEVEL = 0.05


class Split(NamedTuple):
    """What one split says: the gap over all, given department, and in each department."""

    overall: ft.Finding
    conditional: ft.Finding


def admissions(frame: pl.DataFrame, seeds: range) -> list[Split]:
    """Audit the frame once for each seed, without and with the department as explanatory attribute, by Holm."""
    splits = []
    for seed in seeds:
        call = {"protected": "gender", "output": "accepted", "train_size": 0.5, "seed": seed}
        call |= {"correction": "holm", "population_share": 0}
        plain = ft.audit(frame, **call, contextual=[])
        given = ft.audit(frame, **call, explanatory="department")
        assert plain.tested == 1
        assert given.tested == 1 + len(DEPARTMENTS)
        splits.append(Split(plain.populations[0], given.populations[0]))
    return splits


@pytest.fixture(scope="module")
def applicants(paper_data) -> pl.DataFrame:
    return pl.read_csv(paper_data / "berkeley_fairtest.csv")


@pytest.fixture(scope="module")
def splits(applicants) -> list[Split]:
    return admissions(applicants, range(40))


def test_the_file(applicants):
    assert applicants.height == 4425
    assert set(applicants["department"]) == set(DEPARTMENTS)


def test_effects_are_about_the_admission_of_women(applicants):
    report = ft.audit(applicants, protected="gender", output="accepted", contextual=[], train_size=0.5)
    assert (report.favourable, report.attributes[0].reference) == ("Yes", "Male")
    assert (report.data.train, report.data.test) == (2212, 2213)


def test_over_all_women_are_admitted_less_often_in_every_split(splits):
    for split in splits:
        assert split.overall.metric == "DIFF"
        assert split.overall.p_value <= LEVEL
        assert split.overall.interval[1] < 0


def test_the_gap_and_its_interval_are_the_papers(splits):
    """The paper's test half gave [−0.2037, −0.1042]; halves differ, so the intervals overlap."""
    overlap = [s.overall.interval[0] <= -0.1042 and s.overall.interval[1] >= -0.2037 for s in splits]
    assert all(overlap)
    assert np.mean([s.overall.effect for s in splits]) == pytest.approx(-0.154, abs=0.02)


def test_given_the_department_nothing_speaks_against_women(splits):
    """Over the whole file the conditional difference is +0.059 for women."""
    against = [s for s in splits if s.conditional.p_value <= LEVEL and s.conditional.effect < 0]
    assert against == []
    significant = sum(s.conditional.p_value <= LEVEL for s in splits)
    assert significant <= 0.3 * len(splits)
    assert np.mean([s.conditional.effect for s in splits]) == pytest.approx(0.059, abs=0.015)


def test_the_papers_conditional_interval_overlaps(splits):
    """[−0.0382, 0.1055] in the paper."""
    for split in splits:
        low, high = split.conditional.interval
        assert low <= 0.1055
        assert high >= -0.0382


def test_department_a_favours_women_wherever_it_is_significant(splits):
    found = [s.conditional.strata[0] for s in splits if s.conditional.strata[0].p_value <= LEVEL]
    assert len(found) > len(splits) / 3
    assert all(part.values == {"department": "A"} and part.interval[1] > 0 and part.effect > 0 for part in found)


def test_strata_add_up_to_the_conditional_difference(splits):
    for split in splits[:5]:
        parts = split.conditional.strata
        assert tuple(p.values["department"] for p in parts) == DEPARTMENTS
        assert sum(p.size for p in parts) == split.conditional.size == 2213
        weighted = sum(p.size * p.effect for p in parts) / 2213
        assert split.conditional.effect == pytest.approx(weighted, rel=1e-9)


def test_both_questions_put_to_all_applicants(applicants):
    """Over all against women; given the department for them, and with everybody that is clear."""
    plain = ft.audit(applicants, protected="gender", output="accepted", contextual=[]).populations[0]
    given = ft.audit(applicants, protected="gender", output="accepted", explanatory="department").populations[0]
    assert plain.size == given.size == 4425
    women, men = (applicants.filter(pl.col("gender") == g)["accepted"] == "Yes" for g in ("Female", "Male"))
    assert plain.effect == pytest.approx(women.mean() - men.mean(), rel=1e-12)
    assert plain.effect == pytest.approx(-0.154, abs=0.002)
    assert plain.significant
    assert given.effect == pytest.approx(0.059, abs=0.001)
    assert given.interval[0] > 0


def test_the_search_does_not_cut_by_the_explanatory_attribute(applicants):
    report = ft.audit(applicants, protected="gender", output="accepted", explanatory="department")
    assert report.findings == ()
    assert report.looked_at == 1


def test_afterwards_as_debugging(applicants):
    """The same question put to a second test set: the gap over all is explained by the department."""
    source = ft.DataSource(applicants, budget=2)
    investigation = ft.Testing(source, "gender", "accepted", contextual=[])
    ft.train([investigation])
    ft.test([investigation])
    assert ft.report([investigation])[0].populations[0].interval[1] < 0
    why = ft.explain(investigation, by="department")
    assert why.populations[0].effect > -0.05
    assert not (why.populations[0].significant and why.populations[0].effect < 0)
    assert len(why.populations[0].strata) == 6
