r"""Rows that are not independent people: how many independent people they are worth.

A table may have several rows of a person, which depend on each other in any way, and rows may have survey weights. An
estimate is then as precise as if it came from another number of independent people with equal weights, its *effective
size*. With a row's contribution :math:`v_i φ_i` to the estimate (its influence, Taylor linearisation), the variance is
that of sums by person, :math:`V = \frac{G}{G-1} \sum_c U_c^2` with :math:`U_c = \sum_{i∈c} v_i φ_i`, whatever the rows
of a person have to do with each other. Independent rows that counted alike would give :math:`\sum_i v_i φ_i^2`; the
ratio of the two is the design effect, and tables of sums are divided by it before they are tested as usual (Rao and
Scott 1992). So everything that is known of tests of independent people, with few of them, rare outputs and skewed
numbers, still counts.

Two contributions are looked at, and the worse one decides: that around the estimate, enlarged where a person is a large
part of a group (as a jackknife over people would: Bell and McCaffrey's correction CR3), and that without association.
The second knows that people without the rare output still depend on each other's rows.

The variance is itself an estimate, with degrees of freedom that are few if few people carry most of it: the smallest of
three numbers counts, from the people's sizes if their rows are independent, from their sizes if their rows are alike,
and from how unequal their sums are.

For tables of more than two groups or outputs, and for several means, the statistic is a sum of several squares, each
with a design effect of its own. Rao and Scott's second-order correction takes their mean and spread into account.

References
----------
J. Rao, A. Scott (1984), On chi-squared tests for multiway contingency tables with cell proportions estimated from
survey data. Annals of Statistics 12, 46–60.

J. Rao, A. Scott (1992), A simple method for the analysis of clustered binary data. Biometrics 48, 577–585.

D. Thomas, J. Rao (1987), Small-sample comparisons of level and power for simple goodness-of-fit statistics under
cluster sampling. JASA 82, 630–636.

R. Bell, D. McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage samples. Survey
Methodology 28, 169–181.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairtest.types import FloatArray, IntArray

MOST_COMPONENTS = 40
"""Of sums of more squares than this, the largest design effect of any direction counts for all."""
MOST_SPARSE = 8
"""Sums by person and group are kept for so many times as many pairs as there are rows, most of them empty."""
MOST_POWER_STEPS = 60
"""How many steps the search for that largest design effect takes at most."""


@dataclass(frozen=True, eq=False)
class RowSums:
    """Rows as all statistics of this module see them.

    Attributes
    ----------
    weight
        What each row counts for.
    stratum
        Its stratum.
    person
        Whose it is, numbered from 0 without gaps; None if each is of another person.
    """

    weight: FloatArray
    stratum: IntArray
    person: IntArray | None

    @classmethod
    def of(cls, person: IntArray | None, weight: FloatArray | None, stratum: IntArray) -> RowSums:
        """Return rows with people and strata numbered without gaps."""
        people = None if person is None else _number_people(person)
        strata = np.unique(stratum, return_inverse=True)[1] if stratum.any() else stratum
        return cls(np.ones(len(stratum)) if weight is None else weight, strata, people)

    @cached_property
    def people(self) -> int:
        """How many people there are."""
        return len(self.weight) if self.person is None else int(self.person.max(initial=-1)) + 1

    @property
    def mass(self) -> float:
        """What all rows count for together."""
        return float(self.weight.sum())

    @property
    def kish(self) -> float:
        """As how many equally weighted rows they would count if they were independent."""
        squares = float((self.weight**2).sum())
        return self.mass**2 / squares if squares else 0.0

    def by_person(self, values: FloatArray) -> FloatArray:
        """Return sums by person."""
        return _by_person(self.people, self.person, values)

    @cached_property
    def is_one_stratum(self) -> bool:
        """Whether there is one stratum only."""
        return not self.stratum.any()

    def by_stratum(self, values: FloatArray) -> FloatArray:
        """Return weighted sums by stratum."""
        if self.is_one_stratum:
            return np.array([(self.weight * values).sum()])
        return np.asarray(np.bincount(self.stratum, weights=self.weight * values), dtype=float)

    def centred(self, values: FloatArray) -> FloatArray:
        """Return deviations from the weighted means of the strata."""
        if values.ndim > 1:
            return np.stack([self.centred(column) for column in values.T], axis=1)
        total = np.maximum(self.by_stratum(np.ones_like(values)), 1e-300)
        return np.asarray(values - self.spread(self.by_stratum(values) / total))

    def spread(self, of_strata: NDArray[Any]) -> NDArray[Any]:
        """Return for each row what its stratum has."""
        return of_strata if self.is_one_stratum else of_strata[self.stratum]


def _number_people(person: IntArray) -> IntArray:
    """Return people numbered from 0 without gaps; quick where the rows of each are together, as engines have them."""
    changes = person[1:] != person[:-1]
    if (person[1:] >= person[:-1]).all():
        return np.concatenate(([0], np.cumsum(changes))) if person.size else person
    return np.asarray(np.unique(person, return_inverse=True)[1])


@dataclass(frozen=True)
class Effective:
    """What some rows are worth.

    Attributes
    ----------
    people
        How many people they are of.
    size
        The number of independent people with equal weights with whom the estimate would be as precise; NaN where it
        cannot be known.
    df
        The degrees of freedom with which that is known.
    p
        The p-value of no association, where the statistic is a sum of several squares; else None.
    """

    people: int
    size: float
    df: float
    p: float | None = None


def compare_two_groups(rows: RowSums, group: IntArray, output: FloatArray) -> Effective:
    """Return what rows are worth for the difference of two groups' means (or rates), averaged over strata by size.

    Examples
    --------
    >>> group, output = np.tile([0, 1], 50), np.tile([0.0, 1.0, 1.0, 0.0, 1.0], 20)
    >>> each = RowSums.of(np.arange(100), None, np.zeros(100, dtype=int))
    >>> alone = compare_two_groups(each, group, output)
    >>> copies = RowSums.of(np.tile(np.arange(100), 4), None, np.zeros(400, dtype=int))
    >>> four_times = compare_two_groups(copies, np.tile(group, 4), np.tile(output, 4))
    >>> round(alone.size), round(four_times.size), four_times.people
    (95, 95, 100)
    """
    s = group.astype(float)
    mass1, mass0 = rows.by_stratum(s), rows.by_stratum(1 - s)
    defined = (mass1 > 0) & (mass0 > 0)
    if not defined.any():
        return Effective(rows.people, np.nan, np.nan)
    weight = rows.weight if defined.all() else np.where(rows.spread(defined), rows.weight, 0.0)
    whole = mass1 + mass0
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(defined, mass1 / whole, 0.5)
        means = [rows.by_stratum(output * (s == g)) / mass for g, mass in ((0, mass0), (1, mass1))]
    side = (s - rows.spread(share)) / rows.spread(share * (1 - share))
    null = weight * side * rows.centred(output)
    low, high = (rows.spread(np.nan_to_num(mean)) for mean in means)
    own = low + s * (high - low)
    residual = weight * side * (output - own)
    # a person who is most of a group would, left out, move its mean by far more than the residuals say
    code = group if rows.is_one_stratum else rows.stratum * 2 + group
    parts = _share_of_group(rows.person, code, weight, np.asarray(np.bincount(code, weights=weight), dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        jackknifed = np.where(residual == 0, 0.0, residual / np.maximum(1 - parts, 1e-12))
    # a group that is one person only has no residuals, and nothing is known of its spread
    jackknifed = np.where(parts > 1 - 1e-9, null, jackknifed)
    return _worth(rows, weight, side, null, residual, jackknifed)


def _by_person(people: int, person: IntArray | None, values: FloatArray) -> FloatArray:
    if person is None:
        return values
    return np.asarray(np.bincount(person, weights=values, minlength=people), dtype=float)


def _share_of_group(person: IntArray | None, code: IntArray, weight: FloatArray, total: FloatArray) -> FloatArray:
    """Return for each row which part of its group (in its stratum) is of the same person, given what groups weigh."""
    inverse = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)[code]
    if person is None:
        return np.asarray(weight * inverse)
    key = person.astype(np.int64) * (int(code.max(initial=0)) + 1) + code
    if key.max(initial=0) > MOST_SPARSE * key.size:
        key = np.unique(key, return_inverse=True)[1]
    return np.asarray(np.bincount(key, weights=weight)[key] * inverse)


def correlate(rows: RowSums, x: FloatArray, y: FloatArray) -> Effective:
    """Return what rows are worth for the correlation of two numbers (or scores) within strata."""
    a, b = rows.centred(x), rows.centred(y)
    saa, sbb, sab = (float((rows.weight * u * v).sum()) for u, v in ((a, a), (b, b), (a, b)))
    if saa <= 0 or sbb <= 0:
        return Effective(rows.people, np.nan, np.nan)
    a, b = a * np.sqrt(rows.mass / saa), b * np.sqrt(rows.mass / sbb)
    r = sab / np.sqrt(saa * sbb)
    null = rows.weight * a * b
    around = rows.weight * (a * b - r * (a * a + b * b) / 2)
    return _worth(rows, rows.weight, a, null, around, around)


def _worth(
    rows: RowSums,
    weight: FloatArray,
    side: FloatArray,
    null: FloatArray,
    around: FloatArray,
    jackknifed: FloatArray,
) -> Effective:
    """Return what rows are worth for one contrast, from what each contributes without association and around it.

    ``side`` is the part of the contribution that the protected attribute makes: what a person may carry.
    """
    people = rows.people
    if people < 2:
        return Effective(people, np.nan, np.nan)
    sizes = []
    for alone, summed in ((null, null), (around, jackknifed)):
        with np.errstate(divide="ignore", invalid="ignore"):
            independent = float(np.where(weight > 0, alone**2 / weight, 0.0).sum())
        robust = variance_of_sum(rows, summed)
        if independent > 0 and robust > 0:
            sizes.append(rows.mass * independent / robust)
    if not sizes:
        return Effective(people, np.nan, np.nan)
    size = min(*sizes, rows.kish) if len(sizes) > 1 else min(sizes[0], rows.kish)
    df = count_freedom(people, [(rows.person, (weight * side)[:, None])], rows.by_person(jackknifed)[:, None])
    return Effective(people, size, df)


def variance_of_sum(rows: RowSums, contribution: FloatArray) -> float:
    """Return the variance of a sum of rows' contributions, whatever the rows of a person have to do with each other."""
    return float((rows.by_person(contribution) ** 2).sum()) * rows.people / (rows.people - 1)


def _number_of(parts: FloatArray) -> float:
    """Return how many equal parts would be as unequal in sum as these: (Σa)²/Σa²."""
    squares = float((parts**2).sum())
    return float(parts.sum()) ** 2 / squares if squares > 0 else 1.0


def judge_independence(rows: RowSums, left: FloatArray, right: FloatArray) -> Effective:
    """Return what rows are worth for a link of any form between two sets of columns, within strata, and its p-value.

    Links of different strata do not cancel: each has components of its own.

    Parameters
    ----------
    left, right
        ``[row, column]``: the protected attribute and the output, each as indicators of its levels, or as a number.

    References
    ----------
    Second-order Rao and Scott, as an F statistic (Thomas and Rao 1987), which R's ``survey::svychisq`` gives too.
    """
    components, sides = [], []
    for stratum in range(int(rows.stratum.max(initial=-1)) + 1):
        at = np.flatnonzero(rows.stratum == stratum)
        person = at if rows.person is None else rows.person[at]
        inner = RowSums(rows.weight[at], np.zeros(at.size, dtype=np.int64), person)
        a, b = _whiten(inner, left[at]), _whiten(inner, right[at])
        if a.shape[1] and b.shape[1]:
            score = (a[:, :, None] * b[:, None, :]).reshape(at.size, -1) * (inner.weight / np.sqrt(inner.mass))[:, None]
            components.append(_by_person_of(rows.people, person, score))
            sides.append((person, inner.weight[:, None] * a))
    if rows.people < 2 or not components:
        return Effective(rows.people, np.nan, np.nan)
    sums = np.concatenate(components, axis=1)
    trace, squares = _design_effects(sums)
    if trace <= 0:
        return Effective(rows.people, np.nan, np.nan)
    correction = rows.people / (rows.people - 1)
    trace, squares = trace * correction, squares * correction**2
    counting = trace**2 / squares  # Satterthwaite's number of components
    df = count_freedom(rows.people, sides, sums)
    p = float(special.fdtrc(counting, counting * df, float((sums.sum(axis=0) ** 2).sum()) / trace))
    return Effective(rows.people, min(rows.mass * trace / squares, rows.kish), df, p)


def _by_person_of(people: int, person: IntArray | None, columns: FloatArray) -> FloatArray:
    return np.stack([_by_person(people, person, column) for column in columns.T], axis=1)


def count_freedom(people: int, sides: Sequence[tuple[IntArray | None, FloatArray]], sums: FloatArray) -> float:
    """Return the degrees of freedom of a covariance of people's sums, from what the protected attribute makes them."""
    alike, independent = np.zeros(people), np.zeros(people)
    for person, side in sides:
        alike += (_by_person_of(people, person, side) ** 2).sum(axis=1)
        independent += _by_person(people, person, (side**2).sum(axis=1))
    k = sums.shape[1]
    unequal = _number_of((sums**2).sum(axis=1)) * (k + 2) / k
    return float(max(min(_number_of(alike), _number_of(independent), unequal, people) - 1, 1.0))


def _whiten(rows: RowSums, columns: FloatArray) -> FloatArray:
    """Return columns centred, uncorrelated and of variance 1 over everybody; fewer where some follow from others."""
    centred = rows.centred(columns)
    covariance = (centred * rows.weight[:, None]).T @ centred / max(rows.mass, 1e-300)
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
    return np.asarray(centred @ (vectors[:, kept] / np.sqrt(values[kept])))


def indicators(codes: IntArray) -> FloatArray:
    """Return a column for each level that occurs: 1 for those who have it.

    Examples
    --------
    >>> indicators(np.array([0, 4, 4]))
    array([[1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    levels, place = np.unique(codes, return_inverse=True)
    return np.asarray(np.eye(levels.size)[place])


def weighted_ranks(rows: RowSums, codes: IntArray) -> FloatArray:
    """Return the share of a stratum below each row's value, plus half of that at it.

    Examples
    --------
    >>> rows = RowSums.of(np.arange(4), np.array([1.0, 1.0, 1.0, 5.0]), np.zeros(4, dtype=int))
    >>> weighted_ranks(rows, np.array([2, 0, 0, 7]))
    array([0.3125, 0.125 , 0.125 , 0.6875])
    """
    size = int(codes.max(initial=0)) + 1
    cell = rows.stratum.astype(np.int64) * size + codes
    strata = int(rows.stratum.max(initial=0)) + 1
    mass = np.bincount(cell, weights=rows.weight, minlength=strata * size).reshape(strata, size)
    total = np.maximum(mass.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(((np.cumsum(mass, axis=1) - mass / 2) / total).ravel()[cell])


def _design_effects(sums: FloatArray) -> tuple[float, float]:
    """Return the sum of the design effects of all components, and of their squares.

    With many components the largest stands for all: the mean of so many is known, their spread is not.
    """
    k = sums.shape[1]
    if k <= MOST_COMPONENTS:
        matrix = sums.T @ sums
        return float(np.trace(matrix)), float((matrix**2).sum())
    largest = _largest_effect(sums)
    return k * largest, k * largest**2


def _largest_effect(sums: FloatArray) -> float:
    """Return the largest eigenvalue of Σ u uᵀ, by the power method from the direction of the largest sums."""
    direction = sums[np.argmax((sums**2).sum(axis=1))]
    value = 0.0
    for _ in range(MOST_POWER_STEPS):
        image = sums.T @ (sums @ direction)
        size = float(np.linalg.norm(image))
        if size <= 0:
            break
        direction = image / size
        if abs(size - value) <= 1e-6 * size:
            break
        value = size
    return value * (1 + 1e-6) if value else float((sums**2).sum())
