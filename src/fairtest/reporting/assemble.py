"""Making a report from an investigation and its results."""

from __future__ import annotations

import platform
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from fairtest.investigations.column_notes import strata_names
from fairtest.model.answer import AttributeAnswer
from fairtest.model.comparison import FEWEST_COMPARED, spoken_of
from fairtest.model.described_data import DataInfo, DesignInfo
from fairtest.model.report import AttributeReport, Report, Settings
from fairtest.reporting.words.everybody import detectable_note, sign_note
from fairtest.reporting.words.sentences import is_clear, sentence, tolerance_words
from fairtest.reporting.words.simpson import simpson_note
from fairtest.types import Kind
from fairtest.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.data.source import DataSource
    from fairtest.data.variables import Variable
    from fairtest.investigations.base import Investigation
    from fairtest.investigations.question import Question
    from fairtest.model.finding import Finding
    from fairtest.model.names import Names
    from fairtest.model.results import AttributeResult, Results
    from fairtest.types import Level


def assemble(investigation: Investigation, results: Results) -> Report:
    """Return the report of an investigation."""
    return Report(
        version=__version__,
        kind=investigation.kind,
        output=investigation.output_name,
        favourable=_choose_favourable(investigation.output.kind, investigation.output.levels),
        favourable_is=investigation.favourable_is,
        explanatory=investigation.explanatory,
        explains=results.explains,
        not_asked_again=results.not_asked_again,
        data=_data(investigation, results.test.number),
        settings=_settings(investigation, results),
        attributes=tuple(
            _attribute(investigation, question, found, looked_at, results)
            for question, found, looked_at in zip(
                investigation.questions, results.attributes, results.looked_at, strict=True
            )
        ),
        family=results.family,
        notes=results.notes,
        warnings=investigation.warnings,
        reuse=results.test.reuse,
        errors=investigation.error_note,
        labels=investigation.label_settings,
        names=investigation.names,
        versions=(("Python", platform.python_version()), ("NumPy", np.__version__), ("SciPy", scipy.__version__)),
    )


def _choose_favourable(kind: Kind, levels: tuple[Level, ...]) -> Level | None:
    return levels[1] if kind is Kind.BINARY else None


def _attribute(
    investigation: Investigation, question: Question, found: AttributeResult, looked_at: int, results: Results
) -> AttributeReport:
    level, settings = results.test.level, _settings(investigation, results)
    protected = question.protected
    names, given = investigation.names, strata_names(investigation.strata)

    def add_words(finding: Finding, *more_notes: str) -> Finding:
        population = found.parts[finding.output].population if found.parts else found.population
        words = sentence(finding, population, explanatory=given, names=names, least=FEWEST_COMPARED)
        tolerance = tolerance_words(finding, results.test.plan.tolerance)
        turned = simpson_note(finding, names)
        return replace(finding, sentence=words, notes=(*finding.notes, *tolerance, *turned, *more_notes))

    shown = found.findings if found.labels else (found.population, *found.findings)
    shown_strata = sum(is_clear(stratum, level) for finding in shown for stratum in finding.strata)
    notes = (*sign_note(settings, found.population), *_detectable_notes(found, names))
    answer: dict[str, Any] = {each.name: getattr(found, each.name) for each in fields(AttributeAnswer)} | {
        "population": add_words(found.population, *notes),
        "findings": tuple(add_words(f) for f in _in_order(found.findings)),
        "labels": tuple(add_words(f) for f in found.labels),
    }
    return AttributeReport(
        name=protected.name,
        reference=_reference(protected, found.population),
        groups=protected.levels or None,
        metric=question.metric.name,
        looked_at=looked_at,
        significant=len(found.significant_contexts),
        reported=sum(f.significant for f in shown),
        strata_shown=shown_strata,
        **answer,
    )


def _reference(protected: Variable, population: Finding) -> Level | None:
    """Return the group that others are compared with; None where none is."""
    if protected.kind is Kind.BINARY:
        return protected.levels[0]
    comparison = spoken_of(population.comparisons)
    return None if comparison is None else comparison.reference


def _detectable_notes(found: AttributeResult, names: Names) -> tuple[str, ...]:
    """Return how large an effect would have been seen: over everybody if none was, in groups if none is shown."""
    inside = None if any(len(f.context) for f in found.findings) else found.detectable_inside
    return detectable_note(found.population, found.detectable, inside, names)


def _in_order(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return findings as they are read: each followed by those inside it, otherwise as they came."""

    def below(around: Finding) -> Iterator[Finding]:
        yield around
        for finding in findings:
            if finding.inside is not None and (finding.label, finding.inside) == (around.label, around.context):
                yield from below(finding)

    shown = {(finding.label, finding.context) for finding in findings}
    tops = (f for f in findings if f.inside is None or (f.label, f.inside) not in shown)
    return tuple(finding for top in tops for finding in below(top))


def _data(investigation: Investigation, number: int) -> DataInfo:
    source = investigation.source
    return DataInfo(
        name=source.table.name,
        rows=source.table.n_rows,
        train=source.holdout.sizes[0],
        test=source.holdout.sizes[number],
        fingerprint=source.fingerprint,
        library=source.table.library,
        columns=investigation.column_notes(),
        design=_design(source),
    )


def _design(source: DataSource) -> DesignInfo | None:
    """Return what the rows are, where they are not one person each."""
    d = source.design
    return None if d is None else DesignInfo(d.person, d.weights, d.n_people, d.effective, d.mean_weight * d.n_rows)


def _settings(investigation: Investigation, results: Results) -> Settings:
    source, plan = investigation.source, results.test.plan
    chosen = {name: getattr(p, name) for p in (results.training, plan) for name in (o.name for o in p.options())}
    return Settings(
        conf=source.conf,
        level=results.test.level,
        budget=source.budget.size,
        set=results.test.number,
        train_size=source.train_size,
        seed=source.seed,
        **{**chosen, "correction": results.test.correction},
    )
