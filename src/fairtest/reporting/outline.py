"""What every format of a report says, in order: text, Markdown, figures and pages only lay it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.metrics.choice import scale_for
from fairtest.metrics.scale import TIMES
from fairtest.model.names import clean_line
from fairtest.numbers import rate
from fairtest.reporting.words.everybody import share_of_everybody, who_was_asked
from fairtest.reporting.words.funnel import funnel, left_out
from fairtest.reporting.words.groups import (
    TICK,
    TICK_MEANING,
    condition_words,
    depth_of,
    elsewhere_words,
    folded_words,
    groups_answer,
    relation_words,
)
from fairtest.reporting.words.headline import answers, headline
from fairtest.reporting.words.impact import law_words
from fairtest.reporting.words.method import how_sure, interval_level, measured_set, method, share_of
from fairtest.reporting.words.phrases import capitalise, finding_title
from fairtest.reporting.words.sentences import sentence_of
from fairtest.reporting.words.settings import columns_left_out, columns_used, settings_lines
from fairtest.reporting.words.titles import eyebrow, metric_label, metric_name, metric_notes, with_unit

if TYPE_CHECKING:
    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding
    from fairtest.model.report import AttributeReport, Report

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class FindingOutline:
    """A finding, or a population, with what its numbers are written with.

    Attributes
    ----------
    title
        The context, after the label if there is one.
    share
        What part of the people it is: ``"12.3 % of the test set"``; empty where that is not known.
    relation
        How it stands to everybody or to a group around it, where that is confirmed: ``"more so than everybody else"``.
    conditions, folded
        Which of its conditions are surely needed, and for how many other groups it stands; empty where there are none.
    depth
        In how many of the groups shown it is, each inside the next.
    ratio
        For two groups the ratio of their rates and its interval; None elsewhere.
    """

    finding: Finding
    scale: Scale
    metric: str
    title: str
    sentence: str
    share: str
    ratio: tuple[str, str] | None
    notes: tuple[str, ...]
    relation: str = ""
    conditions: str = ""
    folded: str = ""
    depth: int = 0


@dataclass(frozen=True)
class AttributeOutline:
    """What a report says about one protected attribute.

    Attributes
    ----------
    scale
        How the effects are written that are of the attribute's metric.
    metric
        The metric as the paper writes it.
    label, measure
        What the metric measures, in words; and with its unit.
    everyone
        The whole population; for Discovery, each label that is confirmed there.
    inside
        The findings in contexts.
    asked
        On whom the whole population was tested: ``"all 4,870 people"``.
    beyond
        What groups add to the answer over everybody, in a sentence; empty where no group was tested.
    elsewhere
        What is left to see outside the groups shown, in a sentence; empty where that is not known.
    """

    attribute: AttributeReport
    name: str
    scale: Scale
    metric: str
    label: str
    measure: str
    population: FindingOutline
    everyone: tuple[FindingOutline, ...]
    inside: tuple[FindingOutline, ...]
    asked: str
    beyond: str
    elsewhere: str


@dataclass(frozen=True)
class Outline:
    """What a report says as a whole.

    Attributes
    ----------
    answers
        The sentences of the headline: over everybody, and in groups.
    level
        That of the simultaneous intervals.
    tick
        What a tick at a condition means; empty where there is none.
    """

    report: Report
    eyebrow: str
    warnings: tuple[str, ...]
    headline: str
    how_sure: str
    funnel: list[tuple[int, str]]
    left_out: Pairs
    notes: tuple[str, ...]
    attributes: tuple[AttributeOutline, ...]
    metrics: Pairs
    law: Pairs
    method: str
    columns_left_out: Pairs
    columns_used: Pairs
    settings: Pairs
    level: str
    answers: tuple[str, ...]
    tick: str


def outline_of(report: Report) -> Outline:
    """Return the outline of a report."""
    return Outline(
        report,
        eyebrow(report),
        tuple(map(clean_line, report.warnings)),
        headline(report),
        how_sure(report),
        funnel(report),
        left_out(report),
        tuple(map(clean_line, report.notes)),
        tuple(outline_attribute(report, attribute) for attribute in report.attributes),
        metric_notes(report),
        law_words(report),
        method(report),
        columns_left_out(report),
        columns_used(report),
        list(settings_lines(report)),
        interval_level(report),
        answers(report),
        f"{TICK} {TICK_MEANING}" if any(any(f.confirmed) for f in report.findings) else "",
    )


def outline_attribute(report: Report, attribute: AttributeReport) -> AttributeOutline:
    """Return the outline of one protected attribute."""
    scale = scale_for(attribute.metric, attribute.population.effect)
    label = metric_label(report, attribute.metric)

    def outline_one(finding: Finding) -> FindingOutline:
        return outline_finding(report, attribute, finding)

    return AttributeOutline(
        attribute,
        report.names.column(attribute.name),
        scale,
        metric_name(report, attribute.metric),
        label,
        with_unit(label, scale),
        outline_one(attribute.population),
        tuple(map(outline_one, (f for f in attribute.populations if f.significant or not attribute.labels))),
        tuple(map(outline_one, attribute.inside)),
        who_was_asked(report, attribute),
        _beyond_words(report, attribute),
        elsewhere_words(report, attribute),
    )


def _beyond_words(report: Report, attribute: AttributeReport) -> str:
    """Return what groups add, in a sentence that can stand alone."""
    clause = "" if attribute.labels else groups_answer(report, attribute)
    if clause.startswith("it differs "):
        clause = f"but {report.names.column(report.subject)} differs {clause.removeprefix('it differs ')}"
    return f"{capitalise(clause)}." if clause else ""


def outline_finding(report: Report, attribute: AttributeReport, finding: Finding) -> FindingOutline:
    """Return the outline of a finding: on the scale of its attribute, unless its metric is another."""
    known = attribute.population.effect if finding.metric == attribute.metric else finding.effect
    bounds = finding.ratio_interval
    shifted = None if bounds is None else (bounds[0] - 1, bounds[1] - 1)  # effects are ratios less 1
    return FindingOutline(
        finding,
        scale_for(finding.metric, known),
        metric_name(report, finding.metric),
        finding_title(finding),
        sentence_of(report, attribute, finding),
        _share_words(report, attribute, finding),
        None if finding.ratio is None else (TIMES.number(finding.ratio - 1), TIMES.interval(shifted)),
        tuple(map(clean_line, finding.notes)),
        relation_words(attribute, finding),
        condition_words(finding),
        folded_words(finding),
        depth_of(attribute, finding),
    )


def _share_words(report: Report, attribute: AttributeReport, finding: Finding) -> str:
    """Return what part of the people a finding is; the whole population may be more of them than the test set."""
    if len(finding.context) == 0 and not attribute.labels:
        return share_of_everybody(report, attribute)
    part = share_of(report, finding)
    return "" if part is None else f"{rate(part)} of the {measured_set(report)}"
