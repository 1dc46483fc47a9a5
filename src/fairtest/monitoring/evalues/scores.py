r"""E-values of a number among groups: scores of the records, given how many are in the group.

Where group and output are independent within a block, every choice of n₁ of the n records is as likely to be the group.
With scores g, :math:`e(θ) = \exp(θ \sum_{group} g) · C(n, n_1) / E_{n_1}(e^{θg})`, where E is the elementary symmetric
polynomial: the sum over all choices. With scores of 0 and 1 it is the e-value of a 2×2 table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from fairtest.monitoring.evalues.tables import SIZES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairtest.types import BoolArray, FloatArray, IntArray

SCORE_BETS = np.array([*SIZES, *(-size for size in SIZES)])


def normal_scores(values: ArrayLike) -> FloatArray:
    """Return the normal scores of numbers: the quantiles of their ranks. Equal numbers have equal scores.

    Examples
    --------
    >>> normal_scores([3.0, 1.0, 1e9]).round(3)
    array([ 0.   , -0.967,  0.967])
    """
    ranks = rankdata(values)
    return np.asarray(ndtri((ranks - 0.5) / max(ranks.size, 1)))


def log_mean_of_choices(log_y: FloatArray, chosen: int) -> FloatArray:
    """Return the log of the mean, over all choices of so many items, of the product of their y.

    Parameters
    ----------
    log_y
        The logs of the items' y, with leading axes for cases that are computed together.
    """
    n = log_y.shape[-1]
    log_mean = np.full((*log_y.shape[:-1], chosen + 1), -np.inf)
    log_mean[..., 0] = 0.0
    taken = np.arange(1, chosen + 1)
    with np.errstate(divide="ignore"):
        for i in range(n):
            # the mean over choices of k of i + 1 items: the last item is among them in k of i + 1
            among = np.log(taken / (i + 1.0)) + log_y[..., i, None] + log_mean[..., :-1]
            outside = np.log(np.maximum(i + 1.0 - taken, 0.0) / (i + 1.0)) + log_mean[..., 1:]
            log_mean[..., 1:] = np.logaddexp(among, outside)
    return np.asarray(log_mean[..., chosen])


def log_e_scores(scores: ArrayLike, group: ArrayLike, theta: ArrayLike = SCORE_BETS) -> FloatArray:
    """Return the log of what bets on a group's scores pay, one for each θ.

    Examples
    --------
    >>> np.exp(log_e_scores([0.3, -1.2, 2.5, 0.7, 0.1], [0, 1, 1, 0, 0], [0.2])).round(10)
    array([1.02548938])
    """
    g, inside = np.asarray(scores, float), np.asarray(group, bool)
    tilt = np.atleast_1d(np.asarray(theta, float))
    chosen = int(inside.sum())
    if chosen in (0, g.size):
        return np.zeros(tilt.size)
    if 2 * chosen > g.size:  # the rest is the smaller choice
        return log_e_scores(g, ~inside, -tilt)
    return np.asarray(tilt * g[inside].sum() - log_mean_of_choices(tilt[:, None] * g, chosen))


def log_e_groups(values: FloatArray, groups: IntArray, number: int) -> FloatArray:
    """Return the logs of what all bets pay: a row for each group against the rest, or one where there are two.

    The group of a pair that is bet on is the second.
    """
    g = normal_scores(values)
    return np.stack([log_e_scores(g, inside) for inside in groups_against_rest(groups, number)])


def groups_against_rest(groups: IntArray, number: int) -> list[BoolArray]:
    """Return who is in each group that is compared with the rest."""
    return [groups == k for k in ((1,) if number == 2 else range(number))]


def log_e_table(table: ArrayLike, direction: ArrayLike) -> float:
    """Return the log of what a bet on a whole table pays, in a direction that is known beforehand.

    Parameters
    ----------
    table
        Records by output and group.
    direction
        The log odds bet on for each output, in each group but the last.
    """
    counts, tilt = np.asarray(table, dtype=np.int64), np.asarray(direction, float)
    total = 0.0
    for group in range(counts.shape[1] - 1):
        left = counts[:, group:].sum(axis=1)
        items = np.repeat(tilt[:, group], left)
        chosen = int(counts[:, group].sum())
        total += float(tilt[:, group] @ counts[:, group] - log_mean_of_choices(items, chosen))
    return total
