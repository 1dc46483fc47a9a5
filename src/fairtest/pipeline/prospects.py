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
from fairtest.pipeline.answers import make_settings, put
from fairtest.pipeline.choices import choose_correction
from fairtest.pipeline.search import engine_of
from fairtest.ranking.folding import fold
from fairtest.search.cuts import conditions_of
from fairtest.statistics.numerics.rules import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.source import DataSource
    from fairtest.inference.family import TestSettings
    from fairtest.inference.validate import Validated
    from fairtest.investigations.base import Investigation
    from fairtest.investigations.question import Question
    from fairtest.model.context import Context
    from fairtest.model.found import Found
    from fairtest.types import FloatArray

FIRST_SET = 1
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
    """

    question: Question
    looked_at: int
    proposed: int
    hypotheses: int
    shown: tuple[Prospect, ...]

    @property
    def left(self) -> int:
        """How many contexts have less evidence than those shown, and are no near-copies of them."""
        return self.proposed - len(self.shown) - sum(p.copies for p in self.shown)


def prospects(investigation: Investigation, correction: str | None = None, most: int = 40) -> list[Prospects]:
    """Return what training found for each question of an investigation, and what its test could confirm.

    Parameters
    ----------
    correction
        The one that the test will use; by default the usual one.
    most
        How many contexts to look at besides everybody.
    """
    source = investigation.source
    training = investigation.require_training("prospects")
    plan = TestingPlan.of({"correction": correction, "preset": training.plan.preset})
    chosen = choose_correction(plan, split=source.split)
    run = TestingRun(plan, FIRST_SET, source.level, chosen.name)
    settings = replace(make_settings(source, run, training.plan.min_size), number=TRAIN)
    pairs = list(zip(investigation.questions, training.found, strict=True))
    prior, expected, starts = _family(investigation, pairs, settings.train_share)
    found = []
    for (question, all_found), start in zip(pairs, starts, strict=True):
        groups = _strongest(source, all_found, most)
        at = np.array([group[0] for group in groups], dtype=np.int64)
        some = put(source, question, all_found.take(at))
        measured = measure(engine_of(source), [some], settings)[0]
        allowed = critical_p(chosen, expected, prior, settings.level, start + at)
        sizes = _detectable(measured, allowed, settings)
        sizes[~(sizes < question.metric.most)] = np.nan
        shown = (
            Prospect(
                context,
                _label(question, all_found, group[0]),
                int(n),
                _known(effect),
                float(z),
                _known(size),
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
        found.append(Prospects(question, all_found.looked_at, len(all_found.contexts), expected.size, tuple(shown)))
    return found


def _family(
    investigation: Investigation, pairs: Sequence[tuple[Question, Found]], share: float
) -> tuple[Prior, FloatArray, list[int]]:
    """Return what is known of all hypotheses, the p-values to expect, and where those of each question begin."""
    evidence, directed, chosen, starts, begin = [], [], [], [], 0
    for question, found in pairs:
        starts.append(begin)
        picked = [found.looked_at if len(context) else 1 for context in found.contexts]
        parts = [(found.evidence, found.sign != 0, np.array(picked))]
        if question.strata is not None:
            strata = put(investigation.source, question, found).strata_evidence
            number = len(found.contexts) * len(question.strata.levels)
            known = np.zeros(number) if strata is None else np.asarray(strata).ravel()
            parts.append((known, np.zeros(number, dtype=bool), np.full(number, max(found.looked_at, 1))))
        for known, has_sign, of in parts:
            evidence.append(np.nan_to_num(known))
            directed.append(has_sign)
            chosen.append(of)
            begin += known.size
    known = np.concatenate(evidence)
    prior = Prior(known, np.concatenate(directed).astype(float), share)
    return prior, expected_p(known, np.concatenate(chosen), share), starts


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
    return None if question.labels is None or found.outputs is None else question.labels.names[found.outputs[at]]


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


def _known(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
