"""What a figure shows, whatever draws it: a page, a file or a terminal.

A plot has an axis, rows whose marks stand on it, and perhaps a dotted line for everybody. There are two kinds that all
three draw: effects of several groups of people (a forest), and the rates of the groups of one table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from fairtest.model.finding import CountTable, GroupTable
from fairtest.numbers import decimals_for
from fairtest.reporting.figures.axes import effect_axis, number_axis, rate_axis, rates_axis
from fairtest.reporting.figures.marks import mark_effect, mark_rate
from fairtest.reporting.words.phrases import choose_groups, choose_row, shared_decimals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.metrics.scale import Scale
    from fairtest.model.finding import Finding, Group, Stratum, Table, Tested
    from fairtest.model.names import Names
    from fairtest.model.rates import Rate
    from fairtest.model.report import AttributeReport
    from fairtest.reporting.figures.axes import Axis
    from fairtest.reporting.figures.marks import IntervalMark

FEW_PEOPLE = 30
"""A group of fewer people is not among those that differ most."""


@dataclass(frozen=True)
class ForestRow:
    """A row of a forest: a name, what was measured, whether that is clear, and whether it is the whole.

    ``said`` is what else is to be said of it.
    """

    name: str
    part: Finding | Stratum | Tested
    clear: bool = True
    whole: bool = False
    said: str = ""

    @property
    def look(self) -> str:
        """What the mark looks like: ``"whole"`` (a diamond), ``"clear"`` (a dot) or ``"unclear"`` (a hollow dot)."""
        return "whole" if self.whole else "clear" if self.clear else "unclear"


@dataclass(frozen=True)
class Forest:
    """Effects with their intervals on one axis; ``reference`` is the position of the dotted line, if there is one."""

    axis: Axis
    scale: Scale
    rows: tuple[ForestRow, ...]
    reference: float | None

    def mark(self, row: ForestRow) -> IntervalMark | None:
        """Return the mark of a row."""
        return mark_effect(row.part, self.axis, self.scale)

    def numbers(self, row: ForestRow) -> str:
        """Return the effect of a row with its interval."""
        return estimate_with_interval(row.part, self.scale)


def estimate_with_interval(part: Finding | Stratum | Tested, scale: Scale) -> str:
    """Return an effect in numbers, with its simultaneous interval if it has one."""
    shown = scale.number(part.effect)
    return shown if part.interval is None else f"{shown} {scale.interval(part.interval)}"


def plot_effects(rows: Sequence[ForestRow], scale: Scale, everybody: float | None = None) -> Forest | None:
    """Return a forest, with a line at the effect of everybody if it is given; None where no effect is defined."""
    axis = effect_axis([row.part for row in rows], scale)
    if axis is None:
        return None
    return Forest(axis, scale, tuple(rows), None if everybody is None else axis.at(scale.at(everybody)))


def plot_findings(attribute: AttributeReport, rows: Sequence[ForestRow], scale: Scale) -> Forest | None:
    """Return a forest of an attribute's findings, everyone first; of labels, each of which has its own, without it."""
    if attribute.labels:
        return plot_effects(rows, scale)
    everyone = attribute.population
    whole = ForestRow("Everyone", everyone, everyone.significant, whole=True)
    return plot_effects([whole, *rows], scale, everyone.effect)


@dataclass(frozen=True)
class RatePlot:
    """The rates of one output in each group of a table.

    Attributes
    ----------
    row
        Which output it is.
    named
        The groups that the sentence about the table names, in its order.
    reference
        Where the rate of all groups together stands on the axis; None where there is nobody.
    """

    kind: ClassVar = "rates"
    table: CountTable
    row: int
    named: tuple[int, ...]
    axis: Axis
    reference: float | None

    @property
    def outputs(self) -> list[int]:
        """All outputs, the plotted one first."""
        return sorted(range(len(self.table.rows)), key=lambda i: i != self.row)

    @property
    def rates(self) -> tuple[Rate | None, ...]:
        """The rate of each group."""
        return self.table.rates[self.row]

    @property
    def reading_order(self) -> Sequence[int]:
        """The groups as they are read: of two, the one that is compared before its reference."""
        return (1, 0) if len(self.rates) == 2 else range(len(self.rates))

    def most_different(self, most: int) -> Sequence[int]:
        """Return the groups as they are read; of more than ``most``, those with rates furthest from everybody's."""
        if len(self.rates) <= most:
            return self.reading_order
        together = sum(self.table.counts[self.row]) / max(sum(self.table.sizes), 1)
        known = [g for g, people in enumerate(self.table.sizes) if people >= FEW_PEOPLE]
        far = sorted(known, key=lambda g: -abs(self._share(g) - together))[:most]
        return sorted(far, key=lambda g: (-self._share(g), g))

    def _share(self, group: int) -> float:
        known = self.rates[group]
        return 0.0 if known is None else known.share

    def words(self, names: Names) -> str:
        """Return what the rates are of: ``share with income = >50K``."""
        value = self.table.rows[self.row]
        if names.outcome:
            return f"share that {names.outcome}"
        if (known := names.outcomes.get(str(value))) is not None:
            return known.share.removeprefix("the ")
        return f"share with {names.pair(self.table.output, value)}"

    def mark(self, group: int) -> IntervalMark | None:
        """Return the mark of a group."""
        return mark_rate(self.rates[group], self.axis)

    def look(self, group: int) -> str:
        """Return what the mark of a group looks like: ``"a"`` or ``"b"`` if the sentence names it, else ``"o"``."""
        return "ab"[self.named.index(group)] if group in self.named[:2] else "o"


def plot_rates(table: CountTable, least: int, *, to_hundred: bool = False) -> RatePlot:
    """Return the rates of the output that the sentence is about, on an axis that ends above them or at 100 %."""
    row = choose_row(table, least)
    axis = rate_axis([1.0]) if to_hundred else rates_axis(table.rates[row], table.sizes)
    people = sum(table.sizes)
    reference = axis.at(sum(table.counts[row]) / people) if people else None
    return RatePlot(table, row, choose_groups(table, least), axis, reference)


@dataclass(frozen=True)
class NumberPlot:
    """A number described by group, on an axis for its boxes."""

    kind: ClassVar = "numbers"
    table: GroupTable
    axis: Axis

    @property
    def decimals(self) -> int:
        """How many decimals its numbers are written with."""
        return shared_decimals(self.table.rows)

    @property
    def mean_decimals(self) -> int:
        """How many decimals means and medians are written with where they stand alone, as sentences write them."""
        return decimals_for(group.mean or 0.0 for group in self.table.rows)

    def most_different(self, most: int) -> Sequence[Group]:
        """Return the groups in order; of more than ``most``, those whose means are furthest from everybody's."""
        rows = self.table.rows
        if len(rows) <= most:
            return rows
        known = [group for group in rows if group.mean is not None and group.size >= FEW_PEOPLE]
        people = max(sum(group.size for group in known), 1)
        together = sum((group.mean or 0.0) * group.size for group in known) / people
        far = sorted(known, key=lambda group: -abs((group.mean or 0.0) - together))[:most]
        return sorted(far, key=lambda group: -(group.mean or 0.0))


def plot_table(
    table: Table, least: int, beside: Sequence[Table] = (), *, to_hundred: bool = False
) -> RatePlot | NumberPlot:
    """Return the plot of a finding's table; tables of numbers that stand ``beside`` each other have the same axis."""
    if isinstance(table, CountTable):
        return plot_rates(table, least, to_hundred=to_hundred)
    groups = [group for t in (table, *beside) if isinstance(t, GroupTable) for group in t.rows]
    return NumberPlot(table, number_axis(groups))
