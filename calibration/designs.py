"""The grid of designs: populations whose true effect is known, and how to draw replicates of their summaries.

A design draws a whole batch of replicates at once: multinomial counts, or arrays of numbers reduced to power sums.
The sizes of the strata are fixed and differ; within a stratum people fall into groups at random, so a group may be
absent, and then the effect of that replicate is undefined and not counted.

True effects are computed from the population, except those of RANK, which are read off ten million draws with a fixed
seed. Effects averaged over strata are conditional on which strata carry information in the replicate.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from fairtest.data.summaries import Counts, GroupMoments, Moments, Summary, powers
from fairtest.engine.contract import Rows
from fairtest.metrics.choice import find_metric

__all__ = ["Design", "Drawn", "designs"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Noise: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], Floats]

SIZES = (50, 200, 1_000, 10_000, 100_000)
MANY = 10_000_000
NUMBERS_AT_ONCE = 2_000_000
"""Numbers drawn at once; a batch of replicates is as large as this allows."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Replicates of one design.

    Attributes
    ----------
    truth
        The true effect of each replicate; NaN where it is another one because a group is absent.
    rows
        From the number of a replicate to its people.
    """

    summary: Summary
    truth: Floats
    rows: Callable[[int], Rows]


@dataclass(frozen=True, eq=False)
class Design:
    """A population of known effect.

    Attributes
    ----------
    kind
        What is special about it, in words.
    share
        The share of the rarest group; 0.5 where there are no groups.
    effect
        The true effect as written in tables; "0" where there is none.
    draw
        From a number of replicates and a source of randomness to the replicates.
    cost
        Numbers drawn for one replicate, or what weighs as much.
    """

    metric: str
    kind: str
    n: int
    share: float
    strata: int
    effect: str
    draw: Callable[[int, np.random.Generator], Drawn]
    cost: int

    @property
    def null(self) -> bool:
        """Whether there is no association at all."""
        return self.effect == "0"

    @property
    def form(self) -> str:
        """The metric, with the word that says whether it is conditional."""
        return self.metric if self.strata == 1 else f"conditional {self.metric}"

    @property
    def name(self) -> str:
        """All of it in one line, the key of its cell."""
        strata = "" if self.strata == 1 else f", {self.strata} strata"
        return f"{self.form}: {self.kind}, n={self.n}, share {self.share:g}{strata}, effect {self.effect}"

    @property
    def at_once(self) -> int:
        """How many replicates to draw in one batch."""
        return max(1, NUMBERS_AT_ONCE // self.cost)

    def generator(self, seed: int) -> np.random.Generator:
        """Return a source of randomness that hangs on the seed and the design only."""
        return np.random.default_rng([seed, zlib.crc32(self.name.encode())])


def designs() -> list[Design]:
    """Return the whole grid."""
    return [
        *_differences(),
        *_ratios(),
        *_conditional_rates("DIFF"),
        *_conditional_rates("RATIO"),
        *_tables(),
        *_large_tables(),
        *_conditional_tables(),
        *_mean_differences(),
        *_conditional_mean_differences(),
        *_correlations(),
        *_conditional_correlations(),
        *_one_ways(),
        *_rare_one_ways(),
        *_conditional_one_ways(),
        *_ranks(),
        *_conditional_ranks(),
    ]


def stratum_sizes(n: int, strata: int) -> Ints:
    """Return sizes of strata that add up to n, the largest three times the smallest."""
    weight = np.linspace(1.0, 3.0, strata) if strata > 1 else np.ones(1)
    edges = np.rint(np.cumsum(weight) / weight.sum() * n).astype(np.int64)
    return np.diff(edges, prepend=0)


def no_rows(i: int) -> Rows:
    """Refuse to return people: counts hold all there is."""
    raise LookupError(f"Replicate {i} is a table of counts; its people are not kept.")


# Two groups, two outputs ---------------------------------------------------------------------------------------------


def _differences() -> Iterator[Design]:
    rates = ((0.3, 0.0), (0.3, 0.1), (0.3, -0.2), (0.9, -0.5), (0.02, 0.0), (0.02, 0.05), (0.005, 0.0))
    for n, share, (base, gap) in product(SIZES, (0.5, 0.2, 0.05, 0.01), rates):
        yield _two_by_two("DIFF", f"base rate {base:g}", n, share, np.array([base]), np.array([gap]))


def _ratios() -> Iterator[Design]:
    rates = ((0.3, 0.0), (0.3, -0.1), (0.3, 0.3), (0.8, -0.4), (0.02, 0.0), (0.02, 0.03))
    for n, share, (base, gap) in product(SIZES, (0.5, 0.2, 0.05, 0.01), rates):
        if n * (1 - share) * base >= 8:  # else the reference often has none, and the ratio is undefined
            yield _two_by_two("RATIO", f"base rate {base:g}", n, share, np.array([base]), np.array([gap]))


def _conditional_rates(metric: str) -> Iterator[Design]:
    sizes = {6: (300, 1_200, 20_000), 20: (600, 2_000, 100_000), 50: (1_000, 5_000)}
    if metric == "RATIO":
        sizes = {6: (1_200,), 20: (2_000,)}
    for strata, (low, high), share in product(sizes, ((0.1, 0.6), (0.01, 0.04)), (0.5, 0.1, 0.02)):
        base = np.linspace(low, high, strata)[np.argsort(np.arange(strata) % 3, kind="stable")]
        for gap, (how, tilt), n in product((0.0, 1.0), (("equal", 0.0), ("unequal", 1.0)), sizes[strata]):
            if metric == "RATIO" and (share == 0.02 or low < 0.1):  # undefined in most strata
                continue
            gaps = _gaps(base, gap, tilt)
            yield _two_by_two(metric, f"base rates {low:g} to {high:g}, {how} effects", n, share, base, gaps)


def _gaps(base: Floats, gap: float, tilt: float) -> Floats:
    """Return the differences of the strata: a common one in units of the base rate, and one that alternates."""
    sign = np.where(np.arange(base.size) % 2, 1.0, -1.0)
    return np.clip(base * (0.5 * gap + 0.6 * tilt * sign), -base, 1 - base)


def _two_by_two(metric: str, kind: str, n: int, share: float, base: Floats, gaps: Floats) -> Design:
    strata = base.size
    draw = partial(_draw_rates, metric, stratum_sizes(n, strata), _stratum_shares(share, strata), base, gaps)
    mean = float(gaps.mean()) if metric == "DIFF" else float((gaps / base).mean())
    effect = "0" if not gaps.any() else f"{mean:+.3g}"
    cost = 400 * strata * (200 if metric == "RATIO" and strata > 1 else 1)
    return Design(metric, kind, n, share, strata, effect, draw, cost)


def _stratum_shares(share: float, strata: int) -> Floats:
    """Return the group's share in each stratum: half as large to half as large again, so that strata confound."""
    return np.full(1, share) if strata == 1 else np.clip(share * np.linspace(0.5, 1.5, strata), 0.0, 0.9)


def _draw_rates(
    metric: str, sizes: Ints, shares: Floats, base: Floats, gaps: Floats, reps: int, rng: np.random.Generator
) -> Drawn:
    n1 = rng.binomial(sizes, shares, (reps, sizes.size))
    x1, x2 = rng.binomial(n1, base + gaps), rng.binomial(sizes - n1, base)
    counts = np.stack((np.stack((sizes - n1 - x2, n1 - x1), -1), np.stack((x2, x1), -1)), -2)
    defined = (n1 > 0) & (n1 < sizes)
    effects = gaps
    if metric == "RATIO":
        defined, effects = defined & (x2 > 0), gaps / base
    return Drawn(Counts(counts), _averaged(effects, sizes, defined), no_rows)


def _averaged(effects: Floats, sizes: Ints, defined: NDArray[np.bool_]) -> Floats:
    """Return the effect of each replicate over the strata that carry information in it, weighted by their people."""
    weight = np.where(defined, sizes, 0)
    return (weight * effects).sum(axis=1) / np.maximum(weight.sum(axis=1), 1)


# Tables of several groups and outputs --------------------------------------------------------------------------------

SHAPES = ((2, 2), (2, 5), (5, 2), (3, 4), (5, 5))
"""Outputs × groups."""


def _tables() -> Iterator[Design]:
    for (outputs, groups), n, share, mix in product(
        SHAPES, (100, 1_000, 10_000, 100_000), (0.5, 0.05, 0.01), (0.0, 0.1, 0.3, 0.7)
    ):
        yield _table(f"{outputs}×{groups} table", n, share, [_joint(outputs, groups, share, mix)])


def _large_tables() -> Iterator[Design]:
    """Yield tables of thousands of cells in which few people are expected; rows and columns alike, or falling off."""
    for (outputs, groups), n, mix in product(((50, 50), (100, 30), (100, 50), (50, 20)), (7_000, 50_000), (0.0, 0.3)):
        yield _table(f"{outputs}×{groups} table, even", n, 1 / groups, [_large_joint(outputs, groups, 0.0, mix)])
        if mix == 0:
            falling = _large_joint(outputs, groups, 1.0, mix)
            yield _table(f"{outputs}×{groups} table, falling off", n, float(falling.sum(axis=0).min()), [falling])


def _large_joint(outputs: int, groups: int, power: float, mix: float) -> Floats:
    """Return shares [output, group] that fall off with a power; ``mix`` of each group has an output of its own."""
    output, group = (np.arange(1.0, k + 1) ** -power for k in (outputs, groups))
    own = np.arange(groups) % outputs == np.arange(outputs)[:, None]
    return np.asarray(((1 - mix) * (output / output.sum())[:, None] + mix * own) * (group / group.sum()))


def _conditional_tables() -> Iterator[Design]:
    for strata, share, mix, per in product((6, 20, 50), (0.5, 0.05), (0.0, 0.2, 0.5), (20, 100, 1_000)):
        joints = [_joint(2, 2, share, mix) for _ in range(strata)]
        yield _table("2×2 tables", per * strata, share, joints)
        if mix and strata == 20:
            uneven = [_joint(2, 2, share, mix * (0.25 + 1.5 * (e % 2))) for e in range(strata)]
            yield _table("2×2 tables, unequal effects", per * strata, share, uneven)
    for strata, mix, per in product((6, 20), (0.0, 0.2, 0.5), (30, 200)):
        yield _table("3×4 tables", per * strata, 0.5, [_joint(3, 4, 0.5, mix) for _ in range(strata)])


def _joint(outputs: int, groups: int, share: float, mix: float) -> Floats:
    """Return shares [output, group]: outputs fall off by halves; ``mix`` of each group has an output of its own."""
    rare = share if share < 0.5 else 1 / groups
    group = np.append(np.full(groups - 1, (1 - rare) / (groups - 1)), rare)
    output = 0.6 ** np.arange(outputs)
    output /= output.sum()
    own = (np.arange(groups) + 1) % outputs == np.arange(outputs)[:, None]
    return np.asarray(((1 - mix) * output[:, None] + mix * own) * group)


def _table(kind: str, n: int, share: float, joints: list[Floats]) -> Design:
    strata = len(joints)
    joint = np.stack(joints)
    effects = np.array([_nmi(j) for j in joints])
    draw = partial(_draw_tables, stratum_sizes(n, strata), joint, np.where(effects > 1e-12, effects, 0.0))
    effect = "0" if effects.max() < 1e-12 else f"{effects.mean():.2g}"
    cost = 200 * joint.size * (10 if 4 < joint[0].size <= 100 else 1)
    return Design("NMI", kind, n, share, strata, effect, draw, cost)


def _nmi(joint: Floats) -> float:
    output, group = joint.sum(axis=1), joint.sum(axis=0)
    entropies = -xlogy(output, output).sum(), -xlogy(group, group).sum()
    return float((xlogy(joint, joint).sum() + sum(entropies)) / min(entropies))


def _draw_tables(sizes: Ints, joint: Floats, effects: Floats, reps: int, rng: np.random.Generator) -> Drawn:
    counts = np.stack(
        [rng.multinomial(n, p.ravel(), reps).reshape(reps, *p.shape) for n, p in zip(sizes, joint, strict=True)], axis=1
    )
    varies = ((counts.sum(axis=3) > 0).sum(axis=2) > 1) & ((counts.sum(axis=2) > 0).sum(axis=2) > 1)
    return Drawn(Counts(counts), _averaged(effects, sizes, varies), no_rows)


# Two groups and a number ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TwoMeans:
    """A number in two groups that differ in mean and perhaps in spread.

    Attributes
    ----------
    gaps
        The difference of means in each stratum (one value: the same in all), in deviations of the reference.
    spread
        How many times larger the errors of the group are.
    """

    gaps: tuple[float, ...]
    noise: str
    share: float
    spread: float = 1.0


def _mean_differences() -> Iterator[Design]:
    """Yield groups of at least 20 people: below, the report warns."""
    noises = (
        "normal",
        "t5",
        "exponential",
        "log-normal 0.5",
        "log-normal 1",
        "log-normal 1.5",
        "zero-inflated",
        "count 0.1",
    )
    for noise, n, share, spread in product(noises, SIZES, (0.5, 0.2, 0.05, 0.01), (1.0, 3.0)):
        if n * share >= 20 and (noise not in ("zero-inflated", "count 0.1") or spread == 1):
            for gap in (0.0, 0.5) if n <= 1_000 else (0.0, 0.1):
                yield _two_means(n, 1, TwoMeans((gap,), noise, share, spread))
    for noise, n, share in product(("exponential", "log-normal 1"), (1_000, 10_000), (0.05, 0.2)):
        yield _two_means(n, 1, TwoMeans((0.0,), noise, share, 27.0))


def _conditional_mean_differences() -> Iterator[Design]:
    for strata, noise, per in product((6, 20, 50), ("normal", "log-normal 1"), (20, 200)):
        for gaps, share in product(((0.0,), (0.3,), (0.1, 0.5)), (0.5, 0.1)):
            yield _two_means(per * strata, strata, TwoMeans(gaps, noise, share))


def _two_means(n: int, strata: int, two: TwoMeans) -> Design:
    unequal = ", unequal effects" if len(two.gaps) > 1 else ""
    kind = f"{two.noise} errors" + (f", {two.spread:.3g} times the spread" if two.spread != 1 else "") + unequal
    mean = float(np.mean(np.resize(two.gaps, strata)))
    draw = partial(_draw_two_means, two, stratum_sizes(n, strata))
    return Design("MEAN", kind, n, two.share, strata, f"{mean:g}", draw, 2 * n)


def _draw_two_means(two: TwoMeans, sizes: Ints, reps: int, rng: np.random.Generator) -> Drawn:
    gaps = np.resize(two.gaps, sizes.size)
    sums = np.zeros((reps, sizes.size, 2, 5))
    people: list[tuple[Ints, Floats]] = []
    for e, size in enumerate(sizes.tolist()):
        group = (rng.random((reps, size)) < two.share).astype(np.int64)
        x = e + np.where(group, gaps[e], 0.0) + np.where(group, two.spread, 1.0) * NOISES[two.noise](rng, (reps, size))
        for g in (0, 1):
            inside = group == g
            for p in range(5):
                sums[:, e, g, p] = np.where(inside, x**p, 0.0).sum(axis=1)
        people.append((group, x))
    stratum = np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)

    def rows(i: int) -> Rows:
        return Rows(*(np.concatenate([each[part][i] for each in people]) for part in (0, 1)), stratum, {})

    truth = _averaged(gaps, sizes, (sums[..., 0] > 0).all(axis=2))
    return Drawn(GroupMoments(sums), truth, rows)


# Two numbers ---------------------------------------------------------------------------------------------------------


def _lognormal(sigma: float, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    mean, deviation = np.exp(sigma**2 / 2), np.sqrt(np.expm1(sigma**2) * np.exp(sigma**2))
    return (np.exp(sigma * rng.standard_normal(shape)) - mean) / deviation


def _count(mean: float, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return (rng.poisson(mean, shape) - mean) / np.sqrt(mean)


def _zero_inflated(share: float, sigma: float, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return amounts that are 0 for most people and log-normal for a share of them, in units of their deviation."""
    mean, square = share * np.exp(sigma**2 / 2), share * np.exp(2 * sigma**2)
    amounts = np.where(rng.random(shape) < share, np.exp(sigma * rng.standard_normal(shape)), 0.0)
    return np.asarray((amounts - mean) / np.sqrt(square - mean**2))


NOISES: dict[str, Noise] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "exponential": lambda rng, shape: rng.standard_exponential(shape) - 1,
    "log-normal 0.5": partial(_lognormal, 0.5),
    "log-normal 1": partial(_lognormal, 1.0),
    "log-normal 1.5": partial(_lognormal, 1.5),
    "t5": lambda rng, shape: rng.standard_t(5, shape) / np.sqrt(5 / 3),
    "zero-inflated": partial(_zero_inflated, 0.1, 0.5),
    "t3": lambda rng, shape: rng.standard_t(3, shape) / np.sqrt(3),
    "count 0.03": partial(_count, 0.03),
    "count 0.1": partial(_count, 0.1),
    "rare amounts": partial(_zero_inflated, 0.03, 1.0),
}
"""Errors of mean 0 and variance 1."""


@dataclass(frozen=True)
class Pair:
    """Two numbers of known correlation.

    Attributes
    ----------
    r
        The correlation in each stratum (one value: the same in all).
    noise
        The errors of o given s; "unequal spread": normal, growing with the size of s; "log-normal pair …": both.
    share, spread
        For a binary s: the share of the group, and how many times larger its errors are; share 0: a normal s.
    """

    r: tuple[float, ...]
    noise: str
    share: float = 0.0
    spread: float = 1.0

    def sample(self, rng: np.random.Generator, shape: tuple[int, int, int]) -> tuple[Floats, Floats]:
        """Return both numbers, [replicate, stratum, person]."""
        r = np.resize(self.r, shape[1])[:, None]
        if self.noise.startswith("log-normal pair"):
            return self._lognormal_pair(rng, shape, r)
        if self.share:
            return self._binary(rng, shape, r)
        s = rng.standard_normal(shape)
        if self.noise == "unequal spread":
            return s, r * s + np.sqrt(1 - r**2) * np.abs(s) * rng.standard_normal(shape)
        return s, r * s + np.sqrt(1 - r**2) * NOISES[self.noise](rng, shape)

    def _binary(self, rng: np.random.Generator, shape: tuple[int, int, int], r: Floats) -> tuple[Floats, Floats]:
        s = (rng.random(shape) < self.share).astype(float)
        within = 1 - self.share + self.share * self.spread**2
        gap = r / np.sqrt(1 - r**2) * np.sqrt(within / (self.share * (1 - self.share)))
        return s, gap * s + np.where(s > 0, self.spread, 1.0) * NOISES[self.noise](rng, shape)

    def _lognormal_pair(
        self, rng: np.random.Generator, shape: tuple[int, int, int], r: Floats
    ) -> tuple[Floats, Floats]:
        sigma = float(self.noise.split()[-1])
        common = np.log1p(r * np.expm1(sigma**2)) / sigma**2
        z = rng.standard_normal(shape)
        other = common * z + np.sqrt(1 - common**2) * rng.standard_normal(shape)
        scale = np.exp(sigma**2)  # keeps powers within reach
        return np.exp(sigma * z) / scale, np.exp(sigma * other) / scale


def _correlations() -> Iterator[Design]:
    smooth = ("normal", "exponential", "log-normal 1", "log-normal 1.5", "t3", "unequal spread")
    for noise, n, r in product(smooth, SIZES, (0.0, 0.3, 0.7)):
        yield _pair("CORR", f"{noise} errors", n, 1, Pair((r,), noise))
    for sigma, n, r in product((1, 1.5), SIZES, (0.0, 0.3, 0.7)):
        yield _pair("CORR", f"log-normal pair {sigma}", n, 1, Pair((r,), f"log-normal pair {sigma}"))
    for noise, n, share, r in product(("normal", "log-normal 1"), SIZES, (0.5, 0.05, 0.01), (0.0, 0.2)):
        if n * share >= 2:
            yield _pair("CORR", f"binary group, {noise} errors", n, 1, Pair((r,), noise, share))
    for n, share, r in product(SIZES, (0.05, 0.01), (0.0, 0.2)):
        if n * share >= 2:
            pair = Pair((r,), "normal", share, 3.0)
            yield _pair("CORR", "binary group of threefold spread", n, 1, pair)


def _conditional_correlations() -> Iterator[Design]:
    for strata, noise, per in product((6, 20, 50), ("normal", "log-normal 1", "unequal spread"), (20, 200)):
        for r in ((0.0,), (0.3,), (0.1, 0.5)):
            kind = f"{noise} errors" + (", unequal effects" if len(r) > 1 else "")
            yield _pair("CORR", kind, per * strata, strata, Pair(r, noise))
    for strata, share, r in product((6, 20), (0.5, 0.05), (0.0, 0.2)):
        yield _pair("CORR", "binary group, normal errors", 100 * strata, strata, Pair((r,), "normal", share))


def _pair(metric: str, kind: str, n: int, strata: int, pair: Pair) -> Design:
    mean = float(np.mean(np.resize(pair.r, strata)))
    draw = partial(_draw_moments, pair, strata, n // strata, mean)
    return Design(metric, kind, n, pair.share or 0.5, strata, f"{mean:g}", draw, n * _permuting(n))


def _permuting(n: int, most: int = 1_000) -> int:
    """Return how much more replicates cost that are permuted in part, those of up to ``most`` people."""
    return 25 if n <= most else 1


def _draw_moments(pair: Pair, strata: int, size: int, truth: float, reps: int, rng: np.random.Generator) -> Drawn:
    s, o = pair.sample(rng, (reps, strata, size))
    o += np.arange(strata)[:, None]  # strata differ, and that is none of our business
    moments = Moments(_power_sums(s, o), 4)
    return Drawn(moments, np.full(reps, truth), _rows_of(s, o))


def _power_sums(s: Floats, o: Floats) -> Floats:
    sp, op = [np.ones_like(s), s], [np.ones_like(o), o]
    for _ in range(3):
        sp.append(sp[-1] * s)
        op.append(op[-1] * o)
    return np.stack([np.einsum("mkn,mkn->mk", sp[i], op[j]) for i, j in powers(4)], axis=-1)


def _rows_of(s: NDArray[np.generic], o: NDArray[np.generic]) -> Callable[[int], Rows]:
    stratum = np.repeat(np.arange(s.shape[1], dtype=np.int32), s.shape[2])
    return lambda i: Rows(s[i].ravel(), o[i].ravel(), stratum, {})


# Numbers in groups ---------------------------------------------------------------------------------------------------


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


def _one_ways() -> Iterator[Design]:
    for noise, n, (groups, share), eta in product(
        ("normal", "exponential", "log-normal 1", "t3"), SIZES, ((3, 0.5), (6, 0.5), (3, 0.05)), (0.0, 0.1, 0.4)
    ):
        yield _one_way(f"{groups} groups, {noise} errors", n, 1, OneWay(groups, (eta,), noise, share))
    for noise, n, share, eta in product(("normal", "log-normal 1"), SIZES, (0.05, 0.01), (0.0, 0.1)):
        if n * share >= 2:
            way = OneWay(3, (eta,), noise, share, 3.0)
            yield _one_way(f"3 groups, the rare one of threefold spread, {noise} errors", n, 1, way)


def _rare_one_ways() -> Iterator[Design]:
    """Yield groups down to 0.3 %, two and more, with counts and amounts that are mostly 0."""
    every = ((0.985, 0.01, 0.005), (0.97, 0.02, 0.01), (0.85, 0.1, 0.05), (0.95, 0.04, 0.007, 0.003), (0.995, 0.005))
    noises = ("normal", "count 0.03", "count 0.1", "rare amounts", "log-normal 1.5")
    for shares, noise, n, eta in product(every, noises, (2_000, 14_000), (0.0, 0.02)):
        way = OneWay(len(shares), (eta,), noise, shares[-1], uneven=shares)
        yield _one_way(f"{'/'.join(f'{s:.1%}' for s in shares)}, {noise} errors", n, 1, way)


def _conditional_one_ways() -> Iterator[Design]:
    for noise, strata in product(("normal", "log-normal 1", "count 0.1"), (100, 500)):
        yield _one_way(f"3 groups, three a stratum, {noise} errors", 3 * strata, strata, OneWay(3, (0.0,), noise, 0.5))
    for strata, noise, share, per in product((6, 20, 50), ("normal", "log-normal 1"), (0.5, 0.05), (30, 200)):
        for eta in ((0.0,), (0.1,), (0.05, 0.4)):
            kind = f"3 groups, {noise} errors" + (", unequal effects" if len(eta) > 1 else "")
            yield _one_way(kind, per * strata, strata, OneWay(3, eta, noise, share))


def _one_way(kind: str, n: int, strata: int, way: OneWay) -> Design:
    truth = way.truth(strata)
    draw = partial(_draw_groups, way, strata, n // strata, truth)
    permuted = _permuting(n, 5_000) if strata > 1 else 1
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
    return Drawn(GroupMoments(sums), np.where(everyone, truth, np.nan), _rows_of(group, x))


# Ranks ---------------------------------------------------------------------------------------------------------------


def _ranks() -> Iterator[Design]:
    for noise, n, r in product(("normal", "log-normal 1", "t3", "unequal spread"), SIZES, (0.0, 0.3, 0.8)):
        yield _ranked(f"{noise} errors", n, 1, Pair((r,), noise), 32)
    for n, share, spread, r in product(SIZES, (0.5, 0.05, 0.01), (1.0, 3.0), (0.0, 0.2)):
        if n * share >= 2 and (share < 0.5 or spread == 1):
            kind = "binary group" + (" of threefold spread" if spread > 1 else "")
            yield _ranked(kind, n, 1, Pair((r,), "normal", share, spread), 32)


def _conditional_ranks() -> Iterator[Design]:
    for strata, noise, per in product((6, 20, 50), ("normal", "log-normal 1", "unequal spread"), (20, 200)):
        for r in ((0.0,), (0.3,), (0.1, 0.5)):
            kind = f"{noise} errors" + (", unequal effects" if len(r) > 1 else "")
            yield _ranked(kind, per * strata, strata, Pair(r, noise), 16)
    for strata, share, spread, r in product((6, 20), (0.5, 0.05), (1.0, 3.0), (0.0, 0.2)):
        kind = "binary group" + (" of threefold spread" if spread > 1 else "")
        yield _ranked(kind, 100 * strata, strata, Pair((r,), "normal", share, spread), 16)


def _ranked(kind: str, n: int, strata: int, pair: Pair, bins: int) -> Design:
    draw = partial(_draw_ranks, pair, strata, n // strata, bins)
    mean = float(np.mean(np.resize(pair.r, strata)))
    cost = n * (_permuting(n) if strata > 1 else 1) + 3 * strata * bins * (2 if pair.share else bins)
    return Design("RANK", kind, n, pair.share or 0.5, strata, f"{mean:g}", draw, cost)


def _draw_ranks(pair: Pair, strata: int, size: int, bins: int, reps: int, rng: np.random.Generator) -> Drawn:
    truth, edges = _rank_truth(pair, bins)
    s, o = _coded(*pair.sample(rng, (reps, strata, size)), edges)
    counts = _joint_counts(s, o, tuple(len(e) + 1 for e in edges))
    # Over strata of equal size the pooled coefficient is the mean of those of the strata.
    return Drawn(Counts(counts), np.full(reps, truth), _rows_of(s, o))


def _coded(s: Floats, o: Floats, edges: tuple[Floats, Floats]) -> tuple[Ints, Ints]:
    return np.searchsorted(edges[0], s), np.searchsorted(edges[1], o)


def _joint_counts(s: Ints, o: Ints, levels: tuple[int, int]) -> Ints:
    """Return people by [replicate, stratum, output, protected]."""
    cells = levels[0] * levels[1]
    place = np.arange(s.shape[0] * s.shape[1]).reshape(*s.shape[:2], 1) * cells
    flat = np.bincount((place + o * levels[0] + s).ravel(), minlength=s.shape[0] * s.shape[1] * cells)
    return flat.reshape(*s.shape[:2], levels[1], levels[0])


@cache
def _rank_truth(pair: Pair, bins: int) -> tuple[float, tuple[Floats, Floats]]:
    """Return Spearman's ρ of the coded numbers, from ten million draws, and the edges of the codes."""
    rng = np.random.default_rng(20_240_301)
    strata, parts = len(pair.r), 20
    shape = (1, strata, MANY // parts // strata)
    s, o = pair.sample(rng, shape)
    inner = np.linspace(0, 1, bins + 1)[1:-1]
    edges = np.array([0.5]) if pair.share else np.quantile(s, inner), np.quantile(o, inner)
    if not any(pair.r) and (pair.noise == "unequal spread" or pair.spread == 1 or pair.share):
        return 0.0, edges  # independent, or symmetric in each group
    levels = (len(edges[0]) + 1, bins)
    counts = sum(_joint_counts(*_coded(*pair.sample(rng, shape), edges), levels) for _ in range(parts))
    return float(find_metric("RANK").effect(Counts(np.asarray(counts)))[0]), edges
