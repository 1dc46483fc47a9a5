"""Impact ratios: the rate of each group over the highest rate, where the output is a selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtest.model.finding import CountTable
from fairtest.numbers import fixed

if TYPE_CHECKING:
    from fairtest.model.finding import Finding
    from fairtest.model.report import Report

LEAST_SHARE = 0.02
"""Groups that are a smaller part of the people have no ratio, and are not what others are compared with."""


def is_selection(report: Report) -> bool:
    """Whether rates may be read as those of a selection: the user has said which of two outputs is good for people."""
    return report.kind == "testing" and report.good_row is not None and not report.explanatory


@dataclass(frozen=True)
class Impact:
    """The lowest impact ratio of a table, the two groups it is of, and the fact whether it is below four fifths."""

    ratio: str
    groups: str
    fact: str


def impact_ratios(report: Report, finding: Finding) -> tuple[float | None, ...] | None:
    """Return the ratio of each group, in the order of the table; None where the output is not known to be a selection.

    A group that is less than two per cent of the people has none.
    """
    table = finding.table
    if not is_selection(report) or not isinstance(table, CountTable) or len(table.rows) != 2:
        return None
    least = LEAST_SHARE * sum(table.sizes)
    shares = [
        share if n >= least else None for share, n in zip(table.shares(report.good_row or 0), table.sizes, strict=True)
    ]
    known = [share for share in shares if share is not None]
    if len(known) < 2 or not max(known):
        return None
    return tuple(None if share is None else share / max(known) for share in shares)


def lowest_impact(report: Report, finding: Finding) -> Impact | None:
    """Return the lowest impact ratio in words; None where there is none."""
    ratios = impact_ratios(report, finding)
    if ratios is None or not isinstance(finding.table, CountTable):
        return None
    known = [(ratio, group) for group, ratio in enumerate(ratios) if ratio is not None]
    (lowest, group), (_, best) = min(known), max(known, key=lambda pair: (pair[0], -pair[1]))
    names = [report.names.short(finding.table.protected, c) for c in finding.table.columns]
    below = is_below_four_fifths(finding.table, group, best, report.good_row or 0)
    fact = "below four fifths" if below else "not below four fifths"
    return Impact(fixed(lowest, 2), f"{names[group]} ÷ {names[best]}", fact)


def is_below_four_fifths(table: CountTable, group: int, best: int, row: int = 1) -> bool:
    """Whether the rate of a group is below four fifths of another's; in whole numbers, which do not round.

    Examples
    --------
    >>> hired = CountTable("hired", "sex", ("no", "yes"), ("m", "f"), ((600, 680), (400, 320)))
    >>> is_below_four_fifths(hired, 1, 0), 320 / 1000 / (400 / 1000) < 0.8
    (False, True)
    """
    chosen, people = table.counts[row], table.sizes
    return 5 * int(chosen[group]) * int(people[best]) < 4 * int(chosen[best]) * int(people[group])


def law_words(report: Report) -> list[tuple[str, str]]:
    """Return what two texts say about such ratios, as facts; nothing where no ratio is shown."""
    if not any(impact_ratios(report, f) for f in (*report.populations, *report.findings)):
        return []
    table = report.populations[0].table
    assert report.good_row is not None  # or there were no ratios
    assert isinstance(table, CountTable)
    value = report.names.pair(report.output, table.rows[report.good_row])
    chosen = "was declared favourable" if report.good_row else "is the outcome that is not adverse"
    return [
        (
            "Impact ratio",
            f"the rate of {value} in a group divided by the rate of the group with the highest ({value} {chosen}). "
            f"Groups that are under 2 % of the {report.names.people} have none. It is a ratio of estimates, without an "
            "interval.",
        ),
        (
            "Four fifths",
            "the United States’ Uniform Guidelines on Employee Selection Procedures (29 CFR 1607.4 D) say that a rate "
            "“less than four-fifths (4/5) (or eighty percent) of the rate for the group with the highest rate will "
            "generally be regarded by the Federal enforcement agencies as evidence of adverse impact”; they add that "
            "smaller differences may nevertheless count, and greater ones may not. The rules for New York City’s Local "
            "Law 144 of 2021 (6 RCNY 5-300) define the impact ratio of a category as its selection rate “divided by "
            "the selection rate of the most selected category”. Both concern selection for jobs. Whether this output "
            "is such a selection, and what follows, is not for this report to say.",
        ),
    ]
