"""Two groups and two outputs: DIFF and RATIO, alone and within strata."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from calibration.designs.base import SIZES, Design, Drawn, Floats, Ints, averaged, no_rows, stratum_sizes
from fairtest.data.summaries import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator


def differences() -> Iterator[Design]:
    """Yield differences of two rates, down to a group of 1 % and a rate of 0.5 %."""
    rates = ((0.3, 0.0), (0.3, 0.1), (0.3, -0.2), (0.9, -0.5), (0.02, 0.0), (0.02, 0.05), (0.005, 0.0))
    for n, share, (base, gap) in product(SIZES, (0.5, 0.2, 0.05, 0.01), rates):
        yield _two_by_two("DIFF", f"base rate {base:g}", n, share, np.array([base]), np.array([gap]))


def ratios() -> Iterator[Design]:
    """Yield ratios of two rates wherever they are likely to be defined."""
    rates = ((0.3, 0.0), (0.3, -0.1), (0.3, 0.3), (0.8, -0.4), (0.02, 0.0), (0.02, 0.03))
    for n, share, (base, gap) in product(SIZES, (0.5, 0.2, 0.05, 0.01), rates):
        if n * (1 - share) * base >= 8:  # else the reference often has none, and the ratio is undefined
            yield _two_by_two("RATIO", f"base rate {base:g}", n, share, np.array([base]), np.array([gap]))


def conditional_rates(metric: str) -> Iterator[Design]:
    """Yield rates of two groups within strata that confound them."""
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
    return Drawn(Counts(counts), averaged(effects, sizes, defined), no_rows)
