"""The whole report for a terminal: what the page shows, in its order, with the tables of the paper's figures."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairtest.model.finding import Finding
from fairtest.model.names import clean_line
from fairtest.numbers import count, p_statement
from fairtest.reporting.figures.bars import comparison_lines, forest_lines, rate_lines
from fairtest.reporting.figures.ink import Ink
from fairtest.reporting.figures.plots import ForestRow, plot_effects, plot_findings
from fairtest.reporting.formats.tables import display_width, fold_table, table_lines
from fairtest.reporting.outline import outline_of
from fairtest.reporting.views.labels import label_lines
from fairtest.reporting.words.design import size_words
from fairtest.reporting.words.impact import lowest_impact
from fairtest.reporting.words.phrases import capitalise, plural
from fairtest.reporting.words.rates import RATES_MEANING, error_table
from fairtest.reporting.words.sentences import is_clear, stratum_words
from fairtest.reporting.words.several import ratio_words
from fairtest.reporting.words.titles import given_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairtest.metrics.scale import Scale
    from fairtest.model.comparison import Comparison
    from fairtest.model.finding import Stratum
    from fairtest.model.report import Report
    from fairtest.reporting.figures.plots import Forest
    from fairtest.reporting.outline import AttributeOutline, FindingOutline, Outline

NARROWEST = 40
"""Columns that a report needs."""


def render_text(report: Report, width: int = 100, *, color: bool = False) -> str:
    """Return the report as text, wrapped to ``width`` columns; wide tables are folded, not cut.

    Parameters
    ----------
    width
        Columns of the terminal, at least 40.
    color
        Whether to add the codes of a terminal's colours. The text is the same without them, character by character.
    """
    writer = _TextWriter(outline_of(report), max(width, NARROWEST), Ink(color))
    return "\n".join(line.rstrip() for line in writer.write()) + "\n"


@dataclass(frozen=True)
class LineWriter:
    """Lays text out on lines of a width, in a terminal's colours or without."""

    outline: Outline
    width: int
    ink: Ink

    @property
    def report(self) -> Report:
        """The report that is written."""
        return self.outline.report

    def section(self, title: str, lines: Iterable[str]) -> Iterator[str]:
        """Yield a title and what stands below it."""
        yield ""
        yield self.ink.strong(title)
        yield ""
        yield from lines

    def items(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield a list."""
        for text in texts:
            yield from self.wrap(text, first="  - ")

    def write_notes(self, notes: Iterable[str]) -> Iterator[str]:
        """Yield remarks."""
        for note in notes:
            yield ""
            yield from self.wrap(f"Note: {note}", rest="      ")

    def heading(self, text: str, rest: str = "") -> Iterator[str]:
        """Yield text that stands out."""
        yield from map(self.ink.strong, self.wrap(text, rest=rest))

    def wrap(self, text: str, *, first: str = "", rest: str | None = None) -> list[str]:
        """Return text on lines of at most the width; ``12 %`` and ``sex = Male`` are not torn apart."""
        kept = text.replace(" %", "\0%").replace(" = ", "\0=\0")
        kept = "".join(c + "\1" * (display_width(c) - 1) for c in kept)  # so that wide letters count twice
        lines = textwrap.wrap(
            kept,
            self.width,
            initial_indent=first,
            subsequent_indent=" " * len(first) if rest is None else rest,
            break_on_hyphens=False,
            break_long_words=False,
        )
        return [line.replace("\0", " ").replace("\1", "") for line in lines]


class _TextWriter(LineWriter):
    """Writes everything there is to say."""

    def write(self) -> Iterator[str]:
        yield from self.write_opening()
        for attribute in self.outline.attributes:
            yield from self.write_overview(attribute)
        for attribute in self.outline.attributes:
            yield from self.write_attribute(attribute)
        yield from self.write_closing()

    def write_opening(self) -> Iterator[str]:
        outline = self.outline
        yield from map(self.ink.soft, self.wrap(outline.eyebrow))
        yield ""
        for warning in outline.warnings:
            yield from map(self.ink.strong, self.wrap(f"Warning: {warning}", rest="         "))
            yield ""
        yield from self.heading(f"{outline.headline}.")
        yield ""
        yield from self.wrap(f"How sure: {outline.sure}")

    def write_funnel(self) -> Iterator[str]:
        """Yield how many groups were looked at, tested and shown, and what was left out on the way."""
        outline = self.outline
        widest = max(len(count(number)) for number, _ in outline.funnel)
        for number, what in outline.funnel:
            first, *rest = self.wrap(what, first=" " * (widest + 3))
            yield self.ink.strong(f"  {count(number):>{widest}}") + first[widest + 2 :]
            yield from rest
        if outline.left_out:
            yield ""
            yield self.ink.strong("Left out")
            yield from self.items(f"{how_many} {why}" for how_many, why in outline.left_out)

    def write_overview(self, entry: AttributeOutline) -> Iterator[str]:
        """Yield all findings of an attribute on one axis, with the whole population."""
        rows = [
            ForestRow(f"{numbered(number, f)} {heading_of(f.finding)}", f.finding)
            for number, f in enumerate(entry.inside, 1)
            if f.finding.metric == entry.attribute.metric
        ]
        if rows and (forest := plot_findings(entry.attribute, rows, entry.scale)):
            yield from self.write_forest(f"All findings by {entry.name}: {entry.measure}", forest)

    def write_forest(self, title: str, forest: Forest) -> Iterator[str]:
        yield ""
        yield from self.heading(title)
        yield from (f"  {line}" for line in forest_lines(forest, self.report.names, self.width - 2, self.ink))

    def write_attribute(self, entry: AttributeOutline) -> Iterator[str]:
        written = self.report.names.written
        output, protected = written(self.report.measured), written(entry.attribute.name)
        yield ""
        yield self.ink.soft("═" * self.width)
        yield from self.heading(f"Report of associations of O = {output} on S = {protected}{given_words(self.report)}")
        yield self.ink.soft("═" * self.width)
        yield ""
        if self.report.labels is None:
            yield from self.heading(f"Whole population: {entry.asked}")
            yield from self.write_finding(entry.population)
            yield from self.write_errors(entry)
            if entry.beyond:
                yield ""
                yield from self.wrap(entry.beyond)
        else:
            yield from self.write_labels(entry)
        for number, finding in enumerate(entry.inside, 1):
            yield ""
            yield self.ink.soft("─" * self.width)
            yield from self.heading(f"{numbered(number, finding)} {heading_of(finding.finding)}", rest="   ")
            for words in filter(None, (finding.relation, finding.conditions, finding.folded)):
                yield from self.wrap(f"{capitalise(words)}.")
            yield from self.write_finding(finding)
        if entry.elsewhere:
            yield ""
            yield self.ink.soft("─" * self.width)
            yield from self.wrap(entry.elsewhere)
        if not entry.inside and not entry.beyond:
            yield ""
            yield "No group is shown."

    def write_errors(self, entry: AttributeOutline) -> Iterator[str]:
        """Yield the usual rates of a prediction by group."""
        if rows := error_table(entry.attribute, self.report.names):
            yield ""
            yield from self.heading("The usual rates, each with its 95 % interval")
            yield from fold_table(rows[0], rows[1:], self.width)
            yield from self.wrap(RATES_MEANING)

    def write_labels(self, entry: AttributeOutline) -> Iterator[str]:
        """Yield the labels over everybody; given explanatory attributes, each of them with its strata."""
        attribute, confirmed = entry.attribute, len(entry.everyone)
        size = max(f.size for f in attribute.labels)
        tested = f"{plural(len(attribute.labels), 'label')} tested there"
        with_it = f"{'goes' if confirmed == 1 else 'go'} with {self.report.names.written(attribute.name)}"
        yield from self.wrap(f"Whole population of size {count(size)}: {count(confirmed)} of {tested} {with_it}.")
        yield ""
        for line in label_lines(entry, self.width, self.report.names):
            yield from [line] if len(line) <= self.width else self.wrap(line)
        for finding in entry.everyone:
            if finding.finding.strata:
                yield ""
                yield from self.heading(f"label {clean_line(finding.finding.output)}; everyone")
                yield from self.write_finding(finding)

    def write_finding(self, entry: FindingOutline) -> Iterator[str]:
        finding, names = entry.finding, self.report.names
        yield from self.wrap(entry.sentence)
        yield ""
        measured = _measured_words(self.report, finding, entry.scale, entry.metric)
        yield from self.wrap(f"Population of size {count(finding.size)}{size_words(finding)}; {measured}")
        if facts := "; ".join(self.facts(entry)):
            yield from self.wrap(f"({facts})")
        yield ""
        if (
            finding.effect is not None
            and not finding.comparisons
            and (bars := rate_lines(finding, names, self.report.settings.min_size, self.width, self.ink))
        ):
            yield from bars
            yield ""
        yield from table_lines(finding.table, self.width, names)
        yield from self.write_gaps(finding)
        yield from self.write_notes(entry.notes)
        if finding.strata:
            yield from self.write_strata(entry)

    def write_gaps(self, finding: Finding) -> Iterator[str]:
        """Yield each of several groups beside the reference, for every output that is compared."""
        for comparison in finding.comparisons:
            alone = replace(finding, comparisons=(comparison,))
            yield ""
            yield from comparison_lines(alone, self.report.names, self.width, self.ink, len(comparison.gaps))
            yield from self.write_ratios(comparison, finding)

    def write_ratios(self, comparison: Comparison, finding: Finding) -> Iterator[str]:
        """Yield the ratios of means and the differences of medians of a number, a line for each group."""
        for gap in comparison.gaps:
            if words := ratio_words(gap, comparison):
                group = self.report.names.short(finding.protected, gap.group)
                yield from self.wrap(f"{group}: {words}", first="  - ")

    def facts(self, entry: FindingOutline) -> Iterator[str]:
        """Yield the estimate, which interval is which, and other numbers about the same table."""
        finding, scale, once = entry.finding, entry.scale, self.report.reuse is None
        if finding.effect is not None:
            if once or finding.interval is not None:
                yield f"simultaneous {self.outline.level} interval"
            yield f"estimate {scale.estimate(finding.effect)}"
            if once and finding.interval_single is not None:
                yield f"single interval {scale.interval(finding.interval_single)}"
            yield from self.ratio_facts(entry)
        if entry.share:
            yield entry.share

    def ratio_facts(self, entry: FindingOutline) -> Iterator[str]:
        """Yield the ratio of two rates and how it stands to four fifths; of more groups, the lowest impact ratio."""
        impact = lowest_impact(self.report, entry.finding)
        if entry.ratio is not None:
            ratio, interval = entry.ratio
            words = f"ratio of the rates {ratio}" + (f" {interval}" if self.report.reuse is None else "")
            if impact is None:
                yield words
            elif (entry.finding.ratio or 0.0) <= 1:
                yield f"{words}, {impact.fact}"
            else:  # the ratio is of the higher rate over the lower, and the impact ratio the other way round
                yield f"{words}, impact ratio {impact.ratio}, {impact.fact}"
        elif impact is not None:
            yield f"lowest impact ratio {impact.ratio} ({impact.groups}; {impact.fact})"

    def write_strata(self, entry: FindingOutline) -> Iterator[str]:
        """Yield the strata on one axis, then each with its table."""
        finding, names, level = entry.finding, self.report.names, self.report.settings.level
        given = " and ".join(map(names.column, self.report.explanatory)) or "the strata"
        whole = ForestRow(f"All, given {given}", finding, finding.significant, whole=True)
        rows = [ForestRow(names.values(s.values), s, is_clear(s, level)) for s in finding.strata]
        if forest := plot_effects([whole, *rows], entry.scale, finding.effect):
            yield from self.write_forest(f"By {given}", forest)
        for stratum in finding.strata:
            yield ""
            yield from self.write_stratum(stratum, entry)

    def write_stratum(self, stratum: Stratum, entry: FindingOutline) -> Iterator[str]:
        names, scale = self.report.names, entry.scale
        yield from self.wrap(f"{names.values(stratum.values)}: population of size {count(stratum.size)}", first="* ")
        words = stratum_words(self.report, stratum)
        if stratum.effect is not None:
            measured = _measured_words(self.report, stratum, scale, clean_line(entry.finding.metric))
            single = f"single interval {scale.interval(stratum.interval_single)}"
            estimate = "" if stratum.interval is None else f"estimate {scale.estimate(stratum.effect)}; {single}; "
            words = f"{measured} ({estimate}{words})"
        yield from self.wrap(words, first="  ")
        yield from (f"  {line}" for line in table_lines(stratum.table, self.width - 2, names))

    def write_closing(self) -> Iterator[str]:
        outline = self.outline
        yield ""
        yield self.ink.soft("═" * self.width)
        yield self.ink.strong("From what was looked at to what is reported")
        yield ""
        yield from self.write_funnel()
        yield from self.section("How sure this is", self.wrap(outline.how_sure))
        yield from self.write_notes(outline.notes)
        yield ""
        yield self.ink.strong("How to read this")
        yield ""
        yield from self.items(f"{name}: {meaning}." for name, meaning in outline.metrics)
        yield from self.items([f"{outline.tick}."] if outline.tick else [])
        yield from self.items(f"{name.lower()}: {words}" for name, words in outline.law)
        yield from self.section("How it was done", self.wrap(outline.method))
        left_out = [f"{name}: {why}" if why else name for name, why in outline.columns_left_out]
        used = [f"{name}: {what}" for name, what in outline.columns_used]
        yield from self.section("Columns left out", self.items(left_out)) if left_out else ()
        yield from self.section("Columns used", self.items(used)) if used else ()
        yield from self.section("To repeat it", self.items(f"{name}: {value}" for name, value in outline.settings))


def numbered(number: int, entry: FindingOutline) -> str:
    """Return the number of a finding; one inside another is set off from it."""
    return f"{'  ' * (entry.depth - 1)}└ {number}." if entry.depth else f"{number}."


def heading_of(finding: Finding) -> str:
    """Return the context of a finding as it is written, after its label if it has one."""
    label = f"label {clean_line(finding.label)}; " if finding.label is not None else ""
    return label + clean_line(str(finding.context))


def _measured_words(report: Report, part: Finding | Stratum, scale: Scale, name: str) -> str:
    """Return the p-value (of a reusable test set: whether it confirms the link) and the simultaneous interval."""
    if part.effect is None:
        return f"{name} is undefined"
    reused = report.reuse is not None and isinstance(part, Finding)
    if part.interval is None:
        return "not confirmed by the test set" if reused else f"{name} = {scale.estimate(part.effect)}, not tested"
    sure = "confirmed by the test set" if reused else p_statement(part.p_value)
    return f"{sure} ; {name} = {scale.interval(part.interval)}{scale.unit}"
