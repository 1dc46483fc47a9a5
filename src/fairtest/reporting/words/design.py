"""What the rows are, where they are not one person each: said before anything hangs on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.model.finding import CountTable, GroupTable
from fairtest.model.names import clean_line
from fairtest.numbers import count
from fairtest.reporting.words.phrases import join_words

if TYPE_CHECKING:
    from fairtest.model.finding import Finding
    from fairtest.model.names import Names
    from fairtest.model.report import Report


def design_words(report: Report) -> str:
    """Return whose the rows are, what they weigh, and what that means for the numbers; empty where rows are people.

    It ends in a space, to stand before another sentence.
    """
    design = report.data.design
    if design is None:
        return ""
    words = ""
    if design.person is not None:
        words = (
            f"{clean_line(design.person)} names {report.names.number_of(design.people)} in {count(report.data.rows)} "
            "rows: everybody’s rows are in one set, sizes count people, tables count rows, and what is said holds "
            "whatever the rows of one person have to do with each other. "
        )
    if design.weights is not None:
        words += (
            f"Rows are weighted by {clean_line(design.weights)}: shares, averages and effects are those of the "
            f"{count(round(design.weight))} {report.names.people} they stand for, tables count these, and the "
            f"uncertainty is that of about {count(round(design.effective))} {report.names.people} of equal weight. "
        )
    return words + _what_is_not_compared(report)


def _what_is_not_compared(report: Report) -> str:
    """Return what reports on people with one row each have, and this one has not."""
    missing = []
    if any(_has_several_groups(attribute.population) for attribute in report.attributes):
        missing.append("gaps of single groups to a reference")
    if any(isinstance(attribute.population.table, GroupTable) for attribute in report.attributes):
        missing.append("intervals of medians and ratios")
    if report.kind == "error profiling":
        missing.append("the table of error rates by group")
    return f"Not given for such rows: {join_words(missing)}. " if missing else ""


def _has_several_groups(finding: Finding) -> bool:
    table = finding.table
    if isinstance(table, CountTable):
        return len(table.columns) > 2
    return isinstance(table, GroupTable) and table.by == finding.protected and len(table.rows) > 2


def size_words(finding: Finding) -> str:
    """Return how many rows the people of a finding have and what they weigh: ``, 5,120 rows``; empty where one each."""
    rows = "" if finding.rows is None else f", {count(finding.rows)} rows"
    weight = "" if finding.weight is None else f", standing for {count(round(finding.weight))}"
    return rows + weight


def count_words(finding: Finding, number: int, names: Names) -> str:
    """Return how many are counted in the tables of a finding: people, or rows where people have several."""
    return names.number_of(number) if finding.rows is None else f"{count(number)} rows"
