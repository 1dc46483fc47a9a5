"""Where people are on explanatory numbers, finely enough to know who is near whom.

A number is coded by many quantiles of everybody: those of the training set would put all beyond its ends in one place.
That says nothing of groups or outputs, and the codes are strata like others to every engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from fairtest.data.strata import codes_of_parts, cut_part, sort_numbers
from fairtest.data.variables import cross_parts

if TYPE_CHECKING:
    from fairtest.data.table import Table
    from fairtest.data.variables import Part, Variable
    from fairtest.types import FloatArray, IntArray

MOST_CODES, MOST_CROSSED = 1 << 13, 1 << 16
"""The most codes of a number, and of all explanatory attributes crossed."""
MOST_LOOKED_AT = 1 << 18
"""About so many people say where quantiles are."""


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Strata so fine that they say where people are.

    Attributes
    ----------
    strata
        All explanatory attributes crossed, numbers in many bins.
    numbers
        ``[stratum, number]``: the bin of each number.
    block
        For each stratum, the values of the attributes that are no numbers, as one code.
    shown
        For each stratum, the one it is shown in.
    """

    strata: Variable
    numbers: IntArray
    block: IntArray
    shown: IntArray


def find_neighbourhood(table: Table, shown: Variable) -> Neighbourhood:
    """Return where people are on the numbers among the attributes crossed in ``shown``."""
    rows = np.arange(0, table.n_rows, max(table.n_rows // MOST_LOOKED_AT, 1))
    numbers = [sort_numbers(part, table, rows) for part in shown.parts]
    is_number = [ordered is not None for ordered in numbers]
    others = prod(len(part.levels) for part, number in zip(shown.parts, is_number, strict=True) if not number)
    most = int(min((MOST_CROSSED / others) ** (1 / sum(is_number)), MOST_CODES))
    parts = [
        part if ordered is None else cut_part(part, _quantiles(part, ordered, most))
        for part, ordered in zip(shown.parts, numbers, strict=True)
    ]
    strata = cross_parts(shown.name, parts, table)
    codes = codes_of_parts(strata)
    block, place = (np.zeros(len(strata.levels), dtype=np.int64) for _ in range(2))
    for part, fine, code in zip(shown.parts, parts, codes, strict=True):
        if fine is part:
            block = block * len(part.levels) + code
        place = place * len(part.levels) + (code if fine is part else part.bins(_ends(fine))[code])
    return Neighbourhood(
        strata,
        np.column_stack([code for code, number in zip(codes, is_number, strict=True) if number]),
        np.unique(block, return_inverse=True)[1],
        np.asarray(shown.lookup)[place],
    )


def _quantiles(part: Part, ordered: FloatArray, most: int) -> FloatArray:
    """Return thresholds that make up to so many even bins, and those of the bins shown."""
    at = np.ceil(np.arange(1, most) * ordered.size / most).astype(int) - 1
    cuts = np.unique(ordered[np.maximum(at, 0)])
    return np.union1d(np.asarray(part.thresholds), cuts[cuts < ordered[-1]])


def _ends(part: Part) -> FloatArray:
    """Return the largest number of each bin."""
    return np.append(np.asarray(part.thresholds), np.inf)
