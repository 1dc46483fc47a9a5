"""How much of the variation between groups is left when skewed numbers may have hidden their tail.

With skewed numbers and groups of unequal spread, a group that happens to miss the tail has a mean and a spread that are
too small, both by the same chance, and F* is far too large: three groups, one of them with three times the spread of
the others, and log-normal numbers give a false finding in a third of all audits. As for two groups
(:mod:`~fairtest.statistics.numbers.mean_difference`), what helps is what the others know of the shape of the numbers.
Each group is compared with everybody else, and χ² is reduced by the square of what skewness makes of these comparisons,
on average; those that stand out count most, since groups that do not differ say nothing of the tail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.statistics.numbers.mean_difference import TwoGroups, shape_of_largest, welch_deviates

if TYPE_CHECKING:
    from fairtest.statistics.numbers.groups import Layout
    from fairtest.types import FloatArray

_MOST = 37.0
"""Where normal deviates end: beyond, tail probabilities are below 1e-300."""


def known_shape(layout: Layout) -> FloatArray:
    """Return the skewness that each context must reckon with because the largest one has seen it."""
    of_groups = shape_of_largest(_pairs(layout)).reshape(-1, layout.n.shape[2])
    return np.asarray(of_groups.max(axis=1) + of_groups.min(axis=1))  # the same for all of a context, or 0


def skewness_share(layout: Layout, known: FloatArray) -> FloatArray:
    """Return what share of χ² is left, between 0 and 1.

    Parameters
    ----------
    known
        What the largest context has seen (:func:`known_shape`).

    Examples
    --------
    >>> from fairtest.statistics.numbers.groups import Layout
    >>> n = np.array([[[500.0, 300.0, 100.0]]])
    >>> mean = np.array([[[0.05, 0.05, -0.4]]])
    >>> for skewness in (0, 2, 6):
    ...     print(skewness_share(Layout(n, mean, n, skewness * n, n), np.zeros(1)).round(2))
    [1.]
    [0.46]
    [0.02]
    """
    people = layout.n.sum(axis=1)
    deviates = welch_deviates(_pairs(layout), np.repeat(known, people.shape[1]))
    plain, stretched = (np.minimum(v, _MOST).reshape(people.shape) for v in deviates)
    ratio = np.where(plain > 0, stretched / np.where(plain > 0, plain, 1.0), 1.0)
    others = 1 - people / np.maximum(people.sum(axis=1, keepdims=True), 1.0)
    weight = np.where(people > 0, others * plain**4, 0.0)
    whole = weight.sum(axis=1)
    return np.where(whole > 0, (weight * ratio**2).sum(axis=1) / np.where(whole > 0, whole, 1.0), 1.0)


def _pairs(layout: Layout) -> TwoGroups:
    """Return every group beside everybody else, ``[context · group, 1, (rest, group)]``."""
    one = layout.over_strata()
    n, b, s2, s3 = (values[:, 0] for values in (one.n, one.deviation, one.s2, one.s3))
    squares, cubes = s2 + n * b**2, s3 + 3 * b * s2 + n * b**3  # about 0, the mean of everybody
    everybody = squares.sum(axis=1, keepdims=True)
    rest = np.where(n > 0, n.sum(axis=1, keepdims=True) - n, 0.0)
    mean = -n * b / np.maximum(rest, 1.0)
    second = everybody - squares - rest * mean**2
    third = cubes.sum(axis=1, keepdims=True) - cubes - 3 * mean * second - rest * mean**3
    sides = ((rest, mean, *_round(second, third, everybody)), (n, b, *_round(s2, s3, everybody)))
    return TwoGroups(*(np.stack(pair, axis=-1).reshape(-1, 1, 2) for pair in zip(*sides, strict=True)))


def _round(squares: FloatArray, cubes: FloatArray, everybody: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sums of squares and cubes without what differences of large numbers leave of nothing."""
    squares = np.where(squares > 1e-12 * everybody, squares, 0.0)
    most = squares**1.5
    return squares, np.clip(cubes, -most, most)
