"""Numbers in several groups: ETA, alone and within strata."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from calibration.designs.base import SIZES, Design, Drawn, Floats, cost_of_permuting, rows_of
from calibration.designs.errors import NOISES
from fairtest.data.summaries import GroupMoments

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class OneWay:
    """A number whose mean differs between groups.

    Attributes
    ----------
    eta
        η² in each stratum (one value: the same in all).
    spread
        How many times larger the errors of the last, rarest group are.
    uneven
        The shares of the groups, the rarest last; empty: all alike but the last.
    """

    groups: int
    eta: tuple[float, ...]
    noise: str
    share: float
    spread: float = 1.0
    uneven: tuple[float, ...] = ()

    @property
    def shares(self) -> Floats:
        """The share of each group."""
        if self.uneven:
            return np.array(self.uneven)
        rare = self.share if self.share < 0.5 else 1 / self.groups
        return np.append(np.full(self.groups - 1, (1 - rare) / (self.groups - 1)), rare)

    @property
    def deviations(self) -> Floats:
        """The standard deviation within each group."""
        return np.append(np.ones(self.groups - 1), self.spread)

    @property
    def within(self) -> float:
        """The mean variance within groups."""
        return float((self.shares * self.deviations**2).sum())

    def means(self, strata: int) -> Floats:
        """Return the mean of each group, [stratum, group]."""
        shape = np.linspace(-1.0, 1.0, self.groups)
        shape -= (self.shares * shape).sum()
        eta = np.resize(self.eta, strata)[:, None]
        return shape * np.sqrt(eta / (1 - eta) * self.within / (self.shares * shape**2).sum())

    def truth(self, strata: int) -> float:
        """Return η² pooled over strata of equal size."""
        between = (self.shares * self.means(strata) ** 2).sum(axis=1).sum()
        return float(between / (between + strata * self.within))


def one_ways() -> Iterator[Design]:
    """Yield three and six groups, the rarest perhaps of threefold spread."""
    for noise, n, (groups, share), eta in product(
        ("normal", "exponential", "log-normal 1", "t3"), SIZES, ((3, 0.5), (6, 0.5), (3, 0.05)), (0.0, 0.1, 0.4)
    ):
        yield _one_way(f"{groups} groups, {noise} errors", n, 1, OneWay(groups, (eta,), noise, share))
    for noise, n, share, eta in product(("normal", "log-normal 1"), SIZES, (0.05, 0.01), (0.0, 0.1)):
        if n * share >= 2:
            way = OneWay(3, (eta,), noise, share, 3.0)
            yield _one_way(f"3 groups, the rare one of threefold spread, {noise} errors", n, 1, way)


def rare_one_ways() -> Iterator[Design]:
    """Yield groups down to 0.3 %, two and more, with counts and amounts that are mostly 0."""
    every = ((0.985, 0.01, 0.005), (0.97, 0.02, 0.01), (0.85, 0.1, 0.05), (0.95, 0.04, 0.007, 0.003), (0.995, 0.005))
    noises = ("normal", "count 0.03", "count 0.1", "rare amounts", "log-normal 1.5")
    for shares, noise, n, eta in product(every, noises, (2_000, 14_000), (0.0, 0.02)):
        way = OneWay(len(shares), (eta,), noise, shares[-1], uneven=shares)
        yield _one_way(f"{'/'.join(f'{s:.1%}' for s in shares)}, {noise} errors", n, 1, way)


def conditional_one_ways() -> Iterator[Design]:
    """Yield groups within strata, down to three people each."""
    for noise, strata in product(("normal", "log-normal 1", "count 0.1"), (100, 500)):
        yield _one_way(f"3 groups, three a stratum, {noise} errors", 3 * strata, strata, OneWay(3, (0.0,), noise, 0.5))
    for strata, noise, share, per in product((6, 20, 50), ("normal", "log-normal 1"), (0.5, 0.05), (30, 200)):
        for eta in ((0.0,), (0.1,), (0.05, 0.4)):
            kind = f"3 groups, {noise} errors" + (", unequal effects" if len(eta) > 1 else "")
            yield _one_way(kind, per * strata, strata, OneWay(3, eta, noise, share))


def _one_way(kind: str, n: int, strata: int, way: OneWay) -> Design:
    truth = way.truth(strata)
    draw = partial(_draw_groups, way, strata, n // strata, truth)
    permuted = cost_of_permuting(n, 5_000) if strata > 1 else 1
    return Design("ETA", kind, n, way.share, strata, f"{truth:.3g}", draw, 2 * n * permuted)


def _draw_groups(way: OneWay, strata: int, size: int, truth: float, reps: int, rng: np.random.Generator) -> Drawn:
    shape = (reps, strata, size)
    group = np.searchsorted(np.cumsum(way.shares)[:-1], rng.random(shape), side="right")
    means = way.means(strata) + np.arange(strata)[:, None]
    x = np.take_along_axis(np.broadcast_to(means, (reps, *means.shape)), group, axis=2)
    x = x + way.deviations[group] * NOISES[way.noise](rng, shape)
    sums = np.empty((reps, strata, way.groups, 5))
    for g in range(way.groups):
        term = (group == g).astype(float)
        for p in range(5):
            sums[:, :, g, p] = term.sum(axis=2)
            term *= x
    everyone = (sums[..., 0].sum(axis=1) > 0).all(axis=1)
    return Drawn(GroupMoments(sums), np.where(everyone, truth, np.nan), rows_of(group, x))
