"""ETA: the share of a number's variation that lies between groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import GroupMoments
from fairtest.metrics.cautions import FAR, SURE, long_tails
from fairtest.metrics.effective import of_any_link
from fairtest.metrics.evidence import Evidence, from_chi_square, noncentral_low
from fairtest.metrics.procedure import Procedure, notes_where
from fairtest.metrics.registry import Metric
from fairtest.metrics.words import NOT_CLEAR, FindingPhrases, Words
from fairtest.numbers import rate
from fairtest.statistics.influence import (
    Deviation,
    Influence,
    Lookup,
    Sums,
    contrasts_of,
    only_stratum,
    order_components,
)
from fairtest.statistics.numbers import oneway
from fairtest.statistics.numbers.groups import Groups
from fairtest.statistics.numbers.strata import stratum_means
from fairtest.statistics.resampling.oneway_permutation import OneWaySampler
from fairtest.statistics.resampling.samplers import Draws
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.metrics.batch import Batch
    from fairtest.metrics.procedure import Notes
    from fairtest.statistics.numerics.rules import Alpha, Bounds
    from fairtest.statistics.resampling.samplers import Sampler
    from fairtest.types import FloatArray, IntArray

MOST_PERMUTED = 5000
"""Close calls given explanatory attributes are permuted if there are at most this many people."""
HOPE = 10.0
"""How many times smaller a permutation may make a p-value at the most."""
UNKNOWN_GROUP, SMALL_GROUP = 5, 50
"""With fewer people than the first, the variance of a group is not known; up to the second, a larger variance in it is
not allowed for."""
UNEQUAL = 3.0
"""How many times larger than elsewhere a variance must be to be called larger."""

SKEWED = "The numbers are skewed or have long tails: the interval of η² may be too narrow. Ranks (RANK) are safer."
UNEVEN = "A small group may vary more than the others here: the interval of η² may be too narrow."


def correlation_ratio(summary: GroupMoments) -> FloatArray:
    """Return η² = variation between groups / all variation, both added over strata.

    Strata with a single group carry no information and are left out.
    """
    between, within = _variation(summary)
    with np.errstate(invalid="ignore", divide="ignore"):
        return between / (between + within)


def _variation(summary: GroupMoments) -> tuple[FloatArray, FloatArray]:
    people = summary.sums[..., 0]
    size = people.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = summary.sums[..., 1].sum(axis=-1, keepdims=True) / size
    between = np.where(people > 0, people * (summary.means - mean) ** 2, 0.0).sum(axis=-1)
    within = summary.central(2).sum(axis=-1)
    used = (np.count_nonzero(people, axis=-1) > 1) & (between + within > 1e-13 * summary.sums[..., 2].sum(axis=-1))
    return np.where(used, between, 0.0).sum(axis=-1), np.where(used, within, 0.0).sum(axis=-1)


def evidence(summary: GroupMoments) -> Evidence:
    """Return the normal deviate of the F test as a χ², and √((χ² − df)/n)."""
    x, df, n = _chi_square(summary)
    return from_chi_square(x, np.where(df > 0, df, np.nan), n)


def _chi_square(summary: GroupMoments) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the variation between groups over the variance within, its degrees of freedom and the people."""
    people = summary.sums[..., 0]
    groups = np.count_nonzero(people, axis=-1)
    used = groups > 1
    n = np.where(used, people.sum(axis=-1), 0.0).sum(axis=-1)
    df = np.where(used, groups - 1, 0).sum(axis=-1)
    between, within = _variation(summary)
    with np.errstate(invalid="ignore", divide="ignore"):
        return between / (within / np.maximum(n - df - used.sum(axis=-1), 1)), df, n


def bound(summary: GroupMoments, z: float) -> FloatArray:
    """Return a lower limit from the noncentral χ² of the variation between groups."""
    x, df, n = _chi_square(summary)
    with np.errstate(invalid="ignore", divide="ignore"):
        low = noncentral_low(x, df, z)
        return np.where(np.isnan(x), np.nan, np.where(np.isinf(x), 1.0, low / (low + n)))


def pooled_ratio(s: NDArray[Any], o: NDArray[Any], stratum: IntArray) -> float:
    """Return η² of whichever column of people holds numbers between the groups of the other."""
    by, x = (o, s) if s.dtype.kind == "f" else (s, o)
    x = x - stratum_means(x, stratum)
    total = float(x @ x)
    cell = stratum * (int(by.max(initial=0)) + 1) + by
    between = float(np.sum(stratum_means(x, cell) ** 2))
    return between / total if total > 0 else np.nan


def _groups(batch: Batch) -> Groups:
    assert isinstance(batch.summary, GroupMoments)
    s = batch.summary
    return Groups(s.sums[..., 0], s.means, *(s.central(p) for p in (2, 3, 4)))


def _known_shape(batch: Batch) -> FloatArray:
    """Return what is known of the shape of the numbers from the whole batch; parts of it use the same."""
    if "shape" not in batch.memo:
        batch.memo["shape"] = (oneway.known_shape(_groups(batch)),)
    return batch.memo["shape"][0]


def _test(batch: Batch) -> FloatArray:
    return oneway.eta_p(_groups(batch), _known_shape(batch))


def _bounds(batch: Batch, alpha: Alpha) -> Bounds:
    return oneway.eta_interval(_groups(batch), alpha, _known_shape(batch))


def _draws(batch: Batch, p: FloatArray, level: float) -> Draws:
    """Permute within strata what is not far from any level, unless what decides is how groups lie over all strata."""
    with np.errstate(invalid="ignore"):
        wanted = (batch.size <= MOST_PERMUTED) & (p <= FAR) & (p >= SURE * level)
        wanted &= HOPE * oneway.any_spread_p(_groups(batch), _known_shape(batch)) <= p

    def samplers(places: Sequence[int]) -> Iterator[Sampler]:
        for _, people in batch.each(places):
            by, x = people.protected, people.output
            if by.dtype.kind == "f":
                by, x = x, by
            yield batch.key_sampler(OneWaySampler(by, x, people.stratum), by, x)

    return Draws(np.flatnonzero(wanted).tolist(), samplers)


def _notes(batch: Batch) -> Notes:
    """Warn of skewed numbers, of long tails, and of small groups that vary more than the others."""
    groups = _groups(batch)
    n, s2 = groups.n.sum(axis=1), groups.s2.sum(axis=1)
    people = n.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = s2.sum(axis=1) / people
        skewness = groups.s3.sum(axis=(1, 2)) / people / variance**1.5
        kurtosis = groups.s4.sum(axis=(1, 2)) / people / variance**2
        degrees = np.maximum(groups.n - 1, 0).sum(axis=1)
        rest = (s2.sum(axis=1, keepdims=True) - s2) / (degrees.sum(axis=1, keepdims=True) - degrees)
        larger = (n < SMALL_GROUP) & (s2 / degrees > UNEQUAL * rest)
    uneven = (n > 0) & ((n < UNKNOWN_GROUP) | larger)
    return notes_where((SKEWED, long_tails(people, skewness, kurtosis)), (UNEVEN, uneven.any(axis=1)))


def _sums(summary: GroupMoments, wanted: IntArray, protected_mean: FloatArray, output_mean: FloatArray) -> Sums:
    """Return the components of the variation between groups of every stratum: f(s) · (o − ō) / √n."""
    groups = summary.take(wanted).sums[..., 0]
    size = np.maximum(groups.sum(axis=-1), 1.0)
    f = contrasts_of(groups, size)
    at, stratum, a, _ = order_components((f != 0).any(axis=-1, keepdims=True), size)
    left = Lookup((f[at, stratum, a] / np.sqrt(size[at, stratum, None]))[:, None])
    is_output = not np.isnan(output_mean).all()
    mean = (output_mean if is_output else protected_mean)[wanted]
    right = Deviation(mean[at, stratum][:, None])
    protected, output = (left, right) if is_output else (right, left)
    return Sums(wanted[at], only_stratum(stratum, size), protected, output, np.full(at.size, np.nan))


def _n_sums(summary: GroupMoments) -> IntArray:
    """Return how many groups beyond the first all strata of a context have."""
    present = (summary.sums[..., 0] > 0).sum(axis=-1)
    return np.asarray(np.maximum(present - 1, 0).sum(axis=1))


def clause(finding: FindingPhrases) -> str:
    """Return from where to where averages run, and how much of the variation that is."""
    means = finding.mean_range()
    if means is None:
        return finding.plain()
    share = rate(finding.effect)
    if finding.usual is not None:
        share += f" (against {rate(finding.usual)} in the whole population)"
    part = f"{means.by} accounts for {share} of its variation"
    if not means.is_output:
        part = f"{share} of its variation goes with {means.by}"
    unclear = "" if finding.significant else f", a link {NOT_CLEAR}"
    return f"{means.runs}; {part}{unclear}." if means.runs else f"for {means.measured}, {part}{unclear}."


ETA = Metric(
    name="ETA",
    phrase="correlation ratio η²",
    protected=frozenset({Kind.BINARY, Kind.CATEGORICAL}),
    output=frozenset({Kind.NUMERIC, Kind.ORDERED, Kind.BINARY}),
    summary=SummaryKind.GROUP_MOMENTS,
    effect=correlation_ratio,
    bound=bound,
    evidence=evidence,
    # Brown and Forsythe's F* or the permutation distribution, and the inversion of a scaled noncentral χ²
    procedure=Procedure(test=_test, bounds=_bounds, notes=_notes),
    conditional=Procedure(test=_test, bounds=_bounds, draws=_draws, notes=_notes),
    influence=Influence(_sums, _n_sums),
    row_effect=pooled_ratio,
    effective=of_any_link,
    signed=False,
    most=1.0,
    words=Words(
        noun="share of variation",
        subject="share of variation accounted for",
        symbol="η²",
        meaning="η², the part of the variation of the number that goes with the groups, from 0 to 1",
        clause=clause,
    ),
    swaps_roles=True,
)
