"""What the rows are, where they are not one person each: said before anything hangs on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.model.names import clean_line
from fairtest.numbers import count

if TYPE_CHECKING:
    from fairtest.model.finding import Finding
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
    if design.weights is not None and design.weight < report.data.rows:
        words += (
            f"Rows are weighted by {clean_line(design.weights)}, relative to each other: tables count rows by their "
            f"weights, and the uncertainty is that of about {count(round(design.effective))} {report.names.people} of "
            "equal weight. "
        )
    elif design.weights is not None:
        words += (
            f"Rows are weighted by {clean_line(design.weights)}: shares, averages and effects are those of the "
            f"{count(round(design.weight))} {report.names.people} they stand for, tables count these, and the "
            f"uncertainty is that of about {count(round(design.effective))} {report.names.people} of equal weight. "
        )
    return words


def size_words(finding: Finding) -> str:
    """Return how many rows the people of a finding have and what they weigh: ``, 5,120 rows``; empty where one each."""
    rows = "" if finding.rows is None else f", {count(finding.rows)} rows"
    weight = "" if finding.weight is None else f", standing for {count(round(finding.weight))}"
    return rows + weight
