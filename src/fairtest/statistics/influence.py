r"""What each person contributes to a hypothesis' statistic, as if there were no association.

Every statistic is, to first order, a sum over people, or a sum of squares of several such sums. The term of a person is
a product: how far their protected attribute is from what one expects in the context (and stratum), times how far their
output is. Each metric says which factors these are.

Means are those without association: residuals from each group's own mean would vanish in a tiny group whose people all
have the same output, and contexts that share nothing but the reference group would seem to be copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairtest.data.summaries import Summary
    from fairtest.types import BoolArray, FloatArray, IntArray


class Factor(Protocol):
    """One attribute's part in a product, for every sum and person."""

    def at(self, stratum: IntArray, values: NDArray[Any]) -> FloatArray:
        """Return ``[sum, person]`` for people with these strata and values."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """A number for each level: ``table[sum, stratum, level]``, with one stratum where they do not matter."""

    table: FloatArray

    def at(self, stratum: IntArray, values: NDArray[Any]) -> FloatArray:
        """Return the entries of people's levels."""
        return self.table[:, stratum if self.table.shape[1] > 1 else 0, values]


@dataclass(frozen=True, eq=False)
class Deviation:
    """A number less its mean in the context: ``centre[sum, stratum]``."""

    centre: FloatArray

    def at(self, stratum: IntArray, values: NDArray[Any]) -> FloatArray:
        """Return how far people's numbers are from the mean."""
        centre = self.centre[:, stratum] if self.centre.shape[1] > 1 else self.centre
        return np.asarray(values - centre)


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums over people that the statistics of one batch are made of.

    Attributes
    ----------
    hypothesis
        The hypothesis that each belongs to, in rising order.
    stratum
        The only stratum whose people count, −1 if all do.
    protected, output
        The two parts of each person's term.
    variance
        What the variance of each sum is without association, those of a hypothesis being uncorrelated then; NaN where
        that is not known beforehand.
    """

    hypothesis: IntArray
    stratum: IntArray
    protected: Factor
    output: Factor
    variance: FloatArray


@dataclass(frozen=True)
class Influence:
    """How the statistics of a metric are made of people's contributions.

    Attributes
    ----------
    sums
        From the summary of a batch, the hypotheses that are wanted (in rising order), and the means of the protected
        attribute and of the output in each stratum of each hypothesis (NaN of attributes that are no numbers) to the
        sums of these hypotheses.
    count
        From the summary of a batch to how many sums each hypothesis has.
    within_strata
        Whether that holds given explanatory attributes, too.
    """

    sums: Callable[[Any, IntArray, FloatArray, FloatArray], Sums]
    count: Callable[[Any], IntArray]
    within_strata: bool = True


def single_sum(factors: Callable[[Any, FloatArray, FloatArray], tuple[Factor, Factor]]) -> Influence:
    """Return the influence of a statistic that is one sum, from what gives the two factors of each term."""

    def sums(summary: Summary, wanted: IntArray, protected_mean: FloatArray, output_mean: FloatArray) -> Sums:
        pair = factors(summary.take(wanted), protected_mean[wanted], output_mean[wanted])
        return Sums(wanted, np.full(wanted.size, -1), *pair, np.full(wanted.size, np.nan))

    return Influence(sums, lambda summary: np.ones(len(summary.size), dtype=np.int64))


def order_components(used: BoolArray, size: FloatArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return hypothesis, stratum and two contrasts of all components that are used; strata in an order of their own."""
    at, stratum, first, second = np.nonzero(used)
    place = np.argsort(_order(size))
    order = np.lexsort((second, first, place[stratum], at))
    return at[order], stratum[order], first[order], second[order]


def only_stratum(stratum: IntArray, size: FloatArray) -> IntArray:
    """Return the stratum of components, −1 where there is but one."""
    return stratum if size.shape[1] > 1 else np.full(stratum.size, -1)


def contrasts_of(margin: FloatArray, size: FloatArray) -> FloatArray:
    """Return contrasts between levels, taken up in an order that does not hang on their names."""
    order = _order(margin)
    found = np.empty((*margin.shape[:-1], margin.shape[-1] - 1, margin.shape[-1]))
    found[..., order] = contrasts(margin[..., order] / size[..., None])
    return found


def _order(margin: FloatArray) -> IntArray:
    """Return the levels, the fullest first; equally full ones by their counts in contexts and strata, sorted."""
    counts = np.sort(margin.reshape(-1, margin.shape[-1]), axis=0)
    some = counts[:: len(counts) // 64 + 1]
    return np.lexsort((*some, -counts.sum(axis=0)))


def contrasts(share: FloatArray) -> FloatArray:
    """Return functions ``[..., contrast, level]`` with mean 0 and mean square 1, and no correlation between them.

    The k-th compares level k + 1 with those before it; it is 0 where one side has nobody.

    Examples
    --------
    >>> contrasts(np.array([0.5, 0.25, 0.25])).round(3)
    array([[-0.816,  1.633,  0.   ],
           [-0.577, -0.577,  1.732]])
    """
    before, level = np.cumsum(share, axis=-1)[..., :-1, None], share[..., 1:, None]
    both = (before > 0) & (level > 0)
    before, level = np.where(both, before, 1.0), np.where(both, level, 1.0)
    total = before + level
    at, k = np.arange(share.shape[-1]), np.arange(share.shape[-1] - 1)[:, None]
    inside = np.where(at <= k, -np.sqrt(level / (before * total)), np.sqrt(before / (level * total)) * (at == k + 1))
    return np.where(both, inside, 0.0)


def divide_or_zero(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide, giving 0 where there is nothing to divide by."""
    some = denominator > 0
    return np.asarray(np.where(some, numerator / np.where(some, denominator, 1.0), 0.0))
