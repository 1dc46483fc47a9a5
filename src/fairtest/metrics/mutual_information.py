"""NMI: mutual information as a share of the most there could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import entr

from fairtest.data.summaries import Counts
from fairtest.metrics import difference
from fairtest.metrics.batch import canonical_table
from fairtest.metrics.cautions import FAR, SURE
from fairtest.metrics.conditional import weighted_average
from fairtest.metrics.effective import of_any_link
from fairtest.metrics.evidence import Evidence, from_chi_square, noncentral_low
from fairtest.metrics.procedure import Procedure, notes_where
from fairtest.metrics.registry import LEVELS, Metric
from fairtest.metrics.words import NOT_CLEAR, FindingPhrases, Words
from fairtest.numbers import fixed
from fairtest.statistics.influence import (
    Influence,
    Lookup,
    Sums,
    contrasts_of,
    divide_or_zero,
    only_stratum,
    order_components,
)
from fairtest.statistics.numerics.rules import clip_p
from fairtest.statistics.resampling.permutation import GSampler
from fairtest.statistics.resampling.samplers import Draws
from fairtest.statistics.tables.exact_tables import exact_moments
from fairtest.statistics.tables.information import (
    conditional_nmi_interval,
    conditional_nmi_p,
    degrees_of_freedom,
    g_statistic,
    g_test_p,
    nmi_interval,
    smallest_expected,
)
from fairtest.statistics.tables.logarithms import x_log_x
from fairtest.statistics.tables.null_moments import NullMoments, g_null_moments_2x2
from fairtest.statistics.tables.random_tables import g_null_moments
from fairtest.statistics.tables.sparse_moments import g_moments_of_margins, is_biased, lift_of_g, matched_p
from fairtest.statistics.weighted_tables import judge_independence_in_tables
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.metrics.batch import Batch
    from fairtest.metrics.procedure import Notes
    from fairtest.statistics.numerics.rules import Alpha, Bounds
    from fairtest.statistics.resampling.samplers import Sampler
    from fairtest.types import BoolArray, FloatArray, IntArray

MOMENT_DRAWS = 1000
AMPLE = 10.0
"""From this smallest expected count on, G has the mean and variance of its χ²."""
CLEAR = 1e-4
"""Below this p-value of a sparse table, G is compared with its moments too: it may decide alone."""

TINY_STRATA = "Over a fifth of these people are in strata with expected counts below 1: the interval may be too narrow."


def normalised_information(summary: Counts) -> FloatArray:
    """Return MI(S, O) / min(H(S), H(O)), averaged over strata by their size.

    Undefined in strata where one of the attributes does not vary.
    """
    return _normalise(_information(summary))


def _normalise(known: tuple[FloatArray, FloatArray, FloatArray]) -> FloatArray:
    information, entropy, people = known
    return weighted_average(_share(information, entropy), people)


def _information(summary: Counts) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return MI, the smaller entropy and the people of each stratum, in nats."""
    counts = summary.counts
    people = counts.sum(axis=(-2, -1))
    log_term = x_log_x(int(people.max(initial=0)), whole=counts.dtype.kind != "f")
    cells = log_term(counts).sum(axis=(-2, -1))
    by_output, by_group = counts.sum(axis=-1), counts.sum(axis=-2)
    outputs, groups = log_term(by_output).sum(axis=-1), log_term(by_group).sum(axis=-1)
    whole = log_term(people)
    with np.errstate(invalid="ignore", divide="ignore"):
        information = np.maximum(cells - outputs - groups + whole, 0.0) / people
        entropy = np.minimum(whole - outputs, whole - groups) / people
    varies = (np.count_nonzero(by_output, axis=-1) > 1) & (np.count_nonzero(by_group, axis=-1) > 1)
    return information, np.where(varies, entropy, np.nan), people


def _share(information: FloatArray, entropy: FloatArray) -> FloatArray:
    return np.minimum(information / entropy, 1.0)


def bound(summary: Counts, z: float) -> FloatArray:
    """Return a lower limit from the noncentral χ² of G = 2n·MI; G and degrees of freedom add up over strata."""
    known = _information(summary)
    g, df, _ = _g_statistic(summary, known)
    return _normalise(known) * noncentral_low(g, df, z) / np.where(g > 0, g, 1.0)


def evidence(summary: Counts) -> Evidence:
    """Return the normal deviate of the G test, and √((G − df)/n)."""
    g, df, n = _g_statistic(summary, _information(summary))
    return from_chi_square(g / lift_of_g(summary.counts), np.where(df > 0, df, np.nan), n)


def _g_statistic(
    summary: Counts, known: tuple[FloatArray, FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return G, its degrees of freedom and the people, added up over the strata that vary."""
    information, entropy, people = known
    counts = summary.counts
    df = (np.count_nonzero(counts.sum(axis=-1), axis=-1) - 1) * (np.count_nonzero(counts.sum(axis=-2), axis=-1) - 1)
    defined = ~np.isnan(entropy)
    g = np.where(defined, 2 * people * information, 0.0).sum(axis=-1)
    return g, np.where(defined, df, 0).sum(axis=-1), np.where(defined, people, 0.0).sum(axis=-1)


def _counts(batch: Batch) -> IntArray:
    """Return the counts; of people that rows are worth, the nearest whole numbers, as exact moments need them."""
    assert isinstance(batch.summary, Counts)
    counts = batch.summary.counts
    return np.rint(counts).astype(np.int64) if counts.dtype.kind == "f" else counts


def _test(batch: Batch) -> FloatArray:
    """Return the p-values of G, from its moments in large sparse tables and where small ones look clear."""
    counts = _counts(batch)[:, 0]
    p, g = g_test_p(counts), g_statistic(counts)
    mean, variance, biased = _moments_of_g(batch)
    known = ~np.isnan(mean)
    matched = matched_p(g[known], mean[known], variance[known])
    p[known] = clip_p(np.where(biased[known], matched, np.maximum(matched, p[known])))
    return p


def _bounds(batch: Batch, alpha: Alpha) -> Bounds:
    counts = _counts(batch)[:, 0]
    mean, _, biased = _moments_of_g(batch)
    bias = np.where(biased, mean - degrees_of_freedom(counts), 0.0)
    return nmi_interval(counts, alpha, bias)


def _moments_of_g(batch: Batch) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return mean and variance of G without association where they are needed, else NaN; and where G is biased."""
    if "moments of G" not in batch.memo:
        counts = _counts(batch)[:, 0]
        biased, expected = is_biased(counts), smallest_expected(counts)
        with np.errstate(invalid="ignore"):
            wanted = biased | ((expected >= 1) & (expected < 5) & (g_test_p(counts) < CLEAR))
        mean, variance = (np.full(len(batch), np.nan) for _ in range(2))
        for i in np.flatnonzero(wanted):
            mean[i], variance[i] = g_moments_of_margins(canonical_table(counts[i]))
        batch.memo["moments of G"] = mean, variance, biased
    mean, variance, biased = batch.memo["moments of G"]
    return mean, variance, biased


def _draws(batch: Batch, p: FloatArray, level: float) -> Draws:
    """Draw random tables where an expected count is below 5, unless G is far from any level or its moments known."""
    counts = _counts(batch)[:, 0]
    expected = smallest_expected(counts)
    with np.errstate(invalid="ignore"):
        clear = is_biased(counts) | (p > FAR) | ((p < SURE * level) & (expected >= 1))

    def samplers(places: Sequence[int]) -> Iterator[Sampler]:
        for i in places:
            table = canonical_table(counts[i])
            yield batch.key_sampler(GSampler(table), table)

    return Draws(np.flatnonzero((expected < 5) & ~clear & ~np.isnan(p)).tolist(), samplers)


def _moments(batch: Batch) -> NullMoments:
    """Return the moments of each stratum's G over all tables with its margins."""
    if "moments" not in batch.memo:
        batch.memo["moments"] = tuple(_null_moments(batch))
    return NullMoments(*batch.memo["moments"])


def _null_moments(batch: Batch) -> NullMoments:
    counts = _counts(batch)
    if counts.shape[-2:] == (2, 2):
        return g_null_moments_2x2(counts)
    m, k = counts.shape[:2]
    tables = counts.reshape(m * k, *counts.shape[2:])
    df = (np.count_nonzero(tables.sum(axis=2), axis=1) - 1) * (np.count_nonzero(tables.sum(axis=1), axis=1) - 1)
    moments = np.multiply.outer([1.0, 2.0, 8.0], df)  # those of χ²
    biased = is_biased(tables)
    for i in np.flatnonzero((smallest_expected(tables) < AMPLE) | biased):
        table = canonical_table(tables[i])
        if biased[i]:
            mean, variance = g_moments_of_margins(table)
            moments[:, i] = mean, variance, 2 * variance**2 / mean  # the third is that of a scaled χ²
            continue
        known = exact_moments(table)
        if known is None:
            moments[:, i] = np.ravel(g_null_moments(table[None], MOMENT_DRAWS, batch.generator(table)))
        else:
            moments[:, i] = known
    return NullMoments(*moments.reshape(3, m, k))


def _notes_within_strata(batch: Batch) -> Notes:
    """Warn where over a fifth of the people are in strata with tiny expected counts."""
    counts = _counts(batch)
    m, k = counts.shape[:2]
    smallest = smallest_expected(counts.reshape(m * k, *counts.shape[2:])).reshape(m, k)
    people = counts.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        tiny = np.where(smallest < 1, people, 0).sum(axis=1) / people.sum(axis=1)
        return notes_where((TINY_STRATA, tiny > 0.2))


def _sums(summary: Counts, wanted: IntArray, *_: FloatArray) -> Sums:
    """Return the components of Pearson's X² of every stratum, over its entropy: f(s) · h(o) / √(nH)."""
    counts = summary.take(wanted).counts.astype(float)
    outputs, groups = counts.sum(axis=-1), counts.sum(axis=-2)
    size = np.maximum(outputs.sum(axis=-1), 1.0)
    h, f = (contrasts_of(margin, size) for margin in (outputs, groups))
    entropy = np.minimum(*(entr(m / size[..., None]).sum(axis=-1) for m in (outputs, groups)))
    scale = np.sqrt(divide_or_zero(np.ones_like(size), size * entropy))
    used = (h != 0).any(axis=-1, keepdims=True) & (f != 0).any(axis=-1)[..., None, :]
    at, stratum, b, a = order_components(used, size)
    left = f[at, stratum, a] * scale[at, stratum, None]
    right = h[at, stratum, b]
    variance = scale[at, stratum] ** 2 * size[at, stratum]
    return Sums(wanted[at], only_stratum(stratum, size), Lookup(left[:, None]), Lookup(right[:, None]), variance)


def _n_sums(summary: Counts) -> IntArray:
    """Return the degrees of freedom of all strata of a context."""
    outputs, groups = ((summary.counts.sum(axis=axis) > 0).sum(axis=-1) for axis in (-1, -2))
    return np.asarray((np.maximum(outputs - 1, 0) * np.maximum(groups - 1, 0)).sum(axis=1))


def clause(finding: FindingPhrases) -> str:
    """Return the gap between two groups; of more, from where to where the share runs."""
    if finding.is_two_by_two:
        return difference.clause(finding)
    runs = finding.share_range()
    if runs is None:
        return finding.plain()
    if not finding.significant:
        return f"{runs}: a link {NOT_CLEAR}."
    if not finding.usual or finding.usual < 0:
        return f"{runs}."
    return f"{runs}: a link estimated at {fixed(finding.effect / finding.usual, 1)} times that in the whole population."


NMI = Metric(
    name="NMI",
    phrase="normalised mutual information",
    protected=LEVELS,
    output=LEVELS,
    summary=SummaryKind.COUNTS,
    effect=normalised_information,
    bound=bound,
    evidence=evidence,
    procedure=Procedure(
        # the G test, and the inversion of the noncentral χ²
        test=_test,
        bounds=_bounds,
        draws=_draws,
        cautious=False,
    ),
    conditional=Procedure(
        # the strata's G over their entropy, against a Pearson III with the permutation mean, variance and skewness
        test=lambda batch: conditional_nmi_p(_counts(batch), _moments(batch)),
        bounds=lambda batch, alpha: conditional_nmi_interval(_counts(batch), alpha, _moments(batch)),
        notes=_notes_within_strata,
        cautious=False,
    ),
    # Not within strata: p-values are approximate where strata are small, and a correction that leaves no room adds
    # that up (a false finding in 14 of 155 null runs; counted in full, 5).
    influence=Influence(_sums, _n_sums, within_strata=False),
    effective=of_any_link,
    effective_in_tables=judge_independence_in_tables,
    signed=False,
    most=1.0,
    words=Words(
        noun="strength",
        subject="strength of the link",
        symbol="NMI",
        meaning="normalised mutual information, from 0 (the attribute tells nothing about the output) to 1 "
        "(it tells everything). It suits any number of groups",
        clause=clause,
    ),
)
