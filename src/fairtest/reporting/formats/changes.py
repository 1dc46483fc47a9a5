"""Two reports side by side: what they say over everybody, and which groups both report or one of them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from fairtest.metrics.choice import scale_for
from fairtest.numbers import count
from fairtest.reporting.formats.tables import display_width, draw_table, shorten
from fairtest.reporting.words.headline import headline
from fairtest.reporting.words.phrases import alike_words, finding_title, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.model.finding import Finding
    from fairtest.model.report import Report

MOST = 20
"""How many groups are listed."""


def render_changes(first: Report, second: Report, numbers: tuple[int, int], width: int = 100) -> str:
    """Return what two reports say, side by side; ``numbers`` are what they are called."""
    lines: list[str] = []
    for number, report in zip(numbers, (first, second), strict=True):
        lines += textwrap.wrap(f"Run {number}: {headline(report)}.", width, subsequent_indent="  ")
    if note := _different_questions(first, second, numbers):
        lines += ["", *textwrap.wrap(note, width)]
    lines += ["", *_fit(_table(first, second, numbers), width)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _different_questions(first: Report, second: Report, numbers: tuple[int, int]) -> str:
    """Return that the numbers of two runs are not of one kind, where one of them compares people who are alike."""
    if first.explanatory == second.explanatory:
        return ""
    parts = [
        f"run {number} compares {report.names.people} with {alike_words(report.explanatory, report.names)}"
        if report.explanatory
        else f"run {number} compares all {report.names.people} together"
        for number, report in zip(numbers, (first, second), strict=True)
    ]
    return f"Two kinds of numbers: {parts[0]}, {parts[1]}. Their difference says what that explains, not what changed."


def _fit(rows: list[list[str]], width: int) -> list[str]:
    """Return a table whose first column is cut where it is too wide."""
    lines = draw_table(rows[0], rows[1:])
    over = display_width(lines[0]) - width
    if over <= 0:
        return lines
    longest = max(max(display_width(row[0]) for row in rows) - over, 12)
    return draw_table(rows[0], [[shorten(row[0], longest), *row[1:]] for row in rows[1:]])


def _table(first: Report, second: Report, numbers: tuple[int, int]) -> list[list[str]]:
    before, after = _by_place(first), _by_place(second)
    reports = list(zip(numbers, (first, second), strict=True))
    rows = [["", *(f"run {number}{_given_words(report)}" for number, report in reports), ""]]
    alike = first.explanatory == second.explanatory
    places = [*before, *(place for place in after if place not in before)]
    for place in places[:MOST]:
        one, two = before.get(place), after.get(place)
        rows.append([": ".join(place), _words(one), _words(two), _change(one, two, alike=alike)])
    if len(places) > MOST:
        rows.append([f"and {count(len(places) - MOST)} more", "", "", ""])
    return rows


def _by_place(report: Report) -> dict[tuple[str, str], Finding]:
    """Return populations and findings by attribute and context, populations first."""
    found = [*report.populations, *report.findings]
    return {(f.protected, finding_title(f, "everyone")): f for f in _unique(found)}


def _unique(found: list[Finding]) -> Iterator[Finding]:
    seen = set()
    for finding in found:
        key = (finding.protected, finding.label, finding.context)
        if key not in seen:
            seen.add(key)
            yield finding


def _words(finding: Finding | None) -> str:
    if finding is None:
        return "not shown"
    scale = scale_for(finding.metric, finding.effect)
    return f"{scale.number(finding.effect)} {scale.interval(finding.interval)}"


def _given_words(report: Report) -> str:
    given = [report.names.column(name) for name in report.explanatory]
    return f", given {join_words(given)}" if given else ""


def _change(one: Finding | None, two: Finding | None, *, alike: bool) -> str:
    """Return what became of a link, in a word or two; numbers that are not ``alike`` in kind are not compared."""
    if one is None or two is None:
        return "only in the second" if one is None else "only in the first"  # other people: not "gone"
    if one.significant != two.significant:
        if alike:
            return "clear now" if two.significant else "no longer clear"
        return "clear in the second only" if two.significant else "clear in the first only"
    if not alike:
        return "clear in both" if one.significant else "clear in neither"
    apart = (
        one.interval is not None
        and two.interval is not None
        and (one.interval[0] > two.interval[1] or two.interval[0] > one.interval[1])
    )
    return "changed" if apart else "as before"
