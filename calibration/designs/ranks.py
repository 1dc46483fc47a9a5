"""Ranks: RANK, alone and within strata."""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from calibration.designs.base import SIZES, Design, Drawn, Floats, Ints, cost_of_permuting, rows_of
from calibration.designs.pairs import Pair
from fairtest.data.summaries import Counts
from fairtest.metrics.choice import find_metric

if TYPE_CHECKING:
    from collections.abc import Iterator

MANY = 10_000_000


def ranks() -> Iterator[Design]:
    """Yield two numbers, or a binary group and a number."""
    for noise, n, r in product(("normal", "log-normal 1", "t3", "unequal spread"), SIZES, (0.0, 0.3, 0.8)):
        yield _ranked(f"{noise} errors", n, 1, Pair((r,), noise), 32)
    for n, share, spread, r in product(SIZES, (0.5, 0.05, 0.01), (1.0, 3.0), (0.0, 0.2)):
        if n * share >= 2 and (share < 0.5 or spread == 1):
            kind = "binary group" + (" of threefold spread" if spread > 1 else "")
            yield _ranked(kind, n, 1, Pair((r,), "normal", share, spread), 32)


def conditional_ranks() -> Iterator[Design]:
    """Yield the same within strata."""
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
    cost = n * (cost_of_permuting(n) if strata > 1 else 1) + 3 * strata * bins * (2 if pair.share else bins)
    return Design("RANK", kind, n, pair.share or 0.5, strata, f"{mean:g}", draw, cost)


def _draw_ranks(pair: Pair, strata: int, size: int, bins: int, reps: int, rng: np.random.Generator) -> Drawn:
    truth, edges = _rank_truth(pair, bins)
    s, o = _coded(*pair.sample(rng, (reps, strata, size)), edges)
    counts = _joint_counts(s, o, tuple(len(e) + 1 for e in edges))
    # Over strata of equal size the pooled coefficient is the mean of those of the strata.
    return Drawn(Counts(counts), np.full(reps, truth), rows_of(s, o))


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
