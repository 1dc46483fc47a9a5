"""The answers of a report, over everybody and in groups, also where nothing could be confirmed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.model.names import level_words
from fairtest.numbers import count
from fairtest.reporting.words.direction import direction_words, left_unconfirmed
from fairtest.reporting.words.everybody import is_sign, p_words, sign_words
from fairtest.reporting.words.groups import count_groups, groups_answer, none_of_groups
from fairtest.reporting.words.phrases import alike_words, capitalise, join_words, number_words, plural
from fairtest.reporting.words.sentences import is_clear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.finding import Finding
    from fairtest.model.report import Report

_MOST_MEASURED = 3
"""Of more attributes that show a link over everybody, the headline only names them."""


def headline(report: Report) -> str:
    """Return all answers of a report, over everybody and in groups, without the last full stop."""
    return ". ".join(answers(report))


def answers(report: Report) -> tuple[str, ...]:
    """Return the answers over everybody, one for each attribute, and then what groups add to them."""
    return (*everybody_answers(report), *groups_answers(report))


def everybody_answers(report: Report) -> tuple[str, ...]:
    """Return the answers over everybody, one for each attribute; one sentence where nothing at all is shown."""
    if report.tested == 0:
        what = "any label" if report.kind == "discovery" else report.names.column(report.subject)
        return (_start_sentence(report, f"no link between {what} and {_all_attributes(report)} could be tested"),)
    if report.kind == "discovery":
        return _label_answers(report)[:1]
    if _shows_nothing(report) and not _strata_answer(report):
        alone = report.attributes[0] if len(report.attributes) == 1 else None
        words = "" if alone is None else left_unconfirmed(report, alone)
        return (capitalise(words) if words else nothing_found(report),)
    return tuple(map(capitalise, _over_everybody(report)))


def groups_answers(report: Report) -> tuple[str, ...]:
    """Return what groups add to the answers over everybody; nothing where no group was tested."""
    if report.tested == 0:
        return ()
    if report.kind == "discovery":
        return _label_answers(report)[1:]
    words = _strata_answer(report) if _shows_nothing(report) else _in_groups(report)
    return (capitalise(words),) if words else ()


def _shows_nothing(report: Report) -> bool:
    """Whether neither everybody nor a group shows a link, or at least a sign of one over everybody."""
    return not any(
        is_sign(report.settings, a.population) or a.population.significant or a.findings for a in report.attributes
    )


def _over_everybody(report: Report) -> list[str]:
    """Return what is confirmed over everybody, what shows a sign, and what could not be confirmed."""
    called, settings = report.names.column, report.settings
    subject = called(report.subject)
    clear = [a for a in report.attributes if a.population.significant]
    signs = [a for a in report.attributes if is_sign(settings, a.population)]
    others = [a for a in report.attributes if not a.population.significant and not is_sign(settings, a.population)]
    if len(clear) > _MOST_MEASURED:
        by = [f"by {called(a.name)} ({p_words(report, a.population)})" for a in clear]
        parts = [f"{subject} differs {join_words(by)}{_alike(report)}"]
    else:
        parts = [direction_words(report, a) for a in clear]
    for a in signs:
        goes = f"{subject} goes with {called(a.name)}{_alike(report)}"
        parts.append(f"there is a sign that {goes}, but no proof ({sign_words(settings, a.population)})")
    said = [words for a in others if (words := left_unconfirmed(report, a))] if len(others) == 1 else []
    parts += said
    if others and not said:
        no_link = f"no link between {subject} and {join_words([called(a.name) for a in others], 'or')}"
        parts.append(f"over everybody{_alike(report)}, {no_link} could be confirmed")
    return parts


def _alike(report: Report) -> str:
    if not report.explanatory:
        return ""
    return f", comparing only {report.names.people} with {alike_words(report.explanatory, report.names)}"


def _in_groups(report: Report) -> str:
    """Return what groups add, for one attribute or for each of several."""
    said = [(a, words) for a in report.attributes if (words := groups_answer(report, a))]
    strata = _strata_answer(report)
    if not said:
        return strata
    if len(report.attributes) == 1:
        ((attribute, words),) = said
        if attribute.inside and not attribute.population.significant:
            words = f"but {words}"
        return words if attribute.inside or not strata else strata
    none = [a for a, _ in said if not a.inside]
    by = [f"by {report.names.column(a.name)}, {words}" for a, words in said if a.inside]
    if none:
        more = "much more" if all(a.population.significant for a in none) else "a link"
        named = join_words([report.names.column(a.name) for a in none], "or")
        groups = [count_groups(report, a) for a in none]
        total = None if None in groups else sum(n or 0 for n in groups)
        by.append(f"by {named}, {none_of_groups(total)} could {more} be confirmed")
    return "; ".join(by)


def _strata_answer(report: Report) -> str:
    """Return in which single strata of everybody a link shows; empty where none does, or where it shows over all."""
    level, called = report.settings.level, report.names.column
    unclear = [a for a in report.attributes if not a.population.significant]
    clear = [(a.name, s.values) for a in unclear for s in a.population.strata if is_clear(s, level)]
    if not clear:
        return ""
    by = join_words([f"by {called(name)}" for name in dict.fromkeys(name for name, _ in clear)])
    strata = [" and ".join(f"{called(k)} = {level_words(v)}" for k, v in values.items()) for _, values in clear]
    where = f"where {join_words(strata, 'or')}" if len(strata) <= 3 else f"in {number_words(len(strata))} such groups"
    return f"It differs clearly {by} only {where}"


def _label_answers(report: Report) -> tuple[str, ...]:
    """Return which labels go with an attribute over everybody, and in groups."""
    overall = [f for f in report.populations if f.significant]
    inside = [f for a in report.attributes for f in a.inside]
    if not overall and not inside:
        return (nothing_found(report),)
    if not overall:
        everybody = "over everybody, no label could be confirmed"
    else:
        everybody = f"over everybody, {_labels_go_with(report, overall)}"
    if not inside:
        return _start_sentence(report, everybody), "Beyond that, in no group could a label be confirmed"
    but = "in groups" if overall else "but in groups"
    return _start_sentence(report, everybody), capitalise(f"{but}, {_labels_go_with(report, inside)}")


def _labels_go_with(report: Report, shown: Sequence[Finding]) -> str:
    number = len({f.label or f.output for f in shown})
    by = join_words(list(dict.fromkeys(report.names.column(f.protected) for f in shown)), "or")
    return f"{number_words(number)} label{'s go' if number != 1 else ' goes'} with {by}"


def _start_sentence(report: Report, text: str) -> str:
    if report.explanatory:
        return f"Comparing only {report.names.people} with {alike_words(report.explanatory, report.names)}, {text}"
    return capitalise(text)


def _all_attributes(report: Report) -> str:
    return join_words([report.names.column(a.name) for a in report.attributes], "or")


def nothing_found(report: Report) -> str:
    """Return the answer of a report that confirms nothing, without a full stop."""
    labels = report.kind == "discovery"
    what = "any label" if labels else report.names.column(report.subject)
    no_link = f"no link between {what} and {_all_attributes(report)} could be confirmed"
    if labels:
        return _start_sentence(report, f"{no_link} in {plural(report.tested, 'test')}")
    groups = [count_groups(report, a) for a in report.attributes]
    if not any(groups) and None not in groups:
        return _start_sentence(report, f"{no_link} over everybody")
    total = sum(n or 0 for n in groups)
    where = "in any group" if None in groups else f"in any of {count(total)} groups"
    where = "in the one group tested" if total == 1 and None not in groups else where
    return _start_sentence(report, f"{no_link}, neither over everybody nor {where}")
