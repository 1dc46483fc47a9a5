"""Do groups lie above or below their strata in the same direction, whatever their spread?

In strata of a few people, a group with a larger spread than the others cannot be told from one whose mean differs from
stratum to stratum: both make the variation between groups large, and the spread of one person is not to be seen. What
can be told is whether a group lies on one side of its strata: the sum T over strata of its people's deviations, against
what it would be if no group differed. With V the covariance of these sums, from the squares of the deviations of the
people themselves, the statistic is

    T' V⁻ T,

about χ² with a degree of freedom less than there are groups. Deviations are taken from the stratum, not from the group,
so that few people with large deviations enlarge V with T: the tails are shorter than those of χ². A group may have any
spread. The deviation of a person is from a mean to which it belongs; in a stratum of m people, squares that are too
small or too large by that are put right without bias (Hartley, Rao and Kiefer 1969), and never below 0.

References
----------
H. Hartley, J. Rao, G. Kiefer (1969), Variance estimation with one unit per stratum. JASA 64, 841–851.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtest.statistics.numbers.groups import Layout
    from fairtest.types import FloatArray

SPARSE = 10
"""Where a group has fewer people in a stratum, on average, its spread is not seen well enough there."""


def contrast_chi_square(layout: Layout) -> FloatArray:
    """Return the χ² of "no group lies on one side of its strata"; infinite where strata are large enough not to ask.

    Examples
    --------
    >>> from fairtest.statistics.numbers.groups import Layout
    >>> n = np.ones((1, 400, 2))
    >>> gap = np.random.default_rng(0).normal(0.3, 1, (1, 400, 1))
    >>> contrast_chi_square(Layout(n, np.concatenate((gap, -gap), axis=2), *[np.zeros_like(n)] * 3)).round(1)
    array([26.2])
    """
    people, strata = layout.n.sum(axis=1), (layout.n > 0).sum(axis=1)
    sparse = ((strata > 0) & (people < SPARSE * strata)).any(axis=1) & (layout.n.shape[1] > 1)
    found = np.full(len(layout.n), np.inf)
    if sparse.any():
        found[sparse] = _chi_square(layout.take(sparse))
    return found


def _chi_square(layout: Layout) -> FloatArray:
    total = (layout.n * layout.deviation).sum(axis=1)
    covariance = _covariance(layout)
    spread = np.sqrt(np.einsum("cgg->cg", covariance))
    unit = np.where(spread > 0, spread, 1.0)
    total, covariance = total / unit, covariance / (unit[:, :, None] * unit[:, None, :])
    inverse = np.linalg.pinv(covariance, rcond=1e-9, hermitian=True)
    return np.asarray(np.einsum("cg,cgh,ch->c", total, inverse, total))


def _covariance(layout: Layout) -> FloatArray:
    """Return the covariance of the sums by group, added over strata.

    A person of group h adds to the sum of group g their deviation times 1 (if h is g) less the share of g.
    """
    size = layout.n.sum(axis=2, keepdims=True)
    share = layout.n / np.maximum(size, 1.0)
    squares = _person_variances(layout, size)
    mixed = np.einsum("ceg,ceh->cgh", share, squares)
    common = np.einsum("ceg,ceh,ce->cgh", share, share, squares.sum(axis=2))
    own = squares.sum(axis=1)[:, :, None] * np.eye(layout.n.shape[2])
    return np.asarray(own - mixed - np.swapaxes(mixed, 1, 2) + common)


def _person_variances(layout: Layout, size: FloatArray) -> FloatArray:
    """Return the variances of the people of each stratum's group, added up."""
    squares = layout.s2 + layout.n * layout.deviation**2
    everybody = squares.sum(axis=2, keepdims=True)
    part = layout.n * everybody / np.maximum(size * (size - 1), 1.0)
    # Of two people only the sum of their variances is known.
    apart = (squares - part) * size / np.maximum(size - 2, 1.0)
    return np.asarray(np.maximum(np.where(size > 2, apart, layout.n * everybody), 0.0))
