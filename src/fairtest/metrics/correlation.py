"""CORR: Pearson's correlation, pooled within strata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import Central, Moments
from fairtest.metrics.cautions import FEW, FEW_PEOPLE, long_tails
from fairtest.metrics.effective import of_correlation
from fairtest.metrics.evidence import MOST, Evidence
from fairtest.metrics.procedure import Procedure, notes_where
from fairtest.metrics.registry import NUMBERS, Metric
from fairtest.metrics.scale import COEFFICIENT
from fairtest.metrics.words import NOT_CLEAR, FindingPhrases, Words
from fairtest.statistics.influence import Deviation, single_sum
from fairtest.statistics.numbers.correlation import (
    CentralSums,
    correlation_interval,
    correlation_p,
    groups_of_two_valued,
    smaller_group,
    two_valued,
)
from fairtest.statistics.numbers.correlation import correlation as correlation_of_sums
from fairtest.statistics.numbers.mean_difference import mean_difference_p, shape_of_largest
from fairtest.statistics.numbers.products import may_miss_tail, missed_tail_p
from fairtest.statistics.numbers.strata import stratum_means
from fairtest.statistics.resampling.permutation import CorrelationSampler
from fairtest.statistics.resampling.samplers import Draws
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.metrics.batch import Batch
    from fairtest.metrics.procedure import Notes
    from fairtest.statistics.resampling.samplers import Sampler
    from fairtest.types import FloatArray, IntArray

SMALL = 1000
"""Up to this many people, correlations are tested by studentised permutation."""
CLOSE = (1 / 30, 0.1)
"""People are permuted only where the asymptotic p-value is between α/30m and 0.1: outside, no decision hangs on it."""
MOST_PEOPLE = 200_000
"""Among more people, no tail that matters is missed."""

TAILS = (
    "The numbers are skewed or have long tails: where there is a correlation, its interval may be too narrow. Rank "
    "correlation (RANK) is safer."
)


def correlation(summary: Moments) -> FloatArray:
    """Return Pearson's r of the deviations from the strata's means."""
    sums = summary.pooled.sums
    with np.errstate(invalid="ignore", divide="ignore"):
        r = sums[1, 1] / np.sqrt(sums[2, 0] * sums[0, 2])
    return np.clip(r, -1.0, 1.0)


def bound(summary: Moments, z: float) -> FloatArray:
    """Return Fisher's lower limit for |r|."""
    r = np.abs(correlation(summary))
    pooled = summary.pooled
    spread = 1 / np.sqrt(np.maximum(pooled.n - pooled.strata - 2, 1e-9))
    low: FloatArray = np.tanh(np.arctanh(np.minimum(r, 1 - 1e-12)) - z * spread)
    return low


def evidence(summary: Moments) -> Evidence:
    """Return Fisher's z, standardised and not."""
    pooled = summary.pooled
    variance = 1 / np.maximum(pooled.n - pooled.strata - 2, 1e-9)
    effect = np.arctanh(np.clip(correlation(summary), -1 + 1e-12, 1 - 1e-12))
    return Evidence(np.clip(effect / np.sqrt(variance), -MOST, MOST), effect, variance)


def pooled_correlation(s: FloatArray, o: FloatArray, stratum: IntArray) -> float:
    """Return Pearson's r of people's deviations from the strata's means; NaN where a column does not vary."""
    x, y = s - stratum_means(s, stratum), o - stratum_means(o, stratum)
    norm = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / norm if norm > 0 else np.nan


def central_sums(pooled: Central) -> CentralSums:
    """Return centred sums in the form the correlation formulas take."""
    return CentralSums(pooled.n, pooled.strata, **{f"s{i}{j}": sums for (i, j), sums in pooled.sums.items()})


def _test(sums: CentralSums) -> FloatArray:
    """Return p-values; where the protected attribute makes two groups, no smaller than that of their means."""
    p = correlation_p(sums)
    groups = groups_of_two_valued(sums)
    means = mean_difference_p(groups, shape_of_largest(groups))
    return np.where(two_valued(sums), np.fmax(p, means), p)


def correlation_procedure(
    sums_of: Callable[[Any], CentralSums],
    scores: Callable[[NDArray[Any], IntArray], FloatArray],
    notes: Callable[[Batch], Notes],
    again: Callable[[Batch, Sequence[int], FloatArray], FloatArray] | None = None,
) -> Procedure:
    """Return t of atanh r, for two groups also the test of their means, for small contexts a studentised permutation.

    Parameters
    ----------
    sums_of
        From a summary to the sums of the numbers that are correlated.
    scores
        From a column of people and their strata to these numbers.
    """

    def draws(batch: Batch, p: FloatArray, level: float) -> Draws:
        def samplers(places: Sequence[int]) -> Iterator[Sampler]:
            for _, people in batch.each(places):
                s, o = (scores(v, people.stratum) for v in (people.protected, people.output))
                yield batch.key_sampler(CorrelationSampler(s, o, people.stratum), s, o)

        with np.errstate(invalid="ignore"):
            close = (p >= CLOSE[0] * level) & (p <= CLOSE[1])
        of_numbers = ~two_valued(sums_of(batch.summary))
        return Draws(np.flatnonzero(close & of_numbers & (batch.size <= SMALL)).tolist(), samplers)

    return Procedure(
        test=lambda batch: _test(sums_of(batch.summary)),
        bounds=lambda batch, alpha: correlation_interval(sums_of(batch.summary), alpha),
        draws=draws,
        notes=notes,
        again=again,
    )


def _look_for_missed_tails(batch: Batch, places: Sequence[int], p: FloatArray) -> FloatArray:
    """Return p-values that reckon with a tail of the products that nobody here is in; two groups have done so."""
    assert isinstance(batch.summary, Moments)
    sums = central_sums(batch.summary.take(np.array(places)).pooled)
    doubtful = may_miss_tail(sums) & ~two_valued(sums) & ~two_valued(sums.transposed) & (sums.n <= MOST_PEOPLE)
    found = p.copy()
    at = np.flatnonzero(doubtful).tolist()
    for i, (_, people) in zip(at, batch.each([places[i] for i in at]), strict=True):
        found[i] = missed_tail_p(float(p[i]), people.protected, people.output, people.stratum)
    return found


def _notes(batch: Batch) -> Notes:
    """Warn of long tails and of a small group; a column of two values (in each stratum) cannot have tails."""
    assert isinstance(batch.summary, Moments)
    each, sums = central_sums(batch.summary.by_stratum), central_sums(batch.summary.pooled)
    empty = (each.s20 <= 0) | (each.s02 <= 0)
    tails = np.zeros(len(batch), dtype=bool)
    for one, other in ((sums, each.transposed), (sums.transposed, each)):
        tails |= ~np.all(two_valued(other) | empty, axis=1) & long_tails(one.n, *_shape_of_rest(one))
    return notes_where((TAILS, tails), (FEW, smaller_group(sums) < FEW_PEOPLE))


def _shape_of_rest(sums: CentralSums) -> tuple[FloatArray, FloatArray]:
    """Return skewness and kurtosis of what is left of the second column given the first."""
    r = correlation_of_sums(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = np.sqrt(sums.s20 / sums.n), np.sqrt(sums.s02 / sums.n) * np.sqrt(1 - r * r)
        b = r * np.sqrt(sums.s02 / sums.n) / x
        third = sums.s03 - b * (3 * sums.s12 - b * (3 * sums.s21 - b * sums.s30))
        fourth = sums.s04 - b * (4 * sums.s13 - b * (6 * sums.s22 - b * (4 * sums.s31 - b * sums.s40)))
        return third / sums.n / y**3, fourth / sums.n / y**4


def clause(finding: FindingPhrases) -> str:
    """Return how the output moves with the protected attribute."""
    return f"{finding.movement()} (correlation {finding.number}{finding.against}). {clear_and_strong(finding)}"


def clear_and_strong(finding: FindingPhrases) -> str:
    """Return how sure and how strong a correlation is, each in its own word."""
    if not finding.significant:
        return f"The link is {NOT_CLEAR}."
    size = abs(finding.effect)
    strong = "but weak" if size < 0.1 else "and moderate" if size < 0.3 else "and strong"
    return f"The link is clear {strong}."


CORR = Metric(
    name="CORR",
    phrase="correlation",
    protected=NUMBERS,
    output=NUMBERS,
    summary=SummaryKind.MOMENTS,
    effect=correlation,
    bound=bound,
    evidence=evidence,
    procedure=correlation_procedure(
        lambda moments: central_sums(moments.pooled), lambda v, _: v, _notes, _look_for_missed_tails
    ),
    effective=of_correlation,
    influence=single_sum(lambda _, s_mean, o_mean: (Deviation(s_mean), Deviation(o_mean))),
    row_effect=pooled_correlation,
    most=1.0,
    scale=COEFFICIENT,
    words=Words(
        noun="correlation",
        meaning="from −1 to 1; 0 is no straight-line link, below 0.1 in size is weak",
        lower="falls:",
        higher="rises:",
        clause=clause,
    ),
)
