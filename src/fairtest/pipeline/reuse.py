"""The validation stage on a reusable test set: the training set speaks, the test set confirms or does not.

Everything in the findings made here hangs on the training set and on the answers (:class:`Said`) only, so that a report
tells no more about the test set than what is counted: see :mod:`fairtest.data.reuse`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.holdout import TRAIN
from fairtest.data.reuse import ReusedSet
from fairtest.exceptions import InputError, the
from fairtest.inference.agreement import (
    add_intervals,
    bits_told,
    expectations,
    likely_real,
    proposal_level,
    read_answers,
)
from fairtest.inference.describe import Describer
from fairtest.inference.multiplicity.corrections import FALSE_DISCOVERY
from fairtest.inference.validate import measure, validate
from fairtest.model.report import Reuse
from fairtest.model.results import AttributeResult
from fairtest.pipeline.answers import count_left_out, make_settings
from fairtest.pipeline.search import engine_of, known_contexts
from fairtest.progress import silent
from fairtest.ranking.folding import fold
from fairtest.ranking.reported import reported
from fairtest.search.cuts import conditions_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from fairtest.data.source import DataSource
    from fairtest.inference.agreement import Answer, Expected
    from fairtest.inference.asked import Asked
    from fairtest.inference.family import TestSettings
    from fairtest.inference.multiplicity.corrections import Correction
    from fairtest.inference.validate import Validated
    from fairtest.model.finding import Finding
    from fairtest.model.found import Found
    from fairtest.model.plans import TestingRun
    from fairtest.progress import Progress

SHORT_LIST = 10
"""How many groups are put to a reusable test set for each protected attribute: every answer tells something."""
CANDIDATES = 200
"""Among how many of the strongest those are chosen, near-copies left out."""


def check_reusable(source: DataSource, correction: Correction, tolerance: float | None) -> None:
    """Raise for choices that a reusable test set cannot keep its promise with."""
    if not source.reuse:
        return
    if correction.controls is FALSE_DISCOVERY:
        raise InputError(
            f"The correction {correction.name!r} bounds the share of false findings, and reuse=True promises that "
            "there is none. Use 'pooled', 'holm', 'weighted-holm' or 'bonferroni'."
        )
    if tolerance is not None:
        raise InputError(
            f"{the('tolerance', article='A')} needs an interval from the test set for every group, and a reusable one "
            "(reuse=True) gives intervals only of what it confirms. Take out the tolerance, or use disjoint test sets "
            "(reuse=False)."
        )


def make_short_list(source: DataSource, found: Found) -> Found:
    """Return the population and the few contexts that the training set speaks for most.

    Near-copies are left out, and contexts within one that it speaks for more: their answers would tell about the test
    set what is known already.
    """
    order = np.array([0, *np.argsort(-found.evidence[1:], kind="stable")[:CANDIDATES] + 1])
    engine = engine_of(source)
    contexts = [found.contexts[i] for i in order]
    members = engine.members(TRAIN, conditions_of(contexts, engine.axis))
    leaders: list[int] = []
    for i, *_ in fold(contexts, members, found.sign[order], found.evidence[order])[1:]:
        if not any(contexts[j].contains(contexts[i]) for j in leaders):
            leaders.append(i)
    at = order[[0, *leaders[:SHORT_LIST]]]
    return replace(found.take(at), guided=frozenset())


def answer_from_reused_set(
    source: DataSource,
    asked: Sequence[Asked],
    looked_at: Sequence[int],
    run: TestingRun,
    min_size: int,
    progress: Progress = silent,
) -> tuple[list[AttributeResult], Reuse]:
    """Put everything asked to the test set, as one family, and note what the answer tells."""
    budget = _reused_set(source)
    before, question = budget.bits, budget.size - budget.left
    settings = replace(make_settings(source, run, min_size), stratum_people=np.inf)
    expected = _expect_answers(source, asked, looked_at, settings)
    proposed = _measure_training(source, asked, settings)
    tested = validate(engine_of(source), asked, settings, progress)
    answers = [
        _quote_or_state(source, train, test, settings.level) for test, train in zip(tested, proposed, strict=True)
    ]
    results = [_describe_answers(source, v, a, run) for v, a in zip(proposed, answers, strict=True)]
    given = [a for each in answers for a in each]
    bits = bits_told(np.array([a.said for a in given]), expected)
    progress(1.0)  # whoever wants to stop the test can do so before anything is told, not after
    budget.tell(bits, dict(zip(_hypothesis_keys(source, asked), given, strict=True)))
    return results, Reuse(question, budget.left, before, bits, budget.level)


def _reused_set(source: DataSource) -> ReusedSet:
    assert isinstance(source.budget, ReusedSet)
    return source.budget


def _quote_or_state(source: DataSource, proposed: Validated, tested: Validated, level: float) -> list[Answer]:
    """Return what the test set says of each context; what it has confirmed before is quoted."""
    answers_before = _reused_set(source).answers
    before = [answers_before.get(key) for key in _hypothesis_keys(source, [proposed.asked])]
    now = read_answers(tested.contexts, proposed.contexts, level, signed=tested.asked.question.metric.signed)
    return [
        old if old is not None and old.confirmed else new
        for old, new in zip(before, add_intervals(now, proposed.contexts), strict=True)
    ]


def _expect_answers(
    source: DataSource, asked: Sequence[Asked], looked_at: Sequence[int], settings: TestSettings
) -> Expected:
    """Return what the training set, and answers to the same questions before, lead one to expect."""
    answers_before = _reused_set(source).answers
    evidence = [known_contexts(source, a.question, a.contexts).evidence for a in asked]
    real = [likely_real(z, n) for z, n in zip(evidence, looked_at, strict=True)]
    before = [answers_before.get(key) for key in _hypothesis_keys(source, asked)]
    known = np.array([np.nan if a is None else float(a.confirmed) for a in before])
    return expectations(np.concatenate(evidence), np.concatenate(real), known, settings.level, settings.train_share)


def _hypothesis_keys(source: DataSource, asked: Sequence[Asked]) -> list[Hashable]:
    """Return by what each hypothesis is known when it is asked again: the columns, not their names."""
    names: list[Hashable] = []
    for a in asked:
        q, columns = a.question, source.table.columns
        parts = (q.protected, q.output, *(() if q.strata is None else (q.strata,)))
        roles = tuple(tuple(columns[c] for c in v.columns) for v in parts)
        names += [
            (q.metric, roles, context, tuple(columns[c] for c in sorted(context.columns))) for context in a.contexts
        ]
    return names


def _measure_training(source: DataSource, asked: Sequence[Asked], settings: TestSettings) -> list[Validated]:
    """Return what the training set says, with intervals so wide that the test set is likely to confirm them."""
    level = proposal_level(settings.level, sum(len(a.contexts) for a in asked), settings.train_share)
    return measure(engine_of(source), asked, replace(settings, number=TRAIN, level=level))


def _describe_answers(
    source: DataSource, proposed: Validated, answers: Sequence[Answer], run: TestingRun
) -> AttributeResult:
    engine = engine_of(source)
    asked, train = proposed.asked, proposed.contexts
    metric = asked.question.metric
    describer = Describer(engine, source, TRAIN, run.level, proposed)
    confirmed = np.array([a.confirmed for a in answers])

    def restate(finding: Finding, answer: Answer) -> Finding:
        return replace(
            finding,
            interval=answer.interval,
            interval_single=None,
            significant=answer.confirmed,
            ratio_interval=None,
            gap_interval=None,
            strata=tuple(replace(s, interval_single=None) for s in finding.strata),
        )

    sign = np.sign(train.effect) if metric.signed else np.ones(len(train.effect))
    order = reported(asked.contexts, confirmed, sign, metric.strength(train.effect), train.size.astype(float))
    missing, outside = count_left_out(engine, TRAIN, asked)
    shown = [0, *order]
    rest = [i for i in range(len(answers)) if i not in shown]
    population, *findings = (restate(f, answers[i]) for i, f in zip(shown, describer.findings(shown), strict=True))
    return AttributeResult(
        tested=len(asked.contexts),
        untestable=int(np.isnan(train.effect).sum()),
        significant_contexts=tuple(asked.contexts[i] for i in np.flatnonzero(confirmed)),
        significant_strata=0,
        left_out=missing,
        outside=outside,
        population=population,
        findings=tuple(findings),
        others=tuple(
            replace(other, interval=answers[i].interval, p_value=None, significant=answers[i].confirmed)
            for i, other in zip(rest, describer.others(rest), strict=True)
        ),
    )
