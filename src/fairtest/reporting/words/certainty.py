"""How sure a report is, in one sentence, and what to think where a p-value and an interval seem to disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.inference.multiplicity.corrections import FAMILY_WISE, corrections
from fairtest.numbers import per_cent
from fairtest.reporting.words.design import size_words
from fairtest.reporting.words.everybody import is_whole_file, p_words
from fairtest.reporting.words.phrases import capitalise, is_past_none, join_words, plural

if TYPE_CHECKING:
    from fairtest.model.finding import Finding
    from fairtest.model.report import Report

_MOST_NAMED = 3
SHARPER = (
    "The link is clear although this interval reaches past none: tests go step by step and weigh groups by what the "
    "training set says of them, and so are a little sharper than intervals that hold all together."
)


def sure_words(report: Report) -> str:
    """Return how sure the answers are: p-values over everybody, on whom, and what all that is reported promises."""
    promise = correction_promise(report)
    if report.reuse is not None:
        return f"The chance that even one confirmed link is a fluke is at most {per_cent(1 - report.settings.conf)}."
    tested = [a for a in report.attributes if a.population.p_value is not None]
    if report.kind == "discovery" or not tested:
        return promise
    if len(tested) > _MOST_NAMED:
        clear = sum(a.population.significant for a in tested)
        everybody = f"over everybody, {clear} of {plural(len(tested), 'attribute')} show a clear link"
    else:
        several = len(report.attributes) > 1
        p = [p_words(report, a.population) + (f" by {report.names.column(a.name)}" if several else "") for a in tested]
        everybody = f"over everybody, {join_words(p)} after correction ({_on_whom(report)})"
    return f"{capitalise(everybody)}; {promise[:1].lower()}{promise[1:]}"


def _on_whom(report: Report) -> str:
    """Return on how many people the attributes were tested: one number, or the least and the largest."""
    sizes = sorted({a.population.size for a in report.attributes})
    number_of = report.names.number_of
    if len(sizes) > 1:
        return f"{sizes[0]:,} to {number_of(sizes[-1])}"
    whole = sizes[0] == report.data.people and all(is_whole_file(report, a) for a in report.attributes)
    words = f"all {number_of(sizes[0])}" if whole else number_of(sizes[0])
    return f"{words}{size_words(report.attributes[0].population)}"


def correction_promise(report: Report) -> str:
    """Return what the correction keeps below the level, on this test set and over all of them."""
    settings = report.settings
    known = corrections.get(settings.correction)
    kept = FAMILY_WISE if known is None else known.controls
    over = ""
    if kept.adds_up and settings.budget > 1:
        sets = "both" if settings.budget == 2 else f"all {settings.budget}"
        over = f", and {per_cent(1 - settings.conf)} over {sets} test sets"
    return f"{kept.promise.format(level=per_cent(settings.level))}{over}."


def sharpness_note(finding: Finding) -> tuple[str, ...]:
    """Return why a link can be clear though its interval includes no link; nothing where it does not."""
    return (SHARPER,) if finding.significant and is_past_none(finding) else ()
