"""Where people are on explanatory numbers."""

from __future__ import annotations

import numpy as np

import fairtest as ft
from fairtest.data.neighbourhood import find_neighbourhood
from fairtest.investigations.roles import strata_variable


def test_places_follow_the_numbers_and_lead_to_what_is_shown():
    rng = np.random.default_rng(0)
    n = 3_000
    age, job = rng.normal(size=n), rng.choice(list("abc"), n)
    source = ft.DataSource({"age": age, "job": job, "out": rng.random(n) < 0.5})
    shown = strata_variable(source, ("age", "job"))
    found = find_neighbourhood(source.table, shown)
    at = found.strata.codes(source.table)
    order = np.argsort(age)
    assert (np.diff(found.numbers[at, 0][order]) >= 0).all()
    assert len(np.unique(found.numbers[at, 0])) > n - 20
    assert (found.shown[at] == shown.codes(source.table)).all()
    assert all(len(set(found.block[at[job == name]].tolist())) == 1 for name in "abc")
    assert set(found.block.tolist()) == {0, 1, 2}


def test_two_numbers_share_the_codes_there_are():
    rng = np.random.default_rng(1)
    source = ft.DataSource({"a": rng.normal(size=2_000), "b": rng.integers(12, size=2_000), "out": rng.random(2_000)})
    shown = strata_variable(source, ("a", "b"))
    found = find_neighbourhood(source.table, shown)
    assert found.numbers.shape == (len(found.strata.levels), 2)
    assert found.numbers[:, 0].max() <= 260
    assert found.numbers[:, 1].max() == 11
    assert not found.block.any()
