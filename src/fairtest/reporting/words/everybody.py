"""The question over everybody: on whom it was tested, what was found, and what could have been seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.metrics.choice import reported_metric, scale_for
from fairtest.model.names import PLAIN_NAMES, clean_line
from fairtest.numbers import p_statement, p_value, rate
from fairtest.reporting.words.clauses import Case
from fairtest.reporting.words.phrases import capitalise

if TYPE_CHECKING:
    from fairtest.model.finding import Finding
    from fairtest.model.names import Names
    from fairtest.model.report import AttributeReport, Report, Settings


def has_own_level(report: Report) -> bool:
    """Whether the question over everybody has a part of the level for itself."""
    return bool(report.settings.population_share) and report.reuse is None and report.labels is None


def is_whole_file(report: Report, attribute: AttributeReport) -> bool:
    """Whether the whole population was tested on everybody of the file."""
    data = report.data
    return data.people == data.test or (attribute.named and data.people == data.train + data.test)


def came_later(report: Report, attribute: AttributeReport) -> bool:
    """Whether a question was asked after results were shown, and so could not have the training set's people too."""
    return has_own_level(report) and not attribute.named and not is_whole_file(report, attribute)


def who_was_asked(report: Report, attribute: AttributeReport) -> str:
    """Return on whom the whole population was tested: ``all 4,870 people``."""
    people = report.names.number_of(attribute.population.size)
    if report.reuse is not None:
        return f"the {people} of the training set"
    if is_whole_file(report, attribute):
        known = attribute.population.size == report.data.people
        return f"all {people}" if known else f"all {people} the question is about"
    if attribute.named:
        return f"training and this set, {people}"
    if came_later(report, attribute):
        return f"tested on the {people} of this set, because the question came after results were shown"
    return f"the {people} of the test set"


def share_of_everybody(report: Report, attribute: AttributeReport) -> str:
    """Return what part of the data the whole population is: ``the whole file``."""
    data, size = report.data, attribute.population.size
    if is_whole_file(report, attribute):
        return "the whole file" if size == data.people else f"{rate(size / data.people)} of the file"
    if attribute.named:
        return f"{rate(size / (data.train + data.test))} of training and this set"
    people, where = (data.test, "test set") if report.reuse is None else (data.train, "training set")
    return f"{rate(size / people)} of the {where}" if people else ""


# Confirmed --------------------------------------------------------------------------------------------------------


def difference_words(report: Report, attribute: AttributeReport) -> str:
    """Return what differs over everybody: ``11 % (Female) against 30 % (Male)``, or the effect by its name."""
    population = attribute.population
    case = Case(population, None, report.names, report.settings.min_size)
    if report.explanatory or not (words := case.contrast()):
        metric = reported_metric(population.metric)
        return f"{clean_line(metric.subject)} being {case.scale.estimate(population.effect)}"
    return words


def p_words(report: Report, finding: Finding) -> str:
    """Return ``p = 4e-5``; a reusable test set has no p-values, and only confirms."""
    return "confirmed" if report.reuse is not None else p_statement(finding.p_value, "p")


# Not confirmed ----------------------------------------------------------------------------------------------------


def is_sign(settings: Settings, finding: Finding) -> bool:
    """Whether a link is not confirmed, and yet would have been if it were the only question ever asked."""
    if finding.significant or finding.p_value is None or finding.p_value_raw is None:
        return False
    return finding.p_value_raw <= 1 - settings.conf + 1e-12


def sign_words(settings: Settings, finding: Finding) -> str:
    """Return ``p = 0.03 alone, 0.06 after correction``, with the level where that is not plain."""
    words = f"{p_statement(finding.p_value_raw, 'p')} alone, {p_value(finding.p_value)} after correction"
    if finding.p_value is not None and finding.p_value <= 1 - settings.conf:
        words += f", where {settings.level:.2g} was the level of this test set"
    return words


def sign_note(settings: Settings, finding: Finding) -> tuple[str, ...]:
    """Return that a link is a sign and not proof, in a sentence; nothing where it is neither."""
    return (f"A sign, not proof: {sign_words(settings, finding)}.",) if is_sign(settings, finding) else ()


def detectable_note(
    finding: Finding, detectable: float | None, inside: tuple[int, float] | None, names: Names = PLAIN_NAMES
) -> tuple[str, ...]:
    """Return the smallest effects that could have been seen: over everybody, where none was, and in a group.

    Parameters
    ----------
    finding
        The whole population.
    detectable, inside
        As in :class:`~fairtest.model.report.AttributeReport`.
    """
    metric, scale = reported_metric(finding.metric), scale_for(finding.metric, finding.effect)
    noun = "gap" if metric.compares == "difference" else "link"
    everybody = None if finding.significant else detectable
    if not metric.signed:
        if everybody is None:
            return ()
        size = f"{scale.size(everybody)} ({finding.metric}, from 0 to 1)"
        return (f"A link stronger than {size} over everybody is ruled out at this confidence.",)
    if everybody is not None and not everybody <= metric.most:
        return (f"There are too few {names.people} to see any {noun}, even over everybody.",)
    seen = "would have been seen with a chance of 80 %"
    said = "" if everybody is None else f"A {noun} of about {scale.size(everybody)} over everybody {seen}"
    if inside is None:
        return (f"{said}.",) if said else ()
    people, effect = inside
    group = f"a group of {names.number_of(people)}"
    if not effect <= metric.most:
        few = f"{group} is too small to see any {noun}"
        return (f"{said}; {few}.",) if said else (f"{capitalise(few)}.",)
    about = f"of about {scale.size(effect)}"
    return (f"{said}; in {group}, one {about}." if said else f"In {group}, a {noun} {about} {seen}.",)
