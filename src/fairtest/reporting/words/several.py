"""Several groups beside a reference group, in words: who differs from it, and who could not be compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairtest.metrics.scale import AMOUNT, POINTS, TIMES
from fairtest.model.comparison import FEWEST_COMPARED, spoken_of
from fairtest.numbers import UNDEFINED, count, decimals_for, quantity, rate
from fairtest.reporting.words.clauses import compare_rates
from fairtest.reporting.words.phrases import be, join_words, outcome_words, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.metrics.scale import Scale
    from fairtest.model.comparison import Comparison, GroupGap
    from fairtest.model.finding import Finding
    from fairtest.model.names import Names

MOST_NAMED = 3
"""How many groups beside the first a sentence names."""


def scale_of(comparison: Comparison) -> Scale:
    """Return how gaps are written: in points, or in the unit of the number with as many digits as the means have."""
    if comparison.output is not None:
        return POINTS
    return replace(AMOUNT, significant=False, decimals=_gap_decimals(comparison))


def _gap_decimals(comparison: Comparison) -> int:
    """Return how many decimals gaps have: as their size asks for, but no more than two beyond those of the means."""
    sizes = [g.gap for g in comparison.gaps if g.gap is not None]
    return min(decimals_for(sizes), max(_decimals(comparison), 2))


def _decimals(comparison: Comparison) -> int:
    known = [g.value for g in comparison.gaps if g.value is not None]
    return decimals_for([*known, comparison.value or 0.0])


def value_words(comparison: Comparison, value: float | None, decimals: int = 1) -> str:
    """Return a rate or a mean."""
    if comparison.output is None:
        return quantity(value, _decimals(comparison))
    return rate(value, decimals)


def several_words(finding: Finding, names: Names, subject: str) -> str:
    """Return who differs from the reference group, the gap that concerns most people first; empty without comparisons.

    ``subject`` is the first group as a subject with ``{}`` in its place: ``people with race = {}``.
    """
    comparison = spoken_of(finding.comparisons)
    if comparison is None:
        return ""
    confirmed = comparison.confirmed
    reference = names.those(finding.protected, comparison.reference)
    if not confirmed:
        return _no_single_gap(finding, comparison, names)
    first, *rest = confirmed
    own = names.label(finding.protected, first.group)
    who = own or subject.format(names.short(finding.protected, first.group))
    words = _gap_words(finding, comparison, first, who, reference, names)
    return words + _others_words(finding, comparison, first, rest, names)


def _gap_words(finding: Finding, comparison: Comparison, gap: GroupGap, who: str, reference: str, names: Names) -> str:
    a, b = gap.value or 0.0, comparison.value or 0.0
    before = gap.gap if gap.before is None else gap.before
    assert before is not None
    if comparison.output is None:
        size, numbers = quantity(abs(before), _gap_decimals(comparison)), [value_words(comparison, v) for v in (a, b)]
        measured = names.column(finding.output)
        more = _other_numbers(gap, _gap_decimals(comparison))
        if names.average:
            often = "more" if before > 0 else "less"
            start = f"{names.average} {size} {often} on average for {who} than for {reference}"
        else:
            higher = "higher" if before > 0 else "lower"
            start = f"average {measured} {be(measured)} {size} {higher} for {who} than for {reference}"
        return f"{start}: {numbers[0]} to {numbers[1]}{more}"
    return compare_rates(who, outcome_words(finding, comparison.output, names), reference, a, b)


def _other_numbers(gap: GroupGap, decimals: int) -> str:
    """Return the gap in per cent and that of the medians, in brackets: `` (14 % less; median 2 lower)``."""
    parts = []
    if gap.ratio is not None:
        parts.append(f"{rate(abs(gap.ratio - 1), 0)} {'more' if gap.ratio > 1 else 'less'}")
    if gap.median_gap is not None:
        size = quantity(abs(gap.median_gap), decimals)
        higher = "higher" if gap.median_gap > 0 else "lower"
        parts.append(f"median {size} {higher}" if gap.median_gap else "medians equal")
    return f" ({'; '.join(parts)})" if parts else ""


def _others_words(
    finding: Finding, comparison: Comparison, first: GroupGap, rest: Sequence[GroupGap], names: Names
) -> str:
    """Return the other confirmed gaps: those in the same direction, then those in the other."""

    def listed(gaps: Sequence[GroupGap]) -> str:
        shown = [
            f"{names.short(finding.protected, g.group)} ({value_words(comparison, g.value, 0)})"
            for g in gaps[:MOST_NAMED]
        ]
        more = [f"{plural(len(gaps) - MOST_NAMED, 'more group')}"] if len(gaps) > MOST_NAMED else []
        return join_words([*shown, *more])

    same = [g for g in rest if (g.gap or 0.0) * (first.gap or 0.0) > 0]
    other = [g for g in rest if (g.gap or 0.0) * (first.gap or 0.0) < 0]
    words = f"; likewise {listed(same)}" if same else ""
    if other:
        up = (other[0].gap or 0.0) > 0
        opposite = ("higher" if up else "lower") if comparison.output is None else f"{'more' if up else 'less'} often"
        words += f"; {opposite} for {listed(other)}"
    return words


def gap_words_given(finding: Finding, names: Names) -> str:
    """Return what is left of the gaps among people who are alike: ``the gap to White is −10.1 points for Black``."""
    comparison = spoken_of(finding.comparisons)
    assert comparison is not None
    scale, confirmed = scale_of(comparison), comparison.confirmed[: MOST_NAMED + 1]
    reference = names.short(finding.protected, comparison.reference)
    if not confirmed:
        return f"no gap to {reference} could be confirmed"
    first, *rest = (f"for {names.short(finding.protected, g.group)}" for g in confirmed)
    numbers = [scale.number(g.gap) for g in confirmed]
    named = [f"{numbers[0]}{scale.unit} {first}", *(f"{n} {who}" for n, who in zip(numbers[1:], rest, strict=True))]
    return f"the gap to {reference} is {join_words(named)}"


def gaps_inside(finding: Finding, names: Names) -> str:
    """Return how far the groups of a context are from the reference: ``gap to cauc in the share with hired = no: …``.

    Those whose simultaneous interval excludes none come first, the others are marked; empty without several groups.
    """
    comparison = spoken_of(finding.comparisons)
    if comparison is None or len(comparison.gaps) < 2:
        return ""
    scale = scale_of(comparison)
    gaps = sorted(
        (g for g in comparison.gaps if g.gap is not None), key=lambda g: (not g.significant, -abs(g.gap or 0.0))
    )
    what, unit = f"average {names.column(finding.output)}", ""
    if comparison.output is not None:
        what, unit = outcome_words(finding, comparison.output, names, noun=True), " points"
    reference = names.short(finding.protected, comparison.reference)
    shown = [
        f"{names.short(finding.protected, g.group)} {scale.number(g.gap)}{'' if place else unit}"
        f"{'' if g.significant else ' (not clear)'}"
        for place, g in enumerate(gaps[: MOST_NAMED + 1])
    ]
    return f"gap to {reference} in {what}: {', '.join(shown)}"


def _no_single_gap(finding: Finding, comparison: Comparison, names: Names) -> str:
    """Return that groups differ, though no single one surely from the reference."""
    known = sorted((g.value, g.group) for g in comparison.gaps if g.value is not None)
    known.append((comparison.value or 0.0, comparison.reference))
    (low, lowest), (high, highest) = min(known), max(known)
    what = f"average {names.column(finding.output)}"
    if comparison.output is not None:
        what = outcome_words(finding, comparison.output, names, noun=True)
    ends = (value_words(comparison, low), value_words(comparison, high))
    groups = (names.short(finding.protected, lowest), names.short(finding.protected, highest))
    reference = names.short(finding.protected, comparison.reference)
    runs = f"{what} runs from {ends[0]} ({groups[0]}) to {ends[1]} ({groups[1]})"
    return f"{runs}, but no single group surely differs from {reference}"


STEP_BY_STEP = "A gap can be clear although its interval reaches past none: the test goes step by step, and is sharper."


def touches_none(comparison: Comparison) -> bool:
    """Whether the interval of a confirmed gap holds "no gap"."""
    return any(g.interval is not None and g.interval[0] <= 0 <= g.interval[1] for g in comparison.confirmed)


def small_words(finding: Finding, names: Names) -> str:
    """Return which groups have too few people to be compared, in a sentence; empty where there are none."""
    comparison = spoken_of(finding.comparisons)
    if comparison is None or not comparison.small:
        return ""
    named = [f"{names.short(finding.protected, group)} ({count(size)})" for group, size in comparison.small[:8]]
    more = [f"{plural(len(comparison.small) - 8, 'more group')}"] if len(comparison.small) > 8 else []
    return f"Fewer than {FEWEST_COMPARED} {names.people}, and so not compared: {join_words([*named, *more])}."


def _more_cells(gap: GroupGap, scale: Scale) -> list[str]:
    """Return the ratio of means and the difference of medians, each with its single interval."""
    ratio = "" if gap.ratio is None else TIMES.number(gap.ratio - 1)
    if gap.ratio_interval is not None:
        ratio += f" {TIMES.interval((gap.ratio_interval[0] - 1, gap.ratio_interval[1] - 1))}"
    median = "" if gap.median_gap is None else scale.number(gap.median_gap)
    median += "" if gap.median_gap_interval is None else f" {scale.interval(gap.median_gap_interval)}"
    return [ratio or UNDEFINED, median or UNDEFINED]


def ratio_words(gap: GroupGap, comparison: Comparison) -> str:
    """Return the ratio of means and the difference of medians in a few words; empty where there are neither."""
    ratio, median = _more_cells(gap, scale_of(comparison))
    parts = [f"ratio of means {ratio}"] if ratio != UNDEFINED else []
    parts += [f"difference of medians {median}"] if median != UNDEFINED else []
    return f"{'; '.join(parts)} (single intervals)" if parts else ""


def gap_table(finding: Finding, names: Names) -> list[list[str]]:
    """Return a table of the groups beside the reference, its head first: rate or mean, gap, interval, people."""
    comparison = spoken_of(finding.comparisons)
    if comparison is None:
        return []
    scale, given = scale_of(comparison), any(g.before is not None for g in comparison.gaps)
    reference = names.short(finding.protected, comparison.reference)
    value = "mean" if comparison.output is None else names.pair(finding.output, comparison.output)
    head = [names.column(finding.protected), value, f"gap to {reference}"]
    head += ["among those alike"] if given else []
    is_number = comparison.output is None
    rows = [[*head, "interval", *(["ratio", "median gap"] if is_number else []), names.people, ""]]
    dashes = [""] * (len(head) - 1 + 2 * is_number)
    first = f"{reference} (reference)"
    rows.append([first, value_words(comparison, comparison.value), *dashes, count(comparison.size), ""])
    for gap in comparison.gaps:
        gaps = [gap.before, gap.gap] if given else [gap.gap]
        rows.append(
            [
                names.short(finding.protected, gap.group),
                value_words(comparison, gap.value),
                *map(scale.number, gaps),
                scale.interval(gap.interval),
                *(_more_cells(gap, scale) if is_number else []),
                count(gap.size),
                "clear" if gap.significant else "not clear",
            ]
        )
    return rows
