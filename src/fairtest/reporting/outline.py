"""What every format of a report says, in order: text, Markdown, figures and pages only lay it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.metrics.choice import scale_for
from fairtest.metrics.scale import TIMES
from fairtest.model.names import clean_line
from fairtest.numbers import rate
from fairtest.reporting.words.funnel import funnel, left_out
from fairtest.reporting.words.headline import headline
from fairtest.reporting.words.impact import law_words
from fairtest.reporting.words.method import how_sure, interval_level, measured_set, method, share_of
from fairtest.reporting.words.phrases import finding_title
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


@dataclass(frozen=True)
class Outline:
    """What a report says as a whole; ``level`` is that of its simultaneous intervals."""

    report: Report
    eyebrow: str
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


def outline_of(report: Report) -> Outline:
    """Return the outline of a report."""
    return Outline(
        report,
        eyebrow(report),
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
    )


def outline_finding(report: Report, attribute: AttributeReport, finding: Finding) -> FindingOutline:
    """Return the outline of a finding: on the scale of its attribute, unless its metric is another."""
    known = attribute.population.effect if finding.metric == attribute.metric else finding.effect
    part, bounds = share_of(report, finding), finding.ratio_interval
    shifted = None if bounds is None else (bounds[0] - 1, bounds[1] - 1)  # effects are ratios less 1
    return FindingOutline(
        finding,
        scale_for(finding.metric, known),
        metric_name(report, finding.metric),
        finding_title(finding),
        sentence_of(report, attribute, finding),
        "" if part is None else f"{rate(part)} of the {measured_set(report)}",
        None if finding.ratio is None else (TIMES.number(finding.ratio - 1), TIMES.interval(shifted)),
        tuple(map(clean_line, finding.notes)),
    )
