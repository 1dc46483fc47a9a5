"""What a page shows of a report: its outline, and the plots and facts that the templates set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairtest.metrics.choice import reported_metric
from fairtest.metrics.scale import POINTS
from fairtest.model.finding import CountTable
from fairtest.numbers import count, fixed, per_cent, typeset, typeset_p
from fairtest.reporting.figures.plots import RatePlot, plot_table
from fairtest.reporting.outline import outline_finding, outline_of
from fairtest.reporting.views.forests import findings_view, strata_view, tree_view
from fairtest.reporting.views.labels import label_view
from fairtest.reporting.words.clauses import two_by_two
from fairtest.reporting.words.everybody import detectable_note, has_own_level
from fairtest.reporting.words.groups import is_compared
from fairtest.reporting.words.impact import lowest_impact
from fairtest.reporting.words.phrases import capitalise, plural
from fairtest.reporting.words.rates import error_table
from fairtest.reporting.words.sentences import group_phrases
from fairtest.reporting.words.several import STEP_BY_STEP, gap_table, scale_of, small_words, touches_none
from fairtest.reporting.words.titles import metric_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.model.comparison import Comparison
    from fairtest.model.finding import Finding
    from fairtest.model.report import AttributeReport, Report
    from fairtest.reporting.figures.plots import NumberPlot
    from fairtest.reporting.outline import AttributeOutline, FindingOutline, Outline

View = dict[str, Any]
Fact = tuple[str, str, str]
_LONG, _MANY = 5, 50
"""How many findings it takes for controls that filter and sort them, and for drawing only those in sight."""


def page_view(report: Report) -> View:
    """Return the values of the templates of a page or a notebook."""
    outline = outline_of(report)
    attributes = [_attribute(report, attribute, i) for i, attribute in enumerate(outline.attributes, 1)]
    number = sum(len(a["findings"]) for a in attributes)
    return {
        "report": report,
        "names": report.names,
        "outline": outline,
        "level": typeset(outline.level),
        "lead": list(_lead(outline)),
        "attributes": attributes,
        "is_compared": any(map(is_compared, report.attributes)),
        "has_tools": number >= _LONG,
        "has_many": number >= _MANY,
    }


def _lead(outline: Outline) -> Iterator[list[tuple[str, str]]]:
    """Yield what stands below the answers: how small an effect could have been seen, where nothing was."""
    several = len(outline.attributes) > 1
    for entry in outline.attributes[:3]:
        for note in _could_have_been_seen(outline.report, entry.attribute):
            yield _mark_phrases(f"By {entry.name}, {note[:1].lower()}{note[1:]}" if several else note)


def _could_have_been_seen(report: Report, attribute: AttributeReport) -> tuple[str, ...]:
    """Return the smallest effects that could have been seen, where nothing was."""
    if report.reuse is not None or attribute.population.significant or attribute.findings or attribute.labels:
        return ()
    return detectable_note(attribute.population, attribute.detectable, attribute.detectable_inside, report.names)


def _attribute(report: Report, entry: AttributeOutline, number: int) -> View:
    attribute, scale, anchor = entry.attribute, entry.scale, f"a{number}"
    # Labels over everybody are in a table of their own; one by one they are shown only if they have strata.
    shown = attribute.findings if report.labels is None or report.explanatory else attribute.inside
    tree = tree_view(report, attribute, scale)
    nodes = () if tree is None else enumerate(tree["icicle"].nodes)
    in_tree = {node.part.context: f"{anchor}-t-{i}" for i, node in nodes}
    return {
        "anchor": anchor,
        "entry": entry,
        "about": attribute,
        "forest": findings_view(attribute, shown, scale, report.names),
        "population": _finding(report, entry.population, attribute.population, f"{anchor}-p") | {"asked": entry.asked},
        "labels": label_view(entry, report.names) if report.labels is not None else None,
        "findings": [
            _finding(report, outline_finding(report, attribute, f), attribute.population, f"{anchor}-f{n}")
            | {"in_tree": in_tree.get(f.context)}
            for n, f in enumerate(shown, 1)
        ],
        "tree": tree,
        "errors": error_table(attribute, report.names),
    }


# Findings -----------------------------------------------------------------------------------------------------------


def _finding(report: Report, entry: FindingOutline, population: Finding, anchor: str) -> View:
    """Return everything the page shows of a finding, or of the population."""
    table = plot_table(entry.finding.table, report.settings.min_size)
    return {
        "anchor": anchor,
        "in_tree": None,
        "asked": "",
        "entry": entry,
        "finding": entry.finding,
        "sentence": _mark_groups(report, entry),
        "table": table,
        "spoken": _spoken_view(report, entry.finding, table),
        "facts": list(_facts(report, entry, population)),
        "single": _single_words(report, entry),
        "gaps": [_gaps_view(report, entry.finding, comparison) for comparison in entry.finding.comparisons],
        "strata": strata_view(report, entry.finding, entry.scale),
    }


def _spoken_view(report: Report, finding: Finding, plot: RatePlot | NumberPlot) -> View | None:
    """Return the gaps in what a picture shows; None where it shows another output, or there are none."""
    shown = plot.table.rows[plot.row] if isinstance(plot, RatePlot) else None
    same = [c for c in finding.comparisons if c.output == shown]
    return _gaps_view(report, finding, same[0]) if same else None


def _gaps_view(report: Report, finding: Finding, comparison: Comparison) -> View:
    """Return several groups beside the reference as a table, and each gap by its group."""
    names, scale = report.names, scale_of(comparison)
    head, *rows = gap_table(replace(finding, comparisons=(comparison,)), names)
    return {
        "head": head,
        "rows": rows,
        "reference": names.short(finding.protected, comparison.reference),
        "unit": scale.unit.strip(),
        "of": {g.group: (scale.number(g.gap), scale.interval(g.interval), g.significant) for g in comparison.gaps},
        "small": small_words(finding, names),
        "note": STEP_BY_STEP if touches_none(comparison) else "",
    }


def _mark_groups(report: Report, entry: FindingOutline) -> list[tuple[str, str]]:
    """Return the sentence of a finding in pieces: those that name its two groups are marked ``a`` and ``b``."""
    return _mark_phrases(entry.sentence, group_phrases(entry.finding, report.names))


def _mark_phrases(text: str, phrases: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return text in pieces, the phrases among them marked."""
    pieces = []
    for phrase, mark in zip(phrases, "ab", strict=False):
        before, found, after = text.partition(phrase)
        if found:
            pieces += [(typeset(before), ""), (typeset(found), mark)]
            text = after
    return [*pieces, (typeset(text), "")]


def _facts(report: Report, entry: FindingOutline, population: Finding) -> Iterator[Fact]:
    """Yield what is known of a finding: its name, its value, and small print."""
    finding, scale = entry.finding, entry.scale
    if finding.effect is not None:
        name = capitalise(metric_label(report, finding.metric))
        yield name, scale.estimate(finding.effect), _intervals(report, entry)
        yield from _gap(report, finding)
        yield from _ratios(report, entry)
        yield _certainty(report, finding)
    yield capitalise(report.names.people), count(finding.size), entry.share
    yield from _against(entry, population)


def _intervals(report: Report, entry: FindingOutline) -> str:
    finding, scale = entry.finding, entry.scale
    shown = scale.interval(finding.interval)
    if report.reuse is None:
        return shown
    return "of the training set" + ("" if finding.interval is None else f"; {shown}, confirmed")


def _single_words(report: Report, entry: FindingOutline) -> str:
    """Return the interval of an effect by itself; empty where there is none."""
    interval = entry.finding.interval_single
    if entry.finding.effect is None or interval is None or report.reuse is not None:
        return ""
    return f"Looked at alone, the interval is {entry.scale.interval(interval)}{entry.scale.unit}."


def _certainty(report: Report, finding: Finding) -> Fact:
    corrected = f"corrected for {plural(report.corrected_for, 'test')}"
    if len(finding.context) == 0 and has_own_level(report):
        share = "half" if report.settings.population_share == 0.5 else per_cent(report.settings.population_share)
        corrected = f"after correction, with {share} of the level"
    if report.reuse is None:
        return "Chance alone", typeset_p(finding.p_value), corrected
    return "Test set", "confirmed" if finding.significant else "not confirmed", corrected


def _gap(report: Report, finding: Finding) -> Iterator[Fact]:
    """Yield the gap between two groups where the metric is not the gap itself."""
    table = two_by_two(finding)
    is_metric = reported_metric(finding.metric).compares == "difference" and not report.explanatory
    if finding.gap is not None and table is not None and not is_metric:
        interval = "" if finding.gap_interval is None else f"{POINTS.interval(finding.gap_interval)} single"
        small = (interval, _order(report, table, "−"), "all together" if report.explanatory else "")
        yield "Gap in rates", POINTS.estimate(finding.gap), "; ".join(filter(None, small))


def _order(report: Report, table: CountTable, sign: str) -> str:
    reference, compared = (report.names.short(table.protected, group) for group in table.columns)
    return f"{compared} {sign} {reference}"


def _ratios(report: Report, entry: FindingOutline) -> Iterator[Fact]:
    """Yield the ratio of two groups' rates, and the lowest impact ratio where the output is a selection."""
    finding = entry.finding
    if entry.ratio is not None and isinstance(finding.table, CountTable):
        ratio, bounds = entry.ratio
        interval = "" if finding.ratio_interval is None else f"{bounds} single; "
        yield "Ratio", ratio, interval + _order(report, finding.table, "÷")
    if (impact := lowest_impact(report, finding)) is not None:
        yield "Impact ratio", impact.ratio, f"{impact.groups}; {impact.fact}"


def _against(entry: FindingOutline, whole: Finding) -> Iterator[Fact]:
    """Yield the effect over everybody beside that in a context."""
    finding, scale = entry.finding, entry.scale
    alike = (whole.metric, whole.label) == (finding.metric, finding.label)
    if len(finding.context) == 0 or not alike or not whole.effect or finding.effect is None:
        return
    times = finding.effect / whole.effect
    if not reported_metric(finding.metric).signed and times > 0:
        yield "Against everyone", f"{fixed(times, 1)} ×", f"the population’s {scale.number(whole.effect)}"
    else:
        small = "" if whole.interval is None else f"{scale.interval(whole.interval)} simultaneous"
        yield "Everyone", scale.estimate(whole.effect), small
