r"""How the variation between groups is distributed when numbers are dealt to people at random, without draws.

If the groups have nothing to do with the numbers, every way of dealing the numbers of a stratum to its people is
equally likely. The sum of a group's numbers is then that of a sample without replacement, and its moments are known
from the power sums of the stratum. Few people in a group, or few numbers that differ from the usual one, give it a long
tail that neither Student's *t* nor *F* knows of: three groups of 98.5, 1 and 0.5 % and a count that is mostly 0 make
the *F* test reject ten times too often at 0.02 %. :func:`permutation_p` follows that tail from the exact variance,
skewness and kurtosis of each group's sum.

Under permutation the level is at most about 1.3 times the nominal one down to 10⁻⁴, for counts, log-normal,
zero-inflated and heavy-tailed numbers and groups of 3 people to nearly all; where tails are longest it errs on the safe
side.

References
----------
E. J. G. Pitman (1938), Significance tests which may be applied to samples from any populations. III. The analysis of
variance test. Biometrika 29, 322–335.

G. E. P. Box, S. L. Andersen (1955), Permutation theory in the derivation of robust criteria and the study of departures
from assumption. JRSS B 17, 1–26.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fairtest.statistics.numerics.pearson3 import pearson3_tail, skewed_tail
from fairtest.statistics.numerics.rules import P_FLOOR

if TYPE_CHECKING:
    from fairtest.statistics.numbers.groups import Layout
    from fairtest.types import FloatArray

MOST = 37.0
"""Where normal deviates end: beyond, tail probabilities are below 1e-300."""
_BLOCK = 1_000_000
"""About how many groups, over strata and contexts, are looked at together: there are a dozen numbers for each."""
_FEWEST = 1e-6
"""The smallest sum of the two parameters of a beta distribution: nearly all of it lies at 0 and 1."""


def permutation_p(layout: Layout) -> FloatArray:
    """Return the p-value of "the groups have nothing to do with the numbers" for each context with some variation.

    Without strata, the *F* test in which the sum of every group has been brought back to the normal scale; with strata,
    a Pearson type III distribution with the mean, the variance and about the skewness of the variation between groups.
    """
    blocks = np.array_split(np.arange(len(layout.n)), max(layout.n.size // _BLOCK, 1))
    return np.concatenate([_block_p(layout.take(block)) for block in blocks])


def _block_p(layout: Layout) -> FloatArray:
    p = _one_stratum_p(layout) if layout.n.shape[1] == 1 else _strata_p(layout)
    return np.maximum(p, smallest_p(layout))


def smallest_p(layout: Layout) -> FloatArray:
    """Return a probability below which no permutation test can come: one over the ways to make these groups.

    Examples
    --------
    One person among 107 cannot show more than 1/107.

    >>> from fairtest.statistics.numbers.groups import Layout
    >>> n = np.array([[[106.0, 1.0]]])
    >>> print(smallest_p(Layout(n, *[np.zeros_like(n)] * 4)).round(6))
    [0.009346]
    """
    log_ways = special.gammaln(layout.n.sum(axis=2) + 1) - special.gammaln(layout.n + 1).sum(axis=2)
    return np.asarray(np.exp(-log_ways.sum(axis=1)))


@dataclass(frozen=True)
class PermutedSums:
    """The sum of a group's numbers, in terms of its permutation distribution: contexts × strata × groups.

    Attributes
    ----------
    deviate
        The sum minus its mean, over its standard deviation.
    skewness, kurtosis
        Of its permutation distribution (a normal one has 0 and 3).
    people
        Those of the stratum.
    """

    deviate: FloatArray
    skewness: FloatArray
    kurtosis: FloatArray
    people: FloatArray

    @classmethod
    def from_layout(cls, layout: Layout) -> PermutedSums:
        """Return the moments of sums of samples without replacement; those of a normal where there is no group."""
        n, size = layout.n, layout.n.sum(axis=2, keepdims=True)
        second, third, fourth = (v[:, :, None] / np.maximum(size, 1.0) for v in _power_sums(layout))
        rest = size - n
        varies = (n > 0) & (rest > 0) & (second > 0)
        safe = np.where(varies, n * rest * second, 1.0) / np.maximum(size - 1, 1.0)  # the variance
        of_three = n * rest * (rest - n) / (np.maximum(size - 1, 1.0) * np.maximum(size - 2, 1.0))
        of_four = n * rest / np.maximum((size - 1) * (size - 2) * (size - 3), 1.0)
        alone = size * size + size - 6 * n * rest
        pairs = 3 * size * (n - 1) * (rest - 1)
        return cls(
            np.where(varies, n * layout.deviation / np.sqrt(safe), 0.0),
            np.where(varies, of_three * third / safe**1.5, 0.0),
            np.where(varies, of_four * (alone * fourth + pairs * second**2) / safe**2, 3.0),
            size,
        )


def between_moments(layout: Layout) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the variance of each stratum's variation between groups, when its numbers are permuted.

    Both are 0 in strata without people; the variance is 0 also where every way of dealing gives the same variation,
    as with one person in every group.
    """
    n, size = layout.n, layout.n.sum(axis=2)
    two, _, four = _power_sums(layout)
    groups = (n > 0).sum(axis=2)
    # Means of products of the numbers of different people: x⁴, x²y², x³y, x²yz, wxyz.
    ways = [np.ones_like(size)]
    for less in range(4):
        ways.append(ways[-1] * np.maximum(size - less, 1.0))
    e4, e22, e31 = four / ways[1], (two**2 - four) / ways[2], -four / ways[2]
    e211, e1111 = (2 * four - two**2) / ways[3], (3 * two**2 - 6 * four) / ways[4]
    inverse = np.where(n > 0, 1 / np.maximum(n, 1.0), 0.0)
    more = np.where(n > 0, n - 1, 0.0)

    def add(values: FloatArray) -> FloatArray:
        return np.asarray(values.sum(axis=2))

    own = e4 * add(inverse) + (3 * e22 + 4 * e31) * add(more * inverse) + 6 * e211 * add(more * (n - 2) * inverse)
    own += e1111 * add(more * (n - 2) * (n - 3) * inverse)
    free = add(more)
    pairs = groups * (groups - 1) * e22 + 2 * (groups - 1) * free * e211 + (free**2 - add(more**2)) * e1111
    mean = np.where(groups > 1, (groups - 1) * two / np.maximum(size - 1, 1.0), 0.0)
    variance = own + pairs - mean**2
    return mean, np.where((groups > 1) & (variance > 1e-10 * mean**2), variance, 0.0)


def _power_sums(layout: Layout) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Σ x², Σ x³ and Σ x⁴ of each stratum about its mean."""
    n, b, s2, s3, s4 = layout.n, layout.deviation, layout.s2, layout.s3, layout.s4
    second = s2 + n * b**2
    third = s3 + 3 * b * s2 + n * b**3
    fourth = s4 + 4 * b * s3 + 6 * b**2 * s2 + n * b**4
    return second.sum(axis=2), third.sum(axis=2), fourth.sum(axis=2)


def _one_stratum_p(layout: Layout) -> FloatArray:
    """Return the p-value of F after shrinking what each group adds to it by what its long tail makes of it."""
    sums = PermutedSums.from_layout(layout)
    z = sums.deviate[:, 0]
    people, n = sums.people[:, 0, 0], layout.n[:, 0]
    # SSB over the variance of everybody is the sum of (1 − share) · z² over groups.
    parts = np.where(n > 0, (1 - n / np.maximum(people, 1.0)[:, None]) * z**2, 0.0)
    whole = parts.sum(axis=1)
    groups = np.maximum((n > 0).sum(axis=1), 2)
    eta = np.minimum(whole / np.maximum(people - 1, 1.0), 1.0)
    f = special.betainc(np.maximum((people - groups) / 2, 1e-9), (groups - 1) / 2, 1 - eta)
    chi_square = special.chdtri(groups - 1, np.maximum(f, P_FLOOR))
    shrunk = (parts * _shrinkage(sums)[:, 0]).sum(axis=1) / np.where(whole > 0, whole, 1.0)
    return np.asarray(special.chdtrc(groups - 1, chi_square * np.where(whole > 0, shrunk, 1.0)))


def _shrinkage(sums: PermutedSums) -> FloatArray:
    """Return by how much the square of each group's deviate is smaller on the normal scale than Student's t has it."""
    t = _t_tail(sums)
    student, actual = (_two_sided_deviate(p) for p in (t, np.maximum(t, _long_tail(sums, _two_sided_deviate(t)))))
    return np.where(student > 0, (actual / np.where(student > 0, student, 1.0)) ** 2, 1.0)


def _two_sided_deviate(p: FloatArray) -> FloatArray:
    return np.asarray(np.minimum(-special.ndtri(np.maximum(p, P_FLOOR) / 2), MOST))


def _squared_correlation(sums: PermutedSums) -> FloatArray:
    """Return the square of the correlation between being in the group and the number, a tie short of 1."""
    return np.minimum(sums.deviate**2 / np.maximum(sums.people - 1, 1.0), 1.0 - 1e-9)


def _t_tail(sums: PermutedSums) -> FloatArray:
    """Return the two-sided tail as if the numbers were normal."""
    rest = np.maximum((sums.people - 2) / 2, 1e-9)
    return np.asarray(special.betainc(rest, 0.5, 1 - _squared_correlation(sums)))


def _long_tail(sums: PermutedSums, z: FloatArray) -> FloatArray:
    """Return the two-sided tail that follows from skewness and kurtosis; ``z`` is the deviate of Student's t.

    The larger of two: a Pearson type III distribution on each side, and a beta distribution of the squared correlation
    with its exact mean and variance (Pitman's), which knows that one person may be all there is.
    """
    excess = np.maximum(sums.kurtosis - 3, 0.0)
    # The skewness of a Pearson III that has this kurtosis or, if small, raises the tail by as much.
    heavy = np.minimum(np.sqrt(excess / 1.5), excess * z / 4)
    left = heavy**2 - sums.skewness**2  # what kurtosis the other side has of its own; negative: that side is short
    one, other = np.maximum(np.abs(sums.skewness), heavy), np.copysign(np.sqrt(np.abs(left)), left)
    return np.maximum(pearson3_tail(z, one) + pearson3_tail(z, other), _beta_tail(sums)).clip(max=1.0)


def _beta_tail(sums: PermutedSums) -> FloatArray:
    mean = 1 / np.maximum(sums.people - 1, 1.0)
    variance = (sums.kurtosis - 1) * mean**2
    both = np.maximum(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, _FEWEST)
    # Where the variance is 0 the squared correlation is always the same.
    tail = special.betainc((1 - mean) * both, mean * both, 1 - _squared_correlation(sums))
    return np.where(variance > 1e-12 * mean**2, tail, 1.0)


def _strata_p(layout: Layout) -> FloatArray:
    """Return the tail of the variation between groups, added over strata."""
    mean, variance = between_moments(layout)
    third = _third_cumulant(layout, mean, variance).sum(axis=1)
    spread = np.sqrt(variance.sum(axis=1))
    varies = spread > 0
    spread = np.where(varies, spread, 1.0)
    z = (layout.between - mean).sum(axis=1) / spread
    return np.where(varies, skewed_tail(z, np.where(varies, third / spread**3, 0.0)), 1.0)


def _third_cumulant(layout: Layout, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return about the third cumulant of each stratum's variation between groups.

    The larger of that of a gamma distribution and of one that follows from the cumulants κ₃, κ₄ of the groups' sums: z²
    has 8 + 12κ₄ + 10κ₃² + κ₆, with κ₆ = κ₄² as for counts of rare events.
    """
    sums = PermutedSums.from_layout(layout)
    excess = sums.kurtosis - 3
    squares = 8 + 12 * excess + 10 * sums.skewness**2 + excess**2
    size = np.maximum(sums.people, 1.0)
    unit = layout.total / np.maximum(size[..., 0] - 1, 1.0)
    of_groups = np.where(layout.n > 0, (1 - layout.n / size) ** 3 * squares, 0.0).sum(axis=2) * unit**3
    gamma = 2 * variance**2 / np.where(mean > 0, mean, 1.0)
    return np.where(variance > 0, np.maximum(gamma, of_groups), 0.0)
