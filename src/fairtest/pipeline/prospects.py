"""What training found and how large a disparity the test set could confirm, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.holdout import TRAIN
from fairtest.inference.multiplicity.prior import Prior
from fairtest.inference.power import critical_p, detectable_signed, detectable_unsigned, expected_p
from fairtest.inference.validate import measure
from fairtest.model.plans import TestingPlan, TestingRun
from fairtest.pipeline.answers import make_settings, pose_question
from fairtest.pipeline.choices import choose_correction
from fairtest.pipeline.search import engine_of
from fairtest.ranking.folding import fold
from fairtest.search.cuts import conditions_of
from fairtest.statistics.numerics.rules import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.source import DataSource
    from fairtest.inference.family import TestSettings
    from fairtest.inference.multiplicity.corrections import Correction
    from fairtest.inference.validate import Validated
    from fairtest.investigations.base import Investigation
    from fairtest.investigations.question import Question
    from fairtest.model.context import Context
    from fairtest.model.found import Found
    from fairtest.types import FloatArray, IntArray

FIRST_SET = 1
STRATUM_DEPTH = 1_000
"""Strata are a depth of their own where levels are divided by depth, as in the test."""
COPIES = 10
"""How many contexts are looked at for each one shown: most are near-copies of others."""


@dataclass(frozen=True)
class Prospect:
    """A context that the search proposes. All numbers are of the training set, but the last.

    Attributes
    ----------
    label
        For Discovery: which label; None otherwise.
    evidence
        Standard deviations from no association.
    detectable
        How large an effect there the test set would confirm with a chance of 80 %; None where no effect is so large,
        or it cannot be said.
    copies
        How many other contexts hold nearly the same people, with less evidence.
    """

    context: Context
    label: str | None
    size: int
    effect: float | None
    evidence: float
    detectable: float | None
    copies: int = 0


@dataclass(frozen=True)
class Prospects:
    """What training found for one question: everybody first, then the contexts with the most evidence.

    Near-copies of a context are folded into it.

    Attributes
    ----------
    proposed
        How many contexts would be tested, the population included; for Discovery, labels times contexts.
    hypotheses
        How many hypotheses the test set would be asked together, those of the other questions included.
    population_share
        The share of the level that whole populations have for themselves; 0 where they are tested among the others.
    """

    question: Question
    looked_at: int
    proposed: int
    hypotheses: int
    shown: tuple[Prospect, ...]
    population_share: float = 0.0

    @property
    def left(self) -> int:
        """How many contexts have less evidence than those shown, and are no near-copies of them."""
        return self.proposed - len(self.shown) - sum(p.copies for p in self.shown)


def prospects(
    investigation: Investigation,
    correction: str | None = None,
    most: int = 40,
    population_share: float | None = None,
) -> list[Prospects]:
    """Return what training found for each question of an investigation, and what its test could confirm.

    Who has seen this may choose what to test by it. So from here on the whole population of this investigation, and of
    those made later on the same source, is tested on the test set alone.

    Parameters
    ----------
    correction, population_share
        Those that the test will use; by default the usual ones.
    most
        How many contexts to look at besides everybody.
    """
    source = investigation.source
    training = investigation.require_training("prospects")
    plan = TestingPlan.of(
        {"correction": correction, "population_share": population_share, "preset": training.plan.preset}
    )
    chosen = choose_correction(plan, split=source.split)
    run = TestingRun(plan, FIRST_SET, source.level, chosen.name)
    settings = replace(make_settings(source, run, training.plan.min_size), number=TRAIN)
    pairs = list(zip(investigation.questions, training.found, strict=True))
    levels = Levels.of(investigation, settings)
    prior, expected, starts = _family(investigation, pairs, settings.train_share, own=levels.populations > 0)
    hypotheses = int(np.count_nonzero(~np.isnan(expected))) + levels.populations
    found = []
    for (question, all_found), start in zip(pairs, starts, strict=True):
        groups = _strongest(source, all_found, most)
        at = np.array([group[0] for group in groups], dtype=np.int64)
        some = pose_question(source, question, all_found.take(at))
        measured = measure(engine_of(source), [some], settings)[0]
        allowed = levels.critical(chosen, expected, prior, start + at, at)
        sizes = _detectable(measured, allowed, settings)
        sizes[~(sizes < question.metric.most)] = np.nan
        shown = (
            Prospect(
                context,
                _label(question, all_found, group[0]),
                int(n),
                _finite(effect),
                float(z),
                _finite(size),
                len(group) - 1,
            )
            for context, n, effect, z, size, group in zip(
                some.contexts,
                measured.contexts.size,
                measured.contexts.effect,
                all_found.evidence[at],
                sizes,
                groups,
                strict=True,
            )
        )
        found.append(
            Prospects(
                question,
                all_found.looked_at,
                len(all_found.contexts),
                hypotheses,
                tuple(shown),
                settings.population_share if levels.populations else 0.0,
            )
        )
    investigation.named = False  # whether it is tested may be decided by what is shown here
    source.budget.mark_shown()
    return found


@dataclass(frozen=True)
class Levels:
    """How the level of the test set is divided: ``populations`` whole populations share the first, contexts the other.

    Where no population has a level of its own, they are members of the family of contexts.
    """

    population: float
    contexts: float
    populations: int

    @classmethod
    def of(cls, investigation: Investigation, settings: TestSettings) -> Levels:
        """Return the levels for the questions of an investigation; labels have no population of their own."""
        share, own = settings.population_share, sum(q.population_first for q in investigation.questions)
        if not share or not own:
            return cls(0.0, settings.level, 0)
        return cls(share * settings.level, (1 - share) * settings.level, own)

    def critical(
        self, correction: Correction, expected: FloatArray, prior: Prior, at: IntArray, contexts: IntArray
    ) -> FloatArray:
        """Return the critical p-values of hypotheses ``at`` places of the family: ``contexts`` of their question."""
        if not self.populations:
            return critical_p(correction, expected, prior, self.contexts, at)
        critical = np.full(at.size, self.population / self.populations)
        inside = contexts > 0
        critical[inside] = critical_p(correction, expected, prior, self.contexts, at[inside])
        return critical


def _family(
    investigation: Investigation, pairs: Sequence[tuple[Question, Found]], share: float, *, own: bool
) -> tuple[Prior, FloatArray, list[int]]:
    """Return what is known of all hypotheses, the p-values to expect, and where those of each question begin.

    Whole populations with a level of their own are no members: nothing is expected of them (NaN).
    """
    evidence, directed, chosen, depth, starts, begin = [], [], [], [], [], 0
    for question, found in pairs:
        starts.append(begin)
        depths = np.array([len(context) for context in found.contexts])
        parts = [(found.evidence, found.sign != 0, np.where(depths, found.looked_at, 1), depths)]
        if question.strata is not None:
            strata = pose_question(investigation.source, question, found).strata_evidence
            number = len(found.contexts) * len(question.strata.levels)
            known = np.zeros(number) if strata is None else np.asarray(strata).ravel()
            of_all = np.full(number, max(found.looked_at, 1))
            parts.append((known, np.zeros(number, dtype=bool), of_all, np.full(number, STRATUM_DEPTH)))
        for known, has_sign, of, how_deep in parts:
            evidence.append(np.nan_to_num(known))
            directed.append(has_sign)
            chosen.append(of)
            depth.append(how_deep)
            begin += known.size
    known = np.concatenate(evidence)
    prior = Prior(known, np.concatenate(directed).astype(float), share, np.concatenate(depth))
    expected = expected_p(known, np.concatenate(chosen), share)
    if own:
        expected[starts] = np.nan
    return prior, expected, starts


def _strongest(source: DataSource, found: Found, most: int) -> list[list[int]]:
    """Return the population and the contexts with the most evidence, each followed by its near-copies.

    By evidence, and not by the lower bound of the effect as in reports: it is what the test goes by, and what the table
    shows. Contexts are led by the strongest of them, not by the simplest as in reports: nothing is confirmed yet.
    """
    if found.outputs is not None:
        return [[i] for i in np.argsort(-found.evidence, kind="stable")[:most].tolist()]
    names = [str(context) for context in found.contexts]
    order = sorted(range(1, len(names)), key=lambda i: (-found.evidence[i], names[i]))[: most * COPIES]
    if not order:
        return [[0]]
    engine = engine_of(source)
    contexts = [found.contexts[i] for i in order]
    members = engine.members(TRAIN, conditions_of(contexts, engine.axis))
    folded = fold(contexts, members, found.sign[order], found.evidence[order])
    groups = sorted(sorted(group) for group in folded)
    return [[0], *([order[i] for i in group] for group in groups[:most])]


def _label(question: Question, found: Found, at: int) -> str | None:
    return None if found.outputs is None else question.output_names[found.outputs[at]]


def _detectable(measured: Validated, allowed: FloatArray, settings: TestSettings) -> FloatArray:
    """Return the effect that the test set would confirm in each context with a chance of 80 %."""
    metric = measured.asked.question.metric
    more = settings.train_share / (1 - settings.train_share)  # people of the training set for one of the test set
    train = measured.contexts
    with np.errstate(invalid="ignore", divide="ignore"):
        if metric.signed:
            z, additive = float(normal_quantile(settings.level)), metric.additive
            width = additive.forth(train.high_single) - additive.forth(train.low_single)
            return np.array(additive.back(detectable_signed(allowed, width / (2 * z) * np.sqrt(more))))
        evidence = None if metric.evidence is None else metric.evidence(measured.summary)
        if evidence is None or evidence.statistic is None or evidence.df is None:
            return np.full(len(allowed), np.nan)
        noncentrality = detectable_unsigned(allowed, evidence.df)
        return np.array(noncentrality * more * train.effect / evidence.statistic)


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
