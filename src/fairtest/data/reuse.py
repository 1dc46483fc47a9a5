r"""The reusable holdout: one test set that answers many questions, each of which may hang on the answers before.

What is promised
    Over all questions of a budget together, whatever the person asking makes of the answers: the probability that
    even one link is confirmed that does not exist is at most α = 1 − conf; and likewise the probability that even one
    interval that is given misses its effect. This holds for every number of people, as far as the p-values and
    intervals of a single question hold.

How
    All numbers shown are of the training set. The test set says one thing of each hypothesis: not confirmed,
    confirmed, or confirmed with an interval that the training set proposed (:mod:`fairtest.inference.agreement`).
    Before an answer is given, the training set and the earlier answers fix a probability for each answer it could be;
    the one given then costs −log₂ of its probability in bits. With B questions, question t is tested at

    .. math:: α_t = \frac{α}{B} 2^{-b_t}, \qquad b_t = \text{the bits told by the answers to questions } 1, …, t−1.

Why it holds
    Fix the training set. After every sequence h of t − 1 answers that could have been given there is one question
    that would have been asked, fixed without the test set; testing it at level α_h goes wrong with probability at
    most α_h. The event "some question that was asked goes wrong" lies in the union of these over all h, and 2^{−b} is
    the probability of h under a distribution over sequences, so that

    .. math:: P(\text{any error}) ≤ \sum_{t=1}^{B} \sum_h \frac{α}{B} 2^{-b(h)} ≤ \sum_{t=1}^B \frac{α}{B} = α.

    An answer that was expected is nearly free, a surprise is paid for; what was confirmed once is quoted when it is
    asked again, and costs nothing. How good the expectations are decides how far the level falls, never whether the
    statement is true. (A person who asks at random is covered: condition on the coins.)

Where it comes from, and how it differs from Thresholdout
    Thresholdout (Dwork et al. 2015) answers questions about means: with the training set's mean if the test set's is
    near, else with the test set's plus noise, which spends one of a budget. What is kept is the bargain: the training
    set answers, the test set only contradicts, and contradictions cost. What is not: there is no noise and no
    differential privacy, and the statement is about findings and intervals of any metric, not about means to within
    ±τ. The argument is the other one of the same paper, by description length, as in its SparseValidate, which counts
    transcripts with few positive answers; here they are weighted (as in Occam's bound) by what the training set
    expects. That a test set should say yes or no and nothing else is also the generic holdout of Błasiok and Nakkiran
    (2018).

    The reason is size. Thresholdout with m questions, up to k contradictions, T = 3τ/4 and noise σ = τ/(96 ln(4m/β))
    is ε-differentially private with ε = 2k/(σn), and what follows from that needs ε ≤ τ at the very least:
    n ≥ 192 k ln(4m/β) / τ² people (:func:`thresholdout_people`). For means to within ±5 points, twenty questions and
    one contradiction, that is over half a million. (Another form of the theorem has √k for k, and larger constants.)

Limits
    - What does not pass through a report is not counted: people of the test set looked at elsewhere, another source
      made of the same data, a metric of one's own that prints what it sees.
    - What is read off whole columns before anything is asked (kinds, values, how many are missing) is not counted
      either.
    - The level falls with every surprise. A p-value by permutation cannot fall below one over the number of draws, so
      metrics that are tested that way are confirmed in the first questions or not at all.
    - It is for one process: the count is kept in the source.

References
----------
C. Dwork, V. Feldman, M. Hardt, T. Pitassi, O. Reingold and A. Roth, "The reusable holdout: preserving validity in
adaptive data analysis", Science 349 (2015), 636–638; and "Generalization in adaptive data analysis and holdout
reuse", NeurIPS 2015.
J. Błasiok and P. Nakkiran, "The generic holdout: preventing false-discoveries in adaptive data science",
arXiv:1809.05596 (2018).
A. Blumer, A. Ehrenfeucht, D. Haussler and M. Warmuth, "Occam's razor", Information Processing Letters 24
(1987), 377–380.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import ceil, log
from typing import TYPE_CHECKING, Any

from fairtest.data.holdout import Budget
from fairtest.exceptions import BudgetExhausted, in_python, setting

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

LEAST_LEVEL = 1e-12
"""Below this, no p-value is trusted: its approximation has never been checked so far out."""


class ReusedSet(Budget):
    """A budget of questions to one test set, and what their answers have told about it.

    Parameters
    ----------
    size
        How many questions may be asked.
    alpha
        The probability of an error over all of them.

    Examples
    --------
    >>> budget = ReusedSet(10, alpha=0.05)
    >>> budget.level
    0.005
    >>> with budget.draw() as number:
    ...     budget.tell(2.0)
    >>> number, budget.left, budget.level
    (1, 9, 0.00125)
    """

    def __init__(self, size: int, alpha: float) -> None:
        super().__init__(size)
        self.alpha = alpha
        self.bits = 0.0
        self.answers: dict[Hashable, Any] = {}

    @property
    def level(self) -> float:
        """The level at which the next question is tested."""
        return float(self.alpha / self.size * 2.0**-self.bits)

    def check(self) -> None:
        """Raise if all questions have been asked, or their answers have revealed too much of the test set."""
        if not self.left:
            raise BudgetExhausted(
                f"The budget is exhausted: all {self.size} questions to the reusable test set have been asked. Give "
                f"{in_python('DataSource ')}a larger budget ({setting('budget', 2 * self.size)}) before the first "
                "question, or new data."
            )
        if self.level < LEAST_LEVEL:
            raise BudgetExhausted(
                f"The reusable test set is used up: its answers have told {self.bits:.1f} bits about it, and the next "
                f"question would have to be tested at level {self.level:.1g}, where p-values cannot be trusted "
                f"(at least {LEAST_LEVEL:g}). Bring new data; questions about fewer groups tell less."
            )

    @contextmanager
    def draw(self) -> Iterator[int]:
        """Take a question off the budget and return the number of the test set; given back if the block raises.

        Questions put at the same time do not hang on each other's answers: each is tested at the level before both.
        """
        with super().draw():
            yield 1

    def tell(self, bits: float, answers: Mapping[Hashable, Any] | None = None) -> None:
        """Note how much an answer has told, and what it says of each hypothesis, to be quoted when asked again."""
        with self._lock:
            self.bits += bits
            self.answers.update(answers or {})


def thresholdout_people(tolerance: float, questions: int, contradictions: int, error: float = 0.05) -> int:
    """Return how many people the published guarantee of Thresholdout needs at the very least.

    Examples
    --------
    >>> thresholdout_people(0.05, questions=20, contradictions=1)
    566612
    """
    return ceil(192 * contradictions * log(4 * questions / error) / tolerance**2)
