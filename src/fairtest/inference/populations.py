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
from fairtest.inference.gaps import count_gaps, most_gaps
from fairtest.inference.hypotheses import context_batch, count_hypotheses
from fairtest.inference.multiplicity.corrections import corrections
from fairtest.inference.multiplicity.gates import Gates, adjust_populations, holm
from fairtest.progress import silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.summaries import Summary
    from fairtest.engine.contract import Engine
    from fairtest.inference.asked import Asked
    from fairtest.inference.family import Estimates, TestSettings
    from fairtest.inference.gaps import Gaps
    from fairtest.types import FloatArray


@dataclass(frozen=True, eq=False)
class Population:
    """The answer about the whole population of one question, on people of its own.

    ``gaps`` are those of several groups to the reference group, with their corrected p-values; None for two groups.
    """

    asked: Asked
    summary: Summary
    estimates: Estimates
    gaps: Gaps | None = None
    gaps_p: FloatArray | None = None


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
    def gates(self) -> Gates:
        """What of the level they have passed on."""
        members = sum(bool(a.estimates.tested[0]) for a in self.answers)
        p = [float(a.estimates.p[0]) for a in self.answers]
        return Gates.of(self.share, p, [a.gaps_p for a in self.answers], members)

    def left_for_contexts(self, level: float) -> float:
        """Return the level that is left for contexts."""
        return self.gates.level_for_contexts(level) if self.answers else level

    def recycled(self, p: FloatArray) -> FloatArray:
        """Return the p-values of contexts as they are compared with the level of the whole set."""
        return self.gates.pass_on(p) if self.answers else p


def test_populations(engine: Engine, asked: Sequence[Asked], settings: TestSettings) -> Populations:
    """Test whole populations by Holm's procedure with their share of the level."""
    own = [a for a in asked if a.population_set is not None]
    share = settings.population_share
    if not own:
        return Populations((), share)
    level = share * settings.level
    members, summaries, gaps = [], [], []
    for a in own:
        assert a.population_set is not None
        here = replace(settings, number=a.population_set)
        with in_question(a.title):
            everybody = a.everybody()
            joint = settings.correction.joint
            summaries.append(count_hypotheses(engine, everybody, a.population_set, joint=joint))
            batch = context_batch(engine, everybody, summaries[-1], here)
            members.append(make_member(batch, level / len(own), settings, everybody, weighted=False))
            gaps.append(count_gaps(engine, everybody, a.population_set, joint=joint) if most_gaps(a) else None)
    at_share = replace(settings, level=level, correction=corrections["holm"])
    prior = prior_of(members, at_share)
    draw_p_values(members, prior, at_share, silent)
    raw = np.array([m.p[0] for m in members])
    keeps = np.array([g is not None and len(g) > 0 for g in gaps])
    corrected = np.minimum(adjust_populations(raw, keeps) / max(share, 1e-300), 1.0)
    m = max(int(np.count_nonzero(~np.isnan(raw))), 1)
    answers = []
    for a, summary, member, gap, p in zip(own, summaries, members, gaps, corrected, strict=True):
        # its own interval and those of the gaps share the level of a population
        each = np.array([level / m / (1 + (0 if gap is None else len(gap)))])
        estimates = estimate_member(member, np.array([p]), each, np.zeros(1, dtype=int), settings.level, silent)
        own_gaps = None if gap is None else np.maximum(np.minimum(holm(gap.p) * m / max(share, 1e-300), 1.0), p)
        answers.append(Population(a, summary, estimates, gap, own_gaps if gap is not None and len(gap) else None))
    return Populations(tuple(answers), share)


test_populations.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name
