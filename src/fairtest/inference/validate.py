"""Validation: every proposed context is tested on a test set it has not seen, together with all the others."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import Counts, by_stratum
from fairtest.engine.contract import Rows
from fairtest.exceptions import in_question
from fairtest.inference.monte_carlo import sequential_p_values
from fairtest.inference.multiplicity.corrections import corrections
from fairtest.inference.multiplicity.dependence import Part, covariance
from fairtest.inference.multiplicity.max_t import draw_joint_null
from fairtest.inference.multiplicity.prior import Prior
from fairtest.inference.multiplicity.required import required_deviates
from fairtest.metrics.batch import Batch
from fairtest.progress import progress_of_step, silent
from fairtest.statistics.numerics.rules import clip_p
from fairtest.statistics.resampling.samplers import KeyedSampler

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.data.summaries import Summary
    from fairtest.engine.contract import Engine
    from fairtest.inference.asked import Asked
    from fairtest.inference.multiplicity.corrections import Correction
    from fairtest.inference.multiplicity.max_t import JointNull
    from fairtest.metrics.procedure import Procedure
    from fairtest.progress import Progress
    from fairtest.statistics.resampling.samplers import Draws, Sampler
    from fairtest.types import BoolArray, FloatArray, IntArray

MOST_DRAWS = 1 << 17
"""Enough where likely hypotheses are tested at larger levels than α/m."""
ALL_DRAWS, FEWEST_DRAWS = 1 << 23, 1 << 11
"""About how many draws from small tables, or their cost, are made in all; the fewest that each hypothesis may get."""
HOPE, DOUBT = 10.0, 30.0
"""By how much an asymptotic p-value may be too large, and (of a cautious method) too small."""
STAGES = 5
"""Into so many parts validation is divided for those who want to know how far it is."""
STRATUM_DEPTH = 1_000
"""Strata are a depth of their own where levels are divided by depth."""
ALL_INTERVALS = 1000
"""Up to this many contexts, all of them get intervals; in larger families only what is significant."""


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


@dataclass(frozen=True, eq=False)
class Estimates:
    """What the test set says: an entry for each hypothesis, NaN where there is none."""

    size: IntArray
    effect: FloatArray
    p_raw: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray
    low_single: FloatArray
    high_single: FloatArray
    notes: tuple[tuple[str, ...], ...]

    @property
    def tested(self) -> BoolArray:
        """The members of the family."""
        return ~np.isnan(self.p_raw)

    def take(self, at: IntArray) -> Estimates:
        """Return some of the entries."""
        numbers = {name: value[at] for name, value in vars(self).items() if name != "notes"}
        return Estimates(**numbers, notes=tuple(self.notes[i] for i in at.tolist()))


@dataclass(frozen=True, eq=False)
class Validated:
    """The answer to one question.

    Attributes
    ----------
    contexts
        One estimate for each context.
    strata
        One estimate for each context and stratum, row by row; None without explanatory attributes.
    summary
        The summary of each context in the test set, strata included.
    population
        That of the people on whom the whole population was tested.
    required
        The deviate at which each context would have been rejected.
    """

    asked: Asked
    contexts: Estimates
    strata: Estimates | None
    summary: Summary
    population: Summary
    required: FloatArray

    @property
    def tested(self) -> int:
        """How many hypotheses of this question are in the family."""
        strata = 0 if self.strata is None else int(self.strata.tested.sum())
        return int(self.contexts.tested.sum()) + strata


@dataclass
class _Member:
    """A batch on its way through the family: its raw p-values, and those of them that are drawn.

    ``n_strata`` is 0 for contexts; a batch of strata follows that of the contexts they are in. ``populations`` always
    get an interval.
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

    def open(self) -> dict[int, Sampler]:
        """Fill in the p-values that are known without draws, and return the samplers of the others."""
        left: dict[int, Sampler] = {}
        for i, sampler in self.drawn.samplers().items():
            known = sampler.exact() if isinstance(sampler, KeyedSampler) else None
            self.p[i] = np.nan if known is None else known
            if known is None:
                left[i] = sampler
        return left


def validate(
    engine: Engine, asked: Sequence[Asked], settings: TestSettings, progress: Progress = silent
) -> list[Validated]:
    """Test all questions in all their contexts on one test set, corrected over everything tested.

    Whole populations that have a level of their own come first: if all of them are confirmed, the contexts have the
    level of the set; if not, what the populations leave of it.
    """
    counting, testing, joining, drawing, measuring = (
        progress_of_step(progress, stage, STAGES) for stage in range(STAGES)
    )
    summaries = _counted(engine, asked, settings, counting)
    populations = test_populations(engine, asked, settings)
    left = populations.left_for_contexts(settings.level)
    family: list[_Member] = []
    smallest = left / max(sum(len(a.contexts) * a.target.n_strata for a in asked), 1)
    for number, (a, summary) in enumerate(zip(asked, summaries, strict=True)):
        testing(number / len(asked))
        with in_question(a.title):
            whole = _contexts(engine, a, summary, settings)
            family.append(_member(whole, smallest, settings, a))
            if a.target.strata is not None:
                family.append(_member(_strata(whole, a.target.n_strata), smallest, settings, a, a.target.n_strata))
    here = replace(settings, level=left)
    if settings.correction.joint:
        null = _joint_null(engine, asked, family, here, joining)
        here = replace(here, correction=here.correction.given(null))
    prior = _prior(family, here)
    _draw(family, prior, here, drawing)
    estimates = iter(_estimates(family, prior, populations, here, settings.level, measuring))
    required = iter(_required(family, prior, here))
    validated = []
    for a, summary in zip(asked, summaries, strict=True):
        own = populations.of(a)
        contexts, needed = next(estimates), next(required)
        strata = None
        if a.target.strata is not None:
            strata, _ = next(estimates), next(required)
        if own is None:
            validated.append(Validated(a, contexts, strata, summary, summary, needed))
        else:
            validated.append(Validated(a, _with_first(contexts, own.estimates), strata, summary, own.summary, needed))
    return validated


def _with_first(estimates: Estimates, population: Estimates) -> Estimates:
    """Return estimates with those of the population in the first place."""
    numbers = {f.name for f in fields(Estimates)} - {"notes"}
    joined: dict[str, Any] = {
        name: np.concatenate((getattr(population, name), getattr(estimates, name)[1:])) for name in numbers
    }
    return Estimates(**joined, notes=(*population.notes, *estimates.notes[1:]))


# Populations ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Population:
    """The answer about the whole population of one question, on people of its own."""

    asked: Asked
    summary: Summary
    estimates: Estimates


@dataclass(frozen=True, eq=False)
class Populations:
    """The whole populations that have a level of their own.

    A question that was named before anything was shown of these people may be put to the people of the training set
    too: nothing about it was chosen by looking at them.

    Attributes
    ----------
    share
        Their share of the level of the set.
    """

    answers: tuple[Population, ...]
    share: float

    def of(self, asked: Asked) -> Population | None:
        """Return the answer about a question's population, or None if it has no level of its own."""
        return next((answer for answer in self.answers if answer.asked is asked), None)

    @property
    def largest_p(self) -> float:
        """The largest of their corrected p-values; 0 where there are none."""
        return float(max((np.nan_to_num(a.estimates.p[0], nan=1.0) for a in self.answers), default=0.0))

    def left_for_contexts(self, level: float) -> float:
        """Return the level that is left for contexts."""
        return level if self.largest_p <= level else (1 - self.share) * level

    def recycled(self, p: FloatArray) -> FloatArray:
        r"""Return the p-values of contexts as they are compared with the level of the whole set.

        With κ corrected among the contexts, s the populations' share and P their corrected p-values, it is
        :math:`\min\{κ/(1 − s), \max(κ, \max P)\}`. Why it is valid: if a population without association is among them,
        contexts get the whole level only once it has been rejected, which is an error that s·α allows; if none is,
        only contexts can be false findings, and they have α.
        """
        if not self.answers:
            return p
        alone = p / (1 - self.share) if self.share < 1 else np.full_like(p, np.inf)
        return np.minimum(np.minimum(alone, np.maximum(p, self.largest_p)), np.where(np.isnan(p), np.nan, 1.0))


def test_populations(engine: Engine, asked: Sequence[Asked], settings: TestSettings) -> Populations:
    """Test whole populations by Holm's procedure with their share of the level."""
    own = [a for a in asked if a.population_set is not None]
    share = settings.population_share
    level = share * settings.level
    members, summaries = [], []
    for a in own:
        assert a.population_set is not None
        here = replace(settings, number=a.population_set)
        with in_question(a.title):
            everybody = a.everybody()
            summaries.append(everybody.counted(engine, a.population_set))
            batch = _contexts(engine, everybody, summaries[-1], here)
            members.append(_member(batch, level / len(own), settings, everybody, weighted=False))
    at_share = replace(settings, level=level, correction=corrections["holm"])
    prior = _prior(members, at_share)
    _draw(members, prior, at_share, silent)
    raw = np.array([m.p[0] for m in members])
    corrected = np.minimum(at_share.correction.adjust(raw, prior) / max(share, 1e-300), 1.0)
    each = level / max(int(np.count_nonzero(~np.isnan(raw))), 1)
    answers = []
    for a, summary, member, p in zip(own, summaries, members, corrected, strict=True):
        estimates = _member_estimates(
            member, np.array([p]), np.array([each]), np.zeros(1, dtype=int), settings.level, silent
        )
        answers.append(Population(a, summary, estimates))
    return Populations(tuple(answers), share)


test_populations.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name


def measure(engine: Engine, asked: Sequence[Asked], settings: TestSettings) -> list[Validated]:
    """Describe all questions on a set without testing: effects and single intervals, no p-values."""
    summaries = _counted(engine, asked, settings, silent)
    measured = []
    for a, summary in zip(asked, summaries, strict=True):
        whole = _contexts(engine, a, summary, settings)
        strata = None if a.target.strata is None else _measured(_strata(whole, a.target.n_strata), settings)
        measured.append(Validated(a, _measured(whole, settings), strata, summary, summary, np.zeros(len(whole))))
    return measured


def _counted(engine: Engine, asked: Sequence[Asked], settings: TestSettings, progress: Progress) -> list[Summary]:
    summaries = []
    for number, a in enumerate(asked):
        progress(number / len(asked))
        summaries.append(a.counted(engine, settings.number))
    return summaries


def _measured(batch: Batch, settings: TestSettings) -> Estimates:
    procedure = batch.metric.procedure_for(strata=_n_strata(batch.summary), resampling=settings.resampling)
    known = np.flatnonzero(~np.isnan(batch.effect))
    few = batch.take(known)
    low, high = (np.full(len(batch), np.nan) for _ in range(2))
    low[known], high[known] = procedure.interval(few, np.zeros(len(known)), settings.level)
    notes: list[tuple[str, ...]] = [()] * len(batch)
    for i, note in zip(known.tolist(), procedure.notes(few), strict=True):
        notes[i] = note
    nothing = np.full(len(batch), np.nan)
    return Estimates(batch.size, batch.effect, nothing, nothing, nothing, nothing, low, high, tuple(notes))


def _joint_null(
    engine: Engine, asked: Sequence[Asked], family: Sequence[_Member], settings: TestSettings, progress: Progress
) -> JointNull:
    """Draw what the p-values of the family would be together if there were no association."""
    questions = [a for a in asked for _ in range(1 if a.target.strata is None else 2)]
    parts = []
    for a, member in zip(questions, family, strict=True):
        tested = ~np.isnan(member.p)
        tested[list(member.drawn.places)] = True
        parts.append(Part(member.batch, a.target, a.conditions, tested, member.n_strata))
    size = sum(len(part.batch) for part in parts)
    known = covariance(engine, settings.number, parts, progress_of_step(progress, 0, 2))
    return draw_joint_null(known, size, settings.level, settings.seed, progress_of_step(progress, 1, 2))


def _contexts(engine: Engine, asked: Asked, summary: Summary, settings: TestSettings) -> Batch:
    def fetch(places: Sequence[int]) -> Iterator[Rows]:
        for target, some in groupby(places, asked.target_of):
            yield from engine.many_rows(settings.number, [asked.conditions[i] for i in some], target)

    return Batch(asked.question.metric, summary, fetch, settings.seed)


def _strata(contexts: Batch, n_strata: int) -> Batch:
    def fetch(places: Sequence[int]) -> Iterator[Rows]:
        inside = [(context, list(some)) for context, some in groupby(places, lambda i: i // n_strata)]
        for (_, some), people in zip(inside, contexts.fetch([context for context, _ in inside]), strict=True):
            for i in some:
                at = people.stratum == i % n_strata
                alone = np.zeros(np.count_nonzero(at), dtype=np.int32)
                yield Rows(people.protected[at], people.output[at], alone, {})

    return Batch(contexts.metric, by_stratum(contexts.summary), fetch, contexts.seed)


def _member(
    batch: Batch, smallest: float, settings: TestSettings, asked: Asked, n_strata: int = 0, *, weighted: bool = True
) -> _Member:
    """Return a batch with its p-values; strata (``n_strata`` of each context) need enough people to be tested."""
    procedure = batch.metric.procedure_for(strata=_n_strata(batch.summary), resampling=settings.resampling)
    p, drawn = procedure.p_values(batch, smallest)
    tested = batch.size >= (settings.stratum_people if n_strata else 0)
    if asked.population_set is not None and not n_strata:
        tested = tested.copy()
        tested[0] = False  # it has a level, and people, of its own
    nothing = np.zeros(len(batch))
    evidence, sign = (asked.evidence, asked.sign) if weighted else (nothing, nothing)
    depth = np.array([len(context) for context in asked.contexts])
    if n_strata:
        evidence, sign = nothing if asked.strata_evidence is None else asked.strata_evidence, nothing
        depth = np.full(len(batch), STRATUM_DEPTH)
    populations = None if n_strata else asked.populations
    p = np.where(tested, p, np.nan)
    return _Member(batch, procedure, p, drawn.where(tested), evidence, sign, depth, n_strata, populations)


def _n_strata(summary: Summary) -> int:
    return int((summary.counts if isinstance(summary, Counts) else summary.sums).shape[1])


def _draw(family: Sequence[_Member], prior: Prior, settings: TestSettings, progress: Progress) -> None:
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


def _drop_hopeless(family: Sequence[_Member], prior: Prior, settings: TestSettings) -> None:
    """Spare the draws that no decision hangs on.

    Hypotheses that would not be rejected even with a tenth of their asymptotic p-value, and, where the asymptotic
    method is cautious, those that would be rejected even with thirty times it.
    """
    starts = np.cumsum([0, *(len(member.p) for member in family)])
    hopeful, doubtful = (np.concatenate([m.p for m in family]) for _ in range(2))
    for start, member in zip(starts, family, strict=False):
        places = start + np.array(member.drawn.places, dtype=int)
        hopeful[places] = np.where(np.isnan(hopeful[places]), 1e-300, hopeful[places] / HOPE)
        doubt = DOUBT if member.procedure.cautious else np.inf
        doubtful[places] = np.minimum(np.nan_to_num(doubtful[places], nan=1.0) * doubt, 1.0)
    with np.errstate(invalid="ignore"):
        possible = settings.correction.adjust(hopeful, prior) <= settings.level
        certain = settings.correction.adjust(doubtful, prior) <= settings.level
    for start, member in zip(starts, family, strict=False):
        here = slice(start, start + len(member.p))
        member.drawn = member.drawn.where(np.isnan(member.p) | (possible[here] & ~certain[here]))


def _prior(family: Sequence[_Member], settings: TestSettings) -> Prior:
    """Return what the training set says of every hypothesis, and whether the test set points the same way."""
    return Prior(
        np.concatenate([m.evidence for m in family]),
        np.concatenate([np.nan_to_num(m.sign * np.sign(m.batch.effect)) for m in family]),
        settings.train_share,
        np.concatenate([m.depth for m in family]),
    )


def _required(family: Sequence[_Member], prior: Prior, settings: TestSettings) -> list[FloatArray]:
    """Return the deviate at which each hypothesis would have been rejected."""
    p = np.concatenate([member.p for member in family])
    adjusted = settings.correction.adjust(p, prior)
    required = required_deviates(settings.correction, p, adjusted, prior, settings.level)
    return np.split(required, np.cumsum([len(m.p) for m in family])[:-1])


def _estimates(
    family: Sequence[_Member],
    prior: Prior,
    populations: Populations,
    settings: TestSettings,
    level: float,
    progress: Progress,
) -> list[Estimates]:
    """Return the numbers of everything in the family; ``level`` is that of the whole set.

    Intervals stand at what populations leave for certain, whether or not they were confirmed: an interval whose width
    hung on that would not hold.
    """
    everything = np.concatenate([member.p for member in family])
    places = np.cumsum([len(m.p) for m in family])[:-1]
    adjusted = np.split(populations.recycled(settings.correction.adjust(everything, prior)), places)
    certain = level * (1 - populations.share if populations.answers else 1)
    levels = np.split(settings.correction.levels(certain, ~np.isnan(everything), prior), places)
    estimates: list[Estimates] = []
    wanted = np.zeros(0, dtype=bool)
    for number, (member, p, alpha) in enumerate(zip(family, adjusted, levels, strict=True)):
        if member.n_strata:
            wanted = np.repeat(wanted, member.n_strata)
        else:
            with np.errstate(invalid="ignore"):
                wanted = (p <= level) | (len(p) <= ALL_INTERVALS)
            wanted[member.populations] = True
        here = progress_of_step(progress, number, len(family))
        estimates.append(_member_estimates(member, p, alpha, np.flatnonzero(wanted), level, here))
    return estimates


def _member_estimates(
    member: _Member, p: FloatArray, alpha: FloatArray, wanted: IntArray, level: float, progress: Progress
) -> Estimates:
    """Return the numbers of a batch; in large families, intervals only of what is significant.

    ``alpha`` are the levels of simultaneous intervals, ``level`` is that of single ones.
    """
    batch = member.batch
    few = replace(batch.take(wanted), progress=progress_of_step(progress, 0, 2))
    again = replace(few, progress=progress_of_step(progress, 1, 2))
    few.progress(0.0)
    low, high, low_single, high_single = (np.full(len(batch), np.nan) for _ in range(4))
    low[wanted], high[wanted] = member.procedure.interval(few, member.p[wanted], alpha[wanted])
    again.progress(0.0)
    low_single[wanted], high_single[wanted] = member.procedure.interval(again, member.p[wanted], level)
    notes: list[tuple[str, ...]] = [()] * len(batch)
    for i, note in zip(wanted.tolist(), member.procedure.notes(few), strict=True):
        notes[i] = note
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
    )
