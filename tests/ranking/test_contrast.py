"""How surely two groups of people differ, where few of them are of a rare group."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from fairtest.data.summaries import Counts
from fairtest.metrics.difference import evidence
from fairtest.ranking.cells import contrast


def counted(few, of_few, many, of_many):
    """Return tables of a rare group and a large one, how many of them have the output."""
    sizes = np.broadcast_arrays(few, of_few, many, of_many)
    with_output, without = np.stack((sizes[2], sizes[0]), -1), np.stack((sizes[3] - sizes[2], sizes[1] - sizes[0]), -1)
    return Counts(np.stack((without, with_output), axis=-2)[:, None])


@pytest.mark.parametrize("people", [10, 16, 25, 50])
@pytest.mark.parametrize(("usual", "rate"), [(0.22, 0.42), (0.17, 0.47), (0.3, 0.38)])
@pytest.mark.parametrize("deviate", [3.0, 4.0, 4.5])
def test_a_rare_group_with_the_gap_of_all_others_seldom_seems_to_differ(people, usual, rate, deviate):
    """By the exact chances of each count: what is seen of a few people who are all alike varied too little."""
    few = np.arange(people + 1)
    here = evidence(counted(few, people, round(100 * people * usual), 100 * people))
    all_others = counted(round(3000 * people * rate), 3000 * people, round(3e5 * people * usual), 300_000 * people)
    z = np.nan_to_num(contrast(here, evidence(Counts(np.repeat(all_others.counts.reshape(1, 1, 2, 2), few.size, 0)))))
    chance = binom.pmf(few, people, rate)
    for side in (z, -z):
        assert chance[side >= deviate].sum() <= 4 * norm.sf(deviate)


def test_common_groups_are_compared_by_what_is_seen():
    here, there = (evidence(counted([several], 4000, [1500], 4000)) for several in (1300, 1500))
    error = np.sqrt(here.variance + there.variance)
    np.testing.assert_allclose(contrast(here, there), (here.effect - there.effect) / error, rtol=0.01)
