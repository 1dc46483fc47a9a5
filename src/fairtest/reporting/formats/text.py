"""The report for a terminal: what the page shows, in its order, with the tables of the paper's figures."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from fairtest.metrics.choice import scale_for
from fairtest.metrics.scale import TIMES
from fairtest.model.names import one_line
from fairtest.numbers import count, p_statement, rate
from fairtest.reporting.figures.bars import forest_lines, rate_lines
from fairtest.reporting.figures.ink import Ink
from fairtest.reporting.figures.plots import ForestRow, plot_effects
from fairtest.reporting.formats.tables import table_lines
from fairtest.reporting.views.label_tables import label_lines
from fairtest.reporting.words import guide
from fairtest.reporting.words.impact import four_fifths, impact_words, law_words
from fairtest.reporting.words.reused import confirmation
from fairtest.reporting.words.wording import sentence_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding, Stratum
    from fairtest.model.report import AttributeReport, Report

_NARROWEST = 40


def render_text(report: Report, width: int = 100, *, color: bool = False) -> str:
    """Return the report as text, wrapped to ``width`` columns; wide tables are folded, not cut.

    Parameters
    ----------
    width
        Columns of the terminal, at least 40.
    color
        Whether to put the codes of a terminal's colours in. Without them the text is the same, character by character.
    """
    width, ink = max(width, _NARROWEST), Ink(color)
    lines = [*_opening(report, width, ink), *_overview(report, width, ink)]
    for attribute in report.attributes:
        lines += _attribute(report, attribute, width, ink)
    lines += _closing(report, width, ink)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _opening(report: Report, width: int, ink: Ink) -> Iterator[str]:
    yield from map(ink.soft, _wrapped(guide.eyebrow(report), width))
    yield ""
    yield from map(ink.strong, _wrapped(guide.answer(report), width))
    yield ""
    yield from _wrapped(guide.how_sure(report), width)
    yield ""
    widest = max(len(count(number)) for number, _ in guide.funnel(report))
    for number, what in guide.funnel(report):
        first, *rest = _wrapped(what, width, first=" " * (widest + 3), rest=" " * (widest + 3))
        yield ink.strong(f"  {count(number):>{widest}}") + first[widest + 2 :]
        yield from rest
    if parts := guide.left_out(report):
        yield ""
        yield ink.strong("Left out")
        for how_many, why in parts:
            yield from _wrapped(f"{how_many} {why}", width, first="  - ", rest="    ")
    yield from _notes(report.notes, width)


def _overview(report: Report, width: int, ink: Ink) -> Iterator[str]:
    """Yield all findings on one screen: an axis for each protected attribute, with the whole population."""
    for attribute in report.attributes:
        scale = scale_for(attribute.metric, attribute.population.effect)
        alike = [
            ForestRow(f"{number}. {_where(f)}", f)
            for number, f in enumerate(attribute.inside, 1)
            if f.metric == attribute.metric
        ]
        everyone = attribute.population
        whole = [] if attribute.labels else [ForestRow("Everyone", everyone, everyone.significant, whole=True)]
        forest = plot_effects([*whole, *alike], scale, None if attribute.labels else everyone.effect)
        if not alike or forest is None:
            continue
        unit = f", in{scale.unit}" if scale.unit else ""
        yield ""
        by, metric = report.names.column(attribute.name), guide.metric_label(report, attribute.metric)
        about = f"All findings by {by}: {metric}{unit}"
        yield from map(ink.strong, _wrapped(about, width))
        yield from (f"  {line}" for line in forest_lines(forest, report.names, width - 2, ink))


def _where(finding: Finding) -> str:
    label = f"label {one_line(finding.label)}; " if finding.label is not None else ""
    return label + one_line(str(finding.context))


def _attribute(report: Report, attribute: AttributeReport, width: int, ink: Ink) -> Iterator[str]:
    written = report.names.written
    given = f", given {', '.join(map(written, report.explanatory))}" if report.explanatory else ""
    yield ""
    yield ink.soft("═" * width)
    heading = f"Report of associations of O = {written(report.measured)} on S = {written(attribute.name)}{given}"
    yield from map(ink.strong, _wrapped(heading, width))
    yield ink.soft("═" * width)
    yield ""
    if report.labels is None:
        yield ink.strong("Whole population")
        yield from _finding(report, attribute, attribute.population, width, ink)
    else:
        yield from _labels(report, attribute, width, ink)
    for number, finding in enumerate(attribute.inside, 1):
        yield ""
        yield ink.soft("─" * width)
        yield from map(ink.strong, _wrapped(f"{number}. {_where(finding)}", width, rest="   "))
        yield from _finding(report, attribute, finding, width, ink)
    if not attribute.inside:
        yield ""
        yield "No group with a stronger link is reported."


def _labels(report: Report, attribute: AttributeReport, width: int, ink: Ink) -> Iterator[str]:
    """Yield the labels over everybody; given explanatory attributes, each of them with its strata."""
    size = max(f.size for f in attribute.labels)
    yield from _wrapped(f"Whole population of size {count(size)}: {_confirmed(report, attribute)}", width)
    yield ""
    for line in label_lines(attribute, guide.metric_name(report, attribute.metric), width, report.names):
        yield from [line] if len(line) <= width else _wrapped(line, width)
    for finding in attribute.labels:
        if finding.significant and finding.strata:
            yield ""
            yield from map(ink.strong, _wrapped(f"label {one_line(finding.output)}; everyone", width))
            yield from _finding(report, attribute, finding, width, ink)


def _confirmed(report: Report, attribute: AttributeReport) -> str:
    number = sum(f.significant for f in attribute.labels)
    tested = f"{count(len(attribute.labels))} label{'' if len(attribute.labels) == 1 else 's'} tested there"
    return f"{count(number)} of {tested} {'goes' if number == 1 else 'go'} with {report.names.written(attribute.name)}."


def _finding(report: Report, attribute: AttributeReport, finding: Finding, width: int, ink: Ink) -> Iterator[str]:
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
    if finding.effect is not None and (bars := rate_lines(finding, report.names, report.settings.min_size, width, ink)):
        yield from bars
        yield ""
    yield from table_lines(finding.table, width, report.names)
    yield from _notes(finding.notes, width)
    yield from _strata(report, finding, scale, width, ink)


def _strata(report: Report, finding: Finding, scale: Scale, width: int, ink: Ink) -> Iterator[str]:
    """Yield the strata on one axis, then each with its table."""
    rows = [
        ForestRow(report.names.values(s.values), s, guide.stratum_words(report, s) == "clear") for s in finding.strata
    ]
    given = " and ".join(map(report.names.column, report.explanatory)) or "the strata"
    whole = ForestRow(f"All, given {given}", finding, finding.significant, whole=True)
    if finding.strata and (forest := plot_effects([whole, *rows], scale, finding.effect)):
        yield ""
        yield from map(ink.strong, _wrapped(f"By {given}", width))
        yield from (f"  {line}" for line in forest_lines(forest, report.names, width - 2, ink))
    for stratum in finding.strata:
        yield ""
        yield from _stratum(report, stratum, finding.metric, scale, width)


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
        shifted = None if finding.ratio_interval is None else tuple(b - 1 for b in finding.ratio_interval)
        fact = _four_fifths(report, finding)
        words = f"ratio of the rates {TIMES.number(finding.ratio - 1)}"
        words += "" if report.reuse else f" {TIMES.interval(shifted)}"  # type: ignore[arg-type]
        parts.append(words + (f", {fact}" if fact else ""))
    elif (impact := impact_words(report, finding)) is not None:
        parts.append(f"lowest impact ratio {impact[0]} ({impact[1]})")
    return f"({'; '.join([*parts, share] if share else parts)})"


def _four_fifths(report: Report, finding: Finding) -> str:
    """Return the fact about the impact ratio, and the ratio itself where that of the rates is the other way round."""
    impact = impact_words(report, finding)
    if impact is None:
        return ""
    fact = four_fifths(report, finding)
    return fact if (finding.ratio or 0.0) <= 1 else f"impact ratio {impact[0]}, {fact}"


def _stratum(report: Report, stratum: Stratum, metric: str, scale: Scale, width: int) -> Iterator[str]:
    yield from _wrapped(
        f"{report.names.values(stratum.values)}: population of size {count(stratum.size)}", width, first="* "
    )
    words = guide.stratum_words(report, stratum)
    if stratum.effect is None:
        yield from _wrapped(words, width, first="  ")
    else:
        estimate = (
            f"estimate {scale.estimate(stratum.effect)}; single interval {scale.interval(stratum.interval_single)}"
        )
        more = words if stratum.interval is None else f"{estimate}; {words}"
        yield from _wrapped(f"{_measured(stratum, scale, one_line(metric))} ({more})", width, first="  ")
    for line in table_lines(stratum.table, width - 2, report.names):
        yield "  " + line


def _closing(report: Report, width: int, ink: Ink) -> Iterator[str]:
    yield ""
    yield ink.soft("═" * width)
    yield ink.strong("How to read this")
    yield ""
    for name, meaning in guide.metric_notes(report):
        yield from _wrapped(f"{name}: {meaning}.", width, first="  - ", rest="    ")
    for name, words in law_words(report):
        yield from _wrapped(f"{name.lower()}: {words}", width, first="  - ", rest="    ")
    yield ""
    yield ink.strong("How it was done")
    yield ""
    yield from _wrapped(guide.method(report), width)
    if columns := guide.left_out_columns(report):
        yield ""
        yield ink.strong("Columns left out")
        yield ""
        for name, why in columns:
            yield from _wrapped(f"{name}: {why}" if why else name, width, first="  - ", rest="    ")
    if columns := guide.columns_used(report):
        yield ""
        yield ink.strong("Columns used")
        yield ""
        for name, what in columns:
            yield from _wrapped(f"{name}: {what}", width, first="  - ", rest="    ")
    yield ""
    yield ink.strong("To repeat it")
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
