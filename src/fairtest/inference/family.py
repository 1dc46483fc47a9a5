"""Hypotheses on their way through a family: from batches to p-values, drawn as finely as decisions need, to numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.summaries import Counts
from fairtest.inference.effective import under_design
from fairtest.inference.gaps import most_gaps
from fairtest.inference.monte_carlo import sequential_p_values
from fairtest.inference.multiplicity.prior import Prior
from fairtest.numbers import p_statement
from fairtest.progress import progress_of_step
from fairtest.statistics.numerics.rules import clip_p, widen_to_zero
from fairtest.statistics.resampling.samplers import KeyedSampler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtest.data.design import Design
    from fairtest.data.summaries import Summary
    from fairtest.inference.asked import Asked
    from fairtest.inference.multiplicity.corrections import Correction
    from fairtest.metrics.batch import Batch
    from fairtest.metrics.procedure import Procedure
    from fairtest.progress import Progress
    from fairtest.statistics.numerics.rules import Alpha, Bounds
    from fairtest.statistics.resampling.samplers import Draws, Sampler
    from fairtest.types import BoolArray, FloatArray, IntArray

MOST_DRAWS = 1 << 17
"""Enough where likely hypotheses are tested at larger levels than α/m."""
ALL_DRAWS, FEWEST_DRAWS = 1 << 23, 1 << 11
"""About how many draws from small tables, or their cost, are made in all; the fewest that each hypothesis may get."""
HOPE, DOUBT = 10.0, 30.0
"""By how much an asymptotic p-value may be too large, and (of a cautious method) too small."""
STRATUM_DEPTH = 1_000
"""Strata are a depth of their own where levels are divided by depth."""
ALL_INTERVALS, ALL_BOOTSTRAPPED = 1000, 50
"""Up to this many contexts, all of them get intervals; in larger families only what is significant. One of 700 contexts
in 40 strata takes 40 ms to bootstrap, a thousand times as long as a formula."""
NOT_AMONG_NEIGHBOURS = (
    "Among people who are near each other in the explanatory numbers no link is clear ({p}): what bins of these "
    "numbers leave may be all there is to see."
)


@dataclass(frozen=True)
class TestSettings:
    """How to test.

    Attributes
    ----------
    number
        The test set.
    level
        The level of the whole family.
    stratum_people
        Strata with fewer people are described but not tested.
    population_share
        The share of the level that is kept for whole populations, where they have a level of their own.
    train_share
        The training set's share of the people of training and test set.
    design
        Whose the rows are and what they weigh; None if each is one person.
    resampling
        Whether to permute and bootstrap instead of the procedures of each metric.
    """

    __test__ = False  # not a test case, whatever its name

    number: int
    level: float
    correction: Correction
    stratum_people: float
    seed: int
    population_share: float = 0.0
    train_share: float = 0.5
    resampling: bool = False
    design: Design | None = None

    def for_set(self, number: int | None) -> TestSettings:
        """Return how the test set is tested, or (a negative number) it and the training set together."""
        if number is None or number >= 0:
            return self
        # the same part of the people, who are more
        return replace(self, number=number, stratum_people=self.stratum_people / (1 - self.train_share))


@dataclass(frozen=True, eq=False)
class Estimates:
    """What the test set says: an entry for each hypothesis, NaN where there is none.

    ``alpha`` is the level of each simultaneous interval.
    """

    size: IntArray
    effect: FloatArray
    p_raw: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray
    low_single: FloatArray
    high_single: FloatArray
    notes: tuple[tuple[str, ...], ...]
    alpha: FloatArray

    @property
    def tested(self) -> BoolArray:
        """The members of the family."""
        return ~np.isnan(self.p_raw)

    def take(self, at: IntArray) -> Estimates:
        """Return some of the entries."""
        numbers = {name: value[at] for name, value in vars(self).items() if name != "notes"}
        return Estimates(**numbers, notes=tuple(self.notes[i] for i in at.tolist()))


@dataclass
class Member:
    """A batch on its way through the family: its raw p-values, and those of them that are drawn.

    ``n_strata`` is 0 for contexts; a batch of strata follows that of the contexts they are in. ``populations`` always
    get an interval. ``intervals`` is how many of them share the level of a hypothesis: its own, and those of the gaps
    between groups. ``near`` are the p-values among neighbours in an explanatory number, NaN where nobody asked.
    """

    batch: Batch
    procedure: Procedure
    p: FloatArray
    drawn: Draws
    evidence: FloatArray
    sign: FloatArray
    depth: IntArray
    n_strata: int
    populations: IntArray | None
    intervals: int = 1

    def __post_init__(self) -> None:
        self.near = np.full(len(self.p), np.nan)

    def open(self) -> dict[int, Sampler]:
        """Fill in the p-values that are known without draws, and return the samplers of the others."""
        left: dict[int, Sampler] = {}
        for i, sampler in self.drawn.samplers().items():
            known = sampler.exact() if isinstance(sampler, KeyedSampler) else None
            self.p[i] = np.nan if known is None else known
            if known is None:
                left[i] = sampler
        return left


def count_strata(summary: Summary) -> int:
    """Return the number of strata of a summary."""
    return int((summary.counts if isinstance(summary, Counts) else summary.sums).shape[1])


def procedure_of(batch: Batch, settings: TestSettings) -> Procedure:
    """Return how a batch is tested."""
    usual = batch.metric.procedure_for(strata=count_strata(batch.summary), resampling=settings.resampling)
    return usual if batch.worth is None else under_design(usual)


def make_member(
    batch: Batch, smallest: float, settings: TestSettings, asked: Asked, n_strata: int = 0, *, weighted: bool = True
) -> Member:
    """Return a batch with its p-values; strata (``n_strata`` of each context) need enough people to be tested."""
    procedure = procedure_of(batch, settings)
    p, drawn = procedure.p_values(batch, smallest)
    tested = batch.size >= (settings.stratum_people if n_strata else 0)
    if asked.population_set is not None:
        tested = tested.copy()
        tested[: n_strata or 1] = False  # the population, and its strata, have a level and people of their own
    nothing = np.zeros(len(batch))
    evidence, sign = (asked.evidence, asked.sign) if weighted else (nothing, nothing)
    depth = np.array([len(context) for context in asked.contexts])
    if n_strata:
        evidence, sign = nothing if asked.strata_evidence is None else asked.strata_evidence, nothing
        depth = np.full(len(batch), STRATUM_DEPTH)
    populations = None if n_strata else asked.populations
    p = np.where(tested, p, np.nan)
    intervals = 1 if n_strata or not settings.population_share else 1 + most_gaps(asked)
    return Member(batch, procedure, p, drawn.where(tested), evidence, sign, depth, n_strata, populations, intervals)


def prior_of(family: Sequence[Member], settings: TestSettings) -> Prior:
    """Return what the training set says of every hypothesis, and whether the test set points the same way."""
    return Prior(
        np.concatenate([m.evidence for m in family]),
        np.concatenate([np.nan_to_num(m.sign * np.sign(m.batch.effect)) for m in family]),
        settings.train_share,
        np.concatenate([m.depth for m in family]),
    )


def draw_p_values(family: Sequence[Member], prior: Prior, settings: TestSettings, progress: Progress) -> None:
    """Fill in the p-values that must be drawn, as finely as the decision about the family needs."""
    if not any(member.drawn.places for member in family):
        return
    _drop_hopeless(family, prior, settings)
    starts = np.cumsum([0, *(len(member.p) for member in family)])
    drawn = [(start + i, s) for start, member in zip(starts, family, strict=False) for i, s in member.open().items()]
    if not drawn:
        return
    places = np.array([place for place, _ in drawn])
    known = np.concatenate([member.p for member in family])

    def adjust(p: FloatArray) -> FloatArray:
        everything = p[places.size :].copy()
        everything[places] = p[: places.size]
        adjusted = settings.correction.adjust(everything, prior)
        return np.concatenate((adjusted[places], adjusted))

    rng = np.random.default_rng(settings.seed)
    known[places] = sequential_p_values(
        [s for _, s in drawn],
        fixed_p=known,
        alpha=settings.level,
        rng=rng,
        adjust=adjust,
        progress=progress,
        **({} if len(known) <= ALL_INTERVALS else {"first": 1024, "growth": 8}),
        most=_most_draws(sum(getattr(s, "cost", 1.0) for _, s in drawn), settings),
    )
    for member, p in zip(family, np.split(known, starts[1:-1]), strict=True):
        member.p = p


def _most_draws(cost: float, settings: TestSettings) -> int | None:
    """Return the cap on the draws of one hypothesis, lower where one draw of each costs more."""
    share = max(int(ALL_DRAWS / cost), FEWEST_DRAWS)
    if settings.correction.weighted:
        return min(share, MOST_DRAWS)
    return None if share >= MOST_DRAWS else share


def _drop_hopeless(family: Sequence[Member], prior: Prior, settings: TestSettings) -> None:
    """Spare the draws that no decision hangs on.

    Hypotheses that would not be rejected even with a tenth of their asymptotic p-value, and, where the asymptotic
    method is cautious, those that would be rejected even with thirty times it.
    """
    starts = np.cumsum([0, *(len(member.p) for member in family)])
    hopeful, doubtful = (np.concatenate([m.p for m in family]) for _ in range(2))
    for start, member in zip(starts, family, strict=False):
        places = start + np.array(member.drawn.places, dtype=int)
        hopeful[places] = np.where(np.isnan(hopeful[places]), 1e-300, hopeful[places] / HOPE)
        asymptotic = np.nan_to_num(doubtful[places], nan=1.0)
        doubtful[places] = np.minimum(asymptotic * DOUBT, 1.0) if member.procedure.cautious else 1.0
    with np.errstate(invalid="ignore"):
        possible = settings.correction.adjust(hopeful, prior) <= settings.level
        certain = settings.correction.adjust(doubtful, prior) <= settings.level
    for start, member in zip(starts, family, strict=False):
        here = slice(start, start + len(member.p))
        member.drawn = member.drawn.where(np.isnan(member.p) | (possible[here] & ~certain[here]))


def wants_intervals(member: Member, p: FloatArray, level: float) -> BoolArray:
    """Return which contexts of a batch get an interval: populations, what is significant, and all of a few."""
    most = ALL_BOOTSTRAPPED if member.procedure.bootstraps else ALL_INTERVALS
    with np.errstate(invalid="ignore"):
        wanted = np.asarray((p <= level) | (len(p) <= most))
    wanted[member.populations] = True
    return wanted


def estimate_member(
    member: Member, p: FloatArray, alpha: FloatArray, wanted: IntArray, level: float, progress: Progress
) -> Estimates:
    """Return the numbers of a batch; in large families, intervals only of what is significant.

    ``alpha`` are the levels of simultaneous intervals, ``level`` is that of single ones.
    """
    batch = member.batch
    few = replace(batch.take(wanted), progress=progress_of_step(progress, 0, 2))
    again = replace(few, progress=progress_of_step(progress, 1, 2))
    few.progress(0.0)
    low, high, low_single, high_single = (np.full(len(batch), np.nan) for _ in range(4))
    low[wanted], high[wanted] = _interval(member, few, wanted, alpha[wanted])
    again.progress(0.0)
    low_single[wanted], high_single[wanted] = _interval(member, again, wanted, level)
    notes: list[tuple[str, ...]] = [()] * len(batch)
    for i, note in zip(wanted.tolist(), member.procedure.notes(few), strict=True):
        notes[i] = (*note, *_doubt(member, i, level))
    return Estimates(
        size=batch.size,
        effect=batch.effect,
        p_raw=clip_p(member.p),
        p=clip_p(p),
        low=low,
        high=high,
        low_single=low_single,
        high_single=high_single,
        notes=tuple(notes),
        alpha=np.asarray(alpha, dtype=float),
    )


def _interval(member: Member, batch: Batch, at: IntArray, alpha: Alpha) -> Bounds:
    """Return the bounds of some hypotheses, which hold 0 where a link is not clear among neighbours."""
    p, near = member.p[at], member.near[at]
    bounds = member.procedure.interval(batch, p, alpha)
    return widen_to_zero(*bounds, np.where(np.isnan(near), 0.0, near), alpha)


def _doubt(member: Member, i: int, level: float) -> tuple[str, ...]:
    """Say so where a link is not clear among neighbours."""
    if not member.near[i] > level:
        return ()
    return (NOT_AMONG_NEIGHBOURS.format(p=p_statement(float(member.near[i]), "p")),)
