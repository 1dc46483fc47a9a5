"""From what was looked at to what is reported: four numbers, and what was left out on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.model.names import clean_line, level_words
from fairtest.numbers import count
from fairtest.reporting.words.everybody import is_whole_file
from fairtest.reporting.words.groups import is_compared
from fairtest.reporting.words.method import is_undivided, measured_set
from fairtest.reporting.words.phrases import alike_words, join_words, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtest.model.report import Report


def funnel(report: Report) -> list[tuple[int, str]]:
    """Return the four numbers of a report, from looked at to reported, with what each counts."""
    settings = report.settings
    return [
        _first_step(report),
        (report.tested, _tested_words(report)),
        (
            report.significant,
            f"{significant_word(report)} at level {settings.level:.4g} after correction ({settings.correction})"
            + _strata_besides(report.significant_strata),
        ),
        (report.reported, _shown_words(report)),
    ]


def _strata_besides(number: int) -> str:
    """Return how many strata are significant too: they are parts of what is counted, and not counted with it."""
    return f", and {plural(number, 'stratum', 'strata')} inside them" if number else ""


def _tested_words(report: Report) -> str:
    if report.reuse is not None:
        return "hypotheses put to the test set, populations included"
    if not any(attribute.named for attribute in report.attributes):
        return "hypotheses tested on the test set, populations included"
    whole = all(is_whole_file(report, attribute) for attribute in report.attributes)
    return f"hypotheses tested: groups on the test set, everybody {'on the whole file' if whole else 'on training too'}"


def _shown_words(report: Report) -> str:
    """Return what is reported: how many of it are whole populations, and why the rest is not."""
    populations = sum(f.significant for f in report.populations)
    besides = f", {count(populations)} of them the whole population" if populations else ""
    if populations == report.reported == 1:
        besides = ": the whole population"
    if not _count_not_reported(report):
        return f"reported{besides}"
    if _is_compared(report):
        return f"reported{besides}; the other significant groups say no more"
    them = "it" if report.reported == 1 else "them"
    return f"reported: no larger group around {them} shows as strong a link{besides}"


def _is_compared(report: Report) -> bool:
    """Whether groups were shown for what they say beyond each other, and not by the rule of the paper."""
    inside = [attribute for attribute in report.attributes if attribute.inside]
    return all(map(is_compared, inside)) and report.settings.preset != "paper" and report.reuse is None


def _first_step(report: Report) -> tuple[int, str]:
    """Return what a report begins with: what was looked at, or the groups of the run that it explains."""
    if report.explains is not None:
        (run, number), left_out = report.explains, report.not_asked_again
        which = "everyone, and where the link was significant"
        if report.labels is None and number == len(report.attributes):
            given = join_words([report.names.column(name) for name in report.explanatory], "or")
            speak = "the one other that was significant speaks" if left_out == 1 else "all others significant speak"
            which = f"everyone; {f'{speak} of {given}' if left_out else 'no other was significant'}"
        return number, f"{'group' if number == 1 else 'groups'} of run {run} asked about again: {which}"
    if is_undivided(report):
        return report.looked_at, "groups fixed beforehand"
    one = "candidate group" if report.looked_at == 1 else "candidate groups"
    candidates = one if report.labels is None else "labels in candidate groups"
    return report.looked_at, f"{candidates} looked at on the training set"


def significant_word(report: Report) -> str:
    """Return the word for a link that passed the test; a reusable test set only confirms."""
    return "significant" if report.reuse is None else "confirmed"


# Left out ---------------------------------------------------------------------------------------------------------


def _count_not_significant(report: Report) -> int:
    return max(report.tested - report.significant - report.significant_strata, 0)


def _count_not_reported(report: Report) -> int:
    return max(report.significant - report.reported, 0)


def left_out_line(report: Report) -> str:
    """Return in a line how many tested hypotheses are not reported; the numbers add up with the funnel."""
    parts = []
    if weak := _count_not_significant(report):
        parts.append(f"{plural(weak, 'hypothesis', 'hypotheses')} not {significant_word(report)}")
    if covered := _count_not_reported(report):
        less = "but saying no more" if _is_compared(report) else "but no stronger than a group that contains them"
        parts.append(f"{count(covered)} {significant_word(report)} {less}")
    if people := max((a.left_out for a in report.attributes), default=0):
        parts.append(f"{report.names.number_of(people)} with a value missing")
    return f"Left out: {', '.join(parts)}." if parts else "Nothing that was tested is left out."


def left_out(report: Report) -> list[tuple[str, str]]:
    """Return what is not shown: how much of it, and why."""
    return [*_hypotheses(report), *_missing_people(report), *_other_people(report), *_rare_labels(report)]


def _hypotheses(report: Report) -> Iterator[tuple[str, str]]:
    people, significant = report.names.people, significant_word(report)
    if weak := _count_not_significant(report):
        why = f"no link seen, or not enough {people} to see one"
        if report.explanatory:
            alike = alike_words(report.explanatory, report.names)
            why += f"; groups of {people} with {alike} count here too, and are shown below"
        yield plural(weak, "hypothesis", "hypotheses"), f"not {significant}: {why}"
    if covered := _count_not_reported(report):
        yield plural(covered, "group"), f"{significant}, {_why_covered(report, covered)}"
    if untestable := sum(a.untestable for a in report.attributes):
        why = "a group of people absent, or a column that does not vary"
        yield plural(untestable, "group"), f"could not be measured on the {measured_set(report)}: {why}"


def _why_covered(report: Report, covered: int) -> str:
    """Return why significant groups are not shown: what they say is said by those that are, or by everybody."""
    people, copies = report.names.people, sum(f.folded for f in report.findings)
    if not _is_compared(report):
        them = "it" if covered == 1 else "them"
        why = f"but no stronger than a larger group that contains {them}, or not visibly so"
        if copies:
            why += f", or nothing beyond a group that is shown and has many of the same {people} ({count(copies)})"
        return why
    reasons = []
    if copies:
        one = f"than a group shown, with which {'it shares' if covered == 1 else 'they share'} {people}"
        reasons.append(f"{one} ({count(copies)})" if copies < covered else one)
    if copies < covered:
        everybody = any(f.significant for f in report.populations)
        other = f"than {'everybody together' if everybody else 'those shown'}"
        reasons.append(f"{other} ({count(covered - copies)})" if copies else other)
    return f"and saying no more {', or '.join(reasons)}"


def _missing_people(report: Report) -> Iterator[tuple[str, str]]:
    truth = () if report.errors is None else (report.errors.truth,)
    for attribute in report.attributes:
        if attribute.left_out:
            needed = dict.fromkeys((attribute.name, report.output, *truth, *report.explanatory))
            columns = join_words([report.names.written(c) for c in needed], "or")
            people = report.names.number_of(attribute.left_out)
            yield people, f"of the {measured_set(report)} have no value for {columns}"


def _other_people(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the people whom an error profile is not about."""
    if report.errors is None or report.errors.among is None:
        return
    value, other = (level_words(v) for v in report.errors.among)
    truth, subject = clean_line(report.errors.truth), clean_line(report.subject)
    for attribute in report.attributes:
        if attribute.outside:
            by = f" (by {clean_line(attribute.name)})" if len(report.attributes) > 1 else ""
            about = f"the {subject} is about {report.names.people} with {truth} = {value}{by}"
            people = report.names.number_of(attribute.outside)
            yield people, f"of the {measured_set(report)} have {truth} = {other}: {about}"


def _rare_labels(report: Report) -> Iterator[tuple[str, str]]:
    """Yield how many labels were too rare to be looked at, for each attribute where that differs."""
    if report.labels is None:
        return
    few = f"that fewer than about {report.names.number_of(report.labels.min_people)} have, or have not (min people)"
    differs = len({a.rare for a in report.attributes}) > 1
    for number, attribute in {a.rare: a for a in report.attributes if a.rare}.items():
        among = f", among those with {report.names.column(attribute.name)}" if differs else ""
        yield plural(number, "label"), few + among
