"""The people of contexts as neighbours in an explanatory number.

A link within bins of the number counts only if it is there among neighbours too, since bins leave something of what the
number explains (:mod:`fairtest.statistics.neighbours`; :mod:`~fairtest.inference.second_look` asks for it). What
everybody's columns follow in the number is taken out of those of a context as well.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import rankdata

from fairtest.statistics.neighbours import Neighbours, find_curve, neighbour_p
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.neighbourhood import Neighbourhood
    from fairtest.data.summaries import Target
    from fairtest.data.variables import Variable
    from fairtest.engine.contract import Engine, Rows
    from fairtest.inference.asked import Asked
    from fairtest.types import FloatArray, IntArray


class _Columns(NamedTuple):
    """A variable as columns of numbers, and the code that each is of: 0 for a number, the group for an indicator."""

    codes: IntArray
    values: FloatArray


class _Curves(NamedTuple):
    """What everybody follows, by stratum and code: ``[stratum, code]``."""

    protected: FloatArray
    output: FloatArray


def fetch_near(engine: Engine, asked: Asked, number: int) -> Callable[[Sequence[int]], Iterator[Neighbours]] | None:
    """Return what fetches the people of some contexts as neighbours; None where no number is conditioned on."""
    find = asked.neighbourhood
    if find is None:
        return None

    @cache
    def find_curves(target: Target) -> _Curves:
        where = find()
        everybody = _fetch_everybody(engine, asked, number, target, where)
        return _find_curves(where, everybody, *_columns(target, everybody))

    def fetch(places: Sequence[int]) -> Iterator[Neighbours]:
        where, signed = find(), asked.question.metric.signed
        for target, some in groupby(places, asked.target_of):
            contexts = [asked.conditions[i] for i in some]
            for context, rows in zip(contexts, engine.many_rows(number, contexts, _by_row(target, where)), strict=True):
                curves = find_curves(target) if context else None
                yield _neighbours(where, rows, *_columns(target, rows), curves, signed=signed)

    return fetch


def fetch_near_in_strata(
    contexts: Callable[[Sequence[int]], Iterator[Neighbours]] | None, n_strata: int
) -> Callable[[Sequence[int]], Iterator[Neighbours]] | None:
    """Return what fetches the people of some strata of contexts, given what fetches those of contexts."""
    if contexts is None:
        return None

    def fetch(places: Sequence[int]) -> Iterator[Neighbours]:
        inside = [(context, list(some)) for context, some in groupby(places, lambda i: i // n_strata)]
        for (_, some), people in zip(inside, contexts([context for context, _ in inside]), strict=True):
            for i in some:
                here = people.take(people.part == i % n_strata)
                yield replace(here, part=np.zeros_like(here.part))

    return fetch


def gap_p_values(
    engine: Engine,
    asked: Asked,
    number: int,
    context: int,
    target: Target,
    reference: int,
    gaps: Sequence[tuple[int, int]],
) -> FloatArray:
    """Return the p-values among neighbours of gaps between a group and the reference, in the rate of an output.

    ``gaps`` are groups and outputs as codes; where outputs are numbers, it is the gap of their means.
    """
    if asked.neighbourhood is None or not gaps:
        return np.zeros(len(gaps))
    where, conditions = asked.neighbourhood(), asked.conditions[context]
    rows = next(engine.many_rows(number, [conditions], _by_row(target, where)))
    everybody = _fetch_everybody(engine, asked, number, target, where) if conditions else None

    def compare(people: Rows, group: int, output: int) -> tuple[Rows, _Columns, _Columns]:
        two = people.take(np.isin(people.protected, (group, reference)))
        o = two.output if target.output.is_number else two.output == output
        s, o = (np.asarray(v, dtype=float)[:, None] for v in (two.protected == group, o))
        return two, _Columns(np.zeros(1, dtype=int), s), _Columns(np.zeros(1, dtype=int), o)

    found = []
    for gap in gaps:
        curves = None if everybody is None else _find_curves(where, *compare(everybody, *gap))
        found.append(neighbour_p(_neighbours(where, *compare(rows, *gap), curves, signed=True)))
    return np.array(found)


def _by_row(target: Target, where: Neighbourhood) -> Target:
    return replace(target, strata=where.strata, summary=SummaryKind.ROWS)


def _fetch_everybody(engine: Engine, asked: Asked, number: int, target: Target, where: Neighbourhood) -> Rows:
    """Return all people who may be looked at: those of the training set too, where populations are tested on them."""
    of_set = number if asked.population_set is None else asked.population_set
    return next(engine.many_rows(of_set, [()], _by_row(target, where)))


def _neighbours(
    where: Neighbourhood, rows: Rows, protected: _Columns, output: _Columns, curves: _Curves | None, *, signed: bool
) -> Neighbours:
    """Return people as neighbours; what is taken out of each column is what everybody follows where they are."""
    at = rows.stratum
    signed = signed and len(protected.codes) == len(output.codes) == 1
    followed = () if curves is None else (c[at][:, v.codes] for c, v in zip(curves, (protected, output), strict=True))
    return Neighbours(
        *(protected.values, output.values, where.block[at], where.shown[at], where.numbers[at], signed),
        *(rows.person, rows.weight, *followed),
    )


def _find_curves(where: Neighbourhood, everybody: Rows, protected: _Columns, output: _Columns) -> _Curves:
    """Return what the columns of everybody follow; people of one stratum are in one place of the curve."""
    people = _neighbours(where, everybody, protected, output, None, signed=False)

    def by_stratum(columns: _Columns) -> FloatArray:
        curve = np.zeros((len(where.block), columns.codes.max(initial=0) + 1))
        curve[everybody.stratum[:, None], columns.codes] = find_curve(people, columns.values)
        return curve

    return _Curves(by_stratum(protected), by_stratum(output))


def _columns(target: Target, rows: Rows) -> tuple[_Columns, _Columns]:
    """Return both variables as columns of numbers: what is averaged as it is, groups as indicators, ranks as ranks."""
    groups: tuple[Variable, ...] = ()
    if target.summary is SummaryKind.COUNTS:
        groups = (target.protected, target.output)
    elif target.summary is SummaryKind.GROUP_MOMENTS:
        groups = (target.by,)
    elif target.summary is SummaryKind.ROWS:
        groups = tuple(v for v in (target.protected, target.output) if not v.is_number)
    by_rank = target.summary is SummaryKind.RANKS

    def column(variable: Variable, values: NDArray[np.generic]) -> _Columns:
        if any(variable is group for group in groups):
            return _indicators(values)
        numbers = np.asarray(values, dtype=float)
        return _Columns(np.zeros(1, dtype=int), np.asarray(rankdata(numbers) if by_rank else numbers)[:, None])

    return column(target.protected, rows.protected), column(target.output, rows.output)


def _indicators(codes: NDArray[np.generic]) -> _Columns:
    """Return an indicator for each code that occurs, one for two codes."""
    whole = codes.astype(np.intp)
    present = np.flatnonzero(np.bincount(whole))
    present = present[1 if len(present) == 2 else 0 :]
    return _Columns(present, (whole[:, None] == present).astype(float))
