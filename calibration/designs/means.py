"""Two groups and a number: MEAN, alone and within strata."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from calibration.designs.base import SIZES, Design, Drawn, Floats, Ints, averaged, stratum_sizes
from calibration.designs.errors import NOISES
from fairtest.data.summaries import GroupMoments
from fairtest.engine.contract import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator


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


def mean_differences() -> Iterator[Design]:
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


def conditional_mean_differences() -> Iterator[Design]:
    """Yield two groups within strata, where the difference is the same or not."""
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

    truth = averaged(gaps, sizes, (sums[..., 0] > 0).all(axis=2))
    return Drawn(GroupMoments(sums), truth, rows)
