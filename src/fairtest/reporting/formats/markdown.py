"""The report as Markdown: the answer, a table, and the rest folded away, for a pull request or an issue."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from fairtest.metrics.choice import scale_for
from fairtest.model.finding import CountTable
from fairtest.model.names import one_line
from fairtest.numbers import count, p_value, quantity, rate
from fairtest.reporting.words import guide
from fairtest.reporting.words.phrases import capitalised, rates_of, totals
from fairtest.reporting.words.wording import sentence_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.model.finding import Finding, GroupTable
    from fairtest.model.names import Names
    from fairtest.model.report import AttributeReport, Report

_MOST = 50
"""So many findings of an attribute are listed; comments on a pull request have a limit."""
_MOST_DETAILS = 10
_MARKS = re.compile(r"([\\`*_\[\]<>|~&])")
_CALLS = re.compile(r"([@#])(?=\w)")


def render_markdown(report: Report) -> str:
    """Return the report as GitHub's Markdown; values of the data stand in it as plain text, whatever they are."""
    lines = [
        f"### FairTest: {_plain(guide.answer(report))}",
        "",
        _plain(guide.eyebrow(report)),
        "",
        " → ".join(f"**{count(n)}** {word}" for (n, _), word in zip(guide.funnel(report), _steps(report), strict=True)),
        "",
    ]
    for attribute in report.attributes:
        lines += _attribute(report, attribute)
    lines += _folded("How sure, and what was left out", _around(report))
    lines += _folded("How it was done, and how to repeat it", _method(report))
    return "\n".join(lines).rstrip("\n") + "\n"


def _steps(report: Report) -> tuple[str, ...]:
    return "looked at" if report.explains is None else "asked about again", "tested", "significant", "reported"


def _attribute(report: Report, attribute: AttributeReport) -> Iterator[str]:
    scale = scale_for(attribute.metric, attribute.population.effect)
    everyone = [f for f in attribute.labels if f.significant] if attribute.labels else [attribute.population]
    shown = [*everyone, *attribute.inside]
    yield f"#### {_plain(capitalised(report.names.column(attribute.name)))}"
    yield ""
    unit = f", in{scale.unit}" if scale.unit else ""
    sure = "p, corrected" if report.reuse is None else "confirmed"
    interval = f"simultaneous {guide.interval_level(report)} interval"
    head = ["group", report.names.people, guide.metric_label(report, attribute.metric) + unit, interval, sure]
    rows = [_row(report, attribute, f) for f in shown[:_MOST]]
    yield from _table(head, rows)
    if len(shown) > _MOST:
        yield f"and {count(len(shown) - _MOST)} more, in the full report"
        yield ""
    for finding in shown[:_MOST_DETAILS]:
        yield from _folded(_where(finding), _details(report, attribute, finding))


def _where(finding: Finding) -> str:
    place = one_line(str(finding.context)) if len(finding.context) else "Everyone"
    return place if finding.label is None else f"{one_line(finding.label)}: {place}"


def _row(report: Report, attribute: AttributeReport, finding: Finding) -> list[str]:
    scale = scale_for(attribute.metric, attribute.population.effect)
    if finding.metric != attribute.metric:
        scale = scale_for(finding.metric, finding.effect)
    sure = p_value(finding.p_value) if report.reuse is None else "yes" if finding.significant else "no"
    return [
        _where(finding),
        count(finding.size),
        scale.number(finding.effect),
        scale.interval(finding.interval),
        sure,
    ]


def _details(report: Report, attribute: AttributeReport, finding: Finding) -> Iterator[str]:
    yield _plain(sentence_in(report, attribute, finding))
    yield ""
    if isinstance(finding.table, CountTable):
        yield from _counts(finding.table, report.names)
    else:
        yield from _groups(finding.table, report.names)
    if finding.strata:
        yield from _strata(report, finding)
    for note in finding.notes:
        yield f"> {_plain(note)}"
        yield ""


def _strata(report: Report, finding: Finding) -> Iterator[str]:
    scale = scale_for(finding.metric, finding.effect)
    rows = [
        [
            report.names.values(stratum.values),
            count(stratum.size),
            scale.estimate(stratum.effect),
            scale.interval(stratum.interval),
            guide.stratum_words(report, stratum),
        ]
        for stratum in finding.strata
    ]
    head = ["among those with", report.names.people, one_line(finding.metric), "interval", ""]
    yield from _table(head, rows)


def _counts(table: CountTable, names: Names) -> Iterator[str]:
    sizes = totals(table)
    head = [names.column(table.protected), *(names.pair(table.output, v) for v in table.rows), names.people]
    shares = [rates_of(table, i) for i in range(len(table.rows))]
    rows = [
        [
            names.short(table.protected, group),
            *(f"{count(table.counts[i][g])} ({rate(shares[i][g])})" for i in range(len(table.rows))),
            count(sizes[g]),
        ]
        for g, group in enumerate(table.columns)
    ]
    yield from _table(head, rows)


def _groups(table: GroupTable, names: Names) -> Iterator[str]:
    head = [names.column(table.by), names.people, f"mean {names.column(table.measured)}", "median"]
    rows = [
        [
            names.short(table.by, g.name),
            count(g.size),
            quantity(g.mean, 2),
            quantity(g.quantiles[2] if g.quantiles else None, 2),
        ]
        for g in table.rows
    ]
    yield from _table(head, rows)


def _around(report: Report) -> Iterator[str]:
    yield _plain(guide.how_sure(report))
    yield ""
    for how_many, why in guide.left_out(report):
        yield f"- {_plain(how_many)} {_plain(why)}"
    for note in report.notes:
        yield f"- {_plain(note)}"
    yield ""


def _method(report: Report) -> Iterator[str]:
    yield _plain(guide.method(report))
    yield ""
    for name, value in guide.settings_lines(report):
        yield f"- {_plain(name)}: {_plain(value)}"
    yield ""


# Markdown -----------------------------------------------------------------------------------------------------------


def _folded(title: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"<details><summary>{_html(title)}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _line(head)
    yield _line(["---", *(["--:"] * (len(head) - 1))], raw=True)
    yield from map(_line, rows)
    yield ""


def _line(cells: Sequence[str], *, raw: bool = False) -> str:
    return f"| {' | '.join(cells if raw else map(_plain, cells))} |"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, and in which nobody is called and no issue is named.

    Calls are looked for after the marks are read, so that a backslash does not stop them: a word joiner does.
    """
    return _CALLS.sub("\\1\u2060", _MARKS.sub(r"\\\1", one_line(text)))


def _html(text: str) -> str:
    return _CALLS.sub("\\1\u2060", escape(one_line(text), quote=False))
