"""What a monitor learns from records that it never bets on: kinds, groups, thresholds and strata."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtest.data.holdout import TRAIN
from fairtest.data.source import DataSource
from fairtest.data.variables import Part, cross_parts, cut_column
from fairtest.exceptions import FairTestWarning, InputError, argument
from fairtest.investigations.error_profiling import ErrorProfiling
from fairtest.investigations.roles import MOST_STRATA, STRATUM_BINS, names_of, usable_column
from fairtest.investigations.testing import Testing
from fairtest.monitoring.candidates import Candidates, items_of
from fairtest.monitoring.pairs import Pair
from fairtest.monitoring.schema import Schema
from fairtest.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtest.data.table import Table
    from fairtest.data.variables import Variable
    from fairtest.investigations.base import Investigation
    from fairtest.types import IntArray

MOST_CANDIDATES = 20_000_000
"""The most conjunctions of up to two predicates that are counted, whether they occur or not."""


@dataclass
class Strata:
    """The strata of explanatory attributes: combinations of values get numbers as they turn up.

    Attributes
    ----------
    thresholds
        For each explanatory column its cuts, or nothing where it has values.
    known
        The number of each combination.
    """

    thresholds: dict[str, tuple[float, ...]] = field(default_factory=dict)
    known: dict[tuple[int, ...], int] = field(default_factory=dict)

    def of_records(self, table: Table) -> IntArray:
        """Return the stratum of each record, −1 where an attribute is missing."""
        if not self.thresholds:
            return np.zeros(table.n_rows, dtype=np.int64)
        columns = []
        for name, cuts in self.thresholds.items():
            column = table[name]
            if column.values is None:
                columns.append(np.asarray(column.codes, dtype=np.int64))
            else:
                bins = np.searchsorted(np.asarray(cuts), column.values, side="left")
                columns.append(np.where(np.isnan(column.values), -1, bins))
        codes = np.stack(columns, axis=1)
        distinct, which = np.unique(codes, axis=0, return_inverse=True)
        numbers = [self._number(tuple(c)) if min(c) >= 0 else -1 for c in distinct.tolist()]
        return np.asarray(numbers, dtype=np.int64)[which.ravel()]

    def variable(self, table: Table) -> Variable | None:
        """Return the strata of a table as the search wants them; None where there are no explanatory attributes."""
        if not self.thresholds:
            return None
        parts = []
        for name, cuts in self.thresholds.items():
            column = table[name]
            bins = tuple(range(len(cuts) + 1))
            parts.append(Part(name, column.levels) if column.values is None else Part(name, bins, cuts))
        return cross_parts(", ".join(self.thresholds), parts, table)

    def _number(self, combination: tuple[int, ...]) -> int:
        if combination not in self.known and len(self.known) >= MOST_STRATA:
            return -1
        return self.known.setdefault(combination, len(self.known))


@dataclass(frozen=True)
class Learned:
    """What is fixed for the life of a monitor."""

    schema: Schema
    pairs: tuple[Pair, ...]
    candidates: Candidates
    allowed: tuple[frozenset[str], ...]
    strata: Strata


@dataclass(frozen=True)
class Roles:
    """The columns in their roles, as the user named them."""

    protected: Any
    outputs: tuple[str, ...]
    contextual: Sequence[str] | None
    explanatory: tuple[str, ...]
    exclude: tuple[str, ...]
    aside: tuple[str, ...]
    """Columns that say who and when, if the history has them: never contexts."""
    metrics: Any
    tolerance: float
    source: Mapping[str, Any]
    """Further arguments of the source: kinds, favourable outputs, reference groups."""
    errors: Mapping[str, Any] = field(default_factory=dict)
    """Of an error profile: ``ground_truth``, and ``error`` or ``notion``. Empty: the outputs themselves."""


def learn(history: Any, roles: Roles) -> Learned:
    """Return what a frame of earlier records says about the columns.

    Raises
    ------
    InputError
        If a column does not exist, has no role it can have, or does not vary: as for an investigation.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FairTestWarning)  # nothing is tested here
        source = DataSource(history, split=False, **roles.source)
    tests = [_investigation(source, name, roles) for name in roles.outputs]
    questions = [question for test in tests for question in test.questions]
    pairs = tuple(Pair(q.protected, q.output, q.metric.name, roles.tolerance) for q in questions)
    if roles.tolerance and any(pair.form.value != "table" for pair in pairs):
        raise InputError(
            f"{argument('tolerance')} is a gap between rates: it goes with outputs that have values, not "
            f"numbers. Leave it "
            "out, or give the output in a few groups."
        )
    outputs = {name for test in tests for name in test.outputs}
    given = (*tests[0].implied, *roles.explanatory)
    allowed = tuple(frozenset(q.contextual) - outputs for q in questions)
    contextual = sorted(frozenset().union(*allowed), key=list(source.table.columns).index)
    compared = {name for pair in pairs for name in (*pair.protected.columns, *pair.output.columns)}
    schema = Schema.of(source.table, sorted(compared), (*contextual, *given))
    candidates = Candidates([items_of(source.table[name], schema.columns[name].grows) for name in contextual])
    if candidates.number > MOST_CANDIDATES:
        raise InputError(
            f"The {len(contextual)} contextual columns make {candidates.number:,} pairs of conditions, and at most "
            f"{MOST_CANDIDATES:,} can be counted. Name fewer in {argument('contextual')}, or group their values."
        )
    return Learned(schema, pairs, candidates, allowed, _strata(source, given))


def _investigation(source: DataSource, output: str, roles: Roles) -> Investigation:
    others = [name for name in roles.outputs if name != output]
    others += [name for name in roles.aside if name in source.table]
    exclude = tuple(dict.fromkeys((*roles.exclude, *roles.explanatory, *others)))
    named: dict[str, Any] = {"contextual": roles.contextual, "metrics": roles.metrics, "exclude": exclude}
    if roles.errors:
        return ErrorProfiling(source, roles.protected, output, **roles.errors, **named)
    return Testing(source, roles.protected, output, **named)


def _strata(source: DataSource, names: tuple[str, ...]) -> Strata:
    thresholds: dict[str, tuple[float, ...]] = {}
    for name in names:
        column = usable_column(source, name, "explanatory attribute")
        cut = column.kind is Kind.NUMERIC
        part = cut_column(column, source.holdout.rows(TRAIN), STRATUM_BINS) if cut else None
        thresholds[name] = () if part is None else (part.thresholds or ())
    return Strata(thresholds)


def output_names(output: Any) -> tuple[str, ...]:
    """Return the outputs as a tuple of names."""
    names = names_of("output", output)
    if not names:
        raise InputError(f"{argument('output')} must name at least one column.")
    return names
