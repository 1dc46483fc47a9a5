"""Skewed numbers in groups of unequal spread."""

from __future__ import annotations

import numpy as np
import pytest

from fairtest.statistics.numbers.groups import Groups
from fairtest.statistics.numbers.oneway import brown_forsythe_p, eta_p, known_shape


def draw(rng, shares, spread, law, n, runs):
    """Return as many contexts, each of fresh people whose groups have the same mean."""
    rows = []
    for _ in range(runs):
        group = rng.choice(len(shares), n, p=shares)
        x = np.asarray(spread)[group] * law(rng, n)
        people = [x[group == g] for g in range(len(shares))]
        away = [v - v.mean() for v in people]
        rows.append([[len(v), v.mean(), *((d**k).sum() for k in (2, 3, 4))] for v, d in zip(people, away, strict=True)])
    return Groups(*np.moveaxis(np.array(rows, dtype=float), 2, 0))


def log_normal(rng, n):
    return np.exp(rng.standard_normal(n)) - np.exp(0.5)


def exponential(rng, n):
    return rng.standard_exponential(n) - 1


@pytest.mark.parametrize("law", [log_normal, exponential])
@pytest.mark.parametrize(("shares", "spread"), [((0.6, 0.2, 0.2), (1, 1, 3)), ((0.6, 0.35, 0.05), (1, 1, 9))])
def test_a_missed_tail_is_no_difference_of_means(law, shares, spread):
    """F* alone finds it two to ten times too often."""
    groups = draw(np.random.default_rng(1), shares, spread, law, 600, 2_000)
    assert np.mean(brown_forsythe_p(groups) < 0.005) > 0.008
    assert np.mean(eta_p(groups) < 0.005) <= 0.009


def test_normal_numbers_lose_hardly_anything():
    rng = np.random.default_rng(2)
    groups = draw(rng, (0.4, 0.3, 0.3), (1, 1, 1), lambda r, n: r.standard_normal(n), 300, 2_000)
    apart = Groups(groups.n, groups.mean + np.array([0, 0, 0.35]), groups.s2, groups.s3, groups.s4)
    plain, safe = (np.mean(p(apart) < 0.01) for p in (brown_forsythe_p, eta_p))
    assert 0.3 < plain < 0.7
    assert plain - safe < 0.02


def test_a_small_context_is_told_what_the_largest_has_seen():
    rng = np.random.default_rng(3)
    large = draw(rng, (0.5, 0.3, 0.2), (1, 1, 1), log_normal, 20_000, 1)
    small = draw(rng, (0.5, 0.3, 0.2), (1, 1, 1), lambda r, n: r.standard_normal(n), 100, 1)
    both = Groups(*(np.concatenate(pair) for pair in zip(vars(large).values(), vars(small).values(), strict=True)))
    known = known_shape(both)
    assert known[0] == 0
    assert known[1] > 2
