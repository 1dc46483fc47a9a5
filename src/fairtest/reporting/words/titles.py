"""What a report is about: its titles, and what its metrics are called and mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.metrics.choice import reported_metric
from fairtest.model.names import clean_line
from fairtest.reporting.words.phrases import capitalise, join_words

if TYPE_CHECKING:
    from fairtest.metrics.scale import Scale
    from fairtest.model.report import AttributeReport, Report


def title(report: Report) -> str:
    """Return a title for a window or a file."""
    called = report.names.column
    attributes = join_words([called(a.name) for a in report.attributes] or ["nothing"])
    return f"FairTest report: {called(report.subject)} by {attributes}, {clean_line(report.data.name)}"


def eyebrow(report: Report) -> str:
    """Return the line above the answer: kind, data, people, attributes and output."""
    written = report.names.written
    attributes = ", ".join(written(a.name) for a in report.attributes)
    people = report.names.number_of(report.data.people)
    about = f"{attributes} → {written(report.subject)}{given_words(report)}"
    return " · ".join(("FairTest", report.kind, clean_line(report.data.name), people, about))


def given_words(report: Report) -> str:
    """Return ``, given department``; empty where nothing is conditioned on."""
    return f", given {', '.join(map(report.names.written, report.explanatory))}" if report.explanatory else ""


def metric_name(report: Report, metric: str) -> str:
    """Return a metric's name as the paper writes it, with ``COND-`` given an explanatory attribute."""
    return f"COND-{clean_line(metric)}" if report.explanatory else clean_line(metric)


def metric_label(report: Report, metric: str) -> str:
    """Return what a metric measures, in a word or two, and its name."""
    label = clean_line(reported_metric(metric).title)
    within = " and ".join(map(report.names.column, report.explanatory))
    return f"{label}, within {within}" if within else label


def with_unit(name: str, scale: Scale) -> str:
    """Return the name of a measure with its unit, if it has one: ``DIFF, in points``."""
    return f"{name}, in{scale.unit}" if scale.unit else name


def metric_notes(report: Report) -> list[tuple[str, str]]:
    """Return for each metric of the report, and for the errors it measures, the name and what it means."""
    used = dict.fromkeys(f.metric for a in report.attributes for f in (a.population, *a.findings))
    notes = [(metric.title, metric.words.meaning) for metric in map(reported_metric, used)]
    if report.errors is not None:
        measured = (report.errors.notion or "").replace("-", " ") or report.subject
        notes.insert(0, (measured, report.errors.meaning))
    return [(clean_line(name), clean_line(meaning)) for name, meaning in notes]


def reading_words(report: Report, attribute: AttributeReport) -> str:
    """Return which group and which output the effects of an attribute are about; empty where that is neither."""
    parts = []
    if attribute.reference is not None:
        parts.append(f"the reference group is {report.names.short(attribute.name, attribute.reference)}")
    if report.favourable is not None:
        parts.append(f"the rates are of {report.names.pair(report.measured, report.favourable)}")
    return capitalise("; ".join(parts)) + "." if parts else ""
