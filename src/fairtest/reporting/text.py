"""The report for a terminal, in the form of the paper's figures."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from fairtest.reporting import guide
from fairtest.reporting.label_tables import label_lines
from fairtest.reporting.numbers import count, p_statement, rate, scale_for
from fairtest.reporting.phrases import level_words, one_line
from fairtest.reporting.reused import confirmation
from fairtest.reporting.tables import table_lines
from fairtest.reporting.wording import sentence_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairtest.inference.finding import Finding, Stratum
    from fairtest.reporting.document import AttributeReport, Report
    from fairtest.reporting.numbers import Scale

__all__ = ["render_text"]

_NARROWEST = 40


def render_text(report: Report, width: int = 100) -> str:
    """Return the report as plain text, wrapped to ``width`` columns; wide tables are folded, not cut.

    Parameters
    ----------
    width
        Columns of the terminal, at least 40.
    """
    width = max(width, _NARROWEST)
    lines = [*_opening(report, width)]
    for attribute in report.attributes:
        lines += _attribute(report, attribute, width)
    lines += _closing(report, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _opening(report: Report, width: int) -> Iterator[str]:
    yield from _wrapped(guide.eyebrow(report), width)
    yield ""
    yield from _wrapped(guide.answer(report), width)
    yield ""
    widest = max(len(count(number)) for number, _ in guide.funnel(report))
    for number, what in guide.funnel(report):
        yield from _wrapped(what, width, first=f"  {count(number):>{widest}} ", rest=" " * (widest + 3))
    yield ""
    yield from _wrapped(guide.how_sure(report), width)
    if parts := guide.left_out(report):
        yield ""
        yield "Left out:"
        for how_many, why in parts:
            yield from _wrapped(f"{how_many} {why}", width, first="  - ", rest="    ")
    yield from _notes(report.notes, width)


def _attribute(report: Report, attribute: AttributeReport, width: int) -> Iterator[str]:
    given = f", given {', '.join(map(one_line, report.explanatory))}" if report.explanatory else ""
    yield ""
    yield "═" * width
    heading = f"Report of associations of O = {one_line(report.measured)} on S = {one_line(attribute.name)}{given}"
    yield from _wrapped(heading, width)
    yield "═" * width
    yield ""
    if report.labels is None:
        yield "Whole population"
        yield from _finding(report, attribute, attribute.population, width)
    else:
        yield from _labels(report, attribute, width)
    for number, finding in enumerate(attribute.inside, 1):
        yield ""
        yield "─" * width
        label = f"label {one_line(finding.label)}; " if finding.label is not None else ""
        yield from _wrapped(f"{number}. {label}{one_line(str(finding.context))}", width, rest="   ")
        yield from _finding(report, attribute, finding, width)
    if not attribute.inside:
        yield ""
        yield "No group with a stronger link is reported."


def _labels(report: Report, attribute: AttributeReport, width: int) -> Iterator[str]:
    """Yield the labels over everybody; given explanatory attributes, each of them with its strata."""
    size = max(f.size for f in attribute.labels)
    yield from _wrapped(f"Whole population of size {count(size)}: {_confirmed(attribute)}", width)
    yield ""
    for line in label_lines(attribute, guide.metric_name(report, attribute.metric), width):
        yield from [line] if len(line) <= width else _wrapped(line, width)
    for finding in attribute.labels:
        if finding.significant and finding.strata:
            yield ""
            yield from _wrapped(f"label {one_line(finding.output)}; everyone", width)
            yield from _finding(report, attribute, finding, width)


def _confirmed(attribute: AttributeReport) -> str:
    number = sum(f.significant for f in attribute.labels)
    tested = f"{count(len(attribute.labels))} label{'' if len(attribute.labels) == 1 else 's'} tested there"
    return f"{count(number)} of {tested} {'goes' if number == 1 else 'go'} with {one_line(attribute.name)}."


def _finding(report: Report, attribute: AttributeReport, finding: Finding, width: int) -> Iterator[str]:
    scale = scale_for(attribute.metric, attribute.population.effect)
    if finding.metric != attribute.metric:
        scale = scale_for(finding.metric, finding.effect)
    name = guide.metric_name(report, finding.metric)
    yield from _wrapped(sentence_in(report, attribute, finding), width)
    yield ""
    measured = _measured if report.reuse is None else confirmation
    yield from _wrapped(f"Population of size {count(finding.size)}; {measured(finding, scale, name)}", width)
    yield from _wrapped(_also(report, finding, scale), width)
    yield ""
    yield from table_lines(finding.table, width)
    yield from _notes(finding.notes, width)
    for stratum in finding.strata:
        yield ""
        yield from _stratum(report, stratum, scale, width)


def _measured(part: Finding | Stratum, scale: Scale, name: str) -> str:
    if part.effect is None:
        return f"{name} is undefined"
    if part.interval is None:
        return f"{name} = {scale.estimate(part.effect)}, not tested"
    return f"{p_statement(part.p_value)} ; {name} = {scale.interval(part.interval)}{scale.unit}"


def _also(report: Report, finding: Finding, scale: Scale) -> str:
    """Return the estimate and which interval is which."""
    part = guide.share_of(report, finding)
    share = "" if part is None else f"{rate(part)} of the {guide.measured_set(report)}"
    if finding.effect is None:
        return f"({share})" if share else ""
    parts = [f"estimate {scale.estimate(finding.effect)}"]
    if report.reuse is None or finding.interval is not None:
        parts.insert(0, f"simultaneous {guide.interval_level(report)} interval")
    if report.reuse is None:
        parts.append(f"single interval {scale.interval(finding.interval_single)}")
    if finding.ratio is not None:
        ratio = scale_for("RATIO")
        shifted = None if finding.ratio_interval is None else tuple(b - 1 for b in finding.ratio_interval)
        fact = guide.four_fifths(report, finding)
        words = f"ratio of the rates {ratio.number(finding.ratio - 1)}"
        words += "" if report.reuse else f" {ratio.interval(shifted)}"  # type: ignore[arg-type]
        parts.append(words + (f", {fact}" if fact else ""))
    return f"({'; '.join([*parts, share] if share else parts)})"


def _stratum(report: Report, stratum: Stratum, scale: Scale, width: int) -> Iterator[str]:
    where = ", ".join(f"{one_line(name)} = {level_words(value)}" for name, value in stratum.values.items())
    yield from _wrapped(f"{where}: population of size {count(stratum.size)}", width, first="* ")
    words = guide.stratum_words(report, stratum)
    if stratum.effect is None:
        yield from _wrapped(words, width, first="  ")
    else:
        name = guide.base_name(scale.metric)
        estimate = (
            f"estimate {scale.estimate(stratum.effect)}; single interval {scale.interval(stratum.interval_single)}"
        )
        more = words if stratum.interval is None else f"{estimate}; {words}"
        yield from _wrapped(f"{_measured(stratum, scale, name)} ({more})", width, first="  ")
    for line in table_lines(stratum.table, width - 2):
        yield "  " + line


def _closing(report: Report, width: int) -> Iterator[str]:
    yield ""
    yield "═" * width
    yield "How to read this"
    yield ""
    for name, meaning in guide.metric_notes(report):
        yield from _wrapped(f"{name}: {meaning}.", width, first="  - ", rest="    ")
    if any(guide.four_fifths(report, f) for f in (*report.populations, *report.findings)):
        yield from _wrapped(f"four fifths: {guide.FOUR_FIFTHS}", width, first="  - ", rest="    ")
    yield ""
    yield "How it was done"
    yield ""
    yield from _wrapped(guide.method(report), width)
    if columns := guide.left_out_columns(report):
        yield ""
        yield "Columns left out"
        yield ""
        for name, why in columns:
            yield from _wrapped(f"{name}: {why}" if why else name, width, first="  - ", rest="    ")
    if columns := guide.columns_used(report):
        yield ""
        yield "Columns used"
        yield ""
        for name, what in columns:
            yield from _wrapped(f"{name}: {what}", width, first="  - ", rest="    ")
    yield ""
    yield "To repeat it"
    yield ""
    for name, value in guide.settings_lines(report):
        yield from _wrapped(f"{name}: {value}", width, first="  - ", rest="    ")


def _notes(notes: Iterable[str], width: int) -> Iterator[str]:
    for note in notes:
        yield ""
        yield from _wrapped(f"Note: {one_line(note)}", width, rest="      ")


def _wrapped(text: str, width: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """Return text on lines of at most ``width`` columns; what belongs together stays together."""
    kept = text.replace(" %", "\0%").replace(" = ", "\0=\0")
    indent = " " * len(first) if rest is None else rest
    lines = textwrap.wrap(
        kept,
        width,
        initial_indent=first,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.replace("\0", " ") for line in lines]
