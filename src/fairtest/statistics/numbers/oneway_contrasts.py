"""Do groups lie above or below their strata in the same direction, whatever their spread?

In strata of a few people, a group with a larger spread than the others cannot be told from one whose mean differs from
stratum to stratum: both make the variation between groups large, and the spread of one person is not to be seen. What
can be told is whether a group lies on one side of its strata: the sum over strata of its people's deviations, against
how much that differs from stratum to stratum. With T the vector of these sums by group in a stratum, the statistic is

    (ΣT)' (ΣTT')⁻ (ΣT)

which is at most the number E of strata, and with normal sums, if no group differs, E times a beta variable. Nothing is
assumed about spreads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from fairtest.statistics.numbers.groups import Layout
    from fairtest.types import FloatArray

SPARSE = 10
"""Where a group has fewer people in a stratum, on average, its spread is not seen well enough there."""


def contrast_p(layout: Layout) -> FloatArray:
    """Return the p-value of "no group lies on one side of its strata"; 0 where strata are few or large.

    Examples
    --------
    >>> from fairtest.statistics.numbers.groups import Layout
    >>> n = np.ones((1, 400, 2))
    >>> gap = np.random.default_rng(0).normal(0.3, 1, (1, 400, 1))
    >>> print(contrast_p(Layout(n, np.concatenate((gap, -gap), axis=2), *[np.zeros_like(n)] * 3)) < 1e-4)
    [ True]
    """
    people, strata = layout.n.sum(axis=1), (layout.n > 0).sum(axis=1)
    groups, used = (strata > 0).sum(axis=1), (layout.n > 0).any(axis=2).sum(axis=1)
    sparse = ((strata > 0) & (people < SPARSE * strata)).any(axis=1) & (used > 2 * groups)
    p = np.zeros(len(layout.n))
    if sparse.any():
        p[sparse] = _p(layout.n[sparse] * layout.deviation[sparse], groups[sparse], used[sparse])
    return p


def _p(sums: FloatArray, groups: FloatArray, strata: FloatArray) -> FloatArray:
    """Return the p-values of sums of deviations ``[context, stratum, group]``, which add up to 0 over groups."""
    total = sums.sum(axis=1)
    scale = np.sqrt((sums**2).sum(axis=1))
    unit = np.where(scale > 0, scale, 1.0)
    total, sums = total / unit, sums / unit[:, None, :]
    spread = np.einsum("ceg,ceh->cgh", sums, sums)
    statistic = np.einsum("cg,cgh,ch->c", total, np.linalg.pinv(spread, rcond=1e-9, hermitian=True), total)
    freedom = (groups - 1) / 2
    return np.asarray(special.betainc(strata / 2 - freedom, freedom, np.clip(1 - statistic / strata, 0.0, 1.0)))
