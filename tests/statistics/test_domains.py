"""Shares and medians of rows that are not independent people."""

from __future__ import annotations

import numpy as np
import pytest

from fairtest.statistics.design import RowSums
from fairtest.statistics.domains import correlate_medians, judge_share, weighted_median_interval
from fairtest.statistics.numbers.medians import median_gap_interval, median_interval


def rows_of(person: np.ndarray | None, weight: np.ndarray | None, n: int) -> RowSums:
    return RowSums.of(person, weight, np.zeros(n, dtype=int))


@pytest.mark.parametrize("seed", range(20))
def test_one_row_a_person_is_never_surer_than_without_a_design(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 200))
    values = rng.integers(0, 40, n).astype(float) if seed % 2 else rng.normal(size=n)
    low, high = weighted_median_interval(rows_of(np.arange(n), None, n), values, 0.05)
    usual = median_interval(np.sort(values), 0.05)
    assert low <= usual[0]
    assert high >= usual[1]
    if n > 60:  # the degrees of freedom of few people cost little
        inside = np.count_nonzero((values >= low) & (values <= high))
        assert inside <= np.count_nonzero((values >= usual[0]) & (values <= usual[1])) + 6


def test_copies_of_rows_say_nothing_new() -> None:
    values = np.random.default_rng(1).normal(size=80)
    alone = weighted_median_interval(rows_of(np.arange(80), None, 80), values, 0.05)
    copied = weighted_median_interval(rows_of(np.tile(np.arange(80), 5), None, 400), np.tile(values, 5), 0.05)
    weighed = weighted_median_interval(rows_of(np.arange(80), np.full(80, 7.0), 80), values, 0.05)
    assert copied == alone == weighed


def test_a_share_of_copies_is_as_sure_as_that_of_people() -> None:
    has = (np.arange(60) % 3 == 0).astype(float)
    person = np.arange(60)
    alone = judge_share(rows_of(person, None, 60), has)
    copied = judge_share(rows_of(np.repeat(person, 4), None, 240), np.repeat(has, 4))
    assert copied.size == pytest.approx(alone.size)
    independent = judge_share(rows_of(np.repeat(person, 4), None, 240), np.random.default_rng(0).random(240) < 0.3)
    assert independent.size > 2 * copied.size


def test_where_all_are_alike_people_count() -> None:
    found = judge_share(rows_of(np.repeat(np.arange(10), 5), None, 50), np.zeros(50))
    assert found.size == pytest.approx(10)
    assert np.isnan(judge_share(rows_of(np.zeros(5, dtype=int), None, 5), np.ones(5)).size)


def test_too_few_people_have_no_interval() -> None:
    values = np.repeat([1.0, 2.0, 3.0, 4.0], 50)
    assert weighted_median_interval(rows_of(np.repeat(np.arange(4), 50), None, 200), values, 0.05) == (-np.inf, np.inf)


def test_groups_that_share_people() -> None:
    """Medians that go against each other make the difference less sure; those that go together change nothing."""
    rng = np.random.default_rng(2)
    habit = rng.normal(size=300)
    person = np.tile(np.arange(300), 2)
    is_group = np.repeat([1.0, 0.0], 300)
    rows = rows_of(person, None, 600)
    together = correlate_medians(rows, np.concatenate((habit, habit)), is_group, (0.0, 0.0))
    against = correlate_medians(rows, np.concatenate((habit, -habit)), is_group, (0.0, 0.0))
    assert together == pytest.approx(1, abs=0.05)
    assert against == pytest.approx(-1, abs=0.05)
    usual = median_gap_interval(10.0, (7.0, 13.0), 4.0, (0.0, 8.0))
    assert median_gap_interval(10.0, (7.0, 13.0), 4.0, (0.0, 8.0), 0.8) == usual
    assert median_gap_interval(10.0, (7.0, 13.0), 4.0, (0.0, 8.0), -1.0) == pytest.approx((-1.0, 13.0))
