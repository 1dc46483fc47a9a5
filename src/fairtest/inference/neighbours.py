"""The people of contexts as neighbours in an explanatory number.

A link within bins of the number counts only if it is there among neighbours too, since bins leave something of what the
number explains (:mod:`fairtest.statistics.neighbours`; :mod:`~fairtest.inference.second_look` asks for it).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from fairtest.statistics.neighbours import Neighbours, neighbour_p
from fairtest.types import SummaryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairtest.data.neighbourhood import Neighbourhood
    from fairtest.data.summaries import Target
    from fairtest.data.variables import Variable
    from fairtest.engine.contract import Engine, Rows
    from fairtest.inference.asked import Asked
    from fairtest.types import FloatArray


def fetch_near(engine: Engine, asked: Asked, number: int) -> Callable[[Sequence[int]], Iterator[Neighbours]] | None:
    """Return what fetches the people of some contexts as neighbours; None where no number is conditioned on."""
    find = asked.neighbourhood
    if find is None:
        return None

    def fetch(places: Sequence[int]) -> Iterator[Neighbours]:
        where = find()
        for target, some in groupby(places, asked.target_of):
            by_row = replace(target, strata=where.strata, summary=SummaryKind.ROWS)
            for rows in engine.many_rows(number, [asked.conditions[i] for i in some], by_row):
                columns = _columns(target, rows)
                yield _neighbours(where, rows, *columns, signed=asked.question.metric.signed)

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
    where = asked.neighbourhood()
    by_row = replace(target, strata=where.strata, summary=SummaryKind.ROWS)
    rows = next(engine.many_rows(number, [asked.conditions[context]], by_row))
    found = []
    for group, output in gaps:
        two = rows.take(np.isin(rows.protected, (group, reference)))
        o = two.output if target.output.is_number else two.output == output
        both = (np.asarray(v, dtype=float)[:, None] for v in (two.protected == group, o))
        found.append(neighbour_p(_neighbours(where, two, *both, signed=True)))
    return np.array(found)


def _neighbours(
    where: Neighbourhood, rows: Rows, protected: FloatArray, output: FloatArray, *, signed: bool
) -> Neighbours:
    at = rows.stratum
    signed = signed and protected.shape[1] == output.shape[1] == 1
    return Neighbours(
        *(protected, output, where.block[at], where.shown[at], where.numbers[at], signed, rows.person, rows.weight)
    )


def _columns(target: Target, rows: Rows) -> tuple[FloatArray, FloatArray]:
    """Return both variables as columns of numbers: what is averaged as it is, groups as indicators, ranks as ranks."""
    groups: tuple[Variable, ...] = ()
    if target.summary is SummaryKind.COUNTS:
        groups = (target.protected, target.output)
    elif target.summary is SummaryKind.GROUP_MOMENTS:
        groups = (target.by,)
    elif target.summary is SummaryKind.ROWS:
        groups = tuple(v for v in (target.protected, target.output) if not v.is_number)
    by_rank = target.summary is SummaryKind.RANKS

    def column(variable: Variable, values: NDArray[np.generic]) -> FloatArray:
        if any(variable is group for group in groups):
            return _indicators(values)
        numbers = np.asarray(values, dtype=float)
        return np.asarray(rankdata(numbers) if by_rank else numbers)[:, None]

    return column(target.protected, rows.protected), column(target.output, rows.output)


def _indicators(codes: NDArray[np.generic]) -> FloatArray:
    """Return an indicator for each code that occurs, one for two codes."""
    whole = codes.astype(np.intp)
    present = np.flatnonzero(np.bincount(whole))
    columns: FloatArray = (whole[:, None] == present[1 if len(present) == 2 else 0 :]).astype(float)
    return columns
