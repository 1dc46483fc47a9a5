"""Tables of labels: for each group of people those that go with it, with rates, interval and p, as in the paper."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairtest.metrics.choice import reported_metric
from fairtest.model.finding import CountTable
from fairtest.model.names import PLAIN_NAMES, clean_line
from fairtest.numbers import count, p_value, rate
from fairtest.reporting.figures.axes import effect_axis
from fairtest.reporting.formats.tables import display_width, draw_table, shorten
from fairtest.reporting.words.phrases import join_words, large_groups
from fairtest.reporting.words.titles import with_unit
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.model.finding import Finding
    from fairtest.model.names import Names
    from fairtest.model.report import AttributeReport
    from fairtest.reporting.outline import AttributeOutline

MOST_GROUPS = 6
"""With more groups than this, the one a label goes with is shown beside all others together."""
FEW = 10
"""No label is assigned to a group of fewer people, if there are larger ones."""
MOST_NAMED = 12
"""How many labels that were not confirmed the text names at most."""


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


def label_blocks(attribute: AttributeReport, labels: Sequence[Finding], names: Names = PLAIN_NAMES) -> list[Block]:
    """Return the labels by the group they go with, in the order of the groups."""
    found: dict[tuple[int | None, bool], list[Finding]] = {}
    for finding in labels:
        found.setdefault(_goes_with(attribute, finding), []).append(finding)
    order = sorted(found, key=lambda key: (not key[1], -1 if key[0] is None else key[0]))
    return [Block(_title(attribute, found[key][0], *key, names), *key, tuple(found[key])) for key in order]


def _goes_with(attribute: AttributeReport, finding: Finding) -> tuple[int | None, bool]:
    """Return which group a label goes with, and whether its effect is positive."""
    effect, table = finding.effect or 0.0, _counts(finding)
    metric = reported_metric(finding.metric)
    if attribute.groups is None or Kind.NUMERIC in metric.protected:
        return None, effect > 0
    if len(table.columns) == 2 and metric.signed:
        return int(effect > 0), effect > 0
    rates = table.shares(1)
    return max(large_groups(table, FEW), key=lambda g: rates[g] or 0.0, default=0), True


def _title(attribute: AttributeReport, finding: Finding, group: int | None, right: bool, names: Names) -> str:
    if group is None:
        return f"more often the {'higher' if right else 'lower'} {names.column(attribute.name)} is"
    return f"with {names.pair(attribute.name, _counts(finding).columns[group])}"


def _counts(finding: Finding) -> CountTable:
    assert isinstance(finding.table, CountTable)  # people have a label or not
    return finding.table


def label_rates(attribute: AttributeReport, finding: Finding, names: Names) -> list[tuple[str, float | None]]:
    """Return the names of groups and their rates: of all, or where they are many of one and of all others."""
    table, (group, _) = _counts(finding), _goes_with(attribute, finding)
    rates, groups = table.shares(1), [names.short(table.protected, c) for c in table.columns]
    if len(groups) <= MOST_GROUPS or group is None:
        return list(zip(groups, rates, strict=True))
    others = [g for g in range(len(groups)) if g != group]
    people = sum(table.sizes[g] for g in others)
    rest = sum(table.counts[1][g] for g in others) / people if people else None
    return [(groups[group], rates[group]), ("others", rest)]


def _confirmed(attribute: AttributeReport) -> list[Finding]:
    return [f for f in attribute.labels if f.significant]


def _unconfirmed(attribute: AttributeReport) -> list[Finding]:
    return [f for f in attribute.labels if not f.significant]


# For a terminal ---------------------------------------------------------------------------------------------------


def label_lines(entry: AttributeOutline, width: int, names: Names, most: int | None = None) -> Iterator[str]:
    """Yield the tables of the labels confirmed over everybody, and the names of those that were not.

    With ``most``, so many labels of each group at the most, and how many more there are.
    """
    attribute = entry.attribute
    for whole in label_blocks(attribute, _confirmed(attribute), names):
        block = whole if most is None else replace(whole, labels=whole.labels[:most])
        yield f"* Labels associated {block.title}:" if block.group is not None else f"* Labels {block.title}:"
        yield ""
        lines = _draw_block(entry, block, names, with_rates=True)
        if display_width(lines[0]) > width:
            lines = _draw_block(entry, block, names, with_rates=False)
        yield from lines
        if len(whole.labels) > len(block.labels):
            yield f"and {count(len(whole.labels) - len(block.labels))} more"
        yield ""
    if most is not None:
        return
    if others := _unconfirmed(attribute):
        outputs = [clean_line(f.output) for f in others[:MOST_NAMED]]
        more = [f"{count(len(others) - MOST_NAMED)} more"] if len(others) > MOST_NAMED else []
        yield f"Looked promising on the training set and not confirmed over everybody: {join_words([*outputs, *more])}."


def _draw_block(entry: AttributeOutline, block: Block, names: Names, *, with_rates: bool) -> list[str]:
    scale = entry.scale
    rates = [label_rates(entry.attribute, f, names) if with_rates else [] for f in block.labels]
    head = ["Label", *(shorten(name, 14) for name, _ in rates[-1]), with_unit(entry.metric, scale), "p-value"]
    body = [
        [
            shorten(clean_line(f.output)),
            *(rate(share) for _, share in shares),
            scale.interval(f.interval),
            p_value(f.p_value),
        ]
        for f, shares in zip(block.labels, rates, strict=True)
    ]
    return draw_table(head, body)


# For a page -------------------------------------------------------------------------------------------------------


def label_view(entry: AttributeOutline, names: Names) -> dict[str, Any] | None:
    """Return the labels for a page: blocks of those confirmed on one axis, and the others; None where there are none.

    ``groups`` are the columns of rates, where all labels have the same; of a pair, one stands on each side of the plot.
    """
    attribute, scale = entry.attribute, entry.scale
    shown, others = _confirmed(attribute), _unconfirmed(attribute)
    if not shown and not others:
        return None
    rates = {f.output: label_rates(attribute, f, names) for f in (*shown, *others)}
    columns = {tuple(name for name, _ in rates[f.output]) for f in shown}
    groups = list(columns.pop()) if len(columns) == 1 else []
    is_pair = len(groups) == 2 and attribute.reference is not None
    return {
        "axis": effect_axis(shown, scale),
        "scale": scale,
        "unit": scale.unit.strip() or attribute.metric,
        "blocks": label_blocks(attribute, shown, names),
        "unconfirmed": others,
        "rates": rates,
        "groups": groups,
        "left": groups[:1] if is_pair else groups,
        "right": groups[1:] if is_pair else [],
    }
