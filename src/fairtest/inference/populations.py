"""Whole populations, which have a level and people of their own: the question as the user asked it, first.

A question that was named before anything was shown of these people may be put to the people of the training set too:
nothing about it was chosen by looking at them. So may the strata of such a population: the explanatory attributes were
named with it. Groups of people are chosen on the training set, and may not.

Populations, their strata and the contexts share the level of the set, each with a part that is fixed beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.exceptions import in_question
from fairtest.inference.family import draw_p_values, estimate_member, make_member, prior_of
from fairtest.inference.gaps import count_gaps, most_gaps
from fairtest.inference.hypotheses import context_batch, count_hypotheses, stratum_batch
from fairtest.inference.multiplicity.corrections import corrections
from fairtest.inference.multiplicity.gates import Gates, adjust_populations, holm
from fairtest.inference.second_look import look_again
from fairtest.progress import silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.data.summaries import Summary
    from fairtest.engine.contract import Engine
    from fairtest.inference.asked import Asked
    from fairtest.inference.family import Estimates, Member, TestSettings
    from fairtest.inference.gaps import Gaps
    from fairtest.metrics.batch import Batch
    from fairtest.types import FloatArray

STRATA_SHARE = 0.2
"""Which part of what populations leave of the level is for their strata; contexts have the rest."""


@dataclass(frozen=True, eq=False)
class Population:
    """The answer about the whole population of one question, on people of its own, and about its strata, if any.

    ``gaps`` are those of several groups to the reference group, with their corrected p-values; None for two groups.
    """

    asked: Asked
    summary: Summary
    estimates: Estimates
    strata: Estimates | None = None
    gaps: Gaps | None = None
    gaps_p: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Populations:
    """The whole populations that have a level of their own.

    Attributes
    ----------
    share
        Their share of the level of the set.
    strata_share
        Which part of what they leave is for their strata; 0 where they have none, 1 where there can be no contexts.
    """

    answers: tuple[Population, ...]
    share: float
    strata_share: float = 0.0

    def of(self, asked: Asked) -> Population | None:
        """Return the answer about a question's population, or None if it has no level of its own."""
        return next((answer for answer in self.answers if answer.asked is asked), None)

    @property
    def gates(self) -> Gates:
        """What of the level they have passed on."""
        p = [float(a.estimates.p[0]) for a in self.answers]
        return Gates.of(self.share, p, [a.gaps_p for a in self.answers])

    @property
    def contexts_share(self) -> float:
        """Which part of what populations leave is for contexts; where there can be none, nobody uses it."""
        return 1 - self.strata_share if self.strata_share < 1 else 1.0

    def left_for_contexts(self, level: float) -> float:
        """Return the level that is left for contexts."""
        return self.contexts_share * self._left(level)

    def left_for_strata(self, level: float) -> float:
        """Return the level that is left for the strata of populations."""
        return self.strata_share * self._left(level)

    def _left(self, level: float) -> float:
        return self.gates.level_for_contexts(level) if self.answers else level

    def certain_for_contexts(self, level: float) -> float:
        """Return the level that contexts have whether or not populations are confirmed."""
        return self.contexts_share * (1 - self.share) * level if self.answers else level

    def recycle_contexts(self, p: FloatArray) -> FloatArray:
        """Return the p-values of contexts, corrected among them, as they are compared with the level of the set."""
        return self._recycle(p, self.contexts_share)

    def recycle_strata(self, p: FloatArray) -> FloatArray:
        """Return the p-values of strata, corrected among them, as they are compared with the level of the set."""
        return self._recycle(p, self.strata_share)

    def _recycle(self, p: FloatArray, part: float) -> FloatArray:
        """Return p-values of a family that has a part of what populations leave; the parts add up to all of it."""
        return self.gates.pass_on(p / part) if self.answers else p


def test_populations(engine: Engine, asked: Sequence[Asked], settings: TestSettings) -> Populations:
    """Test whole populations by Holm's procedure with their share of the level, then their strata with theirs."""
    own = [a for a in asked if a.population_set is not None]
    share = settings.population_share
    if not own:
        return Populations((), share)
    level = share * settings.level
    batches, members, gaps = [], [], []
    for a in own:
        assert a.population_set is not None
        with in_question(a.title):
            everybody = a.everybody()
            summary = count_hypotheses(engine, everybody, a.population_set, joint=settings.correction.joint)
            batch = context_batch(engine, everybody, summary, replace(settings, number=a.population_set))
            batches.append(batch)
            members.append(make_member(batch, level / len(own), settings, everybody, weighted=False))
            how = {"joint": settings.correction.joint, "by_person": settings.design is not None}
            gaps.append(count_gaps(engine, everybody, a.population_set, **how) if most_gaps(a) else None)
    _correct_by_holm(members, level, settings)  # draws what has to be drawn
    raw = np.array([member.p[0] for member in members])
    keeps = np.array([gap is not None and len(gap) > 0 for gap in gaps])
    corrected = np.minimum(adjust_populations(raw, keeps) / max(share, 1e-300), 1.0)
    m = max(int(np.count_nonzero(~np.isnan(raw))), 1)
    # the interval of a population and those of its gaps share a level
    shared = [1 + (0 if gap is None else len(gap)) for gap in gaps]
    estimated = _estimate(members, [corrected[i : i + 1] for i in range(len(own))], level, settings, shared)
    answers = []
    for a, batch, estimates, gap, p in zip(own, batches, estimated, gaps, corrected, strict=True):
        gaps_p = None
        if gap is not None and len(gap):
            gaps_p = np.maximum(np.minimum(holm(gap.p) * m / max(share, 1e-300), 1.0), p)
        answers.append(Population(a, batch.summary, estimates, gaps=gap, gaps_p=gaps_p))
    populations = Populations(tuple(answers), share)
    # fixed beforehand, and so the same whatever training proposes
    contextual = any(a.question.contextual for a in asked)
    return _with_strata(engine, populations, batches, settings, STRATA_SHARE if contextual else 1.0)


test_populations.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name


def _with_strata(
    engine: Engine, populations: Populations, batches: Sequence[Batch], settings: TestSettings, share: float
) -> Populations:
    """Return populations with the answers about their strata, on the same people."""
    places = [i for i, answer in enumerate(populations.answers) if answer.asked.target.strata is not None]
    if not places:
        return populations
    populations = replace(populations, strata_share=share)
    answers = list(populations.answers)
    level = populations.left_for_strata(settings.level)
    smallest = level / sum(answers[i].asked.n_strata for i in places)
    members = []
    for i in places:
        everybody, number = answers[i].asked.everybody(), answers[i].asked.population_set
        with in_question(everybody.title):
            strata = stratum_batch(engine, batches[i], everybody, replace(settings, number=number or settings.number))
            members.append(make_member(strata, smallest, settings.for_set(number), everybody, everybody.n_strata))
    corrected = [populations.recycle_strata(p) for p in _correct_by_holm(members, level, settings)]
    certain = share * (1 - populations.share) * settings.level
    for i, estimates in zip(places, _estimate(members, corrected, certain, settings), strict=True):
        answers[i] = replace(answers[i], strata=estimates)
    return replace(populations, answers=tuple(answers))


def _correct_by_holm(members: Sequence[Member], level: float, settings: TestSettings) -> list[FloatArray]:
    """Return the p-values of some hypotheses, drawn as finely as a decision at the level needs, corrected together."""
    here = replace(settings, level=level, correction=corrections["holm"])
    prior = prior_of(members, here)
    draw_p_values(members, prior, here, silent)
    look_again(members, prior, here)
    adjusted = here.correction.adjust(np.concatenate([m.p for m in members]), prior)
    return np.split(adjusted, np.cumsum([len(m.p) for m in members])[:-1])


def _estimate(
    members: Sequence[Member],
    corrected: Sequence[FloatArray],
    level: float,
    settings: TestSettings,
    shared: Sequence[int] | None = None,
) -> Iterator[Estimates]:
    """Yield the numbers of hypotheses whose simultaneous intervals share a level.

    ``shared`` is among how many intervals the part of each member is divided.
    """
    each = level / max(sum(int(np.count_nonzero(~np.isnan(m.p))) for m in members), 1)
    for member, p, among in zip(members, corrected, shared or [1] * len(members), strict=True):
        yield estimate_member(member, p, np.full(len(p), each / among), np.arange(len(p)), settings.level, silent)
