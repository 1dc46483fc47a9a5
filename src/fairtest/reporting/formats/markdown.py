"""The report as Markdown: the answer, a table, and the rest folded away, for a pull request or an issue."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from fairtest.metrics.choice import scale_for
from fairtest.model.finding import CountTable
from fairtest.model.names import clean_line
from fairtest.numbers import count, p_value, quantity
from fairtest.reporting.formats.tables import count_cells
from fairtest.reporting.outline import outline_of
from fairtest.reporting.words.phrases import capitalise
from fairtest.reporting.words.sentences import stratum_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.model.finding import Finding, GroupTable
    from fairtest.model.names import Names
    from fairtest.model.report import Report
    from fairtest.reporting.outline import AttributeOutline, FindingOutline, Outline

_MOST = 50
"""No more findings of an attribute are shown: comments on a pull request have a limit."""
_MOST_DETAILS = 10
_MARKS = re.compile(r"([\\`*_\[\]<>|~&])")
_CALLS = re.compile(r"([@#])(?=\w)")


def render_markdown(report: Report) -> str:
    """Return the report as GitHub's Markdown; values of the data are shown as plain text, whatever they are."""
    outline = outline_of(report)
    first = "looked at" if report.explains is None else "asked about again"
    steps = zip(outline.funnel, (first, "tested", "significant", "reported"), strict=True)
    lines = [
        f"### FairTest · {_escape(outline.headline)}.",
        "",
        _escape(outline.eyebrow),
        "",
        *_write_warnings(outline.warnings),
        " → ".join(f"**{count(number)}** {step}" for (number, _), step in steps),
        "",
    ]
    for attribute in outline.attributes:
        lines += _write_attribute(outline, attribute)
    left_out = [f"{how_many} {why}" for how_many, why in outline.left_out]
    settings = [f"{name}: {value}" for name, value in outline.settings]
    lines += _fold("How sure, and what was left out", _write_list(outline.how_sure, [*left_out, *outline.notes]))
    lines += _fold("How it was done, and how to repeat it", _write_list(outline.method, settings))
    return "\n".join(lines).rstrip("\n") + "\n"


def _write_warnings(warnings: Sequence[str]) -> Iterator[str]:
    """Yield each warning as what GitHub shows as one, and others as a quotation."""
    for warning in warnings:
        yield "> [!WARNING]"
        yield f"> {_escape(warning)}"
        yield ""


def _write_attribute(outline: Outline, entry: AttributeOutline) -> Iterator[str]:
    report, shown = outline.report, [*entry.everyone, *entry.inside]
    yield f"#### {_escape(capitalise(entry.name))}"
    yield ""
    sure = "p, corrected" if report.reuse is None else "confirmed"
    head = ["group", report.names.people, entry.measure, f"simultaneous {outline.level} interval", sure]
    yield from _write_table(head, [_finding_cells(report, f) for f in shown[:_MOST]])
    if len(shown) > _MOST:
        yield f"and {count(len(shown) - _MOST)} more, in the full report"
        yield ""
    if report.labels is None:
        yield f"Everyone: {_escape(entry.asked)}."
        yield ""
    if entry.elsewhere:
        yield _escape(entry.elsewhere)
        yield ""
    for finding in shown[:_MOST_DETAILS]:
        yield from _fold(finding.title, _write_details(report, finding))


def _finding_cells(report: Report, entry: FindingOutline) -> list[str]:
    finding, scale = entry.finding, entry.scale
    sure = p_value(finding.p_value) if report.reuse is None else "yes" if finding.significant else "no"
    title = f"{'└ ' if entry.depth else ''}{entry.title}"
    return [title, count(finding.size), scale.number(finding.effect), scale.interval(finding.interval), sure]


def _write_details(report: Report, entry: FindingOutline) -> Iterator[str]:
    finding = entry.finding
    yield _escape(entry.sentence)
    yield ""
    if about := [f"{capitalise(w)}." for w in (entry.relation, entry.conditions, entry.folded) if w]:
        yield _escape(" ".join(about))
        yield ""
    if isinstance(finding.table, CountTable):
        yield from _write_counts(finding.table, report.names)
    else:
        yield from _write_groups(finding.table, report.names)
    if finding.strata:
        yield from _write_strata(report, finding)
    for note in entry.notes:
        yield f"> {_escape(note)}"
        yield ""


def _write_strata(report: Report, finding: Finding) -> Iterator[str]:
    scale = scale_for(finding.metric, finding.effect)
    rows = [
        [
            report.names.values(stratum.values),
            count(stratum.size),
            scale.estimate(stratum.effect),
            scale.interval(stratum.interval),
            stratum_words(report, stratum),
        ]
        for stratum in finding.strata
    ]
    yield from _write_table(["among those with", report.names.people, finding.metric, "interval", ""], rows)


def _write_counts(table: CountTable, names: Names) -> Iterator[str]:
    head = [names.column(table.protected), *(names.pair(table.output, v) for v in table.rows), names.people]
    cells = zip(*count_cells(table)[:-1], strict=True)
    rows = [
        [names.short(table.protected, group), *outputs, count(size)]
        for group, outputs, size in zip(table.columns, cells, table.sizes, strict=False)
    ]
    yield from _write_table(head, rows)


def _write_groups(table: GroupTable, names: Names) -> Iterator[str]:
    head = [names.column(table.by), names.people, f"mean {names.column(table.measured)}", "median"]
    medians = [group.quantiles[2] if group.quantiles else None for group in table.rows]
    rows = [
        [names.short(table.by, group.name), count(group.n_people), quantity(group.mean, 2), quantity(median, 2)]
        for group, median in zip(table.rows, medians, strict=True)
    ]
    yield from _write_table(head, rows)


def _write_list(text: str, items: Sequence[str]) -> Iterator[str]:
    yield _escape(text)
    yield ""
    yield from (f"- {_escape(item)}" for item in items)
    yield ""


# Markdown -----------------------------------------------------------------------------------------------------------


def _fold(title: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"<details><summary>{_escape_html(title)}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def _write_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _write_line(head)
    yield _write_line(["---", *(["--:"] * (len(head) - 1))], raw=True)
    yield from map(_write_line, rows)
    yield ""


def _write_line(cells: Sequence[str], *, raw: bool = False) -> str:
    return f"| {' | '.join(cells if raw else map(_escape, cells))} |"


def _escape(text: str) -> str:
    """Return text that Markdown shows as it is, and in which nobody is called and no issue is named.

    Calls are looked for after the marks are read, so that a backslash does not stop them: a word joiner does.
    """
    return _CALLS.sub("\\1\u2060", _MARKS.sub(r"\\\1", clean_line(text)))


def _escape_html(text: str) -> str:
    return _CALLS.sub("\\1\u2060", escape(clean_line(text), quote=False))
