r"""The step-down max-T correction: as many hypotheses as there are, counted once where they say the same.

Holm and Bonferroni add up the chances of all hypotheses as if no two could be false together. Contexts that share
people often are. Here the chance that *any* of them has a p-value as small as the one seen is drawn: with a normal
number gᵢ for each person, the sums Σ gᵢuᵢ of their contributions (:mod:`fairtest.inference.influence`) have the joint
distribution that the statistics have without association, whatever is associated with what besides. What is drawn is
turned into p-values, so that metrics and degrees of freedom can be compared; the p-values of what was observed are
those of each metric's own calibrated test.

References
----------
P. H. Westfall and S. S. Young, *Resampling-Based Multiple Testing*, Wiley 1993, algorithm 2.8 (step-down min-P).
V. Chernozhukov, D. Chetverikov and K. Kato, "Gaussian approximations and multiplier bootstrap for maxima of sums of
high-dimensional random vectors", Annals of Statistics 41 (2013), 2786–2819, section 5: step-down with multipliers.
J. P. Romano and M. Wolf, "Exact and approximate stepdown methods for multiple hypothesis testing", JASA 100 (2005),
94–108.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import blas, cholesky
from scipy.special import ndtr, ndtri

from fairtest.progress import silent
from fairtest.statistics.numerics.quadratic import SumOfSquares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.inference.multiplicity.dependence import Covariance
    from fairtest.inference.multiplicity.prior import Prior
    from fairtest.progress import Progress
    from fairtest.types import BoolArray, FloatArray, IntArray

AT_LEVEL = 800
"""About how many draws fall below the family's level: its Monte-Carlo error is a thirtieth of it."""
MOST_DRAWS = 1 << 18
MOST_KEPT = 1 << 19
"""About how many of the drawn p-values are kept: the smallest."""
BLOCK = 1024
JITTER = 1e-9
"""Added to every variance, since copies of a hypothesis make the covariances singular."""
TAIL = 4
"""Below a quarter of the level, where no decision is made, Holm's p-value is given if it is smaller."""


@dataclass(frozen=True, eq=False)
class JointNull:
    """Draws of all p-values of a family under no association.

    Attributes
    ----------
    joint
        The hypotheses that were drawn. For the others Bonferroni's inequality holds: they count in full.
    draws
        How many draws there are.
    draw, hypothesis, p
        The p-values that are at most ``cap``: of which draw, of which hypothesis; sorted by draw, then by p.
    level
        The level of the family.
    """

    joint: BoolArray
    draws: int
    draw: IntArray
    hypothesis: IntArray
    p: FloatArray
    cap: float
    level: float

    def adjust(self, p: FloatArray, prior: Prior) -> FloatArray:  # noqa: ARG002
        r"""Correct p-values, step-down.

        With :math:`p_{(1)} ≤ p_{(2)} ≤ …`, of M draws :math:`h_k` have a p-value of at most :math:`p_{(k)}` among the
        hypotheses k, k + 1, … that were drawn; :math:`a_k` of these hypotheses were not. Then

        .. math:: \tilde p_{(k)} = \max_{l ≤ k} \left\{\frac{1 + h_l}{1 + M} + a_l p_{(l)}\right\}.

        If none were drawn, this is Holm's procedure. Far below the level, where M draws cannot tell small from smaller,
        Holm's value is given if it is less: this cannot change a decision. Above ``cap`` (1 for a small family, and
        where the adjusted p-values of a large one are near 1), the larger of the two is given.
        """
        member = np.flatnonzero(~np.isnan(p))
        order = member[np.argsort(p[member], kind="stable")]
        seen = p[order]
        left = np.arange(order.size, 0, -1)
        drawn_left, alone_left = (np.cumsum(which[::-1])[::-1] for which in (self.joint[order], ~self.joint[order]))
        bound = left * seen
        drawn = np.where(drawn_left > 0, (1 + self._hits(order, np.minimum(seen, self.cap))) / (1 + self.draws), 0.0)
        stepped = drawn + alone_left * seen
        stepped = np.where(seen > self.cap, np.maximum(stepped, bound), stepped)
        small = (stepped <= self.level / TAIL) | (left == 1)
        stepped = np.where(small, np.minimum(stepped, bound), stepped)
        result = np.full(p.shape, np.nan)
        result[order] = np.maximum(np.minimum(np.maximum.accumulate(stepped), 1.0), seen)
        return result

    def _hits(self, order: IntArray, seen: FloatArray) -> IntArray:
        """Return how many draws have a p-value of at most ``seen[k]`` among the hypotheses from place k on.

        A drawn p-value of the hypothesis at place j hits all k ≤ j with seen[k] ≥ p: a run of places that ends at j.
        The runs of a draw come sorted by where they start, so that one pass finds what they cover together.
        """
        place = np.full(self.joint.size, -1)
        place[order] = np.arange(order.size)
        last = place[self.hypothesis]
        first = np.searchsorted(seen, self.p, side="left")
        some = first <= last
        offset = self.draw[some] * (order.size + 1)
        start, stop = first[some] + offset, last[some] + 1 + offset
        covered = np.maximum.accumulate(np.concatenate(([0], stop)))[:-1]
        start = np.maximum(start, covered)
        new = start < stop
        width = order.size + 1
        change = np.bincount(start[new] % width, minlength=width) - np.bincount(stop[new] % width, minlength=width)
        return np.asarray(np.cumsum(change)[: order.size])

    def levels(self, alpha: float, tested: BoolArray, prior: Prior) -> FloatArray:  # noqa: ARG002
        """Return the level at which all intervals hold together with probability 1 − α, the same for each.

        The largest p-value that would be significant if it were the smallest of the family; never below α/m, at which
        they would hold together under any dependence.
        """
        members = int(np.count_nonzero(tested))
        alone = int(np.count_nonzero(tested & ~self.joint))
        among = tested[self.hypothesis]
        _, first = np.unique(self.draw[among], return_index=True)
        least = np.append(np.sort(self.p[among][first]), self.cap)
        spent = np.arange(1, least.size + 1) / (1 + self.draws) if alone < members else np.zeros(1)
        left = np.maximum(alpha - spent, 0.0) / alone if alone else np.where(spent <= alpha, np.inf, 0.0)
        level = alpha if members == 1 else float(np.max(np.minimum(least, left)))
        level = float(f"{level * (1 - 1e-3):.4g}")  # the last digits hang on the order of additions
        return np.full(tested.size, np.clip(level, alpha / max(members, 1), alpha))


def draw_joint_null(
    covariance: Covariance, size: int, level: float, seed: int, progress: Progress = silent
) -> JointNull:
    """Draw the p-values of a family of ``size`` hypotheses together, as finely as its level needs.

    Parameters
    ----------
    covariance
        Of those hypotheses that can be drawn.
    seed
        Where randomness starts.
    progress
        Called now and then with the share of the draws that is made.
    """
    starts = np.flatnonzero(np.diff(covariance.hypothesis, prepend=-1))
    hypotheses = covariance.hypothesis[starts]
    joint = np.zeros(size, dtype=bool)
    joint[hypotheses] = True
    draws = int(min(2 ** np.ceil(np.log2(max(AT_LEVEL / level, BLOCK))), MOST_DRAWS))
    if not starts.size:
        nothing = np.zeros(0, dtype=np.int64)
        return JointNull(joint, draws, nothing, nothing, np.zeros(0), 1.0, level)
    cap = float(np.clip(MOST_KEPT / (starts.size * draws), level, 1.0))
    laws = _laws(covariance.matrix, starts)
    threshold = np.array([_quantile(law, cap) for law in laws])
    kept: list[tuple[IntArray, IntArray, FloatArray]] = []
    for block, statistic in enumerate(_statistics(covariance.matrix, starts, draws // BLOCK, seed)):
        progress(block * BLOCK / draws)
        which, draw = np.nonzero(statistic >= threshold[:, None])
        p = _p_values(statistic[which, draw], which, laws)
        order = np.argsort(p)
        order = order[np.argsort(draw[order].astype(np.uint16), kind="stable")]
        kept.append((block * BLOCK + draw[order], hypotheses[which[order]], p[order]))
    draw, hypothesis, p = (np.concatenate(column) for column in zip(*kept, strict=True))
    return JointNull(joint, draws, draw, hypothesis, p, cap, level)


def _statistics(matrix: FloatArray, starts: IntArray, blocks: int, seed: int) -> Iterator[FloatArray]:
    """Yield the statistics ``[hypothesis, draw]`` of blocks of draws."""
    root = matrix.copy()
    root.flat[:: len(root) + 1] += JITTER
    root = cholesky(root, lower=True, overwrite_a=True, check_finite=False)
    rng = np.random.default_rng(seed)
    for _ in range(blocks):
        normal = rng.standard_normal((BLOCK, len(root)))
        squares = blas.dtrmm(1.0, root, normal.T, lower=1, overwrite_b=1) ** 2
        yield squares if len(starts) == len(root) else np.add.reduceat(squares, starts, axis=0)


def _laws(matrix: FloatArray, starts: IntArray) -> list[SumOfSquares | None]:
    """Return the law of each statistic, None for that of a single sum, the square of a standard normal number."""
    blocks = [slice(start, stop) for start, stop in pairwise([*starts.tolist(), len(matrix)])]
    return [
        None if b.stop - b.start == 1 else SumOfSquares.from_eigenvalues(np.linalg.eigvalsh(matrix[b, b]).astype(float))
        for b in blocks
    ]


def _quantile(law: SumOfSquares | None, p: float) -> float:
    """Return the statistic with a p-value of ``p``, 0 if all are wanted."""
    if p >= 1:
        return 0.0
    return float(ndtri(p / 2) ** 2) if law is None else law.quantile(p)


def _p_values(statistic: FloatArray, which: IntArray, laws: list[SumOfSquares | None]) -> FloatArray:
    """Return the p-values of statistics; ``which`` says whose, in rising order."""
    p = 2 * ndtr(-np.sqrt(statistic))
    bounds = np.searchsorted(which, np.arange(len(laws) + 1))
    for i, law in enumerate(laws):
        if law is not None:
            own = slice(bounds[i], bounds[i + 1])
            p[own] = law.p(statistic[own])
    return np.asarray(p)
