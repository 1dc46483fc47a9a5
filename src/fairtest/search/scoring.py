"""Scoring candidate contexts on the training set: how strong the association is in each child of each split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import Counts
from fairtest.metrics.evidence import MOST, Evidence
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairtest.data.axes import Axis
    from fairtest.data.summaries import Summary, Target
    from fairtest.engine.contract import Counter
    from fairtest.metrics.registry import Metric
    from fairtest.model.plans import Aggregate, Score
    from fairtest.types import BoolArray, FloatArray, IntArray

Z_SEARCH = 1.959963984540054
"""The normal quantile of the 95 % lower bounds that guide the search."""


@dataclass(frozen=True)
class Strength:
    """How strong an association is, as the search sees it.

    ``"point"`` is the absolute effect; ``"bound"`` its lower 95 % confidence limit, which does not fall for the
    extremes that small groups show by chance.
    """

    metric: Metric
    estimate: Score

    def __call__(self, summary: Summary) -> FloatArray:
        """Return the strength of each context (and of each output there), NaN where it is undefined."""
        if self.estimate == "point":
            return self.metric.strength(self.metric.effect(summary))
        if self.metric.bound is not None:
            return self.metric.bound(summary, Z_SEARCH)
        assert isinstance(summary, Counts)
        return self._measure(summary) - Z_SEARCH * delta_error(self._measure, summary)

    def _measure(self, summary: Counts) -> FloatArray:
        return self.metric.strength(self.metric.effect(summary))

    def evidence(self, summary: Summary) -> Evidence:
        """Return how surely each context shows an association."""
        if self.metric.evidence is not None:
            return self.metric.evidence(summary)
        assert isinstance(summary, Counts)
        effect = self.metric.effect(summary)
        error = delta_error(self.metric.effect, summary)
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.where(error > 0, effect / error, 0.0)
        # where a cell is empty the counts themselves leave too little variance to compare contexts by
        smoothed = delta_error(self.metric.effect, Counts(summary.counts + 1))
        variance = np.fmax(error, smoothed) ** 2
        return Evidence(np.clip(np.where(np.isnan(effect), np.nan, z), -MOST, MOST), effect, variance)

    @property
    def compares(self) -> bool:
        """Whether it is known how surely two contexts differ: the metric says so, or it follows from counts.

        Near its least value, the error of a metric without sign does not follow from how it changes with the counts.
        """
        metric = self.metric
        return metric.evidence is not None or (metric.signed and metric.summary is SummaryKind.COUNTS)

    def contributions(self, summary: Summary) -> FloatArray:
        """Return what outputs add to the strength of each context: that of the only one is all there is."""
        return self(summary)

    @staticmethod
    def together(contributions: Sequence[FloatArray]) -> FloatArray:
        """Return the strength of each context from what all groups of outputs contribute."""
        (only,) = contributions
        return only

    def stands_out(self, z: FloatArray, link: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return by what each context is chosen, from the deviates of all outputs there: those of the only one."""
        return z, link

    def splits(self, axis: Axis) -> slice | IntArray:  # noqa: ARG002 - one output can afford them all
        """Return which splits of an axis the tree tries."""
        return slice(None)

    def sizes(self, array: NDArray[Any], target: Target) -> IntArray:
        """Return the people of each context from its sums."""
        if target.summary is SummaryKind.COUNTS:
            rows = np.asarray(array.sum(axis=(-3, -2, -1)))
            return rows if target.share == 1.0 else np.rint(rows * target.share).astype(np.int64)
        return target.wrap(array).size


@dataclass(frozen=True, eq=False)
class Outputs:
    """Some outputs that are counted and scored together: all there are, or as many as fit in memory.

    Attributes
    ----------
    engine
        Counts them. For one output it is any engine; for several, the tables have an axis for them behind those of
        contexts.
    strength
        How strong the association with them is in a context.
    number
        How many there are.
    """

    engine: Counter
    strength: Strength
    number: int = 1


def delta_error(effect: Callable[[Counts], FloatArray], summary: Counts) -> FloatArray:
    """Return the standard error of any function of counts, from the influence of one person in each cell."""
    counts = summary.counts
    here = effect(summary)
    size = counts.sum(axis=(-3, -2, -1))
    total, centre = np.zeros(here.shape), np.zeros(here.shape)
    for cell in np.ndindex(counts.shape[-3:]):
        more = counts.copy()
        more[(..., *cell)] += 1
        influence = np.nan_to_num(effect(Counts(more)) - here, posinf=0.0, neginf=0.0) * (size + 1)
        share = counts[(..., *cell)] / np.maximum(size, 1)
        total += share * influence**2
        centre += share * influence
    error: FloatArray = np.sqrt(np.maximum(total - centre**2, 0.0) / np.maximum(size, 1))
    return error


def child_sums(axis: Axis, table: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of every child of every split: ``[node, split, child, ...]`` from ``[node, code, ...]``.

    Numbers are cut between any two bins (up to, above, missing); a category falls into its values at once. In memory
    the same cell of all children is side by side, since metrics add up a few cells of each.
    """
    cells = np.ascontiguousarray(np.moveaxis(table, (0, 1), (-2, -1)))
    if axis.thresholds is None:
        return np.moveaxis(cells, (-2, -1), (0, 1))[:, None]
    cuts = len(axis.thresholds)
    cumulated = np.cumsum(cells[..., : cuts + 1], axis=-1)
    below = cumulated[..., :cuts]
    parts = [below, cumulated[..., cuts:] - below]
    if axis.missing is not None:
        parts.append(np.broadcast_to(cells[..., axis.missing, None], below.shape))
    return np.moveaxis(np.stack(parts, axis=-3), (-2, -1, -3), (0, 1, 2))


def pick_children(sums: NDArray[Any], wanted: BoolArray) -> NDArray[Any]:
    """Return some of the children of :func:`child_sums` one after the other, in memory cell by cell as there."""
    cells = np.moveaxis(sums, (0, 1, 2), (-2, -1, -3))
    some = cells.reshape(-1, wanted.size).take(np.flatnonzero(np.moveaxis(wanted, 2, 0)), axis=1)
    return np.moveaxis(some.reshape(*sums.shape[3:], -1), -1, 0)


def aggregate_score(
    strength: FloatArray, size: IntArray, enough: BoolArray, parent: FloatArray, aggregate: Aggregate
) -> FloatArray:
    """Return the score of each split: −∞ where no child is stronger than its parent.

    Children that are too small do not count. Those that are large enough but show no variation to associate (nobody
    of a group, one output only) count in averages as showing no association; otherwise cutting them off would pay.

    Parameters
    ----------
    strength, size, enough
        ``[node, split, child]``; the strength is NaN where it is undefined or the child too small, and ``enough``
        says which are large enough.
    parent
        ``[node]``.
    """
    counts = ~np.isnan(strength)
    known = np.where(counts, strength, -np.inf)
    best = known.max(axis=-1, initial=-np.inf)
    if aggregate == "max":
        score = best
    else:
        weight = np.where(enough, size if aggregate == "weighted" else 1, 0).astype(float)
        total = (weight * np.where(counts, strength, 0.0)).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            score = total / weight.sum(axis=-1)
    return np.where(best > parent[:, None], round_scores(score), -np.inf)


def round_scores(score: FloatArray) -> FloatArray:
    """Return scores without their last digits, so that ties do not hang on the order of a sum."""
    return np.round(score, 12)
