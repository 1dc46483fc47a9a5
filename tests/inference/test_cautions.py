"""Warnings: they fire where a method is weak and stay silent where nothing is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from fairtest.data.summaries import Counts, GroupMoments, Moments, powers
from fairtest.metrics.batch import Batch
from fairtest.metrics.cautions import FEW
from fairtest.metrics.choice import find_metric
from fairtest.metrics.correlation import TAILS
from fairtest.metrics.correlation_ratio import SKEWED, UNEVEN
from fairtest.metrics.rank_correlation import SMALL_STRATA, STRONG

M = 200


def notes_of(metric, summary, strata=1):
    found = (
        find_metric(metric)
        .procedure_for(strata=strata)
        .notes(Batch(find_metric(metric), summary, lambda places: iter(()), seed=0))
    )
    return lambda text: np.mean([text in notes for notes in found])


def moments(x, y):
    """Sum up columns [context, stratum, person]."""
    return Moments(np.stack([(x**i * y**j).sum(axis=-1) for i, j in powers(4)], axis=-1), 4)


def group_moments(group, x, groups):
    sums = [[(np.where(group == g, 1.0, 0.0) * x**p).sum(axis=-1) for p in range(5)] for g in range(groups)]
    return GroupMoments(np.moveaxis(np.array(sums), (0, 1), (-2, -1)))


@pytest.fixture
def rng():
    return np.random.default_rng(9)


@pytest.mark.parametrize(("n", "swapped"), [(50, False), (50, True), (2000, False)])
def test_correlation_with_long_tails(rng, n, swapped):
    x = rng.normal(size=(M, 1, n))
    y = 0.7 * x + 0.7 * (rng.lognormal(size=x.shape) - 1.65) / 2.16
    assert notes_of("CORR", moments(y, x) if swapped else moments(x, y))(TAILS) >= 0.9
    calm = moments(x, 0.7 * x + rng.normal(size=x.shape))
    assert notes_of("CORR", calm)(TAILS) <= 0.06


@pytest.mark.parametrize("strata", [1, 4])
def test_a_rare_group_has_no_tails(rng, strata):
    """Two values are not a distribution with long tails, however rare one of them is; few people are few people."""
    x = np.zeros((M, strata, 300))
    x[..., :9] = 1
    said = notes_of("CORR", moments(x, rng.normal(size=x.shape)), strata)
    assert said(TAILS) <= 0.05
    assert said(FEW) == (strata == 1)


def test_one_way(rng):
    group = np.broadcast_to(np.repeat([0, 1, 2], [95, 95, 10]), (M, 1, 200))
    normal, skewed = rng.normal(size=group.shape), rng.lognormal(size=group.shape)
    calm = notes_of("ETA", group_moments(group, normal, 3))
    assert calm(SKEWED) <= 0.05
    assert calm(UNEVEN) <= 0.05
    assert notes_of("ETA", group_moments(group, skewed, 3))(SKEWED) >= 0.9
    uneven = normal * np.where(group == 2, 3, 1)
    assert notes_of("ETA", group_moments(group, uneven, 3))(UNEVEN) >= 0.9
    assert notes_of("ETA", group_moments(np.where(group == 2, 0, group), normal, 3))(UNEVEN) == 0


def ranks(rho, n, strata=1):
    x = np.random.default_rng(n).normal(size=(2, 50, strata, n))
    codes = [np.clip(np.rint(3 * v + 8), 0, 16).astype(int) for v in (x[0], rho * x[0] + np.sqrt(1 - rho**2) * x[1])]
    counts = np.zeros((50, strata, 17, 17), dtype=np.int64)
    context, stratum = np.indices((50, strata))
    np.add.at(counts, (context[..., None], stratum[..., None], codes[1], codes[0]), 1)
    return Counts(counts)


def test_ranks():
    assert notes_of("RANK", ranks(0.9, 60))(STRONG) >= 0.9
    assert notes_of("RANK", ranks(0.9, 400))(STRONG) == 0
    assert notes_of("RANK", ranks(0.2, 60))(STRONG) == 0
    assert notes_of("RANK", ranks(0.3, 20, strata=5), 5)(SMALL_STRATA) == 1
    assert notes_of("RANK", ranks(0.3, 200, strata=5), 5)(SMALL_STRATA) == 0
