"""Sequential Monte-Carlo p-values: valid, never 0, and draws spent where the decision is close."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fairtest.exceptions import InputError
from fairtest.inference.monte_carlo import clopper_pearson, most_draws, sequential_p_values
from fairtest.inference.multiplicity.corrections import bonferroni, holm


@dataclass
class Coin:
    """A hypothesis whose true p-value is known."""

    p: float
    rounds: list[int] = field(default_factory=list)

    def draw(self, count: int, rng: np.random.Generator, /) -> int:
        self.rounds.append(count)
        return int(rng.binomial(count, self.p))

    @property
    def drawn(self) -> int:
        return sum(self.rounds)


def run(coins, seed=0, fixed_p=(), alpha=0.05, **options):
    return sequential_p_values(coins, fixed_p=fixed_p, alpha=alpha, rng=np.random.default_rng(seed), **options)


def test_never_zero_and_of_the_stated_form():
    coin = Coin(0.0)
    assert run([coin], most=4096) == pytest.approx([1 / (1 + coin.drawn)])
    assert run([Coin(1.0)]) == [1.0]


def test_draws_double_up_to_the_cap():
    coin = Coin(0.05)
    run([coin], seed=3, most=3000)
    assert coin.rounds[:4] == [256, 256, 512, 1024]
    assert coin.drawn <= 3000
    certain = Coin(0.05)
    run([certain], first=100, most=50)
    assert certain.rounds == [50]


def test_no_draws_where_the_cap_cannot_settle_it():
    """Among 1,000, even no hit in 4,096 draws is no rejection; among 50 it is, and a hit or two would end it."""
    hopeless, hopeful = Coin(0.0), Coin(0.0)
    run([hopeless], fixed_p=np.full(999, 0.9), most=4096)
    run([hopeful], fixed_p=np.full(49, 0.9), most=4096)
    assert hopeless.drawn == 256
    assert hopeful.drawn == 4096
    ended = [Coin(0.002) for _ in range(20)]
    p = run(ended, fixed_p=np.full(30, 0.9), most=4096)
    assert min(coin.drawn for coin in ended) < 4096
    assert not (holm(np.concatenate((p, np.full(30, 0.9)))) <= 0.05).any()


def test_more_draws_near_the_threshold():
    coins = [Coin(0.9), Coin(0.012), Coin(0.05 / 3), Coin(1e-9)]
    run(coins, fixed_p=[])
    assert coins[0].drawn == 256
    assert coins[1].drawn > 16 * coins[0].drawn
    assert coins[3].drawn < coins[1].drawn


def test_known_p_values_belong_to_the_family():
    """Alone, 0.004 is clear; among 13 near 0.05 / 13; with 12 rejected before it, it is clear again."""
    alone, crowded, last = Coin(0.004), Coin(0.004), Coin(0.004)
    run([alone])
    run([crowded], fixed_p=np.full(12, 0.9))
    run([last], fixed_p=np.full(12, 1e-12))
    assert alone.drawn == last.drawn < crowded.drawn


def test_untestable_members_do_not_count():
    full, gaps = Coin(0.004), Coin(0.004)
    assert run([full]) == run([gaps], fixed_p=[np.nan] * 50)
    assert full.rounds == gaps.rounds


def test_each_sampler_has_its_own_stream():
    """Another hypothesis that needs more draws does not change what this one draws."""
    short = run([Coin(0.3), Coin(0.9)], seed=5)
    long = run([Coin(0.3), Coin(0.049)], seed=5)
    assert short[0] == long[0]
    assert run([Coin(0.3)] * 3, seed=6).tolist() == run([Coin(0.3)] * 3, seed=6).tolist()


def test_decisions_agree_with_holm_of_the_true_p_values():
    generator = np.random.default_rng(8)
    true = np.concatenate((10 ** -generator.uniform(5, 7, 10), generator.uniform(0.1, 1, 40)))
    estimated = run([Coin(p) for p in true], fixed_p=[1e-9, 0.4])
    family = np.concatenate((true, [1e-9, 0.4]))
    assert ((holm(np.concatenate((estimated, [1e-9, 0.4]))) <= 0.05) == (holm(family) <= 0.05)).all()


def test_another_correction_may_be_asked_for():
    """With Bonferroni the last of three must pass 0.05 / 3 as well: 0.03 is far from it, not from 0.05."""
    by_holm, by_bonferroni = Coin(0.03), Coin(0.03)
    run([by_holm], fixed_p=[1e-9, 1e-9], adjust=holm)
    run([by_bonferroni], fixed_p=[1e-9, 1e-9], adjust=bonferroni)
    assert by_bonferroni.drawn != by_holm.drawn


def test_valid_under_the_null():
    """Uniform true p-values: p ≤ c at most a share c of the time, and few families with a false finding.

    The bounds are the nominal values plus 2.6 standard errors; hits / draws of 64 draws exceeds them.
    """
    families, members = 600, 20
    true = np.random.default_rng(9).random((families, members))
    p = np.array([run([Coin(u) for u in family], seed=s) for s, family in enumerate(true)])
    for level in (0.05, 0.005):
        assert (p <= level).mean() <= level + 2.6 * np.sqrt(level * (1 - level) / p.size)
    bound = 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / families)
    assert 0.02 <= false_findings(p) <= bound < false_findings(np.random.default_rng(9).binomial(64, true) / 64)


def false_findings(p):
    return np.mean([(holm(family) <= 0.05).any() for family in p])


def test_cheap_under_the_null():
    coins = [Coin(u) for u in np.random.default_rng(10).random(200)]
    run(coins)
    assert sum(coin.drawn for coin in coins) < 200 * 2_000


@given(st.integers(0, 300), st.integers(1, 300))
@settings(max_examples=50)
def test_clopper_pearson_agrees_with_scipy(hits, extra):
    draws = hits + extra - 1 if hits else extra
    low, high = clopper_pearson(np.array([hits]), np.array([draws]), 0.01)
    expected = stats.binomtest(hits, draws).proportion_ci(0.99, method="exact")
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.integers(0, 2**20), st.integers(0, 2**20))
def test_the_estimate_lies_within_its_interval(hits, misses):
    """Else a decision settled by the interval could be turned by the p-value that is returned."""
    draws = max(hits + misses, 1)
    low, high = clopper_pearson(np.array([hits]), np.array([draws]))
    assert low[0] <= (1 + hits) / (1 + draws) <= high[0]


def test_the_cap_follows_the_smallest_level():
    assert most_draws(1, 0.05) == 2**17
    assert most_draws(1000, 0.05) >= 20 * 1000 / 0.05
    assert most_draws(10**9, 0.05) == 2**20


def test_no_samplers():
    assert run([], fixed_p=[0.1]).shape == (0,)


@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"alpha": 1.0}, {"first": 0}, {"most": 0}])
def test_senseless_arguments_are_refused(options):
    with pytest.raises(InputError, match="parameter"):
        run([Coin(0.5)], **options)
