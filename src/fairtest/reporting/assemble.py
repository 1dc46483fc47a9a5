"""From what was asked, chosen and answered to a report."""

from __future__ import annotations

import platform
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy

from fairtest.data.axes import MOST_LEVELS
from fairtest.investigations.discovery import Discovery
from fairtest.metrics.choice import scale_for
from fairtest.model.report import (
    AttributeReport,
    ColumnNote,
    DataInfo,
    LabelSettings,
    Report,
    Settings,
)
from fairtest.reporting.words.error_words import error_note, names_for
from fairtest.reporting.words.simpson import simpson_note
from fairtest.reporting.words.wording import sentence, verdict_words
from fairtest.types import Kind
from fairtest.version import __version__

if TYPE_CHECKING:
    from fairtest.data.table import Column
    from fairtest.investigations.base import Investigation
    from fairtest.investigations.question import Question
    from fairtest.model.finding import Finding
    from fairtest.model.results import AttributeResult, Results
    from fairtest.types import Level

FEWEST_NAMED = 10
"""Smaller groups are not named in a sentence about several."""


def assemble(investigation: Investigation, results: Results) -> Report:
    """Return the report of an investigation."""
    return Report(
        version=__version__,
        kind=investigation.kind,
        output=investigation.output_name,
        favourable=_second(investigation.output.kind, investigation.output.levels),
        favourable_is=_known_as_favourable(investigation),
        explanatory=investigation.explanatory,
        explains=investigation.explains,
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
        reuse=results.test.reuse,
        errors=error_note(investigation),
        labels=_labels(investigation),
        names=names_for(investigation),
        versions=(("Python", platform.python_version()), ("NumPy", np.__version__), ("SciPy", scipy.__version__)),
    )


def _labels(investigation: Investigation) -> LabelSettings | None:
    if not isinstance(investigation, Discovery):
        return None
    asked = investigation
    return LabelSettings(len(asked.labels), asked.top_k, asked.min_people, asked.separator)


def _second(kind: Kind, levels: tuple[Level, ...]) -> Level | None:
    return levels[1] if kind is Kind.BINARY else None


def _known_as_favourable(investigation: Investigation) -> str:
    """Return how the output value that effects are about was chosen."""
    output = investigation.output
    if any(column in investigation.source.favourable for column in output.columns):
        return "declared"
    return "true" if output.levels and output.levels[-1] == 1 else "rarer"


def _attribute(
    investigation: Investigation, question: Question, found: AttributeResult, looked_at: int, results: Results
) -> AttributeReport:
    level = results.test.level
    protected = question.protected
    names, given = names_for(investigation), _strata_names(investigation)

    def worded(finding: Finding) -> Finding:
        population = found.parts[finding.output].population if found.parts else found.population
        words = sentence(finding, population, explanatory=given, names=names, least=FEWEST_NAMED)
        tolerance = verdict_words(finding, results.test.plan.tolerance)
        turned = simpson_note(finding, names)
        return replace(finding, sentence=words, notes=(*finding.notes, *tolerance, *turned))

    shown = found.findings if found.labels else (found.population, *found.findings)
    shown_strata = sum(s.p_value is not None and s.p_value <= level for f in shown for s in f.strata)
    return AttributeReport(
        name=protected.name,
        reference=protected.levels[0] if protected.kind is Kind.BINARY else None,
        groups=protected.levels or None,
        metric=question.metric.name,
        looked_at=looked_at,
        tested=found.tested,
        untestable=found.untestable,
        significant=len(found.significant_contexts) + found.significant_strata,
        reported=sum(f.significant for f in shown) + shown_strata,
        left_out=found.left_out,
        population=_with_what_could_be_seen(worded(found.population), found, question),
        findings=tuple(worded(f) for f in found.findings),
        detectable=found.detectable,
        outside=found.outside,
        labels=tuple(worded(f) for f in found.labels),
        rare=found.rare,
        others=found.others,
        significant_strata=found.significant_strata,
        strata_shown=shown_strata,
    )


def _with_what_could_be_seen(population: Finding, found: AttributeResult, question: Question) -> Finding:
    """Say, where nothing was found, how large a disparity could have been."""
    if found.detectable is None or found.significant_contexts:
        return population
    return replace(population, notes=(*population.notes, seen_words(population, found.detectable, question)))


def seen_words(population: Finding, size: float, question: Question) -> str:
    """Return how large an effect would have been seen, in words."""
    shown = scale_for(population.metric, population.effect).estimate(abs(size)).lstrip("+")
    if question.metric.signed:
        return f"A link of about {shown} over everybody would have been seen with a chance of 80 %."
    return f"A link above {shown} over everybody is ruled out at this confidence."


def _data(investigation: Investigation, number: int) -> DataInfo:
    source = investigation.source
    return DataInfo(
        name=source.table.name,
        rows=source.table.n_rows,
        train=source.holdout.sizes[0],
        test=source.holdout.sizes[number],
        fingerprint=source.fingerprint,
        library=source.table.library,
        columns=_columns(investigation),
    )


def _columns(investigation: Investigation) -> tuple[ColumnNote, ...]:
    """Return how each column was used; the columns of labels are one entry."""
    columns = investigation.source.table.columns.values()
    if not isinstance(investigation, Discovery):
        return tuple(_column(investigation, c) for c in columns)
    held, labels = investigation.outputs, investigation.labels
    reason = f"{len(labels):,} different" if len(held) == 1 else "a column for each"
    together = ColumnNote(investigation.output_name, "labels", "output", reason, int(labels.missing.size))
    return (*(_column(investigation, c) for c in columns if c.name not in held), together)


def _column(investigation: Investigation, column: Column) -> ColumnNote:
    role, note = _role(investigation, column)
    return ColumnNote(column.name, column.kind.value, role, column.reason, column.missing, note)


def _role(investigation: Investigation, column: Column) -> tuple[str, str]:
    name = column.name
    if any(name in group for group in investigation.groups):
        return "protected", ""
    if name in investigation.outputs:
        given = f"conditioned on; {_bins(investigation, name)}" if name in investigation.explanatory else ""
        return investigation.output_role(name), given.rstrip("; ")
    if name in investigation.explanatory:
        return "explanatory", _bins(investigation, name)
    if column.kind is Kind.IDENTIFIER:
        return "left out", f"an identifier, not a context: {column.reason}"
    if name in investigation.exclude:
        return "left out", "excluded by the user"
    if investigation.contextual is not None and name not in investigation.contextual:
        return "left out", "not among the contextual attributes named"
    if column.constant and not column.missing:
        return "left out", "constant"
    if len(column.levels) > MOST_LEVELS:
        return "contextual", f"its {MOST_LEVELS} most frequent values; the rarer ones are pooled"
    return "contextual", ""


def _strata_names(investigation: Investigation) -> tuple[str, ...]:
    """Return the explanatory attributes, numbers with how many bins they are in."""
    if investigation.strata is None:
        return ()
    return tuple(
        p.column if p.thresholds is None else f"{p.column} (in {len(p.levels)} bins)"
        for p in investigation.strata.parts
    )


def _bins(investigation: Investigation, name: str) -> str:
    assert investigation.strata is not None
    part = next(p for p in investigation.strata.parts if p.column == name)
    if part.thresholds is None:
        return ""
    return "in bins: " + "; ".join(str(level) for level in part.levels)


def _settings(investigation: Investigation, results: Results) -> Settings:
    source, train, test = investigation.source, results.training, results.test
    return Settings(
        conf=source.conf,
        level=test.level,
        budget=source.budget.size,
        set=test.number,
        train_size=source.train_size,
        seed=source.seed,
        preset=test.plan.preset,
        max_depth=train.max_depth,
        min_size=train.min_size,
        correction=test.correction,
        search=train.search,
        score=train.score,
        aggregate=train.aggregate,
        method=test.plan.method,
        tolerance=test.plan.tolerance,
        trees=train.trees,
        attributes_per_node=train.attributes_per_node,
    )
