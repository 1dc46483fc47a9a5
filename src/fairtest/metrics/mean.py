"""MEAN: the difference between two groups' means of a number, in units of that number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import GroupMoments
from fairtest.metrics.cautions import FEW, FEW_PEOPLE
from fairtest.metrics.conditional import strata_average, weighted_average
from fairtest.metrics.effective import of_two_groups
from fairtest.metrics.evidence import MOST, Evidence
from fairtest.metrics.procedure import Procedure, notes_where
from fairtest.metrics.registry import Metric
from fairtest.metrics.scale import AMOUNT
from fairtest.metrics.words import NOT_CLEAR, FindingPhrases, Words
from fairtest.statistics.influence import Deviation, Lookup, divide_or_zero, single_sum
from fairtest.statistics.numbers.mean_difference import (
    TwoGroups,
    mean_difference_interval,
    mean_difference_p,
    shape_of_largest,
)
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtest.metrics.batch import Batch
    from fairtest.metrics.procedure import Notes
    from fairtest.statistics.numerics.rules import Alpha, Bounds
    from fairtest.types import FloatArray, IntArray

LONG_TAIL, UNSEEN_TAIL = 1.0, 0.3
"""Skewness, and its share of the largest that a sample can have, above which a tail may not have been seen."""

SKEWED = (
    "The numbers are very skewed for so few people: a tail that nobody here is in may hide a difference of means, or "
    "make one up. Ranks (RANK) do not hang on it."
)


def mean_difference(summary: GroupMoments) -> FloatArray:
    """Return the mean of the group less that of the reference, averaged over strata by their size.

    Examples
    --------
    >>> sums = np.array([[[[2.0, 6.0, 20.0], [4.0, 20.0, 110.0]]]])  # 2 people with mean 3, 4 with mean 5
    >>> mean_difference(GroupMoments(sums, unit=10.0))
    array([20.])
    """
    gaps = summary.means[..., 1] - summary.means[..., 0]
    return np.asarray(summary.unit * weighted_average(gaps, summary.sums[..., 0].sum(axis=-1)))


def _gaps_and_variances(summary: GroupMoments, *, null: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return difference, variance and people of each stratum, the variance perhaps that without association.

    Otherwise it is the larger of two: with a variance for each group, and with one for both. A handful of people who
    happen to be alike do not make a group that does not vary.
    """
    n, s2 = summary.sums[..., 0], summary.central(2)
    people = n.sum(axis=-1)
    gap = summary.means[..., 1] - summary.means[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        both = (1 / n).sum(axis=-1)
        if null:
            variance = (s2.sum(axis=-1) + gap**2 / both) / np.maximum(people - 1, 1) * both
        else:
            own = (s2 / np.maximum(n - 1, 1) / n).sum(axis=-1)
            variance = np.maximum(own, s2.sum(axis=-1) / np.maximum(people - 2, 1) * both)
    return gap, np.where(np.isnan(gap), 0.0, np.nan_to_num(variance, posinf=0.0)), people


def bound(summary: GroupMoments, z: float) -> FloatArray:
    """Return a lower limit of |difference|."""
    centre, error = strata_average(*_gaps_and_variances(summary, null=False))
    return np.asarray(summary.unit * (np.abs(centre) - z * error))


def evidence(summary: GroupMoments) -> Evidence:
    """Return the difference in standard errors without association, and the difference with its variance."""
    effect, error = strata_average(*_gaps_and_variances(summary, null=False))
    _, null_error = strata_average(*_gaps_and_variances(summary, null=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(null_error > 0, effect / null_error, 0.0)
    z = np.clip(np.where(np.isnan(effect), np.nan, z), -MOST, MOST)
    return Evidence(z, np.asarray(summary.unit * effect), np.asarray((summary.unit * error) ** 2))


def pooled_difference(s: NDArray[Any], o: NDArray[Any], stratum: IntArray) -> float:
    """Return the difference of means among people given one by one, averaged over strata by their size."""
    cell = stratum.astype(np.int64) * 2 + s
    length = 2 * (int(stratum.max(initial=0)) + 1)
    n, total = (np.bincount(cell, weights=w, minlength=length).reshape(-1, 2) for w in (None, o))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = total / n
    return float(weighted_average(means[:, 1] - means[:, 0], n.sum(axis=1).astype(float)))


def _groups(batch: Batch) -> TwoGroups:
    assert isinstance(batch.summary, GroupMoments)
    s = batch.summary
    return TwoGroups(s.sums[..., 0], np.nan_to_num(s.means), s.central(2), s.central(3))


def _known_shape(batch: Batch) -> FloatArray:
    """Return what is known of the shape of the numbers from the whole batch; parts of it use the same."""
    if "shape" not in batch.memo:
        batch.memo["shape"] = (shape_of_largest(_groups(batch)),)
    return batch.memo["shape"][0]


def _test(batch: Batch) -> FloatArray:
    return mean_difference_p(_groups(batch), _known_shape(batch))


def _interval(batch: Batch, alpha: Alpha) -> Bounds:
    assert isinstance(batch.summary, GroupMoments)
    low, high = mean_difference_interval(_groups(batch), alpha, _known_shape(batch))
    return low * batch.summary.unit, high * batch.summary.unit


def _notes(batch: Batch) -> Notes:
    """Warn where a group has few people, and where neither is large enough to have seen the tail of the numbers."""
    groups = _groups(batch)
    people = np.where(groups.both[..., None], groups.n, 0.0).sum(axis=1)
    s2, s3 = groups.s2.sum(axis=1), groups.s3.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        skewness = np.nan_to_num(np.abs(s3 / people / (s2 / people) ** 1.5))
        unseen = (skewness > LONG_TAIL) & (skewness > UNSEEN_TAIL * np.sqrt(people))
    return notes_where((FEW, people.min(axis=1) < FEW_PEOPLE), (SKEWED, unseen.any(axis=1)))


def _factors(summary: GroupMoments, _: FloatArray, output_mean: FloatArray) -> tuple[Lookup, Deviation]:
    """Return what a person adds to the difference: (s − s̄)/(s̄(1 − s̄)) by group, times o − ō."""
    n = summary.sums[..., 0]
    share = n[..., 1:] / np.maximum(n.sum(axis=-1, keepdims=True), 1.0)
    return Lookup(divide_or_zero(np.arange(2) - share, share * (1 - share))), Deviation(output_mean)


def clause(finding: FindingPhrases) -> str:
    """Return the two averages and how much less or more the group has."""
    size = finding.number.lstrip("+−")
    more = "more" if finding.effect > 0 else "less"
    gap = f"{size} {more}" if finding.significant else f"{size} {more}, a difference {NOT_CLEAR}"
    if finding.mean_range() is None:
        return f"{finding.output} is {gap} on average, in steps of its scale{finding.against}."
    return f"{finding.movement()}: {gap}{finding.against if finding.significant else ''}."


MEAN = Metric(
    name="MEAN",
    phrase="difference of means",
    protected=frozenset({Kind.BINARY}),
    output=frozenset({Kind.NUMERIC, Kind.ORDERED}),
    summary=SummaryKind.GROUP_MOMENTS,
    effect=mean_difference,
    bound=bound,
    evidence=evidence,
    procedure=Procedure(
        # Welch's t with the skewness that either group has seen, and never below what a permutation would give
        test=_test,
        bounds=_interval,
        notes=_notes,
        inverts_test=True,
    ),
    effective=of_two_groups,
    influence=single_sum(_factors),
    row_effect=pooled_difference,
    compares_means=True,
    scale=AMOUNT,
    words=Words(
        noun="difference",
        subject="difference of the two averages",
        meaning="the average of the group minus that of the reference group, in the units of the number; 0 is no "
        "difference",
        lower="lower by",
        higher="higher by",
        clause=clause,
    ),
)
