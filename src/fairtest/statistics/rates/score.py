r"""The skewness-corrected score test of two proportions, and the interval that inverts it.

A candidate value of the effect is tested with the statistic of Miettinen and Nurminen (1985): the observed
difference minus the candidate, over its standard deviation at the most likely pair of rates that has
exactly this effect (Farrington and Manning 1990 give the pair in closed form). Instead of the normal
distribution, a Pearson type III with the statistic's own skewness gives the tail
(:mod:`fairtest.statistics.numerics.pearson3`). The interval is the set of candidates that the test does not reject,
so that p ≤ α exactly when the interval excludes "no effect".

At no effect the variance and the third moment are those of the permutation (hypergeometric) distribution:
the test is a permutation test within strata, without draws.

The arguments are counts: ``x1`` of the ``n1`` people of the protected group have the output, and ``x2`` of
the ``n2`` people of the reference group. Their shape is contexts × strata (for the ratio: contexts). Strata
in which one of the groups is absent carry no information and are left out; where nothing remains, results
are NaN.

References
----------
O. Miettinen, M. Nurminen (1985), Comparative analysis of two rates. Statistics in Medicine 4, 213–226.

C. Farrington, G. Manning (1990), Test statistics and sample size formulae for comparative binomial trials.
Statistics in Medicine 9, 1447–1454.

J. Gart, J. Nam (1990), Approximate interval estimation of the difference in binomial parameters:
correction for skewness and extension to multiple tables. Biometrics 46, 637–643.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtest.statistics.numerics.pearson3 import skewed_deviate, skewed_tail
from fairtest.statistics.numerics.roots import increasing_root
from fairtest.statistics.numerics.rules import Alpha, Bounds, clip_p, normal_quantile, per_context, scatter
from fairtest.statistics.rates.score_models import RatioTables, StratifiedTables

if TYPE_CHECKING:
    from fairtest.types import FloatArray, IntArray


def difference(x1: IntArray, n1: IntArray, x2: IntArray, n2: IntArray) -> FloatArray:
    r"""Return the difference of two rates, averaged over strata with weights :math:`N_e / \sum N_e`.

    Examples
    --------
    Admission in two departments, 12 of 20 women and 9 of 30 men, 5 of 20 and 2 of 30:

    >>> float(difference([[12, 5]], [[20, 20]], [[9, 2]], [[30, 30]])[0].round(4))
    0.2417
    """
    tables, defined = StratifiedTables.from_counts(x1, n1, x2, n2)
    return scatter(tables.estimate, defined)


def difference_p(x1: IntArray, n1: IntArray, x2: IntArray, n2: IntArray) -> FloatArray:
    """Return the two-sided p-value of "no difference in any stratum": twice the smaller tail.

    Examples
    --------
    >>> difference_p([[7], [0]], [[100], [0]], [[21], [21]], [[200], [200]]).round(6)
    array([0.326815,      nan])
    """
    upper, lower = _tails(x1, n1, x2, n2)
    return clip_p(2 * np.minimum(upper, lower))


def _tails(x1: IntArray, n1: IntArray, x2: IntArray, n2: IntArray) -> Bounds:
    """Return both tails of the statistic at no difference; they may underflow to 0."""
    tables, defined = StratifiedTables.from_counts(x1, n1, x2, n2)
    zero = np.zeros(len(tables.estimate))
    upper = skewed_tail(*tables.standardise(zero))
    lower = skewed_tail(*tables.swap_groups().standardise(zero))
    return scatter(upper, defined), scatter(lower, defined)


def difference_interval(x1: IntArray, n1: IntArray, x2: IntArray, n2: IntArray, alpha: Alpha) -> Bounds:
    """Return the interval of the difference at confidence 1 − ``alpha``: what the test does not reject.

    With several strata it is the size-weighted difference of :func:`difference`, conditional on the sizes
    of the strata; the effects of the strata may differ. It holds its level where a group or an output is
    rare and at the tiny ``alpha`` of simultaneous intervals, where Newcombe's and Miettinen and Nurminen's
    do not.

    Examples
    --------
    >>> low, high = difference_interval([[300]], [[1000]], [[250]], [[1000]], 0.05)
    >>> print(low.round(4), high.round(4))
    [0.0109] [0.0891]
    """
    tables, defined = StratifiedTables.from_counts(x1, n1, x2, n2)
    levels = per_context(alpha, len(defined))[defined]
    bounds = _lowest_difference(tables.beside(tables.swap_groups()), np.tile(levels, 2))
    low, minus_high = np.split(bounds, 2)
    return scatter(low, defined), scatter(-minus_high, defined)


def _lowest_difference(tables: StratifiedTables, levels: FloatArray) -> FloatArray:
    """Find the smallest difference that the upper tail does not reject."""
    z = normal_quantile(levels)

    def excess(delta: FloatArray, rows: IntArray) -> FloatArray:
        return skewed_deviate(*tables.take(rows).standardise(delta)) + z[rows]

    estimate = tables.estimate
    guess = estimate - z * tables.rough_deviation
    # Zero is looked at first: the interval then excludes it exactly when the test at zero rejects.
    zero = np.clip(np.zeros_like(estimate), None, estimate)
    above = excess(zero, np.arange(len(zero))) <= 0
    low, high = np.where(above, zero, -1.0), np.where(above, estimate, zero)
    return increasing_root(excess, low, high, first=guess)


def ratio(x1: IntArray, n1: IntArray, x2: IntArray, n2: IntArray) -> FloatArray:
    """Return the ratio of two rates; infinite where only the reference group never has the output.

    Examples
    --------
    >>> ratio([7, 3, 0], [100, 100, 100], [21, 0, 0], [200, 200, 200]).round(4)
    array([0.6667,    inf,    nan])
    """
    tables, defined = RatioTables.from_counts(x1, n1, x2, n2)
    return scatter(tables.estimate, defined)


def ratio_p(x1: IntArray, n1: IntArray, x2: IntArray, n2: IntArray) -> FloatArray:
    """Return the two-sided p-value of "the ratio is 1", which is the test of "the difference is 0".

    It exists (and is 1) also where nobody has the output and the ratio itself is undefined.
    """
    columns = (np.asarray(v)[:, None] for v in (x1, n1, x2, n2))
    return difference_p(*columns)


def ratio_interval(x1: IntArray, n1: IntArray, x2: IntArray, n2: IntArray, alpha: Alpha) -> Bounds:
    """Return the interval of the ratio at confidence 1 − ``alpha``: what the test does not reject.

    The lower bound is 0 where nobody of the protected group has the output, the upper bound infinite where
    nobody of the reference group has it.

    Examples
    --------
    >>> low, high = ratio_interval([7, 0], [100, 12], [21, 9], [200, 40], 0.05)
    >>> print(low.round(4), high.round(4))
    [0.2747 0.    ] [1.4668 1.1704]
    """
    tables, defined = RatioTables.from_counts(x1, n1, x2, n2)
    levels = per_context(alpha, len(defined))[defined]
    low = _lowest_ratio(tables, levels)
    with np.errstate(divide="ignore"):
        high = 1 / _lowest_ratio(tables.swap_groups(), levels)
    return scatter(low, defined), scatter(high, defined)


def _lowest_ratio(tables: RatioTables, levels: FloatArray) -> FloatArray:
    """Find the smallest ratio that the upper tail does not reject, on the scale of its logarithm."""
    seen = tables.x1 > 0
    tables, z = tables.take(np.flatnonzero(seen)), normal_quantile(levels[seen])

    def excess(log_ratio: FloatArray, rows: IntArray) -> FloatArray:
        return skewed_deviate(*tables.take(rows).standardise(np.exp(log_ratio))) + z[rows]

    # At the bottom even one person is more than can be expected; at the top the statistic is nearly 0.
    bottom = np.log(np.maximum(levels[seen], 1e-300)) - np.log(tables.n1) - 20
    with np.errstate(divide="ignore"):
        top = np.where(tables.x2 > 0, np.log(tables.estimate), np.log(tables.n2) + 20)
    one = np.minimum(0.0, top)
    above = excess(one, np.arange(len(one))) <= 0
    low, high = np.where(above, one, bottom), np.where(above, top, one)
    guess = top - z * tables.rough_deviation
    result = np.zeros(len(seen))
    result[seen] = np.exp(increasing_root(excess, low, high, first=guess))
    return result
