"""The report on one screen of a terminal: the answer, one picture, how sure, and the few groups that say most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.numbers import count
from fairtest.reporting.figures.bars import forest_lines, group_lines
from fairtest.reporting.figures.ink import Ink
from fairtest.reporting.figures.plots import ForestRow, plot_effects
from fairtest.reporting.formats.tables import draw_table, fold_table
from fairtest.reporting.formats.text import NARROWEST, LineWriter, heading_of, numbered
from fairtest.reporting.outline import outline_of
from fairtest.reporting.views.labels import label_lines
from fairtest.reporting.words.before import before_and_after, clear_strata
from fairtest.reporting.words.rates import error_table
from fairtest.reporting.words.several import gaps_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.model.report import Report
    from fairtest.reporting.outline import AttributeOutline

MOST_FINDINGS, MOST_PICTURES, MOST_LABELS, MOST_NOTES, MOST_GROUPS = 5, 3, 5, 2, 8
"""How many findings, attributes, labels and remarks a screen shows."""


def render_screen(report: Report, width: int = 100, *, color: bool = False, full: str | None = None) -> str:
    """Return the report on a screen, wrapped to ``width`` columns.

    Parameters
    ----------
    full
        Where everything is: the name of a file that holds it; empty on the command line without one; None in Python.
    """
    writer = ScreenWriter(outline_of(report), max(width, NARROWEST), Ink(color))
    return "\n".join(line.rstrip() for line in writer.write_screen(full)) + "\n"


class ScreenWriter(LineWriter):
    """Writes what fits a screen."""

    def write_screen(self, full: str | None) -> Iterator[str]:
        """Yield the lines of the screen; ``full`` is where everything is."""
        outline = self.outline
        yield from map(self.ink.soft, self.wrap(outline.eyebrow))
        yield ""
        for warning in outline.warnings:
            yield from self.heading(f"Warning: {warning}", rest="         ")
            yield ""
        for answer in (*outline.everybody, *outline.beyond):
            yield from self.heading(f"{answer}.")
        for entry in outline.attributes[:MOST_PICTURES]:
            yield from self.write_picture(entry)
        if len(outline.attributes) > MOST_PICTURES:
            yield ""
            more = len(outline.attributes) - MOST_PICTURES
            yield f"The pictures of {count(more)} more attributes are in {self.place(full)}."
        yield ""
        yield from self.wrap(f"How sure: {outline.sure}")
        yield from self.write_findings(full)
        yield from self.write_notes(outline.notes[:MOST_NOTES])
        yield ""
        yield from map(self.ink.soft, self.wrap(self.closing(full)))

    def write_picture(self, entry: AttributeOutline) -> Iterator[str]:
        """Yield the rates or averages of the groups over everybody; of labels, those that stand out most."""
        lines: list[str] = []
        if self.report.labels is not None:
            lines = self.label_picture(entry)
        elif entry.population.finding.effect is not None:
            finding, least = entry.population.finding, self.report.settings.min_size
            several = len(self.outline.attributes) > 1
            lines = group_lines(finding, self.report.names, least, self.width, self.ink, named=several)
        if lines:
            yield ""
            yield from lines
        if rows := error_table(entry.attribute, self.report.names):
            yield ""
            yield from fold_table(rows[0], rows[1 : 1 + MOST_GROUPS], self.width)
        yield from self.write_before(entry)

    def label_picture(self, entry: AttributeOutline) -> list[str]:
        """Return the labels over everybody that stand out most."""
        return list(label_lines(entry, self.width, self.report.names, MOST_LABELS))[:-1] if entry.everyone else []

    def write_before(self, entry: AttributeOutline) -> Iterator[str]:
        """Yield, given explanatory attributes, what was there before and what is left, for everybody and each group."""
        rows = before_and_after(self.report, entry)
        if not rows:
            return
        yield ""
        yield from draw_table(rows[0], rows[1 : 2 + MOST_FINDINGS])
        if len(rows) > 2 + MOST_FINDINGS:
            yield f"and {count(len(rows) - 2 - MOST_FINDINGS)} more groups"
        if strata := clear_strata(self.report, entry):
            yield from self.wrap(strata)

    def write_findings(self, full: str | None) -> Iterator[str]:
        """Yield the groups that say most, a line each, and how many more there are."""
        if self.report.explanatory:
            return  # they stand in the table of before and after
        entries = [entry for entry in self.outline.attributes if entry.inside]
        left = MOST_FINDINGS
        for place, entry in enumerate(entries):
            share = -(-left // (len(entries) - place))
            shown = entry.inside[:share]
            left -= len(shown)
            rows = [ForestRow(f"{numbered(n, f)} {heading_of(f.finding)}", f.finding) for n, f in enumerate(shown, 1)]
            if not rows or (forest := plot_effects(rows, entry.scale)) is None:
                continue
            yield ""
            yield from self.heading(f"Groups that say most, by {entry.name}: {entry.measure}")
            lines = forest_lines(forest, self.report.names, self.width, self.ink, drawn=False)
            for line, each in zip(lines, shown, strict=True):
                yield line
                if gaps := gaps_inside(each.finding, self.report.names):
                    yield from map(self.ink.soft, self.wrap(gaps, first="   "))
            if len(entry.inside) > share:
                yield f"and {count(len(entry.inside) - share)} more in {self.place(full)}"

    @staticmethod
    def place(full: str | None) -> str:
        """Return where everything is."""
        return full or "the full report"

    @staticmethod
    def closing(full: str | None) -> str:
        """Return how to see everything."""
        if full is None:
            return "The full report: report.to_text(), or report.to_html('report.html') for a page."
        if full:
            return f"Everything is in {full}."
        return "The full report: --full shows it here, --html report.html writes a page."
