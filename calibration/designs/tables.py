"""Tables of several groups and outputs: NMI, alone and within strata."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

from calibration.designs.base import Design, Drawn, Floats, Ints, averaged, no_rows, stratum_sizes
from fairtest.data.summaries import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

SHAPES = ((2, 2), (2, 5), (5, 2), (3, 4), (5, 5))
"""Outputs × groups."""


def tables() -> Iterator[Design]:
    """Yield tables of up to five groups and outputs."""
    for (outputs, groups), n, share, mix in product(
        SHAPES, (100, 1_000, 10_000, 100_000), (0.5, 0.05, 0.01), (0.0, 0.1, 0.3, 0.7)
    ):
        yield _table(f"{outputs}×{groups} table", n, share, [_joint(outputs, groups, share, mix)])


def large_tables() -> Iterator[Design]:
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


def conditional_tables() -> Iterator[Design]:
    """Yield tables within strata."""
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
    return Drawn(Counts(counts), averaged(effects, sizes, varies), no_rows)
