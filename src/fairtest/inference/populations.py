"""Whole populations, which have a level and people of their own: the question as the user asked it, first.

A question that was named before anything was shown of these people may be put to the people of the training set too:
nothing about it was chosen by looking at them. Groups of people are chosen on the training set, and may not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.exceptions import in_question
from fairtest.inference.family import draw_p_values, estimate_member, make_member, prior_of
from fairtest.inference.hypotheses import context_batch, count_hypotheses
from fairtest.inference.multiplicity.corrections import corrections
from fairtest.progress import silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.summaries import Summary
    from fairtest.engine.contract import Engine
    from fairtest.inference.asked import Asked
    from fairtest.inference.family import Estimates, TestSettings
    from fairtest.types import FloatArray


@dataclass(frozen=True, eq=False)
class Population:
    """The answer about the whole population of one question, on people of its own."""

    asked: Asked
    summary: Summary
    estimates: Estimates


@dataclass(frozen=True, eq=False)
class Populations:
    """The whole populations that have a level of their own.

    Attributes
    ----------
    share
        Their share of the level of the set.
    """

    answers: tuple[Population, ...]
    share: float

    def of(self, asked: Asked) -> Population | None:
        """Return the answer about a question's population, or None if it has no level of its own."""
        return next((answer for answer in self.answers if answer.asked is asked), None)

    @property
    def largest_p(self) -> float:
        """The largest of their corrected p-values; 0 where there are none."""
        return float(max((np.nan_to_num(a.estimates.p[0], nan=1.0) for a in self.answers), default=0.0))

    def left_for_contexts(self, level: float) -> float:
        """Return the level that is left for contexts."""
        return level if self.largest_p <= level else (1 - self.share) * level

    def recycled(self, p: FloatArray) -> FloatArray:
        r"""Return the p-values of contexts as they are compared with the level of the whole set.

        With κ corrected among the contexts, s the populations' share and P their corrected p-values, it is
        :math:`\min\{κ/(1 − s), \max(κ, \max P)\}`. Why it is valid: if a population without association is among them,
        contexts get the whole level only once it has been rejected, which is an error that s·α allows; if none is,
        only contexts can be false findings, and they have α.
        """
        if not self.answers:
            return p
        alone = p / (1 - self.share) if self.share < 1 else np.full_like(p, np.inf)
        return np.minimum(np.minimum(alone, np.maximum(p, self.largest_p)), np.where(np.isnan(p), np.nan, 1.0))


def test_populations(engine: Engine, asked: Sequence[Asked], settings: TestSettings) -> Populations:
    """Test whole populations by Holm's procedure with their share of the level."""
    own = [a for a in asked if a.population_set is not None]
    share = settings.population_share
    if not own:
        return Populations((), share)
    level = share * settings.level
    members, summaries = [], []
    for a in own:
        assert a.population_set is not None
        here = replace(settings, number=a.population_set)
        with in_question(a.title):
            everybody = a.everybody()
            joint = settings.correction.joint
            summaries.append(count_hypotheses(engine, everybody, a.population_set, joint=joint))
            batch = context_batch(engine, everybody, summaries[-1], here)
            summaries[-1] = batch.summary
            members.append(make_member(batch, level / len(own), settings, everybody, weighted=False))
    at_share = replace(settings, level=level, correction=corrections["holm"])
    prior = prior_of(members, at_share)
    draw_p_values(members, prior, at_share, silent)
    raw = np.array([m.p[0] for m in members])
    corrected = np.minimum(at_share.correction.adjust(raw, prior) / max(share, 1e-300), 1.0)
    each = level / max(int(np.count_nonzero(~np.isnan(raw))), 1)
    answers = []
    for a, summary, member, p in zip(own, summaries, members, corrected, strict=True):
        estimates = estimate_member(
            member, np.array([p]), np.array([each]), np.zeros(1, dtype=int), settings.level, silent
        )
        answers.append(Population(a, summary, estimates))
    return Populations(tuple(answers), share)


test_populations.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name
