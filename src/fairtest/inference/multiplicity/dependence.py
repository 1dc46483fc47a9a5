"""How the statistics of a family depend on each other: their covariance, from what each person contributes to each.

People who are alike in everything the family asks about count as one kind, so that the cost hangs on how many kinds
there are. A person may be in many contexts and answer several questions; their contributions to all of them go
together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fairtest.engine.kernel.joint import membership
from fairtest.exceptions import InputError, setting, unquoted
from fairtest.progress import silent
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtest.data.axes import Condition
    from fairtest.data.summaries import Target
    from fairtest.engine.contract import Engine, Profiles, Rows
    from fairtest.metrics.batch import Batch
    from fairtest.progress import Progress
    from fairtest.statistics.influence import Influence, Sums
    from fairtest.types import BoolArray, FloatArray, IntArray

MOST_SUMS = 6000
"""The most sums over people a family may have: their covariances are held in memory."""
MOST_WORK = 1 << 42
"""The most products of kinds of people × sums × sums: a few minutes of one processor."""
SINGULAR = 1e-6
"""Combinations of a hypothesis' sums that vary less, as parts of the one that varies most, do not vary."""
CHUNK = 1 << 21
"""About how many contributions are held at once."""


@dataclass(frozen=True, eq=False)
class Part:
    """The hypotheses of one batch in a family.

    Attributes
    ----------
    conditions
        Of each context.
    tested
        Which hypotheses are members of the family.
    n_strata
        The strata of each context, if these are the hypotheses; 0 if the contexts are.
    followed
        Whether the contributions of people can be told at all.
    """

    batch: Batch
    target: Target
    conditions: Sequence[Sequence[Condition]]
    tested: BoolArray
    n_strata: int = 0
    followed: bool = True

    @property
    def influence(self) -> Influence:
        """What people contribute, where that is known."""
        assert self.batch.metric.influence is not None
        return self.batch.metric.influence

    @property
    def scored(self) -> IntArray:
        """The members whose people's contributions are known."""
        conditional = self.target.strata is not None and not self.n_strata
        known = self.followed and self.batch.metric.is_joint(conditional=conditional)
        return np.flatnonzero(self.tested) if known else np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Covariance:
    """Covariances of sums over people, without association, those of a hypothesis having total variance 1.

    Attributes
    ----------
    hypothesis
        The place in the family of each sum's hypothesis; sums of one stand together, in an order that neither names
        nor the order of columns can change.
    matrix
        ``[sum, sum]``.
    """

    hypothesis: IntArray
    matrix: FloatArray


def covariance(engine: Engine, number: int, parts: Sequence[Part], progress: Progress = silent) -> Covariance:
    """Return the covariances of everything in the family whose people's contributions are known."""
    used = [part for part in parts if part.scored.size]
    n = sum(int(part.influence.count(part.batch.summary)[part.scored].sum()) for part in used)
    _check(n <= MOST_SUMS, f"at most {MOST_SUMS:,} sums over people", f"{n:,}")
    if not n:
        return Covariance(np.zeros(0, dtype=np.int64), np.zeros((0, 0)))
    targets = list(dict.fromkeys(part.target for part in used))
    columns = sorted({c.column for part in used for context in part.conditions for c in context})
    axes = [axis for column in columns if (axis := engine.axis(column)) is not None]
    profiles = engine.profiles(number, targets, axes)
    work = n * n * len(profiles)
    _check(work <= MOST_WORK, f"at most {MOST_WORK:.1e} products", f"{n:,}² sums × {len(profiles):,} kinds of people")
    starts = np.cumsum([0, *(len(part.batch) for part in parts)])
    crowds = [_Crowd(part, profiles, profiles.seen[targets.index(part.target)]) for part in used]
    hypothesis = np.concatenate(
        [start + crowd.sums.hypothesis for start, crowd in zip(_starts(parts, starts), crowds, strict=True)]
    )
    matrix = np.zeros((n, n))
    for chunk in _chunks(len(profiles), n):
        progress(chunk.start / len(profiles))
        terms = np.concatenate([crowd.terms(chunk) for crowd in crowds])
        matrix += terms @ terms.T
    _whiten(matrix, hypothesis, np.concatenate([crowd.sums.variance for crowd in crowds]))
    size = np.concatenate([part.batch.size for part in parts])
    effect = np.concatenate([np.abs(part.batch.effect) for part in parts])
    return _canonical(hypothesis, matrix, size, effect)


def _whiten(matrix: FloatArray, hypothesis: IntArray, variance: FloatArray) -> None:
    """Give the sums of each hypothesis the variances they have without association, where known, and no correlation.

    In a large context they have them anyway. In a small one a handful of people in the rarest cell of a table would
    decide which of its contrasts count, and contexts that share these people would seem to be copies.
    """
    known = ~np.isnan(variance)
    bounds = [0, *(np.flatnonzero(np.diff(hypothesis)) + 1).tolist(), hypothesis.size]
    for own in (slice(first, last) for first, last in pairwise(bounds)):
        if known[own].all():
            seen, vectors = np.linalg.eigh(matrix[own, own])
            some = seen > SINGULAR * seen[-1]
            inverse = (vectors * np.where(some, 1 / np.sqrt(np.where(some, seen, 1.0)), 0.0)) @ vectors.T
            change = np.sqrt(variance[own])[:, None] * inverse
            matrix[own] = change @ matrix[own]
            matrix[:, own] = matrix[:, own] @ change.T


def _starts(parts: Sequence[Part], starts: IntArray) -> list[int]:
    return [int(start) for part, start in zip(parts, starts, strict=False) if part.scored.size]


def _check(holds: bool, allowed: str, got: str) -> None:
    if not holds:
        raise InputError(
            f"The correction 'max-t' follows how hypotheses hang together, which is possible for {allowed}: one for "
            "each hypothesis, more for a metric of many groups or strata. "
            f"Got {got}. Use {setting('correction', 'holm')}, or ask in fewer contexts (a smaller "
            f"{unquoted('max_depth')}, a larger {unquoted('min_size')})."
        )


def _chunks(kinds: int, n: int) -> Iterator[slice]:
    step = max(CHUNK // n, 64)
    return (slice(start, start + step) for start in range(0, kinds, step))


class _Crowd:
    """The kinds of people, as one batch sees them."""

    def __init__(self, part: Part, profiles: Profiles, seen: Rows) -> None:
        self._part, self._profiles, self._seen = part, profiles, seen
        places = {c: i for i, c in enumerate(dict.fromkeys(c for context in part.conditions for c in context))}
        sizes = {column: int(codes.max(initial=0)) + 1 for column, codes in profiles.codes.items()}
        self._conditions = [(c.column, membership([c], max(sizes[c.column], *c.codes) + 1)[0] > 0) for c in places]
        depth = max(map(len, part.conditions), default=0)
        everybody = len(places)
        self._context = np.array(
            [[*(places[c] for c in context), *[everybody] * (depth - len(context))] for context in part.conditions],
            dtype=np.int64,
        ).reshape(len(part.conditions), depth)
        self.sums: Sums = part.influence.sums(part.batch.summary, part.scored, *self._means())
        sign = np.where(np.nan_to_num(part.batch.effect) < 0, -1.0, 1.0)
        self._sign = sign[self.sums.hypothesis] if part.batch.metric.signed else np.ones(len(self.sums.hypothesis))

    def _inside(self, contexts: IntArray, chunk: slice) -> BoolArray:
        """Return who of a chunk is in some of the contexts."""
        holds = [member[self._profiles.codes[column][chunk]] for column, member in self._conditions]
        holds.append(self._seen.stratum[chunk] >= 0)
        table = np.stack(holds)
        inside = np.broadcast_to(table[-1], (len(contexts), table.shape[1])).copy()
        for place in self._context[contexts].T:
            inside &= table[place]
        return inside

    def terms(self, chunk: slice) -> FloatArray:
        """Return the contribution of each kind in a chunk to every sum, times the root of how many they are."""
        seen, sums = self._seen, self.sums
        stratum = seen.stratum[chunk]
        inside = self._inside(self._contexts_of(sums.hypothesis), chunk)
        only = self._stratum_of(sums)
        if (only >= 0).any():
            inside &= stratum == only[:, None]
        terms = sums.protected.at(stratum, seen.protected[chunk]) * sums.output.at(stratum, seen.output[chunk])
        return np.asarray(terms * inside * np.sqrt(self._profiles.people[chunk]) * self._sign[:, None])

    def _contexts_of(self, hypothesis: IntArray) -> IntArray:
        return hypothesis // self._part.n_strata if self._part.n_strata else hypothesis

    def _stratum_of(self, sums: Sums) -> IntArray:
        return sums.hypothesis % self._part.n_strata if self._part.n_strata else sums.stratum

    def _means(self) -> tuple[FloatArray, FloatArray]:
        """Return the means of both attributes in each stratum of each hypothesis, NaN of one that has no numbers."""
        values = [self._seen.protected, self._seen.output]
        k = self._part.target.n_strata
        found = [np.full((len(self._part.conditions), k), np.nan) for _ in values]
        if self._part.target.summary in (SummaryKind.MOMENTS, SummaryKind.GROUP_MOMENTS):
            totals = self._totals([np.ones(len(self._profiles)), *(v for v in values if v.dtype.kind == "f")])
            means = iter(totals[1:] / np.maximum(totals[0], 1))
            found = [next(means) if v.dtype.kind == "f" else f for v, f in zip(values, found, strict=True)]
        shape = (-1, 1) if self._part.n_strata else (-1, k)
        return found[0].reshape(shape), found[1].reshape(shape)

    def _totals(self, columns: Sequence[FloatArray]) -> FloatArray:
        """Return the sums ``[column, context, stratum]`` over people."""
        k, n = self._part.target.n_strata, len(self._part.conditions)
        totals = np.zeros((len(columns), n, k))
        for chunk in _chunks(len(self._profiles), n):
            inside = self._inside(np.arange(n), chunk).astype(float)
            own = self._seen.stratum[chunk, None] == np.arange(k)
            for i, column in enumerate(columns):
                totals[i] += inside @ (own * (self._profiles.people[chunk] * column[chunk])[:, None])
        return totals


def _canonical(hypothesis: IntArray, matrix: FloatArray, size: IntArray, effect: FloatArray) -> Covariance:
    """Return covariances scaled to a total variance of 1 for each hypothesis, which come in an order of their own.

    By people, then by effect, then by how much they have to do with the others. A hypothesis to which nobody
    contributes anything is left out.
    """
    variance = np.bincount(hypothesis, weights=np.diag(matrix), minlength=size.size)
    root = np.sqrt(np.where(variance > 0, variance, np.inf))[hypothesis]
    matrix /= root
    matrix /= root[:, None]
    ties = np.bincount(hypothesis, weights=np.einsum("ij,ij->i", matrix, matrix), minlength=size.size)
    by = [key[hypothesis] for key in (np.round(ties, 7), np.round(np.nan_to_num(effect), 9), -size)]
    order = np.lexsort((np.arange(hypothesis.size), hypothesis, *by))
    order = order[np.isfinite(root[order])]
    return Covariance(hypothesis[order], matrix[np.ix_(order, order)])
