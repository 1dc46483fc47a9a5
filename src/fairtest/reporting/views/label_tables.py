"""Tables of labels: for each group of people those that go with it, with rates, interval and p, as in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtest.metrics.choice import reported_metric, scale_for
from fairtest.model.finding import CountTable
from fairtest.model.names import Names, clean_line
from fairtest.numbers import count, p_value, rate, typeset, typeset_p
from fairtest.reporting.figures.axes import effect_axis
from fairtest.reporting.figures.marks import mark_effect
from fairtest.reporting.figures.svg import axis_marks, axis_style, draw_label
from fairtest.reporting.formats.tables import display_width, draw_table, shorten
from fairtest.reporting.words.phrases import capitalise, join_words, large_groups
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding
    from fairtest.model.report import AttributeReport
    from fairtest.reporting.figures.axes import Axis

MOST_GROUPS = 6
"""With more groups than this, the one a label goes with is shown beside all others together."""
PLAIN = Names()
FEW = 10
"""Groups of fewer people are not said to go with a label, if there are larger ones."""
MOST_NAMED = 12
"""So many labels that were not confirmed are named in the text."""


@dataclass(frozen=True)
class Block:
    """The labels that go with one group, strongest first.

    Attributes
    ----------
    group
        The position of the group among the columns of each table; None where labels rise or fall with a number.
    right
        Whether the bars of the effects go to the right.
    """

    title: str
    group: int | None
    right: bool
    labels: tuple[Finding, ...]


def label_blocks(attribute: AttributeReport, labels: Sequence[Finding], names: Names = PLAIN) -> list[Block]:
    """Return the labels by the group they go with, in the order of the groups."""
    found: dict[tuple[int | None, bool], list[Finding]] = {}
    for finding in labels:
        found.setdefault(_goes_with(attribute, finding), []).append(finding)
    order = sorted(found, key=lambda key: (not key[1], -1 if key[0] is None else key[0]))
    return [Block(_title(attribute, found[key][0], *key, names), *key, tuple(found[key])) for key in order]


def unconfirmed(attribute: AttributeReport) -> tuple[Finding, ...]:
    """Return the labels that looked promising over everybody and were not confirmed."""
    return tuple(f for f in attribute.labels if not f.significant)


def _goes_with(attribute: AttributeReport, finding: Finding) -> tuple[int | None, bool]:
    """Return which group a label goes with, and whether its effect is positive."""
    effect = finding.effect or 0.0
    assert isinstance(finding.table, CountTable)
    metric = reported_metric(finding.metric)
    if attribute.groups is None or Kind.NUMERIC in metric.protected:
        return None, effect > 0
    if len(finding.table.columns) == 2 and metric.signed:
        return int(effect > 0), effect > 0
    rates = finding.table.shares(1)
    return max(large_groups(finding.table, FEW), key=lambda g: rates[g] or 0.0, default=0), True


def _title(attribute: AttributeReport, finding: Finding, group: int | None, right: bool, names: Names) -> str:
    name = names.column(attribute.name)
    if group is None:
        return f"more often the {'higher' if right else 'lower'} {name} is"
    assert isinstance(finding.table, CountTable)
    return f"with {names.pair(attribute.name, finding.table.columns[group])}"


def _rates(table: CountTable, group: int | None, words: Names) -> list[tuple[str, float | None]]:
    """Return the names of groups and their rates: of all, or where they are many of one and of all others."""
    rates, names = table.shares(1), [words.short(table.protected, c) for c in table.columns]
    if len(names) <= MOST_GROUPS or group is None:
        return list(zip(names, rates, strict=True))
    others = [g for g in range(len(names)) if g != group]
    people = sum(table.sizes[g] for g in others)
    rest = sum(table.counts[1][g] for g in others) / people if people else None
    return [(names[group], rates[group]), ("others", rest)]


def _scale(attribute: AttributeReport) -> Scale:
    return scale_for(attribute.metric, attribute.population.effect)


# For a terminal ---------------------------------------------------------------------------------------------------


def label_lines(attribute: AttributeReport, metric: str, width: int, words: Names = PLAIN) -> Iterator[str]:
    """Yield the tables of the labels confirmed over everybody, and the names of those that were not."""
    for block in label_blocks(attribute, [f for f in attribute.labels if f.significant], words):
        yield f"* Labels associated {block.title}:" if block.group is not None else f"* Labels {block.title}:"
        yield ""
        lines = _boxed(attribute, block, metric, words, rates=True)
        if display_width(lines[0]) > width:
            lines = _boxed(attribute, block, metric, words, rates=False)
        yield from lines
        yield ""
    if others := unconfirmed(attribute):
        names = [clean_line(f.output) for f in others[:MOST_NAMED]]
        more = [f"{count(len(others) - MOST_NAMED)} more"] if len(others) > MOST_NAMED else []
        yield f"Looked promising on the training set and not confirmed over everybody: {join_words([*names, *more])}."


def _boxed(attribute: AttributeReport, block: Block, metric: str, words: Names, *, rates: bool) -> list[str]:
    scale = _scale(attribute)
    body, head = [], ["Label", f"{metric}{f', in{scale.unit}' if scale.unit else ''}", "p-value"]
    for finding in block.labels:
        assert isinstance(finding.table, CountTable)
        shares = _rates(finding.table, block.group, words) if rates else []
        head = ["Label", *(shorten(name, 14) for name, _ in shares), *head[-2:]]
        numbers = (scale.interval(finding.interval), p_value(finding.p_value))
        body.append([shorten(clean_line(finding.output)), *(rate(share) for _, share in shares), *numbers])
    return draw_table(head, body)


# For a page -------------------------------------------------------------------------------------------------------


def label_view(attribute: AttributeReport, words: Names = PLAIN) -> dict[str, Any] | None:
    """Return the table of labels for a page: blocks of rows, each with its own mark, and those not confirmed."""
    shown = [f for f in attribute.labels if f.significant]
    scale = _scale(attribute)
    axis = effect_axis(shown, scale) if shown else None
    others = [_row(attribute, f, None, None, scale, words) for f in unconfirmed(attribute)]
    if axis is None and not others:
        return None
    blocks: list[dict[str, Any]] = [
        {
            "title": f"More often {block.title}" if block.group is not None else capitalise(block.title),
            "mark": "a" if block.right else "b",
            "rows": [
                _row(attribute, f, block.group, axis, scale, words, "a" if block.right else "b") for f in block.labels
            ],
        }
        for block in label_blocks(attribute, shown, words)
    ]
    heads = [row["rates"] for block in blocks for row in block["rows"]]
    names = [name for name, _ in heads[0]] if heads and all(_same(heads[0], h) for h in heads) else []
    pair = len(names) == 2 and attribute.reference is not None
    return {
        "axis": None if axis is None else axis_marks(axis),
        "style": "" if axis is None else axis_style(axis),
        "blocks": blocks,
        "groups": names,
        "left": names[:1] if pair else names,
        "right": names[1:] if pair else [],
        "unit": scale.unit.strip() or attribute.metric,
        "unconfirmed": others,
        "number": f"{count(len(others))} label{'' if len(others) == 1 else 's'}",
    }


def _same(first: Sequence[tuple[str, Any]], other: Sequence[tuple[str, Any]]) -> bool:
    return [name for name, _ in first] == [name for name, _ in other]


def _row(
    attribute: AttributeReport,
    finding: Finding,
    group: int | None,
    axis: Axis | None,
    scale: Scale,
    words: Names,
    mark: str = "a",
) -> dict[str, Any]:
    assert isinstance(finding.table, CountTable)
    group = _goes_with(attribute, finding)[0] if group is None else group
    return {
        "label": clean_line(finding.output),
        "rates": [(name, typeset(rate(share))) for name, share in _rates(finding.table, group, words)],
        "mark": None if axis is None else draw_label(axis, mark_effect(finding, axis, scale), mark),
        "measured": f"{scale.number(finding.effect)} {scale.interval(finding.interval)}",
        "p": typeset_p(finding.p_value, "").strip("\u202f= "),
    }
