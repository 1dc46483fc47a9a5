"""Simpson's paradox in words: two groups' gap over everybody points one way, among people who are alike the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.metrics.choice import reported_metric
from fairtest.model.finding import CountTable
from fairtest.numbers import fixed, rate
from fairtest.reporting.words.clauses import two_by_two
from fairtest.reporting.words.phrases import capitalise, join_words, outcome_words

if TYPE_CHECKING:
    from fairtest.model.finding import Finding, Stratum
    from fairtest.model.names import Names

SIMPSON = "The direction turns: Simpson’s paradox."

_LARGE = 30
"""Strata of fewer people are not named as those where an output is most frequent."""


def simpson_note(finding: Finding, names: Names) -> tuple[str, ...]:
    """Return what to say where the direction turns given the explanatory attributes; nothing elsewhere.

    Both directions must be clear: where nothing is left given the attributes, the sign of the estimate is a coin's.
    """
    gap, bounds, effect = finding.gap, finding.gap_interval, finding.effect
    table, metric = two_by_two(finding), reported_metric(finding.metric)
    if not finding.strata or gap is None or bounds is None or effect is None or table is None:
        return ()
    clear = finding.significant and not bounds[0] <= 0 <= bounds[1]
    if metric.compares is None or gap * effect >= 0 or not clear:
        return ()
    given = join_words([names.column(name) for name in finding.strata[0].values])
    who = capitalise(names.those(table.protected, table.columns[1]))
    ahead = "ahead" if gap > 0 else "behind"
    within = metric.scale.for_effect(effect)
    return (
        f"{SIMPSON} Overall, {who[0].lower() + who[1:]} are {ahead} by "
        f"{fixed(100 * abs(gap), 1)} points; among {names.people} with the same {given} the difference is "
        f"{within.estimate(effect)}, the other way, and clear. Both are true. {_where(finding, table, names)}"
        f"{capitalise(given)} accounts for the overall gap. Whether it also excuses it is not a question statistics "
        f"can answer.",
    )


def split_title(note: str) -> tuple[str, str]:
    """Return a note in two: its title, which only that about the paradox has, and the rest."""
    return (SIMPSON, note.removeprefix(SIMPSON).strip()) if note.startswith(SIMPSON) else ("", note)


def _where(finding: Finding, table: CountTable, names: Names) -> str:
    """Return how many of each group are where the output is most frequent."""
    rates = {i: _rate(s.table) for i, s in enumerate(finding.strata) if s.size >= _LARGE}
    ranked = sorted((i for i, r in rates.items() if r is not None), key=lambda i: (-(rates[i] or 0.0), i))
    top = ranked[: 2 if len(ranked) > 3 else 1]
    # Not the table's: in reports that were stored earlier everybody may be more people than the strata are of.
    counted = [s.table for s in finding.strata if isinstance(s.table, CountTable)]
    people = [sum(t.sizes[g] for t in counted) for g in (0, 1)]
    if not top or not all(people):
        return ""
    inside = [
        sum(s.table.sizes[g] for i in top if isinstance((s := finding.strata[i]).table, CountTable)) for g in (1, 0)
    ]
    shares = [rate(n / people[g], 0) for n, g in zip(inside, (1, 0), strict=True)]
    groups = [names.having(table.protected, table.columns[g]) for g in (1, 0)]
    places = join_words([_place(finding.strata[i], names) for i in top], "or")
    share = outcome_words(finding, table.rows[1], names, noun=True)
    return f"{shares[0]} {groups[0]} but {shares[1]} {groups[1]} are in {places}, where {share} is highest. "


def _place(stratum: Stratum, names: Names) -> str:
    return " and ".join(f"{names.column(k)} {names.short(k, v)}" for k, v in stratum.values.items())


def _rate(table: object) -> float | None:
    if not isinstance(table, CountTable) or not sum(table.sizes):
        return None
    return sum(table.counts[1]) / sum(table.sizes)
