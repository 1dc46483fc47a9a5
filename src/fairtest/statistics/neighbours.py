"""Is a link still there among people who are near each other in an explanatory number?

Bins of a number leave what both columns follow inside a bin, and with enough people that looks like a link. Here people
are cut into small bins of neighbours, a straight line is taken out of both columns in every bin, and what is left is
compared. Of a smooth curve that leaves almost nothing: the fourth power of the width of a bin, rather than the second.
Of a curve that swings or jumps within bins it leaves more, and other widths tell, since twice as wide bins leave at
least twice as much. So the link is shortened by twice what it gains when bins get twice as wide, beyond what chance
gains; and where it clearly loses in bins half as wide, it is looked at in those too. People at the very ends of a
number have neighbours on one side only, far away: they are left out.

With residuals r and q of both columns, the sum Σ r q has ν = n − 2B degrees of freedom for B bins; in wider bins, with
ν' of them, the standard deviation of the gain is √((ν' − ν)/ν') standard errors. Groups have an indicator for each
group; the squares of all sums, in standard errors, are compared with a scaled F that has their mean and variance
(Satterthwaite).

References
----------
R. Shah, J. Peters (2020), The hardness of conditional independence testing and the generalised covariance measure.
Annals of Statistics 48, 1514–1538. No test holds for every curve, they prove: what other widths show bounds the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from fairtest.types import BoolArray, FloatArray, IntArray

FEWEST, GROWTH = 16, 0.5
"""A bin has √n / 2 people, and at least 16."""
FEW_FOR_A_LINE = 4
"""A line is taken out where a bin has so many people for its mean and for each of its numbers."""
END, MOST_ENDS = 1 / 4, 1 / 16
"""So much of a bin at each end of a number is left out, and so much of all people at most."""
CAUTION = 2.0
"""How many times a gain is taken off: for jumps, it is as much as the bins leave on average, for curves 15 times."""
CLEAR = 2.0
"""From how many standard deviations on a loss in bins half as wide is no chance."""
_VARIES = 1e-9


@dataclass(frozen=True, eq=False)
class Neighbours:
    """People, what is compared, and where they are.

    Attributes
    ----------
    protected, output
        ``[person, column]``: a number is one column, groups are indicators.
    block
        Who may be compared with whom: a code from 0 on.
    part
        Where links count apart, so that opposite ones do not cancel: a code from 0 on.
    numbers
        ``[person, number]``: their place on each explanatory number, in about even steps of people.
    signed
        Whether opposite links cancel after all.
    person, weight
        Whose a row is and what it weighs, where rows are not one person each.
    """

    protected: FloatArray
    output: FloatArray
    block: IntArray
    part: IntArray
    numbers: IntArray
    signed: bool
    person: IntArray | None = None
    weight: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.block)

    def take(self, at: BoolArray | IntArray) -> Neighbours:
        """Return some of the people."""
        some: dict[str, Any] = {name: v[at] for name, v in vars(self).items() if isinstance(v, np.ndarray)}
        return replace(self, **some)

    @property
    def mass(self) -> FloatArray:
        """What each row counts for, 1 on average."""
        return np.ones(len(self)) if self.weight is None else self.weight / self.weight.mean()


@dataclass(frozen=True, eq=False)
class _Residuals:
    """What is left of both columns within bins, and how many degrees of freedom each part has."""

    protected: FloatArray
    output: FloatArray
    df: FloatArray

    @property
    def freedom(self) -> float:
        return float(self.df.sum())


@dataclass(frozen=True, eq=False)
class _Links:
    """Sums of products in standard errors; the mean and variance of their squares if there is no link."""

    sums: FloatArray
    mean: float
    variance: float

    @property
    def length(self) -> float:
        return float(np.sqrt(np.sum(self.sums**2)))

    def along(self, other: _Links) -> float:
        """Return how long the link is in the direction of another."""
        return float(np.sum(self.sums * other.sums)) / other.length


def neighbour_p(people: Neighbours) -> float:
    """Return the p-value of "no link among neighbours"; 1 where too few are left to tell."""
    d = people.numbers.shape[1]
    rows_each = 1.0 if people.person is None else len(people) / max(len(np.unique(people.person)), 1)
    size = rows_each * max(FEWEST, GROWTH * np.sqrt(len(people) / rows_each))
    people = people.take(np.lexsort((people.numbers[:, 0], people.block)))
    people = people.take(~at_ends(people.block, people.numbers, END * size))
    if not len(people):
        return 1.0
    half, near, wide = (take_lines_out(people, size * times) for times in (0.5**d, 1.0, 2.0**d))
    link = _links(people, near, near)
    if near.freedom < 1 or not link.length or not link.variance:
        return 1.0
    spread = _inflation(people, near, link)
    left = link.length - CAUTION * max(_gain(people, near, wide, link) - spread * _chance(near, wide), 0.0)
    by_chance = spread * _chance(half, near)
    if half.freedom >= 1 and (lost := _gain(people, half, near, link)) > CLEAR * by_chance:
        left = min(left, _links(people, half, half).along(link) - CAUTION * (lost - by_chance))
    freedom = 2 * link.mean**2 / link.variance
    return float(special.fdtrc(freedom, near.freedom, (max(left, 0.0) / spread) ** 2 / link.mean))


def _gain(people: Neighbours, narrow: _Residuals, wide: _Residuals, link: _Links) -> float:
    """Return how much longer a link gets in wider bins, in standard errors of the narrow ones."""
    return _links(people, wide, narrow).along(link) - _links(people, narrow, narrow).along(link)


def _chance(narrow: _Residuals, wide: _Residuals) -> float:
    """Return the standard deviation of such a gain, if nothing differs within bins."""
    return float(np.sqrt(max(wide.freedom - narrow.freedom, 0.0) / max(wide.freedom, 1.0)))


def take_lines_out(people: Neighbours, size: float) -> _Residuals:
    """Return both columns less their means and lines in bins of about so many people."""
    bins, mass = bin_neighbours(people.block, people.numbers, size), people.mass
    total, count = np.bincount(bins, mass), _count_people(bins, people.person)
    enough = count >= FEW_FOR_A_LINE * (1 + people.numbers.shape[1])
    lines: list[tuple[FloatArray, FloatArray]] = []
    spent = np.ones(len(count))

    def rest(x: FloatArray) -> FloatArray:
        x = x - (np.bincount(bins, mass * x) / total)[bins]
        for line, square in lines:
            x = x - (np.bincount(bins, mass * x * line) / square)[bins] * line
        return x

    for number in people.numbers.T:
        x = rest(number.astype(float))
        square = np.bincount(bins, mass * x * x)
        varies = enough & (square > _VARIES * np.bincount(bins, mass * number.astype(float) ** 2))
        spent += varies
        lines.append((np.where(varies[bins], x, 0.0), np.where(varies, square, 1.0)))
    protected, output = (np.column_stack([rest(x) for x in both.T]) for both in (people.protected, people.output))
    df: FloatArray = np.bincount(people.part, np.maximum(1 - spent / count, 0.0)[bins]).astype(float)
    return _Residuals(protected, output, df)


def _count_people(bins: IntArray, person: IntArray | None) -> IntArray:
    """Return how many people have rows in each bin."""
    if person is None:
        return np.bincount(bins)
    return np.bincount(
        np.unique(np.column_stack((bins, person)), axis=0)[:, 0].astype(np.intp), minlength=bins.max() + 1
    )


def bin_neighbours(block: IntArray, numbers: IntArray, size: float) -> IntArray:
    """Return bins of about so many people who are near each other in all numbers; equal people are in one bin.

    Examples
    --------
    >>> bin_neighbours(np.zeros(6, dtype=int), np.array([[5], [1], [1], [9], [2], [7]]), 2)
    array([1, 0, 0, 2, 1, 2])
    """
    bins, d = block, numbers.shape[1]
    for j in range(d):
        order, group, first, _ = _places(bins, numbers[:, j])
        people = np.bincount(bins)
        pieces = np.maximum(np.rint((people / size) ** (1 / (d - j))), 1.0)
        piece = np.floor(first * pieces[group] / people[group])
        bins = np.empty_like(block)
        bins[order] = np.cumsum(_changes(group, piece)) - 1
    return bins


def at_ends(block: IntArray, numbers: IntArray, people: float) -> BoolArray:
    """Return who is among the first or last so many of a block on any number; equal people are so together."""
    ends = np.zeros(len(block), dtype=bool)
    for number in numbers.T:
        order, group, first, last = _places(block, number)
        size = np.bincount(block)[group]
        few = np.floor(np.minimum(people, MOST_ENDS * size))
        ends[order] |= (last < few) | (first >= size - few)
    return ends


def _places(group: IntArray, number: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return people in order of group and number, their groups, and the first and last place of those equal to each."""
    order = _order(group, number)
    ordered = group[order]
    new = _changes(ordered, number[order])
    starts = np.flatnonzero(new)
    run = np.cumsum(new) - 1
    people = np.bincount(group)
    before = (np.cumsum(people) - people)[ordered]
    ends = np.append(starts[1:], len(order)) - 1
    return order, ordered, starts[run] - before, ends[run] - before


def _order(group: IntArray, number: IntArray) -> IntArray:
    """Return the order by group and number; people who are in it already, as most are, need no sorting."""
    step = group[1:] - group[:-1]
    if np.all((step > 0) | ((step == 0) & (number[1:] >= number[:-1]))):
        return np.arange(len(group))
    return np.lexsort((number, group))


def _changes(*columns: FloatArray | IntArray) -> BoolArray:
    """Whether each row differs from the one before; the first does."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return new


def _links(people: Neighbours, left: _Residuals, unit: _Residuals) -> _Links:
    """Return the sums of products of residuals, as if they had the degrees of freedom of ``unit``, in its errors."""
    if people.signed:
        return _signed_link(people, left, unit)
    order, mass = np.argsort(people.part, kind="stable"), people.mass
    sums, scales, mean, variance = [], [], 0.0, 0.0
    for j, at in enumerate(np.split(order, np.cumsum(np.bincount(people.part))[:-1])):
        if min(unit.df[j], left.df[j]) < 1:
            continue
        w = mass[at, None]
        s, o = ((w * r[at]).T @ r[at] / unit.df[j] for r in (unit.protected, unit.output))
        scales.append(np.sqrt(np.outer(np.diag(s), np.diag(o)) * unit.df[j]))
        sums.append((w * left.protected[at]).T @ left.output[at] * (unit.df[j] / left.df[j]))
        mean += float(np.prod([np.trace(_correlations(v)) for v in (s, o)]))
        variance += 2 * float(np.prod([np.sum(_correlations(v) ** 2) for v in (s, o)]))
    if not sums:
        return _Links(np.zeros((1, 1, 1)), 0.0, 0.0)
    together, scale = np.stack(sums), np.stack(scales)
    return _Links(np.divide(together, scale, out=np.zeros_like(together), where=scale > 0), mean, variance)


def _signed_link(people: Neighbours, left: _Residuals, unit: _Residuals) -> _Links:
    """Return the one sum over all parts of two single columns."""
    used = (unit.df >= 1) & (left.df >= 1)

    def add(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.bincount(people.part, people.mass * one[:, 0] * other[:, 0]).astype(float)[used]

    df = unit.df[used]
    total = np.sum(add(left.protected, left.output) * df / left.df[used])
    variance = np.sum(add(unit.protected, unit.protected) * add(unit.output, unit.output) / df)
    return _Links(np.full((1, 1, 1), total / (np.sqrt(variance) or 1.0)), 1.0, 2.0)


def _correlations(covariance: FloatArray) -> FloatArray:
    root = np.sqrt(np.diag(covariance))
    scale = np.outer(root, root)
    return np.asarray(np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0))


def _inflation(people: Neighbours, left: _Residuals, link: _Links) -> float:
    """Return how many times larger standard errors are because rows of a person go together, or weights differ."""
    if people.person is None and people.weight is None:
        return 1.0
    mass = people.mass
    product = mass * np.einsum("ij,jk,ik->i", left.protected, link.sums.sum(axis=0), left.output)
    person = np.arange(len(people)) if people.person is None else np.unique(people.person, return_inverse=True)[1]
    alone = float(np.sum(product**2 / np.maximum(mass, 1e-300)))
    return float(np.sqrt(max(np.sum(np.bincount(person, product) ** 2) / alone, 1.0))) if alone > 0 else 1.0
