"""How surely a hypothesis had to show an association, against the corrections themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairtest.inference.multiplicity.corrections import corrections
from fairtest.inference.multiplicity.prior import Prior
from fairtest.inference.multiplicity.required import required_deviates

LEVEL = 0.05
NAMES = ["pooled", "holm", "bonferroni", "bh"]


def make_family(seed: int) -> tuple[np.ndarray, Prior]:
    """Return p-values and what training said: some links, some of which training missed or saw the other way round."""
    rng = np.random.default_rng(seed)
    size = 40
    link = np.where(rng.random(size) < 0.4, rng.choice([2.0, 5.0], size), 0.0)
    z = link + rng.normal(size=size)
    evidence = np.where(rng.random(size) < 0.2, 0.0, np.abs(link * 0.7 + rng.normal(size=size)))
    direction = rng.choice([1.0, 1.0, 1.0, 0.0, -1.0], size)
    return 2 * stats.norm.sf(np.abs(z)), Prior(evidence, direction, 0.3, rng.integers(1, 4, size))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(8))
def test_exactly_those_that_reach_it_are_rejected(name, seed):
    p, prior = make_family(seed)
    adjusted = corrections[name].adjust(p, prior)
    required = required_deviates(corrections[name], p, adjusted, prior, LEVEL)
    rejected = adjusted <= LEVEL
    assert 0 < rejected.sum() < p.size
    assert np.array_equal(stats.norm.isf(p / 2) >= required - 1e-9, rejected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_whoever_reached_it_would_have_been_rejected(name, seed):
    """The p-value of one hypothesis that was not is moved to the deviate, the others being as they are."""
    p, prior = make_family(seed)
    adjusted = corrections[name].adjust(p, prior)
    required = required_deviates(corrections[name], p, adjusted, prior, LEVEL)
    for i in np.flatnonzero(np.isfinite(required) & (adjusted > LEVEL)):
        moved = p.copy()
        moved[i] = 2 * stats.norm.sf(required[i] + 1e-3)
        assert corrections[name].adjust(moved, prior)[i] <= LEVEL
        moved[i] = 2 * stats.norm.sf(max(required[i] - 2.5, 0.0))  # what is demanded is enough, not far too much
        assert corrections[name].adjust(moved, prior)[i] > LEVEL


@pytest.mark.parametrize("name", NAMES)
def test_where_nothing_was_rejected_nothing_is_enough(name):
    p, prior = np.linspace(0.2, 1, 20), Prior.ignorant(20)
    adjusted = corrections[name].adjust(p, prior)
    assert np.isinf(required_deviates(corrections[name], p, adjusted, prior, LEVEL)).all()
