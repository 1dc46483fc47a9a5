"""Before and after: what a link is over all people together, and what is left of it among those who are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtest.metrics.choice import reported_metric
from fairtest.model.finding import GroupTable
from fairtest.numbers import count
from fairtest.reporting.words.phrases import capitalise, join_words
from fairtest.reporting.words.sentences import is_clear

if TYPE_CHECKING:
    from fairtest.model.finding import Finding
    from fairtest.model.report import Report
    from fairtest.reporting.outline import AttributeOutline, FindingOutline

MOST_NAMED = 3
"""How many strata a sentence names."""


def effect_before(finding: Finding) -> float | None:
    """Return the effect over all strata together; None where it is not known, or not to be compared.

    The strength of a link without direction is estimated too high within many small strata, so that it is not set
    beside the one over everybody.
    """
    metric, table = reported_metric(finding.metric), finding.table
    if metric.compares == "difference":
        return finding.gap
    if metric.compares_means and isinstance(table, GroupTable) and len(table.rows) == 2:
        reference, compared = (group.mean for group in table.rows)
        return None if reference is None or compared is None else compared - reference
    return None


def before_and_after(report: Report, entry: AttributeOutline) -> list[list[str]]:
    """Return a table of everybody and the groups shown, its head first; empty without explanatory attributes."""
    shown = [entry.population, *entry.inside] if report.labels is None else []
    if not report.explanatory or not shown or entry.population.finding.effect is None:
        return []
    given = join_words([report.names.column(name) for name in report.explanatory])
    known = any(effect_before(each.finding) is not None for each in shown)
    if not known and entry.population.finding.comparisons and len(shown) == 1:
        return []  # each group has its gap before and after already
    head = [capitalise(entry.name), *(["all together"] if known else []), f"given {given}", report.names.people, ""]
    return [head, *(_line(each, known=known) for each in shown)]


def _line(entry: FindingOutline, *, known: bool) -> list[str]:
    finding, scale = entry.finding, entry.scale
    after = f"{scale.number(finding.effect)} {scale.interval(finding.interval)}"
    before = [scale.number(effect_before(finding))] if known else []
    return [entry.title, *before, after, count(finding.size), _verdict(finding)]


def _verdict(finding: Finding) -> str:
    before = effect_before(finding)
    if not finding.significant:
        return "not clear"
    if before is not None and finding.effect is not None and before * finding.effect < 0:
        return "clear, and the other way round"
    return "still clear" if before is not None else "clear"


def clear_strata(report: Report, entry: AttributeOutline) -> str:
    """Return the strata of everybody that show a link by themselves, in a sentence; empty where there are none."""
    finding, scale, names = entry.population.finding, entry.scale, report.names
    clear = [s for s in finding.strata if is_clear(s, report.settings.level)]
    if not clear:
        return ""
    named = [f"{names.values(s.values)} ({scale.estimate(s.effect)})" for s in clear[:MOST_NAMED]]
    more = [f"{count(len(clear) - MOST_NAMED)} more"] if len(clear) > MOST_NAMED else []
    return f"Clear by itself where {join_words([*named, *more])}; of {count(len(finding.strata))} in all."
