"""Is a link still there among people who are near each other in an explanatory number?

Bins of a number leave what both columns follow inside a bin, and with enough people that looks like a link. Here people
are cut into small bins of neighbours, a straight line is taken out of both columns in every bin, and what is left is
compared. Of a smooth curve that leaves almost nothing: the fourth power of the width of a bin, rather than the second.
Of a curve that swings or jumps within bins it leaves more, and other widths tell, since twice as wide bins leave at
least twice as much. So the link is shortened by twice what it gains when bins get twice as wide, beyond what chance
gains; and where it clearly loses in bins half as wide, it is looked at in those too. People at the very ends of a
number have neighbours on one side only, far away: they are left out.

Neighbours within a small group are far apart, and its bins cannot show a curve that swings between them. Those of
everybody may: so the link must also be there in what is left when everybody's curve (:func:`find_curve`) is taken off.

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

from fairtest.statistics.neighbour_bins import at_ends, bin_neighbours, find_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.types import BoolArray, FloatArray, IntArray

FEWEST, GROWTH = 16, 0.5
"""A bin has √n / 2 people, and at least 16."""
FEW_FOR_A_LINE = 4
"""A line is taken out where a bin has so many people for its mean and for each of its numbers."""
END = 1 / 4
"""So much of a bin at each end of a number is left out."""
CAUTION = 2.0
"""How many times a gain is taken off: for jumps, it is as much as the bins leave on average, for curves 15 times."""
CLEAR = 2.0
"""From how many standard deviations on a loss in bins half as wide is no chance."""
CURVE_SIZE = 0.5
"""Everybody's curve is that of bins so many times as wide."""
MAY_COUNT = 0.1
"""A larger p-value counts nowhere, and need not be larger still."""
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
    protected_curve, output_curve
        ``[person, column]``: what each column follows in a larger group that these people are of.
    """

    protected: FloatArray
    output: FloatArray
    block: IntArray
    part: IntArray
    numbers: IntArray
    signed: bool
    person: IntArray | None = None
    weight: FloatArray | None = None
    protected_curve: FloatArray | None = None
    output_curve: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.block)

    def take(self, at: BoolArray | IntArray) -> Neighbours:
        """Return some of the people."""
        some: dict[str, Any] = {name: v[at] for name, v in vars(self).items() if isinstance(v, np.ndarray)}
        return replace(self, **some)

    @property
    def mass(self) -> FloatArray | None:
        """What each row counts for, 1 on average; None where all count alike."""
        return None if self.weight is None else self.weight / self.weight.mean()

    @property
    def bin_size(self) -> float:
        """How many rows a bin should have."""
        rows_each = 1.0 if self.person is None else len(self) / max(len(np.unique(self.person)), 1)
        return float(rows_each * max(FEWEST, GROWTH * np.sqrt(len(self) / rows_each)))


@dataclass(frozen=True, eq=False)
class _Residuals:
    """What is left of both columns within bins.

    Attributes
    ----------
    protected, output
        ``[column, person]``.
    df
        How many degrees of freedom each part has.
    sums, of_protected, of_output
        Sums of products in each part, ``[part, column, column]``: of one with the other, and of each with itself.
    """

    protected: FloatArray
    output: FloatArray
    df: FloatArray
    sums: FloatArray
    of_protected: FloatArray
    of_output: FloatArray

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
    size = people.bin_size
    people = people.take(np.lexsort((people.numbers[:, 0], people.block)))
    people = people.take(~at_ends(people.block, people.numbers, END * size))
    if not len(people):
        return 1.0
    d = people.numbers.shape[1]
    bins = bin_neighbours(people.block, people.numbers, [size * 0.5**d, size, size * 2.0**d])
    here = _Look(people, bins)
    if here.p > MAY_COUNT or people.protected_curve is None or people.output_curve is None:
        return here.p
    protected, output = people.protected - people.protected_curve, people.output - people.output_curve
    beyond = _Look(replace(people, protected=protected, output=output), bins)
    return max(here.p, beyond.p) if here.loses_in(beyond) else here.p


class _Look:
    """Links in narrow, middle and wide bins, and the p-value by all of them."""

    def __init__(self, people: Neighbours, bins: Sequence[IntArray]) -> None:
        self._signed = people.signed
        self._near = near = take_lines_out(people, bins[1])
        self._link = link = _links(near, near, signed=people.signed)
        self.p = 1.0
        if near.freedom < 1 or not link.length or not link.variance:
            return
        self._spread = _inflation(people, near, link)
        half, wide = (take_lines_out(people, bins[i]) for i in (0, 2))
        left = max(min(self._left_by_wide(wide), self._left_by_half(half)), 0.0)
        freedom = 2 * link.mean**2 / link.variance
        self.p = float(special.fdtrc(freedom, near.freedom, (left / self._spread) ** 2 / link.mean))

    def _along(self, left: _Residuals, unit: _Residuals) -> float:
        """Return the link in the direction of that in the middle bins."""
        return _links(left, unit, signed=self._signed).along(self._link)

    def _left_by_wide(self, wide: _Residuals) -> float:
        """Return the link less what is gained in wide bins beyond chance."""
        length = self._link.length
        gained = self._along(wide, self._near) - length - self._spread * _chance(self._near, wide)
        return length - CAUTION * max(gained, 0.0)

    def _left_by_half(self, half: _Residuals) -> float:
        """Return the link in narrow bins, less what is lost there, if that is clear."""
        if half.freedom < 1:
            return np.inf
        by_chance = self._spread * _chance(half, self._near)
        narrow, middle = self._along(half, half), self._along(self._near, half)
        lost = middle - narrow
        return narrow - CAUTION * (lost - by_chance) if lost > CLEAR * by_chance else np.inf

    def loses_in(self, other: _Look) -> bool:
        """Whether the link is clearly weaker in what is left of the same people when a curve is taken off."""
        before, after = self._near, other._near
        alike = _alikeness(before.protected, after.protected) * _alikeness(before.output, after.output)
        by_chance = self._spread * np.sqrt(2 * max(1 - alike, 0.0))
        return bool(self._link.length - other._link.along(self._link) > CLEAR * by_chance)


def _alikeness(one: FloatArray, other: FloatArray) -> float:
    """Return the mean correlation of columns with what has become of them."""
    scale = np.sqrt(np.sum(one * one, axis=1) * np.sum(other * other, axis=1))
    return float(np.mean(np.sum(one * other, axis=1)[scale > 0] / scale[scale > 0])) if np.any(scale > 0) else 1.0


def find_curve(people: Neighbours, columns: FloatArray) -> FloatArray:
    """Return what columns ``[person, column]`` follow: their means and lines in small bins of neighbours."""
    size = people.bin_size * CURVE_SIZE ** people.numbers.shape[1]
    bins = bin_neighbours(people.block, people.numbers, [size])[0]
    return columns - _Lines(people, bins).take_out(columns.T).T


def _chance(narrow: _Residuals, wide: _Residuals) -> float:
    """Return the standard deviation of what a link gains in wider bins, if nothing differs within bins."""
    return float(np.sqrt(max(wide.freedom - narrow.freedom, 0.0) / max(wide.freedom, 1.0)))


def take_lines_out(people: Neighbours, bins: IntArray) -> _Residuals:
    """Return both columns less their means and lines in bins."""
    lines = _Lines(people, bins)
    protected, output = (lines.take_out(columns.T) for columns in (people.protected, people.output))
    df: FloatArray = np.bincount(people.part, lines.freedom).astype(float)
    return _Residuals(
        *(protected, output, df),
        *(_products(people, *two) for two in ((protected, output), (protected, protected), (output, output))),
    )


class _Lines:
    """Means and lines in bins, which can be taken out of columns ``[column, person]``."""

    def __init__(self, people: Neighbours, bins: IntArray) -> None:
        self._order = None if np.all(bins[1:] >= bins[:-1]) else np.argsort(bins, kind="stable")
        ordered = bins if self._order is None else bins[self._order]
        self._starts = np.flatnonzero(find_changes(ordered))
        self._rows = np.diff(self._starts, append=len(bins))
        self._mass = None if people.mass is None else self._in_order(people.mass)
        self._total = self._rows.astype(float) if self._mass is None else np.add.reduceat(self._mass, self._starts)
        count = self._rows if people.person is None else _count_people(bins, people.person)
        enough = count >= FEW_FOR_A_LINE * (1 + people.numbers.shape[1])
        self._lines: list[tuple[FloatArray, FloatArray]] = []
        spent = np.ones(len(count))
        for number in people.numbers.T.astype(float):
            x = self._in_order(number)
            rest = self._take_out(x[None])[0]
            square = self._sum(rest * rest)
            varies = enough & (square > _VARIES * self._sum(x * x))
            spent += varies
            self._lines.append((rest * self._repeat(varies.astype(float)), np.where(varies, square, 1.0)))
        self.freedom = self._back(self._repeat(np.maximum(1 - spent / count, 0.0)))

    def take_out(self, columns: FloatArray) -> FloatArray:
        """Return what means and lines leave of columns."""
        return self._back(self._take_out(self._in_order(columns)))

    def _take_out(self, columns: FloatArray) -> FloatArray:
        left = columns - self._repeat(self._sum(columns) / self._total)
        for line, square in self._lines:
            left -= self._repeat(self._sum(left * line) / square) * line
        return left

    def _sum(self, x: FloatArray) -> FloatArray:
        summed: FloatArray = np.add.reduceat(x if self._mass is None else x * self._mass, self._starts, axis=-1)
        return summed

    def _repeat(self, of_bins: FloatArray) -> FloatArray:
        return np.repeat(of_bins, self._rows, axis=-1)

    def _in_order(self, x: FloatArray) -> FloatArray:
        return x if self._order is None else x[..., self._order]

    def _back(self, x: FloatArray) -> FloatArray:
        if self._order is None:
            return x
        back = np.empty_like(x)
        back[..., self._order] = x
        return back


def _count_people(bins: IntArray, person: IntArray) -> IntArray:
    """Return how many people have rows in each bin."""
    return np.bincount(
        np.unique(np.column_stack((bins, person)), axis=0)[:, 0].astype(np.intp), minlength=bins.max() + 1
    )


def _products(people: Neighbours, one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the sums of products of columns ``[column, person]`` in each part."""
    weighed = one if people.mass is None else one * people.mass
    if len(one) == len(other) == 1:
        return np.bincount(people.part, weighed[0] * other[0]).astype(float)[:, None, None]
    order = np.argsort(people.part, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(people.part))[:-1])
    return np.stack([weighed[:, at] @ other[:, at].T for at in parts])


def _links(left: _Residuals, unit: _Residuals, *, signed: bool) -> _Links:
    """Return the sums of products of residuals, as if they had the degrees of freedom of ``unit``, in its errors."""
    used = np.minimum(unit.df, left.df) >= 1
    df = unit.df[used, None, None]
    sums = left.sums[used] * (df / left.df[used, None, None])
    s, o = unit.of_protected[used] / df, unit.of_output[used] / df
    if signed:  # one sum over all parts
        return _Links(np.sum(sums, axis=0) / (np.sqrt(np.sum(s * o * df)) or 1.0), 1.0, 2.0)
    of_s, of_o = (np.diagonal(v, axis1=1, axis2=2) for v in (s, o))
    scale = np.sqrt(of_s[:, :, None] * of_o[:, None, :] * df)
    correlated = _correlations(s), _correlations(o)
    mean = np.prod([np.trace(v, axis1=1, axis2=2) for v in correlated], axis=0).sum()
    variance = 2 * np.prod([np.sum(v**2, axis=(1, 2)) for v in correlated], axis=0).sum()
    together = np.divide(sums, scale, out=np.zeros_like(sums), where=scale > 0)
    return _Links(together, float(mean), float(variance))


def _correlations(covariances: FloatArray) -> FloatArray:
    root = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    scale = root[:, :, None] * root[:, None, :]
    return np.asarray(np.divide(covariances, scale, out=np.zeros_like(covariances), where=scale > 0))


def _inflation(people: Neighbours, left: _Residuals, link: _Links) -> float:
    """Return how many times larger standard errors are because rows of a person go together, or weights differ."""
    if people.person is None and people.weight is None:
        return 1.0
    mass = np.ones(len(people)) if people.mass is None else people.mass
    product = mass * np.einsum(
        "ji,jk,ki->i", left.protected, link.sums.sum(axis=0).reshape(len(left.protected), -1), left.output
    )
    person = np.arange(len(people)) if people.person is None else np.unique(people.person, return_inverse=True)[1]
    alone = float(np.sum(product**2 / np.maximum(mass, 1e-300)))
    return float(np.sqrt(max(np.sum(np.bincount(person, product) ** 2) / alone, 1.0))) if alone > 0 else 1.0
