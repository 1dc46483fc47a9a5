r"""What a test set that is used again says of each hypothesis, and how much that tells about it.

The training set proposes: a direction and an interval for each hypothesis, and how likely each answer is. The test set
says one of three things (:class:`Said`). See :mod:`fairtest.data.reuse` for what this makes true.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtr

from fairtest.statistics.numerics.rules import normal_quantile

if TYPE_CHECKING:
    from fairtest.inference.family import Estimates
    from fairtest.types import FloatArray, IntArray, Interval

AGREES = 0.9
"""How likely it is taken to be that a link which is confirmed is confirmed with the interval proposed for it."""
POPULATION_ODDS = 10.0
"""Against how many to one the whole population shows a real link, before its evidence."""
SURPRISE = 1 / 8
"""Of the probability of all hypotheses together, how much is set aside for answers that nothing speaks for."""
MARGIN = 2.0
"""How many standard deviations training and test set may be apart before a proposed interval is not confirmed."""


class Said(IntEnum):
    """What the test set says of a hypothesis."""

    NOT_CONFIRMED = 0
    CONFIRMED = 1
    WITH_INTERVAL = 2


@dataclass(frozen=True, eq=False)
class Expected:
    """How likely each answer is, for each hypothesis, as the training set has it: ``[hypothesis, answer]``.

    An answer that is only quoted has probability 1, whichever it is: it was known.
    """

    chance: FloatArray


def likely_real(evidence: FloatArray, looked_at: int) -> FloatArray:
    r"""Return how likely it is that the links of one question are real, the whole population first.

    :math:`1 / (1 + L e^{−z²/2})` with L = 10 for the population, and for the others the number of candidates of which
    they are the best: that many give a large z where nothing is real. Where the population surely has a link, a group
    in it may well have one.

    Examples
    --------
    >>> likely_real(np.array([0.0, 3.0, 6.0]), 1000).round(2)
    array([0.09, 0.08, 1.  ])
    """
    candidates = np.full(len(evidence), float(max(looked_at, 1)))
    candidates[:1] = POPULATION_ODDS
    own = 1 / (1 + candidates * np.exp(-(evidence**2) / 2))
    return np.maximum(own, own[:1] ** 2 / 2)


def expectations(
    evidence: FloatArray, real: FloatArray, known: FloatArray, level: float, train_share: float
) -> Expected:
    r"""Return how likely each answer is, before the test set is asked.

    With the deviate z of the training set, r² = (1 − f)/f times as many people in the test set, and the deviate c
    that a link must reach there,

    .. math:: P(\text{confirmed}) = P(\text{real})\, Φ\left(\frac{r z − c}{\sqrt{1 + r²}}\right).

    These are guesses, and may be: a bad one costs bits, never validity. A little is kept for every answer, so that none
    costs without bound.

    Parameters
    ----------
    evidence
        The training set's deviate for each hypothesis; 0 where unknown.
    real
        How likely its link is to be real: see :func:`likely_real`.
    known
        1 where the test set has confirmed it before and will be quoted, 0 where it did not confirm it, NaN where it was
        never asked.

    Examples
    --------
    >>> z, never = np.array([0.0, 9.0]), np.full(2, np.nan)
    >>> expectations(z, np.array([0.2, 1.0]), never, 0.01, 0.5).chance.round(2)
    array([[0.93, 0.01, 0.06],
           [0.06, 0.09, 0.84]])
    """
    reach = normal_quantile(level / max(evidence.size, 1))
    ratio = np.sqrt((1 - train_share) / train_share)
    spare = SURPRISE / max(evidence.size, 1)
    likely = real * ndtr((ratio * np.abs(evidence) - reach) / np.sqrt(1 + ratio**2))
    yes = spare + (1 - 2 * spare) * np.where(np.isnan(known), likely, 0.0)
    chance = np.stack((1 - yes, yes * (1 - AGREES), yes * AGREES), axis=-1)
    return Expected(np.where(known[:, None] == 1, 1.0, chance))


def bits_told(answers: IntArray, expected: Expected) -> float:
    """Return how many bits the answers tell: −log₂ of the probability they were given beforehand.

    Examples
    --------
    >>> bits_told(np.array([0, 2]), Expected(np.array([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])))
    3.0
    """
    return float(-np.log2(expected.chance[np.arange(len(answers)), answers]).sum())


def proposal_level(level: float, hypotheses: int, train_share: float) -> float:
    """Return the level of the training set's intervals that are proposed to the test set.

    They are so wide that the test set's simultaneous interval lies inside when the two sets are no further apart than
    chance puts them: c·s_test + 2·√(s_train² + s_test²) on either side, s being standard errors.
    """
    ratio = np.sqrt(train_share / (1 - train_share))
    deviate = normal_quantile(level / max(hypotheses, 1)) * ratio + MARGIN * np.sqrt(1 + ratio**2)
    return float(np.exp(np.log(2) + log_ndtr(-deviate)))


def read_answers(test: Estimates, train: Estimates, level: float, *, signed: bool) -> IntArray:
    """Return what the test set says of each hypothesis.

    A link is confirmed if its corrected p-value is at most the level and it points the way it did in training; with its
    interval, if the test set's simultaneous interval lies inside the one proposed (the training set's single interval).
    """
    with np.errstate(invalid="ignore"):
        confirmed = test.p <= level
        if signed:
            confirmed &= np.sign(test.effect) == np.sign(train.effect)
        inside = (train.low_single <= test.low) & (test.high <= train.high_single)
    return np.where(confirmed, np.where(inside, Said.WITH_INTERVAL, Said.CONFIRMED), Said.NOT_CONFIRMED)


@dataclass(frozen=True)
class Answer:
    """What the test set says of one hypothesis, and the interval that it confirms (None where it confirms no link)."""

    said: Said
    interval: Interval | None

    @property
    def confirmed(self) -> bool:
        """Whether the link is confirmed."""
        return self.said is not Said.NOT_CONFIRMED


def add_intervals(answers: IntArray, train: Estimates) -> list[Answer]:
    """Return the answers with their intervals.

    What is confirmed without an interval is only known to point the way it did in training.
    """
    up = train.effect > 0
    low, high = np.where(up, 0.0, -np.inf), np.where(up, np.inf, 0.0)
    inside = answers == Said.WITH_INTERVAL
    low = np.where(inside, np.fmax(low, train.low_single), low)
    high = np.where(inside, np.fmin(high, train.high_single), high)
    return [
        Answer(Said(a), (float(lo), float(hi)) if a else None) for a, lo, hi in zip(answers, low, high, strict=True)
    ]
