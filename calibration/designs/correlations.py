"""Two numbers: CORR, alone and within strata."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from calibration.designs.base import SIZES, Design, Drawn, Floats, cost_of_permuting, rows_of
from calibration.designs.pairs import Pair
from fairtest.data.summaries import Moments, powers

if TYPE_CHECKING:
    from collections.abc import Iterator


def correlations() -> Iterator[Design]:
    """Yield two numbers, or a binary group and a number, of known correlation."""
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


def conditional_correlations() -> Iterator[Design]:
    """Yield the same within strata, where the correlation is the same or not."""
    for strata, noise, per in product((6, 20, 50), ("normal", "log-normal 1", "unequal spread"), (20, 200)):
        for r in ((0.0,), (0.3,), (0.1, 0.5)):
            kind = f"{noise} errors" + (", unequal effects" if len(r) > 1 else "")
            yield _pair("CORR", kind, per * strata, strata, Pair(r, noise))
    for strata, share, r in product((6, 20), (0.5, 0.05), (0.0, 0.2)):
        yield _pair("CORR", "binary group, normal errors", 100 * strata, strata, Pair((r,), "normal", share))


def _pair(metric: str, kind: str, n: int, strata: int, pair: Pair) -> Design:
    mean = float(np.mean(np.resize(pair.r, strata)))
    draw = partial(_draw_moments, pair, strata, n // strata, mean)
    return Design(metric, kind, n, pair.share or 0.5, strata, f"{mean:g}", draw, n * cost_of_permuting(n))


def _draw_moments(pair: Pair, strata: int, size: int, truth: float, reps: int, rng: np.random.Generator) -> Drawn:
    s, o = pair.sample(rng, (reps, strata, size))
    o += np.arange(strata)[:, None]  # strata differ, and that is none of our business
    moments = Moments(_power_sums(s, o), 4)
    return Drawn(moments, np.full(reps, truth), rows_of(s, o))


def _power_sums(s: Floats, o: Floats) -> Floats:
    sp, op = [np.ones_like(s), s], [np.ones_like(o), o]
    for _ in range(3):
        sp.append(sp[-1] * s)
        op.append(op[-1] * o)
    return np.stack([np.einsum("mkn,mkn->mk", sp[i], op[j]) for i, j in powers(4)], axis=-1)
