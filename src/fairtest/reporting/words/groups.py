"""What the groups of a report add to the answer over everybody, and how they stand to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.metrics.choice import reported_metric, scale_for
from fairtest.model.names import clean_line
from fairtest.numbers import count
from fairtest.reporting.words.phrases import is_slight, number_words, plural
from fairtest.reporting.words.sentences import is_reversed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.model.finding import Elsewhere, Finding, Tested
    from fairtest.model.report import AttributeReport, Report

TICK = "✓"
TICK_MEANING = (
    "a condition that is surely needed: with it the link is stronger than among those who meet only the others"
)


def is_compared(attribute: AttributeReport) -> bool:
    """Whether the groups shown were tested against each other and against everybody else."""
    return any(finding.confirmed for finding in attribute.inside)


def count_groups(report: Report, attribute: AttributeReport) -> int | None:
    """Return how many groups were tested besides everybody; None where strata cannot be told from them."""
    population = attribute.population
    here = attribute.tested - (population.p_value is not None or report.reuse is not None)
    if not report.explanatory:
        return max(here, 0)
    here -= sum(stratum.p_value is not None for stratum in population.strata)
    return None if here > 0 else 0


def none_of_groups(groups: int | None) -> str:
    """Return ``in none of 219 groups``."""
    if groups is None:
        return "in no group"
    return "not in the one group tested" if groups == 1 else f"in none of {count(groups)} groups"


# The second answer ------------------------------------------------------------------------------------------------


def groups_answer(report: Report, attribute: AttributeReport) -> str:
    """Return what groups add for one attribute, as a clause; empty where no group was tested."""
    inside, whole = attribute.inside, attribute.population
    groups = count_groups(report, attribute)
    if not inside:
        return _nothing_more(attribute, groups) if groups != 0 else ""
    number = _name_groups(inside)
    if not whole.significant:
        return f"it differs in {number}"
    if not is_compared(attribute):
        turned = any(is_reversed(finding, whole.effect) for finding in inside)
        looks = "looks stronger or turns the other way" if turned else "looks stronger than over everybody"
        return f"in {number} the link {looks}"
    if attribute.everywhere:
        return _everywhere(attribute)
    them = "it" if len(inside) == 1 else "them"
    if attribute.elsewhere is None:
        return f"it shows in {number}"
    left = "less is left" if _is_clear(attribute.elsewhere) else "nothing clear is left"
    return f"it shows in {number}, and outside {them} {left}"


def _name_groups(inside: Sequence[Finding]) -> str:
    """Return how many groups there are; one is named: ``one group (age > 31)``."""
    if len(inside) == 1 and inside[0].label is None:
        return f"one group ({clean_line(str(inside[0].context))})"
    return plural(len(inside), "group", in_words=True)


def _nothing_more(attribute: AttributeReport, groups: int | None) -> str:
    where = none_of_groups(groups)
    if not attribute.population.significant:
        return f"{where} could a link be confirmed either"
    more = attribute.significant > 1
    return f"beyond that, {where} could {'much more' if more else 'a difference'} be confirmed"


def _everywhere(attribute: AttributeReport) -> str:
    """Return that the link is everybody's, and how many groups differ from it."""
    inside, rest = attribute.inside, attribute.elsewhere
    seen = rest is None or _is_clear(rest)
    whole = attribute.population.effect or 0.0
    reverse = [finding for finding in inside if is_reversed(finding, whole)]
    without = sum(is_slight(finding, whole) for finding in reverse)
    turned, stronger = len(reverse) - without, len(inside) - len(reverse)
    if not reverse:
        groups = _name_groups(inside)
        return f"this holds everywhere, and more so in {groups}" if seen else f"it is stronger in {groups}"
    gap = f"no such {_noun_of(attribute)}"
    if not stronger and not (turned and without):
        what = "it is the other way round" if turned else f"there is {gap}"
        return f"this holds everywhere but in {_name_groups(inside)}, where {what}"
    kinds = [(stronger, "more so in"), (turned, "the other way round in"), (without, f"{gap} in")]
    (first, words), *others = [kind for kind in kinds if kind[0]]
    parts = [f"{words} {plural(first, 'group', in_words=True)}", *(f"{how} {number_words(n)}" for n, how in others)]
    return f"this holds {'nearly everywhere' if seen else 'for most'}: {', '.join(parts)}"


def _noun_of(attribute: AttributeReport) -> str:
    return "gap" if reported_metric(attribute.metric).compares == "difference" else "link"


# A finding beside the others --------------------------------------------------------------------------------------


def relation_words(attribute: AttributeReport, finding: Finding) -> str:
    """Return how a group stands to everybody or to the one around it, where that is confirmed; empty elsewhere."""
    if finding.inside is not None:
        around = _find(attribute, finding)
        number = 0 if around is None else attribute.inside.index(around) + 1
        effect = None if around is None else around.effect
        without = f"with no such {_noun_of(attribute)} as"
        differs = _tell_apart(finding, effect, "stronger than in", "the other way round from", without)
        return f"inside group {number}, and {differs} the rest of it" if number else ""
    if not attribute.everywhere or not is_compared(attribute):
        return ""
    without, turned = f"no such {_noun_of(attribute)} as among", "the other way round than among"
    return f"{_tell_apart(finding, attribute.population.effect, 'more so than', turned, without)} everybody else"


def _tell_apart(finding: Finding, other: float | None, stronger: str, turned: str, without: str) -> str:
    """Return the words for a group that differs from others: stronger, the other way round, or without their link."""
    if other is None or not is_reversed(finding, other):
        return stronger
    return without if is_slight(finding, other) else turned


def _find(attribute: AttributeReport, finding: Finding) -> Finding | None:
    """Return the finding around another."""
    same = (f for f in attribute.inside if (f.label, f.context) == (finding.label, finding.inside))
    return next(same, None)


def depth_of(attribute: AttributeReport, finding: Finding) -> int:
    """Return in how many of the groups shown, each inside the next, a finding is."""
    depth, around = 0, finding
    while around.inside is not None and (found := _find(attribute, around)) is not None:
        depth, around = depth + 1, found
    return depth


def condition_words(finding: Finding) -> str:
    """Return the conditions of a group, with a tick at each that is surely needed; empty where that is not known."""
    if not finding.confirmed:
        return ""
    predicates = [clean_line(str(predicate)) for predicate in finding.predicates]
    if not any(finding.confirmed):
        alone = "the condition is" if len(predicates) == 1 else "none of the conditions is"
        return f"{alone} confirmed by itself" if len(predicates) > 1 else ""
    ticked = [f"{p} {TICK}" if sure else p for p, sure in zip(predicates, finding.confirmed, strict=True)]
    needed = "surely needed" if all(finding.confirmed) else f"surely needed where there is a {TICK}"
    return f"{'condition' if len(ticked) == 1 else 'conditions'}: {', '.join(ticked)} ({needed})"


def folded_words(finding: Finding) -> str:
    """Return how many other significant groups a finding stands for; empty where there are none."""
    if not finding.folded:
        return ""
    others = plural(finding.folded, "other significant group")
    verbs = ("shares", "says") if finding.folded == 1 else ("share", "say")
    return f"stands for {others} that {verbs[0]} people with it and {verbs[1]} no more"


def repeated_words(attribute: AttributeReport, other: Tested) -> str:
    """Return what a significant group that is not shown says again: a finding with its number, or everybody."""
    numbers = {f.context: n for n, f in enumerate(attribute.inside, 1) if f.label is None}
    if other.part_of in numbers:
        return f"Parts of group {numbers[other.part_of]}, or much like it: {clean_line(str(other.part_of))}"
    return "No more than everybody" if attribute.population.significant else "No more than the groups shown"


# Everybody else ---------------------------------------------------------------------------------------------------


def _is_clear(rest: Elsewhere) -> bool:
    return not rest.interval[0] <= 0 <= rest.interval[1]


def elsewhere_words(report: Report, attribute: AttributeReport) -> str:
    """Return what is left to see outside the groups shown, in a sentence; empty where that is not known."""
    rest, inside = attribute.elsewhere, attribute.inside
    if rest is None or not inside:
        return ""
    scale, metric = scale_for(attribute.metric, attribute.population.effect), reported_metric(attribute.metric)
    noun = _noun_of(attribute)
    value = f"{scale.estimate(rest.effect)} {scale.interval(rest.interval)}, a single interval"
    outside = "this group" if len(inside) == 1 else "these groups"
    start = f"Outside {outside} ({report.names.number_of(rest.size)})"
    if not _is_clear(rest):
        return f"{start} nothing clear is left: {value}."
    if not attribute.population.significant:
        return f"{start} a {noun} is to be seen as well: {value}."
    turned = metric.signed and rest.effect * (attribute.population.effect or 0.0) < 0
    return f"{start} the {noun} {'is the other way round' if turned else 'is still there'}: {value}."


def contrast_promise(report: Report) -> str:
    """Return what is promised of the comparisons between groups, as a clause; empty where there are none."""
    shown = [attribute for attribute in report.attributes if is_compared(attribute)]
    kinds = []
    if any(f.inside is not None for a in shown for f in a.inside):
        kinds.append("inside another")
    if any(a.everywhere for a in shown):
        kinds.append("as differing from everybody")
    rest = "everybody else" if kinds == ["as differing from everybody"] else "the rest of it"
    comma = "," if len(kinds) > 1 else ""
    promises = [f"every group shown {', or '.join(kinds)}{comma} truly differs from {rest}"] if kinds else []
    if any(any(f.confirmed) for a in shown for f in a.inside):
        promises.append(f"every condition with a {TICK} is truly needed")
    return ", and ".join(promises)
