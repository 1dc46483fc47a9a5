"""The answer of a whole report in a sentence, also where nothing was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.metrics.choice import reported_metric
from fairtest.model.names import PLAIN_NAMES, clean_line, level_words
from fairtest.numbers import count
from fairtest.reporting.words.phrases import alike_words, capitalise, context_words, join_words, number_words, plural
from fairtest.reporting.words.sentences import is_clear, is_reversed

if TYPE_CHECKING:
    from fairtest.model.names import Names
    from fairtest.model.report import AttributeReport, Report


def headline(report: Report) -> str:
    """Return the answer of a report in one sentence, without a full stop."""
    clear = [a for a in report.attributes if a.population.significant]
    found = [a for a in report.attributes if a.findings]
    called = report.names.column
    if not clear and not found:
        return _strata_headline(report) or nothing_found(report)
    if report.kind == "discovery":
        return _start_sentence(report, _label_headline(report))
    groups = plural(len(report.findings), "group", in_words=True)
    if not clear:
        by = join_words([called(a.name) for a in found], "or")
        whole = "though no clear link shows in the whole population"
        return _start_sentence(report, f"{called(report.subject)} goes with {by} in {groups}, {whole}")
    differs = f"{called(report.subject)} differs {join_words([f'by {called(a.name)}' for a in clear])}"
    if not found:
        return _start_sentence(report, differs)
    turns = any(is_reversed(f, a.population.effect) for a in found for f in a.findings)
    looks = "looks stronger or turns the other way" if turns else "looks stronger than in the whole population"
    return _start_sentence(report, f"{differs}, and in {groups} the link {looks}")


def _strata_headline(report: Report) -> str:
    """Return the answer where only single strata show a link; empty where none does."""
    level, called = report.settings.level, report.names.column
    clear = [(a.name, s.values) for a in report.attributes for s in a.population.strata if is_clear(s, level)]
    if not clear:
        return ""
    by = join_words([f"by {called(name)}" for name in dict.fromkeys(name for name, _ in clear)])
    strata = [" and ".join(f"{called(k)} = {level_words(v)}" for k, v in values.items()) for _, values in clear]
    where = f"where {join_words(strata, 'or')}" if len(strata) <= 3 else f"in {number_words(len(strata))} such groups"
    return _start_sentence(
        report, f"{called(report.subject)} differs {by} only {where}, and not clearly over all of them"
    )


def _label_headline(report: Report) -> str:
    shown = [f for a in report.attributes for f in (a.population, *a.findings) if f.significant]
    number = len({f.label or f.output for f in shown})
    by = join_words(list(dict.fromkeys(report.names.column(f.protected) for f in shown)), "or")
    return f"{number_words(number)} label{'s go' if number != 1 else ' goes'} with {by}"


def _start_sentence(report: Report, text: str) -> str:
    if report.explanatory:
        return f"Comparing only {report.names.people} with {alike_words(report.explanatory, report.names)}, {text}"
    return capitalise(text)


def nothing_found(report: Report) -> str:
    """Return the answer of a report without findings, without a full stop."""
    labels = report.kind == "discovery"
    what = "any label" if labels else report.names.column(report.subject)
    by = join_words([report.names.column(a.name) for a in report.attributes], "or")
    if report.tested == 0:
        return _start_sentence(report, f"no link between {what} and {by} could be tested")
    where = f"any of {count(report.tested)} {'tests' if labels else 'groups tested'}"
    where = where if report.tested > 1 else "the one group tested"
    return _start_sentence(report, f"no link between {what} and {by} was found in {where}")


def strongest(attribute: AttributeReport, names: Names = PLAIN_NAMES) -> str:
    """Return where the link of an attribute looks strongest; empty without findings in contexts."""
    first = next(iter(attribute.findings), attribute.population)
    if len(first.context) == 0:
        return ""
    metric = reported_metric(first.metric)
    where = f"the {count(first.size)} {names.people} with {context_words(first.context, names)}"
    size = f"{clean_line(metric.symbol)} {metric.scale.given(attribute.population.effect).estimate(first.effect)}"
    return f"By {names.column(attribute.name)} the link looks strongest among {where} ({size})."
