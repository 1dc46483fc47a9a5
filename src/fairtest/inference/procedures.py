"""Which test and which interval each metric gets (section 3 of the statistics).

A procedure turns a batch of hypotheses into p-values, says which of them should be drawn, and gives intervals at any
level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from fairtest.data.summaries import Central, Counts, GroupMoments, Moments
from fairtest.inference.batch import canonical_table
from fairtest.inference.cautions import (
    FEW,
    FEW_PEOPLE,
    SMALL_STRATA,
    STRONG,
    TINY_STRATA,
    correlation_notes,
    one_way_notes,
    spoken,
)
from fairtest.inference.monte_carlo import Drawn
from fairtest.inference.resampling import Resampling
from fairtest.inference.row_effects import stratum_ranks
from fairtest.metrics.rank_correlation import rank_scores
from fairtest.statistics.numbers import correlation, oneway, rank
from fairtest.statistics.numerics.rules import widen_to_zero
from fairtest.statistics.rates import score
from fairtest.statistics.resampling.oneway_permutation import OneWaySampler
from fairtest.statistics.resampling.permutation import CorrelationSampler, GSampler
from fairtest.statistics.tables import information
from fairtest.statistics.tables.exact_tables import exact_moments
from fairtest.statistics.tables.null_moments import g_null_moments_2x2
from fairtest.statistics.tables.random_tables import g_null_moments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.inference.batch import Batch
    from fairtest.inference.cautions import Notes
    from fairtest.inference.monte_carlo import Sampler
    from fairtest.metrics.registry import Metric
    from fairtest.statistics.numerics.rules import Alpha
    from fairtest.types import BoolArray, FloatArray, IntArray

    Bounds: TypeAlias = tuple[FloatArray, FloatArray]
    PValues: TypeAlias = tuple[FloatArray, Drawn]

TINY_GROUP = 10
"""Contexts with a group of fewer people are permuted when numbers are compared between groups …"""
MOST_PERMUTED = 5000
"""… up to so many people in all."""
SMALL_STRATUM = 50
"""Strata with fewer people, on average, are too small for ranks within them."""
SMALL = 1000
"""Up to this many people, correlations are tested by studentised permutation."""
NEAR = (1 / 30, 0.1)
"""People are permuted only where the asymptotic p-value is between α/30m and 0.1: outside, no decision hangs on it."""
FAR = 0.1
"""Above this, no correction can find a p-value small enough."""
SURE = 1e-3
"""Below this part of the smallest level, G decides alone if no expected count is below 1, F* if no group is tiny."""
MOMENT_DRAWS = 1000
AMPLE = 10.0
"""From this smallest expected count on, G has the mean and variance of its χ²."""


class Procedure(Protocol):
    """How to test, and how to give an interval.

    ``cautious`` says whether the asymptotic p-value errs on the safe side, so that only close calls need draws.
    """

    cautious: bool

    def p_values(self, batch: Batch, level: float) -> PValues:
        """Return raw p-values, NaN where undefined or only drawn, and which to draw if a decision hangs on them.

        ``level`` is the smallest level at which a p-value will be compared.
        """

    def interval(self, batch: Batch, p: FloatArray, alpha: Alpha) -> Bounds:
        """Return the bounds of each effect at level ``alpha``; ``p`` are the raw p-values."""

    def notes(self, batch: Batch) -> Notes:
        """Return, for each hypothesis, what is known to be weak about the method there."""


def procedure_for(metric: Metric, *, strata: int, resampling: bool = False) -> Procedure:
    """Return the procedure of a metric; metrics without one of their own are resampled."""
    if resampling or (metric.name == "RATIO" and strata > 1):
        return Resampling()
    known: dict[str, Procedure] = {
        "DIFF": ScoreDifference(),
        "RATIO": ScoreRatio(),
        "NMI": Information() if strata == 1 else ConditionalInformation(),
        "CORR": Correlation(),
        "ETA": OneWay(),
        "RANK": Rank() if strata == 1 else ConditionalRank(),
    }
    return known.get(metric.name, Resampling())


def no_notes(batch: Batch) -> Notes:
    """Return an empty remark for each hypothesis."""
    return [()] * len(batch)


def two_by_two(batch: Batch) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return favourable outputs and people of the group, then of the reference, by stratum."""
    assert isinstance(batch.summary, Counts)
    counts = batch.summary.counts
    people = counts.sum(axis=-2)
    return counts[..., 1, 1], people[..., 1], counts[..., 1, 0], people[..., 0]


class ScoreDifference:
    """DIFF and its conditional form: the skewness-corrected score test, and its inversion."""

    cautious = True

    def p_values(self, batch: Batch, level: float) -> PValues:  # noqa: ARG002
        """Return the score p-values."""
        return score.difference_p(*two_by_two(batch)), Drawn()

    def interval(self, batch: Batch, p: FloatArray, alpha: Alpha) -> Bounds:  # noqa: ARG002
        """Return the inversion of the test."""
        return score.difference_interval(*two_by_two(batch), alpha)

    notes = staticmethod(no_notes)


class ScoreRatio:
    """RATIO in one stratum: the same p-value, the inversion over ratios."""

    cautious = True

    def p_values(self, batch: Batch, level: float) -> PValues:  # noqa: ARG002
        """Return the score p-values, undefined where the ratio is."""
        p = score.ratio_p(*(a[:, 0] for a in two_by_two(batch)))
        return np.where(np.isnan(batch.effect), np.nan, p), Drawn()

    def interval(self, batch: Batch, p: FloatArray, alpha: Alpha) -> Bounds:  # noqa: ARG002
        """Return the bounds of the ratio, less 1."""
        x1, n1, x2, n2 = (a[:, 0] for a in two_by_two(batch))
        low, high = score.ratio_interval(x1, n1, x2, n2, alpha)
        return low - 1, high - 1

    notes = staticmethod(no_notes)


class Information:
    """NMI in one table: the G test, or random tables where expected counts are small."""

    cautious = False

    def p_values(self, batch: Batch, level: float) -> PValues:
        """Return G's p-values; tables with an expected count below 5 are drawn, unless G is far from any level."""
        counts = self._tables(batch)
        p = information.g_test_p(counts)
        expected = information.smallest_expected(counts)
        with np.errstate(invalid="ignore"):
            clear = (p > FAR) | ((p < SURE * level) & (expected >= 1))

        def samplers(places: Sequence[int]) -> Iterator[Sampler]:
            for i in places:
                table = canonical_table(counts[i])
                yield batch.keyed(GSampler(table), table)

        return p, Drawn(np.flatnonzero((expected < 5) & ~clear & ~np.isnan(p)).tolist(), samplers)

    def interval(self, batch: Batch, p: FloatArray, alpha: Alpha) -> Bounds:
        """Return the inversion of the noncentral χ²; it reaches 0 where the test does not reject."""
        return widen_to_zero(*information.nmi_interval(self._tables(batch), alpha), p, alpha)

    notes = staticmethod(no_notes)

    @staticmethod
    def _tables(batch: Batch) -> IntArray:
        assert isinstance(batch.summary, Counts)
        return batch.summary.counts[:, 0]


class ConditionalInformation:
    """Conditional NMI: the strata's G over their entropy, against a χ² with the permutation mean and variance."""

    cautious = False

    def p_values(self, batch: Batch, level: float) -> PValues:  # noqa: ARG002
        """Return the p-values of the moment-matched χ²."""
        counts = self._counts(batch)
        return information.conditional_nmi_p(counts, *self._moments(batch)), Drawn()

    def interval(self, batch: Batch, p: FloatArray, alpha: Alpha) -> Bounds:
        """Return the inversion of the scaled noncentral χ²."""
        bounds = information.conditional_nmi_interval(self._counts(batch), alpha, *self._moments(batch))
        return widen_to_zero(*bounds, p, alpha)

    def notes(self, batch: Batch) -> Notes:
        """Warn where over a fifth of the people are in strata with tiny expected counts."""
        counts = self._counts(batch)
        m, k = counts.shape[:2]
        smallest = information.smallest_expected(counts.reshape(m * k, *counts.shape[2:])).reshape(m, k)
        people = counts.sum(axis=(-2, -1))
        with np.errstate(invalid="ignore", divide="ignore"):
            tiny = np.where(smallest < 1, people, 0).sum(axis=1) / people.sum(axis=1)
            return spoken((TINY_STRATA, tiny > 0.2))

    @staticmethod
    def _counts(batch: Batch) -> IntArray:
        assert isinstance(batch.summary, Counts)
        return batch.summary.counts

    def _moments(self, batch: Batch) -> tuple[FloatArray, FloatArray]:
        if "moments" not in batch.memo:
            batch.memo["moments"] = self._null_moments(batch)
        mean, variance = batch.memo["moments"]
        return mean, variance

    def _null_moments(self, batch: Batch) -> tuple[FloatArray, FloatArray]:
        counts = self._counts(batch)
        if counts.shape[-2:] == (2, 2):
            return g_null_moments_2x2(counts)
        m, k = counts.shape[:2]
        tables = counts.reshape(m * k, *counts.shape[2:])
        df = (np.count_nonzero(tables.sum(axis=2), axis=1) - 1) * (np.count_nonzero(tables.sum(axis=1), axis=1) - 1)
        mean, variance = df.astype(float), 2.0 * df
        for i in np.flatnonzero(information.smallest_expected(tables) < AMPLE):
            table = canonical_table(tables[i])
            known = exact_moments(table)
            if known is None:
                drawn = g_null_moments(table[None], MOMENT_DRAWS, batch.generator(table))
                known = float(drawn[0][0]), float(drawn[1][0])
            mean[i], variance[i] = known
        return mean.reshape(m, k), variance.reshape(m, k)


class Correlation:
    """CORR and its conditional form: t of atanh r; small contexts by studentised permutation."""

    cautious = True

    def p_values(self, batch: Batch, level: float) -> PValues:
        """Return the asymptotic p-values; small contexts near the level are permuted."""
        p = correlation.correlation_p(self._sums(batch))

        def samplers(places: Sequence[int]) -> Iterator[Sampler]:
            for _, people in batch.each(places):
                sampler = CorrelationSampler(people.protected, people.output, people.stratum)
                yield batch.keyed(sampler, people.protected, people.output)

        return p, Drawn(np.flatnonzero(near(p, level) & (batch.size <= SMALL)).tolist(), samplers)

    def interval(self, batch: Batch, p: FloatArray, alpha: Alpha) -> Bounds:
        """Return the interval of the same standard error; it reaches 0 where the test does not reject."""
        return widen_to_zero(*correlation.correlation_interval(self._sums(batch), alpha), p, alpha)

    def notes(self, batch: Batch) -> Notes:
        """Warn of long tails and of small groups."""
        assert isinstance(batch.summary, Moments)
        each = central_sums(batch.summary.by_stratum)
        empty = (each.s20 <= 0) | (each.s02 <= 0)
        first, second = ((correlation.two_valued(s) | empty) for s in (each, each.transposed))
        return correlation_notes(self._sums(batch), (np.all(first, axis=1), np.all(second, axis=1)))

    @staticmethod
    def _sums(batch: Batch) -> correlation.CentralSums:
        assert isinstance(batch.summary, Moments)
        return central_sums(batch.summary.pooled)


class Rank:
    """RANK in one stratum: t of atanh ρ with the variance of its influence function."""

    cautious = True

    def p_values(self, batch: Batch, level: float) -> PValues:  # noqa: ARG002
        """Return the asymptotic p-values."""
        return rank.spearman_p(self._tables(batch)), Drawn()

    def interval(self, batch: Batch, p: FloatArray, alpha: Alpha) -> Bounds:  # noqa: ARG002
        """Return the interval of the same standard error."""
        return rank.spearman_interval(self._tables(batch), alpha)

    def notes(self, batch: Batch) -> Notes:
        """Warn where one of two groups has few people, and where few people have a strong correlation."""
        tables = self._tables(batch)
        few = np.zeros(len(tables), dtype=bool)
        for margin in (tables.sum(axis=axis) for axis in (1, 2)):
            two = np.count_nonzero(margin, axis=1) == 2
            few |= two & (np.where(margin > 0, margin, np.inf).min(axis=1) < FEW_PEOPLE)
        with np.errstate(invalid="ignore"):
            strong = (batch.size < 150) & (np.abs(batch.effect) > 0.7)
        return spoken((FEW, few), (STRONG, strong))

    @staticmethod
    def _tables(batch: Batch) -> IntArray:
        assert isinstance(batch.summary, Counts)
        return batch.summary.counts[:, 0]


class ConditionalRank:
    """RANK within strata: the correlation of ranks within strata, tested as a correlation."""

    cautious = True

    def p_values(self, batch: Batch, level: float) -> PValues:
        """Return the asymptotic p-values; small contexts near the level are permuted."""
        p = correlation.correlation_p(self._sums(batch))

        def samplers(places: Sequence[int]) -> Iterator[Sampler]:
            for _, people in batch.each(places):
                s, o = (stratum_ranks(v, people.stratum) for v in (people.protected, people.output))
                yield batch.keyed(CorrelationSampler(s, o, people.stratum), s, o)

        return p, Drawn(np.flatnonzero(near(p, level) & (batch.size <= SMALL)).tolist(), samplers)

    def interval(self, batch: Batch, p: FloatArray, alpha: Alpha) -> Bounds:
        """Return the interval of a correlation; it reaches 0 where the test does not reject."""
        return widen_to_zero(*correlation.correlation_interval(self._sums(batch), alpha), p, alpha)

    def notes(self, batch: Batch) -> Notes:
        """Warn of small strata."""
        sums = self._sums(batch)
        return spoken((SMALL_STRATA, sums.n < SMALL_STRATUM * sums.strata))

    @staticmethod
    def _sums(batch: Batch) -> correlation.CentralSums:
        assert isinstance(batch.summary, Counts)
        return central_sums(rank_scores(batch.summary))


class OneWay:
    """ETA and its conditional form: Brown and Forsythe's F*, and the inversion of a scaled noncentral χ²."""

    cautious = False

    def p_values(self, batch: Batch, level: float) -> PValues:
        """Return the p-values of F*; contexts with strata or with a tiny group are permuted.

        F* collapses where a group of two or three people happens to have hardly any variance. Where all groups are
        larger, a p-value far below any level stands.
        """
        groups = self._groups(batch)
        p = oneway.brown_forsythe_p(groups)
        tiny = smallest_group(groups) < TINY_GROUP
        wanted = (tiny | (groups.n.shape[1] > 1)) & (batch.size <= MOST_PERMUTED)
        known = np.nan_to_num(p, nan=1.0)
        wanted &= (known <= FAR) & (tiny | (known >= SURE * level))

        def samplers(places: Sequence[int]) -> Iterator[Sampler]:
            for _, people in batch.each(places):
                by, x = people.protected, people.output
                if by.dtype.kind == "f":
                    by, x = x, by
                yield batch.keyed(OneWaySampler(by, x, people.stratum), by, x)

        return p, Drawn(np.flatnonzero(wanted).tolist(), samplers)

    def interval(self, batch: Batch, p: FloatArray, alpha: Alpha) -> Bounds:
        """Return the bounds of η²; the lower one is 0 where the test does not reject."""
        return widen_to_zero(*oneway.eta_interval(self._groups(batch), alpha), p, alpha)

    def notes(self, batch: Batch) -> Notes:
        """Warn of skewed numbers, of long tails, and of small groups."""
        return one_way_notes(self._groups(batch))

    @staticmethod
    def _groups(batch: Batch) -> oneway.Groups:
        assert isinstance(batch.summary, GroupMoments)
        s = batch.summary
        return oneway.Groups(s.sums[..., 0], s.means, *(s.central(p) for p in (2, 3, 4)))


def smallest_group(groups: oneway.Groups) -> FloatArray:
    """Return the people of the smallest group that is there, its strata taken together."""
    people = groups.n.sum(axis=1)
    return np.asarray(np.where(people > 0, people, np.inf).min(axis=1))


def near(p: FloatArray, level: float) -> BoolArray:
    """Whether an asymptotic p-value is so near the level that it should be replaced by an exact one."""
    with np.errstate(invalid="ignore"):
        return (p >= NEAR[0] * level) & (p <= NEAR[1])


def central_sums(pooled: Central) -> correlation.CentralSums:
    """Return centred sums in the form the correlation formulas take."""
    s = pooled.sums
    return correlation.CentralSums(
        n=pooled.n,
        strata=pooled.strata,
        s20=s[2, 0],
        s02=s[0, 2],
        s11=s[1, 1],
        s22=s[2, 2],
        s31=s[3, 1],
        s13=s[1, 3],
        s40=s[4, 0],
        s04=s[0, 4],
        s30=s[3, 0],
        s21=s[2, 1],
        s12=s[1, 2],
        s03=s[0, 3],
    )
