"""Gaps of groups to a reference group: what is tested once a link with an attribute of several groups is confirmed.

The metric of an attribute with more than two groups says that they differ, not who differs from whom. Each group with
enough people is compared with the reference: the difference of rates (skewness-corrected score) for every value of the
output, or the difference of means, within strata where explanatory attributes are given. Where rows are not one person
each, the sums are those of as many people as the rows are worth (:mod:`fairtest.inference.weighed_gaps`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import Counts, GroupMoments, Target
from fairtest.inference.effective import shrink_alpha
from fairtest.inference.hypotheses import merging_steps
from fairtest.inference.neighbours import gap_p_values
from fairtest.inference.recentre import test_summary
from fairtest.inference.weighed_gaps import count_people, weigh_gaps
from fairtest.model.comparison import FEWEST_COMPARED, Comparison, GroupGap
from fairtest.statistics.numbers.mean_difference import (
    TwoGroups,
    mean_difference_interval,
    mean_difference_p,
    shape_of_largest,
)
from fairtest.statistics.numbers.mean_ratio import mean_ratio_interval
from fairtest.statistics.numbers.medians import median_gap_interval
from fairtest.statistics.numerics.rules import widen_to_zero
from fairtest.statistics.rates import score
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.engine.contract import Engine, Rows
    from fairtest.inference.asked import Asked
    from fairtest.inference.weighed_gaps import GapWorth
    from fairtest.model.finding import Group
    from fairtest.statistics.numerics.rules import Alpha, Bounds
    from fairtest.types import FloatArray, IntArray, Interval, Level

MAY_BE_CLEAR = 0.1
"""Gaps with a smaller p-value are looked at among neighbours, where a number is conditioned on."""


def group_target(asked: Asked) -> Target | None:
    """Return what is counted to compare groups one by one; None where there are none, or two in a rate."""
    question = asked.question
    protected, output = question.protected, question.output
    if not question.population_first or protected.is_number or (len(protected.levels) < 3 and not output.is_number):
        return None
    protected = replace(protected, kind=Kind.CATEGORICAL)  # whatever their order, they are groups here
    if output.kind in (Kind.BINARY, Kind.CATEGORICAL):
        return Target(protected, output, asked.target.strata, SummaryKind.COUNTS)
    if output.kind is Kind.NUMERIC:
        return Target(protected, output, asked.target.strata, SummaryKind.GROUP_MOMENTS, order=4)
    return None


def most_gaps(asked: Asked) -> int:
    """Return how many gaps there are at the most in a context: for each group but one, and each output spoken of.

    The gap between two groups is the effect itself, and no further question.
    """
    target = group_target(asked)
    if target is None or len(target.protected.levels) < 3:
        return 0
    return (len(target.protected.levels) - 1) * len(_rows(target))


def _rows(target: Target) -> list[int]:
    """Return the outputs whose rates are compared: of two the one effects are about, else all; of a number, one."""
    number = len(target.output.levels) if target.summary is SummaryKind.COUNTS else 1
    return list(range(number)) if number > 2 else [number - 1]


@dataclass(frozen=True, eq=False)
class Gaps:
    """The gaps of one context, row by row of what is compared.

    Attributes
    ----------
    groups, rows
        The group and the output of each gap, as codes.
    effect, p
        The gap and its p-value alone.
    sizes
        The people of each group of the attribute.
    near
        The p-value among neighbours, 0 where no number is conditioned on.
    worth
        What the rows behind each gap are worth; None where they are one person each.
    """

    target: Target
    summary: Counts | GroupMoments
    reference: int
    groups: IntArray
    rows: IntArray
    effect: FloatArray
    p: FloatArray
    sizes: IntArray
    near: FloatArray | None = None
    worth: GapWorth | None = None

    def __len__(self) -> int:
        return len(self.groups)

    def interval(self, alpha: float) -> Bounds:
        """Return the bounds of each gap, each at level ``alpha``, which hold 0 where neighbours show no clear one."""
        if not len(self):
            return np.zeros(0), np.zeros(0)
        return widen_to_zero(*self._within_bins(alpha), np.zeros(len(self)) if self.near is None else self.near, alpha)

    def _within_bins(self, alpha: float) -> Bounds:
        level: Alpha = alpha if self.worth is None else self.worth.correct_alpha(alpha)
        if isinstance(self.summary, Counts):
            pairs = _pairs(self.summary, self.reference, self.groups, self.rows, self.worth)
            return score.difference_interval(*pairs, level)
        groups = _two_groups(self.summary, self.reference, self.groups, self.worth)
        low, high = mean_difference_interval(groups, level, shape_of_largest(groups))
        unit = _unit(self.summary)
        return low * unit, high * unit

    def describe(
        self, p: FloatArray | None, level: float, alpha: float, groups: Sequence[Group] = ()
    ) -> tuple[Comparison, ...]:
        """Return the comparisons in the words of the attribute.

        Parameters
        ----------
        p
            The corrected p-values; None where gaps are described and not tested.
        level, alpha
            That of the set, and that of each simultaneous interval.
        groups
            Of a number: how it is distributed in each group.
        """
        sizes, (_, values) = self.sizes, _values(self.summary)
        if groups:  # sums may have been taken about another centre
            values = np.array([[np.nan if group.mean is None else group.mean for group in groups]])
        levels = self.target.protected.levels
        few = [g for g, n in enumerate(sizes) if 0 < n < FEWEST_COMPARED and g != self.reference and len(levels) > 2]
        gaps = self._gaps(p, level, alpha, values, sizes)
        more = _more_of_numbers(self, groups, level) if groups else {}
        return tuple(
            Comparison(
                levels[self.reference],
                self._output(row),
                int(sizes[self.reference]),
                _number(values[row, self.reference]),
                tuple(replace(gaps[i], **more.get(i, {})) for i in np.flatnonzero(self.rows == row).tolist()),
                tuple((levels[g], int(sizes[g])) for g in few),
            )
            for row in dict.fromkeys(self.rows.tolist())
        )

    def _gaps(
        self, p: FloatArray | None, level: float, alpha: float, values: FloatArray, sizes: IntArray
    ) -> list[GroupGap]:
        """Return each gap with its numbers."""
        low, high = self.interval(alpha)
        low_single, high_single = self.interval(level)
        excluded = (low > 0) | (high < 0)
        together = values[self.rows, self.groups] - values[self.rows, self.reference]
        return [
            GroupGap(
                group=self.target.protected.levels[g],
                size=int(sizes[g]),
                value=_number(values[self.rows[i], g]),
                gap=_number(self.effect[i]),
                interval=_interval(low[i], high[i]),
                interval_single=_interval(low_single[i], high_single[i]),
                p_value=None if p is None else _number(p[i]),
                p_value_raw=None if p is None else _number(self.p[i]),
                significant=bool(excluded[i] if p is None else p[i] <= level),
                before=None if self.target.strata is None else _number(together[i]),
            )
            for i, g in enumerate(self.groups.tolist())
        ]

    def _output(self, row: int) -> Level | None:
        return self.target.output.levels[row] if self.target.summary is SummaryKind.COUNTS else None


def count_gaps(
    engine: Engine,
    asked: Asked,
    number: int,
    context: int = 0,
    reference: int | None = None,
    *,
    joint: bool = False,
    by_person: bool = False,
) -> Gaps | None:
    """Return the gaps of a context in a set of people; None where there are not several groups to compare.

    Parameters
    ----------
    reference
        The code of the reference group; default: the declared one, else the largest of these people.
    by_person
        Whether rows are not one person each, so that whose they are and what they weigh is looked at.
    """
    target = group_target(asked)
    if target is None:
        return None
    together = None if asked.finer is None else asked.finer.shown
    summary = test_summary(engine, number, [asked.conditions[context]], target, together)
    steps = np.zeros(1, dtype=int)
    if asked.finer is not None:
        steps = merging_steps(asked.finer, summary, joint=joint)
        summary = asked.finer.merge(summary, steps)
    assert isinstance(summary, Counts | GroupMoments)
    counted, _ = _values(summary)
    people = _fetch_people(engine, asked, number, context, target, int(steps[0])) if by_person else None
    sizes = counted if people is None else count_people(people, len(counted))
    if reference is None:
        reference = _choose_reference(asked, target, sizes if people is None or people.weight is None else counted)
    fewest = FEWEST_COMPARED if len(sizes) > 2 else 2
    compared = [g for g, n in enumerate(sizes) if n >= fewest and g != reference and sizes[reference] >= fewest]
    rows = _rows(target)
    groups, outputs = np.tile(compared, len(rows)).astype(int), np.repeat(rows, len(compared)).astype(int)
    if not compared:
        return Gaps(target, summary, reference, groups, outputs, np.zeros(0), np.zeros(0), sizes)
    worth = None
    if people is not None:
        number_or_rate = target.summary is not SummaryKind.COUNTS
        worth = weigh_gaps(people, reference, groups.tolist(), outputs.tolist(), is_number=number_or_rate)
    effect, p = _compare(summary, reference, groups, outputs, worth)
    near, clear = np.zeros(len(p)), np.flatnonzero(p <= MAY_BE_CLEAR)
    pairs_of_codes = list(zip(groups[clear].tolist(), outputs[clear].tolist(), strict=True))
    near[clear] = gap_p_values(engine, asked, number, context, target, reference, pairs_of_codes)
    return Gaps(target, summary, reference, groups, outputs, effect, np.fmax(p, near), sizes, near, worth)


def _fetch_people(engine: Engine, asked: Asked, number: int, context: int, target: Target, step: int) -> Rows:
    """Return the rows of a context, in the strata in which they are compared."""
    by_row = replace(target, summary=SummaryKind.ROWS)
    rows = next(iter(engine.many_rows(number, [asked.conditions[context]], by_row)))
    return rows if asked.finer is None else replace(rows, stratum=asked.finer.merged[step][rows.stratum])


def _choose_reference(asked: Asked, target: Target, sizes: IntArray) -> int:
    """Return the group that others are compared with: the one declared, the first of two, or the largest."""
    declared, levels = asked.question.reference, target.protected.levels
    if len(levels) == 2:
        return 0
    return levels.index(declared) if declared in levels else int(np.argmax(sizes))


def _compare(
    summary: Counts | GroupMoments, reference: int, groups: IntArray, outputs: IntArray, worth: GapWorth | None
) -> tuple[FloatArray, FloatArray]:
    """Return each gap and its p-value."""
    if isinstance(summary, Counts):
        pairs = _pairs(summary, reference, groups, outputs, worth)
        effect, p = score.difference(*pairs), score.difference_p(*pairs)
    else:
        two = _two_groups(summary, reference, groups, worth)
        effect, p = _mean_gaps(two) * _unit(summary), mean_difference_p(two, shape_of_largest(two))
    return effect, p if worth is None else worth.correct_p(p)


def _more_of_numbers(gaps: Gaps, groups: Sequence[Group], level: float) -> dict[int, dict[str, Any]]:
    """Return for each gap the ratio of means and the difference of medians, with single intervals."""
    ratios = _ratios(gaps, groups, level)
    reference, more = groups[gaps.reference], {}
    for i, g in enumerate(gaps.groups.tolist()):
        group = groups[g]
        more[i] = ratios.get(i, {})
        ends, other = group.median_interval, reference.median_interval
        if group.quantiles is not None and reference.quantiles is not None:
            first, second = group.quantiles[2], reference.quantiles[2]
            more[i] |= {"median_gap": first - second}
            if ends is not None and other is not None:
                r = 0.0 if gaps.worth is None else gaps.worth.correlate_medians(gaps.reference, g, (first, second))
                more[i] |= {"median_gap_interval": median_gap_interval(first, ends, second, other, r)}
    return more


def _ratios(gaps: Gaps, groups: Sequence[Group], level: float) -> dict[int, dict[str, Any]]:
    """Return the ratio of the means of each gap, where no number is negative and people are not compared in strata."""
    summary, reference = gaps.summary, groups[gaps.reference]
    assert isinstance(summary, GroupMoments)
    at = [i for i, g in enumerate(gaps.groups.tolist()) if _is_positive(groups[g]) and _is_positive(reference)]
    if not at or gaps.target.strata is not None:
        return {}
    unit, codes = _unit(summary), gaps.groups[at]
    two = _two_groups(summary, gaps.reference, codes)
    means = np.array([[[reference.mean, groups[g].mean]] for g in codes.tolist()], dtype=float)
    times, levels = np.ones((len(at), 1, 1)), np.full(len(at), level)
    if gaps.worth is not None:
        each = zip(at, codes.tolist(), means[:, 0, 1] / means[:, 0, 0], strict=True)
        found = np.array([gaps.worth.weigh_ratio(i, gaps.reference, g, ratio) for i, g, ratio in each])
        times, levels = found[:, :1, None], shrink_alpha(levels, found[:, 1])
    scaled = TwoGroups(two.n * times, means, two.s2 * times * unit**2, two.s3 * times * unit**3)
    intervals = mean_ratio_interval(scaled, levels)
    return {
        i: {"ratio": float(mean[0, 1] / mean[0, 0]), "ratio_interval": interval}
        for i, mean, interval in zip(at, means, intervals, strict=True)
    }


def _is_positive(group: Group) -> bool:
    """Whether a ratio of means makes sense: there are people, no number is negative, and some are not 0."""
    return group.quantiles is not None and group.quantiles[0] >= 0 and bool(group.mean)


def _pairs(
    summary: Counts, reference: int, groups: IntArray, rows: IntArray, worth: GapWorth | None
) -> tuple[Any, Any, Any, Any]:
    """Return x₁, n₁, x₂, n₂ of each gap by stratum, as many as they are worth."""
    counts = summary.counts[0]  # stratum, output, group
    sizes = counts.sum(axis=1)
    x1, x2 = counts[:, rows, groups].T, counts[:, rows, reference].T
    n1 = sizes[:, groups].T
    n2 = np.broadcast_to(sizes[:, reference], n1.shape)
    if worth is None:
        return x1, n1, x2, n2
    scale = worth.scale[:, None]
    return x1 * scale, n1 * scale, x2 * scale, n2 * scale


def _two_groups(summary: GroupMoments, reference: int, groups: IntArray, worth: GapWorth | None = None) -> TwoGroups:
    """Return each group beside the reference: gaps × strata × two, as many people as they are worth."""
    n, means = summary.sums[0, ..., 0], np.nan_to_num(summary.means[0])
    numbers = (n, means, summary.central(2)[0], summary.central(3)[0])
    n, mean, s2, s3 = (np.stack([v[:, [reference, g]] for g in groups.tolist()]) for v in numbers)
    times = 1.0 if worth is None else worth.scale[:, None, None]
    return TwoGroups(n * times, mean, s2 * times, s3 * times)


def _mean_gaps(groups: TwoGroups) -> FloatArray:
    """Return the difference of means, averaged over the strata that have both groups by their size."""
    weight = np.where(groups.both, groups.n.sum(axis=-1), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((weight * (groups.mean[..., 1] - groups.mean[..., 0])).sum(axis=-1) / weight.sum(axis=-1))


def _unit(summary: GroupMoments) -> float:
    return float(np.ravel(summary.unit)[0])


def _values(summary: Counts | GroupMoments) -> tuple[IntArray, FloatArray]:
    """Return the people of each group, and the rate of each output (or the mean) among them, all strata together."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if isinstance(summary, Counts):
            table = summary.counts[0].sum(axis=0)
            sizes = table.sum(axis=0)
            return sizes, table / sizes
        sums = summary.sums[0].sum(axis=0)
        means = sums[:, 1] / sums[:, 0]
    return np.rint(sums[:, 0]).astype(int), means[None] * _unit(summary)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _interval(low: float, high: float) -> Interval | None:
    return None if np.isnan(low) or np.isnan(high) else (float(low), float(high))
