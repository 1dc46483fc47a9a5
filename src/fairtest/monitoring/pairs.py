"""Pairs: a protected attribute and an output, and how bets are made on whether they go together.

Four forms. *Table*: both have values; each group against the rest, each output against the rest, is a 2×2 table (one
table where both have two values). *Scores*: groups and a number; each group against the rest. *Ranks*: two numbers.
*Own*: a metric of the user's own, by permutation. A comparison of a group with the rest is a *cell*; each cell has ten
bets, and their stakes are added, so that no direction has to be known.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.summaries import Counts
from fairtest.metrics.choice import find_metric, reported_metric
from fairtest.metrics.resampling import RESAMPLING
from fairtest.monitoring.evalues.scores import groups_against_rest, log_e_groups
from fairtest.monitoring.evalues.soft_rank import (
    correlation_strengths,
    log_e_soft_rank,
    permuted_effects,
    permuted_products,
)
from fairtest.monitoring.evalues.tables import SIZES, Association, TableBets
from fairtest.types import Kind, SummaryKind

if TYPE_CHECKING:
    from fairtest.data.table import Table
    from fairtest.data.variables import Variable
    from fairtest.metrics.registry import Metric
    from fairtest.types import BoolArray, FloatArray, IntArray

BETS = 2 * len(SIZES)
"""How many bets a cell has."""
_GROUPS = (Kind.BINARY, Kind.CATEGORICAL)


class Form(StrEnum):
    """How a pair is bet on."""

    TABLE = "table"
    SCORES = "scores"
    RANKS = "ranks"
    OWN = "own"


@dataclass(frozen=True)
class Cell:
    """A group compared with the rest, in one output value or in a number.

    Attributes
    ----------
    group, outcome
        Their positions among the levels; −1 where there is a number.
    """

    group: int
    outcome: int


@dataclass(frozen=True)
class Pair:
    """A protected attribute and an output.

    Attributes
    ----------
    tolerance
        The gap in rates that is no bias; 0: any association is.
    """

    protected: Variable
    output: Variable
    metric: str
    tolerance: float = 0.0

    @property
    def name(self) -> str:
        """What the pair is called in the names of hypotheses."""
        return f"{self.protected.name} → {self.output.name}"

    @cached_property
    def form(self) -> Form:
        """How the pair is bet on."""
        metric = reported_metric(self.metric)
        if metric.procedure is RESAMPLING:  # it has no test of its own: as good as any is to permute people
            return Form.OWN
        groups = [v.kind in _GROUPS for v in (self.protected, self.output)]
        if all(groups) or metric.summary is SummaryKind.COUNTS:
            return Form.TABLE
        return Form.SCORES if any(groups) else Form.RANKS

    @cached_property
    def _swapped(self) -> bool:
        """Whether the groups that are compared are those of the output."""
        return self.form is Form.SCORES and self.protected.kind not in _GROUPS

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """What is compared."""
        groups, outcomes = (len(v.levels) for v in (self.protected, self.output))
        if self.form is Form.TABLE:
            return tuple(Cell(g, o) for o in _levels_compared(outcomes) for g in _levels_compared(groups))
        if self.form is Form.SCORES and self._swapped:
            return tuple(Cell(-1, o) for o in _levels_compared(outcomes))
        if self.form is Form.SCORES:
            return tuple(Cell(g, -1) for g in _levels_compared(groups))
        return (Cell(-1, -1),)

    def describe(self, cell: Cell) -> str:
        """Return what a cell compares, for readers."""
        parts = []
        for variable, at in ((self.protected, cell.group), (self.output, cell.outcome)):
            parts.append(variable.name if at < 0 else f"{variable.name} = {variable.levels[at]}")
        return " → ".join(parts)

    @property
    def bets(self) -> int:
        """How many bets there are."""
        return BETS * len(self.cells)

    @property
    def shape(self) -> tuple[int, int]:
        """The outputs and groups that are counted; 1 and 1 where records are kept one by one."""
        return (len(self.output.levels), len(self.protected.levels)) if self.form is Form.TABLE else (1, 1)

    @cached_property
    def table_bets(self) -> TableBets:
        """The bets on a 2×2 table."""
        return Association(self.tolerance)

    def values(self, table: Table) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return the protected attribute and the output of each record as numbers or codes, and who has both."""
        protected, output = (self._column(v, table) for v in (self.protected, self.output))
        return protected, output, ~(np.isnan(protected) | np.isnan(output))

    def _column(self, variable: Variable, table: Table) -> FloatArray:
        if variable.is_number:
            return variable.numbers(table)
        codes = variable.codes(table).astype(float)
        return np.where(codes < 0, np.nan, codes)

    def log_e_counts(self, counts: IntArray) -> FloatArray:
        """Return the logs of what all bets pay on tables ``[..., stratum, output, group]``; strata multiply."""
        x, n1, m1, n = self.tables(counts)
        logs = self.table_bets.log_e(x, n1, m1, n).sum(axis=-3)  # the stratum is before the cell and the bet
        return np.asarray(logs.reshape(*logs.shape[:-2], -1))

    def tables(self, counts: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return x, n₁, m₁ and n of every cell, as a last axis."""
        groups, outcomes = [c.group for c in self.cells], [c.outcome for c in self.cells]
        by_group, by_outcome = counts.sum(axis=-2), counts.sum(axis=-1)
        n = np.broadcast_to(by_group.sum(axis=-1)[..., None], (*counts.shape[:-2], len(groups)))
        return counts[..., outcomes, groups], by_group[..., groups], by_outcome[..., outcomes], n

    def sums_of_counts(self, counts: IntArray) -> FloatArray:
        """Return Σw, Σwd, Σw²v and the records of every cell, over the strata: see :mod:`.intervals`."""
        x, n1, m1, n = (a.astype(float) for a in self.tables(counts))
        n2, y = n - n1, m1 - x
        both = (n1 > 0) & (n2 > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = np.where(both, n1 * n2 / n, 0.0)
            gap = np.where(both, x / n1 - y / n2, 0.0)
        p1, p2 = (x + 0.5) / (n1 + 1), (y + 0.5) / (n2 + 1)
        variance = p1 * (1 - p1) / np.maximum(n1, 1) + p2 * (1 - p2) / np.maximum(n2, 1)
        sums = np.stack((weight, weight * gap, weight**2 * variance, n), axis=-1)
        return np.asarray(sums.sum(axis=-3))

    def judge_records(
        self, protected: FloatArray, output: FloatArray, stratum: IntArray, seed: str
    ) -> tuple[FloatArray, FloatArray]:
        """Return the logs of what all bets pay on the records of a block, and the sums of every cell."""
        if self.form is Form.SCORES:
            return self._judge_scores(protected, output, stratum)
        rng = np.random.default_rng(int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=16).digest(), "little"))
        if self.form is Form.RANKS:
            return self._judge_ranks(protected, output, stratum, rng)
        return self._judge_own(protected, output, stratum, rng)

    def _judge_scores(
        self, protected: FloatArray, output: FloatArray, stratum: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        groups, numbers = (output, protected) if self._swapped else (protected, output)
        many = len((self.output if self._swapped else self.protected).levels)
        logs, sums = np.zeros((len(self.cells), BETS)), np.zeros((len(self.cells), 4))
        for each in np.unique(stratum):
            rows = stratum == each
            who = groups[rows].astype(int)
            logs += log_e_groups(numbers[rows], who, many)
            sums += [
                _correlation_sums(inside.astype(float), numbers[rows]) for inside in groups_against_rest(who, many)
            ]
        return logs.ravel(), sums

    def _judge_ranks(
        self, protected: FloatArray, output: FloatArray, stratum: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        parts = [(protected[stratum == e], output[stratum == e]) for e in np.unique(stratum)]
        values = permuted_products(parts, rng)
        compared = sum(first.size - 1 for first, _ in parts)
        logs = log_e_soft_rank(values[0], values[1:], correlation_strengths(compared))
        return logs, np.sum([_correlation_sums(s, o) for s, o in parts], axis=0)[None]

    def _judge_own(
        self, protected: FloatArray, output: FloatArray, stratum: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        effect = _OwnEffect(find_metric(self.metric), self, output)
        values = permuted_effects(effect, protected, stratum, rng)
        if np.isnan(values).any():
            return np.zeros(BETS), np.zeros((1, 4))
        n = stratum.size
        logs = log_e_soft_rank(values[0], values[1:], correlation_strengths(n - np.unique(stratum).size))
        chance = values.mean()
        return logs, np.array([[n, n * (values[0] - chance), n**2 * values.var(), n]])


@dataclass(frozen=True)
class _OwnEffect:
    """The effect of a user's metric among the records of a block, for many versions of the protected attribute."""

    metric: Metric
    pair: Pair
    output: FloatArray

    def __call__(self, versions: FloatArray, stratum: IntArray) -> FloatArray:
        """Return the effect of each version."""
        strata = np.unique(stratum, return_inverse=True)[1]
        if self.metric.summary is SummaryKind.COUNTS:
            return np.asarray(self.metric.effect(Counts(self._counts(versions, strata))), dtype=float)
        return np.array([self.metric.effect_of_rows(v, self.output, strata) for v in versions])

    def _counts(self, versions: FloatArray, stratum: IntArray) -> IntArray:
        outputs, groups = len(self.pair.output.levels), len(self.pair.protected.levels)
        size = (versions.shape[0], int(stratum.max()) + 1, outputs, groups)
        version = np.arange(size[0])[:, None]
        where = (version, stratum[None, :], self.output.astype(int)[None, :], versions.astype(int))
        return np.bincount(np.ravel_multi_index(where, size).ravel(), minlength=int(np.prod(size))).reshape(size)


def _levels_compared(levels: int) -> range:
    """Return which of the levels are compared with the rest: the second of two, else all."""
    return range(1, 2) if levels == 2 else range(levels)


def _correlation_sums(first: FloatArray, second: FloatArray) -> Any:
    """Return Σw, Σwr, Σw²v and n of one block, r being Pearson's coefficient."""
    n = first.size
    a, b = first - first.mean(), second - second.mean()
    spread = float((a @ a) * (b @ b))
    if n < 3 or spread <= 0:
        return [0.0, 0.0, 0.0, n]
    r = float(a @ b) / spread**0.5
    return [n - 1.0, (n - 1.0) * r, n - 1.0, n]
